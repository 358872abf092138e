//! Rows of a JVM's tests in parts of class files: what the methods that ran
//! name, and which methods, if they were added, would have run instead.
//!
//! A class counts whole where something looked at its members or annotations,
//! in whatever test that was: what it saw may be kept where nobody sees it. So
//! does one whose objects a test used and did not make. `docs/jvm.md` has the rules.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use anyhow::Result;
use bstr::{BString, ByteSlice};
use rustc_hash::{FxHashMap, FxHashSet};

use super::DEBUG_INFO;
use crate::languages::Facts;
use crate::languages::jvm::{ANY, ClassAt, ClassUnits, Reference};
use crate::matrix::{InClass, Unit, UnitKind, What};
use crate::observe::Trace;
use crate::observe::units::{UnitIndex, UnitTable};

type FileId = u32;

/// What a class that is not understood extends.
const OBJECT: &str = "java/lang/Object";

/// What has to be long to be told by `*` instead.
const MOST_OVERRIDABLE: usize = 150;

/// The class files of a run.
#[derive(Debug, Default)]
pub(crate) struct ClassFiles {
    files: Vec<ClassFile>,
    index: FxHashMap<(BString, String), FileId>,
    by_name: FxHashMap<String, Vec<FileId>>,
    /// By reference: where looking for the member leads.
    resolved: FxHashMap<Reference, Rc<Vec<(FileId, UnitIndex)>>>,
    /// Whether what compilers add for debuggers counts.
    debug_info: bool,
}

#[derive(Debug)]
struct ClassFile {
    path: BString,
    name: String,
    /// `None` if it is not understood: then it counts whole.
    units: Option<Rc<ClassUnits>>,
    is_whole: bool,
    /// All classes of the run that it extends or implements, itself first.
    supers: Vec<FileId>,
    /// Units that whoever uses the class has.
    always: Vec<UnitIndex>,
    whole: UnitIndex,
}

impl ClassFile {
    /// All of it, as it lies on disk.
    fn bytes(&self) -> Unit {
        let path = [self.path.as_slice(), b"/", self.name.as_bytes(), b".class"].concat();
        Unit::at(path, What::UntrackedFile)
    }
}

/// How a row uses a class.
#[derive(Default)]
struct Use {
    is_whole: bool,
    /// Methods that ran, by name and descriptor.
    entered: BTreeSet<String>,
}

impl ClassFiles {
    /// Those that units of `table` are about.
    ///
    /// # Errors
    /// If a class file cannot be read.
    pub(crate) fn of_run(
        facts: &Facts<'_>,
        traces: &[Trace],
        table: &mut UnitTable,
    ) -> Result<ClassFiles> {
        let mut args = traces
            .iter()
            .flat_map(|trace| trace.config.iter().flat_map(|config| &config.args));
        let mut classes = ClassFiles {
            debug_info: args.any(|arg| arg == DEBUG_INFO),
            ..ClassFiles::default()
        };
        let units: Vec<Unit> = table.units().to_vec();
        for unit in &units {
            let Some(class) = unit.class() else {
                continue;
            };
            let id = classes.add(facts, table, &unit.path, class)?;
            classes.files[id as usize].is_whole |= unit.kind() == UnitKind::Class;
        }
        for id in 0..classes.files.len() as FileId {
            let supers = classes.supers_of(id);
            classes.files[id as usize].supers = supers;
        }
        let mut overridable: FxHashMap<&str, &[String]> = FxHashMap::default();
        for trace in traces {
            let told = trace.overridable.iter();
            overridable.extend(told.map(|(class, names)| (class.as_str(), names.as_slice())));
        }
        for id in 0..classes.files.len() as FileId {
            classes.files[id as usize].always = classes.always(id, table, &overridable);
        }
        Ok(classes)
    }

    fn add(
        &mut self,
        facts: &Facts<'_>,
        table: &mut UnitTable,
        path: &BString,
        name: &str,
    ) -> Result<FileId> {
        let key = (path.clone(), name.to_owned());
        if let Some(id) = self.index.get(&key) {
            return Ok(*id);
        }
        let units = match facts.class_at(path.as_bstr(), name)? {
            ClassAt::Read(units) => Some(units),
            ClassAt::Missing | ClassAt::Unread(_) => None,
        };
        let id = self.files.len() as FileId;
        self.files.push(ClassFile {
            path: path.clone(),
            name: name.to_owned(),
            is_whole: units.is_none(),
            units,
            supers: Vec::new(),
            always: Vec::new(),
            whole: table.intern(Unit::at(path.clone(), What::Class(name.into()))),
        });
        self.index.insert(key, id);
        self.by_name.entry(name.to_owned()).or_default().push(id);
        Ok(id)
    }

    fn named(&self, class: &str) -> &[FileId] {
        self.by_name.get(class).map_or(&[], Vec::as_slice)
    }

    fn file(&self, id: FileId) -> &ClassFile {
        &self.files[id as usize]
    }

    /// The names that a class extends and implements.
    fn direct(&self, id: FileId) -> &[String] {
        let units = self.file(id).units.as_ref();
        units.map_or(&[], |units| units.supers.as_slice())
    }

    fn supers_of(&self, id: FileId) -> Vec<FileId> {
        let (mut supers, mut at) = (vec![id], 0);
        while let Some(class) = supers.get(at).copied() {
            at += 1;
            for name in self.direct(class) {
                for found in self.named(name) {
                    if !supers.contains(found) {
                        supers.push(*found);
                    }
                }
            }
        }
        supers
    }

    /// The shape, the static initialiser, which methods of classes that are not
    /// the project's it overrides, and whether it is of its nest.
    fn always(
        &self,
        id: FileId,
        table: &mut UnitTable,
        overridable: &FxHashMap<&str, &[String]>,
    ) -> Vec<UnitIndex> {
        let file = self.file(id);
        let Some(units) = &file.units else {
            return Vec::new();
        };
        let mut unit = |what| table.intern(Unit::at(file.path.clone(), what));
        let of = |rest: &str| InClass::new(&file.name, rest);
        let mut always = vec![
            unit(What::Shape(file.name.as_str().into())),
            unit(What::Method(of("<clinit>()V"))),
            unit(What::Overrides(of(&self.overridable_by(id, overridable)))),
        ];
        if let Some(host) = &units.nest_host {
            for host in self.named(host) {
                let host = self.file(*host);
                let of_nest = What::Nest(InClass::new(&host.name, &file.name));
                always.push(table.intern(Unit::at(host.path.clone(), of_nest)));
            }
        }
        always
    }

    /// The methods that a class can override though no class of the project
    /// has them, apart from those of `Object`.
    fn overridable_by(&self, id: FileId, told: &FxHashMap<&str, &[String]>) -> String {
        let mut names: BTreeSet<&str> = BTreeSet::new();
        for class in &self.file(id).supers {
            if self.file(*class).units.is_none() {
                return ANY.to_owned();
            }
            let foreign = self.direct(*class).iter();
            for foreign in foreign.filter(|name| *name != OBJECT && self.named(name).is_empty()) {
                match told.get(foreign.as_str()) {
                    Some(methods) => names.extend(methods.iter().map(String::as_str)),
                    None => return ANY.to_owned(),
                }
            }
        }
        match names.len() > MOST_OVERRIDABLE {
            true => ANY.to_owned(),
            false => names.into_iter().collect::<Vec<_>>().join(" "),
        }
    }

    /// The units of a row of which `seen` is what the agent saw.
    pub(crate) fn close(&mut self, table: &mut UnitTable, seen: &[UnitIndex]) -> Vec<UnitIndex> {
        let mut row: BTreeSet<UnitIndex> = BTreeSet::new();
        let mut used: BTreeMap<FileId, Use> = BTreeMap::new();
        for index in seen {
            let unit = table.get(*index);
            let id = unit.class().and_then(|class| {
                let key = (unit.path.clone(), class.to_owned());
                self.index.get(&key)
            });
            let Some(id) = id else {
                row.insert(*index);
                continue;
            };
            let known = used.entry(*id).or_default();
            known.is_whole |= self.file(*id).is_whole;
            if let What::Method(of) = &unit.what {
                known.entered.insert(of.rest().to_owned());
            }
        }
        for (id, known) in &mut used {
            known.is_whole |= self.came_from_elsewhere(*id, known);
        }
        let mut members: FxHashSet<(FileId, UnitIndex)> = FxHashSet::default();
        for (id, known) in &used {
            match known.is_whole {
                true => {
                    row.insert(self.file(*id).whole);
                }
                false => {
                    row.extend(&self.file(*id).always);
                    self.methods(*id, known, table, &mut row);
                }
            }
            self.named_by(*id, known, &used, table, &mut members);
            if self.debug_info {
                row.insert(table.intern(self.file(*id).bytes()));
            }
        }
        self.instead(&used, table, &mut members);
        let of_parts = members.into_iter().filter(|(class, _)| {
            let known = used.get(class);
            known.is_none_or(|known| !known.is_whole)
        });
        row.extend(of_parts.map(|(_, unit)| unit));
        row.into_iter().collect()
    }

    /// Whether methods of an object ran that nothing which the row knows of
    /// has made.
    fn came_from_elsewhere(&self, id: FileId, known: &Use) -> bool {
        let Some(units) = &self.file(id).units else {
            return false;
        };
        let of_object = |name: &String| {
            let method = units.methods.get(name);
            method.is_some_and(|method| !method.is_static())
        };
        !units.is_interface
            && known.entered.iter().any(of_object)
            && !known.entered.iter().any(|name| name.starts_with("<init>"))
    }

    /// The bodies that ran. That of a lambda expression is part of the method's
    /// that holds it.
    fn methods(
        &self,
        id: FileId,
        known: &Use,
        table: &mut UnitTable,
        row: &mut BTreeSet<UnitIndex>,
    ) {
        let file = self.file(id);
        let Some(units) = &file.units else {
            return;
        };
        for name in &known.entered {
            let held = units.methods.get(name).map(|method| &method.holders);
            let of_method = |name: &String| {
                let method = What::Method(InClass::new(&file.name, name));
                Unit::at(file.path.clone(), method)
            };
            match held.filter(|holders| !holders.is_empty()) {
                Some(holders) => {
                    for holder in holders {
                        row.insert(table.intern(of_method(holder)));
                    }
                }
                None => {
                    row.insert(table.intern(of_method(name)));
                }
            }
        }
    }

    /// Where looking for the members leads that the methods which ran name.
    fn named_by(
        &mut self,
        id: FileId,
        known: &Use,
        used: &BTreeMap<FileId, Use>,
        table: &mut UnitTable,
        members: &mut FxHashSet<(FileId, UnitIndex)>,
    ) {
        let Some(units) = self.file(id).units.clone() else {
            return;
        };
        let holders = |name: &String| {
            let method = units.methods.get(name);
            method.map_or([].as_slice(), |method| method.holders.as_slice())
        };
        let entered = known.entered.iter();
        for name in entered.flat_map(|name| holders(name).iter().chain([name])) {
            let Some(method) = units.methods.get(name) else {
                continue;
            };
            for reference in &method.references {
                let classes = self.named(&reference.class);
                if classes.iter().any(|class| used.contains_key(class)) {
                    members.extend(self.resolve(reference, table).iter());
                }
            }
        }
    }

    /// The classes in which the JVM looks for a member, up to the first class
    /// that has it, and the interfaces of those.
    fn resolve(
        &mut self,
        reference: &Reference,
        table: &mut UnitTable,
    ) -> Rc<Vec<(FileId, UnitIndex)>> {
        if let Some(known) = self.resolved.get(reference) {
            return known.clone();
        }
        let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
        let mut open: Vec<FileId> = self.named(&reference.class).to_vec();
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            found.push((id, self.member(id, &reference.member, table)));
            let units = self.file(id).units.as_ref();
            let is_found = units.is_none_or(|units| units.declares(&reference.member));
            if !is_found {
                let names = self.direct(id).iter();
                open.extend(names.flat_map(|name| self.named(name)));
            }
        }
        let found = Rc::new(found);
        self.resolved.insert(reference.clone(), found.clone());
        found
    }

    fn member(&self, id: FileId, member: &str, table: &mut UnitTable) -> UnitIndex {
        let file = self.file(id);
        let member = What::Member(InClass::new(&file.name, member));
        table.intern(Unit::at(file.path.clone(), member))
    }

    /// Methods that would have run instead of those that did, had a class had
    /// them that is used and inherits these.
    fn instead(
        &self,
        used: &BTreeMap<FileId, Use>,
        table: &mut UnitTable,
        members: &mut FxHashSet<(FileId, UnitIndex)>,
    ) {
        for id in used.keys() {
            let all = &self.file(*id).supers;
            for above in &all[1..] {
                let (Some(known), Some(units)) = (used.get(above), &self.file(*above).units) else {
                    continue;
                };
                let mut between = all.iter().filter(|one| {
                    // Not those which the class itself overrides.
                    !self.file(*above).supers.contains(one)
                });
                let between: Vec<FileId> = between.by_ref().copied().collect();
                for (name, method) in &units.methods {
                    // Nobody tells which methods of a whole class ran.
                    let ran = known.is_whole || method.is_native() || known.entered.contains(name);
                    if !ran || !method.is_virtual(name) {
                        continue;
                    }
                    for one in &between {
                        let lacks = self.file(*one).units.as_ref();
                        if lacks.is_some_and(|units| !units.declares(name)) {
                            members.insert((*one, self.member(*one, name, table)));
                        }
                    }
                }
            }
        }
    }
}

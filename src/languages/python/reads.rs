//! What Python code reads of the state that import-time code has left: the same rules as
//! for the closure of rows, with cells in place of bindings.

use std::collections::BTreeSet;
use std::rc::Rc;

use anyhow::Result;
use bstr::{BStr, BString, ByteSlice};
use rustc_hash::{FxHashMap, FxHashSet};

use super::asked;
use super::called;
use super::docstrings::{DOC, DOC_OTHERWISE, reads_docstrings};
use super::dynamic;
use super::keyed::{Keyed, kind_of, spelled};
use super::listed;
use super::module::Span;
use super::modules::{Module, ModuleIndex, Modules};
use super::names::is_builtin;
use super::serials::{self, serials_at};
use crate::languages::reads::{FunctionAt, Needed, Read, UnitReads, Words};
use crate::languages::{Analysis, Facts, ModuleUnits, Uses, name_hash};
use crate::matrix::{Unit, What};

/// What each of `units` reads of the state that `modules` hold.
pub(super) fn read_by(facts: &Facts<'_>, modules: &Needed, units: &[&Unit]) -> Result<Read> {
    let source = |path: &BStr| facts.module(path);
    let mut reading = Reading::new(&source, facts.root(), modules)?;
    let serials = serials_at(facts).into_iter();
    reading.serials = serials.map(|serial| name_hash(&serial.name)).collect();
    let of = units.iter().map(|unit| reading.unit(unit));
    Ok(Read {
        of: of.collect::<Result<_>>()?,
        words: Words {
            asked: &asked::ASKED_OF_TEST_FILES,
            leading: dynamic::leading(),
        },
    })
}

/// The outermost functions of the source at `path`, after all code of the module itself at line 0;
/// none if it is no Python.
pub(super) fn functions_at(facts: &Facts<'_>, path: &BStr) -> Result<Vec<FunctionAt>> {
    if !path.ends_with(b".py") {
        return Ok(Vec::new());
    }
    let analysis = facts.module(path)?;
    let Some(Analysis::Parsed(parsed)) = analysis.as_deref() else {
        return Ok(Vec::new());
    };
    let at = |first, last, what| FunctionAt {
        lines: (first, last),
        unit: Unit::at(path.to_owned(), what),
    };
    let of_span = |span: &Span| at(span.first, span.last, What::Code(span.unit.as_str().into()));
    // A lambda in a class may run at any time.
    let module = std::iter::once(at(0, 0, What::Skeleton));
    Ok(module
        .chain(parsed.outline.spans.iter().map(of_span))
        .collect())
}

/// The analysed source at a path; `None` if there is no such file.
type Source<'a> = &'a dyn Fn(&BStr) -> Result<Option<Rc<Analysis>>>;

struct Reading<'a> {
    source: Source<'a>,
    modules: Modules,
    by_path: FxHashMap<BString, ModuleIndex>,
    /// Whether there are modules of which it is unknown what they say.
    lacks_some: bool,
    /// Whether something of the project may get at modules that are lent.
    meets_lent: bool,
    /// By module: those that it hands out, and those that they do.
    given: FxHashMap<ModuleIndex, BTreeSet<ModuleIndex>>,
    /// Names of serial numbers.
    serials: FxHashSet<u32>,
}

impl<'a> Reading<'a> {
    /// `root` is the top of the work tree.
    fn new(source: Source<'a>, root: &BStr, needed: &Needed) -> Result<Reading<'a>> {
        let mut reading = Reading {
            source,
            modules: Modules::default(),
            by_path: FxHashMap::default(),
            lacks_some: false,
            meets_lent: false,
            given: FxHashMap::default(),
            serials: FxHashSet::default(),
        };
        for (path, names) in needed {
            let analysis = source(path.as_ref())?;
            let Some((analysis, Analysis::Parsed(parsed))) =
                analysis.as_ref().map(|analysis| (analysis, &**analysis))
            else {
                reading.lacks_some = true;
                continue;
            };
            reading.meets_lent |= asked::meets_lent(&parsed.names);
            let file = match path.first() {
                Some(b'/') => path.clone(),
                _ => BString::from([root.as_bytes(), b"/", path].concat()),
            };
            let module = Module {
                file,
                path: path.clone(),
                analysis: analysis.clone(),
                is_generated: false,
            };
            let index = reading.modules.add(module, names);
            reading.by_path.insert(path.clone(), index);
        }
        Ok(reading)
    }

    /// What a unit reads; `None` if it is nothing of a source.
    fn unit(&mut self, unit: &Unit) -> Result<Option<UnitReads>> {
        if let What::Reached(name) = &unit.what {
            let told = Keyed::of(name).map(|keyed| by_key(unit.path(), keyed));
            let told = told.or_else(|| listed::reads(unit.path(), name));
            let told = told.or_else(|| called::reads(name));
            let told = told.or_else(|| serials::reads(name));
            return Ok(Some(match told {
                Some(reads) => reads,
                None => self.reached(unit.path(), name),
            }));
        }
        if !unit.kind().is_source() {
            return Ok(None);
        }
        let analysis = (self.source)(unit.path())?;
        let Some(Analysis::Parsed(parsed)) = analysis.as_deref() else {
            return Ok(Some(UnitReads::anything()));
        };
        let mut found = Found::default();
        let mut spelled = Some(&parsed.skeleton_reach);
        match &unit.what {
            What::Code(name) => match parsed.names.code.get(&**name) {
                Some(uses) => {
                    spelled = parsed.code_reach.get(&**name);
                    found.runs(name);
                    self.uses(unit, uses, &mut found);
                    found.asks_for_docs(uses);
                }
                None => return Ok(Some(UnitReads::anything())),
            },
            What::Effects => {
                self.uses(unit, &parsed.names.effects.uses, &mut found);
                self.star_imports(unit, parsed, &mut found);
            }
            What::Skeleton => {
                self.everything(unit, parsed, &mut found);
                self.star_imports(unit, parsed, &mut found);
            }
            // Of what a name is bound to code runs as well: a lambda.
            what => {
                found.runs(&unit.name());
                if let Some(part) = parsed.names.part(what) {
                    self.uses(unit, &part.uses, &mut found);
                }
            }
        }
        // When it was recorded, its module may have had a name of its own for a builtin;
        // and a star import brings such without a word.
        let spelled = spelled.into_iter().flat_map(|reach| &reach.mentions);
        let builtins = spelled.filter(|name| is_builtin(**name));
        found.loads.extend(builtins);
        if !found.loads.is_empty() {
            found.reads.file = unit.path.clone();
        }
        Ok(Some(self.finish(found)))
    }

    /// What generated code spells, or a module that code got from a frame.
    fn reached(&mut self, path: &BStr, name: &str) -> UnitReads {
        let mut found = Found::default();
        if name == "*" {
            let module = self.by_path.get(path).copied();
            found.reads.anything |= module.is_none();
            found.holds.extend(module);
            return self.finish(found);
        }
        let spelled = dynamic::Generated::of(name);
        let name = spelled.name;
        let hash = name_hash(name);
        found.names.insert(hash);
        let reads = &mut found.reads;
        // Which number an object has no value tells.
        reads.beyond_values |= self.serials.contains(&hash);
        reads.anything |= self.lacks_some;
        if spelled.is_got() {
            reads.anything |= spelled.is_wide() || dynamic::ASK_FOR_ANYTHING.contains(&name);
            reads.lists_members |= spelled.lists_members();
            reads.members |= spelled.looks_up() && !spelled.lists_members();
            reads.members |= dynamic::LIST_MEMBERS.contains(&name);
            reads.annotations |= dynamic::ANNOTATIONS.contains(&name);
            reads.docstrings |= reads_docstrings(name);
            reads.beyond_values |= dynamic::BEYOND_VALUES.contains(&name);
            reads.asks_runner |= asked::HAND_OUT_MODULES.contains(&name);
        }
        let module = self.by_path.get(path).copied();
        found.holds.extend(self.modules.generated(spelled, module));
        self.finish(found)
    }

    fn everything(&self, unit: &Unit, parsed: &ModuleUnits, found: &mut Found) {
        self.uses(unit, &parsed.names.effects.uses, found);
        for part in parsed.names.bindings.values() {
            self.uses(unit, &part.uses, found);
        }
    }

    fn star_imports(&self, unit: &Unit, parsed: &ModuleUnits, found: &mut Found) {
        let Some(from) = self.by_path.get(unit.path()).copied() else {
            return;
        };
        let imports = parsed
            .names
            .imports
            .iter()
            .filter(|import| import.at_import);
        for import in imports.filter(|import| import.item.as_deref() == Some("*")) {
            found.globals.extend(self.modules.sources(from, import));
        }
    }

    fn uses(&self, unit: &Unit, uses: &Uses, found: &mut Found) {
        let loaded = uses.loads.iter().chain(&uses.unbound);
        found.loads.extend(loaded.map(|name| name_hash(name)));
        let members = uses.members.iter().map(|(_, name)| name_hash(name));
        found.names.extend(members);
        found.names.extend(uses.asks.iter().chain(&uses.lent));
        self.lacking(unit, uses, found);
        let reads = &mut found.reads;
        reads.anything |= uses.is_wide;
        reads.members |= uses.looks_up;
        reads.lists_members |= uses.lists_members;
        reads.docstrings |= uses.reads_docs;
        let spells = |names: &[&str]| names.iter().any(|name| uses.spells(name));
        reads.anything |= spells(&dynamic::ASK_FOR_ANYTHING);
        reads.annotations |= spells(&dynamic::ANNOTATIONS);
        reads.members |= spells(&dynamic::LIST_MEMBERS);
        reads.beyond_values |= spells(&dynamic::BEYOND_VALUES);
        reads.asks_runner |= spells(&asked::HAND_OUT_MODULES);
        let lends = self.meets_lent && !uses.lent.is_empty();
        let passes_on = lends || !uses.values.is_empty() || !uses.parts.is_empty();
        if !passes_on && !uses.holds_own {
            return;
        }
        let Some(from) = self.by_path.get(unit.path()).copied() else {
            found.reads.anything = true;
            return;
        };
        if uses.holds_own {
            found.globals.insert(from);
        }
        let handed_on = self.modules.handed_on(from, uses, self.meets_lent);
        found.holds.extend(handed_on);
        // It might be one of those.
        found.reads.anything |= self.lacks_some;
    }

    /// Modules that it asks for what they lack: these ask their `__getattr__`.
    fn lacking(&self, unit: &Unit, uses: &Uses, found: &mut Found) {
        let Some(from) = self.by_path.get(unit.path()).copied() else {
            return;
        };
        let names = |of: ModuleIndex| &self.modules.all[of as usize].parsed().names;
        let mut ask = |of: ModuleIndex, name: &str| {
            // Effects may leave a name unbound.
            let names = names(of);
            if !names.bindings.contains_key(name) || names.effect_names.contains(name) {
                let path = &self.modules.all[of as usize].path;
                found
                    .names
                    .insert(name_hash(&format!("{path}:__getattr__")));
            }
        };
        for (base, name) in &uses.members {
            let called = self.modules.called(from, *base);
            called.into_iter().for_each(|of| ask(of, name));
        }
        let late = names(from).imports.iter().filter(|one| !one.at_import);
        for import in late {
            let Some(item) = import.item.as_deref().filter(|item| uses.spells(item)) else {
                continue;
            };
            let sources = self.modules.sources(from, import);
            sources.into_iter().for_each(|of| ask(of, item));
        }
    }

    fn finish(&mut self, found: Found) -> UnitReads {
        UnitReads {
            names: found.names.into_iter().collect(),
            loads: found.loads.into_iter().collect(),
            holds: self.with_given(&found.holds),
            globals: self.with_given(&found.globals),
            ..found.reads
        }
    }

    /// The paths of modules, and of all that can be reached from them.
    fn with_given(&mut self, modules: &BTreeSet<ModuleIndex>) -> Vec<BString> {
        let mut all = modules.clone();
        for module in modules {
            all.extend(self.given(*module));
        }
        let paths = all.into_iter();
        let paths = paths.map(|module| self.modules.all[module as usize].path.clone());
        let mut paths: Vec<BString> = paths.collect();
        paths.sort_unstable();
        paths
    }

    /// The modules that can be reached from a module by looking into it.
    fn given(&mut self, module: ModuleIndex) -> &BTreeSet<ModuleIndex> {
        let modules = &self.modules;
        self.given.entry(module).or_insert_with(|| {
            let mut all = BTreeSet::new();
            let mut open = vec![module];
            while let Some(next) = open.pop() {
                let new = modules.held(next);
                open.extend(new.into_iter().filter(|new| all.insert(*new)));
            }
            all
        })
    }
}

/// What is read of dictionaries by key. What a function does not read, as it uses a global by
/// key only, is left out of what it reads elsewhere.
fn by_key(path: &BStr, keyed: Keyed<'_>) -> UnitReads {
    let mut reads = UnitReads::default();
    match keyed {
        Keyed::Function(..) => {}
        Keyed::Whole(global) => {
            reads.loads = vec![name_hash(global)];
            reads.file = path.to_owned();
        }
        Keyed::Entry { cell, global } => {
            let path = path.to_string();
            let hash = |cell: &str| name_hash(&spelled(&path, cell));
            reads.names = vec![hash(cell), hash(&kind_of(global))];
            reads.names.sort_unstable();
            reads.names.dedup();
        }
    }
    reads
}

/// What was found of one unit so far.
#[derive(Default)]
struct Found {
    names: BTreeSet<u32>,
    loads: BTreeSet<u32>,
    holds: BTreeSet<ModuleIndex>,
    globals: BTreeSet<ModuleIndex>,
    reads: UnitReads,
}

impl Found {
    /// If code asks for docstrings by the attribute alone, it reads none by its name.
    fn asks_for_docs(&mut self, uses: &Uses) {
        let doc = name_hash(DOC);
        let is_asked = |name: &str| uses.asks.binary_search(&name_hash(name)).is_ok();
        let is_of_alias = uses.members.iter().any(|(_, name)| name == DOC);
        if is_asked(DOC) && !is_asked(DOC_OTHERWISE) && !is_of_alias && !uses.lent.contains(&doc) {
            self.names.remove(&doc);
            self.reads.asks_for_docs = true;
        }
    }

    /// Code that runs was got hold of somehow: by its name in its module as it is now, and by
    /// those of the classes around it.
    fn runs(&mut self, qualified: &str) {
        self.loads.extend(qualified.split('.').map(name_hash));
        self.names.insert(called::own(qualified));
    }
}

#[cfg(test)]
mod tests;

//! The names that a row's code can reach: instead of whole skeletons, a row
//! takes the effects of each module that it imports, and the bindings that
//! its code can get at.
//!
//! The rule is closure by mention. A binding `path#n` belongs to a row if the
//! row imports the module at `path` and some code of the row spells `n`: as a
//! global name in that module, or anywhere after a dot, in an import, or in a
//! string of names. Whatever is
//! bound to `n`, code can only get at it by that name, or through something
//! that hands out all names of a module. For the latter the module's whole
//! skeleton is taken. `docs/names.md` goes through it feature by feature.

mod annotations;
mod reach;
mod trail;

use std::collections::VecDeque;
use std::rc::Rc;

use bstr::{BStr, BString};
use rustc_hash::{FxHashMap, FxHashSet};

use self::annotations::Note;
use self::reach::Reach;
pub(crate) use self::trail::{By, Ran, Start, Trail};
use super::asked;
use super::modules::{ModuleIndex, Modules};
use crate::languages::{annotated, name_hash, simple_name};
use crate::matrix::{Unit, UnitKind, What};
use crate::observe::graph::NodeId;
use crate::observe::units::{UnitIndex, UnitTable};

/// A name that some module binds.
type NameIndex = u32;

/// What nodes say of names beyond their units.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeNames {
    /// The module whose import the node is.
    pub module: Option<ModuleIndex>,
    /// Modules that code outside the sources got hold of.
    pub taken: Vec<ModuleIndex>,
    /// Whether all names of all modules may be reached.
    pub is_wide: bool,
    /// Whether code that is not followed may read annotations, or docstrings.
    pub reads: bool,
    pub reads_docs: bool,
    /// Whether docstrings were read there.
    pub has_read_docs: bool,
}

/// The names of one row, or of what rows share.
#[derive(Debug, Default)]
pub(crate) struct Closed {
    /// What it builds on.
    below: Option<Rc<Closed>>,
    modules: FxHashSet<ModuleIndex>,
    names: FxHashSet<NameIndex>,
    /// Everything that was reached, the given units too.
    units: FxHashSet<UnitIndex>,
    whole: FxHashSet<ModuleIndex>,
    /// Those of `whole` of which values are held, too.
    held: FxHashSet<ModuleIndex>,
    /// What waits for a module that is not imported yet.
    waiting: FxHashMap<ModuleIndex, Vec<UnitIndex>>,
    waiting_taken: FxHashSet<ModuleIndex>,
    is_wide: bool,
    looks_up: bool,
    reads: bool,
    reads_docs: bool,
    notes: Vec<Note>,
}

impl Closed {
    fn layers(&self) -> impl Iterator<Item = &Closed> {
        std::iter::successors(Some(self), |layer| layer.below.as_deref())
    }

    /// What it builds on, from the top.
    fn lower(&self) -> impl Iterator<Item = &Closed> {
        self.layers().skip(1)
    }

    /// The units, without those of what it builds on; sorted.
    pub(crate) fn units(&self) -> Vec<UnitIndex> {
        let mut units: Vec<UnitIndex> = self.units.iter().copied().collect();
        units.sort_unstable();
        units
    }
}

/// Closes rows over names.
#[derive(Debug, Default)]
pub(crate) struct NameClosure {
    pub modules: Modules,
    pub nodes: FxHashMap<NodeId, NodeNames>,
    /// Files (as `file` units) that were executed as source.
    sources: FxHashMap<UnitIndex, Option<ModuleIndex>>,
    /// By hash: every name that a module purely binds.
    numbers: FxHashMap<u32, NameIndex>,
    /// By name: where it is bound.
    bound: Vec<Vec<(ModuleIndex, UnitIndex)>>,
    /// Whether the collector told what code got from frames, and what generated code spells.
    pub is_watched: bool,
    /// Whether something of the project may get at modules that are lent.
    meets_lent: bool,
    /// Methods that are bindings of their own.
    methods: FxHashMap<ModuleIndex, Vec<UnitIndex>>,
    by_path: FxHashMap<BString, ModuleIndex>,
    test_files: FxHashSet<ModuleIndex>,
    reaches: FxHashMap<UnitIndex, Rc<Reach>>,
}

impl NameClosure {
    /// Notes that the `file` unit at `index` was executed as source; of an
    /// unknown `module` it is not known what it spells.
    pub(crate) fn executed(&mut self, index: UnitIndex, module: Option<ModuleIndex>) {
        self.sources.insert(index, module);
    }

    /// Whether a unit is a file that was executed as source.
    pub(crate) fn is_source(&self, unit: UnitIndex) -> bool {
        self.sources.contains_key(&unit)
    }

    /// Whether a unit of a row spells what reads annotations.
    pub(crate) fn may_read(&self, unit: UnitIndex) -> bool {
        self.reaches.get(&unit).is_some_and(|reach| reach.reads)
    }

    /// Whether some file was executed as source of which it is not known what it spells.
    pub(crate) fn runs_sources(&self) -> bool {
        self.sources.values().any(Option::is_none)
    }

    /// The module with this path.
    pub(crate) fn module_at(&self, path: &BStr) -> Option<ModuleIndex> {
        self.by_path.get(path).copied()
    }

    /// Notes that pytest looked for tests in the module in `file`.
    pub(crate) fn add_test_file(&mut self, file: &BStr) {
        self.test_files.extend(self.modules.of_file(file));
    }

    /// The skeletons of all test files.
    pub(crate) fn test_file_skeletons(&self, table: &mut UnitTable) -> Vec<UnitIndex> {
        let files = self
            .test_files
            .iter()
            .map(|file| &self.modules.all[*file as usize]);
        files
            .filter(|module| !module.is_generated)
            .map(|module| table.intern(Unit::at(module.path.clone(), What::Skeleton)))
            .collect()
    }

    /// Numbers the names, after all modules are added.
    pub(crate) fn index(&mut self, table: &mut UnitTable) {
        for (at, module) in self.modules.all.iter().enumerate() {
            self.by_path.insert(module.path.clone(), at as ModuleIndex);
            if module.is_generated {
                continue;
            }
            let names = &module.parsed().names;
            self.meets_lent |= asked::meets_lent(names);
            for name in names.bindings.keys() {
                if annotated(name).is_some() {
                    continue;
                }
                let next = self.numbers.len() as NameIndex;
                let hash = name_hash(simple_name(name));
                let number = *self.numbers.entry(hash).or_insert(next);
                self.bound.resize_with(self.numbers.len(), Vec::new);
                let unit = Unit::named(UnitKind::Binding, module.path.clone(), name);
                let unit = table.intern(unit);
                self.bound[number as usize].push((at as ModuleIndex, unit));
                if simple_name(name) != name {
                    self.methods
                        .entry(at as ModuleIndex)
                        .or_default()
                        .push(unit);
                }
            }
        }
    }

    /// Everything that `units`, and what `nodes` import and take, reach;
    /// without what is below.
    pub(crate) fn close(
        &mut self,
        table: &mut UnitTable,
        nodes: &[NodeId],
        units: &[UnitIndex],
        below: Option<Rc<Closed>>,
    ) -> Closed {
        let mut closing = Closing {
            closed: Closed {
                below,
                ..Closed::default()
            },
            open: VecDeque::new(),
            trail: None,
            names: self,
            table,
        };
        closing.start(nodes);
        for unit in units {
            closing.add(*unit);
        }
        closing.run();
        closing.closed
    }

    /// pytest takes functions out of these by names that plugins can add to.
    pub(crate) fn is_conftest(&self, module: ModuleIndex) -> bool {
        let file = &self.modules.all[module as usize].file;
        file.ends_with(b"/conftest.py")
    }
}

/// One row, or base of rows, on its way.
struct Closing<'a> {
    closed: Closed,
    /// Units whose reach is still to be followed.
    open: VecDeque<UnitIndex>,
    /// Where it is asked why each unit is reached.
    trail: Option<Trail>,
    names: &'a mut NameClosure,
    table: &'a mut UnitTable,
}

impl Closing<'_> {
    /// Whether some layer of what was reached has something.
    fn has(&self, in_layer: impl Fn(&Closed) -> bool) -> bool {
        self.closed.layers().any(in_layer)
    }

    /// The same of those that it builds on.
    fn is_below(&self, in_layer: impl Fn(&Closed) -> bool) -> bool {
        self.closed.lower().any(in_layer)
    }

    fn has_module(&self, module: ModuleIndex) -> bool {
        self.has(|layer| layer.modules.contains(&module))
    }

    fn is_whole(&self, module: ModuleIndex) -> bool {
        self.has(|layer| layer.whole.contains(&module))
    }

    /// Takes in the modules first: what is reached depends on them.
    fn start(&mut self, nodes: &[NodeId]) {
        let mut new = Vec::new();
        let mut taken = Vec::new();
        let mut is_wide = self.has(|layer| layer.is_wide);
        for node in nodes {
            let Some(names) = self.names.nodes.get(node) else {
                continue;
            };
            taken.extend(&names.taken);
            is_wide |= names.is_wide;
            self.closed.reads |= names.reads;
            self.closed.reads_docs |= names.reads_docs;
            if let Some(module) = names.module
                && !self.has_module(module)
            {
                self.closed.modules.insert(module);
                new.push(module);
            }
        }
        if std::mem::take(&mut self.closed.reads) {
            self.read_annotations();
        }
        if std::mem::take(&mut self.closed.reads_docs) {
            self.read_docstrings();
        }
        for module in &new {
            self.arrive(*module);
            self.look_into(*module);
        }
        for module in taken {
            self.take(module);
        }
        if is_wide {
            self.widen();
        }
    }

    /// What the runner asks of a module by itself.
    fn look_into(&mut self, module: ModuleIndex) {
        if self.names.is_conftest(module) {
            self.make_whole(module);
        } else if self.names.test_files.contains(&module) {
            self.look_through(module);
        }
    }

    /// A module that is below in no layer: what those spell counts for it.
    fn arrive(&mut self, module: ModuleIndex) {
        let mut units: Vec<UnitIndex> = Vec::new();
        let mut bound: Vec<UnitIndex> = Vec::new();
        let (mut is_taken, mut looks_up) = (false, false);
        for below in self.closed.lower() {
            units.extend(below.waiting.get(&module).into_iter().flatten());
            let names = below.names.iter();
            let places = names.flat_map(|name| &self.names.bound[*name as usize]);
            let here = places.filter(|(of, _)| *of == module);
            bound.extend(here.map(|(_, unit)| *unit));
            is_taken |= below.waiting_taken.contains(&module);
            looks_up |= below.looks_up;
        }
        for unit in units {
            self.insert(unit);
        }
        if is_taken {
            self.take(module);
        }
        for unit in bound {
            self.add(unit);
        }
        if looks_up {
            self.read_methods(module);
        }
    }

    fn add(&mut self, unit: UnitIndex) {
        if self.is_wanted(unit) && self.insert(unit) {
            self.note(unit);
            self.open.push_back(unit);
        }
    }

    /// Whether a unit is new.
    fn insert(&mut self, unit: UnitIndex) -> bool {
        !self.is_below(|layer| layer.units.contains(&unit)) && self.closed.units.insert(unit)
    }

    fn run(&mut self) {
        while let Some(unit) = self.open.pop_front() {
            self.follow(unit);
            let reach = self.names.reach(self.table, unit);
            for name in &reach.names {
                self.spell(*name);
            }
            for (module, unit) in &reach.facts {
                if self.has_module(*module) {
                    if self.is_wanted(*unit) && self.insert(*unit) {
                        self.note(*unit);
                    }
                } else {
                    self.closed.waiting.entry(*module).or_default().push(*unit);
                }
            }
            for unit in &reach.units {
                self.add(*unit);
            }
            for module in &reach.taken {
                self.take(*module);
            }
            if reach.is_wide {
                self.widen();
            }
            self.note_annotations(&reach);
            self.look_up(&reach);
        }
    }

    /// Code that finds methods by no name can read what any was defined as.
    fn look_up(&mut self, reach: &Reach) {
        let did = self.has(|layer| layer.looks_up);
        self.closed.looks_up |= reach.looks_up;
        if reach.looks_up && !did {
            self.lead_to_methods();
            for module in self.all_modules() {
                self.read_methods(module);
            }
            self.read_members();
        }
    }

    fn read_methods(&mut self, module: ModuleIndex) {
        for unit in self.names.methods.get(&module).cloned().unwrap_or_default() {
            self.add(unit);
        }
    }

    fn all_modules(&self) -> Vec<ModuleIndex> {
        let layers = self.closed.layers();
        layers.flat_map(|layer| &layer.modules).copied().collect()
    }

    fn spell(&mut self, name: NameIndex) {
        if self.is_below(|layer| layer.names.contains(&name)) || !self.closed.names.insert(name) {
            return;
        }
        for at in 0..self.names.bound[name as usize].len() {
            let (module, unit) = self.names.bound[name as usize][at];
            // Of a whole module the skeleton speaks for all, but for what its
            // imports bring.
            if self.has_module(module) {
                self.add(unit);
            }
        }
    }

    /// A test file: pytest looks at what every name is bound to. A function, a
    /// class or a literal is then a test (which has a row of its own), or
    /// nothing, unless its name says otherwise; anything else may be more.
    fn look_through(&mut self, module: ModuleIndex) {
        let of = &self.names.modules.all[module as usize];
        if of.is_generated {
            return;
        }
        let names = &of.parsed().names;
        let binding = |name: &str| Unit::named(UnitKind::Binding, of.path.clone(), name);
        let asked = asked::ASKED_OF_TEST_FILES.iter().map(|name| binding(name));
        let others = names
            .bindings
            .iter()
            .filter(|(name, part)| asked::asks_for(name) || !(part.is_import || part.is_plain))
            .map(|(name, _)| binding(name));
        let units: Vec<Unit> = asked.chain(others).collect();
        for unit in units {
            let unit = self.table.intern(unit);
            self.add(unit);
        }
    }

    /// A module that is handed on: whoever has it can ask for any name.
    fn take(&mut self, module: ModuleIndex) {
        match self.has_module(module) {
            true => {
                self.note_taken(module);
                self.hold(module);
            }
            false => {
                self.closed.waiting_taken.insert(module);
            }
        }
    }

    fn make_whole(&mut self, module: ModuleIndex) {
        if self.is_whole(module) || !self.closed.whole.insert(module) {
            return;
        }
        let of = &self.names.modules.all[module as usize];
        if !of.is_generated {
            let unit = Unit::at(of.path.clone(), What::Skeleton);
            let unit = self.table.intern(unit);
            self.add(unit);
        }
    }

    /// All names of a module, and of those that it can give.
    fn hold(&mut self, module: ModuleIndex) {
        self.make_whole(module);
        if self.is_below(|layer| layer.held.contains(&module)) || !self.closed.held.insert(module) {
            return;
        }
        let outer = self.lead(By::Module(module));
        let of = &self.names.modules.all[module as usize];
        let parsed = of.parsed();
        let imports: Vec<Unit> = parsed
            .names
            .bindings
            .iter()
            .filter(|(_, part)| part.is_import && !of.is_generated)
            .map(|(name, _)| Unit::named(UnitKind::Binding, of.path.clone(), name))
            .collect();
        for unit in imports {
            let unit = self.table.intern(unit);
            self.add(unit);
        }
        let others = self.names.modules.held(module);
        self.note_given(&others);
        for other in others {
            self.take(other);
        }
        self.lead(outer);
    }

    fn widen(&mut self) {
        self.closed.is_wide = true;
        self.read_annotations();
        self.read_docstrings();
        for module in self.all_modules() {
            self.note_taken(module);
            self.hold(module);
        }
    }
}

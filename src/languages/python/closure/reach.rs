//! What one unit leads to by itself: the names that it spells, units that it is
//! made of, modules that it hands on. `super` follows these until nothing new
//! appears.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::annotations::Note;
use super::{NameClosure, NameIndex};
use bstr::BStr;

use crate::languages::python::asked;
use crate::languages::python::docstrings::reads_docstrings;
use crate::languages::python::dynamic::{Generated, reads_annotations};
use crate::languages::python::keyed::KEYED;
use crate::languages::python::listed::{ASKED_FOR_DOCS, LISTED};
use crate::languages::python::modules::ModuleIndex;
use crate::languages::{Part, Uses, annotated, name_hash};
use crate::matrix::{Unit, UnitKind, What};
use crate::observe::units::{UnitIndex, UnitTable};

/// What one unit adds to a row that has it.
#[derive(Debug, Default)]
pub(super) struct Reach {
    pub names: Vec<NameIndex>,
    /// Units that need no further look, if the row has the module.
    pub facts: Vec<(ModuleIndex, UnitIndex)>,
    /// Units to be followed.
    pub units: Vec<UnitIndex>,
    /// Modules that are handed on as a value.
    pub taken: Vec<ModuleIndex>,
    pub is_wide: bool,
    pub looks_up: bool,
    /// Whether it reads annotations, or docstrings, of whatever it be.
    pub reads: bool,
    pub reads_docs: bool,
    /// What can be read of it.
    pub notes: Vec<Note>,
}

impl NameClosure {
    pub(super) fn reach(&mut self, table: &mut UnitTable, index: UnitIndex) -> Rc<Reach> {
        if let Some(known) = self.reaches.get(&index) {
            return known.clone();
        }
        let reach = Rc::new(self.reach_of(table, index));
        self.reaches.insert(index, reach.clone());
        reach
    }

    fn reach_of(&self, table: &mut UnitTable, index: UnitIndex) -> Reach {
        let unit = table.get(index).clone();
        let mut reach = Reach::default();
        if unit.kind() == UnitKind::File {
            match self.sources.get(&index) {
                None => {}
                Some(None) => reach.is_wide = true,
                Some(Some(module)) => self.everything(table, *module, &mut reach),
            }
            return reach;
        }
        if let What::Reached(name) = &unit.what {
            self.reached(table, unit.path(), name, &mut reach);
            return reach;
        }
        if !unit.kind().is_source() {
            return reach;
        }
        let Some(module) = self.by_path.get(unit.path()).copied() else {
            // Its module was imported by no test process: nothing is split.
            reach.is_wide = true;
            return reach;
        };
        let parsed = self.modules.all[module as usize].parsed();
        match &unit.what {
            What::Code(name) => match parsed.names.code.get(&**name) {
                Some(uses) => {
                    self.used(table, module, uses, &mut reach);
                    self.imported_in_functions(table, module, &uses.asks, &mut reach);
                    self.definition(table, module, name, &mut reach);
                }
                None => reach.is_wide = true,
            },
            What::Binding(_) | What::Presence(_) | What::Note(..) => {
                if let Some(part) = parsed.names.part(&unit.what) {
                    let name = unit.name();
                    self.binding(table, module, &name, part, &mut reach);
                    self.annotations_of(table, module, Some(&name), &mut reach);
                }
            }
            What::Effects => {
                self.annotations_of(table, module, None, &mut reach);
                self.used(table, module, &parsed.names.effects.uses, &mut reach);
                self.imported(table, module, &mut reach);
            }
            _ => self.skeleton(table, module, &mut reach),
        }
        reach
    }

    /// What an import brings is what its source binds to the name.
    fn binding(
        &self,
        table: &mut UnitTable,
        module: ModuleIndex,
        name: &str,
        part: &Part,
        reach: &mut Reach,
    ) {
        self.used(table, module, &part.uses, reach);
        if !part.is_import {
            return;
        }
        let names = &self.modules.all[module as usize].parsed().names;
        for import in names.imports_of(name_hash(name)) {
            let Some(item) = &import.item else {
                continue;
            };
            for source in self.modules.sources(module, import) {
                let of = &self.modules.all[source as usize];
                if !of.is_generated && of.parsed().names.bindings.contains_key(item) {
                    let unit = Unit::named(UnitKind::Binding, of.path.clone(), item);
                    reach.units.push(table.intern(unit));
                }
            }
        }
    }

    fn used(&self, table: &mut UnitTable, module: ModuleIndex, uses: &Uses, reach: &mut Reach) {
        let is_unseen = uses.is_watched && !self.is_watched;
        reach.is_wide |= uses.is_wide || is_unseen;
        reach.looks_up |= uses.looks_up || uses.lists_members;
        reach.looks_up |= uses.asks_by_name && !self.is_watched;
        reach.reads |= uses.reads;
        reach.reads_docs |= uses.reads_docs;
        let asked = uses.asks.iter().filter_map(|hash| self.numbers.get(hash));
        reach.names.extend(asked);
        let of = &self.modules.all[module as usize];
        for name in &uses.loads {
            if !of.is_generated && of.parsed().names.bindings.contains_key(name) {
                let unit = Unit::named(UnitKind::Binding, of.path.clone(), name);
                reach.units.push(table.intern(unit));
            }
        }
        if uses.holds_own {
            reach.taken.push(module);
        }
        for name in &uses.unbound {
            self.absent(table, module, name, reach);
        }
        reach.taken.extend(self.handed_on(module, uses));
        for (base, name) in &uses.members {
            for of in self.modules.called(module, *base) {
                self.absent(table, of, name, reach);
            }
        }
    }

    /// The modules that code in the source of `module` passes on.
    pub(crate) fn handed_on(&self, module: ModuleIndex, uses: &Uses) -> BTreeSet<ModuleIndex> {
        self.modules.handed_on(module, uses, self.meets_lent)
    }

    /// What generated code spells, or a module that code got from a frame.
    fn reached(&self, table: &mut UnitTable, path: &BStr, name: &str, reach: &mut Reach) {
        let module = self.by_path.get(path).copied();
        if name == "*" {
            reach.taken.extend(module);
            return;
        }
        if let Some(class) = name.strip_prefix(ASKED_FOR_DOCS) {
            reach.reads_docs |= !class.is_empty();
            return;
        }
        if name.starts_with([KEYED, LISTED]) {
            // It spells that, too.
            return;
        }
        let spelled = Generated::of(name);
        let hash = name_hash(spelled.name);
        reach.is_wide |= spelled.is_wide();
        reach.looks_up |= spelled.looks_up();
        reach.reads |= spelled.is_got() && reads_annotations(spelled.name);
        reach.reads_docs |= spelled.is_got() && reads_docstrings(spelled.name);
        reach.names.extend(self.numbers.get(&hash));
        reach.taken.extend(self.modules.generated(spelled, module));
        if let Some(module) = module {
            self.absent(table, module, spelled.name, reach);
        }
    }

    /// A name that a module lacks matters when it appears.
    fn absent(&self, table: &mut UnitTable, of: ModuleIndex, name: &str, reach: &mut Reach) {
        let module = &self.modules.all[of as usize];
        if !module.is_generated && !module.parsed().names.binds(name) {
            let unit = Unit::named(UnitKind::Binding, module.path.clone(), name);
            reach.facts.push((of, table.intern(unit)));
        }
    }

    /// What the import statements that run with the module's own import ask
    /// for must be there; a star import asks for everything.
    fn imported(&self, table: &mut UnitTable, module: ModuleIndex, reach: &mut Reach) {
        let names = &self.modules.all[module as usize].parsed().names;
        for import in names.imports.iter().filter(|import| import.at_import) {
            let Some(item) = &import.item else {
                continue;
            };
            for source in self.modules.sources(module, import) {
                let of = &self.modules.all[source as usize];
                if item == "*" {
                    reach.taken.push(source);
                } else if !of.is_generated {
                    let unit = Unit::at(of.path.clone(), What::Presence(item.as_str().into()));
                    reach.facts.push((source, table.intern(unit)));
                }
            }
        }
    }

    /// The same for imports in functions; those that succeed name what they
    /// bring.
    fn imported_in_functions(
        &self,
        table: &mut UnitTable,
        module: ModuleIndex,
        asks: &[u32],
        reach: &mut Reach,
    ) {
        let names = &self.modules.all[module as usize].parsed().names;
        for import in names.imports.iter().filter(|import| !import.at_import) {
            if let Some(item) = &import.item
                && asks.binary_search(&name_hash(item)).is_ok()
            {
                for source in self.modules.sources(module, import) {
                    self.absent(table, source, item, reach);
                }
            }
        }
    }

    /// Code that runs needs what it was defined as: its signature, and the
    /// class that it is a method of.
    fn definition(
        &self,
        table: &mut UnitTable,
        module: ModuleIndex,
        qualified: &str,
        reach: &mut Reach,
    ) {
        let of = &self.modules.all[module as usize];
        let outermost = qualified.split('.').next().unwrap_or(qualified);
        for name in [outermost, qualified] {
            if of.parsed().names.bindings.contains_key(name) {
                let unit = Unit::named(UnitKind::Binding, of.path.clone(), name);
                reach.units.push(table.intern(unit));
            }
        }
    }

    /// All statements of a module. What its imports bind is left out: names
    /// that the module only passes on count where someone spells them, or
    /// where the module is held.
    fn skeleton(&self, table: &mut UnitTable, module: ModuleIndex, reach: &mut Reach) {
        let names = &self.modules.all[module as usize].parsed().names;
        self.used(table, module, &names.effects.uses, reach);
        self.imported(table, module, reach);
        for (name, part) in &names.bindings {
            let is_own = !part.is_import || asked::asks_for(name);
            if is_own && annotated(name).is_none() {
                self.binding(table, module, name, part, reach);
            }
        }
        self.all_annotations(table, module, reach);
    }

    /// A source file that is one unit: all that it spells anywhere.
    fn everything(&self, table: &mut UnitTable, module: ModuleIndex, reach: &mut Reach) {
        self.skeleton(table, module, reach);
        let parsed = self.modules.all[module as usize].parsed();
        for (name, part) in &parsed.names.bindings {
            self.binding(table, module, name, part, reach);
        }
        for uses in parsed.names.code.values() {
            self.used(table, module, uses, reach);
            self.imported_in_functions(table, module, &uses.asks, reach);
        }
    }
}

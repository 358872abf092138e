//! Which code can read the state that a trace names.
//!
//! Code gets at a global by its name, or through its module: by `getattr(module, name)` with a
//! computed name, `vars(module)` and the like. For the latter some code must have passed the
//! module on, which its source tells (`docs/names.md`). At a member of a class it gets by its name,
//! or by such look-ups in any object. Code that can reach any name reads everything.

use std::collections::BTreeSet;

use anyhow::Result;
use bstr::{BStr, BString, ByteSlice};
use rustc_hash::{FxHashMap, FxHashSet};

use super::asked;
use super::closure::NameClosure;
use super::docstrings::DOC;
use super::dynamic::Generated;
use super::keyed::{KEYED, Keyed, is_entry, kind_of};
use super::listed::{ASKED_FOR_DOCS, LISTED};
use super::modules::ModuleIndex;
use super::serials::{GOT, LOST, SERIAL, serials_at};
use crate::languages::{
    Analysis, Facts, ModuleUnits, Place, StateReaders, Uses, name_hash, simple_name,
};
use crate::matrix::{Unit, UnitKind, What};
use crate::observe::Run;
use crate::observe::graph::NodeId;
use crate::observe::units::UnitIndex;

/// Where more code than this passes a module on, all that looks up names counts.
const MOST_HOLDERS: usize = 8;

/// Code that ran in a run, by the names that it mentions.
#[derive(Debug, Default)]
pub(super) struct Naming {
    /// By the hash of a name.
    mentioned_by: FxHashMap<u32, Vec<UnitIndex>>,
    /// Code that may reach any name.
    wide: Vec<UnitIndex>,
    /// Code that may get at attributes, of whatever it has, by names that it does not spell.
    looking_up: Vec<UnitIndex>,
    /// By path and cell, the units that stand for reads of an entry.
    by_key: FxHashMap<(BString, String), Vec<UnitIndex>>,
    handed: Option<Handed>,
    /// Cells with numbers that classes count their objects by, and their paths.
    serials: FxHashSet<(String, BString)>,
}

/// Which modules code passes on as a value, and where.
#[derive(Debug, Default)]
struct Handed {
    /// By path of a module: the nodes whose code does. A module that nobody passes on has none.
    by: FxHashMap<BString, Vec<NodeId>>,
}

impl Handed {
    /// `None` if there is code of which nobody knows what it does.
    fn of(run: &Run<'_>, names: &NameClosure) -> Option<Handed> {
        let all = &names.modules.all;
        let is_followed = |file: &BString| {
            !file.ends_with(b".py")
                || Facts::is_third_party(file.as_bstr())
                || names.modules.of_file(file.as_bstr()).is_some()
        };
        if !run.graph.imports.keys().all(is_followed)
            || all.iter().any(|module| module.is_generated)
            || names.runs_sources()
        {
            return None;
        }
        let mut by: Vec<FxHashSet<NodeId>> = vec![FxHashSet::default(); all.len()];
        // pytest hands out the modules of its tests (`request.module`).
        let asks = |uses: &Uses| asked::HAND_OUT_MODULES.iter().any(|name| uses.spells(name));
        let mut code = all.iter().flat_map(|one| one.parsed().names.code.values());
        let gives_tests = code.any(asks);
        for (at, module) in all.iter().enumerate() {
            let Some(import) = run.graph.imports.get(&module.file) else {
                continue;
            };
            let at = at as ModuleIndex;
            let names_of = &module.parsed().names;
            let parts = names_of.bindings.values().map(|part| &part.uses);
            for uses in parts.chain([&names_of.effects.uses]) {
                passed_on(names, at, uses).for_each(|one| _ = by[one as usize].insert(*import));
            }
            if gives_tests && run.graph.collects.contains_key(&module.file) {
                by[at as usize].insert(*import);
            }
        }
        let mut known: FxHashMap<UnitIndex, Vec<ModuleIndex>> = FxHashMap::default();
        for (node, units) in run.node_units.iter().enumerate() {
            let node = node as NodeId;
            for unit in units {
                let passed = known.entry(*unit);
                let passed = passed.or_insert_with(|| passed_on_by(run.table.get(*unit), names));
                passed
                    .iter()
                    .for_each(|one| _ = by[*one as usize].insert(node));
            }
            let taken = names
                .nodes
                .get(&node)
                .into_iter()
                .flat_map(|one| &one.taken);
            taken.for_each(|one| _ = by[*one as usize].insert(node));
        }
        let mut handed = Handed::default();
        for module in all {
            handed.by.insert(module.path.clone(), Vec::new());
        }
        // Who has a module gets at those that it has.
        for (at, nodes) in by.iter().enumerate().filter(|(_, nodes)| !nodes.is_empty()) {
            let (mut seen, mut open) = (FxHashSet::default(), vec![at as ModuleIndex]);
            while let Some(module) = open.pop() {
                if seen.insert(module) {
                    open.extend(names.modules.held(module));
                    let path = &all[module as usize].path;
                    let holders = handed.by.entry(path.clone()).or_default();
                    holders.extend(nodes);
                }
            }
        }
        for nodes in handed.by.values_mut() {
            nodes.sort_unstable();
            nodes.dedup();
        }
        Some(handed)
    }
}

/// The modules that code in the source of `module` passes on.
fn passed_on<'u>(
    names: &'u NameClosure,
    module: ModuleIndex,
    uses: &'u Uses,
) -> impl Iterator<Item = ModuleIndex> + 'u {
    let own = uses.holds_own.then_some(module);
    names.handed_on(module, uses).into_iter().chain(own)
}

/// Those that a unit passes on when it runs.
fn passed_on_by(unit: &Unit, names: &NameClosure) -> Vec<ModuleIndex> {
    let module = names.module_at(unit.path());
    match &unit.what {
        What::Code(name) => {
            let Some(module) = module else {
                return Vec::new();
            };
            let parsed = names.modules.all[module as usize].parsed();
            let uses = parsed.names.code.get(&**name);
            uses.map_or_else(Vec::new, |uses| passed_on(names, module, uses).collect())
        }
        What::Reached(name) if &**name == "*" => module.into_iter().collect(),
        What::Reached(name) if name.starts_with([ASKED_FOR_DOCS, KEYED, LISTED]) => Vec::new(),
        What::Reached(name) => {
            let generated = names.modules.generated(Generated::of(name), module);
            generated.into_iter().collect()
        }
        _ => Vec::new(),
    }
}

impl Naming {
    /// # Errors
    /// If a source cannot be read.
    pub(super) fn of(
        run: &Run<'_>,
        ran: &BTreeSet<UnitIndex>,
        names: &NameClosure,
    ) -> Result<Naming> {
        let told = |text: &str| {
            run.table
                .find(&Unit::at("", What::Reached(text.into())))
                .is_some()
        };
        let is_told = told(SERIAL.encode_utf8(&mut [0; 4])) && !told(LOST);
        let serials = serials_at(run.facts).into_iter().filter(|_| is_told);
        let mut naming = Naming {
            handed: Handed::of(run, names),
            serials: serials.map(|serial| (serial.cell(), serial.path)).collect(),
            ..Naming::default()
        };
        let by_key = naming.entries(run, ran);
        for at in ran.iter().copied() {
            let unit = run.table.get(at);
            let part = match &unit.what {
                What::Code(name) => Some(&**name),
                What::Skeleton | What::Effects => None,
                // Code that stands outside of functions: a lambda.
                What::Binding(_) => None,
                What::Reached(name) if name.starts_with([KEYED, LISTED]) => continue,
                What::Reached(name) if name.starts_with(ASKED_FOR_DOCS) => {
                    naming.add(at, [name_hash(DOC)].into_iter());
                    continue;
                }
                What::Reached(name) if &**name != "*" => {
                    naming.generated(at, Generated::of(name));
                    continue;
                }
                _ => continue,
            };
            let analysis = run.facts.module(unit.path())?;
            let Some(Analysis::Parsed(module)) = analysis.as_deref() else {
                continue;
            };
            if unit.kind() == UnitKind::Binding {
                if let Some(part) = module.names.part(&unit.what) {
                    let globals = part.uses.loads.iter().chain(&part.uses.unbound);
                    let globals = globals.map(|name| name_hash(name));
                    naming.add(at, part.uses.asks.iter().copied().chain(globals));
                }
                continue;
            }
            match module.mentioned(part) {
                Some(names) => {
                    let without = by_key.get(&at).map_or(&[][..], Vec::as_slice);
                    let names = names.iter().filter(|name| !without.contains(name));
                    naming.add(at, names.copied());
                }
                None => naming.wide.push(at),
            }
            if part.is_some() && module.is_dynamic(part) {
                match is_wide(unit, module, names.is_watched) {
                    true => naming.wide.push(at),
                    false => naming.looking_up.push(at),
                }
            }
        }
        Ok(naming)
    }

    /// Takes in which entries of dictionaries were read. Returns hashes of the names of globals
    /// that functions use by key only, by their units: where each node that ran one tells so.
    fn entries(
        &mut self,
        run: &Run<'_>,
        ran: &BTreeSet<UnitIndex>,
    ) -> FxHashMap<UnitIndex, Vec<u32>> {
        let mut functions: FxHashMap<UnitIndex, Vec<u32>> = FxHashMap::default();
        for at in ran.iter().copied() {
            let unit = run.table.get(at);
            let What::Reached(text) = &unit.what else {
                continue;
            };
            match Keyed::of(text) {
                None => {}
                Some(Keyed::Function(function, global)) => {
                    let code = Unit::at(unit.path.clone(), What::Code(function.into()));
                    let tells = |code: &UnitIndex| {
                        let mut nodes = run.node_units.iter();
                        nodes.all(|units| !units.contains(code) || units.contains(&at))
                    };
                    if let Some(code) = run.table.find(&code).filter(tells) {
                        functions.entry(code).or_default().push(name_hash(global));
                    }
                }
                Some(Keyed::Whole(global)) => self.add(at, [name_hash(global)].into_iter()),
                Some(Keyed::Entry { cell, global }) => {
                    for cell in BTreeSet::from([cell.to_owned(), kind_of(global)]) {
                        let readers = self.by_key.entry((unit.path.clone(), cell));
                        readers.or_default().push(at);
                    }
                }
            }
        }
        functions
    }

    fn add(&mut self, unit: UnitIndex, names: impl Iterator<Item = u32>) {
        for name in names {
            self.mentioned_by.entry(name).or_default().push(unit);
        }
    }

    /// What code spells that the program made.
    fn generated(&mut self, unit: UnitIndex, spelled: Generated<'_>) {
        self.add(unit, [name_hash(spelled.name)].into_iter());
        if spelled.is_wide() {
            self.wide.push(unit);
        } else if spelled.looks_up() {
            self.looking_up.push(unit);
        }
    }

    /// The code that mentions the last part of `name`, a global (or an attribute of a
    /// class) of the module in `file`, or gets at it without that. The module's own
    /// skeleton defines it and so does not count.
    pub(super) fn units(&self, run: &Run<'_>, file: &BStr, name: &str) -> StateReaders {
        let (Place::Inside(owner) | Place::Outside(owner)) = run.facts.place(file);
        if is_entry(name) {
            // Who reads the whole dictionary reads another cell that changes with it.
            let readers = self.by_key.get(&(owner, name.to_owned()));
            return StateReaders {
                units: readers.cloned().unwrap_or_default(),
                ..StateReaders::default()
            };
        }
        let is_other = |at: &UnitIndex| {
            let unit = run.table.get(*at);
            // Whatever of the module is in the row: it ran when the module
            // was imported, be it now.
            !(matches!(unit.what, What::Skeleton | What::Effects) && unit.path == owner)
        };
        let is_serial = self.serials.contains(&(name.to_owned(), owner.clone()));
        // Sources do no more with such a number than it takes to count and to sort.
        let reads =
            |at: &UnitIndex| !is_serial || matches!(run.table.get(*at).what, What::Reached(_));
        let named = self.mentioned_by.get(&name_hash(simple_name(name)));
        let got = self.mentioned_by.get(&name_hash(GOT)).filter(|_| is_serial);
        let named = named.into_iter().chain(got).flatten().copied();
        let named = named.filter(is_other).filter(reads);
        let mut units: Vec<UnitIndex> = named.chain(self.wide.iter().copied()).collect();
        let handed = self.handed.as_ref();
        let holders = handed.and_then(|handed| handed.by.get(&owner));
        let is_global = simple_name(name) == name;
        let known = holders.filter(|holders| is_global && holders.len() <= MOST_HOLDERS);
        if known.is_none() {
            units.extend(&self.looking_up);
        }
        units.sort_unstable();
        units.dedup();
        StateReaders {
            looking: known.map_or_else(Vec::new, |_| self.looking_up.clone()),
            holders: known.cloned().unwrap_or_default(),
            units,
        }
    }
}

/// Whether code may reach any name of any module. What generated code spells, and the modules
/// that code got from frames, a collector that watches has told.
fn is_wide(unit: &Unit, module: &ModuleUnits, is_watched: bool) -> bool {
    let What::Code(name) = &unit.what else {
        return true;
    };
    let uses = module.names.code.get(&**name);
    uses.is_none_or(|uses| uses.is_wide || uses.is_watched && !is_watched)
}

//! Why a row has each of its units: the closure, watched while it runs once
//! more for one row.
//!
//! The closure itself is that of recording. What starts it comes in stages,
//! those that say most to people first, and within a stage what is nearest is
//! reached first: so the trail is one of shortest chains.

use bstr::{BStr, BString};
use rustc_hash::FxHashMap;

use super::{Closed, Closing, NameClosure};
use crate::languages::python::modules::ModuleIndex;
use crate::languages::{name_hash, simple_name};
use crate::matrix::{Unit, What};
use crate::observe::units::{UnitIndex, UnitTable};

/// Why something is part of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// It is what the closure starts from.
    Given,
    /// The runner asks for it by itself.
    Runner,
    /// A unit leads to it.
    Unit(UnitIndex),
    /// It is the body of a function, or of a class's method, that was reached.
    Ran(UnitIndex),
    /// Whoever has this module can get at it.
    Module(ModuleIndex),
    /// It gets at methods by names that nobody spells.
    Methods(UnitIndex),
}

/// For each unit of a row, why it was reached first.
#[derive(Debug)]
pub(crate) struct Trail {
    /// What leads on just now.
    by: By,
    /// Units from here on are not part of the row.
    row: UnitIndex,
    ran: Ran,
    units: FxHashMap<UnitIndex, By>,
    /// Why each module that was handed on is.
    taken: FxHashMap<ModuleIndex, By>,
}

impl Trail {
    pub(crate) fn unit(&self, unit: UnitIndex) -> Option<By> {
        self.units.get(&unit).copied()
    }

    pub(crate) fn taken(&self, module: ModuleIndex) -> Option<By> {
        self.taken.get(&module).copied()
    }
}

/// The code that ran, by what leads to it.
///
/// To be in a row, code needs no way by names. But people want to know how the
/// test came to it, and mostly that is by its name.
#[derive(Debug, Default)]
pub(crate) struct Ran {
    /// By the binding that is its definition.
    by_binding: FxHashMap<UnitIndex, Vec<UnitIndex>>,
    /// Where effects define it: by the hash of the name that it is asked for by.
    by_name: FxHashMap<u32, Vec<UnitIndex>>,
    /// The same, by path and name of the top level.
    by_global: FxHashMap<(BString, String), Vec<UnitIndex>>,
}

impl Ran {
    /// The code among the units of a row.
    pub(crate) fn of(units: &[Unit]) -> Ran {
        let bindings: FxHashMap<(&BStr, &str), UnitIndex> = units
            .iter()
            .enumerate()
            .filter_map(|(at, unit)| match &unit.what {
                What::Binding(name) => Some(((unit.path(), &**name), at as UnitIndex)),
                _ => None,
            })
            .collect();
        let mut ran = Ran::default();
        for (at, unit) in units.iter().enumerate() {
            let What::Code(name) = &unit.what else {
                continue;
            };
            let at = at as UnitIndex;
            let outermost = name.split('.').next().unwrap_or_default();
            let own = bindings.get(&(unit.path(), &**name));
            if let Some(binding) = own.or_else(|| bindings.get(&(unit.path(), outermost))) {
                ran.by_binding.entry(*binding).or_default().push(at);
                continue;
            }
            // Methods with special names run because somebody has the class.
            let simple = simple_name(name);
            let asked = match simple.starts_with("__") {
                true => outermost,
                false => simple,
            };
            ran.by_name.entry(name_hash(asked)).or_default().push(at);
            if asked == outermost {
                let global = (unit.path.clone(), outermost.to_owned());
                ran.by_global.entry(global).or_default().push(at);
            }
        }
        ran
    }
}

/// What a row is made of.
pub(crate) struct Start<'a> {
    pub modules: &'a [ModuleIndex],
    /// Units to start from, one stage after the other.
    pub stages: &'a [Vec<UnitIndex>],
    /// Modules that are whole in the row for a reason that only the run knew,
    /// if the closure does not come to it.
    pub whole: &'a [(ModuleIndex, UnitIndex)],
    pub ran: Ran,
    /// How many units of the table, the first ones, are the row's.
    pub units: UnitIndex,
}

impl NameClosure {
    /// Closes one row once more, to learn why it has each unit.
    pub(crate) fn trail(&mut self, table: &mut UnitTable, start: Start<'_>) -> Trail {
        let mut closing = Closing {
            closed: Closed::default(),
            open: Default::default(),
            trail: Some(Trail {
                by: By::Given,
                row: start.units,
                ran: start.ran,
                units: FxHashMap::default(),
                taken: FxHashMap::default(),
            }),
            names: self,
            table,
        };
        closing.closed.modules.extend(start.modules);
        let (last, first) = match start.stages.split_last() {
            Some((last, first)) => (last.as_slice(), first),
            None => (&[][..], &[][..]),
        };
        for stage in first {
            closing.go_on(stage);
        }
        closing.lead(By::Runner);
        for module in start.modules {
            closing.look_into(*module);
        }
        closing.run();
        closing.go_on(last);
        let left: Vec<ModuleIndex> = start
            .whole
            .iter()
            .filter(|(_, skeleton)| !closing.closed.units.contains(skeleton))
            .map(|(module, _)| *module)
            .collect();
        closing.lead(By::Given);
        for module in &left {
            closing.note_taken(*module);
        }
        for module in left {
            closing.hold(module);
        }
        closing.run();
        match closing.trail {
            Some(trail) => trail,
            None => unreachable!("it was put there above"),
        }
    }
}

impl Closing<'_> {
    fn go_on(&mut self, stage: &[UnitIndex]) {
        self.lead(By::Given);
        for unit in stage {
            self.add(*unit);
        }
        self.run();
    }

    /// From now on `by` is what leads on; returns what was.
    pub(super) fn lead(&mut self, by: By) -> By {
        match &mut self.trail {
            Some(trail) => std::mem::replace(&mut trail.by, by),
            None => By::Given,
        }
    }

    /// Whether `unit` can be part of what is closed.
    pub(super) fn is_wanted(&self, unit: UnitIndex) -> bool {
        self.trail.as_ref().is_none_or(|trail| unit < trail.row)
    }

    /// Notes that `unit` was reached.
    pub(super) fn note(&mut self, unit: UnitIndex) {
        if let Some(trail) = &mut self.trail {
            trail.units.insert(unit, trail.by);
        }
    }

    /// Notes that `module` was handed on.
    pub(super) fn note_taken(&mut self, module: ModuleIndex) {
        if let Some(trail) = &mut self.trail {
            trail.taken.entry(module).or_insert(trail.by);
        }
    }

    /// Notes what a module can give before what those modules can.
    pub(super) fn note_given(&mut self, modules: &[ModuleIndex]) {
        if self.trail.is_some() {
            for module in modules {
                if self.has_module(*module) {
                    self.note_taken(*module);
                }
            }
        }
    }

    /// From now on, looking up leads on to methods.
    pub(super) fn lead_to_methods(&mut self) {
        if let Some(trail) = &mut self.trail
            && let By::Unit(unit) = trail.by
        {
            trail.by = By::Methods(unit);
        }
    }

    /// Goes on with `unit`: first, if it defines something, to its code that
    /// ran.
    pub(super) fn follow(&mut self, unit: UnitIndex) {
        let Some(trail) = &self.trail else {
            return;
        };
        let mut ran = trail.ran.by_binding.get(&unit).cloned().unwrap_or_default();
        ran.extend(self.defined_by_effects(trail, unit));
        self.lead(By::Ran(unit));
        for code in ran {
            self.add(code);
        }
        self.lead(By::Unit(unit));
    }

    /// The code that ran, that effects define, and that `unit` spells.
    fn defined_by_effects(&self, trail: &Trail, unit: UnitIndex) -> Vec<UnitIndex> {
        let unit = self.table.get(unit);
        let Some(module) = self.names.by_path.get(unit.path()).copied() else {
            return Vec::new();
        };
        let modules = &self.names.modules;
        let names = &modules.all[module as usize].parsed().names;
        let uses = match &unit.what {
            What::Code(name) => names.code.get(&**name),
            What::Effects => Some(&names.effects.uses),
            what => names.part(what).map(|part| &part.uses),
        };
        let Some(uses) = uses else {
            return Vec::new();
        };
        let mut found: Vec<UnitIndex> = Vec::new();
        for hash in &uses.asks {
            found.extend(trail.ran.by_name.get(hash).into_iter().flatten());
        }
        let mut globals: Vec<(BString, String)> = uses
            .loads
            .iter()
            .map(|name| (unit.path.clone(), name.clone()))
            .collect();
        if let What::Binding(name) = &unit.what {
            for import in names.imports_of(name_hash(name)) {
                for source in modules.sources(module, import) {
                    let path = &modules.all[source as usize].path;
                    globals.extend(import.item.clone().map(|item| (path.clone(), item)));
                }
            }
        }
        for global in globals {
            found.extend(trail.ran.by_global.get(&global).into_iter().flatten());
        }
        found
    }
}

//! How a test reaches what its row holds: worked out once more for one row,
//! from the sources that it was recorded from.
//!
//! A row holds units and not how they came to be in it. What ran is known by
//! its `code` and `effects` units; everything else follows from them by the
//! closure over names, which is watched here while it runs again.

use std::collections::VecDeque;
use std::rc::Rc;

use bstr::{BStr, BString, ByteSlice};
use rustc_hash::{FxHashMap, FxHashSet};

use super::closure::{By, NameClosure, Ran, Start, Trail};
use super::modules::{Module, ModuleIndex};
use crate::languages::{Analysis, Import, Origin, Step, Uses, Way, Whole, name_hash};
use crate::matrix::{Unit, UnitKind, What};
use crate::observe::units::{UnitIndex, UnitTable};

/// The row that ways are asked of.
pub(crate) struct RowOf<'a> {
    pub units: Vec<Unit>,
    /// Top of the work tree.
    pub root: &'a BStr,
    /// The test's file (relative to the top), as its id has it, and the
    /// qualified name of its function.
    pub file: BString,
    pub shown_file: String,
    pub function: String,
    /// The analysis of a source as it was when the row was recorded, if that
    /// is at hand.
    pub source: &'a dyn Fn(&BStr) -> Option<Rc<Analysis>>,
    /// By which words the code of a unit can reach any name.
    pub wide_words: &'a dyn Fn(&Unit) -> Vec<String>,
}

/// All ways of one row.
pub(crate) struct Ways<'a> {
    row: RowOf<'a>,
    table: UnitTable,
    names: NameClosure,
    by_path: FxHashMap<BString, ModuleIndex>,
    /// The modules that the row imports.
    imported: Vec<ModuleIndex>,
    trail: Trail,
}

impl<'a> Ways<'a> {
    pub(crate) fn of(row: RowOf<'a>) -> Ways<'a> {
        let mut table = UnitTable::default();
        for unit in &row.units {
            table.intern(unit.clone());
        }
        let count = table.units().len() as UnitIndex;
        let mut names = NameClosure::default();
        // What the collector told is in the row.
        names.is_watched = true;
        let mut by_path = FxHashMap::default();
        for unit in row.units.iter().filter(|unit| is_source(unit)) {
            if by_path.contains_key(&unit.path) {
                continue;
            }
            let Some(analysis) = (row.source)(unit.path()) else {
                continue;
            };
            if let Analysis::Parsed(_) = &*analysis {
                let file = match unit.is_outside() {
                    true => unit.path.clone(),
                    false => {
                        BString::from([row.root.as_bytes(), b"/", unit.path().as_bytes()].concat())
                    }
                };
                let module = Module {
                    file,
                    path: unit.path.clone(),
                    analysis,
                    is_generated: false,
                };
                by_path.insert(unit.path.clone(), names.modules.add(module, &[]));
            }
        }
        names.index(&mut table);
        if let Some(of_test) = by_path.get(&row.file) {
            let file = names.modules.all[*of_test as usize].file.clone();
            names.add_test_file(file.as_bstr());
        }
        let modules_of = |kind: UnitKind| {
            let units = row.units.iter().enumerate();
            units
                .filter(move |(_, unit)| unit.kind() == kind)
                .filter_map(|(at, unit)| Some((*by_path.get(&unit.path)?, at as UnitIndex)))
                .collect::<Vec<_>>()
        };
        let imported: Vec<ModuleIndex> = modules_of(UnitKind::Effects)
            .into_iter()
            .map(|(module, _)| module)
            .collect();
        let start = Start {
            modules: &imported,
            stages: &stages(&row, &by_path),
            whole: &modules_of(UnitKind::Skeleton),
            ran: Ran::of(&row.units),
            units: count,
        };
        let trail = names.trail(&mut table, start);
        Ways {
            row,
            table,
            names,
            by_path,
            imported,
            trail,
        }
    }

    /// How the row reaches `unit`, one of its own.
    pub(crate) fn to(&self, unit: &Unit) -> Way {
        if !is_source(unit) {
            return self.from(Origin::Seen);
        }
        let Some(module) = self.by_path.get(&unit.path).copied() else {
            return self.from(match (unit.path.ends_with(b".py"), unit.kind()) {
                (true, _) => Origin::Lost,
                // Other languages tell no ways.
                (false, UnitKind::Code) => Origin::Ran,
                (false, _) => Origin::Seen,
            });
        };
        let mut way = match unit.kind() {
            UnitKind::Effects => self.import_of(module),
            UnitKind::Skeleton => self.to_whole(module),
            _ if self.is_test(unit) => self.from(Origin::Test),
            _ => Way {
                whole: match self.trail_of(unit) {
                    Some(By::Methods(_)) => Some(Whole::Methods),
                    _ => None,
                },
                ..self.back(self.trail_of(unit), unit)
            },
        };
        way.steps.reverse();
        drop_definitions(&mut way.steps, unit);
        way
    }

    /// What people call a unit: as the test's id does in its own file, else by
    /// the module's name if that is known.
    pub(crate) fn name(&self, unit: &Unit) -> String {
        if !is_source(unit) {
            return unit.to_string();
        }
        let name: &str = match &unit.what {
            What::Code(name) | What::Binding(name) | What::Presence(name) => name,
            What::Note(_, of) => of,
            _ => "",
        };
        if unit.path == self.row.file {
            let parts = [&self.row.shown_file, &name.replace('.', "::")];
            return match name.is_empty() {
                true => parts[0].clone(),
                false => format!("{}::{}", parts[0], parts[1]),
            };
        }
        let module = match self.by_path.get(&unit.path) {
            Some(module) => self.shown(*module),
            None => unit.path.to_string(),
        };
        match name.is_empty() {
            true => module,
            false => format!("{module}#{name}"),
        }
    }

    fn from(&self, origin: Origin) -> Way {
        Way {
            origin,
            steps: Vec::new(),
            whole: None,
        }
    }

    fn is_test(&self, unit: &Unit) -> bool {
        unit.path == self.row.file && unit.is_code(&self.row.function)
    }

    fn trail_of(&self, unit: &Unit) -> Option<By> {
        self.trail.unit(self.table.find(unit)?)
    }

    /// The way to all of `module`, back to front.
    fn to_whole(&self, module: ModuleIndex) -> Way {
        let skeleton = self.skeleton(module);
        let by = self.trail.taken(module);
        let mut way = match by {
            Some(by) => self.back(Some(by), &skeleton),
            None => self.back(self.trail_of(&skeleton), &skeleton),
        };
        way.whole = Some(self.why_whole(module));
        way
    }

    fn why_whole(&self, module: ModuleIndex) -> Whole {
        match self.trail.taken(module) {
            Some(By::Unit(unit) | By::Ran(unit) | By::Methods(unit)) => self.taken_by(unit, module),
            Some(By::Module(from)) => Whole::Given(self.shown(from)),
            Some(By::Runner) => Whole::Runner,
            Some(By::Given) => Whole::Seen,
            None => match self.trail_of(&self.skeleton(module)) {
                Some(By::Runner) => Whole::Runner,
                _ => Whole::Seen,
            },
        }
    }

    /// What in the code of `unit` hands on `module`.
    fn taken_by(&self, unit: UnitIndex, module: ModuleIndex) -> Whole {
        let unit = self.table.get(unit);
        let Some(own) = self.by_path.get(&unit.path).copied() else {
            return Whole::Seen;
        };
        let modules = &self.names.modules;
        let names = &modules.all[own as usize].parsed().names;
        let uses: Vec<&Uses> = match &unit.what {
            What::Code(name) => names.code.get(&**name).into_iter().collect(),
            What::Binding(_) | What::Presence(_) | What::Note(..) => {
                let part = names.part(&unit.what);
                part.map(|part| &part.uses).into_iter().collect()
            }
            What::Effects => vec![&names.effects.uses],
            _ => names
                .bindings
                .values()
                .map(|part| &part.uses)
                .chain([&names.effects.uses])
                .collect(),
        };
        let mut handed_on = uses.iter().flat_map(|uses| self.names.handed_on(own, uses));
        if handed_on.any(|given| given == module) {
            return Whole::Value;
        }
        if own == module && uses.iter().any(|uses| uses.holds_own) {
            return Whole::OwnNames;
        }
        let is_star = |import: &Import| {
            import.at_import
                && import.item.as_deref() == Some("*")
                && modules.sources(own, import).contains(&module)
        };
        if matches!(unit.kind(), UnitKind::Effects | UnitKind::Skeleton)
            && names.imports.iter().any(is_star)
        {
            return Whole::Star;
        }
        Whole::Wide((self.row.wide_words)(unit))
    }

    /// The way that ends with `by` leading to `to`, back to front.
    fn back(&self, by: Option<By>, to: &Unit) -> Way {
        let mut steps: Vec<Step> = Vec::new();
        let mut by = by;
        // A way never meets a unit or a module twice.
        let most = self.table.units().len() + self.by_path.len();
        for _ in 0..=most {
            let (unit, whole) = match by {
                None => return self.from(Origin::Seen),
                Some(By::Given) => {
                    let first = steps.last().map_or(to, |step| &step.unit);
                    let origin = match first.kind() {
                        UnitKind::Code if self.is_test(first) => Origin::Test,
                        UnitKind::Code => Origin::Ran,
                        UnitKind::Effects => Origin::Imported,
                        _ => Origin::Seen,
                    };
                    return Way {
                        steps,
                        ..self.from(origin)
                    };
                }
                Some(By::Runner) => {
                    return Way {
                        steps,
                        ..self.from(Origin::Runner)
                    };
                }
                Some(By::Unit(unit) | By::Ran(unit) | By::Methods(unit)) => {
                    let unit = self.table.get(unit).clone();
                    match (unit.kind(), self.by_path.get(&unit.path)) {
                        (UnitKind::Skeleton, Some(module)) => {
                            let module = *module;
                            let taken = self.trail.taken(module);
                            by = taken.or_else(|| self.trail_of(&unit));
                            (unit, Some(self.why_whole(module)))
                        }
                        _ => {
                            by = self.trail_of(&unit);
                            (unit, None)
                        }
                    }
                }
                Some(By::Module(module)) => {
                    by = self.trail.taken(module);
                    (self.skeleton(module), Some(self.why_whole(module)))
                }
            };
            steps.push(self.step(unit, whole));
        }
        self.from(Origin::Seen)
    }

    fn step(&self, unit: Unit, whole: Option<Whole>) -> Step {
        Step {
            name: self.name(&unit),
            unit,
            whole,
        }
    }

    fn skeleton(&self, module: ModuleIndex) -> Unit {
        let path = self.names.modules.all[module as usize].path.clone();
        Unit::at(path, What::Skeleton)
    }

    /// By which modules the import of `module` comes about, back to front:
    /// from the test's file, else from what the runner imports.
    fn import_of(&self, module: ModuleIndex) -> Way {
        let modules = &self.names.modules;
        let path = |module: ModuleIndex| &modules.all[module as usize].path;
        let own = self.by_path.get(&self.row.file).copied();
        if own == Some(module) {
            return self.from(Origin::Test);
        }
        let is_conftest = |module: &ModuleIndex| self.names.is_conftest(*module);
        if is_conftest(&module) {
            return self.from(Origin::Runner);
        }
        let by_runner: Vec<_> = self.imported.iter().copied().filter(is_conftest).collect();
        let starts = [
            (Origin::Test, own.into_iter().collect::<Vec<_>>()),
            (Origin::Runner, by_runner),
        ];
        for (origin, start) in starts {
            let mut before: FxHashMap<ModuleIndex, Option<ModuleIndex>> =
                start.iter().map(|module| (*module, None)).collect();
            let mut open: VecDeque<ModuleIndex> = start.into();
            while let Some(from) = open.pop_front() {
                for to in self.imported_by(from) {
                    before.entry(to).or_insert_with(|| {
                        open.push_back(to);
                        Some(from)
                    });
                }
            }
            let mut steps = Vec::new();
            let mut at = before.get(&module).copied().flatten();
            while let Some(module) = at {
                let unit = Unit::at(path(module).clone(), What::Effects);
                steps.push(self.step(unit, None));
                at = before[&module];
            }
            if !steps.is_empty() {
                return Way {
                    steps,
                    ..self.from(origin)
                };
            }
        }
        self.from(Origin::Seen)
    }

    /// The modules of the row that import statements in `from` name, with the
    /// packages that they are in; those in functions only if code that ran
    /// spells what they bring.
    fn imported_by(&self, from: ModuleIndex) -> FxHashSet<ModuleIndex> {
        let modules = &self.names.modules;
        let of = &modules.all[from as usize];
        let names = &of.parsed().names;
        let ran: Vec<&Uses> = self
            .row
            .units
            .iter()
            .filter(|unit| unit.path == of.path)
            .filter_map(|unit| match &unit.what {
                What::Code(name) => names.code.get(&**name),
                _ => None,
            })
            .collect();
        let is_run = |import: &Import| {
            let spelled = match &import.item {
                Some(item) => item,
                None => import.module.rsplit('.').next().unwrap_or_default(),
            };
            import.at_import
                || ran
                    .iter()
                    .any(|uses| uses.asks.binary_search(&name_hash(spelled)).is_ok())
        };
        let mut found = FxHashSet::default();
        for import in names.imports.iter().filter(|import| is_run(import)) {
            let mut named = modules.sources(from, import);
            named.extend(modules.bound(from, import));
            for to in named {
                if to != from && self.is_meant(import, to) {
                    found.insert(to);
                    found.extend(self.packages_of(to));
                }
            }
        }
        found.retain(|module| *module != from && self.imported.contains(module));
        found
    }

    /// Whether the import statement means `to`, and not another module whose
    /// name ends in the same way.
    fn is_meant(&self, import: &Import, to: ModuleIndex) -> bool {
        let dotted = self.dotted(to);
        let ends_so = |name: &str| {
            let rest = name.strip_suffix(&*dotted);
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        let of_item = match &import.item {
            Some(item) => format!("{}.{item}", import.module),
            None => import.bound.clone(),
        };
        import.level > 0 || ends_so(&import.module) || ends_so(&of_item)
    }

    /// The packages around a module, as far as the row has them, from the
    /// inside out.
    fn packages_of(&self, module: ModuleIndex) -> Vec<ModuleIndex> {
        let modules = &self.names.modules;
        let of = &modules.all[module as usize];
        let mut packages = Vec::new();
        let mut dir = match of.package() {
            Some(dir) => parent(dir),
            None => parent(of.file.as_bstr()),
        };
        let init = |dir: &BStr| [dir.as_bytes(), b"/__init__.py"].concat();
        while let Some(found) = modules.of_file(init(dir).as_bstr()) {
            packages.push(found);
            dir = parent(dir);
        }
        packages
    }

    /// A module's name, from the outermost package that the row has.
    fn dotted(&self, module: ModuleIndex) -> String {
        let modules = &self.names.modules;
        let mut parts: Vec<String> = self
            .packages_of(module)
            .into_iter()
            .chain([module])
            .map(|module| {
                let of = &modules.all[module as usize];
                let file = of.package().unwrap_or(of.file.as_bstr());
                let last = file.rsplit_str("/").next().unwrap_or_default();
                last.strip_suffix(b".py")
                    .unwrap_or(last)
                    .to_str_lossy()
                    .into_owned()
            })
            .collect();
        // The module itself comes last, its packages from the inside out.
        let own = parts.pop();
        parts.reverse();
        parts.extend(own);
        parts.join(".")
    }

    /// What people call a module: its name, or its path where no package
    /// tells the name.
    fn shown(&self, module: ModuleIndex) -> String {
        let of = &self.names.modules.all[module as usize];
        match of.package().is_some() || !self.packages_of(module).is_empty() {
            true => self.dotted(module),
            false => of.path.to_string(),
        }
    }
}

#[cfg(test)]
mod tests;

/// Whether ways lead to a unit of this kind.
fn is_source(unit: &Unit) -> bool {
    unit.kind().is_source()
}

fn parent(path: &BStr) -> &BStr {
    crate::languages::split(path).0
}

/// What the closure starts from: the test's function, other code of its file
/// and of what the runner reads, all other code, and what imports do.
fn stages(row: &RowOf<'_>, by_path: &FxHashMap<BString, ModuleIndex>) -> [Vec<UnitIndex>; 4] {
    let mut stages: [Vec<UnitIndex>; 4] = Default::default();
    for (at, unit) in row.units.iter().enumerate() {
        if !by_path.contains_key(&unit.path) {
            continue;
        }
        let stage = match unit.kind() {
            UnitKind::Code if unit.path == row.file && unit.is_code(&row.function) => 0,
            UnitKind::Code if unit.path == row.file || unit.path.ends_with(b"conftest.py") => 1,
            UnitKind::Code => 2,
            UnitKind::Effects => 3,
            _ => continue,
        };
        stages[stage].push(at as UnitIndex);
    }
    stages
}

/// A function's code says its name already.
fn drop_definitions(steps: &mut Vec<Step>, to: &Unit) {
    let is_named_next = |at: usize, steps: &[Step]| {
        let next = steps.get(at + 1).map_or(to, |step| &step.unit);
        let unit = &steps[at].unit;
        match (&unit.what, &next.what) {
            (What::Binding(name), What::Code(next_name)) => {
                (&unit.path, name) == (&next.path, next_name)
            }
            _ => false,
        }
    };
    let keep: Vec<bool> = (0..steps.len())
        .map(|at| !is_named_next(at, steps))
        .collect();
    let mut keep = keep.into_iter();
    steps.retain(|_| keep.next() == Some(true));
}

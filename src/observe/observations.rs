//! What a run showed: per test its units and outcome, and which tests depend on
//! which others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use bstr::{BStr, BString};

use super::units::UnitIndex;
use crate::matrix::{Fingerprint, Outcome, Unit};

/// Index into [`Observations::rows`].
pub(super) type RowIndex = u32;
/// Index into [`Observations::cells`].
pub(super) type CellIndex = u32;

/// What the traces of one run tell.
#[derive(Debug, Default)]
pub struct Observations {
    pub units: Vec<Unit>,
    /// The values of late units, as the test processes saw them.
    pub seen: BTreeMap<Unit, Fingerprint>,
    /// What the tests of one file share: what its collection and import needed.
    pub bases: Vec<Base>,
    /// By test, sorted, each test once.
    pub rows: Vec<ObservedRow>,
    /// What finding the tests depended on: all test files, with tests that
    /// ran or without.
    pub collection: Vec<UnitIndex>,
    /// In words, the environment of the tests.
    pub runtime: String,
    /// Every test that the runner found, run or left out; `None` if it did
    /// not come to the end of collecting.
    pub items: Option<Vec<String>>,
    /// Those among them that were to run.
    pub kept: Vec<String>,
    /// In which files each process looked for tests, if it said so.
    pub looked_in: Vec<Option<LookedIn>>,
    /// Which collector the test processes used.
    pub collector: String,
    /// The interpreter that ran the tests.
    pub executable: Option<String>,
    /// State that tests changed and that outlives them.
    pub cells: Vec<Cell>,
    /// Of tests that are compiled classes.
    pub compiled: Option<Compiled>,
    /// Why there may be tests that nothing told of.
    pub doubt: Option<String>,
}

/// What the tests of one file share.
#[derive(Debug, Default)]
pub struct Base {
    /// Sorted.
    pub units: Vec<UnitIndex>,
    pub after: After,
}

/// One test as one run saw it.
#[derive(Clone, Debug)]
pub struct ObservedRow {
    pub test: String,
    /// Index into [`Observations::bases`].
    pub base: usize,
    /// Units besides those of the base, sorted.
    pub own: Vec<UnitIndex>,
    pub after: After,
    pub outcome: Outcome,
    pub duration_ms: u32,
    pub position: u32,
    pub incomplete: Option<String>,
}

/// What a test met that others had done before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct After {
    /// State that it can read, and how many of the cell's changes came before.
    pub cells: Vec<(CellIndex, u32)>,
    /// Tests that it depends on in another way.
    pub tests: Vec<(RowIndex, Met)>,
}

impl After {
    /// The same with the latest change of each cell only, and sorted.
    pub(super) fn latest(mut self) -> After {
        self.cells
            .sort_unstable_by_key(|(cell, before)| (*cell, std::cmp::Reverse(*before)));
        self.cells.dedup_by_key(|(cell, _)| *cell);
        self.tests.sort();
        self.tests.dedup();
        self
    }
}

/// How a test met another one, where it was not by a cell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Met {
    /// The other one wrote this file (by its absolute path) or a folder above it.
    File(BString),
    /// The agent told, and not by what: a fixture's value, a field of a class.
    Told,
}

/// State that outlives a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// `path#name`
    pub name: String,
    /// Scopes that changed it, and scopes that ran code that names it.
    pub changers: usize,
    pub readers: usize,
    /// Each test that changed it, with the number of its change: 0 where it is
    /// not known when that was. Sorted by number.
    pub changes: Vec<(u32, RowIndex)>,
}

impl Cell {
    /// The module's file.
    pub fn path(&self) -> &str {
        self.name.split('#').next().unwrap_or_default()
    }

    /// Of an attribute of a class: its name.
    pub fn attribute(&self) -> Option<&str> {
        let (_, name) = self.name.split_once('#')?;
        name.rsplit_once('.').map(|(_, attribute)| attribute)
    }

    /// Whether they are the same attribute of two classes, or the same state.
    pub fn is_like(&self, other: &Cell) -> bool {
        self.name == other.name
            || (self.attribute().is_some() && self.attribute() == other.attribute())
    }
}

/// That one test can read what another one left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependence<'a> {
    pub reader: &'a str,
    pub writer: &'a str,
    pub by: By<'a>,
}

/// By what one test depends on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By<'a> {
    /// It ran code that names this state, and the other one had changed it.
    Cell(&'a Cell),
    /// It met this file, which the other one wrote.
    File(&'a BStr),
    /// The agent told, and not by what.
    Told,
}

impl Observations {
    /// Adds something that finding the tests depended on.
    pub fn found_by(&mut self, unit: Unit) {
        let known = self.units.iter().position(|known| *known == unit);
        let index = known.unwrap_or_else(|| {
            self.units.push(unit);
            self.units.len() - 1
        });
        self.collection.push(index as UnitIndex);
    }

    /// The dependences between tests, reader by reader. There can be as many as
    /// pairs of tests, so they are worked out one by one.
    pub fn dependences(&self) -> impl Iterator<Item = Dependence<'_>> {
        self.rows.iter().enumerate().flat_map(move |(at, row)| {
            let base = self.bases.get(row.base).map(|base| &base.after);
            let met = base.into_iter().chain([&row.after]);
            met.flat_map(move |after| self.met(row, at as RowIndex, after))
        })
    }

    fn met<'a>(
        &'a self,
        row: &'a ObservedRow,
        at: RowIndex,
        after: &'a After,
    ) -> impl Iterator<Item = Dependence<'a>> {
        let dependence = move |writer: RowIndex, by| Dependence {
            reader: &row.test,
            writer: &self.rows[writer as usize].test,
            by,
        };
        let by_cells = after.cells.iter().flat_map(move |(cell, before)| {
            let cell = &self.cells[*cell as usize];
            let end = cell.changes.partition_point(|(number, _)| number < before);
            let others = cell.changes[..end].iter().filter(move |(_, by)| *by != at);
            others.map(move |(_, by)| dependence(*by, By::Cell(cell)))
        });
        let others = after.tests.iter().filter(move |(by, _)| *by != at);
        let told = others.map(move |(by, met)| match met {
            Met::File(path) => dependence(*by, By::File(path.as_ref())),
            Met::Told => dependence(*by, By::Told),
        });
        by_cells.chain(told)
    }
}

/// In which files a process looked for tests.
#[derive(Clone, Debug, PartialEq)]
pub struct LookedIn {
    /// What the runner was given.
    pub args: Vec<String>,
    /// The folder in which the process ran.
    pub cwd: Option<String>,
    /// Patterns for names of files.
    pub names: Vec<String>,
    /// Where it began, relative to the top of the work tree; `None`: anywhere.
    pub places: Option<Vec<String>>,
    /// Plug-ins that may take any file for one with tests.
    pub others: Vec<String>,
}

/// What the processes told of class files.
#[derive(Debug, Default)]
pub struct Compiled {
    /// The folders, absolute, in which a command without a build tool looks for tests.
    pub class_path: BTreeSet<PathBuf>,
    /// When the first process with tests started, in milliseconds since the
    /// epoch; 0 if it did not say.
    pub started: u64,
    /// The same of the first that used classes of a folder. A build can compile a module
    /// when tests of others have run.
    pub started_with: BTreeMap<BString, u64>,
}

impl Compiled {
    /// From when on nothing may have written to a folder of classes.
    pub fn used_since(&self, folder: &BStr) -> u64 {
        let known = self.started_with.get(folder).copied();
        known.unwrap_or(self.started)
    }

    /// The same of a file beneath such a folder, a resource that the build put there.
    pub fn copied_since(&self, file: &BStr) -> Option<u64> {
        let mut folders = self.started_with.iter();
        let (_, since) = folders.find(|(folder, _)| {
            let rest = file.strip_prefix(folder.as_slice());
            rest.is_some_and(|rest| rest.starts_with(b"/"))
        })?;
        Some(*since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(test: &str, after: After) -> ObservedRow {
        ObservedRow {
            test: test.to_owned(),
            base: 0,
            own: Vec::new(),
            after,
            outcome: Outcome::Passed,
            duration_ms: 0,
            position: 0,
            incomplete: None,
        }
    }

    #[test]
    fn a_test_depends_on_the_changes_before_it() {
        let met = |before| After {
            cells: vec![(0, before)],
            tests: Vec::new(),
        };
        let wrote = After {
            tests: vec![(0, Met::File("/p/out.txt".into())), (1, Met::Told)],
            ..After::default()
        };
        let observed = Observations {
            bases: vec![Base::default()],
            rows: vec![
                row("a", After::default()),
                row("b", met(1)),
                row("c", met(2)),
                row("d", wrote),
            ],
            cells: vec![Cell {
                name: "src/m.py#cache".to_owned(),
                changers: 3,
                readers: 2,
                // `c` reads and changes it.
                changes: vec![(0, 0), (1, 1), (1, 2)],
            }],
            ..Observations::default()
        };
        let pairs = observed.dependences().map(|one| {
            let by = match one.by {
                By::Cell(cell) => cell.name.clone(),
                By::File(path) => path.to_string(),
                By::Told => "told".to_owned(),
            };
            (one.reader, one.writer, by)
        });
        let pairs: Vec<(&str, &str, String)> = pairs.collect();
        let cell = || "src/m.py#cache".to_owned();
        let expected = [
            ("b", "a", cell()),
            ("c", "a", cell()),
            ("c", "b", cell()),
            ("d", "a", "/p/out.txt".to_owned()),
            ("d", "b", "told".to_owned()),
        ];
        assert_eq!(pairs, expected);
    }

    #[test]
    fn the_latest_change_of_a_cell_stands_for_those_before() {
        let after = After {
            cells: vec![(1, 1), (0, 2), (1, 3)],
            tests: vec![(2, Met::Told), (2, Met::Told)],
        };
        let latest = after.latest();
        assert_eq!(latest.cells, [(0, 2), (1, 3)]);
        assert_eq!(latest.tests, [(2, Met::Told)]);
    }
}

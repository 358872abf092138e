//! What a run showed: per test its units and outcome, and which tests depend on
//! which others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use bstr::{BStr, BString};
use serde::Serialize;

use super::own::OwnUnits;
use super::units::UnitIndex;
use crate::matrix::{Fingerprint, LeftIn, Outcome, Unit, Values};

/// What a test could read that others leave or make: cells by path and name, and hashes of names
/// as [`crate::matrix::Ties::made`] has them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Lacked {
    pub cells: BTreeSet<(String, String)>,
    pub made: BTreeSet<u64>,
}

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
    /// Of tests that are compiled classes.
    pub compiled: Option<Compiled>,
    /// Why there may be tests that nothing told of.
    pub doubt: Option<String>,
    /// What cells held when all tests were found.
    pub values: Option<Values>,
    /// Why they excuse no tests later, if that is known.
    pub without_values: Option<String>,
    /// Tests that the test process left out because the values that they read are those
    /// of the record.
    pub confirmed: BTreeMap<String, Confirmed>,
    /// The same of tests that ran for what they leave to others, and did what they did.
    pub unchanged: BTreeMap<String, Confirmed>,
    /// By test: the cells that changed during its turn. If this run [`Self::is_whole`], their
    /// values are those of a run of all tests.
    pub left: BTreeMap<String, Vec<LeftIn>>,
    /// By test: those among them that another test may have changed just before it.
    pub unseen: BTreeMap<String, BTreeSet<(String, String)>>,
    /// Where others were left out: of tests of which it is known, the cells that each leaves in a
    /// run of all tests; and those that did what they did in the record.
    pub exact: BTreeMap<String, Vec<LeftIn>>,
    pub same: BTreeSet<String>,
    /// The run by the record of which tests were settled at their turns.
    pub settled_by: Option<String>,
    /// Tests that ran and may have met something else than in a run of all of them, and what they
    /// lacked; `None` if nobody knows.
    pub inexact: BTreeMap<String, Option<Lacked>>,
    /// Values of cells that are numbers: these, as the agent writes them.
    pub numbers: BTreeMap<Fingerprint, String>,
    /// By test, of these: a digest of what ran in its turn that later tests do not run again.
    pub made: BTreeMap<String, String>,
    /// All tests in order, if they are known.
    pub order: Option<Vec<String>>,
    /// Whether those that ran began in the state of a run of all of them.
    pub is_whole: bool,
    /// Tests that it could have left out so, with what was different.
    pub refuted: BTreeMap<String, String>,
    /// Whether tests that met what others leave anew count as leaving all with other values.
    pub is_not_compared: bool,
    /// Tests that were to run beside others or once more, and did not: nobody meets what is left anew.
    pub unmet: BTreeSet<String>,
}

/// What the tests of one file share.
#[derive(Debug, Default)]
pub struct Base {
    /// Sorted.
    pub units: Vec<UnitIndex>,
    /// Of them those that are the tests' own; `None`: all.
    pub by_itself: Option<OwnUnits>,
}

/// What the result of a test that was left out for its values depends on now, beside the
/// units that are its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confirmed {
    /// Index into [`Observations::bases`].
    pub base: Option<usize>,
    /// The same without earlier tests.
    pub inner_base: Option<usize>,
    /// Of a test that was left out at its turn, for what earlier tests had left: these; an
    /// index, too.
    pub ties: Option<usize>,
    /// Why there may be more.
    pub incomplete: Option<String>,
}

/// One test as one run saw it.
#[derive(Clone, Debug)]
pub struct ObservedRow {
    pub test: String,
    /// Index into [`Observations::bases`].
    pub base: usize,
    /// Units besides those of the base, sorted.
    pub own: Vec<UnitIndex>,
    /// Beside those of the base, the units that are the test's own; `None`: all are.
    pub by_itself: Option<OwnUnits>,
    /// The same without what earlier tests did of which it can meet something; `None` if that
    /// is nothing, or if nobody knows what they left.
    pub inner: Option<Inner>,
    pub outcome: Outcome,
    pub duration_ms: u32,
    pub position: u32,
    pub incomplete: Option<String>,
}

/// What a row is without the earlier tests that left something for it.
#[derive(Clone, Debug)]
pub struct Inner {
    /// Index into [`Observations::bases`].
    pub base: usize,
    /// Units besides those of the base, sorted.
    pub units: Vec<UnitIndex>,
    /// Those among them that are the test's own.
    pub by_itself: OwnUnits,
}

impl Observations {
    /// Whether the runner, having collected what it was given, does not have `test`.
    pub fn lacks(&self, test: &str) -> bool {
        let items = self.items.as_ref();
        items.is_some_and(|items| {
            items
                .binary_search_by(|item| item.as_str().cmp(test))
                .is_err()
        })
    }

    /// Adds something that finding the tests depended on.
    pub fn found_by(&mut self, unit: Unit) {
        let known = self.units.iter().position(|known| *known == unit);
        let index = known.unwrap_or_else(|| {
            self.units.push(unit);
            self.units.len() - 1
        });
        self.collection.push(index as UnitIndex);
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

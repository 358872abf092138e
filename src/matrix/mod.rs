//! The dependency matrix of one revision and environment. Pure: no I/O, no
//! clock, no environment.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod builder;
mod check;
mod fingerprint;
pub(crate) mod format;
mod names;
#[cfg(test)]
pub(crate) mod samples;
mod table;
mod test_id;
mod unit;
mod values;
mod what;

pub(crate) use builder::UnitRef;
pub use builder::{GroupRef, MatrixBuilder, RowFacts};
pub use fingerprint::Fingerprint;
pub(crate) use fingerprint::Mode;
#[cfg(test)]
pub(crate) use format::read_header;
pub use format::{MatrixView, decode, encode};
pub(crate) use format::{Refusal, ViewRow};
pub(crate) use table::Table;
pub use test_id::TestId;
pub use unit::{Unit, UnitKind};
pub(crate) use values::{CellValue, Holder, Inner, LeftIn, Own, ReadBefore, Reads, Ties, Values};
#[cfg(test)]
pub(crate) use what::Note;
pub(crate) use what::{Classes, Finds};
pub use what::{InClass, What};

use bstr::BString;
use serde::{Deserialize, Serialize};

/// Index into [`Matrix::units`].
pub type UnitId = u32;
/// Index into [`Matrix::sets`].
pub(crate) type SetId = u32;

/// The rows of one revision and environment, and what was selected there.
///
/// Invariants, checked when a matrix is built and when one is read:
/// - every unit holds the fingerprint that it has *at this matrix's state*, so
///   a unit appears once: rows that do not hold at this state are not in it;
/// - `units` is sorted and free of duplicates; each set is sorted and free of
///   duplicates; `rows` is sorted by test and holds each test once; the sets
///   of a row are sorted and free of duplicates;
/// - every id is in range.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    pub header: Header,
    pub units: Vec<(Unit, Fingerprint)>,
    /// Groups of units that rows share (an import closure, a fixture).
    pub sets: Vec<Vec<UnitId>>,
    pub rows: Vec<Row>,
    /// What cells held when the tests were found. Every row that has a part of its own
    /// holds with these values; `None`: no test can be confirmed by them.
    pub values: Option<Values>,
}

/// What can be read of a stored matrix without its body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Which repository, suite and environment the matrix belongs to.
    pub key: Key,
    /// HEAD when the tests ran: 40 hex digits.
    pub commit: String,
    /// The tree of that commit: 40 hex digits.
    pub tree: String,
    /// Paths whose content differed from `commit` when the tests ran, with
    /// the fingerprint that they had ([`Fingerprint::MISSING`] if deleted).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dirty: Vec<(BString, Fingerprint)>,
    /// Seconds since the epoch; for people and `gc`, never for selection.
    pub created: u64,
    /// Version of tamis that wrote it.
    pub tool: String,
    /// Unique name of the run that recorded it.
    pub run: String,
    /// If that run was a shard: of which run, and which of its shards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<ShardOfRun>,
    /// The runs whose rows are in this matrix; a row's `run` is an index.
    pub runs: Vec<Run>,
    /// The strategy that selected the tests of this run, and the baselines
    /// that it relied on (matrix names).
    pub strategy: String,
    #[serde(default)]
    pub baselines: Vec<String>,
    /// The command that ran the tests.
    #[serde(default)]
    pub command: Vec<String>,
    /// Numbers for listings: tests in all, tests that ran here.
    pub tests: u32,
    pub ran: u32,
}

/// One of several machines that share the tests of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShardOfRun {
    /// The name of the run on that machine, without which shard it was.
    pub run: String,
    /// Counted from 1.
    pub index: u32,
    pub of: u32,
    /// The digest of the division of the tests.
    pub plan: String,
}

/// What a matrix is about. Matrices of another key never justify a skip.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// The root commits of the repository, sorted, digested: the same in
    /// every clone; empty if the history is shallow.
    pub repository: String,
    /// Name of the suite: the runner, and the sub-folder that it runs in.
    pub suite: String,
    /// What tells environments apart that never share results, in words:
    /// `cpython-3.11.7-linux-x86_64`.
    pub environment: String,
}

/// A run in which rows were recorded: the provenance of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    pub id: String,
    pub commit: String,
    pub tree: String,
    /// Whether uncommitted changes were present.
    pub dirty: bool,
    /// Whether tests that were known then were not there, as options or names of files chose
    /// others: [`Ties::absent`] has those that leave something.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub chose: bool,
}

/// What a test, or the collection of tests, depends on, and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub test: TestId,
    /// The row's units are the union of these sets.
    pub sets: Vec<SetId>,
    pub outcome: Outcome,
    /// Milliseconds, set-up and tear-down included.
    pub duration_ms: u32,
    /// Place in the order of execution.
    pub position: u32,
    /// Why the row may lack units; `None` when it is complete.
    pub incomplete: Option<String>,
    /// Index into [`Header::runs`]: when this row was recorded.
    pub run: u32,
    /// Whether the test was selected in this matrix's run (`S_sel`).
    pub selected: bool,
    /// The part that is the test's own; its sets are among those of the row. `None`: all.
    pub own: Option<Own<SetId>>,
}

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Outcome {
    Passed = 0,
    Failed = 1,
    /// An error outside the test body: set-up, tear-down, collection.
    Error = 2,
    Skipped = 3,
    /// Failed as declared.
    Xfailed = 4,
    /// Passed though declared to fail.
    Xpassed = 5,
    /// Was still running when its process ended.
    Crashed = 6,
    /// Passed and failed in one run.
    Flaky = 7,
}

impl Outcome {
    pub const ALL: [Outcome; 8] = [
        Outcome::Passed,
        Outcome::Failed,
        Outcome::Error,
        Outcome::Skipped,
        Outcome::Xfailed,
        Outcome::Xpassed,
        Outcome::Crashed,
        Outcome::Flaky,
    ];

    pub fn from_u8(number: u8) -> Option<Outcome> {
        Outcome::ALL.get(usize::from(number)).copied()
    }

    /// Whether a result like this may be reused. Tests that failed, errored,
    /// crashed or were flaky always run again.
    pub fn is_good(self) -> bool {
        match self {
            Outcome::Passed | Outcome::Skipped | Outcome::Xfailed => true,
            Outcome::Failed
            | Outcome::Error
            | Outcome::Xpassed
            | Outcome::Crashed
            | Outcome::Flaky => false,
        }
    }

    /// What such a test did: `failed`, `was flaky`.
    pub fn past(self) -> &'static str {
        match self {
            Outcome::Passed => "passed",
            Outcome::Failed => "failed",
            Outcome::Error => "had an error",
            Outcome::Skipped => "was skipped",
            Outcome::Xfailed => "failed as expected",
            Outcome::Xpassed => "passed though expected to fail",
            Outcome::Crashed => "did not end",
            Outcome::Flaky => "was flaky",
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Outcome::Passed => "passed",
            Outcome::Failed => "failed",
            Outcome::Error => "error",
            Outcome::Skipped => "skipped",
            Outcome::Xfailed => "xfailed",
            Outcome::Xpassed => "xpassed",
            Outcome::Crashed => "crashed",
            Outcome::Flaky => "flaky",
        }
    }
}

impl Row {
    /// Whether the row may justify a skip at all, were its units unchanged.
    pub fn is_usable(&self) -> bool {
        self.outcome.is_good() && self.incomplete.is_none()
    }
}

impl Matrix {
    /// What its tests leave for others, if that is known.
    pub(crate) fn ties(&self) -> Option<&Ties> {
        self.values.as_ref()?.ties.as_ref()
    }

    /// The row of `test`.
    pub fn row(&self, test: TestId<&str>) -> Option<&Row> {
        let found = self
            .rows
            .binary_search_by(|row| row.test.by_ref().cmp(&test));
        found.ok().map(|at| &self.rows[at])
    }

    /// The tests with their rows, ascending.
    pub fn tests(&self) -> impl Iterator<Item = (&str, &Row)> {
        self.rows
            .iter()
            .filter_map(|row| Some((row.test.test()?, row)))
    }

    /// The ids of all units in `row`, sorted, without duplicates.
    pub fn units_of(&self, row: &Row) -> Vec<UnitId> {
        let mut ids: Vec<UnitId> = row
            .sets
            .iter()
            .flat_map(|set| self.sets[*set as usize].iter().copied())
            .collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}

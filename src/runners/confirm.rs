//! What the collector needs to leave out a test because the state that it can read is as
//! it was recorded: part of the file that it reads.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::matrix::{Fingerprint, ReadBefore};
use crate::observe::Lacked;

/// Tests that only values can excuse, and by which. In `late.json` flags that are not set
/// and empty lists are left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Confirm<'a> {
    /// What cells held, by run.
    pub matrices: Vec<Recorded<'a>>,
    /// Of modules, relative to the top of the work tree.
    pub paths: Vec<String>,
    /// Lists of modules that tests need: indexes into `paths`.
    pub modules: Vec<Vec<usize>>,
    /// What runners of tests ask test files for by themselves.
    pub asked: &'static [&'static str],
    /// By what code that was made while tests ran, and so is in no source, can reach more than what
    /// has such a name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub leading: Vec<&'static str>,
    /// Whether records tell who asks functions how they can be called.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tells_calls: bool,
    /// Whether they tell who asks classes for docstrings.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tells_docs: bool,
    /// Whether they tell who gets numbers by which classes count their objects.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tells_serials: bool,
    pub units: Vec<OwnUnit>,
    /// Lists of indexes into `units`.
    pub sets: Vec<Vec<usize>>,
    /// By index into `paths`: the functions there, each by its first and last line and its index
    /// into `units`. What tests run that is not in their rows is found there.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub functions: BTreeMap<usize, Vec<(u32, u32, usize)>>,
    /// Written with what else they need, see [`super::emission`].
    #[serde(skip)]
    pub tests: BTreeMap<&'a str, OpenTest<'a>>,
}

/// What some tests leave for others that the record has nobody leave by then, by test.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Anew {
    pub by_test: BTreeMap<String, Leaves>,
    /// The same of runs before: those that can meet it have run.
    pub known: BTreeMap<String, Leaves>,
    /// Who met any of it in these: what they leave is compared with the record by value.
    #[serde(skip)]
    pub met: BTreeSet<String>,
    /// Tests that ran without others that leave what they can read, and what that is: they run
    /// again with these. `None` if nobody knows.
    pub inexact: BTreeMap<String, Option<Lacked>>,
    /// Whether numbers by which classes count their objects turned out to be more than that.
    #[serde(skip)]
    pub has_lost_serials: bool,
    /// Whether there were enough such runs: who meets anything counts as leaving all that it leaves
    /// in the record with another value, and who lacks anything runs after all that leave something.
    pub is_broad: bool,
    /// The tests of the run before, if all ended well and none of them lacked anything: they run once
    /// more only so that others meet what they leave.
    pub ran: BTreeSet<String>,
    /// How many tests ran once more until now.
    pub again: usize,
    /// Whether tests that are known are not there, as options or names of files choose others: who
    /// meets what is left is not known before these are.
    #[serde(skip)]
    pub is_narrow: bool,
}

/// What one test leaves so.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Leaves {
    /// Path and name of cells.
    pub cells: BTreeSet<(String, String)>,
    /// What it makes for others or changes in that, as [`crate::matrix::Ties::made`] has it.
    pub made: BTreeSet<String>,
}

impl Leaves {
    pub(crate) fn add(&mut self, other: Leaves) {
        self.cells.extend(other.cells);
        self.made.extend(other.made);
    }

    /// Takes out what `other` has, too.
    pub(crate) fn remove(&mut self, other: &Leaves) {
        self.cells.retain(|cell| !other.cells.contains(cell));
        self.made.retain(|made| !other.made.contains(made));
    }
}

/// The values of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Recorded<'a> {
    pub run: &'a str,
    pub holders: Vec<Holder<'a>>,
    /// What its tests left behind, if some of them wait for their turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ties: Option<Ties<'a>>,
}

/// What tests left behind for others when all of them ran.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Ties<'a> {
    /// All of them, in order.
    pub order: Vec<&'a str>,
    pub left: BTreeMap<&'a str, Vec<LeftIn<'a>>>,
    /// By test, of these: a digest of what ran in its turn that later tests do not run again.
    pub made: &'a BTreeMap<String, String>,
    /// Values that are numbers: these, as the language writes them.
    pub numbers: &'a BTreeMap<Fingerprint, String>,
    /// Tests that are left out by another run, and do not leave the same in the two: what they leave
    /// now nobody knows by this one.
    pub of_others: Vec<&'a str>,
    /// By a run for which options chose tests: those that leave something and were not there.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub absent: &'a BTreeMap<String, Vec<String>>,
}

/// Path and name of a cell, and its value: `None` where the code of those who change it counts,
/// [`LeftIn::UNKNOWN`] where nobody knows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct LeftIn<'a>(pub &'a str, pub &'a str, pub Option<String>);

impl LeftIn<'_> {
    /// No value is equal to this.
    pub(crate) const UNKNOWN: &'static str = "?";
}

/// Its name, its path, and what each cell held: 32 hex digits, or nothing if that cannot
/// be told.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Holder<'a>(pub &'a str, pub &'a str, pub Vec<Cell<'a>>);

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Cell<'a>(pub &'a str, pub Option<String>);

/// Which cells one of a test's own units can read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct OwnUnit {
    /// Hashes of the names that it asks for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<u32>,
    /// Hashes of the global names that it loads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub loads: Vec<u32>,
    /// The module that these are of, if it has cells: an index into [`Confirm::paths`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<usize>,
    /// Modules that it looks into: indexes into [`Confirm::paths`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<usize>,
    /// Modules that it can look into if the process shows that something holds a module
    /// otherwise than import statements do: indexes, too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub loose: Vec<usize>,
    /// Whether what runs the tests may hand these out, too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub asks_runner: bool,
    #[serde(flatten)]
    pub flags: Flags,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub members: bool,
}

/// What is read without being spelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Flags {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub anything: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub annotations: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub docstrings: bool,
}

/// One test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct OpenTest<'a> {
    /// The index of the run whose values count.
    pub matrix: usize,
    /// What counts of it; `None` if that differs.
    #[serde(flatten)]
    pub own: Option<OpenPart>,
    /// The same without earlier tests: what these leave has to be compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tied: Option<OpenPart>,
    /// Whether the state after the imports that `tied` has is proven to be the same.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_import_same: bool,
    /// Whether it runs for others, whatever it reads.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub runs: bool,
    /// Whether nothing else is different than that tests are there which were not when it ran.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_same: bool,
    /// If tests were not there when it ran, their key in [`Ties::absent`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub absent: Option<&'a str>,
}

/// What counts of a test that values can excuse.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct OpenPart {
    /// Its own units: indexes into [`Confirm::sets`].
    pub sets: Vec<usize>,
    /// An index into [`Confirm::modules`].
    pub modules: usize,
    /// The same of modules that it imports itself.
    pub late_modules: usize,
    #[serde(flatten)]
    pub flags: Flags,
    #[serde(skip_serializing_if = "ReadBefore::is_none")]
    pub past: ReadBefore,
}

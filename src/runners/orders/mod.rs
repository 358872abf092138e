//! Running tests in a given order, for runners that can.

mod asked;

pub(super) use asked::{Heeded, Request, Told, explained};

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::order::{Ended, Step};

/// Tests that are to be run in orders of tamis's choice.
#[derive(Clone, Copy, Debug)]
pub struct Ordered<'a> {
    pub command: &'a [OsString],
    pub cwd: &'a Path,
    /// The folder that names of tests are relative to.
    pub project: &'a Path,
    /// The top of the work tree.
    pub root: &'a Path,
    /// Where the collectors are installed.
    pub agent: &'a Path,
}

/// How long a test may take.
pub(super) type Limits<'l> = &'l dyn Fn(&str) -> Duration;

/// Runs tests in orders: the one executor of all searches.
pub trait Orders {
    /// All tests, in the order in which the runner would run them.
    fn tests(&self) -> &[String];

    /// The scopes that a test is in, from the widest: its file, its classes.
    fn scopes(&self, test: &str) -> Vec<String>;

    /// Why every order takes a process of its own; `None` if it need not.
    fn is_slow(&self) -> Option<&str>;

    /// From now on every order takes a process of its own, and `why`.
    fn do_not_fork(&mut self, why: String);

    /// Runs an order; `None` if the user interrupted it.
    ///
    /// # Errors
    /// If a test is unknown, or the runner does not come to its tests.
    fn run(&mut self, step: &Step, limits: Limits<'_>) -> Result<Option<Ran>, Error>;

    /// Whether [`Orders::record`] can be had.
    fn sees_accesses(&self) -> bool {
        true
    }

    /// Runs an order in a process of its own that writes traces into a folder; `None` if the
    /// user interrupted it.
    ///
    /// # Errors
    /// Those of [`Orders::run`].
    fn record(
        &mut self,
        order: &[String],
        limits: Limits<'_>,
        traces: &Path,
    ) -> Result<Option<Ran>, Error>;

    /// Why the last test of an order ends otherwise than alone; `None` if the user
    /// interrupted it. `shared` are cells that it may read and the others write.
    ///
    /// # Errors
    /// Those of [`Orders::run`], and if tests cannot be run in forks.
    fn explain(
        &mut self,
        order: &[String],
        shared: &[String],
        limits: Limits<'_>,
    ) -> Result<Option<Cause>, Error>;

    /// The command that runs these tests in this order without tamis.
    fn command_for(&self, order: &[String]) -> Vec<String>;

    /// Runs that command, and tells what came of it; `None` if the user interrupted it, or
    /// it ran other tests or another order.
    ///
    /// # Errors
    /// Those of [`Orders::run`].
    fn reproduce(&mut self, order: &[String], limits: Limits<'_>) -> Result<Option<Ran>, Error>;
}

/// An order that was run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ran {
    pub ended: Ended,
    /// The first line of each failure, and how the process of a lost test ended.
    pub said: BTreeMap<String, String>,
}

/// Why a test ends otherwise after others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// The last line that runs alike alone and after the others.
    pub read: Option<Place>,
    /// Who changed what that line, or else the code of the test, names.
    pub writes: Vec<Write>,
}

/// A line of source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    pub file: String,
    pub line: u32,
    pub function: String,
    #[serde(default)]
    pub text: String,
}

/// A change of a cell that outlived the test that made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Write {
    /// `path#name`, `environ[NAME]`, …; of a dictionary's entry with its key.
    pub cell: String,
    pub test: String,
    /// What it held, shortened.
    pub before: String,
    pub after: String,
    /// From the line that wrote outwards.
    pub stack: Vec<Place>,
}

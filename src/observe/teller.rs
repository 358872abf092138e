//! What observing has to know of how the tests were started.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;
use bstr::BStr;

use super::trace::TestBegin;
use crate::matrix::{Fingerprint, Unit, What};

/// What the runner tells of the processes that it started, so that `observe` needs to know
/// no runner.
pub trait Teller {
    /// What a test file depends on for lying below `folder` (relative to the top
    /// of the work tree): files that the runner looks for in it.
    fn folder_units(&self, folder: &BStr) -> Vec<Unit>;

    /// What stands before the ids of tests of a process that ran in `folder`, so
    /// that runs from elsewhere mean the same tests.
    fn id_prefix(&self, folder: &BStr) -> String;

    /// The id of a test class, by where its class file lies.
    fn class_id(&self, test: &TestBegin) -> String;

    /// What configures the build that compiled the tests.
    ///
    /// # Errors
    /// If it cannot be told.
    fn configuration(&self) -> Result<Configuration>;

    /// Folders in which the build leaves compiled tests.
    fn test_outputs(&self) -> Vec<PathBuf>;

    /// The folders among the arguments of a command without a build.
    fn class_path(&self, args: &[String]) -> Vec<PathBuf>;
}

/// What configures a build, by absolute paths.
#[derive(Debug, Default)]
pub struct Configuration {
    /// Files of which only a part counts, and the unit for that part.
    pub parts: Vec<(PathBuf, What)>,
    pub files: Vec<PathBuf>,
    pub looked_for: Vec<PathBuf>,
    /// Folders whose entries are files of configuration.
    pub folders: Vec<PathBuf>,
    /// Variables that count for every test, with their value here.
    pub variables: BTreeMap<String, Option<Fingerprint>>,
    /// Values that the files give to variables.
    pub given: BTreeMap<String, Given>,
}

/// What becomes of a variable.
#[derive(Debug, Default)]
pub struct Given {
    /// The values that the configuration names.
    pub values: Vec<Fingerprint>,
    /// The value that the build was started with.
    pub own: Option<Fingerprint>,
}

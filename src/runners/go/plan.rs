//! What `tamis run` tells the process that runs `go test`, and what that tells the ones which
//! run its test binaries.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// How `go test` is to run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct GoPlan {
    pub traces: PathBuf,
    /// The top of the work tree.
    pub root: PathBuf,
    /// A folder for files of this run.
    pub out: PathBuf,
    pub cwd: PathBuf,
    /// How long a process of a test may take.
    pub timeout: String,
    /// The words of the command.
    pub command: Vec<String>,
    pub left_out: BTreeSet<String>,
    /// Why nobody sees what processes use, if so.
    pub untraced: Option<String>,
}

/// What is known of the packages before they are built.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Packages {
    /// By folder.
    pub by_folder: BTreeMap<PathBuf, TestPackage>,
    /// The sources with functions that are counted, by import path and file name, as coverage
    /// counters name them.
    pub sources: BTreeMap<String, Source>,
    /// The packages that were asked for, by import path.
    pub asked: BTreeSet<String>,
    /// Those of them that have no tests.
    pub untested: BTreeSet<String>,
    /// The modules whose functions are counted.
    pub modules: BTreeSet<String>,
    /// What decides results besides files: kind, name, fingerprint.
    pub environment: Vec<(String, String, String)>,
}

/// A package with tests.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct TestPackage {
    pub import_path: String,
    /// In the order in which they run.
    pub tests: Vec<GoTest>,
    /// Whether a function runs around all tests, so that these are one group.
    pub is_group: bool,
    /// Whether something comes after these, which no counter tells.
    pub goes_on: bool,
    /// The folders of the packages of the work tree that are part of its test binary, and whose
    /// functions are counted.
    pub linked: Vec<PathBuf>,
    /// Names of [`Packages::sources`] in it.
    pub sources: Vec<String>,
    /// What all its tests need besides: kind, path, value.
    pub needs: BTreeSet<Need>,
    /// Functions in its tests that any of them may call.
    pub shared: Vec<Function>,
    /// Why its tests have to run every time, if so.
    pub doubt: Option<String>,
    /// Whether it may have tests that were not found.
    pub may_have_more: bool,
}

impl TestPackage {
    /// How people and stores call a test.
    pub(super) fn id(&self, test: &str) -> String {
        format!("{}.{test}", self.import_path)
    }
}

/// Something that tests need.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Need {
    File(PathBuf),
    /// A file that is not there.
    Missing(PathBuf),
    /// The names in a folder.
    Names(PathBuf),
    /// Which files a package may have, and its tests.
    Parts(PathBuf),
    TestParts(PathBuf),
    /// What the sources of a package have outside of functions; or its tests.
    Outside(PathBuf),
    OutsideOfTests(PathBuf),
    /// What shows of a function, or a declaration.
    Name(PathBuf, String),
    /// The methods of a type of the package in this folder.
    Methods(PathBuf, String),
}

/// A test.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct GoTest {
    pub name: String,
    /// The functions in the tests' sources that it may call, its own first.
    pub functions: Vec<Function>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Function {
    pub file: PathBuf,
    pub name: String,
    pub line: u32,
}

/// A source whose functions are counted.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Source {
    pub path: PathBuf,
    /// Name, first and last line.
    pub functions: Vec<(String, u32, u32)>,
    /// What can be named: functions and declarations.
    pub names: Vec<String>,
    /// Types that can have methods.
    pub types: Vec<String>,
}

pub(super) use crate::runners::supervised::{load, save};

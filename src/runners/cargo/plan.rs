//! What `tamis run` tells the process that runs `cargo test`, and what that tells the ones which
//! run its test binaries.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// How `cargo test` is to run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CargoPlan {
    pub traces: PathBuf,
    /// The top of the work tree.
    pub root: PathBuf,
    /// A folder for files of this run.
    pub out: PathBuf,
    pub cwd: PathBuf,
    /// Where it is kept how sources are parsed.
    pub cache: PathBuf,
    /// The words of the command.
    pub command: Vec<String>,
    pub left_out: BTreeSet<String>,
    /// Why nobody sees what processes use, if so.
    pub untraced: Option<String>,
}

/// What is known of the programs once they are built.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Built {
    /// Test binaries, and programs that tests may start.
    pub programs: Vec<Program>,
    pub sources: Vec<Source>,
    /// Where Cargo puts what it makes.
    pub target: Option<PathBuf>,
    /// Libraries that it made, by device and number, and what they are made of.
    pub libraries: Vec<((u64, u64), BTreeSet<Need>)>,
    /// What tests in the documentation of packages need, by name.
    pub documented: BTreeMap<String, BTreeSet<Need>>,
    /// What decides results besides files: kind, name, fingerprint.
    pub environment: Vec<(String, String, String)>,
}

/// A program that was built.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Program {
    pub path: PathBuf,
    /// Another name of it.
    pub other_path: Option<PathBuf>,
    /// The same by device and number.
    pub file: (u64, u64),
    /// How people call the tests of it: package, and name of the target.
    pub id: String,
    /// The file that it begins with.
    pub main: PathBuf,
    pub is_test: bool,
    /// Its own crate, as symbols name it.
    pub own_crate: String,
    /// The crates of the project in it, its own among them.
    pub crates: BTreeSet<String>,
    /// Their sources, by their place in [`Built::sources`].
    pub sources: BTreeSet<usize>,
    /// Those of them that are compiled with tests.
    pub with_tests: BTreeSet<usize>,
    /// What all its tests need besides.
    pub needs: BTreeSet<Need>,
    /// Why it is not known which functions run, if so.
    pub by_files: Option<String>,
}

impl Program {
    /// The names of its file: Cargo gives what it makes a second one.
    pub(super) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        std::iter::once(&self.path).chain(&self.other_path)
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
    /// An environment variable.
    Variable(String),
}

/// A source of the project.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Source {
    pub path: PathBuf,
    /// Name, first and last line.
    pub functions: Vec<(String, u32, u32)>,
}

impl Source {
    /// The functions at a line, by their place.
    pub(super) fn at(&self, line: u32) -> impl Iterator<Item = usize> {
        let functions = self.functions.iter().enumerate();
        let here = functions.filter(move |(_, (_, first, last))| (first..=last).contains(&&line));
        here.map(|(at, _)| at)
    }
}

pub(super) use crate::runners::supervised::{load, save};

/// The sources of a program, by path.
pub(super) fn sources_of<'b>(
    built: &'b Built,
    program: &Program,
) -> BTreeMap<PathBuf, (usize, &'b Source)> {
    let sources = program.sources.iter();
    let sources = sources.map(|number| (*number, &built.sources[*number]));
    sources
        .map(|(number, source)| (source.path.clone(), (number, source)))
        .collect()
}

//! Test runners: how each is found, started, told what to leave out, and what
//! of its configuration can change an outcome.
//!
//! A runner is a folder, a line in [`ALL`], and a fixture. Nobody outside of this room
//! names one: the configuration holds the one that was resolved, and everybody asks that.

mod cargo;
mod command;
mod confirm;
mod ctest;
pub(crate) mod emission;
mod go;
pub(crate) mod gradle;
pub(crate) mod junit;
pub(crate) mod jvm;
pub(crate) mod maven;
mod node;
mod observer;
mod orders;
mod probe;
pub(crate) mod pytest;
mod resolve;
mod source;
mod supervised;
mod teller;
mod template;
mod unwatched;
mod wrapped;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::Result;
use bstr::{BStr, BString};

use crate::check::Check;
use crate::error::Error;
use crate::history::{Repository, View};
use crate::languages::{Facts, Read};
use crate::matrix::{Fingerprint, Unit, What};
use crate::observe::Observations;
use crate::run::{Ended, RunPlan};
use crate::select::{Part, Selection};

pub(crate) use cargo::{run_cargo_binary, run_cargo_test, run_rustdoc};
pub(crate) use confirm::{
    Anew, Cell, Confirm, Flags, Holder, Leaves, LeftIn, OpenPart, OpenTest, OwnUnit, Recorded, Ties,
};
pub(crate) use ctest::{become_test, build_with_cmake, run_ctest};
pub(crate) use go::{run_binary, run_go_test};
pub(crate) use node::run_node_tests;
pub(crate) use observer::{AtHand, Coverage, Covered, Observation, Observed, Observer, Watch};
pub(crate) use orders::{Cause, Ordered, Orders, Place, Ran};
pub(crate) use probe::Prober;
pub(crate) use resolve::{driver, found, named, of_interpreter, of_program, of_words, typed_words};
use resolve::{on_path, program_name};
pub(crate) use source::{Source, file_of, function_of};
pub use teller::Started;
pub(crate) use template::Examples;
pub(crate) use unwatched::Unwatched;

// What sources tell of classes that are not built, which only Maven's poms allow; and how
// pytest is configured and finds tests, which any command may come to.
pub(crate) use maven::Sources;
pub(crate) use maven::{Standing, Unbuilt};
pub(crate) use pytest::{Finds, MayHold, READ_BY_EVERY_TEST, config_files};

/// Every runner that a configuration can name.
pub(crate) static ALL: &[&dyn Runner] = &[
    &pytest::Pytest,
    &maven::Maven,
    &gradle::Gradle,
    &junit::Junit,
    &cargo::Cargo,
    &go::Go,
    &node::Node,
    &ctest::Ctest,
    &command::Command,
];

/// The names of all runners, as they are written in `runner` and behind `--format`.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|runner| runner.name())
}

/// One way to start tests. The defaults are those of a command that does not show what it
/// starts: `make test`, `tox`, a script.
pub trait Runner: Sync {
    /// In `runner`, behind `--format` and in the names of suites.
    fn name(&self) -> &'static str;

    /// What in a folder suggests this runner; `None` if nothing does.
    fn detect(&self, _folder: &Path) -> Option<Detected> {
        None
    }

    /// The names of those files and folders, for messages.
    fn signs(&self, _folder: &Path) -> Vec<&'static str> {
        Vec::new()
    }

    /// Whether the command's program is this runner's own.
    fn starts(&self, command: &[OsString]) -> bool;

    /// Whether it knows what all words of a command mean, so that it can add some.
    fn drives(&self, command: &[OsString]) -> bool {
        self.starts(command)
    }

    /// The test command where none is typed or configured.
    ///
    /// # Errors
    /// If none is found, with what to do about it.
    fn find_command(&self, settings: &Settings<'_>) -> Result<FoundCommand, Error>;

    /// Whether an interpreter that is configured is for its tests.
    fn has_interpreter(&self) -> bool {
        false
    }

    /// What has to happen before tests can be selected for a command that runs in `cwd`. `out`
    /// is a folder for files that the build needs.
    ///
    /// # Errors
    /// If they cannot be written.
    fn build(&self, _command: &[OsString], _cwd: &Path, _out: &Path) -> Result<Build> {
        Ok(Build::NotNeeded)
    }

    /// Whether only what was built tells what an edit can affect, so that also a step that
    /// selects for a later one has to build.
    fn builds_before_selecting(&self) -> bool {
        false
    }

    /// Whether the command asks, once all is compiled, what to leave out; if it would but
    /// cannot here, why not.
    fn question(&self, _command: &[OsString], _cwd: &Path) -> Result<Option<Question>, String> {
        Ok(None)
    }

    /// The answer: what the command leaves out. `tell` hears why more runs than has to.
    fn answer(
        &self,
        _selection: &Selection,
        _part: Option<Part<'_>>,
        _project: &Path,
        _tell: &dyn Fn(String),
    ) -> String {
        String::new()
    }

    /// Writes into `out` what the command is to leave out of a project that is built;
    /// `None` if that is nothing, or the collector does it. `tell` hears why more runs
    /// than has to.
    ///
    /// # Errors
    /// If it cannot be written.
    fn emit(
        &self,
        _selection: &Selection,
        _part: Option<Part<'_>>,
        _project: &Path,
        _out: &Path,
        _tell: &dyn Fn(String),
    ) -> Result<Option<PathBuf>> {
        Ok(None)
    }

    /// Writes into `out`, for a later step, what it can be told besides the files that all
    /// runners have. `project` is not known where there is no work tree.
    ///
    /// # Errors
    /// If it cannot be written.
    fn emit_for_later(
        &self,
        selection: &Selection,
        part: Option<Part<'_>>,
        _project: Option<&Path>,
        out: &Path,
    ) -> Result<()> {
        pytest::write_args(selection, part, out)
    }

    /// All tests that there are, if the configuration names them.
    fn named_tests(&self, _settings: &Settings<'_>) -> Option<Vec<String>> {
        None
    }

    /// Whether a file that changed can bring tests that nobody knows, or decide whether what
    /// the tests are in can be built at all; `None` if what finding them read tells.
    fn may_bring_tests(&self, _path: &BStr) -> Option<bool> {
        None
    }

    /// Whether its collector compares values of state, so that it can leave out tests that
    /// only these excuse.
    fn confirms(&self) -> bool {
        false
    }

    /// Whether the command has to be told here of a selection that an earlier step made,
    /// as there is no collector in the test process that would look for it.
    fn is_told_by_name(&self) -> bool {
        false
    }

    /// The same as [`Runner::emit`] before anything is built, of tests by name: all that
    /// are known, and whether each is left out.
    ///
    /// # Errors
    /// If it cannot be written.
    fn emit_tests(
        &self,
        _tests: &BTreeMap<String, bool>,
        _project: &Path,
        _out: &Path,
    ) -> Result<Option<PathBuf>> {
        Ok(None)
    }

    /// Whether the command ends well also where nothing compiles.
    fn ignores_failure(&self, _command: &[OsString]) -> bool {
        false
    }

    /// How the command is started under collection.
    ///
    /// # Errors
    /// If a file that it needs cannot be written.
    fn launch(&self, launch: &Launch<'_>) -> Result<RunPlan> {
        Ok(wrapped::plan(launch))
    }

    /// Whether [`Runner::orders`] is there.
    fn takes_orders(&self) -> bool {
        false
    }

    /// Who runs its tests in orders of tamis's choice.
    ///
    /// # Errors
    /// If nobody does, or the tests cannot be started.
    fn orders(&self, _ordered: &Ordered<'_>) -> Result<Box<dyn Orders>, Error> {
        let why = format!(
            "orders can be chosen for pytest and Maven, and this is {}",
            self.name()
        );
        Err(Error::usage(why).with_hint("write the command that starts pytest behind `--`"))
    }

    /// Who runs its tests statement by statement. `original` is the top of the project that
    /// the one of `ordered` is a copy of.
    ///
    /// # Errors
    /// If nobody does.
    fn observer(
        &self,
        _ordered: &Ordered<'_>,
        _original: &Path,
    ) -> Result<Box<dyn Observer>, Error> {
        let why = format!(
            "statements can be watched for pytest, and this is {}",
            self.name()
        );
        Err(Error::usage(why).with_hint("write the command that starts pytest behind `--`"))
    }

    /// Who tells what the tests will be run with, if that is known before they start.
    fn prober(&self, launch: &Asked<'_>) -> Option<Box<dyn Prober>> {
        pytest::prober(launch)
    }

    /// A command that ran in `cwd` as it is stored, with what variables add to it.
    fn words(&self, command: &[OsString], cwd: &Path, project: &Path) -> Vec<String> {
        wrapped::words(command, cwd, project)
    }

    /// The variables whose settings [`Runner::words`] adds.
    fn variables(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether sources tell what its tests are made of, before anything is built.
    fn is_known_by_sources(&self) -> bool {
        false
    }

    /// Whether the class files that `units` are about are made of the sources alone, after
    /// a run of `command`. `edited` are the files that were edited while the tests ran.
    ///
    /// # Errors
    /// What else had a part in them, or may have had.
    fn is_of_sources(
        &self,
        _tree: &Tree<'_>,
        _command: &[String],
        _edited: &BTreeSet<BString>,
        _units: &[&Unit],
    ) -> Result<(), String> {
        Err("nothing tells that only sources made them".to_owned())
    }

    /// Why nobody sees the tests that a command runs; `None` if that is not said anywhere.
    fn hides_tests(&self, _project: &Path, _command: &[String]) -> Option<String> {
        None
    }

    /// Completes what the traces of a command tell of its tests.
    fn know_tests(&self, ran: &Finished<'_>, observed: &mut Observations) {
        match self.hides_tests(ran.project, ran.command) {
            None => jvm::add_left_out(ran, observed),
            Some(why) => {
                observed.items = None;
                observed.doubt = Some(why);
            }
        }
    }

    /// Where the source of a test is; `None` if it has none. `is_compiled`: whether tests
    /// are classes.
    fn locate<'t>(&self, test: &'t str, is_compiled: bool) -> Option<Source<'t>> {
        Some(source::locate(test, is_compiled))
    }

    /// Whether a command that has no test to run starts nobody who would tell so.
    fn starts_nothing_for_nothing(&self) -> bool {
        false
    }

    /// Whether what its tests are made of is only known from what a build left.
    fn needs_built(&self) -> bool {
        false
    }

    /// The folders that its builds write beneath `top`: absolute.
    fn written_folders(&self, _top: &Path) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Why a command started no test that could be watched, and what to do about it.
    fn why_unwatched(&self, _project: &Path, _command: &[String]) -> Unwatched {
        unwatched::of_any()
    }

    /// What `doctor` looks at. `command` is what `run` would start, if that is known.
    fn doctor(&self, settings: &Settings<'_>, command: Option<&[OsString]>) -> Vec<Check>;

    /// Whether `init` has `doctor` look: where the environment is not there yet, it
    /// would find nothing but that.
    fn is_checked_by_init(&self) -> bool {
        true
    }

    /// Files of a folder that declare the versions of what is installed.
    fn lock_files(&self, _folder: &Path) -> Vec<&'static str> {
        Vec::new()
    }

    /// The examples in the `tamis.yml` that `init` writes.
    fn examples(&self) -> Examples;
}

impl fmt::Debug for dyn Runner + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for dyn Runner + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl PartialEq for dyn Runner + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for dyn Runner + '_ {}

/// What speaks for a runner in a folder.
#[derive(Clone, Copy, Debug)]
pub struct Detected {
    /// Whose tests these are: several builds can be of the same ones.
    pub tests_of: TestsOf,
    /// Whether there are tests, as far as names tell.
    pub has_tests: bool,
    /// Whether the project brings the program along.
    pub has_wrapper: bool,
}

/// What tests are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestsOf {
    Cmake,
    Go,
    Jvm,
    Node,
    Python,
    Rust,
}

/// What a runner needs of the configuration.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// The folder in which the tests run, absolute.
    pub root: &'a Path,
    /// The interpreter, if one is named.
    pub interpreter: Option<&'a Path>,
    pub granularity: Granularity,
    /// Whether what compilers add for debuggers counts.
    pub debug_info: bool,
    /// Commands that are tests.
    pub tests: &'a [NamedTest],
}

/// A command that is a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedTest {
    pub id: String,
    /// Program and arguments.
    pub run: Vec<String>,
    /// Where it runs, relative to the folder of all tests.
    pub cwd: Option<PathBuf>,
    /// Seconds after which it has failed.
    pub timeout: Option<u32>,
}

impl fmt::Display for NamedTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.id)
    }
}

/// What a test of a JVM is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granularity {
    Class,
    Method,
}

impl Granularity {
    pub const ALL: [Granularity; 2] = [Granularity::Class, Granularity::Method];

    pub fn word(self) -> &'static str {
        match self {
            Granularity::Class => "class",
            Granularity::Method => "method",
        }
    }
}

impl fmt::Display for Granularity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A test command that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundCommand {
    pub words: Vec<OsString>,
    /// Where it was found, if there was a choice.
    pub because: Option<String>,
}

/// What has to happen before tests can be selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Build {
    /// Sources tell what changed.
    NotNeeded,
    /// Nobody but the user builds, or there is nothing to compile.
    Done,
    /// This command compiles all that will be tested.
    By(Vec<OsString>),
    /// Nobody can tell what classes there will be, for this reason.
    Unknown(String),
}

/// How a command asks, in the middle of its work, what to leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// The file that it reads, in the folder of an emission.
    pub file: &'static str,
    /// Who reads it, and from which version on.
    pub by: &'static str,
    pub since: &'static str,
    /// The answer where no test has to run.
    pub nothing_runs: &'static str,
}

/// A command that is to be started under collection.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    pub command: &'a [OsString],
    pub cwd: &'a Path,
    /// The folder that names of tests are relative to.
    pub project: &'a Path,
    /// The top of the work tree.
    pub root: &'a Path,
    /// Tells this run from all others.
    pub run: &'a str,
    /// Where the collectors are installed.
    pub agent: &'a Path,
    /// Where they write.
    pub traces: &'a Path,
    /// A folder for files of this run.
    pub out: &'a Path,
    /// What [`emission::write`] wrote, if tests are left out.
    pub exclude: Option<&'a Path>,
    /// What [`Runner::emit`] wrote.
    pub left_out: Option<&'a Path>,
    /// What the collector for Python is told of serial numbers, a line for each.
    pub serials: &'a OsStr,
    pub settings: Settings<'a>,
}

/// A command whose environment is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    pub command: &'a [OsString],
    pub cwd: &'a Path,
    /// The top of the work tree.
    pub root: &'a Path,
    /// Where the collectors are installed.
    pub agent: &'a Path,
    pub built: Built,
    pub settings: Settings<'a>,
}

/// A command that came to its end.
#[derive(Clone, Copy)]
pub struct Finished<'a> {
    /// As it is stored.
    pub command: &'a [String],
    /// The folder that names of tests are relative to.
    pub project: &'a Path,
    /// The tests that it was told to leave out.
    pub left_out: &'a BTreeSet<String>,
    pub ended: Ended,
    pub duration: Duration,
    /// Those of the state before it started.
    pub facts: &'a Facts<'a>,
}

/// A project in a state of its repository.
#[derive(Clone, Copy)]
pub struct Tree<'a> {
    pub repository: &'a Repository,
    /// The folder of the project, and the same from the top of the work tree.
    pub dir: &'a Path,
    pub prefix: &'a BStr,
    pub view: &'a View,
}

/// Whether what the tests are made of lies on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Built {
    /// Nobody has built, or it failed.
    No,
    Yes,
    /// It was begun at that time, and the command goes on with it after the selection.
    Since(SystemTime),
}

impl Built {
    /// The same for a command that leaves what was built as it is.
    fn at_once(self) -> Built {
        match self {
            Built::Since(_) => Built::Yes,
            built => built,
        }
    }
}

/// The value of a unit that is the configuration of a runner; `None` if it is none.
///
/// # Errors
/// Those of `read`.
pub fn configured(unit: &Unit, read: Read<'_>) -> Result<Option<Fingerprint>> {
    Ok(match &unit.what {
        What::KeptConfig(kept) => Some(maven::pom_fingerprint(read(unit.path())?, kept)),
        What::RunnerConfig(_) => Some(pytest::config_fingerprint(unit.path(), read)?),
        _ => None,
    })
}

//! Tests of CMake projects: `ctest`, in whatever language they are written.
//!
//! tamis has CMake build before it selects, so that programs count by what they hold. `ctest`
//! itself runs the tests; a process of tamis before each tells the tracer whose files are used.

mod around;
mod build;
mod listed;
mod rows;
mod verdicts;
mod words;
mod work;

use std::ffi::{OsStr, OsString};
use std::path::Path;

use anyhow::Result;
use bstr::BStr;

use super::command::OfThisProcess;
use super::supervised::{self, Supervised};
use super::{
    Asked, Build, Built, Detected, Examples, Finished, FoundCommand, Launch, Prober, Runner,
    Settings, Source, TestsOf, Unwatched, on_path, pytest,
};
use crate::check::Check;
use crate::error::Error;
use crate::observe::Observations;
use crate::run::RunPlan;
use crate::select::{Part, Selection};

use words::Words;

pub(crate) use build::build_with_cmake;
pub(crate) use work::{become_test, run_ctest};

#[derive(Clone, Copy, Debug)]
pub(super) struct Ctest;

/// Where a project says how it can be configured.
const PRESETS: &str = "CMakePresets.json";

const INSTALL: &str = "install CMake 3.21 or later, or put its folder into PATH";

impl Runner for Ctest {
    fn name(&self) -> &'static str {
        "ctest"
    }

    fn detect(&self, folder: &Path) -> Option<Detected> {
        if self.signs(folder).is_empty() {
            return None;
        }
        Some(Detected {
            tests_of: TestsOf::Cmake,
            has_tests: build::has_tests(folder),
            has_wrapper: false,
        })
    }

    fn signs(&self, folder: &Path) -> Vec<&'static str> {
        let is_there = folder.join(build::LISTS).is_file();
        is_there.then_some(build::LISTS).into_iter().collect()
    }

    fn starts(&self, command: &[OsString]) -> bool {
        Words::read(command).is_some()
    }

    fn find_command(&self, settings: &Settings<'_>) -> Result<FoundCommand, Error> {
        if on_path("ctest").is_none() {
            let why = "CMake is not installed: there is no `ctest` in PATH";
            return Err(Error::usage(why).with_hint(INSTALL));
        }
        let folder = build::folder_of(settings.root).map_err(|several| {
            let why = format!("CMake builds in several folders: {}", several.join(", "));
            Error::usage(why).with_hint("name one in tamis.yml: `command: [ctest, --test-dir, …]`")
        })?;
        if !settings.root.join(&folder).is_dir() && settings.root.join(PRESETS).is_file() {
            let why =
                format!("CMake has not configured this project yet, and {PRESETS} has presets");
            let next = "configure it: `cmake --preset NAME`; if it builds deep below, name the folder \
                        in tamis.yml: `command: [ctest, --test-dir, …]`";
            return Err(Error::usage(why).with_hint(next));
        }
        let words: Vec<OsString> = vec![
            "ctest".into(),
            "--test-dir".into(),
            folder.into(),
            "--output-on-failure".into(),
        ];
        Ok(FoundCommand {
            words,
            because: None,
        })
    }

    fn builds_before_selecting(&self) -> bool {
        true
    }

    fn build(&self, command: &[OsString], cwd: &Path, _out: &Path) -> Result<Build> {
        let Some(words) = Words::read(command).filter(|words| words.why_left_alone().is_none())
        else {
            return Ok(Build::Done);
        };
        let folder = words.folder(cwd);
        let configuration = words.configuration();
        let args = build::command(&folder, cwd, configuration, words.at_once());
        Ok(match args {
            None => Build::Done,
            Some(args) => {
                let program = OsString::from(std::env::current_exe()?);
                Build::By([program].into_iter().chain(args).collect())
            }
        })
    }

    fn emit_for_later(
        &self,
        _selection: &Selection,
        _part: Option<Part<'_>>,
        _project: Option<&Path>,
        _out: &Path,
    ) -> Result<()> {
        Ok(())
    }

    fn launch(&self, launch: &Launch<'_>) -> Result<RunPlan> {
        Supervised::of(launch)?.by("ctest-run")
    }

    fn prober(&self, asked: &Asked<'_>) -> Option<Box<dyn Prober>> {
        let words = Words::read(asked.command)?;
        let folder = words.folder(asked.cwd);
        // Where it cannot be asked, or programs are older than sources, all tests are others.
        let listed = match asked.built {
            Built::No => None,
            Built::Yes | Built::Since(_) => listed::list(&words, &folder, asked.root, false).ok(),
        };
        let listed = listed.unwrap_or_default();
        let definitions = listed.definitions(&deciding(&words, &folder));
        let tests = listed.that_run().cloned().collect();
        Some(Box::new(OfThisProcess::of(definitions).with_tests(tests)))
    }

    /// Anything can be part of a build, and only that tells which tests there are.
    fn may_bring_tests(&self, _path: &BStr) -> Option<bool> {
        Some(true)
    }

    /// The supervisor has told everything.
    fn know_tests(&self, _ran: &Finished<'_>, _observed: &mut Observations) {}

    fn locate<'t>(&self, _test: &'t str, _is_compiled: bool) -> Option<Source<'t>> {
        None
    }

    fn why_unwatched(&self, _project: &Path, command: &[String]) -> Unwatched {
        let words: Vec<OsString> = command.iter().map(OsString::from).collect();
        Unwatched {
            why: Words::read(&words).and_then(|words| words.why_left_alone()),
            hint: "let `ctest` run without that, in a folder that CMake has built in".to_owned(),
        }
    }

    fn doctor(&self, settings: &Settings<'_>, command: Option<&[OsString]>) -> Vec<Check> {
        let program = command.and_then(|words| words.first());
        let program = program.map_or(OsStr::new("ctest"), OsString::as_os_str);
        let mut checks = vec![match build::version(program) {
            Ok(version) => Check::ok(self.name(), format!("CMake {version}")),
            Err(error) => Check::fail(self.name(), format!("{error:#}"), INSTALL),
        }];
        let words = command.and_then(Words::read);
        let folder = words.map(|words| words.folder(settings.root));
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            let found = format!(
                "{} is not there yet: `tamis run` makes it",
                folder.display()
            );
            checks.push(Check::ok(self.name(), found));
        }
        checks.push(supervised::check(self.name()));
        checks
    }

    fn examples(&self) -> Examples {
        Examples {
            command: "[ctest, --test-dir, build, --output-on-failure]",
            python: None,
            paths: "[src/, tests/]",
            own: |_| String::new(),
            ..pytest::EXAMPLES
        }
    }
}

/// What decides the results of all tests of a folder.
fn deciding(words: &Words, folder: &Path) -> String {
    format!("{}\n{}", words.deciding(), around::set_for_all(folder))
}

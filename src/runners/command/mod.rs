//! Any command is a test: a script, `make check`, a program in a language that tamis does not
//! know. The configuration names one command, or several as `tests`.
//!
//! A process of tamis supervises them and sees which files their processes use. Where that is
//! not possible their rows say that they are incomplete, and they run every time.

mod environment;

pub(super) use environment::OfThisProcess;

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use super::emission::left_out_for_sure;
use super::{
    Asked, Examples, Finished, FoundCommand, Launch, NamedTest, Prober, Runner, Settings, Source,
    Unwatched, on_path, pytest,
};
use crate::check::Check;
use crate::error::Error;
use crate::observe::Observations;
use crate::run::RunPlan;
use crate::select::{Part, Selection};
use crate::tracer::{self, Plan, Test};

#[derive(Clone, Copy)]
pub(super) struct Command;

/// The id of a command that is the only test.
const TEST: &str = "command";

/// What stands for a command where the tests are named.
const NAMED: &str = "tests-of-tamis.yml";

/// The file that tells the supervisor what to run.
const PLAN: &str = "tests.json";

const HINT: &str = "write it in tamis.yml: `command: [make, check]`, or `tests` with several";

// Inside, another runner may start. It is left alone: a test that is a whole command
// leaves out no part of itself.
impl Runner for Command {
    fn name(&self) -> &'static str {
        "command"
    }

    /// No program is its own: only the configuration says that a command is one test.
    fn starts(&self, _command: &[OsString]) -> bool {
        false
    }

    fn drives(&self, _command: &[OsString]) -> bool {
        true
    }

    fn find_command(&self, settings: &Settings<'_>) -> Result<FoundCommand, Error> {
        if settings.tests.is_empty() {
            return Err(Error::usage("`runner: command` needs a `command`").with_hint(HINT));
        }
        Ok(FoundCommand {
            words: vec![NAMED.into()],
            because: None,
        })
    }

    fn named_tests(&self, settings: &Settings<'_>) -> Option<Vec<String>> {
        Some(match settings.tests {
            [] => vec![TEST.to_owned()],
            named => named.iter().map(|test| test.id.clone()).collect(),
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
        let left_out = left_out_for_sure(launch.exclude)?;
        let plan = Plan {
            traces: launch.traces.to_owned(),
            root: launch.root.to_owned(),
            tests: tests(launch.command, launch.cwd, &launch.settings),
            left_out,
            untraced: tracer::why_not(),
        };
        fs_err::create_dir_all(launch.out)?;
        let file = launch.out.join(PLAN);
        plan.save(&file)?;
        let program = std::env::current_exe()?;
        let argv = vec![program.into(), "trace".into(), file.into()];
        Ok(RunPlan {
            traces: launch.traces.to_owned(),
            ..RunPlan::plain(argv, launch.cwd)
        })
    }

    fn prober(&self, asked: &Asked<'_>) -> Option<Box<dyn Prober>> {
        let tests = tests(asked.command, asked.cwd, &asked.settings);
        let definitions = tests.iter().map(|test| test.definition(asked.root));
        Some(Box::new(OfThisProcess::of(definitions)))
    }

    /// The supervisor has told everything.
    fn know_tests(&self, _ran: &Finished<'_>, _observed: &mut Observations) {}

    fn locate<'t>(&self, _test: &'t str, _is_compiled: bool) -> Option<Source<'t>> {
        None
    }

    fn why_unwatched(&self, _project: &Path, _command: &[String]) -> Unwatched {
        Unwatched::unless("the process of tamis that supervises the command told nothing")
    }

    fn doctor(&self, settings: &Settings<'_>, command: Option<&[OsString]>) -> Vec<Check> {
        let named = [OsString::from(NAMED)];
        let command = match command {
            None if !settings.tests.is_empty() => &named,
            command => command.unwrap_or_default(),
        };
        let tests = tests(command, settings.root, settings);
        let mut checks: Vec<Check> = tests.iter().filter_map(|test| self.missing(test)).collect();
        if tests.is_empty() {
            let found = "no `command` is configured";
            checks.push(Check::fail(self.name(), found, HINT));
        }
        checks.push(match tracer::why_not() {
            None => Check::ok(self.name(), "tamis sees what the processes of tests use"),
            Some(why) => Check::warn(
                self.name(),
                format!("{why}: it runs every time"),
                "let the container or sandbox allow `seccomp`, or use the runner of its tests",
            ),
        });
        checks
    }

    fn examples(&self) -> Examples {
        Examples {
            command: "[make, check]",
            python: None,
            own: |_| {
                "\n\
                 # Several commands, each a test.\n\
                 #: tests:\n\
                 #:   - {id: unit, run: make unit}\n\
                 #:   - {id: style, run: [./style.sh, --strict]}\n"
                    .to_owned()
            },
            ..pytest::EXAMPLES
        }
    }
}

impl Command {
    /// What is wrong if the program of a test is not there.
    fn missing(self, test: &Test) -> Option<Check> {
        let program = test.program()?;
        let shown = program.display().to_string();
        let is_there = match shown.contains('/') {
            true => test.cwd.join(&program).is_file(),
            false => on_path(&shown).is_some(),
        };
        let found = format!("`{shown}` of `{}` is not there", test.id);
        let next = "correct it in tamis.yml, or install it";
        (!is_there).then(|| Check::fail(self.name(), found, next))
    }
}

/// The tests that `command` stands for, which runs in `cwd`; none if it has no words.
fn tests(command: &[OsString], cwd: &Path, settings: &Settings<'_>) -> Vec<Test> {
    match command {
        [] => Vec::new(),
        [word] if word == NAMED => settings
            .tests
            .iter()
            .map(|test| named(test, settings))
            .collect(),
        words => vec![Test::new(TEST, words, cwd, None)],
    }
}

fn named(test: &NamedTest, settings: &Settings<'_>) -> Test {
    let words: Vec<OsString> = test.run.iter().map(OsString::from).collect();
    let cwd = match &test.cwd {
        Some(folder) => settings.root.join(folder),
        None => settings.root.to_owned(),
    };
    let timeout = test
        .timeout
        .map(|seconds| Duration::from_secs(seconds.into()));
    Test::new(&test.id, &words, &cwd, timeout)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::CheckState;
    use crate::runners::{Granularity, driver, named};

    #[test]
    fn it_takes_every_command_where_it_is_configured_and_none_elsewhere() {
        let words = ["pytest".into(), "-q".into()];
        let of = |runner: &str| driver(named(runner).unwrap(), &words).name();
        assert_eq!(of("command"), "command");
        assert_eq!(of("maven"), "pytest");
        let other = ["make".into(), "check".into()];
        assert_ne!(driver(named("pytest").unwrap(), &other).name(), "command");
    }

    #[test]
    fn a_missing_program_is_found_before_it_is_run() {
        let root = tempfile::tempdir().unwrap();
        let settings = Settings {
            root: root.path(),
            interpreter: None,
            granularity: Granularity::Class,
            debug_info: false,
            tests: &[],
        };
        let state = |words: &[OsString]| {
            let command = (!words.is_empty()).then_some(words);
            Command.doctor(&settings, command)[0].state
        };
        assert_eq!(state(&[]), CheckState::Fail);
        assert_eq!(state(&["./check.sh".into()]), CheckState::Fail);
        fs_err::write(root.path().join("check.sh"), "").unwrap();
        let is_traced = tracer::why_not().is_none();
        let expected = if is_traced {
            CheckState::Ok
        } else {
            CheckState::Warn
        };
        assert_eq!(state(&["./check.sh".into()]), expected);
        assert_eq!(state(&["sh".into()]), expected);
    }
}

//! Any command, as one test: a script, `make check`, a program in a language that tamis
//! does not know.
//!
//! Nothing sees yet what the processes of such a command use. So its row says that it is
//! incomplete, and the command runs every time.

use std::ffi::OsString;
use std::path::Path;

use anyhow::Result;

use super::{
    Asked, Examples, Finished, FoundCommand, Launch, Prober, Runner, Settings, Source, Unwatched,
    on_path, pytest,
};
use crate::check::Check;
use crate::error::Error;
use crate::matrix::Outcome;
use crate::observe::{Base, Observations, ObservedRow};
use crate::run::{Ended, RunPlan};
use crate::select::{Part, Selection};

#[derive(Clone, Copy)]
pub(super) struct Command;

/// The id of the only test.
const TEST: &str = "command";

const UNSEEN: &str = "nothing sees what the processes of this command use";

const HINT: &str = "write it in tamis.yml: [make, check]";

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

    fn find_command(&self, _settings: &Settings<'_>) -> Result<FoundCommand, Error> {
        Err(Error::usage("`runner: command` needs a `command`").with_hint(HINT))
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
        Ok(RunPlan {
            traces: launch.traces.to_owned(),
            ..RunPlan::plain(launch.command.to_vec(), launch.cwd)
        })
    }

    fn prober(&self, _asked: &Asked<'_>) -> Option<Box<dyn Prober>> {
        None
    }

    fn know_tests(&self, ran: &Finished<'_>, observed: &mut Observations) {
        let test = || vec![TEST.to_owned()];
        *observed = Observations {
            bases: vec![Base::default()],
            rows: vec![ObservedRow {
                by_itself: None,
                test: TEST.to_owned(),
                base: 0,
                own: Vec::new(),
                outcome: match ran.ended {
                    Ended::Exit(0) => Outcome::Passed,
                    Ended::Exit(_) => Outcome::Failed,
                    Ended::Signal(_) => Outcome::Crashed,
                },
                duration_ms: u32::try_from(ran.duration.as_millis()).unwrap_or(u32::MAX),
                position: 0,
                incomplete: Some(UNSEEN.to_owned()),
            }],
            items: Some(test()),
            kept: test(),
            runtime: format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH),
            ..Observations::default()
        };
    }

    fn locate<'t>(&self, _test: &'t str, _is_compiled: bool) -> Option<Source<'t>> {
        None
    }

    fn why_unwatched(&self, _project: &Path, _command: &[String]) -> Unwatched {
        Unwatched::unless(UNSEEN)
    }

    fn doctor(&self, settings: &Settings<'_>, command: Option<&[OsString]>) -> Vec<Check> {
        let Some(program) = command.and_then(<[_]>::first) else {
            let found = "no `command` is configured";
            return vec![Check::fail(self.name(), found, HINT)];
        };
        let shown = program.to_string_lossy();
        let is_there = match shown.contains('/') {
            true => settings.root.join(program).is_file(),
            false => on_path(&shown).is_some(),
        };
        vec![match is_there {
            true => Check::warn(
                self.name(),
                format!("{UNSEEN}: it runs every time"),
                "use the runner of its tests, if tamis knows it",
            ),
            false => Check::fail(
                self.name(),
                format!("`{shown}` is not there"),
                "correct `command` in tamis.yml, or install it",
            ),
        }]
    }

    fn examples(&self) -> Examples {
        Examples {
            command: "[make, check]",
            python: None,
            own: |_| String::new(),
            ..pytest::EXAMPLES
        }
    }
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
        };
        let state = |words: &[OsString]| {
            let command = (!words.is_empty()).then_some(words);
            Command.doctor(&settings, command)[0].state
        };
        assert_eq!(state(&[]), CheckState::Fail);
        assert_eq!(state(&["./check.sh".into()]), CheckState::Fail);
        fs_err::write(root.path().join("check.sh"), "").unwrap();
        assert_eq!(state(&["./check.sh".into()]), CheckState::Warn);
        assert_eq!(state(&["sh".into()]), CheckState::Warn);
    }
}

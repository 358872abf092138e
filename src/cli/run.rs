//! `tamis run`.

use std::ffi::OsString;

use clap::Args;

use super::{Globals, strategy_parser};
use crate::config::{Config, Overrides, Setting, Strategy};
use crate::error::{Error, Exit};
use crate::report::Report;

/// Select, run what is selected, and record the results.
///
/// The first time all tests run. The exit status is that of the test command;
/// 0 when no test had to run.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    tamis run                      with the test command that tamis finds\n  \
    tamis run -- pytest -x -n 2    with your own\n  \
    tamis run --dry-run            only say what would run\n  \
    tamis run --all                run and record everything anew")]
pub struct RunArgs {
    /// How to select [default: the configuration's, else auto]
    #[arg(long, value_name = "NAME", value_parser = strategy_parser())]
    strategy: Option<Strategy>,
    /// Run all tests: the same as --strategy all
    #[arg(long, conflicts_with = "strategy")]
    all: bool,
    /// Say what would run, and run nothing
    #[arg(long)]
    dry_run: bool,
    /// The test command [default: the configuration's, else found]
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// What `run` is to do: flags and configuration merged.
#[derive(Clone, Debug)]
pub struct RunRequest {
    pub config: Config,
    pub dry_run: bool,
    /// The words of the test command; `None`: found by the runner.
    pub command: Option<Vec<OsString>>,
}

impl RunArgs {
    fn resolve(&self, globals: &Globals) -> Result<RunRequest, Error> {
        let strategy = match self.all {
            true => Some(Setting::flag(Strategy::All, "--all")),
            false => self
                .strategy
                .map(|value| Setting::flag(value, "--strategy")),
        };
        let config = globals.config(&Overrides {
            strategy,
            ..Overrides::default()
        })?;
        let command = match (self.command.is_empty(), &config.command.value) {
            (false, _) => Some(self.command.clone()),
            (true, Some(words)) => Some(words.iter().map(OsString::from).collect()),
            (true, None) => None,
        };
        Ok(RunRequest {
            config,
            dry_run: self.dry_run,
            command,
        })
    }
}

pub fn run(args: &RunArgs, globals: &Globals, _report: &Report) -> Result<Exit, Error> {
    let _request = args.resolve(globals)?;
    Err(Error::usage("`tamis run` is not built yet"))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Project;
    use super::*;

    #[test]
    fn every_option_changes_the_request() {
        let groups: [&[&str]; 4] = [
            &["--strategy", "commit"],
            &["--all"],
            &["--dry-run"],
            &["--", "pytest", "-x"],
        ];
        Project::new("version: 1\n").each_matters(&[], &groups, RunArgs::resolve);
    }

    #[test]
    fn a_typed_command_beats_the_configured_one() {
        let project = Project::new("version: 1\ncommand: [pytest, -q]\n");
        let command = |words: &[&str]| {
            project.request(words, |args: &RunArgs, globals| {
                args.resolve(globals).map(|request| request.command)
            })
        };
        assert!(command(&[]).contains("-q"));
        let typed = command(&["--", "pytest", "-x"]);
        assert!(typed.contains("-x") && !typed.contains("-q"), "{typed}");
    }
}

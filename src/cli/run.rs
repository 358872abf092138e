//! `tamis run`.

mod anew;
mod brittle;
mod work;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::OsString;

use clap::Args;
use serde_json::Value;

use self::work::Work;
use super::strategy::{EventArgs, StrategyArgs};
use super::{Globals, deciding, service, suites, whole};
use crate::ci::CiContext;
use crate::config::{Config, Setting, Strategy};
use crate::error::{Error, Exit};
use crate::matrix::Outcome;
use crate::pipeline::{Workshop, open};
use crate::report::{CiSelection, Report};
use crate::select::Shard;

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
    #[command(flatten)]
    selecting: StrategyArgs,
    /// Run all tests: the same as --strategy all
    #[arg(long, conflicts_with = "strategy")]
    all: bool,
    /// Say what would run, and run nothing
    #[arg(long)]
    dry_run: bool,
    /// Run only this part of the tests: 2/4
    #[arg(long, value_name = "M/N")]
    shard: Option<Shard>,
    /// The test command [default: the configuration's, else found]
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// What `run` is to do: flags and configuration merged.
#[derive(Clone, Debug)]
pub struct RunRequest {
    pub config: Config,
    pub dry_run: bool,
    /// What was typed; empty: what is configured or found.
    pub command: Vec<OsString>,
    /// What an event tells of the head.
    pub event: EventArgs,
    /// Which part runs.
    pub shard: Option<Shard>,
    /// Whom to tell how the selection came out.
    pub ci: Option<CiContext>,
}

impl RunArgs {
    fn resolve(&self, globals: &Globals) -> Result<RunRequest, Error> {
        let mut overrides = self.selecting.overrides();
        if self.all {
            overrides.strategy = Some(Setting::flag(Strategy::All, "--all"));
        }
        let config = globals.config(&overrides)?.for_command(&self.command);
        Ok(RunRequest {
            config,
            dry_run: self.dry_run,
            command: self.command.clone(),
            event: self.selecting.event(globals.ci.as_ref()),
            shard: self.shard,
            ci: globals.ci.clone(),
        })
    }
}

pub fn run(args: &RunArgs, globals: &Globals, report: &Report) -> Result<Exit, Error> {
    globals.enter_ci(report)?;
    let suites = globals.each_suite()?;
    let requests = suites.iter().map(|globals| args.resolve(globals));
    let requests = requests.collect::<Result<Vec<_>, _>>()?;
    let (exit, ran) = suites::for_each(&suites, report, |at, globals| {
        run_suite(&requests[at], globals, report)
    })?;
    let mut told = Vec::new();
    let mut documents = Vec::new();
    for ran in ran {
        told.extend(ran.told);
        documents.extend(ran.document.map(|document| (ran.suite, document)));
    }
    // Outputs of a part are worse than none, which mean all.
    if !told.is_empty() && told.len() == suites.len() {
        service::tell_outputs(globals.ci.as_ref(), &CiSelection::join(told))?;
    }
    if report.is_json() {
        report.json(&suites::join_documents(documents))?;
    } else if args.dry_run {
        let lines: String = documents
            .iter()
            .filter_map(|(_, lines)| lines.as_str())
            .collect();
        report.data(&lines)?;
    }
    Ok(exit)
}

/// What a suite's run leaves.
struct Done {
    suite: Option<String>,
    /// Where it is one of several.
    told: Option<CiSelection>,
    /// The JSON document, or the lines of a dry run.
    document: Option<Value>,
    /// How the tests ended that ran, as far as that is known.
    outcomes: BTreeMap<String, Outcome>,
}

fn run_suite(
    request: &RunRequest,
    globals: &Globals,
    report: &Report,
) -> Result<(Exit, Done), Error> {
    let has_started = Cell::new(false);
    let done = select_and_run(request, globals, &has_started, report);
    done.or_else(|error| {
        let ci = globals.ci.as_ref();
        let may = whole::may_run(&error, ci, request.event.is_named()) && !has_started.get();
        match may {
            true => run_whole(request, globals, &error, report),
            false => Err(error),
        }
    })
}

fn select_and_run(
    request: &RunRequest,
    globals: &Globals,
    has_started: &Cell<bool>,
    report: &Report,
) -> Result<(Exit, Done), Error> {
    let project = open(&request.config, globals.ci.as_ref())?;
    deciding::join_shards(&project, report);
    let command = suites::command_of(&request.command, &request.config, report)?;
    let is_typed = !request.command.is_empty();
    let workshop = Workshop::set_up_as(&project, &globals.mark().unwrap_or_default())?;
    let work = Work {
        request,
        project: &project,
        workshop: &workshop,
        suite: globals.mark(),
        command: &command,
        cwd: suites::folder_of_command(is_typed, &request.config, globals),
        has_started,
        runs_before: 0,
        passes: 0,
        after: None,
        failing: &RefCell::default(),
        report,
    };
    let done = work.run();
    workshop.clean_up();
    done
}

/// Runs everything after `error`, which came before any test.
fn run_whole(
    request: &RunRequest,
    globals: &Globals,
    error: &Error,
    report: &Report,
) -> Result<(Exit, Done), Error> {
    let ci = globals.ci.as_ref();
    let suite = globals.mark();
    let command = suites::command_of(&request.command, &request.config, report)?;
    let selection = whole::select(error, &request.config, report);
    let told = whole::told(&selection, suite.clone());
    let told = match suite {
        Some(_) => {
            service::tell_people(ci, &told, report);
            Some(told)
        }
        None => {
            service::tell_service(ci, &told, report)?;
            None
        }
    };
    let exit = match request.dry_run {
        true => Exit::DONE,
        false => {
            let is_typed = !request.command.is_empty();
            let cwd = suites::folder_of_command(is_typed, &request.config, globals);
            if request.config.driver.builds_before_selecting() {
                let (command, out) = ((&command[..], &*cwd), std::env::temp_dir());
                let output = super::telling::output(report);
                deciding::build(&request.config, command, &out, &output, report)?;
            }
            whole::run(&command, &cwd, report)?
        }
    };
    let json = || whole::json(&selection, ci, !request.dry_run);
    let document = report.is_json().then(json).transpose()?;
    let done = Done {
        suite,
        told,
        document,
        outcomes: BTreeMap::new(),
    };
    Ok((exit, done))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Project;
    use super::*;
    use crate::config::Overrides;

    #[test]
    fn every_option_changes_the_request() {
        let groups: [&[&str]; 8] = [
            &["--deepen", "always"],
            &["--shard", "2/4"],
            &["--strategy", "commit"],
            &["--all"],
            &["--dry-run"],
            &["--before", "c"],
            &["--pr-head", "d"],
            &["--", "pytest", "-x"],
        ];
        Project::new("version: 1\n").each_matters(&[], &groups, RunArgs::resolve);
    }

    #[test]
    fn a_typed_command_beats_the_configured_one() {
        let project = Project::new("version: 1\ncommand: [pytest, -q]\n");
        let config = project.globals().config(&Overrides::default()).unwrap();
        let (report, ..) = crate::report::testing::report(crate::report::Style::default());
        let command = |typed: &[OsString]| suites::command_of(typed, &config, &report).unwrap();
        assert_eq!(command(&[]), ["pytest", "-q"]);
        assert_eq!(command(&["pytest".into(), "-x".into()]), ["pytest", "-x"]);
    }
}

//! `tamis run`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use clap::Args;

use super::shards::Division;
use super::strategy::{EventArgs, StrategyArgs};
use super::{Globals, shared};
use crate::ci::CiContext;
use crate::config::{Config, Setting, Strategy};
use crate::error::{Error, Exit};
use crate::pipeline::{Order, Project, Request, Workshop, decide, run_tests, words};
use crate::report::{CiSelection, Report};
use crate::run::{Ended, RunPlan};
use crate::runners::{maven, pytest};
use crate::select::{Mode, Shard};
use crate::store::FsStore;

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
    /// The words of the test command; `None`: found by the runner.
    pub command: Option<Vec<OsString>>,
    /// Whether the command was typed, and so means the current folder.
    pub typed: bool,
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
        let config = globals.config(&overrides)?;
        let command = match (self.command.is_empty(), &config.command.value) {
            (false, _) => Some(self.command.clone()),
            (true, Some(words)) => Some(words.iter().map(OsString::from).collect()),
            (true, None) => None,
        };
        Ok(RunRequest {
            config,
            dry_run: self.dry_run,
            typed: !self.command.is_empty(),
            command,
            event: self.selecting.event(globals.ci.as_ref()),
            shard: self.shard,
            ci: globals.ci.clone(),
        })
    }
}

pub fn run(args: &RunArgs, globals: &Globals, report: &Report) -> Result<Exit, Error> {
    let request = args.resolve(globals)?;
    globals.enter_ci(report)?;
    let project = Project::open(request.config.clone())?;
    shared::join_shards(&project, report);
    let store = project.store();
    let command = match &request.command {
        Some(command) => command.clone(),
        None => found_command(&request, report)?,
    };
    // A command that the user typed runs where the user is.
    let cwd = match request.typed {
        true => globals.folder.clone(),
        false => project.dir.clone(),
    };
    let workshop = Workshop::set_up(&project)?;
    let done = select_and_run(
        &request, &project, &store, &workshop, &command, &cwd, report,
    );
    workshop.clean_up();
    done
}

fn found_command(request: &RunRequest, report: &Report) -> Result<Vec<OsString>, Error> {
    let config = &request.config;
    if let (None, Some(command)) = (&config.python.value, maven::find(&config.root.value)) {
        report.detail("using Maven, because there is a pom.xml".to_owned());
        return Ok(command);
    }
    let found = pytest::find(&config.root.value, config.python.value.as_deref())?;
    report.detail(format!("using the pytest of {}", found.because));
    Ok(found.command)
}

/// Compiles what a Maven command will test: class files tell what changed.
/// `None` if it is not one of Maven's; else whether that was done.
fn build(command: &[OsString], cwd: &Path, report: &Report) -> Result<Option<bool>, Error> {
    if !maven::is_maven(command) {
        return Ok(None);
    }
    let Some(build) = maven::build_command(command) else {
        return Ok(Some(false));
    };
    let plan = RunPlan::plain(build, cwd);
    let ended = plan.execute(&shared::output(report))?;
    if ended != Ended::Exit(0) {
        report.warning("the project does not compile by itself: all tests run");
    }
    Ok(Some(ended == Ended::Exit(0)))
}

fn select_and_run(
    request: &RunRequest,
    project: &Project,
    store: &FsStore,
    workshop: &Workshop,
    command: &[OsString],
    cwd: &Path,
    report: &Report,
) -> Result<Exit, Error> {
    let is_built = build(command, cwd, report)?;
    let view = project.repository.work_view()?;
    let prober = match is_built {
        Some(true) => Some(Workshop::jvm_prober(command)),
        // Without a build nobody knows what classes there will be.
        Some(false) => None,
        None => workshop.prober(command, cwd, project),
    };
    let words = words(command);
    let asked = Request {
        strategy: request.config.strategy.value,
        baseline: None,
        prober: prober.as_ref(),
        command: Some(&words),
        hints: request
            .event
            .resolve(&project.repository, view.revision().commit)?,
        thresholds: shared::thresholds(&request.config),
        ..Request::default()
    };
    let decision = decide(project, store, &view, &asked)?;
    shared::tell_decision(&decision, report);
    let told = CiSelection::new(&decision.selection, &shared::fallbacks(&decision));
    shared::tell_service(request.ci.as_ref(), &told, report)?;
    let is_shallow = project.repository.is_shallow();
    let json = || {
        let json = shared::selection_json(&decision, &view);
        json.with_ci(request.ci.as_ref(), Some(is_shallow))
    };
    if request.dry_run {
        return shared::show_selection(json, &decision.selection, report);
    }
    if decision.selection.mode() == Mode::None {
        shared::keep(project, store, workshop, &view, &decision, words, report);
        if report.is_json() {
            report.json(&json().with_outcomes(&BTreeMap::new()).value()?)?;
        }
        return Ok(Exit::DONE);
    }
    let audited = shared::to_audit(project, store, &view, &asked)?;
    let division = request
        .shard
        .map(|shard| (shard, Division::into_exactly(&decision.selection, shard.of)));
    let part = division
        .as_ref()
        .map(|(shard, division)| division.part(shard.index));
    let exclude = shared::write_exclusions(&decision.selection, part, project, workshop)?;
    let surefire = match is_built {
        Some(_) => {
            let out = workshop.scratch.join("out");
            maven::emit(&decision.selection, part, &project.dir, &out)?
        }
        None => None,
    };
    let session = run_tests(
        project,
        store,
        workshop,
        &view,
        &decision,
        &Order {
            command: command.to_vec(),
            cwd,
            exclude: Some(exclude),
            surefire,
            audited: audited.as_ref(),
            output: shared::output(report),
        },
    )?;
    let status = session.ended.status();
    let recorded = shared::tell_session(session, &decision, report);
    shared::share(project, store, &recorded, report);
    if report.is_json() {
        let json = json().with_outcomes(&recorded.outcomes);
        report.json(&json.with_audit(&recorded.audit).value()?)?;
    }
    Ok(Exit(u8::try_from(status).unwrap_or(u8::MAX)))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Project;
    use super::*;

    #[test]
    fn every_option_changes_the_request() {
        let groups: [&[&str]; 9] = [
            &["--shard", "2/4"],
            &["--strategy", "commit"],
            &["--all"],
            &["--dry-run"],
            &["--many-new-tests", "7"],
            &["--short-branches", "7"],
            &["--before", "c"],
            &["--pr-head", "d"],
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

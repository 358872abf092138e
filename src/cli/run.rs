//! `tamis run`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;

use super::shards::Division;
use super::strategy::{EventArgs, StrategyArgs};
use super::{Globals, shared};
use crate::ci::CiContext;
use crate::config::{Config, Setting, Strategy};
use crate::error::{Error, Exit};
use crate::pipeline::{
    Decision, Order, Project, Request, Workshop, decide, open_whole, run_tests, words,
};
use crate::report::{CiSelection, Report};
use crate::run::{Ended, RunPlan};
use crate::runners::jvm::Tool;
use crate::select::{Mode, Shard};

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
    let (exit, ran) = shared::for_each(&suites, report, |at, globals| {
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
        shared::tell_outputs(globals.ci.as_ref(), &CiSelection::join(told))?;
    }
    if report.is_json() {
        report.json(&shared::join_documents(documents))?;
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
struct Ran {
    suite: Option<String>,
    /// Where it is one of several.
    told: Option<CiSelection>,
    /// The JSON document, or the lines of a dry run.
    document: Option<Value>,
}

fn run_suite(
    request: &RunRequest,
    globals: &Globals,
    report: &Report,
) -> Result<(Exit, Ran), Error> {
    let project = open_whole(&request.config, globals.ci.as_ref())?;
    shared::join_shards(&project, report);
    let command = shared::command_of(&request.command, &request.config, report)?;
    let is_typed = !request.command.is_empty();
    let work = Work {
        request,
        project: &project,
        suite: globals.mark(),
        cwd: shared::folder_of_command(is_typed, &request.config, globals),
        report,
    };
    let workshop = Workshop::set_up_as(&project, &globals.mark().unwrap_or_default())?;
    let done = work.select_and_run(&workshop, &command);
    workshop.clean_up();
    done
}

/// What was compiled before selecting: class files tell what changed.
enum Build {
    /// The command is not one of Maven's or Gradle's.
    NotNeeded,
    Done,
    /// Without one nobody knows what classes there will be.
    Failed,
}

/// Compiles what a command of Maven or Gradle will test.
fn build(command: &[OsString], cwd: &Path, report: &Report) -> Result<Build, Error> {
    let Some(tool) = Tool::of(command) else {
        return Ok(Build::NotNeeded);
    };
    let Some(build) = tool.build_command(command) else {
        report.detail("nobody knows how to compile for this command alone".to_owned());
        return Ok(Build::Failed);
    };
    let plan = RunPlan::plain(build, cwd);
    if plan.execute(&shared::output(report))? == Ended::Exit(0) {
        return Ok(Build::Done);
    }
    report.warning("the project does not compile by itself: all tests run");
    Ok(Build::Failed)
}

/// One suite and what is to be done with it.
struct Work<'a> {
    request: &'a RunRequest,
    project: &'a Project,
    /// Its name, if it is one of several.
    suite: Option<String>,
    cwd: PathBuf,
    report: &'a Report,
}

impl Work<'_> {
    fn select_and_run(
        &self,
        workshop: &Workshop,
        command: &[OsString],
    ) -> Result<(Exit, Ran), Error> {
        let Work {
            request,
            project,
            report,
            ..
        } = *self;
        let store = &project.store();
        let built = build(command, &self.cwd, report)?;
        let view = project.repository.work_view()?;
        let prober = match built {
            Build::Done => Some(Workshop::jvm_prober(
                command,
                project.config.granularity.value,
            )),
            Build::Failed => None,
            Build::NotNeeded => workshop.prober(command, &self.cwd, project),
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
        let mut decision = decide(project, store, &view, &asked)?;
        if request.shard.is_some() {
            shared::lay_out(project, &view, &mut decision, false, report)?;
        }
        shared::tell_decision(&decision, self.suite.as_deref(), report);
        let told = self.tell_service(&decision)?;
        let ran = |told, document| Ran {
            suite: self.suite.clone(),
            told,
            document,
        };
        let is_shallow = project.repository.is_shallow();
        let json = || {
            let json = shared::selection_json(&decision, &view);
            json.with_ci(request.ci.as_ref(), Some(is_shallow))
        };
        if request.dry_run {
            let document = match report.is_json() {
                true => json().value()?,
                false => shared::list(&decision.selection, self.suite.as_deref()).into(),
            };
            let document = Some(document);
            return Ok((Exit::DONE, ran(told, document)));
        }
        if decision.selection.mode() == Mode::None {
            shared::keep(project, store, workshop, &view, &decision, words, report);
            let document = report
                .is_json()
                .then(|| json().with_outcomes(&BTreeMap::new()).value())
                .transpose()?;
            return Ok((Exit::DONE, ran(told, document)));
        }
        let audited = shared::to_audit(project, store, &view, &asked, decision.head.as_ref())?;
        let division = request
            .shard
            .map(|shard| (shard, Division::into_exactly(&decision.selection, shard.of)));
        let part = division
            .as_ref()
            .map(|(shard, division)| division.part(shard.index));
        let exclude = shared::write_exclusions(&decision.selection, part, project, workshop)?;
        let out = workshop.scratch.join("out");
        let left_out = Tool::of(command)
            .map(|tool| tool.emit(&decision.selection, part, &project.dir, &out))
            .transpose()?
            .flatten();
        let session = run_tests(
            project,
            store,
            workshop,
            &view,
            &decision,
            &Order {
                command: command.to_vec(),
                cwd: &self.cwd,
                exclude: Some(exclude),
                left_out,
                audited: audited.as_ref(),
                afterwards: None,
                output: shared::output(report),
            },
        )?;
        let status = session.ended.status();
        let recorded = shared::tell_session(session, &decision, report);
        shared::share(project, store, &recorded, report);
        let document = report
            .is_json()
            .then(|| {
                let json = json().with_outcomes(&recorded.outcomes);
                json.with_audit(&recorded.audit).value()
            })
            .transpose()?;
        let exit = Exit(u8::try_from(status).unwrap_or(u8::MAX));
        Ok((exit, ran(told, document)))
    }

    /// Tells people at once. Of several suites the outputs wait for the others,
    /// and come back.
    fn tell_service(&self, decision: &Decision) -> Result<Option<CiSelection>, Error> {
        let ci = self.request.ci.as_ref();
        let mut told = CiSelection::new(&decision.selection, &shared::fallbacks(decision));
        told.suite = self.suite.clone();
        shared::tell_people(ci, &told, self.report);
        match self.suite {
            Some(_) => Ok(Some(told)),
            None => {
                shared::tell_outputs(ci, &told)?;
                Ok(None)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Project;
    use super::*;
    use crate::config::Overrides;

    #[test]
    fn every_option_changes_the_request() {
        let groups: [&[&str]; 10] = [
            &["--deepen", "always"],
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
        let config = project.globals().config(&Overrides::default()).unwrap();
        let (report, ..) = crate::report::testing::report(crate::report::Style::default());
        let command = |typed: &[OsString]| shared::command_of(typed, &config, &report).unwrap();
        assert_eq!(command(&[]), ["pytest", "-q"]);
        assert_eq!(command(&["pytest".into(), "-x".into()]), ["pytest", "-x"]);
    }
}

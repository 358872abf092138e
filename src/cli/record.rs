//! `tamis record`.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use super::{Globals, deciding, made_for, suites, telling, whole};
use crate::config::{Config, Overrides, shown_path};
use crate::error::{Error, Exit};
use crate::history::View;
use crate::pipeline::{
    Decision, Judged, Project, Request, Sources, TestCommand, Workshop, decide, launch, open,
    record_run,
};
use crate::report::{AuditJson, Event, Report};
use crate::run::Ended;
use crate::runners::Built;
use crate::runners::emission::{LATE, read_exclusions};
use crate::select::Verdict;
use crate::store::FsStore;

/// Run a test command under collection and store what its tests used.
///
/// The exit status is the command's, whatever becomes of the record.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    tamis record -- pytest\n  \
    tamis record --selection .tamis/out -- pytest @.tamis/out/pytest.args")]
pub(crate) struct RecordArgs {
    /// The folder that `tamis select --out` wrote, when the command runs a selection
    #[arg(long, value_name = "DIR")]
    selection: Option<PathBuf>,
    /// The test command [default: the configuration's]
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// What `record` is to do: flags and configuration merged.
#[derive(Clone, Debug)]
pub(crate) struct RecordRequest {
    pub config: Config,
    /// Absolute.
    pub selection: Option<PathBuf>,
    /// What was typed; empty: what is configured or found.
    pub command: Vec<OsString>,
}

impl RecordArgs {
    fn resolve(&self, globals: &Globals) -> Result<RecordRequest, Error> {
        let config = globals.config(&Overrides::default())?;
        let config = config.for_command(&self.command);
        // Of one of several suites the command is known or found.
        if self.command.is_empty() && !config.is_named && config.command.value.is_none() {
            return Err(Error::usage("record needs the test command")
                .with_hint("write it behind `--`: tamis record -- pytest")
                .with_hint("or as `command` into tamis.yml"));
        }
        Ok(RecordRequest {
            config,
            selection: self.selection.as_ref().map(|path| {
                let path = globals.folder.join(path);
                match globals.mark() {
                    Some(suite) => path.join(suite),
                    None => path,
                }
            }),
            command: self.command.clone(),
        })
    }
}

pub(crate) fn run(args: &RecordArgs, globals: &Globals, report: &Report) -> Result<Exit, Error> {
    globals.enter_ci(report)?;
    let suites = globals.each_suite()?;
    let requests = suites.iter().map(|globals| args.resolve(globals));
    let requests = requests.collect::<Result<Vec<_>, _>>()?;
    let (exit, documents) = suites::for_each(&suites, report, |at, globals| {
        let (exit, document) = record_suite(&requests[at], globals, report)?;
        Ok((exit, document.map(|document| (globals.mark(), document))))
    })?;
    if report.is_json() {
        report.json(&suites::join_documents(
            documents.into_iter().flatten().collect(),
        ))?;
    }
    Ok(exit)
}

fn record_suite(
    request: &RecordRequest,
    globals: &Globals,
    report: &Report,
) -> Result<(Exit, Option<Value>), Error> {
    if let Some(suite) = globals.mark() {
        report.note(format!("suite {suite}"));
    }
    let has_started = Cell::new(false);
    let done = watch(request, globals, &has_started, report);
    done.or_else(|error| {
        let may = whole::may_run(&error, globals.ci.as_ref(), false) && !has_started.get();
        if !may {
            return Err(error);
        }
        let command = suites::command_of(&request.command, &request.config, report)?;
        whole::select(&error, &request.config, report);
        let is_typed = !request.command.is_empty();
        let cwd = suites::folder_of_command(is_typed, &request.config, globals);
        let exit = whole::run(&command, &cwd, report)?;
        Ok((exit, report.is_json().then(whole::nothing_recorded)))
    })
}

fn watch(
    request: &RecordRequest,
    globals: &Globals,
    has_started: &Cell<bool>,
    report: &Report,
) -> Result<(Exit, Option<Value>), Error> {
    let project = open(&request.config, globals.ci.as_ref())?;
    telling::tell_clone(&project, report);
    deciding::join_shards(&project, report);
    let workshop = Workshop::set_up_as(&project, &globals.mark().unwrap_or_default())?;
    let done = run_and_record(request, globals, &project, &workshop, has_started, report);
    workshop.clean_up();
    done
}

fn run_and_record(
    request: &RecordRequest,
    globals: &Globals,
    project: &Project,
    workshop: &Workshop,
    has_started: &Cell<bool>,
    report: &Report,
) -> Result<(Exit, Option<Value>), Error> {
    let store = &project.store();
    let command = suites::command_of(&request.command, &request.config, report)?;
    let is_typed = !request.command.is_empty();
    let cwd = suites::folder_of_command(is_typed, &request.config, globals);
    let view = project.repository.work_view()?;
    let words = request
        .config
        .driver
        .words(&command, &cwd, &request.config.root.value);
    let prober = workshop.prober(project, (&command, &cwd), Built::No);
    // Which stored rows still hold here, and so can be taken over for tests
    // that the command leaves out.
    let asked = Request {
        strategy: request.config.strategy.value,
        baseline: None,
        prober: prober.as_deref(),
        command: Some(&words),
        local_only: request.selection.is_some(),
        ..Request::default()
    };
    let decision = decide(project, store, &view, &asked)?;
    let audited = deciding::to_audit(project, store, &view, &asked, decision.head.as_ref())?;
    let exclude = request.selection.as_ref().map(|folder| folder.join(LATE));
    let exclude = exclude.filter(|path| {
        if !path.is_file() {
            report.event(Event::Fallback {
                reason: format!("there is no {}: every test runs", shown_path(path)),
            });
        }
        path.is_file()
    });
    let exclude = exclude.filter(|path| is_for_these_files(path, &view, report));
    let later = Later {
        project,
        store,
        view: &view,
        asked: &asked,
        command: &command,
        cwd: &cwd,
        workshop,
    };
    let left_out = exclude.as_deref().map(|path| later.left_out(path));
    let left_out = left_out.transpose()?.flatten();
    let is_told = left_out.is_some();
    let here = (&view, &decision);
    let exclude = exclude.map(|path| telling::add_plan(&path, here, project, workshop, report));
    let tests = TestCommand {
        command: &command,
        cwd: &cwd,
        exclude,
        left_out,
        output: telling::output(report),
    };
    has_started.set(true);
    let ran = launch(project, workshop, &tests)?.wait()?;
    // Then it is known what was compiled.
    let built = match is_told {
        true => later.decide(ran.ended),
        false => Ok(None),
    };
    let built = built.unwrap_or_else(|error| {
        report.warning(format!("no earlier result is taken over: {error:#}"));
        None
    });
    let decision = built.as_ref().unwrap_or(&decision);
    let judged = Judged {
        before: &view,
        decision,
        audited: audited.as_ref(),
    };
    let recorded = record_run(project, workshop, &ran, &judged);
    let recorded = telling::tell_run(project, &ran, recorded, decision, report);
    telling::share(project, &recorded, report);
    let status = ran.ended.status();
    let mut document = None;
    if report.is_json() {
        let outcomes: BTreeMap<&String, &str> = recorded
            .outcomes
            .iter()
            .map(|(test, outcome)| (test, outcome.word()))
            .collect();
        let mut told = json!({ "schema": 1, "outcomes": outcomes });
        if !recorded.confirmed.is_empty() {
            told["confirmed"] = json!(recorded.confirmed);
        }
        if !recorded.refuted.is_empty() {
            told["refuted"] = json!(recorded.refuted);
        }
        if recorded.audit.checked > 0 {
            told["audit"] = json!(AuditJson::new(&recorded.audit));
        }
        document = Some(told);
    }
    let exit = Exit(u8::try_from(status).unwrap_or(u8::MAX));
    Ok((exit, document))
}

/// Maven, told of a selection that was made before it compiles: there is nobody in
/// its JVMs who would look once more.
struct Later<'a> {
    project: &'a Project,
    store: &'a FsStore,
    view: &'a View,
    asked: &'a Request<'a>,
    command: &'a [OsString],
    cwd: &'a Path,
    workshop: &'a Workshop,
}

impl Later<'_> {
    /// Writes what is left out of what the selection `late` leaves out: what it left
    /// to be settled here must be as it was.
    ///
    /// # Errors
    /// If git cannot be read, or the file not be written.
    fn left_out(&self, late: &Path) -> Result<Option<PathBuf>, Error> {
        let folder = late.parent().unwrap_or(late);
        let runner = self.project.config.driver;
        if !runner.is_told_by_name() {
            return Ok(None);
        }
        let (Ok(told), Ok(run)) = (
            read_exclusions(late),
            crate::disk::read_to_string(folder.join("tests.txt")),
        ) else {
            return Ok(None);
        };
        let sources = Sources::default();
        let here = self.decide_with(Some(&sources))?;
        let mut tests: BTreeMap<String, bool> = BTreeMap::new();
        let known = here.selection.verdicts.keys().map(String::as_str);
        for test in run.lines().chain(known) {
            tests.insert(test.to_owned(), false);
        }
        for test in told.tests {
            let holds = match here.selection.verdicts.get(&test) {
                Some(Verdict::Skip(evidence)) => evidence.late.is_empty(),
                Some(Verdict::Run(_)) | None => false,
            };
            let leaves = holds || !told.late.contains(&test);
            tests.insert(test, leaves);
        }
        let out = self.workshop.scratch.join("out");
        Ok(runner.emit_tests(&tests, &self.project.dir, &out)?)
    }

    /// Whose rows hold for the class files that Maven made; `None` if it may have
    /// made none.
    fn decide(&self, ended: Ended) -> anyhow::Result<Option<Decision>> {
        match ended == Ended::Exit(0) && !self.project.config.driver.ignores_failure(self.command) {
            true => self.decide_with(None).map(Some),
            false => Ok(None),
        }
    }

    fn decide_with(&self, sources: Option<&Sources>) -> anyhow::Result<Decision> {
        let command = (self.command, self.cwd);
        let prober = self.workshop.prober(self.project, command, Built::Yes);
        let asked = Request {
            prober: prober.as_deref(),
            unbuilt: sources,
            ..self.asked.clone()
        };
        decide(self.project, self.store, self.view, &asked)
    }
}

/// Whether the tests that are left out by this file may be: those that another
/// checkout would leave out run.
fn is_for_these_files(path: &Path, view: &View, report: &Report) -> bool {
    // What cannot be read makes all tests run later on.
    let is_empty = read_exclusions(path).is_ok_and(|it| it.tests.is_empty());
    let folder = path.parent().unwrap_or(path);
    let why = made_for::mismatch(folder, view).filter(|_| !is_empty);
    if let Some(why) = &why {
        report.event(Event::Fallback {
            reason: format!(
                "the selection in {} {why}: every test runs",
                shown_path(folder)
            ),
        });
    }
    why.is_none()
}

#[cfg(test)]
mod tests {
    use super::super::testing::Project;
    use super::*;

    #[test]
    fn every_option_changes_the_request() {
        let groups: [&[&str]; 1] = [&["--selection", "s"]];
        let project = Project::new("version: 1\n");
        project.each_matters(&["--", "pytest"], &groups, RecordArgs::resolve);
        let request = project.request(&["--", "pytest", "-x"], RecordArgs::resolve);
        assert!(request.contains("\"-x\""), "{request}");
    }
}

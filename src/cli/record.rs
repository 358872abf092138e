//! `tamis record`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::{Globals, shared};
use crate::config::{Config, Overrides, shown_path};
use crate::error::{Error, Exit};
use crate::pipeline::{Order, Project, Request, Workshop, decide, run_tests, words};
use crate::report::{AuditJson, Event, Report};
use crate::runners::pytest::LATE;
use crate::store::FsStore;

/// Run a test command under collection and store what its tests used.
///
/// The exit status is the command's, whatever becomes of the record.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    tamis record -- pytest\n  \
    tamis record --selection .tamis/out -- pytest @.tamis/out/pytest.args")]
pub struct RecordArgs {
    /// The folder that `tamis select --out` wrote, when the command runs a selection
    #[arg(long, value_name = "DIR")]
    selection: Option<PathBuf>,
    /// The test command
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// What `record` is to do: flags and configuration merged.
#[derive(Clone, Debug)]
pub struct RecordRequest {
    pub config: Config,
    /// Absolute.
    pub selection: Option<PathBuf>,
    /// Never empty.
    pub command: Vec<OsString>,
}

impl RecordArgs {
    fn resolve(&self, globals: &Globals) -> Result<RecordRequest, Error> {
        Ok(RecordRequest {
            config: globals.config(&Overrides::default())?,
            selection: self
                .selection
                .as_ref()
                .map(|path| globals.folder.join(path)),
            command: self.command.clone(),
        })
    }
}

pub fn run(args: &RecordArgs, globals: &Globals, report: &Report) -> Result<Exit, Error> {
    let request = args.resolve(globals)?;
    globals.enter_ci(report)?;
    let project = Project::open(request.config.clone())?;
    shared::join_shards(&project, report);
    let store = project.store();
    let workshop = Workshop::set_up(&project)?;
    let done = run_and_record(&request, globals, &project, &store, &workshop, report);
    workshop.clean_up();
    done
}

fn run_and_record(
    request: &RecordRequest,
    globals: &Globals,
    project: &Project,
    store: &FsStore,
    workshop: &Workshop,
    report: &Report,
) -> Result<Exit, Error> {
    let view = project.repository.work_view()?;
    let words = words(&request.command);
    let prober = workshop.prober(&request.command, &globals.folder, project);
    // Which stored rows still hold here, and so can be taken over for tests
    // that the command leaves out.
    let asked = Request {
        strategy: request.config.strategy.value,
        baseline: None,
        prober: prober.as_ref(),
        command: Some(&words),
        thresholds: shared::thresholds(&request.config),
        ..Request::default()
    };
    let decision = decide(project, store, &view, &asked)?;
    let audited = shared::to_audit(project, store, &view, &asked)?;
    let exclude = request.selection.as_ref().map(|folder| folder.join(LATE));
    let exclude = exclude.filter(|path| {
        if !path.is_file() {
            report.event(Event::Fallback {
                reason: format!("there is no {}: every test runs", shown_path(path)),
            });
        }
        path.is_file()
    });
    let session = run_tests(
        project,
        store,
        workshop,
        &view,
        &decision,
        &Order {
            command: request.command.clone(),
            cwd: &globals.folder,
            exclude,
            surefire: None,
            audited: audited.as_ref(),
            output: shared::output(report),
        },
    )?;
    let status = session.ended.status();
    let recorded = shared::tell_session(session, &decision, report);
    shared::share(project, store, &recorded, report);
    if report.is_json() {
        let outcomes: BTreeMap<&String, &str> = recorded
            .outcomes
            .iter()
            .map(|(test, outcome)| (test, outcome.word()))
            .collect();
        let mut document = json!({ "schema": 1, "outcomes": outcomes });
        if recorded.audit.checked > 0 {
            document["audit"] = json!(AuditJson::new(&recorded.audit));
        }
        report.json(&document)?;
    }
    Ok(Exit(u8::try_from(status).unwrap_or(u8::MAX)))
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

//! What the commands that select or run tests have in common.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context;
use bstr::ByteSlice;
use serde_json::{Value, json};

use super::strategy::EventArgs;
use super::{Globals, exchange};
use crate::ci::{CiContext, Provider};
use crate::config::{Config, Origin};
use crate::count::counted;
use crate::error::{Error, Exit};
use crate::history::{Head, View};
use crate::matrix::Outcome;
use crate::pipeline::{
    self, Decision, Project, Recorded, Request, Session, Sources, Workshop, decide, record_unrun,
};
use crate::report::{
    self, CiSelection, Estimate, Event, Report, RunSummary, SelectionJson, SelectionMode,
    SelectionSummary, audit_event, ties_event,
};
use crate::run::{Ended, Output};
use crate::runners::{self, Built, emission};
use crate::select::{Mode, Part, Reason, Selection, Strategy, escape};
use crate::store::FsStore;

/// Tells people how the selection came out, and all that made it larger.
/// `suite`: of which of several suites it is.
pub fn tell_decision(decision: &Decision, suite: Option<&str>, report: &Report) {
    if let Some(suite) = suite {
        report.note(format!("suite {suite}"));
    }
    for trouble in &decision.trouble {
        report.event(Event::StoreTrouble {
            place: trouble.path.display().to_string(),
            reason: trouble.refusal.to_string(),
            consequence: "its results are not used: delete it, or see `tamis store verify`"
                .to_owned(),
        });
    }
    if let Some(trouble) = &decision.index {
        report.event(Event::StoreTrouble {
            place: trouble.path.display().to_string(),
            reason: trouble.refusal.to_string(),
            consequence: "the matrices are read instead, so nothing is lost".to_owned(),
        });
    }
    for note in &decision.notes {
        report.event(Event::Fallback {
            reason: note.clone(),
        });
    }
    for note in &decision.selection.course.notes {
        report.detail(note.clone());
    }
    report.event(Event::Selected(summary(&decision.selection)));
}

/// Tells what came of completing the clone, where no decision is told that has
/// it.
pub fn tell_clone(project: &Project, report: &Report) {
    for reason in project.told.fallbacks.iter().cloned() {
        report.event(Event::Fallback { reason });
    }
    for detail in &project.told.details {
        report.detail(detail.clone());
    }
}

fn summary(selection: &Selection) -> SelectionSummary {
    let mode = match selection.mode() {
        Mode::All => SelectionMode::All,
        Mode::Subset => SelectionMode::Subset,
        Mode::None => SelectionMode::None,
    };
    let known = selection.all_because.is_none();
    let count = |wanted: fn(&Reason) -> bool| {
        selection
            .selected()
            .filter(|(_, reason)| wanted(reason))
            .count() as u64
    };
    let (all_seconds, selected_seconds) = selection.seconds();
    SelectionSummary {
        mode,
        available: known.then_some(selection.verdicts.len() as u64),
        selected: known.then(|| selection.selected().count() as u64),
        new: count(|reason| matches!(reason, Reason::New)),
        forced: count(|reason| matches!(reason, Reason::Forced { .. } | Reason::Failed { .. })),
        strategy: selection.course.asked.word().to_owned(),
        reason: selection.reason(),
        estimate: known.then_some(Estimate {
            all_seconds,
            selected_seconds,
            compiles: selection.compiles,
        }),
    }
}

/// The public form of a decision about `view`.
pub fn selection_json(decision: &Decision, view: &View) -> SelectionJson {
    let head = decision.head.as_ref();
    SelectionJson::new(&decision.selection, Some(view), head, &decision.notes)
}

/// The ids of the tests that run, a line each; with the name of the suite before
/// it where there are several.
pub fn list(selection: &Selection, suite: Option<&str>) -> String {
    let mut lines = String::new();
    for (test, _) in selection.selected() {
        if let Some(suite) = suite {
            lines.push_str(suite);
            lines.push('\t');
        }
        lines.push_str(&escape(test));
        lines.push('\n');
    }
    lines
}

/// The command to run: what was typed, else what is configured, else what is
/// found.
///
/// # Errors
/// If none is found.
pub fn command_of(
    typed: &[OsString],
    config: &Config,
    report: &Report,
) -> Result<Vec<OsString>, Error> {
    if !typed.is_empty() {
        return Ok(typed.to_vec());
    }
    if let Some(words) = &config.command.value {
        return Ok(words.iter().map(OsString::from).collect());
    }
    let runner = config.runner.value;
    let found = runners::found(&config.root.value);
    match found.other {
        Some(other) if config.runner.origin == Origin::Default && found.runner == runner => {
            report.note(format!(
                "using {runner}, though {other} seems to have tests here as well: \
                 `runner: {other}` in tamis.yml chooses that, `suites` runs both"
            ));
        }
        _ => report.detail(format!("using {runner} ({})", config.runner.origin)),
    }
    let found = runner.find_command(&config.settings())?;
    if let Some(because) = found.because {
        report.detail(because);
    }
    Ok(found.words)
}

/// Where it runs: what was typed where the user is, unless it is for one of
/// several suites; all else in the folder of the tests.
pub fn folder_of_command(is_typed: bool, config: &Config, globals: &Globals) -> PathBuf {
    match is_typed && !config.is_named {
        true => globals.folder.clone(),
        false => config.root.value.clone(),
    }
}

/// Does something for each suite. Where there are several, trouble with one
/// does not keep the others from it; the status is the first that is not 0.
///
/// # Errors
/// Those of `work`, where there is but one suite.
pub fn for_each<T>(
    suites: &[Globals],
    report: &Report,
    mut work: impl FnMut(usize, &Globals) -> Result<(Exit, T), Error>,
) -> Result<(Exit, Vec<T>), Error> {
    let mut exit = Exit::DONE;
    let mut done = Vec::new();
    for (at, globals) in suites.iter().enumerate() {
        let status = match work(at, globals) {
            Ok((status, what)) => {
                done.push(what);
                status
            }
            Err(error) if globals.is_one_of_all => {
                let status = error.kind().exit();
                report.event(Event::Failed(error));
                status
            }
            Err(error) => return Err(error),
        };
        if exit == Exit::DONE {
            exit = status;
        }
    }
    Ok((exit, done))
}

/// One document for several suites: each below its name.
pub fn join_documents(documents: Vec<(Option<String>, Value)>) -> Value {
    let mut suites = serde_json::Map::new();
    for (suite, document) in documents {
        match suite {
            None => return document,
            Some(suite) => suites.insert(suite, document),
        };
    }
    json!({ "schema": 1, "suites": suites })
}

/// Writes the file that tells the plug-in what to leave out.
pub fn write_exclusions(
    selection: &Selection,
    part: Option<Part<'_>>,
    project: &Project,
    workshop: &Workshop,
) -> Result<PathBuf, Error> {
    let prefix = project.prefix.to_str_lossy();
    let out = workshop.scratch.join("out");
    Ok(emission::write(selection, part, &prefix, &out)?)
}

/// What would have been left out of a run of everything, by the default
/// strategy; `None` if the run's own selection tells. `head` is how the head
/// came to be, as far as `asked` has shown.
///
/// # Errors
/// If git cannot be read.
pub fn to_audit(
    project: &Project,
    store: &FsStore,
    view: &View,
    asked: &Request<'_>,
    head: Option<&Head>,
) -> Result<Option<Decision>, Error> {
    if asked.strategy != Strategy::All {
        return Ok(None);
    }
    let asked = Request {
        strategy: Strategy::default(),
        head,
        ..asked.clone()
    };
    Ok(Some(decide(project, store, view, &asked)?))
}

/// Nothing had to run: the results hold for this state as well, and are kept
/// for it if it is a new one.
pub fn keep(
    project: &Project,
    store: &FsStore,
    workshop: &Workshop,
    view: &View,
    decision: &Decision,
    command: Vec<String>,
    report: &Report,
) {
    let is_known = decision.baseline.as_ref().is_some_and(|baseline| {
        let header = baseline.matrix.header();
        header.commit == view.revision().commit.to_string()
            && view.dirty().is_ok_and(|dirty| header.dirty == dirty)
    });
    if is_known {
        return;
    }
    let stored = record_unrun(project, store, workshop, (view, decision), command);
    match stored {
        Ok(recorded) => {
            if let Some(name) = &recorded.name {
                exchange::share(project, store, name, report);
            }
        }
        Err(error) => report.warning(format!(
            "the results cannot be stored for this state: {error:#}"
        )),
    }
}

/// Shares what a session recorded, where that is configured.
pub fn share(project: &Project, store: &FsStore, recorded: &Recorded, report: &Report) {
    if let Some(name) = &recorded.name {
        exchange::share(project, store, name, report);
    }
}

/// Tells what a run came to; returns what was recorded of it, which is nothing
/// if it could not be.
pub fn tell_session(
    project: &Project,
    session: Session,
    decision: &Decision,
    report: &Report,
) -> Recorded {
    if let Ended::Signal(signal) = session.ended {
        report.warning(format!("the test command was killed by signal {signal}"));
    }
    let recorded = match session.recorded {
        Ok(recorded) => recorded,
        Err(error) => {
            report.event(Event::Warning {
                text: format!("the run was not recorded: {error:#}"),
                hints: vec!["the next run selects as if this one had not been".to_owned()],
            });
            return Recorded::default();
        }
    };
    if let Some(event) = ties_event(&recorded.ties, recorded.outcomes.len()) {
        report.event(event);
    }
    let proven = decision.selection.mode() == Mode::None;
    let found_none = !recorded.found_tests && recorded.outcomes.is_empty() && !proven;
    if found_none && session.ended != Ended::Exit(0) {
        report.warning(format!(
            "the command ended with {} before any test was found: what it printed tells why; \
             no test is recorded",
            session.ended.status()
        ));
    } else if found_none && left_out_all(decision) {
        // Where there is no new test, Maven and Gradle start none.
        report.detail("the command started no tests: all known ones are left out on proof");
    } else if found_none {
        let found = project
            .config
            .driver
            .why_unwatched(&project.dir, &session.command);
        let hints = vec![found.hint];
        report.event(Event::Warning {
            text: match found.why {
                Some(why) => format!("{why}: no test is recorded"),
                None => "the command started no tests that the collector could watch: \
                         no test is recorded"
                    .to_owned(),
            },
            hints,
        });
    }
    let incomplete: usize = recorded.incomplete.values().sum();
    let commonest = recorded.incomplete.iter().max_by_key(|(_, count)| **count);
    let ran = recorded.outcomes.len() as u64;
    report.event(Event::Ran(RunSummary {
        ran,
        failed: recorded
            .outcomes
            .values()
            .filter(|outcome| {
                matches!(outcome, Outcome::Failed | Outcome::Error | Outcome::Crashed)
            })
            .count() as u64,
        left_out: decision
            .selection
            .excluded()
            .filter(|(test, _)| !recorded.outcomes.contains_key(*test))
            .count() as u64,
        seconds: session.seconds,
        incomplete: incomplete as u64,
        incomplete_reason: commonest.map(|(why, _)| why.clone()),
        stored: recorded.name.as_ref().map(ToString::to_string),
    }));
    if let Some(event) = audit_event(&recorded.audit) {
        report.event(event);
    }
    recorded
}

/// Whether some tests are known, and none of them was to run.
fn left_out_all(decision: &Decision) -> bool {
    let selection = &decision.selection;
    selection.selected().next().is_none() && selection.excluded().next().is_some()
}

/// What a selection is asked for.
pub struct Wanted<'a> {
    pub event: &'a EventArgs,
    /// A revision; `None`: the work tree.
    pub head: Option<&'a str>,
    /// Rely on the results of this revision only.
    pub baseline: Option<&'a str>,
    /// The command that will run the tests, if that is known.
    pub command: Option<&'a [String]>,
    /// The folder in which the command would run, if this is the environment
    /// that it will run in: then nothing is left open.
    pub here: Option<&'a Path>,
    /// Whether what makes the selection larger than it had to be is an error.
    pub strict: bool,
}

/// The selection that is wanted.
///
/// # Errors
/// If git cannot be read or a revision does not exist; with `strict` also if
/// anything made the selection larger than it had to be.
pub fn decide_at(project: &Project, wanted: &Wanted<'_>) -> Result<(Decision, View), Error> {
    decide_with(project, wanted, Some(&Sources::default()))
}

/// The same where class files count as they lie on disk: to explain, not to leave out tests
/// of a project that may be compiled anew.
///
/// # Errors
/// Those of [`decide_at`].
pub fn decide_as_built(project: &Project, wanted: &Wanted<'_>) -> Result<(Decision, View), Error> {
    decide_with(project, wanted, None)
}

fn decide_with(
    project: &Project,
    wanted: &Wanted<'_>,
    unbuilt: Option<&Sources>,
) -> Result<(Decision, View), Error> {
    let repository = &project.repository;
    let view = match wanted.head {
        Some(rev) => repository.tree_view(&repository.resolve(rev)?)?,
        None => repository.begin_work_view()?,
    };
    let baseline = match wanted.baseline {
        Some(rev) => Some(repository.resolve(rev)?.commit),
        None => None,
    };
    let store = project.store();
    let workshop = match wanted.here {
        Some(_) => Some(Workshop::set_up(project)?),
        None => None,
    };
    let prober = workshop
        .as_ref()
        .zip(wanted.here)
        .and_then(|(workshop, cwd)| {
            let command: Vec<OsString> = wanted.command?.iter().map(OsString::from).collect();
            workshop.prober(project, (&command, cwd), Built::Yes)
        });
    let decision = decide(
        project,
        &store,
        &view,
        &Request {
            strategy: project.config.strategy.value,
            baseline,
            prober: prober.as_deref(),
            command: wanted.command,
            unbuilt,
            hints: wanted.event.resolve(repository, view.revision().commit)?,
            ..Request::default()
        },
    );
    if let Some(workshop) = &workshop {
        workshop.clean_up();
    }
    let decision = decision?;
    view.settle()?;
    if wanted.strict
        && let Some(trouble) = first_trouble(&decision)
    {
        return Err(
            Error::store(trouble).with_hint("without --strict more tests would be selected")
        );
    }
    Ok((decision, view))
}

/// Completes a selection that is to be divided. `is_once`: by one machine for
/// all, so that what is stored there may count also where everything runs.
///
/// # Errors
/// If git cannot be read.
pub fn lay_out(
    project: &Project,
    view: &View,
    decision: &mut Decision,
    is_once: bool,
    report: &Report,
) -> Result<(), Error> {
    let runs_all = decision.selection.course.asked == Strategy::All;
    if runs_all && !is_once {
        return Ok(pipeline::lay_out_by_files(project, view, decision)?);
    }
    let asked = Request {
        strategy: decision.selection.course.asked,
        ..Request::default()
    };
    let known = to_audit(
        project,
        &project.store(),
        view,
        &asked,
        decision.head.as_ref(),
    )?;
    let tied = pipeline::lay_out(project, view, decision, known.as_ref())?;
    if tied.files > 0 {
        report.detail(format!(
            "{} of tests stay together, in {}: of each, a test uses what one of another file \
             left behind",
            counted(tied.files, "file"),
            counted(tied.groups, "group")
        ));
    }
    if tied.everybodys > 0 {
        report.detail(format!(
            "most files use what {} left behind: nothing is kept together because of that; \
             `keep-together` in tamis.yml names tests whose order matters",
            counted(tied.everybodys, "test")
        ));
    }
    Ok(())
}

/// Joins what the shards of earlier runs recorded. Where that fails, their
/// results stay apart, and more tests may run.
pub fn join_shards(project: &Project, report: &Report) {
    match pipeline::join_shards(project, &project.store()) {
        Ok(0) => {}
        Ok(runs) => report.detail(format!(
            "joined the results of the shards of {}",
            counted(runs, "run")
        )),
        Err(error) => report.warning(format!("the results of shards stay apart: {error:#}")),
    }
}

/// Why more tests run than could.
pub fn fallbacks(decision: &Decision) -> Vec<String> {
    let refused = decision.trouble.iter().map(|trouble| {
        let file = trouble.path.file_name().unwrap_or_default();
        format!("{}: {}", file.to_string_lossy(), trouble.refusal)
    });
    refused.chain(decision.notes.iter().cloned()).collect()
}

/// Tells the CI service how a selection came out, in its own files and words.
///
/// # Errors
/// If the outputs cannot be written: later steps must not take older ones for
/// these.
pub fn tell_service(
    ci: Option<&CiContext>,
    told: &CiSelection,
    report: &Report,
) -> Result<(), Error> {
    tell_outputs(ci, told)?;
    tell_people(ci, told, report);
    Ok(())
}

/// The outputs for later steps.
///
/// # Errors
/// If they cannot be written.
pub fn tell_outputs(ci: Option<&CiContext>, told: &CiSelection) -> Result<(), Error> {
    match ci.and_then(|ci| ci.files.output.as_ref()) {
        Some(path) => append(path, &told.github_output()),
        None => Ok(()),
    }
}

/// The summary and the annotations.
pub fn tell_people(ci: Option<&CiContext>, told: &CiSelection, report: &Report) {
    let Some(ci) = ci else {
        return;
    };
    if let Some(path) = &ci.files.summary
        && let Err(error) = append(path, &told.step_summary())
    {
        // Nobody's tests depend on it.
        let whole = [vec![error.to_string()], error.causes()].concat();
        report.warning(whole.join(": "));
    }
    if ci.provider == Provider::GitHub && !report.is_json() {
        report::workflow_commands(&told.annotations());
    }
}

/// Appends to a file that the service made.
///
/// # Errors
/// If it cannot be written.
pub fn append(path: &Path, text: &str) -> Result<(), Error> {
    Ok(crate::disk::append(path, text).context("cannot tell the CI service")?)
}

/// Where the test command may write: not where a JSON document goes.
pub fn output(report: &Report) -> Output {
    match report.is_json() {
        true => Output::Stderr,
        false => Output::Inherited,
    }
}

/// What made the selection larger than it had to be.
fn first_trouble(decision: &Decision) -> Option<String> {
    let refused = decision
        .trouble
        .first()
        .map(|trouble| format!("{}: {}", trouble.path.display(), trouble.refusal));
    let all = decision.selection.all_because.clone();
    refused
        .or_else(|| decision.notes.first().cloned())
        .or_else(|| all.filter(|_| decision.selection.course.asked != Strategy::All))
}

/// Writes a JSON document: whole or not at all.
pub fn write_json(document: &impl serde::Serialize, path: &Path) -> Result<(), Error> {
    use std::io::{BufWriter, Write};
    let folder = path.parent().unwrap_or(Path::new("."));
    fs_err::create_dir_all(folder).map_err(anyhow::Error::from)?;
    let written = tempfile::NamedTempFile::new_in(folder).and_then(|file| {
        let mut file = BufWriter::new(file);
        serde_json::to_writer(&mut file, document)?;
        writeln!(file)?;
        let file = file.into_inner().map_err(|error| error.into_error())?;
        file.persist(path).map_err(|error| error.error)
    });
    written
        .map(drop)
        .with_context(|| format!("cannot write {}", path.display()))
        .map_err(Error::from)
}

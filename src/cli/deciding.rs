//! Selections, as the commands ask for them.

use std::ffi::OsString;
use std::path::Path;

use super::strategy::EventArgs;
use crate::config::Config;
use crate::count::counted;
use crate::error::Error;
use crate::history::{Head, View};
use crate::pipeline::{self, Decision, Project, Request, Sources, Workshop, decide};
use crate::report::Report;
use crate::run::{Ended, Output, RunPlan};
use crate::runners::{Build, Built};
use crate::select::Strategy;
use crate::store::FsStore;

/// What a selection is asked for.
pub(super) struct Wanted<'a> {
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
pub(super) fn decide_at(project: &Project, wanted: &Wanted<'_>) -> Result<(Decision, View), Error> {
    decide_with(project, wanted, Some(&Sources::default()))
}

/// The same where class files count as they lie on disk: to explain, not to leave out tests
/// of a project that may be compiled anew.
///
/// # Errors
/// Those of [`decide_at`].
pub(super) fn decide_as_built(
    project: &Project,
    wanted: &Wanted<'_>,
) -> Result<(Decision, View), Error> {
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

/// Compiles what a command will test that runs in a folder; whether what is on disk is what it
/// will test. `out` is a folder for files that the build needs.
///
/// # Errors
/// If these cannot be written, or the build not be started; if it fails, where the command tests
/// what was built and does not build itself.
pub(super) fn build(
    config: &Config,
    (command, cwd): (&[OsString], &Path),
    out: &Path,
    output: &Output,
    report: &Report,
) -> Result<bool, Error> {
    let build = match config.driver.build(command, cwd, out)? {
        Build::NotNeeded => return Ok(false),
        Build::Done => return Ok(true),
        Build::By(build) => build,
        Build::Unknown(why) => {
            report.detail(why);
            return Ok(false);
        }
    };
    let is_built = RunPlan::plain(build, cwd).execute(output)? == Ended::Exit(0);
    if !is_built && config.driver.builds_before_selecting() {
        let why = "the project does not compile: no test was started";
        return Err(Error::usage(why).with_hint("mend what the build says above"));
    }
    if !is_built {
        report.warning("the project does not compile by itself: all tests run");
    }
    Ok(is_built)
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

/// What would have been left out of a run of everything, by the default
/// strategy; `None` if the run's own selection tells. `head` is how the head
/// came to be, as far as `asked` has shown.
///
/// # Errors
/// If git cannot be read.
pub(super) fn to_audit(
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

/// Completes a selection that is to be divided. `is_once`: by one machine for
/// all, so that what is stored there may count also where everything runs.
///
/// # Errors
/// If git cannot be read.
pub(super) fn lay_out(
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
pub(super) fn join_shards(project: &Project, report: &Report) {
    match pipeline::join_shards(project, &project.store()) {
        Ok(0) => {}
        Ok(runs) => report.detail(format!(
            "joined the results of the shards of {}",
            counted(runs, "run")
        )),
        Err(error) => report.warning(format!("the results of shards stay apart: {error:#}")),
    }
}

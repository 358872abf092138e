//! What people hear of a selection and of a run, and what is kept of it.

use std::path::{Path, PathBuf};

use bstr::ByteSlice;

use super::exchange;
use crate::count::counted;
use crate::error::Error;
use crate::history::View;
use crate::matrix::Outcome;
use crate::pipeline::{Decision, Project, Ran, Recorded, Workshop, confirming, record_unrun};
use crate::report::{
    Estimate, Event, Report, RunSummary, SelectionJson, SelectionMode, SelectionSummary,
    audit_event, refuted_event,
};
use crate::run::{Ended, Output};
use crate::runners::emission;
use crate::select::{Mode, Part, Reason, Selection, escape};

/// So many tests that run for others are named.
const MOST_BROUGHT: usize = 5;

/// Tells people how the selection came out, and all that made it larger.
/// `suite`: of which of several suites it is.
pub(super) fn tell_decision(decision: &Decision, suite: Option<&str>, report: &Report) {
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
    tell_brought(&decision.selection, report);
}

/// Tells which tests run for others only.
fn tell_brought(selection: &Selection, report: &Report) {
    let brought: Vec<_> = selection.brought().collect();
    for (test, need, _) in brought.iter().take(MOST_BROUGHT) {
        report.note(format!("{} also runs: it {need}", escape(test)));
    }
    if brought.len() > MOST_BROUGHT {
        let more = counted(brought.len() - MOST_BROUGHT, "test");
        report.note(format!(
            "{more} more also run for others: selection.json names them"
        ));
    }
}

/// Tells what came of completing the clone, where no decision is told that has
/// it.
pub(super) fn tell_clone(project: &Project, report: &Report) {
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
        unconfirmed: selection.unconfirmed().count() as u64,
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
pub(super) fn selection_json(decision: &Decision, view: &View) -> SelectionJson {
    let head = decision.head.as_ref();
    SelectionJson::new(&decision.selection, Some(view), head, &decision.notes)
}

/// The ids of the tests that run, a line each; with the name of the suite before
/// it where there are several.
pub(super) fn list(selection: &Selection, suite: Option<&str>) -> String {
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

/// Tells what a run came to; returns what was recorded of it, which is nothing
/// if it could not be.
pub(super) fn tell_run(
    project: &Project,
    ran: &Ran,
    recorded: anyhow::Result<Recorded>,
    decision: &Decision,
    report: &Report,
) -> Recorded {
    if let Ended::Signal(signal) = ran.ended {
        report.warning(format!("the test command was killed by signal {signal}"));
    }
    let recorded = match recorded {
        Ok(recorded) => recorded,
        Err(error) => {
            report.event(Event::Warning {
                text: format!("the run was not recorded: {error:#}"),
                hints: vec!["the next run selects as if this one had not been".to_owned()],
            });
            return Recorded::default();
        }
    };
    let proven = decision.selection.mode() == Mode::None;
    let found_none = !recorded.found_tests && recorded.outcomes.is_empty() && !proven;
    if found_none && ran.ended != Ended::Exit(0) {
        report.warning(format!(
            "the command ended with {} before any test was found: what it printed tells why; \
             no test is recorded",
            ran.ended.status()
        ));
    } else if found_none && left_out_all(decision) {
        // Where there is no new test, Maven and Gradle start none.
        report.detail("the command started no tests: all known ones are left out on proof");
    } else if found_none {
        let found = project
            .config
            .driver
            .why_unwatched(&project.dir, &ran.words());
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
    report.event(Event::Ran(RunSummary {
        ran: recorded.outcomes.len() as u64,
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
            .count() as u64
            + recorded.unmet as u64,
        confirmed: recorded.confirmed.len() as u64,
        seconds: ran.seconds,
        incomplete: incomplete as u64,
        incomplete_reason: commonest.map(|(why, _)| why.clone()),
        stored: recorded.name.as_ref().map(ToString::to_string),
    }));
    if let Some(event) = refuted_event(&recorded.refuted) {
        report.event(event);
    }
    if let Some(why) = &recorded.without_values {
        report.note(format!(
            "after this run tests cannot be left out for equal values: {}",
            escape(why)
        ));
    }
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

/// Nothing had to run: the results hold for this state as well, and are kept
/// for it if it is a new one.
pub(super) fn keep(
    project: &Project,
    workshop: &Workshop,
    (view, decision): (&View, &Decision),
    words: Vec<String>,
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
    let stored = record_unrun(project, workshop, (view, decision), words);
    match stored {
        Ok(recorded) => {
            if let Some(name) = &recorded.name {
                exchange::share(project, &project.store(), name, report);
            }
        }
        Err(error) => report.warning(format!(
            "the results cannot be stored for this state: {error:#}"
        )),
    }
}

/// Shares what a session recorded, where that is configured.
pub(super) fn share(project: &Project, recorded: &Recorded, report: &Report) {
    if let Some(name) = &recorded.name {
        exchange::share(project, &project.store(), name, report);
    }
}

/// Writes the file that tells the plug-in what to leave out, and what it may leave out
/// if values are as they were.
pub(super) fn write_exclusions(
    (view, decision): (&View, &Decision),
    part: Option<Part<'_>>,
    project: &Project,
    workshop: &Workshop,
    report: &Report,
) -> Result<PathBuf, Error> {
    let prefix = project.prefix.to_str_lossy();
    let out = workshop.scratch.join("out");
    let confirm = confirming(project, view, decision).unwrap_or_else(|error| {
        report.detail(format!("no test is left out for its values: {error:#}"));
        None
    });
    let selection = &decision.selection;
    Ok(emission::write(
        selection,
        part,
        &prefix,
        (confirm.as_ref(), decision.anew.as_ref()),
        &out,
    )?)
}

/// The same of a selection that an earlier step made, which is in the file `late`: that one
/// says what is left out, and `decision` which other tests may be if values are as they were.
pub(super) fn add_plan(
    late: &Path,
    (view, decision): (&View, &Decision),
    project: &Project,
    workshop: &Workshop,
    report: &Report,
) -> PathBuf {
    let added = confirming(project, view, decision).and_then(|confirm| {
        let out = workshop.scratch.join("out");
        confirm
            .map(|plan| emission::add_plan(late, &decision.selection, &plan, &out))
            .transpose()
    });
    let added = added.unwrap_or_else(|error| {
        report.detail(format!("no test is left out for its values: {error:#}"));
        None
    });
    added.unwrap_or_else(|| late.to_owned())
}

/// Where the test command may write: not where a JSON document goes.
pub(super) fn output(report: &Report) -> Output {
    match report.is_json() {
        true => Output::Stderr,
        false => Output::Inherited,
    }
}

//! Observes what a command did, and records it.

use std::time::Duration;

use anyhow::Result;

use super::confirmed::RowsOf;
use super::data::explain;
use super::decide::Decision;
use super::launch::Ran;
use super::merge;
use super::observe::observe;
use super::project::Project;
use super::record::record;
use super::recording::{CommandRun, Recorded, Recording};
use super::workshop::Workshop;
use crate::history::View;
use crate::languages::{Environment, Facts};
use crate::observe::Observations;
use crate::run::Ended;
use crate::runners::configured;
use crate::select::Exclusions;

/// What a run is recorded with.
pub(crate) struct Judged<'a> {
    /// The project before the tests started.
    pub before: &'a View,
    pub decision: &'a Decision,
    /// What would be left out, to be compared with what happens; if not
    /// given, what the decision leaves out.
    pub audited: Option<&'a Decision>,
}

/// Observes what the tests of a command used, and records it.
///
/// # Errors
/// Those of [`observe`] and [`record`].
pub(crate) fn record_run(
    project: &Project,
    workshop: &Workshop,
    ran: &Ran,
    judged: &Judged<'_>,
) -> Result<Recorded> {
    let after = project.repository.work_view()?;
    let facts = facts_before(project, judged.before, judged.decision);
    let command = ran.of(project);
    let last = RowsOf::new(judged.decision);
    let observed = observe(project, &facts, &ran.traces, &command, &last)?;
    let shard = merge::shard_of_run(&workshop.run, ran.exclusions.shard.as_ref());
    let recording = Recording {
        run: merge::run_name(&workshop.run, shard.as_ref()),
        shard,
        ran: command,
        before: judged.before,
        after: &after,
        decision: judged.decision,
        audited: judged.audited.unwrap_or(judged.decision),
        now: workshop.now,
    };
    let mut recorded = record(project, &project.store(), &facts, &observed, &recording)?;
    if !recorded.audit.misses.is_empty() {
        // The misses count, whether or not anything explains them.
        let audit = (&mut recorded.audit, recording.audited);
        let _ = explain(project, ran, &observed, audit);
    }
    Ok(recorded)
}

/// Records a state at which nothing had to run: the results of the baseline hold
/// for it.
///
/// # Errors
/// Those of [`record`].
pub(crate) fn record_unrun(
    project: &Project,
    workshop: &Workshop,
    (view, decision): (&View, &Decision),
    words: Vec<String>,
) -> Result<Recorded> {
    let facts = facts_before(project, view, decision);
    let recording = Recording {
        ran: CommandRun {
            words,
            exclusions: &Exclusions::default(),
            ended: Ended::Exit(0),
            duration: Duration::ZERO,
        },
        before: view,
        after: view,
        decision,
        audited: decision,
        run: workshop.run.clone(),
        shard: None,
        now: workshop.now,
    };
    let nothing = Observations::default();
    record(project, &project.store(), &facts, &nothing, &recording)
}

/// What held before the tests started.
fn facts_before<'v>(project: &'v Project, before: &'v View, decision: &Decision) -> Facts<'v> {
    let environment = Environment::Here(decision.probe.clone());
    let root = project.repository.root();
    Facts::new(before, root, environment, project.cache(), configured)
}

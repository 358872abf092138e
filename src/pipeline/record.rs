//! From what a run's tests used to the stored matrix of the state that was tested.

use anyhow::Result;

use super::assembly::Assembly;
use super::audit::audit;
use super::chosen::Chosen;
use super::decide::Decision;
use super::project::Project;
use super::recording::{Recorded, Recording};
use crate::languages::Facts;
use crate::matrix::{Header, Key, Run};
use crate::observe::Observations;
use crate::runners::Anew;
use crate::select::{Evidence, Verdict};
use crate::store::FsStore;

/// Builds the matrix of the tested state and stores it: the rows of the tests
/// that ran, and those rows of the baseline that the selection proved to hold.
/// `facts` are those of the state before the tests started.
///
/// # Errors
/// If git cannot be read, or the store cannot be written.
pub(crate) fn record(
    project: &Project,
    store: &FsStore,
    facts: &Facts<'_>,
    collected: &Observations,
    recording: &Recording<'_>,
) -> Result<Recorded> {
    let audited = recording.audited;
    let holds = |evidence: &Evidence| late_holds(evidence, audited, collected);
    let outcomes = collected.rows.iter();
    let chosen = Chosen::of(project, recording, collected)?;
    let mut recorded = Recorded {
        audit: audit(project, recording.before, audited, collected, holds)?,
        found_tests: collected.items.is_some(),
        confirmed: collected.confirmed.keys().cloned().collect(),
        refuted: collected.refuted.clone(),
        without_values: collected.without_values.clone(),
        anew: Anew::of(project, recording, collected, chosen.is_narrow),
        outcomes: outcomes
            .map(|row| (row.test.clone(), row.outcome))
            .collect(),
        ..Recorded::default()
    };
    let lacks = |test: &&String| {
        !recorded.outcomes.contains_key(*test) && !recorded.confirmed.contains(*test)
    };
    let verdicts = &recording.decision.selection.verdicts;
    let was_to_run = |test: &&String| matches!(verdicts.get(*test), Some(Verdict::Run(_)));
    let did_not = |test: &&String| !recorded.outcomes.contains_key(*test);
    let unmet = collected.unmet.iter().filter(did_not).filter(was_to_run);
    recorded.unmet = unmet.count();
    recorded.unfinished = collected.kept.iter().filter(lacks).count();
    let ran = (collected, chosen);
    let matrix = Assembly::new(project, recording, facts, ran, &mut recorded)?.matrix()?;
    recorded.name = Some(store.put(&matrix)?);
    Ok(recorded)
}

/// Whether the units that were open at the selection turned out the same.
pub(super) fn late_holds(
    evidence: &Evidence,
    decision: &Decision,
    collected: &Observations,
) -> bool {
    let probed = &decision.probe.values;
    evidence.late.iter().all(|(unit, value)| {
        let seen = collected.seen.get(unit);
        seen.or_else(|| probed.get(unit)) == Some(value)
    })
}

/// This run, and all whose rows may be carried.
pub(super) fn runs_of(recording: &Recording<'_>, chose: bool) -> Result<Vec<Run>> {
    let revision = recording.before.revision();
    let decision = recording.decision;
    let mut runs = vec![Run {
        id: recording.run.clone(),
        commit: revision.commit.to_string(),
        tree: revision.tree.to_string(),
        dirty: !recording.before.dirty()?.is_empty(),
        chose,
    }];
    let carried = decision
        .baseline
        .iter()
        .chain(&decision.others)
        .flat_map(|baseline| &baseline.matrix.header().runs);
    for run in carried {
        // Of its rows it may be found out now that they hold among all tests.
        let among_all = Run {
            chose: false,
            ..run.clone()
        };
        for run in [run.clone(), among_all] {
            if !runs.contains(&run) {
                runs.push(run);
            }
        }
    }
    Ok(runs)
}

/// What is told of the matrix besides its rows.
pub(super) fn header(
    project: &Project,
    recording: &Recording<'_>,
    collected: &Observations,
    runs: Vec<Run>,
) -> Result<Header> {
    let revision = recording.before.revision();
    let selection = &recording.decision.selection;
    let environment = match (&recording.decision.baseline, collected.runtime.is_empty()) {
        // Nothing ran: the results are those of the baseline's environment.
        (Some(baseline), true) => baseline.matrix.header().key.environment.clone(),
        _ => collected.runtime.clone(),
    };
    Ok(Header {
        key: Key {
            repository: project.identity.clone(),
            suite: project.suite.clone(),
            environment,
        },
        commit: revision.commit.to_string(),
        tree: revision.tree.to_string(),
        dirty: recording.before.dirty()?.to_vec(),
        created: recording.now,
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        run: recording.run.clone(),
        shard: recording.shard.clone(),
        runs,
        strategy: selection.course.used.word().to_owned(),
        baselines: selection.baselines.clone(),
        command: recording.ran.words.clone(),
        tests: 0,
        ran: collected.rows.len() as u32,
    })
}

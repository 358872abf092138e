//! A run of more tests than were selected checks the selection: what would have
//! been left out must end as the row that is its proof says.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use bstr::BString;

use super::compare::delta_to;
use super::decide::Decision;
use super::project::Project;
use super::recording::NEEDED;
use crate::history::View;
use crate::matrix::{Matrix, Outcome, TestId, Unit};
use crate::observe::Observations;
use crate::select::Evidence;

/// What an audit came to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Audit {
    /// How many tests ran that the stored rows would have left out.
    pub checked: usize,
    /// Those of them that ended otherwise.
    pub misses: Vec<Missed>,
}

/// A test that would have been left out, though its outcome is another one
/// now: it depends on something that its row lacks, or is flaky.
#[derive(Clone, Debug)]
pub(crate) struct Missed {
    pub test: String,
    /// The outcome that the proof has, and the commit at which that was seen.
    pub was: Outcome,
    pub ran_at: String,
    pub is: Outcome,
    /// The files that changed since then; `None` if that cannot be told.
    pub changed: Option<BTreeSet<BString>>,
    /// State that could explain it, the likeliest first.
    pub suspects: Vec<Suspect>,
}

/// What the test reads, or may read, and another one wrote before it.
#[derive(Clone, Debug)]
pub(crate) struct Suspect {
    pub cell: String,
    /// The test that wrote it last.
    pub writer: String,
}

/// Compares the outcomes of a run with the proofs in `decision`; `holds` tells
/// of a proof whether what it left open turned out the same.
///
/// # Errors
/// If git cannot be read.
pub(super) fn audit(
    project: &Project,
    view: &View,
    decision: &Decision,
    collected: &Observations,
    holds: impl Fn(&Evidence) -> bool,
) -> Result<Audit> {
    let outcomes: BTreeMap<&str, Outcome> = collected
        .rows
        .iter()
        .map(|row| (row.test.as_str(), row.outcome))
        .collect();
    let mut audit = Audit::default();
    for (test, evidence) in decision.selection.excluded() {
        let Some(is) = outcomes.get(test).copied().filter(|_| holds(evidence)) else {
            continue;
        };
        // It ran as it reads something else than it read, or as nearly all do.
        if (collected.refuted.get(test)).is_some_and(|why| why != NEEDED) {
            continue;
        }
        audit.checked += 1;
        if is != evidence.outcome {
            audit.misses.push(Missed {
                test: test.to_owned(),
                was: evidence.outcome,
                ran_at: evidence.ran_at.to_string(),
                is,
                changed: changed_since(project, view, decision.proof_of(test), test)?,
                suspects: Vec::new(),
            });
        }
    }
    Ok(audit)
}

/// The files that differ between the run in which the row of `test` was made
/// and `view`: both what the row's matrix and what that run tell of.
fn changed_since(
    project: &Project,
    view: &View,
    proof: Option<&Matrix>,
    test: &str,
) -> Result<Option<BTreeSet<BString>>> {
    let Some((matrix, row)) =
        proof.and_then(|matrix| Some((matrix, matrix.row(TestId::Test(test))?)))
    else {
        return Ok(None);
    };
    let Some(delta) = delta_to(project, &matrix.header, view) else {
        return Ok(None);
    };
    let mut paths = delta.paths;
    let run = &matrix.header.runs[row.run as usize];
    if run.id != matrix.header.run {
        let Ok(from) = project.repository.resolve(&run.commit) else {
            return Ok(None);
        };
        paths.extend(project.repository.delta(&from, &[], view)?.paths);
    }
    Ok(Some(paths))
}

/// By test, the units that audits have added to its rows so far.
pub(super) fn added_before(decision: &Decision) -> BTreeMap<String, BTreeSet<Unit>> {
    let mut added: BTreeMap<String, BTreeSet<Unit>> = BTreeMap::new();
    for baseline in decision.baseline.iter().chain(&decision.others) {
        for (test, units) in baseline.matrix.audited() {
            added.entry(test.to_owned()).or_default().extend(units);
        }
    }
    added
}

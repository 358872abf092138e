//! The memo strategy: any stored row that holds at the head is proof.

use super::{Evidence, Reason, Verdict};
use crate::fingerprint::Value;
use crate::matrix::{Fingerprint, Outcome, Run, Unit};

/// A stored row of one test, from any revision.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    pub baseline: String,
    /// When the row was recorded.
    pub run: Run,
    pub units: Vec<(Unit, Fingerprint)>,
    pub outcome: Outcome,
    pub incomplete: bool,
    pub duration_ms: u32,
}

/// S^|N| of [G 4.2.2] for one test: skip iff a stored row of it holds at h.
///
/// `fallback` is the verdict if none does. A row of a bad result that holds at
/// h contradicts the good ones, and so the test runs.
pub fn memo(
    candidates: &[Candidate],
    value: impl Fn(&Unit) -> Value,
    fallback: Verdict,
) -> Verdict {
    let mut proof = None;
    for candidate in candidates.iter().filter(|candidate| !candidate.incomplete) {
        let Some(late) = holds(candidate, &value) else {
            continue;
        };
        if !candidate.outcome.is_good() {
            return Verdict::Run(Reason::Failed {
                outcome: candidate.outcome,
                baseline: candidate.baseline.clone(),
            });
        }
        // The first is the newest; one with nothing left open is better.
        let better = match &proof {
            None => true,
            Some(Evidence { late: open, .. }) => !open.is_empty() && late.is_empty(),
        };
        if better {
            proof = Some(Evidence {
                baseline: candidate.baseline.clone(),
                ran_at: candidate.run.commit.clone(),
                outcome: candidate.outcome,
                units: candidate.units.len(),
                late,
                duration_ms: candidate.duration_ms,
            });
        }
    }
    proof.map_or(fallback, Verdict::Skip)
}

/// The late units of a row that holds as far as can be told; `None` if a unit
/// differs or cannot be told.
fn holds(
    candidate: &Candidate,
    value: &impl Fn(&Unit) -> Value,
) -> Option<Vec<(Unit, Fingerprint)>> {
    let mut late = Vec::new();
    for (unit, recorded) in &candidate.units {
        match value(unit) {
            Value::Known(now) if now == *recorded => {}
            Value::Known(_) | Value::Unknown(_) => return None,
            Value::Late => late.push((unit.clone(), *recorded)),
        }
    }
    Some(late)
}

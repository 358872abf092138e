//! Which tests the test process may leave out, and by which record.

use std::collections::BTreeMap;

use super::Decision;
use crate::matrix::{Matrix, TestId};
use crate::select::{By, Reason};

/// A test that values can excuse, or that may meet what others leave anew.
#[derive(Clone, Copy)]
pub(super) struct Candidate<'d> {
    pub test: &'d str,
    /// By what it may meet another state. `None`: only by what tests leave anew.
    pub by: Option<By>,
    /// Whether it runs for others, whatever it reads.
    pub runs: bool,
}

impl<'d> Candidate<'d> {
    fn new(test: &'d str, by: Option<By>) -> Candidate<'d> {
        Candidate {
            test,
            by,
            runs: false,
        }
    }

    fn that_runs(test: &'d str) -> Candidate<'d> {
        Candidate {
            runs: true,
            ..Candidate::new(test, None)
        }
    }
}

/// Whether tests are left out that leave anything to those that run.
pub(super) fn is_met(decision: &Decision) -> bool {
    let nearest = decision.baseline.as_ref();
    let matrix = nearest.and_then(|nearest| nearest.matrix.whole().ok());
    matrix.and_then(Matrix::ties).is_some_and(|ties| {
        let mut excluded = decision.selection.excluded();
        excluded.any(|(test, _)| ties.tells_of(test))
    })
}

/// By the matrix that has their values; those that run, too, if they [meet](is_met) what is left out.
pub(super) fn by_baseline(
    decision: &Decision,
    is_met: bool,
) -> BTreeMap<String, Vec<Candidate<'_>>> {
    let mut open: BTreeMap<String, Vec<Candidate<'_>>> = BTreeMap::new();
    for (test, reason) in decision.selection.selected() {
        if let Reason::Unconfirmed { baseline, by, .. } = reason {
            let of_matrix = open.entry(baseline.clone()).or_default();
            of_matrix.push(Candidate::new(test, Some(*by)));
        }
    }
    if decision.anew.is_some() {
        // Those that run for others may meet it, too, and do something else then.
        let brought = decision.selection.brought();
        let brought = brought.map(|(test, ..)| Candidate::that_runs(test));
        let excluded = decision.selection.excluded();
        let excluded = excluded.map(|(test, _)| Candidate::new(test, None));
        for candidate in excluded.chain(brought) {
            if let Some(baseline) = decision.baseline_of(&TestId::from(candidate.test)) {
                let of_matrix = open.entry(baseline.name.to_string()).or_default();
                of_matrix.push(candidate);
            }
        }
    }
    if let Some(nearest) = &decision.baseline
        && is_met
    {
        open.entry(nearest.name.to_string()).or_default();
    }
    // Others read what those that run leave, so it matters what these read.
    for (test, reason) in decision.selection.selected() {
        if let Reason::Changed { baseline, .. }
        | Reason::Unknown { baseline, .. }
        | Reason::Failed { baseline, .. }
        | Reason::Incomplete { baseline, .. } = reason
            && let Some(of_matrix) = open.get_mut(baseline)
        {
            of_matrix.push(Candidate::that_runs(test));
        }
    }
    open
}

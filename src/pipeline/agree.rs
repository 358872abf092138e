//! Whether the records that prove different tests agree on what tests leave for others.
//!
//! A row proves that its test ends as in its record, among the tests of that record as they were
//! then. Where one record proves some tests and another one others, each row must hold among the
//! others, too: who is left out by the other record must leave what it left in this one.

use std::collections::{BTreeMap, BTreeSet};

use super::ask::{Asked, OfTests};
use super::baselines::Baseline;
use super::decide::Answer;
use crate::matrix::{Matrix, TestId, Ties};
use crate::select::{Reason, Verdict};

/// The verdicts of one record, and what its tests left.
struct Record<'a> {
    name: String,
    verdicts: &'a OfTests,
    ties: Option<&'a Ties>,
}

impl Record<'_> {
    fn proves(&self, test: &str) -> bool {
        matches!(self.verdicts.get(test), Some(Verdict::Skip(_)))
    }
}

/// Takes back what of `settled` another record than the nearest decides, which says `told`, if the
/// two do not agree.
pub(super) fn take_back(
    nearest: &Baseline,
    told: &OfTests,
    asked: &[&Asked],
    answer: &mut Answer,
    settled: &mut OfTests,
) {
    let by_other: BTreeMap<String, String> = { settled.iter() }
        .filter_map(|(test, verdict)| {
            let other = named(verdict, test, nearest, answer)?;
            (other != nearest.name.to_string()).then(|| (test.clone(), other))
        })
        .collect();
    if by_other.is_empty() {
        return;
    }
    let of_nearest = nearest.matrix.whole().ok().and_then(Matrix::ties);
    let names: BTreeSet<&String> = by_other.values().collect();
    let records: Vec<Record<'_>> = { asked.iter() }
        .filter(|asked| names.contains(&asked.name))
        .map(|asked| {
            let baseline = asked.at.and_then(|at| answer.others.get(at));
            let matrix = baseline.and_then(|one| one.matrix.whole().ok());
            Record {
                name: asked.name.clone(),
                verdicts: &asked.verdicts,
                ties: matrix.and_then(Matrix::ties),
            }
        })
        .collect();
    let record = |name: &str| records.iter().find(|one| one.name == name);
    // What it leaves now is not what the tests of the nearest record met.
    let leaves_other = |test: &str, other: &str| {
        record(other).is_none_or(|other| !Ties::tell_alike(of_nearest, other.ties, test))
    };
    let mut back: BTreeSet<&String> = { by_other.iter() }
        .filter(|(test, other)| leaves_other(test, other))
        .map(|(test, _)| test)
        .collect();
    // Nor have the tests of another record met what those leave that it does not prove: not even of
    // those that run, as what these leave is known only if they lack nothing.
    for record in &records {
        let leavers = { [of_nearest, record.ties].into_iter().flatten() }
            .flat_map(|ties| ties.left.keys().chain(ties.made.keys()));
        let mut leavers = leavers.filter(|test| !record.proves(test));
        if leavers.any(|test| !Ties::tell_alike(of_nearest, record.ties, test)) {
            let of_record = by_other.iter().filter(|(_, other)| **other == record.name);
            back.extend(of_record.map(|(test, _)| test));
        }
    }
    for test in back {
        answer.proofs.remove(&TestId::from(test.as_str()));
        let verdict = told.get(test).cloned().unwrap_or(Verdict::Run(Reason::New));
        settled.insert(test.clone(), verdict);
    }
}

/// The record by which a test is left out, or may be.
fn named(verdict: &Verdict, test: &str, nearest: &Baseline, answer: &Answer) -> Option<String> {
    match verdict {
        Verdict::Skip(_) => {
            let at = answer.proofs.get(&TestId::from(test));
            let other = at.and_then(|at| answer.others.get(*at));
            Some(other.unwrap_or(nearest).name.to_string())
        }
        Verdict::Run(Reason::Unconfirmed { baseline, .. }) => Some(baseline.clone()),
        Verdict::Run(_) => None,
    }
}

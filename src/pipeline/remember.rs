//! Letting every stored matrix speak for the tests that the nearest one cannot
//! excuse.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::baselines::Baseline;
use super::decide::{Decision, Request, compare, delta_to, unknown_paths};
use super::project::Project;
use crate::history::View;
use crate::select::{COLLECTION, Verdict, memo, tts};
use crate::store::{FsStore, Name};

/// How many matrices are asked at the most, those with the most rows that may
/// be proof first. What is not asked makes tests run.
const MOST_MATRICES: usize = 24;

/// Replaces verdicts of `decision` to run by skips that another stored matrix
/// proves, and adds tests that only others know if they need not run, or if
/// another matrix is the one that knows which tests there are.
///
/// # Errors
/// If git cannot be read.
pub fn remember(
    project: &Project,
    store: &FsStore,
    view: &View,
    request: &Request<'_>,
    nearest: &Baseline,
    decision: &mut Decision,
) -> Result<()> {
    let memo_index = store.memo(&nearest.matrix.header.key);
    decision.trouble.extend(memo_index.troubles.iter().cloned());
    let open = open_tests(decision, nearest, memo_index.tests());
    let mut promising: BTreeMap<Name, usize> = BTreeMap::new();
    for test in &open {
        for row in memo_index.candidates(test) {
            if row.matrix != nearest.name {
                *promising.entry(row.matrix).or_default() += 1;
            }
        }
    }
    let mut promising: Vec<(Name, usize)> = promising.into_iter().collect();
    promising.sort_by(|(a_name, a), (b_name, b)| (b, a_name).cmp(&(a, b_name)));
    promising.truncate(MOST_MATRICES);
    let mut verdicts: Vec<BTreeMap<String, Verdict>> = Vec::new();
    // The tests of the matrix that knows which there are.
    let mut available: BTreeMap<String, Verdict> = BTreeMap::new();
    for (name, _) in promising {
        let Ok(matrix) = store.load(&name) else {
            // Named among the troubles already; what cannot be read is no proof.
            continue;
        };
        let delta = delta_to(project, &matrix.header, view, &mut Vec::new());
        let found = compare(project, view, request, &matrix, delta.as_ref(), decision);
        let all = matrix
            .rows
            .iter()
            .zip(tts(&matrix, &name.to_string(), &found))
            .map(|(row, verdict)| (row.test.clone(), verdict));
        let mut of_open: BTreeMap<String, Verdict> = all.collect();
        if settles_inventory(of_open.get(COLLECTION))
            && decision.selection.inventory_doubt.is_some()
            && unknown_paths(&matrix, delta.as_ref(), view)?.is_none()
        {
            decision.selection.inventory_doubt = None;
            let at = decision.others.len();
            decision.proofs.insert(COLLECTION.to_owned(), at);
            available = of_open.clone();
        }
        of_open.retain(|test, _| open.contains(test));
        verdicts.push(of_open);
        decision.others.push(Baseline {
            name,
            matrix,
            distance: None,
        });
    }
    for test in open {
        if test == COLLECTION {
            continue;
        }
        let others = verdicts
            .iter()
            .enumerate()
            .filter_map(|(at, of_tests)| Some((at, of_tests.get(&test)?)));
        if let Some(at) = memo(decision.selection.verdicts.get(&test), others) {
            accept(decision, test, at, &verdicts);
        }
    }
    for (test, verdict) in available {
        if test != COLLECTION {
            let known = decision.selection.verdicts.entry(test);
            known.or_insert(verdict);
        }
    }
    Ok(())
}

/// Whether the collection's row of another matrix holds, with nothing left
/// open: then the available tests are those of that matrix, all of which it
/// knows.
fn settles_inventory(verdict: Option<&Verdict>) -> bool {
    matches!(verdict, Some(Verdict::Skip(evidence)) if evidence.late.is_empty())
}

/// The tests that the nearest matrix does not know, or makes run because of
/// what they depend on.
fn open_tests<'t>(
    decision: &Decision,
    nearest: &Baseline,
    all: impl Iterator<Item = &'t str>,
) -> BTreeSet<String> {
    let unknown = all
        .filter(|test| *test != COLLECTION && nearest.matrix.row(test).is_none())
        .map(str::to_owned);
    let changed = decision
        .selection
        .selected()
        .filter(|(_, reason)| reason.is_about_units())
        .map(|(test, _)| test.to_owned());
    let collection = decision
        .selection
        .inventory_doubt
        .iter()
        .map(|_| COLLECTION.to_owned());
    unknown.chain(changed).chain(collection).collect()
}

fn accept(
    decision: &mut Decision,
    test: String,
    at: usize,
    verdicts: &[BTreeMap<String, Verdict>],
) {
    let verdict = verdicts[at][&test].clone();
    let name = decision.others[at].name.to_string();
    let selection = &mut decision.selection;
    if let Verdict::Skip(evidence) = &verdict {
        selection
            .durations
            .entry(test.clone())
            .or_insert(evidence.duration_ms);
    }
    if !selection.baselines.contains(&name) {
        selection.baselines.push(name);
    }
    selection.verdicts.insert(test.clone(), verdict);
    decision.proofs.insert(test, at);
}

//! Which tests become one.

use std::collections::{BTreeMap, BTreeSet};

use super::model::Test;
use super::redundancy::redundancy;
use super::walk::Composed;

/// What composed tests may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// How many tests one may have.
    pub at_most: usize,
    /// Whether only first statements are left out.
    pub only_common_prefix: bool,
}

/// The composed tests of several tests, after \[V, algorithm 1\]: a path begins with a test, and
/// is extended, as long as that saves anything, by the test of which the fewest statements run
/// again. Where the paper takes the nearest uncovered statement, this takes the nearest test as
/// a whole: the statements of a test stay together, as a reader needs it, and nothing comes
/// between them. Tests that save nothing stay as they are.
pub(crate) fn reorganise(tests: &[Test], limits: Limits) -> Vec<Composed> {
    let mut groups: BTreeMap<(&str, &[String]), Vec<usize>> = BTreeMap::new();
    for (at, test) in tests.iter().enumerate() {
        let group = groups.entry((&test.scope, &test.set_up)).or_default();
        group.push(at);
    }
    let mut found = Vec::new();
    for group in groups.into_values() {
        let partly = redundancy(group.iter().map(|at| &tests[*at])).tests;
        let open = group.iter().enumerate();
        let open = open
            .filter(|(at, _)| partly.contains(at))
            .map(|(_, at)| *at);
        found.extend(paths(tests, open.collect(), limits));
    }
    found.sort_by_key(|composed| composed.tests[0]);
    found
}

fn paths(tests: &[Test], mut open: BTreeSet<usize>, limits: Limits) -> Vec<Composed> {
    let mut found = Vec::new();
    while let Some(first) = open.pop_first() {
        let Some(mut path) = Composed::default().with(tests, first) else {
            continue;
        };
        while path.tests.len() < limits.at_most
            && let Some((test, longer)) = nearest(tests, &path, &open, limits)
        {
            open.remove(&test);
            path = longer;
        }
        if path.tests.len() > 1 {
            found.push(path);
        }
    }
    found
}

/// The test that joins with the fewest statements that run again; among those, the first.
fn nearest(
    tests: &[Test],
    path: &Composed,
    open: &BTreeSet<usize>,
    limits: Limits,
) -> Option<(usize, Composed)> {
    let mut best: Option<(usize, usize, Composed)> = None;
    let may_share = |test: &usize| path.may_share(tests, *test);
    for test in open.iter().copied().filter(may_share) {
        let Some(longer) = path.with(tests, test) else {
            continue;
        };
        let is_wanted = !limits.only_common_prefix || longer.shares_only_its_beginning(tests, test);
        if longer.saved(tests, test) == 0 || !is_wanted {
            continue;
        }
        let again = longer.steps.len() - path.steps.len();
        if best.as_ref().is_none_or(|(least, ..)| again < *least) {
            best = Some((again, test, longer));
        }
    }
    best.map(|(_, test, longer)| (test, longer))
}

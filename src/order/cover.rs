//! Orders that make pairs of tests adjacent.

use rustc_hash::FxHashSet;

use super::Suite;
use super::normal::{Walk, blocks};
use super::suite::Test;

/// The rows of a Tuscan arrangement of `len` things: in some row each ordered pair of
/// them is adjacent. There are `len` rows if that is even, else one more; no fewer than
/// `len` can do it, as a row holds `len - 1` of the `len * (len - 1)` pairs.
///
/// The zigzag row 0, n-1, 1, n-2, … takes each difference modulo n once, so its
/// translates take each pair once (Williams 1949). For an odd length one thing more is
/// arranged and left out. As orders of tests: Li et al., *Systematically producing test
/// orders to detect order-dependent flaky tests*, 2023.
pub(super) fn tuscan_row(len: usize, row: usize) -> Vec<usize> {
    let even = len + len % 2;
    let zigzag = (0..even).map(|at| match at % 2 {
        0 => at / 2,
        _ => even - at.div_ceil(2),
    });
    let moved = zigzag.map(|place| (place + row) % even);
    moved.filter(|place| *place < len).collect()
}

/// How many rows such an arrangement has.
pub(super) fn tuscan_rows(len: usize) -> usize {
    match len {
        0 | 1 => len,
        _ => len + len % 2,
    }
}

/// Pairs of tests that are still to be made adjacent.
#[derive(Debug)]
pub(super) struct Pairs {
    /// For each test those that are to come directly after it.
    after: Vec<FxHashSet<Test>>,
    left: usize,
}

impl Pairs {
    pub(super) fn new(suite: &Suite, pairs: impl IntoIterator<Item = (Test, Test)>) -> Pairs {
        let mut after = vec![FxHashSet::default(); suite.len()];
        for (first, second) in pairs {
            if first != second {
                after[first as usize].insert(second);
            }
        }
        let left = after.iter().map(FxHashSet::len).sum();
        Pairs { after, left }
    }

    pub(super) fn all(suite: &Suite) -> Pairs {
        let tests = suite.all();
        let pairs = tests.iter().flat_map(|a| tests.iter().map(|b| (*a, *b)));
        Pairs::new(suite, pairs)
    }

    pub(super) fn left(&self) -> usize {
        self.left
    }

    /// Leaves out the pairs that are `done`.
    pub(super) fn strike(&mut self, done: impl Fn(Test, Test) -> bool) {
        for (first, after) in self.after.iter_mut().enumerate() {
            after.retain(|second| !done(first as Test, *second));
        }
        self.left = self.after.iter().map(FxHashSet::len).sum();
    }

    /// A normal order that makes many of the pairs adjacent, and at least one. It starts
    /// with the test that has most pairs left, and goes on with the one that has most
    /// left; where none is possible it starts anew with another. So tests of high degree,
    /// which bound the number of orders from below, are in every order.
    pub(super) fn next(&mut self, suite: &Suite) -> Option<Vec<Test>> {
        let order = self.path(suite)?;
        for pair in order.windows(2) {
            // Named once: behind a test that kills its process none is ever reached.
            self.left -= usize::from(self.after[pair[0] as usize].remove(&pair[1]));
        }
        Some(order)
    }

    fn path(&self, suite: &Suite) -> Option<Vec<Test>> {
        if self.left == 0 {
            return None;
        }
        let mut by_degree = suite.all();
        by_degree.retain(|test| !self.after[*test as usize].is_empty());
        by_degree.sort_by_key(|test| std::cmp::Reverse(self.after[*test as usize].len()));
        let mut order: Vec<Test> = Vec::new();
        let mut taken = vec![false; suite.len()];
        let mut walk = Walk::default();
        let mut starts = by_degree.iter().copied();
        loop {
            let may = |test: &Test| !taken[*test as usize] && walk.allows(suite, *test);
            let follows = order.last().and_then(|last| {
                let after = self.after[*last as usize].iter().copied();
                after
                    .filter(may)
                    .max_by_key(|test| self.rank(suite, *last, *test))
            });
            let next = follows.or_else(|| {
                starts.find(|start| {
                    let after = &self.after[*start as usize];
                    may(start) && after.iter().any(|test| may(test) && test != start)
                })
            });
            let Some(next) = next else {
                break;
            };
            taken[next as usize] = true;
            walk.step(suite, next);
            order.push(next);
        }
        Some(order)
    }

    /// How good it is to go on with `test`: not to close a scope is better, then to have
    /// many pairs left; then the default order, so that the same pairs give the same orders.
    fn rank(
        &self,
        suite: &Suite,
        last: Test,
        test: Test,
    ) -> (bool, usize, std::cmp::Reverse<Test>) {
        let stays = suite.scopes(last) == suite.scopes(test);
        (
            stays,
            self.after[test as usize].len(),
            std::cmp::Reverse(test),
        )
    }
}

/// An order of the whole suite in which scopes stay together: at each level the blocks
/// (scopes, or tests in none) follow row `row` of their Tuscan arrangement.
pub(super) fn nested_row(suite: &Suite, row: usize) -> Vec<Test> {
    let mut order = Vec::with_capacity(suite.len());
    nested(suite, &suite.all(), 0, row, &mut order);
    order
}

fn nested(suite: &Suite, tests: &[Test], depth: usize, row: usize, order: &mut Vec<Test>) {
    let blocks = blocks(suite, tests, depth);
    for block in tuscan_row(blocks.len(), row) {
        match &blocks[block] {
            (Some(_), inner) => nested(suite, inner, depth + 1, row, order),
            (None, test) => order.extend(test),
        }
    }
}

/// After so many rows each pair of blocks of one scope was adjacent.
pub(super) fn nested_rows(suite: &Suite) -> usize {
    most_rows(suite, &suite.all(), 0)
}

fn most_rows(suite: &Suite, tests: &[Test], depth: usize) -> usize {
    let blocks = blocks(suite, tests, depth);
    let inner = blocks.iter().filter(|(scope, _)| scope.is_some());
    let inner = inner.map(|(_, tests)| most_rows(suite, tests, depth + 1));
    inner.max().unwrap_or(0).max(tuscan_rows(blocks.len()))
}

//! Normal orders: those that never come back to a scope that they have left.

use std::collections::BTreeSet;

use fastrand::Rng;
use rustc_hash::FxHashMap;

use super::Suite;
use super::suite::Test;

/// The scopes that an order has left so far.
#[derive(Default)]
pub(super) struct Walk<'a> {
    open: &'a [u32],
    left: BTreeSet<u32>,
}

impl<'a> Walk<'a> {
    /// Whether `test` may come next.
    pub(super) fn allows(&self, suite: &Suite, test: Test) -> bool {
        let is_left = |scope: &u32| self.left.contains(scope);
        !suite.scopes(test).iter().any(is_left)
    }

    pub(super) fn step(&mut self, suite: &'a Suite, test: Test) {
        let next = suite.scopes(test);
        let closed = self.open.iter().filter(|scope| !next.contains(scope));
        self.left.extend(closed.copied());
        self.open = next;
    }
}

/// Whether `order` is a normal one.
pub(super) fn is_normal(suite: &Suite, order: &[Test]) -> bool {
    let mut walk = Walk::default();
    order.iter().all(|test| {
        let allowed = walk.allows(suite, *test);
        walk.step(suite, *test);
        allowed
    })
}

/// `tests`, which share their scopes above `depth`, by their scope there; a test without
/// one is a block of its own.
pub(super) fn blocks(suite: &Suite, tests: &[Test], depth: usize) -> Vec<(Option<u32>, Vec<Test>)> {
    let mut blocks: Vec<(Option<u32>, Vec<Test>)> = Vec::new();
    let mut places: FxHashMap<u32, usize> = FxHashMap::default();
    for test in tests {
        let scope = suite.scopes(*test).get(depth).copied();
        match scope.and_then(|scope| places.get(&scope)) {
            Some(place) => blocks[*place].1.push(*test),
            None => {
                if let Some(scope) = scope {
                    places.insert(scope, blocks.len());
                }
                blocks.push((scope, vec![*test]));
            }
        }
    }
    blocks
}

/// All of `tests` in an order by chance, scopes kept together.
pub(super) fn shuffled(suite: &Suite, tests: &[Test], chance: &mut Rng) -> Vec<Test> {
    shuffled_below(suite, tests, 0, chance)
}

/// Of tests that share their scopes above `depth`.
fn shuffled_below(suite: &Suite, tests: &[Test], depth: usize, chance: &mut Rng) -> Vec<Test> {
    let mut blocks = blocks(suite, tests, depth);
    chance.shuffle(&mut blocks);
    let mut order = Vec::with_capacity(tests.len());
    for (scope, block) in blocks {
        match scope {
            Some(_) => order.extend(shuffled_below(suite, &block, depth + 1, chance)),
            None => order.extend(block),
        }
    }
    order
}

/// A normal order of all tests but `without`, with `test` first: those of its narrowest scope
/// follow, then those of wider ones.
pub(super) fn first(suite: &Suite, test: Test, without: &BTreeSet<Test>) -> Vec<Test> {
    let scopes = suite.scopes(test);
    let shared = |other: &Test| {
        let others = suite.scopes(*other).iter();
        others.zip(scopes).take_while(|(a, b)| a == b).count()
    };
    let mut order = suite.all();
    order.retain(|other| *other == test || !without.contains(other));
    order.sort_by_key(|other| (*other != test, std::cmp::Reverse(shared(other))));
    let mut blocked = vec![test];
    let rest = order.split_off(1.min(order.len()));
    // The default order may come back to scopes.
    in_blocks(suite, &rest, 0, &mut blocked);
    blocked
}

/// `tests` with those of one scope together, in the order in which scopes come first.
fn in_blocks(suite: &Suite, tests: &[Test], depth: usize, order: &mut Vec<Test>) {
    for (scope, block) in blocks(suite, tests, depth) {
        match scope {
            Some(_) => in_blocks(suite, &block, depth + 1, order),
            None => order.extend(block),
        }
    }
}

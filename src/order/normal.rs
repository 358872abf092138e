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

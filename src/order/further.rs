//! Orders without what is known, for what else a dependent test depends on.

use std::collections::BTreeSet;

use super::Suite;
use super::detect::{Known, Run};
use super::memory::Word;
use super::normal::is_normal;
use super::rules::{Rules, contains};
use super::suite::Test;

/// The orders that were tried.
#[derive(Debug, Default)]
pub(super) struct Tried(BTreeSet<Vec<Test>>);

impl Tried {
    /// The longest order in which a dependent test ended otherwise than alone, without one
    /// test of each known witness: if it ends otherwise again, there is another witness.
    pub(super) fn next(
        &mut self,
        known: &[Known],
        runs: &[Run],
        only: Option<Test>,
    ) -> Option<Vec<Test>> {
        for (test, known) in known.iter().enumerate() {
            let test = test as Test;
            let is_looked_at = only.is_none_or(|only| only == test);
            if known.rules.0.len() < 2 || known.is_flaky || !is_looked_at {
                continue;
            }
            let alone = known.rules.0[0].word;
            let Some(longest) = longest(runs, test, alone) else {
                continue;
            };
            let mut order = longest.to_vec();
            for rule in known.rules.0.iter().filter(|rule| rule.parent == Some(0)) {
                if contains(&order, &rule.order) {
                    order.retain(|other| *other != rule.order[0]);
                }
            }
            if order.len() < 2 || order.len() == longest.len() {
                continue;
            }
            if self.0.insert(order.clone()) {
                return Some(order);
            }
        }
        None
    }

    /// The first witness of a test with another test directly before the last: a polluter or
    /// a cleaner, if the test ends otherwise then.
    pub(super) fn between(&mut self, suite: &Suite, rules: &Rules) -> Option<Vec<Test>> {
        let witness = &rules.0.get(1)?.order;
        let (test, before) = witness.split_last()?;
        suite.all().into_iter().find_map(|other| {
            let order: Vec<Test> = before.iter().copied().chain([other, *test]).collect();
            let is_new = !witness.contains(&other) && is_normal(suite, &order);
            (is_new && self.0.insert(order.clone())).then_some(order)
        })
    }
}

/// The longest order up to `test` in which it ended otherwise than alone.
fn longest(runs: &[Run], test: Test, alone: Word) -> Option<&[Test]> {
    let upto = runs.iter().filter_map(|run| {
        let place = run.order.iter().position(|other| *other == test)?;
        let is_other = run.words[place].is_some() && run.words[place] != alone;
        is_other.then_some(&run.order[..=place])
    });
    upto.max_by_key(|order| order.len())
}

//! What is known of one test: shortest orders and how it ends in them.

use super::memory::Word;
use super::suite::Test;
use crate::matrix::Outcome;

/// A shortest order that ends with the test, and how the test ends in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    /// The test itself is the last.
    pub(super) order: Vec<Test>,
    pub(super) word: Word,
    /// The rule that this one adds tests to, which change the outcome; the first has none.
    pub(super) parent: Option<usize>,
}

/// The rules of one test. The first says how it ends alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rules(pub(super) Vec<Rule>);

/// What a rule says of its test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// How it ends alone.
    Alone,
    /// The tests before it set up what it needs.
    Setters,
    /// The tests before it pollute what it needs; or they undo what a setter did.
    Polluters,
    /// The tests that it adds to its parent undo what polluters did.
    Cleaners,
    /// Nothing of these: as where an earlier test keeps a polluter from polluting.
    Other,
}

impl Rules {
    /// The rules that `order` contains, without those that a longer one contains as well.
    fn widest(&self, order: &[Test]) -> Vec<usize> {
        let inside: Vec<usize> = (0..self.0.len())
            .filter(|at| contains(order, &self.0[*at].order))
            .collect();
        let is_widest = |at: &usize| {
            let within =
                |other: &usize| other != at && contains(&self.0[*other].order, &self.0[*at].order);
            !inside.iter().any(within)
        };
        inside.iter().copied().filter(is_widest).collect()
    }

    /// The rule from which the search for an explanation starts, if the rules do not say
    /// that the test ends so in `order`.
    pub(super) fn fails_to_explain(&self, order: &[Test], word: Word) -> Option<usize> {
        let widest = self.widest(order);
        let is_explained = widest.iter().any(|at| self.0[*at].word == word);
        match is_explained {
            true => None,
            false => widest.first().copied(),
        }
    }

    /// What rule `at` says, given how the test ends in the default order.
    pub(super) fn says(&self, at: usize, reference: Word) -> Says {
        let rule = &self.0[at];
        let Some(parent) = rule.parent else {
            return Says::Alone;
        };
        match self.says(parent, reference) {
            Says::Alone => {
                let alone = self.0[parent].word;
                let needs = match (is_good(alone), is_good(rule.word)) {
                    (false, true) => true,
                    (true, false) => false,
                    _ => rule.word == reference,
                };
                match needs {
                    true => Says::Setters,
                    false => Says::Polluters,
                }
            }
            Says::Setters => Says::Polluters,
            Says::Polluters => {
                let before = self.0[parent].parent.map(|at| self.0[at].word);
                let needs = !is_good(self.0[0].word) && is_good(rule.word);
                match before == Some(rule.word) {
                    true if self.is_between(at) => Says::Cleaners,
                    false if needs => Says::Setters,
                    _ => Says::Other,
                }
            }
            Says::Cleaners | Says::Other => Says::Other,
        }
    }

    /// Whether a test that rule `at` adds runs after one of its parent's; else it keeps
    /// polluters from polluting.
    fn is_between(&self, at: usize) -> bool {
        let added = self.added(at);
        let order = &self.0[at].order;
        let first = order.iter().position(|test| !added.contains(test));
        order
            .iter()
            .skip(first.unwrap_or(0))
            .any(|test| added.contains(test))
    }

    /// The tests that rule `at` adds to its parent.
    pub(super) fn added(&self, at: usize) -> Vec<Test> {
        let rule = &self.0[at];
        let there: &[Test] = match rule.parent {
            Some(parent) => &self.0[parent].order,
            None => &[],
        };
        let is_new = |test: &&Test| !there.contains(test);
        rule.order.iter().filter(is_new).copied().collect()
    }
}

/// Whether this is an outcome that nobody has to look at.
pub(super) fn is_good(word: Word) -> bool {
    word.is_some_and(Outcome::is_good)
}

/// Whether the tests of `part` are in `order`, in this order.
pub(super) fn contains(order: &[Test], part: &[Test]) -> bool {
    let mut left = order.iter();
    part.iter().all(|test| left.any(|other| other == test))
}

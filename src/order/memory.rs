//! What is known of orders: every outcome that was seen, by the tests that ran before.

use rustc_hash::{FxHashMap, FxHashSet};

use super::suite::Test;
use super::{Ended, Process, Suite};
use crate::matrix::Outcome;

/// How a test ended in an order; `None`: it was not reached.
pub(super) type Word = Option<Outcome>;

/// The outcomes of all orders so far. An order answers for each of its beginnings too:
/// what a test does depends on what ran before it, not on what runs after.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// By a beginning and the test that follows it, the longer beginning. 0 is the empty one.
    longer: FxHashMap<(u32, Test), u32>,
    /// For each beginning how its last test ended, and how often.
    seen: Vec<Vec<(Process, Word, u32)>>,
    /// Ordered pairs of which the second test ran directly after the first.
    adjacent: FxHashSet<(Test, Test)>,
    /// Seconds of each test when it ran last.
    seconds: FxHashMap<Test, f64>,
    pub(super) spent: Spent,
}

/// What the orders so far have cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Spent {
    pub(crate) orders: usize,
    /// Tests that were started, each time that they were.
    pub(crate) executions: usize,
    /// Wall-clock seconds.
    pub(crate) elapsed: f64,
    /// Seconds of processor time.
    pub(crate) cpu: f64,
}

/// A test ended in different ways after the same tests in the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flips;

impl Memory {
    /// Takes in how `order` ended. Returns how each of its tests did.
    pub(super) fn add(
        &mut self,
        suite: &Suite,
        order: &[Test],
        process: Process,
        ended: &Ended,
    ) -> Vec<Word> {
        let lost = ended.lost.as_ref().and_then(|lost| suite.find(&lost.test));
        let mut words = Vec::with_capacity(order.len());
        let (mut node, mut before) = (0, None);
        for &test in order {
            let id = suite.id(test);
            let word = match lost == Some(test) {
                true => Some(Outcome::Crashed),
                false => ended.outcomes.get(id).copied(),
            };
            node = self.child(node, test);
            self.count(node, process, word);
            if word.is_some() {
                self.spent.executions += usize::from(!ended.is_recorded);
                if let Some(before) = before {
                    self.adjacent.insert((before, test));
                }
            }
            if let Some(seconds) = ended.seconds.get(id) {
                self.seconds.insert(test, *seconds);
            }
            before = Some(test);
            words.push(word);
        }
        self.spent.orders += usize::from(!ended.is_recorded);
        self.spent.elapsed += ended.elapsed;
        self.spent.cpu += ended.cpu;
        words
    }

    fn child(&mut self, node: u32, test: Test) -> u32 {
        if self.seen.is_empty() {
            self.seen.push(Vec::new());
        }
        let next = self.seen.len() as u32;
        let child = *self.longer.entry((node, test)).or_insert(next);
        if child == next {
            self.seen.push(Vec::new());
        }
        child
    }

    fn count(&mut self, node: u32, process: Process, word: Word) {
        let seen = &mut self.seen[node as usize];
        let same = seen
            .iter_mut()
            .find(|(there, how, _)| (*there, *how) == (process, word));
        match same {
            Some((_, _, times)) => *times += 1,
            None => seen.push((process, word, 1)),
        }
    }

    /// How the last test of `order` ended in such a process, and how often that was seen;
    /// `None`: never run.
    ///
    /// # Errors
    /// If it ended in different ways.
    pub(super) fn last(
        &self,
        order: &[Test],
        process: Process,
    ) -> Result<Option<(Word, u32)>, Flips> {
        let mut node = 0;
        for test in order {
            match self.longer.get(&(node, *test)) {
                Some(longer) => node = *longer,
                None => return Ok(None),
            }
        }
        let Some(seen) = self.seen.get(node as usize) else {
            return Ok(None);
        };
        let mut there = seen.iter().filter(|(at, _, _)| *at == process);
        match (there.next(), there.next()) {
            (Some(_), Some(_)) => Err(Flips),
            (first, _) => Ok(first.map(|(_, word, times)| (*word, *times))),
        }
    }

    /// Whether `second` has run directly after `first`.
    pub(super) fn were_adjacent(&self, first: Test, second: Test) -> bool {
        self.adjacent.contains(&(first, second))
    }

    /// How many ordered pairs that count have run directly after one another.
    pub(super) fn pairs(&self, counts: impl Fn(Test, Test) -> bool) -> usize {
        let pairs = self.adjacent.iter();
        pairs
            .filter(|(first, second)| counts(*first, *second))
            .count()
    }

    /// The seconds that `test` took last; 0 if that is unknown.
    pub(super) fn seconds(&self, test: Test) -> f64 {
        self.seconds.get(&test).copied().unwrap_or_default()
    }
}

//! From an order to a shortest one that still shows it, by delta debugging.

use super::Process;
use super::ask::{Answer, Ask};
use super::memory::Word;
use super::rules::{Rule, Rules};
use super::suite::Test;

/// Of so many tests all subsets are tried.
const FEW: usize = 6;

/// What is to be explained: `test` ends with `word` after the tests `before`.
#[derive(Clone, Copy)]
pub(super) struct Shown<'a> {
    pub(super) before: &'a [Test],
    pub(super) test: Test,
    pub(super) word: Word,
    /// Tests of `before` that stay.
    pub(super) fixed: &'a [Test],
    /// Whether each single test is tried, although several were found together.
    pub(super) is_thorough: bool,
}

impl Shown<'_> {
    /// The least of the tests before that are needed beside the fixed ones, so that the
    /// test ends with the word: none can be left out. Of up to [`FEW`] no subset suffices.
    /// `guesses` are tried one by one first.
    ///
    /// Delta debugging as by Zeller and Hildebrandt, which \[P\] section VII refers to; the
    /// halves next to the test come first, as tests further away are undone more often.
    pub(super) fn shrink(&self, ask: Ask, guesses: &[Test]) -> Answer<Vec<Test>> {
        let free: Vec<Test> = self
            .before
            .iter()
            .copied()
            .filter(|t| !self.fixed.contains(t))
            .collect();
        if self.holds(ask, &[])? {
            return Ok(Vec::new());
        }
        for guess in guesses.iter().filter(|guess| free.contains(guess)) {
            if self.holds(ask, &[*guess])? {
                return Ok(vec![*guess]);
            }
        }
        let least = self.delta(ask, free.clone())?;
        self.fewest(ask, least, &free)
    }

    /// The rule that the tests `least` beside the fixed ones give; or, if fewer of all these
    /// make the test end so, which no rule says yet, the rule of these.
    pub(super) fn rule(
        &self,
        ask: Ask,
        least: &[Test],
        parent: usize,
        rules: &Rules,
    ) -> Answer<Rule> {
        let (word, order) = (self.word, self.order(least));
        let whole = Rule {
            order,
            word,
            parent: Some(parent),
        };
        if parent == 0 || word == rules.0[0].word {
            return Ok(whole);
        }
        let before = &whole.order[..whole.order.len() - 1];
        let freely = Shown {
            fixed: &[self.test],
            before,
            ..*self
        };
        let order = freely.order(&freely.shrink(ask, &[])?);
        let is_known = rules.0.iter().any(|rule| rule.order == order);
        match is_known || order.len() == whole.order.len() {
            true => Ok(whole),
            false => Ok(Rule {
                order,
                word,
                parent: Some(0),
            }),
        }
    }

    /// Whether the test ends with the word after the fixed tests and `chosen`.
    fn holds(&self, ask: Ask, chosen: &[Test]) -> Answer<bool> {
        Ok(ask.word(&self.order(chosen))? == self.word)
    }

    /// The fixed tests and `chosen` as in the order to be explained, then the test.
    pub(super) fn order(&self, chosen: &[Test]) -> Vec<Test> {
        let stays = |test: &&Test| self.fixed.contains(test) || chosen.contains(test);
        let before = self.before.iter().filter(stays).copied();
        before.chain([self.test]).collect()
    }

    fn delta(&self, ask: Ask, mut set: Vec<Test>) -> Answer<Vec<Test>> {
        let mut parts = 2;
        while set.len() >= 2 {
            let chunks: Vec<&[Test]> = set.chunks(set.len().div_ceil(parts)).collect();
            if let Some(smaller) = self.part(ask, &chunks)? {
                (set, parts) = (smaller, 2);
                continue;
            }
            if let Some(smaller) = self.rest(ask, &chunks)? {
                (set, parts) = (smaller, parts.saturating_sub(1).max(2));
                continue;
            }
            if set.len() + self.fixed.len() == self.before.len() {
                // Nothing smaller shows it: perhaps it was chance.
                ask.times(&self.order(&set), Process::Forked, 2)?;
            }
            if parts >= set.len() {
                break;
            }
            parts = (2 * parts).min(set.len());
        }
        Ok(set)
    }

    /// One of the chunks that shows it alone.
    fn part(&self, ask: Ask, chunks: &[&[Test]]) -> Answer<Option<Vec<Test>>> {
        for chunk in chunks.iter().rev() {
            if self.holds(ask, chunk)? {
                return Ok(Some(chunk.to_vec()));
            }
        }
        Ok(None)
    }

    /// All chunks but one, if they show it.
    fn rest(&self, ask: Ask, chunks: &[&[Test]]) -> Answer<Option<Vec<Test>>> {
        if chunks.len() == 2 {
            return Ok(None);
        }
        for without in 0..chunks.len() {
            let others = chunks.iter().enumerate().filter(|(at, _)| *at != without);
            let others: Vec<Test> = others
                .flat_map(|(_, chunk)| chunk.iter().copied())
                .collect();
            if self.holds(ask, &others)? {
                return Ok(Some(others));
            }
        }
        Ok(None)
    }

    /// The smallest subset of `least` that shows it.
    fn fewest(&self, ask: Ask, least: Vec<Test>, free: &[Test]) -> Answer<Vec<Test>> {
        if least.len() < 2 {
            return Ok(least);
        }
        if self.is_thorough {
            for test in free.iter().rev() {
                if self.holds(ask, &[*test])? {
                    return Ok(vec![*test]);
                }
            }
        }
        if least.len() > FEW {
            return Ok(least);
        }
        let mut subsets: Vec<u32> = (1..(1 << least.len()) - 1).collect();
        subsets.sort_by_key(|subset| subset.count_ones());
        for subset in subsets {
            let members = least
                .iter()
                .enumerate()
                .filter(|(at, _)| subset >> at & 1 == 1);
            let members: Vec<Test> = members.map(|(_, test)| *test).collect();
            if self.holds(ask, &members)? {
                return Ok(members);
            }
        }
        Ok(least)
    }
}

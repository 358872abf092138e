//! The search for order-dependent tests: orders are run as a strategy has them; a test
//! that ends otherwise than its rules say is explained at once, and the explanation is
//! confirmed.

use std::collections::{BTreeSet, VecDeque};

use super::ask::{Answer, Ask, Stop};
use super::further;
use super::memory::{Memory, Spent, Word};
use super::options::Options;
use super::refine::{Refine, Refined};
use super::resume::Before;
use super::rules::{Rule, Rules, Says};
use super::search::{Phase, Sequences, Strategy};
use super::shrink::Shown;
use super::suite::Test;
use super::{Ended, Process, Step, Stepper, Suite};

/// So many rules of a test say enough in a search of the whole suite.
const RULES: usize = 8;
/// And if only this test is looked at.
const RULES_OF_ONE: usize = 200;
/// So many rules of a test are seen again in processes of their own.
const FRESH: usize = 3;
/// Tests that are tried first in an explanation, because they explain others.
const GUESSES: usize = 6;
/// How often both outcomes of a finding are seen in forks: with the run that raised the
/// suspicion a test that flips by chance passes for a dependent one once in 64 times.
const TIMES: u32 = 3;
/// What of a budget goes into the search before only findings are completed.
const SEARCH: f64 = 0.8;

/// What is known of one test.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) rules: Rules,
    pub(super) is_flaky: bool,
    /// How it ended when it was reached first: as a rule in the default order.
    first: Option<Word>,
    /// For each rule whether it was confirmed.
    pub(super) confirmed: Vec<Verdict>,
    /// The order that raised a suspicion which is not settled.
    pub(super) suspicion: Option<Vec<Test>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) forked: bool,
    /// `None`: not tried.
    pub(super) fresh: Option<bool>,
}

/// An order of the search, and how its tests ended.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) order: Vec<Test>,
    pub(super) words: Vec<Word>,
}

/// Something to find out about one test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Job {
    /// Why it ended so at `place` of run `run`.
    Explain {
        test: Test,
        run: usize,
        place: usize,
    },
    Confirm {
        test: Test,
    },
}

/// The search of one suite, or for one test of it.
#[derive(Debug)]
pub(crate) struct Detect {
    pub(super) suite: Suite,
    pub(super) options: Options,
    /// Only this test is looked at.
    pub(super) only: Option<Test>,
    /// Only orders with one of these are run, but for the default one.
    pub(super) changed: Option<BTreeSet<Test>>,
    /// What was covered before.
    pub(super) before: Option<Before>,
    pub(super) phases: VecDeque<Phase>,
    /// Phases that were done to their end.
    pub(super) over: Vec<Phase>,
    pub(super) memory: Memory,
    pub(super) runs: Vec<Run>,
    pub(super) known: Vec<Known>,
    pub(super) reference: Vec<Word>,
    /// What makes a test dependent comes first; then confirmations; cleaners when the
    /// search is done.
    news: VecDeque<Job>,
    details: VecDeque<Job>,
    /// Tests behind one that was lost.
    rest: VecDeque<Vec<Test>>,
    /// What was named last.
    pending: Option<(Vec<Test>, Process, Why)>,
    further: further::Tried,
    pub(super) was_cut: bool,
    pub(super) was_stopped: bool,
    /// All normal orders of at most so many tests were run.
    pub(super) k: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    Search,
    Answer,
}

impl Detect {
    /// A search of the whole suite.
    pub(crate) fn new(suite: Suite, options: Options) -> Detect {
        let n = suite.len();
        let cover = || Phase::cover(&suite, options.seed);
        let candidates = options
            .data
            .as_ref()
            .map(|data| Phase::candidates(&suite, data));
        let mut phases = vec![Phase::Default(2)];
        match options.strategy {
            Strategy::Auto => {
                phases.extend([Phase::Isolate(0), Phase::Reverse(true)]);
                phases.extend(candidates.into_iter().flatten());
                phases.push(cover());
            }
            Strategy::Reverse => phases.push(Phase::Reverse(true)),
            Strategy::Random => {
                let chance = fastrand::Rng::with_seed(options.seed);
                phases.push(Phase::Random(chance, usize::MAX));
            }
            Strategy::Isolate => phases.push(Phase::Isolate(0)),
            Strategy::Pairs => phases.push(Phase::Within(Sequences::new(2, None, None))),
            Strategy::Within(k) => phases.push(Phase::Within(Sequences::new(k, None, None))),
            Strategy::Data => {
                let data = options.data.clone().unwrap_or_default();
                phases.push(Phase::Within(Sequences::new(2, Some(data), None)));
            }
            Strategy::Cover => match candidates {
                Some(candidates) => {
                    // Without it, of what runs in one order only nobody knows whether it matters.
                    phases.push(Phase::Isolate(0));
                    phases.extend(candidates);
                }
                None => phases.push(cover()),
            },
        }
        let mut detect = Detect::with(suite, options, phases);
        detect.reference = vec![None; n];
        detect
    }

    /// A search for what one test depends on: in `orders`, which should show it, or, without
    /// any, in the whole suite.
    pub(crate) fn of_one(
        suite: Suite,
        options: Options,
        test: Test,
        orders: Vec<Vec<Test>>,
    ) -> Detect {
        let alone = Phase::one("alone", vec![test]);
        let mut phases = vec![alone];
        match orders.is_empty() {
            false => phases.extend(orders.into_iter().map(|order| Phase::one("given", order))),
            true => phases.extend([
                Phase::Default(2),
                Phase::Reverse(true),
                Phase::Within(Sequences::new(2, None, Some(test))),
            ]),
        }
        let mut detect = Detect::with(suite, options, phases);
        detect.only = Some(test);
        detect
    }

    /// Finds out which of the data dependences in `options` are manifest: `order refine`.
    pub(crate) fn refine(suite: Suite, options: Options) -> Detect {
        let data = options.data.clone().unwrap_or_default();
        let phases = vec![Phase::Default(2), Phase::Refine(Refine::new(&data))];
        Detect::with(suite, options, phases)
    }

    /// What became of the data dependences that [`refine`](Detect::refine) looked at: the
    /// later test, the earlier one that it depends on, and whether that is manifest.
    pub(crate) fn refined(&self) -> Vec<(Test, Test, Refined)> {
        let phases = self.phases.iter().chain(&self.over);
        let refine = phases.filter_map(|phase| match phase {
            Phase::Refine(refine) => Some(refine.edges()),
            _ => None,
        });
        refine.flatten().collect()
    }

    fn with(suite: Suite, options: Options, phases: Vec<Phase>) -> Detect {
        let n = suite.len();
        Detect {
            suite,
            options,
            only: None,
            changed: None,
            before: None,
            phases: phases.into(),
            over: Vec::new(),
            memory: Memory::default(),
            runs: Vec::new(),
            known: (0..n).map(|_| Known::default()).collect(),
            reference: vec![None; n],
            news: VecDeque::new(),
            details: VecDeque::new(),
            rest: VecDeque::new(),
            pending: None,
            further: further::Tried::default(),
            was_cut: false,
            was_stopped: false,
            k: 0,
        }
    }

    /// Ends the search early: nobody runs its orders any more.
    pub(crate) fn stop(&mut self) {
        (self.was_cut, self.was_stopped) = (true, true);
    }

    fn most_rules(&self) -> usize {
        match self.only {
            Some(_) => RULES_OF_ONE,
            None => RULES,
        }
    }

    /// Counts what was run for it before.
    pub(crate) fn charge(&mut self, before: Spent) {
        let spent = &mut self.memory.spent;
        spent.orders += before.orders;
        spent.executions += before.executions;
        spent.elapsed += before.elapsed;
        spent.cpu += before.cpu;
    }

    /// What the orders so far have cost.
    pub(crate) fn spent(&self) -> Spent {
        self.memory.spent
    }

    /// The part of the search that it is in.
    pub(crate) fn phase(&self) -> String {
        match (&self.pending, self.phases.front()) {
            (Some((_, _, Why::Answer)), _) => "explain".to_owned(),
            (_, Some(phase)) => phase.name(),
            (_, None) => "further causes".to_owned(),
        }
    }

    /// The next order to run, and why.
    fn choose(&mut self) -> Option<(Vec<Test>, Process, Why)> {
        loop {
            if self.options.budget.is_spent(&self.memory.spent, 1.0) {
                self.was_cut = true;
                return None;
            }
            if let Some(job) = self.news.front().copied() {
                match self.work(job) {
                    Some((order, process)) => return Some((order, process, Why::Answer)),
                    None => self.news.pop_front(),
                };
                continue;
            }
            if let Some(order) = self.searched() {
                return Some((order, Process::Forked, Why::Search));
            }
            let job = self.details.front().copied()?;
            match self.work(job) {
                Some((order, process)) => return Some((order, process, Why::Answer)),
                None => self.details.pop_front(),
            };
        }
    }

    /// The next order of the search itself.
    fn searched(&mut self) -> Option<Vec<Test>> {
        if self.options.budget.is_spent(&self.memory.spent, SEARCH) {
            self.was_cut |= !self.phases.is_empty();
            return None;
        }
        if let Some(rest) = self.rest.pop_front() {
            return Some(rest);
        }
        while let Some(phase) = self.phases.front_mut() {
            let is_default = matches!(phase, Phase::Default(_));
            while let Some(order) = phase.next(&self.suite, &self.memory) {
                let changed = self.changed.as_ref().filter(|_| !is_default);
                if changed.is_some_and(|changed| !order.iter().any(|one| changed.contains(one))) {
                    continue;
                }
                match self.only {
                    // What runs after the test says nothing of it.
                    Some(only) => {
                        let end = order.iter().position(|test| *test == only);
                        if let Some(end) = end {
                            return Some(order[..=end].to_vec());
                        }
                    }
                    None => return Some(order),
                }
            }
            self.end_phase();
        }
        // Cleaners first: what they explain needs no order without the polluter.
        match self.details.is_empty() {
            true => self.without_known(),
            false => None,
        }
    }

    fn end_phase(&mut self) {
        if let Some(phase) = self.phases.pop_front() {
            self.k = self.k.max(phase.bound());
            self.over.push(phase);
        }
    }

    /// An order without what a dependent test is known to depend on.
    fn without_known(&mut self) -> Option<Vec<Test>> {
        if !matches!(self.options.strategy, Strategy::Auto) && self.only.is_none() {
            return None;
        }
        let next = self.further.next(&self.known, &self.runs, self.only);
        next.or_else(|| {
            let rules = &self.known[self.only? as usize].rules;
            self.further.between(&self.suite, rules)
        })
    }

    /// Goes on with a job; `None`: it is done.
    fn work(&mut self, job: Job) -> Option<(Vec<Test>, Process)> {
        let (test, answer) = match job {
            Job::Explain { test, run, place } => (test, self.explain(test, run, place)),
            Job::Confirm { test } => (test, self.confirm(test)),
        };
        match answer {
            Ok(()) => None,
            Err(Stop::Wants(order, process)) => Some((order, process)),
            Err(Stop::Flips) => {
                let known = &mut self.known[test as usize];
                known.is_flaky = true;
                None
            }
        }
    }

    /// Finds the shortest order that explains how `test` ended at a place of a run, and
    /// adds it to its rules.
    fn explain(&mut self, test: Test, run: usize, place: usize) -> Answer<()> {
        let run = &self.runs[run];
        let (upto, word) = (&run.order[..=place], run.words[place]);
        let known = &self.known[test as usize];
        let ask = Ask {
            memory: &self.memory,
        };
        let mut rules = known.rules.clone();
        if rules.0.is_empty() {
            let word = ask.word(&[test])?;
            rules.0.push(Rule {
                order: vec![test],
                word,
                parent: None,
            });
        }
        let found = match rules.fails_to_explain(upto, word) {
            Some(parent) if !known.is_flaky && rules.0.len() < self.most_rules() => {
                let fixed = &rules.0[parent].order;
                let shown = Shown {
                    before: &upto[..place],
                    test,
                    word,
                    fixed,
                    is_thorough: self.only.is_some(),
                };
                let least = shown.shrink(ask, &self.guesses(&rules, parent, test, upto))?;
                Some(shown.rule(ask, &least, parent, &rules)?)
            }
            _ => None,
        };
        let known = &mut self.known[test as usize];
        let is_news = known.rules.0.len() != rules.0.len() || found.is_some();
        known.rules = rules;
        known.suspicion = None;
        if let Some(found) = found {
            known.rules.0.push(found);
            self.news.push_back(Job::Confirm { test });
        }
        if is_news {
            self.look_again(test);
        }
        Ok(())
    }

    /// Tests that are likely to explain it: what others of the same scope and kind were
    /// explained by, what writes what the test reads, the test directly before.
    fn guesses(&self, rules: &Rules, parent: usize, test: Test, upto: &[Test]) -> Vec<Test> {
        let is_first = rules.0[parent].parent.is_none();
        let mut often: Vec<(usize, Test)> = Vec::new();
        for known in &self.known {
            for (at, rule) in known.rules.0.iter().enumerate().skip(1) {
                let is_same = known.rules.0[rule.parent.unwrap_or(0)].parent.is_none() == is_first;
                let added = known.rules.added(at);
                if let ([one], true) = (added.as_slice(), is_same) {
                    match often.iter_mut().find(|(_, test)| test == one) {
                        Some((times, _)) => *times += 1,
                        None => often.push((1, *one)),
                    }
                }
            }
        }
        often.sort_by_key(|(times, test)| (std::cmp::Reverse(*times), *test));
        let mut guesses: Vec<Test> = often.into_iter().map(|(_, test)| test).collect();
        guesses.retain(|guess| upto.contains(guess) && *guess != test);
        guesses.truncate(GUESSES);
        if let (Some(data), true) = (&self.options.data, is_first) {
            let before = upto.iter().rev().skip(1);
            let writers = before.filter(|writer| data.feeds(**writer, test));
            guesses.extend(writers.take(GUESSES));
        }
        guesses.extend(upto.iter().rev().nth(1));
        guesses
    }

    /// Whether the outcomes of a finding repeat, in forks and in a process of its own.
    fn confirm(&mut self, test: Test) -> Answer<()> {
        let ask = Ask {
            memory: &self.memory,
        };
        let known = &self.known[test as usize];
        let reference = self.reference[test as usize];
        let mut verdicts = vec![Verdict::default(); known.rules.0.len()];
        let mut fresh = 0;
        for (at, rule) in known.rules.0.iter().enumerate() {
            let says = known.rules.says(at, reference);
            ask.times(&rule.order, Process::Forked, TIMES)?;
            verdicts[at].forked = true;
            let is_finding = matches!(says, Says::Alone | Says::Setters | Says::Polluters);
            if !is_finding || !self.options.fresh || fresh > FRESH {
                continue;
            }
            fresh += 1;
            let mut word = ask.times(&rule.order, Process::Fresh, 1)?;
            if word != rule.word {
                word = ask.times(&rule.order, Process::Fresh, 2)?;
            }
            verdicts[at].fresh = Some(word == rule.word);
        }
        self.known[test as usize].confirmed = verdicts;
        Ok(())
    }

    /// Has each order of the search compared with the rules of `test`.
    fn look_again(&mut self, test: Test) {
        for run in 0..self.runs.len() {
            let place = self.runs[run].order.iter().position(|other| *other == test);
            if let Some(place) = place {
                self.suspect(test, run, place, self.most_rules());
            }
        }
    }

    /// Has it explained if `test`, with fewer rules than that, ended at a place of a run
    /// otherwise than is known of it. Returns whether it did.
    fn suspect(&mut self, test: Test, run: usize, place: usize, rules: usize) -> bool {
        let (order, word) = (&self.runs[run].order, self.runs[run].words[place]);
        let known = &mut self.known[test as usize];
        let is_looked_at = self.only.is_none_or(|only| only == test);
        if known.is_flaky || !is_looked_at || word.is_none() || known.rules.0.len() >= rules {
            return false;
        }
        let upto = &order[..=place];
        let is_odd = match known.rules.0.is_empty() {
            true => *known.first.get_or_insert(word) != word,
            false => known.rules.fails_to_explain(upto, word).is_some(),
        };
        if !is_odd {
            return false;
        }
        let job = Job::Explain { test, run, place };
        let queue = match known.rules.0.len() {
            0 | 1 => {
                known.suspicion.get_or_insert_with(|| upto.to_vec());
                &mut self.news
            }
            _ => &mut self.details,
        };
        if !queue.contains(&job) {
            queue.push_back(job);
        }
        true
    }

    /// Takes in an order of the search.
    fn learn(&mut self, order: Vec<Test>, words: Vec<Word>) {
        // The default order, or its beginning.
        let is_default = order.iter().zip(0..).all(|(test, place)| *test == place);
        if is_default {
            for (test, word) in order.iter().zip(&words) {
                let reference = &mut self.reference[*test as usize];
                match (*reference, *word) {
                    (None, word) => *reference = word,
                    (Some(_), None) => {}
                    (before, word) => self.known[*test as usize].is_flaky |= before != word,
                }
            }
        }
        let reached = words.iter().filter(|word| word.is_some()).count();
        if reached < order.len() && !is_default {
            // Those behind the one that was lost; fewer each time.
            self.rest.push_back(order[reached..].to_vec());
        }
        let end = order.len();
        self.look_at(order, words, end, self.most_rules());
        let over = self.phases.front().map(|phase| phase.is_over(&self.suite));
        if over == Some(true) && self.rest.is_empty() {
            self.end_phase();
        }
    }

    /// Compares the first tests of an order, up to `end`, with what is known of them, if
    /// they have fewer rules than that.
    fn look_at(&mut self, order: Vec<Test>, words: Vec<Word>, end: usize, rules: usize) {
        let (first, word) = (order[0], words[0]);
        let is_kept = rules == self.most_rules() && end > 1;
        let run = self.runs.len();
        self.runs.push(Run { order, words });
        let known = &mut self.known[first as usize];
        if known.rules.0.is_empty() && word.is_some() {
            known.rules.0.push(Rule {
                order: vec![first],
                word,
                parent: None,
            });
            self.look_again(first);
        }
        let mut is_odd = false;
        for place in 0..end {
            is_odd |= self.suspect(self.runs[run].order[place], run, place, rules);
        }
        if !is_kept && !is_odd {
            self.runs.pop();
        }
    }
}

impl Stepper for Detect {
    fn next(&mut self) -> Option<Step> {
        if self.pending.is_none() {
            self.pending = self.choose();
        }
        let (order, process, _) = self.pending.as_ref()?;
        Some(Step {
            order: self.suite.name(order),
            process: *process,
        })
    }

    fn observe(&mut self, step: &Step, ended: &Ended) {
        let Some((order, process, why)) = self.pending.take() else {
            return;
        };
        debug_assert_eq!(self.suite.name(&order), step.order);
        let words = self.memory.add(&self.suite, &order, process, ended);
        match why {
            Why::Search => self.learn(order, words),
            // It was run for its last test; others of it may be news.
            Why::Answer if process == Process::Forked => {
                let end = order.len() - 1;
                self.look_at(order, words, end, 2);
            }
            Why::Answer => {}
        }
    }
}

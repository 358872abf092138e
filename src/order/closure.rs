//! What a selection needs beside it, so that tests that depend on others end in it as they
//! do in the full run.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::Suite;
use super::found::{Dependent, Detected, Kind};
use super::rules::contains;
use super::suite::Test;

/// A test that was not selected, and runs for another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Brought {
    pub(crate) test: Test,
    pub(crate) because: Because,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Because {
    /// It is one of the tests before this one without which it ends otherwise.
    SetsUp(Test),
    /// It undoes, between them, what `polluter` does to `victim`.
    Cleans { polluter: Test, victim: Test },
}

/// A selection with what it needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Closed {
    /// In their default order.
    pub(crate) tests: BTreeSet<Test>,
    pub(crate) brought: Vec<Brought>,
    /// Tests for which nothing is known that would make them end as in the full run.
    pub(crate) doubts: BTreeSet<Test>,
}

/// The manifest dependences of a suite, as they count in its default order.
#[derive(Debug)]
pub(crate) struct Manifest<'a> {
    found: FxHashMap<Test, Needs<'a>>,
    seconds: Vec<f64>,
}

/// What one test depends on.
#[derive(Debug)]
struct Needs<'a> {
    dependent: &'a Dependent,
    /// Those that are in the default order, shortest first.
    witnesses: Vec<Vec<Test>>,
    cleaners: Vec<Test>,
    /// All tests of all witnesses, and the cleaners.
    with: BTreeSet<Test>,
}

impl<'a> Manifest<'a> {
    /// Of findings about `suite`; `seconds` of each of its tests. What they say of tests that
    /// the suite has not is left out.
    pub(crate) fn new(suite: &Suite, found: &'a Detected, seconds: Vec<f64>) -> Manifest<'a> {
        let mut by_test = FxHashMap::default();
        for dependent in &found.dependent {
            let Some(test) = suite.find(&dependent.id) else {
                continue;
            };
            let witness = |order: &Vec<String>| -> Option<Vec<Test>> {
                order.iter().map(|id| suite.find(id)).collect()
            };
            let orders = dependent.witnesses.iter();
            let mut witnesses: Vec<Vec<Test>> = orders.filter_map(witness).collect();
            let cleaners = dependent.cleaners.iter();
            let cleaners: Vec<Test> = cleaners.filter_map(|id| suite.find(id)).collect();
            let with = witnesses
                .iter()
                .flatten()
                .chain(&cleaners)
                .copied()
                .collect();
            witnesses.retain(|order| order.is_sorted());
            witnesses.sort_by_key(Vec::len);
            let needs = Needs {
                dependent,
                witnesses,
                cleaners,
                with,
            };
            by_test.insert(test, needs);
        }
        Manifest {
            found: by_test,
            seconds,
        }
    }

    /// `selected` with the cheapest tests that it needs, to run in the default order. A test
    /// that ends alone otherwise than in the full run brings the tests of a witness; a
    /// polluter and its victim bring a cleaner that stands between them.
    pub(crate) fn close(&self, selected: &BTreeSet<Test>) -> Closed {
        let mut closed = Closed {
            tests: selected.clone(),
            ..Closed::default()
        };
        loop {
            let mut brought = Vec::new();
            for test in &closed.tests {
                if let Some(needs) = self.found.get(test) {
                    match self.missing(&closed.tests, *test, needs) {
                        Ok(missing) => brought.extend(missing),
                        Err(Unknown) => _ = closed.doubts.insert(*test),
                    }
                }
                if !brought.is_empty() {
                    break;
                }
            }
            if brought.is_empty() {
                return closed;
            }
            closed
                .tests
                .extend(brought.iter().map(|brought| brought.test));
            closed.brought.extend(brought);
        }
    }

    /// The tests that need something which is not there.
    pub(super) fn lacking(&self, there: &BTreeSet<Test>) -> Vec<Test> {
        let lacks = |test: &&Test| {
            let needs = self.found.get(test);
            let missing = needs.map(|needs| self.missing(there, **test, needs));
            matches!(missing, Some(Ok(missing)) if !missing.is_empty())
        };
        there.iter().filter(lacks).copied().collect()
    }

    /// What `test` needs that is not there.
    fn missing(
        &self,
        there: &BTreeSet<Test>,
        test: Test,
        needs: &Needs,
    ) -> Result<Vec<Brought>, Unknown> {
        let reference = needs.dependent.reference;
        let is_brittle = needs.dependent.kind == Kind::Brittle;
        match reference.map_or(is_brittle, |word| word != needs.dependent.alone) {
            true => self.missing_before(there, test, needs),
            false => self.missing_between(there, test, needs),
        }
    }

    /// Of a test that ends alone otherwise than in the full run: the cheapest tests with
    /// which it ends as there.
    fn missing_before(
        &self,
        there: &BTreeSet<Test>,
        test: Test,
        needs: &Needs,
    ) -> Result<Vec<Brought>, Unknown> {
        if needs.shortest().any(|order| needs.holds(order, there)) {
            return Ok(Vec::new());
        }
        let cleaners = needs.cleaners.iter().map(|cleaner| Some(*cleaner));
        let ways = needs.shortest().flat_map(|order| {
            let helped = cleaners.clone().chain([None]);
            helped.map(move |cleaner| order.iter().copied().chain(cleaner))
        });
        let ways = ways.filter_map(|way| {
            let all: BTreeSet<Test> = there.iter().copied().chain(way).collect();
            let holds = needs.shortest().any(|order| needs.holds(order, &all));
            holds.then(|| all.difference(there).copied().collect::<Vec<Test>>())
        });
        let cost = |tests: &[Test]| tests.iter().map(|test| self.cost(*test)).sum::<f64>();
        let cheapest = ways.min_by(|a, b| cost(a).total_cmp(&cost(b)));
        let because = Because::SetsUp(test);
        let brought = |test| Brought { test, because };
        Ok(cheapest.ok_or(Unknown)?.into_iter().map(brought).collect())
    }

    /// Of a test that ends alone as in the full run: the cheapest cleaner between it and
    /// polluters that are there.
    fn missing_between(
        &self,
        there: &BTreeSet<Test>,
        test: Test,
        needs: &Needs,
    ) -> Result<Vec<Brought>, Unknown> {
        for order in needs.witnesses.iter().filter(|order| is_in(order, there)) {
            let polluter = order[order.len().saturating_sub(2)];
            let cleaners = needs.cleaners.iter().copied();
            let mut between = cleaners.filter(|cleaner| (polluter..test).contains(cleaner));
            if between.clone().any(|cleaner| there.contains(&cleaner)) {
                continue;
            }
            let cheapest = between
                .by_ref()
                .min_by(|a, b| self.cost(*a).total_cmp(&self.cost(*b)));
            let because = Because::Cleans {
                polluter,
                victim: test,
            };
            let test = cheapest.ok_or(Unknown)?;
            return Ok(vec![Brought { test, because }]);
        }
        Ok(Vec::new())
    }

    /// The tests of `there` that others of it may need as they are.
    pub(crate) fn relied_on(&self, there: &BTreeSet<Test>) -> BTreeSet<Test> {
        let needs = self.found.iter().filter(|(test, _)| there.contains(test));
        let with = needs.flat_map(|(test, needs)| {
            let others = needs.with.iter().copied();
            others.filter(move |other| other != test)
        });
        with.filter(|test| there.contains(test)).collect()
    }

    /// Sets of tests that have to run on one machine, each in the default order, for all of
    /// them to end as in the full run. A polluter that runs after its victims in that order
    /// binds nobody.
    pub(crate) fn together(&self) -> Vec<BTreeSet<Test>> {
        let bound = self.found.iter().filter_map(|(test, needs)| {
            let mut group: BTreeSet<Test> = needs.witnesses.iter().flatten().copied().collect();
            if group.is_empty() {
                return None;
            }
            group.extend(needs.cleaners.iter().filter(|cleaner| *cleaner < test));
            Some(group)
        });
        joined(bound)
    }

    /// Sets of tests that have to do with one another, in whatever order they run.
    pub(crate) fn tied(&self) -> Vec<BTreeSet<Test>> {
        let with = self.found.iter().map(|(test, needs)| {
            let others = needs.with.iter().copied();
            others.chain([*test]).collect()
        });
        joined(with)
    }

    /// Pairs of tests that have to do with one another, in whatever order: those of a
    /// witness, a test and what cleans for it.
    pub(super) fn ties(&self) -> Vec<(Test, Test)> {
        let mut ties = Vec::new();
        for (test, found) in &self.found {
            ties.extend(found.with.iter().map(|other| (*other, *test)));
        }
        ties.sort_unstable();
        ties
    }

    /// Seconds that `test` takes.
    pub(super) fn cost(&self, test: Test) -> f64 {
        self.seconds.get(test as usize).copied().unwrap_or_default()
    }
}

/// Sets that share a test become one.
fn joined(sets: impl Iterator<Item = BTreeSet<Test>>) -> Vec<BTreeSet<Test>> {
    let mut groups: Vec<BTreeSet<Test>> = Vec::new();
    for mut group in sets {
        let (touched, apart): (Vec<_>, Vec<_>) = std::mem::take(&mut groups)
            .into_iter()
            .partition(|other| !other.is_disjoint(&group));
        group.extend(touched.into_iter().flatten());
        groups = apart;
        groups.push(group);
    }
    groups.sort();
    groups
}

fn is_in(order: &[Test], there: &BTreeSet<Test>) -> bool {
    order.iter().all(|test| there.contains(test))
}

impl Needs<'_> {
    /// The witnesses that contain no other one: those that do undo what that one shows.
    fn shortest(&self) -> impl Iterator<Item = &Vec<Test>> {
        let inside =
            |order: &Vec<Test>, other: &Vec<Test>| other != order && contains(order, other);
        let undoes =
            move |order: &Vec<Test>| self.witnesses.iter().any(|other| inside(order, other));
        self.witnesses.iter().filter(move |order| !undoes(order))
    }

    /// Whether `order` is there, and nothing that would undo it.
    fn holds(&self, order: &[Test], there: &BTreeSet<Test>) -> bool {
        let last = order[order.len() - 1];
        let is_cleaned = |after: Test| {
            let cleaners = self.cleaners.iter();
            cleaners
                .copied()
                .any(|cleaner| (after..last).contains(&cleaner) && there.contains(&cleaner))
        };
        let undone = || {
            let mut longer = self.witnesses.iter().filter(|other| {
                other.len() > order.len() && contains(other, order) && is_in(other, there)
            });
            longer.any(|other| !is_cleaned(other[other.len() - 2]))
        };
        is_in(order, there)
            && match self.dependent.kind {
                Kind::Victim => !is_cleaned(order[0]),
                Kind::Brittle | Kind::Both => !undone(),
            }
    }
}

/// Nothing is known that would help.
struct Unknown;

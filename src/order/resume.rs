//! A search that goes on from what an earlier one has stored, and what it leaves for the next.

use std::collections::BTreeSet;

use bstr::BString;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::Suite;
use super::dependences::{Dependences, Tested};
use super::detect::{Detect, Verdict};
use super::found::{Covered, Dependent, Detected};
use super::rules::{Rule, Rules};
use super::search::Phase;
use super::suite::Test;
use crate::matrix::{Fingerprint, Key, Outcome};

/// Where and when orders are run: what is stored besides their outcomes.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) key: Key,
    /// 40 hex digits.
    pub(crate) commit: String,
    /// 40 hex digits.
    pub(crate) tree: String,
    /// Paths that differ from the commit, with what they hold.
    pub(crate) dirty: Vec<(BString, Fingerprint)>,
    /// Seconds since the epoch.
    pub(crate) now: u64,
    /// Digests of the rows that hold here, by test.
    pub(crate) rows: FxHashMap<String, Fingerprint>,
}

impl Place {
    /// The tests of `suite` with their rows.
    pub(crate) fn rows_of<'s>(&self, suite: &'s Suite) -> Vec<(&'s str, Option<Fingerprint>)> {
        let ids = suite.ids().iter();
        ids.map(|id| (id.as_str(), self.rows.get(id).copied()))
            .collect()
    }
}

/// All that is known of one test: shortest orders that end with it, and how it ends in them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Explained {
    /// Its place among the tests.
    pub(crate) test: Test,
    /// The first says how it ends alone.
    pub(crate) orders: Vec<Explanation>,
}

/// One of these orders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Explanation {
    /// Places of tests; the last is the explained one.
    pub(crate) order: Vec<Test>,
    pub(crate) outcome: Option<Outcome>,
    /// The order of this list that it adds tests to; the first has none.
    pub(crate) adds_to: Option<u32>,
    /// Whether it was seen three times in forks.
    pub(crate) forked: bool,
    /// Whether a process of its own showed the same; `None`: not tried.
    pub(crate) fresh: Option<bool>,
}

impl Explained {
    /// Whether it keeps the rules of the format, among so many tests.
    pub(super) fn is_sound(&self, tests: usize) -> bool {
        let one = |(at, explanation): (usize, &Explanation)| {
            let order = &explanation.order;
            let distinct: BTreeSet<&Test> = order.iter().collect();
            let adds_to = explanation.adds_to.map(|parent| parent as usize);
            distinct.len() == order.len()
                && order.iter().all(|test| (*test as usize) < tests)
                && order.last() == Some(&self.test)
                && match at {
                    0 => order.len() == 1 && adds_to.is_none(),
                    _ => adds_to.is_some_and(|parent| parent < at),
                }
        };
        !self.orders.is_empty() && self.orders.iter().enumerate().all(one)
    }

    /// The same with other places; `None`: one of its tests has none.
    fn moved(&self, to: impl Fn(Test) -> Option<Test>) -> Option<Explained> {
        let one = |explanation: &Explanation| {
            let order = explanation.order.iter().map(|test| to(*test));
            Some(Explanation {
                order: order.collect::<Option<_>>()?,
                ..explanation.clone()
            })
        };
        Some(Explained {
            test: to(self.test)?,
            orders: self.orders.iter().map(one).collect::<Option<_>>()?,
        })
    }
}

impl Dependences {
    /// Nothing is known yet of the tests of `suite`.
    pub(crate) fn nothing(suite: &Suite, place: &Place) -> Dependences {
        let tested = |(id, row): (&str, Option<Fingerprint>)| Tested {
            id: id.to_owned(),
            row,
            reference: None,
            seconds: 0.0,
        };
        let tests: Vec<Tested> = place.rows_of(suite).into_iter().map(tested).collect();
        let n = tests.len();
        Dependences {
            key: place.key.clone(),
            commit: place.commit.clone(),
            tree: place.tree.clone(),
            dirty: place.dirty.clone(),
            created: place.now,
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            tests,
            cells: Vec::new(),
            data: Vec::new(),
            explained: Vec::new(),
            found: Detected {
                schema: Detected::SCHEMA,
                tests: n,
                dependent: Vec::new(),
                flaky: Vec::new(),
                unconfirmed: Vec::new(),
                covered: Covered {
                    pairs_total: n * n.saturating_sub(1),
                    ..Covered::default()
                },
            },
        }
    }

    /// The same about the tests of `suite`, in their order: what is known of others is left
    /// out, and of those that are new nothing is known. Data dependences that point forwards
    /// in the new order are left out.
    pub(crate) fn about(&self, suite: &Suite) -> Dependences {
        let to = |test: Test| suite.find(&self.tests[test as usize].id);
        let mut known = self.clone();
        let mut old: FxHashMap<&str, &Tested> = FxHashMap::default();
        old.extend(self.tests.iter().map(|test| (test.id.as_str(), test)));
        let tested = |id: &String| match old.get(id.as_str()) {
            Some(tested) => (*tested).clone(),
            None => Tested {
                id: id.clone(),
                row: None,
                reference: None,
                seconds: 0.0,
            },
        };
        known.tests = suite.ids().iter().map(tested).collect();
        let explained = self.explained.iter();
        known.explained = explained.filter_map(|one| one.moved(to)).collect();
        known.data = { self.data.iter() }
            .filter_map(|edge| {
                let (earlier, later) = (to(edge.earlier)?, to(edge.later)?);
                let moved = super::DataEdge {
                    earlier,
                    later,
                    ..*edge
                };
                (earlier < later).then_some(moved)
            })
            .collect();
        let is_there = |id: &String| suite.find(id).is_some();
        known.found.keep(is_there);
        known.found.tests = suite.len();
        known
    }

    /// Takes in what a search found out; what it did not look at stays. `search` is about the
    /// same tests.
    pub(crate) fn take_in(&mut self, search: &Detect, now: u64) {
        let found = search.found();
        let looked_at = |id: &str| {
            let test = search.suite.find(id);
            test.is_some_and(|test| search.only.is_none_or(|only| only == test))
        };
        let ours = &mut self.found;
        // Forks share their files, so they do not show who needs one.
        let is_found = |id: &str| found.dependent.iter().any(|one| one.id == id);
        ours.dependent.retain(|one| {
            let stays = !looked_at(&one.id) || !one.confirmed.forked;
            stays && !is_found(&one.id)
        });
        ours.dependent.extend(found.dependent.iter().cloned());
        let place = |id: &str| search.suite.find(id);
        ours.dependent.sort_by_key(|one| place(&one.id));
        ours.flaky.retain(|id| !looked_at(id));
        ours.flaky.extend(found.flaky);
        ours.flaky.sort_by_key(|id| place(id));
        ours.unconfirmed.retain(|one| !looked_at(&one.id));
        ours.unconfirmed.extend(found.unconfirmed);
        if search.only.is_none() {
            ours.covered = found.covered;
        }
        let is_new = |test: Test| looked_at(search.suite.id(test));
        self.explained.retain(|one| !is_new(one.test));
        self.explained.extend(search.explained());
        self.explained.sort_by_key(|one| one.test);
        for (tested, test) in self.tests.iter_mut().zip(0..) {
            tested.reference = search.reference[test as usize].or(tested.reference);
            match search.memory.seconds(test) {
                0.0 => {}
                seconds => tested.seconds = seconds,
            }
        }
        // Two files of one second could not be told apart.
        self.created = now.max(self.created + 1);
        self.tool = env!("CARGO_PKG_VERSION").to_owned();
    }

    /// Takes in findings that no search of orders in forks can have, in place of others about
    /// the same tests.
    pub(crate) fn admit(&mut self, found: Vec<Dependent>, now: u64) {
        let ours = &mut self.found.dependent;
        ours.retain(|one| found.iter().all(|other| other.id != one.id));
        ours.extend(found);
        self.created = now.max(self.created + 1);
    }

    /// Those of such findings that `earlier` has, about the same tests.
    pub(crate) fn keep_unforked(&mut self, earlier: &Dependences) {
        let unforked = earlier.found.dependent.iter();
        let unforked = unforked.filter(|one| !one.confirmed.forked);
        self.found.dependent.extend(unforked.cloned());
    }

    /// The same at another state at which all of it holds.
    pub(crate) fn at(&self, place: &Place, suite: &Suite) -> Dependences {
        let here = Dependences::nothing(suite, place);
        let mut tests = self.tests.clone();
        for (tested, now) in tests.iter_mut().zip(&here.tests) {
            tested.row = now.row.or(tested.row);
        }
        Dependences {
            tests,
            cells: self.cells.clone(),
            data: self.data.clone(),
            explained: self.explained.clone(),
            found: self.found.clone(),
            created: place.now.max(self.created + 1),
            ..here
        }
    }

    /// Whether a row is known here of a test that has none in `other`, which is about the same
    /// tests.
    pub(crate) fn has_more_rows_than(&self, other: &Dependences) -> bool {
        let mut both = self.tests.iter().zip(&other.tests);
        both.any(|(ours, theirs)| ours.row.is_some() && theirs.row.is_none())
    }

    /// How the last test of `order` ends, if that is known.
    pub(crate) fn outcome_of(&self, order: &[String]) -> Option<Outcome> {
        let ids = |explanation: &Explanation| {
            let ids = explanation.order.iter();
            ids.map(|test| &self.tests[*test as usize].id)
                .eq(order.iter())
        };
        let all = self.explained.iter().flat_map(|one| &one.orders);
        { all }.find(|one| ids(one))?.outcome
    }
}

impl Detect {
    /// What is known of tests whose outcome needed an explanation.
    fn explained(&self) -> impl Iterator<Item = Explained> {
        let known = self.known.iter().zip(0..);
        known
            .filter(|(known, _)| known.rules.0.len() > 1 && !known.is_flaky)
            .map(|(known, test)| {
                let verdicts = known.confirmed.iter().copied();
                let verdicts = verdicts.chain(std::iter::repeat(Verdict::default()));
                let orders = known.rules.0.iter().zip(verdicts);
                let orders = orders.map(|(rule, verdict)| Explanation {
                    order: rule.order.clone(),
                    outcome: rule.word,
                    adds_to: rule.parent.map(|parent| parent as u32),
                    forked: verdict.forked,
                    fresh: verdict.fresh,
                });
                Explained {
                    test,
                    orders: orders.collect(),
                }
            })
    }

    /// Goes on from what is `known` of the same tests: only the `changed` ones are searched,
    /// each with all others. What is known of others is not explained again.
    ///
    /// Sound for what was covered: of tests that have not changed, the order matters as it
    /// did, so an order that no changed test is in ends as before. A test that was explained
    /// by one that has changed is searched too: what explained it may have hidden another
    /// cause.
    pub(crate) fn resume(&mut self, known: &Dependences, changed: &BTreeSet<Test>) {
        let is_about = |explained: &&Explained, changed: &BTreeSet<Test>| {
            let orders = explained.orders.iter().flat_map(|one| &one.order);
            { orders }.any(|test| changed.contains(test))
        };
        let explained = known.explained.iter();
        let again = { explained }.filter(|one| is_about(one, changed));
        let again = again.map(|one| one.test).collect::<Vec<Test>>();
        let changed: &BTreeSet<Test> = &changed.iter().copied().chain(again).collect();
        for explained in &known.explained {
            if changed.contains(&explained.test) {
                continue;
            }
            let of_test = &mut self.known[explained.test as usize];
            let rule = |one: &Explanation| Rule {
                order: one.order.clone(),
                word: one.outcome,
                parent: one.adds_to.map(|parent| parent as usize),
            };
            of_test.rules = Rules(explained.orders.iter().map(rule).collect());
            let verdict = |one: &Explanation| Verdict {
                forked: one.forked,
                fresh: one.fresh,
            };
            of_test.confirmed = explained.orders.iter().map(verdict).collect();
        }
        let holds = |id: &String| {
            let test = self.suite.find(id);
            test.filter(|test| !changed.contains(test))
        };
        for test in known.found.flaky.iter().filter_map(holds) {
            self.known[test as usize].is_flaky = true;
        }
        for doubt in &known.found.unconfirmed {
            let order: Option<Vec<Test>> = doubt.order.iter().map(holds).collect();
            if let Some((order, test)) = order.zip(holds(&doubt.id)) {
                self.known[test as usize].suspicion = Some(order);
            }
        }
        if changed.len() == self.suite.len() {
            return;
        }
        for phase in &mut self.phases {
            if let Phase::Cover { rows, pairs, .. } = phase {
                rows.clear();
                pairs.strike(|a, b| !changed.contains(&a) && !changed.contains(&b));
            }
        }
        self.before = Some(Before {
            covered: known.found.covered.clone(),
            unchanged: self.suite.len() - changed.len(),
        });
        self.changed = Some(changed.clone());
    }
}

/// What an earlier search has covered.
#[derive(Debug)]
pub(super) struct Before {
    covered: Covered,
    /// Tests for which that still holds.
    unchanged: usize,
}

impl Before {
    /// Whether each pair that data dependences suggested was adjacent in some order.
    pub(super) fn had_all_candidates(&self) -> bool {
        let candidates = self.covered.candidates.as_ref();
        candidates.is_some_and(|known| known.covered == known.pairs)
    }

    /// `covered` by this search, with what still holds of the earlier one.
    pub(super) fn join(&self, covered: Covered) -> Covered {
        let before = &self.covered;
        let pairs = self.unchanged * self.unchanged.saturating_sub(1);
        // Those that were not adjacent then may all be among the tests that have not changed.
        let lacking = before.pairs_total.saturating_sub(before.pairs);
        Covered {
            pairs: covered.pairs + pairs.saturating_sub(lacking),
            k: covered.k.min(before.k),
            cut_short: covered.cut_short || before.cut_short,
            ..covered
        }
    }
}

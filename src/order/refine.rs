//! From data dependences to manifest ones, one at a time [P III-B].

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::data::{Edge, EdgeKind};
use super::memory::{Memory, Word};
use super::suite::Test;
use super::{Data, Suite};

/// What became of a data dependence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Refined {
    /// It was not tried yet, or no order violates it and keeps the others.
    Untested,
    /// With the two tests the other way round both end as in the default order.
    Benign,
    /// One of them does not.
    Manifest,
}

/// The graph of data dependences: a later test and an earlier one that it depends on.
#[derive(Clone, Debug)]
pub(super) struct Refine {
    edges: BTreeMap<(Test, Test), Refined>,
    /// The edge that is being tested, and its order.
    target: Option<((Test, Test), Vec<Test>)>,
}

impl Refine {
    /// Of what a test reads after another wrote it, and overwrites after another read it.
    /// Two writes alone change no outcome.
    pub(super) fn new(data: &Data) -> Refine {
        let matters = |edge: &Edge| edge.kind != EdgeKind::WriteAfterWrite;
        let edges = data.edges().into_iter().filter(matters);
        let edges = edges.map(|edge| ((edge.later, edge.earlier), Refined::Untested));
        Refine {
            edges: edges.collect(),
            target: None,
        }
    }

    /// The order that tests the next edge: it is inverted, all others are kept, tests
    /// outside of its component and behind its two tests are left out. Edges of later tests
    /// come first, and of these the one to the latest test ("source first"), so that what
    /// else a test needs is there. An edge that would close a cycle waits until others are
    /// gone.
    pub(super) fn next(&mut self, suite: &Suite, memory: &Memory) -> Option<Vec<Test>> {
        self.judge(suite, memory);
        let untested = self
            .edges
            .iter()
            .rev()
            .filter(|(_, is)| **is == Refined::Untested);
        let (edge, order) = untested
            .map(|(edge, _)| *edge)
            .find_map(|edge| Some((edge, self.inverted(edge)?)))?;
        self.target = Some((edge, order.clone()));
        Some(order)
    }

    /// Compares the two tests of the edge that was tested with the default order.
    fn judge(&mut self, suite: &Suite, memory: &Memory) {
        let Some((edge, order)) = self.target.take() else {
            return;
        };
        let word = |order: &[Test], test: Test| -> Option<Word> {
            let end = order.iter().position(|other| *other == test)?;
            let seen = memory.last(&order[..=end], super::Process::Forked);
            seen.ok().flatten().map(|(word, _)| word)
        };
        let all = suite.all();
        let is_same = |test| word(&order, test).is_some_and(|now| word(&all, test) == Some(now));
        let is = match is_same(edge.0) && is_same(edge.1) {
            true => Refined::Benign,
            false => Refined::Manifest,
        };
        self.edges.insert(edge, is);
    }

    /// The tests of the component of `edge`, up to its two tests, in the order nearest to
    /// the default one that inverts it and keeps all other edges; `None`: there is none.
    fn inverted(&self, edge: (Test, Test)) -> Option<Vec<Test>> {
        let kept = self.edges.iter().filter(|(_, is)| **is != Refined::Benign);
        let kept: Vec<(Test, Test)> = kept.map(|(other, _)| *other).collect();
        let component = component(&kept, edge.0);
        let mut before: BTreeMap<Test, BTreeSet<Test>> = component
            .iter()
            .map(|test| (*test, BTreeSet::new()))
            .collect();
        for other in kept {
            let (later, earlier) = match other == edge {
                true => (edge.1, edge.0),
                false => other,
            };
            if let Some(before) = before.get_mut(&later) {
                before.insert(earlier);
            }
        }
        let mut order: Vec<Test> = Vec::new();
        while !order.contains(&edge.1) {
            let is_free = |(_, before): &(&Test, &BTreeSet<Test>)| before.is_empty();
            let next = *before.iter().find(is_free)?.0;
            before.remove(&next);
            for before in before.values_mut() {
                before.remove(&next);
            }
            order.push(next);
        }
        Some(order)
    }

    /// All edges: the later test, the earlier one, what became of it.
    pub(super) fn edges(&self) -> Vec<(Test, Test, Refined)> {
        let edges = self.edges.iter();
        edges
            .map(|((later, earlier), is)| (*later, *earlier, *is))
            .collect()
    }
}

/// All tests that edges connect with `test`, in whatever direction.
fn component(edges: &[(Test, Test)], test: Test) -> BTreeSet<Test> {
    let mut near: BTreeMap<Test, Vec<Test>> = BTreeMap::new();
    for (a, b) in edges {
        near.entry(*a).or_default().push(*b);
        near.entry(*b).or_default().push(*a);
    }
    let (mut found, mut open) = (BTreeSet::from([test]), vec![test]);
    while let Some(next) = open.pop() {
        let new = near.get(&next).into_iter().flatten();
        open.extend(new.filter(|other| found.insert(**other)));
    }
    found
}

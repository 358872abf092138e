//! What a search knows at any time, as its answer.

use super::detect::{Detect, Known, Verdict};
use super::found::{Candidates, Confirmed, Covered, Dependent, Detected, Doubt, Kind, Unconfirmed};
use super::resume::Before;
use super::rules::{Rule, Says, contains, is_good};
use super::search::Phase;
use super::suite::Test;

/// Candidates that were not covered and are named.
const MOST_LEFT: usize = 100;

impl Detect {
    /// What is known now; a search that was interrupted keeps it.
    pub(crate) fn found(&self) -> Detected {
        let mut found = Detected {
            schema: Detected::SCHEMA,
            tests: self.suite.len(),
            dependent: Vec::new(),
            flaky: Vec::new(),
            unconfirmed: Vec::new(),
            covered: self.covered(),
        };
        for (test, known) in self.known.iter().enumerate() {
            let test = test as Test;
            let id = self.suite.id(test).to_owned();
            if known.is_flaky {
                found.flaky.push(id);
            } else if let Some(dependent) = self.dependent(test, known) {
                found.dependent.push(dependent);
            } else if let Some((reason, order)) = self.doubt(known) {
                let order = self.suite.name(&order);
                found.unconfirmed.push(Unconfirmed { id, reason, order });
            }
        }
        found
    }

    fn covered(&self) -> Covered {
        let spent = self.spent();
        let n = self.suite.len();
        let covered = Covered {
            strategies: self.over.iter().map(Phase::name).collect(),
            pairs: self.memory.pairs(|a, b| self.is_new(a, b)),
            pairs_total: n * n.saturating_sub(1),
            candidates: self.candidates(),
            k: self.k,
            orders: spent.orders,
            executions: spent.executions,
            cpu_seconds: spent.cpu,
            cut_short: self.was_cut,
            interrupted: self.was_stopped,
        };
        match &self.before {
            Some(before) => before.join(covered),
            None => covered,
        }
    }

    /// Whether one of them is to be searched.
    fn is_new(&self, one: Test, other: Test) -> bool {
        let changed = self.changed.as_ref();
        changed.is_none_or(|changed| changed.contains(&one) || changed.contains(&other))
    }

    fn candidates(&self) -> Option<Candidates> {
        let mut pairs: Vec<(Test, Test)> =
            self.options.data.as_ref()?.pairs().into_iter().collect();
        let total = pairs.len();
        let were_all = self.before.as_ref().is_some_and(Before::had_all_candidates);
        pairs.retain(|(writer, reader)| {
            let is_open = !were_all || self.is_new(*writer, *reader);
            is_open && !self.memory.were_adjacent(*writer, *reader)
        });
        pairs.sort_unstable();
        let named = pairs
            .iter()
            .map(|(a, b)| [*a, *b].map(|test| self.suite.id(test).to_owned()));
        Some(Candidates {
            pairs: total,
            covered: total - pairs.len(),
            left: named.take(MOST_LEFT).collect(),
        })
    }

    /// Whether rule `at` was seen again in forks, and no fresh process says otherwise.
    fn stands(known: &Known, at: usize) -> bool {
        let verdict = known.confirmed.get(at).copied().unwrap_or_default();
        verdict.forked && verdict.fresh != Some(false)
    }

    fn dependent(&self, test: Test, known: &Known) -> Option<Dependent> {
        if !Detect::stands(known, 0) {
            return None;
        }
        let reference = self.reference[test as usize];
        let rules = &known.rules;
        let (mut witnesses, mut cleaners): (Vec<&Vec<Test>>, Vec<Test>) = Default::default();
        let (mut needs, mut is_polluted, mut fresh) = (false, false, false);
        for (at, rule) in rules.0.iter().enumerate().skip(1) {
            let says = rules.says(at, reference);
            if !Detect::stands(known, at) {
                continue;
            }
            if let (Says::Cleaners, [cleaner]) = (says, &rules.added(at)[..]) {
                cleaners.push(*cleaner);
            }
            let is_finding = matches!(says, Says::Setters | Says::Polluters);
            let is_shorter = |other: &Rule| {
                other != rule && other.word == rule.word && contains(&rule.order, &other.order)
            };
            if !is_finding || rules.0.iter().skip(1).any(is_shorter) {
                continue;
            }
            needs |= says == Says::Setters;
            is_polluted |= says == Says::Polluters;
            fresh |= known.confirmed[at].fresh == Some(true);
            witnesses.push(&rule.order);
        }
        let kind = match (needs, is_polluted) {
            (false, false) => return None,
            (false, true) => Kind::Victim,
            (true, false) => Kind::Brittle,
            (true, true) => Kind::Both,
        };
        let cost = |order: &[Test]| {
            order
                .iter()
                .map(|test| self.memory.seconds(*test))
                .sum::<f64>()
        };
        witnesses.sort_by(|a, b| {
            let by_cost = || cost(a).total_cmp(&cost(b));
            a.len().cmp(&b.len()).then_with(by_cost)
        });
        cleaners.sort_unstable();
        cleaners.dedup();
        let alone = rules.0[0].word?;
        Some(Dependent {
            id: self.suite.id(test).to_owned(),
            kind,
            reference,
            alone,
            cells: self.cells(test, &witnesses),
            witnesses: witnesses
                .into_iter()
                .map(|order| self.suite.name(order))
                .collect(),
            cleaners: self.suite.name(&cleaners),
            masked: !alone.is_good() && is_good(reference),
            confirmed: Confirmed {
                forked: true,
                fresh: fresh && known.confirmed[0].fresh == Some(true),
            },
        })
    }

    /// The cells that tests of a witness write and `test` reads.
    fn cells(&self, test: Test, witnesses: &[&Vec<Test>]) -> Vec<String> {
        let Some(data) = &self.options.data else {
            return Vec::new();
        };
        let writers = witnesses.iter().flat_map(|order| order.iter());
        let cells = writers.flat_map(|writer| data.between(*writer, test));
        let mut cells: Vec<String> = cells.map(str::to_owned).collect();
        cells.sort_unstable();
        cells.dedup();
        cells
    }

    /// Why a test that looked dependent is not said to be.
    fn doubt(&self, known: &Known) -> Option<(Doubt, Vec<Test>)> {
        let contradicts = |verdict: &Verdict| verdict.fresh == Some(false);
        if let Some(rule) = known.rules.0.get(1) {
            let reason = match known.confirmed.iter().any(contradicts) {
                true => Doubt::Fresh,
                false => Doubt::Budget,
            };
            return Some((reason, rule.order.clone()));
        }
        let order = known.suspicion.clone()?;
        Some((Doubt::Budget, order))
    }
}

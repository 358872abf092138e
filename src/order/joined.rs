//! What several machines know of one suite, as one.

use std::collections::BTreeSet;

use super::Suite;
use super::dependences::Dependences;
use super::found::Dependent;
use crate::matrix::Fingerprint;

impl Dependences {
    /// This, with the findings of an `older` one that it has not. A finding only ever adds
    /// tests to a selection, so one too many costs time and one too few costs a false failure.
    /// So those of `older` are left out only if a search that went to its end does not have
    /// them, and a test of them has another row since.
    ///
    /// The tests are those of this one. If `older` has searched and this has not, what was
    /// covered then is kept: it holds for tests whose rows have not changed.
    pub(crate) fn joined(&self, older: &Dependences) -> Dependences {
        let ids = self.tests.iter().map(|test| (test.id.clone(), Vec::new()));
        let Ok(suite) = Suite::new(ids) else {
            return self.clone();
        };
        let theirs = older.about(&suite);
        let keeps_theirs = theirs.is_searched() && !self.is_searched();
        let (base, other) = match keeps_theirs {
            true => (&theirs, self),
            false => (self, &theirs),
        };
        let known: BTreeSet<&str> = ids_of(base).collect();
        let is_new = |one: &&Dependent| !known.contains(one.id.as_str());
        let stands =
            |one: &&Dependent| keeps_theirs || !self.is_searched() || self.has_rows(one, &theirs);
        let more: Vec<Dependent> = { other.found.dependent.iter() }
            .filter(is_new)
            .filter(stands)
            .cloned()
            .collect();
        if more.is_empty() && !keeps_theirs {
            return self.clone();
        }
        let mut joined = base.clone();
        let is_more = |test: u32| {
            let id = &other.tests[test as usize].id;
            more.iter().any(|one| one.id == *id)
        };
        let explained = other.explained.iter().filter(|one| is_more(one.test));
        let explained: Vec<_> = explained.cloned().collect();
        joined
            .explained
            .retain(|one| explained.iter().all(|more| more.test != one.test));
        joined.explained.extend(explained);
        joined.explained.sort_by_key(|one| one.test);
        joined
            .found
            .flaky
            .retain(|id| more.iter().all(|one| one.id != *id));
        joined
            .found
            .unconfirmed
            .retain(|doubt| more.iter().all(|one| one.id != doubt.id));
        joined.found.dependent.extend(more);
        joined
            .found
            .dependent
            .sort_by_key(|one| suite.find(&one.id));
        joined.created = self.created + 1;
        joined
    }

    /// Whether a search of all tests went to its end.
    fn is_searched(&self) -> bool {
        let covered = &self.found.covered;
        !covered.strategies.is_empty() && !covered.cut_short && !covered.interrupted
    }

    /// Whether all tests of a finding have the rows here that they have in `other`, which is
    /// about the same tests.
    fn has_rows(&self, finding: &Dependent, other: &Dependences) -> bool {
        let of_finding: BTreeSet<&str> = { finding.witnesses.iter().flatten() }
            .map(String::as_str)
            .collect();
        let row = |known: &Dependences, at: usize| -> Option<Fingerprint> { known.tests[at].row };
        let mut tests = self.tests.iter().enumerate();
        tests.all(|(at, test)| {
            !of_finding.contains(test.id.as_str())
                || row(self, at).is_some() && row(self, at) == row(other, at)
        })
    }
}

fn ids_of(known: &Dependences) -> impl Iterator<Item = &str> {
    known.found.dependent.iter().map(|one| one.id.as_str())
}

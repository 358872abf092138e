//! Rows of tests that the test process left out, because the values that they read are those
//! of the record.
//!
//! Such a row has the own units of the record, which are proven to be the same; all its
//! other units, with the values of now; and what the test's file and the modules that it
//! needs do at import. So it holds here, and a change of any of that makes its test
//! unconfirmed again.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use anyhow::Result;
use bstr::BString;
use rustc_hash::FxHashMap;

use super::assembly::Assembly;
use super::decide::Decision;
use super::ties::at;
use crate::matrix::{
    Fingerprint, GroupRef, Inner, LeftIn, Matrix, Outcome, Own, Reads, Row, RowFacts, SetId,
    TestId, Unit, What,
};
use crate::observe::{Confirmed, LastRow, LastRows};
use crate::select::{Reason, Verdict};

/// The row whose values a test must find to be left out.
pub(super) fn row_of<'d>(decision: &'d Decision, test: &str) -> Option<(&'d Matrix, &'d Row)> {
    let Verdict::Run(Reason::Unconfirmed { baseline, .. }) =
        decision.selection.verdicts.get(test)?
    else {
        return None;
    };
    let matrix = decision.baseline_named(baseline)?.matrix.whole().ok()?;
    Some((matrix, matrix.row(TestId::Test(test))?))
}

/// A set of a matrix, by the run that recorded that.
type SetOf<'d> = (&'d str, SetId);

/// Of a set, the paths of sources that it has units of, and whether docstrings are among these.
type OfSet = (Rc<BTreeSet<BString>>, bool);

/// What is told of tests by the rows that they were left out by.
pub(super) struct RowsOf<'d> {
    decision: &'d Decision,
    sets: RefCell<FxHashMap<SetOf<'d>, OfSet>>,
}

impl LastRows for RowsOf<'_> {
    fn of(&self, test: &str, is_tied: bool) -> Option<LastRow> {
        let (matrix, row) = row_of(self.decision, test)?;
        let mut last = LastRow::default();
        let part = PartOf::row(row, is_tied)?;
        for set in part.own.iter().chain(&part.others) {
            let (modules, docstrings) = self.of_set(matrix, *set);
            last.modules.push(modules);
            // Those of its own are units of its own now, too.
            let is_own = part.own.contains(set);
            last.docstrings |= docstrings && !is_own;
        }
        Some(last)
    }

    fn own(&self, test: &str) -> Option<Vec<(Unit, Fingerprint)>> {
        let (matrix, row) = self.row(test)?;
        let own = row.own.as_ref()?;
        let sets = own.sets.iter().flat_map(|set| &matrix.sets[*set as usize]);
        Some(sets.map(|id| matrix.units[*id as usize].clone()).collect())
    }

    fn modules(&self, test: &str) -> BTreeSet<BString> {
        let mut all = BTreeSet::new();
        if let Some((matrix, row)) = self.row(test) {
            for set in &row.sets {
                all.extend(self.of_set(matrix, *set).0.iter().cloned());
            }
        }
        all
    }

    fn was_doubtful(&self, run: &str, test: &str, left: &[LeftIn]) -> bool {
        let known = self.decision.baseline.iter().chain(&self.decision.others);
        let mut known = known.filter_map(|one| one.matrix.whole().ok());
        let Some(matrix) = known.find(|matrix| matrix.header.run == *run) else {
            return false;
        };
        let row = matrix.row(TestId::Test(test));
        let was_doubtful = row.is_some_and(|row| row.incomplete.is_some());
        let then = matrix.ties().map_or(&[][..], |ties| ties.left_by(test));
        let is_known = |cell: &LeftIn| at(then, &cell.path, &cell.name).is_some();
        was_doubtful && left.iter().all(is_known)
    }
}

impl<'d> RowsOf<'d> {
    pub(super) fn new(decision: &'d Decision) -> RowsOf<'d> {
        RowsOf {
            decision,
            sets: RefCell::default(),
        }
    }

    /// By which a test was left out, at its turn or before.
    fn row(&self, test: &str) -> Option<(&'d Matrix, &'d Row)> {
        row_of(self.decision, test).or_else(|| {
            let matrix = self.decision.proof_of(test)?;
            Some((matrix, matrix.row(TestId::Test(test))?))
        })
    }

    fn of_set(&self, matrix: &'d Matrix, set: SetId) -> OfSet {
        let mut sets = self.sets.borrow_mut();
        let known = sets.entry((&matrix.header.run, set)).or_insert_with(|| {
            let ids = matrix.sets[set as usize].iter();
            let units = ids.map(|id| &matrix.units[*id as usize].0);
            let sources = units.clone().filter(|unit| unit.kind().is_source());
            // Units of one file stand together.
            let mut paths: Vec<&BString> = sources.map(|unit| &unit.path).collect();
            paths.dedup();
            let is_docstring =
                |unit: &Unit| matches!(unit.what, What::Note(note, _) if note.is_docstring());
            (
                Rc::new(paths.into_iter().cloned().collect()),
                units.into_iter().any(is_docstring),
            )
        });
        known.clone()
    }
}

/// What of a row counts for a test that was left out.
struct PartOf {
    own: Vec<SetId>,
    others: Vec<SetId>,
    reads: Reads,
}

impl PartOf {
    /// Without earlier tests, if what these left was compared by value.
    fn row(row: &Row, is_tied: bool) -> Option<PartOf> {
        let own = row.own.as_ref()?;
        if is_tied {
            return own.inner.as_ref().map(PartOf::inner);
        }
        let others = row.sets.iter().filter(|set| !own.sets.contains(set));
        Some(PartOf {
            own: own.sets.clone(),
            others: others.copied().collect(),
            reads: own.reads,
        })
    }

    fn inner(inner: &Inner<SetId>) -> PartOf {
        PartOf {
            own: inner.sets.clone(),
            others: inner.others.clone(),
            reads: inner.reads,
        }
    }
}

impl Assembly<'_> {
    pub(super) fn add_confirmed_rows(&mut self) -> Result<()> {
        let collected = self.collected;
        for (test, confirmed) in &collected.confirmed {
            if self.builder.has_row(test) {
                continue;
            }
            let mut facts = facts_of(test);
            let mut groups = Vec::new();
            let made = self.confirmed_row(test, &mut facts, &mut groups, confirmed)?;
            facts.incomplete = made.err();
            if let Some(why) = &facts.incomplete {
                *self.recorded.incomplete.entry(why.clone()).or_default() += 1;
                facts.own = None;
            }
            self.builder.row(facts, groups)?;
        }
        Ok(())
    }

    /// The rows of tests that did what they did, though they ran, and `ended_well`: what they used
    /// here tells less, as others were left out before them.
    pub(super) fn add_unchanged_rows(&mut self, ended_well: impl Fn(&str) -> bool) -> Result<()> {
        let collected = self.collected;
        for (test, confirmed) in &collected.unchanged {
            if self.builder.has_row(test) || !ended_well(test) {
                continue;
            }
            let mut facts = facts_of(test);
            let mut groups = Vec::new();
            let made = self.confirmed_row(test, &mut facts, &mut groups, confirmed)?;
            if made.is_ok() && facts.outcome.is_good() {
                self.builder.row(facts, groups)?;
            }
        }
        Ok(())
    }

    /// Fills in a row, or says why that cannot be done: then the test runs next time.
    fn confirmed_row(
        &mut self,
        test: &str,
        facts: &mut RowFacts,
        groups: &mut Vec<GroupRef>,
        confirmed: &Confirmed,
    ) -> Result<std::result::Result<(), String>> {
        let known = row_of(self.recording.decision, test);
        let is_tied = confirmed.ties.is_some();
        let known = known.and_then(|(matrix, row)| Some((matrix, row, PartOf::row(row, is_tied)?)));
        let (Some((matrix, row, part)), Some(base)) = (known, confirmed.base) else {
            return Ok(Err("it was left out, and nothing tells by what".to_owned()));
        };
        facts.outcome = row.outcome;
        facts.duration_ms = row.duration_ms;
        facts.position = row.position;
        facts.run = self.run(&matrix.header.runs[row.run as usize]);
        let mut doubt = confirmed
            .incomplete
            .clone()
            .or_else(|| row.incomplete.clone());
        self.note_source(matrix);
        let mut of_test = Vec::new();
        let mut earlier = Vec::new();
        for set in &part.own {
            match self.carry_set(matrix, *set)? {
                Some(group) => of_test.push(group),
                None => {
                    let why = "it was left out, and a unit of its own is different";
                    return Ok(Err(why.to_owned()));
                }
            }
        }
        for set in &part.others {
            match self.renewed(matrix, *set) {
                Ok(group) => groups.push(group),
                Err(why) => doubt = doubt.or(Some(why)),
            }
        }
        if is_tied {
            // As earlier tests do not run, nobody sees what they need.
            let whole = PartOf::row(row, false);
            for set in whole.iter().flat_map(|whole| &whole.others) {
                match self.renewed(matrix, *set) {
                    Ok(group) => groups.push(group),
                    Err(why) => doubt = doubt.or(Some(why)),
                }
            }
            let own = whole.iter().flat_map(|whole| &whole.own);
            for set in own.filter(|set| !part.own.contains(set)) {
                let carried = self.carry_set(matrix, *set)?;
                match carried.map_or_else(|| self.renewed(matrix, *set), Ok) {
                    Ok(group) => earlier.push(group),
                    Err(why) => doubt = doubt.or(Some(why)),
                }
            }
        }
        let inner = row.own.as_ref().and_then(|own| own.inner.as_ref());
        let inner = match inner.zip(confirmed.inner_base) {
            Some((inner, base)) => self.inner_again(matrix, &PartOf::inner(inner), base)?,
            None => None,
        };
        let ties = confirmed.ties.map(|at| &self.bases[at]);
        groups.extend(ties.iter().flat_map(|ties| &ties.groups));
        doubt = doubt.or_else(|| ties?.doubt.clone());
        let of_ties = ties.map(|ties| ties.own);
        let (added, added_doubt) = self.added(test)?;
        of_test.extend(added);
        let base = &self.bases[base];
        groups.extend(&base.groups);
        doubt = doubt.or(added_doubt).or_else(|| base.doubt.clone());
        let read_by_earlier = match (is_tied, &row.own) {
            (true, Some(own)) => own.reads,
            _ => Reads::default(),
        };
        let of_ties = of_ties.unwrap_or_else(|| Some((base.own?.0, part.reads)));
        if let (true, Some((of_base, reads)), Some((of_ties, read_by_ties))) =
            (self.values.are_of_run(), base.own, of_ties)
        {
            let inner = inner.map(|mut inner| {
                inner.sets.extend(added);
                inner
            });
            facts.own = Some(Own {
                sets: { of_test.iter().chain(&earlier).copied() }
                    .chain([of_base, of_ties])
                    .collect(),
                reads: part.reads | reads | read_by_ties | read_by_earlier,
                inner,
            });
        }
        groups.extend(of_test.into_iter().chain(earlier));
        Ok(doubt.map_or(Ok(()), Err))
    }

    /// What an earlier row was without earlier tests, on top of `base`; `None` if that does not
    /// hold here.
    fn inner_again(
        &mut self,
        from: &Matrix,
        part: &PartOf,
        base: usize,
    ) -> Result<Option<Inner<GroupRef>>> {
        let Some((of_base, reads)) = self.bases[base].own else {
            return Ok(None);
        };
        let mut inner = Inner {
            sets: vec![of_base],
            others: self.bases[base].groups.clone(),
            reads: part.reads | reads,
        };
        for set in &part.own {
            match self.carry_set(from, *set)? {
                Some(group) => inner.sets.push(group),
                None => return Ok(None),
            }
        }
        for set in &part.others {
            match self.renewed(from, *set) {
                Ok(group) => inner.others.push(group),
                Err(_) => return Ok(None),
            }
        }
        Ok(Some(inner))
    }
}

fn facts_of(test: &str) -> RowFacts {
    RowFacts {
        test: TestId::from(test),
        outcome: Outcome::Passed,
        duration_ms: 0,
        position: 0,
        incomplete: None,
        run: 0,
        selected: false,
        own: None,
    }
}

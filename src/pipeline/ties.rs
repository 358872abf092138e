//! What a matrix knows of what its tests leave behind for others.

use std::collections::{BTreeMap, BTreeSet};

use super::assembly::Assembly;
use crate::matrix::{GroupRef, Inner, LeftIn, Matrix, TestId, Ties};
use crate::observe::ObservedRow;

impl<'a> Assembly<'a> {
    /// Notes that a row of `from` is taken over.
    pub(super) fn note_source(&mut self, from: &'a Matrix) {
        self.sources.insert(from.header.run.clone(), from);
    }

    /// The part of a row of this run that remains without earlier tests. `more` counts, too.
    pub(super) fn inner_of(
        &mut self,
        row: &ObservedRow,
        more: &[GroupRef],
    ) -> Option<Inner<GroupRef>> {
        let inner = row.inner.as_ref()?;
        let (groups, own) = self.in_two(&inner.units, Some(&inner.by_itself));
        let base = &self.bases[inner.base];
        let ((of_base, in_base), (own, reads)) = (base.own?, own?);
        Some(Inner {
            sets: [of_base, own].iter().chain(more).copied().collect(),
            others: base.groups.iter().copied().chain(groups).collect(),
            reads: in_base | reads,
        })
    }

    /// Gives the matrix what tests leave, if that of each is known: of those that ran from this
    /// run, of others from the one matrix that their rows are from. Rows of several may not
    /// have met the same.
    pub(super) fn add_ties(&mut self) {
        let mut sources = self.sources.values();
        let (source, None) = (sources.next(), sources.next()) else {
            return;
        };
        let before = match source.map(|source| source.values.as_ref()) {
            None => None,
            Some(values) => match values.and_then(|values| values.ties.as_ref()) {
                // Of the rows that are taken over nobody knows it.
                None => return,
                ties => ties,
            },
        };
        let collected = self.collected;
        let rows = collected.rows.iter();
        let ran: BTreeSet<&str> = rows.map(|row| row.test.as_str()).collect();
        let places: BTreeMap<&str, u32> = match &collected.order {
            Some(order) => order.iter().map(String::as_str).zip(0..).collect(),
            None if ran.is_empty() => {
                let known = source.zip(before);
                known
                    .map(|(source, ties)| places(source, ties))
                    .unwrap_or_default()
            }
            None => return,
        };
        let unsure = unsure(before, collected.is_whole.then_some(&collected.left));
        let mut left: BTreeMap<String, Vec<LeftIn>> = BTreeMap::new();
        let mut made = BTreeMap::new();
        for (test, cells) in before.iter().flat_map(|ties| &ties.left) {
            if !self.builder.has_row(test) || ran.contains(test.as_str()) && collected.is_whole {
                continue;
            }
            let mut cells = cells.clone();
            for cell in &mut cells {
                // It did not begin in the state of a run of everything.
                cell.is_unknown |= ran.contains(test.as_str());
            }
            left.insert(test.clone(), cells);
            if let Some(known) = before.and_then(|ties| ties.made.get(test)) {
                made.insert(test.clone(), known.clone());
            }
        }
        if collected.is_whole {
            let those = collected.left.iter();
            let those = those.filter(|(test, _)| self.builder.has_row(test));
            left.extend(those.map(|(test, cells)| (test.clone(), cells.clone())));
            let those = collected.made.iter();
            let those = those.filter(|(test, _)| self.builder.has_row(test));
            made.extend(those.map(|(test, one)| (test.clone(), one.clone())));
        }
        if let Some(anew) = &self.recording.decision.anew {
            anew.add_to(&mut left, &mut made, |test| self.builder.has_row(test));
        }
        for cell in left.values_mut().flatten() {
            cell.is_unknown |= unsure.contains(&(cell.path.clone(), cell.name.clone()));
        }
        self.builder
            .ties(|test| places.get(test).copied(), left, made);
    }
}

/// Path and name of a cell.
type Cell = (String, String);

/// Cells that count by the code of those who change them for the rows of one run only.
fn unsure(before: Option<&Ties>, now: Option<&BTreeMap<String, Vec<LeftIn>>>) -> BTreeSet<Cell> {
    let (Some(before), Some(now)) = (before, now) else {
        return BTreeSet::new();
    };
    let by_code = |left: &BTreeMap<String, Vec<LeftIn>>| -> BTreeSet<Cell> {
        let cells = left.values().flatten();
        let cells = cells.filter(|cell| cell.value.is_none() && !cell.is_unknown);
        cells
            .map(|cell| (cell.path.clone(), cell.name.clone()))
            .collect()
    };
    let (before, now) = (by_code(&before.left), by_code(now));
    before.symmetric_difference(&now).cloned().collect()
}

/// The place of each test.
fn places<'m>(matrix: &'m Matrix, ties: &Ties) -> BTreeMap<&'m str, u32> {
    let tests = matrix.rows.iter().filter_map(|row| match &row.test {
        TestId::Test(test) => Some(test.as_str()),
        TestId::Collection => None,
    });
    tests.zip(ties.places.iter().copied()).collect()
}

//! What a matrix knows of what its tests leave behind for others.

use std::collections::{BTreeMap, BTreeSet};

use super::assembly::Assembly;
use super::chosen::is_sorted;
use super::confirmed::row_of;
use super::recording::NEEDED;
use crate::languages::keyed_in;
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
    /// run, of others from the matrix that their row is from. Those of another one than the rest may
    /// not have met the same, so that nobody knows the values of what they leave.
    pub(super) fn add_ties(&mut self) {
        let sources = self.sources.values().copied();
        let known = sources.map(|source| Some((source, source.ties()?)));
        let Some(before) = known.collect::<Option<Vec<(&Matrix, &Ties)>>>() else {
            // Of the rows that are taken over nobody knows it.
            return;
        };
        let collected = self.collected;
        let rows = collected.rows.iter();
        let mut ran: BTreeSet<&str> = rows.map(|row| row.test.as_str()).collect();
        // These will do so, and nobody knows what they leave then.
        ran.extend(self.chosen.not.iter().map(String::as_str));
        let is_whole = collected.is_whole && !self.chosen.is_narrow;
        let Some(order) = self.order(&before) else {
            return;
        };
        let lead = self.lead(&before);
        self.chosen.is_sorted = is_sorted(&order, collected.order.as_deref());
        let places: BTreeMap<&str, u32> = order.into_iter().zip(0..).collect();
        let now = is_whole.then_some(&collected.left);
        let mut unsure: BTreeSet<Cell> = { before.iter() }
            .flat_map(|(_, ties)| unsure(ties, now))
            .collect();
        let mut left: BTreeMap<String, Vec<LeftIn>> = BTreeMap::new();
        let mut made = BTreeMap::new();
        for (source, ties) in &before {
            for (test, cells) in &ties.left {
                let has_ended = ran.contains(test.as_str());
                if !self.builder.has_row(test) || has_ended && is_whole {
                    continue;
                }
                let is_of_lead = lead.is_some_and(|lead| {
                    has_ended || self.is_from(test, lead) || self.leaves_as_in(lead, test, &before)
                });
                if !is_of_lead {
                    // What others put there as well has another value then.
                    unsure.extend(cells.iter().map(place_of));
                }
                let is_here = match (is_of_lead, lead) {
                    (true, Some(lead)) => is_same_run(lead, source),
                    _ => self.is_from(test, source),
                };
                if !is_here {
                    continue;
                }
                let now = self.left_for_others(test);
                let is_same = collected.same.contains(test);
                let is_alike =
                    |cell: &LeftIn| is_same || left_alike(cell, cells, now) == Some(true);
                let cells = cells.iter().map(|cell| LeftIn {
                    // It did not begin in the state of a run of everything.
                    is_unknown: cell.is_unknown || has_ended && !is_alike(cell),
                    ..cell.clone()
                });
                let cells = cells.collect();
                left.insert(test.clone(), cells);
                if let Some(known) = ties.made.get(test) {
                    made.insert(test.clone(), known.clone());
                }
            }
        }
        if self.chosen.is_narrow {
            self.add_left_by_chosen(&mut left, |test| places.contains_key(test));
        } else if let Some(lead) = lead.filter(|_| !is_whole) {
            self.add_exact(lead, &mut left, &mut made);
        }
        if is_whole {
            let those = collected.left.iter();
            let those = those.filter(|(test, _)| self.builder.has_row(test));
            left.extend(those.map(|(test, cells)| (test.clone(), cells.clone())));
            let those = collected.made.iter();
            let those = those.filter(|(test, _)| self.builder.has_row(test));
            made.extend(those.map(|(test, one)| (test.clone(), one.clone())));
        }
        let anew = self.recording.decision.anew.as_ref();
        if let Some(anew) = anew.filter(|_| !is_whole && !self.chosen.is_narrow) {
            anew.add_to(&mut left, &mut made, |test| self.builder.has_row(test));
        }
        for cell in left.values_mut().flatten() {
            cell.is_unknown |= unsure.contains(&place_of(cell));
        }
        let numbers = before.iter().flat_map(|(_, ties)| &ties.numbers);
        let numbers: BTreeMap<_, _> = numbers.chain(&collected.numbers).collect();
        let values = left.values().flatten().filter_map(|cell| cell.value);
        let numbers = values.filter_map(|value| Some((value, (*numbers.get(&value)?).clone())));
        let numbers = numbers.collect();
        let ties = Ties {
            left,
            made,
            numbers,
            absent: self.absent(before.iter().map(|(_, ties)| *ties)),
            ..Ties::default()
        };
        // Only a run of all tests tells of each.
        let is_told = collected.order.is_some() && !self.chosen.is_narrow;
        let unplaced = (!is_told).then_some(Ties::UNPLACED);
        self.builder
            .ties(|test| places.get(test).copied().or(unplaced), ties);
    }

    /// Adds what tests left of which it is known what they leave in a run of all tests.
    fn add_exact(
        &self,
        lead: &Matrix,
        left: &mut BTreeMap<String, Vec<LeftIn>>,
        made: &mut BTreeMap<String, String>,
    ) {
        // A test that met what others leave anew may have left something else for that, or
        // nothing. Who was left out has not met it, so the run that follows must still find it out.
        let is_anew = !self.recorded.anew.by_test.is_empty();
        for (test, cells) in &self.collected.exact {
            if self.builder.has_row(test) {
                let then = lead.ties().map_or(&[][..], |ties| ties.left_by(test));
                let is_other = |cell: &LeftIn| left_alike(cell, cells, then).is_some_and(|is| !is);
                let is_gone = |cell: &&LeftIn| at(cells, &cell.path, &cell.name).is_none();
                let gone = then.iter().filter(|cell| is_anew && is_gone(cell));
                let gone = gone.map(|cell| (cell, true));
                let cells = cells.iter().map(|cell| (cell, is_anew && is_other(cell)));
                let cells = cells.chain(gone).map(|(cell, is_unknown)| LeftIn {
                    is_unknown: cell.is_unknown || is_unknown,
                    ..cell.clone()
                });
                let mut cells: Vec<LeftIn> = cells.collect();
                cells.sort();
                left.insert(test.clone(), cells);
                let of_test = self.collected.made.get(test).cloned().unwrap_or_default();
                made.insert(test.clone(), of_test);
            }
        }
    }

    /// All tests that have rows, in order; `None` if it is not known.
    fn order(&self, before: &[(&'a Matrix, &Ties)]) -> Option<Vec<&'a str>> {
        let collected = self.collected;
        match &collected.order {
            Some(_) if self.chosen.is_narrow => Some(in_order(before)),
            Some(order) => Some(order.iter().map(String::as_str).collect()),
            None => collected.rows.is_empty().then(|| in_order(before)),
        }
    }

    /// The record by whose values tests were settled; if none were, the only one or the nearest.
    /// What tests leave whose rows are from another one nobody knows beside it.
    fn lead<'m>(&self, before: &[(&'m Matrix, &Ties)]) -> Option<&'m Matrix> {
        let mut sources = before.iter().map(|(source, _)| *source);
        if let Some(run) = &self.collected.settled_by {
            return sources.find(|source| source.header.run == *run);
        }
        if let [(only, _)] = before {
            return Some(only);
        }
        let nearest = self.recording.decision.baseline.as_ref()?;
        let nearest = nearest.matrix.whole().ok()?;
        sources.find(|source| is_same_run(source, nearest))
    }

    /// Whether a test leaves by `lead` what it leaves by the record that its row is from.
    fn leaves_as_in(&self, lead: &Matrix, test: &str, before: &[(&Matrix, &Ties)]) -> bool {
        let of = |is: &dyn Fn(&Matrix) -> bool| {
            let found = before.iter().find(|(source, _)| is(source));
            found.map(|(_, ties)| *ties)
        };
        let of_lead = of(&|source| is_same_run(source, lead));
        Ties::tell_alike(of_lead, of(&|source| self.is_from(test, source)), test)
    }

    /// What a test left that ran for others only, so that nothing which it reads is different, and
    /// others prepared that; or where that is looked at later: it lacked something, or options chose it.
    /// Nothing of any other test.
    fn left_for_others(&self, test: &str) -> &'a [LeftIn] {
        let is_brought = self.recording.decision.selection.is_brought(test);
        let why = self.collected.refuted.get(test);
        let is_needed = is_brought || why.is_some_and(|why| why == NEEDED);
        // It runs once more, and what it leaves is compared then.
        let is_inexact = self.collected.inexact.contains_key(test);
        let is_chosen = self.chosen.is_narrow && self.chosen.is_sorted;
        match is_needed || is_inexact || is_chosen {
            true => self.collected.left.get(test).map_or(&[], Vec::as_slice),
            false => &[],
        }
    }

    /// Whether the row of a test is from this matrix.
    fn is_from(&self, test: &str, source: &Matrix) -> bool {
        let decision = self.recording.decision;
        let by_value = match self.collected.confirmed.contains_key(test) {
            true => row_of(decision, test),
            false => None,
        };
        let from = by_value.map(|(matrix, _)| matrix);
        let from = from.or_else(|| decision.proof_of(test));
        from.is_none_or(|from| is_same_run(from, source))
    }
}

fn is_same_run(one: &Matrix, other: &Matrix) -> bool {
    one.header.run == other.header.run
}

/// Whether a test that left `cell` among others, `then`, has left the same known value `now`;
/// `None` if it has left nothing there.
pub(super) fn left_alike(cell: &LeftIn, then: &[LeftIn], now: &[LeftIn]) -> Option<bool> {
    let again = at(now, &cell.path, &cell.name)?;
    let are_known = !cell.is_unknown && !again.is_unknown;
    let is_alike = are_known && cell.value == again.value;
    // What kind of dictionary there is has no value if a key is no text: that of the whole tells.
    let is_whole_alike = || left_alike(at(then, &cell.path, keyed_in(&cell.name)?)?, then, now);
    Some(is_alike && (cell.value.is_some() || is_whole_alike() == Some(true)))
}

/// The cell at a place.
pub(super) fn at<'l>(left: &'l [LeftIn], path: &str, name: &str) -> Option<&'l LeftIn> {
    left.iter().find(|one| one.path == path && one.name == name)
}

/// All tests: those of the first matrix in its order, and each of another one behind the test
/// that comes before it there.
fn in_order<'m>(sources: &[(&'m Matrix, &Ties)]) -> Vec<&'m str> {
    let mut order: Vec<&str> = Vec::new();
    for (source, ties) in sources {
        let mut tests: Vec<(u32, &str)> = { places(source, ties).into_iter() }
            .map(|(test, place)| (place, test))
            .collect();
        tests.sort_unstable();
        let mut at = 0;
        let known: BTreeMap<&str, usize> = order.iter().copied().zip(0..).collect();
        let mut more = Vec::new();
        for (_, test) in tests {
            match known.get(test) {
                Some(place) => at = place + 1,
                None => more.push((at, test)),
            }
        }
        for (at, test) in more.into_iter().rev() {
            order.insert(at, test);
        }
    }
    order
}

/// Path and name of a cell.
type Cell = (String, String);

fn place_of(cell: &LeftIn) -> Cell {
    (cell.path.clone(), cell.name.clone())
}

/// Cells that count by the code of those who change them for the rows of one run only.
fn unsure(before: &Ties, now: Option<&BTreeMap<String, Vec<LeftIn>>>) -> BTreeSet<Cell> {
    let Some(now) = now else {
        return BTreeSet::new();
    };
    let by_code = |left: &BTreeMap<String, Vec<LeftIn>>| -> BTreeSet<Cell> {
        let cells = left.values().flatten();
        let cells = cells.filter(|cell| cell.value.is_none() && !cell.is_unknown);
        cells.map(place_of).collect()
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
    ties.placed(tests).collect()
}

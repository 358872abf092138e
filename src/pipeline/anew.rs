//! What tests leave anew: cells that they change, and what they make for others, where the record
//! has nobody do so by then.
//!
//! A test that was left out before it ran, as nothing that its row names is different, may meet
//! that. So its row is no proof until somebody has looked whether it can read any of it.

mod imported;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use bstr::ByteSlice;
use rustc_hash::{FxHashMap, FxHashSet};

use self::imported::{Imported, without_digits};
use super::project::Project;
use super::recording::{NEEDED, Recording};
use super::ties::{at, left_alike};
use crate::languages::{Facts, LOST, TOLD, is_entry, name_hash, serials};
use crate::matrix::{LeftIn, Matrix, Row, Ties, Unit, Values, What};
use crate::observe::Observations;
use crate::pattern::Pattern;
use crate::runners::{Anew, Leaves, file_of};

impl Anew {
    /// What the tests of a run left, but for what was looked at already. Nothing where no test
    /// was left out that may meet it, or all ran after all, or where no record tells what tests leave.
    /// `is_narrow`: known tests were not there.
    pub(super) fn of(
        project: &Project,
        recording: &Recording<'_>,
        collected: &Observations,
        is_narrow: bool,
    ) -> Anew {
        let decision = recording.decision;
        let is_part = decision.selection.excluded().next().is_some();
        let is_part = is_part || !collected.confirmed.is_empty();
        let are_all = collected.is_whole && !is_narrow && !was_stopped(collected);
        if !is_part || are_all || recording.shard.is_some() || !project.config.driver.confirms() {
            return Anew::default();
        }
        let benign = &project.config.benign_state.value;
        let is_benign = |cell: &LeftIn| {
            // What a doctest shows last, and so the order of names.
            if cell.path == "*builtins" && matches!(&*cell.name, "" | "_") {
                return true;
            }
            Pattern::is_benign(benign, &cell.path, &cell.name)
        };
        let known = decision.anew.clone().unwrap_or_default();
        let mut inexact = collected.inexact.clone();
        if !known.inexact.is_empty() {
            // To have what they lacked then was not enough.
            inexact.values_mut().for_each(|lacked| *lacked = None);
        }
        let mut met = known.met;
        if decision.anew.is_some() {
            let read = collected.refuted.iter().filter(|(_, why)| *why != NEEDED);
            met.extend(read.map(|(test, _)| test.clone()));
        }
        // These do what they did.
        let is_needed = |test: &str| collected.refuted.get(test).is_some_and(|why| why == NEEDED);
        let is_known = |test: &str| {
            (decision.selection.is_brought(test) || is_needed(test)) && !met.contains(test)
        };
        let are_compared = |test: &str| !collected.is_not_compared && met.contains(test);
        // A row proves nothing about what was left when it was made by others.
        let mut anew = Anew {
            again: match decision.anew {
                Some(_) => known.again + collected.rows.len(),
                None => 0,
            },
            is_narrow,
            ..Anew::default()
        };
        let proving: BTreeSet<usize> = decision.proofs.values().copied().collect();
        let others = decision.others.iter().enumerate();
        let others = others.filter(|(at, _)| proving.contains(at));
        let others = others.map(|(_, baseline)| baseline);
        for baseline in decision.baseline.iter().chain(others) {
            let values = baseline.matrix.whole().ok();
            let values = values.and_then(|matrix| Some((matrix, matrix.values.as_ref()?)));
            if let Some((matrix, values)) = values
                && let Some(ties) = &values.ties
            {
                let tests = matrix.tests().map(|(test, _)| test);
                let mut record = Record::new(tests, ties, values, Needed::of(matrix, values));
                let lacked = |row: &&Row| row.incomplete.as_deref() == Some(LACKED);
                let lacked = matrix.rows.iter().filter(lacked);
                record.lacked = lacked.filter_map(|row| row.test.test()).collect();
                anew.add(record.anew(collected, (is_known, are_compared), is_benign, is_narrow));
            }
        }
        let is_lost = |unit: &Unit| matches!(&unit.what, What::Reached(text) if &**text == LOST);
        anew.has_lost_serials = collected.units.iter().any(is_lost);
        if anew.has_lost_serials && !known.has_lost_serials {
            anew.lose_serials(project.repository.root(), collected);
        }
        anew.has_lost_serials |= known.has_lost_serials;
        // At this was looked.
        anew.known = known.known;
        for (test, leaves) in known.by_test {
            anew.known.entry(test).or_default().add(leaves);
        }
        for (test, leaves) in &mut anew.by_test {
            if let Some(known) = anew.known.get(test) {
                leaves.remove(known);
            }
        }
        anew.by_test
            .retain(|_, leaves| *leaves != Leaves::default());
        anew.met = met;
        anew.inexact = inexact;
        anew
    }

    /// A test has set back a number by which a class counts its objects, or the like: who reads one
    /// may meet another from the first test on.
    fn lose_serials(&mut self, root: &Path, collected: &Observations) {
        let Some(first) = collected.rows.iter().min_by_key(|row| row.position) else {
            return;
        };
        let cells = serials(root).into_iter();
        let cells = cells.map(|serial| (serial.path.to_string(), serial.cell()));
        let leaves = self.by_test.entry(first.test.clone()).or_default();
        leaves.cells.extend(cells);
    }

    /// Whether there is nothing to look at, nor was in a run before.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_test.is_empty() && self.known.is_empty() && self.inexact.is_empty()
    }

    fn leaves(&self, test: &str) -> Option<&Leaves> {
        self.by_test.get(test).or_else(|| self.known.get(test))
    }

    /// Whether nobody left a cell before the test did, now or in a run before.
    pub(super) fn is_open(&self, test: &str, cell: &LeftIn) -> bool {
        let all = [self.by_test.get(test), self.known.get(test)];
        let key = (cell.path.clone(), cell.name.clone());
        all.into_iter()
            .flatten()
            .any(|leaves| leaves.cells.contains(&key))
    }

    /// Tests that leave something anew, now or in a run before.
    pub(crate) fn leavers(&self) -> impl Iterator<Item = &str> {
        let all = self.by_test.keys().chain(self.known.keys());
        all.map(String::as_str)
    }

    fn add(&mut self, other: Anew) {
        for (test, leaves) in other.by_test {
            self.by_test.entry(test).or_default().add(leaves);
        }
    }

    /// Why the row of a test proves nothing yet.
    pub(super) fn why(&self, test: &str) -> Option<String> {
        if self.inexact.contains_key(test) {
            return Some(LACKED.to_owned());
        }
        self.why_left(test)
    }

    /// The same where only what it leaves is the reason.
    fn why_left(&self, test: &str) -> Option<String> {
        if self.by_test.is_empty() && !self.is_narrow {
            // At all of it was looked.
            return None;
        }
        let leaves = self.leaves(test)?;
        let what = match leaves.cells.first() {
            Some((path, name)) => format!("{path}#{name}"),
            None => "something".to_owned(),
        };
        Some(format!(
            "it leaves {what} for other tests, which it did not before"
        ))
    }

    /// Whether a row lacks nothing but that somebody looks who meets what the test leaves.
    pub(super) fn lacks_only_that(&self, row: &Row) -> bool {
        let why = row.test.test().and_then(|test| self.why_left(test));
        row.outcome.is_good() && why.is_some() && row.incomplete == why
    }

    /// Adds to what tests leave what these leave. With what value nobody knows: they did not
    /// begin in the state of a run of all tests.
    pub(super) fn add_to(
        &self,
        left: &mut BTreeMap<String, Vec<LeftIn>>,
        made: &mut BTreeMap<String, String>,
        is_known: impl Fn(&str) -> bool,
    ) {
        let known = self.by_test.iter().chain(&self.known);
        let known = known.filter(|(test, _)| is_known(test));
        for (test, leaves) in known {
            let cells = left.entry(test.clone()).or_default();
            cells.extend(leaves.cells.iter().map(|(path, name)| LeftIn {
                path: path.clone(),
                name: name.clone(),
                value: None,
                is_unknown: true,
            }));
            cells.sort();
            cells.dedup_by(|later, kept| (&later.path, &later.name) == (&kept.path, &kept.name));
            let of_test = made.entry(test.clone()).or_default();
            let mut all: BTreeSet<&str> = names(of_test).collect();
            all.extend(leaves.made.iter().map(String::as_str));
            let all: Vec<&str> = all.into_iter().collect();
            *of_test = all.join(",");
        }
    }
}

/// Why the row of a test proves nothing that lacked what it can read.
const LACKED: &str = "it ran without tests that leave what it can read";

/// Whether tests that were to run did not.
fn was_stopped(collected: &Observations) -> bool {
    let rows = collected.rows.iter();
    let ran: BTreeSet<&str> = rows.map(|row| row.test.as_str()).collect();
    let mut kept = collected.kept.iter();
    kept.any(|test| !ran.contains(test.as_str()) && !collected.confirmed.contains_key(test))
}

/// Twice the place in the order of a record, and one more; of a test that the record lacks, less
/// by one than that of the next one which it has.
type Place = u64;

/// What a record tells of what its tests leave.
struct Record<'t> {
    ties: &'t Ties,
    needed: Needed<'t>,
    places: BTreeMap<&'t str, Place>,
    /// Which test is the first that leaves a cell, and that makes something for others.
    cells: FxHashMap<(&'t str, &'t str), Place>,
    /// The same of cells that tests make up, by names without digits: such names count how often
    /// something ran, and in a part that is less often.
    made_up: FxHashMap<(&'t str, String), Place>,
    /// The cells that there are before any test.
    imported: Imported<'t>,
    made: FxHashMap<&'t str, Place>,
    /// By whom each cell is left, in order, and with what value. A dictionary that many tests fill is
    /// nobody's business as a whole, so who starts to change an entry must be found out even if
    /// others did so before.
    leavers: FxHashMap<(&'t str, &'t str), Vec<(Place, &'t LeftIn)>>,
    /// The dictionaries whose entries are cells.
    whole: FxHashSet<(&'t str, &'t str)>,
    /// Of each test that leaves something the last of those after it with no other between them.
    /// The record says of that one what nobody saw this one leave.
    told_with: BTreeMap<Place, Place>,
    /// Tests that lacked in its run what they can read.
    lacked: FxHashSet<&'t str>,
}

impl<'t> Record<'t> {
    /// `tests`: those that have places, in the order of these.
    fn new(
        tests: impl Iterator<Item = &'t str>,
        ties: &'t Ties,
        values: &'t Values,
        needed: Needed<'t>,
    ) -> Record<'t> {
        let imported = Imported::of(values);
        let placed = ties.placed(tests);
        let places: BTreeMap<&str, Place> = placed
            .map(|(test, place)| (test, 2 * Place::from(place) + 1))
            .collect();
        let (mut of_cells, mut of_made) = (FxHashMap::default(), FxHashMap::default());
        let mut made_up = FxHashMap::default();
        let mut leavers: FxHashMap<_, Vec<_>> = FxHashMap::default();
        let mut leaving = Vec::new();
        for (test, cells) in &ties.left {
            // Tests that are gone leave nothing.
            let Some(place) = places.get(test.as_str()).copied() else {
                continue;
            };
            leaving.push(place);
            for cell in cells {
                let of_cell = leavers.entry((&*cell.path, &*cell.name)).or_default();
                of_cell.push((place, cell));
            }
            // What was put back is not left.
            for cell in cells.iter().filter(|cell| !imported.is_as_before(cell)) {
                let known = of_cells.entry((&*cell.path, &*cell.name)).or_insert(place);
                *known = place.min(*known);
                if let Some(name) = imported.made_up(&cell.path, &cell.name) {
                    let known = made_up.entry((&*cell.path, name)).or_insert(place);
                    *known = place.min(*known);
                }
            }
            for one in ties.made.get(test).into_iter().flat_map(|made| names(made)) {
                let known = of_made.entry(one).or_insert(place);
                *known = place.min(*known);
            }
        }
        leaving.sort_unstable();
        for of_cell in leavers.values_mut() {
            of_cell.sort_unstable_by_key(|(place, _)| *place);
        }
        let whole = leavers
            .keys()
            .filter_map(|(path, name): &(&str, &str)| Some((*path, name.split_once('[')?.0)))
            .collect();
        let mut told_with = BTreeMap::new();
        for place in leaving.into_iter().rev() {
            let last = told_with.get(&(place + 2)).copied().unwrap_or(place);
            told_with.insert(place, last);
        }
        Record {
            ties,
            needed,
            places,
            cells: of_cells,
            made_up,
            imported,
            made: of_made,
            leavers,
            whole,
            told_with,
            lacked: FxHashSet::default(),
        }
    }

    /// What the tests that ran leave that no test of the record leaves by then; of those that
    /// are compared, too, what they leave with another value than in the record. `is_narrow`: options
    /// or names of files chose them.
    fn anew(
        &self,
        collected: &Observations,
        (is_known, are_compared): (impl Fn(&str) -> bool, impl Fn(&str) -> bool),
        is_benign: impl Fn(&LeftIn) -> bool,
        is_narrow: bool,
    ) -> Anew {
        let places = self.with_new(collected.order.as_deref().unwrap_or_default());
        let mut anew = Anew::default();
        for row in &collected.rows {
            let test = row.test.as_str();
            // Of a new one among chosen tests nobody knows where it comes: all that it leaves is new.
            let is_placed = !is_narrow || self.places.contains_key(test);
            let place = places.get(test).filter(|_| is_placed);
            let place = place.or((!is_placed).then_some(&0));
            let Some(place) = place.filter(|_| !is_known(test)) else {
                continue;
            };
            let unseen = collected.unseen.get(test);
            let is_met = are_compared(test);
            let exact = collected.exact.get(test);
            let is_new = |first: Option<Place>, by: &Place| first.is_none_or(|first| first > *by);
            let made = collected.made.get(test).map(String::as_str);
            let of_turn = made.unwrap_or_default();
            // What it makes and needs tests make that are not there: it is looked at when they are.
            let made = names(made.filter(|_| is_placed).unwrap_or_default());
            let made = made.filter(|one| is_new(self.made.get(one).copied(), place));
            let made: Vec<&str> = made.collect();
            // Among all, a fixture that it sets up may end later, and put back only then what it changed.
            let is_held = !made.is_empty();
            let cells = collected.left.get(test).into_iter().flatten();
            let cells = cells.filter(|cell| {
                let key = (cell.path.clone(), cell.name.clone());
                let last = match unseen.is_some_and(|unseen| unseen.contains(&key)) {
                    // It was found in the end, and nobody knows who did it.
                    true if cell.is_unknown => &Place::MAX,
                    true => self.told_with.get(place).unwrap_or(place),
                    false => place,
                };
                if is_benign(cell) || !self.needed.may_be(cell) {
                    return false;
                }
                if is_entry(&cell.name) {
                    return self.is_other_then(cell, *place, *last);
                }
                // Who met something else may leave another value than others before it do.
                if is_met && self.is_one(cell) && self.is_other_then(cell, *place, *last) {
                    return true;
                }
                // In a part only who lacked nothing tells what it leaves among all.
                if let Some(exact) = exact.and_then(|cells| at(cells, &cell.path, &cell.name))
                    && exact.value.is_some()
                    && self.is_one(cell)
                    && self.is_other_then(exact, *place, *last)
                    && !self.is_counted(cell)
                    && !self.is_left_later(test, *place, exact)
                    && !self.is_left_with(cell, of_turn, test)
                {
                    return true;
                }
                let first = self.first(&key);
                // Classes that tests make and drop go when the collector comes, be it later.
                let is_passing = cell.name.ends_with(".__subclasses__") && first.is_some();
                let is_left = is_held || !self.imported.is_as_before(cell);
                is_new(first, last) && !is_passing && is_left
            });
            let mut cells: Vec<&LeftIn> = cells.collect();
            // Who lacked something is believed to leave what it left then as in the record.
            let was_believed = self.lacked.contains(test);
            if is_met || was_believed {
                let others = self.left_otherwise(test, collected);
                let others = others.filter(|cell| is_met || !cell.is_unknown);
                cells.extend(others.filter(|cell| !is_benign(cell)));
            }
            let cells = cells
                .into_iter()
                .map(|cell| (cell.path.clone(), cell.name.clone()));
            let made = made.into_iter();
            let made = made.filter(|one| self.needed.may_be_made(one));
            let leaves = Leaves {
                cells: cells.collect(),
                made: made.map(str::to_owned).collect(),
            };
            if leaves != Leaves::default() {
                anew.by_test.insert(test.to_owned(), leaves);
            }
        }
        anew
    }

    /// What a test leaves in the record, and now with another value, or one that nobody knows, or
    /// not at all.
    fn left_otherwise<'a>(
        &'a self,
        test: &str,
        collected: &'a Observations,
    ) -> impl Iterator<Item = &'a LeftIn> {
        let now = collected.left.get(test).map_or(&[][..], Vec::as_slice);
        let all = self.ties.left.get(test).map_or(&[][..], Vec::as_slice);
        let is_other = move |cell: &LeftIn| match left_alike(cell, all, now) {
            Some(is_alike) => !is_alike,
            None => !self.is_named_anew(cell, now),
        };
        let then = all.iter();
        // Where others do not run, the whole of a dictionary has another value for lack of theirs.
        then.clone().filter(move |cell| {
            let is_entry_of = |one: &&LeftIn| one.path == cell.path && is_entry_of(cell, one);
            let mut entries = then.clone().filter(is_entry_of).peekable();
            let is_by_key = entries.peek().is_some();
            is_other(cell) && (!is_by_key || entries.any(&is_other))
        })
    }

    /// Whether a test left `cell` under a name that counts or is made up, and does so `now` under
    /// another one.
    fn is_named_anew(&self, cell: &LeftIn, now: &[LeftIn]) -> bool {
        let name = self.imported.made_up(&cell.path, &cell.name);
        let mut others = now.iter().filter(|one| one.path == cell.path);
        name.is_some() && others.any(|one| without_digits(&one.name) == name)
    }

    /// Whether a cell has a value of its own: no order of names, to which others add theirs, no
    /// dictionary whose entries are cells, no name that tests make up.
    fn is_one(&self, cell: &LeftIn) -> bool {
        let is_order = cell.name.is_empty() || cell.name.ends_with('.');
        let is_below = cell.name.ends_with(".__subclasses__");
        let is_whole = self.whole.contains(&(&*cell.path, &*cell.name));
        let is_made_up = self.imported.made_up(&cell.path, &cell.name).is_some();
        !is_order && !is_below && !is_whole && !is_made_up
    }

    /// Whether another test leaves a cell that makes in the record some of what `test` has `made` now:
    /// a fixture may do that, which in a part also ends in the turn of the test.
    fn is_left_with(&self, cell: &LeftIn, made: &str, test: &str) -> bool {
        let mut others = self.ties.made.iter().filter(|(other, _)| *other != test);
        others.any(|(other, then)| {
            let is_maker = names(then).any(|one| names(made).any(|now| now == one));
            is_maker && at(self.ties.left_by(other), &cell.path, &cell.name).is_some()
        })
    }

    /// Whether one of the tests of its file behind it leaves a cell in the record as `test` leaves it
    /// now: in a part, fixtures that those share end with the last one that runs.
    fn is_left_later(&self, test: &str, place: Place, now: &LeftIn) -> bool {
        let mut later = self.ties.left.iter().filter(|(other, _)| {
            let at = self.places.get(other.as_str());
            at.is_some_and(|at| *at > place) && file_of(other) == file_of(test)
        });
        later.any(|(_, cells)| {
            at(cells, &now.path, &now.name).is_some_and(|it| it.value == now.value)
        })
    }

    /// Whether tests count in a cell: each that does so moves the numbers that all after it meet.
    fn is_counted(&self, cell: &LeftIn) -> bool {
        let known = self.leavers.get(&(&*cell.path, &*cell.name));
        let known = known.into_iter().flatten().map(|(_, then)| *then);
        let known = known.filter(|then| !then.is_unknown);
        let is_number = |then: &LeftIn| {
            then.value
                .is_some_and(|it| self.ties.numbers.contains_key(&it))
        };
        let numbers: FxHashSet<_> = known.clone().map(|then| then.value).collect();
        numbers.len() >= COUNTED && known.clone().all(is_number)
    }

    /// Whether a cell is left with this value by tests at `place` up to `last` that do not leave
    /// it in the record, where it has another value at that time.
    fn is_other_then(&self, cell: &LeftIn, place: Place, last: Place) -> bool {
        let known = self.leavers.get(&(&*cell.path, &*cell.name));
        let known = known.map_or(&[][..], Vec::as_slice);
        let until = known.partition_point(|(at, _)| *at <= last);
        match known[..until].last() {
            Some((at, _)) if *at >= place => false,
            Some((_, then)) => cell.value.is_none() || cell.value != then.value,
            None => !self.imported.is_as_before(cell),
        }
    }

    /// The place of the first test that leaves a cell.
    fn first(&self, (path, name): &(String, String)) -> Option<Place> {
        let by_name = self.cells.get(&(&**path, &**name)).copied();
        by_name.or_else(|| {
            let key = (&**path, self.imported.made_up(path, name)?);
            self.made_up.get(&key).copied()
        })
    }

    /// The place of each test of `order` that has a known one after it, or is known.
    fn with_new<'a>(&self, order: &'a [String]) -> FxHashMap<&'a str, Place> {
        let mut next = None;
        let all = order.iter().rev().filter_map(|test| {
            let known = self.places.get(test.as_str()).copied();
            next = known.or(next);
            Some((test.as_str(), known.or(next.map(|next| next - 1))?))
        });
        all.collect()
    }
}

/// What the rows of a record can need of what is left: the paths of their units, and the hashes of
/// what tests make for others by name.
#[derive(Default)]
struct Needed<'t> {
    paths: FxHashSet<&'t str>,
    made: FxHashSet<u32>,
    /// Nothing is known of it.
    is_all: bool,
}

impl<'t> Needed<'t> {
    fn of(matrix: &'t Matrix, values: &'t Values) -> Needed<'t> {
        let units = matrix.units.iter().map(|(unit, _)| unit);
        let mut needed = Needed::default();
        for unit in units {
            if let What::Reached(name) = &unit.what {
                needed.made.extend(name.strip_prefix(TOLD).map(name_hash));
            }
            needed.paths.extend(unit.path.to_str().ok());
        }
        let holders = values.holders.iter();
        needed.paths.extend(holders.map(|holder| &*holder.path));
        needed
    }

    /// Whether somebody can read a cell: one of a module that tests made is nobody's who does not
    /// need that module.
    fn may_be(&self, cell: &LeftIn) -> bool {
        let is_of_file = !cell.path.starts_with('*');
        let is_made_up = is_of_file && !Facts::is_third_party(cell.path.as_bytes().as_bstr());
        self.is_all || !is_made_up || self.paths.contains(&*cell.path)
    }

    /// The same of what tests make for others: a hash, with a `+` where it was changed.
    fn may_be_made(&self, hash: &str) -> bool {
        let number = u32::from_str_radix(hash.trim_end_matches('+'), 16);
        self.is_all || number.map_or(true, |number| self.made.contains(&number))
    }
}

/// Whether the dictionary that is `cell` has the entry `one`.
fn is_entry_of(cell: &LeftIn, one: &LeftIn) -> bool {
    let rest = one.name.strip_prefix(&*cell.name);
    rest.is_some_and(|rest| rest.starts_with('['))
}

/// A cell of which tests leave so many different numbers is one in which they count.
const COUNTED: usize = 8;

/// The hashes in a text of [`Ties::made`].
fn names(made: &str) -> impl Iterator<Item = &str> {
    made.split(',').filter(|one| !one.is_empty())
}

#[cfg(test)]
mod tests;

//! What cells hold when the turn of a test comes, and which of what tests leave others of the same
//! run have met.

use rustc_hash::{FxHashMap, FxHashSet};

use super::NEEDED;
use crate::matrix::{Fingerprint, LeftIn, Ties};
use crate::observe::Observations;
use crate::runners::Anew;

/// Path and name.
type Cell<'t> = (&'t str, &'t str);

/// What tests leave, each in its turn.
pub(super) struct Turns<'t> {
    places: FxHashMap<&'t str, usize>,
    /// By cell, in order: what a test leaves, be it now or, if it was left out, in the record.
    leavers: FxHashMap<Cell<'t>, Vec<(usize, &'t LeftIn)>>,
    /// By test: cells that it leaves in the record, and that others left anew by then. Who reads
    /// one later has run in this run, and so has met whatever this test left.
    met: FxHashMap<&'t str, FxHashSet<Cell<'t>>>,
    /// The same, but the state of the record begins with the test again, if it leaves that, or has
    /// done so in the run before: who reads one later has not run for that.
    ended: FxHashMap<&'t str, FxHashSet<Cell<'t>>>,
}

impl<'t> Turns<'t> {
    /// `looked_at`: what the run looked for in tests that were left out before.
    pub(super) fn of(
        ties: &'t Ties,
        looked_at: Option<&'t Anew>,
        collected: &'t Observations,
    ) -> Turns<'t> {
        let order = collected.order.as_deref().unwrap_or_default();
        let ran = collected.rows.iter().map(|row| row.test.as_str());
        let ran: FxHashSet<&str> = ran.collect();
        let ran_before = looked_at.iter().flat_map(|anew| &anew.ran);
        let ran_before: FxHashSet<&str> = ran_before.map(String::as_str).collect();
        let mut turns = Turns {
            places: FxHashMap::default(),
            leavers: FxHashMap::default(),
            met: FxHashMap::default(),
            ended: FxHashMap::default(),
        };
        let whole: FxHashSet<Cell<'_>> = { ties.left.values().flatten() }
            .filter_map(|cell| Some((&*cell.path, cell.name.split_once('[')?.0)))
            .collect();
        let mut open = FxHashSet::default();
        for (place, test) in order.iter().enumerate() {
            turns.places.insert(test, place);
            let recorded = ties.left_by(test);
            let left = match ran.contains(test.as_str()) {
                true => collected.left.get(test).map_or(&[][..], Vec::as_slice),
                false => recorded,
            };
            for cell in left {
                let of_cell = turns.leavers.entry(key(cell)).or_default();
                of_cell.push((place, cell));
            }
            let why = collected.refuted.get(test);
            let is_compared =
                why.is_some_and(|why| why != NEEDED) || ran_before.contains(test.as_str());
            // Of dictionaries the entries are compared. Who adds a name changes the order of names
            // for all.
            let ends = |cell: &LeftIn| {
                let is_order = cell.name.is_empty() || cell.name.ends_with('.');
                is_compared && value(cell).is_some() && !is_order && !whole.contains(&key(cell))
            };
            turns.passes(test, recorded, &mut open, ends);
            let fresh = looked_at.and_then(|anew| anew.by_test.get(test));
            let fresh = fresh.into_iter().flat_map(|leaves| &leaves.cells);
            open.extend(fresh.map(|(path, name)| (&**path, &**name)));
        }
        turns
    }

    /// The turn of a test passes, while `open` cells hold what others left anew. The test process
    /// did the same before the first test: `_sweep` in its `anew.py`.
    fn passes(
        &mut self,
        test: &'t str,
        recorded: &'t [LeftIn],
        open: &mut FxHashSet<Cell<'t>>,
        ends: impl Fn(&LeftIn) -> bool,
    ) {
        for cell in recorded {
            let key = key(cell);
            if !open.contains(&key) {
                continue;
            }
            if ends(cell) {
                open.remove(&key);
                self.ended.entry(test).or_default().insert(key);
            } else {
                self.met.entry(test).or_default().insert(key);
            }
        }
    }

    /// Whether all who can read it have met what the test left there.
    pub(super) fn is_met(&self, test: &str, cell: &LeftIn) -> bool {
        let of_test = self.met.get(test);
        of_test.is_some_and(|cells| cells.contains(&key(cell)))
    }

    /// Whether the test is to begin the state of the record there.
    pub(super) fn is_ended(&self, test: &str, cell: &LeftIn) -> bool {
        let of_test = self.ended.get(test);
        of_test.is_some_and(|cells| cells.contains(&key(cell)))
    }

    /// Whether a cell that `test` left in the record holds that value when its turn comes now.
    pub(super) fn is_left_by(&self, test: &str, cell: &LeftIn) -> bool {
        let Some(place) = self.places.get(test) else {
            return false;
        };
        let leavers = self.leavers.get(&key(cell)).map_or(&[][..], Vec::as_slice);
        let before = leavers.partition_point(|(at, _)| at < place);
        let last = leavers[..before].last();
        value(cell).is_some() && last.is_some_and(|(_, last)| value(last) == value(cell))
    }
}

fn key(cell: &LeftIn) -> Cell<'_> {
    (&cell.path, &cell.name)
}

/// What a test left, if that is known.
fn value(cell: &LeftIn) -> Option<Fingerprint> {
    cell.value.filter(|_| !cell.is_unknown)
}

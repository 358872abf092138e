//! What records tell only since a version: which classes those are of which code gets all members
//! at once, or the docstrings, which functions those that it asks how they can be called, and who gets a number by which
//! a class counts its objects.

use super::Planning;
use crate::languages::{ASKED_FOR_DOCS, CALLED, LISTED, LOST, SERIAL, UnitReads, name_hash};
use crate::matrix::{Matrix, What};

impl Planning<'_> {
    /// It reads members of all classes where a record does not tell: rows that an older version has
    /// made.
    pub(super) fn list_members(&self, reads: &mut [Option<UnitReads>]) {
        if self.records.iter().all(|matrix| tells(matrix, LISTED)) {
            return;
        }
        for reads in reads.iter_mut().flatten() {
            reads.members |= reads.lists_members;
        }
    }

    /// Whether all records tell who asks functions how they can be called.
    pub(super) fn tells_calls(&self) -> bool {
        self.records.iter().all(|matrix| tells(matrix, CALLED))
    }

    /// Whether all records tell who asks classes for docstrings, and objects.
    pub(super) fn tells_docs(&self) -> bool {
        let mut records = self.records.iter();
        records.all(|matrix| tells(matrix, ASKED_FOR_DOCS))
    }

    /// Code that spells the attribute for docstrings reads them by this name where a record does not
    /// tell whom it asked.
    pub(super) fn name_docs(&self, reads: &mut [Option<UnitReads>]) {
        let doc = (!self.tells_docs()).then(|| name_hash("__doc__"));
        for reads in reads.iter_mut().flatten() {
            if std::mem::take(&mut reads.asks_for_docs) {
                reads.names.extend(doc);
                reads.names.sort_unstable();
            }
        }
    }

    /// Whether all records tell who gets serial numbers. Else all code reads those that it spells.
    pub(super) fn tells_serials(&self) -> bool {
        let is_lost = |what: &What| matches!(what, What::Reached(text) if &**text == LOST);
        let mut records = self.records.iter();
        !self.has_lost_serials
            && records.all(|matrix| {
                let mut units = matrix.units.iter();
                tells(matrix, SERIAL) && !units.any(|(unit, _)| is_lost(&unit.what))
            })
    }
}

/// Whether each row of a matrix tells what texts with this mark are about.
fn tells(matrix: &Matrix, mark: char) -> bool {
    let is_mark =
        |what: &What| matches!(what, What::Reached(text) if text.strip_prefix(mark) == Some(""));
    let mut units = matrix.units.iter();
    let Some(mark) = units.position(|(unit, _)| is_mark(&unit.what)) else {
        return false;
    };
    let has = |set: &Vec<u32>| set.iter().any(|id| *id as usize == mark);
    let with_mark: Vec<bool> = matrix.sets.iter().map(has).collect();
    let mut own = matrix.rows.iter().filter_map(|row| row.own.as_ref());
    own.all(|own| {
        let inner = own.inner.iter().map(|inner| inner.sets.as_slice());
        let mut parts = inner.chain([own.sets.as_slice()]);
        parts.all(|sets| sets.iter().any(|set| with_mark[*set as usize]))
    })
}

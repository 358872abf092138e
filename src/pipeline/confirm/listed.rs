//! Code that gets all members of classes at once: which classes those are the record tells.

use super::Planning;
use crate::languages::{LISTED, UnitReads};
use crate::matrix::{Matrix, What};

impl Planning<'_> {
    /// It reads members of all classes where a record does not tell: rows that an older version has
    /// made.
    pub(super) fn list_members(&self, reads: &mut [Option<UnitReads>]) {
        if self.records.iter().all(|matrix| tells(matrix)) {
            return;
        }
        for reads in reads.iter_mut().flatten() {
            reads.members |= reads.lists_members;
        }
    }
}

/// Whether each row of a matrix does.
fn tells(matrix: &Matrix) -> bool {
    let is_mark =
        |what: &What| matches!(what, What::Reached(text) if text.strip_prefix(LISTED) == Some(""));
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

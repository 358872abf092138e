//! Functions that use a global dictionary by key only: what they read of it are the entries that
//! the record names.

use std::collections::BTreeSet;

use super::Planning;
use crate::languages::{Keyed, UnitReads, name_hash};
use crate::matrix::{Matrix, SetId, Unit, What};

impl Planning<'_> {
    /// Leaves that out of what the functions read. A function uses a global by key only if each
    /// record that has the function says so.
    pub(super) fn leave_out_keyed(&self, reads: &mut [Option<UnitReads>]) {
        let units = self.records.iter().flat_map(|matrix| &matrix.units);
        let marks: BTreeSet<&Unit> = { units.map(|(unit, _)| unit) }
            .filter(|unit| function_of(unit).is_some())
            .collect();
        for mark in marks {
            let Some((function, global)) = function_of(mark) else {
                continue;
            };
            let code = Unit::at(mark.path.clone(), What::Code(function.into()));
            let number = self.units.known.get(&code);
            let is_by_key = || {
                self.records
                    .iter()
                    .all(|matrix| tells_of_all(matrix, &code, mark))
            };
            if let Some(reads) = number.and_then(|number| reads[*number].as_mut())
                && is_by_key()
            {
                reads.loads.retain(|name| *name != name_hash(global));
            }
        }
    }
}

/// The function and the global that a unit is about.
fn function_of(unit: &Unit) -> Option<(&str, &str)> {
    match &unit.what {
        What::Reached(text) => match Keyed::of(text)? {
            Keyed::Function(function, global) => Some((function, global)),
            _ => None,
        },
        _ => None,
    }
}

/// Whether each test that ran the code has the mark: a row that an older version has made lacks it.
fn tells_of_all(matrix: &Matrix, code: &Unit, mark: &Unit) -> bool {
    let sets_with = |wanted: &Unit| -> BTreeSet<SetId> {
        let mut units = matrix.units.iter();
        let Some(unit) = units.position(|(unit, _)| unit == wanted) else {
            return BTreeSet::new();
        };
        let sets = matrix.sets.iter().enumerate();
        let sets = sets.filter(|(_, set)| set.iter().any(|id| *id as usize == unit));
        sets.map(|(set, _)| set as SetId).collect()
    };
    let (with_code, with_mark) = (sets_with(code), sets_with(mark));
    let has = |sets: &[SetId], some: &BTreeSet<SetId>| sets.iter().any(|set| some.contains(set));
    let own = matrix.rows.iter().filter_map(|row| row.own.as_ref());
    let mut parts = own.flat_map(|own| {
        let inner = own.inner.iter().map(|inner| inner.sets.as_slice());
        inner.chain([own.sets.as_slice()])
    });
    parts.all(|sets| !has(sets, &with_code) || has(sets, &with_mark))
}

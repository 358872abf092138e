//! Files that a test of this run read, and one that was left out wrote in an earlier run.
//!
//! In a run of both, the reader's row has what the writer used. Here only the file told
//! of the writer: who wrote it may run again before the reader does, and write something
//! else, so the reader's row has all that the writer's has.

use std::collections::{BTreeMap, BTreeSet};

use bstr::{BStr, BString, ByteSlice};

use super::decide::Decision;
use crate::languages::split;
use crate::matrix::{Fingerprint, Matrix, Row, SetId, TestId, Unit, UnitId, UnitKind, What};

/// The tests that were left out, by the paths that they wrote.
#[derive(Default)]
pub(super) struct HandedOn<'a> {
    writers: BTreeMap<BString, Vec<(&'a Matrix, &'a Row)>>,
}

impl<'a> HandedOn<'a> {
    pub(super) fn new(decision: &'a Decision) -> HandedOn<'a> {
        let mut found = HandedOn::default();
        // Most matrices have few such units, if any.
        let mut sets: Vec<(&Matrix, BTreeSet<SetId>)> = Vec::new();
        for (test, _) in decision.selection.excluded() {
            let Some(matrix) = decision.proof_of(test) else {
                continue;
            };
            let at = sets
                .iter()
                .position(|(known, _)| std::ptr::eq(*known, matrix));
            let at = at.unwrap_or_else(|| {
                sets.push((matrix, with_writes(matrix)));
                sets.len() - 1
            });
            let Some(row) = matrix
                .row(TestId::Test(test))
                .filter(|_| !sets[at].1.is_empty())
            else {
                continue;
            };
            let writes = row.sets.iter().filter(|set| sets[at].1.contains(set));
            let ids = writes.flat_map(|set| &matrix.sets[*set as usize]);
            for (unit, _) in ids.map(|id| &matrix.units[*id as usize]) {
                if unit.is_written() {
                    let known = found.writers.entry(unit.path.clone()).or_default();
                    known.push((matrix, row));
                }
            }
        }
        found
    }

    /// Whether nobody wrote anything.
    pub(super) fn is_empty(&self) -> bool {
        self.writers.is_empty()
    }

    /// What those used that wrote what these units are about, with the values of now: the
    /// proof that they were left out says that these are the recorded ones.
    pub(super) fn used_for<'u>(
        &self,
        units: impl Iterator<Item = &'u Unit>,
    ) -> BTreeSet<(Unit, Fingerprint)> {
        let mut rows: Vec<(&Matrix, &Row)> = Vec::new();
        for unit in units.filter(|unit| !unit.is_outside() && !unit.is_written()) {
            let met = match unit.kind() {
                UnitKind::File | UnitKind::Exists => self.at_or_above(unit.path()),
                UnitKind::Dir => self.in_or_above(unit.path()),
                _ => Vec::new(),
            };
            for (matrix, row) in met {
                if !rows.iter().any(|(_, known)| std::ptr::eq(*known, row)) {
                    rows.push((matrix, row));
                }
            }
        }
        let units = rows.iter().flat_map(|(matrix, row)| units_of(matrix, row));
        let units = units.filter(|(unit, _)| !unit.is_of_build() && !unit.is_written());
        let plain = units.map(|(unit, value)| match unit.what == What::AuditedFile {
            true => (Unit::at(unit.path.clone(), What::File), *value),
            false => (unit.clone(), *value),
        });
        plain.collect()
    }

    fn at_or_above(&self, path: &BStr) -> Vec<(&'a Matrix, &'a Row)> {
        let mut found = Vec::new();
        let mut path = path;
        while !path.is_empty() {
            found.extend(self.writers.get(path).into_iter().flatten());
            path = split(path).0;
        }
        found
    }

    fn in_or_above(&self, folder: &BStr) -> Vec<(&'a Matrix, &'a Row)> {
        let mut found = self.at_or_above(folder);
        let beneath = [folder.as_bytes(), b"/"].concat();
        let beneath = match folder.is_empty() {
            true => BString::default(),
            false => BString::from(beneath),
        };
        let from = self.writers.range(beneath.clone()..);
        for (_, rows) in from
            .take_while(|(path, _)| path.starts_with(&beneath))
            .filter(|(path, _)| split(path.as_bstr()).0 == folder)
        {
            found.extend(rows);
        }
        found
    }
}

/// The sets that say where a test wrote.
fn with_writes(matrix: &Matrix) -> BTreeSet<SetId> {
    let is_written = |id: &UnitId| matrix.units[*id as usize].0.is_written();
    let sets = matrix.sets.iter().enumerate();
    let found = sets.filter(|(_, units)| units.iter().any(is_written));
    found.map(|(at, _)| at as SetId).collect()
}

fn units_of<'m>(matrix: &'m Matrix, row: &Row) -> impl Iterator<Item = &'m (Unit, Fingerprint)> {
    let sets = row.sets.iter().map(|set| &matrix.sets[*set as usize]);
    let ids: BTreeSet<UnitId> = sets.flatten().copied().collect();
    ids.into_iter().map(|id| &matrix.units[id as usize])
}

//! What selection asks of a matrix, whether it is whole or as it is stored.

use super::format::ViewRow;
use super::{Fingerprint, Header, Matrix, Unit, UnitId};

/// A matrix to select from. Ids and row numbers are those of [`Matrix`].
pub trait Table {
    fn header(&self) -> &Header;

    /// How many units there are.
    fn units(&self) -> usize;

    fn unit(&self, id: UnitId) -> (Unit, Fingerprint);

    /// Calls `see` with the units of each set, in the order of the sets.
    fn each_set(&self, see: impl FnMut(&[UnitId]));

    /// How many rows there are.
    fn rows(&self) -> usize;

    fn row(&self, row: usize) -> ViewRow<'_>;
}

impl Table for Matrix {
    fn header(&self) -> &Header {
        &self.header
    }

    fn units(&self) -> usize {
        self.units.len()
    }

    fn unit(&self, id: UnitId) -> (Unit, Fingerprint) {
        self.units[id as usize].clone()
    }

    fn each_set(&self, mut see: impl FnMut(&[UnitId])) {
        self.sets.iter().for_each(|set| see(set));
    }

    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn row(&self, row: usize) -> ViewRow<'_> {
        let row = &self.rows[row];
        ViewRow {
            test: &row.test,
            sets: &row.sets,
            outcome: row.outcome,
            duration_ms: row.duration_ms,
            position: row.position,
            incomplete: row.incomplete.as_deref(),
            run: row.run,
            selected: row.selected,
        }
    }
}

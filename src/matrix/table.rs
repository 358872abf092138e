//! What selection asks of a matrix, whether it is whole or as it is stored.

use super::format::ViewRow;
use super::{Fingerprint, Header, Matrix, Unit, UnitId};

/// A matrix to select from. Ids and row numbers are those of [`Matrix`].
pub trait Table {
    fn header(&self) -> &Header;

    /// How many units there are.
    fn units(&self) -> usize;

    fn unit(&self, id: UnitId) -> (Unit, Fingerprint);

    /// Calls `see` for each set, in their order, with the number of its units
    /// and with those that are among `wanted`, which is ascending.
    fn each_set(&self, wanted: &[UnitId], see: impl FnMut(usize, &[UnitId]));

    /// How many rows there are.
    fn rows(&self) -> usize;

    fn row(&self, row: usize) -> ViewRow<'_>;

    /// The tests with their rows, ascending.
    fn tests(&self) -> impl Iterator<Item = (&str, ViewRow<'_>)> {
        let rows = (0..self.rows()).map(|row| self.row(row));
        rows.filter_map(|row| Some((row.test.test()?, row)))
    }

    /// Whether it has the values of cells, by which tests can be confirmed.
    fn has_values(&self) -> bool;
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

    fn each_set(&self, wanted: &[UnitId], mut see: impl FnMut(usize, &[UnitId])) {
        for set in &self.sets {
            let among = set.iter().copied();
            let among = among.filter(|id| wanted.binary_search(id).is_ok());
            see(set.len(), &among.collect::<Vec<_>>());
        }
    }

    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn row(&self, row: usize) -> ViewRow<'_> {
        let row = &self.rows[row];
        ViewRow {
            test: row.test.by_ref(),
            sets: &row.sets,
            outcome: row.outcome,
            duration_ms: row.duration_ms,
            position: row.position,
            incomplete: row.incomplete.as_deref(),
            run: row.run,
            selected: row.selected,
            own: row.own.as_ref(),
        }
    }

    fn has_values(&self) -> bool {
        self.values.is_some()
    }
}

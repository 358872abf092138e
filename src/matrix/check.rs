//! Whether a matrix keeps its invariants.

use super::{Matrix, Row, Values};

impl Matrix {
    /// Checks every invariant; the error says which one is broken, and where.
    pub fn check(&self) -> Result<(), String> {
        if let Some(at) = unsorted(self.units.iter().map(|(unit, _)| unit)) {
            return Err(format!(
                "unit {} is not after the one before",
                self.units[at].0
            ));
        }
        for (index, set) in self.sets.iter().enumerate() {
            check_ids(set, self.units.len()).map_err(|why| format!("set {index}: {why}"))?;
        }
        if let Some(at) = unsorted(self.rows.iter().map(|row| &row.test)) {
            return Err(format!(
                "{} is not after the one before",
                self.rows[at].test
            ));
        }
        for row in &self.rows {
            self.check_row(row)
                .map_err(|why| format!("{}: {why}", row.test))?;
        }
        self.values.as_ref().map_or(Ok(()), Values::check)
    }

    fn check_row(&self, row: &Row) -> Result<(), String> {
        check_ids(&row.sets, self.sets.len())?;
        if row.run as usize >= self.header.runs.len() {
            return Err(format!("run {} is not in the header", row.run));
        }
        let Some(own) = &row.own else {
            return Ok(());
        };
        check_ids(&own.sets, self.sets.len())?;
        if let Some(inner) = &own.inner {
            check_ids(&inner.sets, self.sets.len())?;
            check_ids(&inner.others, self.sets.len())?;
        }
        let strange = own
            .all_sets()
            .find(|set| row.sets.binary_search(set).is_err());
        match strange {
            Some(set) => Err(format!("its own set {set} is not among its sets")),
            None => Ok(()),
        }
    }
}

/// Ids must be strictly ascending and below `bound`.
fn check_ids(ids: &[u32], bound: usize) -> Result<(), String> {
    if let Some(at) = unsorted(ids.iter()) {
        return Err(format!("id {} is not after the one before", ids[at]));
    }
    match ids.last() {
        Some(last) if *last as usize >= bound => {
            Err(format!("id {last} is out of range: there are {bound}"))
        }
        _ => Ok(()),
    }
}

/// The first place whose item is not greater than the one before it.
fn unsorted<T: Ord>(items: impl Iterator<Item = T>) -> Option<usize> {
    let mut last = None;
    for (at, item) in items.enumerate() {
        if last.as_ref().is_some_and(|last| *last >= item) {
            return Some(at);
        }
        last = Some(item);
    }
    None
}

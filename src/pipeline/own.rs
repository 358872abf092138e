//! Whose values a matrix has, and which of its rows hold with them.
//!
//! That a row has an own part says: if its own units are these, and the state that the test
//! can read has these values, the test does what it did. This stays true whatever else
//! changes. But a matrix has the values of one moment, so rows need a reason to go with them:
//!
//! - A test that ran in this run met the values that the run took.
//! - A row that is carried over is proven to hold here, all of its units being the same. So
//!   the state that the test would read here has the values of this run, and it would use
//!   the same units.
//! - Where a run took no values, because no test had to run or because workers shared them,
//!   those of an earlier matrix stay true for rows that are carried from it.

use std::collections::BTreeMap;

use bstr::ByteSlice;
use rustc_hash::{FxHashMap, FxHashSet};

use super::assembly::Assembly;
use super::decide::Decision;
use crate::matrix::{GroupRef, Matrix, Own, Row, SetId, TestId, Values};
use crate::observe::Observations;

/// The values that a matrix gets.
pub(super) enum ValuesOf<'a> {
    /// Those that the run took, with the modules (by path) that were imported then.
    Run(&'a Values, FxHashSet<&'a str>),
    /// Those of a matrix whose rows are carried over.
    Earlier(&'a Matrix),
    Nothing,
}

impl<'a> ValuesOf<'a> {
    pub(super) fn of(decision: &'a Decision, collected: &'a Observations) -> ValuesOf<'a> {
        // Where collecting failed, a module may not have been imported to its end.
        if let (Some(values), Some(_)) = (&collected.values, &collected.items) {
            let paths = values.holders.iter().map(|one| one.path.as_str());
            return ValuesOf::Run(values, paths.collect());
        }
        let mut rows: BTreeMap<&str, (usize, &Matrix)> = BTreeMap::new();
        for (test, _) in decision.selection.excluded() {
            if let Some(matrix) = decision.proof_of(test).filter(|one| one.values.is_some())
                && let Some(row) = matrix.row(TestId::Test(test))
                && row.own.is_some()
            {
                rows.entry(&matrix.header.run).or_insert((0, matrix)).0 += 1;
            }
        }
        let most = rows.into_values().max_by_key(|(rows, _)| *rows);
        most.map_or(ValuesOf::Nothing, |(_, matrix)| ValuesOf::Earlier(matrix))
    }

    pub(super) fn values(&self) -> Option<Values> {
        match self {
            ValuesOf::Run(values, _) => Some((*values).clone()),
            ValuesOf::Earlier(matrix) => Some(Values {
                // Not all of its rows may be here.
                ties: None,
                ..matrix.values.clone()?
            }),
            ValuesOf::Nothing => None,
        }
    }

    /// Whether a test that ran in this run met them.
    pub(super) fn are_of_run(&self) -> bool {
        matches!(self, ValuesOf::Run(..))
    }
}

/// By set of a matrix, which its run names, whether all modules in it were imported.
pub(super) type Imported = FxHashMap<(String, SetId), bool>;

impl Assembly<'_> {
    /// The own part of a row that is carried over as `groups`, one for each of its sets.
    pub(super) fn own_of_carried(
        &mut self,
        from: &Matrix,
        row: &Row,
        groups: &[GroupRef],
    ) -> Option<Own<GroupRef>> {
        let own = row.own.as_ref()?;
        let holds = match &self.values {
            // Only part of the tests may have been collected here.
            ValuesOf::Run(..) => {
                let mut by_value = row.sets.iter().filter(|set| !own.sets.contains(set));
                by_value.all(|set| self.has_imported(from, *set))
            }
            ValuesOf::Earlier(matrix) => std::ptr::eq(*matrix, from),
            ValuesOf::Nothing => false,
        };
        if !holds {
            return None;
        }
        let of_set: FxHashMap<SetId, GroupRef> = row
            .sets
            .iter()
            .copied()
            .zip(groups.iter().copied())
            .collect();
        Some(own.map(|sets| sets.iter().map(|set| of_set[set]).collect()))
    }

    /// Whether this run took values of each module that has units in a set.
    fn has_imported(&mut self, from: &Matrix, set: SetId) -> bool {
        let ValuesOf::Run(_, paths) = &self.values else {
            return false;
        };
        let key = (from.header.run.clone(), set);
        *self.imported.entry(key).or_insert_with(|| {
            let units = from.sets[set as usize].iter();
            let units = units.map(|id| &from.units[*id as usize].0);
            let mut of_sources = units.filter(|unit| unit.kind().is_source());
            of_sources.all(|unit| {
                let path = unit.path().to_str();
                path.is_ok_and(|path| paths.contains(path))
            })
        })
    }
}

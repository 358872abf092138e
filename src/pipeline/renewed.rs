//! Sets of rows whose tests were left out by value: their units with the values of now.

use rustc_hash::FxHashMap;

use super::assembly::Assembly;
use crate::matrix::{GroupRef, Matrix, SetId, UnitId, UnitRef};

/// What was renewed already, by matrix and number in it: rows share their sets, and sets their
/// units.
#[derive(Default)]
pub(super) struct Renewals {
    sets: FxHashMap<(*const Matrix, SetId), Result<GroupRef, String>>,
    units: FxHashMap<(*const Matrix, UnitId), Result<UnitRef, String>>,
}

impl Assembly<'_> {
    /// A set of an earlier matrix, its units with the values of now; or why rows with it prove
    /// nothing.
    pub(super) fn renewed(&mut self, from: &Matrix, set: SetId) -> Result<GroupRef, String> {
        let key = (std::ptr::from_ref(from), set);
        if let Some(known) = self.renewals.sets.get(&key) {
            return known.clone();
        }
        let units = from.sets[set as usize].iter();
        let units: Result<Vec<_>, _> = units.map(|id| self.renewed_unit(from, *id)).collect();
        let made = units.map(|units| self.builder.group(units));
        self.renewals.sets.insert(key, made.clone());
        made
    }

    fn renewed_unit(&mut self, from: &Matrix, id: UnitId) -> Result<UnitRef, String> {
        let key = (std::ptr::from_ref(from), id);
        if let Some(known) = self.renewals.units.get(&key) {
            return known.clone();
        }
        let unit = &from.units[id as usize].0;
        let made = match self.tested.value(unit) {
            (_, Some(why)) => Err(why),
            (value, None) => {
                let unit = self.builder.unit(unit.clone(), value);
                unit.map_err(|error| error.to_string())
            }
        };
        self.renewals.units.insert(key, made.clone());
        made
    }
}

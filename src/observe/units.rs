//! The units of a run, numbered.

use rustc_hash::FxHashMap;

use crate::matrix::Unit;

/// Index into [`Observations::units`](super::Observations::units).
pub(crate) type UnitIndex = u32;

/// Every unit that was met, once.
#[derive(Debug, Default)]
pub(crate) struct UnitTable {
    units: Vec<Unit>,
    index: FxHashMap<Unit, UnitIndex>,
}

impl UnitTable {
    pub(crate) fn intern(&mut self, unit: Unit) -> UnitIndex {
        if let Some(index) = self.index.get(&unit) {
            return *index;
        }
        let index = self.units.len() as UnitIndex;
        self.units.push(unit.clone());
        self.index.insert(unit, index);
        index
    }

    pub(crate) fn find(&self, unit: &Unit) -> Option<UnitIndex> {
        self.index.get(unit).copied()
    }

    pub(crate) fn get(&self, index: UnitIndex) -> &Unit {
        &self.units[index as usize]
    }

    pub(crate) fn units(&self) -> &[Unit] {
        &self.units
    }

    pub(crate) fn into_units(self) -> Vec<Unit> {
        self.units
    }
}

//! Sets of rows that are taken over: their units with the values that they had.

use anyhow::Result;
use rustc_hash::FxHashMap;

use super::assembly::Assembly;
use super::compare::delta_to;
use crate::matrix::{Fingerprint, GroupRef, Matrix, SetId, Unit, UnitId, UnitKind, UnitRef};

/// What became of parts of carried rows, by their matrix and their number in it; `None`: this run
/// saw something else.
#[derive(Default)]
pub(super) struct Carried {
    sets: FxHashMap<(*const Matrix, SetId), Option<GroupRef>>,
    units: FxHashMap<(*const Matrix, UnitId), Option<UnitRef>>,
}

impl Assembly<'_> {
    /// A set of a row that holds here; `None` if this run saw a unit of it to be different.
    pub(super) fn carry_set(&mut self, from: &Matrix, set: SetId) -> Result<Option<GroupRef>> {
        // Rows share their sets, and sets their units.
        let key = (std::ptr::from_ref(from), set);
        if let Some(known) = self.carried.sets.get(&key) {
            return Ok(*known);
        }
        let carried = match self.relied_on(from, set)? {
            Some(relied_on) => self.carry(from, set, relied_on),
            None => None,
        };
        self.carried.sets.insert(key, carried);
        Ok(carried)
    }

    fn carry(
        &mut self,
        from: &Matrix,
        set: SetId,
        relied_on: Vec<(Unit, Fingerprint)>,
    ) -> Option<GroupRef> {
        let mut group = Vec::new();
        for id in &from.sets[set as usize] {
            let (unit, value) = &from.units[*id as usize];
            // What is told of a build is about that one.
            if unit.is_of_build() {
                continue;
            }
            let key = (std::ptr::from_ref(from), *id);
            let known = match self.carried.units.get(&key) {
                Some(known) => *known,
                None => {
                    let known = self.builder.unit(unit.clone(), *value).ok();
                    self.carried.units.insert(key, known);
                    known
                }
            };
            group.push(known?);
        }
        for (unit, value) in relied_on {
            group.push(self.builder.unit(unit, value).ok()?);
        }
        Some(self.builder.group(group))
    }

    /// What a set of a carried row relies on in modules that have changed
    /// since, though their effects came to the same: with other imports, that
    /// may be other units than those that the row has. `None` if it cannot be
    /// told.
    fn relied_on(&mut self, from: &Matrix, set: SetId) -> Result<Option<Vec<(Unit, Fingerprint)>>> {
        let since = match self.since.get(&from.header.run) {
            Some(known) => known,
            None => {
                let view = self.recording.before;
                let delta = delta_to(self.project, &from.header, view);
                self.since.entry(from.header.run.clone()).or_insert(delta)
            }
        };
        let mut all = Vec::new();
        for id in &from.sets[set as usize] {
            let unit = &from.units[*id as usize].0;
            if unit.kind() != UnitKind::Effects {
                continue;
            }
            let has_changed = since
                .as_ref()
                .is_none_or(|delta| delta.touches(unit.path()));
            if !has_changed {
                continue;
            }
            let relied_on = match self.reliance.get(&unit.path) {
                Some(known) => known,
                None => {
                    let relied_on = self.tested.facts.relied_on(unit.path())?;
                    self.reliance.entry(unit.path.clone()).or_insert(relied_on)
                }
            };
            match relied_on {
                Some(units) => all.extend(units.iter().cloned()),
                None => return Ok(None),
            }
        }
        Ok(Some(all))
    }

    pub(super) fn carry_units(
        &mut self,
        units: impl Iterator<Item = (Unit, Fingerprint)>,
    ) -> Option<GroupRef> {
        let mut known = Vec::new();
        // What is told of a build is about that one.
        for (unit, value) in units.filter(|(unit, _)| !unit.is_of_build()) {
            known.push(self.builder.unit(unit, value).ok()?);
        }
        Some(self.builder.group(known))
    }
}

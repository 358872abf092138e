//! Traditional test selection between a stored matrix and the head.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Evidence, Reason, Verdict};
use crate::matrix::{Fingerprint, Matrix, Row, Unit, UnitId};

/// How the units of one matrix differ at the head: ∂(n, h) of [G 4.2.1]. A
/// unit that is in none of the maps has the same fingerprint.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Differences {
    pub changed: FxHashMap<UnitId, Fingerprint>,
    /// Units whose value at the head cannot be told, and why.
    pub unknown: FxHashMap<UnitId, String>,
    /// Units that only the test environment can settle.
    pub late: Vec<UnitId>,
}

/// What the units of one shared set come to.
#[derive(Clone, Debug, Default)]
struct SetState {
    changed: Option<UnitId>,
    unknown: Option<UnitId>,
    late: Vec<UnitId>,
}

/// tts(n, h) of [G (4.5)] for the tests that have a row at n, where `matrix`
/// is n's: a verdict for each row, in the order of the rows.
///
/// A test runs if its result at n was not a good one, if its row may lack
/// units, or if a unit of its row is different or cannot be told at h.
pub fn tts(matrix: &Matrix, name: &str, differences: &Differences) -> Vec<Verdict> {
    let differing = Differing::new(matrix.units.len(), differences);
    let states: Vec<SetState> = matrix
        .sets
        .iter()
        .map(|set| SetState::of(set, &differing))
        .collect();
    let mut shared = Shared::new(matrix, name);
    matrix
        .rows
        .iter()
        .map(|row| shared.verdict(row, &states, differences))
        .collect()
}

/// What the verdicts of many tests have in common, made once.
struct Shared<'m> {
    matrix: &'m Matrix,
    baseline: Arc<str>,
    revision: Arc<str>,
    /// The commit of each run of the matrix.
    ran_at: Vec<Arc<str>>,
    late: FxHashMap<Vec<UnitId>, Arc<[(Unit, Fingerprint)]>>,
}

/// What became of one unit.
#[derive(Clone, Copy)]
enum Became {
    Same,
    Changed,
    Unknown,
    Late,
}

/// [`Differences`] by unit id: sets of many rows are looked up in it.
struct Differing(Vec<Became>);

impl Differing {
    fn new(units: usize, differences: &Differences) -> Differing {
        let mut of_units = vec![Became::Same; units];
        let late = differences.late.iter().map(|id| (id, Became::Late));
        let unknown = differences.unknown.keys().map(|id| (id, Became::Unknown));
        let changed = differences.changed.keys().map(|id| (id, Became::Changed));
        // The gravest last.
        for (id, became) in late.chain(unknown).chain(changed) {
            of_units[*id as usize] = became;
        }
        Differing(of_units)
    }
}

impl SetState {
    fn of(set: &[UnitId], differing: &Differing) -> SetState {
        let mut state = SetState::default();
        for unit in set {
            match differing.0[*unit as usize] {
                Became::Same => {}
                Became::Changed => {
                    state.changed.get_or_insert(*unit);
                }
                Became::Unknown => {
                    state.unknown.get_or_insert(*unit);
                }
                Became::Late => state.late.push(*unit),
            }
        }
        state
    }
}

impl<'m> Shared<'m> {
    fn new(matrix: &'m Matrix, name: &str) -> Shared<'m> {
        let runs = matrix.header.runs.iter();
        Shared {
            matrix,
            baseline: name.into(),
            revision: matrix.header.commit.as_str().into(),
            ran_at: runs.map(|run| run.commit.as_str().into()).collect(),
            late: FxHashMap::default(),
        }
    }

    fn verdict(&mut self, row: &Row, states: &[SetState], differences: &Differences) -> Verdict {
        let matrix = self.matrix;
        let baseline = || String::from(&*self.baseline);
        if !row.outcome.is_good() {
            return Verdict::Run(Reason::Failed {
                outcome: row.outcome,
                baseline: baseline(),
            });
        }
        if let Some(why) = &row.incomplete {
            return Verdict::Run(Reason::Incomplete {
                why: why.clone(),
                baseline: baseline(),
            });
        }
        let of_row = || row.sets.iter().map(|set| &states[*set as usize]);
        if let Some(id) = of_row().find_map(|state| state.changed) {
            let (unit, from) = matrix.units[id as usize].clone();
            return Verdict::Run(Reason::Changed {
                unit,
                from,
                to: differences.changed[&id],
                baseline: baseline(),
            });
        }
        if let Some(id) = of_row().find_map(|state| state.unknown) {
            return Verdict::Run(Reason::Unknown {
                unit: matrix.units[id as usize].0.clone(),
                why: differences.unknown[&id].clone(),
                baseline: baseline(),
            });
        }
        let mut late: Vec<UnitId> = of_row()
            .flat_map(|state| state.late.iter().copied())
            .collect();
        late.sort_unstable();
        late.dedup();
        Verdict::Skip(Evidence {
            baseline: self.baseline.clone(),
            revision: self.revision.clone(),
            ran_at: self.ran_at[row.run as usize].clone(),
            outcome: row.outcome,
            // Sets of one row may overlap; for people, the sum tells enough.
            units: row
                .sets
                .iter()
                .map(|set| matrix.sets[*set as usize].len())
                .sum(),
            late: self.late_units(late),
            duration_ms: row.duration_ms,
        })
    }

    /// These units with their recorded fingerprints.
    fn late_units(&mut self, ids: Vec<UnitId>) -> Arc<[(Unit, Fingerprint)]> {
        let matrix = self.matrix;
        let made = self.late.entry(ids).or_insert_with_key(|ids| {
            let units = ids.iter().map(|id| matrix.units[*id as usize].clone());
            units.collect()
        });
        made.clone()
    }
}

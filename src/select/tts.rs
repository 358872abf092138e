//! Traditional test selection between a stored matrix and the head.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{By, Evidence, Reason, Verdict};
use crate::matrix::{Fingerprint, SetId, Table, TestId, Unit, UnitId, ViewRow, What};

/// How the units of one matrix differ at the head: ∂(n, h) of [G 4.2.1]. A
/// unit that is in none of the maps has the same fingerprint.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Differences {
    pub changed: FxHashMap<UnitId, Fingerprint>,
    /// Units whose value at the head cannot be told, and why.
    pub unknown: FxHashMap<UnitId, String>,
    /// Units that only the test environment can settle.
    pub late: Vec<UnitId>,
    /// Those of `late` that the project's files declare to be as they were.
    pub declared: FxHashSet<UnitId>,
    /// Whether the tests are there that were there when the matrix was recorded, and no others: then
    /// it does not matter that options chose them.
    pub are_same_tests: bool,
}

/// What the units of one shared set come to.
#[derive(Clone, Debug, Default)]
struct SetState {
    changed: Option<UnitId>,
    unknown: Option<UnitId>,
    late: Vec<UnitId>,
    units: usize,
}

/// tts(n, h) of [G (4.5)] for the tests that have a row at n, where `matrix`
/// is n's: a verdict for each row, in the order of the rows.
///
/// A test runs if its result at n was not a good one, if its row may lack
/// units, or if a unit of its row is different or cannot be told at h. Where n
/// has values of cells and the row a part of its own, a difference outside of
/// that part leaves it to these values whether it runs. They decide as well of a row of a run for
/// which options chose tests, as it has not met what others leave.
pub(crate) fn tts(matrix: &impl Table, name: &str, differences: &Differences) -> Vec<Verdict> {
    let differing = Differing::new(matrix.units(), differences);
    let mut states: Vec<SetState> = Vec::new();
    matrix.each_set(&differing.ids(), |units, set| {
        states.push(SetState::of(units, set, &differing));
    });
    let mut shared = Shared::new(matrix, name, differences);
    (0..matrix.rows())
        .map(|row| shared.verdict(&matrix.row(row), &states))
        .collect()
}

/// What the verdicts of many tests have in common, made once.
struct Shared<'m, T> {
    matrix: &'m T,
    has_values: bool,
    baseline: Arc<str>,
    revision: Arc<str>,
    /// The commit of each run of the matrix.
    ran_at: Vec<Arc<str>>,
    late: FxHashMap<Vec<UnitId>, LateUnits>,
    differences: &'m Differences,
    /// The last list of sets that was asked for: neighbours often share it.
    last: (Vec<SetId>, LateUnits),
}

/// The late units of a row, and whether no file declares one of them.
#[derive(Clone)]
struct LateUnits {
    units: Arc<[(Unit, Fingerprint)]>,
    is_open: bool,
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

    /// All that are not the same, ascending.
    fn ids(&self) -> Vec<UnitId> {
        let all = (0..).zip(&self.0);
        let differing = all.filter(|(_, became)| !matches!(became, Became::Same));
        differing.map(|(id, _)| id).collect()
    }
}

impl SetState {
    /// `set`: those of its `units` units that are not the same.
    fn of(units: usize, set: &[UnitId], differing: &Differing) -> SetState {
        let mut state = SetState {
            units,
            ..SetState::default()
        };
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

impl<'m, T: Table> Shared<'m, T> {
    fn new(matrix: &'m T, name: &str, differences: &'m Differences) -> Shared<'m, T> {
        let header = matrix.header();
        let runs = header.runs.iter();
        Shared {
            matrix,
            has_values: matrix.has_values(),
            baseline: name.into(),
            revision: header.commit.as_str().into(),
            ran_at: runs.map(|run| run.commit.as_str().into()).collect(),
            late: FxHashMap::default(),
            differences,
            last: (
                Vec::new(),
                LateUnits {
                    units: Arc::new([]),
                    is_open: false,
                },
            ),
        }
    }

    fn verdict(&mut self, row: &ViewRow<'_>, states: &[SetState]) -> Verdict {
        let (matrix, differences) = (self.matrix, self.differences);
        let name = self.baseline.clone();
        let baseline = || String::from(&*name);
        if !row.outcome.is_good() {
            return Verdict::Run(Reason::Failed {
                outcome: row.outcome,
                baseline: baseline(),
            });
        }
        if let Some(why) = row.incomplete {
            return Verdict::Run(Reason::Incomplete {
                why: why.to_owned(),
                baseline: baseline(),
            });
        }
        let (mut changed, mut unknown, mut units) = (None, None, 0);
        for state in row.sets.iter().map(|set| &states[*set as usize]) {
            changed = changed.or(state.changed);
            unknown = unknown.or(state.unknown);
            // Sets of one row may overlap; for people, the sum tells enough.
            units += state.units;
        }
        let own = self.own_sets(row).iter();
        let own_changed = own.filter_map(|set| states[*set as usize].changed).next();
        let inner = row.own.and_then(|own| own.inner.as_ref());
        let inner = inner.filter(|_| self.has_values && row.test != TestId::Collection);
        let is_changed = |set: &SetId| states[*set as usize].changed.is_some();
        let is_tied = inner.is_some_and(|inner| !inner.sets.iter().any(is_changed));
        if let Some(id) = own_changed.filter(|_| !is_tied) {
            let (unit, from) = matrix.unit(id);
            return Verdict::Run(Reason::Changed {
                unit,
                from,
                to: differences.changed[&id],
                baseline: baseline(),
            });
        }
        if let Some(id) = unknown {
            return Verdict::Run(Reason::Unknown {
                unit: matrix.unit(id).0,
                why: differences.unknown[&id].clone(),
                baseline: baseline(),
            });
        }
        let late = self.late_units(row.sets, states);
        if let Some(id) = own_changed.or(changed) {
            let (unit, from) = matrix.unit(id);
            return Verdict::Run(Reason::Unconfirmed {
                unit,
                from,
                to: differences.changed[&id],
                baseline: baseline(),
                late: late.units,
                by: match own_changed {
                    None => By::Imports,
                    Some(_) if inner.is_some_and(|one| one.others.iter().any(is_changed)) => {
                        By::Both
                    }
                    Some(_) => By::Tests,
                },
            });
        }
        let run = &matrix.header().runs[row.run as usize];
        if run.chose && row.test != TestId::Collection && !differences.are_same_tests {
            return Verdict::Run(Reason::Unconfirmed {
                unit: Unit::of(What::Options),
                from: Fingerprint::MISSING,
                to: Fingerprint::MISSING,
                baseline: baseline(),
                late: late.units,
                by: By::Others,
            });
        }
        Verdict::Skip(Evidence {
            baseline: self.baseline.clone(),
            revision: self.revision.clone(),
            ran_at: self.ran_at[row.run as usize].clone(),
            outcome: row.outcome,
            units,
            late: late.units,
            is_open: late.is_open,
            duration_ms: row.duration_ms,
        })
    }

    /// The sets of which a difference makes the test run whatever values are.
    fn own_sets<'r>(&self, row: &ViewRow<'r>) -> &'r [SetId] {
        match row.own {
            // Which tests there are is no value of a cell.
            Some(own) if self.has_values && row.test != TestId::Collection => &own.sets,
            _ => row.sets,
        }
    }

    /// The late units of these sets, with their recorded fingerprints.
    fn late_units(&mut self, sets: &[SetId], states: &[SetState]) -> LateUnits {
        let (last, made) = &mut self.last;
        if last == sets {
            return made.clone();
        }
        let late = sets.iter().map(|set| &states[*set as usize].late);
        let mut ids: Vec<UnitId> = late.flatten().copied().collect();
        ids.sort_unstable();
        ids.dedup();
        let (matrix, declared) = (self.matrix, &self.differences.declared);
        let units = self.late.entry(ids).or_insert_with_key(|ids| LateUnits {
            units: ids.iter().map(|id| matrix.unit(*id)).collect(),
            is_open: ids.iter().any(|id| !declared.contains(id)),
        });
        last.clear();
        last.extend_from_slice(sets);
        *made = units.clone();
        units.clone()
    }
}

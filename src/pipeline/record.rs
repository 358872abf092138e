//! From the traces of a run to the stored matrix of the state that was tested.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Result;
use bstr::{BString, ByteSlice};
use rustc_hash::FxHashMap;

use super::decide::Decision;
use super::project::Project;
use crate::collect::{Collected, collect, read_traces};
use crate::fingerprint::{Environment, Facts, Value};
use crate::history::View;
use crate::matrix::{
    Fingerprint, Header, Key, Matrix, MatrixBuilder, Outcome, Row, Run, Unit, UnitKind,
};
use crate::select::{COLLECTION, Candidate, Mode, Verdict};
use crate::store::{FsStore, Name};

/// What became of a recording.
#[derive(Debug, Default)]
pub struct Recorded {
    /// The stored matrix; `None` if nothing could be stored.
    pub name: Option<Name>,
    /// The outcome of each test that ran.
    pub outcomes: BTreeMap<String, Outcome>,
    /// How many rows were taken over because they still hold.
    pub carried: usize,
    /// Rows that will not justify a skip, by reason.
    pub incomplete: BTreeMap<String, usize>,
    /// Which collector was in use.
    pub collector: String,
    pub notes: Vec<String>,
}

/// What is recorded.
pub struct Recording<'a> {
    pub traces: &'a Path,
    /// The project before the tests started, and after they ended.
    pub before: &'a View,
    pub after: &'a View,
    /// The selection that was in force, with the rows that justified it.
    pub decision: &'a Decision,
    pub command: Vec<String>,
    pub run: String,
    /// Seconds since the epoch.
    pub now: u64,
}

/// Builds the matrix of the tested state and stores it: the rows of the tests
/// that ran, and those rows of the baseline that the selection proved to hold.
///
/// # Errors
/// If git or the traces cannot be read, or the store cannot be written.
pub fn record(project: &Project, store: &FsStore, recording: &Recording<'_>) -> Result<Recorded> {
    let (traces, errors) = read_traces(recording.traces)?;
    let environment = Environment::Here(recording.decision.probe.clone());
    let facts = Facts::new(
        recording.before,
        project.repository.root(),
        environment,
        project.cache(),
    );
    let collected = collect(&traces, &errors, &facts, project.prefix.as_bstr())?;
    let mut recorded = Recorded {
        collector: collected.collector.clone(),
        outcomes: collected
            .rows
            .iter()
            .map(|row| (row.test.clone(), row.outcome))
            .collect(),
        ..Recorded::default()
    };
    let matrix = Assembly::new(project, recording, &facts, &collected, &mut recorded).matrix()?;
    recorded.name = Some(store.put(&matrix)?);
    Ok(recorded)
}

/// Puts the rows of this run and the carried ones together.
struct Assembly<'a> {
    project: &'a Project,
    recording: &'a Recording<'a>,
    collected: &'a Collected,
    recorded: &'a mut Recorded,
    builder: MatrixBuilder,
    /// Every unit's fingerprint at the tested state, as far as it was needed.
    values: FxHashMap<Unit, Fingerprint>,
    /// By collected unit: why rows with it prove nothing, if so.
    doubts: Vec<Option<String>>,
    runs: Vec<Run>,
}

impl<'a> Assembly<'a> {
    fn new(
        project: &'a Project,
        recording: &'a Recording<'a>,
        facts: &Facts<'_>,
        collected: &'a Collected,
        recorded: &'a mut Recorded,
    ) -> Assembly<'a> {
        let edited = edited_paths(recording.before, recording.after);
        let mut values = FxHashMap::default();
        let mut doubts = Vec::with_capacity(collected.units.len());
        for unit in &collected.units {
            let (value, doubt) = observed(unit, collected, facts, &edited);
            values.insert(unit.clone(), value);
            doubts.push(doubt);
        }
        let revision = recording.before.revision();
        let this_run = Run {
            id: recording.run.clone(),
            commit: revision.commit.to_string(),
            tree: revision.tree.to_string(),
            dirty: !recording.before.dirty().is_empty(),
        };
        Assembly {
            project,
            recording,
            collected,
            recorded,
            builder: MatrixBuilder::default(),
            values,
            doubts,
            runs: vec![this_run],
        }
    }

    fn matrix(mut self) -> Result<Matrix> {
        let collected = self.collected;
        for (unit, value) in &self.values {
            self.builder.unit(unit, *value);
        }
        let bases: Vec<u32> = collected
            .bases
            .iter()
            .map(|base| self.set(base))
            .collect();
        self.add_own_rows(&bases);
        self.add_collection_row();
        self.add_carried_rows();
        let header = self.header();
        self.builder.finish(header)
    }

    /// A shared set of collected units.
    fn set(&mut self, units: &[u32]) -> u32 {
        let units = units
            .iter()
            .map(|unit| &self.collected.units[*unit as usize]);
        let ids: Vec<u32> = units
            .map(|unit| self.builder.unit(unit, self.values[unit]))
            .collect();
        self.builder.set(ids)
    }

    fn doubt_in(&self, units: &[u32]) -> Option<String> {
        units
            .iter()
            .find_map(|unit| self.doubts[*unit as usize].clone())
    }

    fn add_own_rows(&mut self, bases: &[u32]) {
        let base_doubts: Vec<Option<String>> = self
            .collected
            .bases
            .iter()
            .map(|base| self.doubt_in(base))
            .collect();
        for row in &self.collected.rows {
            let own = self.set(&row.own);
            let incomplete = row
                .incomplete
                .clone()
                .or_else(|| base_doubts[row.base].clone())
                .or_else(|| self.doubt_in(&row.own));
            if let Some(why) = &incomplete {
                *self.recorded.incomplete.entry(why.clone()).or_default() += 1;
            }
            self.builder.row(Row {
                test: row.test.clone(),
                sets: vec![bases[row.base], own],
                outcome: row.outcome,
                duration_ms: row.duration_ms,
                position: row.position,
                incomplete,
                run: 0,
                selected: true,
            });
        }
    }

    /// What finding the tests depends on: what this run collected, or, if no
    /// runner was started because that was proven to be the same, what the
    /// baseline knew.
    fn add_collection_row(&mut self) {
        let decision = self.recording.decision;
        if self.collected.bases.is_empty()
            && decision.selection.mode() == Mode::None
            && let Some(baseline) = &decision.baseline
            && let Some(row) = baseline.matrix.row(COLLECTION)
        {
            self.carry_row(&baseline.matrix, row);
            return;
        }
        let incomplete = match self.collected.items {
            Some(_) => self.doubt_in(&self.collected.collection),
            None => Some("the runner did not finish collecting".to_owned()),
        };
        let set = self.set(&self.collected.collection);
        self.builder.row(Row {
            test: COLLECTION.to_owned(),
            sets: vec![set],
            outcome: Outcome::Passed,
            duration_ms: 0,
            position: 0,
            incomplete,
            run: 0,
            selected: true,
        });
    }

    /// Rows that the selection proved to hold here, of tests that did not run.
    fn add_carried_rows(&mut self) {
        let decision = self.recording.decision;
        let ran: BTreeSet<&str> = self
            .collected
            .rows
            .iter()
            .map(|row| row.test.as_str())
            .collect();
        let Some(baseline) = &decision.baseline else {
            return;
        };
        for (test, verdict) in &decision.selection.verdicts {
            let Verdict::Skip(evidence) = verdict else {
                continue;
            };
            if ran.contains(test.as_str()) || self.is_gone(test) {
                continue;
            }
            let late_holds = evidence
                .late
                .iter()
                .all(|(unit, value)| self.late_value(unit) == Some(*value));
            if !late_holds {
                continue;
            }
            if let Some(proof) = decision.proofs.get(test) {
                self.carry_candidate(test, proof);
            } else if let Some(row) = baseline.matrix.row(test) {
                self.carry_row(&baseline.matrix, row);
            }
        }
    }

    /// Whether the runner, having collected everything, no longer has `test`.
    fn is_gone(&self, test: &str) -> bool {
        self.collected.items.as_ref().is_some_and(|items| {
            items
                .binary_search_by(|item| item.as_str().cmp(test))
                .is_err()
        })
    }

    fn late_value(&self, unit: &Unit) -> Option<Fingerprint> {
        self.values.get(unit).copied().or_else(|| {
            self.recording
                .decision
                .probe
                .values
                .get(&(unit.kind, unit.name.clone()))
                .copied()
        })
    }

    /// A set of a row that was proven to hold here; `None` if this run saw a
    /// unit to be different all the same.
    fn carry_set(&mut self, from: &Matrix, set: u32) -> Option<u32> {
        let mut ids = Vec::new();
        for id in &from.sets[set as usize] {
            let (unit, value) = &from.units[*id as usize];
            match self.values.get(unit) {
                Some(here) if here == value => {}
                Some(_) => return None,
                None => {
                    self.values.insert(unit.clone(), *value);
                }
            }
            ids.push(self.builder.unit(unit, *value));
        }
        Some(self.builder.set(ids))
    }

    fn carry_row(&mut self, from: &Matrix, row: &Row) {
        let mut sets = Vec::new();
        for set in &row.sets {
            let Some(set) = self.carry_set(from, *set) else {
                return;
            };
            sets.push(set);
        }
        let run = self.run(&from.header.runs[row.run as usize]);
        self.recorded.carried += 1;
        self.builder.row(Row {
            sets,
            run,
            selected: false,
            ..row.clone()
        });
    }

    fn carry_candidate(&mut self, test: &str, proof: &Candidate) {
        let mut ids = Vec::new();
        for (unit, value) in &proof.units {
            match self.values.get(unit) {
                Some(here) if here != value => return,
                Some(_) => {}
                None => {
                    self.values.insert(unit.clone(), *value);
                }
            }
            ids.push(self.builder.unit(unit, *value));
        }
        let set = self.builder.set(ids);
        let run = self.run(&Run {
            id: proof.baseline.clone(),
            commit: proof.ran_at.clone(),
            tree: String::new(),
            dirty: false,
        });
        self.recorded.carried += 1;
        self.builder.row(Row {
            test: test.to_owned(),
            sets: vec![set],
            outcome: proof.outcome,
            duration_ms: proof.duration_ms,
            position: 0,
            incomplete: None,
            run,
            selected: false,
        });
    }

    fn run(&mut self, run: &Run) -> u32 {
        let at = self.runs.iter().position(|known| known == run);
        at.unwrap_or_else(|| {
            self.runs.push(run.clone());
            self.runs.len() - 1
        }) as u32
    }

    fn header(&self) -> Header {
        let revision = self.recording.before.revision();
        let selection = &self.recording.decision.selection;
        Header {
            key: Key {
                repository: self.project.identity.clone(),
                suite: self.project.suite.clone(),
                environment: self.collected.runtime.clone(),
            },
            commit: revision.commit.to_string(),
            tree: revision.tree.to_string(),
            dirty: self.recording.before.dirty().to_vec(),
            created: self.recording.now,
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            run: self.recording.run.clone(),
            runs: self.runs.clone(),
            strategy: selection.strategy.word().to_owned(),
            baselines: selection.baselines.clone(),
            command: self.recording.command.clone(),
            tests: 0,
            ran: self.collected.rows.len() as u32,
        }
    }
}

/// A unit's value at the tested state, and why it cannot be relied on, if so.
fn observed(
    unit: &Unit,
    collected: &Collected,
    facts: &Facts<'_>,
    edited: &BTreeSet<BString>,
) -> (Fingerprint, Option<String>) {
    if let Some(seen) = collected.seen.get(unit) {
        return (*seen, None);
    }
    let value = match facts.value(unit) {
        Value::Known(value) => value,
        Value::Late => {
            let why = format!("{unit} was not told by the process that used it");
            return (Fingerprint::MISSING, Some(why));
        }
        Value::Unknown(why) => return (Fingerprint::MISSING, Some(why)),
    };
    let was_edited = !unit.path.is_empty()
        && edited.iter().any(|path| {
            path == &unit.path
                || (matches!(unit.kind, UnitKind::Dir | UnitKind::Exists | UnitKind::Lookup)
                    && path.starts_with(unit.path.as_bytes()))
        });
    let doubt = was_edited.then(|| format!("{} changed while the tests ran", unit.path));
    (value, doubt)
}

/// The paths whose content changed between two views of the working tree.
fn edited_paths(before: &View, after: &View) -> BTreeSet<BString> {
    let before: BTreeSet<&(BString, Fingerprint)> = before.dirty().iter().collect();
    let after: BTreeSet<&(BString, Fingerprint)> = after.dirty().iter().collect();
    before
        .symmetric_difference(&after)
        .map(|(path, _)| path.clone())
        .collect()
}

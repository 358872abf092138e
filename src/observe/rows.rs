//! Each test's row: the closure over the scopes that it needs, in units.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use bstr::{BString, ByteSlice};
use rustc_hash::FxHashMap;

use super::graph::{NodeId, SESSION};
use super::observations::{
    After, Base, CellIndex, LookedIn, Met, Observations, ObservedRow, RowIndex,
};
use super::run::{Reached, Run};
use super::state::Changes;
use super::teller::Teller;
use super::trace::{FoundIn, Role, TestBegin, TestEnd, Trace, TraceError};
use super::units::UnitIndex;
use crate::languages::{Closure, Facts, LANGUAGES, Place, language_of};
use crate::matrix::{Fingerprint, Outcome, Unit, What};
use crate::pattern::Pattern;

/// Builds the rows of a run from its traces. State that `benign` names
/// (`path#name`) leads from no test to another.
///
/// # Errors
/// If git cannot be read; trouble with single files makes rows coarser or
/// incomplete instead.
pub fn observe(
    traces: &[Trace],
    errors: &[TraceError],
    facts: &Facts<'_>,
    launch: &dyn Teller,
    benign: &[Pattern],
) -> Result<Observations> {
    let mut closing = Closing::new(Run::new(facts, launch, traces, errors))?;
    closing.attach_options();
    closing.attach_state(benign)?;
    closing.mark_tests();
    closing.rows()?;
    closing.collection()?;
    Ok(closing.finish())
}

/// A run whose rows are being closed.
pub(super) struct Closing<'a> {
    pub run: Run<'a>,
    /// What each language knows of the run, in the order of [`LANGUAGES`].
    pub languages: Vec<Box<dyn Closure>>,
    pub observed: Observations,
    /// By node: the change of some state that it stands for.
    pub changes: FxHashMap<NodeId, (CellIndex, u32)>,
    /// By cell, the changes in order.
    pub changed_by: Vec<Changes>,
    /// The node of each test.
    tests: FxHashMap<NodeId, String>,
    bases: FxHashMap<BString, usize>,
    shared: Vec<Shared>,
    rows: BTreeMap<String, Unnumbered>,
}

/// What all tests of one file need, besides its units.
struct Shared {
    /// By node, whether it is part of the base.
    marks: Vec<bool>,
    others: Vec<NodeId>,
    incomplete: Option<String>,
}

/// A row, as long as the rows of tests that it depends on have no number.
struct Unnumbered {
    row: ObservedRow,
    node: Option<NodeId>,
    others: Vec<NodeId>,
}

impl<'a> Closing<'a> {
    fn new(mut run: Run<'a>) -> Result<Closing<'a>> {
        let mut languages = Vec::new();
        for language in LANGUAGES {
            languages.push(language.closure(&mut run)?);
        }
        let mut closing = Closing {
            run,
            languages,
            observed: Observations::default(),
            changes: FxHashMap::default(),
            changed_by: Vec::new(),
            tests: FxHashMap::default(),
            bases: FxHashMap::default(),
            shared: Vec::new(),
            rows: BTreeMap::new(),
        };
        closing.attach_definitions()?;
        for language in &mut closing.languages {
            language.attach(&mut closing.run)?;
        }
        Ok(closing)
    }

    /// Gives the nodes what the things that the agents saw in them mean.
    fn attach_definitions(&mut self) -> Result<()> {
        let run = &mut self.run;
        let definitions = std::mem::take(&mut run.graph.definitions);
        let mut meanings = Vec::with_capacity(definitions.len());
        for definition in &definitions {
            let mut meaning = None;
            for language in &mut self.languages {
                meaning = language.meaning(run, definition)?;
                if meaning.is_some() {
                    break;
                }
            }
            meanings.push(meaning);
        }
        run.graph.definitions = definitions;
        for node in 0..run.graph.nodes.len() {
            let mut imported: BTreeSet<NodeId> = BTreeSet::new();
            let used = std::mem::take(&mut run.graph.nodes[node].definitions);
            for id in &used {
                let Some(meaning) = &meanings[*id as usize] else {
                    // What it stands for may change, and nobody would see it.
                    let why = "no language knows something that it used";
                    let incomplete = &mut run.graph.nodes[node].incomplete;
                    incomplete.get_or_insert_with(|| why.to_owned());
                    continue;
                };
                run.node_units[node].extend(&meaning.units);
                let import = meaning
                    .module
                    .as_ref()
                    .map(|file| run.graph.imports.get(file));
                imported.extend(import.flatten());
            }
            run.graph.nodes[node].definitions = used;
            imported.remove(&(node as NodeId));
            run.edges[node].extend(imported);
        }
        Ok(())
    }

    /// The runner's options bind every test.
    fn attach_options(&mut self) {
        for trace in self.run.main_traces() {
            let Some(config) = &trace.config else {
                continue;
            };
            let unit = Unit::of(What::Options);
            let lines: String = config.args.iter().map(|arg| format!("{arg}\n")).collect();
            let value = Fingerprint::of_value(lines.as_bytes());
            self.run.seen.insert(unit.clone(), value);
            self.run.attach_to_all(unit);
        }
    }

    /// Marks the tests among the nodes.
    fn mark_tests(&mut self) {
        let traces = self.run.traces;
        for (at, trace) in traces.iter().enumerate() {
            for begin in trace
                .begins
                .iter()
                .filter(|_| trace.open.role == Role::Main)
            {
                if let Some(node) = self.run.graph.node_of(at, begin.scope) {
                    self.run.of_others[node as usize] = true;
                }
            }
        }
    }

    fn rows(&mut self) -> Result<()> {
        let mut position = 0;
        let traces = self.run.traces;
        for (at, trace) in traces.iter().enumerate() {
            if trace.open.role != Role::Main {
                continue;
            }
            note_process(&mut self.observed, trace);
            let language = language_of(&trace.open.collector);
            self.languages[language].note(&self.run, trace, &mut self.observed);
            let prefix = self.languages[language].id_prefix(&self.run, trace);
            self.note_items(trace, &prefix);
            let ends = trace.ends.iter().map(|end| (end.scope, end));
            let ends: FxHashMap<u64, &TestEnd> = ends.collect();
            for begin in &trace.begins {
                let end = ends.get(&begin.scope).copied();
                let test = self.languages[language].test_id(&self.run, begin, &prefix);
                self.row(at, begin, end, test, position)?;
                position += 1;
            }
        }
        Ok(())
    }

    fn note_items(&mut self, trace: &Trace, prefix: &str) {
        let Some((kept, left_out)) = &trace.items else {
            return;
        };
        let id = |id: &String| format!("{prefix}{id}");
        let items = self.observed.items.get_or_insert_default();
        items.extend(kept.iter().chain(left_out).map(id));
        self.observed.kept.extend(kept.iter().map(id));
        let looked_in = trace
            .finds
            .as_ref()
            .map(|found| self.looked_in(trace, found));
        self.observed.looked_in.push(looked_in);
    }

    fn looked_in(&self, trace: &Trace, found: &FoundIn) -> LookedIn {
        let place = |path: &BString| match self.run.facts.place(path.as_bstr()) {
            Place::Inside(path) => Some(path.to_str().map(str::to_owned).ok()),
            Place::Outside(_) => None,
        };
        // One that is no text could not be told from others.
        let places = found.places.as_ref();
        LookedIn {
            args: found.args.clone(),
            cwd: trace.open.cwd.as_str().map(str::to_owned),
            names: found.names.clone(),
            places: places.and_then(|places| places.iter().filter_map(place).collect()),
            others: found.others.clone(),
        }
    }

    fn row(
        &mut self,
        at: usize,
        begin: &TestBegin,
        end: Option<&TestEnd>,
        test: String,
        position: u32,
    ) -> Result<()> {
        let base = self.base_of(&begin.file);
        let node = self.run.graph.node_of(at, begin.scope);
        let reached = match node {
            Some(node) => self.run.reach(&[node], Some(&self.shared[base].marks)),
            None => Reached {
                incomplete: Some("the test's scope is not in the trace".to_owned()),
                ..Reached::default()
            },
        };
        let of_base = &self.observed.bases[base].units;
        let mut own = self.run.units_of(&reached.order, of_base);
        for language in &mut self.languages {
            own = language.close(&mut self.run, &reached.order, own, base);
        }
        let language = language_of(&self.run.traces[at].open.collector);
        let language = &mut self.languages[language];
        own = language.complete(&mut self.run, at, begin, own, of_base)?;
        let row = ObservedRow {
            test: test.clone(),
            base,
            own,
            after: After::default(),
            outcome: end.map_or(Outcome::Crashed, |end| end.outcome),
            duration_ms: end.map_or(0, |end| (end.seconds * 1000.0).round() as u32),
            position,
            incomplete: match end {
                None => Some("its process ended before the test did".to_owned()),
                Some(end) => end.incomplete.clone(),
            }
            .or(reached.incomplete)
            .or_else(|| self.shared[base].incomplete.clone()),
        };
        if let Some(node) = node {
            self.tests.insert(node, test);
        }
        let others = reached.others;
        self.merge(Unnumbered { row, node, others });
        Ok(())
    }

    /// What the tests of `file` share.
    fn base_of(&mut self, file: &BString) -> usize {
        if let Some(base) = self.bases.get(file) {
            return *base;
        }
        let collect = self.run.collect_node(file);
        let reached = self.run.reach(&[SESSION, collect], None);
        let units = self.close_by_itself(&reached.order);
        let mut marks = vec![false; self.run.edges.len()];
        for node in &reached.order {
            marks[*node as usize] = true;
        }
        let base = self.observed.bases.len();
        self.observed.bases.push(Base {
            units,
            after: After::default(),
        });
        self.shared.push(Shared {
            marks,
            others: reached.others,
            incomplete: reached.incomplete,
        });
        self.bases.insert(file.clone(), base);
        base
    }

    /// The units of `nodes`, and those that they lead to.
    fn close_by_itself(&mut self, nodes: &[NodeId]) -> Vec<UnitIndex> {
        let mut units = self.run.units_of(nodes, &[]);
        for language in &mut self.languages {
            units = language.close_base(&mut self.run, nodes, units);
        }
        units
    }

    /// A test that ran more than once in a run (several commands, re-runs) needs
    /// what any of them used, and is as good as the worst.
    fn merge(&mut self, new: Unnumbered) {
        let Some(known) = self.rows.get_mut(&new.row.test) else {
            self.rows.insert(new.row.test.clone(), new);
            return;
        };
        known.others.extend(new.others);
        let (known, row) = (&mut known.row, new.row);
        known.own.extend(row.own);
        known.own.sort_unstable();
        known.own.dedup();
        known.duration_ms += row.duration_ms;
        known.incomplete = known.incomplete.take().or(row.incomplete);
        if known.base != row.base {
            known
                .incomplete
                .get_or_insert_with(|| "two tests of one run have this id".to_owned());
        }
        if known.outcome != row.outcome {
            known.outcome = match (known.outcome.is_good(), row.outcome.is_good()) {
                (true, true) | (false, false) => known.outcome,
                _ => Outcome::Flaky,
            };
        }
    }

    /// What finding the tests depended on.
    fn collection(&mut self) -> Result<()> {
        let mut starts: Vec<NodeId> = self.run.graph.collects.values().copied().collect();
        starts.push(SESSION);
        let reached = self.run.reach(&starts, None);
        for language in &mut self.languages {
            language.attach_collection(&mut self.run, &self.observed);
        }
        self.observed.collection = self.close_by_itself(&reached.order);
        if reached.incomplete.is_some() {
            self.observed.items = None;
        }
        if let Some(items) = &mut self.observed.items {
            items.sort();
            items.dedup();
        }
        Ok(())
    }

    fn finish(mut self) -> Observations {
        self.number();
        Observations {
            units: self.run.table.into_units(),
            seen: self.run.seen,
            ..self.observed
        }
    }

    /// Numbers the rows, and says which depend on which.
    fn number(&mut self) {
        let numbers = self.rows.keys().zip(0..);
        let numbers: FxHashMap<&str, RowIndex> =
            numbers.map(|(test, at)| (test.as_str(), at)).collect();
        let row_of = |node: &NodeId| {
            let test = self.tests.get(node)?;
            numbers.get(test.as_str()).copied()
        };
        for (cell, changes) in self.observed.cells.iter_mut().zip(&self.changed_by) {
            let by_tests = changes.by.iter();
            let by_tests = by_tests.filter_map(|(number, by)| Some((*number, row_of(by)?)));
            cell.changes = by_tests.collect();
        }
        let after = |node: Option<NodeId>, others: &[NodeId]| {
            let mut after = After::default();
            for other in others {
                if let Some(change) = self.changes.get(other) {
                    after.cells.push(*change);
                } else if let Some(test) = row_of(other) {
                    let file = node.and_then(|node| self.run.graph.met_files.get(&(node, *other)));
                    let met = file.map_or(Met::Told, |path| Met::File(path.clone()));
                    after.tests.push((test, met));
                }
            }
            after.latest()
        };
        for (base, shared) in self.observed.bases.iter_mut().zip(&self.shared) {
            base.after = after(None, &shared.others);
        }
        let rows = self.rows.values().map(|known| ObservedRow {
            after: after(known.node, &known.others),
            ..known.row.clone()
        });
        self.observed.rows = rows.collect();
    }
}

fn note_process(observed: &mut Observations, trace: &Trace) {
    if observed.runtime.is_empty() {
        // Its first word; the rest is the build, which the runtime unit holds.
        let words = trace.open.runtime.split_whitespace().next();
        observed.runtime = words.unwrap_or_default().to_owned();
        observed.collector = trace.open.collector.clone();
        observed.executable = trace.open.executable.as_str().map(str::to_owned);
    }
}

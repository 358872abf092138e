//! Each test's row: the closure over the scopes that it needs, in units.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

use anyhow::Result;
use bstr::{BString, ByteSlice};
use rustc_hash::FxHashMap;

use super::accesses::Touched;
use super::confirmed::{LastRows, LeftOut, NoRows};
use super::graph::{NodeId, SESSION};
use super::left::Left;
use super::observations::{Base, LookedIn, Observations, ObservedRow};
use super::own::{Below, OwnUnits, Owning, Part, values, without_values};
use super::run::Run;
use super::teller::Teller;
use super::trace::{FoundIn, Role, TestBegin, TestEnd, Trace, TraceError};
use super::units::UnitIndex;
use super::walk::Known;
use crate::languages::{Closure, Facts, LANGUAGES, Place, language_of};
use crate::matrix::{Fingerprint, Outcome, ReadBefore, Unit, What};
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
    observe_after(traces, errors, facts, launch, benign, &NoRows)
}

/// The same of a run in which tests may have been left out for the values that they read.
/// `last` tells of the rows with these values.
///
/// # Errors
/// Those of [`observe`].
pub(crate) fn observe_after(
    traces: &[Trace],
    errors: &[TraceError],
    facts: &Facts<'_>,
    launch: &dyn Teller,
    benign: &[Pattern],
    last: &dyn LastRows,
) -> Result<Observations> {
    let mut closing = Closing::new(Run::new(facts, launch, traces, errors))?;
    closing.stand_for_left_out(last);
    closing.left = Left::of(traces, benign);
    closing.attach_options();
    closing.attach_state(benign)?;
    closing.name_needed_tests();
    closing.owning = Owning::of_run(&closing.run);
    closing.rows()?;
    closing.confirmed(last);
    closing.collection()?;
    Ok(closing.finish())
}

/// A cell of state that outlives a test.
pub(super) struct Changed {
    pub path: BString,
    /// `path#name`
    pub name: String,
    /// The imports and searches for tests that changed it.
    pub by: Vec<NodeId>,
}

/// A run whose rows are being closed.
pub(super) struct Closing<'a> {
    pub run: Run<'a>,
    /// What each language knows of the run, in the order of [`LANGUAGES`].
    pub languages: Vec<Box<dyn Closure>>,
    pub observed: Observations,
    /// What rows share, by the numbers of its closures: what the session needs, and on top
    /// of that what the tests of one file need.
    pub(super) shared: Vec<Shared>,
    session: Base,
    /// What is a test's own, if values were taken for the rest.
    pub(super) owning: Option<Owning>,
    /// State that outlives a test.
    pub changed: Vec<Changed>,
    /// Who reads and changes cells, if somebody asks for it.
    pub touched: Option<Touched>,
    pub left_out: Vec<LeftOut>,
    /// By test file and the changes of state that come on top of it, an index into the bases.
    bases: FxHashMap<(BString, Vec<NodeId>), usize>,
    /// The nodes that stand for changes of state.
    pub changes: Range<NodeId>,
    /// Of these, those of cells of which the values are known that tests left there.
    pub by_value: Range<NodeId>,
    /// What tests left, if each began in the state of a run of all of them.
    pub left: Option<Left>,
    rows: BTreeMap<String, ObservedRow>,
}

/// What several rows share, besides its units.
#[derive(Clone)]
pub(super) struct Shared {
    pub known: Rc<Known>,
    /// The paths of modules that it imports, and that no value stands for.
    elsewhere: Rc<BTreeSet<BString>>,
    /// The searches for tests that count as they are.
    searches: Rc<BTreeSet<NodeId>>,
    pub incomplete: Option<String>,
    /// Whether it comes to changes in [`Closing::by_value`] that what is below does not.
    pub is_tied: bool,
    /// Whether it has code of tests, which is of earlier ones for those that need it.
    pub is_past: bool,
    /// Whether it has what properties of objects keep.
    pub keeps_for_objects: bool,
}

/// The index in [`Closing::shared`] of what the session needs.
const OF_SESSION: usize = 0;
/// That of the first base.
pub(super) const OF_BASES: usize = 1;

impl<'a> Closing<'a> {
    pub(super) fn new(mut run: Run<'a>) -> Result<Closing<'a>> {
        let mut languages = Vec::new();
        for language in LANGUAGES {
            languages.push(language.closure(&mut run)?);
        }
        let mut closing = Closing {
            run,
            languages,
            observed: Observations::default(),
            shared: Vec::new(),
            session: Base::default(),
            owning: None,
            changed: Vec::new(),
            touched: None,
            left_out: Vec::new(),
            bases: FxHashMap::default(),
            changes: 0..0,
            by_value: 0..0,
            left: None,
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

    fn rows(&mut self) -> Result<()> {
        self.session = self.share(&[SESSION], None);
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
            self.note_taking(trace, &prefix);
            self.note_left(at, &prefix);
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
        let node = self.run.graph.node_of(at, begin.scope);
        let base = self.base_of(&begin.file, node);
        let closure = OF_BASES + base;
        let shared = self.shared[closure].clone();
        let reached = self.run.paths().reach(node.as_slice(), Some(&shared.known));
        let doubt = match node {
            Some(_) => self.run.doubt_in(&reached),
            None => Some("the test's scope is not in the trace".to_owned()),
        };
        let of_base = &self.observed.bases[base].units;
        let mut own = self.run.units_of(&reached, of_base);
        for language in &mut self.languages {
            own = language.close(&mut self.run, &reached, own, closure);
        }
        let language = language_of(&self.run.traces[at].open.collector);
        let language = &mut self.languages[language];
        own = language.complete(&mut self.run, at, begin, own, of_base)?;
        let searches = self.searches(node.as_slice());
        let part = Part {
            nodes: &reached,
            units: &own,
            searches: &searches,
        };
        let mut by_itself = self.by_itself(base, part);
        if let Some((_, reads)) = &mut by_itself {
            let mut others = reached.iter().filter(|one| Some(**one) != node);
            if self.shared[OF_BASES + base].is_past
                || others.any(|one| self.run.graph.tests.contains(one))
            {
                reads.past = ReadBefore::Unnamed;
            }
        }
        let inner = self.inner(at, begin, base, &reached)?;
        let row = ObservedRow {
            test,
            base,
            own,
            by_itself,
            inner,
            outcome: end.map_or(Outcome::Crashed, |end| end.outcome),
            duration_ms: end.map_or(0, |end| (end.seconds * 1000.0).round() as u32),
            position,
            incomplete: match end {
                None => Some("its process ended before the test did".to_owned()),
                Some(end) => end.incomplete.clone(),
            }
            .or(doubt)
            .or(shared.incomplete),
        };
        self.merge(row);
        Ok(())
    }

    /// The part of a row that is the test's own.
    pub(super) fn by_itself(&self, base: usize, part: Part<'_>) -> Option<OwnUnits> {
        let below = self.below(&self.observed.bases[base], OF_BASES + base)?;
        let owning = self.owning.as_ref()?;
        Some(owning.part(&self.run, &self.languages, part, below))
    }

    /// The searches for tests that `starts` need as they are.
    pub(super) fn searches(&self, starts: &[NodeId]) -> BTreeSet<NodeId> {
        let owning = self.owning.as_ref();
        owning.map_or_else(BTreeSet::new, |owning| {
            owning.searches(&self.run, starts, &self.changes)
        })
    }

    /// What the own parts of rows on top of a closure are built on.
    pub(super) fn below<'s>(&'s self, base: &'s Base, closure: usize) -> Option<Below<'s>> {
        Some(Below {
            units: &base.units,
            own: &base.by_itself.as_ref()?.0,
            elsewhere: &self.shared[closure].elsewhere,
        })
    }

    /// The part that is the tests' own of what the session has and `part`.
    pub(super) fn own_on_session(&self, part: Part<'_>) -> Option<OwnUnits> {
        self.own_on(&self.session, OF_SESSION, part)
    }

    /// The part that is the tests' own of `base`, which is the closure `at`, and `part`.
    fn own_on(&self, base: &Base, at: usize, part: Part<'_>) -> Option<OwnUnits> {
        let of_base = base.by_itself.clone()?;
        let below = self.below(base, at)?;
        let owning = self.owning.as_ref()?;
        let own = owning.part(&self.run, &self.languages, part, below);
        Some(both((of_base, own)))
    }

    /// What the tests of `file` share that met the same changes of state as `test` did.
    fn base_of(&mut self, file: &BString, test: Option<NodeId>) -> usize {
        let of_file = self.base_on(file, Vec::new(), None);
        let met = test.map_or_else(Vec::new, |test| self.changes_met(test, OF_BASES + of_file));
        match met.is_empty() {
            true => of_file,
            false => self.base_on(file, met, Some(of_file)),
        }
    }

    /// The changes of state that `test` leads to, and what it is built on does not.
    fn changes_met(&self, test: NodeId, below: usize) -> Vec<NodeId> {
        let known = &self.shared[below].known;
        let conditional = self.run.conditional.get(&test).into_iter().flatten();
        let fulfilled = conditional.filter(|(condition, _)| known.has(*condition));
        let edges = self.run.edges[test as usize].iter();
        let met = edges.chain(fulfilled.map(|(_, to)| to));
        let met = met.filter(|to| self.changes.contains(to) && !known.has(**to));
        let mut met: Vec<NodeId> = met.copied().collect();
        met.sort_unstable();
        met.dedup();
        met
    }

    pub(super) fn base_on(
        &mut self,
        file: &BString,
        met: Vec<NodeId>,
        below: Option<usize>,
    ) -> usize {
        let key = (file.clone(), met);
        if let Some(base) = self.bases.get(&key) {
            return *base;
        }
        let shared = match below {
            Some(below) => self.share(&key.1, Some(OF_BASES + below)),
            None => {
                let collect = self.run.collect_node(file);
                self.share(&[collect], Some(OF_SESSION))
            }
        };
        let base = self.observed.bases.len();
        self.observed.bases.push(shared);
        self.bases.insert(key, base);
        base
    }

    /// Closes what all rows share that have `starts` and what is `below`: the session, if
    /// it is not the session itself.
    fn share(&mut self, starts: &[NodeId], below: Option<usize>) -> Base {
        let on = below.map(|below| self.shared[below].clone());
        let paths = self.run.paths();
        let reached = paths.reach(starts, on.as_ref().map(|on| &*on.known));
        let known = paths.known(&reached, on.as_ref().map(|on| on.known.clone()));
        let doubt = self.run.doubt_in(&reached);
        let owning = self.owning.as_ref();
        let mut elsewhere = owning.map_or_else(BTreeSet::new, |one| one.elsewhere(&reached));
        elsewhere.extend(on.iter().flat_map(|on| on.elsewhere.iter().cloned()));
        let mut searches = self.searches(starts);
        searches.extend(on.iter().flat_map(|on| on.searches.iter()));
        let searches = Rc::new(searches);
        let tests = &self.run.graph.tests;
        let is_past = reached.iter().any(|node| tests.contains(node))
            || on.as_ref().is_some_and(|on| on.is_past);
        let keeps_for_objects = reached.iter().any(|node| self.keeps_for_objects(*node))
            || on.as_ref().is_some_and(|on| on.keeps_for_objects);
        self.shared.push(Shared {
            known: Rc::new(known),
            elsewhere: Rc::new(elsewhere),
            searches: searches.clone(),
            incomplete: doubt.or_else(|| on?.incomplete),
            is_tied: reached.iter().any(|node| self.by_value.contains(node)),
            is_past,
            keeps_for_objects,
        });
        let nothing = Base::default();
        let base = match below {
            None => &nothing,
            Some(OF_SESSION) => &self.session,
            Some(below) => &self.observed.bases[below - OF_BASES],
        };
        let mut units = self.run.units_of(&reached, &base.units);
        for language in &mut self.languages {
            units = language.close_base(&mut self.run, &reached, units, below);
        }
        let part = Part {
            nodes: &reached,
            units: &units,
            searches: &searches,
        };
        let by_itself = match below {
            Some(below) => self.own_on(base, below, part),
            None => self.owning.as_ref().map(|owning| {
                let nothing = Below {
                    units: &[],
                    own: &[],
                    elsewhere: &BTreeSet::new(),
                };
                owning.part(&self.run, &self.languages, part, nothing)
            }),
        };
        Base {
            units: merged(&base.units, units),
            by_itself,
        }
    }

    /// The units of the session and of what `nodes` lead to. Nothing builds on them.
    pub(super) fn on_session(&mut self, nodes: &[NodeId]) -> Vec<UnitIndex> {
        let mut units = self.run.units_of(nodes, &self.session.units);
        for language in &mut self.languages {
            units = language.close(&mut self.run, nodes, units, OF_SESSION);
        }
        merged(&self.session.units, units)
    }

    /// What the session needs.
    pub(super) fn of_session(&self) -> Shared {
        self.shared[OF_SESSION].clone()
    }

    /// A test that ran more than once in a run (several commands, re-runs) needs
    /// what any of them used, and is as good as the worst.
    fn merge(&mut self, row: ObservedRow) {
        let Some(known) = self.rows.get_mut(&row.test) else {
            self.rows.insert(row.test.clone(), row);
            return;
        };
        known.own = merged(&known.own, row.own);
        known.by_itself = known.by_itself.take().zip(row.by_itself).map(both);
        // Between the two, other tests may have run.
        known.inner = None;
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
        let collects: Vec<NodeId> = self.run.graph.collects.values().copied().collect();
        let session = self.of_session();
        let mut reached = self.run.paths().reach(&collects, Some(&session.known));
        if session.incomplete.is_some() || self.run.doubt_in(&reached).is_some() {
            self.observed.items = None;
        }
        for language in &mut self.languages {
            language.attach_collection(&mut self.run, &self.observed);
        }
        // That was attached to the session.
        reached.push(SESSION);
        self.observed.collection = self.on_session(&reached);
        if let Some(items) = &mut self.observed.items {
            items.sort();
            items.dedup();
        }
        Ok(())
    }

    fn finish(mut self) -> Observations {
        self.observed.values = values(&self.run);
        self.observed.without_values = without_values(self.run.traces);
        Observations {
            units: self.run.table.into_units(),
            seen: self.run.seen,
            rows: self.rows.into_values().collect(),
            ..self.observed
        }
    }
}

/// The units of both, sorted.
fn merged(one: &[UnitIndex], other: Vec<UnitIndex>) -> Vec<UnitIndex> {
    let mut units = other;
    units.extend(one);
    units.sort_unstable();
    units.dedup();
    units
}

fn both((one, other): (OwnUnits, OwnUnits)) -> OwnUnits {
    (merged(&one.0, other.0), one.1 | other.1)
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

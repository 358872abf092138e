//! The scopes of all processes of a run, joined into one graph.
//!
//! A node is a scope; its edges lead to scopes whose units it needs as well.
//! Scopes that mean the same in every process that ran tests are one node: the
//! session, a module's import, the collection of a test file, a function's
//! cache. So the rows do not depend on how tests were spread over workers.

use std::collections::BTreeMap;

use bstr::{BStr, BString, ByteSlice};
use rustc_hash::{FxHashMap, FxHashSet};

use super::lasting;
use super::trace::{Definition, Found, Role, ScopeKind, Spawned, Trace, TraceError};
use crate::languages::{LANGUAGES, language_of};
use crate::matrix::Fingerprint;

/// Index into [`Graph::nodes`].
pub(crate) type NodeId = u32;
/// Index into [`Graph::definitions`].
pub(crate) type DefinitionId = u32;

#[derive(Clone, Debug, Default)]
pub(crate) struct Node {
    pub definitions: Vec<DefinitionId>,
    pub edges: Vec<NodeId>,
    /// Why this node may lack units.
    pub incomplete: Option<String>,
}

/// Module-level state that changed, and the node that changed it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StateChange {
    pub file: BString,
    pub name: String,
    pub by: NodeId,
}

/// When a node's scopes began: the first, and the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub first: u64,
    pub last: u64,
}

/// All scopes of a run.
#[derive(Debug)]
pub(crate) struct Graph {
    pub nodes: Vec<Node>,
    /// How many of these are scopes: they come first. Others only stand for what they lead to.
    pub scopes: usize,
    /// Those of tests.
    pub tests: FxHashSet<NodeId>,
    pub definitions: Vec<Definition>,
    /// The import node of each module file that a test process imported.
    pub imports: FxHashMap<BString, NodeId>,
    /// By module file: the dotted names that it was imported under.
    pub module_names: FxHashMap<BString, Vec<String>>,
    /// The collect node of each test file.
    pub collects: FxHashMap<BString, NodeId>,
    /// What changed in processes that ran tests.
    pub state: Vec<StateChange>,
    /// If one process of a language that runs in order ran all tests: when a test, an import of
    /// a module or the search for tests began, in the order of the scopes of that process. These
    /// end before another test begins.
    pub times: FxHashMap<NodeId, Span>,
    /// What is no time of its own, but runs when who needs it does: a function behind a cache,
    /// the tear-down of a fixture.
    pub with_callers: FxHashSet<NodeId>,
    /// Those of `with_callers` of which others get the results by state, or by way of a cache:
    /// properties that objects keep.
    pub of_objects: FxHashSet<NodeId>,
    /// Environment variables as the processes that ran tests were given them.
    pub variables: FxHashMap<String, Option<Fingerprint>>,
    /// Who started processes that several tests can talk to, if no test did, and its name.
    pub lasting: BTreeMap<NodeId, String>,
    /// Where a test found nothing, and later another one wrote a file or made a folder, or it
    /// did so itself.
    pub filled: FxHashSet<BString>,
    /// By trace (in the order given) and scope number.
    places: Vec<FxHashMap<u64, NodeId>>,
}

/// The node of what happens in test processes outside every other scope.
pub(crate) const SESSION: NodeId = 0;

/// What agents say of the scope of a fixture's tear-down.
const TEAR_DOWN: &str = "tear-down";

#[derive(PartialEq, Eq, Hash)]
enum SharedKey {
    Session,
    BetweenTests,
    Import(BString),
    Collect(BString),
    Cache(BString, Option<String>),
    Property(BString, Option<String>),
}

impl Graph {
    /// Joins `traces`. What is missing or contradictory makes the nodes that
    /// it could touch incomplete; it never makes a node smaller.
    pub(crate) fn build(traces: &[Trace], errors: &[TraceError]) -> Graph {
        let mut building = Building::new(traces);
        for at in 0..traces.len() {
            building.place_scopes(at);
        }
        for at in 0..traces.len() {
            building.fill(at);
        }
        for at in 0..traces.len() {
            building.join_processes(at);
        }
        building.join_files();
        for error in errors {
            building.mark(SESSION, &format!("unreadable trace: {}", error.why));
        }
        building.time();
        building.graph.scopes = building.graph.nodes.len();
        building.graph
    }

    /// The node of scope `number` of the trace at index `trace`.
    pub(crate) fn node_of(&self, trace: usize, number: u64) -> Option<NodeId> {
        self.places[trace].get(&number).copied()
    }
}

fn variables(traces: &[Trace]) -> FxHashMap<String, Option<Fingerprint>> {
    let of_tests = traces.iter().filter(|trace| trace.open.role == Role::Main);
    let told = of_tests.flat_map(|trace| trace.definitions.values());
    told.filter_map(|definition| match definition {
        Definition::Env { name, fingerprint } => Some((name.clone(), *fingerprint)),
        _ => None,
    })
    .collect()
}

/// Paths where one scope found nothing, and another one wrote; or the same one later.
fn filled(traces: &[Trace]) -> FxHashSet<BString> {
    let mut writers = Writers::default();
    for (at, trace) in traces.iter().enumerate() {
        for (scope, path) in &trace.writes {
            writers
                .entry(path.as_bstr())
                .or_default()
                .push((at, *scope));
        }
    }
    let mut filled = FxHashSet::default();
    for (at, trace) in traces.iter().enumerate().filter(|_| !writers.is_empty()) {
        let language = LANGUAGES[language_of(&trace.open.collector)];
        let looks_first = language.tells_what_was_there_first();
        for (number, scope) in &trace.scopes {
            let met = scope
                .units
                .iter()
                .filter_map(|unit| trace.definitions.get(unit));
            for definition in met {
                if let Definition::Exists {
                    path,
                    found: Found::Missing,
                } = definition
                    && let Some(by) = writers.get(path.as_bstr())
                    && (looks_first || by.iter().any(|writer| *writer != (at, *number)))
                {
                    filled.insert(path.clone());
                }
            }
        }
    }
    filled
}

/// Scopes by trace, by the path that they wrote.
type Writers<'a> = FxHashMap<&'a BStr, Vec<(usize, u64)>>;

/// Who wrote what was met, or moved a directory above it.
fn written_by<'a>(
    met: &'a Definition,
    writers: &'a Writers<'_>,
    lists: &'a Writers<'_>,
) -> impl Iterator<Item = (usize, u64)> {
    let (path, listed) = match met {
        Definition::File { path, .. } | Definition::Exists { path, .. } => (Some(path), None),
        Definition::Dir { path, .. } => (Some(path), lists.get(path.as_bstr())),
        _ => (None, None),
    };
    let start = path.map(|path| path.as_bstr());
    let ways = std::iter::successors(start, |path| {
        Some(above(path)).filter(|one| !one.is_empty())
    });
    let known = ways.filter_map(|path| writers.get(path));
    known.chain(listed).flatten().copied()
}

/// The directory that a path lies in.
fn above(path: &BStr) -> &BStr {
    let end = path.rfind_byte(b'/').unwrap_or_default();
    path[..end].as_bstr()
}

struct Building<'a> {
    traces: &'a [Trace],
    by_name: FxHashMap<&'a str, usize>,
    shared: FxHashMap<SharedKey, NodeId>,
    interned: FxHashMap<&'a Definition, DefinitionId>,
    graph: Graph,
}

impl<'a> Building<'a> {
    fn new(traces: &'a [Trace]) -> Building<'a> {
        Building {
            traces,
            by_name: traces
                .iter()
                .enumerate()
                .map(|(at, trace)| (trace.open.trace.as_str(), at))
                .collect(),
            shared: FxHashMap::from_iter([(SharedKey::Session, SESSION)]),
            interned: FxHashMap::default(),
            graph: Graph {
                nodes: vec![Node::default()],
                scopes: 0,
                tests: FxHashSet::default(),
                definitions: Vec::new(),
                imports: FxHashMap::default(),
                module_names: FxHashMap::default(),
                collects: FxHashMap::default(),
                state: Vec::new(),
                times: FxHashMap::default(),
                with_callers: FxHashSet::default(),
                of_objects: FxHashSet::default(),
                variables: variables(traces),
                lasting: BTreeMap::new(),
                filled: filled(traces),
                places: vec![FxHashMap::default(); traces.len()],
            },
        }
    }

    fn place_scopes(&mut self, at: usize) {
        let trace = &self.traces[at];
        let in_test_process = trace.open.role == Role::Main;
        for (number, scope) in &trace.scopes {
            if !scope.defined && *number != 0 {
                continue;
            }
            let key = match scope.kind {
                ScopeKind::Cache => Some(SharedKey::Cache(scope.name.clone(), scope.extra.clone())),
                ScopeKind::Property => {
                    let key = (scope.name.clone(), scope.extra.clone());
                    Some(SharedKey::Property(key.0, key.1))
                }
                _ if !in_test_process => None,
                ScopeKind::Session if *number == 0 => Some(SharedKey::Session),
                ScopeKind::Session => Some(SharedKey::BetweenTests),
                ScopeKind::Import => Some(SharedKey::Import(scope.name.clone())),
                ScopeKind::Collect => Some(SharedKey::Collect(scope.name.clone())),
                ScopeKind::Fixture | ScopeKind::Test | ScopeKind::Child => None,
            };
            let node = match key {
                None => self.fresh(),
                Some(key) => match self.shared.get(&key) {
                    Some(node) => *node,
                    None => {
                        let node = self.fresh();
                        self.shared.insert(key, node);
                        node
                    }
                },
            };
            if scope.kind == ScopeKind::Import
                && let Some(name) = &scope.extra
            {
                let known = self.graph.module_names.entry(scope.name.clone());
                let known = known.or_default();
                if !known.contains(name) {
                    known.push(name.clone());
                }
            }
            if scope.kind == ScopeKind::Test {
                self.graph.tests.insert(node);
            }
            if in_test_process && scope.kind == ScopeKind::Import {
                self.graph.imports.insert(scope.name.clone(), node);
            }
            if in_test_process && scope.kind == ScopeKind::Collect {
                self.graph.collects.insert(scope.name.clone(), node);
            }
            self.graph.places[at].insert(*number, node);
        }
        if let Some(between) = self.shared.get(&SharedKey::BetweenTests) {
            self.edge(SESSION, *between);
        }
    }

    fn fresh(&mut self) -> NodeId {
        self.graph.nodes.push(Node::default());
        (self.graph.nodes.len() - 1) as NodeId
    }

    /// Gives the nodes of one trace their units and edges.
    fn fill(&mut self, at: usize) {
        let trace = &self.traces[at];
        for (number, scope) in &trace.scopes {
            let Some(node) = self.resolve(at, *number) else {
                self.mark(SESSION, "a trace names a scope that nothing defines");
                continue;
            };
            for unit in &scope.units {
                match self.definition(at, *unit) {
                    Some(id) => self.graph.nodes[node as usize].definitions.push(id),
                    None => self.mark(node, "a trace names a unit that nothing defines"),
                }
            }
            for edge in &scope.edges {
                match self.resolve(at, *edge) {
                    Some(to) => self.edge(node, to),
                    None => self.mark(node, "a trace names a scope that nothing defines"),
                }
            }
            if let Some(why) = &scope.incomplete {
                self.mark(node, why);
            }
        }
        // What a process that a test started changes in its own memory nobody meets but code that
        // runs there, and that process as a whole counts for whoever started it.
        let has_tests = trace.open.role == Role::Main;
        for change in trace.state.iter().filter(|_| has_tests) {
            match self.resolve(at, change.by) {
                Some(by) => self.graph.state.push(StateChange {
                    file: change.file.clone(),
                    name: change.name.clone(),
                    by,
                }),
                None => self.mark(SESSION, "state was changed by an unknown scope"),
            }
        }
        for (fixture, by) in &trace.fixture_changes {
            match (self.resolve(at, *fixture), self.resolve(at, *by)) {
                (Some(fixture), Some(by)) => self.edge(fixture, by),
                _ => self.mark(SESSION, "a fixture was changed by an unknown scope"),
            }
        }
    }

    /// Scopes are numbered in the order in which they begin. The session's ends when all tests
    /// have been found, and so do those in which they are found: then another one begins, for
    /// what runs between tests.
    fn time(&mut self) {
        let mut of_tests =
            (self.traces.iter().enumerate()).filter(|(_, trace)| trace.open.role == Role::Main);
        let (Some((at, trace)), None) = (of_tests.next(), of_tests.next()) else {
            return;
        };
        if !LANGUAGES[language_of(&trace.open.collector)].runs_in_order() {
            return;
        }
        let between = trace.scopes.iter().filter(|(number, scope)| {
            scope.defined && scope.kind == ScopeKind::Session && **number != 0
        });
        let found_all = between.map(|(number, _)| *number).min();
        for (number, scope) in &trace.scopes {
            let Some(node) = self.graph.places[at].get(number).copied() else {
                continue;
            };
            let is_tear_down = scope.extra.as_deref() == Some(TEAR_DOWN);
            let until = match (scope.kind, found_all) {
                (ScopeKind::Cache | ScopeKind::Property, _) => {
                    self.graph.with_callers.insert(node);
                    if scope.kind == ScopeKind::Property {
                        self.graph.of_objects.insert(node);
                    }
                    continue;
                }
                (ScopeKind::Fixture, _) if is_tear_down => {
                    self.graph.with_callers.insert(node);
                    continue;
                }
                (ScopeKind::Test | ScopeKind::Import | ScopeKind::Fixture, _) if scope.defined => {
                    *number
                }
                (ScopeKind::Collect, Some(end)) if scope.defined => end.max(*number),
                (ScopeKind::Session, Some(end)) if *number == 0 => end,
                _ => continue,
            };
            let span = self.graph.times.entry(node).or_insert(Span {
                first: *number,
                last: until,
            });
            span.first = span.first.min(*number);
            span.last = span.last.max(until);
        }
    }

    /// Leads from the scopes that started processes to those processes, and
    /// calls a scope incomplete whose process left no trace.
    fn join_processes(&mut self, at: usize) {
        let trace = &self.traces[at];
        if let Some((parent, number)) = &trace.open.scope
            && trace.open.role != Role::Main
            && let Some(child) = self.graph.places[at].get(&0).copied()
        {
            let starter = self
                .by_name
                .get(parent.as_str())
                .and_then(|parent| self.resolve(*parent, *number));
            // Not knowing who started it, every test must answer for it.
            self.edge(starter.unwrap_or(SESSION), child);
        }
        if let Some((parent, number)) = lasting::starter(self.traces, at)
            && let Some(starter) = self.resolve(parent, number)
        {
            let scope = self.traces[parent].scopes.get(&number);
            let name = scope.map_or_else(String::new, |scope| scope.name.to_string());
            self.graph.lasting.insert(starter, name);
        }
        for spawned in &trace.spawned {
            if spawned.excuse.is_some() || self.left_a_trace(spawned) {
                continue;
            }
            let why = format!("untraced subprocess `{}`", spawned.program);
            let node = self.resolve(at, spawned.scope).unwrap_or(SESSION);
            self.mark(node, &why);
        }
    }

    /// What tests of one process wrote, those of another one may have found there. Which
    /// came first nobody knows. (Within a process its agent leads from one to the other.)
    fn join_files(&mut self) {
        let joined = || {
            let traces = self.traces.iter().enumerate();
            traces.filter(|(_, trace)| LANGUAGES[language_of(&trace.open.collector)].joins_files())
        };
        let mut writers = Writers::default();
        for (at, trace) in joined() {
            // What the session has, each test has.
            for (scope, path) in trace.writes.iter().filter(|(scope, _)| *scope != 0) {
                let known = writers.entry(path.as_bstr()).or_default();
                known.push((at, *scope));
            }
        }
        if writers.is_empty() || joined().nth(1).is_none() {
            return;
        }
        // Who lists a directory meets whoever wrote in it.
        let mut lists = Writers::default();
        for (path, by) in &writers {
            lists.entry(above(path)).or_default().extend(by);
        }
        let mut edges = Vec::new();
        for (at, trace) in joined() {
            for (number, scope) in &trace.scopes {
                let units = scope.units.iter();
                for met in units.filter_map(|unit| trace.definitions.get(unit)) {
                    let others = written_by(met, &writers, &lists).filter(|by| by.0 != at);
                    edges.extend(others.map(|by| ((at, *number), by)));
                }
            }
        }
        edges.sort_unstable();
        edges.dedup();
        for (reader, writer) in edges {
            let node = |(at, number): (usize, u64)| self.resolve(at, number);
            if let (Some(from), Some(to)) = (node(reader), node(writer)) {
                self.edge(from, to);
            }
        }
    }

    fn left_a_trace(&self, spawned: &Spawned) -> bool {
        self.traces.iter().any(|trace| {
            spawned.pid == Some(trace.open.pid)
                && trace.open.spawn.as_deref() == Some(&spawned.token)
        })
    }

    /// A number that a forked process does not define is its parent's.
    fn resolve(&self, at: usize, number: u64) -> Option<NodeId> {
        let mut at = at;
        // A chain of forks is at most as long as there are traces.
        for _ in 0..=self.traces.len() {
            if let Some(node) = self.graph.places[at].get(&number) {
                return Some(*node);
            }
            at = *self.by_name.get(self.traces[at].open.fork_of.as_deref()?)?;
        }
        None
    }

    fn definition(&mut self, at: usize, number: u64) -> Option<DefinitionId> {
        let mut at = at;
        for _ in 0..=self.traces.len() {
            let trace = &self.traces[at];
            if let Some(definition) = trace.definitions.get(&number) {
                if let Some(id) = self.interned.get(definition) {
                    return Some(*id);
                }
                let id = self.graph.definitions.len() as DefinitionId;
                self.graph.definitions.push(definition.clone());
                self.interned.insert(definition, id);
                return Some(id);
            }
            at = *self.by_name.get(trace.open.fork_of.as_deref()?)?;
        }
        None
    }

    fn edge(&mut self, from: NodeId, to: NodeId) {
        if from != to {
            self.graph.nodes[from as usize].edges.push(to);
        }
    }

    fn mark(&mut self, node: NodeId, why: &str) {
        self.graph.nodes[node as usize]
            .incomplete
            .get_or_insert_with(|| why.to_owned());
    }
}

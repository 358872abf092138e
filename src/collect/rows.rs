//! Each test's row: the closure over the scopes that it needs, in units.

use std::collections::BTreeMap;

use anyhow::Result;
use bstr::{BStr, BString, ByteSlice};
use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::{DefinitionId, Graph, NodeId, SESSION};
use super::trace::{Definition, Found, Role, Trace, TraceError};
use crate::fingerprint::{Analysis, Facts, Place, UNTRACKED, UnitAt, split};
use crate::matrix::{Fingerprint, Outcome, Unit, UnitKind};
use crate::runners::pytest;

/// Index into [`Collected::units`].
pub type UnitIndex = u32;

/// The rows of one run.
#[derive(Debug, Default)]
pub struct Collected {
    pub units: Vec<Unit>,
    /// The values of late units, as the test processes saw them.
    pub seen: BTreeMap<Unit, Fingerprint>,
    /// Unit sets that the rows of one test file share: what its collection
    /// and import needed.
    pub bases: Vec<Vec<UnitIndex>>,
    /// By test, sorted, each test once.
    pub rows: Vec<CollectedRow>,
    /// What finding the tests depended on: all test files, with tests that
    /// ran or without.
    pub collection: Vec<UnitIndex>,
    /// In words, the environment of the tests.
    pub runtime: String,
    /// Every test that the runner found, run or left out; `None` if it did
    /// not come to the end of collecting.
    pub items: Option<Vec<String>>,
    /// Which collector the test processes used.
    pub collector: String,
    /// The interpreter that ran the tests.
    pub executable: Option<String>,
}

/// One test as one run saw it.
#[derive(Clone, Debug)]
pub struct CollectedRow {
    pub test: String,
    /// Index into [`Collected::bases`].
    pub base: usize,
    /// Units besides those of the base, sorted.
    pub own: Vec<UnitIndex>,
    pub outcome: Outcome,
    pub duration_ms: u32,
    pub position: u32,
    pub incomplete: Option<String>,
}

/// Builds the rows of a run from its traces.
///
/// `project` is the folder that test ids are relative to, relative to the top
/// of the work tree.
///
/// # Errors
/// If git cannot be read; trouble with single files makes rows coarser or
/// incomplete instead.
pub fn collect(
    traces: &[Trace],
    errors: &[TraceError],
    facts: &Facts<'_>,
    project: &BStr,
) -> Result<Collected> {
    let graph = Graph::build(traces, errors);
    let mut closing = Closing::new(facts, graph)?;
    closing.attach_modules()?;
    closing.attach_directories(traces)?;
    closing.attach_session(traces);
    closing.attach_state()?;
    closing.rows(traces, project)
}

/// What a definition stands for: units, and perhaps a module whose import
/// everything that runs its code needs.
#[derive(Clone, Debug, Default)]
struct Meaning {
    units: Vec<UnitIndex>,
    module: Option<BString>,
}

struct Closing<'a> {
    facts: &'a Facts<'a>,
    edges: Vec<Vec<NodeId>>,
    /// By node: edges (second) that count for whoever also reaches the first.
    conditional: FxHashMap<NodeId, Vec<(NodeId, NodeId)>>,
    node_units: Vec<Vec<UnitIndex>>,
    graph: Graph,
    units: Vec<Unit>,
    index: FxHashMap<Unit, UnitIndex>,
    seen: BTreeMap<Unit, Fingerprint>,
}

impl<'a> Closing<'a> {
    fn new(facts: &'a Facts<'a>, graph: Graph) -> Result<Closing<'a>> {
        let mut closing = Closing {
            facts,
            edges: graph.nodes.iter().map(|node| node.edges.clone()).collect(),
            conditional: FxHashMap::default(),
            node_units: vec![Vec::new(); graph.nodes.len()],
            units: Vec::new(),
            index: FxHashMap::default(),
            seen: BTreeMap::new(),
            graph,
        };
        let meanings: Vec<Meaning> = (0..closing.graph.definitions.len())
            .map(|id| closing.meaning(id as DefinitionId))
            .collect::<Result<_>>()?;
        for node in 0..closing.graph.nodes.len() {
            let mut modules = FxHashSet::default();
            for at in 0..closing.graph.nodes[node].definitions.len() {
                let meaning = &meanings[closing.graph.nodes[node].definitions[at] as usize];
                closing.node_units[node].extend(&meaning.units);
                if let Some(module) = &meaning.module
                    && modules.insert(module.clone())
                    && let Some(import) = closing.graph.imports.get(module)
                    && *import != node as NodeId
                {
                    closing.edges[node].push(*import);
                }
            }
        }
        Ok(closing)
    }

    fn intern(&mut self, unit: Unit) -> UnitIndex {
        if let Some(index) = self.index.get(&unit) {
            return *index;
        }
        let index = self.units.len() as UnitIndex;
        self.units.push(unit.clone());
        self.index.insert(unit, index);
        index
    }

    fn meaning(&mut self, id: DefinitionId) -> Result<Meaning> {
        let definition = self.graph.definitions[id as usize].clone();
        let unit = match definition {
            Definition::Code {
                file,
                first_line,
                name,
            } => return self.code(file, first_line, &name),
            Definition::File { path, fingerprint } => {
                let unit = self.placed(UnitKind::File, path.as_bstr())?;
                if let Some(fingerprint) = fingerprint {
                    self.seen.insert(unit.clone(), fingerprint);
                }
                unit
            }
            Definition::Exists { path, found } => {
                let mut unit = self.placed(UnitKind::Exists, path.as_bstr())?;
                if found == Found::Missing {
                    unit.name.clear();
                }
                unit
            }
            Definition::Lookup { path } => self.placed(UnitKind::Lookup, path.as_bstr())?,
            Definition::Dir { path } => self.placed(UnitKind::Dir, path.as_bstr())?,
            Definition::Env { name, fingerprint } => self.late(UnitKind::Env, name, fingerprint),
            Definition::Dist { name, fingerprint } => self.late(UnitKind::Dist, name, fingerprint),
            Definition::Runtime { name, fingerprint } => {
                self.late(UnitKind::Runtime, name, fingerprint)
            }
        };
        Ok(Meaning {
            units: vec![self.intern(unit)],
            module: None,
        })
    }

    fn late(&mut self, kind: UnitKind, name: String, seen: Option<Fingerprint>) -> Unit {
        let unit = Unit::new(kind, "", name);
        self.seen
            .insert(unit.clone(), seen.unwrap_or(Fingerprint::MISSING));
        unit
    }

    /// A unit for an absolute path; files that git does not track are marked.
    fn placed(&self, kind: UnitKind, path: &BStr) -> Result<Unit> {
        Ok(match self.facts.place(path) {
            Place::Outside(path) => Unit::new(kind, path, ""),
            Place::Inside(path) => {
                let can_be_generated = matches!(kind, UnitKind::File | UnitKind::Exists);
                let name = if can_be_generated && self.facts.is_generated(path.as_bstr())? {
                    UNTRACKED
                } else {
                    ""
                };
                Unit::new(kind, path, name)
            }
        })
    }

    fn code(&mut self, file: BString, first_line: u32, name: &str) -> Result<Meaning> {
        let path = match self.facts.place(file.as_bstr()) {
            Place::Inside(path) | Place::Outside(path) => path,
        };
        let unit = match self.source(path.as_bstr())? {
            None => self.placed(UnitKind::File, file.as_bstr())?,
            Some(analysis) => match &*analysis {
                Analysis::Unparsed(_) => self.placed(UnitKind::File, file.as_bstr())?,
                Analysis::Parsed(module) => match module.unit_at(first_line, name) {
                    Some(UnitAt::Code(name)) => Unit::new(UnitKind::Code, path, name),
                    Some(UnitAt::Skeleton) => Unit::new(UnitKind::Skeleton, path, ""),
                    // Not code of this source: generated under its name.
                    None => self.placed(UnitKind::File, file.as_bstr())?,
                },
            },
        };
        let mut units = vec![self.intern(unit)];
        if !self.graph.imports.contains_key(&file) {
            // Run by other means than an import (`runpy`, `exec`).
            let whole = self.module_unit(file.as_bstr())?;
            units.push(self.intern(whole));
        }
        Ok(Meaning {
            units,
            module: Some(file),
        })
    }

    /// The analysis of a source file, unless it is generated.
    fn source(&self, path: &BStr) -> Result<Option<std::rc::Rc<Analysis>>> {
        if path.first() != Some(&b'/') && self.facts.is_generated(path)? {
            return Ok(None);
        }
        self.facts.module(path)
    }

    /// The skeleton of a module, or the whole file where it has none.
    fn module_unit(&self, file: &BStr) -> Result<Unit> {
        let path = match self.facts.place(file) {
            Place::Inside(path) | Place::Outside(path) => path,
        };
        match self.source(path.as_bstr())?.as_deref() {
            Some(Analysis::Parsed(_)) => Ok(Unit::new(UnitKind::Skeleton, path, "")),
            Some(Analysis::Unparsed(_)) | None => self.placed(UnitKind::File, file),
        }
    }

    /// Whoever needs a module's import needs the module's skeleton.
    fn attach_modules(&mut self) -> Result<()> {
        let imports: Vec<(BString, NodeId)> = self
            .graph
            .imports
            .iter()
            .map(|(file, node)| (file.clone(), *node))
            .collect();
        for (file, node) in imports {
            if !file.ends_with(b".py") {
                continue;
            }
            if Facts::is_third_party(file.as_bstr()) {
                continue;
            }
            let unit = self.module_unit(file.as_bstr())?;
            let index = self.intern(unit);
            self.node_units[node as usize].push(index);
        }
        Ok(())
    }

    /// A test file depends on what pytest looks for around it: `conftest.py`
    /// and `__init__.py` in its directory and all above, configuration files.
    fn attach_directories(&mut self, traces: &[Trace]) -> Result<()> {
        let mut files: Vec<BString> = Vec::new();
        for trace in traces.iter().filter(|trace| trace.open.role == Role::Main) {
            files.extend(trace.begins.iter().map(|begin| begin.file.clone()));
        }
        files.extend(self.graph.collects.keys().cloned());
        files.sort();
        files.dedup();
        let mut nodes: FxHashMap<BString, NodeId> = FxHashMap::default();
        for file in files {
            let collect = self.collect_node(&file);
            let Place::Inside(path) = self.facts.place(file.as_bstr()) else {
                continue;
            };
            let mut dir = split(path.as_bstr()).0.to_owned();
            let mut below = collect;
            loop {
                if let Some(node) = nodes.get(&dir) {
                    self.edges[below as usize].push(*node);
                    break;
                }
                let node = self.fresh();
                self.edges[below as usize].push(node);
                nodes.insert(dir.clone(), node);
                for unit in pytest::directory_units(dir.as_bstr()) {
                    let index = self.intern(unit);
                    self.node_units[node as usize].push(index);
                }
                if dir.is_empty() {
                    break;
                }
                dir = split(dir.as_bstr()).0.to_owned();
                below = node;
            }
        }
        Ok(())
    }

    fn collect_node(&mut self, file: &BString) -> NodeId {
        if let Some(node) = self.graph.collects.get(file) {
            return *node;
        }
        let node = self.fresh();
        self.graph.collects.insert(file.clone(), node);
        node
    }

    fn fresh(&mut self) -> NodeId {
        self.edges.push(Vec::new());
        self.node_units.push(Vec::new());
        self.graph.nodes.push(super::graph::Node::default());
        (self.edges.len() - 1) as NodeId
    }

    /// The runner's options bind every test.
    fn attach_session(&mut self, traces: &[Trace]) {
        for trace in traces.iter().filter(|trace| trace.open.role == Role::Main) {
            let Some(config) = &trace.config else {
                continue;
            };
            let unit = Unit::new(UnitKind::Config, "", pytest::ARGS);
            let lines: String = config.args.iter().map(|arg| format!("{arg}\n")).collect();
            let value = Fingerprint::of_value(lines.as_bytes());
            self.seen.insert(unit.clone(), value);
            let index = self.intern(unit);
            self.node_units[SESSION as usize].push(index);
        }
    }

    /// State that outlives a test: whoever runs code that names a global, or
    /// may reach it without naming it, needs what those did that changed it.
    fn attach_state(&mut self) -> Result<()> {
        let mut changes = std::mem::take(&mut self.graph.state);
        changes.sort();
        changes.dedup();
        let mut by_name: BTreeMap<(BString, String), Vec<NodeId>> = BTreeMap::new();
        for change in changes {
            by_name
                .entry((change.file, change.name))
                .or_default()
                .push(change.by);
        }
        for ((file, name), changers) in by_name {
            let node = self.fresh();
            self.edges[node as usize] = changers;
            let naming = match variable(&name) {
                Some(variable) => self.units_reading(variable),
                None => self.units_naming(file.as_bstr(), &name)?,
            };
            // Only who has the module can reach what it holds.
            let module = self.graph.imports.get(&file).copied();
            for at in 0..node as usize {
                if self.node_units[at].iter().any(|unit| naming.contains(unit)) {
                    match module {
                        None => self.edges[at].push(node),
                        Some(module) => {
                            self.conditional
                                .entry(at as NodeId)
                                .or_default()
                                .push((module, node));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The reads of an environment variable, alone or with all others.
    fn units_reading(&self, variable: &str) -> FxHashSet<UnitIndex> {
        let units = self.units.iter().enumerate();
        units
            .filter(|(_, unit)| unit.kind == UnitKind::Env)
            .filter(|(_, unit)| unit.name == variable || unit.name == "*")
            .map(|(at, _)| at as UnitIndex)
            .collect()
    }

    /// The code that mentions the last part of `name`, a global (or an
    /// attribute of a class) of the module in `file`. The module's own
    /// skeleton defines it and so does not count.
    fn units_naming(&self, file: &BStr, name: &str) -> Result<FxHashSet<UnitIndex>> {
        let identifier = name.rsplit('.').next().unwrap_or(name);
        let owner = match self.facts.place(file) {
            Place::Inside(path) | Place::Outside(path) => path,
        };
        let mut found = FxHashSet::default();
        for (at, unit) in self.units.iter().enumerate() {
            let part = match unit.kind {
                UnitKind::Code => Some(unit.name.as_str()),
                UnitKind::Skeleton if unit.path != owner => None,
                _ => continue,
            };
            if let Some(analysis) = self.facts.module(unit.path())?
                && let Analysis::Parsed(module) = &*analysis
                && (module.mentions(part, identifier)
                    || (part.is_some() && module.is_dynamic(part)))
            {
                found.insert(at as UnitIndex);
            }
        }
        Ok(found)
    }

    fn rows(mut self, traces: &[Trace], project: &BStr) -> Result<Collected> {
        let mut collected = Collected::default();
        let mut bases: FxHashMap<BString, Base> = FxHashMap::default();
        let mut rows: BTreeMap<String, CollectedRow> = BTreeMap::new();
        let mut position = 0;
        for (at, trace) in traces.iter().enumerate() {
            if trace.open.role != Role::Main {
                continue;
            }
            note_process(&mut collected, trace);
            let prefix = self.id_prefix(trace, project);
            if let Some((kept, left_out)) = &trace.items {
                let items = collected.items.get_or_insert_default();
                items.extend(
                    kept.iter()
                        .chain(left_out)
                        .map(|id| format!("{prefix}{id}")),
                );
            }
            let ended: FxHashMap<u64, usize> = trace
                .ends
                .iter()
                .enumerate()
                .map(|(at, end)| (end.scope, at))
                .collect();
            for begin in &trace.begins {
                let collect = self.collect_node(&begin.file);
                let base = match bases.get(&begin.file) {
                    Some(base) => base,
                    None => {
                        let reached = self.reach(&[SESSION, collect], None);
                        collected.bases.push(self.units_in(&reached.order));
                        let mut marks = vec![false; self.edges.len()];
                        for node in &reached.order {
                            marks[*node as usize] = true;
                        }
                        let base = Base {
                            index: collected.bases.len() - 1,
                            marks,
                            incomplete: reached.incomplete,
                        };
                        bases.entry(begin.file.clone()).or_insert(base)
                    }
                };
                let own = match self.graph.node_of(at, begin.scope) {
                    Some(node) => self.reach(&[node], Some(&base.marks)),
                    None => Reached {
                        order: Vec::new(),
                        incomplete: Some("the test's scope is not in the trace".to_owned()),
                    },
                };
                let end = ended.get(&begin.scope).map(|at| &trace.ends[*at]);
                let row = CollectedRow {
                    test: format!("{prefix}{}", begin.test),
                    base: base.index,
                    own: self.units_in(&own.order),
                    outcome: end.map_or(Outcome::Crashed, |end| end.outcome),
                    duration_ms: end.map_or(0, |end| (end.seconds * 1000.0).round() as u32),
                    position,
                    incomplete: match end {
                        None => Some("its process ended before the test did".to_owned()),
                        Some(end) => end.incomplete.clone(),
                    }
                    .or(own.incomplete)
                    .or_else(|| base.incomplete.clone()),
                };
                position += 1;
                merge(&mut rows, row);
            }
        }
        let mut starts: Vec<NodeId> = self.graph.collects.values().copied().collect();
        starts.push(SESSION);
        let reached = self.reach(&starts, None);
        collected.collection = self.units_in(&reached.order);
        if reached.incomplete.is_some() {
            collected.items = None;
        }
        collected.rows = rows.into_values().collect();
        collected.units = self.units;
        collected.seen = self.seen;
        if let Some(items) = &mut collected.items {
            items.sort();
            items.dedup();
        }
        Ok(collected)
    }

    /// Test ids are relative to pytest's root folder; rows name them relative
    /// to the project's, so that runs from elsewhere mean the same tests.
    fn id_prefix(&self, trace: &Trace, project: &BStr) -> String {
        let Some(rootdir) = trace.config.as_ref().and_then(|c| c.rootdir.as_ref()) else {
            return String::new();
        };
        match self.facts.place(rootdir.as_bstr()) {
            Place::Inside(path) => pytest::id_prefix(path.as_bstr(), project),
            Place::Outside(path) => format!("{path}/"),
        }
    }

    /// All nodes reachable from `starts` without passing those in `known`.
    fn reach(&self, starts: &[NodeId], known: Option<&[bool]>) -> Reached {
        let is_known =
            |node: NodeId| known.is_some_and(|known| known.get(node as usize) == Some(&true));
        let mut seen: FxHashSet<NodeId> = FxHashSet::default();
        let mut reached = Reached {
            order: Vec::new(),
            incomplete: None,
        };
        let mut open: Vec<NodeId> = starts.to_vec();
        // Edges that wait for their condition. Those of known nodes, too: what
        // is reached here may fulfil it.
        let mut waiting: Vec<(NodeId, NodeId)> = match known {
            None => Vec::new(),
            Some(_) => self
                .conditional
                .iter()
                .filter(|(node, _)| is_known(**node))
                .flat_map(|(_, edges)| edges.iter().copied())
                .collect(),
        };
        loop {
            while let Some(node) = open.pop() {
                if is_known(node) || !seen.insert(node) {
                    continue;
                }
                reached.order.push(node);
                if let Some(why) = &self.graph.nodes[node as usize].incomplete {
                    reached.incomplete.get_or_insert_with(|| why.clone());
                }
                open.extend(&self.edges[node as usize]);
                waiting.extend(self.conditional.get(&node).into_iter().flatten());
            }
            waiting.retain(|(condition, to)| {
                let is_met = seen.contains(condition) || is_known(*condition);
                if is_met {
                    open.push(*to);
                }
                !is_met
            });
            if open.is_empty() {
                return reached;
            }
        }
    }

    fn units_in(&self, nodes: &[NodeId]) -> Vec<UnitIndex> {
        let mut units: Vec<UnitIndex> = nodes
            .iter()
            .flat_map(|node| self.node_units[*node as usize].iter().copied())
            .collect();
        units.sort_unstable();
        units.dedup();
        units
    }
}

/// What all tests of one file need.
struct Base {
    index: usize,
    /// By node, whether it is part of the base.
    marks: Vec<bool>,
    incomplete: Option<String>,
}

/// The variable of a state change called `environ[NAME]`.
fn variable(name: &str) -> Option<&str> {
    name.strip_prefix("environ[")?.strip_suffix(']')
}

struct Reached {
    order: Vec<NodeId>,
    incomplete: Option<String>,
}

fn note_process(collected: &mut Collected, trace: &Trace) {
    if collected.runtime.is_empty() {
        // Its first word; the rest is the build, which the runtime unit holds.
        let words = trace.open.runtime.split_whitespace().next();
        collected.runtime = words.unwrap_or_default().to_owned();
        collected.collector = trace.open.collector.clone();
        collected.executable = trace.open.executable.as_str().map(str::to_owned);
    }
}

/// A test that ran more than once in a run (several commands, re-runs) needs
/// what any of them used, and is as good as the worst.
fn merge(rows: &mut BTreeMap<String, CollectedRow>, row: CollectedRow) {
    let Some(known) = rows.get_mut(&row.test) else {
        rows.insert(row.test.clone(), row);
        return;
    };
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
            (true, true) => known.outcome,
            (false, false) => known.outcome,
            _ => Outcome::Flaky,
        };
    }
}

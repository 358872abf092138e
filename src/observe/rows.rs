//! Each test's row: the closure over the scopes that it needs, in units.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;

use anyhow::Result;
use bstr::{BStr, BString, ByteSlice};
use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::{DefinitionId, Graph, NodeId, SESSION};
use super::meaning::Meaning;
use super::trace::{Definition, Role, ScopeKind, Trace, TraceError};
use super::units::{UnitIndex, UnitTable};
use crate::languages::jvm::closure::ClassFiles;
use crate::languages::python::closure::{Closed, NameClosure};
use crate::languages::python::modules::Module;
use crate::languages::{Analysis, Facts, Place, Reads, split};
use crate::matrix::{Fingerprint, Outcome, Unit, UnitKind};
use crate::pattern::Pattern;
use crate::runners::pytest;

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
    /// Those among them that were to run.
    pub kept: Vec<String>,
    /// Which collector the test processes used.
    pub collector: String,
    /// The interpreter that ran the tests.
    pub executable: Option<String>,
    /// What tests changed that outlives them.
    pub state: Vec<SharedState>,
    /// Whether tests are test classes of a JVM.
    pub is_jvm: bool,
    /// The folders, absolute, in which a command without a build tool looks for tests.
    pub class_path: BTreeSet<PathBuf>,
    /// Why there may be tests that nothing told of.
    pub doubt: Option<String>,
    /// When the first process with tests started, in milliseconds since the
    /// epoch; 0 if it did not say.
    pub started: u64,
    /// The same of the first that used classes of a folder. Maven compiles a module
    /// when tests of others have run.
    pub started_with: BTreeMap<BString, u64>,
}

impl Collected {
    /// From when on nothing may have written to a folder of classes.
    pub fn used_since(&self, folder: &BStr) -> u64 {
        let known = self.started_with.get(folder).copied();
        known.unwrap_or(self.started)
    }

    /// The same of a file beneath such a folder, a resource that the build put there.
    pub fn copied_since(&self, file: &BStr) -> Option<u64> {
        let mut folders = self.started_with.iter();
        let (_, since) = folders.find(|(folder, _)| {
            let rest = file.strip_prefix(folder.as_slice());
            rest.is_some_and(|rest| rest.starts_with(b"/"))
        })?;
        Some(*since)
    }
}

/// State that outlives a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedState {
    /// `path#name`
    pub name: String,
    /// Scopes that changed it, and scopes that ran code that names it.
    pub changers: usize,
    pub readers: usize,
}

impl SharedState {
    /// The module's file.
    pub fn path(&self) -> &str {
        self.name.split('#').next().unwrap_or_default()
    }

    /// Of an attribute of a class: its name.
    pub fn attribute(&self) -> Option<&str> {
        let (_, name) = self.name.split_once('#')?;
        name.rsplit_once('.').map(|(_, attribute)| attribute)
    }

    /// Whether they are the same attribute of two classes, or the same state.
    pub fn is_like(&self, other: &SharedState) -> bool {
        self.name == other.name
            || (self.attribute().is_some() && self.attribute() == other.attribute())
    }
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
/// of the work tree; `command` ran the tests.
///
/// # Errors
/// If git cannot be read; trouble with single files makes rows coarser or
/// incomplete instead.
pub fn collect(
    traces: &[Trace],
    errors: &[TraceError],
    facts: &Facts<'_>,
    project: &BStr,
    command: &[String],
    benign: &[Pattern],
) -> Result<Collected> {
    let graph = Graph::build(traces, errors);
    let mut closing = Closing::new(facts, graph)?;
    closing.attach_modules()?;
    closing.attach_directories(traces)?;
    closing.attach_session(traces, project, command)?;
    closing.attach_readers(traces);
    let state = closing.attach_state(benign)?;
    let collected = closing.rows(traces, project, command)?;
    Ok(Collected { state, ..collected })
}

pub(crate) struct Closing<'a> {
    pub facts: &'a Facts<'a>,
    pub edges: Vec<Vec<NodeId>>,
    /// By node: edges (second) that count for whoever also reaches the first.
    pub conditional: FxHashMap<NodeId, Vec<(NodeId, NodeId)>>,
    pub node_units: Vec<Vec<UnitIndex>>,
    pub graph: Graph,
    pub table: UnitTable,
    pub names: NameClosure,
    pub seen: BTreeMap<Unit, Fingerprint>,
    /// Directories that test classes of JVMs were loaded from.
    pub test_origins: BTreeSet<PathBuf>,
}

impl<'a> Closing<'a> {
    fn new(facts: &'a Facts<'a>, graph: Graph) -> Result<Closing<'a>> {
        let mut closing = Closing {
            facts,
            edges: graph.nodes.iter().map(|node| node.edges.clone()).collect(),
            conditional: FxHashMap::default(),
            node_units: vec![Vec::new(); graph.nodes.len()],
            table: UnitTable::default(),
            names: NameClosure::default(),
            seen: BTreeMap::new(),
            test_origins: BTreeSet::new(),
            graph,
        };
        closing.add_modules()?;
        let meanings: Vec<Meaning> = (0..closing.graph.definitions.len())
            .map(|id| closing.meaning(id as DefinitionId))
            .collect::<Result<_>>()?;
        for node in 0..closing.graph.nodes.len() {
            let mut modules = FxHashSet::default();
            for at in 0..closing.graph.nodes[node].definitions.len() {
                let meaning = &meanings[closing.graph.nodes[node].definitions[at] as usize];
                closing.node_units[node].extend(&meaning.units);
                if meaning.is_wide || meaning.taken.is_some() {
                    let names = closing.names.nodes.entry(node as NodeId).or_default();
                    names.is_wide |= meaning.is_wide;
                    names.taken.extend(meaning.taken);
                }
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

    pub fn intern(&mut self, unit: Unit) -> UnitIndex {
        self.table.intern(unit)
    }

    /// The sources that the run executed, split by name.
    fn add_modules(&mut self) -> Result<()> {
        let executed = self.graph.definitions.iter().filter_map(|one| match one {
            Definition::Code { file, .. } => Some(file),
            _ => None,
        });
        let files: BTreeSet<BString> = executed
            .chain(self.graph.imports.keys())
            .filter(|file| file.ends_with(b".py") && !Facts::is_third_party(file.as_bstr()))
            .cloned()
            .collect();
        for file in files {
            let (Place::Inside(path) | Place::Outside(path)) = self.facts.place(file.as_bstr());
            let Some(analysis) = self.facts.module(path.as_bstr())? else {
                continue;
            };
            if matches!(&*analysis, Analysis::Unparsed(_)) {
                continue;
            }
            let is_outside = path.first() == Some(&b'/');
            let names = self.graph.module_names.get(&file);
            let module = Module {
                is_generated: !is_outside && self.facts.is_generated(path.as_bstr())?,
                file,
                path,
                analysis,
            };
            self.names
                .modules
                .add(module, names.map_or(&[], Vec::as_slice));
        }
        self.names.index(&mut self.table);
        Ok(())
    }

    /// Whoever needs a module's import needs what the module does then.
    fn attach_modules(&mut self) -> Result<()> {
        let imports: Vec<(BString, NodeId)> = self
            .graph
            .imports
            .iter()
            .map(|(file, node)| (file.clone(), *node))
            .collect();
        for (file, node) in imports {
            let is_third_party = Facts::is_third_party(file.as_bstr());
            if !file.ends_with(b".py") || is_third_party {
                self.attach_foreign(node);
                continue;
            }
            let module = self.names.modules.of_file(file.as_bstr());
            let unit = self.import_unit(file.as_bstr(), module)?;
            self.node_units[node as usize].push(unit);
            self.names.nodes.entry(node).or_default().module = module;
        }
        Ok(())
    }

    /// Code that is not followed has the modules that it imports.
    fn attach_foreign(&mut self, node: NodeId) {
        let needed = &self.graph.nodes[node as usize].edges;
        let taken: Vec<_> = self
            .graph
            .imports
            .iter()
            .filter(|(_, import)| needed.contains(import))
            .filter_map(|(file, _)| self.names.modules.of_file(file.as_bstr()))
            .collect();
        let names = self.names.nodes.entry(node).or_default();
        names.taken.extend(taken);
    }

    /// A test file depends on what pytest looks for around it: `conftest.py`
    /// and `__init__.py` in its directory and all above, configuration files.
    fn attach_directories(&mut self, traces: &[Trace]) -> Result<()> {
        let mut files: Vec<BString> = Vec::new();
        let is_main = |trace: &&Trace| trace.open.role == Role::Main && !trace.open.is_jvm();
        for trace in traces.iter().filter(is_main) {
            files.extend(trace.begins.iter().map(|begin| begin.file.clone()));
        }
        files.extend(self.graph.collects.keys().cloned());
        files.sort();
        files.dedup();
        for file in &files {
            self.names.add_test_file(file.as_bstr());
        }
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

    pub fn fresh(&mut self) -> NodeId {
        self.edges.push(Vec::new());
        self.node_units.push(Vec::new());
        self.graph.nodes.push(super::graph::Node::default());
        (self.edges.len() - 1) as NodeId
    }

    /// The runner's options bind every test.
    fn attach_session(
        &mut self,
        traces: &[Trace],
        project: &BStr,
        command: &[String],
    ) -> Result<()> {
        if traces.iter().any(|trace| trace.open.is_jvm()) {
            self.attach_poms(project, command)?;
        }
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
        Ok(())
    }

    /// Installed packages that name what reads annotations, or docstrings, may
    /// read those of whatever they are given, and tell any test of it.
    fn attach_readers(&mut self, traces: &[Trace]) {
        if self.names.modules.all.is_empty() {
            return;
        }
        let has_annotations = self.names.modules.all.iter().any(Module::has_annotations);
        let scopes = traces.iter().flat_map(|trace| trace.scopes.values());
        let files: BTreeSet<&BString> = scopes
            .filter(|scope| scope.kind == ScopeKind::Import)
            .map(|scope| &scope.name)
            .filter(|file| Facts::is_third_party(file.as_bstr()))
            .collect();
        // Machine code is long; mostly a source says it.
        let (sources, others): (Vec<_>, Vec<_>) =
            files.into_iter().partition(|file| file.ends_with(b".py"));
        let mut found = Reads::default();
        for file in sources.into_iter().chain(others) {
            if found.docstrings && (found.annotations || !has_annotations) {
                break;
            }
            let reads = Facts::may_read(file.as_bstr());
            found.annotations |= reads.annotations && has_annotations;
            found.docstrings |= reads.docstrings;
        }
        let names = self.names.nodes.entry(SESSION).or_default();
        names.reads |= found.annotations;
        names.reads_docs |= found.docstrings;
    }

    fn rows(mut self, traces: &[Trace], project: &BStr, command: &[String]) -> Result<Collected> {
        let mut collected = Collected::default();
        let mut bases: FxHashMap<BString, Rc<Base>> = FxHashMap::default();
        let mut rows: BTreeMap<String, CollectedRow> = BTreeMap::new();
        let mut position = 0;
        let mut classes = ClassFiles::of_run(self.facts, traces, &mut self.table)?;
        for (at, trace) in traces.iter().enumerate() {
            if trace.open.role != Role::Main {
                continue;
            }
            note_process(&mut collected, trace);
            if trace.open.is_jvm() {
                self.note_jvm(trace, project, &mut collected);
            }
            let prefix = self.id_prefix(trace, project);
            if let Some((kept, left_out)) = &trace.items {
                let items = collected.items.get_or_insert_default();
                items.extend(
                    kept.iter()
                        .chain(left_out)
                        .map(|id| format!("{prefix}{id}")),
                );
                let kept = kept.iter().map(|id| format!("{prefix}{id}"));
                collected.kept.extend(kept);
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
                        let closed = self.close(&reached.order, None);
                        collected.bases.push(closed.units());
                        let mut marks = vec![false; self.edges.len()];
                        for node in &reached.order {
                            marks[*node as usize] = true;
                        }
                        let base = Base {
                            index: collected.bases.len() - 1,
                            marks,
                            closed,
                            incomplete: reached.incomplete,
                        };
                        bases.entry(begin.file.clone()).or_insert(Rc::new(base))
                    }
                };
                let base = base.clone();
                let own = match self.graph.node_of(at, begin.scope) {
                    Some(node) => self.reach(&[node], Some(&base.marks)),
                    None => Reached {
                        order: Vec::new(),
                        incomplete: Some("the test's scope is not in the trace".to_owned()),
                    },
                };
                let end = ended.get(&begin.scope).map(|at| &trace.ends[*at]);
                let test = match trace.open.is_jvm() {
                    true => self.class_id(begin, project),
                    false => format!("{prefix}{}", begin.test),
                };
                let mut units = self.close(&own.order, Some(&base.closed)).units();
                if trace.open.is_jvm() {
                    units.extend(base.closed.units());
                    units = classes.close(&mut self.table, &units);
                    units.retain(|unit| !base.closed.has(*unit));
                    units.extend(self.written_units(trace, begin));
                    units.sort_unstable();
                    units.dedup();
                }
                let row = CollectedRow {
                    test,
                    base: base.index,
                    own: units,
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
        if collected.is_jvm {
            self.attach_test_outputs(&collected.class_path);
        }
        // Which tests there are, any edit outside bodies can change.
        let whole = self.names.test_file_skeletons(&mut self.table);
        self.node_units[SESSION as usize].extend(whole);
        collected.collection = self.close(&reached.order, None).units();
        let finds = self.attach_finds(traces, command);
        collected.collection.extend(finds);
        if reached.incomplete.is_some() {
            collected.items = None;
        }
        collected.rows = rows.into_values().collect();
        collected.units = self.table.into_units();
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

    /// The units of `nodes`, and those that they lead to by name.
    fn close(&mut self, nodes: &[NodeId], base: Option<&Closed>) -> Closed {
        let mut units: Vec<UnitIndex> = nodes
            .iter()
            .flat_map(|node| self.node_units[*node as usize].iter().copied())
            .collect();
        units.sort_unstable();
        units.dedup();
        self.names.close(&mut self.table, nodes, &units, base)
    }
}

/// What all tests of one file need.
struct Base {
    index: usize,
    /// By node, whether it is part of the base.
    marks: Vec<bool>,
    closed: Closed,
    incomplete: Option<String>,
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

//! Which tests read and write which state: what data dependences are made of (Bell et al.,
//! *Efficient Dependency Detection for Safe Java Test Acceleration*, 2015, sections 3.1 to 3.3).
//!
//! Writes are seen: of globals, of members of classes and of what they reach, of files, of
//! variables of the environment, of fixtures' values, of settings of the process, of names in
//! libraries. Reads of files and of variables are seen too. A test reads a global or a member
//! if code that ran in it mentions the name; of a setting of the process nobody knows who
//! reads it.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use anyhow::Result;
use bstr::{BStr, BString, ByteSlice};
use rustc_hash::FxHashMap;

use super::graph::{NodeId, SESSION};
use super::rows::Closing;
use super::run::Run;
use super::teller::Teller;
use super::trace::{Definition, Role, ScopeKind, Trace, TraceError};
use super::walk::Known;
use crate::languages::{Facts, Place, language_of};
use crate::pattern::Pattern;

/// A test reads or writes a cell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Access {
    /// `path#name` of a global or a member, the path of a file, `environ[NAME]`,
    /// `fixture#NAME`, `process#SETTING`.
    pub cell: String,
    pub by: Reader,
    pub does: Does,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reader {
    Test(String),
    /// Nobody knows which tests do.
    Anyone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Does {
    Reads,
    Writes,
}

/// The file of which agents say that settings of the process are its names.
const PROCESS: &str = "*process";

/// Which nodes change and read the cells of [`Closing::attach_state`], in the same order.
#[derive(Debug, Default)]
pub(super) struct Touched {
    changers: Vec<Vec<NodeId>>,
    /// The node without which nobody gets at the cell.
    conditions: Vec<Option<NodeId>>,
    /// By node, the cells that its code may read.
    reads: FxHashMap<NodeId, Vec<usize>>,
}

impl Touched {
    pub(super) fn changed(&mut self, changers: &[NodeId], condition: Option<NodeId>) {
        self.changers.push(changers.to_vec());
        self.conditions.push(condition);
    }

    pub(super) fn read(&mut self, node: NodeId, cell: usize) {
        self.reads.entry(node).or_default().push(cell);
    }
}

/// Who reads and writes which state, by the traces of one run. Cells that `benign` names are
/// left out, and those that nobody writes.
///
/// # Errors
/// If git cannot be read.
pub(crate) fn accesses(
    traces: &[Trace],
    errors: &[TraceError],
    facts: &Facts<'_>,
    launch: &dyn Teller,
    benign: &[Pattern],
) -> Result<BTreeSet<Access>> {
    let mut closing = Closing::new(Run::new(facts, launch, traces, errors))?;
    let state = std::mem::take(&mut closing.run.graph.state);
    let (process, state): (Vec<_>, Vec<_>) =
        state.into_iter().partition(|change| change.file == PROCESS);
    closing.run.graph.state = state;
    closing.touched = Some(Touched::default());
    closing.attach_state(benign)?;
    let touched = closing.touched.take().unwrap_or_default();
    let tests = Tests::of(&closing);
    let mut found = Found {
        tests: &tests,
        run: &closing.run,
        accesses: BTreeSet::new(),
    };
    let names: Vec<String> = closing
        .changed
        .iter()
        .map(|cell| name_of(&cell.name))
        .collect();
    found.state(&touched, &names);
    for change in process {
        let cell = format!("process#{}", change.name);
        found.add(&cell, change.by, Does::Writes);
        found.accesses.insert(Access {
            cell,
            by: Reader::Anyone,
            does: Does::Reads,
        });
    }
    found.fixtures();
    found.files();
    let mut accesses = found.accesses;
    let is_benign = |cell: &str| benign.iter().any(|one| one.matches(cell.as_bytes()));
    let written: BTreeSet<String> = accesses
        .iter()
        .filter(|access| access.does == Does::Writes && !is_benign(&access.cell))
        .map(|access| access.cell.clone())
        .collect();
    accesses.retain(|access| written.contains(&access.cell));
    Ok(accesses)
}

/// What people call a cell of module-level state.
fn name_of(cell: &str) -> String {
    match cell.split_once('#') {
        Some((path, name)) if path.ends_with("/os.py") && name.starts_with("environ[") => {
            name.to_owned()
        }
        Some((path, name)) => match path.rsplit_once("*lib:") {
            Some((_, module)) => format!("{module}#{name}"),
            None => cell.to_owned(),
        },
        None => cell.to_owned(),
    }
}

/// The tests of a run, and which nodes are part of them: their fixtures, the functions behind
/// caches that they called, the modules that they imported.
struct Tests {
    /// The id of each test, its node, and what it and its file lead to.
    all: Vec<(String, NodeId, Rc<Known>)>,
    by_node: FxHashMap<NodeId, Vec<usize>>,
}

impl Tests {
    fn of(closing: &Closing<'_>) -> Tests {
        let run = &closing.run;
        let is_part = parts(run);
        let mut tests = Tests {
            all: Vec::new(),
            by_node: FxHashMap::default(),
        };
        let paths = run.paths();
        let of_session = Rc::new(paths.known(&paths.reach(&[SESSION], None), None));
        let mut of_files: FxHashMap<BString, Rc<Known>> = FxHashMap::default();
        for (at, trace) in run.traces.iter().enumerate() {
            if trace.open.role != Role::Main {
                continue;
            }
            let language = &closing.languages[language_of(&trace.open.collector)];
            let prefix = language.id_prefix(run, trace);
            for begin in &trace.begins {
                let Some(node) = run.graph.node_of(at, begin.scope) else {
                    continue;
                };
                let of_file = of_files.entry(begin.file.clone()).or_insert_with(|| {
                    let collect = run.graph.collects.get(&begin.file).copied();
                    let reached = paths.reach(collect.as_slice(), Some(&of_session));
                    Rc::new(paths.known(&reached, Some(of_session.clone())))
                });
                let test = tests.all.len();
                let id = language.test_id(run, begin, &prefix);
                tests.all.push((id, node, of_file.clone()));
                for part in part_of(run, &is_part, node) {
                    tests.by_node.entry(part).or_default().push(test);
                }
            }
        }
        tests
    }
}

/// By node: whether it runs as a part of the test that needs it first.
fn parts(run: &Run<'_>) -> Vec<bool> {
    let mut is_part = vec![false; run.edges.len()];
    for (at, trace) in run.traces.iter().enumerate() {
        let between = trace.scopes.iter().filter(|(number, scope)| {
            scope.defined && scope.kind == ScopeKind::Session && **number != 0
        });
        let found_all = between.map(|(number, _)| *number).min();
        for (number, scope) in &trace.scopes {
            let is_one = match scope.kind {
                ScopeKind::Fixture | ScopeKind::Cache | ScopeKind::Property | ScopeKind::Child => {
                    true
                }
                ScopeKind::Import => found_all.is_some_and(|end| *number > end),
                ScopeKind::Session | ScopeKind::Collect | ScopeKind::Test => false,
            };
            if let Some(node) = run.graph.node_of(at, *number).filter(|_| is_one) {
                is_part[node as usize] = true;
            }
        }
    }
    is_part
}

/// A test's node, and those that are part of the test.
fn part_of(run: &Run<'_>, is_part: &[bool], test: NodeId) -> BTreeSet<NodeId> {
    let (mut found, mut open) = (BTreeSet::from([test]), vec![test]);
    while let Some(node) = open.pop() {
        let more = run.edges[node as usize].iter().copied();
        open.extend(more.filter(|to| is_part[*to as usize] && found.insert(*to)));
    }
    found
}

/// What is found so far.
struct Found<'a> {
    tests: &'a Tests,
    run: &'a Run<'a>,
    accesses: BTreeSet<Access>,
}

impl Found<'_> {
    /// `node` does something to a cell, and so do the tests that it is part of.
    fn add(&mut self, cell: &str, node: NodeId, does: Does) {
        for test in self.tests.by_node.get(&node).into_iter().flatten() {
            self.accesses.insert(Access {
                cell: cell.to_owned(),
                by: Reader::Test(self.tests.all[*test].0.clone()),
                does,
            });
        }
    }

    /// Globals, members of classes, what they reach, variables of the environment.
    fn state(&mut self, touched: &Touched, names: &[String]) {
        for (cell, changers) in touched.changers.iter().enumerate() {
            for changer in changers {
                self.add(&names[cell], *changer, Does::Writes);
            }
        }
        let mut reads: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); self.tests.all.len()];
        for (node, cells) in &touched.reads {
            for test in self.tests.by_node.get(node).into_iter().flatten() {
                reads[*test].extend(cells);
            }
        }
        for ((test, node, of_file), cells) in self.tests.all.iter().zip(reads) {
            let needs = |cell: &usize| touched.conditions[*cell];
            let reached: BTreeSet<NodeId> = match cells.iter().any(|cell| needs(cell).is_some()) {
                true => {
                    let reached = self.run.paths().reach(&[*node], Some(of_file));
                    reached.into_iter().collect()
                }
                false => BTreeSet::new(),
            };
            let gets_at = |node: NodeId| of_file.has(node) || reached.contains(&node);
            for cell in cells
                .into_iter()
                .filter(|cell| needs(cell).is_none_or(gets_at))
            {
                self.accesses.insert(Access {
                    cell: names[cell].clone(),
                    by: Reader::Test(test.clone()),
                    does: Does::Reads,
                });
            }
        }
    }

    /// Values of fixtures that outlive a test.
    fn fixtures(&mut self) {
        for (at, trace) in self.run.traces.iter().enumerate() {
            for (fixture, by) in &trace.fixture_changes {
                let scope = trace.scopes.get(fixture);
                let nodes = [*fixture, *by].map(|number| self.run.graph.node_of(at, number));
                if let (Some(scope), [Some(fixture), Some(by)]) = (scope, nodes) {
                    let cell = format!("fixture#{}", scope.name);
                    self.add(&cell, by, Does::Writes);
                    self.add(&cell, fixture, Does::Reads);
                }
            }
        }
    }

    /// Files that tests write. Who lists a folder reads what is written in it.
    fn files(&mut self) {
        let mut written: BTreeMap<&BStr, BTreeSet<NodeId>> = BTreeMap::new();
        let mut inside: BTreeMap<&BStr, BTreeSet<&BStr>> = BTreeMap::new();
        for (at, trace) in self.run.traces.iter().enumerate() {
            for (scope, path) in &trace.writes {
                let path = path.as_bstr();
                written
                    .entry(path)
                    .or_default()
                    .extend(self.run.graph.node_of(at, *scope));
                let end = path.rfind_byte(b'/').unwrap_or_default();
                inside
                    .entry(path[..end].as_bstr())
                    .or_default()
                    .insert(path);
            }
        }
        let mut read: BTreeMap<&BStr, BTreeSet<NodeId>> = BTreeMap::new();
        let mut reads = |path: &'_ BStr, node: NodeId| {
            let itself = written.get_key_value(path).map(|(path, _)| *path);
            for path in itself.iter().chain(inside.get(path).into_iter().flatten()) {
                read.entry(*path).or_default().insert(node);
            }
        };
        for (at, trace) in self
            .run
            .traces
            .iter()
            .enumerate()
            .filter(|_| !written.is_empty())
        {
            for (number, scope) in &trace.scopes {
                let Some(node) = self.run.graph.node_of(at, *number) else {
                    continue;
                };
                let met = scope.units.iter();
                for definition in met.filter_map(|unit| trace.definitions.get(unit)) {
                    if let Definition::File { path, .. }
                    | Definition::Exists { path, .. }
                    | Definition::Dir { path, .. } = definition
                    {
                        reads(path.as_bstr(), node);
                    }
                }
            }
            for (scope, path) in &trace.meets {
                if let Some(node) = self.run.graph.node_of(at, *scope) {
                    reads(path.as_bstr(), node);
                }
            }
        }
        for (path, readers) in read {
            let (Place::Inside(cell) | Place::Outside(cell)) = self.run.facts.place(path);
            let cell = cell.to_string();
            for reader in readers {
                self.add(&cell, reader, Does::Reads);
            }
            for writer in &written[path] {
                self.add(&cell, *writer, Does::Writes);
            }
        }
    }
}

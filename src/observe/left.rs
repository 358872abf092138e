//! What tests left behind for others, by value; and what a row is without the tests that left
//! something.

use anyhow::Result;
use bstr::{BString, ByteSlice};
use rustc_hash::FxHashSet;

use super::graph::{NodeId, SESSION};
use super::observations::Inner;
use super::own::Part;
use super::rows::{Closing, OF_BASES};
use super::trace::{LeftCell, Role, TestBegin, Trace};
use crate::languages::{Place, language_of};
use crate::matrix::{LeftIn, ReadBefore, Unit, What};
use crate::pattern::Pattern;

/// How the text of a unit begins that names a test.
pub(crate) const TEST: &str = "?test ";

/// How the texts of units begin that name a test, or what agents say is made in its turn.
const MADE: [&str; 4] = [TEST, "?fixture ", "?cache ", "?import "];

/// The text of the unit of scopes that made what may change with nobody watching.
const UNWATCHED: &str = "?not watched";

/// What is known of the cells that the tests of a run changed.
#[derive(Debug, Default)]
pub(super) struct Left {
    /// File and name of cells of which the values are not known each time.
    pub by_code: FxHashSet<(BString, String)>,
    /// The same by the path that units have: those of the record from which others were left out.
    by_code_there: FxHashSet<(BString, String)>,
    /// Patterns of `path#name` that lead from no test to another.
    benign: Vec<Pattern>,
    /// The tests that met what they meet in a run of all of them, as others were left out; `None`:
    /// nobody was.
    exact: Option<FxHashSet<String>>,
}

impl Left {
    /// `None` unless one process ran all tests, and it is known which of these met the state of a
    /// run of all of them.
    pub(super) fn of(traces: &[Trace], benign: &[Pattern]) -> Option<Left> {
        let mut of_tests = traces.iter().filter(|trace| trace.open.role == Role::Main);
        let (trace, None) = (of_tests.next()?, of_tests.next()) else {
            return None;
        };
        let taking = &trace.taking;
        if taking.forbidden.is_some() || taking.worker_of.is_some() {
            return None;
        }
        // A process that died may not have told all.
        if trace.closed.is_none() || !taking.is_whole && taking.exact.is_empty() {
            return None;
        }
        let exact = taking.exact.iter().map(|(test, _)| test.clone());
        let cells = taking.left.iter().flat_map(|(_, cells)| cells);
        let unknown = cells.filter(|cell| cell.value.is_none() && !cell.is_unknown);
        Some(Left {
            by_code: unknown
                .map(|cell| (cell.path.clone(), cell.name.clone()))
                .collect(),
            by_code_there: (taking.by_code.iter())
                .map(|(path, name)| (path.as_str().into(), name.clone()))
                .collect(),
            benign: benign.to_vec(),
            exact: (!taking.is_whole).then(|| exact.collect()),
        })
    }

    /// Whether all tests of the run met what they meet in a run of all of them.
    fn is_of_all(&self) -> bool {
        self.exact.is_none()
    }

    /// Whether the code counts of those who change a cell.
    pub(super) fn is_by_code(&self, cell: &(BString, String), path: &BString) -> bool {
        self.by_code.contains(cell) || self.by_code_there.contains(&(path.clone(), cell.1.clone()))
    }

    fn forget_benign(&self, cell: &mut LeftIn) {
        if Pattern::is_benign(&self.benign, &cell.path, &cell.name) {
            cell.value = None;
            cell.is_unknown = false;
        }
    }
}

impl Closing<'_> {
    /// Takes in what the tests of a process left, and their order.
    pub(super) fn note_left(&mut self, at: usize, prefix: &str) {
        let trace = &self.run.traces[at];
        let taking = &trace.taking;
        let (Some(order), Some((kept, _))) = (&taking.order, &trace.items) else {
            return;
        };
        let order = if order.is_empty() { kept } else { order };
        let ids = order.iter().map(|id| format!("{prefix}{id}"));
        self.observed.order = Some(ids.collect());
        let of_all = self.left.as_ref().filter(|left| left.is_of_all());
        self.observed.is_whole = of_all.is_some();
        if self.left.is_none() && !self.is_one_process(trace) {
            return;
        }
        let test_of = |scope: u64| {
            let begin = trace.begins.iter().find(|begin| begin.scope == scope);
            begin.map(|begin| format!("{prefix}{}", begin.test))
        };
        for (scope, cells) in &taking.left {
            let Some(test) = test_of(*scope) else {
                continue;
            };
            let cells: Option<Vec<LeftIn>> = cells.iter().map(|cell| self.left_in(cell)).collect();
            let Some(mut cells) = cells else {
                // One that is no text could not be told from others.
                self.observed.order = None;
                return;
            };
            if let Some(left) = of_all {
                cells.iter_mut().for_each(|cell| left.forget_benign(cell));
            }
            if let Some(made) = taking.made.get(scope) {
                self.observed.made.insert(test.clone(), made.clone());
            }
            self.observed.left.entry(test).or_default().extend(cells);
        }
        let same = taking.same.iter().map(|test| format!("{prefix}{test}"));
        self.observed.same.extend(same);
        self.observed.settled_by = taking.settled_by.clone();
        let inexact = taking.inexact.iter();
        let inexact = inexact.map(|(test, lacked)| (format!("{prefix}{test}"), lacked.clone()));
        self.observed.inexact.extend(inexact);
        for (test, cells) in &taking.exact {
            let cells: Option<Vec<LeftIn>> = cells.iter().map(|cell| self.left_in(cell)).collect();
            let mut cells = cells.unwrap_or_default();
            if let Some(left) = &self.left {
                cells.iter_mut().for_each(|cell| left.forget_benign(cell));
            }
            cells.sort();
            self.observed.exact.insert(format!("{prefix}{test}"), cells);
        }
        for (scope, cells) in &taking.unseen {
            if let Some(test) = test_of(*scope) {
                let cells = cells
                    .iter()
                    .filter_map(|(path, name)| Some((self.label(path)?, name.clone())));
                let cells: Vec<(String, String)> = cells.collect();
                self.observed.unseen.entry(test).or_default().extend(cells);
            }
        }
        let numbers = taking.numbers.iter();
        let numbers = numbers.map(|(value, number)| (*value, number.clone()));
        self.observed.numbers.extend(numbers);
        if self.observed.is_whole {
            self.note_needed_by_others(at, prefix);
        }
        for cells in self.observed.left.values_mut() {
            cells.sort();
            cells.dedup_by(|later, kept| {
                let is_twice = later.path == kept.path && later.name == kept.name;
                if is_twice {
                    // It ran more than once.
                    kept.value = None;
                    kept.is_unknown = true;
                }
                is_twice
            });
        }
    }

    /// Whether this one ran all tests that ran, and so tells what each of them left.
    fn is_one_process(&self, trace: &Trace) -> bool {
        let traces = self.run.traces.iter();
        let of_tests = traces.filter(|one| one.open.role == Role::Main).count();
        let taking = &trace.taking;
        of_tests == 1
            && trace.open.role == Role::Main
            && taking.forbidden.is_none()
            && taking.worker_of.is_none()
    }

    /// Tests also leave what is no cell: values of fixtures and caches, parameters that are shared,
    /// files. Whoever meets that needs their code.
    fn note_needed_by_others(&mut self, at: usize, prefix: &str) {
        let graph = &self.run.graph;
        let edges = graph.nodes.iter().flat_map(|node| &node.edges);
        let needed: FxHashSet<NodeId> = edges.copied().collect();
        for begin in &self.run.traces[at].begins {
            let node = graph.node_of(at, begin.scope);
            if node.is_some_and(|node| needed.contains(&node)) {
                let test = format!("{prefix}{}", begin.test);
                let made = self.observed.made.entry(test.clone());
                made.or_default();
                self.observed.left.entry(test).or_default();
            }
        }
    }

    /// The path of a cell as matrices have it; `None` if it is no text.
    fn label(&self, path: &BString) -> Option<String> {
        let path = match path.starts_with(b"*") {
            // It is no file's.
            true => path.clone(),
            false => match self.run.facts.place(path.as_bstr()) {
                Place::Inside(path) | Place::Outside(path) => path,
            },
        };
        Some(path.to_str().ok()?.to_owned())
    }

    fn left_in(&self, cell: &LeftCell) -> Option<LeftIn> {
        Some(LeftIn {
            path: self.label(&cell.path)?,
            name: cell.name.clone(),
            value: cell.value,
            is_unknown: cell.is_unknown,
        })
    }

    /// The row of a test, built on `base` and `reached`, without earlier tests that left
    /// something of which the value is known.
    pub(super) fn inner(
        &mut self,
        at: usize,
        begin: &TestBegin,
        base: usize,
        reached: &[NodeId],
    ) -> Result<Option<Inner>> {
        let is_tied = self.shared[OF_BASES + base].is_tied
            || reached.iter().any(|node| self.by_value.contains(node));
        let node = self.run.graph.node_of(at, begin.scope);
        let (true, Some(_), Some(node)) = (is_tied, &self.owning, node) else {
            return Ok(None);
        };
        let exact = self.left.as_ref().and_then(|left| left.exact.as_ref());
        if exact.is_some_and(|exact| !exact.contains(&begin.test)) {
            return Ok(None);
        }
        let base = self.base_on(&begin.file, Vec::new(), None);
        let closure = OF_BASES + base;
        let known = self.shared[closure].known.clone();
        let mut paths = self.run.paths();
        paths.closed = self.by_value.clone();
        let reached = paths.reach(&[node], Some(&known));
        let of_base = &self.observed.bases[base].units;
        let mut units = self.run.units_of(&reached, of_base);
        for language in &mut self.languages {
            units = language.close(&mut self.run, &reached, units, closure);
        }
        let language = language_of(&self.run.traces[at].open.collector);
        let language = &mut self.languages[language];
        units = language.complete(&mut self.run, at, begin, units, of_base)?;
        let searches = self.searches(&[node]);
        let part = Part {
            nodes: &reached,
            units: &units,
            searches: &searches,
        };
        let by_itself = self.by_itself(base, part);
        // Fixtures and imports met what there was when they ran, and what is kept was made from
        // what was there at that time.
        let held = reached
            .iter()
            .flat_map(|one| &self.run.edges[*one as usize]);
        let others = reached.iter().chain(held).filter(|one| **one != node);
        let past = match self.shared[closure].keeps_for_objects {
            true => ReadBefore::Unnamed,
            false => others
                .map(|one| self.past_of(*one))
                .max()
                .unwrap_or_default(),
        };
        Ok(by_itself.map(|(own, mut reads)| {
            reads.past = reads.past.max(past);
            Inner {
                base,
                units,
                by_itself: (own, reads),
            }
        }))
    }

    /// Whether a node stands for what properties put into objects that others get: whoever has
    /// the module may have got that.
    pub(super) fn keeps_for_objects(&self, node: NodeId) -> bool {
        let (graph, edges) = (&self.run.graph, &self.run.edges);
        let is_of_objects = |one: &NodeId| graph.of_objects.contains(one);
        graph.with_callers.contains(&node)
            && !is_of_objects(&node)
            && edges[node as usize].iter().any(is_of_objects)
    }

    /// Whether a node ran, or could run, in the turn of another test than the one that needs it.
    fn past_of(&self, node: NodeId) -> ReadBefore {
        let graph = &self.run.graph;
        if node as usize >= graph.scopes {
            return ReadBefore::No;
        }
        let span = |node| graph.times.get(&node);
        let found = span(SESSION).map(|session| session.last);
        let is_past = match (found, span(node)) {
            (Some(found), Some(span)) => span.last > found,
            _ => !graph.of_objects.contains(&node),
        };
        if !is_past {
            return ReadBefore::No;
        }
        let units = self.run.node_units[node as usize].iter();
        let mut is_named = false;
        for unit in units {
            if let What::Reached(name) = &self.run.table.get(*unit).what {
                is_named |= MADE.iter().any(|mark| name.starts_with(mark));
                if **name == *UNWATCHED {
                    return ReadBefore::Unnamed;
                }
            }
        }
        match is_named {
            true => ReadBefore::Named,
            false => ReadBefore::Unnamed,
        }
    }

    /// Gives each test that others need a unit that names it: so it can be found in which turn that
    /// part of theirs ran, and which tests one that fails may have met something of.
    pub(super) fn name_needed_tests(&mut self) {
        let needed: FxHashSet<NodeId> = self.run.edges.iter().flatten().copied().collect();
        let begun = self.run.begun().filter(|(node, _)| needed.contains(node));
        for (node, test) in begun.collect::<Vec<_>>() {
            let name = format!("{TEST}{test}");
            self.run.attach(node, Unit::of(What::Reached(name.into())));
        }
    }
}

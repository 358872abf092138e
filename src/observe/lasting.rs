//! Processes that are there for several tests: a server that a fixture of the session starts.
//! What one test makes such a process keep, those after it meet.

use std::collections::BTreeSet;

use bstr::BString;
use rustc_hash::FxHashMap;

use super::graph::{NodeId, SESSION};
use super::rows::{Changed, Closing};
use super::run::Run;
use super::state::{changes_before, in_order};
use super::trace::{Role, ScopeKind, Trace};
use crate::matrix::{Unit, What};
use crate::pattern::Pattern;

/// How the text of a unit begins that names a test which may have made such a process keep what a
/// row's test then met.
pub(crate) const KEPT_BY: &str = "?kept by ";

/// How the command lines of helpers of `multiprocessing` begin. They keep nothing for a test.
const HELPERS: [&str; 2] = [
    "from multiprocessing.resource_tracker import",
    "from multiprocessing.forkserver import",
];

/// Which scope of a test process started the process of the trace `at`, if that was no test and
/// the process was still there when the next one began. The scope comes with the index of its trace.
pub(super) fn starter(traces: &[Trace], at: usize) -> Option<(usize, u64)> {
    let trace = &traces[at];
    let mut arguments = trace.open.argv.iter().filter_map(|one| one.as_str());
    if trace.open.role == Role::Main
        || arguments.any(|one| HELPERS.iter().any(|known| one.starts_with(known)))
    {
        return None;
    }
    let (parent, number) = in_test_process(traces, trace)?;
    let starting = traces[parent].scopes.get(&number);
    if starting.is_some_and(|scope| scope.kind == ScopeKind::Test) {
        return None;
    }
    let clocks = traces[parent].clocks.iter();
    let (_, next) = clocks
        .filter(|(test, _)| *test > number)
        .min_by_key(|one| one.0)?;
    trace
        .ended
        .is_none_or(|end| end > *next)
        .then_some((parent, number))
}

/// The scope of a test process from which a process comes, through others if need be.
fn in_test_process(traces: &[Trace], trace: &Trace) -> Option<(usize, u64)> {
    let mut from = trace.open.scope.as_ref()?;
    // No more than all of them.
    for _ in traces {
        let parent = traces.iter().position(|one| one.open.trace == from.0)?;
        match traces[parent].open.role {
            Role::Main => return Some((parent, from.1)),
            _ => from = traces[parent].open.scope.as_ref()?,
        }
    }
    None
}

impl Closing<'_> {
    /// Leads each test that uses a process to those before it that did. What `benign` names is
    /// left out.
    pub(super) fn attach_processes(&mut self, benign: &[Pattern]) {
        let lasting = std::mem::take(&mut self.run.graph.lasting);
        if lasting.is_empty() {
            return;
        }
        let names: FxHashMap<NodeId, &str> = self.run.begun().collect();
        let needed_by = needed_by(&self.run);
        for (starter, name) in lasting {
            let name = format!("process of {name}");
            if benign.iter().any(|one| one.matches(name.as_bytes())) {
                continue;
            }
            let users = users(&self.run, &needed_by, starter);
            let number = self.changed.len();
            self.changed.push(Changed {
                path: BString::default(),
                name,
                by: Vec::new(),
            });
            if let Some(touched) = &mut self.touched {
                touched.changed(&users, None);
            }
            let chain = in_order(&mut self.run, &users);
            for change in &chain {
                let of_tests = self.run.edges[change.node as usize].iter();
                let names: Vec<&str> = of_tests.filter_map(|by| names.get(by).copied()).collect();
                for name in names {
                    let unit = Unit::of(What::Reached(format!("{KEPT_BY}{name}").into()));
                    self.run.attach(change.node, unit);
                }
            }
            for user in users {
                if let Some(touched) = &mut self.touched {
                    touched.read(user, number);
                }
                let met = changes_before(&self.run, user, &chain);
                self.run.edges[user as usize].extend(met);
            }
        }
    }
}

/// The nodes that need a node, by that one.
fn needed_by(run: &Run<'_>) -> FxHashMap<NodeId, Vec<NodeId>> {
    let mut needed_by: FxHashMap<NodeId, Vec<NodeId>> = FxHashMap::default();
    for (node, edges) in run.edges.iter().enumerate() {
        for to in edges {
            needed_by.entry(*to).or_default().push(node as NodeId);
        }
    }
    needed_by
}

/// The tests that need `starter`: all if the session does.
fn users(
    run: &Run<'_>,
    needed_by: &FxHashMap<NodeId, Vec<NodeId>>,
    starter: NodeId,
) -> Vec<NodeId> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![starter]);
    while let Some(node) = open.pop() {
        if seen.insert(node) {
            open.extend(needed_by.get(&node).into_iter().flatten());
        }
    }
    let tests = run.graph.tests.iter().copied();
    let mut users: Vec<NodeId> = tests
        .filter(|test| seen.contains(&SESSION) || seen.contains(test))
        .collect();
    users.sort_unstable();
    users
}

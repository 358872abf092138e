//! One run while its rows are built: its graph, and the units of each node.

use std::collections::BTreeMap;

use anyhow::Result;
use bstr::{BStr, BString};
use rustc_hash::FxHashMap;

use super::graph::{Graph, Node, NodeId, SESSION};
use super::teller::Teller;
use super::trace::{Role, Trace, TraceError};
use super::units::{UnitIndex, UnitTable};
use super::walk::Paths;
use crate::languages::{Facts, Place};
use crate::matrix::{Fingerprint, Unit, UnitKind, What};

/// What is known of a run so far. Languages read it and add to it.
pub(crate) struct Run<'a> {
    pub facts: &'a Facts<'a>,
    pub launch: &'a dyn Teller,
    pub traces: &'a [Trace],
    pub graph: Graph,
    pub table: UnitTable,
    pub edges: Vec<Vec<NodeId>>,
    /// By node: edges (second) that count for whoever also reaches the first.
    pub conditional: FxHashMap<NodeId, Vec<(NodeId, NodeId)>>,
    pub node_units: Vec<Vec<UnitIndex>>,
    /// The values of units, as the test processes saw them.
    pub seen: BTreeMap<Unit, Fingerprint>,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        facts: &'a Facts<'a>,
        launch: &'a dyn Teller,
        traces: &'a [Trace],
        errors: &[TraceError],
    ) -> Run<'a> {
        let graph = Graph::build(traces, errors);
        Run {
            facts,
            launch,
            traces,
            table: UnitTable::default(),
            edges: graph.nodes.iter().map(|node| node.edges.clone()).collect(),
            conditional: FxHashMap::default(),
            node_units: vec![Vec::new(); graph.nodes.len()],
            seen: BTreeMap::new(),
            graph,
        }
    }

    /// The traces of the processes that ran tests.
    pub(crate) fn main_traces(&self) -> impl Iterator<Item = &'a Trace> + use<'a> {
        let traces = self.traces.iter();
        traces.filter(|trace| trace.open.role == Role::Main)
    }

    /// The node and the name of each test that began.
    pub(super) fn begun(&self) -> impl Iterator<Item = (NodeId, &'a str)> {
        let traces = self.traces.iter().enumerate();
        let begins = traces.flat_map(|(at, trace)| trace.begins.iter().map(move |one| (at, one)));
        begins.filter_map(|(at, one)| {
            let node = self.graph.node_of(at, one.scope)?;
            Some((node, one.test.as_str()))
        })
    }

    pub(crate) fn intern(&mut self, unit: Unit) -> UnitIndex {
        self.table.intern(unit)
    }

    /// Gives a node a unit.
    pub(crate) fn attach(&mut self, node: NodeId, unit: Unit) {
        let index = self.intern(unit);
        self.node_units[node as usize].push(index);
    }

    /// Gives every test a unit.
    pub(crate) fn attach_to_all(&mut self, unit: Unit) {
        self.attach(SESSION, unit);
    }

    /// A unit whose value only the process knows that saw it.
    pub(crate) fn late(&mut self, what: What, seen: Option<Fingerprint>) -> Unit {
        let unit = Unit::of(what);
        self.seen
            .insert(unit.clone(), seen.unwrap_or(Fingerprint::MISSING));
        unit
    }

    /// The same by the name that an agent has for it.
    pub(crate) fn late_named(
        &mut self,
        kind: UnitKind,
        name: &str,
        seen: Option<Fingerprint>,
    ) -> Unit {
        self.late(Unit::named(kind, "", name).what, seen)
    }

    /// A unit for an absolute path. Of files that git does not track it says so.
    ///
    /// # Errors
    /// If git cannot be read.
    pub(crate) fn placed(&self, what: What, path: &BStr) -> Result<Unit> {
        let path = match self.facts.place(path) {
            Place::Outside(path) => return Ok(Unit::at(path, what)),
            Place::Inside(path) => path,
        };
        let untracked = match what {
            What::File => Some(What::UntrackedFile),
            What::Exists => Some(What::UntrackedExists),
            _ => None,
        };
        let what = match untracked {
            Some(untracked) if self.facts.is_generated(path.as_ref())? => untracked,
            _ => what,
        };
        Ok(Unit::at(path, what))
    }

    /// A new node, without edges and units.
    pub(crate) fn fresh(&mut self) -> NodeId {
        self.edges.push(Vec::new());
        self.node_units.push(Vec::new());
        self.graph.nodes.push(Node::default());
        (self.edges.len() - 1) as NodeId
    }

    /// The node of collecting a test file.
    pub(crate) fn collect_node(&mut self, file: &BString) -> NodeId {
        if let Some(node) = self.graph.collects.get(file) {
            return *node;
        }
        let node = self.fresh();
        self.graph.collects.insert(file.clone(), node);
        node
    }

    /// The units of some nodes, without those of `base` (sorted).
    pub(super) fn units_of(&self, nodes: &[NodeId], base: &[UnitIndex]) -> Vec<UnitIndex> {
        let lists = || nodes.iter().map(|node| &self.node_units[*node as usize]);
        let met: usize = lists().map(Vec::len).sum();
        let mut units: Vec<UnitIndex> = if met > self.table.units().len() {
            // Most are there many times.
            let mut is_there = vec![false; self.table.units().len()];
            for unit in lists().flatten() {
                is_there[*unit as usize] = true;
            }
            let all = 0..is_there.len() as UnitIndex;
            all.filter(|unit| is_there[*unit as usize]).collect()
        } else {
            lists().flatten().copied().collect()
        };
        units.sort_unstable();
        units.dedup();
        if !base.is_empty() {
            units.retain(|unit| base.binary_search(unit).is_err());
        }
        units
    }

    pub(super) fn paths(&self) -> Paths<'_> {
        Paths {
            edges: &self.edges,
            conditional: &self.conditional,
            closed: 0..0,
        }
    }

    /// Why some of `nodes` may lack units, if so.
    pub(super) fn doubt_in(&self, nodes: &[NodeId]) -> Option<String> {
        let why = |node: &NodeId| self.graph.nodes[*node as usize].incomplete.as_ref();
        // The first of them, in whatever order they were reached.
        let doubtful = nodes.iter().filter(|node| why(node).is_some()).min();
        doubtful.and_then(why).cloned()
    }
}

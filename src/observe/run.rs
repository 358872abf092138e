//! One run while its rows are built: its graph, and the units of each node.

use std::collections::BTreeMap;

use anyhow::Result;
use bstr::{BStr, BString};
use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::{Graph, Node, NodeId, SESSION};
use super::teller::Teller;
use super::trace::{Role, Trace, TraceError};
use super::units::{UnitIndex, UnitTable};
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
    /// Nodes that stand for what other tests did, by node.
    pub(super) of_others: Vec<bool>,
}

/// The nodes that some nodes lead to.
#[derive(Debug, Default)]
pub(super) struct Reached {
    pub order: Vec<NodeId>,
    /// Those by which it depends on what other tests did, and not by way of a
    /// third test.
    pub others: Vec<NodeId>,
    pub incomplete: Option<String>,
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
            of_others: vec![false; graph.nodes.len()],
            graph,
        }
    }

    /// The traces of the processes that ran tests.
    pub(crate) fn main_traces(&self) -> impl Iterator<Item = &'a Trace> + use<'a> {
        let traces = self.traces.iter();
        traces.filter(|trace| trace.open.role == Role::Main)
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
        self.of_others.push(false);
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
        let units = nodes
            .iter()
            .flat_map(|node| &self.node_units[*node as usize]);
        let mut units: Vec<UnitIndex> = units.copied().collect();
        units.sort_unstable();
        units.dedup();
        if !base.is_empty() {
            units.retain(|unit| base.binary_search(unit).is_err());
        }
        units
    }

    /// All nodes reachable from `starts` without passing those in `known`.
    pub(super) fn reach(&self, starts: &[NodeId], known: Option<&[bool]>) -> Reached {
        let mut walk = Walk {
            run: self,
            starts,
            known,
            seen: FxHashSet::default(),
            open: starts.to_vec(),
            waiting: Vec::new(),
            set_aside: Some(Vec::new()),
            reached: Reached::default(),
        };
        // Edges of known nodes, too, may wait for their condition: what is reached
        // here may fulfil it.
        if known.is_some() {
            let all = self.conditional.iter();
            let of_known = all.filter(|(node, _)| walk.is_known(**node));
            walk.waiting = of_known.flat_map(|(_, edges)| edges.clone()).collect();
        }
        walk.finish();
        let mut others = walk.set_aside.take().unwrap_or_default();
        others.sort_unstable();
        others.dedup();
        walk.open.extend(&others);
        walk.finish();
        Reached {
            others,
            ..walk.reached
        }
    }
}

/// A walk over the graph. It follows what other tests did last, so that it shows
/// which of that the start itself leads to.
struct Walk<'w, 'a> {
    run: &'w Run<'a>,
    starts: &'w [NodeId],
    known: Option<&'w [bool]>,
    seen: FxHashSet<NodeId>,
    open: Vec<NodeId>,
    /// Edges (second) that wait for their condition (first).
    waiting: Vec<(NodeId, NodeId)>,
    /// What other tests did, while that is not followed yet.
    set_aside: Option<Vec<NodeId>>,
    reached: Reached,
}

impl Walk<'_, '_> {
    fn is_known(&self, node: NodeId) -> bool {
        self.known
            .is_some_and(|known| known.get(node as usize) == Some(&true))
    }

    fn finish(&mut self) {
        loop {
            while let Some(node) = self.open.pop() {
                self.visit(node);
            }
            let waiting = std::mem::take(&mut self.waiting);
            for (condition, to) in waiting {
                match self.seen.contains(&condition) || self.is_known(condition) {
                    true => self.open.push(to),
                    false => self.waiting.push((condition, to)),
                }
            }
            if self.open.is_empty() {
                return;
            }
        }
    }

    fn visit(&mut self, node: NodeId) {
        if self.is_known(node) || self.seen.contains(&node) {
            return;
        }
        let is_of_other = self.run.of_others[node as usize] && !self.starts.contains(&node);
        if is_of_other && let Some(aside) = &mut self.set_aside {
            aside.push(node);
            return;
        }
        self.seen.insert(node);
        self.reached.order.push(node);
        if let Some(why) = &self.run.graph.nodes[node as usize].incomplete {
            self.reached.incomplete.get_or_insert_with(|| why.clone());
        }
        self.open.extend(&self.run.edges[node as usize]);
        let waiting = self.run.conditional.get(&node);
        self.waiting.extend(waiting.into_iter().flatten());
    }
}

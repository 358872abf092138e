//! Which nodes of a run's graph some nodes lead to.
//!
//! Most of what a test leads to, others lead to as well: all have what the session has, and
//! those of one file what that file's collection has. So a walk is told what is known already,
//! in layers, and costs what it adds to that.

use std::ops::Range;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::graph::NodeId;

/// Where the nodes of a graph lead.
#[derive(Clone)]
pub(super) struct Paths<'a> {
    pub edges: &'a [Vec<NodeId>],
    /// By node: edges (second) that count for whoever also reaches the first.
    pub conditional: &'a FxHashMap<NodeId, Vec<(NodeId, NodeId)>>,
    /// No walk goes to these nodes from others.
    pub closed: Range<NodeId>,
}

/// Nodes that a walk need not enter, as all that they lead to is there.
#[derive(Debug, Default)]
pub(super) struct Known {
    below: Option<Rc<Known>>,
    nodes: Marks,
    /// By condition that nothing here fulfils: where edges of this layer then lead.
    waiting: FxHashMap<NodeId, Vec<NodeId>>,
}

impl Known {
    pub(super) fn has(&self, node: NodeId) -> bool {
        self.layers().any(|layer| layer.nodes.has(node))
    }

    fn layers(&self) -> impl Iterator<Item = &Known> {
        std::iter::successors(Some(self), |layer| layer.below.as_deref())
    }
}

impl Paths<'_> {
    /// All nodes that `starts` lead to, these among them, but for those that are `known`.
    pub(super) fn reach(&self, starts: &[NodeId], known: Option<&Known>) -> Vec<NodeId> {
        let mut walk = Walk {
            known,
            seen: Marks::default(),
            reached: Vec::new(),
            open: starts.to_vec(),
            waiting: FxHashMap::default(),
        };
        while let Some(node) = walk.open.pop() {
            self.visit(&mut walk, node);
        }
        walk.reached
    }

    fn visit(&self, walk: &mut Walk<'_>, node: NodeId) {
        if walk.has(node) {
            return;
        }
        walk.seen.add(node);
        walk.reached.push(node);
        let is_open = |to: &&NodeId| !self.closed.contains(*to);
        let edges = self.edges[node as usize].iter().filter(is_open);
        walk.open.extend(edges);
        // Edges of known nodes, too, may have waited for this one.
        walk.open
            .extend(walk.waiting.remove(&node).unwrap_or_default());
        for layer in walk.known.into_iter().flat_map(Known::layers) {
            walk.open
                .extend(layer.waiting.get(&node).into_iter().flatten());
        }
        let conditional = self.conditional.get(&node).into_iter().flatten();
        for (condition, to) in conditional.filter(|(_, to)| is_open(&to)) {
            match walk.has(*condition) {
                true => walk.open.push(*to),
                false => walk.waiting.entry(*condition).or_default().push(*to),
            }
        }
    }

    /// What a walk reached that knew `below`, for walks that know both.
    pub(super) fn known(&self, reached: &[NodeId], below: Option<Rc<Known>>) -> Known {
        let mut known = Known {
            below,
            ..Known::default()
        };
        for node in reached {
            known.nodes.add(*node);
        }
        for node in reached {
            let conditional = self.conditional.get(node).into_iter().flatten();
            for (condition, to) in conditional.filter(|(_, to)| !self.closed.contains(to)) {
                if !known.has(*condition) {
                    known.waiting.entry(*condition).or_default().push(*to);
                }
            }
        }
        for waiting in known.waiting.values_mut() {
            waiting.sort_unstable();
            waiting.dedup();
        }
        known
    }
}

struct Walk<'k> {
    known: Option<&'k Known>,
    seen: Marks,
    reached: Vec<NodeId>,
    open: Vec<NodeId>,
    /// By condition that is not fulfilled yet: where edges then lead.
    waiting: FxHashMap<NodeId, Vec<NodeId>>,
}

impl Walk<'_> {
    fn has(&self, node: NodeId) -> bool {
        self.seen.has(node) || self.known.is_some_and(|known| known.has(node))
    }
}

/// A set of nodes: a bit for each up to the highest.
#[derive(Debug, Default)]
struct Marks(Vec<u64>);

impl Marks {
    fn has(&self, node: NodeId) -> bool {
        let word = self.0.get(node as usize / 64);
        word.is_some_and(|word| word >> (node % 64) & 1 == 1)
    }

    fn add(&mut self, node: NodeId) {
        let at = node as usize / 64;
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        self.0[at] |= 1 << (node % 64);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const NODES: NodeId = 14;

    #[derive(Debug)]
    struct Sample {
        edges: Vec<Vec<NodeId>>,
        conditional: FxHashMap<NodeId, Vec<(NodeId, NodeId)>>,
    }

    fn any_sample() -> impl Strategy<Value = Sample> {
        let node = || 0..NODES;
        let edges = proptest::collection::vec((node(), node()), 0..16);
        let conditional = proptest::collection::vec((node(), node(), node()), 0..16);
        (edges, conditional).prop_map(|(edges, conditional)| {
            let mut sample = Sample {
                edges: vec![Vec::new(); NODES as usize],
                conditional: FxHashMap::default(),
            };
            for (from, to) in edges {
                sample.edges[from as usize].push(to);
            }
            for (from, condition, to) in conditional {
                let of_node = sample.conditional.entry(from).or_default();
                of_node.push((condition, to));
            }
            sample
        })
    }

    /// The plain reading: what follows from what is there, until nothing does.
    fn by_definition(
        sample: &Sample,
        starts: &BTreeSet<NodeId>,
        closed: &Range<NodeId>,
    ) -> BTreeSet<NodeId> {
        let mut found = starts.clone();
        loop {
            let mut more = found.clone();
            for node in &found {
                let is_open = |to: &&NodeId| !closed.contains(*to);
                more.extend(sample.edges[*node as usize].iter().filter(is_open));
                for (condition, to) in sample.conditional.get(node).into_iter().flatten() {
                    more.extend((found.contains(condition) && is_open(&to)).then_some(*to));
                }
            }
            if more.len() == found.len() {
                return found;
            }
            found = more;
        }
    }

    proptest! {
        #[test]
        fn layers_of_walks_reach_what_one_walk_does(
            sample in any_sample(),
            layers in proptest::collection::vec(proptest::collection::vec(0..NODES, 0..3), 1..4),
            (first, end) in (0..NODES, 0..NODES),
        ) {
            let closed = first..end;
            let paths = Paths {
                edges: &sample.edges,
                conditional: &sample.conditional,
                closed: closed.clone(),
            };
            let mut known: Option<Rc<Known>> = None;
            let (mut starts, mut found) = (BTreeSet::new(), BTreeSet::new());
            for layer in layers {
                starts.extend(&layer);
                let added = paths.reach(&layer, known.as_deref());
                let count = added.len();
                let added_set: BTreeSet<NodeId> = added.iter().copied().collect();
                prop_assert_eq!(added_set.len(), count);
                prop_assert!(added_set.is_disjoint(&found));
                found.extend(added_set);
                prop_assert_eq!(&found, &by_definition(&sample, &starts, &closed));
                let layer = paths.known(&added, known.take());
                known = Some(Rc::new(layer));
            }
        }
    }
}

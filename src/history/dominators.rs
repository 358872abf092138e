//! Dominators, merge bases and ancestry of a history held in memory.
//!
//! Nodes are numbers in topological order: parents have smaller numbers than their children.
//! So no answer depends on a clock.

use std::collections::{BTreeSet, BinaryHeap};

/// A virtual parent of all roots, so that a history with several roots has one top.
const ABOVE_ROOTS: u32 = u32::MAX;

/// The parents of each node, packed.
#[derive(Clone, Debug, Default)]
pub struct Dag {
    /// The parents of node n are `parents[starts[n] .. starts[n + 1]]`.
    starts: Vec<u32>,
    parents: Vec<u32>,
}

impl Dag {
    pub fn new() -> Dag {
        Dag {
            starts: vec![0],
            parents: Vec::new(),
        }
    }

    /// Adds a node and returns its number. Its parents must already be there.
    pub fn push(&mut self, parents: &[u32]) -> u32 {
        let node = self.len();
        debug_assert!(parents.iter().all(|parent| *parent < node));
        self.parents.extend_from_slice(parents);
        self.starts.push(self.parents.len() as u32);
        node
    }

    pub fn len(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn parents(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.parents[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    /// The immediate dominator of every node: `imd` of [G 4.2.1].
    ///
    /// One pass of Cooper, Harvey and Kennedy's algorithm is enough: a topological order of a
    /// graph without cycles settles parents first.
    pub fn dominators(&self) -> Dominators {
        let mut above = Vec::with_capacity(self.len() as usize);
        for node in 0..self.len() {
            let mut parents = self.parents(node).iter().copied();
            let first = parents.next().unwrap_or(ABOVE_ROOTS);
            let nearest = parents.fold(first, |a, b| meet(&above, a, b));
            above.push(nearest);
        }
        Dominators { above }
    }

    /// The immediate dominator of one node. Visits only the nodes between the two. `None` if
    /// paths from the node end in different roots.
    pub fn dominator_of(&self, node: u32) -> Option<u32> {
        let mut waiting: BinaryHeap<u32> = self.parents(node).iter().copied().collect();
        while let Some(next) = pop(&mut waiting) {
            if waiting.is_empty() {
                return Some(next);
            }
            if self.parents(next).is_empty() {
                return None;
            }
            waiting.extend(self.parents(next));
        }
        None
    }

    /// Whether `old` is `new` or an ancestor of it: `old ≤ new`.
    pub fn is_ancestor(&self, old: u32, new: u32) -> bool {
        let mut waiting = BinaryHeap::from([new]);
        while let Some(next) = pop(&mut waiting) {
            if next <= old {
                return next == old;
            }
            waiting.extend(self.parents(next));
        }
        false
    }

    /// The best common ancestors of two nodes, those that are not ancestors of another common
    /// ancestor: `lca` of [G 4.2.1], ascending.
    pub fn merge_bases(&self, a: u32, b: u32) -> BTreeSet<u32> {
        const SIDES: u8 = 3;
        const BELOW_A_BASE: u8 = 4;
        let mut waiting = BinaryHeap::from([(a, 1_u8), (b, 2_u8)]);
        let mut bases = BTreeSet::new();
        // Once all waiting nodes are below a base, no new base can come.
        let mut open = 2_usize;
        while open > 0
            && let Some((node, mut marks)) = waiting.pop()
        {
            open -= usize::from(marks & BELOW_A_BASE == 0);
            while let Some((_, more)) = waiting.peek().filter(|(other, _)| *other == node) {
                open -= usize::from(more & BELOW_A_BASE == 0);
                marks |= more;
                waiting.pop();
            }
            if marks == SIDES {
                bases.insert(node);
                marks |= BELOW_A_BASE;
            }
            for parent in self.parents(node) {
                open += usize::from(marks & BELOW_A_BASE == 0);
                waiting.push((*parent, marks));
            }
        }
        bases
    }
}

/// Takes the greatest waiting number, with all its repetitions.
fn pop(waiting: &mut BinaryHeap<u32>) -> Option<u32> {
    let next = waiting.pop()?;
    while waiting.peek() == Some(&next) {
        waiting.pop();
    }
    Some(next)
}

/// The immediate dominators of a whole history.
#[derive(Clone, Debug)]
pub struct Dominators {
    above: Vec<u32>,
}

impl Dominators {
    /// `None` for a root, and for a node below several roots.
    pub fn immediate(&self, node: u32) -> Option<u32> {
        Some(self.above[node as usize]).filter(|above| *above != ABOVE_ROOTS)
    }

    /// The lowest common dominator of two nodes, `dom` of [G 4.2.1]. A node counts as its own
    /// dominator.
    pub fn lowest_common(&self, a: u32, b: u32) -> Option<u32> {
        Some(meet(&self.above, a, b)).filter(|node| *node != ABOVE_ROOTS)
    }
}

/// The nearest node on both chains of dominators.
fn meet(above: &[u32], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        if a == ABOVE_ROOTS || b == ABOVE_ROOTS {
            return ABOVE_ROOTS;
        }
        if a > b {
            a = above[a as usize];
        } else {
            b = above[b as usize];
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Random histories. A node without parents is another root.
    fn histories() -> impl Strategy<Value = Dag> {
        prop::collection::vec(prop::collection::btree_set(0_u32..1000, 0..4), 1..24).prop_map(
            |rows| {
                let mut dag = Dag::new();
                for row in rows {
                    let count = dag.len();
                    let parents: BTreeSet<u32> = match count {
                        0 => BTreeSet::new(),
                        _ => row.iter().map(|number| number % count).collect(),
                    };
                    dag.push(&Vec::from_iter(parents));
                }
                dag
            },
        )
    }

    /// The ancestors of `node` (and itself) that are reached without `without`.
    fn past(dag: &Dag, node: u32, without: Option<u32>) -> BTreeSet<u32> {
        let mut seen = BTreeSet::new();
        let mut stack = vec![node];
        while let Some(next) = stack.pop() {
            if Some(next) != without && seen.insert(next) {
                stack.extend(dag.parents(next));
            }
        }
        seen
    }

    /// The nodes on every path from `node` to any root, `node` included.
    fn dominators_by_removal(dag: &Dag, node: u32) -> BTreeSet<u32> {
        let is_root = |other: &u32| dag.parents(*other).is_empty();
        let cuts = |other: &u32| !past(dag, node, Some(*other)).iter().any(is_root);
        past(dag, node, None).into_iter().filter(cuts).collect()
    }

    fn bases_by_sets(dag: &Dag, a: u32, b: u32) -> BTreeSet<u32> {
        let common = &past(dag, a, None) & &past(dag, b, None);
        let is_best = |node: &u32| {
            !common
                .iter()
                .any(|other| other != node && past(dag, *other, None).contains(node))
        };
        common.iter().copied().filter(is_best).collect()
    }

    proptest! {
        #[test]
        fn all_answers_equal_the_definitions(dag in histories()) {
            let dominators = dag.dominators();
            for a in 0..dag.len() {
                let mut strict = dominators_by_removal(&dag, a);
                strict.remove(&a);
                prop_assert_eq!(dominators.immediate(a), strict.last().copied());
                prop_assert_eq!(dag.dominator_of(a), strict.last().copied());
                for b in 0..dag.len() {
                    let common = &dominators_by_removal(&dag, a) & &dominators_by_removal(&dag, b);
                    prop_assert_eq!(dominators.lowest_common(a, b), common.last().copied());
                    prop_assert_eq!(dag.is_ancestor(a, b), past(&dag, b, None).contains(&a));
                    prop_assert_eq!(dag.merge_bases(a, b), bases_by_sets(&dag, a, b));
                }
            }
        }
    }

    #[test]
    fn the_dominator_of_a_criss_cross_lies_below_its_bases() {
        let mut dag = Dag::new();
        let root = dag.push(&[]);
        let (a, b) = (dag.push(&[root]), dag.push(&[root]));
        let (left, right) = (dag.push(&[a, b]), dag.push(&[b, a]));
        let head = dag.push(&[left, right]);
        assert_eq!(dag.merge_bases(left, right), BTreeSet::from([a, b]));
        assert_eq!(dag.dominator_of(head), Some(root));
    }
}

//! The graph of the objects that the cells reach, and what is computed on it:
//! digests that do not depend on where a cycle was entered, names that tell
//! which positions hold the same object, and the way to what is opaque.

use std::collections::{HashSet, VecDeque};

use super::hash::{Digest, Digests, Hasher};
use crate::ffi::*;

/// A cycle costs rounds times members; beyond this it is opaque.
const MOST_WORK_ON_A_CYCLE: usize = 4_000_000;
/// So many objects are looked at for the path to an opaque one.
const MOST_STEPS_OF_A_PATH: usize = 2000;

/// How a child hangs on its parent.
#[derive(Clone, Copy)]
pub enum Label {
    /// A part that every object of this kind has.
    Part(&'static str),
    /// An attribute, by its name (a str).
    Attribute(Ref),
    Index(u32),
    /// The value at a key: digest of the key if it is plain, and the key.
    Key(u64, Ref),
}

pub struct Edge {
    pub label: Label,
    pub to: u32,
}

/// Why an object has no digest.
#[derive(Clone, Copy)]
pub enum Why {
    /// Its C type has content that is not understood.
    Type(Ref),
    Said(&'static str),
}

pub struct Node {
    /// What it holds itself: its kind, plain parts, the labels of its children.
    pub local: Digest,
    pub edges: std::ops::Range<usize>,
    /// The order of the children does not count.
    pub unordered: bool,
    /// A program can tell this object from an equal one and may go by it.
    pub has_identity: bool,
    pub opaque: Option<Why>,
}

#[derive(Default)]
pub struct Graph {
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    /// Nodes by strongly connected component, children before parents.
    order: Vec<u32>,
    /// Where each component begins in `order`.
    starts: Vec<usize>,
    /// Per node, the opaque node that it reaches or is; else itself and false.
    taint: Vec<Option<u32>>,
}

const UNSEEN: u32 = u32::MAX;

impl Graph {
    pub fn edges_of(&self, node: u32) -> &[Edge] {
        &self.edges[self.nodes[node as usize].edges.clone()]
    }

    /// Tarjan's algorithm, with a stack of its own. Only what `roots` reach is
    /// ordered, which is all.
    pub fn close(&mut self) {
        let count = self.nodes.len();
        let (mut index, mut low) = (vec![UNSEEN; count], vec![0; count]);
        let mut on_stack = vec![false; count];
        let (mut stack, mut calls): (Vec<u32>, Vec<(u32, usize)>) = (Vec::new(), Vec::new());
        let mut next = 0;
        for root in 0..count as u32 {
            if index[root as usize] != UNSEEN {
                continue;
            }
            calls.push((root, self.nodes[root as usize].edges.start));
            while let Some((node, at)) = calls.last_mut() {
                let (here, end) = (*node as usize, self.nodes[*node as usize].edges.end);
                if index[here] == UNSEEN {
                    (index[here], low[here]) = (next, next);
                    next += 1;
                    stack.push(*node);
                    on_stack[here] = true;
                }
                if *at < end {
                    let child = self.edges[*at].to;
                    *at += 1;
                    if index[child as usize] == UNSEEN {
                        calls.push((child, self.nodes[child as usize].edges.start));
                    } else if on_stack[child as usize] {
                        low[here] = low[here].min(index[child as usize]);
                    }
                    continue;
                }
                calls.pop();
                if let Some((parent, _)) = calls.last() {
                    low[*parent as usize] = low[*parent as usize].min(low[here]);
                }
                if low[here] == index[here] {
                    self.starts.push(self.order.len());
                    while let Some(member) = stack.pop() {
                        on_stack[member as usize] = false;
                        self.order.push(member);
                        if member as usize == here {
                            break;
                        }
                    }
                }
            }
        }
        self.starts.push(self.order.len());
        self.spread_taint();
    }

    fn spread_taint(&mut self) {
        self.taint = vec![None; self.nodes.len()];
        for component in 0..self.starts.len() - 1 {
            let members = self.starts[component]..self.starts[component + 1];
            let source = self.order[members.clone()].iter().find_map(|node| {
                let own = self.nodes[*node as usize].opaque.is_some();
                let below = || {
                    self.edges_of(*node)
                        .iter()
                        .find_map(|edge| self.taint[edge.to as usize])
                };
                if own { Some(*node) } else { below() }
            });
            if source.is_some() {
                for at in members {
                    self.taint[self.order[at] as usize] = source;
                }
            }
        }
    }

    /// Whether `node` reaches something opaque.
    pub fn is_opaque(&self, node: u32) -> bool {
        self.taint[node as usize].is_some()
    }

    /// For each node, whether it is among `those`, or reaches one otherwise than by an edge
    /// `without`.
    pub fn reaching(&self, those: Vec<bool>, without: &dyn Fn(Label) -> bool) -> Vec<bool> {
        let mut holders: Vec<Vec<u32>> = vec![Vec::new(); self.nodes.len()];
        for node in 0..self.nodes.len() as u32 {
            let counted = self
                .edges_of(node)
                .iter()
                .filter(|edge| !without(edge.label));
            counted.for_each(|edge| holders[edge.to as usize].push(node));
        }
        let mut found = those;
        let mut open: Vec<usize> = (0..found.len()).filter(|node| found[*node]).collect();
        while let Some(node) = open.pop() {
            for holder in &holders[node] {
                if !std::mem::replace(&mut found[*holder as usize], true) {
                    open.push(*holder as usize);
                }
            }
        }
        found
    }

    /// A digest for each node, from what `local` gives for it and those of its
    /// children. Nodes that reach something opaque have none worth the name.
    pub fn fold(&mut self, local: &dyn Fn(&Graph, u32) -> Digest) -> Vec<Digest> {
        let mut digests = vec![[0, 0]; self.nodes.len()];
        let mut too_large = Vec::new();
        for component in 0..self.starts.len() - 1 {
            let members = &self.order[self.starts[component]..self.starts[component + 1]];
            if self.taint[members[0] as usize].is_some() {
                continue;
            }
            let alone = members.len() == 1
                && self
                    .edges_of(members[0])
                    .iter()
                    .all(|edge| edge.to != members[0]);
            if alone {
                let node = members[0];
                digests[node as usize] = self.combine(node, local(self, node), &digests);
            } else if !self.fold_cycle(members, local, &mut digests) {
                too_large.push(members[0]);
            }
        }
        if !too_large.is_empty() {
            for node in too_large {
                self.nodes[node as usize].opaque = Some(Why::Said("too large a cycle"));
            }
            self.spread_taint();
        }
        digests
    }

    fn combine(&self, node: u32, local: Digest, digests: &[Digest]) -> Digest {
        let mut hasher = const { Hasher::new("") };
        hasher.digest(local);
        let edges = self.edges_of(node);
        if self.nodes[node as usize].unordered {
            let mut children: Vec<Digest> =
                edges.iter().map(|edge| digests[edge.to as usize]).collect();
            children.sort_unstable();
            children.into_iter().for_each(|child| hasher.digest(child));
        } else {
            edges
                .iter()
                .for_each(|edge| hasher.digest(digests[edge.to as usize]));
        }
        hasher.finish()
    }

    /// Colours are refined until no round tells more members apart. Number of
    /// rounds and set of colours belong to the cycle alone, so the result is
    /// the same wherever the cycle was entered; two cycles with equal results
    /// cannot be told apart by following references.
    fn fold_cycle(
        &self,
        members: &[u32],
        local: &dyn Fn(&Graph, u32) -> Digest,
        digests: &mut [Digest],
    ) -> bool {
        let mut work = 0;
        for node in members {
            digests[*node as usize] = local(self, *node);
        }
        let colours = |digests: &[Digest]| -> Digests {
            members.iter().map(|node| digests[*node as usize]).collect()
        };
        let mut count = colours(digests).len();
        loop {
            work += members
                .iter()
                .map(|node| 1 + self.edges_of(*node).len())
                .sum::<usize>();
            if work > MOST_WORK_ON_A_CYCLE {
                return false;
            }
            let next: Vec<Digest> = members
                .iter()
                .map(|node| self.combine(*node, digests[*node as usize], digests))
                .collect();
            for (node, digest) in members.iter().zip(next) {
                digests[*node as usize] = digest;
            }
            let now = colours(digests).len();
            if now == count {
                break;
            }
            count = now;
        }
        let mut all: Vec<Digest> = members.iter().map(|node| digests[*node as usize]).collect();
        all.sort_unstable();
        all.dedup();
        let mut hasher = Hasher::new("cycle");
        all.into_iter().for_each(|digest| hasher.digest(digest));
        let whole = hasher.finish();
        for node in members {
            let mut hasher = Hasher::new("in a cycle");
            hasher.digest(digests[*node as usize]);
            hasher.digest(whole);
            digests[*node as usize] = hasher.finish();
        }
        true
    }

    /// A name for each node: the first position, in the order of `cells` and
    /// near before far, that holds it. Two positions of one taking hold the
    /// same object exactly if the names there are equal. `given`, if it is not empty: what an
    /// object is called whoever holds it; zeros if it has no such name.
    pub fn names(
        &self,
        cells: &[(Digest, u32)],
        values: &[Digest],
        given: &[Digest],
    ) -> Vec<Digest> {
        let given = |node: u32| given.get(node as usize).filter(|name| **name != [0, 0]);
        let mut names = vec![[0, 0]; self.nodes.len()];
        let mut queue = VecDeque::new();
        for (cell, node) in cells {
            if names[*node as usize] == [0, 0] {
                names[*node as usize] = *given(*node).unwrap_or(cell);
                queue.push_back(*node);
            }
            while let Some(node) = queue.pop_front() {
                let edges = self.edges_of(node);
                let mut members: Vec<(Digest, u32)> = Vec::new();
                if self.nodes[node as usize].unordered {
                    members.extend(edges.iter().map(|edge| (values[edge.to as usize], edge.to)));
                    members.sort_unstable_by_key(|(value, _)| *value);
                }
                for at in 0..edges.len() {
                    let mut hasher = position_in(names[node as usize]);
                    let to = match members.get(at) {
                        // Equal members are told apart by chance, so that no
                        // two objects get one name.
                        Some((value, to)) => {
                            hasher.digest(*value);
                            hasher.word(
                                members[..at]
                                    .iter()
                                    .rev()
                                    .take_while(|m| m.0 == *value)
                                    .count() as u64,
                            );
                            *to
                        }
                        None => {
                            write_label(&mut hasher, edges[at].label);
                            edges[at].to
                        }
                    };
                    if names[to as usize] == [0, 0] {
                        let name = hasher.finish();
                        names[to as usize] = *given(to).unwrap_or(&name);
                        queue.push_back(to);
                    }
                }
            }
        }
        names
    }

    /// Why `node` is opaque, and the way there: `.attribute[3]`.
    pub fn explain(&self, node: u32) -> (Why, String) {
        let unknown = Why::Said("opaque");
        let Some(source) = self.taint[node as usize] else {
            return (unknown, String::new());
        };
        let mut steps: Vec<(u32, usize, Label)> = vec![(node, 0, Label::Part(""))];
        let mut seen = HashSet::from([node]);
        let mut at = 0;
        while at < steps.len() && at < MOST_STEPS_OF_A_PATH {
            let (here, ..) = steps[at];
            if let Some(why) = self.nodes[here as usize].opaque {
                let mut path = Vec::new();
                let mut step = at;
                while step != 0 {
                    path.push(label_text(steps[step].2));
                    step = steps[step].1;
                }
                path.reverse();
                return (why, path.concat());
            }
            for edge in self.edges_of(here) {
                if self.taint[edge.to as usize].is_some() && seen.insert(edge.to) {
                    steps.push((edge.to, at, edge.label));
                }
            }
            at += 1;
        }
        let why = self.nodes[source as usize].opaque.unwrap_or(unknown);
        (why, "…".to_owned())
    }
}

/// What begins the digest of a position in what has this name.
fn position_in(name: Digest) -> Hasher {
    let mut hasher = const { Hasher::new("position") };
    hasher.digest(name);
    hasher
}

/// The position that a label leads to in what has this name.
pub fn inside(name: Digest, label: Label) -> Digest {
    let mut hasher = position_in(name);
    write_label(&mut hasher, label);
    hasher.finish()
}

fn write_label(hasher: &mut Hasher, label: Label) {
    match label {
        Label::Part(name) => hasher.bytes(name.as_bytes()),
        // SAFETY: labels hold objects that live as long as the taking.
        Label::Attribute(name) => hasher.bytes(&unsafe { text_of(name) }.unwrap_or_default()),
        Label::Index(at) => hasher.word(u64::from(at)),
        Label::Key(digest, _) => hasher.word(digest),
    }
}

fn label_text(label: Label) -> String {
    // SAFETY: as above; the type is checked.
    let text = |object: Ref| unsafe {
        let is_text = (*object).kind == &raw mut PyUnicode_Type;
        is_text
            .then(|| String::from_utf8_lossy(&text_bytes(object).unwrap_or_default()).into_owned())
    };
    match label {
        Label::Part(name) => format!(".<{name}>"),
        Label::Attribute(name) => format!(".{}", text(name).unwrap_or_default()),
        Label::Index(at) => format!("[{at}]"),
        Label::Key(_, key) => match text(key) {
            Some(key) => format!("[{key:?}]"),
            None => "[…]".to_owned(),
        },
    }
}

//! The history of a head together with what is recorded of it.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::baselines::MOST_ANCESTORS;
use super::shelf::Shelf;
use crate::history::{CommitGraph, CommitId, Head, HeadKind, Repository};
use crate::matrix::Header;
use crate::select::{Change, Node, Past, Tip};
use crate::store::Name;

/// Commits as numbered nodes, and the clean matrix of each that has one.
pub(super) struct Ledger<'a> {
    repository: &'a Repository,
    shelf: &'a Shelf<'a>,
    /// The newest matrix of each commit that was recorded without edits.
    recorded: BTreeMap<CommitId, Name>,
    /// The same by the tree of the commit.
    by_tree: BTreeMap<String, CommitId>,
    /// Where the graph is loaded from, if somebody asks for it.
    tips: Vec<CommitId>,
    graph: OnceCell<Option<Rc<CommitGraph>>>,
    nodes: RefCell<Nodes>,
}

#[derive(Default)]
struct Nodes {
    ids: Vec<CommitId>,
    numbers: FxHashMap<CommitId, Node>,
}

impl<'a> Ledger<'a> {
    /// What is recorded around `head`; `wanted` says which matrices are about
    /// this suite and environment. A graph that is at hand need not be loaded.
    pub(super) fn new(
        repository: &'a Repository,
        shelf: &'a Shelf<'a>,
        head: &Head,
        graph: Option<Rc<CommitGraph>>,
        wanted: impl Fn(&Header) -> bool,
    ) -> Ledger<'a> {
        let mut recorded = BTreeMap::new();
        let mut by_tree = BTreeMap::new();
        for (name, header) in shelf.headers() {
            let Ok(commit) = header.commit.parse::<CommitId>() else {
                continue;
            };
            if header.dirty.is_empty() && wanted(header) {
                recorded.entry(commit).or_insert(*name);
                by_tree.entry(header.tree.clone()).or_insert(commit);
            }
        }
        let references = &head.references;
        let mut tips = vec![head.commit];
        tips.extend(references.parents.iter().copied());
        let others = [
            references.picked,
            references.reverted,
            references.squash_tip,
            references.pre_rebase_tip,
            references.onto,
        ];
        tips.extend(others.into_iter().flatten());
        tips.extend(references.all_picked.iter().copied());
        let at_hand = OnceCell::new();
        if let Some(graph) = graph.filter(|graph| tips.iter().all(|tip| graph.contains(tip))) {
            let _ = at_hand.set(Some(graph));
        }
        Ledger {
            repository,
            shelf,
            recorded,
            by_tree,
            tips,
            graph: at_hand,
            nodes: RefCell::default(),
        }
    }

    /// The number of a commit.
    pub(super) fn node(&self, commit: CommitId) -> Node {
        let mut nodes = self.nodes.borrow_mut();
        if let Some(known) = nodes.numbers.get(&commit) {
            return *known;
        }
        let new = nodes.ids.len() as Node;
        nodes.ids.push(commit);
        nodes.numbers.insert(commit, new);
        new
    }

    pub(super) fn commit(&self, node: Node) -> CommitId {
        self.nodes.borrow().ids[node as usize]
    }

    /// The matrix of a recorded revision.
    pub(super) fn matrix(&self, node: Node) -> Option<Name> {
        self.recorded.get(&self.commit(node)).copied()
    }

    /// The head as strategies see it. `is_clean`: nothing was edited since;
    /// else what lies on disk is like a commit on the head, if the head itself
    /// is recorded.
    pub(super) fn tip(&self, head: &Head, is_clean: bool) -> Tip {
        if !is_clean && self.recorded.contains_key(&head.commit) {
            return Tip {
                kind: HeadKind::Commit,
                auto: false,
                parents: vec![self.node(head.commit)],
                picked: Vec::new(),
                reverted: None,
                sides: None,
            };
        }
        let references = &head.references;
        let change = |commit: Option<CommitId>, before: Option<CommitId>| {
            let (commit, before) = (commit?, before?);
            let parents = self.repository.parents(&commit).ok()?;
            Some(Change {
                commit: self.node(commit),
                before: self.node(before),
                is_merge: parents.ids.len() > 1,
            })
        };
        let one = references.picked.iter().zip(&references.picked_parent);
        let several = references.all_picked.iter();
        let several = several.zip(&references.all_picked_parents);
        let picked = one.chain(several);
        let picked = picked.filter_map(|(commit, before)| change(Some(*commit), Some(*before)));
        let picked = picked.collect();
        let sides = match head.kind {
            HeadKind::Rebase => references.pre_rebase_tip.zip(references.onto),
            HeadKind::Squash => references
                .squash_tip
                .zip(references.parents.first().copied()),
            _ => None,
        };
        Tip {
            kind: head.kind,
            auto: head.auto && is_clean,
            parents: references.parents.iter().map(|p| self.node(*p)).collect(),
            picked,
            reverted: change(references.reverted, references.reverted_parent),
            sides: sides.map(|(from, to)| [self.node(from), self.node(to)]),
        }
    }

    /// The history; `None` if it cannot be read.
    fn graph(&self) -> Option<&CommitGraph> {
        let load = || {
            let loaded = CommitGraph::load_all(self.repository, &self.tips);
            loaded.ok().map(Rc::new)
        };
        self.graph.get_or_init(load).as_deref()
    }
}

impl Past for Ledger<'_> {
    fn name(&self, node: Node) -> String {
        self.commit(node).to_string()[..10].to_owned()
    }

    fn is_recorded(&self, node: Node) -> bool {
        self.recorded.contains_key(&self.commit(node))
    }

    fn nearest(&self, node: Node) -> Option<Node> {
        let commit = self.commit(node);
        if self.is_recorded(node) {
            return Some(node);
        }
        if let Ok(revision) = self.repository.revision(commit)
            && let Some(same) = self.by_tree.get(&revision.tree.to_string())
        {
            return Some(self.node(*same));
        }
        let ancestors = self.repository.ancestors(commit).take(MOST_ANCESTORS);
        let found = ancestors
            .map_while(Result::ok)
            .find(|ancestor| self.recorded.contains_key(&ancestor.commit))?;
        Some(self.node(found.commit))
    }

    fn dominator(&self, a: Node, b: Node) -> Option<Node> {
        let (a, b) = (self.commit(a), self.commit(b));
        Some(self.node(self.graph()?.lowest_common(&a, &b)?))
    }

    fn between(&self, old: Node, new: Node) -> Vec<Node> {
        let (old, new) = (self.commit(old), self.commit(new));
        let commits = self.graph().map(|graph| graph.between(&old, &new));
        let commits = commits.unwrap_or_default().into_iter();
        commits.map(|commit| self.node(commit)).collect()
    }

    fn is_selected(&self, node: Node, test: &str) -> bool {
        let commit = self.commit(node);
        self.matrix(node)
            .is_none_or(|name| self.shelf.is_selected(&name, &commit, test))
    }

    fn is_available(&self, node: Node, test: &str) -> bool {
        self.matrix(node)
            .is_some_and(|name| self.shelf.tests(&name).available.contains(test))
    }

    fn available(&self, node: Node) -> Vec<String> {
        let tests = self.matrix(node).map(|name| self.shelf.tests(&name));
        tests.map_or_else(Vec::new, |tests| tests.available.iter().cloned().collect())
    }
}

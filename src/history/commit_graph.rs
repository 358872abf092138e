//! The history of some tips, loaded into memory.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::dominators::{Dag, Dominators};
use super::repository::Repository;
use super::written_graph::WrittenGraph;
use super::{CommitId, Result};

/// The ancestors of some tips, numbered so that parents come first.
pub struct CommitGraph {
    dag: Dag,
    dominators: OnceCell<Dominators>,
    ids: Vec<CommitId>,
    numbers: FxHashMap<CommitId, u32>,
    is_cut: bool,
}

impl CommitGraph {
    /// Reads the header of every ancestor of `tip` once.
    ///
    /// # Errors
    /// A commit that is here cannot be read.
    pub fn load(repository: &Repository, tip: CommitId) -> Result<CommitGraph> {
        CommitGraph::load_all(repository, &[tip])
    }

    /// Reads the header of every ancestor of `tips` once. Commits in git's commit-graph file
    /// are not read.
    ///
    /// # Errors
    /// A commit that is here cannot be read.
    pub fn load_all(repository: &Repository, tips: &[CommitId]) -> Result<CommitGraph> {
        let mut graph = CommitGraph {
            dag: Dag::new(),
            dominators: OnceCell::new(),
            ids: Vec::new(),
            numbers: FxHashMap::default(),
            is_cut: false,
        };
        let written = WrittenGraph::open(repository);
        let mut stack: Vec<(CommitId, Option<Vec<CommitId>>)> =
            tips.iter().map(|tip| (*tip, None)).collect();
        while let Some((commit, parents)) = stack.pop() {
            if graph.numbers.contains_key(&commit) {
                continue;
            }
            match parents {
                Some(parents) => graph.push(commit, &parents),
                None => {
                    let here = match written.as_ref().and_then(|it| it.parents(commit)) {
                        Some(parents) => parents,
                        None => {
                            let mut parents = repository.parents(&commit)?;
                            graph.is_cut |= !parents.missing.is_empty();
                            let missing = &parents.missing;
                            parents.ids.retain(|parent| !missing.contains(parent));
                            parents.ids
                        }
                    };
                    let first = here.clone();
                    stack.push((commit, Some(here)));
                    stack.extend(first.into_iter().map(|parent| (parent, None)));
                }
            }
        }
        Ok(graph)
    }

    fn push(&mut self, commit: CommitId, parents: &[CommitId]) {
        let numbers: Vec<u32> = parents.iter().map(|id| self.numbers[id]).collect();
        let number = self.dag.push(&numbers);
        self.ids.push(commit);
        self.numbers.insert(commit, number);
    }

    pub fn contains(&self, commit: &CommitId) -> bool {
        self.numbers.contains_key(commit)
    }

    /// `imd` of a commit of this graph. `None` if it has none, or if a shallow clone ends too
    /// early to tell.
    pub fn dominator(&self, commit: &CommitId) -> Option<CommitId> {
        if self.is_cut {
            return None;
        }
        let above = self.dag.dominator_of(*self.numbers.get(commit)?)?;
        Some(self.ids[above as usize])
    }

    /// `dom` of two commits of this graph [G 4.2.1]. `None` if they share none, or if a
    /// shallow clone ends too early to tell.
    pub fn lowest_common(&self, a: &CommitId, b: &CommitId) -> Option<CommitId> {
        if self.is_cut {
            return None;
        }
        let (a, b) = (*self.numbers.get(a)?, *self.numbers.get(b)?);
        let dominators = self.dominators.get_or_init(|| self.dag.dominators());
        let above = dominators.lowest_common(a, b)?;
        Some(self.ids[above as usize])
    }

    /// The commits of this graph that descend from `old` and lead to `new`, parents first:
    /// `old ≤* new` without `old`.
    pub fn between(&self, old: &CommitId, new: &CommitId) -> Vec<CommitId> {
        let (Some(old), Some(new)) = (self.numbers.get(old), self.numbers.get(new)) else {
            return Vec::new();
        };
        // Descendants have greater numbers, so no way to `old` leads through a smaller one.
        let mut above: BTreeSet<u32> = BTreeSet::new();
        let mut stack = vec![*new];
        while let Some(node) = stack.pop() {
            if node > *old && above.insert(node) {
                stack.extend(self.dag.parents(node));
            }
        }
        let mut descendants = BTreeSet::from([*old]);
        for node in above {
            if self
                .dag
                .parents(node)
                .iter()
                .any(|p| descendants.contains(p))
            {
                descendants.insert(node);
            }
        }
        descendants.remove(old);
        let commits = descendants.into_iter();
        commits.map(|node| self.ids[node as usize]).collect()
    }

    /// All commits of the graph, parents first.
    pub fn commits(&self) -> &[CommitId] {
        &self.ids
    }
}

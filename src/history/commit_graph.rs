//! The history of a tip, loaded into memory.

use rustc_hash::FxHashMap;

use super::dominators::Dag;
use super::repository::Repository;
use super::{CommitId, Result};

/// The ancestors of one tip, numbered so that parents come first.
pub struct CommitGraph {
    dag: Dag,
    ids: Vec<CommitId>,
    numbers: FxHashMap<CommitId, u32>,
    is_cut: bool,
}

impl CommitGraph {
    /// Reads the header of each ancestor of `tip` once.
    ///
    /// # Errors
    /// A commit that is here cannot be read.
    pub fn load(repository: &Repository, tip: CommitId) -> Result<CommitGraph> {
        let mut graph = CommitGraph {
            dag: Dag::new(),
            ids: Vec::new(),
            numbers: FxHashMap::default(),
            is_cut: false,
        };
        let mut stack = vec![(tip, None::<Vec<CommitId>>)];
        while let Some((commit, parents)) = stack.pop() {
            if graph.numbers.contains_key(&commit) {
                continue;
            }
            match parents {
                Some(parents) => graph.push(commit, &parents),
                None => {
                    let parents = repository.parents(&commit)?;
                    graph.is_cut |= !parents.missing.is_empty();
                    let mut here = parents.ids;
                    here.retain(|parent| !parents.missing.contains(parent));
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

    /// `imd` of a commit of this graph; `None` where there is none, or where
    /// a shallow clone ends too early to tell.
    pub fn dominator(&self, commit: &CommitId) -> Option<CommitId> {
        if self.is_cut {
            return None;
        }
        let above = self.dag.dominator_of(*self.numbers.get(commit)?)?;
        Some(self.ids[above as usize])
    }
}

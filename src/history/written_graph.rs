//! Reads git's commit-graph file, if there is one: parents and generation numbers without
//! reading commits.
//!
//! A generation number is greater than those of all ancestors. So a walk can visit only the
//! commits between a commit and its dominator, without numbering the whole history first.

use std::collections::BinaryHeap;

use gix_commitgraph::Graph;
use gix_hash::ObjectId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::repository::Repository;
use super::{CommitId, Result};

/// How many commits are visited for one dominator. If it is farther away, numbering the whole
/// history once is cheaper than looking up each commit.
const MOST_VISITED: usize = 5_000;

/// A commit-graph file, or a chain of them.
pub(super) struct WrittenGraph {
    graph: Graph,
}

impl WrittenGraph {
    /// `None` if git has written no file, if it cannot be read, and in a shallow clone, whose
    /// history may end earlier than in the file.
    pub(super) fn open(repository: &Repository) -> Option<WrittenGraph> {
        if repository.is_shallow() {
            return None;
        }
        let info = repository.git().commondir().join("objects/info");
        let graph = Graph::from_info_dir(&info, gix_hash::Kind::Sha1).ok()?;
        Some(WrittenGraph { graph })
    }

    /// The parents of a commit, in order; `None` if the file lacks it.
    pub(super) fn parents(&self, commit: CommitId) -> Option<Vec<CommitId>> {
        let found = self.graph.commit_by_id(ObjectId::Sha1(commit.0))?;
        let parents = found.iter_parents().map(|parent| {
            let bytes = self.graph.id_at(parent.ok()?).as_bytes();
            Some(CommitId(bytes.try_into().ok()?))
        });
        parents.collect()
    }

    /// `None` if the file lacks the commit, or its number.
    fn generation(&self, commit: CommitId) -> Option<u32> {
        let generation = self.graph.commit_by_id(ObjectId::Sha1(commit.0));
        let generation = generation?.generation();
        (generation > 0).then_some(generation)
    }

    /// The immediate dominator of a commit: `imd` of [G 4.2.1]. Visits the commits between the
    /// two, and reads commits that are newer than the file. The outer `None`: the file does
    /// not help, or the dominator is too far away. The inner `None`: there is none.
    ///
    /// # Errors
    /// A commit cannot be read.
    pub(super) fn dominator(
        &self,
        repository: &Repository,
        commit: CommitId,
    ) -> Result<Option<Option<CommitId>>> {
        let mut walk = Walk {
            written: self,
            repository,
            generations: FxHashMap::default(),
        };
        if walk.generation(commit)?.is_none() {
            return Ok(None);
        }
        let mut waiting = BinaryHeap::new();
        let mut seen = FxHashSet::default();
        let mut next = commit;
        while seen.len() < MOST_VISITED {
            let parents = walk.parents(next)?;
            if parents.is_empty() {
                return Ok(Some(None));
            }
            for parent in parents {
                if seen.insert(parent) {
                    let Some(generation) = walk.generation(parent)? else {
                        return Ok(None);
                    };
                    waiting.push((generation, parent));
                }
            }
            // The newest waiting commit is not an ancestor of another one.
            let Some((_, newest)) = waiting.pop() else {
                return Ok(Some(None));
            };
            if waiting.is_empty() {
                return Ok(Some(Some(newest)));
            }
            next = newest;
        }
        Ok(None)
    }
}

/// Parents and generations of commits, including those newer than the file.
struct Walk<'a> {
    written: &'a WrittenGraph,
    repository: &'a Repository,
    /// Of commits that the file lacks.
    generations: FxHashMap<CommitId, u32>,
}

impl Walk<'_> {
    fn parents(&self, commit: CommitId) -> Result<Vec<CommitId>> {
        match self.written.parents(commit) {
            Some(parents) => Ok(parents),
            None => Ok(self.repository.commit_header(commit)?.parents),
        }
    }

    /// `None` if the file has commits without numbers.
    fn generation(&mut self, commit: CommitId) -> Result<Option<u32>> {
        let mut stack = vec![commit];
        while let Some(last) = stack.last().copied() {
            let parents = match self.known(last) {
                Some(_) => Vec::new(),
                None if self.written.parents(last).is_some() => return Ok(None),
                None => self.repository.commit_header(last)?.parents,
            };
            let open = parents
                .iter()
                .filter(|parent| self.known(**parent).is_none());
            let open: Vec<CommitId> = open.copied().collect();
            if !open.is_empty() {
                stack.extend(open);
                continue;
            }
            if self.known(last).is_none() {
                let above = parents.iter().filter_map(|parent| self.known(*parent));
                let generation = above.max().unwrap_or(0).saturating_add(1);
                self.generations.insert(last, generation);
            }
            stack.pop();
        }
        Ok(self.known(commit))
    }

    fn known(&self, commit: CommitId) -> Option<u32> {
        let computed = self.generations.get(&commit).copied();
        computed.or_else(|| self.written.generation(commit))
    }
}

//! Repeats in memory the git command that may have made a commit.
//!
//! New blobs and trees go into an object store in memory, in front of the repository's own
//! store. So nothing is written to the repository.

use git2::{Commit, Index, Oid};

use crate::history::objects::{object_id, oid};
use crate::history::repository::Repository;
use crate::history::{CommitId, HistoryError, Result, TreeId, owner};

/// Above libgit2's loose (1) and packed (2) stores, so that writes go here.
const BEFORE_THE_DISK: i32 = 1000;

/// A second view of a repository. Writes to it stay in memory.
pub(super) struct Replayer {
    git: git2::Repository,
}

impl Replayer {
    pub(super) fn new(repository: &Repository) -> Result<Replayer> {
        // A merge names blobs of submodules and of partial clones that are missing here. A
        // check of them would make clean merges fail.
        git2::opts::strict_object_creation(false);
        let open = || -> std::result::Result<git2::Repository, git2::Error> {
            let git = owner::open(|| git2::Repository::open(repository.git().path()))?;
            git.odb()?.add_new_mempack_backend(BEFORE_THE_DISK)?;
            Ok(git)
        };
        let git = open().map_err(|error| {
            HistoryError::git("cannot open the repository to replay merges", &error)
        })?;
        Ok(Replayer { git })
    }

    /// The best common ancestors of `one` and a merge of `others`.
    pub(super) fn merge_bases(&self, one: CommitId, others: &[CommitId]) -> Result<Vec<CommitId>> {
        let mut ids = vec![oid(one.0)];
        ids.extend(others.iter().map(|other| oid(other.0)));
        match self.git.merge_bases_many(&ids) {
            Ok(bases) => Ok(bases.iter().map(|id| CommitId(object_id(*id))).collect()),
            Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(Vec::new()),
            Err(error) => Err(HistoryError::git(
                format!("cannot find merge bases of {one}"),
                &error,
            )),
        }
    }

    /// Whether `old` is `new` or an ancestor of it.
    pub(super) fn is_ancestor(&self, old: CommitId, new: CommitId) -> bool {
        old == new
            || self
                .git
                .graph_descendant_of(oid(new.0), oid(old.0))
                .unwrap_or(false)
    }

    /// The tree of merging all parents as `git merge` does. `None` after a conflict, or if an
    /// object is missing.
    pub(super) fn merge(&self, parents: &[CommitId]) -> Option<TreeId> {
        match parents {
            [ours, theirs] => {
                let (ours, theirs) = (self.commit(*ours)?, self.commit(*theirs)?);
                self.tree_of(self.git.merge_commits(&ours, &theirs, None))
            }
            _ => self.octopus(parents),
        }
    }

    /// Merges the other parents one by one into the first. Several bases at one step count as
    /// a conflict: git's own strategy then depends on its version.
    fn octopus(&self, parents: &[CommitId]) -> Option<TreeId> {
        let mut merged = TreeId(object_id(self.commit(*parents.first()?)?.tree_id()));
        for at in 1..parents.len() {
            let bases = self.merge_bases(parents[at], &parents[..at]).ok()?;
            let [base] = bases[..] else {
                return None;
            };
            let base = self.commit(base)?.tree().ok()?;
            let ours = self.git.find_tree(oid(merged.0)).ok()?;
            let theirs = self.commit(parents[at])?.tree().ok()?;
            merged = self.tree_of(self.git.merge_trees(&base, &ours, &theirs, None))?;
        }
        Some(merged)
    }

    /// The tree of picking `picked` onto `onto`. `mainline` counts from 1, and is 0 for a
    /// commit with one parent.
    pub(super) fn pick(&self, picked: CommitId, onto: CommitId, mainline: u32) -> Option<TreeId> {
        let (picked, onto) = (self.commit(picked)?, self.commit(onto)?);
        self.tree_of(self.git.cherrypick_commit(&picked, &onto, mainline, None))
    }

    /// The tree of picking `picked`, whose parent is `before`, onto a tree.
    pub(super) fn pick_onto(
        &self,
        picked: CommitId,
        before: CommitId,
        onto: TreeId,
    ) -> Option<TreeId> {
        let base = self.commit(before)?.tree().ok()?;
        let ours = self.git.find_tree(oid(onto.0)).ok()?;
        let theirs = self.commit(picked)?.tree().ok()?;
        self.tree_of(self.git.merge_trees(&base, &ours, &theirs, None))
    }

    /// The tree of reverting `reverted` on `onto`; `mainline` as in `pick`.
    pub(super) fn revert(
        &self,
        reverted: CommitId,
        onto: CommitId,
        mainline: u32,
    ) -> Option<TreeId> {
        let (reverted, onto) = (self.commit(reverted)?, self.commit(onto)?);
        self.tree_of(self.git.revert_commit(&reverted, &onto, mainline, None))
    }

    fn commit(&self, id: CommitId) -> Option<Commit<'_>> {
        self.git.find_commit(oid(id.0)).ok()
    }

    /// The tree of a merged index, unless it holds conflicts.
    fn tree_of(&self, merged: std::result::Result<Index, git2::Error>) -> Option<TreeId> {
        let mut index = merged.ok().filter(|index| !index.has_conflicts())?;
        let tree: Oid = index.write_tree_to(&self.git).ok()?;
        Some(TreeId(object_id(tree)))
    }

    /// The commit that a reference points to.
    pub(super) fn reference(&self, name: &str) -> Option<CommitId> {
        let id = self.git.find_reference(name).ok()?.peel_to_commit().ok()?;
        Some(CommitId(object_id(id.id())))
    }

    /// Whether a reference under `refs/` whose name contains `part` points to the commit.
    pub(super) fn is_named(&self, commit: CommitId, part: &str) -> bool {
        let Ok(references) = self.git.references_glob(&format!("refs/*{part}*")) else {
            return false;
        };
        references
            .flatten()
            .any(|reference| reference.target() == Some(oid(commit.0)))
    }
}

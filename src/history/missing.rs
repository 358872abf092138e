//! Finds what a clone lacks: commits behind the edge of a shallow history, and objects that a
//! filter left out. Only local objects are read.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use super::delta::pairs;
use super::objects::{ObjectId, object_id, oid};
use super::repository::Repository;
use super::{CommitId, Revision, TreeId};
use crate::matrix::Mode;

impl Repository {
    /// Whether the commit of this name is here.
    pub fn has_commit(&self, name: &str) -> bool {
        name.parse()
            .is_ok_and(|id: CommitId| self.commit_header(id).is_ok())
    }

    /// A recorded commit with its tree. Sometimes the tree is here but the commit is not, for
    /// example that of a test merge or a squashed branch.
    pub fn recorded(&self, commit: &str, tree: &str) -> Option<Revision> {
        if let Ok(found) = self.resolve(commit) {
            return Some(found);
        }
        let revision = Revision {
            commit: commit.parse().ok()?,
            tree: tree.parse().ok()?,
        };
        self.has_object(revision.tree.0).then_some(revision)
    }

    /// The parents of a commit that are here, and for a merge also the commits at which they
    /// parted.
    pub fn sides_of(&self, commit: CommitId) -> Vec<CommitId> {
        let parents = self.parents(&commit).map(|parents| parents.ids);
        let mut sides = parents.unwrap_or_default();
        let names: Vec<git2::Oid> = sides.iter().map(|parent| oid(parent.0)).collect();
        if names.len() > 1
            && let Ok(bases) = self.git().merge_bases_many(&names)
        {
            sides.extend(bases.iter().map(|base| CommitId(object_id(*base))));
        }
        sides
    }

    /// The trees of these commits that are missing, only the outermost ones.
    pub fn missing_trees(&self, commits: &[CommitId]) -> Vec<String> {
        let mut seen = FxHashSet::default();
        let mut missing = BTreeSet::new();
        for commit in commits {
            if let Ok(header) = self.commit_header(*commit) {
                self.look_below(header.tree.0, &mut seen, &mut missing);
            }
        }
        names(missing)
    }

    fn look_below(
        &self,
        tree: ObjectId,
        seen: &mut FxHashSet<ObjectId>,
        missing: &mut BTreeSet<ObjectId>,
    ) {
        if !seen.insert(tree) {
            return;
        }
        match self.tree(tree) {
            Ok(items) => {
                for item in items.iter().filter(|item| item.mode.is_none()) {
                    self.look_below(item.id, seen, missing);
                }
            }
            Err(_) => {
                missing.insert(tree);
            }
        }
    }

    /// At most `most` missing blobs by which these commits differ from `head`. Missing trees
    /// are skipped.
    pub fn missing_blobs(&self, head: CommitId, commits: &[CommitId], most: usize) -> Vec<String> {
        let mut missing = BTreeSet::new();
        let Ok(tip) = self.commit_header(head) else {
            return Vec::new();
        };
        for commit in commits {
            if let Ok(header) = self.commit_header(*commit) {
                let trees = (tip.tree.0, header.tree.0);
                self.blobs_between(trees, Sides::Both, &mut missing);
            }
        }
        let missing = missing.into_iter().take(most).collect();
        names(missing)
    }

    /// At most `most` missing blobs of `head` that the other commit does not have. They belong
    /// to files that a sparse checkout leaves out.
    pub fn missing_own_blobs(&self, head: CommitId, than: CommitId, most: usize) -> Vec<String> {
        let mut missing = BTreeSet::new();
        if let (Ok(head), Ok(than)) = (self.commit_header(head), self.commit_header(than)) {
            self.blobs_between((head.tree.0, than.tree.0), Sides::First, &mut missing);
        }
        names(missing.into_iter().take(most).collect())
    }

    fn blobs_between(
        &self,
        (a, b): (ObjectId, ObjectId),
        sides: Sides,
        missing: &mut BTreeSet<ObjectId>,
    ) {
        if a == b {
            return;
        }
        let (Ok(a), Ok(b)) = (self.tree(a), self.tree(b)) else {
            return;
        };
        for (first, second) in pairs(&a, &b) {
            if let (Some(first), Some(second)) = (first, second)
                && first.mode.is_none()
                && second.mode.is_none()
            {
                self.blobs_between((first.id, second.id), sides, missing);
                continue;
            }
            let second = second.filter(|_| sides == Sides::Both);
            let files = [first, second].into_iter().flatten();
            let blobs = files.filter(|item| item.mode.is_some_and(|mode| mode != Mode::Gitlink));
            missing.extend(blobs.map(|blob| blob.id).filter(|id| !self.has_object(*id)));
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sides {
    First,
    Both,
}

fn names(ids: BTreeSet<ObjectId>) -> Vec<String> {
    ids.into_iter().map(|id| TreeId(id).to_string()).collect()
}

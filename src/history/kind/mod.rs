//! Tells which git command made a revision [G 4.2.3].
//!
//! A kind that promises something about the tree is given only after an exact replay. Claims
//! in messages only tell where to look.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod claims;
mod kin;
mod picks;
mod replay;
mod rules;

pub(crate) use crate::select::HeadKind;
pub use rules::Classifier;

use super::{CommitId, TreeId};

/// The revisions that belong to a kind; empty if they do not apply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct References {
    pub parents: Vec<CommitId>,
    pub merge_bases: Vec<CommitId>,
    /// The immediate dominator, for merges.
    pub imd: Option<CommitId>,
    pub picked: Option<CommitId>,
    pub picked_parent: Option<CommitId>,
    /// Instead of `picked` for several picks that were squashed into one commit: the commits
    /// in the order of the picks.
    pub all_picked: Vec<CommitId>,
    /// The parent of each of them.
    pub all_picked_parents: Vec<CommitId>,
    pub reverted: Option<CommitId>,
    pub reverted_parent: Option<CommitId>,
    pub squash_tip: Option<CommitId>,
    pub pre_rebase_tip: Option<CommitId>,
    pub onto: Option<CommitId>,
    /// Another revision with the same tree. Its results hold here.
    pub same_tree: Option<CommitId>,
}

/// A revision and how it came to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub commit: CommitId,
    pub tree: TreeId,
    pub kind: HeadKind,
    /// Whether a replay gave exactly this tree and so proved the kind.
    pub auto: bool,
    pub references: References,
    /// The reasons for the verdict, one sentence each.
    pub evidence: Vec<String>,
}

/// What an event tells in addition to the history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// Where the branch pointed before the event.
    pub before: Option<CommitId>,
    /// The tip of the pull request that was merged or is being checked.
    pub pr_head: Option<CommitId>,
}

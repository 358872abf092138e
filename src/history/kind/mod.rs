//! By which git command a revision came to be [G 4.2.3].
//!
//! A kind that promises something about the tree is given only after an
//! exact replay; what messages claim decides where to look, nothing else.

mod claims;
mod kin;
mod picks;
mod replay;
mod rules;

use super::{CommitId, TreeId};

pub use rules::Classifier;

/// The command that made a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HeadKind {
    Commit,
    /// A merge whose tree no clean merge of its parents gives.
    Merge,
    /// A merge whose tree is that of a clean merge.
    Automerge,
    Rebase,
    CherryPick,
    Revert,
    Squash,
    Amend,
    /// Several commits that arrived at once; known from an event alone.
    FastForward,
    /// One parent, and its tree.
    Empty,
    Root,
    /// History that is needed to tell is missing.
    Unknown,
}

impl HeadKind {
    /// The word used in JSON and for people.
    pub fn word(self) -> &'static str {
        match self {
            HeadKind::Commit => "commit",
            HeadKind::Merge => "merge",
            HeadKind::Automerge => "automerge",
            HeadKind::Rebase => "rebase",
            HeadKind::CherryPick => "cherry-pick",
            HeadKind::Revert => "revert",
            HeadKind::Squash => "squash",
            HeadKind::Amend => "amend",
            HeadKind::FastForward => "fast-forward",
            HeadKind::Empty => "empty",
            HeadKind::Root => "root",
            HeadKind::Unknown => "unknown",
        }
    }
}

/// The revisions that a kind speaks of; empty where they do not apply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct References {
    pub parents: Vec<CommitId>,
    pub merge_bases: Vec<CommitId>,
    /// The immediate dominator, for merges.
    pub imd: Option<CommitId>,
    pub picked: Option<CommitId>,
    pub picked_parent: Option<CommitId>,
    /// In place of `picked` where several picks were squashed into one commit:
    /// the commits in the order in which they were picked.
    pub all_picked: Vec<CommitId>,
    /// The parent of each of them.
    pub all_picked_parents: Vec<CommitId>,
    pub reverted: Option<CommitId>,
    pub reverted_parent: Option<CommitId>,
    pub squash_tip: Option<CommitId>,
    pub pre_rebase_tip: Option<CommitId>,
    pub onto: Option<CommitId>,
    /// Another revision with the same tree, whose results hold here.
    pub same_tree: Option<CommitId>,
}

/// A revision and how it came to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub commit: CommitId,
    pub tree: TreeId,
    pub kind: HeadKind,
    /// Whether an exact, tree-equal replay proved the kind.
    pub auto: bool,
    pub references: References,
    /// What the verdict rests on, a sentence each.
    pub evidence: Vec<String>,
}

/// What an event tells beside the history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// Where the branch pointed before the event.
    pub before: Option<CommitId>,
    /// The tip of the pull request that was merged or is checked.
    pub pr_head: Option<CommitId>,
}

//! What strategies may know of a history.

/// The number of a revision; numbers mean nothing beyond equality.
pub(crate) type Node = u32;

/// How a revision came to be [G 4.2.3].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HeadKind {
    Commit,
    /// A merge whose tree is not that of a clean merge of its parents.
    Merge,
    /// A merge whose tree is that of a clean merge.
    Automerge,
    Rebase,
    CherryPick,
    Revert,
    Squash,
    Amend,
    /// Several commits that arrived at once. Only an event can tell.
    FastForward,
    /// A commit with one parent and the same tree.
    Empty,
    Root,
    /// A part of the history that is needed to tell is missing.
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

/// The revision h that tests are selected for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tip {
    pub kind: HeadKind,
    /// Whether a tree-equal replay proved the kind, and nothing was edited
    /// since.
    pub auto: bool,
    /// pred(h).
    pub parents: Vec<Node>,
    /// The commit that h picked, with the parent that it was compared with;
    /// several where their picks were squashed into one commit.
    pub picked: Vec<Change>,
    /// The commit that h reverted, likewise.
    pub reverted: Option<Change>,
    /// The two revisions whose merge would give h: of a rebase, the tip
    /// before it and what it went onto; of a squash, the tip and the parent.
    pub sides: Option<[Node; 2]>,
}

/// A commit as a change: between one of its parents and itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub commit: Node,
    pub before: Node,
    /// Whether the commit has other parents.
    pub is_merge: bool,
}

/// The recorded past of a history.
pub(crate) trait Past {
    /// The revision's name for people.
    fn name(&self, node: Node) -> String;

    /// Whether a matrix of this very revision is stored.
    fn is_recorded(&self, node: Node) -> bool;

    /// The revision itself if it is recorded, else the nearest ancestor that
    /// is.
    fn nearest(&self, node: Node) -> Option<Node>;

    /// dom(a, b) [G 4.2.1]: the immediate dominator of a merge of both;
    /// `None` if they share none, or it cannot be told.
    fn dominator(&self, a: Node, b: Node) -> Option<Node>;

    /// old ≤* new without `old`: all revisions that descend from `old` and
    /// are `new` or ancestors of it.
    fn between(&self, old: Node, new: Node) -> Vec<Node>;

    /// Whether `test` is in S_sel(node); only asked of recorded revisions.
    fn is_selected(&self, node: Node, test: &str) -> bool;

    /// Whether `test` is in A(node); only asked of recorded revisions.
    fn is_available(&self, node: Node, test: &str) -> bool;

    /// A(node); only asked of recorded revisions.
    fn available(&self, node: Node) -> Vec<String>;
}

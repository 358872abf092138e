//! The strategies by name.

use std::fmt;

/// A rule that computes which tests are selected.
///
/// `tts` is [`tts`](super::tts::tts), `pred` a revision's parents, `imd` its immediate
/// dominator, `A(n)` the tests available at n. The formulas are those of
/// [G 4.2.3]; `docs/theory.md` tells what they mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Strategy {
    /// `memo`, the default.
    #[default]
    Auto,
    /// A(h): run everything.
    All,
    /// tts(pred(h), h) (4.6), with the nearest recorded ancestor as pred(h).
    Commit,
    /// A test is skipped iff some stored row of it, from any revision, holds
    /// at h: S^|N| of [G 4.2.3].
    Memo,
    /// S¹: tts(imd(h), h) (4.7).
    MergeDom,
    /// Sᵏ: ∩ over the parents p of tts(p, h) (4.8).
    MergeParents,
    /// S⁰, corrected: (4.10) ∪ (4.11), and whatever differs between h and the
    /// parent whose results are taken.
    MergeHistory,
    /// S¹ of a merge that would give the same tree (4.12).
    RebaseDom,
    /// S² of a merge that would give the same tree (4.13).
    RebaseParents,
    /// S⁰ of a merge that would give the same tree (4.14), corrected.
    RebaseHistory,
    /// S¹: tts(pred(h), h).
    CherryParent,
    /// S⁰ (4.15), corrected.
    CherryHistory,
    /// S¹: tts(pred(h), h).
    RevertParent,
    /// S⁰ (4.16), corrected.
    RevertHistory,
    /// The heuristic of [G 4.4], which chooses among the above.
    Thesis,
}

impl Strategy {
    pub const ALL: [Strategy; 15] = [
        Strategy::Auto,
        Strategy::All,
        Strategy::Commit,
        Strategy::Memo,
        Strategy::MergeDom,
        Strategy::MergeParents,
        Strategy::MergeHistory,
        Strategy::RebaseDom,
        Strategy::RebaseParents,
        Strategy::RebaseHistory,
        Strategy::CherryParent,
        Strategy::CherryHistory,
        Strategy::RevertParent,
        Strategy::RevertHistory,
        Strategy::Thesis,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Strategy::Auto => "auto",
            Strategy::All => "all",
            Strategy::Commit => "commit",
            Strategy::Memo => "memo",
            Strategy::MergeDom => "merge-dom",
            Strategy::MergeParents => "merge-parents",
            Strategy::MergeHistory => "merge-history",
            Strategy::RebaseDom => "rebase-dom",
            Strategy::RebaseParents => "rebase-parents",
            Strategy::RebaseHistory => "rebase-history",
            Strategy::CherryParent => "cherry-parent",
            Strategy::CherryHistory => "cherry-history",
            Strategy::RevertParent => "revert-parent",
            Strategy::RevertHistory => "revert-history",
            Strategy::Thesis => "thesis",
        }
    }

    /// Whether it matters that a commit was picked or rebased where neither
    /// its message nor an event says so.
    pub fn asks_for_copies(self) -> bool {
        matches!(
            self,
            Strategy::RebaseDom
                | Strategy::RebaseParents
                | Strategy::RebaseHistory
                | Strategy::CherryParent
                | Strategy::CherryHistory
                | Strategy::Thesis
        )
    }

    /// One line for the help.
    pub fn about(self) -> &'static str {
        match self {
            Strategy::Auto => "The most precise strategy that is safe here",
            Strategy::All => "Every test",
            Strategy::Commit => {
                "Tests whose dependencies changed since the nearest recorded commit"
            }
            Strategy::Memo => "Tests that no recorded result, from any commit, vouches for",
            Strategy::MergeDom => "At merges: compares with the immediate dominator",
            Strategy::MergeParents => "At merges: compares with every parent",
            Strategy::MergeHistory => "At automerges: from what was selected on the branches",
            Strategy::RebaseDom => "At rebases: compares with where both sides part",
            Strategy::RebaseParents => "At rebases: compares with both sides",
            Strategy::RebaseHistory => "At rebases: from what was selected on both sides",
            Strategy::CherryParent => "At cherry-picks: compares with the parent",
            Strategy::CherryHistory => "At cherry-picks: reuses results of the picked commit",
            Strategy::RevertParent => "At reverts: compares with the parent",
            Strategy::RevertHistory => "At reverts: reuses results from before the reverted commit",
            Strategy::Thesis => "Chooses among these by the kind of the commit",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

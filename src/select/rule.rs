//! Which stored results may be the proof that a test need not run.

use super::past::{Node, Past};

/// What a plan comes to: for each test, whose results may be taken for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// A(h): nobody's.
    All,
    /// Those of the nearest recorded revision: tts(pred(h), h) (4.6).
    Nearest,
    /// Those of any of these: ∩ over n of tts(n, h). With one n (4.7) and
    /// (4.12), with all parents (4.8), with both sides (4.13).
    Any(Vec<Node>),
    /// Those of the one side on which the test was selected: (4.10), (4.11),
    /// (4.14).
    Merge(MergeHistory),
    /// Those of the copied change, or of the parent: (4.15), (4.16).
    Change(ChangeHistory),
    /// Those of any revision: S^|N|. The nodes are asked in any case, and
    /// first.
    Memo(Vec<Node>),
}

/// What was selected along the branches of a merge, real or supposed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MergeHistory {
    /// The parents of the merge.
    pub parents: Vec<Node>,
    /// For each pair p, p' of different parents, d = dom(p, p'), and the
    /// revisions of d ≤* p \ {d} and d ≤* p' \ {d}.
    pub pairs: Vec<Pair>,
}

/// Two parents of a merge and how they came there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub one: Branch,
    pub other: Branch,
}

/// A parent of a merge with the revisions that lead to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Branch {
    pub end: Node,
    pub revisions: Vec<Node>,
}

/// What was selected around a change that is repeated or undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChangeHistory {
    /// n_cp or n_re, and the parent that it is compared with.
    pub commit: Node,
    pub before: Node,
    /// p, on which the change is made.
    pub onto: Node,
    /// d = dom(p, before).
    pub dominator: Node,
    /// The revisions of d ≤* p \ {d} and d ≤* before \ {d}, without the
    /// commit itself.
    pub elsewhere: Vec<Node>,
    pub is_revert: bool,
}

/// Whose results may be taken for one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sources {
    Nearest,
    /// The first whose row still holds; if empty, the test runs.
    Nodes(Vec<Node>),
    /// These, then every other stored row.
    Every(Vec<Node>),
}

impl Rule {
    /// Every revision whose results can be asked for.
    pub(crate) fn nodes(&self) -> Vec<Node> {
        match self {
            Rule::All | Rule::Nearest => Vec::new(),
            Rule::Any(nodes) | Rule::Memo(nodes) => nodes.clone(),
            Rule::Merge(merge) => merge.parents.clone(),
            Rule::Change(change) => {
                let source = if change.is_revert {
                    change.before
                } else {
                    change.commit
                };
                vec![change.onto, source]
            }
        }
    }

    /// Whether the rule rests on recorded selections.
    pub(crate) fn is_history(&self) -> bool {
        matches!(self, Rule::Merge(_) | Rule::Change(_))
    }

    /// Whose results may be taken for `test`.
    ///
    /// The history rules as published stop here: a test with a source is left
    /// out. That is unsafe, because what a test depends on changes along a
    /// branch. Corrected, the test's row at the source must also hold at h.
    pub(crate) fn sources(&self, test: &str, past: &impl Past) -> Sources {
        match self {
            Rule::All => Sources::Nodes(Vec::new()),
            Rule::Nearest => Sources::Nearest,
            Rule::Any(nodes) => Sources::Nodes(nodes.clone()),
            Rule::Memo(nodes) => Sources::Every(nodes.clone()),
            Rule::Merge(merge) => Sources::Nodes(merge.sources(test, past)),
            Rule::Change(change) => Sources::Nodes(Vec::from_iter(change.source(test, past))),
        }
    }
}

impl MergeHistory {
    fn sources(&self, test: &str, past: &impl Past) -> Vec<Node> {
        if self.is_new(test, past) || self.is_affected(test, past) {
            return Vec::new();
        }
        let is_untouched_elsewhere = |parent: &Node| {
            self.pairs.iter().all(|pair| match *parent {
                end if end == pair.one.end => !pair.other.selected(test, past),
                end if end == pair.other.end => !pair.one.selected(test, past),
                _ => true,
            })
        };
        let parents = self.parents.iter().copied();
        parents.filter(is_untouched_elsewhere).collect()
    }

    /// S_aff (4.10): selected on two branches.
    fn is_affected(&self, test: &str, past: &impl Past) -> bool {
        self.pairs
            .iter()
            .any(|pair| pair.one.selected(test, past) && pair.other.selected(test, past))
    }

    /// S_new (4.11): not available on all branches.
    pub(crate) fn is_new(&self, test: &str, past: &impl Past) -> bool {
        !self.parents.iter().all(|p| past.is_available(*p, test))
    }
}

impl Branch {
    fn selected(&self, test: &str, past: &impl Past) -> bool {
        self.revisions.iter().any(|n| past.is_selected(*n, test))
    }
}

impl ChangeHistory {
    /// A test that the change selected takes the result of the side that has
    /// (or, reverted, lacks) the change, unless something else on the way
    /// selected it too; another test takes that of the parent.
    fn source(&self, test: &str, past: &impl Past) -> Option<Node> {
        let appeared = |old, new| past.is_available(new, test) && !past.is_available(old, test);
        // What the change brings with it: A(n_cp) \ A(n'_cp), and for a revert
        // what it had deleted, A(p') \ A(n_re).
        let is_brought = match self.is_revert {
            false => appeared(self.before, self.commit),
            true => appeared(self.commit, self.before),
        };
        if is_brought || appeared(self.dominator, self.onto) {
            return None;
        }
        if !past.is_selected(self.commit, test) {
            return Some(self.onto);
        }
        let is_touched = self.elsewhere.iter().any(|n| past.is_selected(*n, test));
        let source = match self.is_revert {
            false => self.commit,
            true => self.before,
        };
        (!is_touched).then_some(source)
    }
}

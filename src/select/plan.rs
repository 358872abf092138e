//! From the name of a strategy and the head's kind to a rule; a strategy that
//! lacks what it needs gives way to the next safe one, and says why.

use super::Strategy;
use super::past::{Change, HeadKind, Node, Past, Tip};
use super::rule::{Branch, ChangeHistory, MergeHistory, Pair, Rule};
use crate::count::counted;

/// What is to be done, and how it came to that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The strategy whose formula is computed.
    pub used: Strategy,
    pub rule: Rule,
    pub fallbacks: Vec<Fallback>,
    /// Choices and stand-ins that people may want to know.
    pub notes: Vec<String>,
}

/// One strategy gave way to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fallback {
    pub from: Strategy,
    pub to: Strategy,
    pub why: String,
    /// Whether that is so for every head of its kind, and nothing is amiss.
    pub is_by_kind: bool,
}

impl std::fmt::Display for Fallback {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} instead of {}: {}", self.to, self.from, self.why)
    }
}

/// When the heuristic of [G 4.4] finds tests *many* and branches *short*; the
/// thesis names no numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Thresholds {
    /// From this many tests on that not all parents have, comparing with the
    /// parents is worth it.
    pub many_new_tests: u32,
    /// Up to this many commits on the longest branch since the dominator, one
    /// comparison with the dominator will do.
    pub short_branches: u32,
}

const THRESHOLDS: Thresholds = Thresholds {
    many_new_tests: 10,
    short_branches: 3,
};

/// Why a strategy cannot be used here, and which is tried next.
struct Lacks {
    next: Strategy,
    why: String,
    is_by_kind: bool,
}

impl Lacks {
    fn then<T>(next: Strategy, why: impl Into<String>) -> Result<T, Lacks> {
        Err(Lacks {
            next,
            why: why.into(),
            is_by_kind: false,
        })
    }

    /// The strategy is for heads of another kind.
    fn by_kind<T>(next: Strategy, why: impl Into<String>) -> Result<T, Lacks> {
        Err(Lacks {
            next,
            why: why.into(),
            is_by_kind: true,
        })
    }
}

/// What `strategy` comes to at `tip`.
pub(crate) fn plan(strategy: Strategy, tip: &Tip, past: &impl Past) -> Plan {
    plan_with(strategy, tip, past, &THRESHOLDS)
}

/// The same with other thresholds.
pub(super) fn plan_with(
    strategy: Strategy,
    tip: &Tip,
    past: &impl Past,
    thresholds: &Thresholds,
) -> Plan {
    let mut planner = Planner {
        tip,
        past,
        notes: Vec::new(),
    };
    let mut used = match strategy {
        Strategy::Auto => Strategy::Memo,
        Strategy::Thesis => planner.thesis(thresholds),
        other => other,
    };
    let mut fallbacks = Vec::new();
    let rule = loop {
        match planner.rule(used) {
            Ok(rule) => break rule,
            Err(Lacks {
                next,
                why,
                is_by_kind,
            }) => {
                fallbacks.push(Fallback {
                    from: used,
                    to: next,
                    why,
                    is_by_kind,
                });
                used = next;
            }
        }
    };
    Plan {
        used,
        rule,
        fallbacks,
        notes: planner.notes,
    }
}

struct Planner<'a, P> {
    tip: &'a Tip,
    past: &'a P,
    notes: Vec<String>,
}

impl<P: Past> Planner<'_, P> {
    fn rule(&mut self, strategy: Strategy) -> Result<Rule, Lacks> {
        match strategy {
            Strategy::All => Ok(Rule::All),
            Strategy::Commit => Ok(Rule::Nearest),
            Strategy::Auto | Strategy::Memo => {
                let parents = self.tip.parents.iter();
                let parents = parents.filter_map(|p| self.past.nearest(*p));
                // What the other strategies would ask, so that they are never
                // more precise.
                let sides = self.tip.sides.into_iter().flatten();
                let picked = self.tip.picked.iter().map(|change| change.commit);
                let reverted = self.tip.reverted.map(|change| change.before);
                let more = sides.chain(picked).chain(reverted);
                let more = more.filter(|node| self.past.is_recorded(*node));
                Ok(Rule::Memo(distinct(parents.chain(more).collect())))
            }
            // The heuristic resolves to one of the others before this.
            Strategy::Thesis => Ok(Rule::Nearest),
            Strategy::MergeDom => {
                let parents = self.merge_parents()?;
                self.by_dominator(&parents, Strategy::MergeParents)
            }
            Strategy::MergeParents => {
                let parents = self.merge_parents()?;
                self.by_each(&parents)
            }
            Strategy::MergeHistory => {
                let parents = self.merge_parents()?;
                if !(self.tip.kind == HeadKind::Automerge && self.tip.auto) {
                    let why = "the merge was edited by hand, or cannot be replayed";
                    return Lacks::by_kind(Strategy::MergeParents, why);
                }
                self.by_history(&parents, Strategy::MergeParents)
            }
            Strategy::RebaseDom => {
                let sides = self.sides()?;
                self.by_dominator(&sides, Strategy::RebaseParents)
            }
            Strategy::RebaseParents => {
                let sides = self.sides()?;
                self.by_each(&sides)
            }
            Strategy::RebaseHistory => {
                let sides = self.sides()?;
                if !self.tip.auto {
                    let why = "commits were edited while they were rebased";
                    return Lacks::by_kind(Strategy::RebaseParents, why);
                }
                self.by_history(&sides, Strategy::RebaseParents)
            }
            Strategy::CherryParent => {
                self.picked()?;
                self.by_each(&self.tip.parents)
            }
            Strategy::CherryHistory => {
                let [picked] = self.picked()? else {
                    let why = "several picks were squashed: between them nothing was selected";
                    return Lacks::by_kind(Strategy::CherryParent, why);
                };
                self.by_change(*picked, false, Strategy::CherryParent)
            }
            Strategy::RevertParent => {
                self.reverted()?;
                self.by_each(&self.tip.parents)
            }
            Strategy::RevertHistory => {
                let reverted = self.reverted()?;
                self.by_change(reverted, true, Strategy::RevertParent)
            }
        }
    }

    fn merge_parents(&self) -> Result<Vec<Node>, Lacks> {
        match self.tip.parents.len() {
            0 | 1 => Lacks::by_kind(Strategy::Commit, "the head is no merge"),
            _ => Ok(self.tip.parents.clone()),
        }
    }

    fn sides(&self) -> Result<[Node; 2], Lacks> {
        let why = "the tip before the rebase is not known";
        self.tip
            .sides
            .map_or_else(|| Lacks::then(Strategy::Commit, why), Ok)
    }

    fn picked(&self) -> Result<&[Change], Lacks> {
        match self.tip.picked.is_empty() {
            true => Lacks::by_kind(Strategy::Commit, "the head is no proven cherry-pick"),
            false => Ok(&self.tip.picked),
        }
    }

    fn reverted(&self) -> Result<Change, Lacks> {
        let why = "the head is no proven revert";
        let reverted = self.tip.reverted;
        reverted.map_or_else(|| Lacks::by_kind(Strategy::Commit, why), Ok)
    }

    /// tts(imd, h) (4.7), (4.12).
    fn by_dominator(&mut self, ends: &[Node], next: Strategy) -> Result<Rule, Lacks> {
        let Some(imd) = self.common_dominator(ends) else {
            return Lacks::then(next, "the immediate dominator is not known");
        };
        let Some(node) = self.past.nearest(imd) else {
            let why = format!("nothing up to the dominator {} is recorded", self.name(imd));
            return Lacks::then(next, why);
        };
        self.note_stand_in(imd, node);
        Ok(Rule::Any(vec![node]))
    }

    /// ∩ over n of tts(n, h) (4.8), (4.13).
    fn by_each(&mut self, nodes: &[Node]) -> Result<Rule, Lacks> {
        let mut asked = Vec::new();
        for node in nodes {
            match self.past.nearest(*node) {
                Some(there) => {
                    self.note_stand_in(*node, there);
                    asked.push(there);
                }
                None => {
                    let name = self.name(*node);
                    self.notes
                        .push(format!("nothing up to {name} is recorded: it is not asked"));
                }
            }
        }
        match asked.is_empty() {
            true => Lacks::then(Strategy::Commit, "no parent or ancestor of one is recorded"),
            false => Ok(Rule::Any(distinct(asked))),
        }
    }

    /// (4.10) and (4.11), (4.14).
    fn by_history(&mut self, parents: &[Node], next: Strategy) -> Result<Rule, Lacks> {
        match self.merge_history(parents) {
            Ok(history) => Ok(Rule::Merge(history)),
            Err(why) => Lacks::then(next, why),
        }
    }

    fn merge_history(&self, parents: &[Node]) -> Result<MergeHistory, String> {
        let parents = distinct(parents.to_vec());
        let mut pairs = Vec::new();
        for (at, one) in parents.iter().enumerate() {
            for other in &parents[at + 1..] {
                // Never the merge base: that is unsafe (theorem 3).
                let Some(dominator) = self.past.dominator(*one, *other) else {
                    return Err("the dominator of the branches is not known".to_owned());
                };
                pairs.push(Pair {
                    one: self.branch(dominator, *one)?,
                    other: self.branch(dominator, *other)?,
                });
            }
        }
        Ok(MergeHistory { parents, pairs })
    }

    /// The revisions from `old` to `end`, of each of which the selection must
    /// be recorded.
    fn branch(&self, old: Node, end: Node) -> Result<Branch, String> {
        let revisions = self.past.between(old, end);
        self.require(revisions.iter().chain([&end]))?;
        Ok(Branch { end, revisions })
    }

    fn require<'n>(&self, nodes: impl IntoIterator<Item = &'n Node>) -> Result<(), String> {
        let missing = nodes.into_iter().find(|n| !self.past.is_recorded(**n));
        match missing {
            Some(node) => Err(format!(
                "what was selected at {} is not recorded",
                self.name(*node)
            )),
            None => Ok(()),
        }
    }

    /// (4.15), (4.16).
    fn by_change(
        &mut self,
        change: Change,
        is_revert: bool,
        next: Strategy,
    ) -> Result<Rule, Lacks> {
        match self.change_history(change, is_revert) {
            Ok(history) => Ok(Rule::Change(history)),
            Err(why) => Lacks::then(next, why),
        }
    }

    fn change_history(&self, change: Change, is_revert: bool) -> Result<ChangeHistory, String> {
        let [onto] = self.tip.parents[..] else {
            return Err("the head has not one parent".to_owned());
        };
        if !self.tip.auto {
            return Err("the change was edited".to_owned());
        }
        if change.is_merge {
            return Err(format!("{} is a merge", self.name(change.commit)));
        }
        let Some(dominator) = self.past.dominator(onto, change.before) else {
            return Err("the dominator of the branches is not known".to_owned());
        };
        let mut elsewhere = self.past.between(dominator, onto);
        elsewhere.extend(self.past.between(dominator, change.before));
        // A reverted commit lies on the way to the parent; as printed, (4.16)
        // would find each test that it selected a second time there, and
        // figure 4.5 says otherwise.
        elsewhere.retain(|node| *node != change.commit);
        let elsewhere = distinct(elsewhere);
        let ends = [change.commit, change.before, onto, dominator];
        self.require(elsewhere.iter().chain(&ends))?;
        Ok(ChangeHistory {
            commit: change.commit,
            before: change.before,
            onto,
            dominator,
            elsewhere,
            is_revert,
        })
    }

    /// The heuristic of [G 4.4], for merges and, by the formulas that belong
    /// to them, for the other commands.
    fn thesis(&mut self, thresholds: &Thresholds) -> Strategy {
        let merge = [
            Strategy::MergeDom,
            Strategy::MergeParents,
            Strategy::MergeHistory,
        ];
        let rebase = [
            Strategy::RebaseDom,
            Strategy::RebaseParents,
            Strategy::RebaseHistory,
        ];
        if !self.tip.picked.is_empty() {
            return match self.tip.picked[..] {
                [picked] if self.change_history(picked, false).is_ok() => Strategy::CherryHistory,
                _ => Strategy::CherryParent,
            };
        }
        if let Some(reverted) = self.tip.reverted {
            return match self.change_history(reverted, true) {
                Ok(_) => Strategy::RevertHistory,
                Err(_) => Strategy::RevertParent,
            };
        }
        if self.tip.parents.len() > 1 {
            return self.thesis_merge(&self.tip.parents, merge, thresholds);
        }
        match self.tip.sides {
            Some(sides) => self.thesis_merge(&sides, rebase, thresholds),
            None => Strategy::Commit,
        }
    }

    fn thesis_merge(
        &mut self,
        ends: &[Node],
        [dom, parents, history]: [Strategy; 3],
        thresholds: &Thresholds,
    ) -> Strategy {
        let is_automatic = self.tip.auto && self.tip.kind != HeadKind::Merge;
        if is_automatic && let Ok(merge) = self.merge_history(ends) {
            let new = self.new_tests(&merge);
            let is_many = new >= thresholds.many_new_tests as usize;
            self.notes.push(format!(
                "all branches know all but {}",
                counted(new, "test")
            ));
            return if is_many { parents } else { history };
        }
        match self.longest_branch(ends) {
            Some(length) if length <= thresholds.short_branches as usize => {
                self.notes.push(format!(
                    "the longest branch has {}",
                    counted(length, "commit")
                ));
                dom
            }
            _ => parents,
        }
    }

    /// |S_new| (4.11), with the tests of the parents as A(h).
    fn new_tests(&self, merge: &MergeHistory) -> usize {
        let mut known: Vec<String> = Vec::new();
        for parent in &merge.parents {
            known.extend(self.past.available(*parent));
        }
        known.sort_unstable();
        known.dedup();
        let new = |test: &&String| merge.is_new(test, self.past);
        known.iter().filter(new).count()
    }

    fn longest_branch(&self, ends: &[Node]) -> Option<usize> {
        let imd = self.common_dominator(ends)?;
        let lengths = ends.iter().map(|end| self.past.between(imd, *end).len());
        lengths.max()
    }

    /// imd of a merge of all `ends`.
    fn common_dominator(&self, ends: &[Node]) -> Option<Node> {
        let (first, rest) = ends.split_first()?;
        rest.iter()
            .try_fold(*first, |above, end| self.past.dominator(above, *end))
    }

    fn note_stand_in(&mut self, wanted: Node, there: Node) {
        if wanted != there {
            let (wanted, there) = (self.name(wanted), self.name(there));
            self.notes.push(format!(
                "nothing is recorded for {wanted}: its ancestor {there} stands in"
            ));
        }
    }

    fn name(&self, node: Node) -> String {
        self.past.name(node)
    }
}

/// Without repetitions, in the order of the first ones.
fn distinct(nodes: Vec<Node>) -> Vec<Node> {
    let mut kept: Vec<Node> = Vec::with_capacity(nodes.len());
    for node in nodes {
        if !kept.contains(&node) {
            kept.push(node);
        }
    }
    kept
}

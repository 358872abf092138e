//! The rules, tried from the surest to the weakest.

use std::cell::OnceCell;

use bstr::ByteSlice;

use super::claims::Claims;
use super::replay::Replayer;
use super::{Head, HeadKind, Hints, References};
use crate::history::commit_graph::CommitGraph;
use crate::history::repository::Repository;
use crate::history::{CommitId, Result, Revision, TreeId};

/// The longest branch that is compared commit by commit with its rebase.
const LONGEST_REBASE: usize = 250;

/// Classifies revisions of one repository; what it loads serves all of them.
pub struct Classifier {
    repository: Repository,
    replayer: Replayer,
    /// Where the graph is loaded from; commits beside it load their own.
    tip: CommitId,
    graph: OnceCell<CommitGraph>,
    wants_dominator: bool,
}

impl Classifier {
    /// # Errors
    /// The repository cannot be opened a second time.
    pub fn new(repository: &Repository, tip: CommitId) -> Result<Classifier> {
        Ok(Classifier {
            repository: repository.clone(),
            replayer: Replayer::new(repository)?,
            tip,
            graph: OnceCell::new(),
            wants_dominator: true,
        })
    }

    /// Leaves out the immediate dominators of merges, for which the history
    /// must be read.
    pub fn without_dominators(mut self) -> Classifier {
        self.wants_dominator = false;
        self
    }

    /// Kind, references and evidence of a revision.
    ///
    /// # Errors
    /// The revision itself cannot be read; history that is missing around it
    /// gives [`HeadKind::Unknown`].
    pub fn classify(&self, revision: Revision, hints: &Hints) -> Result<Head> {
        let parents = self.repository.parents(&revision.commit)?;
        let raw = self
            .repository
            .object(revision.commit.0, git2::ObjectType::Commit)?;
        let message = raw
            .split_once_str("\n\n")
            .map_or(&b""[..], |(_, text)| text);
        let mut head = Head {
            commit: revision.commit,
            tree: revision.tree,
            kind: HeadKind::Commit,
            auto: false,
            references: References {
                parents: parents.ids,
                ..References::default()
            },
            evidence: Vec::new(),
        };
        if let Some(missing) = parents.missing.first() {
            head.settle(
                HeadKind::Unknown,
                format!("parent {missing} is not here: the history was fetched in part"),
            );
            return Ok(head);
        }
        let claims = Claims::parse(message.into());
        self.note_equal_tree(&mut head, hints);
        match head.references.parents[..] {
            [] => head.settle(HeadKind::Root, "the commit names no parent"),
            [parent] => self.one_parent(&mut head, parent, &claims, hints)?,
            _ => self.several_parents(&mut head, &claims, hints)?,
        }
        Ok(head)
    }

    /// Looks at the parents and at what the event names.
    fn note_equal_tree(&self, head: &mut Head, hints: &Hints) {
        let named = [hints.before, hints.pr_head].into_iter().flatten();
        let known = head.references.parents.iter().copied().chain(named);
        let same = known
            .filter(|other| *other != head.commit)
            .find(|other| self.tree(*other) == Some(head.tree));
        if let Some(same) = same {
            head.references.same_tree = Some(same);
            head.evidence
                .push(format!("the tree equals that of {same}"));
        }
    }

    fn several_parents(&self, head: &mut Head, claims: &Claims, hints: &Hints) -> Result<()> {
        let parents = head.references.parents.clone();
        head.references.merge_bases = self.replayer.merge_bases(parents[0], &parents[1..])?;
        let bases = head.references.merge_bases.len();
        if bases == 0 && self.repository.is_shallow() {
            let why = "no merge base is here, and the clone is shallow";
            head.settle(HeadKind::Unknown, why);
            return Ok(());
        }
        if self.wants_dominator {
            head.references.imd = self.dominator(head.commit)?;
        }
        if parents.len() > 2 {
            head.evidence
                .push(format!("an octopus of {} parents", parents.len()));
        }
        match bases {
            0 => head.evidence.push("the parents share no history".into()),
            1 => {}
            _ => head.evidence.push(format!("{bases} merge bases")),
        }
        if claims.synthetic == Some((parents[1], parents[0])) {
            head.evidence.push(
                "a forge's test merge of a pull request: the subject names both parents".into(),
            );
        } else if hints.pr_head.is_some_and(|tip| parents[1..].contains(&tip)) {
            head.evidence
                .push("a merge of the tip of the pull request".into());
        }
        if self.replayer.is_named(head.commit, "gh-readonly-queue/") {
            head.evidence.push("made by a merge queue".into());
        }
        match self.replayer.merge(&parents) {
            Some(tree) if tree == head.tree => {
                head.prove(
                    HeadKind::Automerge,
                    "merging the parents again gives this tree",
                );
            }
            Some(_) => head.settle(
                HeadKind::Merge,
                "merging the parents again gives another tree: edited by hand",
            ),
            None => head.settle(
                HeadKind::Merge,
                "merging the parents again does not end cleanly",
            ),
        }
        Ok(())
    }

    fn one_parent(
        &self,
        head: &mut Head,
        parent: CommitId,
        claims: &Claims,
        hints: &Hints,
    ) -> Result<()> {
        if self.by_event(head, parent, hints)? {
            return Ok(());
        }
        if self.tree(parent) == Some(head.tree) {
            head.prove(HeadKind::Empty, "the tree is the parent's");
            return Ok(());
        }
        let is_claimed = self.reverted(head, parent, claims)
            || self.picked(head, parent, claims)
            || self.by_pull_request(head, parent, claims, hints)?;
        if !is_claimed {
            head.settle(
                HeadKind::Commit,
                "one parent, and no claim that a replay proves",
            );
        }
        Ok(())
    }

    /// What the place tells where the branch pointed before.
    fn by_event(&self, head: &mut Head, parent: CommitId, hints: &Hints) -> Result<bool> {
        let Some(before) = hints
            .before
            .filter(|it| *it != head.commit && *it != parent)
        else {
            return Ok(false);
        };
        if self.tree(before).is_none() {
            head.evidence
                .push(format!("{before}, the tip before the event, is not here"));
            return Ok(false);
        }
        if self.replayer.is_ancestor(before, head.commit) {
            head.references.onto = Some(before);
            head.settle(
                HeadKind::FastForward,
                format!("several commits since {before}, the tip before the event"),
            );
            return Ok(true);
        }
        if self.repository.parents(&before)?.ids == [parent] {
            head.references.pre_rebase_tip = Some(before);
            head.settle(
                HeadKind::Amend,
                format!("replaces {before}, which has the same parent"),
            );
            head.auto = self.tree(before) == Some(head.tree);
            return Ok(true);
        }
        self.rebased(head, before)
    }

    /// The commit that a message says was reverted, if reverting it on the
    /// parent gives exactly this tree.
    fn reverted(&self, head: &mut Head, parent: CommitId, claims: &Claims) -> bool {
        for &reverted in &claims.reverted {
            let is_proven =
                |mainline, _| self.replayer.revert(reverted, parent, mainline) == Some(head.tree);
            let Some(base) = self.mainline(reverted, is_proven) else {
                continue;
            };
            if !self.replayer.is_ancestor(reverted, parent) {
                continue;
            }
            head.references.reverted = Some(reverted);
            head.references.reverted_parent = Some(base);
            head.prove(
                HeadKind::Revert,
                format!("reverting {reverted}, which the message names, gives this tree"),
            );
            return true;
        }
        unproven(head, "reverted", &claims.reverted)
    }

    fn picked(&self, head: &mut Head, parent: CommitId, claims: &Claims) -> bool {
        for &picked in &claims.picked {
            let is_proven =
                |mainline, _| self.replayer.pick(picked, parent, mainline) == Some(head.tree);
            let Some(base) = self.mainline(picked, is_proven) else {
                continue;
            };
            head.references.picked = Some(picked);
            head.references.picked_parent = Some(base);
            head.prove(
                HeadKind::CherryPick,
                format!("picking {picked}, which the message names, gives this tree"),
            );
            return true;
        }
        unproven(head, "picked", &claims.picked)
    }

    /// The parent of `commit` relative to which a replay is proven. It gets
    /// the number that `--mainline` takes: 0 where there is one parent.
    fn mainline(
        &self,
        commit: CommitId,
        is_proven: impl Fn(u32, CommitId) -> bool,
    ) -> Option<CommitId> {
        let parents = self.repository.parents(&commit).ok()?;
        if !parents.missing.is_empty() {
            return None;
        }
        let first = u32::from(parents.ids.len() > 1);
        let numbered = (first..).zip(parents.ids);
        numbered
            .into_iter()
            .find(|(mainline, base)| is_proven(*mainline, *base))
            .map(|(_, base)| base)
    }

    /// Squashes and rebases of a pull request whose tip is known.
    fn by_pull_request(
        &self,
        head: &mut Head,
        parent: CommitId,
        claims: &Claims,
        hints: &Hints,
    ) -> Result<bool> {
        let fetched = || {
            let number = claims.pull_request?;
            self.replayer.reference(&format!("refs/pull/{number}/head"))
        };
        let Some(tip) = hints.pr_head.or_else(fetched) else {
            return Ok(false);
        };
        if tip == head.commit || self.tree(tip).is_none() {
            return Ok(false);
        }
        if self.rebased(head, tip)? {
            return Ok(true);
        }
        if self.replayer.is_ancestor(tip, parent)
            || self.replayer.merge(&[parent, tip]) != Some(head.tree)
        {
            return Ok(false);
        }
        head.references.squash_tip = Some(tip);
        head.references.merge_bases = self.replayer.merge_bases(parent, &[tip])?;
        head.prove(
            HeadKind::Squash,
            format!("merging {tip}, the tip of the pull request, gives this tree"),
        );
        Ok(true)
    }

    /// Whether the commits up to `tip` were rebased to end in the head: each
    /// has its author and date, and picking it gives the new tree.
    fn rebased(&self, head: &mut Head, tip: CommitId) -> Result<bool> {
        let bases = self.replayer.merge_bases(head.commit, &[tip])?;
        let [base] = bases[..] else {
            return Ok(false);
        };
        let (mut old, mut new) = (tip, head.commit);
        let mut is_exact = true;
        let mut count = 0;
        while old != base {
            let (Some(old_parent), Some(new_parent)) =
                (self.only_parent(old)?, self.only_parent(new)?)
            else {
                return Ok(false);
            };
            if count == LONGEST_REBASE || self.author(old)? != self.author(new)? {
                return Ok(false);
            }
            is_exact &= self.replayer.pick(old, new_parent, 0) == self.tree(new);
            (old, new) = (old_parent, new_parent);
            count += 1;
        }
        if count == 0 || !self.replayer.is_ancestor(base, new) {
            return Ok(false);
        }
        head.references.pre_rebase_tip = Some(tip);
        head.references.onto = Some(new);
        head.references.merge_bases = bases;
        let authors = format!("{count} commits up to {tip} have the authors and dates of these");
        head.settle(HeadKind::Rebase, authors);
        if is_exact {
            head.prove(HeadKind::Rebase, "picking each again gives the same trees");
        }
        Ok(true)
    }

    fn only_parent(&self, commit: CommitId) -> Result<Option<CommitId>> {
        let parents = self.repository.parents(&commit)?;
        Ok(match parents.ids[..] {
            [parent] if parents.missing.is_empty() => Some(parent),
            _ => None,
        })
    }

    /// The raw author line: name, e-mail, date and zone.
    fn author(&self, commit: CommitId) -> Result<Option<Vec<u8>>> {
        let raw = self.repository.object(commit.0, git2::ObjectType::Commit)?;
        let line = raw.lines().find(|line| line.starts_with(b"author "));
        Ok(line.map(<[u8]>::to_vec))
    }

    fn tree(&self, commit: CommitId) -> Option<TreeId> {
        Some(self.repository.revision(commit).ok()?.tree)
    }

    fn dominator(&self, commit: CommitId) -> Result<Option<CommitId>> {
        if self.graph.get().is_none() {
            let graph = CommitGraph::load(&self.repository, self.tip)?;
            // Nobody else can have set it: one thread, and no way back here.
            let _ = self.graph.set(graph);
        }
        match self.graph.get().filter(|graph| graph.contains(&commit)) {
            Some(graph) => Ok(graph.dominator(&commit)),
            None => Ok(CommitGraph::load(&self.repository, commit)?.dominator(&commit)),
        }
    }
}

/// Claims that no replay proves are worth a word, and nothing else.
fn unproven(head: &mut Head, what: &str, claimed: &[CommitId]) -> bool {
    for commit in claimed {
        head.evidence.push(format!(
            "the message says that {commit} was {what}; no replay proves it"
        ));
    }
    false
}

impl Head {
    fn settle(&mut self, kind: HeadKind, why: impl Into<String>) {
        self.kind = kind;
        self.evidence.push(why.into());
    }

    fn prove(&mut self, kind: HeadKind, why: impl Into<String>) {
        self.settle(kind, why);
        self.auto = true;
    }
}

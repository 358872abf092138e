//! The rules, tried from the surest to the weakest.

use std::cell::OnceCell;

use bstr::ByteSlice;

use super::claims::{Claims, split};
use super::kin::{self, Copies};
use super::picks;
use super::replay::Replayer;
use super::{Head, HeadKind, Hints, References};
use crate::count::{counted, verb};
use crate::history::commit_graph::CommitGraph;
use crate::history::repository::Repository;
use crate::history::written_graph::WrittenGraph;
use crate::history::{CommitId, Result, Revision, TreeId};

/// The longest branch that is compared with its rebase commit by commit.
const LONGEST_REBASE: usize = 250;

/// Classifies revisions of one repository. Loaded data serve all of them.
pub struct Classifier {
    repository: Repository,
    replayer: Replayer,
    /// The graph is loaded from here. Commits outside it load their own.
    tip: CommitId,
    graph: OnceCell<CommitGraph>,
    /// git's own commit-graph file. With it no graph must be loaded.
    written: OnceCell<Option<WrittenGraph>>,
    wants_dominator: bool,
    copies: OnceCell<Copies>,
    wants_copies: bool,
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
            written: OnceCell::new(),
            wants_dominator: true,
            copies: OnceCell::new(),
            wants_copies: true,
        })
    }

    /// Skips the immediate dominators of merges, which need the history.
    pub fn without_dominators(mut self) -> Classifier {
        self.wants_dominator = false;
        self
    }

    /// Does not search for picks and rebases by author and date alone, which needs a walk over
    /// branches and reflogs.
    pub fn without_copies(mut self) -> Classifier {
        self.wants_copies = false;
        self
    }

    /// The kind, references and evidence of a revision.
    ///
    /// # Errors
    /// The revision itself cannot be read. If history around it is missing, the kind is
    /// [`HeadKind::Unknown`].
    pub fn classify(&self, revision: Revision, hints: &Hints) -> Result<Head> {
        let parents = self.repository.parents(&revision.commit)?;
        let raw = self
            .repository
            .object(revision.commit.0, git2::ObjectType::Commit)?;
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
                format!("parent {missing} is not here: only a part of the history was fetched"),
            );
            return Ok(head);
        }
        let claims = Claims::parse(split(&raw).1.into());
        self.note_equal_tree(&mut head, hints);
        if self.replayer.is_named(head.commit, "gh-readonly-queue/") {
            head.evidence.push("made by a merge queue".into());
        }
        match head.references.parents[..] {
            [] => head.settle(HeadKind::Root, "the commit names no parent"),
            [parent] => self.one_parent(&mut head, parent, (&claims, &raw), hints)?,
            _ => self.several_parents(&mut head, &claims, hints)?,
        }
        Ok(head)
    }

    /// Compares the tree with those of the parents and of the event's commits.
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
        (claims, raw): (&Claims, &[u8]),
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
            || self.squashed(head, parent, claims, hints)?
            || self.picked_together(head, parent, claims)
            || self.undone(head, parent, claims)?
            || self.copied(head, parent, raw)?;
        if !is_claimed {
            head.settle(
                HeadKind::Commit,
                "one parent, and no replay proves another kind",
            );
        }
        Ok(())
    }

    /// Uses the place where the branch pointed before the event.
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

    /// Finds the commit that a message says was reverted, if reverting it on the parent gives
    /// exactly this tree.
    fn reverted(&self, head: &mut Head, parent: CommitId, claims: &Claims) -> bool {
        let named = claims.reverted.iter();
        let proven = named.copied().find(|it| self.undoes(head, parent, *it));
        if let Some(reverted) = proven {
            head.prove(
                HeadKind::Revert,
                format!("reverting {reverted}, which the message names, gives this tree"),
            );
            return true;
        }
        unproven(head, "reverted", &claims.reverted)
    }

    /// Whether reverting an ancestor on the parent gives exactly this tree.
    fn undoes(&self, head: &mut Head, parent: CommitId, reverted: CommitId) -> bool {
        let is_proven =
            |mainline, _| self.replayer.revert(reverted, parent, mainline) == Some(head.tree);
        let Some(base) = self.mainline(reverted, is_proven) else {
            return false;
        };
        if !self.replayer.is_ancestor(reverted, parent) {
            return false;
        }
        head.references.reverted = Some(reverted);
        head.references.reverted_parent = Some(base);
        true
    }

    /// Finds a commit whose subject the message quotes as reverted or reapplied, if reverting
    /// it gives exactly this tree.
    fn undone(&self, head: &mut Head, parent: CommitId, claims: &Claims) -> Result<bool> {
        let Some(undone) = &claims.undone else {
            return Ok(false);
        };
        let found = kin::undone(&self.repository, parent, undone)?;
        for reverted in &found {
            if self.undoes(head, parent, *reverted) {
                head.prove(
                    HeadKind::Revert,
                    format!("reverting {reverted}, whose subject is quoted, gives this tree"),
                );
                return Ok(true);
            }
        }
        head.evidence.push(format!(
            "the subject quotes an undone commit; no replay proves any of {} that it can mean",
            counted(found.len(), "commit")
        ));
        Ok(false)
    }

    /// Finds an older commit of the same author and date, if picking it gives exactly this
    /// tree. It is part of a rebase if no branch has the old commit any more and the rest of
    /// the rebase is proven, too. Otherwise it is a pick.
    fn copied(&self, head: &mut Head, parent: CommitId, raw: &[u8]) -> Result<bool> {
        if !self.wants_copies {
            return Ok(false);
        }
        for copy in self.copies()?.of(raw) {
            let Some(base) = self.only_parent(copy.commit)? else {
                continue;
            };
            // A commit with the same parent was amended or reworded.
            if base == parent || self.replayer.pick(copy.commit, parent, 0) != Some(head.tree) {
                continue;
            }
            let rebased = match copy.is_kept {
                true => None,
                false => self.rebase_of(head, copy.commit)?,
            };
            if let Some(rebased) = rebased.filter(|rebased| rebased.is_exact) {
                head.settle_rebase(rebased);
                return Ok(true);
            }
            head.references.picked = Some(copy.commit);
            head.references.picked_parent = Some(base);
            let why = format!(
                "picking {}, which has the same author and date, gives this tree",
                copy.commit
            );
            head.prove(HeadKind::CherryPick, why);
            return Ok(true);
        }
        Ok(false)
    }

    fn copies(&self) -> Result<&Copies> {
        if self.copies.get().is_none() {
            let _ = self.copies.set(Copies::load(&self.repository)?);
        }
        Ok(self.copies.get_or_init(Copies::default))
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
        false
    }

    /// Finds several commits that a message names, if picking one after the other gives
    /// exactly this tree.
    fn picked_together(&self, head: &mut Head, parent: CommitId, claims: &Claims) -> bool {
        let proven = self.tree(parent).and_then(|onto| {
            let trees = (onto, head.tree);
            picks::together(&self.repository, &self.replayer, claims, trees)
        });
        let Some(picks) = proven else {
            return unproven(head, "picked", &claims.picked);
        };
        head.references.all_picked = picks.iter().map(|pick| pick.commit).collect();
        head.references.all_picked_parents = picks.iter().map(|pick| pick.before).collect();
        let names: Vec<String> = picks.iter().map(|pick| pick.commit.to_string()).collect();
        head.prove(
            HeadKind::CherryPick,
            format!(
                "picking {}, which the message names, one after the other gives this tree",
                names.join(", ")
            ),
        );
        true
    }

    /// The parent of `commit` for which a replay is proven, with its number for `--mainline`:
    /// 0 if there is only one parent.
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

    /// Finds squashes and rebases of a pull request with a known tip, and squashes whose
    /// message lists the squashed commits.
    fn squashed(
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
        let is_usable = |tip: &CommitId| *tip != head.commit && self.tree(*tip).is_some();
        let of_pull_request = hints.pr_head.or_else(fetched).filter(is_usable);
        let listed = claims.listed.first().copied().filter(is_usable);
        if let Some(tip) = of_pull_request {
            // Equal authors and dates may be chance; a replay is not.
            let rebase = self.rebase_of(head, tip)?;
            let is_exact = rebase.as_ref().is_some_and(|rebase| rebase.is_exact);
            if !is_exact && self.squash_of(head, parent, tip, "the tip of the pull request")? {
                return Ok(true);
            }
            if let Some(rebase) = rebase {
                head.settle_rebase(rebase);
                return Ok(true);
            }
        }
        match listed {
            Some(tip) => self.squash_of(head, parent, tip, "the first that the message lists"),
            None => Ok(false),
        }
    }

    /// Whether merging `tip` into the parent gives exactly this tree.
    fn squash_of(
        &self,
        head: &mut Head,
        parent: CommitId,
        tip: CommitId,
        what: &str,
    ) -> Result<bool> {
        if self.replayer.is_ancestor(tip, parent)
            || self.replayer.merge(&[parent, tip]) != Some(head.tree)
        {
            return Ok(false);
        }
        head.references.squash_tip = Some(tip);
        head.references.merge_bases = self.replayer.merge_bases(parent, &[tip])?;
        let why = format!("merging {tip}, {what}, gives this tree");
        head.prove(HeadKind::Squash, why);
        Ok(true)
    }

    fn rebased(&self, head: &mut Head, tip: CommitId) -> Result<bool> {
        let rebased = self.rebase_of(head, tip)?;
        Ok(rebased.map(|rebased| head.settle_rebase(rebased)).is_some())
    }

    /// The rebase that copied the commits up to `tip` so that they end in the head, if each
    /// copy has its author and date.
    fn rebase_of(&self, head: &Head, tip: CommitId) -> Result<Option<Rebase>> {
        let bases = self.replayer.merge_bases(head.commit, &[tip])?;
        let [base] = bases[..] else {
            return Ok(None);
        };
        let (mut old, mut new) = (tip, head.commit);
        let mut is_exact = true;
        let mut count = 0;
        while old != base {
            let (Some(old_parent), Some(new_parent)) =
                (self.only_parent(old)?, self.only_parent(new)?)
            else {
                return Ok(None);
            };
            if count == LONGEST_REBASE || self.author(old)? != self.author(new)? {
                return Ok(None);
            }
            is_exact &= self.replayer.pick(old, new_parent, 0) == self.tree(new);
            (old, new) = (old_parent, new_parent);
            count += 1;
        }
        let is_rebase = count > 0 && self.replayer.is_ancestor(base, new);
        Ok(is_rebase.then_some(Rebase {
            tip,
            base,
            onto: new,
            count,
            is_exact,
        }))
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
        let written = || WrittenGraph::open(&self.repository);
        let written = self.written.get_or_init(written).as_ref();
        if let Some(written) = written.filter(|_| self.graph.get().is_none())
            // A commit that cannot be read ends the loaded graph, and the graph tells so.
            && let Ok(Some(found)) = written.dominator(&self.repository, commit)
        {
            return Ok(found);
        }
        if self.graph.get().is_none() {
            let graph = CommitGraph::load(&self.repository, self.tip)?;
            // It cannot be set already: there is only one thread, and no recursion.
            let _ = self.graph.set(graph);
        }
        match self.graph.get().filter(|graph| graph.contains(&commit)) {
            Some(graph) => Ok(graph.dominator(&commit)),
            None => Ok(CommitGraph::load(&self.repository, commit)?.dominator(&commit)),
        }
    }
}

/// Commits that were copied one by one so that they end in a head.
struct Rebase {
    tip: CommitId,
    base: CommitId,
    onto: CommitId,
    count: usize,
    /// Whether picking each one again gives the same tree.
    is_exact: bool,
}

/// Notes claims that no replay proves. They count for nothing else.
fn unproven(head: &mut Head, what: &str, claimed: &[CommitId]) -> bool {
    for commit in claimed {
        head.evidence.push(format!(
            "the message says that {commit} was {what}; no replay proves it"
        ));
    }
    false
}

impl Head {
    fn settle_rebase(&mut self, rebase: Rebase) {
        let Rebase { tip, count, .. } = rebase;
        self.references.pre_rebase_tip = Some(tip);
        self.references.onto = Some(rebase.onto);
        self.references.merge_bases = vec![rebase.base];
        self.settle(
            HeadKind::Rebase,
            format!(
                "{} up to {tip} {} the authors and dates of these",
                counted(count, "commit"),
                verb(count, "has", "have")
            ),
        );
        if rebase.is_exact {
            self.prove(HeadKind::Rebase, "picking each again gives the same trees");
        }
    }

    fn settle(&mut self, kind: HeadKind, why: impl Into<String>) {
        self.kind = kind;
        self.evidence.push(why.into());
    }

    fn prove(&mut self, kind: HeadKind, why: impl Into<String>) {
        self.settle(kind, why);
        self.auto = true;
    }
}

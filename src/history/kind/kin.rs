//! Finds commits from which a revision may be made though no message names them: by subject
//! among its ancestors, or by author and date among all commits that branches, tags and
//! reflogs still reach. A find proves nothing; it is replayed.

use std::collections::BTreeSet;

use bstr::ByteSlice;
use rustc_hash::{FxHashMap, FxHashSet};

use super::claims::{Undone, split};
use crate::history::objects::object_id;
use crate::history::repository::Repository;
use crate::history::{CommitId, HistoryError, Result};

/// How many ancestors are searched for a subject, the nearest first.
pub(super) const MOST_ANCESTORS: usize = 2_000;
/// How many commits are searched for copies, the newest first: so many from local branches and
/// tags, and so many from all other references.
pub(super) const MOST_COMMITS: usize = 10_000;
/// How many finds are replayed for one revision.
pub(super) const MOST_REPLAYED: usize = 8;

/// The ancestors of `parent` that a message may mean, the nearest first.
pub(super) fn undone(
    repository: &Repository,
    parent: CommitId,
    undone: &Undone,
) -> Result<Vec<CommitId>> {
    let mut found = Vec::new();
    for ancestor in repository.ancestors(parent).take(MOST_ANCESTORS) {
        let commit = ancestor?.commit;
        let raw = repository.object(commit.0, git2::ObjectType::Commit)?;
        if undone.can_mean(split(&raw).1) {
            found.push(commit);
            if found.len() == MOST_REPLAYED {
                break;
            }
        }
    }
    Ok(found)
}

/// One of several commits of the same author and date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Copy {
    pub commit: CommitId,
    /// When the commit object was made, in seconds since the epoch.
    made: i64,
    /// Whether a local branch or a tag still reaches it. None reaches a commit that a rebase
    /// replaced.
    pub is_kept: bool,
}

/// The newest commits with one parent, by author and date.
#[derive(Default)]
pub(super) struct Copies {
    by_author: FxHashMap<Vec<u8>, Vec<Copy>>,
}

impl Copies {
    /// # Errors
    /// The references cannot be read.
    pub(super) fn load(repository: &Repository) -> Result<Copies> {
        let git = repository.git();
        let load = || -> std::result::Result<[Vec<git2::Oid>; 2], git2::Error> {
            let (mut kept, mut others) = (BTreeSet::new(), BTreeSet::new());
            let mut names = vec!["HEAD".to_owned()];
            for reference in git.references()?.flatten() {
                let Ok(commit) = reference.peel_to_commit() else {
                    continue;
                };
                let is_kept = reference.is_branch() || reference.is_tag();
                let tips = if is_kept { &mut kept } else { &mut others };
                tips.insert(commit.id());
                names.extend(reference.name().ok().map(str::to_owned));
            }
            if let Ok(head) = git.head().and_then(|head| head.peel_to_commit()) {
                kept.insert(head.id());
            }
            // libgit2 creates an empty log if it reads one that does not exist.
            names.retain(|name| git.reference_has_log(name).unwrap_or(false));
            for name in names {
                let Ok(log) = git.reflog(&name) else {
                    continue;
                };
                let ends = log
                    .iter()
                    .flat_map(|entry| [entry.id_old(), entry.id_new()]);
                // Pruned commits are missing.
                others.extend(ends.filter(|id| git.find_commit(*id).is_ok()));
            }
            Ok([newest(git, &kept)?, newest(git, &others)?])
        };
        let [kept, others] = load()
            .map_err(|error| HistoryError::git("cannot walk branches and reflogs", &error))?;
        let mut copies = Copies::default();
        let mut seen = FxHashSet::default();
        let kept = kept.into_iter().map(|id| (id, true));
        for (id, is_kept) in kept.chain(others.into_iter().map(|id| (id, false))) {
            if seen.insert(id) {
                copies.add(repository, CommitId(object_id(id)), is_kept)?;
            }
        }
        Ok(copies)
    }

    fn add(&mut self, repository: &Repository, commit: CommitId, is_kept: bool) -> Result<()> {
        let raw = repository.object(commit.0, git2::ObjectType::Commit)?;
        if let Some(identity) = Identity::of(&raw).filter(|identity| identity.parents == 1) {
            let copy = Copy {
                commit,
                made: identity.made,
                is_kept,
            };
            let copies = self.by_author.entry(identity.author).or_default();
            copies.push(copy);
        }
        Ok(())
    }

    /// The commits that a commit with this raw content may be a copy of: same author and date,
    /// but made earlier. The newest first.
    pub(super) fn of(&self, raw: &[u8]) -> Vec<Copy> {
        let Some(identity) = Identity::of(raw) else {
            return Vec::new();
        };
        let known = self.by_author.get(&identity.author);
        let known = known.into_iter().flatten();
        let mut older: Vec<Copy> = known
            .filter(|copy| copy.made < identity.made)
            .copied()
            .collect();
        older.sort_by_key(|copy| (std::cmp::Reverse(copy.made), copy.commit));
        older.truncate(MOST_REPLAYED);
        older
    }
}

/// The newest commits that these tips reach.
fn newest(
    git: &git2::Repository,
    tips: &BTreeSet<git2::Oid>,
) -> std::result::Result<Vec<git2::Oid>, git2::Error> {
    let mut walk = git.revwalk()?;
    walk.set_sorting(git2::Sort::TIME)?;
    for tip in tips {
        walk.push(*tip)?;
    }
    // A shallow or broken history ends the walk early.
    Ok(walk.map_while(|id| id.ok()).take(MOST_COMMITS).collect())
}

/// Author and date of a commit's work, and when the commit was made.
struct Identity {
    /// The raw author line: name, e-mail, date and zone.
    author: Vec<u8>,
    made: i64,
    parents: usize,
}

impl Identity {
    fn of(raw: &[u8]) -> Option<Identity> {
        let (header, _) = split(raw);
        let line = |name: &[u8]| header.lines().find_map(|line| line.strip_prefix(name));
        let committer = line(b"committer ")?;
        let seconds = committer.rsplit(|byte| *byte == b' ').nth(1)?;
        let parents = header.lines().filter(|line| line.starts_with(b"parent "));
        Some(Identity {
            author: line(b"author ")?.to_vec(),
            made: seconds.to_str().ok()?.parse().ok()?,
            parents: parents.count(),
        })
    }
}

//! The commit graph: parents, ancestors and the identity of the repository.

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;

use rustc_hash::FxHashSet;

use super::objects::{object_id, oid};
use super::repository::Repository;
use super::{CommitId, Result};

/// First line of the file that remembers root commits.
const ROOTS_FORMAT: &str = "tamis roots 1";
/// The largest file of roots that is read; it has one line for each root.
const MOST_ROOTS: u64 = 1 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parents {
    /// All of them, in order, even if they are missing.
    pub ids: Vec<CommitId>,
    /// The parents that are not in the object store: the clone is shallow.
    pub missing: Vec<CommitId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ancestor {
    pub commit: CommitId,
    /// The length of the shortest path from the start.
    pub distance: u32,
    /// Whether its parents are missing: it is at the edge of a shallow clone.
    pub is_cut: bool,
}

impl Repository {
    /// The parents in the header of a commit. libgit2 would take a merge at the edge of a
    /// shallow clone for a root.
    pub fn parents(&self, commit: &CommitId) -> Result<Parents> {
        let ids = self.commit_header(*commit)?.parents;
        let missing = ids
            .iter()
            .copied()
            .filter(|id| !self.has_object(id.0))
            .collect();
        Ok(Parents { ids, missing })
    }

    /// `from` and its ancestors, breadth first, each once, nearest first. Ends after an error.
    pub fn ancestors(&self, from: CommitId) -> Ancestors<'_> {
        Ancestors {
            repository: self,
            queue: VecDeque::from([(from, 0)]),
            seen: FxHashSet::from_iter([from]),
        }
    }

    /// A digest of the sorted root commits of HEAD. It is the same in every clone. Empty for a
    /// shallow clone, which may lack the roots.
    ///
    /// `cache` is a file outside `.git` that keeps the roots of one tip, so that only newer
    /// commits are walked. If it cannot be read or written, that only costs time.
    pub fn identity(&self, cache: Option<&Path>) -> Result<String> {
        if self.is_shallow() {
            return Ok(String::new());
        }
        let head = self.head()?.commit;
        let known = cache.and_then(read_roots);
        let roots = self.roots(head, known.as_ref())?;
        if let Some(path) = cache
            && known.is_none_or(|known| known.tip != head)
        {
            let _ = write_roots(path, head, &roots);
        }
        let mut hasher = blake3::Hasher::new_derive_key("tamis 2026 repository identity");
        for root in &roots {
            hasher.update(&root.0);
        }
        Ok(hasher.finalize().to_hex()[..32].to_owned())
    }

    /// The root commits of `head`.
    fn roots(&self, head: CommitId, known: Option<&KnownRoots>) -> Result<BTreeSet<CommitId>> {
        if let Some(known) = known
            && let Ok(new) = self.commits_since(head, known.tip)
        {
            let mut roots = BTreeSet::from_iter(known.roots.iter().copied());
            for commit in new {
                if self.commit_header(commit)?.parents.is_empty() {
                    roots.insert(commit);
                }
            }
            return Ok(roots);
        }
        let mut roots = BTreeSet::new();
        let mut seen = FxHashSet::from_iter([head]);
        let mut stack = vec![head];
        while let Some(commit) = stack.pop() {
            let parents = self.commit_header(commit)?.parents;
            if parents.is_empty() {
                roots.insert(commit);
            }
            stack.extend(parents.into_iter().filter(|id| seen.insert(*id)));
        }
        Ok(roots)
    }

    /// The ancestors of `head` that `tip` lacks.
    ///
    /// # Errors
    /// `tip` is no ancestor of `head`, or is not here.
    fn commits_since(
        &self,
        head: CommitId,
        tip: CommitId,
    ) -> std::result::Result<Vec<CommitId>, git2::Error> {
        if head == tip {
            return Ok(Vec::new());
        }
        if !self.git().graph_descendant_of(oid(head.0), oid(tip.0))? {
            return Err(git2::Error::from_str("not an ancestor"));
        }
        let mut walk = self.git().revwalk()?;
        walk.push(oid(head.0))?;
        walk.hide(oid(tip.0))?;
        walk.map(|id| Ok(CommitId(object_id(id?)))).collect()
    }
}

pub struct Ancestors<'a> {
    repository: &'a Repository,
    queue: VecDeque<(CommitId, u32)>,
    seen: FxHashSet<CommitId>,
}

impl Iterator for Ancestors<'_> {
    type Item = Result<Ancestor>;

    fn next(&mut self) -> Option<Result<Ancestor>> {
        let (commit, distance) = self.queue.pop_front()?;
        let parents = match self.repository.parents(&commit) {
            Ok(parents) => parents,
            Err(error) => {
                self.queue.clear();
                return Some(Err(error));
            }
        };
        for parent in &parents.ids {
            if !parents.missing.contains(parent) && self.seen.insert(*parent) {
                self.queue.push_back((*parent, distance + 1));
            }
        }
        Some(Ok(Ancestor {
            commit,
            distance,
            is_cut: !parents.missing.is_empty(),
        }))
    }
}

/// The roots of one commit.
struct KnownRoots {
    tip: CommitId,
    roots: Vec<CommitId>,
}

fn read_roots(path: &Path) -> Option<KnownRoots> {
    let text = crate::disk::read_at_most(path, MOST_ROOTS).ok()?;
    let text = String::from_utf8(text).ok()?;
    let mut lines = text.lines();
    if lines.next()? != ROOTS_FORMAT {
        return None;
    }
    let (tip, count) = lines.next()?.split_once(' ')?;
    let roots: Vec<CommitId> = lines
        .map(str::parse)
        .collect::<std::result::Result<_, _>>()
        .ok()?;
    // The count shows whether the file was cut off.
    if roots.is_empty() || count.parse() != Ok(roots.len()) {
        return None;
    }
    let tip = tip.parse().ok()?;
    Some(KnownRoots { tip, roots })
}

fn write_roots(path: &Path, tip: CommitId, roots: &BTreeSet<CommitId>) -> std::io::Result<()> {
    let mut text = format!("{ROOTS_FORMAT}\n{tip} {}\n", roots.len());
    for root in roots {
        text.push_str(&format!("{root}\n"));
    }
    crate::disk::write_atomically(path, text)
}

//! One pass over the work tree that finds what differs from the commit. A sweep of the disk
//! (`sweep.rs`) comes first and leaves only the rest to this pass.
//!
//! Only the files on disk count, since tests read them. The index only saves hashing and tells
//! what is tracked. It makes no difference whether a change is staged, and `assume-unchanged`
//! is ignored.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::path::Path;
use std::rc::Rc;

use bstr::{BString, ByteSlice, ByteVec};
use rustc_hash::{FxHashMap, FxHashSet};

use super::filters::{DiskFile, Filters};
use super::index::Index;
use super::objects::Stored;
use super::repository::Repository;
use super::sweep::{Sweep, Tracked};
use super::view::View;
use super::{HistoryError, HistoryErrorKind, Result, TreeId};
use crate::matrix::Mode;

/// How a path of the work tree differs from the commit.
pub(super) enum Change {
    /// In the commit, but not a file on disk.
    Deleted,
    /// Its content or mode differs from the commit's, or the commit lacks it.
    Edited(DiskFile),
    /// Neither in the commit nor in the index, and not ignored. There may be many, so they are
    /// hashed only on request.
    Untracked(Mode),
}

#[derive(Default)]
pub(super) struct Scan {
    pub changes: BTreeMap<BString, Change>,
    /// Tracked paths that a sparse checkout leaves out. They count as in the commit.
    pub sparse: BTreeSet<BString>,
    /// The submodules that are checked out.
    pub submodules: BTreeMap<BString, Rc<View>>,
}

struct Walk<'a> {
    repository: &'a Repository,
    tracked: &'a Tracked,
    dirs: FxHashSet<BString>,
    /// For each item of the index, whether the pass met it.
    is_seen: Vec<bool>,
    /// Paths that are only in the commit and that the pass met.
    seen: FxHashSet<BString>,
    found: Scan,
}

/// What git knows of the work tree, to compare it with `commit`.
pub(super) fn tracked(
    repository: &Repository,
    filters: Filters,
    commit: TreeId,
) -> Result<Tracked> {
    let index = Index::read(repository)?;
    let committed = match index.is_tree(commit.0) {
        true => None,
        false => Some(committed_paths(repository, commit)?),
    };
    Ok(Tracked {
        filters,
        index,
        committed,
    })
}

fn committed_paths(repository: &Repository, commit: TreeId) -> Result<FxHashMap<BString, Stored>> {
    let mut paths = FxHashMap::default();
    repository.each_path(commit.0, &mut Vec::new(), &mut |path, stored| {
        paths.insert(path.to_owned(), stored);
    })?;
    Ok(paths)
}

/// Compares the work tree with the commit, and starts with the result of a sweep.
pub(super) fn scan(repository: &Repository, tracked: &Tracked, sweep: Sweep) -> Result<Scan> {
    let mut walk = Walk {
        repository,
        tracked,
        dirs: sweep.dirs,
        is_seen: sweep.is_same,
        seen: FxHashSet::default(),
        found: Scan::default(),
    };
    for (mut path, is_dir) in sweep.others {
        let place = repository.on_disk(&path);
        walk.entry(&mut path, &place, is_dir)?;
    }
    walk.unseen();
    Ok(walk.found)
}

impl Walk<'_> {
    /// Scans everything below the real directory `place`, which is `path`.
    fn directory(&mut self, path: &mut BString, place: &Path, is_tracked: bool) -> Result<()> {
        let names = match std::fs::read_dir(place) {
            Ok(names) => names,
            // git only warns here: nobody can read the directory, and a tracked file that was
            // not seen counts as deleted.
            Err(_) if !is_tracked => return Ok(()),
            Err(error) => return Err(HistoryError::disk("list", place, &error)),
        };
        for entry in names {
            let entry = entry.map_err(|error| HistoryError::disk("list", place, &error))?;
            let name = entry.file_name();
            if name == ".git" {
                continue;
            }
            let kind = entry.file_type();
            let place = entry.path();
            let kind = kind.map_err(|error| HistoryError::disk("look at", &place, &error))?;
            let len = path.len();
            if len > 0 {
                path.push(b'/');
            }
            path.push_str(Vec::from_os_str_lossy(&name));
            self.entry(path, &place, kind.is_dir())?;
            path.truncate(len);
        }
        Ok(())
    }

    fn entry(&mut self, path: &mut BString, place: &Path, is_dir: bool) -> Result<()> {
        if !is_dir {
            return match self.see(path) {
                true => self.tracked_file(path, place),
                false => self.untracked_file(path, place),
            };
        }
        if self.is_submodule(path) {
            return self.submodule(path, place);
        }
        if self.dirs.contains(path) {
            return self.directory(path, place, true);
        }
        if self.is_ignored(path)? {
            return Ok(());
        }
        match checked_out(place)? {
            Some(repository) => {
                let commit = repository.head()?.commit;
                self.found.changes.insert(path.clone(), gitlink(commit.0));
                Ok(())
            }
            None => self.directory(path, place, false),
        }
    }

    /// Notes that `path` is there, and tells whether it is tracked.
    fn see(&mut self, path: &BString) -> bool {
        let items = self.tracked.index.items();
        if let Ok(number) = items.binary_search_by(|(known, _)| known.cmp(path)) {
            self.is_seen[number] = true;
            return true;
        }
        let is_committed = self.tracked.committed(path).is_some();
        if is_committed {
            self.seen.insert(path.clone());
        }
        is_committed
    }

    fn tracked_file(&mut self, path: &BString, place: &Path) -> Result<()> {
        let metadata = look_at(place)?;
        let Tracked { filters, index, .. } = self.tracked;
        let committed = self.tracked.committed(path);
        let indexed = index.get(path);
        let before = indexed.map(|item| item.stored).or(committed);
        let Some(mode) = filters.mode(&metadata, before.map(|stored| stored.mode)) else {
            // A socket or a device: git could not store it.
            self.found.changes.insert(path.clone(), Change::Deleted);
            return Ok(());
        };
        let file = match indexed {
            Some(item) if item.stored.mode == mode && index.vouches_for(item, &metadata) => {
                DiskFile::known(item.stored)
            }
            _ => filters.hash(
                self.repository,
                path.as_bstr(),
                place,
                mode,
                index.blob(path),
            )?,
        };
        if file.is_opaque || committed != Some(file.stored) {
            self.found
                .changes
                .insert(path.clone(), Change::Edited(file));
        }
        Ok(())
    }

    fn untracked_file(&mut self, path: &BString, place: &Path) -> Result<()> {
        if self.is_ignored(path)? {
            return Ok(());
        }
        let metadata = look_at(place)?;
        if let Some(mode) = self.tracked.filters.mode(&metadata, None) {
            self.found
                .changes
                .insert(path.clone(), Change::Untracked(mode));
        }
        Ok(())
    }

    fn is_submodule(&self, path: &BString) -> bool {
        let indexed = self.tracked.index.get(path).map(|item| item.stored);
        indexed
            .or_else(|| self.tracked.committed(path))
            .is_some_and(|stored| stored.mode == Mode::Gitlink)
    }

    /// A directory where a submodule belongs. If the submodule is not checked out, the index
    /// counts, as in git.
    fn submodule(&mut self, path: &BString, place: &Path) -> Result<()> {
        self.see(path);
        let committed = self.tracked.committed(path);
        let id = match checked_out(place)? {
            Some(repository) => {
                let view = repository.work_view()?;
                let commit = view.revision().commit;
                self.found.submodules.insert(path.clone(), Rc::new(view));
                Some(commit.0)
            }
            None => self.tracked.index.blob(path),
        };
        if let Some(id) = id.filter(|id| committed.map(|stored| stored.id) != Some(*id)) {
            self.found.changes.insert(path.clone(), gitlink(id));
        }
        Ok(())
    }

    /// Handles tracked paths that the pass did not meet.
    fn unseen(&mut self) {
        let items = self.tracked.index.items().iter().zip(&self.is_seen);
        for ((path, item), _) in items.filter(|(_, is_seen)| !**is_seen) {
            if item.is_skipped {
                self.found.sparse.insert(path.clone());
            } else if self.tracked.committed(path).is_some() {
                self.found.changes.insert(path.clone(), Change::Deleted);
            }
        }
        let committed = self.tracked.committed.iter().flat_map(|paths| paths.keys());
        for path in committed {
            if !self.seen.contains(path) && self.tracked.index.get(path).is_none() {
                self.found.changes.insert(path.clone(), Change::Deleted);
            }
        }
    }

    fn is_ignored(&self, path: &BString) -> Result<bool> {
        is_ignored(self.repository, path)
    }
}

fn look_at(place: &Path) -> Result<Metadata> {
    place
        .symlink_metadata()
        .map_err(|error| HistoryError::disk("look at", place, &error))
}

/// Whether the ignore rules leave out `path`. If in doubt, they do not.
///
/// # Errors
/// A file of rules is not a plain file.
pub(super) fn is_ignored(repository: &Repository, path: &[u8]) -> Result<bool> {
    repository.check_rules(path.as_bstr())?;
    let is_ignored = repository.git().is_path_ignored(path.to_path_lossy());
    Ok(is_ignored.unwrap_or(false))
}

/// The repository with the work tree `place`, if it has a commit.
pub(super) fn checked_out(place: &Path) -> Result<Option<Repository>> {
    if place.join(".git").symlink_metadata().is_err() {
        return Ok(None);
    }
    let repository = match Repository::open_at(place) {
        Ok(repository) => repository,
        // The `.git` here is not a repository: the directory is like any other.
        Err(error) if error.kind == HistoryErrorKind::NotARepository => return Ok(None),
        Err(error) => return Err(error),
    };
    match repository.head() {
        Ok(_) => Ok(Some(repository)),
        Err(error) if error.kind == HistoryErrorKind::UnbornHead => Ok(None),
        Err(error) => Err(error),
    }
}

fn gitlink(id: [u8; 20]) -> Change {
    let mode = Mode::Gitlink;
    Change::Edited(DiskFile::known(Stored { id, mode }))
}

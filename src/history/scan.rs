//! One pass over the work tree: what differs from the commit.
//!
//! What counts is what lies on disk, since that is what tests read. The index
//! only saves hashing and says what is tracked; whether a change is staged
//! makes no difference, and `assume-unchanged` is not believed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{DirEntry, Metadata};
use std::path::Path;

use bstr::{BString, ByteSlice, ByteVec};
use rustc_hash::{FxHashMap, FxHashSet};

use super::filters::{DiskFile, Filters};
use super::index::Index;
use super::objects::Stored;
use super::repository::Repository;
use super::view::View;
use super::{HistoryError, HistoryErrorKind, Result, TreeId};
use crate::matrix::Mode;

/// How a path of the work tree differs from the commit.
pub(super) enum Change {
    /// In the commit, but no file on disk.
    Deleted,
    /// Another content or mode than the commit's, or not in the commit.
    Edited(DiskFile),
    /// Neither in the commit nor in the index, and not ignored. Hashed when
    /// somebody asks: there may be many.
    Untracked(Mode),
}

/// What a pass over the work tree found.
#[derive(Default)]
pub(super) struct Scan {
    pub changes: BTreeMap<BString, Change>,
    /// Tracked paths that a sparse checkout leaves out. They count as in the
    /// commit.
    pub sparse: BTreeSet<BString>,
    /// The submodules that are checked out.
    pub submodules: BTreeMap<BString, View>,
}

/// A path of the commit or the index.
struct Tracked {
    committed: Option<Stored>,
    is_seen: bool,
}

struct Walk<'a> {
    repository: &'a Repository,
    filters: &'a Filters,
    index: &'a Index,
    tracked: FxHashMap<BString, Tracked>,
    /// The directories above tracked paths.
    dirs: FxHashSet<BString>,
    found: Scan,
}

/// Compares the work tree with `commit`.
pub(super) fn scan(
    repository: &Repository,
    filters: &Filters,
    index: &Index,
    commit: TreeId,
) -> Result<Scan> {
    let mut walk = Walk {
        repository,
        filters,
        index,
        tracked: tracked_paths(repository, index, commit)?,
        dirs: FxHashSet::default(),
        found: Scan::default(),
    };
    for path in walk.tracked.keys() {
        add_parents(path, &mut walk.dirs);
    }
    walk.directory(&mut BString::default(), repository.root(), true)?;
    walk.unseen();
    Ok(walk.found)
}

fn tracked_paths(
    repository: &Repository,
    index: &Index,
    commit: TreeId,
) -> Result<FxHashMap<BString, Tracked>> {
    let mut tracked = FxHashMap::default();
    repository.each_path(commit.0, &mut Vec::new(), &mut |path, stored| {
        let committed = Some(stored);
        let is_seen = false;
        tracked.insert(path.to_owned(), Tracked { committed, is_seen });
    })?;
    for (path, _) in index.iter() {
        tracked.entry(path.clone()).or_insert(Tracked {
            committed: None,
            is_seen: false,
        });
    }
    Ok(tracked)
}

fn add_parents(path: &[u8], dirs: &mut FxHashSet<BString>) {
    let mut path = path;
    while let Some(slash) = path.rfind_byte(b'/') {
        path = &path[..slash];
        if !dirs.insert(path.into()) {
            return;
        }
    }
}

impl Walk<'_> {
    /// Everything beneath the real directory `place`, which is `path`.
    fn directory(&mut self, path: &mut BString, place: &Path, is_tracked: bool) -> Result<()> {
        let names = match std::fs::read_dir(place) {
            Ok(names) => names,
            // As git, which warns: nobody can read what is in there, and an
            // unseen tracked file counts as deleted.
            Err(_) if !is_tracked => return Ok(()),
            Err(error) => return Err(HistoryError::disk("list", place, &error)),
        };
        for entry in names {
            let entry = entry.map_err(|error| HistoryError::disk("list", place, &error))?;
            let name = entry.file_name();
            if name == ".git" {
                continue;
            }
            let len = path.len();
            if len > 0 {
                path.push(b'/');
            }
            path.push_str(Vec::from_os_str_lossy(&name));
            self.entry(path, &entry)?;
            path.truncate(len);
        }
        Ok(())
    }

    fn entry(&mut self, path: &mut BString, entry: &DirEntry) -> Result<()> {
        let place = entry.path();
        let gone = |error| HistoryError::disk("look at", &place, &error);
        let kind = entry.file_type().map_err(gone)?;
        if !kind.is_dir() {
            return match self.tracked.get_mut(path) {
                Some(tracked) => {
                    tracked.is_seen = true;
                    let committed = tracked.committed;
                    let metadata = entry.metadata().map_err(gone)?;
                    self.tracked_file(path, &place, &metadata, committed)
                }
                None => self.untracked_file(path, entry),
            };
        }
        if self.is_submodule(path) {
            return self.submodule(path, &place);
        }
        if self.dirs.contains(path) {
            return self.directory(path, &place, true);
        }
        if self.is_ignored(path) {
            return Ok(());
        }
        match checked_out(&place)? {
            Some(repository) => {
                let commit = repository.head()?.commit;
                self.found.changes.insert(path.clone(), gitlink(commit.0));
                Ok(())
            }
            None => self.directory(path, &place, false),
        }
    }

    fn tracked_file(
        &mut self,
        path: &BString,
        place: &Path,
        metadata: &Metadata,
        committed: Option<Stored>,
    ) -> Result<()> {
        let indexed = self.index.get(path);
        let before = indexed.map(|item| item.stored).or(committed);
        let Some(mode) = self
            .filters
            .mode(metadata, before.map(|stored| stored.mode))
        else {
            // A socket or a device: no file that git could store.
            self.found.changes.insert(path.clone(), Change::Deleted);
            return Ok(());
        };
        let file = match indexed {
            Some(item) if item.stored.mode == mode && self.index.vouches_for(item, metadata) => {
                DiskFile::known(item.stored)
            }
            _ => self.filters.hash(
                self.repository,
                path.as_bstr(),
                place,
                mode,
                self.index.blob(path),
            )?,
        };
        if file.is_opaque || committed != Some(file.stored) {
            self.found
                .changes
                .insert(path.clone(), Change::Edited(file));
        }
        Ok(())
    }

    fn untracked_file(&mut self, path: &BString, entry: &DirEntry) -> Result<()> {
        if self.is_ignored(path) {
            return Ok(());
        }
        let metadata = entry
            .metadata()
            .map_err(|error| HistoryError::disk("look at", &entry.path(), &error))?;
        if let Some(mode) = self.filters.mode(&metadata, None) {
            self.found
                .changes
                .insert(path.clone(), Change::Untracked(mode));
        }
        Ok(())
    }

    fn is_submodule(&self, path: &BString) -> bool {
        let committed = self.tracked.get(path).and_then(|known| known.committed);
        let indexed = self.index.get(path).map(|item| item.stored);
        indexed
            .or(committed)
            .is_some_and(|stored| stored.mode == Mode::Gitlink)
    }

    /// A directory where a submodule belongs. One that is not checked out is
    /// as the index says, as for git.
    fn submodule(&mut self, path: &BString, place: &Path) -> Result<()> {
        let mut committed = None;
        if let Some(tracked) = self.tracked.get_mut(path) {
            tracked.is_seen = true;
            committed = tracked.committed;
        }
        let id = match checked_out(place)? {
            Some(repository) => {
                let view = repository.work_view()?;
                let commit = view.revision().commit;
                self.found.submodules.insert(path.clone(), view);
                Some(commit.0)
            }
            None => self.index.blob(path),
        };
        if let Some(id) = id.filter(|id| committed.map(|stored| stored.id) != Some(*id)) {
            self.found.changes.insert(path.clone(), gitlink(id));
        }
        Ok(())
    }

    /// Tracked paths that the pass did not meet.
    fn unseen(&mut self) {
        for (path, tracked) in self.tracked.drain().filter(|(_, tracked)| !tracked.is_seen) {
            if self.index.get(&path).is_some_and(|item| item.is_skipped) {
                self.found.sparse.insert(path);
            } else if tracked.committed.is_some() {
                self.found.changes.insert(path, Change::Deleted);
            }
        }
    }

    fn is_ignored(&self, path: &BString) -> bool {
        is_ignored(self.repository, path)
    }
}

/// Whether the ignore rules leave `path` out. In doubt they do not.
pub(super) fn is_ignored(repository: &Repository, path: &[u8]) -> bool {
    repository
        .git()
        .is_path_ignored(path.to_path_lossy())
        .unwrap_or(false)
}

/// The repository whose work tree is `place`, if there is one with a commit.
pub(super) fn checked_out(place: &Path) -> Result<Option<Repository>> {
    if place.join(".git").symlink_metadata().is_err() {
        return Ok(None);
    }
    let repository = match Repository::open_at(place) {
        Ok(repository) => repository,
        // A `.git` that is none: its directory is one like others.
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

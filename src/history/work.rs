//! The part of a work view that looks at the disk.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};

use super::filters::{DiskFile, Filters};
use super::index::Index;
use super::objects::{Found, ObjectId, Stored};
use super::repository::{Repository, git_path};
use super::scan::{Change, Scan, is_ignored, scan, tracked};
use super::sweep::{Pending, Tracked};
use super::view::{Entry, View, is_dir, join};
use super::{HistoryError, Result, Revision};
use crate::matrix::{Fingerprint, Mode};

/// What a work view knows besides its commit.
pub(super) struct Work {
    tracked: Arc<Tracked>,
    pub scan: Scan,
    pub dirty: OnceCell<Vec<(BString, Fingerprint)>>,
    hashed: RefCell<BTreeMap<BString, DiskFile>>,
}

/// [`Work`] while another thread looks at the disk.
pub(super) struct Begun {
    tracked: Arc<Tracked>,
    sweep: Pending,
}

impl Begun {
    pub(super) fn of(repository: &Repository, revision: &Revision) -> Result<Begun> {
        let filters = Filters::of(repository);
        let tracked = Arc::new(tracked(repository, filters, revision.tree)?);
        let sweep = Pending::start(repository.root().to_owned(), tracked.clone());
        Ok(Begun { tracked, sweep })
    }

    pub(super) fn finish(self, repository: &Repository) -> Result<Work> {
        let scan = scan(repository, &self.tracked, self.sweep.wait()?)?;
        Ok(Work {
            tracked: self.tracked,
            scan,
            dirty: OnceCell::new(),
            hashed: RefCell::default(),
        })
    }
}

impl View {
    pub(super) fn work_entry(&self, work: &Work, path: &BStr) -> Result<Entry> {
        match work.scan.changes.get(path) {
            Some(Change::Edited(file)) => return Ok(Entry::of_file(file)),
            Some(Change::Untracked(mode)) => {
                return self
                    .hashed(work, path, *mode)
                    .map(|file| Entry::of_file(&file));
            }
            Some(Change::Deleted) => return self.disk_entry(work, path),
            None => {}
        }
        if let Some((view, rest)) = self.work_beneath(work, path)? {
            return view.entry(rest.as_bstr());
        }
        match self.repository.find(self.revision.tree, path)? {
            Found::Stored(stored) => Ok(Entry::of(stored)),
            Found::Dir(_) if work.has_sparse(path) => Ok(Entry::Dir),
            Found::Dir(_) | Found::Missing | Found::Beyond { .. } => self.disk_entry(work, path),
        }
    }

    /// The repository below this one that contains `path`, and the rest of the path.
    fn work_beneath(&self, work: &Work, path: &BStr) -> Result<Option<(Rc<View>, BString)>> {
        for at in path.find_iter("/") {
            let top = path[..at].as_bstr();
            let is_repository = match work.scan.changes.get(top) {
                Some(Change::Edited(file)) => file.stored.mode == Mode::Gitlink,
                Some(Change::Deleted | Change::Untracked(_)) => false,
                None => work.scan.submodules.contains_key(top),
            };
            if is_repository && let Some(view) = self.beneath(top, [0; 20])? {
                return Ok(Some((view, path[at + 1..].into())));
            }
        }
        Ok(None)
    }

    /// What is on disk at a path that git does not know.
    fn disk_entry(&self, work: &Work, path: &BStr) -> Result<Entry> {
        let place = self.repository.on_disk(path);
        let metadata = match place.symlink_metadata() {
            Ok(metadata) => metadata,
            Err(error) if is_missing(&error) => return Ok(Entry::Missing),
            Err(_) => return Ok(Entry::Unknown),
        };
        match self.real_path(path, &place) {
            Some(real) if real != path => return self.entry(real.as_bstr()),
            Some(_) => {}
            None => return Ok(Entry::Unknown),
        }
        if metadata.is_dir() {
            return Ok(Entry::Dir);
        }
        match work.tracked.filters.mode(&metadata, None) {
            Some(mode) => Ok(Entry::of_file(&self.hashed(work, path, mode)?)),
            None => Ok(Entry::Unknown),
        }
    }

    /// `path` with the symbolic links above it resolved; `None` if it leads out of the work
    /// tree.
    fn real_path(&self, path: &BStr, place: &Path) -> Option<BString> {
        if path.is_empty() {
            return Some(BString::default());
        }
        let parent = place.parent()?.canonicalize().ok()?;
        let real = parent.join(place.file_name()?);
        Some(git_path(real.strip_prefix(self.repository.root()).ok()?))
    }

    /// Hashes the file on disk once.
    fn hashed(&self, work: &Work, path: &BStr, mode: Mode) -> Result<DiskFile> {
        if let Some(known) = work.hashed.borrow().get(path) {
            return Ok(known.clone());
        }
        let place = self.repository.on_disk(path);
        let indexed = work.index().blob(path);
        let file = work
            .tracked
            .filters
            .hash(&self.repository, path, &place, mode, indexed)?;
        work.hashed
            .borrow_mut()
            .insert(path.to_owned(), file.clone());
        Ok(file)
    }

    pub(super) fn work_read(&self, work: &Work, path: &BStr) -> Result<Option<Vec<u8>>> {
        if let Some((view, rest)) = self.work_beneath(work, path)? {
            return view.read(rest.as_bstr());
        }
        let place = self.repository.on_disk(path);
        if let Some(real) = self.real_path(path, &place)
            && real != path
        {
            return self.read(real.as_bstr());
        }
        let (blob, mode) = match self.work_entry(work, path)? {
            Entry::File { blob, mode, .. } if mode != Mode::Gitlink => (blob, mode),
            Entry::Unknown => return Err(self.unknown(path)),
            Entry::TooLarge { bytes, .. } => return Err(self.unread(path, bytes)),
            Entry::File { .. } | Entry::Missing | Entry::Dir => return Ok(None),
        };
        if !work.scan.changes.contains_key(path) && self.repository.has_object(blob) {
            return self.blob(Stored { id: blob, mode });
        }
        let indexed = work.index().blob(path);
        work.tracked
            .filters
            .read(&self.repository, path, &place, mode, indexed)
            .map(|(content, _)| Some(content))
    }

    pub(super) fn work_list(
        &self,
        work: &Work,
        dir: &BStr,
    ) -> Result<Option<Vec<(BString, bool)>>> {
        if let Some((view, rest)) = self.work_beneath(work, dir)? {
            return view.list(rest.as_bstr());
        }
        match self.entry(dir)? {
            Entry::Missing => return Ok(None),
            Entry::Unknown => return Err(self.unknown(dir)),
            Entry::TooLarge { .. } => return Ok(None),
            Entry::Dir => {}
            Entry::File { mode, blob, .. } => {
                return match mode {
                    Mode::Gitlink => match self.beneath(dir, blob)? {
                        Some(view) => view.list(BStr::new("")),
                        None => Ok(Some(Vec::new())),
                    },
                    Mode::Symlink => self.list_target(dir),
                    Mode::Regular | Mode::Executable => Ok(None),
                };
            }
        }
        let place = self.repository.on_disk(dir);
        if let Some(real) = self.real_path(dir, &place)
            && real != dir
        {
            return self.list(real.as_bstr());
        }
        let mut names = self.visible_names(work, dir)?;
        if names.is_empty() && is_ignored(&self.repository, dir)? {
            names = names_on_disk(&place)?;
        } else {
            for (name, is_dir) in names_on_disk(&place)? {
                if is_dir && !names.contains_key(&name) && is_bare_dir(&place, &name) {
                    names.insert(name, true);
                }
            }
        }
        Ok(Some(names.into_iter().collect()))
    }

    /// Lists the directory to which the link at `path` points.
    fn list_target(&self, path: &BStr) -> Result<Option<Vec<(BString, bool)>>> {
        let Ok(real) = self.repository.on_disk(path).canonicalize() else {
            return Ok(None);
        };
        match real.strip_prefix(self.repository.root()) {
            Ok(real) => self.list(git_path(real).as_bstr()),
            Err(_) => Err(self.unknown(path)),
        }
    }

    /// The names in `dir` that are tracked and exist, or are new and not ignored.
    fn visible_names(&self, work: &Work, dir: &BStr) -> Result<BTreeMap<BString, bool>> {
        let mut names = BTreeMap::new();
        if let Found::Dir(id) = self.repository.find(self.revision.tree, dir)? {
            for item in self.repository.tree(id)?.iter() {
                let path = join(dir, &item.name);
                let is_there = match item.mode {
                    Some(_) => !work.is_deleted(&path),
                    None => self.has_undeleted(work, item.id, &path)?,
                };
                if is_there {
                    names.insert(item.name.clone(), is_dir(item.mode));
                }
            }
        }
        for (path, change) in work.changes_beneath(dir) {
            let rest = &path[if dir.is_empty() { 0 } else { dir.len() + 1 }..];
            let (name, is_deeper) = match rest.split_once_str("/") {
                Some((name, _)) => (name, true),
                None => (rest, false),
            };
            let mode = match change {
                Change::Deleted => continue,
                Change::Edited(file) => file.stored.mode,
                Change::Untracked(mode) => *mode,
            };
            names.insert(name.into(), is_deeper || mode == Mode::Gitlink);
        }
        Ok(names)
    }

    /// Whether any path of the tree `id`, which is at `dir`, exists on disk.
    fn has_undeleted(&self, work: &Work, id: ObjectId, dir: &BString) -> Result<bool> {
        let mut deleted = work.changes_beneath(dir.as_bstr());
        if !deleted.any(|(_, change)| matches!(change, Change::Deleted)) {
            return Ok(true);
        }
        let mut is_any_left = false;
        let mut prefix = join(dir, b"").into();
        self.repository.each_path(id, &mut prefix, &mut |path, _| {
            is_any_left |= !work.is_deleted(path);
        })?;
        Ok(is_any_left)
    }
}

impl Work {
    pub(super) fn index(&self) -> &Index {
        &self.tracked.index
    }

    fn is_deleted(&self, path: &[u8]) -> bool {
        matches!(
            self.scan.changes.get(BStr::new(path)),
            Some(Change::Deleted)
        )
    }

    fn has_sparse(&self, dir: &BStr) -> bool {
        let below = join(dir, b"");
        self.scan
            .sparse
            .range(below.clone()..)
            .next()
            .is_some_and(|path| path.starts_with(&below))
    }

    fn changes_beneath(&self, dir: &BStr) -> impl Iterator<Item = (&BString, &Change)> {
        let below = join(dir, b"");
        self.scan
            .changes
            .range(below.clone()..)
            .take_while(move |(path, _)| path.starts_with(&below))
    }
}

fn is_missing(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

/// All names in a directory except `.git`; none if it does not exist.
fn names_on_disk(place: &Path) -> Result<BTreeMap<BString, bool>> {
    let unreadable = |error| HistoryError::disk("list", place, &error);
    let entries = match std::fs::read_dir(place) {
        Ok(entries) => entries,
        Err(error) if is_missing(&error) => return Ok(BTreeMap::new()),
        Err(error) => return Err(unreadable(error)),
    };
    let mut names = BTreeMap::new();
    for entry in entries {
        let entry = entry.map_err(unreadable)?;
        let is_dir = entry.file_type().map_err(unreadable)?.is_dir();
        let name = git_path(Path::new(&entry.file_name()));
        if name != ".git" {
            names.insert(name, is_dir);
        }
    }
    Ok(names)
}

/// Whether there are only directories at and below `place/name`.
fn is_bare_dir(place: &Path, name: &BString) -> bool {
    let place = place.join(name.to_path_lossy());
    names_on_disk(&place).is_ok_and(|names| {
        names
            .iter()
            .all(|(name, is_dir)| *is_dir && is_bare_dir(&place, name))
    })
}

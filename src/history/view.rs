//! A state of the files: those of a commit, or those that lie on disk.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use bstr::{BStr, BString, ByteSlice};
use rustc_hash::FxHashMap;

use super::filters::{DiskFile, Filters};
use super::index::Index;
use super::objects::{Found, ObjectId, Stored};
use super::repository::{Repository, git_path};
use super::scan::{Change, Scan, checked_out, is_ignored, scan};
use super::{CommitId, HistoryError, HistoryErrorKind, Result, Revision};
use crate::matrix::{Fingerprint, Mode};

/// Symbolic links followed before a path counts as a loop.
const MAX_LINKS: usize = 40;

/// What a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    Missing,
    Dir,
    /// A file, a symbolic link (its content is its target) or a submodule
    /// (its blob is the commit).
    File {
        fingerprint: Fingerprint,
        /// The id of the content as git stores it.
        blob: [u8; 20],
        mode: Mode,
    },
    /// Git cannot tell here: a file of a submodule that is not checked out, a
    /// link that leaves the repository, a socket. Equal to nothing.
    Unknown,
}

impl Entry {
    fn of(stored: Stored) -> Entry {
        Entry::of_file(&DiskFile::known(stored))
    }

    fn of_file(file: &DiskFile) -> Entry {
        Entry::File {
            fingerprint: file.fingerprint,
            blob: file.stored.id,
            mode: file.stored.mode,
        }
    }
}

/// A snapshot that answers questions about paths.
///
/// A *tree view* has the content of a commit. A *work view* has what lies on
/// disk: HEAD, what is staged, edited and deleted, and untracked files. What
/// differs from HEAD is found when the view is made; ignored and untracked
/// files are hashed when they are asked for.
///
/// For a clean checkout both views give equal answers for every path, except
/// for ignored files: they are missing in a tree view, and are as on disk in a
/// work view.
pub struct View {
    repository: Repository,
    revision: Revision,
    work: Option<Work>,
    /// Views of repositories beneath this one, by path; `None` where there
    /// is none.
    beneath: RefCell<FxHashMap<BString, Option<Rc<View>>>>,
}

/// What a work view knows besides its commit.
struct Work {
    filters: Filters,
    index: Index,
    scan: Scan,
    dirty: OnceCell<Vec<(BString, Fingerprint)>>,
    hashed: RefCell<BTreeMap<BString, DiskFile>>,
}

/// Where a path leads in a tree view.
enum Place {
    Missing,
    Unknown,
    Dir(ObjectId),
    Stored(Stored),
    /// In a submodule, with the rest of the path.
    Beneath(Rc<View>, BString),
}

impl Repository {
    /// The files of a commit. Reads trees when asked, blobs only in
    /// [`View::read`], so it works in a partial clone.
    pub fn tree_view(&self, revision: &Revision) -> Result<View> {
        self.tree(revision.tree.0)?;
        Ok(View::new(self, *revision, None))
    }

    /// The files on disk.
    ///
    /// # Errors
    /// There is no commit, or the index or a file cannot be read.
    pub fn work_view(&self) -> Result<View> {
        let revision = self.head()?;
        let filters = Filters::of(self);
        let index = Index::read(self)?;
        let scan = scan(self, &filters, &index, revision.tree)?;
        let work = Work {
            filters,
            index,
            scan,
            dirty: OnceCell::new(),
            hashed: RefCell::default(),
        };
        Ok(View::new(self, revision, Some(work)))
    }
}

impl View {
    fn new(repository: &Repository, revision: Revision, work: Option<Work>) -> View {
        View {
            repository: repository.clone(),
            revision,
            work,
            beneath: RefCell::default(),
        }
    }

    /// The commit that the view is of, or is based on.
    pub fn revision(&self) -> &Revision {
        &self.revision
    }

    pub fn is_work(&self) -> bool {
        self.work.is_some()
    }

    /// What `path` is. Symbolic links above it are followed, itself is not.
    pub fn entry(&self, path: &BStr) -> Result<Entry> {
        match &self.work {
            Some(work) => self.work_entry(work, path),
            None => Ok(match self.place(path, false)? {
                Place::Missing => Entry::Missing,
                Place::Unknown => Entry::Unknown,
                Place::Dir(_) => Entry::Dir,
                Place::Stored(stored) => Entry::of(stored),
                Place::Beneath(view, rest) => view.entry(rest.as_bstr())?,
            }),
        }
    }

    /// The content of a file as git stores it (line ends and `$Id$` as in the
    /// blob; a file under an external filter that was edited: as on disk), or
    /// a symbolic link's target. `None` if `path` is no file.
    ///
    /// # Errors
    /// The content is not in the object store (a partial clone), or a file
    /// cannot be read.
    pub fn read(&self, path: &BStr) -> Result<Option<Vec<u8>>> {
        match &self.work {
            Some(work) => self.work_read(work, path),
            None => match self.place(path, false)? {
                Place::Missing | Place::Dir(_) => Ok(None),
                Place::Unknown => Err(self.unknown(path)),
                Place::Stored(stored) => self.blob(stored),
                Place::Beneath(view, rest) => view.read(rest.as_bstr()),
            },
        }
    }

    /// The names in a directory, sorted, each with whether it is a directory
    /// (submodules are). `None` if `dir` is no directory. A symbolic link to a
    /// directory is followed.
    ///
    /// Names that git ignores are left out, and so are directories that hold
    /// nothing else, so that a clean checkout lists the same in both views in
    /// spite of `__pycache__` and the like. In an ignored directory all names
    /// count. Names that a sparse checkout leaves out count as present; an
    /// empty directory, which git cannot store, counts in a work view.
    pub fn list(&self, dir: &BStr) -> Result<Option<Vec<(BString, bool)>>> {
        match &self.work {
            Some(work) => self.work_list(work, dir),
            None => match self.place(dir, true)? {
                Place::Missing | Place::Stored(_) => Ok(None),
                Place::Unknown => Err(self.unknown(dir)),
                Place::Dir(id) => {
                    let items = self.repository.tree(id)?;
                    Ok(Some(
                        items
                            .iter()
                            .map(|item| (item.name.clone(), is_dir(item.mode)))
                            .collect(),
                    ))
                }
                Place::Beneath(view, rest) => view.list(rest.as_bstr()),
            },
        }
    }

    /// Whether `path` is a file, link or submodule of the commit or the index,
    /// or a tracked file of a submodule. For other paths git knows nothing:
    /// ask [`View::entry`] whatever a [`super::Delta`] says.
    pub fn is_tracked(&self, path: &BStr) -> Result<bool> {
        if let Some(work) = &self.work
            && work.index.get(path).is_some()
        {
            return Ok(true);
        }
        match self.repository.find(self.revision.tree, path)? {
            Found::Stored(_) => Ok(true),
            Found::Missing | Found::Dir(_) => Ok(false),
            Found::Beyond { at, stored } if stored.mode == Mode::Gitlink => {
                match self.beneath(path[..at].as_bstr(), stored.id)? {
                    Some(view) => view.is_tracked(path[at + 1..].as_bstr()),
                    None => Ok(false),
                }
            }
            Found::Beyond { .. } => Ok(false),
        }
    }

    /// The paths that differ from the commit, sorted, with the fingerprint
    /// that they have on disk; [`Fingerprint::MISSING`] if deleted. Files in
    /// submodules are among them. Empty for a tree view.
    ///
    /// # Errors
    /// An untracked file cannot be read: this hashes all of them.
    pub fn dirty(&self) -> Result<&[(BString, Fingerprint)]> {
        let Some(work) = &self.work else {
            return Ok(&[]);
        };
        if let Some(known) = work.dirty.get() {
            return Ok(known);
        }
        let mut dirty = Vec::new();
        for path in self.changed_paths() {
            let fingerprint = match self.entry(path.as_bstr())? {
                Entry::File { fingerprint, .. } => fingerprint,
                Entry::Missing | Entry::Dir | Entry::Unknown => Fingerprint::MISSING,
            };
            dirty.push((path, fingerprint));
        }
        Ok(work.dirty.get_or_init(|| dirty))
    }

    /// The paths of [`View::dirty`], without hashing.
    pub(super) fn changed_paths(&self) -> Vec<BString> {
        let Some(work) = &self.work else {
            return Vec::new();
        };
        let mut paths: Vec<BString> = work.scan.changes.keys().cloned().collect();
        for (top, view) in &work.scan.submodules {
            paths.extend(view.changed_paths().iter().map(|path| join(top, path)));
        }
        paths.sort_unstable();
        paths
    }

    fn blob(&self, stored: Stored) -> Result<Option<Vec<u8>>> {
        if stored.mode == Mode::Gitlink {
            return Ok(None);
        }
        self.repository
            .object(stored.id, git2::ObjectType::Blob)
            .map(Some)
    }

    fn unknown(&self, path: &BStr) -> HistoryError {
        HistoryError::new(
            HistoryErrorKind::MissingObject,
            format!(
                "what {path} is cannot be told from commit {}",
                self.revision.commit
            ),
            "if it lies in a submodule, check that out with `git submodule update --init`",
        )
    }

    /// Where `path` leads in the commit's tree; the last part is followed as
    /// well if `follows`.
    fn place(&self, path: &BStr, follows: bool) -> Result<Place> {
        let mut path = path.to_owned();
        for _ in 0..MAX_LINKS {
            let (at, stored) = match self.repository.find(self.revision.tree, path.as_bstr())? {
                Found::Missing => return Ok(Place::Missing),
                Found::Dir(id) => return Ok(Place::Dir(id)),
                Found::Beyond { at, stored } => (at, stored),
                Found::Stored(stored) if follows && stored.mode != Mode::Regular => {
                    (path.len(), stored)
                }
                Found::Stored(stored) => return Ok(Place::Stored(stored)),
            };
            let rest = path.get(at + 1..).unwrap_or_default();
            match stored.mode {
                Mode::Gitlink => {
                    return Ok(match self.beneath(path[..at].as_bstr(), stored.id)? {
                        Some(view) => Place::Beneath(view, rest.into()),
                        None => Place::Unknown,
                    });
                }
                Mode::Symlink => {
                    let target = self.repository.object(stored.id, git2::ObjectType::Blob)?;
                    match follow(&path[..at], &target, rest) {
                        Some(next) => path = next,
                        None => return Ok(Place::Unknown),
                    }
                }
                Mode::Regular | Mode::Executable => return Ok(Place::Stored(stored)),
            }
        }
        Ok(Place::Missing)
    }

    /// The view of the repository at `path`: for a tree view at `commit`,
    /// for a work view as it lies there. `None` if it is not checked out or
    /// lacks the commit.
    fn beneath(&self, path: &BStr, commit: ObjectId) -> Result<Option<Rc<View>>> {
        if let Some(known) = self.beneath.borrow().get(path) {
            return Ok(known.clone());
        }
        let view = match checked_out(&self.repository.on_disk(path))? {
            None => None,
            Some(repository) if self.is_work() => Some(repository.work_view()?),
            Some(repository) if repository.has_object(commit) => {
                let revision = repository.revision(CommitId(commit))?;
                Some(repository.tree_view(&revision)?)
            }
            Some(_) => None,
        };
        let view = view.map(Rc::new);
        self.beneath
            .borrow_mut()
            .insert(path.to_owned(), view.clone());
        Ok(view)
    }
}

/// The part of a view that looks at the disk.
impl View {
    fn work_entry(&self, work: &Work, path: &BStr) -> Result<Entry> {
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

    /// The repository beneath this one that `path` lies in, and the rest of
    /// the path.
    fn work_beneath(&self, work: &Work, path: &BStr) -> Result<Option<(Rc<View>, BString)>> {
        for (at, _) in path.match_indices_slash() {
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

    /// What lies on disk at a path of which git does not know it.
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
        match work.filters.mode(&metadata, None) {
            Some(mode) => Ok(Entry::of_file(&self.hashed(work, path, mode)?)),
            None => Ok(Entry::Unknown),
        }
    }

    /// `path` with the symbolic links above it resolved; `None` if it leads
    /// out of the work tree.
    fn real_path(&self, path: &BStr, place: &Path) -> Option<BString> {
        if path.is_empty() {
            return Some(BString::default());
        }
        let parent = place.parent()?.canonicalize().ok()?;
        let real = parent.join(place.file_name()?);
        Some(git_path(real.strip_prefix(self.repository.root()).ok()?))
    }

    /// The file on disk, hashed once.
    fn hashed(&self, work: &Work, path: &BStr, mode: Mode) -> Result<DiskFile> {
        if let Some(known) = work.hashed.borrow().get(path) {
            return Ok(known.clone());
        }
        let place = self.repository.on_disk(path);
        let indexed = work.index.blob(path);
        let file = work
            .filters
            .hash(&self.repository, path, &place, mode, indexed)?;
        work.hashed
            .borrow_mut()
            .insert(path.to_owned(), file.clone());
        Ok(file)
    }

    fn work_read(&self, work: &Work, path: &BStr) -> Result<Option<Vec<u8>>> {
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
            Entry::File { .. } | Entry::Missing | Entry::Dir => return Ok(None),
        };
        if !work.scan.changes.contains_key(path) && self.repository.has_object(blob) {
            return self.blob(Stored { id: blob, mode });
        }
        let indexed = work.index.blob(path);
        work.filters
            .read(&self.repository, path, &place, mode, indexed)
            .map(|(content, _)| Some(content))
    }

    fn work_list(&self, work: &Work, dir: &BStr) -> Result<Option<Vec<(BString, bool)>>> {
        if let Some((view, rest)) = self.work_beneath(work, dir)? {
            return view.list(rest.as_bstr());
        }
        match self.entry(dir)? {
            Entry::Missing => return Ok(None),
            Entry::Unknown => return Err(self.unknown(dir)),
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
        if names.is_empty() && is_ignored(&self.repository, dir) {
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

    /// The listing of the directory that the link at `path` points to.
    fn list_target(&self, path: &BStr) -> Result<Option<Vec<(BString, bool)>>> {
        let Ok(real) = self.repository.on_disk(path).canonicalize() else {
            return Ok(None);
        };
        match real.strip_prefix(self.repository.root()) {
            Ok(real) => self.list(git_path(real).as_bstr()),
            Err(_) => Err(self.unknown(path)),
        }
    }

    /// The names in `dir` that are tracked and there, or new and not ignored.
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

    /// Whether any path of the tree `id`, which is at `dir`, is on disk.
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

/// The positions of `/`.
trait Slashes {
    fn match_indices_slash(&self) -> impl Iterator<Item = (usize, u8)>;
}

impl Slashes for BStr {
    fn match_indices_slash(&self) -> impl Iterator<Item = (usize, u8)> {
        self.bytes().enumerate().filter(|(_, byte)| *byte == b'/')
    }
}

fn is_dir(mode: Option<Mode>) -> bool {
    matches!(mode, None | Some(Mode::Gitlink))
}

/// `dir/name`, or `name` at the top.
fn join(dir: &[u8], name: &[u8]) -> BString {
    match dir {
        [] => name.into(),
        _ => bstr::join("/", [dir, name]).into(),
    }
}

/// The path that `link/rest` means when `link` points to `target`; `None` if
/// it leads out of the tree or the text alone does not tell.
fn follow(link: &[u8], target: &[u8], rest: &[u8]) -> Option<BString> {
    let mut parts: Vec<&[u8]> = link.split_str("/").collect();
    parts.pop();
    if target.starts_with(b"/") {
        return None;
    }
    let mut is_down = false;
    for part in target.split_str("/") {
        match part {
            b"" | b"." => {}
            // After a name, `..` depends on whether that is a link.
            b".." if is_down => return None,
            b".." => {
                parts.pop()?;
            }
            name => {
                is_down = true;
                parts.push(name);
            }
        }
    }
    if !rest.is_empty() {
        parts.push(rest);
    }
    Some(bstr::join("/", parts).into())
}

fn is_missing(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

/// All names in a directory but `.git`; none if there is no directory.
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

/// Whether there is nothing but directories at `place/name` and beneath.
fn is_bare_dir(place: &Path, name: &BString) -> bool {
    let place = place.join(name.to_path_lossy());
    names_on_disk(&place).is_ok_and(|names| {
        names
            .iter()
            .all(|(name, is_dir)| *is_dir && is_bare_dir(&place, name))
    })
}

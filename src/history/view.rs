//! A state of the files: those of a commit, or those on disk.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use bstr::{BStr, BString, ByteSlice};
use rustc_hash::FxHashMap;

use super::filters::DiskFile;
use super::objects::{Found, ObjectId, Stored};
use super::pieces::too_large;
use super::repository::Repository;
use super::scan::checked_out;
use super::work::{Begun, Work};
use super::{CommitId, HistoryError, HistoryErrorKind, Result, Revision};
use crate::matrix::{Fingerprint, Mode};

/// How many symbolic links are followed before a path counts as a loop.
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
    /// A file that is too large to read. It equals nothing.
    TooLarge {
        bytes: u64,
        /// Its fingerprint in lists of edited files, made of its metadata.
        fingerprint: Fingerprint,
    },
    /// Git cannot tell: a file of a submodule that is not checked out, a link that leaves the
    /// repository, a socket. It equals nothing.
    Unknown,
}

impl Entry {
    pub(super) fn of(stored: Stored) -> Entry {
        Entry::of_file(&DiskFile::known(stored))
    }

    pub(super) fn of_file(file: &DiskFile) -> Entry {
        let fingerprint = file.fingerprint;
        match file.unread {
            Some(bytes) => Entry::TooLarge { bytes, fingerprint },
            None => Entry::File {
                fingerprint,
                blob: file.stored.id,
                mode: file.stored.mode,
            },
        }
    }
}

/// A snapshot that answers questions about paths.
///
/// A *tree view* has the content of a commit. A *work view* has the files on disk: HEAD,
/// staged and unstaged edits and deletions, and untracked files. Differences from HEAD are
/// found when the view is made; ignored and untracked files are hashed on request.
///
/// For a clean checkout both views give equal answers for every path except ignored files: a
/// tree view lacks them, a work view has them as on disk.
pub struct View {
    pub(super) repository: Repository,
    pub(super) revision: Revision,
    work: Option<WorkCell>,
    /// Views of the repositories below this one, by path; `None` if there is none.
    beneath: RefCell<FxHashMap<BString, Option<Rc<View>>>>,
}

/// What a work view knows about the disk, once it is needed.
struct WorkCell {
    begun: Cell<Option<Begun>>,
    work: OnceCell<Result<Work>>,
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
    /// The files of a commit. Reads trees on request, and blobs only in [`View::read`], so it
    /// works in a partial clone.
    pub fn tree_view(&self, revision: &Revision) -> Result<View> {
        self.tree(revision.tree.0)?;
        Ok(View::new(self, *revision, None))
    }

    /// The files on disk.
    ///
    /// # Errors
    /// There is no commit, or the index or a file cannot be read.
    pub fn work_view(&self) -> Result<View> {
        let view = self.begin_work_view()?;
        view.settle()?;
        Ok(view)
    }

    /// The same while another thread still looks at the disk. Its errors appear at the first
    /// question to the view, or in [`View::settle`].
    ///
    /// # Errors
    /// There is no commit, or the index cannot be read.
    pub fn begin_work_view(&self) -> Result<View> {
        let revision = self.head()?;
        let begun = Begun::of(self, &revision)?;
        let work = WorkCell {
            begun: Cell::new(Some(begun)),
            work: OnceCell::new(),
        };
        Ok(View::new(self, revision, Some(work)))
    }
}

impl View {
    fn new(repository: &Repository, revision: Revision, work: Option<WorkCell>) -> View {
        View {
            repository: repository.clone(),
            revision,
            work,
            beneath: RefCell::default(),
        }
    }

    /// Waits until the sweep of the disk has finished.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn settle(&self) -> Result<()> {
        self.work().map(|_| ())
    }

    fn work(&self) -> Result<Option<&Work>> {
        let Some(cell) = &self.work else {
            return Ok(None);
        };
        let work = cell.work.get_or_init(|| match cell.begun.take() {
            Some(begun) => begun.finish(&self.repository),
            None => Err(HistoryError::new(
                HistoryErrorKind::Unreadable,
                "the work tree was asked about while it was looked at",
                "report this as a bug",
            )),
        });
        work.as_ref().map(Some).map_err(HistoryError::clone)
    }

    /// The commit of the view, or the one on which it is based.
    pub fn revision(&self) -> &Revision {
        &self.revision
    }

    pub fn is_work(&self) -> bool {
        self.work.is_some()
    }

    /// What `path` is. Symbolic links above it are followed, but not `path` itself.
    pub fn entry(&self, path: &BStr) -> Result<Entry> {
        match self.work()? {
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

    /// The content of a file as git stores it (line ends and `$Id$` as in the blob; an edited
    /// file with an external filter as on disk), or the target of a symbolic link. `None` if
    /// `path` is not a file.
    ///
    /// # Errors
    /// The content is not in the object store (a partial clone), or a file
    /// cannot be read.
    pub fn read(&self, path: &BStr) -> Result<Option<Vec<u8>>> {
        match self.work()? {
            Some(work) => self.work_read(work, path),
            None => match self.place(path, false)? {
                Place::Missing | Place::Dir(_) => Ok(None),
                Place::Unknown => Err(self.unknown(path)),
                Place::Stored(stored) => self.blob(stored),
                Place::Beneath(view, rest) => view.read(rest.as_bstr()),
            },
        }
    }

    /// The sorted names in a directory, each with whether it is a directory (submodules are).
    /// `None` if `dir` is not a directory. A symbolic link to a directory is followed.
    ///
    /// Names that git ignores are left out, and so are directories with nothing else in them:
    /// a clean checkout lists the same names in both views in spite of `__pycache__` and the
    /// like. In an ignored directory all names count. Names that a sparse checkout leaves out
    /// count as present. An empty directory, which git cannot store, counts in a work view.
    pub fn list(&self, dir: &BStr) -> Result<Option<Vec<(BString, bool)>>> {
        match self.work()? {
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

    /// Whether `path` is a file, link or submodule of the commit or the index, or a tracked
    /// file of a submodule. Git knows nothing about other paths: ask [`View::entry`] about
    /// them, whatever a [`super::Delta`] says.
    pub fn is_tracked(&self, path: &BStr) -> Result<bool> {
        if let Some(work) = self.work()?
            && work.index().get(path).is_some()
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

    /// The sorted paths that differ from the commit, with their fingerprints on disk, or
    /// [`Fingerprint::MISSING`] if deleted. Files in submodules are included. Empty for a tree
    /// view.
    ///
    /// # Errors
    /// An untracked file cannot be read: all of them are hashed.
    pub fn dirty(&self) -> Result<&[(BString, Fingerprint)]> {
        let Some(work) = self.work()? else {
            return Ok(&[]);
        };
        if let Some(known) = work.dirty.get() {
            return Ok(known);
        }
        let mut dirty = Vec::new();
        for path in self.changed_paths()? {
            let fingerprint = match self.entry(path.as_bstr())? {
                Entry::File { fingerprint, .. } | Entry::TooLarge { fingerprint, .. } => {
                    fingerprint
                }
                Entry::Missing | Entry::Dir | Entry::Unknown => Fingerprint::MISSING,
            };
            dirty.push((path, fingerprint));
        }
        Ok(work.dirty.get_or_init(|| dirty))
    }

    /// The paths of [`View::dirty`], without hashing.
    pub(super) fn changed_paths(&self) -> Result<Vec<BString>> {
        let Some(work) = self.work()? else {
            return Ok(Vec::new());
        };
        let mut paths: Vec<BString> = work.scan.changes.keys().cloned().collect();
        for (top, view) in &work.scan.submodules {
            paths.extend(view.changed_paths()?.iter().map(|path| join(top, path)));
        }
        paths.sort_unstable();
        Ok(paths)
    }

    pub(super) fn blob(&self, stored: Stored) -> Result<Option<Vec<u8>>> {
        if stored.mode == Mode::Gitlink {
            return Ok(None);
        }
        self.repository
            .object(stored.id, git2::ObjectType::Blob)
            .map(Some)
    }

    pub(super) fn unread(&self, path: &BStr, bytes: u64) -> HistoryError {
        HistoryError::new(
            HistoryErrorKind::Unreadable,
            format!("{path} {}", too_large(bytes)),
            "let git ignore it, or move it out of the repository",
        )
    }

    pub(super) fn unknown(&self, path: &BStr) -> HistoryError {
        HistoryError::new(
            HistoryErrorKind::MissingObject,
            format!(
                "cannot tell from commit {} what {path} is",
                self.revision.commit
            ),
            "if it is in a submodule, check that out with `git submodule update --init`",
        )
    }

    /// Where `path` leads in the commit's tree. If `follows` is set, a link at its end is
    /// followed, too.
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

    /// The view of the repository at `path`: at `commit` for a tree view, as on disk for a
    /// work view. `None` if it is not checked out or lacks the commit.
    pub(super) fn beneath(&self, path: &BStr, commit: ObjectId) -> Result<Option<Rc<View>>> {
        let submodules = self.work()?.map(|work| &work.scan.submodules);
        if let Some(known) = submodules.and_then(|submodules| submodules.get(path)) {
            return Ok(Some(known.clone()));
        }
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

pub(super) fn is_dir(mode: Option<Mode>) -> bool {
    matches!(mode, None | Some(Mode::Gitlink))
}

/// `dir/name`, or `name` at the top.
pub(super) fn join(dir: &[u8], name: &[u8]) -> BString {
    match dir {
        [] => name.into(),
        _ => bstr::join("/", [dir, name]).into(),
    }
}

/// The path of `link/rest` if `link` points to `target`. `None` if it leads out of the tree or
/// the text alone does not tell.
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
            // After a name, the meaning of `..` depends on whether the name is a link.
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

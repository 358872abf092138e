//! Finds a repository and resolves its names.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use bstr::{BStr, BString, ByteSlice};
use rustc_hash::{FxHashMap, FxHashSet};

use super::objects::{ObjectId, TreeItem, object_id};
use super::odd::{check, check_repository};
use super::scan::is_ignored;
use super::{CommitId, HistoryError, HistoryErrorKind, Result, Revision, owner};

pub(super) type TreeCache = RefCell<FxHashMap<ObjectId, Rc<[TreeItem]>>>;

/// A repository with a work tree. Clones share what they have read; each thread must discover
/// its own.
#[derive(Clone)]
pub struct Repository {
    inner: Rc<Inner>,
}

struct Inner {
    git: git2::Repository,
    root: PathBuf,
    trees: TreeCache,
    rules: RefCell<FxHashSet<BString>>,
}

impl Repository {
    /// The repository that git would use in the directory `from`. `GIT_DIR`, `GIT_WORK_TREE`,
    /// `GIT_INDEX_FILE` and `GIT_CEILING_DIRECTORIES` count.
    ///
    /// # Errors
    /// There is none, it is bare, it belongs to another user and was not
    /// [entrusted](super::entrust), or its format is unknown.
    pub fn discover(from: &Path) -> Result<Repository> {
        check_repository(from)?;
        let git = owner::open(|| {
            if std::env::var_os("GIT_DIR").is_some() {
                return git2::Repository::open_from_env();
            }
            // libgit2 reads this variable only where no path is given.
            let ceilings = std::env::var_os("GIT_CEILING_DIRECTORIES").unwrap_or_default();
            git2::Repository::open_ext(
                from,
                git2::RepositoryOpenFlags::FROM_ENV,
                std::env::split_paths(&ceilings),
            )
        });
        Repository::new(git.map_err(|error| HistoryError::opening(from, &error))?)
    }

    /// The repository whose work tree is exactly `top`: a submodule, or a repository inside
    /// the work tree of another.
    pub(super) fn open_at(top: &Path) -> Result<Repository> {
        check_repository(top)?;
        let git = owner::open(|| git2::Repository::open(top));
        let git = git.map_err(|error| HistoryError::opening(top, &error))?;
        Repository::new(git)
    }

    fn new(git: git2::Repository) -> Result<Repository> {
        let Some(workdir) = git.workdir() else {
            return Err(HistoryError::new(
                HistoryErrorKind::Bare,
                format!(
                    "{} is a bare repository: it has no files to test",
                    git.path().display()
                ),
                "run in a clone of it, or in a work tree made by `git worktree add`",
            ));
        };
        let root = workdir
            .canonicalize()
            .map_err(|error| HistoryError::disk("find the work tree", workdir, &error))?;
        let config = git.config().and_then(|mut config| config.snapshot());
        for name in ["core.attributesFile", "core.excludesFile"] {
            if let Some(file) = config.as_ref().ok().and_then(|it| it.get_path(name).ok()) {
                check(&file)?;
            }
        }
        Ok(Repository {
            inner: Rc::new(Inner {
                git,
                root,
                trees: TreeCache::default(),
                rules: RefCell::default(),
            }),
        })
    }

    pub(super) fn git(&self) -> &git2::Repository {
        &self.inner.git
    }

    pub(super) fn tree_cache(&self) -> &TreeCache {
        &self.inner.trees
    }

    /// The directories whose rules were checked.
    pub(super) fn known_rules(&self) -> &RefCell<FxHashSet<BString>> {
        &self.inner.rules
    }

    /// The top of the work tree, with symbolic links resolved.
    pub fn root(&self) -> &Path {
        &self.inner.root
    }

    /// Whether git ignores a new file at `path`, which is relative to the top of the work tree
    /// and need not exist. If in doubt, `false`.
    pub fn ignores(&self, path: &BStr) -> bool {
        is_ignored(self, path).unwrap_or(false)
    }

    /// Adds these folders (absolute paths) to git's ignore rules. Tracked files in them still
    /// count. Folders outside the work tree, or whose name no rule can express, are skipped.
    pub fn ignore(&self, folders: impl IntoIterator<Item = PathBuf>) {
        for folder in folders {
            let below = folder.strip_prefix(self.root()).ok();
            let Some(below) = below.and_then(Path::to_str).filter(|path| !path.is_empty()) else {
                continue;
            };
            let mut rule = String::from("/");
            for letter in below.chars() {
                if "\\*?[]".contains(letter) {
                    rule.push('\\');
                }
                rule.push(letter);
            }
            rule.push('/');
            // In doubt the folder counts like any other.
            let _ = self.git().add_ignore_rule(&rule);
        }
    }

    /// The path of `dir` in the work tree: empty for its top, `a/b` below.
    ///
    /// # Errors
    /// `dir` does not exist or is outside the work tree.
    pub fn prefix_of(&self, dir: &Path) -> Result<BString> {
        let real = dir
            .canonicalize()
            .map_err(|error| HistoryError::disk("find the directory", dir, &error))?;
        let below = real.strip_prefix(self.root()).map_err(|_| {
            HistoryError::new(
                HistoryErrorKind::Unreadable,
                format!(
                    "{} is not in the work tree {}",
                    dir.display(),
                    self.root().display()
                ),
                "name a directory inside it",
            )
        })?;
        Ok(git_path(below))
    }

    /// What HEAD points to.
    ///
    /// # Errors
    /// The branch has no commit yet, or the commit cannot be read.
    pub fn head(&self) -> Result<Revision> {
        let git = self.git();
        let commit = git
            .head()
            .and_then(|head| head.peel(git2::ObjectType::Commit))
            .map_err(|error| match error.code() {
                git2::ErrorCode::UnbornBranch => HistoryError::new(
                    HistoryErrorKind::UnbornHead,
                    match self.branch() {
                        Some(branch) => format!(
                            "branch {branch} of {} has no commit yet",
                            self.root().display()
                        ),
                        None => format!("{} has no commit yet", self.root().display()),
                    },
                    "make the first commit: `git add` your files, then `git commit`",
                ),
                _ => HistoryError::git(
                    format!("cannot read HEAD of {}", self.root().display()),
                    &error,
                ),
            })?;
        self.revision(CommitId(object_id(commit.id())))
    }

    /// The name of the current branch, even if it has no commit; `None` when detached.
    pub fn branch(&self) -> Option<String> {
        let head = self.git().find_reference("HEAD").ok()?;
        let target = head.symbolic_target_bytes()?;
        let name = target.strip_prefix(b"refs/heads/").unwrap_or(target);
        Some(name.to_str_lossy().into_owned())
    }

    /// Resolves `rev` in git's syntax (`main~2`, `v1.0`, a hash).
    ///
    /// # Errors
    /// No commit has this name here.
    pub fn resolve(&self, rev: &str) -> Result<Revision> {
        let commit = self
            .git()
            .revparse_single(rev)
            .and_then(|object| object.peel(git2::ObjectType::Commit))
            .map_err(|error| {
                let next = if self.is_shallow() {
                    "this is a shallow clone: fetch more with `git fetch --unshallow`"
                } else {
                    "see `git log --oneline` and `git branch --all` for names, or fetch it first"
                };
                HistoryError::new(
                    HistoryErrorKind::UnknownRevision,
                    format!("`{rev}` names no commit here ({})", error.message()),
                    next,
                )
            })?;
        self.revision(CommitId(object_id(commit.id())))
    }

    /// The commit with its tree.
    ///
    /// # Errors
    /// The commit is not in the object store.
    pub fn revision(&self, commit: CommitId) -> Result<Revision> {
        let tree = self.commit_header(commit)?.tree;
        Ok(Revision { commit, tree })
    }

    /// Whether history ends early because the clone was made with a depth.
    pub fn is_shallow(&self) -> bool {
        self.git().is_shallow()
    }

    /// Whether objects may be missing because the clone was made with a filter.
    pub fn is_partial(&self) -> bool {
        let Ok(config) = self.git().config() else {
            return false;
        };
        config.get_string("extensions.partialclone").is_ok()
            || config
                .entries(Some("remote\\..*\\.promisor"))
                .is_ok_and(|mut entries| entries.next().is_some())
    }

    /// A boolean of git's configuration.
    pub(super) fn switch(&self, name: &str, default: bool) -> bool {
        self.git()
            .config()
            .and_then(|config| config.get_bool(name))
            .unwrap_or(default)
    }

    /// A path of the work tree on disk.
    pub(super) fn on_disk(&self, path: &[u8]) -> PathBuf {
        // Joining nothing would add a slash.
        match path {
            [] => self.root().to_owned(),
            _ => self.root().join(path.to_path_lossy()),
        }
    }
}

/// The relative `path`, as git writes it.
pub(super) fn git_path(path: &Path) -> BString {
    let parts: Vec<_> = path
        .iter()
        .map(|part| <Vec<u8> as bstr::ByteVec>::from_os_str_lossy(part))
        .collect();
    bstr::join("/", parts).into()
}

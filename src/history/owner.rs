//! Opens repositories that belong to another user than this process.
//!
//! git refuses them, because their settings can name programs to start. But a CI service names
//! the folder of its checkout, and that folder often belongs to another user: in a container
//! on GitHub, root tests files of the runner's user. tamis trusts the named folder, as
//! `safe.directory` would, and nothing else.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use git2::{ErrorCode, Repository};

static ENTRUSTED: Mutex<Entrusted> = Mutex::new(Entrusted {
    folder: None,
    opened: BTreeMap::new(),
});

struct Entrusted {
    /// The folder that the CI service named.
    folder: Option<PathBuf>,
    /// The top of each work tree that was opened because of this folder, with the folder of
    /// git's own files.
    opened: BTreeMap<PathBuf, PathBuf>,
}

/// Trusts all repositories whose work trees are in `folder`, whoever owns them.
pub(crate) fn entrust(folder: &Path) {
    // An empty or relative path, or the root, names no folder.
    let folder = folder
        .is_absolute()
        .then(|| folder.canonicalize().ok())
        .flatten();
    let folder = folder.filter(|folder| folder.parent().is_some());
    let mut known = ENTRUSTED.lock().unwrap_or_else(PoisonError::into_inner);
    known.folder = folder;
}

/// The folder of git's own files, if the work tree with this top was opened though it belongs
/// to another user. The git program needs both paths.
pub(crate) fn entrusted(top: &Path) -> Option<PathBuf> {
    let known = ENTRUSTED.lock().unwrap_or_else(PoisonError::into_inner);
    known.opened.get(top).cloned()
}

/// Opens a repository. One of another user opens only if its work tree was entrusted.
pub(super) fn open(
    open: impl Fn() -> Result<Repository, git2::Error>,
) -> Result<Repository, git2::Error> {
    // The lock is held throughout: no other thread may open a repository while the owner check
    // is off.
    let mut known = ENTRUSTED.lock().unwrap_or_else(PoisonError::into_inner);
    let refused = match open() {
        Err(error) if error.code() == ErrorCode::Owner => error,
        answer => return answer,
    };
    let Some(folder) = &known.folder else {
        return Err(refused);
    };
    // Opening starts no program. An untrusted repository is dropped without being read.
    let repository = of_any_owner(open)?;
    let top = repository.workdir().and_then(|top| top.canonicalize().ok());
    // A repository above the folder could claim this folder as its work tree.
    let is_within = |top: &PathBuf| top.starts_with(folder) && top.join(".git").exists();
    let Some(top) = top.filter(is_within) else {
        return Err(refused);
    };
    known.opened.insert(top, repository.path().to_owned());
    Ok(repository)
}

fn of_any_owner(
    open: impl Fn() -> Result<Repository, git2::Error>,
) -> Result<Repository, git2::Error> {
    check_owners(false)?;
    let opened = open();
    check_owners(true)?;
    opened
}

/// Switches the check of owners. The switch is for the whole process, so no other thread may
/// open a repository in the meantime.
#[allow(unsafe_code)]
fn check_owners(enabled: bool) -> Result<(), git2::Error> {
    // SAFETY: every opening of a repository in this room holds the lock of `ENTRUSTED`, and
    // no other room uses libgit2.
    unsafe { git2::opts::set_verify_owner_validation(enabled) }
}

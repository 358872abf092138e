//! Repositories that belong to another user than this process.
//!
//! git refuses them, because their settings can name programs to start. A CI
//! service names the folder into which it checked out what the job is about, and
//! that folder often belongs to another user: in a container of GitHub's, files
//! of the runner's user are tested by root. What lies there is trusted on the
//! service's word, as `safe.directory` would do it, and nothing else is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use git2::{ErrorCode, Repository};

static ENTRUSTED: Mutex<Entrusted> = Mutex::new(Entrusted {
    folder: None,
    opened: BTreeMap::new(),
});

struct Entrusted {
    /// The folder that the service names.
    folder: Option<PathBuf>,
    /// For the top of each work tree that was opened on its word, the folder of
    /// git's own files.
    opened: BTreeMap<PathBuf, PathBuf>,
}

/// Trusts the repositories whose work trees lie in `folder`, whoever owns them.
pub fn entrust(folder: &Path) {
    // Naming everything names nothing, and so does a path that depends on where one is.
    let folder = folder
        .is_absolute()
        .then(|| folder.canonicalize().ok())
        .flatten();
    let folder = folder.filter(|folder| folder.parent().is_some());
    let mut known = ENTRUSTED.lock().unwrap_or_else(PoisonError::into_inner);
    known.folder = folder;
}

/// The folder of git's own files, if the work tree with this top was opened though
/// it belongs to another user: the git program has to be told of both.
pub fn entrusted(top: &Path) -> Option<PathBuf> {
    let known = ENTRUSTED.lock().unwrap_or_else(PoisonError::into_inner);
    known.opened.get(top).cloned()
}

/// Opens a repository; one of another user only if its work tree was entrusted.
pub(super) fn open(
    open: impl Fn() -> Result<Repository, git2::Error>,
) -> Result<Repository, git2::Error> {
    // Held all the time: no other thread opens anything while owners do not count.
    let mut known = ENTRUSTED.lock().unwrap_or_else(PoisonError::into_inner);
    let refused = match open() {
        Err(error) if error.code() == ErrorCode::Owner => error,
        answer => return answer,
    };
    let Some(folder) = &known.folder else {
        return Err(refused);
    };
    // Opening starts no program; what is not entrusted is dropped unread.
    let repository = of_any_owner(open)?;
    let top = repository.workdir().and_then(|top| top.canonicalize().ok());
    // A repository above the folder could claim that this is its work tree.
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

/// libgit2 has one switch for the whole process, and no thread may open a
/// repository meanwhile.
#[allow(unsafe_code)]
fn check_owners(enabled: bool) -> Result<(), git2::Error> {
    // SAFETY: the lock of `ENTRUSTED` is held wherever this room opens a
    // repository, and no other room has libgit2.
    unsafe { git2::opts::set_verify_owner_validation(enabled) }
}

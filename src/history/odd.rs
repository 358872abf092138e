//! Finds named pipes and devices in places where git keeps plain files. libgit2 opens them and
//! waits for ever if nobody writes, so tamis checks these places first.

use std::path::{Path, PathBuf};

use bstr::{BStr, ByteSlice};

use super::repository::Repository;
use super::{HistoryError, HistoryErrorKind, Result};
use crate::disk;

/// Files that git reads in its own folder, and in the one that work trees share.
const FILES: [&str; 14] = [
    "HEAD",
    "config",
    "config.worktree",
    "commondir",
    "gitdir",
    "index",
    "packed-refs",
    "shallow",
    "info/attributes",
    "info/exclude",
    "info/grafts",
    "objects/info/alternates",
    "objects/info/commit-graph",
    "objects/info/commit-graphs/commit-graph-chain",
];

/// Folders in which git may read any file.
const FOLDERS: [&str; 4] = ["refs", "logs", "objects/pack", "objects/info/commit-graphs"];

/// A `.git` file only holds a path.
const MOST_PATH: u64 = 1 << 16;

/// Checks the repository that git would find in the directory `from`.
///
/// # Errors
/// Something in it is not a plain file.
pub(super) fn check_repository(from: &Path) -> Result<()> {
    let Some(own) = folder_for(from) else {
        return Ok(());
    };
    check_folder(&own)?;
    if let Some(common) = path_in(&own.join("commondir"), "") {
        check_folder(&own.join(common))?;
    }
    Ok(())
}

fn check_folder(git: &Path) -> Result<()> {
    for name in FILES {
        check(&git.join(name))?;
    }
    FOLDERS
        .iter()
        .try_for_each(|name| check_beneath(&git.join(name)))
}

fn check_beneath(folder: &Path) -> Result<()> {
    let entries = walkdir::WalkDir::new(folder).min_depth(1).into_iter();
    entries
        .flatten()
        .filter(|entry| !entry.file_type().is_file() && !entry.file_type().is_dir())
        .try_for_each(|entry| check(entry.path()))
}

/// The folder of the repository, found as git does.
fn folder_for(from: &Path) -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("GIT_DIR") {
        return Some(PathBuf::from(named));
    }
    let from = from.canonicalize().ok()?;
    let found = from.ancestors().map(|above| above.join(".git"));
    let git = found
        .into_iter()
        .find(|git| git.symlink_metadata().is_ok())?;
    match git.is_dir() {
        true => Some(git),
        false => Some(git.parent()?.join(path_in(&git, "gitdir: ")?)),
    }
}

fn path_in(file: &Path, before: &str) -> Option<PathBuf> {
    let text = disk::read_at_most(file, MOST_PATH).ok()?;
    let path = text.strip_prefix(before.as_bytes())?;
    Some(path.trim_ascii_end().to_path().ok()?.to_owned())
}

/// # Errors
/// Something at `path` is neither a file nor a directory.
pub(super) fn check(path: &Path) -> Result<()> {
    let there = path.metadata().ok();
    match there.and_then(|there| disk::odd_kind(there.file_type())) {
        None => Ok(()),
        Some(kind) => Err(HistoryError::new(
            HistoryErrorKind::Unreadable,
            format!("{} is {kind}, where git keeps a plain file", path.display()),
            "remove it, or put a file in its place",
        )),
    }
}

impl Repository {
    /// Checks the files that tell git what to ignore and how to store `path`.
    ///
    /// # Errors
    /// One of them is not a plain file.
    pub(super) fn check_rules(&self, path: &BStr) -> Result<()> {
        let mut folder = path.as_bytes();
        loop {
            folder = match folder.rfind_byte(b'/') {
                Some(at) => &folder[..at],
                None => b"",
            };
            if !self.known_rules().borrow_mut().insert(folder.into()) {
                return Ok(());
            }
            let place = self.on_disk(folder);
            let checked = [".gitattributes", ".gitignore"]
                .iter()
                .try_for_each(|name| check(&place.join(name)));
            if checked.is_err() {
                self.known_rules().borrow_mut().remove(BStr::new(folder));
                return checked;
            }
            if folder.is_empty() {
                return Ok(());
            }
        }
    }
}

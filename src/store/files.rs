//! The files of a store's directory: what their names say, and how a file is written.

use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fs_err as fs;

use super::{Name, Trouble, dependences};
use crate::matrix::Refusal;

pub(super) const SUFFIX: &str = "tamis";
pub(super) const INDEX: &str = "index";
const LOCK: &str = "lock";
/// The prefix of files that are still being written.
const TEMPORARY: &str = ".tmp-";
/// How long to wait for another process that updates the index.
const PATIENCE: Duration = Duration::from_secs(5);

/// What this process may do with a store, probed once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Nothing can be read or written.
    None,
    Read,
    Write,
}

impl Access {
    /// Leaves nothing behind: the probe is a file without a name, or one that is removed at
    /// once.
    pub(super) fn probe(dir: &Path) -> Access {
        let exists = dir.exists();
        if exists && fs::read_dir(dir).is_err() {
            return Access::None;
        }
        // The first put makes the directory. Until then it counts whether the directory can be
        // made.
        let there = match dir.ancestors().find(|dir| dir.exists()) {
            Some(there) => there,
            None => Path::new("."),
        };
        match (tempfile::tempfile_in(there), exists) {
            (Ok(_), _) => Access::Write,
            (Err(_), true) => Access::Read,
            (Err(_), false) => Access::None,
        }
    }
}

/// The files in a store's directory, by their names.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// The name and length of each matrix, sorted by name.
    pub(super) matrices: Vec<(Name, u64)>,
    /// What is known of order dependences.
    pub(super) dependences: Vec<PathBuf>,
    /// Files that are being written, or that a killed process left.
    pub(super) temporary: Vec<PathBuf>,
    /// Files that do not belong here.
    pub(super) foreign: Vec<PathBuf>,
}

impl Listing {
    /// Lists `dir`; a directory that does not exist is an empty store.
    pub(super) fn read(dir: &Path) -> Result<Listing, Trouble> {
        let trouble = |error: std::io::Error| Trouble {
            path: dir.to_owned(),
            refusal: Refusal::Unreadable(error.to_string()),
        };
        let mut listing = Listing::default();
        let entries = match std::fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(listing),
            Err(error) => return Err(trouble(error)),
        };
        for entry in entries {
            let path = entry.map_err(trouble)?.path();
            listing.sort_in(path);
        }
        listing.matrices.sort();
        listing.dependences.sort();
        listing.temporary.sort();
        listing.foreign.sort();
        Ok(listing)
    }

    fn sort_in(&mut self, path: PathBuf) {
        let file_name = path.file_name().unwrap_or_default().to_string_lossy();
        if file_name.starts_with(TEMPORARY) {
            self.temporary.push(path);
            return;
        }
        if file_name == INDEX || file_name == LOCK || file_name.starts_with('.') {
            return;
        }
        let named = |suffix: &str| {
            let stem = file_name.strip_suffix(suffix)?;
            Name::from_hex(stem.strip_suffix('.')?)
        };
        let (matrix, dependences) = (named(SUFFIX), named(dependences::SUFFIX));
        match (matrix.or(dependences), std::fs::metadata(&path)) {
            (Some(name), Ok(meta)) if meta.is_file() => match dependences {
                Some(_) => self.dependences.push(path),
                None => self.matrices.push((name, meta.len())),
            },
            // The gc of another process has removed it since.
            (Some(_), Err(error)) if error.kind() == ErrorKind::NotFound => {}
            _ => self.foreign.push(path),
        }
    }
}

/// Reads at most `most` bytes from the start of a file.
pub(super) fn read_start(path: &Path, most: usize) -> Result<Vec<u8>, Refusal> {
    let unreadable = |error: std::io::Error| Refusal::Unreadable(error.to_string());
    let file = crate::disk::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(most as u64)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    Ok(bytes)
}

/// Writes a file completely or not at all, whatever happens.
pub(super) fn write_whole(dir: &Path, file_name: &str, bytes: &[u8]) -> anyhow::Result<()> {
    Ok(crate::disk::write_durably(
        &dir.join(file_name),
        TEMPORARY,
        bytes,
    )?)
}

/// Waits for the store's lock and holds it until the file is dropped. `None` if locking does
/// not work or takes too long; then the caller does without it.
pub(super) fn lock(dir: &Path) -> Option<File> {
    let mut options = File::options();
    options.create(true).truncate(false).write(true);
    let (file, _) = crate::disk::open_with(&dir.join(LOCK), &mut options).ok()?;
    let start = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Some(file),
            Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(_) => return None,
        }
    }
}

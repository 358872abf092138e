//! The part of a pass over the work tree that only looks at the disk, in its own thread:
//! nearly all files are as the index says, and asking the system about each of them takes most
//! of the time.

use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use bstr::{BStr, BString, ByteVec};
use rustc_hash::{FxHashMap, FxHashSet};

use super::filters::Filters;
use super::index::Index;
use super::objects::Stored;
use super::{HistoryError, Result};

/// What git knows about the work tree.
pub(super) struct Tracked {
    pub filters: Filters,
    pub index: Index,
    /// The paths of the commit; `None` if they are exactly those of the index.
    pub committed: Option<FxHashMap<BString, Stored>>,
}

impl Tracked {
    /// What the commit holds at `path`.
    pub(super) fn committed(&self, path: &[u8]) -> Option<Stored> {
        match &self.committed {
            Some(committed) => committed.get(BStr::new(path)).copied(),
            None => self.index.get(path).map(|item| item.stored),
        }
    }
}

pub(super) struct Sweep {
    /// For each item of the index, whether its file surely has the commit's content.
    pub is_same: Vec<bool>,
    /// Every other path on disk, and whether it is a directory. Such a directory is not
    /// searched.
    pub others: Vec<(BString, bool)>,
    /// The directories above tracked paths.
    pub dirs: FxHashSet<BString>,
}

/// A sweep in progress, or a finished one if no thread was available.
pub(super) enum Pending {
    Thread(JoinHandle<Result<Sweep>>),
    Done(Result<Sweep>),
}

impl Pending {
    pub(super) fn start(root: PathBuf, tracked: Arc<Tracked>) -> Pending {
        let shared = (root.clone(), tracked.clone());
        let thread = std::thread::Builder::new().spawn(move || sweep(&root, &tracked));
        match thread {
            Ok(thread) => Pending::Thread(thread),
            Err(_) => Pending::Done(sweep(&shared.0, &shared.1)),
        }
    }

    pub(super) fn wait(self) -> Result<Sweep> {
        match self {
            Pending::Done(done) => done,
            Pending::Thread(thread) => match thread.join() {
                Ok(done) => done,
                Err(panic) => std::panic::resume_unwind(panic),
            },
        }
    }
}

fn sweep(root: &Path, tracked: &Tracked) -> Result<Sweep> {
    let items = tracked.index.items();
    let mut sweeper = Sweeper {
        tracked,
        numbers: FxHashMap::default(),
        found: Sweep {
            is_same: vec![false; items.len()],
            others: Vec::new(),
            dirs: FxHashSet::default(),
        },
    };
    sweeper.numbers.reserve(items.len());
    for (number, (path, _)) in items.iter().enumerate() {
        sweeper.numbers.insert(path.as_slice(), number);
        add_parents(path, &mut sweeper.found.dirs);
    }
    for path in tracked.committed.iter().flat_map(|paths| paths.keys()) {
        add_parents(path, &mut sweeper.found.dirs);
    }
    sweeper.directory(&mut BString::default(), root)?;
    Ok(sweeper.found)
}

fn add_parents(path: &[u8], dirs: &mut FxHashSet<BString>) {
    let mut path = path;
    while let Some(slash) = path.iter().rposition(|byte| *byte == b'/') {
        path = &path[..slash];
        if dirs.contains(BStr::new(path)) {
            return;
        }
        dirs.insert(path.into());
    }
}

struct Sweeper<'a> {
    tracked: &'a Tracked,
    /// The number of each item of the index.
    numbers: FxHashMap<&'a [u8], usize>,
    found: Sweep,
}

impl Sweeper<'_> {
    /// Sweeps everything below the real directory `place`, which is `path`.
    fn directory(&mut self, path: &mut BString, place: &Path) -> Result<()> {
        let unreadable = |error| HistoryError::disk("list", place, &error);
        for entry in std::fs::read_dir(place).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
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
        let kind = entry.file_type();
        let kind = kind.map_err(|error| HistoryError::disk("look at", &entry.path(), &error))?;
        let number = self.numbers.get(path.as_slice()).copied();
        if kind.is_dir() && number.is_none() && self.found.dirs.contains(path) {
            return self.directory(path, &entry.path());
        }
        match number.filter(|number| self.is_same(*number, path, entry)) {
            Some(number) => self.found.is_same[number] = true,
            None => self.found.others.push((path.clone(), kind.is_dir())),
        }
        Ok(())
    }

    /// Whether the file has the content that the index and the commit name.
    fn is_same(&self, number: usize, path: &[u8], entry: &DirEntry) -> bool {
        let item = &self.tracked.index.items()[number].1;
        let Ok(metadata) = entry.metadata() else {
            return false;
        };
        let mode = self.tracked.filters.mode(&metadata, Some(item.stored.mode));
        let is_committed = match &self.tracked.committed {
            Some(committed) => committed.get(BStr::new(path)) == Some(&item.stored),
            None => true,
        };
        mode == Some(item.stored.mode)
            && is_committed
            && self.tracked.index.vouches_for(item, &metadata)
    }
}

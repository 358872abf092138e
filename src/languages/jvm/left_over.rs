//! Files that an earlier build left, and that this one may make again before the tests run.
//!
//! Tests are selected when everything is compiled; packages come after that.

use std::cell::OnceCell;
use std::path::Path;
use std::time::SystemTime;

use bstr::{BStr, BString, ByteSlice};

/// Where compiling leaves classes and resources in such a folder.
const COMPILED: [&str; 2] = ["classes", "test-classes"];

/// Compiling has ended, and what comes after it has not begun.
pub(crate) struct Build {
    since: SystemTime,
    /// Where it leaves what it makes, relative to the top of the work tree.
    folders: Vec<BString>,
    /// When something was compiled last.
    compiled: OnceCell<SystemTime>,
}

impl Build {
    /// One that began at `since`.
    pub(crate) fn new(since: SystemTime, folders: Vec<BString>) -> Build {
        Build {
            since,
            folders,
            compiled: OnceCell::new(),
        }
    }

    /// Whether it may still make the file at `path` beneath `root`.
    pub(crate) fn may_make(&self, root: &Path, path: &BStr) -> bool {
        let beneath = |folder: &BString| path.strip_prefix(folder.as_slice())?.strip_prefix(b"/");
        let Some(rest) = self.folders.iter().find_map(beneath) else {
            return false;
        };
        let first = rest.split(|byte| *byte == b'/').next().unwrap_or_default();
        if COMPILED.iter().any(|output| output.as_bytes() == first) {
            return false;
        }
        let made = std::fs::metadata(root.join(path.to_path_lossy()));
        let Ok(made) = made.and_then(|found| found.modified()) else {
            return false;
        };
        // A package is made again where something in it is newer.
        made < self.since && made <= *self.compiled.get_or_init(|| self.last_change(root))
    }

    /// The newest of all that was compiled, and of the files above it, such as poms.
    fn last_change(&self, root: &Path) -> SystemTime {
        let mut newest = SystemTime::UNIX_EPOCH;
        let mut open = Vec::new();
        for folder in &self.folders {
            let folder = root.join(folder.to_path_lossy());
            open.extend(COMPILED.map(|output| folder.join(output)));
            let beside = folder.parent().map(std::fs::read_dir);
            for entry in beside.into_iter().flatten().flatten().flatten() {
                let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
                let made = entry.metadata().and_then(|found| found.modified());
                if let (true, Ok(made)) = (is_file, made) {
                    newest = newest.max(made);
                }
            }
        }
        while let Some(folder) = open.pop() {
            let known = std::fs::metadata(&folder).and_then(|found| found.modified());
            newest = newest.max(known.unwrap_or(newest));
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let Ok(found) = entry.metadata() else {
                    continue;
                };
                match found.is_dir() {
                    true => open.push(entry.path()),
                    false => newest = newest.max(found.modified().unwrap_or(newest)),
                }
            }
        }
        newest
    }
}

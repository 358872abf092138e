//! Reads git's index. It tells which paths are tracked, and which files surely have not
//! changed since git last looked at them.

use std::fs::Metadata;

use bstr::BString;

use super::index_file;
use super::objects::{ObjectId, Stored, mode_of, object_id};
use super::repository::Repository;
use super::{HistoryError, HistoryErrorKind, Result};

const STAGE_SHIFT: u16 = 12;
const STAGE_MASK: u16 = 3;
const OURS: u16 = 2;

/// Time stamps of file systems may be coarse. A file that was written this short a time before
/// the index may change again without a new time stamp.
const FINE_SLACK_NANOS: i128 = 20_000_000;
/// The same for time stamps in whole seconds (two seconds on FAT).
const COARSE_SLACK_NANOS: i128 = 2_000_000_000;

/// One tracked path.
pub(super) struct IndexItem {
    pub stored: Stored,
    pub is_skipped: bool,
    /// The metadata of the file; `None` in a conflict.
    stat: Option<Stat>,
}

pub(super) struct Index {
    /// Sorted by path; each path once.
    items: Vec<(BString, IndexItem)>,
    /// The tree of all items together, if it is known.
    tree: Option<ObjectId>,
    rules: StatRules,
}

/// The metadata that git keeps of a file, in the index's 32 bits.
struct Stat {
    ctime: (u32, u32),
    mtime: (u32, u32),
    ino: u32,
    uid: u32,
    gid: u32,
    size: u32,
}

/// How far the metadata of a file are trusted.
struct StatRules {
    trusts_ctime: bool,
    /// `core.checkStat = minimal`: only the time and the size count.
    is_minimal: bool,
    /// When the index was written, nanoseconds since the epoch.
    written: Option<i128>,
}

impl Index {
    /// Reads the index; a missing one is empty.
    pub(super) fn read(repository: &Repository) -> Result<Index> {
        let git = repository.git();
        let ours = read_file(repository);
        let (items, tree, written) = match ours {
            Some(read) => read,
            None => read_by_libgit2(repository)?,
        };
        // With `refs/replace` the checked out content may not be that of the blob in the
        // index. Then every file is hashed.
        let has_replacements = git
            .references_glob("refs/replace/*")
            .is_ok_and(|mut names| names.next().is_some());
        Ok(Index {
            items,
            tree,
            rules: StatRules {
                trusts_ctime: repository.switch("core.trustctime", true),
                is_minimal: git
                    .config()
                    .and_then(|config| config.get_string("core.checkstat"))
                    .is_ok_and(|value| value.eq_ignore_ascii_case("minimal")),
                written: written.filter(|_| !has_replacements),
            },
        })
    }

    pub(super) fn get(&self, path: &[u8]) -> Option<&IndexItem> {
        let compare = |(known, _): &(BString, IndexItem)| known.as_slice().cmp(path);
        let at = self.items.binary_search_by(compare).ok()?;
        Some(&self.items[at].1)
    }

    /// Sorted by path.
    pub(super) fn items(&self) -> &[(BString, IndexItem)] {
        &self.items
    }

    /// Whether the index is known to have exactly the content of the tree.
    pub(super) fn is_tree(&self, tree: ObjectId) -> bool {
        self.tree == Some(tree)
    }

    /// The blob that the index has for `path`.
    pub(super) fn blob(&self, path: &[u8]) -> Option<ObjectId> {
        self.get(path).map(|item| item.stored.id)
    }

    /// Whether the file with this metadata surely has the content of `item`: the metadata are
    /// the same, and old enough that no later edit can hide.
    pub(super) fn vouches_for(&self, item: &IndexItem, metadata: &Metadata) -> bool {
        match (&item.stat, Stat::of_file(metadata), self.rules.written) {
            (Some(then), Some(now), Some(written)) => {
                self.rules.are_equal(then, &now) && !then.is_racy(written)
            }
            _ => false,
        }
    }
}

/// Items, tree, and when the index was written.
type Read = (Vec<(BString, IndexItem)>, Option<ObjectId>, Option<i128>);

/// Reads an index in git's own format; `None` if libgit2 must read it.
fn read_file(repository: &Repository) -> Option<Read> {
    if std::env::var_os("GIT_INDEX_FILE").is_some() {
        return None;
    }
    let path = repository.git().path().join("index");
    // The time is taken before the content: an earlier time is on the safe side.
    let written = std::fs::metadata(&path).ok().as_ref().and_then(modified);
    let bytes = crate::disk::read(&path).ok()?;
    let file = index_file::parse(&bytes)?;
    let mut items: Vec<(BString, IndexItem)> = Vec::with_capacity(file.entries.len());
    for entry in &file.entries {
        let Some(mode) = mode_of(entry.mode) else {
            continue;
        };
        let stage = stage_of(entry.flags);
        let item = IndexItem {
            stored: Stored { id: entry.id, mode },
            is_skipped: is_skipped(entry.extended),
            stat: (stage == 0).then_some(Stat {
                ctime: entry.ctime,
                mtime: entry.mtime,
                ino: entry.ino,
                uid: entry.uid,
                gid: entry.gid,
                size: entry.size,
            }),
        };
        add_item(&mut items, entry.path, stage, item);
    }
    Some((items, file.tree, written))
}

fn read_by_libgit2(repository: &Repository) -> Result<Read> {
    let unreadable = |error: git2::Error| unreadable(repository, &error);
    let mut index = repository.git().index().map_err(unreadable)?;
    let written = index
        .path()
        .and_then(|path| std::fs::metadata(path).ok())
        .and_then(|metadata| modified(&metadata));
    index.read(false).map_err(unreadable)?;
    let mut entries: Vec<git2::IndexEntry> = index.iter().collect();
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    let mut items = Vec::with_capacity(entries.len());
    for entry in entries {
        let Some(mode) = mode_of(entry.mode) else {
            continue;
        };
        let stage = stage_of(entry.flags);
        let item = IndexItem {
            stored: Stored {
                id: object_id(entry.id),
                mode,
            },
            is_skipped: is_skipped(entry.flags_extended),
            stat: (stage == 0).then(|| Stat::of_entry(&entry)),
        };
        add_item(&mut items, &entry.path, stage, item);
    }
    Ok((items, None, written))
}

/// Adds an item; items come in order. In a conflict our version stands for the path, as in
/// git.
fn add_item(items: &mut Vec<(BString, IndexItem)>, path: &[u8], stage: u16, item: IndexItem) {
    match items.last_mut() {
        Some((last, known)) if last == path => {
            if stage == 0 || stage == OURS {
                *known = item;
            }
        }
        _ => items.push((path.into(), item)),
    }
}

fn stage_of(flags: u16) -> u16 {
    (flags >> STAGE_SHIFT) & STAGE_MASK
}

fn is_skipped(extended_flags: u16) -> bool {
    git2::IndexEntryExtendedFlag::from_bits_truncate(extended_flags).is_skip_worktree()
}

impl StatRules {
    fn are_equal(&self, then: &Stat, now: &Stat) -> bool {
        // Some programs write an index without fractions of a second.
        let same_time =
            |then: (u32, u32), now: (u32, u32)| then.0 == now.0 && (then.1 == now.1 || then.1 == 0);
        let is_owner_same = then.ino == now.ino && then.uid == now.uid && then.gid == now.gid;
        then.size == now.size
            && same_time(then.mtime, now.mtime)
            && (self.is_minimal
                || (is_owner_same && (!self.trusts_ctime || same_time(then.ctime, now.ctime))))
    }
}

impl Stat {
    fn of_entry(entry: &git2::IndexEntry) -> Stat {
        let time = |time: git2::IndexTime| (time.seconds() as u32, time.nanoseconds());
        Stat {
            ctime: time(entry.ctime),
            mtime: time(entry.mtime),
            ino: entry.ino,
            uid: entry.uid,
            gid: entry.gid,
            size: entry.file_size,
        }
    }

    /// Whether the file could have been written again at the same time stamp
    /// after git looked at it (git's "racily clean").
    fn is_racy(&self, written: i128) -> bool {
        let (seconds, nanos) = self.mtime;
        let slack = if nanos == 0 {
            COARSE_SLACK_NANOS
        } else {
            FINE_SLACK_NANOS
        };
        i128::from(seconds) * 1_000_000_000 + i128::from(nanos) + slack >= written
    }

    #[cfg(unix)]
    fn of_file(metadata: &Metadata) -> Option<Stat> {
        use std::os::unix::fs::MetadataExt;
        // The index keeps the low 32 bits of each.
        Some(Stat {
            ctime: (metadata.ctime() as u32, metadata.ctime_nsec() as u32),
            mtime: (metadata.mtime() as u32, metadata.mtime_nsec() as u32),
            ino: metadata.ino() as u32,
            uid: metadata.uid(),
            gid: metadata.gid(),
            size: metadata.size() as u32,
        })
    }

    /// On other systems every file is hashed.
    #[cfg(not(unix))]
    fn of_file(_: &Metadata) -> Option<Stat> {
        None
    }
}

fn modified(metadata: &Metadata) -> Option<i128> {
    let since = metadata
        .modified()
        .ok()?
        .duration_since(std::time::UNIX_EPOCH)
        .ok()?;
    i128::try_from(since.as_nanos()).ok()
}

/// Explains why the index cannot be read. libgit2 does not know two of its extensions.
fn unreadable(repository: &Repository, error: &git2::Error) -> HistoryError {
    let root = repository.root().display();
    let unsupported = |form: &str, command: &str| {
        HistoryError::new(
            HistoryErrorKind::Unsupported,
            format!("the index of {root} is {form}, which tamis cannot read"),
            format!("run `{command}`, or run all tests"),
        )
    };
    let why = error.message();
    if why.contains("'sdir'") {
        unsupported("sparse", "git sparse-checkout reapply --no-sparse-index")
    } else if why.contains("'link'") {
        unsupported("split in two files", "git update-index --no-split-index")
    } else {
        HistoryError::new(
            HistoryErrorKind::Unreadable,
            format!("cannot read the index of {root}: {why}"),
            "check whether `git status` works there",
        )
    }
}

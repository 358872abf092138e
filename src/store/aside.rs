//! Stores that count for a single pull request, beside the main store. They have its name and
//! an ending, so that a cleanup of the main store finds them.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A pull request is over if nothing was written for it for this long.
const FORGOTTEN: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The ending for a pull request with an unknown number.
const PROPOSED: &str = "-proposed";

/// The folder beside `store` for the pull request of this number.
pub(crate) fn aside(store: &Path, pr: Option<u64>) -> PathBuf {
    let mut name = store.file_name().unwrap_or_default().to_owned();
    match pr {
        Some(pr) => name.push(format!("-pr-{pr}")),
        None => name.push(PROPOSED),
    }
    store.with_file_name(name)
}

/// Such folders in which nothing was written for a long time, with their bytes.
pub(super) fn forgotten(store: &Path, now: SystemTime) -> Vec<(PathBuf, u64)> {
    let (Some(parent), Some(name)) = (store.parent(), store.file_name()) else {
        return Vec::new();
    };
    let name = name.to_string_lossy();
    let mut found = Vec::new();
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let entry_name = entry.file_name();
        let ending = entry_name.to_string_lossy();
        let is_aside = ending.strip_prefix(&*name).is_some_and(|ending| {
            let number = ending.strip_prefix("-pr-");
            ending == PROPOSED || number.is_some_and(|number| number.parse::<u64>().is_ok())
        });
        // Links are not followed.
        if !is_aside || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let (newest, bytes) = measure(&entry.path());
        let age = newest.and_then(|newest| now.duration_since(newest).ok());
        if age.is_some_and(|age| age > FORGOTTEN) {
            found.push((entry.path(), bytes));
        }
    }
    found.sort();
    found
}

/// When something below `folder` was last written, and how many bytes it holds.
fn measure(folder: &Path) -> (Option<SystemTime>, u64) {
    let time = |path: &Path| {
        let meta = path.symlink_metadata();
        meta.and_then(|meta| meta.modified()).ok()
    };
    let (mut newest, mut bytes) = (None, 0);
    for entry in walkdir::WalkDir::new(folder).into_iter().flatten() {
        newest = newest.max(time(entry.path()));
        match entry.metadata() {
            Ok(meta) if !meta.is_dir() => bytes += meta.len(),
            _ => {}
        }
    }
    (newest, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{FsStore, GcPolicy};

    #[test]
    fn what_pull_requests_left_long_ago_goes_with_the_next_cleaning() {
        let top = tempfile::tempdir().unwrap();
        let store = top.path().join("store");
        let names = [
            "store",
            "store-pr-5",
            "store-pr-6",
            "store-proposed",
            "store-pr-x",
            "store-old",
        ];
        for name in names {
            fs_err::create_dir_all(top.path().join(name).join("sub")).unwrap();
            fs_err::write(top.path().join(name).join("sub/a.tamis"), "12345").unwrap();
        }
        assert_eq!(aside(&store, Some(5)), top.path().join("store-pr-5"));
        assert_eq!(aside(&store, None), top.path().join("store-proposed"));
        let later = |days: u64| SystemTime::now() + Duration::from_secs(days * 24 * 60 * 60);
        assert_eq!(forgotten(&store, later(29)), []);
        let gc = |dry_run, days| {
            let policy = GcPolicy {
                dry_run,
                ..GcPolicy::default()
            };
            FsStore::open(&store).gc(&policy, later(days)).unwrap()
        };
        let would = gc(true, 31);
        let gone = ["store-pr-5", "store-pr-6", "store-proposed"].map(|name| top.path().join(name));
        assert!(would.removed.ends_with(&gone), "{:?}", would.removed);
        assert!(gone.iter().all(|path| path.exists()));
        gc(false, 31);
        assert!(gone.iter().all(|path| !path.exists()));
        for name in ["store", "store-pr-x", "store-old"] {
            assert!(top.path().join(name).exists(), "{name}");
        }
    }

    #[test]
    fn links_are_not_followed() {
        let top = tempfile::tempdir().unwrap();
        let kept = top.path().join("kept");
        fs_err::create_dir(&kept).unwrap();
        std::os::unix::fs::symlink(&kept, top.path().join("store-pr-5")).unwrap();
        let later = SystemTime::now() + 2 * FORGOTTEN;
        assert_eq!(forgotten(&top.path().join("store"), later), []);
    }
}

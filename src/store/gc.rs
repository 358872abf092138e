//! Limits the size of a store.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context;
use fs_err as fs;

use super::aside::forgotten;
use super::files::{SUFFIX, lock};
use super::{FsStore, Name, Trouble, dependences};
use crate::matrix::Key;

/// Younger temporary files stay: somebody may be writing them.
const STALE: Duration = Duration::from_secs(24 * 60 * 60);

/// What to keep. Without any limit, only stale temporary files are removed.
#[derive(Clone, Debug, Default)]
pub struct GcPolicy {
    /// How many matrices of each key to keep, the newest by time of recording. Branches do not
    /// matter.
    pub keep: Option<usize>,
    /// How many bytes to keep in all, the newest matrices first.
    pub max_bytes: Option<u64>,
    /// Matrices that were recorded longer ago than this are removed.
    pub max_age: Option<Duration>,
    /// Also remove `.tamis` files that were refused, whatever the reason.
    pub remove_refused: bool,
    /// Only report what would be removed.
    pub dry_run: bool,
}

/// What was removed, or what would be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GcReport {
    pub removed: Vec<PathBuf>,
    pub freed: u64,
    /// Usable matrices that remain.
    pub kept: usize,
    /// Refused files that remain.
    pub refused: Vec<Trouble>,
}

impl FsStore {
    /// Removes all that `policy` does not keep, what is known of dependences but for the
    /// newest of each key, and old stores of pull requests. The newest readable matrix of each key always stays, and so does every file that this version does
    /// not understand, unless the policy says otherwise.
    ///
    /// # Errors
    /// A file cannot be removed; the others stay as they were.
    pub fn gc(&self, policy: &GcPolicy, now: SystemTime) -> anyhow::Result<GcReport> {
        let list = || {
            let listing = self.listing().map_err(anyhow::Error::msg);
            listing.context("cannot list the store; check its permissions")
        };
        list()?;
        let _lock = (!policy.dry_run).then(|| lock(self.dir()));
        let listing = list()?;
        let lengths: BTreeMap<Name, u64> = listing.matrices.iter().copied().collect();
        let (headers, mut refused) = self.headers();
        let keep = self.choose(policy, now, &headers, &lengths, &mut refused);

        let mut report = GcReport {
            kept: keep.len(),
            ..GcReport::default()
        };
        let unusable: BTreeSet<PathBuf> =
            refused.iter().map(|trouble| trouble.path.clone()).collect();
        // The oldest first: if gc is killed midway, the rest is what a smaller gc would leave.
        for (name, _) in headers.iter().rev() {
            let path = self.path_of(name);
            if !keep.contains(name) && !unusable.contains(&path) {
                report.remove(policy, path, lengths.get(name).copied())?;
            }
        }
        let (known, troubles) = self.dependences();
        refused.extend(troubles);
        let mut newest = BTreeSet::new();
        for (path, known) in known {
            // The newest says all that those before it say and that still holds.
            if !newest.insert(known.key) {
                report.remove(policy, path, None)?;
            }
        }
        for trouble in refused {
            let ours = trouble
                .path
                .extension()
                .is_some_and(|suffix| suffix == SUFFIX || suffix == dependences::SUFFIX);
            match policy.remove_refused && ours && trouble.path.is_file() {
                true => report.remove(policy, trouble.path, None)?,
                false => report.refused.push(trouble),
            }
        }
        for path in listing.temporary {
            let age = fs::metadata(&path)
                .and_then(|meta| meta.modified())
                .ok()
                .and_then(|written| now.duration_since(written).ok());
            if age.is_some_and(|age| age > STALE) {
                report.remove(policy, path, None)?;
            }
        }
        for (folder, bytes) in forgotten(self.dir(), now) {
            if !policy.dry_run {
                fs::remove_dir_all(&folder)
                    .context("cannot remove what a pull request left; check its permissions")?;
            }
            report.removed.push(folder);
            report.freed += bytes;
        }
        if !policy.dry_run {
            self.index_after_removal();
        }
        Ok(report)
    }

    /// The matrices to keep. The newest of each key is read completely. If it is damaged, it
    /// counts as refused, and the next one takes its place.
    fn choose(
        &self,
        policy: &GcPolicy,
        now: SystemTime,
        headers: &[(Name, crate::matrix::Header)],
        lengths: &BTreeMap<Name, u64>,
        refused: &mut Vec<Trouble>,
    ) -> BTreeSet<Name> {
        let mut kept_of: BTreeMap<&Key, usize> = BTreeMap::new();
        let mut bytes = 0;
        let mut keep = BTreeSet::new();
        for (name, header) in headers {
            let kept = kept_of.entry(&header.key).or_insert(0);
            let len = lengths.get(name).copied().unwrap_or(0);
            if *kept == 0 {
                if let Err(refusal) = self.load(name) {
                    refused.push(Trouble {
                        path: self.path_of(name),
                        refusal,
                    });
                    continue;
                }
            } else {
                let recorded = UNIX_EPOCH.checked_add(Duration::from_secs(header.created));
                let age = recorded.and_then(|recorded| now.duration_since(recorded).ok());
                let too_many = policy.keep.is_some_and(|most| *kept >= most);
                let too_large = policy.max_bytes.is_some_and(|most| bytes + len > most);
                let too_old = policy
                    .max_age
                    .is_some_and(|most| age.is_some_and(|age| age > most));
                if too_many || too_large || too_old {
                    continue;
                }
            }
            *kept += 1;
            bytes += len;
            keep.insert(*name);
        }
        keep
    }
}

impl GcReport {
    fn remove(&mut self, policy: &GcPolicy, path: PathBuf, len: Option<u64>) -> anyhow::Result<()> {
        let len = match len {
            Some(len) => len,
            None => fs::metadata(&path).map_or(0, |meta| meta.len()),
        };
        if !policy.dry_run {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(error)
                        .context("cannot remove a file of the store; check its permissions");
                }
                _ => {}
            }
        }
        self.removed.push(path);
        self.freed += len;
        Ok(())
    }
}

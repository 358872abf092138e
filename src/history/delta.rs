//! The paths that may differ between two states of the files.

use std::collections::{BTreeMap, BTreeSet};

use bstr::{BStr, BString, ByteSlice};

use super::objects::{Found, ObjectId, TreeItem};
use super::repository::Repository;
use super::view::{Entry, View};
use super::{Result, Revision, TreeId};
use crate::matrix::{Fingerprint, Mode};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delta {
    /// Files, symbolic links and submodules, but no directories. A rename is two paths. It
    /// holds all tracked paths that differ, and the untracked ones in the lists of the two
    /// states, but no ignored files.
    pub paths: BTreeSet<BString>,
    /// Paths that are plain files at both ends: only their content can differ, and no name or
    /// directory changed. The set may be incomplete.
    pub edited: BTreeSet<BString>,
}

impl Delta {
    /// Whether `path` differs, or something above it (a submodule, a symbolic link, a file
    /// that became a directory) or below it.
    pub fn touches(&self, path: &BStr) -> bool {
        if path.is_empty() {
            return !self.paths.is_empty();
        }
        if self.replaces(path) {
            return true;
        }
        let mut below = path.to_owned();
        below.push(b'/');
        self.paths
            .range(below.clone()..)
            .next()
            .is_some_and(|path| path.starts_with(&below))
    }

    /// Whether `path` itself or something above it differs.
    pub fn replaces(&self, path: &BStr) -> bool {
        let is_slash = |at: &usize| path[*at] == b'/';
        let is_above = |at| self.paths.contains(path[..at].as_bstr());
        self.paths.contains(path) || (0..path.len()).filter(is_slash).any(is_above)
    }

    /// Whether `path` may differ in the later state `to`. Ask only this about the path of a
    /// unit. Git cannot tell for paths that are not tracked (ignored or missing files, paths
    /// through a link, directories); only [`View::entry`] can.
    pub fn may_differ(&self, to: &View, path: &BStr) -> Result<bool> {
        Ok(self.touches(path) || !to.is_tracked(path)?)
    }
}

impl Repository {
    /// The paths that may differ between `from` and `to`. `from_dirty` are the paths that
    /// differed from the commit of `from` ([`View::dirty`]).
    ///
    /// # Errors
    /// A tree is not in the object store.
    pub fn delta(
        &self,
        from: &Revision,
        from_dirty: &[(BString, Fingerprint)],
        to: &View,
    ) -> Result<Delta> {
        let mut changes = BTreeMap::new();
        let to_tree = to.revision().tree;
        self.tree_changes(from.tree.0, to_tree.0, &mut Vec::new(), &mut changes)?;
        let mut paths: BTreeSet<BString> = changes.keys().cloned().collect();
        let is_edit = |(_, sides): &(&BString, &(Fingerprint, Fingerprint))| {
            is_plain_file(sides.0) && is_plain_file(sides.1)
        };
        let edited = changes.iter().filter(is_edit);
        let mut edited: BTreeSet<BString> = edited.map(|(path, _)| path.clone()).collect();

        let dirty_before: BTreeMap<&BString, Fingerprint> = from_dirty
            .iter()
            .map(|(path, fingerprint)| (path, *fingerprint))
            .collect();
        let dirty_now = to.changed_paths()?;
        for path in dirty_before.keys().copied().chain(&dirty_now) {
            edited.remove(path);
            let before = match (dirty_before.get(path), changes.get(path)) {
                (Some(dirty), _) => Some(*dirty),
                (None, Some((before, _))) => Some(*before),
                (None, None) => self.committed(to_tree, path.as_bstr())?,
            };
            let now = match to.entry(path.as_bstr())? {
                Entry::File { fingerprint, .. } => Some(fingerprint),
                Entry::Missing => Some(Fingerprint::MISSING),
                Entry::Dir | Entry::TooLarge { .. } | Entry::Unknown => None,
            };
            if before.is_some() && before == now {
                paths.remove(path);
            } else {
                paths.insert(path.clone());
            }
        }
        Ok(Delta { paths, edited })
    }

    /// The fingerprint of `path` in a tree; `None` if git cannot tell.
    fn committed(&self, tree: TreeId, path: &BStr) -> Result<Option<Fingerprint>> {
        Ok(match self.find(tree, path)? {
            Found::Stored(stored) => Some(stored.fingerprint()),
            Found::Missing | Found::Dir(_) => Some(Fingerprint::MISSING),
            Found::Beyond { .. } => None,
        })
    }

    /// The paths that differ between two trees, with both fingerprints. Only names and ids are
    /// compared: no rename detection, no filters, no `core.fileMode`.
    fn tree_changes(
        &self,
        from: ObjectId,
        to: ObjectId,
        prefix: &mut Vec<u8>,
        changes: &mut BTreeMap<BString, (Fingerprint, Fingerprint)>,
    ) -> Result<()> {
        if from == to {
            return Ok(());
        }
        let (from, to) = (self.tree(from)?, self.tree(to)?);
        for (old, new) in pairs(&from, &to) {
            if same(old, new) {
                continue;
            }
            let len = prefix.len();
            prefix.extend_from_slice(&old.or(new).expect("a pair has a side").name);
            self.item_changes(old, new, prefix, changes)?;
            prefix.truncate(len);
        }
        Ok(())
    }

    /// The changes at one name: each side is a file, a directory or nothing.
    fn item_changes(
        &self,
        old: Option<&TreeItem>,
        new: Option<&TreeItem>,
        path: &mut Vec<u8>,
        changes: &mut BTreeMap<BString, (Fingerprint, Fingerprint)>,
    ) -> Result<()> {
        let file = |item: Option<&TreeItem>| {
            let stored = item.and_then(TreeItem::stored);
            stored.map(|stored| stored.fingerprint())
        };
        let (old_file, new_file) = (file(old), file(new));
        if old_file.is_some() || new_file.is_some() {
            let sides = (
                old_file.unwrap_or(Fingerprint::MISSING),
                new_file.unwrap_or(Fingerprint::MISSING),
            );
            changes.insert(path.as_slice().into(), sides);
        }
        let dir = |item: Option<&TreeItem>| {
            let item = item.filter(|item| item.mode.is_none());
            item.map(|item| item.id)
        };
        path.push(b'/');
        match (dir(old), dir(new)) {
            (None, None) => Ok(()),
            (Some(old), Some(new)) => self.tree_changes(old, new, path, changes),
            (Some(old), None) => self.each_path(old, path, &mut |path, stored| {
                let sides = (stored.fingerprint(), Fingerprint::MISSING);
                changes.insert(path.to_owned(), sides);
            }),
            (None, Some(new)) => self.each_path(new, path, &mut |path, stored| {
                let sides = (Fingerprint::MISSING, stored.fingerprint());
                changes.insert(path.to_owned(), sides);
            }),
        }
    }
}

/// Whether the path is a plain file, and not a link or submodule.
fn is_plain_file(stored: Fingerprint) -> bool {
    [Mode::Regular, Mode::Executable]
        .map(|mode| mode as u8)
        .contains(&stored.0[15])
}

fn same(old: Option<&TreeItem>, new: Option<&TreeItem>) -> bool {
    matches!((old, new), (Some(old), Some(new)) if old.id == new.id && old.mode == new.mode)
}

/// The items of two sorted trees, joined by name.
pub(super) fn pairs<'a>(
    from: &'a [TreeItem],
    to: &'a [TreeItem],
) -> impl Iterator<Item = (Option<&'a TreeItem>, Option<&'a TreeItem>)> {
    let mut from = from.iter().peekable();
    let mut to = to.iter().peekable();
    std::iter::from_fn(move || match (from.peek(), to.peek()) {
        (None, None) => None,
        (Some(_), None) => Some((from.next(), None)),
        (None, Some(_)) => Some((None, to.next())),
        (Some(old), Some(new)) => Some(match old.name.cmp(&new.name) {
            std::cmp::Ordering::Less => (from.next(), None),
            std::cmp::Ordering::Greater => (None, to.next()),
            std::cmp::Ordering::Equal => (from.next(), to.next()),
        }),
    })
}

//! Reads commits and trees from their raw bytes. libgit2's own commit type applies grafts, so
//! a merge at the edge of a shallow clone would look like a root.

use std::rc::Rc;

use bstr::{BStr, BString, ByteSlice};

use super::ids::parse_hex;
use super::repository::Repository;
use super::{CommitId, HistoryError, HistoryErrorKind, Result, TreeId};
use crate::matrix::{Fingerprint, Mode};

/// The name of an object.
pub(super) type ObjectId = [u8; 20];

const TYPE_MASK: u32 = 0o170_000;
const TYPE_TREE: u32 = 0o040_000;
const TYPE_SYMLINK: u32 = 0o120_000;
const TYPE_GITLINK: u32 = 0o160_000;
const OWNER_EXECUTES: u32 = 0o100;

/// Translates git's numeric `mode`; `None` for a directory.
pub(super) fn mode_of(mode: u32) -> Option<Mode> {
    match mode & TYPE_MASK {
        TYPE_TREE => None,
        TYPE_SYMLINK => Some(Mode::Symlink),
        TYPE_GITLINK => Some(Mode::Gitlink),
        _ if mode & OWNER_EXECUTES != 0 => Some(Mode::Executable),
        _ => Some(Mode::Regular),
    }
}

/// What a path holds: an object and how it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    pub id: ObjectId,
    pub mode: Mode,
}

impl Stored {
    pub(super) fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of_blob(&self.id, self.mode)
    }
}

/// One name in a tree.
#[derive(Clone, Debug)]
pub(super) struct TreeItem {
    pub name: BString,
    pub id: ObjectId,
    /// `None` for a directory.
    pub mode: Option<Mode>,
}

impl TreeItem {
    /// The object at this name, if it is not a directory.
    pub(super) fn stored(&self) -> Option<Stored> {
        self.mode.map(|mode| Stored { id: self.id, mode })
    }
}

/// The tree and parents of a commit.
#[derive(Debug)]
pub(super) struct CommitHeader {
    pub tree: TreeId,
    pub parents: Vec<CommitId>,
}

/// Where the search for a path in a tree ended.
pub(super) enum Found {
    Missing,
    Dir(ObjectId),
    Stored(Stored),
    /// `path[..at]` is a symbolic link or a submodule, and the path goes on.
    Beyond {
        at: usize,
        stored: Stored,
    },
}

impl Repository {
    pub(super) fn object(&self, id: ObjectId, kind: git2::ObjectType) -> Result<Vec<u8>> {
        let odb = self
            .git()
            .odb()
            .map_err(|error| HistoryError::git("cannot open the object store", &error))?;
        let object = odb
            .read(oid(id))
            .map_err(|error| self.unreadable_object(id, kind, &error))?;
        if object.kind() != kind {
            return Err(corrupt(kind, id));
        }
        Ok(object.data().to_vec())
    }

    pub(super) fn has_object(&self, id: ObjectId) -> bool {
        self.git().odb().is_ok_and(|odb| odb.exists(oid(id)))
    }

    fn unreadable_object(
        &self,
        id: ObjectId,
        kind: git2::ObjectType,
        error: &git2::Error,
    ) -> HistoryError {
        let name = CommitId(id);
        if error.code() != git2::ErrorCode::NotFound {
            return HistoryError::git(format!("cannot read {kind} {name}"), error);
        }
        let next = if self.is_partial() {
            format!("this is a partial clone: fetch it with `git cat-file -p {name}`")
        } else if self.is_shallow() {
            "this is a shallow clone: fetch more with `git fetch --unshallow`".to_owned()
        } else {
            "check the repository with `git fsck`".to_owned()
        };
        HistoryError::new(
            HistoryErrorKind::MissingObject,
            format!("{kind} {name} is not in the local object store"),
            next,
        )
    }

    /// The tree and parents of a commit, as its header names them.
    pub(super) fn commit_header(&self, id: CommitId) -> Result<CommitHeader> {
        let raw = self.object(id.0, git2::ObjectType::Commit)?;
        parse_commit(&raw).ok_or_else(|| corrupt(git2::ObjectType::Commit, id.0))
    }

    /// The items of a tree, sorted by name as bytes. They are cached.
    pub(super) fn tree(&self, id: ObjectId) -> Result<Rc<[TreeItem]>> {
        if let Some(known) = self.tree_cache().borrow().get(&id) {
            return Ok(known.clone());
        }
        let raw = self.object(id, git2::ObjectType::Tree)?;
        let mut items = parse_tree(&raw).ok_or_else(|| corrupt(git2::ObjectType::Tree, id))?;
        // git sorts a directory as if its name ended in `/`.
        items.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        let items: Rc<[TreeItem]> = items.into();
        self.tree_cache().borrow_mut().insert(id, items.clone());
        Ok(items)
    }

    /// Finds `path` in the tree `root` and follows no links.
    pub(super) fn find(&self, root: TreeId, path: &BStr) -> Result<Found> {
        let mut dir = root.0;
        if path.is_empty() {
            return Ok(Found::Dir(dir));
        }
        let mut end = 0;
        for name in path.split_str("/") {
            end += name.len();
            let items = self.tree(dir)?;
            let Ok(at) = items.binary_search_by(|item| item.name.as_slice().cmp(name)) else {
                return Ok(Found::Missing);
            };
            match items[at].stored() {
                None => dir = items[at].id,
                Some(stored) if end == path.len() => return Ok(Found::Stored(stored)),
                Some(stored) => {
                    return Ok(match stored.mode {
                        Mode::Symlink | Mode::Gitlink => Found::Beyond { at: end, stored },
                        Mode::Regular | Mode::Executable => Found::Missing,
                    });
                }
            }
            end += 1;
        }
        Ok(Found::Dir(dir))
    }

    /// Calls `found` for every path below the tree `id` that is not a directory, in the order
    /// of git's index.
    pub(super) fn each_path(
        &self,
        id: ObjectId,
        prefix: &mut Vec<u8>,
        found: &mut dyn FnMut(&BStr, Stored),
    ) -> Result<()> {
        let raw = self.object(id, git2::ObjectType::Tree)?;
        let items = parse_tree(&raw).ok_or_else(|| corrupt(git2::ObjectType::Tree, id))?;
        for item in items {
            let len = prefix.len();
            prefix.extend_from_slice(&item.name);
            match item.stored() {
                Some(stored) => found(prefix.as_bstr(), stored),
                None => {
                    prefix.push(b'/');
                    self.each_path(item.id, prefix, found)?;
                }
            }
            prefix.truncate(len);
        }
        Ok(())
    }
}

pub(super) fn oid(id: ObjectId) -> git2::Oid {
    git2::Oid::from_bytes(&id).expect("an object id has 20 bytes")
}

pub(super) fn object_id(oid: git2::Oid) -> ObjectId {
    let mut id = [0; 20];
    id.copy_from_slice(oid.as_bytes());
    id
}

fn corrupt(kind: git2::ObjectType, id: ObjectId) -> HistoryError {
    HistoryError::new(
        HistoryErrorKind::Unreadable,
        format!("object {} is not a well-formed {kind}", CommitId(id)),
        "see what `git fsck` says",
    )
}

/// Reads `tree HEX\n`, then any number of `parent HEX\n`, then the rest.
fn parse_commit(raw: &[u8]) -> Option<CommitHeader> {
    let mut lines = raw.lines();
    let tree = TreeId(parse_hex(lines.next()?.strip_prefix(b"tree ")?)?);
    let mut parents = Vec::new();
    for line in lines {
        let Some(hex) = line.strip_prefix(b"parent ") else {
            break;
        };
        parents.push(CommitId(parse_hex(hex)?));
    }
    Some(CommitHeader { tree, parents })
}

/// Reads items of `MODE NAME\0` and 20 bytes.
fn parse_tree(mut raw: &[u8]) -> Option<Vec<TreeItem>> {
    let mut items = Vec::with_capacity(raw.len() / 32);
    while !raw.is_empty() {
        let (mode, rest) = raw.split_once_str(" ")?;
        let (name, rest) = rest.split_once_str("\0")?;
        let (id, rest) = rest.split_first_chunk::<20>()?;
        let mode = u32::from_str_radix(mode.to_str().ok()?, 8).ok()?;
        items.push(TreeItem {
            name: name.into(),
            id: *id,
            mode: mode_of(mode),
        });
        raw = rest;
    }
    Some(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_objects_are_refused() {
        let hex = "0123456789abcdef0123456789abcdef01234567";
        let good = format!("tree {hex}\nparent {hex}\nparent {hex}\nauthor x\n\nparent {hex}\n");
        assert_eq!(parse_commit(good.as_bytes()).unwrap().parents.len(), 2);
        for bad in ["", "tree 12\n", &format!("tree {hex}\nparent x\n")] {
            assert!(parse_commit(bad.as_bytes()).is_none(), "{bad:?}");
        }

        let tree = [b"100755 a b\0".as_slice(), &[7; 20], b"40000 d\0", &[8; 20]].concat();
        let items = parse_tree(&tree).unwrap();
        assert_eq!(items[0].name, "a b");
        assert_eq!(items[0].mode, Some(Mode::Executable));
        assert_eq!(items[1].mode, None);
        for cut in 1..tree.len() {
            if cut != 31 {
                assert!(parse_tree(&tree[..cut]).is_none(), "cut at {cut}");
            }
        }
    }

    #[test]
    fn modes_read_as_git_reads_them() {
        assert_eq!(mode_of(0o040_000), None);
        assert_eq!(mode_of(0o100_644), Some(Mode::Regular));
        // Written by very old versions of git.
        assert_eq!(mode_of(0o100_664), Some(Mode::Regular));
        assert_eq!(mode_of(0o100_755), Some(Mode::Executable));
        assert_eq!(mode_of(0o120_000), Some(Mode::Symlink));
        assert_eq!(mode_of(0o160_000), Some(Mode::Gitlink));
    }
}

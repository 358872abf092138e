//! Reads an index file as git writes it (gitformat-index(5)), without libgit2. libgit2 spends
//! most of its time on a digest that git does not check either.
//!
//! Knows versions 2 and 3 with SHA-1 names. Everything else is left to libgit2. Pure.

use bstr::ByteSlice;

use super::objects::ObjectId;

const FIXED: usize = 62;
const DIGEST: usize = 20;
const HAS_EXTENDED_FLAGS: u16 = 0x4000;
const NAME_LENGTH: u16 = 0x0fff;

/// One entry. The numbers are those of the file.
pub(super) struct FileEntry<'a> {
    pub ctime: (u32, u32),
    pub mtime: (u32, u32),
    pub ino: u32,
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    pub size: u32,
    pub id: ObjectId,
    pub flags: u16,
    pub extended: u16,
    pub path: &'a [u8],
}

pub(super) struct IndexFile<'a> {
    pub entries: Vec<FileEntry<'a>>,
    /// The tree of all entries together, if git noted it.
    pub tree: Option<ObjectId>,
}

/// Reads an index; `None` if the format is not known here.
pub(super) fn parse(bytes: &[u8]) -> Option<IndexFile<'_>> {
    let content = bytes.get(..bytes.len().checked_sub(DIGEST)?)?;
    let version = u32_at(content, 4)?;
    if !content.starts_with(b"DIRC") || !(2..=3).contains(&version) {
        return None;
    }
    let count = u32_at(content, 8)? as usize;
    let mut at = 12;
    let mut entries: Vec<FileEntry<'_>> = Vec::with_capacity(count.min(content.len() / FIXED));
    for _ in 0..count {
        let (entry, len) = entry(content.get(at..)?)?;
        // Sorted by path, then by stage. A path can have several stages.
        if entries.last().is_some_and(|last| last.path > entry.path) {
            return None;
        }
        entries.push(entry);
        at += len;
    }
    let mut tree = None;
    while at < content.len() {
        let name = content.get(at..at + 4)?;
        let len = u32_at(content, at + 4)? as usize;
        let data = content.get(at + 8..(at + 8).checked_add(len)?)?;
        at += 8 + len;
        match name {
            b"TREE" => tree = cached_tree(data, count),
            // Names of extensions that a reader must know begin with a small letter.
            _ if !name[0].is_ascii_uppercase() => return None,
            _ => {}
        }
    }
    Some(IndexFile { entries, tree })
}

/// The first entry, and how many bytes it takes.
fn entry(bytes: &[u8]) -> Option<(FileEntry<'_>, usize)> {
    let fixed: &[u8; FIXED] = bytes.first_chunk()?;
    let number = |at: usize| u32_at(fixed, at);
    let mut id = [0; 20];
    id.copy_from_slice(&fixed[40..60]);
    let flags = u16_at(fixed, 60)?;
    let (extended, start) = match flags & HAS_EXTENDED_FLAGS {
        0 => (0, FIXED),
        _ => (u16_at(bytes, FIXED)?, FIXED + 2),
    };
    let name = bytes.get(start..)?;
    let len = match flags & NAME_LENGTH {
        NAME_LENGTH => name.find_byte(0)?,
        len => usize::from(len),
    };
    let path = name.get(..len).filter(|path| !path.is_empty())?;
    let entry = FileEntry {
        ctime: (number(0)?, number(4)?),
        mtime: (number(8)?, number(12)?),
        ino: number(20)?,
        mode: number(24)?,
        uid: number(28)?,
        gid: number(32)?,
        size: number(36)?,
        id,
        flags,
        extended,
        path,
    };
    // One to eight zeros pad it to a multiple of eight.
    let whole = (start + len + 8) & !7;
    let padding = bytes.get(start + len..whole)?;
    padding
        .iter()
        .all(|byte| *byte == 0)
        .then_some((entry, whole))
}

/// The tree of the whole index, from the extension that caches trees. Its format: a path (here
/// empty), a zero, the number of entries (negative: not valid), a space, the number of
/// subtrees, a line feed, the tree's name.
fn cached_tree(data: &[u8], count: usize) -> Option<ObjectId> {
    let data = data.strip_prefix(b"\0")?;
    let (numbers, rest) = data.split_once_str("\n")?;
    let (covered, _) = numbers.split_once_str(" ")?;
    let covered: usize = covered.to_str().ok()?.parse().ok()?;
    let id = rest.first_chunk::<20>()?;
    (covered == count).then_some(*id)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..)?.first_chunk::<4>()?;
    Some(u32::from_be_bytes(*four))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let two = bytes.get(at..)?.first_chunk::<2>()?;
    Some(u16::from_be_bytes(*two))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &str, flags: u16) -> Vec<u8> {
        let mut bytes: Vec<u8> = (1..=10u32).flat_map(u32::to_be_bytes).collect();
        bytes.extend([7; 20]);
        bytes.extend((flags | path.len() as u16).to_be_bytes());
        if flags & HAS_EXTENDED_FLAGS != 0 {
            bytes.extend(0x4000u16.to_be_bytes());
        }
        bytes.extend(path.as_bytes());
        bytes.resize((bytes.len() + 8) & !7, 0);
        bytes
    }

    fn file(version: u32, entries: &[Vec<u8>], rest: &[u8]) -> Vec<u8> {
        let count = entries.len() as u32;
        let mut bytes = [
            b"DIRC".as_slice(),
            &version.to_be_bytes(),
            &count.to_be_bytes(),
        ]
        .concat();
        bytes.extend(entries.concat());
        bytes.extend(rest);
        bytes.extend([0; DIGEST]);
        bytes
    }

    fn extension(name: &[u8; 4], data: &[u8]) -> Vec<u8> {
        [name.as_slice(), &(data.len() as u32).to_be_bytes(), data].concat()
    }

    #[test]
    fn entries_and_the_tree_are_read() {
        let tree = extension(b"TREE", &[b"\x002 0\n".as_slice(), &[5; 20]].concat());
        let entries = [entry("a.py", 0), entry("b/c.py", HAS_EXTENDED_FLAGS)];
        let bytes = file(3, &entries, &tree);
        let read = parse(&bytes).unwrap();
        assert_eq!(read.tree, Some([5; 20]));
        let paths: Vec<&[u8]> = read.entries.iter().map(|entry| entry.path).collect();
        assert_eq!(paths, [b"a.py".as_slice(), b"b/c.py"]);
        let first = &read.entries[0];
        assert_eq!((first.ctime, first.mtime, first.ino), ((1, 2), (3, 4), 6));
        assert_eq!(
            (first.mode, first.uid, first.gid, first.size),
            (7, 8, 9, 10)
        );
        assert_eq!((first.id, first.extended), ([7; 20], 0));
        assert_eq!(read.entries[1].extended, 0x4000);
    }

    #[test]
    fn a_tree_that_is_not_of_all_entries_is_not_believed() {
        for numbers in ["-1 0\n", "1 0\n", "3 1\n", "x 0\n"] {
            let data = [b"\0", numbers.as_bytes(), &[5; 20]].concat();
            let bytes = file(
                2,
                &[entry("a", 0), entry("b", 0)],
                &extension(b"TREE", &data),
            );
            assert_eq!(parse(&bytes).unwrap().tree, None, "{numbers}");
        }
    }

    #[test]
    fn what_is_not_known_here_is_left_alone() {
        let good = file(2, &[entry("a", 0)], &extension(b"REUC", b"any"));
        assert!(parse(&good).is_some());
        // It is also complete without extensions: git renames finished files.
        let bare = 12 + entry("a", 0).len() + DIGEST;
        for len in (0..good.len()).filter(|len| *len != bare) {
            assert!(parse(&good[..len]).is_none(), "{len}");
        }
        for bad in [
            file(4, &[entry("a", 0)], b""),
            file(2, &[entry("b", 0), entry("a", 0)], b""),
            file(2, &[entry("a", 0)], &extension(b"link", &[0; 20])),
            file(2, &[entry("a", 0)], &extension(b"sdir", b"")),
        ] {
            assert!(parse(&bad).is_none());
        }
    }

    #[test]
    fn damaged_files_are_read_or_left_to_git() {
        let tree = extension(b"TREE", &[b"\x002 0\n".as_slice(), &[5; 20]].concat());
        let entries = [entry("a.py", 0), entry("b/c.py", HAS_EXTENDED_FLAGS)];
        let reader = crate::fuzz::Reader {
            name: "git index",
            seeds: vec![file(3, &entries, &tree), file(2, &[entry("a", 0)], b"")],
            words: &["DIRC", "TREE", "REUC", "link", "\0\0\0\u{2}", "-1 0\n"],
            mend: |_| {},
            read: &|bytes| match parse(bytes) {
                Some(file) => format!("read {:?}", file.tree.is_some()),
                None => "left".to_owned(),
            },
        };
        reader.feed();
    }
}

//! What a path leads to: the symbolic links on the way, and what is there.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use bstr::{BStr, BString, ByteSlice};
use rustc_hash::FxHashMap;

use crate::history::fingerprint_on_disk;
use crate::matrix::Fingerprint;

/// Below these lies what a process has open.
const OF_PROCESSES: [&[u8]; 3] = [b"/proc/", b"/dev/fd/", b"/dev/std"];

/// As the kernel.
const MOST_LINKS: usize = 40;

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Missing,
    Dir,
    /// A regular file, or a link that was not followed.
    File,
    /// A device, a pipe, a socket: nothing that it holds could be compared.
    Special,
}

/// Where a path leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Way {
    /// The symbolic links on the way.
    pub links: Vec<BString>,
    /// The path without links; of what is missing, as far as there is any.
    pub path: BString,
    pub found: Found,
    /// Whether the folder is there in which it is, or would be.
    pub has_folder: bool,
}

impl Way {
    /// That of a path for which a call fails.
    pub(super) fn nowhere() -> Way {
        Way {
            links: Vec::new(),
            path: BString::default(),
            found: Found::Missing,
            has_folder: false,
        }
    }
}

/// Follows paths. The folders of those that were followed are known until something changes
/// what folders there are.
#[derive(Debug, Default)]
pub(super) struct Paths {
    folders: FxHashMap<BString, Way>,
}

impl Paths {
    /// Something was made, moved or removed that a path may lead through.
    pub(super) fn forget(&mut self) {
        self.folders.clear();
    }

    /// Follows an absolute path; a link at its end only if asked.
    pub(super) fn follow(&mut self, path: &BStr, follow_last: bool) -> Way {
        if OF_PROCESSES.iter().any(|top| path.starts_with(top)) {
            // What it leads to depends on who asks.
            return Way {
                links: Vec::new(),
                path: path.into(),
                found: Found::Special,
                has_folder: true,
            };
        }
        let (folder, last) = match path.rfind_byte(b'/') {
            Some(end) if end > 0 => (&path[..end], &path[end + 1..]),
            _ => return walk(path, follow_last),
        };
        if last.is_empty() || last == b"." || last == b".." {
            return walk(path, true);
        }
        if !self.folders.contains_key(folder.as_bstr()) {
            self.folders
                .insert(folder.into(), walk(folder.as_bstr(), true));
        }
        let folder = &self.folders[folder.as_bstr()];
        if folder.found != Found::Dir {
            // If it is a file there is nothing behind it.
            return walk(path, follow_last);
        }
        let mut here = folder.path.clone();
        if here != "/" {
            here.push(b'/');
        }
        here.extend_from_slice(last);
        let mut way = match std::fs::symlink_metadata(native(&here)) {
            Ok(met) if met.is_symlink() && follow_last => walk(here.as_bstr(), true),
            Ok(met) => Way {
                links: Vec::new(),
                path: here,
                found: kind(&met),
                has_folder: true,
            },
            Err(_) => missing(Vec::new(), here, Vec::new()),
        };
        way.links.extend(folder.links.iter().cloned());
        way
    }
}

fn walk(path: &BStr, follow_last: bool) -> Way {
    let mut links = Vec::new();
    let mut done = BString::from("");
    // What lies ahead, the next one last.
    let mut ahead: Vec<BString> = parts(path);
    while let Some(part) = ahead.pop() {
        let before = done.len();
        if part == ".." {
            let above = done.rfind_byte(b'/');
            done.truncate(above.unwrap_or(0));
            continue;
        }
        done.push(b'/');
        done.extend_from_slice(&part);
        let Ok(here) = std::fs::symlink_metadata(native(&done)) else {
            return missing(links, done, ahead);
        };
        let is_last = ahead.is_empty();
        if here.is_symlink() && (follow_last || !is_last) {
            let target = std::fs::read_link(native(&done));
            let target = target.ok().filter(|_| links.len() < MOST_LINKS);
            let Some(target) = target else {
                return missing(links, done, ahead);
            };
            links.push(done.clone());
            let target = BString::from(target.into_os_string().into_vec());
            done.truncate(if target.starts_with(b"/") { 0 } else { before });
            ahead.extend(parts(target.as_bstr()));
        } else if is_last {
            let found = kind(&here);
            return Way {
                links,
                path: done,
                found,
                has_folder: true,
            };
        } else if !here.is_dir() {
            return missing(links, done, ahead);
        }
    }
    if done.is_empty() {
        done.push(b'/');
    }
    let found = match std::fs::metadata(native(&done)) {
        Ok(here) => kind(&here),
        Err(_) => Found::Missing,
    };
    Way {
        links,
        path: done,
        found,
        has_folder: true,
    }
}

/// The parts of a path, the last one first, without those that mean nothing.
fn parts(path: &BStr) -> Vec<BString> {
    let parts = path.split(|byte| *byte == b'/').rev();
    parts
        .filter(|part| !part.is_empty() && **part != *b".")
        .map(BString::from)
        .collect()
}

fn missing(links: Vec<BString>, mut path: BString, ahead: Vec<BString>) -> Way {
    let has_folder = ahead.is_empty();
    for part in ahead.iter().rev() {
        path.push(b'/');
        path.extend_from_slice(part);
    }
    Way {
        links,
        path,
        found: Found::Missing,
        has_folder,
    }
}

fn kind(here: &Metadata) -> Found {
    match () {
        () if here.is_dir() => Found::Dir,
        () if here.is_file() || here.is_symlink() => Found::File,
        () => Found::Special,
    }
}

pub(super) fn native(path: &BString) -> &Path {
    Path::new(OsStr::from_bytes(path))
}

/// What a file holds now; `None` if it cannot be read.
pub(super) fn fingerprint(path: &BString) -> Option<Fingerprint> {
    fingerprint_on_disk(native(path)).ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_followed_and_told() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let top = BString::from(top.into_os_string().into_vec());
        let at = |name: &str| BString::from(format!("{top}/{name}"));
        std::fs::create_dir_all(native(&at("real/inner"))).unwrap();
        std::fs::write(native(&at("real/inner/file")), "").unwrap();
        symlink("real/inner", native(&at("short"))).unwrap();
        symlink("short/file", native(&at("link"))).unwrap();
        symlink("loop", native(&at("loop"))).unwrap();
        let mut paths = Paths::default();
        for _ in 0..2 {
            let mut follow = |name: &str, last| {
                let way = paths.follow(at(name).as_bstr(), last);
                let links: Vec<String> = way.links.iter().map(ToString::to_string).collect();
                let short = |text: String| text.replace(&format!("{top}/"), "");
                let links: Vec<String> = links.into_iter().map(short).collect();
                (short(way.path.to_string()), links.join(" "), way.found)
            };
            let real = || "real/inner/file".to_owned();
            let text = str::to_owned;
            assert_eq!(
                follow("real/inner/file", true),
                (real(), text(""), Found::File)
            );
            assert_eq!(
                follow("short/file", true),
                (real(), text("short"), Found::File)
            );
            assert_eq!(
                follow("link", true),
                (real(), text("link short"), Found::File)
            );
            assert_eq!(follow("link", false), (text("link"), text(""), Found::File));
            // What lies above a link's target, not above the link.
            let above = follow("short/../inner/file", true);
            assert_eq!(above, (real(), text("short"), Found::File));
            assert_eq!(follow("short/", true).2, Found::Dir);
            let none = (text("real/inner/no/where"), text("short"), Found::Missing);
            assert_eq!(follow("short/no/where", true), none);
            assert_eq!(follow("real/inner/file/x", true).2, Found::Missing);
            assert_eq!(follow("loop", true).2, Found::Missing);
        }
        assert_eq!(walk(b"/".as_bstr(), true).path, "/");
    }
}

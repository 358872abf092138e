//! Analyses kept on disk by the blob id of their source, so that a file is
//! read once in its life.
//!
//! `DIR/VERSION/ab/REST-OF-ID`, each file `BLAKE3(body) body`. The cache is
//! only ever an acceleration: an entry that is missing, damaged or of another
//! version is a miss.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result};
use fs_err as fs;

use super::codec::{decode, encode};
use crate::languages::{DIGEST_VERSION, ModuleUnits, NAMES_VERSION};

/// Version of what an entry holds.
const CONTENT: u32 = 31;
/// Bytes of the digest at the start of an entry.
const DIGEST: usize = 16;

pub struct Cache {
    /// Holds one directory for each version.
    top: PathBuf,
    entries: PathBuf,
}

/// What [`Cache::trim`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trimmed {
    pub removed: usize,
    pub kept_bytes: u64,
}

impl Cache {
    /// The cache in `dir`, which is made if need be.
    pub fn open(dir: &Path) -> Result<Cache> {
        let version = format!("v{DIGEST_VERSION}.{NAMES_VERSION}.{CONTENT}");
        let entries = dir.join(version);
        fs::create_dir_all(&entries)
            .context("the cache of source analyses cannot be made; run without it")?;
        Ok(Cache {
            top: dir.to_path_buf(),
            entries,
        })
    }

    /// The units of the source with this blob id, if they are known.
    pub fn get(&self, blob: &[u8; 20]) -> Option<ModuleUnits> {
        decode(&self.body(blob)?)
    }

    /// What is kept under a key; each language has keys of its own.
    pub(crate) fn body(&self, key: &[u8; 20]) -> Option<Vec<u8>> {
        let bytes = crate::disk::read(self.path(key)).ok()?;
        let (digest, body) = bytes.split_at_checked(DIGEST)?;
        let is_whole = digest == &blake3::hash(body).as_bytes()[..DIGEST];
        is_whole.then(|| body.to_vec())
    }

    /// Keeps the units of the source with this blob id.
    pub fn put(&self, blob: &[u8; 20], units: &ModuleUnits) -> Result<()> {
        self.keep(blob, &encode(units))
    }

    /// Keeps something under a key.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn keep(&self, key: &[u8; 20], body: &[u8]) -> Result<()> {
        let path = self.path(key);
        let dir = path.parent().unwrap_or(&self.entries);
        fs::create_dir_all(dir)?;
        let entry = [&blake3::hash(body).as_bytes()[..DIGEST], body].concat();
        Ok(crate::disk::write_atomically(&path, entry)?)
    }

    /// Removes what other versions left, then the oldest entries, until at
    /// most `max_bytes` are kept.
    pub fn trim(&self, max_bytes: u64) -> Result<Trimmed> {
        let mut done = Trimmed::default();
        let mut entries = Vec::new();
        for version in fs::read_dir(&self.top)? {
            let version = version?.path();
            if version == self.entries {
                collect(&version, &mut entries)?;
            } else if is_version(&version) {
                fs::remove_dir_all(&version)?;
            }
        }
        entries.sort();
        done.kept_bytes = entries.iter().map(|(_, _, size)| size).sum();
        for (_, path, size) in entries {
            if done.kept_bytes <= max_bytes {
                break;
            }
            match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
                Ok(()) | Err(_) => {
                    done.removed += 1;
                    done.kept_bytes -= size;
                }
            }
        }
        Ok(done)
    }

    fn path(&self, blob: &[u8; 20]) -> PathBuf {
        let hex = faster_hex::hex_string(blob);
        self.entries.join(&hex[..2]).join(&hex[2..])
    }
}

/// Whether `path` is a directory that some version of the cache made.
fn is_version(path: &Path) -> bool {
    path.file_name()
        .and_then(|name| name.to_str())
        .and_then(|name| name.strip_prefix('v'))
        .is_some_and(|numbers| {
            numbers
                .split('.')
                .all(|number| number.parse::<u32>().is_ok())
        })
}

/// Adds time of writing, path and size of every file below `dir`.
fn collect(dir: &Path, entries: &mut Vec<(SystemTime, PathBuf, u64)>) -> Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let path = entry.path();
        match entry.metadata() {
            Ok(data) if data.is_dir() => collect(&path, entries)?,
            Ok(data) => entries.push((data.modified()?, path, data.len())),
            // Another process trims too.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::languages::Analysis;
    use crate::languages::python::analyse_python;

    fn units(source: &str) -> ModuleUnits {
        match analyse_python(source.as_bytes()) {
            Analysis::Parsed(units) => *units,
            Analysis::Unparsed(reason) => panic!("{reason}"),
        }
    }

    const SOURCE: &str = "
import os
class C:
    @property
    def x(self): return getattr(self, os.name)
    @x.setter
    def x(self, value): pass
def é[T](): type A = T
from .m import a, b as c
N = a.f(lambda: c)
def f(): return c.d.e + unknown
";

    #[test]
    fn what_is_put_is_got() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(dir.path()).unwrap();
        let (some, other) = (units(SOURCE), units(""));
        assert_eq!(cache.get(&[1; 20]), None);
        cache.put(&[1; 20], &some).unwrap();
        cache.put(&[2; 20], &other).unwrap();
        let again = Cache::open(dir.path()).unwrap();
        assert_eq!(again.get(&[1; 20]), Some(some));
        assert_eq!(again.get(&[2; 20]), Some(other));
    }

    #[test]
    fn damage_is_a_miss() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(dir.path()).unwrap();
        cache.put(&[1; 20], &units(SOURCE)).unwrap();
        let path = cache.path(&[1; 20]);
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x10;
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(cache.get(&[1; 20]), None, "byte {at}");
            std::fs::write(&path, &whole[..at]).unwrap();
            assert_eq!(cache.get(&[1; 20]), None, "cut at {at}");
            // The decoder itself must stand what the digest lets through.
            let _ = decode(&bytes[DIGEST..]);
            let _ = decode(&whole[at..]);
        }
    }

    #[test]
    fn trimming_removes_the_oldest_and_other_versions() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(dir.path()).unwrap();
        let old = dir.path().join("v0/ab");
        std::fs::create_dir_all(&old).unwrap();
        std::fs::write(dir.path().join("README"), "not ours").unwrap();
        let module = units(SOURCE);
        for (id, age) in [(1, 30), (2, 20), (3, 10)] {
            cache.put(&[id; 20], &module).unwrap();
            std::fs::File::open(cache.path(&[id; 20]))
                .unwrap()
                .set_modified(SystemTime::now() - std::time::Duration::from_secs(age))
                .unwrap();
        }
        let size = std::fs::metadata(cache.path(&[1; 20])).unwrap().len();
        let done = cache.trim(2 * size).unwrap();
        assert_eq!((done.removed, done.kept_bytes), (1, 2 * size));
        assert!(!old.exists());
        assert!(dir.path().join("README").exists());
        assert_eq!(cache.get(&[1; 20]), None);
        assert_eq!(cache.get(&[3; 20]), Some(module));
        assert_eq!(cache.trim(0).unwrap().removed, 2);
    }

    #[test]
    fn damaged_entries_are_read_or_refused() {
        let reader = crate::fuzz::Reader {
            name: "source cache",
            seeds: vec![encode(&units(SOURCE)), encode(&units(""))],
            words: &["\u{1}", "\0", "name"],
            mend: |_| {},
            read: &|bytes| match decode(bytes) {
                Some(_) => "read".to_owned(),
                None => "refused".to_owned(),
            },
        };
        reader.feed();
    }

    /// The sources themselves; whatever can be analysed can be kept.
    #[test]
    fn damaged_sources_are_analysed_or_refused() {
        let more = "@d(lambda: 1)\nasync def f(a, /, b=1, *c, d: int = 2, **e) -> 'x':\n    global G\n    async with a as (b, *c):\n        match a:\n            case {'k': [1, *_], **r} | C(x=1):\n                yield f'{a!r:>{b}}{c = }'\n    try:\n        del x[1:2, ...]\n    except* E as e:\n        raise X from e\n    return await (y := {*a, 1j})\ntype A[T: int, *U, **V] = dict[T]\nclass C[T](B, metaclass=M):\n    __slots__ = ('a',)\n    x: int = 0x_f\nif __name__ == '__main__':\n    exec(b'\\xff')\nelse:\n    from ..a import *\nfor i in (j for j in k if j):\n    pass\n";
        let coding = "# -*- coding: latin-1 -*-\nx = 'é'\n";
        let reader = crate::fuzz::Reader {
            name: "Python sources",
            seeds: vec![SOURCE.into(), more.into(), coding.into()],
            words: &[
                "\n",
                "\n    ",
                "def ",
                "class ",
                "lambda ",
                "import ",
                "from . import ",
                "*",
                "**",
                "@",
                "(",
                ")",
                "[",
                "]",
                "{",
                "}",
                "\"\"\"",
                "f'{",
                "\\\n",
                "if ",
                "else:",
                "match x:\n case ",
                ":=",
                "async ",
                "await ",
                "yield ",
                "\u{c}",
                "\r",
                "\0",
                "\\N{",
                "\\x",
                "# coding: utf-8",
                "\u{feff}",
                "é",
                "ª",
                "0_",
                "9e999",
                "type ",
                "del ",
                "global x",
                "nonlocal x",
                "~-not ",
                "__all__ = ",
            ],
            mend: |_| {},
            read: &|bytes| match analyse_python(bytes) {
                Analysis::Parsed(units) => {
                    assert_eq!(decode(&encode(&units)), Some(*units));
                    "analysed".to_owned()
                }
                Analysis::Unparsed(reason) => reason,
            },
        };
        reader.feed();
    }
}

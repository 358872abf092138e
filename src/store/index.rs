//! The memo index, in memory and as bytes. For every test of a key it has the distinct rows of
//! the store's matrices, each at its newest place.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use super::Name;
use super::rows::RowDigest;
use crate::matrix::format::wire::{Reader, Strs, Texts, put_text, put_varint};
use crate::matrix::format::{MAX_HEADER, MAX_RATIO, MAX_ROWS, MAX_SECTION, MAX_TEXT, RATIO_FREE};
use crate::matrix::{Key, Refusal};

const MAGIC: [u8; 8] = *b"\x93tamix\r\n";
/// The format of the index.
///
/// 1: the first.
const VERSION: u32 = 1;
/// Magic, version, length of the head, digest.
const FIXED: usize = 48;
const LEVEL: i32 = 3;
/// The most distinct rows that are kept for one test, the newest first. Otherwise a test whose
/// dependencies change with every commit would blow up the index.
pub(super) const MAX_ROWS_PER_TEST: usize = 64;

/// A file of the store, as the index knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Covered {
    /// 64 hex digits.
    name: String,
    pub(super) len: u64,
    pub(super) created: u64,
    /// The position of its key in the keys; `None` if the file was refused.
    key: Option<usize>,
}

/// One distinct row of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) matrix: Name,
    pub(super) row: u32,
    pub(super) digest: RowDigest,
}

/// The distinct rows of each test of one key, newest first.
pub(super) type Tests = BTreeMap<String, Vec<Entry>>;

/// [`Tests`] as read, in flat vectors.
#[derive(Debug)]
pub(super) struct FlatTests {
    ids: Strs,
    entries: Vec<Entry>,
    /// The end of the entries of each test.
    ends: Vec<usize>,
}

impl FlatTests {
    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        self.ids.iter()
    }

    pub(super) fn get(&self, test: &str) -> &[Entry] {
        self.ids.find(test).map_or(&[], |at| self.of(at))
    }

    fn of(&self, at: usize) -> &[Entry] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.entries[start..self.ends[at]]
    }

    pub(super) fn to_map(&self) -> Tests {
        let tests = self.ids().enumerate();
        tests
            .map(|(at, test)| (test.to_owned(), self.of(at).to_vec()))
            .collect()
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Index {
    /// The matrices in the index: length, time, key (`None` if refused).
    pub(super) covered: BTreeMap<Name, (u64, u64, Option<Key>)>,
    pub(super) tests: BTreeMap<Key, Tests>,
}

impl Index {
    /// Adds a matrix with its usable rows: test, number and digest.
    pub(super) fn add<'a>(
        &mut self,
        name: Name,
        len: u64,
        created: u64,
        key: &Key,
        rows: impl Iterator<Item = (&'a str, u32, RowDigest)>,
    ) {
        self.covered.insert(name, (len, created, Some(key.clone())));
        let Index { covered, tests } = self;
        let age = |entry: &Entry| {
            Reverse((
                covered.get(&entry.matrix).map(|known| known.1),
                entry.matrix,
            ))
        };
        let tests = tests.entry(key.clone()).or_default();
        for (test, row, digest) in rows {
            let new = Entry {
                matrix: name,
                row,
                digest,
            };
            let Some(entries) = tests.get_mut(test) else {
                tests.insert(test.to_owned(), vec![new]);
                continue;
            };
            match entries.iter_mut().find(|entry| entry.digest == digest) {
                Some(same) if age(same) <= age(&new) => continue,
                Some(same) => *same = new,
                None => entries.push(new),
            }
            entries.sort_by_key(age);
            entries.truncate(MAX_ROWS_PER_TEST);
        }
    }

    /// Remembers a file that holds no usable matrix.
    pub(super) fn add_refused(&mut self, name: Name, len: u64) {
        self.covered.insert(name, (len, 0, None));
    }

    /// Removes matrices that are gone. Returns `false` and does nothing if that could lose
    /// rows: an older matrix may hold the same row, but the index only knows the newest place.
    pub(super) fn remove(&mut self, gone: &[Name]) -> bool {
        let left = self.covered.iter().filter(|(name, _)| !gone.contains(name));
        let mut oldest_left: BTreeMap<&Key, (u64, Name)> = BTreeMap::new();
        for (name, (_, created, key)) in left {
            if let Some(key) = key {
                let oldest = oldest_left.entry(key).or_insert((*created, *name));
                *oldest = (*oldest).min((*created, *name));
            }
        }
        let is_oldest = |name: &Name| match self.covered.get(name) {
            Some((_, created, Some(key))) => oldest_left
                .get(key)
                .is_none_or(|oldest| (*created, *name) < *oldest),
            _ => true,
        };
        if !gone.iter().all(is_oldest) {
            return false;
        }
        for name in gone {
            self.covered.remove(name);
        }
        for tests in self.tests.values_mut() {
            tests.retain(|_, entries| {
                entries.retain(|entry| self.covered.contains_key(&entry.matrix));
                !entries.is_empty()
            });
        }
        self.tests.retain(|_, tests| !tests.is_empty());
        true
    }

    /// Reads the index at `path`; `None` if there is none.
    pub(super) fn read(path: &Path) -> Result<Option<Index>, Refusal> {
        match crate::disk::read(path) {
            Ok(bytes) => Index::decode(&bytes).map(Some),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Refusal::Unreadable(error.to_string())),
        }
    }

    /// Like [`Index::read`], but reads only the rows of one key, and returns them apart from
    /// the index.
    pub(super) fn read_key(
        path: &Path,
        key: &Key,
    ) -> Result<Option<(Index, Option<FlatTests>)>, Refusal> {
        match crate::disk::read(path) {
            Ok(bytes) => {
                let mut rows = None;
                let index = Index::decode_head(&bytes, |facts, section, names| {
                    if facts.key == *key {
                        rows = Some(decode_key(facts, section, names)?);
                    }
                    Ok(())
                })?;
                Ok(Some((index, rows)))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Refusal::Unreadable(error.to_string())),
        }
    }

    pub(super) fn encode(&self) -> anyhow::Result<Vec<u8>> {
        let matrices: Vec<Name> = self.covered.keys().copied().collect();
        let mut keys = Vec::new();
        let mut sections = Vec::new();
        for (key, tests) in &self.tests {
            let (facts, section) = encode_key(key, tests, &matrices)?;
            keys.push(facts);
            sections.extend_from_slice(&section);
        }
        let covered = self
            .covered
            .iter()
            .map(|(name, (len, created, key))| Covered {
                name: name.to_string(),
                len: *len,
                created: *created,
                key: key
                    .as_ref()
                    .and_then(|key| keys.iter().position(|facts| facts.key == *key)),
            });
        let head = Head {
            matrices: covered.collect(),
            keys,
        };
        let head = serde_json::to_vec(&head).context("the head of the index")?;
        anyhow::ensure!(
            head.len() as u64 <= MAX_HEADER,
            "the store has too many matrices"
        );
        let mut file = Vec::with_capacity(FIXED + head.len() + sections.len());
        file.extend_from_slice(&MAGIC);
        file.extend_from_slice(&VERSION.to_le_bytes());
        file.extend_from_slice(&(head.len() as u32).to_le_bytes());
        file.extend_from_slice(&[0; 32]);
        file.extend_from_slice(&head);
        file.extend_from_slice(&sections);
        let digest = digest_of(&file);
        file[16..FIXED].copy_from_slice(&digest);
        Ok(file)
    }

    /// Reads an index.
    pub(super) fn decode(bytes: &[u8]) -> Result<Index, Refusal> {
        let mut tests = BTreeMap::new();
        let index = Index::decode_head(bytes, |facts, section, names| {
            let rows = decode_key(facts, section, names)?;
            tests.insert(facts.key.clone(), rows.to_map());
            Ok(())
        })?;
        Ok(Index { tests, ..index })
    }

    /// Reads the covered files, and gives the section of each key to `key_section`.
    fn decode_head(
        bytes: &[u8],
        mut key_section: impl FnMut(&KeyFacts, &[u8], &[Name]) -> Result<(), Refusal>,
    ) -> Result<Index, Refusal> {
        let head = read_head(bytes)?;
        let mut names = Vec::with_capacity(head.matrices.len());
        let mut index = Index::default();
        for matrix in &head.matrices {
            let name = Name::from_hex(&matrix.name)
                .ok_or_else(|| Refusal::malformed("the name of a matrix"))?;
            let key = matrix
                .key
                .map(|key| head.keys.get(key).map(|facts| facts.key.clone()));
            let key = match key {
                Some(None) => return Err(Refusal::malformed("a key is out of range")),
                Some(Some(key)) => Some(key),
                None => None,
            };
            names.push(name);
            index
                .covered
                .insert(name, (matrix.len, matrix.created, key));
        }
        let mut at = FIXED + head.len;
        for facts in head.keys {
            let end = at.saturating_add(usize::try_from(facts.stored).unwrap_or(usize::MAX));
            let section = bytes.get(at..end).ok_or(Refusal::Truncated)?;
            at = end;
            key_section(&facts, section, &names)?;
        }
        match at == bytes.len() {
            true => Ok(index),
            false => Err(Refusal::malformed("bytes follow the declared end")),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    matrices: Vec<Covered>,
    keys: Vec<KeyFacts>,
}

struct ReadHead {
    matrices: Vec<Covered>,
    keys: Vec<KeyFacts>,
    len: usize,
}

/// One key, and the size of its section.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyFacts {
    key: Key,
    tests: u64,
    test_bytes: u64,
    stored: u64,
    raw: u64,
}

fn digest_of(file: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&file[..16]);
    hasher.update(&file[FIXED..]);
    *hasher.finalize().as_bytes()
}

fn read_head(bytes: &[u8]) -> Result<ReadHead, Refusal> {
    let magic = bytes.len().min(MAGIC.len());
    if bytes[..magic] != MAGIC[..magic] {
        return Err(Refusal::NotAMatrix);
    }
    let number = |at: usize| -> Result<u32, Refusal> {
        let four = bytes.get(at..at + 4).ok_or(Refusal::Truncated)?;
        Ok(four
            .iter()
            .rev()
            .fold(0, |number, byte| number << 8 | u32::from(*byte)))
    };
    match number(8)? {
        VERSION => {}
        0 => return Err(Refusal::malformed("there is no format 0")),
        newer => return Err(Refusal::NewerFormat(newer)),
    }
    let len = number(12)? as usize;
    if len as u64 > MAX_HEADER {
        return Err(Refusal::OverLimit {
            what: "bytes of head",
            value: len as u64,
            limit: MAX_HEADER,
        });
    }
    let head = bytes.get(FIXED..FIXED + len).ok_or(Refusal::Truncated)?;
    if bytes[16..FIXED] != digest_of(bytes) {
        return Err(Refusal::DigestMismatch);
    }
    let head: Head = serde_json::from_slice(head)
        .map_err(|error| Refusal::malformed(format!("the head: {error}")))?;
    Ok(ReadHead {
        matrices: head.matrices,
        keys: head.keys,
        len,
    })
}

/// Writes for each test: its id, how many rows, and for each row the position of its matrix in
/// the head, its number there and its digest.
fn encode_key(key: &Key, tests: &Tests, matrices: &[Name]) -> anyhow::Result<(KeyFacts, Vec<u8>)> {
    let mut ids = Vec::new();
    let mut numbers = Vec::new();
    let mut digests = Vec::new();
    let (mut before, mut test_bytes): (&[u8], u64) = (b"", 0);
    for (test, entries) in tests {
        put_text(&mut ids, before, test.as_bytes());
        before = test.as_bytes();
        test_bytes += test.len() as u64;
        put_varint(&mut numbers, entries.len() as u64);
        for entry in entries {
            let matrix = matrices
                .binary_search(&entry.matrix)
                .ok()
                .context("an index without its matrix")?;
            put_varint(&mut numbers, matrix as u64);
            put_varint(&mut numbers, u64::from(entry.row));
            digests.extend_from_slice(&entry.digest.0);
        }
    }
    let mut raw = ids;
    raw.append(&mut numbers);
    raw.append(&mut digests);
    let section = zstd::bulk::compress(&raw, LEVEL).context("compressing the index")?;
    let facts = KeyFacts {
        key: key.clone(),
        tests: tests.len() as u64,
        test_bytes,
        stored: section.len() as u64,
        raw: raw.len() as u64,
    };
    check_facts(&facts)?;
    Ok((facts, section))
}

fn check_facts(facts: &KeyFacts) -> Result<(), Refusal> {
    let most = MAX_SECTION.min(RATIO_FREE.max(facts.stored.saturating_mul(MAX_RATIO)));
    for (what, value, limit) in [
        ("bytes of an index", facts.raw, most),
        ("tests", facts.tests, MAX_ROWS.min(facts.raw)),
        ("bytes of test ids", facts.test_bytes, MAX_TEXT),
    ] {
        if value > limit {
            return Err(Refusal::OverLimit { what, value, limit });
        }
    }
    Ok(())
}

fn decode_key(facts: &KeyFacts, section: &[u8], names: &[Name]) -> Result<FlatTests, Refusal> {
    check_facts(facts)?;
    let raw = zstd::bulk::decompress(section, facts.raw as usize)
        .map_err(|error| Refusal::malformed(format!("a section: {error}")))?;
    if raw.len() as u64 != facts.raw {
        return Err(Refusal::malformed("a section is shorter than declared"));
    }
    let mut reader = Reader::new(&raw);
    let ids: Strs = Texts::read_sorted(
        &mut reader,
        facts.tests as usize,
        facts.test_bytes as usize,
        "tests",
    )?
    .into_strs("tests")?;
    let mut ends = Vec::with_capacity(ids.len());
    let mut entries = Vec::with_capacity(ids.len());
    for _ in 0..ids.len() {
        let count = reader.below(MAX_ROWS_PER_TEST + 1, "the rows of a test")?;
        ends.push(entries.len() + count);
        for _ in 0..count {
            let matrix = names[reader.below(names.len(), "a matrix")?];
            entries.push(Entry {
                matrix,
                row: reader.u32("a row")?,
                digest: RowDigest([0; 16]),
            });
        }
    }
    for entry in &mut entries {
        entry.digest.0.copy_from_slice(reader.take(16)?);
    }
    reader.finish()?;
    Ok(FlatTests { ids, entries, ends })
}

//! Reads the memo index, keeps it up to date, and answers questions from it.

use std::collections::BTreeSet;

use super::files::{INDEX, Listing, lock, write_whole};
use super::index::{Entry, FlatTests, Index, MAX_ROWS_PER_TEST, Tests};
use super::rows::{RowDigest, usable_rows};
use super::{FsStore, Name, Trouble};
use crate::count::counted;
use crate::matrix::{Key, Matrix, Refusal, TestId};

/// A row that may hold at the head: its place, and its digest among the rows of the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub matrix: Name,
    /// The number of the row in that matrix.
    pub row: u32,
    pub digest: RowDigest,
}

#[derive(Debug, Default)]
pub struct Memo {
    tests: Rows,
    /// A notice for the user if the index had to be rebuilt.
    pub notice: Option<String>,
    /// The matrices that the index lacks.
    pub troubles: Vec<Trouble>,
    /// Why the index could not be used.
    pub index: Option<Trouble>,
}

/// The rows by test: flat as read, or as a map that grows.
#[derive(Debug)]
enum Rows {
    Read(FlatTests),
    Map(Tests),
}

impl Default for Rows {
    fn default() -> Rows {
        Rows::Map(Tests::new())
    }
}

impl Memo {
    fn without(trouble: Trouble) -> Memo {
        Memo {
            troubles: vec![trouble],
            ..Memo::default()
        }
    }

    /// The distinct usable rows of `test`, newest first. A row of many matrices appears once,
    /// in the newest of them.
    pub fn candidates(&self, test: TestId<&str>) -> impl Iterator<Item = Candidate> {
        let test = test.stored();
        let entries = match &self.tests {
            Rows::Read(tests) => tests.get(test),
            Rows::Map(tests) => tests.get(test).map_or(&[][..], Vec::as_slice),
        };
        entries.iter().map(|entry| Candidate {
            matrix: entry.matrix,
            row: entry.row,
            digest: entry.digest,
        })
    }

    /// Adds the usable rows of a matrix that is newer than all others. It builds a store as it
    /// was at some time.
    pub fn add_newer(&mut self, name: Name, matrix: &Matrix) {
        if let Rows::Read(tests) = &self.tests {
            self.tests = Rows::Map(tests.to_map());
        }
        let Rows::Map(tests) = &mut self.tests else {
            return;
        };
        for (row, digest) in usable_rows(matrix) {
            let test = matrix.rows[row as usize].test.by_ref().stored();
            let entries = tests.entry(test.to_owned()).or_default();
            entries.retain(|entry| entry.digest != digest);
            let new = Entry {
                matrix: name,
                row,
                digest,
            };
            entries.insert(0, new);
            entries.truncate(MAX_ROWS_PER_TEST);
        }
    }

    /// All tests with a candidate, ascending.
    pub fn tests(&self) -> impl Iterator<Item = &str> {
        let (read, map) = match &self.tests {
            Rows::Read(tests) => (Some(tests.ids()), None),
            Rows::Map(tests) => (None, Some(tests.keys().map(String::as_str))),
        };
        let ids = read.into_iter().flatten().chain(map.into_iter().flatten());
        ids.filter_map(|id| TestId::read(id).test())
    }
}

/// How the index on disk was found.
enum Found {
    Fresh(Index),
    /// Usable after an update.
    Stale(Index),
    Missing,
    Refused(Refusal),
}

impl FsStore {
    /// The candidate rows of all tests of `key`. If the index is missing, damaged or older
    /// than the directory, it is rebuilt from the matrices with a notice; if it cannot be
    /// written, only in memory.
    pub fn memo(&self, key: &Key) -> Memo {
        let listing = match self.listing() {
            Ok(listing) => listing,
            Err(trouble) => return Memo::without(trouble),
        };
        if let Ok(Some((index, rows))) = Index::read_key(&self.dir().join(INDEX), key)
            && covers(&index, &listing)
        {
            let rows = rows.map(Rows::Read).unwrap_or_default();
            return self.memo_from(&index, rows, None);
        }
        let lock = lock(self.dir());
        // Another process may have updated it while this one waited.
        let listing = match self.listing() {
            Ok(listing) => listing,
            Err(trouble) => return Memo::without(trouble),
        };
        let found = self.find_index(&listing);
        let why = match &found {
            Found::Fresh(_) => None,
            Found::Missing if listing.matrices.is_empty() => None,
            Found::Missing => Some("missing".to_owned()),
            Found::Stale(_) => Some("out of date".to_owned()),
            Found::Refused(refusal) => Some(refusal.to_string()),
        };
        let refused = match &found {
            Found::Refused(refusal) => Some(Trouble {
                path: self.dir().join(INDEX),
                refusal: refusal.clone(),
            }),
            _ => None,
        };
        let keep = matches!(found, Found::Refused(Refusal::NewerFormat(_)));
        let mut index = self.bring_up_to_date(found, &listing, None);
        if why.is_some() && lock.is_some() && !keep {
            self.write_index(&index);
        }
        let count = counted(listing.matrices.len(), "matrix");
        let notice = why.map(|why| format!("index of the store: {why}; made anew from {count}"));
        let rows = Rows::Map(index.tests.remove(key).unwrap_or_default());
        Memo {
            index: refused,
            ..self.memo_from(&index, rows, notice)
        }
    }

    fn memo_from(&self, index: &Index, tests: Rows, notice: Option<String>) -> Memo {
        let refused = index.covered.iter().filter(|(_, known)| known.2.is_none());
        let troubles = refused.filter_map(|(name, _)| {
            let refusal = self.load(name).err()?;
            Some(Trouble {
                path: self.path_of(name),
                refusal,
            })
        });
        Memo {
            troubles: troubles.collect(),
            tests,
            notice,
            index: None,
        }
    }

    /// Adds a matrix that was just written. A failure is not an error: the index is then out
    /// of date, and the next reader rebuilds it.
    pub(super) fn index_new(&self, name: &Name, matrix: &Matrix) {
        let Some(_lock) = lock(self.dir()) else {
            return;
        };
        let Ok(listing) = self.listing() else {
            return;
        };
        let found = self.find_index(&listing);
        if matches!(
            found,
            Found::Fresh(_) | Found::Refused(Refusal::NewerFormat(_))
        ) {
            return;
        }
        let index = self.bring_up_to_date(found, &listing, Some((name, matrix)));
        self.write_index(&index);
    }

    /// Updates the index after matrices were removed.
    pub(super) fn index_after_removal(&self) {
        let Ok(listing) = self.listing() else {
            return;
        };
        let found = self.find_index(&listing);
        if matches!(found, Found::Stale(_)) {
            let index = self.bring_up_to_date(found, &listing, None);
            self.write_index(&index);
        }
    }

    fn find_index(&self, listing: &Listing) -> Found {
        match Index::read(&self.dir().join(INDEX)) {
            Ok(Some(index)) if covers(&index, listing) => Found::Fresh(index),
            Ok(Some(index)) => Found::Stale(index),
            Ok(None) => Found::Missing,
            Err(refusal) => Found::Refused(refusal),
        }
    }

    /// The index of exactly the matrices in `listing`. It reads as few of them as possible;
    /// `new` need not be read.
    fn bring_up_to_date(
        &self,
        found: Found,
        listing: &Listing,
        new: Option<(&Name, &Matrix)>,
    ) -> Index {
        let mut index = match found {
            Found::Fresh(index) => return index,
            Found::Stale(index) => index,
            Found::Missing | Found::Refused(_) => Index::default(),
        };
        let there: BTreeSet<(Name, u64)> = listing.matrices.iter().copied().collect();
        let known = index.covered.iter();
        let gone: Vec<Name> = known
            .filter(|(name, known)| !there.contains(&(**name, known.0)))
            .map(|(name, _)| *name)
            .collect();
        if !index.remove(&gone) {
            index = Index::default();
        }
        for (name, len) in there {
            if index.covered.contains_key(&name) {
                continue;
            }
            match new {
                Some((new, matrix)) if *new == name => add_matrix(&mut index, name, len, matrix),
                _ => match self.load(&name) {
                    Ok(matrix) => add_matrix(&mut index, name, len, &matrix),
                    Err(_) if !self.path_of(&name).exists() => {}
                    Err(_) => index.add_refused(name, len),
                },
            }
        }
        index
    }

    /// Writes the index if possible. Without it the next reader only has more work.
    fn write_index(&self, index: &Index) {
        if let Ok(bytes) = index.encode() {
            let _ = write_whole(self.dir(), INDEX, &bytes);
        }
    }
}

/// Whether the index covers exactly the listed matrices.
fn covers(index: &Index, listing: &Listing) -> bool {
    let covered = index.covered.iter().map(|(name, known)| (*name, known.0));
    covered.eq(listing.matrices.iter().copied())
}

fn add_matrix(index: &mut Index, name: Name, len: u64, matrix: &Matrix) {
    let rows = usable_rows(matrix);
    let rows = rows.iter().map(|(row, digest)| {
        (
            matrix.rows[*row as usize].test.by_ref().stored(),
            *row,
            *digest,
        )
    });
    let header = &matrix.header;
    index.add(name, len, header.created, &header.key, rows);
}

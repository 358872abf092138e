//! What is known of the order dependences of a suite, beside its matrices.

use std::path::{Path, PathBuf};

use anyhow::Context;

use super::{FsStore, Name, Trouble};
use crate::matrix::{Key, Refusal};
use crate::order::Dependences;

pub(super) const SUFFIX: &str = "dependences";

impl FsStore {
    /// Stores what is known of a suite's dependences under the digest of its content.
    ///
    /// # Errors
    /// It breaks a rule of the format, or the file cannot be written.
    pub(crate) fn put_dependences(&self, known: &Dependences) -> anyhow::Result<PathBuf> {
        let bytes = known.encode()?;
        let file_name = format!("{}.{SUFFIX}", name_of(&bytes));
        self.write(&file_name, &bytes).with_context(|| {
            format!(
                "cannot store what is known of the order of tests in {}; make it writable, or \
                 make room (`tamis store gc --keep 10`)",
                self.dir().display()
            )
        })?;
        Ok(self.dir().join(file_name))
    }

    /// Stores what others know of a suite's dependences, together with what is known here.
    ///
    /// # Errors
    /// It is not sound, or the store cannot be written.
    pub(crate) fn take_dependences(&self, file: &[u8]) -> anyhow::Result<()> {
        let theirs = Dependences::decode(file)?;
        let Some(ours) = self.newest_known(&theirs.key) else {
            self.put_dependences(&theirs)?;
            return Ok(());
        };
        let joined = match ours.created < theirs.created {
            true => theirs.joined(&ours),
            false => ours.joined(&theirs),
        };
        if joined != ours {
            self.put_dependences(&joined)?;
        }
        Ok(())
    }

    /// The file of the newest that is known of these tests.
    pub(crate) fn newest_dependences(&self, key: &Key) -> Option<Vec<u8>> {
        self.newest_known(key)?.encode().ok()
    }

    fn newest_known(&self, key: &Key) -> Option<Dependences> {
        let known = self.dependences().0.into_iter().map(|(_, known)| known);
        { known }.find(|known| known.key == *key)
    }

    /// All that is stored of dependences, the newest first, and every file that cannot be read.
    pub(crate) fn dependences(&self) -> (Vec<(PathBuf, Dependences)>, Vec<Trouble>) {
        let listing = match self.listing() {
            Ok(listing) => listing,
            Err(trouble) => return (Vec::new(), vec![trouble]),
        };
        let (mut found, mut troubles) = (Vec::new(), Vec::new());
        for path in listing.dependences {
            match read(&path) {
                Ok(known) => found.push((path, known)),
                // The gc of another process has removed it since the listing.
                Err(_) if !path.exists() => {}
                Err(refusal) => troubles.push(Trouble { path, refusal }),
            }
        }
        found.sort_by(|(a, known), (b, other)| (other.created, b).cmp(&(known.created, a)));
        (found, troubles)
    }
}

/// Whether `file` is sound, and about the tests of `key`.
pub(crate) fn check_dependences(file: &[u8], key: &Key) -> Result<(), Refusal> {
    let known = Dependences::decode(file);
    let known = known.map_err(|error| Refusal::Malformed(format!("{error:#}")))?;
    match known.key == *key {
        true => Ok(()),
        false => Err(Refusal::Malformed(
            "the dependences are of another suite or environment".to_owned(),
        )),
    }
}

/// Reads and checks one file.
pub(super) fn read(path: &Path) -> Result<Dependences, Refusal> {
    let bytes = crate::disk::read(path).map_err(|error| Refusal::Unreadable(error.to_string()))?;
    let known = Dependences::decode(&bytes);
    let known = known.map_err(|error| Refusal::Unreadable(format!("{error:#}")))?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    match Name::from_hex(&stem) == Some(name_of(&bytes)) {
        true => Ok(known),
        false => Err(Refusal::Misnamed),
    }
}

fn name_of(bytes: &[u8]) -> Name {
    Name(*blake3::hash(bytes).as_bytes())
}

#[cfg(test)]
pub(crate) mod samples {
    use super::*;
    use crate::order::{Place, Suite};

    /// A file about two tests, of which nothing is known.
    pub(crate) fn dependences(key: &Key) -> Vec<u8> {
        let suite = Suite::new(["a.py::t", "b.py::t"].map(|id| (id.to_owned(), Vec::new())));
        let place = Place {
            key: key.clone(),
            commit: "1".repeat(40),
            tree: "2".repeat(40),
            dirty: Vec::new(),
            now: 1,
            rows: Default::default(),
        };
        let known = Dependences::nothing(&suite.unwrap(), &place);
        known.encode().unwrap()
    }
}

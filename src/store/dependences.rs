//! What is known of the order dependences of a suite, beside its matrices.

use std::path::{Path, PathBuf};

use anyhow::Context;

use super::{FsStore, Name, Trouble};
use crate::matrix::Refusal;
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

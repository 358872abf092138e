//! A store in a directory, by default `.tamis/store` (`docs/formats/store.md`).

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use fs_err as fs;

use super::files::{Access, INDEX, Listing, SUFFIX, read_start, write_whole};
use super::index::Index;
use super::outside::refusal;
use super::{Name, Trouble};
use crate::matrix::format::Prefix;
use crate::matrix::{Header, Matrix, MatrixView, Refusal, decode, encode};

/// How much of a file is read at first: enough for nearly every header.
const FIRST_READ: usize = 8 << 10;

/// Matrices in a directory, one file each, named by digest.
#[derive(Debug)]
pub struct FsStore {
    dir: PathBuf,
    access: Access,
    /// Why the store is not used at all.
    refused: Option<String>,
}

/// The result of a full check of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every byte was read and every rule holds.
    Sound,
    /// The file is not used, for this reason.
    Refused(Refusal),
    /// A file that is being written, or that a killed process left. `gc` removes it after a
    /// day.
    Temporary,
}

impl FsStore {
    /// The store in `dir`, which need not exist: the first `put` makes it.
    pub fn open(dir: impl Into<PathBuf>) -> FsStore {
        let dir = dir.into();
        let access = Access::probe(&dir);
        FsStore {
            dir,
            access,
            refused: None,
        }
    }

    /// The store in `dir`. If the user did not name it, it must be below `top`: the store is
    /// not used if a link leads out of `top`.
    pub fn open_beneath(dir: impl Into<PathBuf>, top: Option<&Path>) -> FsStore {
        let dir = dir.into();
        match top.and_then(|top| refusal(&dir, top)) {
            Some(why) => FsStore {
                dir,
                access: Access::None,
                refused: Some(why),
            },
            None => FsStore::open(dir),
        }
    }

    pub(super) fn listing(&self) -> Result<Listing, Trouble> {
        match &self.refused {
            None => Listing::read(&self.dir),
            Some(why) => Err(Trouble {
                path: self.dir.clone(),
                refusal: Refusal::Unreadable(why.clone()),
            }),
        }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What this process may do here; found when the store was opened.
    pub fn access(&self) -> Access {
        self.access
    }

    /// The path of the file of a matrix, whether or not it exists.
    pub fn path_of(&self, name: &Name) -> PathBuf {
        self.dir.join(matrix_file(name))
    }

    /// Stores a matrix under the digest of its content, then updates the index if possible.
    /// Several processes may put at the same time.
    ///
    /// # Errors
    /// The matrix is not sound, or the file cannot be written. The stored files stay
    /// unchanged.
    pub fn put(&self, matrix: &Matrix) -> anyhow::Result<Name> {
        let bytes = encode(matrix)?;
        let name = Prefix::read(&bytes)?.digest;
        self.write(&matrix_file(&name), &bytes).with_context(|| {
            format!(
                "cannot store what this run recorded in {}; make room (`tamis store gc --keep 10`) \
                 or make it writable, then run again: until then these tests are run again",
                self.dir.display()
            )
        })?;
        self.index_new(&name, matrix);
        Ok(name)
    }

    /// Stores the file of a matrix that another process made. All of it is checked first.
    ///
    /// # Errors
    /// It is not sound, or cannot be written.
    pub fn take(&self, bytes: &[u8]) -> anyhow::Result<Name> {
        let matrix = decode(bytes)?;
        let name = Prefix::read(bytes)?.digest;
        self.write(&matrix_file(&name), bytes)
            .with_context(|| format!("cannot store a matrix in {}", self.dir.display()))?;
        self.index_new(&name, &matrix);
        Ok(name)
    }

    pub(super) fn write(&self, file_name: &str, bytes: &[u8]) -> anyhow::Result<()> {
        if let Some(why) = &self.refused {
            bail!("{why}");
        }
        if self.access < Access::Write {
            bail!("{} is not writable", self.dir.display());
        }
        fs::create_dir_all(&self.dir)?;
        let path = self.dir.join(file_name);
        match crate::disk::read(&path) {
            Ok(there) if there == bytes => return Ok(()),
            Ok(_) => bail!(
                "{} is damaged; `tamis store verify` tells more; move it away",
                path.display()
            ),
            Err(_) => {}
        }
        write_whole(&self.dir, file_name, bytes)
    }

    /// The headers of all matrices, newest first, and every file that cannot be one. Bodies
    /// are not read, so only [`FsStore::load`] and [`FsStore::verify`] find a damaged body.
    pub fn headers(&self) -> (Vec<(Name, Header)>, Vec<Trouble>) {
        let listing = match self.listing() {
            Ok(listing) => listing,
            Err(trouble) => return (Vec::new(), vec![trouble]),
        };
        let mut headers = Vec::new();
        let mut troubles = Vec::new();
        for (name, len) in &listing.matrices {
            let path = self.path_of(name);
            match read_prefix(&path).and_then(|prefix| check_place(prefix, name, *len)) {
                Ok(prefix) => headers.push((*name, prefix.header)),
                // The gc of another process has removed it since the listing.
                Err(_) if !path.exists() => {}
                Err(refusal) => troubles.push(Trouble { path, refusal }),
            }
        }
        for path in listing.foreign {
            let refusal = refuse_foreign(&path);
            troubles.push(Trouble { path, refusal });
        }
        headers.sort_by_key(|(name, header)| Reverse((header.created, *name)));
        (headers, troubles)
    }

    /// Reads and checks a whole matrix.
    pub fn load(&self, name: &Name) -> Result<Matrix, Refusal> {
        let bytes = self.read(name)?;
        decode(&bytes)
    }

    /// Opens a matrix for a selection, much faster than [`FsStore::load`].
    pub fn view(&self, name: &Name) -> Result<MatrixView, Refusal> {
        MatrixView::open(self.read(name)?)
    }

    fn read(&self, name: &Name) -> Result<Vec<u8>, Refusal> {
        if let Some(why) = &self.refused {
            return Err(Refusal::Unreadable(why.clone()));
        }
        let bytes = crate::disk::read(self.path_of(name))
            .map_err(|error| Refusal::Unreadable(error.to_string()))?;
        let len = bytes.len() as u64;
        check_place(Prefix::read(&bytes)?, name, len)?;
        Ok(bytes)
    }

    /// Reads and checks every file of the store, in the order of names. Changes nothing.
    pub fn verify(&self) -> Vec<(PathBuf, Verdict)> {
        let listing = match self.listing() {
            Ok(listing) => listing,
            Err(trouble) => return vec![(trouble.path, Verdict::Refused(trouble.refusal))],
        };
        let mut verdicts = Vec::new();
        for (name, _) in &listing.matrices {
            let path = self.path_of(name);
            match self.load(name) {
                Ok(_) => verdicts.push((path, Verdict::Sound)),
                Err(_) if !path.exists() => {}
                Err(refusal) => verdicts.push((path, Verdict::Refused(refusal))),
            }
        }
        for path in listing.dependences {
            match super::dependences::read(&path) {
                Ok(_) => verdicts.push((path, Verdict::Sound)),
                Err(_) if !path.exists() => {}
                Err(refusal) => verdicts.push((path, Verdict::Refused(refusal))),
            }
        }
        for path in listing.foreign {
            let refusal = refuse_foreign(&path);
            verdicts.push((path, Verdict::Refused(refusal)));
        }
        for path in listing.temporary {
            verdicts.push((path, Verdict::Temporary));
        }
        match Index::read(&self.dir.join(INDEX)) {
            Ok(Some(_)) => verdicts.push((self.dir.join(INDEX), Verdict::Sound)),
            Ok(None) => {}
            Err(refusal) => verdicts.push((self.dir.join(INDEX), Verdict::Refused(refusal))),
        }
        verdicts.sort_by(|a, b| a.0.cmp(&b.0));
        verdicts
    }
}

fn matrix_file(name: &Name) -> String {
    format!("{name}.{SUFFIX}")
}

/// Reads the part of the matrix at `path` before its body.
fn read_prefix(path: &Path) -> Result<Prefix, Refusal> {
    let mut bytes = read_start(path, FIRST_READ)?;
    let needed = Prefix::needed(&bytes)?;
    if needed > bytes.len() {
        bytes = read_start(path, needed)?;
    }
    Prefix::read(&bytes)
}

/// Refuses a matrix whose file does not have the length or name that it declares.
fn check_place(prefix: Prefix, name: &Name, len: u64) -> Result<Prefix, Refusal> {
    prefix.check_len(len)?;
    match prefix.digest == *name {
        true => Ok(prefix),
        false => Err(Refusal::Misnamed),
    }
}

/// Why a file without the name of a matrix is not used.
fn refuse_foreign(path: &Path) -> Refusal {
    if path.is_dir() {
        return Refusal::NotAMatrix;
    }
    match read_prefix(path) {
        Ok(_) => Refusal::Misnamed,
        Err(refusal) => refusal,
    }
}

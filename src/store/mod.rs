//! Keeps the matrices of many commits.
//!
//! Trouble in a store never fails a user's tests: a [`Trouble`] names the file that cannot be
//! read, and more tests run.

mod aside;
mod dependences;
mod files;
mod fs;
mod gc;
mod index;
mod memo;
mod outside;
mod rows;

pub(crate) use crate::matrix::format::Digest as Name;
pub(crate) use aside::aside;
pub(crate) use dependences::check_dependences;
#[cfg(test)]
pub(crate) use dependences::samples;
pub use fs::FsStore;
pub(crate) use fs::Verdict;
pub(crate) use gc::GcPolicy;
pub(crate) use memo::Memo;
pub(crate) use outside::link_out;
pub(crate) use rows::usable_rows;

use std::fmt;
use std::path::PathBuf;

use crate::matrix::Refusal;

/// A file or directory that the store could not use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    pub path: PathBuf,
    pub refusal: Refusal,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.refusal)
    }
}

#[cfg(test)]
mod tests;

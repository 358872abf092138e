//! Why bytes were not accepted as a matrix.

use std::fmt;

/// The closed list of reasons to refuse a stored file. A refused file never
/// justifies a skip and is never deleted or overwritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The first bytes are not those of a matrix.
    NotAMatrix,
    /// A later version of tamis wrote it, in this format.
    NewerFormat(u32),
    /// It ends before its declared length.
    Truncated,
    /// Its content is not what its digest was made from.
    DigestMismatch,
    /// It declares, or has, more of something than tamis reads.
    OverLimit {
        what: &'static str,
        value: u64,
        limit: u64,
    },
    /// The digest is right, but the content breaks a rule of the format.
    Malformed(String),
    /// It belongs to another repository, suite or environment.
    WrongKey,
    /// The file does not bear the name that its content gives it.
    Misnamed,
    /// The operating system did not let us read it.
    Unreadable(String),
}

impl Refusal {
    #[cold]
    pub(crate) fn malformed(why: impl Into<String>) -> Refusal {
        Refusal::Malformed(why.into())
    }

    /// A short word for JSON and counters.
    pub fn word(&self) -> &'static str {
        match self {
            Refusal::NotAMatrix => "not-a-matrix",
            Refusal::NewerFormat(_) => "newer-format",
            Refusal::Truncated => "truncated",
            Refusal::DigestMismatch => "digest-mismatch",
            Refusal::OverLimit { .. } => "over-limit",
            Refusal::Malformed(_) => "malformed",
            Refusal::WrongKey => "wrong-key",
            Refusal::Misnamed => "misnamed",
            Refusal::Unreadable(_) => "unreadable",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NotAMatrix => f.write_str("not a file of tamis"),
            Refusal::NewerFormat(version) => write!(
                f,
                "written in format {version} by a newer tamis (this one reads formats up to {})",
                super::VERSION
            ),
            Refusal::Truncated => f.write_str("cut off: shorter than its declared length"),
            Refusal::DigestMismatch => {
                f.write_str("damaged: the content does not match its digest")
            }
            Refusal::OverLimit { what, value, limit } => {
                write!(f, "too large: {value} {what}, the limit is {limit}")
            }
            Refusal::Malformed(why) => write!(f, "malformed: {why}"),
            Refusal::WrongKey => f.write_str("belongs to another repository, suite or environment"),
            Refusal::Misnamed => f.write_str("renamed: its name is not the digest of its content"),
            Refusal::Unreadable(why) => write!(f, "cannot be read: {why}"),
        }
    }
}

impl std::error::Error for Refusal {}

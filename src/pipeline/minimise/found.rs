//! What a search for redundant statements comes to.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

/// What can go, as it was verified.
#[derive(Debug)]
pub(crate) struct Minimised {
    pub(crate) tests: TestCounts,
    pub(crate) statements: StatementCounts,
    /// Why tests are left alone, by id.
    pub(crate) left_alone: BTreeMap<String, String>,
    /// Tests that were joined, and found to be other than before.
    pub(crate) dropped: Vec<Dropped>,
    pub(crate) verified: Verified,
    pub(crate) classes: Vec<ClassSaving>,
    pub(crate) files: Vec<FileChange>,
    pub(crate) map: Vec<Mapped>,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct TestCounts {
    pub(crate) before: usize,
    pub(crate) partly_redundant: usize,
    pub(crate) after: usize,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct StatementCounts {
    pub(crate) before: usize,
    pub(crate) redundant: usize,
    pub(crate) removed: usize,
    pub(crate) after: usize,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Dropped {
    pub(crate) tests: Vec<String>,
    pub(crate) reason: String,
}

/// What was compared between the suite before and after.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Verified {
    pub(crate) assertions: Check,
    pub(crate) pmc: Check,
    pub(crate) line: Check,
    pub(crate) branch: Check,
    pub(crate) mutants: Check,
    pub(crate) orders: Check,
}

/// A comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    Equal,
    Different,
    NotRun(String),
}

impl Serialize for Check {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Check::Equal => to.serialize_str("equal"),
            Check::Different => to.serialize_str("different"),
            Check::NotRun(why) => to.serialize_str(&format!("not run: {why}")),
        }
    }
}

/// What joining tests saves in one class or file.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ClassSaving {
    pub(crate) class: String,
    pub(crate) tests_before: usize,
    pub(crate) tests_after: usize,
    pub(crate) statements_removed: usize,
    /// Of the tests that were joined, measured once each.
    pub(crate) seconds_before: f64,
    pub(crate) seconds_after: f64,
}

/// A file that changes.
#[derive(Debug)]
pub(crate) struct FileChange {
    /// Below the top of the work tree.
    pub(crate) path: PathBuf,
    pub(crate) before: Vec<u8>,
    pub(crate) after: Vec<u8>,
}

/// A test that several were joined to.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Mapped {
    pub(crate) id: String,
    pub(crate) file: String,
    pub(crate) originals: Vec<String>,
    pub(crate) lines: Vec<MappedLine>,
}

/// A statement of it, and where it and those that it stands for were.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MappedLine {
    pub(crate) line: u32,
    pub(crate) from: Vec<Origin>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Origin {
    pub(crate) test: String,
    pub(crate) line: u32,
}

//! Running tests statement by statement, for runners that can.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use super::Ran;
use crate::error::Error;
use crate::minimise::{Call, Known, SourceText, TestText};

/// Runs all tests of a project in their own order, and tells of some of them what each statement
/// does. Every call starts the tests anew.
pub trait Observer {
    /// All tests.
    ///
    /// # Errors
    /// If the tests cannot be started.
    fn tests(&self) -> Result<Vec<AtHand>, Error>;

    /// The tests in a source file.
    ///
    /// # Errors
    /// Why it is not understood.
    fn source(&self, bytes: &[u8]) -> Result<SourceText, String>;

    /// Runs all tests, and watches these; `None` if the user interrupted it.
    ///
    /// # Errors
    /// If the tests cannot be started.
    fn observe(&self, watch: &Watch<'_>) -> Result<Option<Observation>, Error>;

    /// Runs all tests, and measures what they cover; `None` if the user interrupted it.
    ///
    /// # Errors
    /// If the tests cannot be started.
    fn cover(&self) -> Result<Option<Coverage>, Error>;
}

/// What is to be watched: the ids of tests, with their texts.
#[derive(Clone, Debug, Default)]
pub struct Watch<'w> {
    pub tests: BTreeMap<String, &'w TestText>,
    /// Whether state that no variable shows is compared before and after each statement.
    pub deep: bool,
}

/// What a runner knows of a test before it runs.
#[derive(Clone, Debug, Deserialize)]
pub struct AtHand {
    #[serde(default)]
    pub id: String,
    /// Its file.
    pub path: PathBuf,
    /// The qualified name of its function.
    pub function: Option<String>,
    /// That of its class.
    pub class: Option<String>,
    pub fixtures: Vec<String>,
    /// Why it has to be left alone.
    pub alone: Option<String>,
}

/// All tests as they ran, and those that were watched.
#[derive(Debug)]
pub struct Observation {
    pub ran: Ran,
    /// By id.
    pub tests: BTreeMap<String, Observed>,
}

/// What was seen of a test.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Observed {
    pub start: BTreeMap<String, Known>,
    pub steps: Vec<StepSeen>,
    /// Why it was not seen as a whole.
    pub trouble: Option<String>,
}

/// What was seen of a statement; see `minimise::Statement`.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct StepSeen {
    pub statement: usize,
    pub before: Vec<Option<Known>>,
    pub after: Vec<Option<Known>>,
    pub shared: [String; 2],
    pub calls: Vec<Call>,
    /// Whether it ran a helper of the tests that may check something.
    pub asserts: bool,
    pub changed: BTreeMap<String, Option<Known>>,
}

/// For each production file the lines and the branches that tests ran; `None` if nobody can
/// measure that here.
pub(crate) type Coverage = Option<BTreeMap<String, Covered>>;

/// What is covered of a file.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct Covered {
    pub lines: Vec<u64>,
    /// From a line to a line; below 0 for entries and exits.
    pub arcs: Vec<(i64, i64)>,
}

//! What `tamis run` tells the process that supervises a run of tests in Node.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::disk::write_atomically;
use crate::matrix::Fingerprint;
use crate::tracer::Test;

/// How the tests are to run.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct NodePlan {
    pub traces: PathBuf,
    /// The top of the work tree.
    pub root: PathBuf,
    /// The folder that names of tests are relative to.
    pub project: PathBuf,
    /// A folder for files of this run, without links.
    pub out: PathBuf,
    pub cwd: PathBuf,
    /// The words of the command, of which each is bytes.
    pub command: Vec<Vec<u8>>,
    pub left_out: BTreeSet<String>,
    /// Why nobody sees what processes use, if so.
    pub untraced: Option<String>,
}

/// What stands for all tests of a command, where it is told what the command is.
const TESTS: &str = "tests in Node";

/// The name under which the command is stored that runs the tests, and its value.
pub(super) fn definition(words: &[OsString], cwd: &Path, root: &Path) -> (String, Fingerprint) {
    Test::new(TESTS, words, cwd, None).definition(root)
}

impl NodePlan {
    pub(super) fn words(&self) -> Vec<OsString> {
        let words = self.command.iter().cloned();
        words.map(OsString::from_vec).collect()
    }

    /// The id of a test file.
    pub(super) fn id(&self, file: &str) -> String {
        let file = Path::new(file);
        let inside = file.strip_prefix(&self.project).unwrap_or(file);
        inside.display().to_string()
    }

    pub(super) fn save(&self, file: &Path) -> Result<()> {
        Ok(write_atomically(file, serde_json::to_vec(self)?)?)
    }

    pub(super) fn load(file: &Path) -> Result<NodePlan> {
        let bytes = crate::disk::read_named(file)?;
        serde_json::from_slice(&bytes)
            .with_context(|| format!("{} was not written by tamis", file.display()))
    }
}

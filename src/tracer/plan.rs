//! Commands that are tests, handed to a process of tamis that supervises them.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::paths::fingerprint;
use super::write::{Written, write, write_list};
use super::{Job, Seen, Traced, adopt_orphans, end_descendants, trace, untraced};
use crate::disk::write_atomically;
use crate::matrix::{Fingerprint, Outcome};
use crate::run::Ended;

/// What runs, and where it is told of.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub traces: PathBuf,
    /// The top of the work tree.
    pub root: PathBuf,
    pub tests: Vec<Test>,
    /// The tests that need not run.
    pub left_out: Vec<String>,
    /// Why nobody sees what processes use, if so.
    pub untraced: Option<String>,
}

/// A command that is a test.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Test {
    pub id: String,
    /// Words, of which each is bytes.
    argv: Vec<Vec<u8>>,
    pub cwd: PathBuf,
    timeout: Option<Duration>,
}

impl Test {
    pub(crate) fn new(id: &str, argv: &[OsString], cwd: &Path, timeout: Option<Duration>) -> Test {
        Test {
            id: id.to_owned(),
            argv: argv.iter().map(|word| word.as_bytes().to_vec()).collect(),
            cwd: cwd.to_owned(),
            timeout,
        }
    }

    pub(crate) fn program(&self) -> Option<PathBuf> {
        let program = self.argv.first()?.clone();
        Some(OsString::from_vec(program).into())
    }

    /// The name of what the command is, among what the environment tells, and its value: of
    /// another command, or in another folder, the result is another one.
    pub(crate) fn definition(&self, root: &Path) -> (String, Fingerprint) {
        let folder = self.cwd.strip_prefix(root).unwrap_or(&self.cwd);
        let folder = folder.as_os_str().as_bytes();
        let words = self.argv.iter().map(Vec::as_slice).chain([folder]);
        let mut text = Vec::new();
        for word in words {
            text.extend(format!("{} ", word.len()).bytes());
            text.extend(word);
        }
        (
            format!("{DEFINITION}{}", self.id),
            Fingerprint::of_value(&text),
        )
    }
}

/// What the names of definitions begin with.
const DEFINITION: &str = "command of ";

impl Plan {
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn save(&self, file: &Path) -> Result<()> {
        Ok(write_atomically(file, serde_json::to_vec(self)?)?)
    }

    /// # Errors
    /// If the file cannot be read, or is none of these.
    pub(crate) fn load(file: &Path) -> Result<Plan> {
        let bytes = crate::disk::read_named(file)?;
        serde_json::from_slice(&bytes)
            .with_context(|| format!("{} was not written by tamis", file.display()))
    }

    /// Runs the tests one after the other, in a process that does nothing else; `tell` hears
    /// of each. Returns how the first one ended that failed.
    ///
    /// # Errors
    /// If a trace cannot be written.
    pub(crate) fn run(&self, mut tell: impl FnMut(&Test, &Traced, Outcome)) -> Result<Ended> {
        if self.untraced.is_none() {
            adopt_orphans()?;
        }
        let mut first = Ended::Exit(0);
        let mut done: Vec<&str> = Vec::new();
        let mut written = BTreeSet::new();
        for (at, test) in self.tests.iter().enumerate() {
            let (mut traced, (ended, said)) = match self.run_one(test) {
                Ok(traced) => {
                    let said = outcome(&traced);
                    (traced, said)
                }
                // As a shell does.
                Err(error) => (not_started(&error), (Ended::Exit(127), Outcome::Error)),
            };
            traced.seen.keep_prints(&written, fingerprint);
            written.extend(traced.seen.written.iter().cloned());
            tell(test, &traced, said);
            let told = Written {
                test: &test.id,
                outcome: said,
                seconds: traced.duration.as_secs_f64(),
                seen: &traced.seen,
                cwd: &test.cwd,
                definition: test.definition(&self.root),
                store: &self.root.join(STORE),
            };
            write(&self.traces, &format!("{}-{at}", std::process::id()), &told)?;
            done.push(&test.id);
            if first == Ended::Exit(0) {
                first = ended;
            }
        }
        let name = format!("{}-all", std::process::id());
        write_list(&self.traces, &name, &done, &self.left_out)?;
        Ok(first)
    }

    fn run_one(&self, test: &Test) -> Result<Traced> {
        let argv = test.argv.iter().cloned().map(OsString::from_vec);
        let argv: Vec<OsString> = argv.collect();
        let job = Job {
            argv: &argv,
            cwd: &test.cwd,
            timeout: test.timeout,
        };
        match &self.untraced {
            None => trace(&job, end_descendants),
            Some(why) => untraced(&job, why),
        }
    }
}

/// The folder of results.
const STORE: &str = ".tamis";

/// What is known of a test that did not begin.
fn not_started(error: &anyhow::Error) -> Traced {
    let mut seen = Seen::default();
    seen.doubt(format!("{error:#}"));
    Traced {
        ended: Ended::Exit(127),
        duration: Duration::ZERO,
        timed_out: false,
        seen,
        left: 0,
    }
}

/// What the end of a command says of the test that it is.
fn outcome(traced: &Traced) -> (Ended, Outcome) {
    match traced.ended {
        // As `timeout` of the shell does.
        _ if traced.timed_out => (Ended::Exit(124), Outcome::Failed),
        Ended::Exit(0) => (traced.ended, Outcome::Passed),
        Ended::Exit(_) => (traced.ended, Outcome::Failed),
        Ended::Signal(_) => (traced.ended, Outcome::Crashed),
    }
}

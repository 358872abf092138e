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
use super::{Entered, Job, Seen, Traced, adopt_orphans, end_descendants, trace, untraced};
use crate::disk::write_atomically;
use crate::matrix::{Fingerprint, Outcome};
use crate::run::{Ended, was_interrupted};

/// What runs, and where it is told of.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub traces: PathBuf,
    /// The top of the work tree.
    pub root: PathBuf,
    /// All tests, in their order.
    pub tests: Vec<Test>,
    /// Those that need not run, unless one before them leaves something behind: what they would
    /// find then, no row tells.
    pub left_out: BTreeSet<String>,
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
    pub(crate) fn run(&self, mut tell: impl FnMut(&Test, &Ran)) -> Result<Ended> {
        if self.untraced.is_none() {
            adopt_orphans()?;
        }
        let mut all: Vec<(&Test, Ran)> = Vec::new();
        let mut left_out: Vec<&str> = Vec::new();
        let mut written = BTreeSet::new();
        let mut disturbed = None;
        for test in &self.tests {
            let is_left_out = self.left_out.contains(&test.id);
            if was_interrupted() || is_left_out && disturbed.is_none() {
                left_out.push(&test.id);
                continue;
            }
            let mut ran = self.run_one(test);
            ran.because = disturbed.clone().filter(|_| is_left_out);
            let seen = &mut ran.traced.seen;
            seen.keep_prints(&written, fingerprint);
            written.extend(seen.written.iter().cloned());
            if let Some(left) = seen.changes() {
                disturbed.get_or_insert_with(|| format!("{} left {left}", test.id));
            }
            tell(test, &ran);
            self.write(all.len(), test, &ran)?;
            all.push((test, ran));
        }
        self.mark_shared(&mut all)?;
        let done: Vec<&str> = all.iter().map(|(test, _)| test.id.as_str()).collect();
        write_list(&self.traces, &name_of("all"), &done, &left_out)?;
        let mut ended = all.iter().map(|(_, ran)| ran.ended);
        let failed = ended.find(|ended| *ended != Ended::Exit(0));
        Ok(failed.unwrap_or(Ended::Exit(0)))
    }

    /// Tests that use what others left run every time, and so do these: one without the other
    /// would find something else.
    fn mark_shared(&self, all: &mut [(&Test, Ran)]) -> Result<()> {
        let mut marked = BTreeSet::new();
        for at in 1..all.len() {
            for before in 0..at {
                let (first, rest) = all.split_at_mut(at);
                let ((writer, of_writer), (reader, of_reader)) = (&mut first[before], &mut rest[0]);
                let (wrote, read) = (&mut of_writer.traced.seen, &mut of_reader.traced.seen);
                let Some(path) = read.meets(wrote).cloned() else {
                    continue;
                };
                wrote.doubt(format!("{} uses {path}, which it left", reader.id));
                read.doubt(format!("it uses {path}, which {} left", writer.id));
                marked.extend([before, at]);
            }
        }
        for at in marked {
            let (test, ran) = &all[at];
            self.write(at, test, ran)?;
        }
        Ok(())
    }

    fn write(&self, at: usize, test: &Test, ran: &Ran) -> Result<()> {
        let told = Written {
            test: &test.id,
            outcome: ran.outcome,
            seconds: ran.traced.duration.as_secs_f64(),
            seen: &ran.traced.seen,
            cwd: &test.cwd,
            words: &test.argv,
            definition: test.definition(&self.root),
            store: &self.root.join(STORE),
        };
        write(&self.traces, &name_of(&at.to_string()), &told)
    }

    fn run_one(&self, test: &Test) -> Ran {
        let argv = test.argv.iter().cloned().map(OsString::from_vec);
        let argv: Vec<OsString> = argv.collect();
        let job = Job {
            argv: &argv,
            cwd: &test.cwd,
            timeout: test.timeout,
            env: &[],
            output: None,
            marks: None,
            programs: None,
        };
        let traced = match &self.untraced {
            None => trace(&job, end_descendants),
            Some(why) => untraced(&job, why),
        };
        let (traced, (ended, outcome)) = match traced {
            Ok(traced) => {
                let said = outcome(&traced);
                (traced, said)
            }
            // As a shell does.
            Err(error) => (not_started(&error), (Ended::Exit(127), Outcome::Error)),
        };
        Ran {
            traced,
            ended,
            outcome,
            because: None,
        }
    }
}

/// How one test went.
#[derive(Debug)]
pub(crate) struct Ran {
    pub traced: Traced,
    ended: Ended,
    pub outcome: Outcome,
    /// Why it ran, if it was to be left out.
    pub because: Option<String>,
}

/// The name of a trace of this process.
fn name_of(part: &str) -> String {
    format!("{}-{part}", std::process::id())
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
        parts: Vec::new(),
        left: 0,
        entered: Entered::default(),
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

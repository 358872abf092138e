//! Really running the tests at each revision of a history, in a work tree
//! beside the project.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use bstr::ByteSlice;
use serde::{Deserialize, Serialize};

use super::decide::{Request, decide};
use super::keep::{Judged, record_run};
use super::launch::{Launched, TestCommand, launch};
use super::project::Project;
use super::workshop::Workshop;
use crate::config::Config;
use crate::count::counted;
use crate::history::{CommitId, Scratch};
use crate::run::{Ended, Output, was_interrupted};
use crate::select::Strategy;

/// How to run the tests at a revision.
pub(crate) struct Rerun {
    pub config: Config,
    /// Identity of the repository, the same for all its revisions.
    pub identity: String,
    pub command: Vec<OsString>,
    /// A shell command that makes each revision ready for its tests.
    pub build: Option<String>,
    /// Where the logs go, and a note of each revision that has no results.
    pub folder: PathBuf,
    /// Work trees that are used at the same time.
    pub jobs: usize,
}

/// What came of one revision.
pub(crate) struct Rerunned {
    pub commit: CommitId,
    pub seconds: Duration,
    /// The tests that ran, or why there are no results.
    pub ran: Result<usize, String>,
}

/// A line of the file that remembers revisions without results.
#[derive(Serialize, Deserialize)]
struct Failure {
    commit: String,
    why: String,
}

const FAILURES: &str = "failures.jsonl";

impl Rerun {
    /// Runs the tests at each of `commits` and stores what they used.
    ///
    /// # Errors
    /// If no work tree can be made; a revision that cannot be built or tested
    /// is told and is no error.
    pub(crate) fn run(&self, commits: &[CommitId], told: impl Fn(Rerunned) + Sync) -> Result<()> {
        fs_err::create_dir_all(&self.folder)?;
        let queue = Mutex::new(VecDeque::from_iter(commits.iter().copied()));
        let next = || {
            queue
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .pop_front()
        };
        let work = || -> Result<()> {
            let place = Place::new(self)?;
            while let Some(commit) = next() {
                let started = std::time::Instant::now();
                let ran = place.revision(self, commit);
                if was_interrupted() {
                    anyhow::bail!("interrupted; the same command goes on from here");
                }
                let ran = ran.map_err(|error| format!("{error:#}"));
                if let Err(why) = &ran {
                    self.remember(commit, why)?;
                }
                told(Rerunned {
                    commit,
                    seconds: started.elapsed(),
                    ran,
                });
            }
            Ok(())
        };
        let jobs = self.jobs.clamp(1, commits.len().max(1));
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
            for worker in workers {
                worker.join().unwrap_or_else(|_| {
                    anyhow::bail!("a worker of the replay stopped; run the command again")
                })?;
            }
            Ok(())
        })
    }

    /// Revisions that were tried before and have no results, with the reason.
    pub(crate) fn failures(folder: &Path) -> BTreeMap<CommitId, String> {
        let text = crate::disk::read_to_string(folder.join(FAILURES)).unwrap_or_default();
        let lines = text.lines().filter_map(|line| {
            let failure: Failure = serde_json::from_str(line).ok()?;
            Some((failure.commit.parse().ok()?, failure.why))
        });
        lines.collect()
    }

    /// Forgets them, so that they are tried again.
    ///
    /// # Errors
    /// If the file cannot be removed.
    pub(crate) fn forget_failures(folder: &Path) -> Result<()> {
        let file = folder.join(FAILURES);
        if file.exists() {
            fs_err::remove_file(file)?;
        }
        Ok(())
    }

    fn remember(&self, commit: CommitId, why: &str) -> Result<()> {
        let failure = Failure {
            commit: commit.to_string(),
            why: why.to_owned(),
        };
        let mut line = serde_json::to_string(&failure)?;
        line.push('\n');
        Ok(crate::disk::append(&self.folder.join(FAILURES), line)?)
    }

    fn log(&self, commit: CommitId, what: &str) -> PathBuf {
        self.folder.join(format!("{commit}.{what}.log"))
    }
}

/// A work tree beside the project.
struct Place {
    scratch: Scratch,
    tree: PathBuf,
    config: Config,
    /// The folder of the tests in it.
    dir: PathBuf,
    _base: tempfile::TempDir,
}

impl Place {
    fn new(rerun: &Rerun) -> Result<Place> {
        let project = Project::open(rerun.config.clone())?;
        let base = tempfile::Builder::new()
            .prefix("tamis-replay-")
            .tempdir()
            .context(
                "cannot make a folder for a work tree; set TMPDIR to one that can be written",
            )?;
        let top = fs_err::canonicalize(base.path())?;
        let tree = top.join("tree");
        fs_err::create_dir(&tree)?;
        let dir = tree.join(project.prefix.to_path_lossy());
        let mut config = rerun.config.clone();
        config.root.value = dir.clone();
        config.place.folder = top;
        config.place.top = Some(tree.clone());
        Ok(Place {
            scratch: Scratch::new(&project.repository, &tree)?,
            tree,
            config,
            dir,
            _base: base,
        })
    }

    /// The number of tests that ran at a revision and were recorded.
    fn revision(&self, rerun: &Rerun, commit: CommitId) -> Result<usize> {
        self.scratch.check_out(commit)?;
        if !self.dir.is_dir() {
            anyhow::bail!("the folder of the tests is not there at this revision");
        }
        if let Some(build) = &rerun.build {
            self.build(rerun, commit, build)?;
        }
        let mut project = Project::open(self.config.clone())?;
        project.identity.clone_from(&rerun.identity);
        let store = project.store();
        let view = project.repository.work_view()?;
        if let Some((path, _)) = view.dirty()?.first() {
            anyhow::bail!("{path} lies there, which git neither tracks nor ignores");
        }
        let request = Request {
            strategy: Strategy::All,
            ..Request::default()
        };
        let decision = decide(&project, &store, &view, &request)?;
        let workshop = Workshop::set_up_as(&project, &commit.short())?;
        let log = rerun.log(commit, "tests");
        let tests = TestCommand {
            command: &rerun.command,
            cwd: &self.dir,
            exclude: None,
            left_out: None,
            output: Output::File(log.clone()),
        };
        let judged = Judged {
            before: &view,
            decision: &decision,
            audited: None,
        };
        let ran = launch(&project, &workshop, &tests).and_then(Launched::wait);
        let recorded = ran.and_then(|ran| {
            let recorded = record_run(&project, &workshop, &ran, &judged)?;
            Ok((ran.ended, recorded))
        });
        workshop.clean_up();
        let (ended, recorded) = recorded?;
        let ran = recorded.outcomes.len();
        // 0: all passed, 1: some did not. After anything else tests may lack.
        if matches!(ended, Ended::Exit(0 | 1)) && ran > 0 && !was_interrupted() {
            return Ok(ran);
        }
        if let Some(name) = &recorded.name {
            fs_err::remove_file(store.path_of(name))?;
        }
        let log = log.display();
        let ran = counted(ran, "test");
        match ended {
            Ended::Exit(status) => {
                anyhow::bail!("the command ended with {status} after {ran}; see {log}")
            }
            Ended::Signal(signal) => {
                anyhow::bail!("signal {signal} ended the command after {ran}; see {log}")
            }
        }
    }

    fn build(&self, rerun: &Rerun, commit: CommitId, build: &str) -> Result<()> {
        let log = rerun.log(commit, "build");
        let file = crate::disk::create(&log)?;
        let again = file.try_clone().context("cannot use the log twice")?;
        let status = Command::new("sh")
            .args(["-c", build])
            .current_dir(&self.tree)
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(again)
            .status()
            .context("cannot start `sh`")?;
        match status.success() {
            true => Ok(()),
            false => anyhow::bail!("the build failed ({status}); see {}", log.display()),
        }
    }
}

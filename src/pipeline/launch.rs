//! Runs the tests' command under collection.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;

use super::project::Project;
use super::recording::CommandRun;
use super::workshop::Workshop;
use crate::languages::{Serial, serials};
use crate::run::{Ended, Output, Running};
use crate::runners::emission::read_exclusions;
use crate::runners::{Launch, Runner};
use crate::select::Exclusions;

/// The tests' command, and what it is told to leave out.
pub(crate) struct TestCommand<'a> {
    pub command: &'a [OsString],
    pub cwd: &'a Path,
    /// The file of tests that the collector leaves out.
    pub exclude: Option<PathBuf>,
    /// The same for a runner that leaves tests out itself.
    pub left_out: Option<PathBuf>,
    /// Where what the command says goes.
    pub output: Output,
}

/// Starts a command under collection. `wait` for its end.
///
/// # Errors
/// If it cannot be started.
pub(crate) fn launch(
    project: &Project,
    workshop: &Workshop,
    tests: &TestCommand<'_>,
) -> Result<Launched> {
    let traces = workshop.scratch.join("traces");
    let runner = project.config.driver;
    let root = project.repository.root();
    let plan = runner.launch(&Launch {
        command: tests.command,
        cwd: tests.cwd,
        project: &project.dir,
        root,
        run: &workshop.run,
        agent: &workshop.agent,
        traces: &traces,
        out: &workshop.scratch.join("out"),
        exclude: tests.exclude.as_deref(),
        left_out: tests.left_out.as_deref(),
        serials: &match runner.confirms() {
            true => told_of_serials(root),
            false => OsString::new(),
        },
        settings: project.config.settings(),
    })?;
    // What tests do to the file while they run changes nothing.
    let exclusions = tests.exclude.as_deref().map(read_exclusions);
    let since = Instant::now();
    Ok(Launched {
        running: plan.start(&tests.output)?,
        command: tests.command.to_vec(),
        cwd: tests.cwd.to_owned(),
        exclude: tests.exclude.clone(),
        exclusions: exclusions.and_then(Result::ok),
        runner,
        traces,
        since,
    })
}

/// The serial numbers of the project in a folder, a line for each.
fn told_of_serials(root: &Path) -> OsString {
    let lines = serials(root).iter().map(Serial::line).collect::<Vec<_>>();
    OsString::from_vec(bstr::join("\n", lines))
}

/// A command that runs under collection.
pub(crate) struct Launched {
    pub running: Running,
    command: Vec<OsString>,
    cwd: PathBuf,
    exclude: Option<PathBuf>,
    /// What that file says, if it was there at the start.
    exclusions: Option<Exclusions>,
    runner: &'static dyn Runner,
    traces: PathBuf,
    since: Instant,
}

impl Launched {
    /// Notes what the command is told to leave out now that it has asked for it.
    pub(crate) fn is_told(&mut self) {
        let read = self.exclude.as_deref().map(read_exclusions);
        self.exclusions = read.and_then(Result::ok);
    }

    /// Waits for the command's end.
    ///
    /// # Errors
    /// If the system does not tell.
    pub(crate) fn wait(self) -> Result<Ran> {
        Ok(Ran {
            ended: self.running.wait()?,
            seconds: self.since.elapsed().as_secs_f64(),
            // Of a file that cannot be read the collector leaves nothing out either.
            exclusions: self.exclusions.unwrap_or_default(),
            command: self.command,
            cwd: self.cwd,
            runner: self.runner,
            traces: self.traces,
        })
    }
}

/// A command that has ended.
pub(crate) struct Ran {
    pub ended: Ended,
    pub seconds: f64,
    /// What the runner was told to leave out.
    pub exclusions: Exclusions,
    /// Where its processes wrote their traces.
    pub traces: PathBuf,
    command: Vec<OsString>,
    cwd: PathBuf,
    runner: &'static dyn Runner,
}

impl Ran {
    /// The command's words, as people know them.
    pub(crate) fn words(&self) -> Vec<String> {
        self.runner.words(&self.command, &self.cwd, &self.cwd)
    }

    /// What is recorded of the command.
    pub(crate) fn of(&self, project: &Project) -> CommandRun<'_> {
        CommandRun {
            words: self.runner.words(&self.command, &self.cwd, &project.dir),
            exclusions: &self.exclusions,
            ended: self.ended,
            duration: Duration::from_secs_f64(self.seconds),
        }
    }

    /// Whether no process wrote down anything.
    pub(crate) fn is_silent(&self) -> bool {
        std::fs::read_dir(&self.traces).is_ok_and(|mut traces| traces.next().is_none())
    }
}

//! Runs a command and sees which files its processes use, whatever they are written in.
//!
//! The kernel stops every call that names a path until the supervisor has read it
//! (`seccomp_unotify(2)`), for the whole tree of processes and without privileges. A call
//! happens as if nobody had looked. What cannot be seen (a program for another architecture,
//! a service outside of the test) makes the test's row incomplete, so that it runs again.

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
#[path = "linux.rs"]
mod supervisor;
#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
#[path = "nowhere.rs"]
mod supervisor;

mod entries;
mod environment;
mod paths;
mod plan;
mod seen;
mod write;

use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::run::Ended;

pub(crate) use entries::{Entered, Entries, ProgramId, Programs};
pub(crate) use environment::{of_all, spelled};
pub(crate) use plan::{Plan, Test};
pub(crate) use seen::{Seen, shared, shared_in_any_order};
pub(crate) use supervisor::{adopt_orphans, end_descendants, trace, why_not};
pub(crate) use write::{Lines, Units, bytes, is_below, runtime, value};

/// Whether it can be told which functions of a program are entered.
pub(crate) const CAN_FOLLOW: bool = cfg!(all(target_os = "linux", target_arch = "x86_64"));

/// One command that is a test.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    pub argv: &'a [OsString],
    pub cwd: &'a Path,
    /// After that it is ended.
    pub timeout: Option<Duration>,
    /// Variables besides those of this process.
    pub env: &'a [(OsString, OsString)],
    /// Where both of its outputs go, if not where those of this process go.
    pub output: Option<&'a File>,
    /// A folder: a process that looks for something there has what is used told apart.
    pub marks: Option<&'a Path>,
    /// Programs of which it is wanted which functions are entered. Then no time-out counts, and
    /// several commands can run at a time.
    pub programs: Option<&'a dyn Programs>,
}

/// How it ended.
#[derive(Debug)]
pub(crate) struct Traced {
    pub ended: Ended,
    pub duration: Duration,
    pub timed_out: bool,
    pub seen: Seen,
    /// With marks: the same in parts, the first of them what is in no other, and `seen` is empty.
    pub parts: Vec<Part>,
    /// Processes that it left running, which were ended.
    pub left: usize,
    /// With programs: their functions that were entered.
    pub entered: Entered,
}

/// What was told apart.
#[derive(Debug, Default)]
pub(crate) struct Part {
    /// The process that asked for it.
    pub process: i32,
    /// The mark that it looked for.
    pub name: String,
    /// Whether it is about the processes that a main process started.
    pub is_of_others: bool,
    pub seen: Seen,
}

/// Runs a command of which nobody sees what it uses, for this reason.
///
/// # Errors
/// If it cannot be started.
pub(crate) fn untraced(job: &Job<'_>, why: &str) -> Result<Traced> {
    let mut command = job.command()?;
    let since = Instant::now();
    let child = command.spawn();
    let mut child = child.with_context(|| cannot_start(&command))?;
    let (status, timed_out) = wait_for(&mut child, job.timeout)?;
    let mut seen = Seen::default();
    seen.doubt(why);
    Ok(Traced {
        ended: Ended::of(status),
        duration: since.elapsed(),
        timed_out,
        seen,
        parts: Vec::new(),
        left: 0,
        entered: Entered::default(),
    })
}

impl Job<'_> {
    /// # Errors
    /// If it has no words, or its folder is not there.
    fn command(&self) -> Result<Command> {
        let (program, arguments) = self.argv.split_first().context("no command was given")?;
        ensure!(
            self.cwd.is_dir(),
            "the folder {} is not there",
            self.cwd.display()
        );
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.cwd)
            .envs(self.env.iter().cloned())
            // What is typed meanwhile would be an input that nobody sees.
            .stdin(Stdio::null());
        if let Some(file) = self.output {
            let again = || {
                file.try_clone()
                    .context("cannot use a file of output twice")
            };
            command.stdout(again()?).stderr(again()?);
        }
        Ok(command)
    }
}

fn cannot_start(command: &Command) -> String {
    format!("cannot start `{}`", command.get_program().display())
}

/// How often it is looked whether a command has ended.
const LOOK: Duration = Duration::from_millis(20);

/// Waits for the end of a command; says whether its time was up first.
fn wait_for(child: &mut Child, timeout: Option<Duration>) -> Result<(ExitStatus, bool)> {
    const UNTOLD: &str = "cannot wait for the command's end";
    let until = timeout.map(|timeout| Instant::now() + timeout);
    while let Some(until) = until {
        if let Some(status) = child.try_wait().context(UNTOLD)? {
            return Ok((status, false));
        }
        if Instant::now() > until {
            child.kill().context("cannot end the command")?;
            return Ok((child.wait().context(UNTOLD)?, true));
        }
        thread::sleep(LOOK);
    }
    Ok((child.wait().context(UNTOLD)?, false))
}

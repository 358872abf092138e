//! Runs the test command with the agents inside.

mod agent;
mod gate;
mod served;

pub use agent::install_agent;
pub(crate) use agent::{install_agent_for, jvm_library};
pub(crate) use gate::{Asker, Gate};
pub(crate) use served::{Door, Heard, Served};

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};

/// A command to run, printable without running it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunPlan {
    pub argv: Vec<OsString>,
    pub cwd: PathBuf,
    /// Variables to set in addition to the inherited ones.
    pub env: Vec<(OsString, OsString)>,
    /// Where agents write their traces.
    pub traces: PathBuf,
}

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether the user interrupted a command of this process.
pub(crate) fn was_interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

pub(crate) fn listen_to_interrupts() {
    // If there already is a handler, it is this one.
    let _ = ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::SeqCst));
}

/// Where the command's standard output and error go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// To the same place as those of this process.
    Inherited,
    /// Both to standard error, because standard output is for results.
    Stderr,
    /// Both to this file.
    File(PathBuf),
}

impl Output {
    fn streams(&self) -> Result<(Stdio, Stdio)> {
        Ok(match self {
            Output::Inherited => (Stdio::inherit(), Stdio::inherit()),
            Output::Stderr => (Stdio::from(std::io::stderr()), Stdio::inherit()),
            Output::File(path) => {
                let file = crate::disk::create(path)?;
                let again = file.try_clone().context("cannot use the log twice")?;
                (Stdio::from(file), Stdio::from(again))
            }
        })
    }
}

/// How the command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Exit(i32),
    Signal(i32),
}

impl Ended {
    pub(crate) fn of(status: ExitStatus) -> Ended {
        use std::os::unix::process::ExitStatusExt;
        match (status.code(), status.signal()) {
            (Some(code), _) => Ended::Exit(code),
            (None, signal) => Ended::Signal(signal.unwrap_or(0)),
        }
    }

    /// The exit status to return: 128 + the signal's number, as shells do.
    pub fn status(self) -> i32 {
        match self {
            Ended::Exit(status) => status,
            Ended::Signal(signal) => 128 + signal,
        }
    }
}

impl RunPlan {
    /// The plan to run `argv` without any collector.
    pub fn plain(argv: Vec<OsString>, cwd: &Path) -> RunPlan {
        RunPlan {
            argv,
            cwd: cwd.to_owned(),
            env: Vec::new(),
            traces: PathBuf::new(),
        }
    }

    /// Runs the command and waits for its end.
    ///
    /// # Errors
    /// It cannot be started. A command that fails is not an error.
    pub fn execute(&self, output: &Output) -> Result<Ended> {
        self.start(output)?.wait()
    }

    /// Starts the command.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(&self, output: &Output) -> Result<Running> {
        if !self.traces.as_os_str().is_empty() {
            fs_err::create_dir_all(&self.traces)?;
        }
        // The terminal interrupts the command as well. tamis waits for its end and records the
        // results.
        listen_to_interrupts();
        let (program, args) = self.argv.split_first().context("no command was given")?;
        let (stdout, stderr) = output.streams()?;
        let child = Command::new(program)
            .args(args)
            .current_dir(&self.cwd)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdout(stdout)
            .stderr(stderr)
            .spawn()
            .map_err(|error| cannot_start(program, error))?;
        Ok(Running { child })
    }
}

#[derive(Debug)]
pub struct Running {
    child: Child,
}

impl Running {
    /// Whether it has ended.
    ///
    /// # Errors
    /// The system does not tell.
    pub fn has_ended(&mut self) -> Result<bool> {
        let status = self.child.try_wait();
        Ok(status
            .context("cannot check whether the command has ended")?
            .is_some())
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// The system does not tell.
    pub fn wait(mut self) -> Result<Ended> {
        let status = self.child.wait();
        Ok(Ended::of(
            status.context("cannot wait for the command's end")?,
        ))
    }
}

fn cannot_start(program: &OsStr, error: std::io::Error) -> anyhow::Error {
    let next = match error.kind() {
        std::io::ErrorKind::NotFound => "; is its name right, and is its environment active?",
        std::io::ErrorKind::PermissionDenied => "; is it executable (`chmod +x`)?",
        _ => "",
    };
    let what = format!("cannot start `{}`{next}", Path::new(program).display());
    anyhow::Error::from(error).context(what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_passed_on_as_shells_do() {
        assert_eq!(Ended::Exit(3).status(), 3);
        assert_eq!(Ended::Signal(9).status(), 137);
    }

    #[test]
    fn a_command_that_does_not_exist_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let argv = vec!["no-such-command-anywhere".into()];
        let plan = RunPlan::plain(argv, dir.path());
        let error = plan.execute(&Output::Inherited).unwrap_err();
        assert!(error.to_string().contains("no-such-command-anywhere"));
    }
}

//! Runs a program with a deadline and a limit on its output.

use std::fs::File;
use std::io::{Read, Seek};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::error::{Deadline, RemoteError, Result};

/// Longer error messages are cut.
const MAX_STDERR: usize = 16 << 10;

/// The result of a program.
#[derive(Debug)]
pub(super) struct Done {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

/// Runs `command` to its end, with `input` on its standard input.
///
/// # Errors
/// It cannot be started, does not end in time, or prints more than `limit` bytes.
pub(super) fn run(
    mut command: Command,
    input: &[u8],
    limit: u64,
    what: &'static str,
    deadline: &Deadline,
) -> Result<Done> {
    let patience = deadline.step()?;
    let local = |error: std::io::Error| RemoteError::NotSetUp(format!("a temporary file: {error}"));
    // Files instead of pipes, which would block.
    let mut stdin = tempfile::tempfile().map_err(local)?;
    std::io::Write::write_all(&mut stdin, input)
        .and_then(|()| stdin.rewind())
        .map_err(local)?;
    let mut stdout = tempfile::tempfile().map_err(local)?;
    let mut stderr = tempfile::tempfile().map_err(local)?;
    command
        .stdin(Stdio::from(stdin))
        .stdout(Stdio::from(stdout.try_clone().map_err(local)?))
        .stderr(Stdio::from(stderr.try_clone().map_err(local)?));
    #[cfg(unix)]
    {
        // In its own process group, so that its helpers end with it.
        use std::os::unix::process::CommandExt;
        command.process_group(0);
    }
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .spawn()
        .map_err(|error| RemoteError::NotSetUp(format!("{program} cannot be started: {error}")))?;
    let status = wait(&mut child, patience, &stdout, limit, what)?;
    Ok(Done {
        status,
        stdout: read(&mut stdout, limit).map_err(local)?,
        stderr: String::from_utf8_lossy(&read(&mut stderr, MAX_STDERR as u64).map_err(local)?)
            .trim()
            .to_owned(),
    })
}

fn wait(
    child: &mut Child,
    patience: Duration,
    stdout: &File,
    limit: u64,
    what: &'static str,
) -> Result<ExitStatus> {
    let started = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(Some(status)) if is_within(stdout, limit) => return Ok(status),
            Ok(Some(_)) => return Err(RemoteError::TooLarge { what, limit }),
            Ok(None) => {}
            Err(error) => return Err(RemoteError::NotSetUp(error.to_string())),
        }
        let trouble = match (started.elapsed() > patience, is_within(stdout, limit)) {
            (true, _) => Some(RemoteError::TooSlow),
            (false, false) => Some(RemoteError::TooLarge { what, limit }),
            (false, true) => None,
        };
        if let Some(trouble) = trouble {
            end(child);
            return Err(trouble);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

fn is_within(stdout: &File, limit: u64) -> bool {
    stdout.metadata().is_ok_and(|meta| meta.len() <= limit)
}

/// Ends the program and all processes that it started.
fn end(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id())
        .ok()
        .and_then(rustix::process::Pid::from_raw)
    {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

fn read(file: &mut File, limit: u64) -> std::io::Result<Vec<u8>> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: u64, seconds: u64) -> Result<Done> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let deadline = Deadline::after(Duration::from_secs(seconds));
        run(command, b"in", limit, "the answer", &deadline)
    }

    #[test]
    fn what_it_says_and_how_it_ends_come_back() {
        let done = shell("cat; echo out; echo err >&2; exit 3", 100, 60).unwrap();
        assert_eq!(done.status.code(), Some(3));
        assert_eq!(
            (&done.stdout[..], done.stderr.as_str()),
            (&b"inout\n"[..], "err")
        );
    }

    #[test]
    fn what_takes_too_long_or_says_too_much_is_ended_with_its_children() {
        let late = shell("sleep 600 & wait", 100, 1).unwrap_err();
        assert_eq!(late, RemoteError::TooSlow);
        let limit = 1000;
        let much = shell("yes", limit, 60).unwrap_err();
        let what = "the answer";
        assert_eq!(much, RemoteError::TooLarge { what, limit });
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let deadline = Deadline::after(Duration::from_secs(9));
        let missing = Command::new("tamis-no-such-program");
        let error = run(missing, b"", 9, "x", &deadline).unwrap_err();
        assert!(
            error.to_string().contains("tamis-no-such-program"),
            "{error}"
        );
    }
}

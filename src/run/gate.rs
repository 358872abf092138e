//! A list that another program reads and that is made only when the program opens it.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::Running;

/// How long a reader waits at most before tamis notices it. Each look costs two system calls.
const PAUSE: Duration = Duration::from_millis(10);

/// A path at which a program will read a list. Until the list exists there is a named pipe, at
/// which the program waits.
#[derive(Debug)]
pub(crate) struct Gate {
    path: PathBuf,
    keeper: Keeper,
}

impl Gate {
    /// Makes the pipe, in a folder that no other user can read.
    ///
    /// # Errors
    /// It cannot be made: a system without named pipes, a full disk.
    pub(crate) fn new(path: PathBuf) -> Result<Gate> {
        let folder = path.parent().unwrap_or(Path::new("."));
        fs_err::create_dir_all(folder)?;
        // Written now, because the disk may be full later.
        crate::disk::write(empty(&path), "")?;
        make_pipe(&path)?;
        let keeper = Keeper::start(&path)?;
        Ok(Gate { path, keeper })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Waits until a reader opens the pipe; `None` if `program` ended before.
    ///
    /// # Errors
    /// The pipe is gone.
    pub(crate) fn wait(self, program: &mut Running) -> Result<Option<Asker>> {
        loop {
            // A program that has just ended may have opened the pipe before.
            let has_ended = program.has_ended()?;
            if let Some(pipe) = self.reader()? {
                return Ok(Some(Asker {
                    path: self.path,
                    pipe: Some(pipe),
                    _keeper: self.keeper,
                }));
            }
            if has_ended {
                return Ok(None);
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// The writing end, if there is a reader.
    fn reader(&self) -> Result<Option<File>> {
        let opened = std::fs::OpenOptions::new()
            .write(true)
            .custom_flags(OFlags::NONBLOCK.bits() as i32)
            .open(&self.path);
        match opened {
            Ok(pipe) => Ok(Some(pipe)),
            Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => Ok(None),
            Err(error) => Err(error).with_context(|| {
                format!(
                    "cannot pass on the tests to leave out through {}",
                    self.path.display()
                )
            }),
        }
    }
}

/// A reader that waits for the list. If it is not answered, the list is empty.
#[derive(Debug)]
pub(crate) struct Asker {
    path: PathBuf,
    pipe: Option<File>,
    _keeper: Keeper,
}

impl Asker {
    /// Gives `text` to this reader and to all later ones. It is no error if the reader has
    /// gone.
    ///
    /// # Errors
    /// It cannot be written; then every reader gets an empty list.
    pub(crate) fn answer(mut self, text: &str) -> Result<()> {
        // Later readers find a file and need no other process.
        crate::disk::write_atomically(&self.path, text)?;
        if let Some(mut pipe) = self.pipe.take() {
            rustix::fs::fcntl_setfl(&pipe, OFlags::empty())?;
            // Line by line: a short write is atomic, so nobody reads a part of a line.
            for line in text.split_inclusive('\n') {
                if pipe.write_all(line.as_bytes()).is_err() {
                    break;
                }
            }
        }
        Ok(())
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        if self.pipe.is_some() {
            let _ = std::fs::rename(empty(&self.path), &self.path);
        }
    }
}

fn empty(path: &Path) -> PathBuf {
    path.with_extension("none")
}

#[cfg(not(any(target_os = "macos", target_os = "ios")))]
fn make_pipe(path: &Path) -> Result<()> {
    use rustix::fs::{CWD, Mode, mkfifoat};
    mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR)
        .with_context(|| format!("cannot make a named pipe at {}", path.display()))
}

/// On these systems tamis collects nothing from JVMs.
#[cfg(any(target_os = "macos", target_os = "ios"))]
fn make_pipe(path: &Path) -> Result<()> {
    anyhow::bail!("no named pipe is made at {} here", path.display())
}

/// A shell that frees the readers if this process is killed; otherwise they would wait for
/// ever. It ends when it reads a line. At the end of its input, after a kill, it does its
/// work.
#[derive(Debug)]
struct Keeper {
    shell: Child,
}

/// Opening a named pipe for reading and writing unblocks a reader that waits to open it.
const KEEP: &str = r#"read -r line && exit; exec 3<>"$1" && mv -f "$2" "$1""#;

impl Keeper {
    fn start(path: &Path) -> Result<Keeper> {
        let shell = Command::new("/bin/sh")
            .args(["-c", KEEP, "sh"])
            .args([path, &empty(path)])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start /bin/sh")?;
        Ok(Keeper { shell })
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        if let Some(mut input) = self.shell.stdin.take() {
            let _ = input.write_all(b"\n");
        }
        let _ = self.shell.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Output, RunPlan};

    /// A gate, and a program with `script`, which reads it as `$1`.
    fn gate(script: &str) -> (tempfile::TempDir, Gate, Running) {
        let dir = tempfile::tempdir().unwrap();
        let gate = Gate::new(dir.path().join("out/list.txt")).unwrap();
        let words = ["sh", "-c", script, "sh"].map(std::ffi::OsString::from);
        let mut argv = words.to_vec();
        argv.push(gate.path().into());
        let plan = RunPlan::plain(argv, dir.path());
        let running = plan.start(&Output::File(dir.path().join("log"))).unwrap();
        (dir, gate, running)
    }

    fn log(dir: &tempfile::TempDir) -> String {
        fs_err::read_to_string(dir.path().join("log")).unwrap()
    }

    #[test]
    fn every_reader_gets_the_whole_list() {
        let (dir, gate, mut running) = gate(r#"cat "$1"; cat "$1"; cat "$1""#);
        let asker = gate.wait(&mut running).unwrap().unwrap();
        // More than a pipe can hold.
        let list: String = (0..9000)
            .map(|at| format!("demo/Some{at}Test.java\n"))
            .collect();
        asker.answer(&list).unwrap();
        running.wait().unwrap();
        assert_eq!(log(&dir), list.repeat(3));
    }

    #[test]
    fn a_program_that_never_asks_is_not_waited_for_again() {
        let (_dir, gate, mut running) = gate("exit 3");
        assert!(gate.wait(&mut running).unwrap().is_none());
        assert_eq!(running.wait().unwrap().status(), 3);
    }

    #[test]
    fn without_an_answer_the_list_is_empty() {
        let (dir, gate, mut running) = gate(r#"cat "$1"; cat "$1"; echo end"#);
        drop(gate.wait(&mut running).unwrap().unwrap());
        running.wait().unwrap();
        assert_eq!(log(&dir), "end\n");
    }

    #[test]
    fn a_reader_that_goes_away_is_no_trouble() {
        let (_dir, gate, mut running) = gate(r#"exec 3<"$1""#);
        let asker = gate.wait(&mut running).unwrap().unwrap();
        running.wait().unwrap();
        asker.answer(&"a line\n".repeat(100_000)).unwrap();
    }

    #[test]
    fn nobody_waits_for_one_that_was_killed() {
        let (dir, mut gate, running) = gate(r#"cat "$1"; cat "$1"; echo end"#);
        // As if this process were gone.
        drop(gate.keeper.shell.stdin.take());
        running.wait().unwrap();
        assert_eq!(log(&dir), "end\n");
    }
}

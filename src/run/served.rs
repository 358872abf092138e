//! A program that tamis talks with over a socket, line by line.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process_group};

use super::{Ended, Output, RunPlan, cannot_start, listen_to_interrupts, was_interrupted};

/// How long an interrupt, or the program's end, waits at most to be noticed.
const PAUSE: Duration = Duration::from_millis(100);

/// How long the first connection waits at most to be noticed.
const SHORT_PAUSE: Duration = Duration::from_millis(5);

/// So long a program has to end by itself after goodbye.
const GRACE: Duration = Duration::from_secs(5);

/// So long a program that has connected to a port has to say its token.
const TOKEN_PATIENCE: Duration = Duration::from_secs(5);

/// Where a program that is not started yet will find its socket.
#[derive(Debug)]
pub(crate) struct Door {
    listener: Listener,
    folder: tempfile::TempDir,
}

#[derive(Debug)]
enum Listener {
    Folder(UnixListener),
    /// Who connects says the token first: every user of the machine can connect.
    Port(TcpListener, String),
}

/// A byte stream with a program.
trait Channel: Read + Write + std::fmt::Debug + Send {}
impl Channel for UnixStream {}
impl Channel for TcpStream {}

impl Listener {
    fn accept(&self) -> std::io::Result<Option<Box<dyn Channel>>> {
        match self {
            Listener::Folder(listener) => {
                let (channel, _) = listener.accept()?;
                channel.set_nonblocking(false)?;
                channel.set_read_timeout(Some(PAUSE))?;
                Ok(Some(Box::new(channel)))
            }
            Listener::Port(listener, token) => {
                let (mut channel, _) = listener.accept()?;
                channel.set_nonblocking(false)?;
                channel.set_nodelay(true)?;
                channel.set_read_timeout(Some(TOKEN_PATIENCE))?;
                let mut said = vec![0; token.len() + 1];
                let is_ours = channel.read_exact(&mut said).is_ok()
                    && said.strip_suffix(b"\n") == Some(token.as_bytes());
                channel.set_read_timeout(Some(PAUSE))?;
                Ok(is_ours.then(|| Box::new(channel) as Box<dyn Channel>))
            }
        }
    }
}

fn new_folder() -> Result<tempfile::TempDir> {
    let folder = tempfile::Builder::new().prefix("tamis-").tempdir();
    folder.context("cannot make a temporary folder; set TMPDIR to one that can be written")
}

impl Door {
    /// Makes the socket, in a folder that no other user can read.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn new() -> Result<Door> {
        let folder = new_folder()?;
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).with_context(|| {
            format!(
                "cannot make a socket at {}; set TMPDIR to a folder with a short path",
                path.display()
            )
        })?;
        listener.set_nonblocking(true)?;
        let listener = Listener::Folder(listener);
        Ok(Door { listener, folder })
    }

    /// Makes a socket with a number instead of a path, for programs that know no other, and
    /// returns it with a token that the program has to say first.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn with_port() -> Result<(Door, u16, String)> {
        let folder = new_folder()?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .context("cannot listen on 127.0.0.1, where the test process would connect")?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let mut chance = [0; 16];
        getrandom::fill(&mut chance)
            .map_err(|error| anyhow::anyhow!("the system gives no random numbers: {error}"))?;
        let token = u128::from_le_bytes(chance).to_string();
        let listener = Listener::Port(listener, token.clone());
        Ok((Door { listener, folder }, port, token))
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    /// A folder for the program's own files. It goes with the program.
    pub(crate) fn scratch(&self) -> &Path {
        self.folder.path()
    }

    /// Starts the program of `plan`, in a process group of its own.
    ///
    /// # Errors
    /// It cannot be started.
    pub(crate) fn open(self, plan: &RunPlan) -> Result<Served> {
        listen_to_interrupts();
        let (program, args) = plan.argv.split_first().context("no command was given")?;
        let log = self.folder.path().join("log");
        let (stdout, stderr) = Output::File(log).streams()?;
        let child = Command::new(program)
            .args(args)
            .current_dir(&plan.cwd)
            .envs(plan.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(stderr)
            .process_group(0)
            .spawn()
            .map_err(|error| cannot_start(program, error))?;
        Ok(Served {
            child,
            listener: self.listener,
            channel: None,
            heard: Vec::new(),
            folder: self.folder,
        })
    }
}

/// What was heard of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    Line(String),
    /// Nothing, up to the deadline.
    Late,
    /// It says no more.
    Ended,
    /// The user interrupts.
    Interrupted,
}

/// A program that was started.
#[derive(Debug)]
pub(crate) struct Served {
    child: Child,
    listener: Listener,
    channel: Option<Box<dyn Channel>>,
    /// What is not yet a whole line, or was not asked for.
    heard: Vec<u8>,
    folder: tempfile::TempDir,
}

impl Served {
    /// Its next line. It has time until `deadline`, if there is one.
    ///
    /// # Errors
    /// The system fails.
    pub(crate) fn hear(&mut self, deadline: Option<Instant>) -> Result<Heard> {
        loop {
            if let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.heard.drain(..=end).collect();
                let line = String::from_utf8_lossy(&line[..end]);
                return Ok(Heard::Line(line.into_owned()));
            }
            if was_interrupted() {
                return Ok(Heard::Interrupted);
            }
            if deadline.is_some_and(|deadline| Instant::now() > deadline) {
                return Ok(Heard::Late);
            }
            if !self.listen()? {
                return Ok(Heard::Ended);
            }
        }
    }

    /// Waits a moment for more; whether there may be more.
    fn listen(&mut self) -> Result<bool> {
        let Some(channel) = &mut self.channel else {
            return self.connect();
        };
        let mut piece = [0; 1 << 16];
        match channel.read(&mut piece) {
            Ok(0) => return Ok(false),
            Ok(length) => self.heard.extend_from_slice(&piece[..length]),
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {}
                // It was killed in the middle of its words.
                ErrorKind::ConnectionReset => return Ok(false),
                _ => return Err(error).context("cannot hear the test process"),
            },
        }
        Ok(true)
    }

    fn connect(&mut self) -> Result<bool> {
        // One that has just ended may have connected before.
        let has_ended = self.child.try_wait()?.is_some();
        match self.listener.accept() {
            Ok(channel) => {
                self.channel = channel;
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                if !has_ended {
                    std::thread::sleep(SHORT_PAUSE);
                }
                Ok(!has_ended)
            }
            Err(error) => Err(error).context("cannot talk with the test process"),
        }
    }

    /// Says a line. It is no error if nobody listens any more: [`Served::hear`] tells that.
    pub(crate) fn say(&mut self, line: &str) {
        if let Some(channel) = &mut self.channel {
            let _ = channel.write_all(format!("{line}\n").as_bytes());
        }
    }

    /// The end of what it wrote to its standard streams.
    pub(crate) fn last_words(&self) -> String {
        let log = crate::disk::read(self.folder.path().join("log")).unwrap_or_default();
        let start = log.len().saturating_sub(1 << 16);
        String::from_utf8_lossy(&log[start..]).into_owned()
    }

    /// Ends it, at once and with all that it started, and says how it ended.
    ///
    /// # Errors
    /// The system does not tell.
    pub(crate) fn kill(&mut self) -> Result<Ended> {
        self.channel = None;
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // Where all of them have ended already, that is no error.
            let _ = kill_process_group(pid, Signal::KILL);
        }
        Ok(Ended::of(self.child.wait()?))
    }

    /// Says goodbye, and waits for its end.
    ///
    /// # Errors
    /// The system does not tell.
    pub(crate) fn end(&mut self) -> Result<Ended> {
        self.channel = None;
        let deadline = Instant::now() + GRACE;
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait()? {
                return Ok(Ended::of(status));
            }
            std::thread::sleep(SHORT_PAUSE);
        }
        self.kill()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.end();
        let _ = self.kill();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that connects and then runs `script`, in which `say` and `f` are known.
    fn served(script: &str) -> Served {
        let door = Door::new().unwrap();
        let program = format!(
            "import os, socket, sys, time\n\
             s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])\n\
             f = s.makefile('rw')\n\
             def say(text): f.write(text); f.flush()\n{script}"
        );
        let words = ["python3", "-c", &program].map(std::ffi::OsString::from);
        let mut argv = words.to_vec();
        argv.push(door.path().into());
        let plan = RunPlan::plain(argv, Path::new("/"));
        door.open(&plan).unwrap()
    }

    fn line(text: &str) -> Heard {
        Heard::Line(text.to_owned())
    }

    #[test]
    fn it_hears_and_is_heard() {
        let mut served = served("say('a\\nb'); say('c\\n'); say(f.readline())");
        assert_eq!(served.hear(None).unwrap(), line("a"));
        assert_eq!(served.hear(None).unwrap(), line("bc"));
        served.say("d");
        assert_eq!(served.hear(None).unwrap(), line("d"));
        assert_eq!(served.hear(None).unwrap(), Heard::Ended);
        assert_eq!(served.end().unwrap(), Ended::Exit(0));
    }

    #[test]
    fn only_who_knows_the_token_is_heard_at_a_port() {
        let (door, port, token) = Door::with_port().unwrap();
        let program = "import socket, sys\n\
                       for word in ['x' * 40, sys.argv[2]]:\n\
                       \x20   s = socket.create_connection(('127.0.0.1', int(sys.argv[1])))\n\
                       \x20   s.sendall((word + '\\nhello\\n').encode())\n\
                       \x20   kept = (s, word)\n\
                       s.makefile().readline()\n";
        let words = ["python3", "-c", program].map(std::ffi::OsString::from);
        let mut argv = words.to_vec();
        argv.extend([port.to_string().into(), token.into()]);
        let plan = RunPlan::plain(argv, Path::new("/"));
        let mut served = door.open(&plan).unwrap();
        assert_eq!(served.hear(None).unwrap(), line("hello"));
        served.say("enough");
        assert_eq!(served.hear(None).unwrap(), Heard::Ended);
    }

    #[test]
    fn one_that_hangs_is_late_and_can_be_killed() {
        let mut served = served("say('a\\n'); os.system('sleep 100')");
        assert_eq!(served.hear(None).unwrap(), line("a"));
        let soon = Instant::now() + Duration::from_millis(200);
        assert_eq!(served.hear(Some(soon)).unwrap(), Heard::Late);
        assert_eq!(served.kill().unwrap(), Ended::Signal(9));
    }

    #[test]
    fn one_that_never_connects_is_told_by_its_last_words() {
        let door = Door::new().unwrap();
        let argv = ["sh", "-c", "echo no tests here; exit 4"].map(Into::into);
        let mut served = door
            .open(&RunPlan::plain(argv.to_vec(), Path::new("/")))
            .unwrap();
        assert_eq!(served.hear(None).unwrap(), Heard::Ended);
        assert_eq!(served.last_words(), "no tests here\n");
        assert_eq!(served.end().unwrap(), Ended::Exit(4));
    }
}

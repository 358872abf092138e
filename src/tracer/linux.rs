//! The supervisor of one command.

#[path = "caller.rs"]
mod caller;
#[path = "calls.rs"]
mod calls;
#[path = "changes.rs"]
mod changes;
#[path = "filter.rs"]
mod filter;
#[cfg(target_arch = "x86_64")]
#[path = "follow.rs"]
mod follow;
#[cfg(not(target_arch = "x86_64"))]
#[path = "unfollowed.rs"]
mod follow;
#[path = "notices.rs"]
mod notices;
#[path = "parts.rs"]
mod parts;
#[path = "peers.rs"]
mod peers;

use std::io;
use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, set_child_subreaper, wait};

use self::calls::{Answer, Calls};
use self::notices::{Listener, Met, Notice};
use self::parts::Parts;
use super::entries::Entered;
use super::seen::Seen;
use super::{Job, LOOK, Part, Traced, cannot_start, wait_for};
use crate::run::Ended;

/// How long processes that a test leaves behind may go on, and how long after they were asked
/// to end.
const PATIENCE: Duration = Duration::from_millis(300);

/// Some cannot be ended while the kernel waits for a device.
const MOST_PATIENCE: Duration = Duration::from_secs(10);

/// Why processes cannot be traced here; `None` if they can.
pub(crate) fn why_not() -> Option<String> {
    let job = Job {
        argv: &["true".into()],
        cwd: Path::new("/"),
        timeout: None,
        env: &[],
        output: None,
        marks: None,
        programs: None,
    };
    let error = trace(&job, || 0).err()?;
    let system = error.root_cause().downcast_ref::<io::Error>();
    let why = match system.and_then(io::Error::raw_os_error) {
        Some(libc::EBUSY) => "they are traced already".to_owned(),
        _ => format!("{error:#}"),
    };
    Some(format!("processes cannot be traced here: {why}"))
}

/// Makes this process the one to which orphans come of what it starts.
///
/// # Errors
/// If the system does not allow it.
pub(crate) fn adopt_orphans() -> Result<()> {
    set_child_subreaper(Some(rustix::process::getpid()))
        .context("cannot take over what a command leaves running")
}

/// Runs a command to its end. `end_rest` ends what the command leaves running, and says how
/// much that is: later calls would wait for a supervisor that is gone.
///
/// # Errors
/// If it cannot be started, or not be traced.
#[allow(unsafe_code)]
pub(crate) fn trace(job: &Job<'_>, end_rest: impl FnOnce() -> usize) -> Result<Traced> {
    let filter = filter::program();
    let (ours, theirs) = UnixStream::pair().context("cannot make a socket")?;
    let (followers, followed) = UnixStream::pair().context("cannot make a socket")?;
    let mut command = job.command()?;
    let (socket, other) = (theirs.as_raw_fd(), followed.as_raw_fd());
    let is_followed = job.programs.is_some();
    // Safety: only system calls are made between fork and exec.
    unsafe {
        command.pre_exec(move || {
            notices::submit(&filter, socket)?;
            match is_followed {
                true => follow::wait_to_be_followed(other),
                false => Ok(()),
            }
        })
    };
    let since = Instant::now();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let watching = scope.spawn(|| watch(&ours, job, &is_over));
        let following = job.programs.map(|programs| {
            scope.spawn(|| {
                let followed = follow::follow(&followers, programs);
                if followed.is_err() {
                    // It waits for an answer, and ends without one.
                    let _ = followers.shutdown(Shutdown::Both);
                }
                followed
            })
        });
        let child = command.spawn();
        drop((theirs, followed));
        let child = child.with_context(|| cannot_start(&command));
        let (status, duration, left, entered) = match following {
            // It waits for all of them.
            Some(following) => {
                let followed = following.join().expect("it does not panic");
                is_over.store(true, Ordering::Release);
                let followed = followed.context("the kernel lets nobody follow processes")?;
                child?;
                let followed = followed.context("the command did not start")?;
                let duration = followed.ended.duration_since(since);
                let status = Ok((followed.status, false));
                (status, duration, followed.left, followed.entered)
            }
            None => {
                let status = child.and_then(|mut child| wait_for(&mut child, job.timeout));
                let duration = since.elapsed();
                (status, duration, end_rest(), Entered::default())
            }
        };
        is_over.store(true, Ordering::Release);
        let watched = watching.join().expect("it does not panic");
        let (seen, parts) = watched.context("the kernel does not tell what processes do")?;
        let (status, timed_out) = status?;
        Ok(Traced {
            ended: Ended::of(status),
            duration,
            timed_out,
            seen,
            parts,
            left,
            entered,
        })
    })
}

/// Takes in the calls of all processes until none is left.
fn watch(
    socket: &UnixStream,
    job: &Job<'_>,
    is_over: &AtomicBool,
) -> io::Result<(Seen, Vec<Part>)> {
    let mut calls = Calls {
        parts: job.marks.map(Parts::new),
        ..Calls::default()
    };
    calls.begins_in(job.cwd);
    let Some(listener) = Listener::receive(socket)? else {
        return Ok(calls.end());
    };
    loop {
        match listener.next(LOOK)? {
            Met::Call(notice) => answer(&listener, &notice, &mut calls),
            Met::End => return Ok(calls.end()),
            Met::Nothing if is_over.load(Ordering::Acquire) => return Ok(calls.end()),
            Met::Nothing => {}
        }
    }
}

fn answer(listener: &Listener, notice: &Notice, calls: &mut Calls) {
    let answer = calls.take(notice, || listener.waits(notice));
    let error = match answer {
        Answer::Continue => None,
        Answer::Unknown => Some(libc::ENOSYS),
    };
    listener.answer(notice, error);
}

/// Ends all processes that descend from this one, whoever started them; says how many did not
/// end by themselves. Only for a process that waits for no child elsewhere.
pub(crate) fn end_descendants() -> usize {
    let mut rest = Rest::new();
    loop {
        // What has ended is told to whoever waits for it.
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
        if rest.is_gone(descendants(rustix::process::getpid())) {
            return rest.asked;
        }
        thread::sleep(LOOK);
    }
}

/// The processes that a command leaves running.
struct Rest {
    since: Instant,
    /// How many of them were asked to end.
    asked: usize,
}

impl Rest {
    fn new() -> Rest {
        Rest {
            since: Instant::now(),
            asked: 0,
        }
    }

    /// Whether none is left, or none that can be ended. Asks them to end after a while.
    fn is_gone(&mut self, left: Vec<Pid>) -> bool {
        let waited = self.since.elapsed();
        if left.is_empty() || waited > MOST_PATIENCE {
            return true;
        }
        let signal = match waited {
            waited if waited < PATIENCE => None,
            waited if waited < 3 * PATIENCE => Some(Signal::TERM),
            _ => Some(Signal::KILL),
        };
        if let Some(signal) = signal {
            self.asked = self.asked.max(left.len());
            for process in left {
                // It may have ended.
                let _ = kill_process(process, signal);
            }
        }
        false
    }
}

/// The processes below one.
fn descendants(process: Pid) -> Vec<Pid> {
    let mut found = Vec::new();
    let mut open = vec![process];
    while let Some(process) = open.pop() {
        let tasks = format!("/proc/{}/task", process.as_raw_nonzero());
        for task in std::fs::read_dir(tasks).into_iter().flatten().flatten() {
            let children = crate::disk::read_to_string(task.path().join("children"));
            let children = children.unwrap_or_default();
            let children = children
                .split_whitespace()
                .filter_map(|one| one.parse().ok());
            let children: Vec<Pid> = children.filter_map(Pid::from_raw).collect();
            found.extend(&children);
            open.extend(children);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// What a script used, of files below its folder: by content, by existence, lists, writes.
    struct Used {
        traced: Traced,
        top: String,
    }

    impl Used {
        fn short(&self, path: impl ToString) -> Option<String> {
            let path = path.to_string();
            path.strip_prefix(&self.top)
                .map(|path| path.trim_start_matches('/').to_owned())
        }

        fn files(&self) -> Vec<String> {
            let files = self.traced.seen.files.keys();
            files.filter_map(|path| self.short(path)).collect()
        }

        fn exist(&self) -> Vec<String> {
            let exist = self.traced.seen.exist.iter();
            exist
                .filter_map(|(path, found)| Some(format!("{}={found:?}", self.short(path)?)))
                .collect()
        }
    }

    /// Runs a script in a folder with files `a`, `b` and `sub/c`.
    fn script(text: &str) -> Used {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        fs::create_dir(top.join("sub")).unwrap();
        for name in ["a", "b", "sub/c"] {
            fs::write(top.join(name), format!("{name}\n")).unwrap();
        }
        let argv = ["sh".into(), "-c".into(), text.into()];
        let job = Job {
            argv: &argv,
            cwd: &top,
            timeout: None,
            env: &[],
            output: None,
            marks: None,
            programs: None,
        };
        let traced = trace(&job, || 0).unwrap();
        let top = top.to_str().unwrap().to_owned();
        Used { traced, top }
    }

    fn is_possible() -> bool {
        let why = why_not();
        assert!(why.is_none() || std::env::var_os("CI").is_none(), "{why:?}");
        why.is_none()
    }

    #[test]
    fn what_every_process_uses_is_seen() {
        if !is_possible() {
            return;
        }
        let used = script("cat a; (cd sub && cat c ../none); exit 7");
        assert_eq!(used.traced.ended, Ended::Exit(7));
        assert_eq!(used.files(), ["a", "sub/c"]);
        assert!(used.exist().contains(&"none=Missing".to_owned()));
        let seen = &used.traced.seen;
        assert_eq!(seen.incomplete, None);
        let is_there = |name: &str| {
            seen.files
                .keys()
                .any(|path| path.ends_with(name.as_bytes()))
        };
        // The program, its library, and its loader, which the kernel opens.
        assert!(is_there("/cat") && is_there("libc.so.6"), "{seen:?}");
        assert!(
            seen.files
                .keys()
                .any(|path| path.to_string().contains("ld-linux"))
        );
    }

    #[test]
    fn what_is_written_first_is_no_input() {
        if !is_possible() {
            return;
        }
        let used = script(
            "echo x > new; cat new b > b.new; mv b.new b; cat b; mkdir d; cp a d/a; cat d/a; ls sub",
        );
        assert_eq!(used.traced.ended, Ended::Exit(0));
        assert_eq!(used.files(), ["a", "b"]);
        // It was read before something else was moved there.
        let seen = &used.traced.seen;
        let print = |name: &str| {
            let path = format!("{}/{name}", used.top);
            seen.files[&bstr::BString::from(path)]
        };
        assert!(print("b").is_some() && print("a").is_none());
        let listed: Vec<_> = seen
            .listed
            .keys()
            .filter_map(|path| used.short(path))
            .collect();
        assert_eq!(listed, ["sub"]);
    }

    #[test]
    fn how_a_command_ends_is_told() {
        if !is_possible() {
            return;
        }
        assert_eq!(script("kill -9 $$").traced.ended, Ended::Signal(9));
        assert_eq!(script("exit 3").traced.ended, Ended::Exit(3));
        let job = Job {
            argv: &["no-such-program-anywhere".into()],
            cwd: Path::new("/"),
            timeout: None,
            env: &[],
            output: None,
            marks: None,
            programs: None,
        };
        assert!(
            trace(&job, || 0)
                .unwrap_err()
                .to_string()
                .contains("no-such-program")
        );
    }

    /// The parts of a script's run: their names, and the files of its folder that each used.
    fn parts(text: &str) -> Vec<(String, Vec<String>)> {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        for name in ["a", "b", "c", "d"] {
            fs::write(top.join(name), format!("{name}\n")).unwrap();
        }
        let marks = top.join("marks");
        let argv = ["bash".into(), "-c".into(), text.into()];
        let job = Job {
            argv: &argv,
            cwd: &top,
            timeout: None,
            env: &[],
            output: None,
            marks: Some(&marks),
            programs: None,
        };
        let traced = trace(&job, || 0).unwrap();
        assert!(traced.seen.files.is_empty());
        let parts = traced.parts.into_iter();
        let told = parts.map(|part| {
            let files = part.seen.files.keys().filter_map(|path| {
                let path = path.to_string();
                let name = path.strip_prefix(top.to_str()?)?.trim_start_matches('/');
                (!name.starts_with("marks")).then(|| name.to_owned())
            });
            let others = if part.is_of_others { "'" } else { "" };
            (part.name + others, files.collect())
        });
        told.collect()
    }

    #[test]
    fn what_processes_use_is_told_apart_where_they_ask_for_it() {
        if !is_possible() {
            return;
        }
        let part = |name: &str, files: &[&str]| {
            let files = files.iter().map(|file| (*file).to_owned());
            (name.to_owned(), files.collect::<Vec<String>>())
        };
        let own = parts("cat a; (test -e marks/own; cat b; bash -c 'cat c'); cat d");
        assert_eq!(own, [part("", &["a", "d"]), part("own", &["b", "c"])]);
        let phases = parts("cat a; test -e marks/next; cat b");
        assert_eq!(phases, [part("", &["a"]), part("next", &["b"])]);
        // The shell reads a file itself, and then starts a program that reads one.
        let main = parts(
            "test -e marks/main; read x < a; cat b; test -e marks/next; read x < c; cat d; true",
        );
        assert_eq!(
            main,
            [
                part("", &[]),
                part("main", &["a"]),
                part("main'", &["b"]),
                part("next", &["c"]),
                part("next'", &["d"]),
            ]
        );
        // What was made before is its own in the next phase, and not in that of a test.
        let made =
            parts("echo x > new; test -e marks/next; cat new; test -e marks/test-1; cat new");
        assert_eq!(
            made,
            [part("", &[]), part("next", &[]), part("test-1", &["new"])]
        );
    }
}

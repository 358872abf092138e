//! Which functions of a program are entered: a breakpoint stands at the first instruction of
//! each, until it is reached once (`ptrace(2)`, without a special build of the program).
//!
//! It costs a few microseconds for each function, the first time a process comes there. All
//! threads and all processes that a test starts are followed.

#![allow(unsafe_code)]

use std::collections::BTreeSet;
use std::collections::hash_map::Entry;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::RawFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::ptr;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use rustc_hash::FxHashMap;
use rustix::process::Pid;

use super::super::LOOK;
use super::super::entries::{Entered, Entries, ProgramId, Programs};
use super::Rest;

/// What `ptrace` tells of, besides signals.
const OPTIONS: libc::c_int = libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_EXITKILL;

/// Says who it is, and waits until somebody follows it. For a process between fork and exec:
/// only calls that are safe there.
pub(super) fn wait_to_be_followed(socket: RawFd) -> io::Result<()> {
    let mut answer = 0u8;
    // Safety: plain system calls.
    let is_done = unsafe {
        let process = libc::getpid();
        let told = libc::write(
            socket,
            ptr::from_ref(&process).cast(),
            size_of_val(&process),
        );
        told > 0 && libc::read(socket, ptr::from_mut(&mut answer).cast(), 1) == 1
    };
    match is_done {
        true => Ok(()),
        false => Err(io::Error::last_os_error()),
    }
}

/// How a followed process ended.
pub(super) struct Followed {
    pub status: ExitStatus,
    pub ended: Instant,
    pub entered: Entered,
    /// Processes that it left running, which were ended.
    pub left: usize,
}

/// Follows the process that says over `socket` who it is, and all that it starts, to their ends;
/// `None` if no process came to be. What other threads follow is theirs.
pub(super) fn follow(
    mut socket: &UnixStream,
    programs: &dyn Programs,
) -> io::Result<Option<Followed>> {
    let mut told = [0u8; 4];
    match socket.read_exact(&mut told) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let process = i32::from_ne_bytes(told);
    let mut following = Following {
        programs,
        spaces: FxHashMap::default(),
        memory: FxHashMap::default(),
        alive: BTreeSet::from([process]),
        entered: Entered::default(),
    };
    // Safety: a plain system call.
    let seized = unsafe { libc::ptrace(libc::PTRACE_SEIZE, process, 0, OPTIONS) };
    if seized != 0 {
        return Err(io::Error::last_os_error());
    }
    socket.write_all(&[1])?;
    let mut status = None;
    while status.is_none() {
        match wait_for_any(0)? {
            Told::Of(thread, told) => {
                if following.take(thread, told) && thread == process {
                    status = Some(ExitStatus::from_raw(told));
                }
            }
            Told::Nothing => {}
            Told::End => return Err(io::Error::other("the process is gone")),
        }
    }
    let ended = Instant::now();
    let left = following.end_rest()?;
    Ok(status.map(|status| Followed {
        status,
        ended,
        entered: following.entered,
        left,
    }))
}

/// What the kernel tells of processes.
enum Told {
    /// The thread, and what happened to it.
    Of(i32, libc::c_int),
    Nothing,
    /// No process is left.
    End,
}

/// The next thing that happens to a process which this thread follows; with `WNOHANG` that can be
/// nothing.
fn wait_for_any(flags: libc::c_int) -> io::Result<Told> {
    let flags = flags | libc::__WALL | libc::__WNOTHREAD;
    loop {
        let mut status = 0;
        // Safety: a plain system call.
        let thread = unsafe { libc::waitpid(-1, &mut status, flags) };
        match thread {
            0 => return Ok(Told::Nothing),
            1.. => return Ok(Told::Of(thread, status)),
            _ => {}
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINTR) => {}
            Some(libc::ECHILD) => return Ok(Told::End),
            _ => return Err(error),
        }
    }
}

/// Where a program lies in a process.
#[derive(Clone)]
struct Space {
    program: ProgramId,
    entries: Arc<Entries>,
    /// What is to be added to addresses in the file.
    base: u64,
}

struct Following<'a> {
    programs: &'a dyn Programs,
    /// By thread; `None` where nobody knows its functions.
    spaces: FxHashMap<i32, Option<Space>>,
    /// The memory of threads.
    memory: FxHashMap<i32, File>,
    /// The threads that have not ended.
    alive: BTreeSet<i32>,
    entered: Entered,
}

impl Following<'_> {
    /// Takes in what happened to a thread, and lets it go on; says whether it has ended.
    fn take(&mut self, thread: i32, status: libc::c_int) -> bool {
        if libc::WIFEXITED(status) || libc::WIFSIGNALED(status) {
            self.spaces.remove(&thread);
            self.memory.remove(&thread);
            self.alive.remove(&thread);
            return true;
        }
        self.alive.insert(thread);
        if !libc::WIFSTOPPED(status) {
            return false;
        }
        let signal = libc::WSTOPSIG(status);
        match status >> 16 {
            0 if signal == libc::SIGTRAP && self.is_at_entry(thread) => go_on(thread, 0),
            0 => go_on(thread, signal),
            libc::PTRACE_EVENT_EXEC => {
                self.memory.remove(&thread);
                let space = self.find(thread);
                if let Some(space) = &space {
                    self.place(thread, space);
                }
                self.spaces.insert(thread, space);
                go_on(thread, 0);
            }
            libc::PTRACE_EVENT_STOP if is_stopping(signal) => stay(thread),
            _ => go_on(thread, 0),
        }
        false
    }

    /// The program that a thread runs, if its functions are known.
    fn find(&mut self, thread: i32) -> Option<Space> {
        let path = format!("/proc/{thread}/exe");
        let Ok(found) = std::fs::metadata(&path) else {
            self.entered.doubt("a program could not be looked at");
            return None;
        };
        let program = (found.dev(), found.ino());
        let entries = self.programs.entries(program)?;
        self.entered.of.entry(program).or_default();
        let Some(start) = start_of(thread) else {
            self.entered.doubt("where a program lies is not told");
            return None;
        };
        Some(Space {
            program,
            base: start.wrapping_sub(entries.start),
            entries,
        })
    }

    /// Puts a breakpoint at each function.
    fn place(&mut self, thread: i32, space: &Space) {
        let pages = &space.entries.pages;
        let done = match self.memory(thread) {
            Ok(memory) => pages.iter().try_for_each(|(at, bytes)| {
                memory.write_all_at(bytes, at.wrapping_add(space.base))
            }),
            Err(error) => Err(error),
        };
        if let Err(error) = done {
            self.entered
                .doubt(&format!("functions cannot be watched: {error}"));
        }
    }

    fn memory(&mut self, thread: i32) -> io::Result<&File> {
        match self.memory.entry(thread) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(unknown) => {
                let path = format!("/proc/{thread}/mem");
                let memory = OpenOptions::new().read(true).write(true).open(path)?;
                Ok(unknown.insert(memory))
            }
        }
    }

    /// Whether a thread has stopped at a function of its program; then it can go on there.
    fn is_at_entry(&mut self, thread: i32) -> bool {
        if !self.spaces.contains_key(&thread) {
            let space = self.find(thread);
            self.spaces.insert(thread, space);
        }
        let Some(Some(space)) = self.spaces.get(&thread) else {
            return false;
        };
        let space = space.clone();
        let Some(mut registers) = registers(thread) else {
            return false;
        };
        let at = registers.rip.wrapping_sub(1);
        let place = at.wrapping_sub(space.base);
        let Some(byte) = space.entries.first_byte(place) else {
            return false;
        };
        let written = self
            .memory(thread)
            .and_then(|memory| memory.write_all_at(&[byte], at));
        if let Err(error) = written {
            self.entered
                .doubt(&format!("a process cannot go on: {error}"));
        }
        let known = self.entered.of.entry(space.program).or_default();
        known.insert(place);
        registers.rip = at;
        // Safety: a plain system call; the kernel reads the registers.
        unsafe { libc::ptrace(libc::PTRACE_SETREGS, thread, 0, ptr::from_ref(&registers)) };
        true
    }

    /// Ends what a command leaves running; says how many did not end by themselves.
    fn end_rest(&mut self) -> io::Result<usize> {
        let mut rest = Rest::new();
        loop {
            loop {
                match wait_for_any(libc::WNOHANG)? {
                    Told::Of(thread, status) => self.take(thread, status),
                    Told::Nothing => break,
                    Told::End => return Ok(rest.asked),
                };
            }
            let left = self.alive.iter().copied();
            if rest.is_gone(left.filter_map(Pid::from_raw).collect()) {
                return Ok(rest.asked);
            }
            thread::sleep(LOOK);
        }
    }
}

/// Where a program began, in the memory of a thread.
fn start_of(thread: i32) -> Option<u64> {
    const WORD: usize = size_of::<u64>();
    let vector = crate::disk::read(format!("/proc/{thread}/auxv")).ok()?;
    let words = vector.chunks_exact(WORD);
    let words: Vec<u64> = words
        .map(|word| u64::from_ne_bytes(word.try_into().expect("it has this length")))
        .collect();
    let mut pairs = words.chunks_exact(2);
    let pair = pairs.find(|pair| pair[0] == libc::AT_ENTRY)?;
    Some(pair[1])
}

fn registers(thread: i32) -> Option<libc::user_regs_struct> {
    // Safety: numbers may be zero, and the kernel fills them all.
    unsafe {
        let mut registers: libc::user_regs_struct = std::mem::zeroed();
        let to = ptr::from_mut(&mut registers);
        let done = libc::ptrace(libc::PTRACE_GETREGS, thread, 0, to);
        (done == 0).then_some(registers)
    }
}

/// Lets a thread go on, and gives it a signal.
fn go_on(thread: i32, signal: libc::c_int) {
    // Safety: a plain system call. It fails for one that was killed meanwhile.
    unsafe { libc::ptrace(libc::PTRACE_CONT, thread, 0, signal) };
}

/// Leaves a thread stopped until it is told to go on.
fn stay(thread: i32) {
    // Safety: as above.
    unsafe { libc::ptrace(libc::PTRACE_LISTEN, thread, 0, 0) };
}

fn is_stopping(signal: libc::c_int) -> bool {
    [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU].contains(&signal)
}

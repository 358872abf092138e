//! The kernel's side of the supervisor: a filter in the child, and the calls that wait for
//! an answer, as `seccomp_unotify(2)` describes them.

#![allow(unsafe_code)]

use std::io::{self, Read};
use std::mem;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::ptr;
use std::time::Duration;

use libc::{seccomp_notif, seccomp_notif_resp, sock_filter, sock_fprog};

/// The longest path that the kernel takes.
const LONGEST: usize = libc::PATH_MAX as usize;

/// Memory is read in pieces that lie in one page: the next one may not be there.
const PAGE: usize = 4096;

/// The only flag of `SECCOMP_IOCTL_NOTIF_SET_FLAGS`: the answer wakes the caller on this
/// processor at once.
const SYNC_WAKE_UP: libc::c_ulong = 1;

/// While a call is looked at, only a signal that kills interrupts it (Linux 5.19).
const WAIT_KILLABLE: libc::c_ulong = 1 << 5;

/// A system call that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Notice {
    id: u64,
    /// The thread that called.
    pub thread: i32,
    pub architecture: u32,
    pub number: i64,
    pub arguments: [u64; 6],
}

/// Where the calls of a process and all that it starts come in.
#[derive(Debug)]
pub(super) struct Listener(OwnedFd);

/// What a listener met.
pub(super) enum Met {
    Call(Notice),
    /// Nobody called for that time.
    Nothing,
    /// No process is left.
    End,
}

/// Puts the filter on this process, which is about to run a program, and hands its listener
/// to the supervisor over `socket`. Only calls that are safe after a fork.
pub(super) fn submit(filter: &[sock_filter], socket: RawFd) -> io::Result<()> {
    let program = sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_ptr().cast_mut(),
    };
    let install_with = |more: libc::c_ulong| {
        let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | more;
        let mode = libc::SECCOMP_SET_MODE_FILTER;
        // Safety: a plain system call; the program outlives it.
        match unsafe { libc::syscall(libc::SYS_seccomp, mode, flags, ptr::from_ref(&program)) } {
            -1 => Err(io::Error::last_os_error()),
            listener => Ok(listener),
        }
    };
    // Older kernels have no such flag.
    let install = || match install_with(WAIT_KILLABLE) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => install_with(0),
        done => done,
    };
    let listener = install().or_else(|error| {
        if error.raw_os_error() != Some(libc::EACCES) {
            return Err(error);
        }
        // Who is no superuser has to give up to gain rights.
        // Safety: a plain system call.
        unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
        install()
    })?;
    // The supervisor takes it while the program waits to be started; then it closes here.
    // Safety: plain system calls.
    let told = [unsafe { libc::getpid() }, listener as RawFd];
    let sent = unsafe { libc::write(socket, told.as_ptr().cast(), size_of_val(&told)) };
    match usize::try_from(sent) {
        Ok(sent) if sent == size_of_val(&told) => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

impl Listener {
    /// The listener that a child submits; `None` if it ended before.
    pub(super) fn receive(mut socket: &UnixStream) -> io::Result<Option<Listener>> {
        let mut told = [0u8; 8];
        match socket.read_exact(&mut told) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let number = |at: usize| i32::from_ne_bytes([0, 1, 2, 3].map(|byte| told[at + byte]));
        // Safety: plain system calls; what they return belongs to nobody else.
        unsafe {
            let process = opened(libc::syscall(libc::SYS_pidfd_open, number(0), 0))?;
            let process = process.as_raw_fd();
            let listener = libc::syscall(libc::SYS_pidfd_getfd, process, number(4), 0);
            let listener = opened(listener)?;
            // Older kernels do without.
            libc::ioctl(
                listener.as_raw_fd(),
                libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS as _,
                SYNC_WAKE_UP,
            );
            Ok(Some(Listener(listener)))
        }
    }

    /// Waits for the next call, for at most that time.
    pub(super) fn next(&self, time: Duration) -> io::Result<Met> {
        let milliseconds = time.as_millis() as i32;
        let mut asked = libc::pollfd {
            fd: self.0.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // Safety: one structure, which lives.
        let ready = unsafe { libc::poll(&raw mut asked, 1, milliseconds) };
        if ready < 0 {
            let error = io::Error::last_os_error();
            let is_signal = error.kind() == io::ErrorKind::Interrupted;
            return if is_signal {
                Ok(Met::Nothing)
            } else {
                Err(error)
            };
        }
        if ready == 0 {
            return Ok(Met::Nothing);
        }
        if asked.revents & libc::POLLIN == 0 {
            return Ok(Met::End);
        }
        // Safety: the kernel wants it zeroed, and fills it.
        let (answer, notice) = unsafe {
            let mut notice: seccomp_notif = mem::zeroed();
            let file = self.0.as_raw_fd();
            let answer = libc::ioctl(file, libc::SECCOMP_IOCTL_NOTIF_RECV as _, &raw mut notice);
            (answer, notice)
        };
        if answer != 0 {
            // Who called was killed in the meantime.
            let error = io::Error::last_os_error();
            let is_gone = matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EINTR));
            return if is_gone {
                Ok(Met::Nothing)
            } else {
                Err(error)
            };
        }
        Ok(Met::Call(Notice {
            id: notice.id,
            thread: notice.pid as i32,
            architecture: notice.data.arch,
            number: i64::from(notice.data.nr),
            arguments: notice.data.args,
        }))
    }

    /// Whether the call still waits: else the number of its thread may be another's by now.
    pub(super) fn waits(&self, notice: &Notice) -> bool {
        let id = notice.id;
        // Safety: reads one number.
        unsafe {
            libc::ioctl(
                self.0.as_raw_fd(),
                libc::SECCOMP_IOCTL_NOTIF_ID_VALID as _,
                &raw const id,
            ) == 0
        }
    }

    /// Lets the call happen, or fail with the number of an error.
    pub(super) fn answer(&self, notice: &Notice, error: Option<i32>) {
        let answer = seccomp_notif_resp {
            id: notice.id,
            val: 0,
            error: error.map_or(0, |error| -error),
            flags: match error {
                None => libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
                Some(_) => 0,
            },
        };
        // Safety: reads one structure. If nobody waits any more, nothing happens.
        unsafe {
            libc::ioctl(
                self.0.as_raw_fd(),
                libc::SECCOMP_IOCTL_NOTIF_SEND as _,
                &raw const answer,
            )
        };
    }
}

/// # Safety
/// Nobody else may have the file.
unsafe fn opened(answer: libc::c_long) -> io::Result<OwnedFd> {
    match RawFd::try_from(answer) {
        Ok(file) if file >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(file) }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The text at an address of another process, up to its zero.
///
/// # Errors
/// If it may not be read, or is no path.
pub(super) fn text(thread: i32, address: u64) -> io::Result<Vec<u8>> {
    let mut found = Vec::new();
    let mut at = address as usize;
    while found.len() < LONGEST {
        let piece = bytes(thread, at as u64, PAGE - at % PAGE)?;
        if let Some(end) = piece.iter().position(|byte| *byte == 0) {
            found.extend_from_slice(&piece[..end]);
            return Ok(found);
        }
        at += piece.len();
        found.extend(piece);
    }
    Err(io::ErrorKind::InvalidInput.into())
}

/// So many bytes at an address of another process.
///
/// # Errors
/// If they may not be read.
pub(super) fn bytes(thread: i32, address: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut found = vec![0u8; length];
    let here = libc::iovec {
        iov_base: found.as_mut_ptr().cast(),
        iov_len: length,
    };
    let there = libc::iovec {
        iov_base: address as usize as *mut libc::c_void,
        iov_len: length,
    };
    // Safety: writes at most `length` bytes to `found`.
    let read =
        unsafe { libc::process_vm_readv(thread, &raw const here, 1, &raw const there, 1, 0) };
    match usize::try_from(read) {
        Ok(read) if read == length => Ok(found),
        Ok(_) => Err(io::ErrorKind::UnexpectedEof.into()),
        Err(_) => Err(io::Error::last_os_error()),
    }
}

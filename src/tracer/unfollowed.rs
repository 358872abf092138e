//! Where the functions of a program cannot be followed.

use std::io;
use std::os::fd::RawFd;
use std::os::unix::net::UnixStream;
use std::process::ExitStatus;
use std::time::Instant;

use super::super::entries::{Entered, Programs};

/// How a followed process ended.
pub(super) struct Followed {
    pub status: ExitStatus,
    pub ended: Instant,
    pub entered: Entered,
    pub left: usize,
}

pub(super) fn wait_to_be_followed(_socket: RawFd) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn follow(
    _socket: &UnixStream,
    _programs: &dyn Programs,
) -> io::Result<Option<Followed>> {
    Err(io::ErrorKind::Unsupported.into())
}

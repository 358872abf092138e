//! Searches written as plain code over what is known. Where an outcome is missing they
//! stop and say which order they want; asked again, they start over and get further.

use super::Process;
use super::memory::{Flips, Memory, Word};
use super::suite::Test;

/// Why a search stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// It needs this order run.
    Wants(Vec<Test>, Process),
    /// A test ended in different ways after the same tests in the same order.
    Flips,
}

pub(super) type Answer<T> = Result<T, Stop>;

/// Answers out of what is known.
#[derive(Clone, Copy)]
pub(super) struct Ask<'a> {
    pub(super) memory: &'a Memory,
}

impl Ask<'_> {
    /// How the last test of `order` ends, seen at least so often in such a process.
    pub(super) fn times(&self, order: &[Test], process: Process, least: u32) -> Answer<Word> {
        match self.memory.last(order, process) {
            Err(Flips) => Err(Stop::Flips),
            Ok(Some((word, times))) if times >= least => Ok(word),
            Ok(_) => Err(Stop::Wants(order.to_vec(), process)),
        }
    }

    /// How the last test of `order` ends.
    pub(super) fn word(&self, order: &[Test]) -> Answer<Word> {
        self.times(order, Process::Forked, 1)
    }
}

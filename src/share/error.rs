//! Errors of a shared store. None of them fails a run: more tests run, and the user is told
//! once.

use std::fmt;
use std::time::{Duration, Instant};

/// Why a shared store did not do its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemoteError {
    /// It is not there: never written, expired, deleted.
    Absent(String),
    /// The store does not let this process do that.
    Refused(String),
    /// It allows no more requests at present.
    Busy(String),
    /// It does not answer, or the answer breaks off.
    Unreachable(String),
    /// The time for this step is over.
    TooSlow,
    /// The answer is larger than the limit.
    TooLarge { what: &'static str, limit: u64 },
    /// The answer does not have the expected form.
    Malformed(String),
    /// Others kept writing at the same time.
    Contended,
    /// This process lacks what the store needs: a token, a program, a remote.
    NotSetUp(String),
}

impl RemoteError {
    /// A short word for JSON and counters.
    pub fn word(&self) -> &'static str {
        match self {
            RemoteError::Absent(_) => "absent",
            RemoteError::Refused(_) => "refused",
            RemoteError::Busy(_) => "busy",
            RemoteError::Unreachable(_) => "unreachable",
            RemoteError::TooSlow => "too-slow",
            RemoteError::TooLarge { .. } => "too-large",
            RemoteError::Malformed(_) => "malformed",
            RemoteError::Contended => "contended",
            RemoteError::NotSetUp(_) => "not-set-up",
        }
    }

    /// Whether it makes sense to try another entry of the same store.
    pub fn is_about_one_entry(&self) -> bool {
        matches!(
            self,
            RemoteError::Absent(_) | RemoteError::TooLarge { .. } | RemoteError::Malformed(_)
        )
    }
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RemoteError::Absent(what) => write!(f, "{what} is not there (any more)"),
            RemoteError::Refused(why) => write!(f, "refused: {why}"),
            RemoteError::Busy(why) => write!(f, "no more requests are allowed for now: {why}"),
            RemoteError::Unreachable(why) => write!(f, "cannot be reached: {why}"),
            RemoteError::TooSlow => f.write_str("did not answer in time"),
            RemoteError::TooLarge { what, limit } => {
                write!(f, "{what} has more than {limit} bytes")
            }
            RemoteError::Malformed(why) => write!(f, "unexpected answer: {why}"),
            RemoteError::Contended => {
                f.write_str("others kept writing at the same time; what they wrote is kept")
            }
            RemoteError::NotSetUp(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for RemoteError {}

pub(crate) type Result<T> = std::result::Result<T, RemoteError>;

/// The time by which some work must be done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    until: Instant,
    step: Duration,
}

impl Deadline {
    /// The default limit for a single step.
    const STEP: Duration = Duration::from_secs(15);

    pub(crate) fn after(time: Duration) -> Deadline {
        Deadline {
            until: Instant::now() + time,
            step: Deadline::STEP,
        }
    }

    /// The same deadline with another limit for a single step.
    pub(crate) fn with_step(self, step: Duration) -> Deadline {
        Deadline { step, ..self }
    }

    /// The time for the next step.
    ///
    /// # Errors
    /// No time is left.
    pub(crate) fn step(&self) -> Result<Duration> {
        let left = self.until.saturating_duration_since(Instant::now());
        match left.is_zero() {
            true => Err(RemoteError::TooSlow),
            false => Ok(left.min(self.step)),
        }
    }
}

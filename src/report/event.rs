//! Messages of the rooms while they work. Every text is one line in plain words. Names from
//! outside (tests, branches, paths) may contain anything; the consumers escape them.

use crate::error::Error;

#[derive(Debug)]
pub enum Event {
    /// Work that may take a while begins: `reading 5,000 files`. It ends with
    /// [`Event::Ended`], or when other work begins.
    Began {
        work: String,
        /// The number of steps, if known.
        total: Option<u64>,
    },
    /// This many steps of the current work are done.
    Advanced {
        done: u64,
    },
    Ended,
    /// A detail for `-v`.
    Detail {
        text: String,
    },
    Note {
        text: String,
    },
    Warning {
        text: String,
        hints: Vec<String>,
    },
    /// A problem that leads to more tests, and why.
    Fallback {
        reason: String,
    },
    /// A stored file was refused, or the store cannot be used properly.
    StoreTrouble {
        /// The file or folder of the store.
        place: String,
        reason: String,
        /// The effect on this run: `its 1,992 rows are not used`.
        consequence: String,
    },
    Selected(SelectionSummary),
    Ran(RunSummary),
    /// The command ends with this error.
    Failed(Error),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectionMode {
    All,
    Subset,
    None,
}

impl SelectionMode {
    /// The word used in JSON.
    pub fn word(self) -> &'static str {
        match self {
            SelectionMode::All => "all",
            SelectionMode::Subset => "subset",
            SelectionMode::None => "none",
        }
    }
}

/// A selection in numbers.
#[derive(Clone, Debug)]
pub struct SelectionSummary {
    pub mode: SelectionMode,
    /// Tests known at head; `None` if nobody has listed them yet.
    pub available: Option<u64>,
    pub selected: Option<u64>,
    /// Selected tests that are in no matrix.
    pub new: u64,
    /// Selected tests that the configuration or an earlier failure forces.
    pub forced: u64,
    /// Selected tests that need not run if the values that they read are the same.
    pub unconfirmed: u64,
    pub strategy: String,
    /// The reason for this mode, on one line.
    pub reason: String,
    pub estimate: Option<Estimate>,
}

/// Durations of the tests, as recorded earlier.
#[derive(Clone, Copy, Debug)]
pub struct Estimate {
    pub all_seconds: f64,
    pub selected_seconds: f64,
    /// Whether the tests must be compiled first, which takes an unknown time.
    pub compiles: bool,
}

/// The result of a run of the tests.
#[derive(Clone, Debug)]
pub struct RunSummary {
    pub ran: u64,
    pub failed: u64,
    /// Tests left out on proof.
    pub left_out: u64,
    /// Selected tests that were left out because the values that they read are the same.
    pub confirmed: u64,
    pub seconds: f64,
    /// Recorded rows that cannot justify a skip, with the most frequent reason.
    pub incomplete: u64,
    pub incomplete_reason: Option<String>,
    /// The name of the stored matrix; `None` if it was not stored.
    pub stored: Option<String>,
}

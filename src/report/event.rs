//! What rooms tell while they work. Every text is one line, in plain words;
//! names from outside (tests, branches, paths) may hold anything, the
//! consumers escape them.

use crate::error::Error;

#[derive(Debug)]
pub enum Event {
    /// Work that may take a while begins: `reading 5,000 files`. It ends with
    /// [`Event::Ended`], or when other work begins.
    Began {
        work: String,
        /// Steps in all, when known.
        total: Option<u64>,
    },
    /// Steps of the work in hand that are done.
    Advanced {
        done: u64,
    },
    Ended,
    /// For `-v`.
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
    /// Something prevented a smaller selection: more tests run, and why.
    Fallback {
        reason: String,
    },
    /// A stored file was refused, or the store cannot be used as it should.
    StoreTrouble {
        /// The file or folder of the store.
        place: String,
        reason: String,
        /// What it means for this run: `its 1,992 rows are not used`.
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
    /// Tests known at head; `None` when nobody has listed them yet.
    pub available: Option<u64>,
    pub selected: Option<u64>,
    /// Tests among the selected that no matrix knows.
    pub new: u64,
    /// Tests among the selected that the configuration or an earlier failure
    /// forces.
    pub forced: u64,
    pub strategy: String,
    /// Why it is this mode, in one line.
    pub reason: String,
    pub estimate: Option<Estimate>,
}

/// Durations of the tests, as recorded earlier.
#[derive(Clone, Copy, Debug)]
pub struct Estimate {
    pub all_seconds: f64,
    pub selected_seconds: f64,
    /// Whether the tests are compiled before, which takes time that is not known.
    pub compiles: bool,
}

/// What became of a run of the tests.
#[derive(Clone, Debug)]
pub struct RunSummary {
    pub ran: u64,
    pub failed: u64,
    /// Tests left out on proof.
    pub left_out: u64,
    pub seconds: f64,
    /// Rows that were recorded but can justify no skip, and the commonest
    /// reason.
    pub incomplete: u64,
    pub incomplete_reason: Option<String>,
    /// Name of the matrix that was stored; `None` when it was not.
    pub stored: Option<String>,
}

//! Tests that may be there, beyond those that are listed.

use super::{Reason, Selection, Verdict};

/// Tests that may be there, beyond those that a matrix knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unlisted {
    /// Why there may be some, if so.
    pub doubt: Option<String>,
    /// In how many files; `usize::MAX` if it may be any number.
    pub files: usize,
}

impl Unlisted {
    /// By what became of what finding the tests depends on.
    pub fn of_collection(verdict: Option<&Verdict>) -> Unlisted {
        let (doubt, files) = match verdict {
            Some(Verdict::Skip(evidence)) => {
                let open = evidence.late.first().filter(|_| evidence.is_open);
                let doubt = open.map(|(unit, _)| format!("{unit} is settled when the tests start"));
                (doubt, 0)
            }
            Some(Verdict::Run(reason)) => (Some(doubt_of(reason)), files_of(reason)),
            None => {
                let why = "the list of tests was not recorded".to_owned();
                (Some(why), usize::MAX)
            }
        };
        Unlisted { doubt, files }
    }
}

fn doubt_of(reason: &Reason) -> String {
    match reason {
        Reason::Changed { unit, .. } => format!("{unit} changed, on which finding tests depends"),
        Reason::Unknown { unit, why, .. } => format!("{unit}: {why}"),
        Reason::Incomplete { why, .. } => format!("finding tests was recorded incompletely: {why}"),
        Reason::Failed { .. } => "finding tests failed last time".to_owned(),
        Reason::New | Reason::Affected { .. } | Reason::Forced { .. } => {
            "finding tests is new".to_owned()
        }
    }
}

/// A list that was never whole may lack any number of files; one that was, no more
/// than have come since, but for new tests in files that it has.
fn files_of(reason: &Reason) -> usize {
    match reason {
        Reason::Changed { .. } | Reason::Unknown { .. } => 0,
        _ => usize::MAX,
    }
}

impl Selection {
    /// Takes over that there may be tests beyond the listed ones.
    pub fn may_also_hold(&mut self, more: Unlisted) {
        let doubt = self.inventory_doubt.take();
        self.inventory_doubt = doubt.or(more.doubt);
        self.unlisted_files = self.unlisted_files.saturating_add(more.files);
    }

    /// All tests that there may be are listed.
    pub fn is_whole(&mut self) {
        self.inventory_doubt = None;
        self.unlisted_files = 0;
    }
}

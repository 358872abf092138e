//! Tests that may be there, beyond those that are listed.

use super::{Reason, Selection, Verdict};
use crate::matrix::{Unit, What};

/// Tests that may be there, beyond those that a matrix knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unlisted {
    /// Why there may be some, if so.
    pub doubt: Option<String>,
    /// In which files, as ids of tests name them, as far as that can be told.
    pub files: Vec<String>,
    /// Whether it may be any number of them.
    pub is_any: bool,
}

impl Unlisted {
    /// By what became of what finding the tests depends on.
    pub fn of_collection(verdict: Option<&Verdict>) -> Unlisted {
        let (doubt, is_any) = match verdict {
            Some(Verdict::Skip(evidence)) => {
                let open = evidence.late.first().filter(|_| evidence.is_open);
                let doubt = open.map(|(unit, _)| {
                    let what = in_words(unit);
                    format!("whether {what} the same is known only when the tests start")
                });
                (doubt, false)
            }
            Some(Verdict::Run(reason)) => (Some(doubt_of(reason)), was_not_whole(reason)),
            None => {
                let why = "the list of tests was not recorded".to_owned();
                (Some(why), true)
            }
        };
        Unlisted {
            doubt,
            is_any,
            files: Vec::new(),
        }
    }
}

/// What only the environment of the tests can tell, with its verb.
fn in_words(unit: &Unit) -> String {
    match &unit.what {
        What::Options => "the options of the test command are".to_owned(),
        What::Plugins => "the plug-ins of the runner are".to_owned(),
        What::Dist(name) => format!("the package {name} is"),
        What::AllEnv => "the environment variables are".to_owned(),
        What::Env(name) => format!("the variable {name} is"),
        What::Runtime(_) | What::StartUp => "the interpreter or JDK is".to_owned(),
        _ => format!("{} is", unit.path),
    }
}

fn doubt_of(reason: &Reason) -> String {
    match reason {
        Reason::Changed { unit, .. } | Reason::Unconfirmed { unit, .. } => {
            format!("{unit} changed, on which finding tests depends")
        }
        Reason::Unknown { unit, why, .. } => format!("{unit}: {why}"),
        Reason::Incomplete { why, .. } => format!("finding tests was recorded incompletely: {why}"),
        Reason::Failed { .. } => "finding tests failed last time".to_owned(),
        Reason::New | Reason::Affected { .. } | Reason::Forced { .. } | Reason::Brought { .. } => {
            "finding tests is new".to_owned()
        }
    }
}

/// A list that was never whole may lack any number of files; one that was, no more
/// than have come since, but for new tests in files that it has.
fn was_not_whole(reason: &Reason) -> bool {
    !matches!(
        reason,
        Reason::Changed { .. } | Reason::Unconfirmed { .. } | Reason::Unknown { .. }
    )
}

impl Selection {
    /// Takes over that there may be tests beyond the listed ones.
    pub fn may_also_hold(&mut self, more: Unlisted) {
        let doubt = self.inventory_doubt.take();
        self.inventory_doubt = doubt.or(more.doubt);
        self.unlisted.extend(more.files);
        self.lacks_any |= more.is_any;
    }

    /// All tests may come back where they run: more than one machine can do.
    pub(crate) fn may_all_come_back(&mut self) {
        self.lacks_any = true;
    }

    /// All tests that there may be are listed.
    pub fn is_whole(&mut self) {
        self.inventory_doubt = None;
        self.unlisted.clear();
        self.lacks_any = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::Strategy;

    #[test]
    fn what_a_selection_lacks_only_grows_until_it_is_whole() {
        let mut selection = Selection::all(Strategy::Auto, "");
        selection.is_whole();
        assert!(!selection.lacks_any);
        selection.may_also_hold(Unlisted::of_collection(None));
        selection.may_also_hold(Unlisted::default());
        assert!(selection.lacks_any, "the list of tests was not recorded");
        selection.is_whole();
        selection.may_all_come_back();
        selection.may_also_hold(Unlisted::default());
        assert!(selection.lacks_any);
    }
}

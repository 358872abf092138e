//! Tests that are left out on proof, and run all the same because others need them.

use std::fmt;

use super::{Evidence, Reason, Selection, Verdict};

/// What one test does for others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// This one ends as in the full run only after it.
    SetsUp { test: String },
    /// It may leave something that this one meets, and shall meet again.
    LeavesTo { test: String },
    /// It undoes what `polluter` does, before `victim` runs.
    Cleans { polluter: String, victim: String },
}

impl Need {
    /// The word for it in `selection.json`.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Need::SetsUp { .. } => "sets-up",
            Need::LeavesTo { .. } => "leaves-to",
            Need::Cleans { .. } => "cleans",
        }
    }

    /// The test that it is needed for.
    pub(crate) fn served(&self) -> &str {
        match self {
            Need::SetsUp { test } | Need::LeavesTo { test } => test,
            Need::Cleans { victim, .. } => victim,
        }
    }

    pub(crate) fn polluter(&self) -> Option<&str> {
        match self {
            Need::SetsUp { .. } | Need::LeavesTo { .. } => None,
            Need::Cleans { polluter, .. } => Some(polluter),
        }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Need::SetsUp { test } => write!(f, "sets up {test}"),
            Need::LeavesTo { test } => write!(f, "may leave something to {test}"),
            Need::Cleans { polluter, victim } => {
                write!(f, "undoes what {polluter} does to {victim}")
            }
        }
    }
}

impl Selection {
    /// Has a test that is left out run for another one.
    pub(crate) fn bring(&mut self, test: &str, need: Need) {
        if let Some(verdict) = self.verdicts.get_mut(test)
            && let Verdict::Skip(evidence) = verdict
        {
            let known = self.durations.entry(test.to_owned());
            known.or_insert(evidence.duration_ms);
            let evidence = Box::new(evidence.clone());
            *verdict = Verdict::Run(Reason::Brought { need, evidence });
        }
    }

    /// Has a test that is selected run whatever values it finds: others need it.
    pub(crate) fn insist(&mut self, test: &str) {
        if let Some(Verdict::Run(reason)) = self.verdicts.get_mut(test) {
            let open = std::mem::replace(reason, Reason::New);
            *reason = open.settled();
        }
    }

    /// Whether a test runs for others only.
    pub(crate) fn is_brought(&self, test: &str) -> bool {
        let verdict = self.verdicts.get(test);
        matches!(verdict, Some(Verdict::Run(Reason::Brought { .. })))
    }

    /// The tests that run for others only, with the proof that lets them be left out.
    pub(crate) fn brought(&self) -> impl Iterator<Item = (&str, &Need, &Evidence)> {
        self.selected().filter_map(|(test, reason)| match reason {
            Reason::Brought { need, evidence } => Some((test, need, &**evidence)),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Fingerprint, Unit, What};
    use crate::select::samples::evidence;
    use crate::select::{By, Strategy};

    #[test]
    fn who_is_brought_keeps_its_proof_and_who_is_needed_is_not_excused() {
        let mut selection = Selection::all(Strategy::Auto, "");
        selection.all_because = None;
        selection.inventory_doubt = None;
        let open = Reason::Unconfirmed {
            unit: Unit::at("a.py", What::Effects),
            from: Fingerprint([1; 16]),
            to: Fingerprint([2; 16]),
            baseline: "b".to_owned(),
            late: [].into(),
            by: By::Imports,
        };
        let verdicts = [
            ("setter", Verdict::Skip(evidence())),
            ("open", Verdict::Run(open)),
            ("other", Verdict::Skip(evidence())),
        ];
        selection.verdicts = verdicts.map(|(test, one)| (test.to_owned(), one)).into();
        let need = Need::SetsUp {
            test: "open".to_owned(),
        };
        selection.bring("setter", need.clone());
        selection.bring("nobody", need.clone());
        selection.insist("open");
        let brought: Vec<_> = selection.brought().collect();
        assert_eq!(brought, [("setter", &need, &evidence())]);
        assert_eq!(selection.verdicts["setter"], {
            let evidence = Box::new(evidence());
            Verdict::Run(Reason::Brought { need, evidence })
        });
        assert!(matches!(
            selection.verdicts["open"],
            Verdict::Run(Reason::Changed { .. })
        ));
        assert_eq!(selection.excluded().count(), 1);
        // Why the run is needed is not that somebody is brought.
        assert_eq!(selection.reason(), "effects a.py changed");
    }
}

//! Tests that leave something which they did not leave before, and those that were left out and
//! can meet it: `docs/precision.md`.

use std::collections::BTreeMap;

use super::work::Work;
use crate::count::counted;
use crate::error::{Error, Exit};
use crate::matrix::Outcome;
use crate::pipeline::Recorded;
use crate::report::escape;
use crate::run::was_interrupted;

/// In so many runs what tests leave that meet something new is compared; in those after them it
/// counts as different.
pub(super) const COMPARED: u8 = 2;

/// After so many runs nobody looks further.
const MOST_PASSES: u8 = 6;

impl Work<'_> {
    /// Runs tests once more that left something anew, and with them those left out that can meet
    /// it. Returns how that came out, beside `exit` of the run itself.
    ///
    /// # Errors
    /// Those of a run.
    pub(super) fn who_meets(
        &self,
        recorded: &Recorded,
        exit: Exit,
    ) -> Result<(Exit, BTreeMap<String, Outcome>), Error> {
        let anew = &recorded.anew;
        if was_interrupted() {
            return Ok((exit, BTreeMap::new()));
        }
        let Some((test, leaves)) = anew.by_test.first_key_value() else {
            return self.with_others(recorded, exit);
        };
        let what = match leaves.cells.first() {
            Some((path, name)) => escape::line(&format!("{path}#{name}")).into_owned(),
            None => "something that fixtures or caches hold".to_owned(),
        };
        let more = match anew.by_test.len() - 1 {
            0 => String::new(),
            more => format!(" (and {} something)", counted(more, "other test")),
        };
        let test = escape::line(test);
        let found = format!("{test} leaves {what} for others{more}, which it did not before");
        if self.passes == MOST_PASSES {
            self.report.warning(format!(
                "{found}, and so do tests that meet it: `tamis run --all` tells whether any test \
                 ends differently"
            ));
            return Ok((exit, BTreeMap::new()));
        }
        self.report
            .note(format!("{found}: tests that can meet it run now"));
        let (again, outcomes) = self.once_more(Some(recorded), 1)?;
        let exit = if exit == Exit::DONE { again } else { exit };
        Ok((exit, outcomes))
    }

    /// Runs tests once more that ran without others which leave what they can read, with these.
    fn with_others(
        &self,
        recorded: &Recorded,
        exit: Exit,
    ) -> Result<(Exit, BTreeMap<String, Outcome>), Error> {
        let inexact = &recorded.anew.inexact;
        let Some((test, _)) = inexact.first_key_value() else {
            return Ok((exit, BTreeMap::new()));
        };
        let more = match inexact.len() - 1 {
            0 => String::new(),
            more => format!(" and {}", counted(more, "other test")),
        };
        let found = format!(
            "{}{more} ran without tests that leave what they can read",
            escape::line(test)
        );
        if self.passes == MOST_PASSES {
            self.report.warning(format!(
                "{found}: `tamis run --all` tells whether any test ends differently"
            ));
            return Ok((exit, BTreeMap::new()));
        }
        self.report
            .note(format!("{found}: they run again after these"));
        let (again, outcomes) = self.once_more(Some(recorded), 1)?;
        // What failed without them may pass after them.
        let is_whole = recorded
            .outcomes
            .iter()
            .all(|(test, end)| end.is_good() || inexact.contains_key(test));
        let exit = if exit == Exit::DONE || is_whole {
            again
        } else {
            exit
        };
        Ok((exit, outcomes))
    }
}

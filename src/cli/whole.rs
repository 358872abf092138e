//! Where git, or what lies beside it, cannot be used: the test command runs as it
//! is, and nothing is recorded. Whoever waits for tests gets all of them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use serde_json::{Value, json};

use super::telling;
use crate::ci::CiContext;
use crate::config::Config;
use crate::error::{Error, Exit, Kind};
use crate::history::HistoryErrorKind;
use crate::report::{CiSelection, Event, Report, SelectionJson};
use crate::run::RunPlan;
use crate::select::Selection;

/// Whether all tests run instead of none, after trouble that is not the user's own
/// words. Who sits before it learns that there is no repository here, and is asked
/// for one; a job has nobody to ask, and a repository that git does not trust is
/// there.
pub(super) fn may_run(error: &Error, ci: Option<&CiContext>, is_named: bool) -> bool {
    let is_trouble = matches!(error.kind(), Kind::Repository | Kind::Store);
    let is_distrust = error.history() == Some(HistoryErrorKind::Untrusted);
    is_trouble && !is_named && (ci.is_some() || is_distrust)
}

/// All tests, because of this trouble; tells why.
pub(super) fn select(error: &Error, config: &Config, report: &Report) -> Selection {
    let why = error.to_string();
    report.event(Event::Fallback {
        reason: why.clone(),
    });
    for hint in error.hints() {
        report.detail(hint.clone());
    }
    Selection::all(config.strategy.value, why)
}

/// What the service is told of it.
pub(super) fn told(selection: &Selection, suite: Option<String>) -> CiSelection {
    let mut told = CiSelection::new(selection, &[selection.reason()]);
    told.suite = suite;
    told
}

/// The public form of such a selection.
///
/// # Errors
/// If it cannot be written as JSON.
pub(super) fn json(
    selection: &Selection,
    ci: Option<&CiContext>,
    ran: bool,
) -> Result<Value, Error> {
    let json = SelectionJson::new(selection, None, None, &[]).with_ci(ci, None);
    Ok(match ran {
        true => json.with_outcomes(&BTreeMap::new()).value()?,
        false => json.value()?,
    })
}

/// What `record` tells of a run that it did not watch.
pub(super) fn nothing_recorded() -> Value {
    json!({ "schema": 1, "outcomes": {} })
}

/// Runs the command, unwatched; the status is its own.
///
/// # Errors
/// If it cannot be started.
pub(super) fn run(command: &[OsString], cwd: &Path, report: &Report) -> Result<Exit, Error> {
    report.warning("the test command runs as it is: nothing is left out or recorded".to_owned());
    let ended = RunPlan::plain(command.to_vec(), cwd).execute(&telling::output(report))?;
    Ok(Exit(u8::try_from(ended.status()).unwrap_or(u8::MAX)))
}

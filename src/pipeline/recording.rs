//! What is recorded, and what becomes of it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::audit::Audit;
use super::decide::Decision;
use super::project::Project;
use crate::history::View;
use crate::matrix::{Outcome, ShardOfRun};
use crate::observe::Observations;
use crate::run::Ended;
use crate::runners::Anew;
use crate::select::Exclusions;
use crate::store::Name;

/// In [`Recorded::refuted`], what the collector says of tests that run because others need what
/// they leave.
pub(crate) const NEEDED: &str = "others need what it leaves";

/// The same of tests that run as so many do that all may as well.
pub(crate) const ALL: &str = "so many tests run that all do";

/// What became of a recording.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    /// The stored matrix; `None` if nothing could be stored.
    pub name: Option<Name>,
    /// The outcome of each test that ran.
    pub outcomes: BTreeMap<String, Outcome>,
    /// How many tests were to run and did not.
    pub unfinished: usize,
    /// How many were to run so that others meet what is left anew, and nobody does.
    pub unmet: usize,
    /// Tests that were left out because the values that they read are as they were; and
    /// of those that ran for other values, which.
    pub confirmed: BTreeSet<String>,
    pub refuted: BTreeMap<String, String>,
    /// Why later runs cannot leave out tests so.
    pub without_values: Option<String>,
    /// How many rows were taken over because they still hold.
    pub carried: usize,
    /// Rows that will not justify a skip, by reason.
    pub incomplete: BTreeMap<String, usize>,
    /// Whether a runner told the collector which tests there are.
    pub found_tests: bool,
    /// How the tests ended that would have been left out.
    pub audit: Audit,
    /// What tests left that nobody leaves in the record: it is still to be found out whether tests
    /// that were left out meet it.
    pub anew: Anew,
}

/// How the tests' command ran.
pub(crate) struct CommandRun<'a> {
    pub words: Vec<String>,
    /// What the runner was told to leave out.
    pub exclusions: &'a Exclusions,
    pub ended: Ended,
    pub duration: Duration,
}

/// What is recorded, besides what was observed.
pub(crate) struct Recording<'a> {
    pub ran: CommandRun<'a>,
    /// The project before the tests started, and after they ended.
    pub before: &'a View,
    pub after: &'a View,
    /// The selection that was in force, with the rows that justified it.
    pub decision: &'a Decision,
    /// The selection that the outcomes are compared with.
    pub audited: &'a Decision,
    pub run: String,
    /// If the run was a shard: which.
    pub shard: Option<ShardOfRun>,
    /// Seconds since the epoch.
    pub now: u64,
}

impl CommandRun<'_> {
    /// Whether the command came to its end and had no test to run but those that it was
    /// told to leave out. Then it may start no process that could tell.
    pub(super) fn left_out_all(&self, project: &Project, observed: &Observations) -> bool {
        let driver = project.config.driver;
        self.ended == Ended::Exit(0)
            && observed.bases.is_empty()
            && observed.compiled.is_none()
            && driver.hides_tests(&project.dir, &self.words).is_none()
            && !self.exclusions.tests.is_empty()
            && self.exclusions.shard.is_none()
            && driver.starts_nothing_for_nothing()
    }

    /// Why no test that ran may be left out next time: every one ended well, and
    /// the command did not. Were they left out, whatever failed would not even
    /// be tried again.
    pub(super) fn failed_as_a_whole(&self, collected: &Observations) -> Option<String> {
        let status = match self.ended {
            Ended::Exit(status) if status != 0 => status,
            Ended::Exit(_) | Ended::Signal(_) => return None,
        };
        if !collected.rows.iter().all(|row| row.outcome.is_good()) {
            return None;
        }
        let ran: BTreeSet<&str> = collected.rows.iter().map(|row| row.test.as_str()).collect();
        // One that was stopped on the way says that it failed for that.
        let mut kept = collected.kept.iter();
        let was_stopped = kept.any(|test| !ran.contains(test.as_str()));
        (!was_stopped).then(|| format!("the command ended with {status} though no test failed"))
    }
}

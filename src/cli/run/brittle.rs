//! Failures of a part that the whole does not have: `docs/order.md`, "Without a search".

use std::collections::BTreeMap;
use std::time::Duration;

use super::RunRequest;
use super::work::Work;
use crate::config::FAILURES_STAY;
use crate::count::{counted, verb};
use crate::error::{Error, Exit};
use crate::matrix::Outcome;
use crate::pipeline::{After, Decision, Explained, PartialRun, Ran, Recorded, Workshop};
use crate::report::{Event, escape};
use crate::run::{Ended, was_interrupted};
use crate::runners::driver;
use crate::select::Verdict;

/// What running tests again may take at least, in seconds of recorded test time.
const LEAST: f64 = 10.0;

/// And how often what the run itself took.
const TIMES: f64 = 3.0;

/// After so many runs in which other tests failed than before, failures stay.
const MOST_RUNS: u8 = 3;

/// What became of tests that failed at first.
#[derive(Default)]
pub(super) struct Again {
    /// How tests ended that ran again for good.
    pub outcomes: BTreeMap<String, Outcome>,
    pub after: BTreeMap<String, After>,
}

impl Work<'_> {
    /// Runs tests that failed again after those that were left out and come before them in the
    /// suite's own order. If none of them fails there, the run counts with the tests that they
    /// need; else `exit` stays.
    ///
    /// # Errors
    /// Those of a run. That tests cannot be run in another order is none.
    pub(super) fn after_others(
        &self,
        ran: &Ran,
        recorded: &Recorded,
        decision: &Decision,
        exit: Exit,
    ) -> Result<(Exit, Again), Error> {
        let nothing = (exit, Again::default());
        let bad = recorded.outcomes.iter().filter(|(_, end)| !end.is_good());
        let bad: Vec<&String> = bad.map(|(test, _)| test).collect();
        let failed = bad.len();
        let is_part = !ran.exclusions.tests.is_empty() || ran.exclusions.shard.is_some();
        let driver = driver(self.project.config.runner.value, self.command);
        let stay = std::env::var_os(FAILURES_STAY).is_some() || was_interrupted();
        let may = is_part && driver.takes_orders() && !stay;
        let are_known = bad.iter().all(|test| self.failing.borrow().contains(*test));
        if ran.ended != Ended::Exit(1) || are_known || !may {
            return Ok(nothing);
        }
        let Some(explained) = self.explained(ran, recorded, decision, failed)? else {
            return Ok(nothing);
        };
        self.tell(&explained);
        self.failing.borrow_mut().extend(explained.fail);
        let mut again = Again {
            outcomes: BTreeMap::new(),
            after: explained.after,
        };
        if again.after.len() < failed {
            return Ok((exit, again));
        }
        if self.request.shard.is_some() {
            // The tests were seen to pass in the order that counts; the next run records that.
            let exit = if recorded.unfinished == 0 {
                Exit::DONE
            } else {
                exit
            };
            return Ok((exit, again));
        }
        // Those that met what others leave anew may leave something else only in that run.
        let after = (!recorded.anew.is_empty()).then_some(recorded);
        let (exit, outcomes) = self.once_more(after, 0)?;
        again.outcomes = outcomes;
        Ok((exit, again))
    }

    /// Which tests the failed ones need; `None` if that is not to be known.
    fn explained(
        &self,
        ran: &Ran,
        recorded: &Recorded,
        decision: &Decision,
        failed: usize,
    ) -> Result<Option<Explained>, Error> {
        let report = self.report;
        let seconds = seconds_left_out(ran, decision);
        let limit = LEAST + TIMES * ran.seconds;
        let failed = counted(failed, "failed test");
        if self.runs_before - self.passes == MOST_RUNS || seconds > limit {
            report.note(format!(
                "{failed} may need tests that were left out. These take {seconds:.0} s, which is \
                 not tried by itself: `tamis order minimise TEST` or `tamis run --all` tells"
            ));
            return Ok(None);
        }
        let work = format!("running {failed} again after tests that were left out");
        report.event(Event::Began { work, total: None });
        let partial = PartialRun {
            command: self.command,
            cwd: &self.cwd,
            outcomes: &recorded.outcomes,
            limit: Duration::from_secs_f64(limit),
        };
        let explained = partial.explain(self.project, self.workshop);
        report.event(Event::Ended);
        match explained {
            Ok(explained) => Ok(explained),
            Err(error) => {
                let why =
                    format!("failed tests are not run after those that were left out: {error}");
                report.detail(why);
                Ok(None)
            }
        }
    }

    fn tell(&self, explained: &Explained) {
        let report = self.report;
        for (test, after) in &explained.after {
            let tests: Vec<_> = after.tests.iter().map(|one| escape::line(one)).collect();
            report.note(format!(
                "{} passes only after {}, which {} left out: from now on {} with it",
                escape::line(test),
                tests.join(", then "),
                verb(tests.len(), "was", "were"),
                verb(tests.len(), "that one runs", "these run"),
            ));
        }
        for test in &explained.unclear {
            report.warning(format!(
                "{test} fails here and not in the suite's own order, and it is not clear why: \
                 `tamis order minimise {test}` looks further"
            ));
        }
        if !explained.fail.is_empty() {
            let fail = counted(explained.fail.len(), "failed test");
            let also = verb(explained.fail.len(), "fails", "fail");
            report.detail(format!("{fail} {also} in the suite's own order too"));
        }
    }

    /// Selects and runs again, with what is known now. `passes`: 1 if that is for tests that may
    /// meet what others leave anew.
    pub(super) fn once_more(
        &self,
        after: Option<&Recorded>,
        passes: u8,
    ) -> Result<(Exit, BTreeMap<String, Outcome>), Error> {
        let mark = format!("again-{}", self.runs_before + 1);
        let mark = match &self.suite {
            Some(suite) => format!("{suite}-{mark}"),
            None => mark,
        };
        let workshop = Workshop::set_up_as(self.project, &mark)?;
        let request = RunRequest {
            // The service was told of the selection.
            ci: None,
            ..self.request.clone()
        };
        let work = Work {
            request: &request,
            workshop: &workshop,
            runs_before: self.runs_before + 1,
            passes: self.passes + passes,
            after,
            suite: self.suite.clone(),
            cwd: self.cwd.clone(),
            ..*self
        };
        let done = work.run();
        workshop.clean_up();
        let (exit, done) = done?;
        Ok((exit, done.outcomes))
    }
}

/// What the tests took last that were left out; where nobody has listed them, as much on each
/// other machine as here.
fn seconds_left_out(ran: &Ran, decision: &Decision) -> f64 {
    let selection = &decision.selection;
    if let (Some(of), Some(_)) = (&ran.exclusions.shard, &selection.all_because) {
        return ran.seconds * f64::from(of.shard.of - 1);
    }
    let millis = ran.exclusions.tests.iter().map(|test| {
        let known = selection.durations.get(test).copied();
        known.unwrap_or_else(|| match selection.verdicts.get(test) {
            Some(Verdict::Skip(evidence)) => evidence.duration_ms,
            Some(Verdict::Run(_)) | None => 0,
        })
    });
    millis.map(f64::from).sum::<f64>() / 1e3
}

//! `tamis trace`: runs commands that are tests and tells what their processes use. `tamis run`
//! starts it, so that a crash of a supervisor or a signal to it ends no run.

use std::path::PathBuf;

use clap::Args;

use super::Globals;
use crate::count::counted;
use crate::error::{Error, Exit};
use crate::matrix::Outcome;
use crate::report::Report;
use crate::run::listen_to_interrupts;
use crate::tracer::Plan;

/// Run commands that are tests, and write down what they use.
#[derive(Args, Debug)]
pub(crate) struct TraceArgs {
    /// What to run: a file that tamis wrote
    plan: PathBuf,
}

pub(crate) fn run(args: &TraceArgs, _globals: &Globals, report: &Report) -> Result<Exit, Error> {
    let plan = Plan::load(&args.plan)?;
    listen_to_interrupts();
    let is_one = plan.tests.len() == 1;
    let ended = plan.run(|test, ran| {
        let (id, traced) = (&test.id, &ran.traced);
        if let (Outcome::Error, Some(why)) = (ran.outcome, &traced.seen.incomplete) {
            report.warning(format!("{id}: {why}"));
        }
        if traced.left > 0 && !traced.timed_out {
            let left = counted(traced.left, "program");
            report.warning(format!("{id} left {left} running, which tamis ended"));
        }
        if is_one && traced.timed_out {
            report.warning(format!("the time of {id} was up"));
        }
        if !is_one {
            let seconds = traced.duration.as_secs_f64();
            let up = if traced.timed_out {
                ", its time was up"
            } else {
                ""
            };
            let because = ran.because.as_ref();
            let because = because.map_or_else(String::new, |why| format!("; it ran because {why}"));
            let past = ran.outcome.past();
            report.note(format!("{id} {past} in {seconds:.1} s{up}{because}"));
        }
    })?;
    Ok(Exit(ended.status() as u8))
}

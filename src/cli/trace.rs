//! `tamis trace`: runs commands that are tests and tells what their processes use. `tamis run`
//! starts it, so that a crash of a supervisor or a signal to it ends no run.

use std::path::PathBuf;

use clap::Args;

use super::Globals;
use crate::count::counted;
use crate::error::{Error, Exit};
use crate::matrix::Outcome;
use crate::report::Report;
use crate::tracer::Plan;

/// Run commands that are tests, and write down what they use.
#[derive(Args, Debug)]
pub(crate) struct TraceArgs {
    /// What to run: a file that tamis wrote
    plan: PathBuf,
}

pub(crate) fn run(args: &TraceArgs, _globals: &Globals, report: &Report) -> Result<Exit, Error> {
    let plan = Plan::load(&args.plan)?;
    let is_one = plan.tests.len() + plan.left_out.len() == 1;
    let ended = plan.run(|test, traced, outcome| {
        if let (Outcome::Error, Some(why)) = (outcome, &traced.seen.incomplete) {
            report.warning(format!("{}: {why}", test.id));
        }
        if traced.left > 0 {
            let left = counted(traced.left, "program");
            let id = &test.id;
            report.warning(format!("{id} left {left} running, which tamis ended"));
        }
        if !is_one {
            let id = &test.id;
            let seconds = traced.duration.as_secs_f64();
            let why = if traced.timed_out {
                ", its time was up"
            } else {
                ""
            };
            report.note(format!("{id} {} in {seconds:.1} s{why}", outcome.past()));
        }
    })?;
    Ok(Exit(ended.status() as u8))
}

//! `tamis node-test`: the process of a run of tests in Node that `tamis run` starts.

use std::path::PathBuf;

use clap::Args;

use crate::error::{Error, Exit};
use crate::report::Report;
use crate::run::listen_to_interrupts;
use crate::runners;

/// Run tests in Node, and write down what they use.
#[derive(Args, Debug)]
pub(crate) struct NodeTestArgs {
    /// What to run: a file that tamis wrote
    plan: PathBuf,
}

pub(crate) fn run(args: &NodeTestArgs, report: &Report) -> Result<Exit, Error> {
    listen_to_interrupts();
    let mut tell = |why| report.warning(format!("nothing is recorded: {why}"));
    let status = runners::run_node_tests(&args.plan, &mut tell)?;
    Ok(Exit(status as u8))
}

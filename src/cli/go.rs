//! `tamis go-test` and `tamis go-binary`: processes of a run of Go's tests. `tamis run` starts
//! the one, and `go test` the other before each test binary.

use std::ffi::OsString;
use std::io::stdout;
use std::path::PathBuf;

use clap::Args;

use crate::error::{Error, Exit};
use crate::report::Report;
use crate::run::listen_to_interrupts;
use crate::runners;

/// Run `go test`, and write down what its tests use.
#[derive(Args, Debug)]
pub(crate) struct GoTestArgs {
    /// What to run: a file that tamis wrote
    plan: PathBuf,
}

/// Run a test binary, and write down what its tests use.
#[derive(Args, Debug)]
pub(crate) struct GoBinaryArgs {
    /// What to run: a file that tamis wrote
    plan: PathBuf,
    /// The binary and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    argv: Vec<OsString>,
}

pub(crate) fn test(args: &GoTestArgs, report: &Report) -> Result<Exit, Error> {
    listen_to_interrupts();
    let mut tell = |why| report.warning(format!("nothing is recorded: {why}"));
    let status = runners::run_go_test(&args.plan, &mut stdout(), &mut tell)?;
    Ok(Exit(status as u8))
}

pub(crate) fn binary(args: &GoBinaryArgs) -> Result<Exit, Error> {
    listen_to_interrupts();
    let status = runners::run_binary(&args.plan, &args.argv, &mut stdout())?;
    Ok(Exit(status as u8))
}

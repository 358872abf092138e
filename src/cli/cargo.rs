//! `tamis cargo-test`, `tamis cargo-binary` and `tamis cargo-doc`: processes of a run of Rust's
//! tests. `tamis run` starts the first, and Cargo the others in place of test binaries and of
//! `rustdoc`.

use std::ffi::OsString;
use std::io::stdout;
use std::path::PathBuf;

use clap::Args;

use crate::error::{Error, Exit};
use crate::report::Report;
use crate::run::listen_to_interrupts;
use crate::runners;

/// Run `cargo test`, and write down what its tests use.
#[derive(Args, Debug)]
pub(crate) struct CargoTestArgs {
    /// What to run: a file that tamis wrote
    plan: PathBuf,
}

/// Run a test binary, and write down what its tests use.
#[derive(Args, Debug)]
pub(crate) struct CargoBinaryArgs {
    /// What to run: a file that tamis wrote
    plan: PathBuf,
    /// The binary and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    argv: Vec<OsString>,
}

/// Run `rustdoc`, and write down what the tests in documentation use.
#[derive(Args, Debug)]
pub(crate) struct CargoDocArgs {
    /// What to run: a file that tamis wrote
    plan: PathBuf,
    /// The arguments of `rustdoc`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

pub(crate) fn test(args: &CargoTestArgs, report: &Report) -> Result<Exit, Error> {
    listen_to_interrupts();
    let mut tell = |why| report.warning(format!("nothing is recorded: {why}"));
    let status = runners::run_cargo_test(&args.plan, &mut stdout(), &mut tell)?;
    Ok(Exit(status as u8))
}

pub(crate) fn binary(args: &CargoBinaryArgs) -> Result<Exit, Error> {
    listen_to_interrupts();
    let status = runners::run_cargo_binary(&args.plan, &args.argv, &mut stdout())?;
    Ok(Exit(status as u8))
}

pub(crate) fn documentation(args: &CargoDocArgs) -> Result<Exit, Error> {
    listen_to_interrupts();
    let status = runners::run_rustdoc(&args.plan, &args.args)?;
    Ok(Exit(status as u8))
}

//! `tamis ctest-run`, `tamis ctest-test` and `tamis ctest-build`: processes of a run of `ctest`.
//! `tamis run` starts the first and the last, and `ctest` the other before each test.

use std::ffi::OsString;
use std::io::stdout;
use std::path::PathBuf;

use clap::Args;

use crate::error::{Error, Exit};
use crate::report::Report;
use crate::run::listen_to_interrupts;
use crate::runners;

/// Run `ctest`, and write down what its tests use.
#[derive(Args, Debug)]
pub(crate) struct CtestRunArgs {
    /// What to run: a file that tamis wrote
    plan: PathBuf,
}

/// Become a test, of which it is told apart what it uses.
#[derive(Args, Debug)]
pub(crate) struct CtestTestArgs {
    /// The folder for marks
    marks: PathBuf,
    /// The mark
    name: String,
    /// The program and its arguments
    #[arg(last = true)]
    argv: Vec<OsString>,
}

/// Build with CMake.
#[derive(Args, Debug)]
pub(crate) struct CtestBuildArgs {
    /// The folder to build in
    folder: PathBuf,
    /// The folder of the sources
    project: PathBuf,
    /// The configuration to build
    #[arg(long)]
    configuration: Option<OsString>,
    /// How many programs are compiled at a time
    #[arg(long)]
    parallel: Option<usize>,
}

pub(crate) fn run(args: &CtestRunArgs, report: &Report) -> Result<Exit, Error> {
    listen_to_interrupts();
    let mut tell = |why| report.warning(format!("nothing is recorded: {why}"));
    let status = runners::run_ctest(&args.plan, &mut stdout(), &mut tell)?;
    Ok(Exit(status as u8))
}

pub(crate) fn test(args: &CtestTestArgs) -> Result<Exit, Error> {
    runners::become_test(&args.marks, &args.name, &args.argv)?;
    Ok(Exit::DONE)
}

pub(crate) fn build(args: &CtestBuildArgs) -> Result<Exit, Error> {
    let CtestBuildArgs {
        folder,
        project,
        configuration,
        parallel,
    } = args;
    let status = runners::build_with_cmake(folder, project, configuration.as_deref(), *parallel)?;
    Ok(Exit(status as u8))
}

//! `tamis order minimise`.

use std::path::PathBuf;

use clap::Args;

use super::detect::SearchingArgs;
use super::searching::{Searching, Told};
use super::{Around, INTERRUPTED, RunningArgs, answer, keep_one, read_order, with_tests};
use crate::cli::Globals;
use crate::error::{Error, Exit};
use crate::order::{Detect, Strategy};
use crate::pipeline::Ordering;
use crate::report::Report;

/// Find the fewest tests that change how one test ends.
///
/// Without an order it looks in the suite's own order, that order reversed, and all pairs.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    tamis order minimise tests/test_a.py::test_b\n  \
    tamis order minimise tests/test_a.py::test_b --order failing.txt\n\n\
    Exit codes: 0 such tests were found, 1 none were, 2 wrong usage or no tests, 130 interrupted.")]
pub(super) struct MinimiseArgs {
    /// The test, as its runner names it
    #[arg(value_name = "TEST")]
    test: String,
    /// A file with an order that shows it: ids of tests, one on each line
    #[arg(long, value_name = "FILE")]
    order: Option<PathBuf>,
    #[command(flatten)]
    searching: SearchingArgs,
    #[command(flatten)]
    running: RunningArgs,
}

pub(super) fn run(args: &MinimiseArgs, globals: &Globals, report: &Report) -> Result<Exit, Error> {
    let order = args.order.as_deref().map(|file| read_order(file, globals));
    let order = order.transpose()?;
    with_tests(&args.running, globals, report, |tests, around| {
        minimise(args, order.as_deref(), tests, around, report)
    })
}

fn minimise(
    args: &MinimiseArgs,
    order: Option<&[String]>,
    tests: &mut Ordering,
    around: Around<'_>,
    report: &Report,
) -> Result<Exit, Error> {
    let mut search = search(&args.test, order, &args.searching, tests)?;
    // This also tells how long the tests take.
    if tests.compare_processes()?.is_none() {
        report.note("interrupted before the tests ran once");
        return Ok(INTERRUPTED);
    }
    let mut searching = Searching::new(report);
    let is_interrupted = searching.drive(tests, &mut search)?;
    let found = search.found();
    if !is_interrupted && !found.dependent.is_empty() {
        keep_one(&search, tests, around, report)?;
    }
    let is_found = !found.dependent.is_empty();
    let told = Told::new(found, &searching, tests, !is_interrupted, report)?;
    answer(told.json(), || told.page(), report)?;
    Ok(match (is_interrupted, is_found) {
        (true, _) => INTERRUPTED,
        (false, true) => Exit::DONE,
        (false, false) => Exit::TESTS_FAILED,
    })
}

/// The search for what one test depends on.
pub(super) fn search(
    test: &str,
    order: Option<&[String]>,
    searching: &SearchingArgs,
    tests: &Ordering,
) -> Result<Detect, Error> {
    tests.known(&[test.to_owned()])?;
    let named = order.unwrap_or_default();
    tests.known(named)?;
    if order.is_some() && !named.iter().any(|one| one == test) {
        return Err(Error::usage(format!("the order does not have {test}")));
    }
    let number = |id: &String| tests.suite.find(id);
    let orders = order.map(|order| order.iter().filter_map(number).collect());
    let options = searching.options(Strategy::Auto, tests);
    let test = tests.suite.find(test);
    let test = test.ok_or_else(|| Error::bug("a known test is unknown"))?;
    Ok(Detect::of_one(
        tests.suite.clone(),
        options,
        test,
        Vec::from_iter(orders),
    ))
}

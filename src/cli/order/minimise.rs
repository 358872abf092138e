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
    #[command(flatten)]
    one: OneTestArgs,
}

/// The test, and where to look for others.
#[derive(Args, Debug)]
pub(super) struct OneTestArgs {
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

/// What was found of one test.
pub(super) struct Searched {
    pub told: Told,
    /// The fewest tests that change how it ends, unless the user interrupted the search.
    pub witness: Option<Vec<String>>,
    is_found: bool,
    is_interrupted: bool,
}

impl Searched {
    pub(super) fn exit(&self) -> Exit {
        match (self.is_interrupted, self.is_found) {
            (true, _) => INTERRUPTED,
            (false, true) => Exit::DONE,
            (false, false) => Exit::TESTS_FAILED,
        }
    }
}

impl OneTestArgs {
    /// Searches, keeps what was found, and has `tell` say it.
    pub(super) fn search(
        &self,
        (globals, report): (&Globals, &Report),
        tell: impl FnOnce(&Searched, &mut Ordering, Around<'_>) -> Result<(), Error>,
    ) -> Result<Exit, Error> {
        let order = self.order.as_deref().map(|file| read_order(file, globals));
        let order = order.transpose()?;
        with_tests(&self.running, globals, report, |tests, around| {
            let mut search = search(&self.test, order.as_deref(), &self.searching, tests)?;
            // This also tells how long the tests take.
            if tests.compare_processes()?.is_none() {
                report.note("interrupted before the tests ran once");
                return Ok(INTERRUPTED);
            }
            let mut searching = Searching::new(report);
            let is_interrupted = searching.drive(tests, &mut search)?;
            let found = search.found();
            let is_found = !found.dependent.is_empty();
            if !is_interrupted && is_found {
                keep_one(&search, tests, around, report)?;
            }
            let witness = found.dependent.first();
            let witness = witness.and_then(|one| one.witnesses.first()).cloned();
            let searched = Searched {
                told: Told::new(found, &searching, tests, !is_interrupted, report)?,
                witness: witness.filter(|_| !is_interrupted),
                is_found,
                is_interrupted,
            };
            tell(&searched, tests, around)?;
            Ok(searched.exit())
        })
    }
}

pub(super) fn run(args: &MinimiseArgs, globals: &Globals, report: &Report) -> Result<Exit, Error> {
    args.one.search((globals, report), |searched, _, _| {
        answer(searched.told.json(), || searched.told.page(), report)
    })
}

/// The search for what one test depends on.
fn search(
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

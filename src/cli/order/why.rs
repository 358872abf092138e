//! `tamis order why`.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::detect::SearchingArgs;
use super::searching::{Searching, Told};
use super::{Around, INTERRUPTED, RunningArgs, answer, keep_one, minimise, read_order, with_tests};
use crate::cli::Globals;
use crate::error::{Error, Exit};
use crate::pipeline::Ordering;
use crate::report::{Report, escape};
use crate::runners::{Cause, Place};

/// Say why one test ends otherwise after others: the line that reads, and the line that wrote.
///
/// Searches for a witness as `minimise` does, and runs it again under a trace function.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    tamis order why tests/test_a.py::test_b\n  \
    tamis order why tests/test_a.py::test_b --order failing.txt\n\n\
    Exit codes: 0 it was explained, 1 it depends on no other test as far as was seen, \
    2 wrong usage or no tests, 130 interrupted.")]
pub(super) struct WhyOrderArgs {
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

pub(super) fn run(args: &WhyOrderArgs, globals: &Globals, report: &Report) -> Result<Exit, Error> {
    let order = args.order.as_deref().map(|file| read_order(file, globals));
    let order = order.transpose()?;
    with_tests(&args.running, globals, report, |tests, around| {
        why(args, order.as_deref(), tests, around, report)
    })
}

fn why(
    args: &WhyOrderArgs,
    order: Option<&[String]>,
    tests: &mut Ordering,
    around: Around<'_>,
    report: &Report,
) -> Result<Exit, Error> {
    let mut search = minimise::search(&args.test, order, &args.searching, tests)?;
    // This also tells how long the tests take.
    if tests.compare_processes()?.is_none() {
        return Ok(INTERRUPTED);
    }
    let mut searching = Searching::new(report);
    let is_interrupted = searching.drive(tests, &mut search)?;
    let found = search.found();
    if !is_interrupted && !found.dependent.is_empty() {
        keep_one(&search, tests, around, report)?;
    }
    let witness = found.dependent.first();
    let witness = witness.and_then(|one| one.witnesses.first()).cloned();
    let told = Told::new(found, &searching, tests, !is_interrupted, report)?;
    let cause = match (&witness, is_interrupted) {
        (Some(witness), false) => tests.explain(witness, around.place())?,
        _ => None,
    };
    let document = told.json().map(|mut document| {
        document["cause"] = json!(cause);
        document
    });
    answer(document, || page(&told, cause.as_ref()), report)?;
    Ok(match (is_interrupted, witness) {
        (true, _) => INTERRUPTED,
        (false, Some(_)) => Exit::DONE,
        (false, None) => Exit::TESTS_FAILED,
    })
}

fn page(told: &Told, cause: Option<&Cause>) -> String {
    let mut page = told.page();
    let Some(cause) = cause else {
        return page;
    };
    page.push('\n');
    match &cause.read {
        Some(read) => page.push_str(&format!("read   {}\n", place(read))),
        None => {
            page.push_str("read   no line of the project reads it: both ways have the same lines\n")
        }
    }
    for write in &cause.writes {
        let mut stack = write.stack.iter();
        let Some(first) = stack.next() else {
            continue;
        };
        page.push_str(&format!("wrote  {}\n", place(first)));
        for caller in stack {
            page.push_str(&format!("       called at {}\n", place(caller)));
        }
        let (cell, before) = (escape::line(&write.cell), escape::line(&write.before));
        page.push_str(&match write.before == write.after {
            true => format!("       {cell}: what this {before} holds\n"),
            false => format!(
                "       {cell}: {before} became {}\n",
                escape::line(&write.after)
            ),
        });
    }
    if cause.writes.is_empty() {
        page.push_str("wrote  not found: no state that tamis sees was changed\n");
    }
    page
}

fn place(place: &Place) -> String {
    let Place {
        file,
        line,
        function,
        text,
    } = place;
    let at = format!("{file}:{line} in {function}: {text}");
    escape::line(&at).into_owned()
}

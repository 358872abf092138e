//! `tamis order run`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::{INTERRUPTED, RunningArgs, how_word, ran_json, read_order, with_tests};
use crate::cli::Globals;
use crate::count::counted;
use crate::error::{Error, Exit};
use crate::matrix::Outcome;
use crate::order::{Process, Step};
use crate::pipeline::Ordering;
use crate::report::{Report, escape};
use crate::runners::Ran;

/// Run tests in the order that a file gives.
///
/// Nothing is recorded.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    tamis order run --list > order.txt      the tests in their own order\n  \
    tamis order run order.txt               run them in the order of the file\n  \
    tamis order run - -- pytest -q tests/   from standard input, with this command\n\n\
    Exit codes: 0 all passed, 1 tests failed, 2 wrong usage or no tests, 130 interrupted.")]
pub(super) struct RunOrderArgs {
    /// Ids of tests, one on each line; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present = "list")]
    file: Option<PathBuf>,
    /// Only print the ids of all tests in their own order
    #[arg(long, conflicts_with = "file")]
    list: bool,
    /// Fork the process that collected the tests instead of starting a new one
    #[arg(long)]
    fork: bool,
    #[command(flatten)]
    running: RunningArgs,
}

pub(super) fn run(args: &RunOrderArgs, globals: &Globals, report: &Report) -> Result<Exit, Error> {
    // Before anything is started.
    let order = args.file.as_deref().map(|file| read_order(file, globals));
    let order = order.transpose()?;
    with_tests(&args.running, globals, report, |tests, _| match order {
        Some(order) => run_order(args.fork, order, tests, report),
        None => list(tests, report),
    })
}

fn list(tests: &Ordering, report: &Report) -> Result<Exit, Error> {
    let ids = tests.suite.ids();
    match report.is_json() {
        true => report.json(&json!({ "schema": 1, "tests": ids }))?,
        false => report.data(&ids.iter().map(|id| format!("{id}\n")).collect::<String>())?,
    }
    Ok(Exit::DONE)
}

fn run_order(
    fork: bool,
    order: Vec<String>,
    tests: &mut Ordering,
    report: &Report,
) -> Result<Exit, Error> {
    tests.known(&order)?;
    let process = match fork {
        true => Process::Forked,
        false => Process::Fresh,
    };
    let step = Step { order, process };
    let Some(ran) = tests.run(&step)? else {
        report.note("interrupted");
        return Ok(INTERRUPTED);
    };
    match report.is_json() {
        true => {
            let mut document = ran_json(&ran);
            document["schema"] = 1.into();
            document["order"] = json!(step.order);
            report.json(&document)?;
        }
        false => report.data(&page(&step.order, &ran))?,
    }
    let all_good = ran.ended.lost.is_none() && ran.ended.outcomes.values().all(|one| one.is_good());
    Ok(match all_good {
        true => Exit::DONE,
        false => Exit::TESTS_FAILED,
    })
}

/// What did not pass, and how many did what.
fn page(order: &[String], ran: &Ran) -> String {
    let mut page = String::new();
    let mut counts: BTreeMap<Outcome, usize> = BTreeMap::new();
    let lost = ran.ended.lost.as_ref();
    for test in order {
        let word = match (ran.ended.outcomes.get(test), lost) {
            (Some(outcome), _) => {
                *counts.entry(*outcome).or_default() += 1;
                if *outcome == Outcome::Passed {
                    continue;
                }
                outcome.word()
            }
            (None, Some(lost)) if lost.test == *test => how_word(lost.how),
            (None, _) => "not run",
        };
        let said = ran
            .said
            .get(test)
            .map(|said| format!(": {}", escape::line(said)));
        let said = said.unwrap_or_default();
        page.push_str(&format!("{word:<10}{}{said}\n", escape::line(test)));
    }
    let mut parts: Vec<String> = counts
        .iter()
        .map(|(outcome, count)| format!("{count} {}", outcome.word()))
        .collect();
    parts.extend(lost.map(|lost| format!("1 {}", how_word(lost.how))));
    let tests = counted(order.len(), "test");
    page.push_str(&format!("{tests} in this order: {}\n", parts.join(", ")));
    page
}

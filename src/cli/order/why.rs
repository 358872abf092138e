//! `tamis order why`.

use clap::Args;
use serde_json::json;

use super::answer;
use super::minimise::OneTestArgs;
use super::searching::Told;
use crate::cli::Globals;
use crate::error::{Error, Exit};
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
    #[command(flatten)]
    one: OneTestArgs,
}

pub(super) fn run(args: &WhyOrderArgs, globals: &Globals, report: &Report) -> Result<Exit, Error> {
    args.one
        .search((globals, report), |searched, tests, around| {
            let told = &searched.told;
            let cause = match &searched.witness {
                Some(witness) => tests.explain(witness, around.place())?,
                None => None,
            };
            let document = told.json().map(|mut document| {
                document["cause"] = json!(cause);
                document
            });
            answer(document, || page(told, cause.as_ref()), report)
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

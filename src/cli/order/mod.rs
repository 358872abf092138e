//! `tamis order`: tests that depend on one another.

mod detect;
mod graph;
mod minimise;
mod refine;
mod run;
mod schedule;
mod searching;
mod why;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{Globals, exchange, suites};
use crate::config::Overrides;
use crate::count::counted;
use crate::error::{Error, Exit, Explain};
use crate::order::{Dependences, Detect, Detected, Ended, How};
use crate::pipeline::{Ordering, Project, Remembered, Workshop, open};
use crate::report::{Event, Report};
use crate::runners::Ran;
use crate::store::Trouble;

/// The status of a search that the user interrupted, as shells have it.
pub(super) const INTERRUPTED: Exit = Exit(130);

/// Find, explain and run tests in other orders than their own.
///
/// For pytest, and for JUnit under Maven.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    tamis order detect                            tests that depend on those before them\n  \
    tamis order minimise tests/test_a.py::test_b  the fewest tests that change how one ends\n  \
    tamis order why tests/test_a.py::test_b       the lines that write and read\n  \
    tamis order refine                            which data dependences matter\n  \
    tamis order graph --out graph.html            a page with all that is known\n  \
    tamis order schedule --workers 4 --run        several workers, each test as before\n  \
    tamis order run order.txt                     run tests in the order of a file")]
pub(crate) struct OrderArgs {
    #[command(subcommand)]
    command: OrderCommand,
}

#[derive(Debug, Subcommand)]
enum OrderCommand {
    Detect(detect::DetectArgs),
    Graph(graph::GraphArgs),
    Minimise(minimise::MinimiseArgs),
    Refine(refine::RefineArgs),
    Run(run::RunOrderArgs),
    Schedule(schedule::ScheduleArgs),
    Why(why::WhyOrderArgs),
}

pub(crate) fn run(args: &OrderArgs, globals: &Globals, report: &Report) -> Result<Exit, Error> {
    globals.enter_ci(report)?;
    match &args.command {
        OrderCommand::Detect(args) => detect::run(args, globals, report),
        OrderCommand::Minimise(args) => minimise::run(args, globals, report),
        OrderCommand::Graph(args) => graph::run(args, globals, report),
        OrderCommand::Schedule(args) => schedule::run(args, globals, report),
        OrderCommand::Refine(args) => refine::run(args, globals, report),
        OrderCommand::Why(args) => why::run(args, globals, report),
        OrderCommand::Run(args) => run::run(args, globals, report),
    }
}

/// How tests are run, as typed.
#[derive(Args, Debug)]
struct RunningArgs {
    /// What each test may take [default: 10 s and twenty times what it took before]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    test_timeout: Option<Duration>,
    /// The test command [default: the configuration's]
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
}

fn seconds(word: &str) -> Result<Duration, String> {
    let wrong = || format!("`{word}` is no number of seconds above 0");
    let seconds: f64 = word.parse().map_err(|_| wrong())?;
    let duration = Duration::try_from_secs_f64(seconds).map_err(|_| wrong())?;
    (!duration.is_zero()).then_some(duration).ok_or_else(wrong)
}

/// Where tests run.
#[derive(Clone, Copy)]
struct Around<'r> {
    project: &'r Project,
    workshop: &'r Workshop,
    /// Reads what an earlier search has left.
    recall: &'r dyn Fn() -> Result<Remembered, Error>,
}

impl<'r> Around<'r> {
    /// What is recorded, and where traces go.
    fn place(self) -> (&'r Project, &'r Workshop) {
        (self.project, self.workshop)
    }
}

/// Does `work` with the tests of the suite that is meant.
fn with_tests(
    args: &RunningArgs,
    globals: &Globals,
    report: &Report,
    work: impl FnOnce(&mut Ordering, Around<'_>) -> Result<Exit, Error>,
) -> Result<Exit, Error> {
    let globals = suites::only_one(globals, "orders are of one suite")?;
    let config = globals.config(&Overrides::default())?;
    let config = config.for_command(&args.command);
    let command = suites::command_of(&args.command, &config, report)?;
    let cwd: PathBuf = suites::folder_of_command(!args.command.is_empty(), &config, &globals);
    let project = open(&config, globals.ci.as_ref())?;
    let workshop = Workshop::set_up(&project)?;
    report.event(Event::Began {
        work: "starting the tests".to_owned(),
        total: None,
    });
    let done = Ordering::open(&project, &workshop, (&command, &cwd), args.test_timeout);
    report.event(Event::Ended);
    let done = done.and_then(|mut tests| {
        if let Some(why) = tests.is_slow() {
            report.note(format!(
                "each order needs a process of its own, which takes longer: {why}"
            ));
        }
        let recall = || {
            let remembered = Remembered::open(&project, &workshop, (&command, &cwd))?;
            tell_trouble(&remembered.trouble, report);
            Ok(remembered)
        };
        let around = Around {
            project: &project,
            workshop: &workshop,
            recall: &recall,
        };
        work(&mut tests, around)
    });
    workshop.clean_up();
    done
}

/// The ids in a file, one on each line; `-` is standard input. Empty lines and lines that
/// begin with `#` do not count.
fn read_order(file: &std::path::Path, globals: &Globals) -> Result<Vec<String>, Error> {
    let text = match file.as_os_str() == "-" {
        true => std::io::read_to_string(std::io::stdin())
            .context("cannot read the order from standard input")?,
        false => crate::disk::read_to_string(globals.folder.join(file))
            .with_context(|| format!("cannot read the order in {}", file.display()))
            .hint("write the ids of tests into it, one on each line")?,
    };
    let lines = text.lines().map(str::trim_end);
    let ids = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let ids: Vec<String> = ids.map(str::to_owned).collect();
    match ids.is_empty() {
        true => {
            let named = match file.as_os_str() == "-" {
                true => "standard input".to_owned(),
                false => file.display().to_string(),
            };
            Err(Error::usage(format!("{named} names no test"))
                .with_hint("`tamis order run --list` names all"))
        }
        false => Ok(ids),
    }
}

fn ran_json(ran: &Ran) -> Value {
    let Ended {
        outcomes,
        seconds,
        lost,
        cpu,
        ..
    } = &ran.ended;
    let outcomes: serde_json::Map<String, Value> = outcomes
        .iter()
        .map(|(test, outcome)| (test.clone(), outcome.word().into()))
        .collect();
    let lost = lost.as_ref().map(|lost| {
        json!({ "id": lost.test, "how": how_word(lost.how), "text": ran.said.get(&lost.test) })
    });
    json!({
        "outcomes": outcomes, "seconds": seconds, "messages": ran.said, "lost": lost,
        "cpu_seconds": cpu,
    })
}

fn how_word(how: How) -> &'static str {
    match how {
        How::Crashed => "crashed",
        How::TimedOut => "timed-out",
    }
}

/// What the last search knows of these tests, what of its findings still stands, and where it
/// is compared with.
///
/// # Errors
/// If there was none.
fn known_dependences(
    tests: &Ordering,
    around: Around<'_>,
    report: &Report,
) -> Result<(Dependences, Detected, Remembered), Error> {
    let remembered = (around.recall)()?;
    let Some(stored) = &remembered.known else {
        let why = "nothing is known of the order of these tests";
        return Err(Error::usage(why).with_hint("`tamis order detect` finds it out"));
    };
    let known = stored.about(&tests.suite);
    let rows = remembered.place.rows_of(&tests.suite);
    let changed = match stored.is_of(&remembered.place) {
        true => 0,
        false => known.changed(&rows).len(),
    };
    let found = match changed {
        0 => known.found.clone(),
        _ => known.standing(&rows),
    };
    if changed > 0 {
        report.note(format!(
            "{changed} of {} changed since the last search: `tamis order detect` looks at them",
            counted(tests.suite.len(), "test")
        ));
    }
    Ok((known, found, remembered))
}

fn tell_trouble(trouble: &[Trouble], report: &Report) {
    for trouble in trouble {
        report.event(Event::StoreTrouble {
            place: trouble.path.display().to_string(),
            reason: trouble.refusal.to_string(),
            consequence: "what it says of order is not used: delete it, and `tamis order detect` \
                          searches again"
                .to_owned(),
        });
    }
}

/// Keeps what is known for the next search and for selections, here and, in CI, where results
/// are shared. Without a store nothing else is lost.
fn keep(remembered: &Remembered, known: &Dependences, around: Around<'_>, report: &Report) {
    if let Err(error) = remembered.keep(known) {
        report.warning(format!("the next search starts anew: {error:#}"));
        return;
    }
    // It goes with the recorded results that are nearest.
    if let Some(results) = &remembered.results {
        exchange::share(around.project, &around.project.store(), results, report);
    }
}

/// Keeps what a search for what one test depends on has found.
///
/// # Errors
/// If git cannot be read.
fn keep_one(
    search: &Detect,
    tests: &Ordering,
    around: Around<'_>,
    report: &Report,
) -> Result<(), Error> {
    let remembered = (around.recall)()?;
    let place = &remembered.place;
    let mut known = match &remembered.known {
        Some(known) => known.about(&tests.suite),
        None => Dependences::nothing(&tests.suite, place),
    };
    known.take_in(search, place.now);
    keep(&remembered, &known, around, report);
    Ok(())
}

/// The answer of a command, in the form that is wanted.
fn answer(
    document: Result<Value, Error>,
    page: impl FnOnce() -> String,
    report: &Report,
) -> Result<(), Error> {
    match report.is_json() {
        true => report.json(&document?),
        false => report.data(&page()),
    }
}

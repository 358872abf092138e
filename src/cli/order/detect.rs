//! `tamis order detect`.

use std::time::Duration;

use clap::Args;

use super::searching::{Searching, Told};
use super::{INTERRUPTED, RunningArgs, answer, with_tests};
use crate::cli::Globals;
use crate::count::counted;
use crate::error::{Error, Exit};
use crate::order::{Budget, Data, Detect, Options, Strategy};
use crate::pipeline::{Ordering, Project, RecordedAccesses, Workshop};
use crate::report::{Event, Report};
use crate::runners::Ran;

/// Find tests whose outcome depends on the tests before them.
///
/// Runs the tests in other orders than their own, explains each outcome that changes by the
/// fewest tests that change it, and confirms that in new processes. "Found nothing" always
/// says what was covered.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    tamis order detect                            for few tests all pairs, else a part\n  \
    tamis order detect --budget 10m               no longer than that\n  \
    tamis order detect --strategy pairs -- pytest tests/unit\n\n\
    Exit codes: 0 none found, 1 dependent tests found, 2 wrong usage or no tests, 130 interrupted.")]
pub(super) struct DetectArgs {
    /// auto, reverse, random, isolate, pairs, k=N, data or cover
    #[arg(long, value_name = "STRATEGY", default_value = "auto")]
    strategy: Strategy,
    #[command(flatten)]
    searching: SearchingArgs,
    #[command(flatten)]
    running: RunningArgs,
}

/// How much is done to find something, as typed.
#[derive(Args, Debug)]
pub(super) struct SearchingArgs {
    /// End the search after this time, such as 90s, 10m or 2h
    #[arg(long, value_name = "TIME", value_parser = time)]
    budget: Option<Duration>,
    /// Start so many tests at most [default: 25 for each test, at least 2,000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    executions: Option<u32>,
    /// Where orders by chance start from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Do not confirm what is found in new processes
    #[arg(long)]
    no_fresh: bool,
}

impl SearchingArgs {
    pub(super) fn options(&self, strategy: Strategy, tests: &Ordering) -> Options {
        let usual = Budget::usual(&tests.suite);
        let executions = match (self.executions, self.budget) {
            (Some(most), _) => Some(most as usize),
            (None, Some(_)) => None,
            (None, None) => usual.executions,
        };
        Options {
            strategy,
            budget: Budget {
                executions,
                seconds: self.budget.map(|budget| budget.as_secs_f64()),
            },
            seed: self.seed,
            data: None,
            fresh: !self.no_fresh,
        }
    }
}

/// `90s`, `10m`, `2h`, `1.5h`; a bare number is seconds.
fn time(word: &str) -> Result<Duration, String> {
    let wrong = || format!("`{word}` is no time: write 90s, 10m or 2h");
    let (number, factor) = match word.strip_suffix(['s', 'm', 'h']) {
        Some(number) if word.ends_with('m') => (number, 60.0),
        Some(number) if word.ends_with('h') => (number, 3600.0),
        Some(number) => (number, 1.0),
        None => (word, 1.0),
    };
    let seconds: f64 = number.parse().map_err(|_| wrong())?;
    let time = Duration::try_from_secs_f64(seconds * factor).map_err(|_| wrong())?;
    (!time.is_zero()).then_some(time).ok_or_else(wrong)
}

pub(super) fn run(args: &DetectArgs, globals: &Globals, report: &Report) -> Result<Exit, Error> {
    if args.strategy == Strategy::Random && args.searching.budget.is_none() {
        // It would only end at the usual number of executions.
        report.detail("orders by chance go on until the budget is used up");
    }
    with_tests(&args.running, globals, report, |tests, place| {
        detect(args, tests, place, report)
    })
}

fn detect(
    args: &DetectArgs,
    tests: &mut Ordering,
    place: (&Project, &Workshop),
    report: &Report,
) -> Result<Exit, Error> {
    let mut options = args.searching.options(args.strategy, tests);
    let Some(first) = tests.compare_processes()? else {
        report.note("interrupted before the tests ran once");
        return Ok(INTERRUPTED);
    };
    tell_default(&first, tests, report);
    if matches!(
        args.strategy,
        Strategy::Auto | Strategy::Data | Strategy::Cover
    ) {
        match data(tests, place, report)? {
            Some(data) => options.data = Some(data),
            None => {
                report.note("interrupted before any other order ran");
                return Ok(INTERRUPTED);
            }
        }
    }
    let mut search = Detect::new(tests.suite.clone(), options);
    let mut searching = Searching::new(report);
    let is_interrupted = searching.drive(tests, &mut search)?;
    let found = search.found();
    if !is_interrupted && found.covered.orders < 2 {
        let seconds: f64 = first.ended.seconds.values().sum();
        let why = format!(
            "the budget ended before the tests ran twice in their own order, which takes {:.1} s and {} executions",
            2.0 * seconds,
            2 * tests.suite.len()
        );
        return Err(Error::usage(why).with_hint("give it a larger --budget or --executions"));
    }
    let told = Told::new(found, &searching, tests, !is_interrupted, report)?;
    answer(told.json(), || told.page(), report)?;
    Ok(match (is_interrupted, told.found.dependent.is_empty()) {
        (true, _) => {
            report.note("interrupted: this is what was known by then");
            INTERRUPTED
        }
        (false, true) => Exit::DONE,
        (false, false) => Exit::TESTS_FAILED,
    })
}

/// Which test reads what another one writes; `None` if the user interrupted it.
pub(super) fn data(
    tests: &mut Ordering,
    (project, workshop): (&Project, &Workshop),
    report: &Report,
) -> Result<Option<Data>, Error> {
    let work = "recording what tests read and write".to_owned();
    report.event(Event::Began { work, total: None });
    let recorded = tests.accesses(project, workshop);
    report.event(Event::Ended);
    let Some(recorded) = recorded? else {
        return Ok(None);
    };
    if let Some(lost) = &recorded.lost {
        report.note(format!(
            "{lost} ended the run that records what tests read and write: less is known of the tests behind it"
        ));
    }
    let RecordedAccesses { seconds, cpu, .. } = recorded;
    report.detail(format!(
        "recorded what tests read and write: {seconds:.1} s, {cpu:.1} s of processor time"
    ));
    Ok(Some(Data::new(&tests.suite, recorded.accesses)))
}

/// A suite whose own order has failures can have dependent tests as any other, but people
/// should know.
fn tell_default(first: &Ran, tests: &Ordering, report: &Report) {
    let bad = first
        .ended
        .outcomes
        .iter()
        .filter(|(_, one)| !one.is_good());
    let bad: Vec<&str> = bad.map(|(test, _)| test.as_str()).collect();
    if let Some(lost) = &first.ended.lost {
        let said = first.said.get(&lost.test).map_or("", String::as_str);
        let why = format!(
            "{} ended the run of all tests ({said}): the tests after it have no outcome in their own order",
            lost.test
        );
        report.warning(why);
    }
    if let Some(one) = bad.first() {
        let bad = counted(bad.len(), "test");
        report.warning(format!(
            "{bad} of {} do not pass in their own order, such as {one}",
            tests.suite.len()
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let seconds = |word| time(word).map(|time| time.as_secs_f64());
        assert_eq!(seconds("90s"), Ok(90.0));
        assert_eq!(seconds("1.5m"), Ok(90.0));
        assert_eq!(seconds("2h"), Ok(7200.0));
        assert_eq!(seconds("7"), Ok(7.0));
        for word in ["", "0", "-1s", "5d", "m", "1e400"] {
            assert!(time(word).is_err(), "{word}");
        }
    }
}

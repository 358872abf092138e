//! `tamis order detect`.

use std::collections::BTreeSet;
use std::time::Duration;

use clap::Args;

use super::searching::{Searching, Told};
use super::{Around, INTERRUPTED, RunningArgs, answer, keep, with_tests};
use crate::cli::Globals;
use crate::count::{counted, verb};
use crate::error::{Error, Exit};
use crate::order::{Budget, Data, Dependences, Detect, Options, Spent, Strategy, Test};
use crate::pipeline::{Ordering, RecordedAccesses, Remembered};
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
    tamis order detect --anew                     also tests that have not changed\n  \
    tamis order detect --strategy pairs -- pytest tests/unit\n\n\
    Exit codes: 0 none found, 1 dependent tests found, 2 wrong usage or no tests, 130 interrupted.")]
pub(super) struct DetectArgs {
    /// auto, reverse, random, isolate, pairs, k=N, data or cover
    #[arg(long, value_name = "STRATEGY", default_value = "auto")]
    strategy: Strategy,
    /// Search all tests, whatever earlier searches know of them
    #[arg(long)]
    anew: bool,
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
    with_tests(&args.running, globals, report, |tests, around| {
        detect(args, tests, around, report)
    })
}

/// What is known of the tests from an earlier search, and which of them are to be searched:
/// those that have changed since, or all if that search did not cover what is wanted now.
fn earlier(
    args: &DetectArgs,
    tests: &Ordering,
    remembered: &Remembered,
) -> Option<(Dependences, BTreeSet<Test>)> {
    let stored = remembered.known.as_ref().filter(|_| !args.anew)?;
    let known = stored.about(&tests.suite);
    let number = |id: &str| tests.suite.find(id);
    let place = &remembered.place;
    let changed: BTreeSet<Test> = match stored.is_of(place) {
        true => {
            let before: BTreeSet<&str> = stored.tests.iter().map(|one| &*one.id).collect();
            let ids = tests.suite.ids().iter().map(String::as_str);
            ids.filter(|id| !before.contains(id))
                .filter_map(number)
                .collect()
        }
        false => {
            let changed = known.changed(&place.rows_of(&tests.suite));
            changed.into_iter().filter_map(number).collect()
        }
    };
    let covered = &known.found.covered;
    let has_budget = args.searching.budget.is_some() || args.searching.executions.is_some();
    let parts = args.strategy.parts(tests.sees_accesses());
    let was_done = parts.iter().all(|part| covered.strategies.contains(part));
    // A search that its usual budget ended would end there again.
    let is_enough = was_done || covered.cut_short && !covered.interrupted && !has_budget;
    let all = || (0..tests.suite.len() as Test).collect();
    let is_confirmed =
        args.searching.no_fresh || known.found.dependent.iter().all(|one| one.confirmed.fresh);
    Some(match is_enough && is_confirmed {
        true => (known, changed),
        false => (known, all()),
    })
}

fn detect(
    args: &DetectArgs,
    tests: &mut Ordering,
    around: Around<'_>,
    report: &Report,
) -> Result<Exit, Error> {
    let remembered = &(around.recall)()?;
    let earlier = earlier(args, tests, remembered);
    if let Some((known, changed)) = &earlier
        && changed.is_empty()
    {
        report.note("no test has changed since the last search: `--anew` searches all the same");
        return tell_known(known, tests, (remembered, around), report);
    }
    if !tests.sees_accesses() && matches!(args.strategy, Strategy::Data | Strategy::Cover) {
        let why = format!(
            "--strategy {} needs to know what tests read and write, which is seen with pytest only",
            args.strategy
        );
        return Err(Error::usage(why).with_hint("`auto`, `pairs` and the others do not"));
    }
    let mut options = args.searching.options(args.strategy, tests);
    if tests.is_recorded(&remembered.run) {
        report.detail("the last recorded run is of these tests: it need not be run again");
    }
    let Some(first) = tests.compare_processes()? else {
        report.note("interrupted before the tests ran once");
        return Ok(INTERRUPTED);
    };
    tell_default(&first, tests, report);
    let mut before = Spent::default();
    let wants_data = matches!(
        args.strategy,
        Strategy::Auto | Strategy::Data | Strategy::Cover
    );
    if wants_data && tests.sees_accesses() {
        match data(tests, around, report)? {
            Some((data, spent)) => (options.data, before) = (Some(data), spent),
            None => {
                report.note("interrupted before any other order ran");
                return Ok(INTERRUPTED);
            }
        }
    }
    let stored = options.data.as_ref().map(Data::stored);
    let mut search = Detect::new(tests.suite.clone(), options);
    search.charge(before);
    let mut searching = Searching::new(report);
    if let Some((known, changed)) = &earlier {
        if changed.len() < tests.suite.len() {
            report.note(format!(
                "{} of {} changed since the last search: only these are searched",
                changed.len(),
                counted(tests.suite.len(), "test")
            ));
        }
        search.resume(known, changed);
        searching.remember(known);
    }
    let is_interrupted = searching.drive(tests, &mut search)?;
    let found = search.found();
    let least = before.orders + 2;
    if !is_interrupted && found.covered.orders < least {
        let seconds: f64 = first.ended.seconds.values().sum();
        let why = format!(
            "the budget ended before the tests ran twice in their own order; to get there takes {:.2} s and {} executions",
            least as f64 * seconds,
            least * tests.suite.len()
        );
        return Err(Error::usage(why).with_hint("give it a larger --budget or --executions"));
    }
    let place = &remembered.place;
    let mut known = Dependences::nothing(&tests.suite, place);
    if let Some((before, _)) = earlier {
        known.keep_unforked(&before);
        (known.cells, known.data) = (before.cells, before.data);
    }
    if let Some(before) = &remembered.known {
        known.created = before.created;
    }
    if let Some(stored) = stored {
        (known.cells, known.data) = stored;
    }
    known.take_in(&search, place.now);
    keep(remembered, &known, around, report);
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

/// Tells what an earlier search found, where nothing has changed since.
fn tell_known(
    known: &Dependences,
    tests: &mut Ordering,
    (remembered, around): (&Remembered, Around<'_>),
    report: &Report,
) -> Result<Exit, Error> {
    let mut searching = Searching::new(report);
    searching.remember(known);
    // At this state, or with these rows: what held then holds from here on.
    let mut renewed = Dependences::nothing(&tests.suite, &remembered.place);
    if !known.is_of(&remembered.place) || renewed.has_more_rows_than(known) {
        renewed = known.at(&remembered.place, &tests.suite);
        keep(remembered, &renewed, around, report);
    }
    let mut found = known.found.clone();
    let covered = &mut found.covered;
    (covered.orders, covered.executions, covered.cpu_seconds) = (0, 0, 0.0);
    let told = Told::new(found, &searching, tests, true, report)?;
    answer(told.json(), || told.page(), report)?;
    Ok(match told.found.dependent.is_empty() {
        true => Exit::DONE,
        false => Exit::TESTS_FAILED,
    })
}

/// Which test reads what another one writes, and what it took to see that; `None` if the user interrupted it.
pub(super) fn data(
    tests: &mut Ordering,
    around: Around<'_>,
    report: &Report,
) -> Result<Option<(Data, Spent)>, Error> {
    let work = "recording what tests read and write".to_owned();
    report.event(Event::Began { work, total: None });
    let recorded = tests.accesses(around.place());
    report.event(Event::Ended);
    let Some(recorded) = recorded? else {
        return Ok(None);
    };
    if let Some(lost) = &recorded.lost {
        report.note(format!(
            "{lost} ended the run that records what tests read and write: less is known of the tests behind it"
        ));
    }
    let RecordedAccesses {
        accesses, spent, ..
    } = recorded;
    report.detail(format!(
        "recorded what tests read and write: {:.1} s, {:.1} s of processor time",
        spent.elapsed, spent.cpu
    ));
    Ok(Some((Data::new(&tests.suite, accesses), spent)))
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
        let (count, do_not) = (bad.len(), verb(bad.len(), "does not", "do not"));
        report.warning(format!(
            "{count} of {} {do_not} pass in the suite's own order, such as {one}",
            counted(tests.suite.len(), "test")
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

//! `tamis order schedule`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use super::{Around, INTERRUPTED, RunningArgs, known_dependences, with_tests};
use crate::cli::Globals;
use crate::count::counted;
use crate::error::{Error, Exit, Explain};
use crate::matrix::Outcome;
use crate::order::{Dependences, Manifest, Policy, Schedule, Test, schedule};
use crate::pipeline::{Ordering, Remembered};
use crate::report::{Event, Report, escape};
use crate::runners::Ran;

/// Spread the tests over workers so that each ends as in the full run.
///
/// Keeps the dependences that the last search found.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    tamis order schedule --workers 4                       what each would run\n  \
    tamis order schedule --workers 4 --out lists           a file for each, for `tamis order run`\n  \
    tamis order schedule --workers 4 --policy greedy --run\n\n\
    Exit codes: 0 done or all tests passed, 1 tests failed, 2 wrong usage, no tests, or no search \
    was done yet, 130 interrupted.")]
pub(super) struct ScheduleArgs {
    /// How many run at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    workers: u16,
    /// chains, greedy, speculative or likely-failures
    #[arg(long, value_name = "POLICY", default_value = "greedy")]
    policy: Policy,
    /// Run it on this machine, each worker in a process of its own
    #[arg(long)]
    run: bool,
    /// Write the order of each worker into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    running: RunningArgs,
}

pub(super) fn run(args: &ScheduleArgs, globals: &Globals, report: &Report) -> Result<Exit, Error> {
    with_tests(&args.running, globals, report, |tests, around| {
        let planned = planned(args, tests, around, report)?;
        if let Some(folder) = &args.out {
            write(&planned.schedule, &globals.folder.join(folder), report)?;
        }
        match args.run {
            true => run_it(&planned, tests, around, report),
            false => {
                tell(&planned, None, report)?;
                Ok(Exit::DONE)
            }
        }
    })
}

/// A schedule, and what it is compared with.
struct Planned {
    policy: Policy,
    schedule: Schedule,
    known: Dependences,
    /// Seconds of all tests, one after another.
    serial: f64,
}

fn planned(
    args: &ScheduleArgs,
    tests: &Ordering,
    around: Around<'_>,
    report: &Report,
) -> Result<Planned, Error> {
    let (known, found, remembered) = known_dependences(tests, around, report)?;
    let seconds: Vec<f64> = known.tests.iter().map(|test| test.seconds).collect();
    let serial = seconds.iter().sum();
    let manifest = Manifest::new(&tests.suite, &found, seconds);
    let likely = likely(&known, &remembered);
    let workers = usize::from(args.workers);
    Ok(Planned {
        policy: args.policy,
        schedule: schedule(&tests.suite, &manifest, workers, args.policy, &likely),
        known,
        serial,
    })
}

/// Tests that are likely to fail: those that failed, then those that a change may have broken,
/// as no recorded result proves that they pass.
fn likely(known: &Dependences, remembered: &Remembered) -> Vec<Test> {
    let rows = &remembered.place.rows;
    let rank = |test: Test| {
        let tested = &known.tests[test as usize];
        match tested.reference.is_some_and(|outcome| !outcome.is_good()) {
            true => Some(0),
            false if !rows.is_empty() && !rows.contains_key(&tested.id) => Some(1),
            false => None,
        }
    };
    let mut likely: Vec<Test> = (0..known.tests.len() as Test).collect();
    likely.retain(|test| rank(*test).is_some());
    likely.sort_by_key(|test| rank(*test));
    likely
}

fn write(schedule: &Schedule, folder: &std::path::Path, report: &Report) -> Result<(), Error> {
    let hint = "name a folder that can be written";
    fs_err::create_dir_all(folder)
        .map_err(anyhow::Error::from)
        .hint(hint)?;
    for (at, order) in schedule.workers.iter().enumerate() {
        let file = folder.join(format!("worker-{}.txt", at + 1));
        let text: String = order.iter().map(|id| format!("{id}\n")).collect();
        crate::disk::write(&file, text)
            .map_err(anyhow::Error::from)
            .hint(hint)?;
    }
    let files = counted(schedule.workers.len(), "file");
    report.note(format!("wrote {files} into {}", folder.display()));
    Ok(())
}

/// How the tests of a schedule ended.
struct Done {
    outcomes: BTreeMap<String, Outcome>,
    /// Of the longest worker, its start included.
    seconds: f64,
    /// Tests that were run again, behind their setters.
    again: Vec<String>,
    /// Tests that ended otherwise than in the full run.
    different: Vec<String>,
}

fn run_it(
    planned: &Planned,
    tests: &mut Ordering,
    around: Around<'_>,
    report: &Report,
) -> Result<Exit, Error> {
    let work = format!(
        "running on {}",
        counted(planned.schedule.workers.len(), "worker")
    );
    report.event(Event::Began { work, total: None });
    let ran = tests.run_at_once(&planned.schedule.workers, around.place());
    report.event(Event::Ended);
    let Some(ran) = ran? else {
        report.note("interrupted");
        return Ok(INTERRUPTED);
    };
    let mut done = Done {
        outcomes: BTreeMap::new(),
        seconds: longest(&ran),
        again: Vec::new(),
        different: Vec::new(),
    };
    ran.iter().for_each(|ran| done.take(ran));
    let again = planned.schedule.again.iter();
    let differs = |order: &&Vec<String>| {
        let last = order.last();
        last.is_some_and(|test| planned.reference(test) != done.outcomes.get(test).copied())
    };
    let again: Vec<Vec<String>> = again.filter(differs).cloned().collect();
    if !again.is_empty() {
        let Some(ran) = tests.run_at_once(&again, around.place())? else {
            return Ok(INTERRUPTED);
        };
        done.seconds += longest(&ran);
        for (order, ran) in again.iter().zip(&ran) {
            if let Some((test, outcome)) = order
                .last()
                .and_then(|test| Some((test, ran.ended.outcomes.get(test)?)))
            {
                done.outcomes.insert(test.clone(), *outcome);
                done.again.push(test.clone());
            }
        }
    }
    let all = planned.known.tests.iter().map(|test| &test.id);
    let other = all.filter(|id| planned.reference(id) != done.outcomes.get(*id).copied());
    done.different = other.cloned().collect();
    tell(planned, Some(&done), report)?;
    let ended = |test: &String| done.outcomes.get(test).is_some_and(|one| one.is_good());
    Ok(match tests.suite.ids().iter().all(ended) {
        true => Exit::DONE,
        false => Exit::TESTS_FAILED,
    })
}

fn longest(ran: &[Ran]) -> f64 {
    ran.iter().map(|ran| ran.ended.elapsed).fold(0.0, f64::max)
}

impl Done {
    /// A test that ran on several workers ended well if it did on each.
    fn take(&mut self, ran: &Ran) {
        for (test, outcome) in &ran.ended.outcomes {
            let known = self.outcomes.entry(test.clone()).or_insert(*outcome);
            if !outcome.is_good() {
                *known = *outcome;
            }
        }
        if let Some(lost) = &ran.ended.lost {
            self.outcomes.insert(lost.test.clone(), Outcome::Crashed);
        }
    }
}

impl Planned {
    /// How a test ends in the full run.
    fn reference(&self, test: &str) -> Option<Outcome> {
        let known = self.known.tests.iter().find(|one| one.id == test);
        known.and_then(|one| one.reference)
    }
}

fn tell(planned: &Planned, done: Option<&Done>, report: &Report) -> Result<(), Error> {
    match report.is_json() {
        true => report.json(&document(planned, done)),
        false => report.data(&page(planned, done)),
    }
}

fn document(planned: &Planned, done: Option<&Done>) -> Value {
    let Schedule {
        workers,
        seconds,
        repeated,
        again,
    } = &planned.schedule;
    let ran = done.map(|done| {
        let outcomes = done
            .outcomes
            .iter()
            .map(|(test, one)| (test.clone(), one.word().into()));
        let outcomes: serde_json::Map<String, Value> = outcomes.collect();
        json!({
            "outcomes": outcomes, "seconds": done.seconds, "again": done.again,
            "different": done.different,
        })
    });
    json!({
        "schema": 1, "policy": planned.policy.to_string(), "workers": workers,
        "seconds": seconds, "serial_seconds": planned.serial, "repeated": repeated,
        "again": again, "ran": ran,
    })
}

fn page(planned: &Planned, done: Option<&Done>) -> String {
    let schedule = &planned.schedule;
    let mut page = String::new();
    let seconds: BTreeMap<&str, f64> = { planned.known.tests.iter() }
        .map(|test| (test.id.as_str(), test.seconds))
        .collect();
    for (at, order) in schedule.workers.iter().enumerate() {
        let taken = order.iter().filter_map(|id| seconds.get(id.as_str()));
        let taken = taken.fold(0.0, |sum, one| sum + one);
        let tests = counted(order.len(), "test");
        page.push_str(&format!("worker {:<4} {tests}, {taken:.2} s\n", at + 1));
        if done.is_none() {
            for id in order {
                page.push_str(&format!("  {}\n", escape::line(id)));
            }
        }
    }
    page.push_str(&format!(
        "{}: {:.2} s in place of {:.2} s, {} repeated\n",
        planned.policy,
        schedule.seconds,
        planned.serial,
        counted(schedule.repeated, "test")
    ));
    if done.is_none() && !schedule.again.is_empty() {
        page.push_str(&format!(
            "{} may have to run again behind what they need\n",
            counted(schedule.again.len(), "test")
        ));
    }
    let Some(done) = done else {
        return page;
    };
    for test in &done.different {
        let word = done.outcomes.get(test).map_or("not run", |one| one.word());
        let before = planned.reference(test).map_or("not run", Outcome::word);
        page.push_str(&format!(
            "{word:<9} {} ({before} in the full run)\n",
            escape::line(test)
        ));
    }
    let good = done.outcomes.values().filter(|one| one.is_good()).count();
    page.push_str(&format!(
        "ran in {:.2} s: {good} of {} ended well, {} again behind what it needs\n",
        done.seconds,
        counted(done.outcomes.len(), "test"),
        done.again.len()
    ));
    page
}

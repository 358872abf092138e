//! `tamis order refine`.

use std::collections::BTreeMap;
use std::time::Instant;

use clap::Args;
use serde::Serialize;
use serde_json::json;

use super::detect::{self, SearchingArgs};
use super::{Around, INTERRUPTED, RunningArgs, answer, with_tests};
use crate::cli::Globals;
use crate::count::counted;
use crate::error::{Error, Exit};
use crate::order::{Data, Detect, EdgeKind, Refined, Strategy};
use crate::pipeline::Ordering;
use crate::report::{Event, Report, escape};

/// Find out which data dependences change how tests end.
///
/// Runs the suite twice to see which test reads or overwrites what an earlier one wrote. Then
/// it inverts these dependences, one at a time, and keeps all others.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    tamis order refine\n  \
    tamis order refine --budget 10m --json\n\n\
    Exit codes: 0 none is manifest, 1 some are, 2 wrong usage or no tests, 130 interrupted.")]
pub(super) struct RefineArgs {
    #[command(flatten)]
    searching: SearchingArgs,
    #[command(flatten)]
    running: RunningArgs,
}

/// A data dependence, and what became of it.
#[derive(Debug, Serialize)]
struct Judged {
    later: String,
    earlier: String,
    cells: Vec<String>,
    kinds: Vec<EdgeKind>,
    verdict: Refined,
}

pub(super) fn run(args: &RefineArgs, globals: &Globals, report: &Report) -> Result<Exit, Error> {
    with_tests(&args.running, globals, report, |tests, around| {
        refine(args, tests, around, report)
    })
}

fn refine(
    args: &RefineArgs,
    tests: &mut Ordering,
    around: Around<'_>,
    report: &Report,
) -> Result<Exit, Error> {
    let interrupted = || {
        report.note("interrupted before a dependence was inverted");
        Ok(INTERRUPTED)
    };
    if tests.compare_processes()?.is_none() {
        return interrupted();
    }
    let Some((data, spent)) = detect::data(tests, around, report)? else {
        return interrupted();
    };
    let mut options = args.searching.options(Strategy::Data, tests);
    options.data = Some(data.clone());
    let mut search = Detect::refine(tests.suite.clone(), options);
    search.charge(spent);
    let is_interrupted = drive(tests, &mut search, report)?;
    let judged = judged(tests, &search, &data);
    let covered = search.found().covered;
    let manifest = judged.iter().any(|one| one.verdict == Refined::Manifest);
    let document = json!({
        "schema": 1, "tests": tests.suite.len(), "edges": judged,
        "covered": serde_json::to_value(&covered).map_err(anyhow::Error::from)?,
    });
    let spent = format!(
        "took {}, {} and {:.1} s of processor time\n",
        counted(covered.orders, "order"),
        counted(covered.executions, "execution"),
        covered.cpu_seconds
    );
    answer(Ok(document), || format!("{}{spent}", page(&judged)), report)?;
    Ok(match (is_interrupted, manifest) {
        (true, _) => INTERRUPTED,
        (false, true) => Exit::TESTS_FAILED,
        (false, false) => Exit::DONE,
    })
}

/// Runs it to its end, and says how much is left; whether the user interrupted it.
fn drive(tests: &mut Ordering, search: &mut Detect, report: &Report) -> Result<bool, Error> {
    let since = Instant::now();
    let (mut total, mut told) = (None, 0);
    let done = tests.drive(search, &mut |search, _, _| {
        let edges = search.refined();
        let done = edges.iter().filter(|(_, _, is)| *is != Refined::Untested);
        let (done, all) = (done.count() as u64, edges.len() as u64);
        if total.is_none() {
            total = Some(all);
            let work = format!("inverting {}", counted(all, "data dependence"));
            report.event(Event::Began { work, total });
        }
        report.event(Event::Advanced { done });
        // A tenth more is worth a line.
        if done >= told + (all / 10).max(1) {
            told = done;
            let left = since.elapsed().as_secs_f64() / done as f64 * (all - done) as f64;
            report.detail(format!("{done} of {all} done, about {left:.0} s left"));
        }
    });
    report.event(Event::Ended);
    if matches!(done, Ok(true)) {
        search.stop();
    }
    done
}

fn judged(tests: &Ordering, search: &Detect, data: &Data) -> Vec<Judged> {
    let mut about: BTreeMap<_, (Vec<String>, Vec<EdgeKind>)> = BTreeMap::new();
    for edge in data.edges() {
        let (cells, kinds) = about.entry((edge.later, edge.earlier)).or_default();
        if !cells.contains(&edge.cell) {
            cells.push(edge.cell);
        }
        if !kinds.contains(&edge.kind) {
            kinds.push(edge.kind);
        }
    }
    let edges = search.refined().into_iter();
    let judged = edges.map(|(later, earlier, verdict)| {
        let (cells, kinds) = about.remove(&(later, earlier)).unwrap_or_default();
        let [later, earlier] = [later, earlier].map(|test| tests.suite.id(test).to_owned());
        Judged {
            later,
            earlier,
            cells,
            kinds,
            verdict,
        }
    });
    judged.collect()
}

fn page(judged: &[Judged]) -> String {
    let mut page = String::new();
    for one in judged.iter().filter(|one| one.verdict == Refined::Manifest) {
        page.push_str(&format!(
            "manifest {}\n         after {}, by way of {}\n",
            escape::line(&one.later),
            escape::line(&one.earlier),
            escape::line(&one.cells.join(", "))
        ));
    }
    let count = |is: Refined| judged.iter().filter(|one| one.verdict == is).count();
    page.push_str(&format!(
        "{}: {} manifest, {} benign, {} that no order inverts alone\n",
        counted(judged.len(), "data dependence"),
        count(Refined::Manifest),
        count(Refined::Benign),
        count(Refined::Untested)
    ));
    page
}

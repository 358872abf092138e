//! Verification: nothing is offered that was not seen to be as before.

use std::collections::{BTreeMap, BTreeSet};

use super::Place;
use super::draft::Draft;
use super::found::{Check, Verified};
use crate::error::Error;
use crate::matrix::Outcome;
use crate::minimise::{SourceText, TestText};
use crate::order::{Process, Step};
use crate::runners::{self, Coverage, Observer, Ran, Watch};

/// What a test may take in these orders.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(600);

/// Where the order by chance starts.
const SEED: u64 = 23;

/// What was seen of the proposal that is left.
pub(super) struct Proof {
    pub(super) verified: Verified,
    /// The new suite in its own order; `None` if nothing is proposed.
    pub(super) after: Option<Ran>,
    pub(super) sources: BTreeMap<usize, SourceText>,
}

/// Runs the proposal, and takes back of it what is not as before, until all that is left is;
/// `None` if the user interrupted it.
pub(super) fn prove(
    place: &Place<'_>,
    observer: &dyn Observer,
    draft: &mut Draft<'_>,
    (befores, covered): ([&Ran; 2], &Coverage),
) -> Result<Option<Proof>, Error> {
    let tell = place.minimising.tell;
    loop {
        if draft.proposed.is_empty() {
            return Ok(Some(nothing_left()));
        }
        tell("watching the new tests");
        let sources = draft.sources(observer)?;
        let texts = texts(draft, &sources);
        let Some(seen) = observer.observe(&Watch {
            tests: texts,
            deep: true,
        })?
        else {
            return Ok(None);
        };
        let reasons: Vec<Option<String>> = draft
            .proposed
            .iter()
            .map(|one| draft.against(one, &sources, &seen))
            .collect();
        if drop_by(draft, reasons)? {
            continue;
        }
        tell("running the new tests as they are, in other orders, and alone");
        let Some(ran) = observer.observe(&Watch::default())? else {
            return Ok(None);
        };
        let others = not_as_before(draft, befores, &ran.ran);
        if !others.is_empty() {
            let why = format!("another test ends otherwise: {}", others[0]);
            draft.drop_where(|_| Some(why.clone()))?;
            continue;
        }
        let Some(bad) = in_orders(place, draft)? else {
            return Ok(None);
        };
        if draft.drop_where(|one| bad.get(&one.id).cloned())? {
            continue;
        }
        tell("measuring coverage");
        let Some(now) = observer.cover()? else {
            return Ok(None);
        };
        let (line, branch) = compare(covered, &now);
        if line == Check::Different || branch == Check::Different {
            let why = "the new suite covers other lines or branches".to_owned();
            draft.drop_where(|_| Some(why.clone()))?;
            continue;
        }
        return Ok(Some(Proof {
            verified: Verified {
                assertions: Check::Equal,
                pmc: Check::Equal,
                line,
                branch,
                mutants: Check::NotRun("tamis does not run mutants yet".to_owned()),
                orders: Check::Equal,
            },
            after: Some(ran.ran),
            sources,
        }));
    }
}

fn nothing_left() -> Proof {
    let why = || Check::NotRun("nothing is proposed".to_owned());
    Proof {
        verified: Verified {
            assertions: why(),
            pmc: why(),
            line: why(),
            branch: why(),
            mutants: why(),
            orders: why(),
        },
        after: None,
        sources: BTreeMap::new(),
    }
}

fn drop_by(draft: &mut Draft<'_>, reasons: Vec<Option<String>>) -> Result<bool, Error> {
    let ids = draft.proposed.iter().map(|one| one.id.clone());
    let found: BTreeMap<String, String> = ids
        .zip(reasons)
        .filter_map(|(id, why)| Some((id, why?)))
        .collect();
    Ok(draft.drop_where(|one| found.get(&one.id).cloned())?)
}

/// The texts of the new tests.
fn texts<'t>(
    draft: &Draft<'_>,
    sources: &'t BTreeMap<usize, SourceText>,
) -> BTreeMap<String, &'t TestText> {
    let all = draft.proposed.iter().filter_map(|one| {
        let text = draft.text_in(one, sources)?;
        Some((one.id.clone(), text))
    });
    all.collect()
}

/// Tests that were not joined, and end otherwise than before, or are new or gone. Ids that
/// differ between runs of the suite as it was (a parameter is a time) are told by their function.
fn not_as_before(draft: &Draft<'_>, befores: [&Ran; 2], now: &Ran) -> Vec<String> {
    let joined: BTreeSet<&str> = draft.originals().collect();
    let new: BTreeSet<&str> = draft.proposed.iter().map(|one| one.id.as_str()).collect();
    let [before, again] = befores.map(|ran| &ran.ended.outcomes);
    let is_known = |id: &String| before.contains_key(id) && again.contains_key(id);
    let function = |id: &str| id.split('[').next().unwrap_or(id).to_owned();
    let all = before.keys().chain(again.keys());
    let unsteady: BTreeSet<String> = all
        .filter(|id| !is_known(id))
        .map(|id| function(id))
        .collect();
    let others = |outcomes: &BTreeMap<String, Outcome>, without: &BTreeSet<&str>| {
        let mut count: BTreeMap<(String, Outcome), usize> = BTreeMap::new();
        for (id, outcome) in outcomes
            .iter()
            .filter(|(id, _)| !without.contains(id.as_str()))
        {
            let name = match unsteady.contains(&function(id)) {
                true => function(id),
                false => id.clone(),
            };
            *count.entry((name, *outcome)).or_default() += 1;
        }
        count
    };
    let (then, ended) = (others(before, &joined), others(&now.ended.outcomes, &new));
    let changed = |one: &BTreeMap<_, usize>, other: &BTreeMap<_, usize>| -> Vec<String> {
        let all = one
            .iter()
            .filter(|(key, count)| other.get(*key) != Some(count));
        all.map(|((id, _), _): (&(String, Outcome), _)| id.clone())
            .collect()
    };
    let mut found = changed(&then, &ended);
    found.extend(changed(&ended, &then));
    let is_bad = |id: &&&str| now.ended.outcomes.get(**id) != Some(&Outcome::Passed);
    found.extend(new.iter().filter(is_bad).map(|id| (*id).to_owned()));
    found
}

/// The new tests that do not pass in one of the orders: reversed, by chance, each alone.
fn in_orders(
    place: &Place<'_>,
    draft: &Draft<'_>,
) -> Result<Option<BTreeMap<String, String>>, Error> {
    let runner = place.minimising.project.config.runner.value;
    let runner = runners::driver(runner, place.minimising.command);
    let mut orders = runner.orders(&place.ordered())?;
    let own: Vec<String> = orders.tests().to_vec();
    let mut reversed = own.clone();
    reversed.reverse();
    let mut shuffled = own;
    fastrand::Rng::with_seed(SEED).shuffle(&mut shuffled);
    let mut found = BTreeMap::new();
    let alone = draft.proposed.iter().map(|one| vec![one.id.clone()]);
    let whole = [
        ("in reversed order", reversed),
        ("in an order by chance", shuffled),
    ];
    let all = whole.into_iter().chain(alone.map(|order| ("alone", order)));
    for (name, order) in all {
        let step = Step {
            process: Process::Forked,
            order,
        };
        let Some(ran) = orders.run(&step, &|_| PATIENCE)? else {
            return Ok(None);
        };
        for one in draft
            .proposed
            .iter()
            .filter(|one| step.order.contains(&one.id))
        {
            if ran.ended.outcomes.get(&one.id) != Some(&Outcome::Passed) {
                found
                    .entry(one.id.clone())
                    .or_insert_with(|| format!("the new test does not pass {name}"));
            }
        }
    }
    Ok(Some(found))
}

fn compare(before: &Coverage, now: &Coverage) -> (Check, Check) {
    let (Some(before), Some(now)) = (before, now) else {
        let why = "the environment of the tests has no coverage.py";
        return (Check::NotRun(why.to_owned()), Check::NotRun(why.to_owned()));
    };
    if before.values().all(|one| one.lines.is_empty()) {
        let why = "coverage.py saw no production code";
        return (Check::NotRun(why.to_owned()), Check::NotRun(why.to_owned()));
    }
    let of = |is_equal: bool| match is_equal {
        true => Check::Equal,
        false => Check::Different,
    };
    let lines = |all: &BTreeMap<String, runners::Covered>| -> Vec<(String, Vec<u64>)> {
        let all = all.iter();
        all.map(|(file, one)| (file.clone(), one.lines.clone()))
            .collect()
    };
    (of(lines(before) == lines(now)), of(before == now))
}

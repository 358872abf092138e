//! What a selection needs beside it, so that tests that depend on others end in it as in the
//! full run: `docs/order.md`.

use std::collections::{BTreeMap, BTreeSet};

use super::baselines::Baseline;
use super::decide::Decision;
use super::dependences::newest;
use super::project::Project;
use crate::matrix::{TestId, What};
use crate::observe::{KEPT_BY, TEST};
use crate::order::{Because, Closed, Dependences, Manifest, Suite, Test};
use crate::runners::file_of;
use crate::select::{Guests, Need, Shards, Verdict};
use crate::store::{FsStore, Trouble};

/// What is known of the order of the tests that a selection is about.
pub(super) struct Known {
    suite: Suite,
    about: Dependences,
    /// Under which id a selection has each test of the suite: one of a runner that selects
    /// whole classes has the class.
    selectable: Vec<String>,
}

impl Known {
    /// What is stored for the tests of `decision`; `None` if nothing is. And the files that
    /// cannot be read. It may be of another state: tests that are brought for nothing cost
    /// time, no more.
    pub(super) fn of(
        project: &Project,
        store: &FsStore,
        decision: &Decision,
    ) -> (Option<Known>, Vec<Trouble>) {
        let environment = decision.baseline.as_ref().map(environment_of);
        let (known, trouble) = newest(project, store, environment);
        (
            known.and_then(|known| Known::about(&known, decision)),
            trouble,
        )
    }

    fn about(known: &Dependences, decision: &Decision) -> Option<Known> {
        let verdicts = &decision.selection.verdicts;
        let runs_all = decision.selection.all_because.is_some();
        let selectable = |id: &String| -> Option<String> {
            // Where everything runs, no test is listed.
            if runs_all {
                return Some(id.clone());
            }
            let class = || id.split_once('#').map(|(class, _)| class);
            let ids = [Some(id.as_str()), class()].into_iter().flatten();
            let mut ids = ids.filter(|id| verdicts.contains_key(*id));
            ids.next().map(str::to_owned)
        };
        let tests = known.tests.iter().map(|test| &test.id);
        let tests: Vec<(&String, String)> =
            tests.filter_map(|id| Some((id, selectable(id)?))).collect();
        let suite = Suite::new(tests.iter().map(|(id, _)| ((*id).clone(), Vec::new()))).ok()?;
        let about = known.about(&suite);
        let selectable = tests
            .into_iter()
            .map(|(_, selectable)| selectable)
            .collect();
        (!about.found.dependent.is_empty()).then_some(Known {
            suite,
            about,
            selectable,
        })
    }

    fn selectable(&self, test: Test) -> &str {
        &self.selectable[test as usize]
    }

    /// `selected` with what it needs, and what comes with that, as a selection has it.
    fn close(&self, manifest: &Manifest<'_>, selected: BTreeSet<Test>) -> Closed {
        let mut closed = manifest.close(&selected);
        loop {
            let there: BTreeSet<&str> = { closed.tests.iter() }
                .map(|test| self.selectable(*test))
                .collect();
            let tests = 0..self.suite.len() as Test;
            let whole: BTreeSet<Test> = tests
                .filter(|test| there.contains(self.selectable(*test)))
                .collect();
            if whole == closed.tests {
                return closed;
            }
            let before = std::mem::take(&mut closed.brought);
            closed = manifest.close(&whole);
            closed.brought.splice(0..0, before);
        }
    }

    fn manifest(&self) -> Manifest<'_> {
        let seconds = self.about.tests.iter().map(|test| test.seconds);
        Manifest::new(&self.suite, &self.about.found, seconds.collect())
    }

    /// The tests that must run on one machine, in sets.
    pub(super) fn together(&self) -> Vec<Vec<String>> {
        self.ids_of(self.manifest().together())
    }

    fn ids_of(&self, groups: Vec<BTreeSet<Test>>) -> Vec<Vec<String>> {
        let ids = |group: BTreeSet<Test>| {
            let ids: BTreeSet<&str> = group.iter().map(|test| self.selectable(*test)).collect();
            ids.into_iter().map(str::to_owned).collect()
        };
        groups.into_iter().map(ids).collect()
    }
}

fn environment_of(baseline: &Baseline) -> &str {
    &baseline.matrix.header().key.environment
}

/// By part of a run of everything, the tests of other parts that its tests need: each machine
/// divides such a run by file names, which are the same everywhere, and adds by what it knows.
/// `known`: a decision that has looked into the store, where this one has not.
pub(crate) fn guests(
    project: &Project,
    decision: &Decision,
    known: Option<&Decision>,
    shards: &Shards,
) -> Guests {
    let of = shards.of();
    if decision.selection.all_because.is_none() {
        return Vec::new();
    }
    let environment = known.unwrap_or(decision).baseline.as_ref();
    let (stored, _) = newest(project, &project.store(), environment.map(environment_of));
    let Some(known) = stored.and_then(|stored| Known::about(&stored, decision)) else {
        return Vec::new();
    };
    let manifest = known.manifest();
    let tests = || 0..known.suite.len() as Test;
    let home = |test: &Test| shards.home(file_of(known.suite.id(*test)));
    let guests = (1..=of).map(|index| {
        let part: BTreeSet<Test> = tests().filter(|test| home(test) == index).collect();
        let closed = manifest.close(&part).tests;
        let more = closed.difference(&part);
        more.map(|test| known.suite.id(*test).to_owned()).collect()
    });
    guests.collect()
}

/// Those run with a test that told a process what it then asks for. And one that did not end well
/// may have met anything that others left, and pass alone: all run with it that its row names.
fn bring_leavers(decision: &mut Decision) {
    let matrix = decision.baseline.as_ref();
    let Some(matrix) = matrix.and_then(|baseline| baseline.matrix.whole().ok()) else {
        return;
    };
    // Who asks for each.
    let mut named: BTreeMap<&str, &str> = BTreeMap::new();
    for (test, _) in decision.selection.selected() {
        let Some(row) = matrix.row(TestId::Test(test)) else {
            continue;
        };
        let is_good = row.outcome.is_good();
        for id in row.sets.iter().flat_map(|set| &matrix.sets[*set as usize]) {
            if let What::Reached(name) = &matrix.units[*id as usize].0.what
                && let Some(name) = name
                    .strip_prefix(KEPT_BY)
                    .or_else(|| name.strip_prefix(TEST).filter(|_| !is_good))
                && !inner_names(test).any(|own| own == name)
            {
                named.entry(name).or_insert(test);
            }
        }
    }
    let mut brought: Vec<(String, String)> = Vec::new();
    for id in decision.selection.verdicts.keys() {
        let by = inner_names(id).find_map(|name| named.get(name));
        brought.extend(by.map(|test| (id.clone(), (*test).to_owned())));
    }
    for (leaver, test) in brought {
        decision.selection.bring(&leaver, Need::LeavesTo { test });
        decision.selection.insist(&leaver);
    }
}

/// What a row may call a test: its name, perhaps without the folder of the project.
fn inner_names(id: &str) -> impl Iterator<Item = &str> {
    let inner = id.match_indices('/').map(|(at, _)| &id[at + 1..]);
    std::iter::once(id).chain(inner)
}

/// Completes the selection of `decision` by the tests that selected ones need.
pub(super) fn close(project: &Project, store: &FsStore, decision: &mut Decision) {
    let runs_all = decision.selection.all_because.is_some();
    if !runs_all {
        bring_leavers(decision);
    }
    if !runs_all && decision.selection.selected().next().is_none() {
        return;
    }
    let (known, trouble) = Known::of(project, store, decision);
    decision.trouble.extend(trouble);
    let Some(known) = known else {
        return;
    };
    let manifest = known.manifest();
    decision.selection.processes.together = known.ids_of(manifest.tied());
    if runs_all {
        return;
    }
    let suite = &known.suite;
    let id = |test: Test| known.selectable(test).to_owned();
    let selection = &mut decision.selection;
    let runs = |test: &Test| {
        matches!(
            selection.verdicts.get(known.selectable(*test)),
            Some(Verdict::Run(_))
        )
    };
    let selected: BTreeSet<Test> = (0..suite.len() as Test).filter(runs).collect();
    let closed = known.close(&manifest, selected);
    // Those that run anyway count only if nothing leaves them out at their turn.
    for test in manifest.relied_on(&closed.tests) {
        selection.insist(known.selectable(test));
    }
    for brought in &closed.brought {
        let need = match brought.because {
            Because::SetsUp(test) => Need::SetsUp { test: id(test) },
            Because::Cleans { polluter, victim } => Need::Cleans {
                polluter: id(polluter),
                victim: id(victim),
            },
        };
        selection.bring(known.selectable(brought.test), need);
    }
    for test in &closed.doubts {
        selection.course.notes.push(format!(
            "{} depends on order, and nothing that is known makes it end as in the full run",
            suite.id(*test)
        ));
    }
}

//! What a selection needs beside it, so that tests that depend on others end in it as in the
//! full run: `docs/order.md`.

use std::collections::BTreeSet;

use super::decide::Decision;
use super::dependences::newest;
use super::project::Project;
use crate::order::{Because, Dependences, Manifest, Suite, Test};
use crate::select::{Need, Verdict};
use crate::store::{FsStore, Trouble};

/// What is known of the order of the tests that a selection is about.
pub(super) struct Known {
    suite: Suite,
    about: Dependences,
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
        let baseline = decision.baseline.as_ref();
        let environment = baseline.map(|one| one.matrix.header().key.environment.as_str());
        let (known, trouble) = newest(project, store, environment);
        (
            known.and_then(|known| Known::about(&known, decision)),
            trouble,
        )
    }

    fn about(known: &Dependences, decision: &Decision) -> Option<Known> {
        let tests = known.tests.iter().map(|test| &test.id);
        let tests = tests.filter(|id| decision.selection.verdicts.contains_key(*id));
        let suite = Suite::new(tests.map(|id| (id.clone(), Vec::new()))).ok()?;
        let about = known.about(&suite);
        (!about.found.dependent.is_empty()).then_some(Known { suite, about })
    }

    fn manifest(&self) -> Manifest<'_> {
        let seconds = self.about.tests.iter().map(|test| test.seconds);
        Manifest::new(&self.suite, &self.about.found, seconds.collect())
    }

    /// The tests that must run on one machine, in sets.
    pub(super) fn together(&self) -> Vec<Vec<&str>> {
        let groups = self.manifest().together();
        let ids = |group: BTreeSet<Test>| group.iter().map(|test| self.suite.id(*test)).collect();
        groups.into_iter().map(ids).collect()
    }
}

/// Completes the selection of `decision` by the tests that selected ones need.
pub(super) fn close(project: &Project, store: &FsStore, decision: &mut Decision) {
    if decision.selection.all_because.is_some() || decision.selection.selected().next().is_none() {
        return;
    }
    let (known, trouble) = Known::of(project, store, decision);
    decision.trouble.extend(trouble);
    let Some(known) = known else {
        return;
    };
    let manifest = known.manifest();
    let suite = &known.suite;
    let id = |test: Test| suite.id(test).to_owned();
    let selection = &mut decision.selection;
    let runs = |test: &Test| {
        matches!(
            selection.verdicts.get(suite.id(*test)),
            Some(Verdict::Run(_))
        )
    };
    let selected: BTreeSet<Test> = (0..suite.len() as Test).filter(runs).collect();
    let closed = manifest.close(&selected);
    // Those that run anyway count only if nothing leaves them out at their turn.
    for test in manifest.relied_on(&closed.tests) {
        selection.insist(suite.id(test));
    }
    for brought in &closed.brought {
        let need = match brought.because {
            Because::SetsUp(test) => Need::SetsUp { test: id(test) },
            Because::Cleans { polluter, victim } => Need::Cleans {
                polluter: id(polluter),
                victim: id(victim),
            },
        };
        selection.bring(suite.id(brought.test), need);
    }
    for test in &closed.doubts {
        selection.course.notes.push(format!(
            "{} depends on order, and nothing that is known makes it end as in the full run",
            suite.id(*test)
        ));
    }
}

//! Tests that failed in a run of a part, and pass in the suite's own order: which of the tests
//! that were left out they need.
//!
//! A failure is hidden on proof only: the test passes in a new process after all tests that
//! come before it in the suite's own order; it fails again without those that were left out;
//! and it passes in a new process in the order that counts from now on.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use super::dependences::Remembered;
use super::left_files::LeftFiles;
use super::order::Ordering;
use super::project::Project;
use super::workshop::Workshop;
use crate::error::Error;
use crate::matrix::Outcome;
use crate::order::{
    Budget, Dependences, Dependent, Manifest, Options, Process, Step, Strategy, Test, Witness,
};

/// A run of a part of the tests, in which some failed.
pub(crate) struct PartialRun<'a> {
    pub(crate) command: &'a [OsString],
    pub(crate) cwd: &'a Path,
    /// How each test that ran ended.
    pub(crate) outcomes: &'a BTreeMap<String, Outcome>,
    /// Where the search for what they need ends.
    pub(crate) limit: Duration,
}

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Explained {
    /// Tests that end well after these, in the suite's own order; they were run so.
    pub(crate) after: BTreeMap<String, After>,
    /// Tests that fail in the suite's own order too.
    pub(crate) fail: BTreeSet<String>,
    /// Tests that pass there, and nobody knows after which ones.
    pub(crate) unclear: BTreeSet<String>,
}

/// How a test ends after others.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct After {
    /// Those of them that were left out.
    pub(crate) tests: Vec<String>,
    pub(crate) outcome: Outcome,
}

impl PartialRun<'_> {
    /// Runs the failed tests again after those that were left out; `None` if the user
    /// interrupted it. What is found is stored, so that the next selection brings it at once.
    ///
    /// # Errors
    /// If the runner cannot run tests in a given order, or does not come to its tests.
    pub(crate) fn explain(
        &self,
        project: &Project,
        workshop: &Workshop,
    ) -> Result<Option<Explained>, Error> {
        let place = (self.command, self.cwd);
        let files = LeftFiles::from_now();
        let mut tests = Ordering::open(project, workshop, place, None)?;
        let suite = tests.suite.clone();
        let bad = self
            .outcomes
            .iter()
            .filter(|(_, outcome)| !outcome.is_good());
        let failed: Vec<Test> = bad.filter_map(|(test, _)| suite.find(test)).collect();
        let Some(last) = failed.iter().max().copied() else {
            return Ok(Some(Explained::default()));
        };
        let whole = Step {
            order: suite.name(&(0..=last).collect::<Vec<Test>>()),
            process: Process::Fresh,
        };
        let Some(ran) = tests.run(&whole)? else {
            return Ok(None);
        };
        let mut explained = Explained::default();
        let (mut searches, mut by_files) = (Vec::new(), Vec::new());
        for test in failed {
            let id = suite.id(test);
            if !ran.ended.outcomes.get(id).is_some_and(|end| end.is_good()) {
                explained.fail.insert(id.to_owned());
                continue;
            }
            let Some(search) = self.search(&mut tests, test)? else {
                return Ok(None);
            };
            let mut after = self.confirmed(&mut tests, test, &search)?;
            searches.push(search);
            if after.is_none()
                && let Some(found) = files.explain(&mut tests, (project, workshop), test)?
            {
                after = self.after_files(&found);
                by_files.push(found);
            }
            match after {
                Some(after) => _ = explained.after.insert(id.to_owned(), after),
                None => _ = explained.unclear.insert(id.to_owned()),
            }
        }
        if !explained.after.is_empty() {
            self.keep((project, workshop), &tests, &searches, by_files)?;
        }
        Ok(Some(explained))
    }

    /// The tests that ran, by their places.
    fn ran(&self, tests: &Ordering) -> Vec<Test> {
        let ran = self.outcomes.keys();
        let mut ran: Vec<Test> = ran.filter_map(|id| tests.suite.find(id)).collect();
        ran.sort_unstable();
        ran
    }

    /// Looks for what `test` needs; `None` if the user interrupted it.
    fn search(&self, tests: &mut Ordering, test: Test) -> Result<Option<Witness>, Error> {
        let options = Options {
            strategy: Strategy::Auto,
            budget: Budget {
                executions: None,
                seconds: Some(self.limit.as_secs_f64()),
            },
            seed: 1,
            data: None,
            fresh: true,
        };
        let ran = self.ran(tests);
        let mut search = Witness::new(tests.suite.clone(), options, test, &ran);
        let is_interrupted = tests.drive(&mut search, &mut |_, _, _| {})?;
        Ok((!is_interrupted).then_some(search))
    }

    /// The tests that the next selection would bring for `test`, if with them it ends well in
    /// a process of its own after those that ran.
    fn confirmed(
        &self,
        tests: &mut Ordering,
        test: Test,
        search: &Witness,
    ) -> Result<Option<After>, Error> {
        if search.found().is_none() {
            return Ok(None);
        }
        let suite = tests.suite.clone();
        let found = search.search().found();
        let seconds = vec![0.0; suite.len()];
        let ran = self.ran(tests).into_iter().chain([test]);
        let selected: BTreeSet<Test> = ran.filter(|other| *other <= test).collect();
        let closed = Manifest::new(&suite, &found, seconds).close(&selected);
        let order: Vec<Test> = closed
            .tests
            .iter()
            .copied()
            .filter(|one| *one <= test)
            .collect();
        let step = Step {
            order: suite.name(&order),
            process: Process::Fresh,
        };
        let Some(ran) = tests.run(&step)? else {
            return Ok(None);
        };
        let mut brought: Vec<Test> = closed.brought.iter().map(|one| one.test).collect();
        brought.sort_unstable();
        let outcome = ran.ended.outcomes.get(suite.id(test)).copied();
        let well = outcome.filter(|outcome| outcome.is_good() && !brought.is_empty());
        Ok(well.map(|outcome| After {
            tests: suite.name(&brought),
            outcome,
        }))
    }

    /// What a test needs for a file, if some of that was left out.
    fn after_files(&self, found: &Dependent) -> Option<After> {
        let before = found.witnesses.first()?.iter();
        let lacking =
            before.filter(|test| **test != found.id && !self.outcomes.contains_key(*test));
        let tests: Vec<String> = lacking.cloned().collect();
        let outcome = found.reference.filter(|_| !tests.is_empty())?;
        Some(After { tests, outcome })
    }

    /// Stores what was found.
    fn keep(
        &self,
        (project, workshop): (&Project, &Workshop),
        tests: &Ordering,
        searches: &[Witness],
        by_files: Vec<Dependent>,
    ) -> Result<(), Error> {
        let place = (self.command, self.cwd);
        let remembered = Remembered::open(project, workshop, place)?;
        let mut known = match &remembered.known {
            Some(known) => known.about(&tests.suite),
            None => Dependences::nothing(&tests.suite, &remembered.place),
        };
        for search in searches.iter().filter(|search| search.found().is_some()) {
            known.take_in(search.search(), remembered.place.now);
        }
        known.admit(by_files, remembered.place.now);
        Ok(remembered.keep(&known)?)
    }
}

//! Files that one test leaves and another one reads: orders in one folder do not show who needs
//! whom, for what an earlier order left is still there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::SystemTime;

use super::order::{Ordering, Place};
use crate::error::Error;
use crate::matrix::Outcome;
use crate::order::{Confirmed, Dependent, Does, Kind, Process, Step, Test};

/// Files that tests have made since a certain time.
#[derive(Clone, Copy, Debug)]
pub(super) struct LeftFiles {
    since: SystemTime,
}

impl LeftFiles {
    /// Those that are made from now on.
    pub(super) fn from_now() -> LeftFiles {
        LeftFiles {
            since: SystemTime::now(),
        }
    }

    /// Which tests before it `test` needs for a file that they leave, if it does: it ends badly
    /// in a new process where nobody has left the file, and well in one behind those tests.
    ///
    /// The file is one that this process had tests make, so it is taken away without a loss.
    ///
    /// # Errors
    /// Those of running an order; or a file cannot be removed.
    pub(super) fn explain(
        self,
        tests: &mut Ordering,
        place: Place<'_>,
        test: Test,
    ) -> Result<Option<Dependent>, Error> {
        let suite = tests.suite.clone();
        let all = suite.name(&(0..=test).collect::<Vec<Test>>());
        let Some(writers) = last_writers(tests, place, test, &all)? else {
            return Ok(None);
        };
        let cells: Vec<&String> = writers.keys().collect();
        if writers.is_empty() || !self.take_away(place, &cells)? {
            return Ok(None);
        }
        let alone = last_of(tests, suite.name(&[test]))?;
        self.take_away(place, &cells)?;
        let before: BTreeSet<Test> = writers.values().copied().collect();
        let order: Vec<Test> = before.into_iter().chain([test]).collect();
        let witness = suite.name(&order);
        let after = last_of(tests, witness.clone())?;
        let (Some(alone), Some(after)) = (alone, after) else {
            return Ok(None);
        };
        let is_brittle = !alone.is_good() && after.is_good();
        Ok(is_brittle.then(|| Dependent {
            id: suite.id(test).to_owned(),
            kind: Kind::Brittle,
            reference: Some(after),
            alone,
            witnesses: vec![witness],
            cleaners: Vec::new(),
            cells: cells.into_iter().cloned().collect(),
            masked: true,
            confirmed: Confirmed {
                forked: false,
                fresh: true,
            },
        }))
    }

    /// Removes those of `cells` that are files which git does not track and which were made
    /// since. Whether there were any.
    fn take_away(self, (project, _): Place<'_>, cells: &[&String]) -> Result<bool, Error> {
        let view = project.repository.work_view()?;
        let mut found = false;
        for cell in cells {
            let path: PathBuf = project.repository.root().join(cell);
            let Ok(meta) = path.symlink_metadata() else {
                continue;
            };
            // Where the system does not tell when it was made, it stays.
            let is_new = meta.created().is_ok_and(|made| made >= self.since);
            if meta.is_file() && is_new && !view.is_tracked(cell.as_str().into())? {
                fs_err::remove_file(&path).map_err(anyhow::Error::from)?;
                found = true;
            }
        }
        Ok(found)
    }
}

/// How the last test of an order ends in a process of its own; `None`: it was not reached.
fn last_of(tests: &mut Ordering, order: Vec<String>) -> Result<Option<Outcome>, Error> {
    let last = order.last().cloned();
    let step = Step {
        order,
        process: Process::Fresh,
    };
    let ran = tests.run(&step)?;
    Ok(ran.and_then(|ran| ran.ended.outcomes.get(&last?).copied()))
}

/// By state that `test` reads and that has a path: the last test before it that writes it.
/// `None` if the user interrupted it.
fn last_writers(
    tests: &mut Ordering,
    place: Place<'_>,
    test: Test,
    order: &[String],
) -> Result<Option<BTreeMap<String, Test>>, Error> {
    let Some(recorded) = tests.accesses_in(order, place)? else {
        return Ok(None);
    };
    let known = &recorded.accesses.known;
    let id = tests.suite.id(test);
    let reads = known
        .iter()
        .filter(|one| one.test == id && one.does == Does::Reads);
    let read: BTreeSet<&str> = reads.map(|one| one.cell.as_str()).collect();
    let mut writers = BTreeMap::new();
    for one in known.iter().filter(|one| one.does == Does::Writes) {
        let writer = tests.suite.find(&one.test).filter(|writer| *writer < test);
        if let (Some(writer), true) = (writer, read.contains(one.cell.as_str())) {
            let last: &mut Test = writers.entry(one.cell.clone()).or_insert(writer);
            *last = writer.max(*last);
        }
    }
    Ok(Some(writers))
}

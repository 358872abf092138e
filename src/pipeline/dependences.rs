//! What is stored of the order dependences of a suite, and the state that it is compared with.

use std::ffi::OsString;
use std::path::Path;

use anyhow::Result;
use rustc_hash::FxHashMap;

use super::baselines::Baseline;
use super::decide::{Decision, Request, decide};
use super::project::Project;
use super::workshop::Workshop;
use crate::matrix::{Fingerprint, Key, Outcome, Row, TestId};
use crate::order::{Dependences, Place};
use crate::runners::Built;
use crate::store::{FsStore, Name, Trouble, usable_rows};

/// What an earlier search has left, and where this one runs.
pub(crate) struct Remembered {
    pub(crate) place: Place,
    pub(crate) known: Option<Dependences>,
    /// The recorded results that are nearest.
    pub(crate) results: Option<Name>,
    /// All tests in their own order, where a run of this very state is recorded: in one process,
    /// by the same command, and each good result holds. Empty if there is none.
    pub(crate) run: Vec<RecordedTest>,
    /// Files that are not used.
    pub(crate) trouble: Vec<Trouble>,
    store: FsStore,
}

/// How a test ended in such a run.
pub(crate) struct RecordedTest {
    pub(crate) id: String,
    pub(crate) outcome: Outcome,
    pub(crate) seconds: f64,
}

impl Remembered {
    /// Reads what is stored for the state at hand. Rows that hold are those that let a
    /// selection leave their test out.
    ///
    /// # Errors
    /// If git cannot be read. Trouble with the store is no error: more is searched.
    pub(crate) fn open(
        project: &Project,
        workshop: &Workshop,
        (command, cwd): (&[OsString], &Path),
    ) -> Result<Remembered> {
        let store = project.store();
        let view = project.repository.work_view()?;
        let prober = workshop.prober(project, (command, cwd), Built::Yes);
        let environment = prober.as_ref().map(|prober| prober.environment());
        let words = project
            .config
            .driver
            .words(command, cwd, &project.config.root.value);
        let request = Request {
            prober: prober.as_deref(),
            command: Some(&words),
            ..Request::default()
        };
        let decision = decide(project, &store, &view, &request)?;
        let baseline = decision.baseline.as_ref();
        let recorded = baseline.map(|one| one.matrix.header().key.environment.clone());
        let environment = environment.and_then(Result::ok).or(recorded);
        let revision = view.revision();
        let place = Place {
            key: Key {
                repository: project.identity.clone(),
                suite: project.suite.clone(),
                environment: environment.clone().unwrap_or_default(),
            },
            commit: revision.commit.to_string(),
            tree: revision.tree.to_string(),
            dirty: view.dirty()?.to_vec(),
            now: workshop.now,
            rows: rows_that_hold(&decision),
        };
        let (known, trouble) = newest(project, &store, environment.as_deref());
        Ok(Remembered {
            run: baseline.map_or_else(Vec::new, |one| whole_run(one, &place, &words)),
            results: baseline.map(|one| one.name),
            place,
            known,
            trouble,
            store,
        })
    }

    /// Stores what is known now.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub(crate) fn keep(&self, known: &Dependences) -> Result<()> {
        self.store.put_dependences(known)?;
        Ok(())
    }
}

/// The newest that is stored for the suite of `project` in this environment, if that is known,
/// and the files that cannot be read.
pub(super) fn newest(
    project: &Project,
    store: &FsStore,
    environment: Option<&str>,
) -> (Option<Dependences>, Vec<Trouble>) {
    let (all, trouble) = store.dependences();
    let is_ours = |key: &Key| {
        project.owns(key) && environment.is_none_or(|environment| key.environment == environment)
    };
    let mut ours = all.into_iter().map(|(_, known)| known);
    (ours.find(|known| is_ours(&known.key)), trouble)
}

/// The tests of a run of `place`, in their order; none if `baseline` is not of such a run.
fn whole_run(baseline: &Baseline, place: &Place, words: &[String]) -> Vec<RecordedTest> {
    let header = baseline.matrix.header();
    let is_here = header.tree == place.tree && header.dirty == place.dirty;
    if !is_here || header.shard.is_some() || header.command != words {
        return Vec::new();
    }
    let Ok(matrix) = baseline.matrix.whole() else {
        return Vec::new();
    };
    let rows = matrix.rows.iter();
    let mut rows: Vec<(&str, &Row)> = rows
        .filter_map(|row| Some((row.test.test()?, row)))
        .collect();
    rows.sort_by_key(|(_, row)| row.position);
    let is_of_run = |(test, row): &(&str, &Row)| {
        let holds = !row.outcome.is_good() || place.rows.contains_key(*test);
        holds && matrix.header.runs[row.run as usize].id == header.run
    };
    // Two workers have each a first test.
    let is_one_process = rows.is_sorted_by(|(_, one), (_, next)| one.position < next.position);
    if !is_one_process || !rows.iter().all(is_of_run) {
        return Vec::new();
    }
    let tests = rows.into_iter().map(|(test, row)| RecordedTest {
        id: test.to_owned(),
        outcome: row.outcome,
        seconds: f64::from(row.duration_ms) / 1e3,
    });
    tests.collect()
}

/// Digests of the rows that prove skips, by test.
fn rows_that_hold(decision: &Decision) -> FxHashMap<String, Fingerprint> {
    let mut of_matrix: FxHashMap<Name, FxHashMap<&str, Fingerprint>> = FxHashMap::default();
    let baselines = decision.baseline.iter().chain(&decision.others);
    for baseline in baselines {
        // A matrix that cannot be read whole proves nothing here: its tests are searched.
        let Ok(matrix) = baseline.matrix.whole() else {
            continue;
        };
        let rows = usable_rows(matrix).into_iter();
        let rows = rows.filter_map(|(at, digest)| {
            let test = matrix.rows[at as usize].test.test()?;
            Some((test, Fingerprint(digest.0)))
        });
        of_matrix.insert(baseline.name, rows.collect());
    }
    let row_of = |test: &str| {
        let baseline = decision.baseline_of(&TestId::from(test))?;
        of_matrix.get(&baseline.name)?.get(test).copied()
    };
    let left_out = decision.selection.excluded();
    left_out
        .filter_map(|(test, _)| Some((test.to_owned(), row_of(test)?)))
        .collect()
}

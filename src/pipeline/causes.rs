//! Why a test runs, down to names: which units of its row changed, what about
//! them did, and how the test reaches them.

use std::cell::RefCell;
use std::rc::Rc;

use anyhow::Result;
use bstr::{BStr, BString, ByteSlice};
use rustc_hash::FxHashMap;

use super::project::Project;
use crate::history::{Entry, View};
use crate::languages::{Analysis, Change, Environment, Facts, Value};
use crate::languages::{Cause, Causes, RowOf, Ways};
use crate::matrix::{Fingerprint, Matrix, TestId, Unit};
use crate::runners::{configured, function_of};

/// The units of `test`'s row in `matrix` that are different at `view`: `first`
/// before all others, and at most `most` of them. Empty if there is no such
/// row.
///
/// # Errors
/// If git cannot be read. That the state of the record is not at hand is no
/// error: then less is told.
pub(crate) fn causes(
    project: &Project,
    view: &View,
    matrix: &Matrix,
    test: &str,
    first: &Unit,
    most: usize,
) -> Result<Causes> {
    let Some(row) = matrix.row(TestId::Test(test)) else {
        return Ok(Causes::default());
    };
    let now = facts(project, view);
    let units: Vec<(Unit, Fingerprint)> = matrix
        .units_of(row)
        .into_iter()
        .map(|id| matrix.units[id as usize].clone())
        .collect();
    let mut changed = Vec::new();
    for (unit, from) in &units {
        match now.value(unit) {
            Value::Known(to) if to != *from => changed.push((unit.clone(), *from, to)),
            Value::Known(_) | Value::Late | Value::Unknown(_) => {}
        }
    }
    changed.sort_by_key(|(unit, ..)| unit != first);
    let more = changed.len().saturating_sub(most);
    changed.truncate(most);
    let views = views_of(project, matrix)?;
    let recorded = Recorded {
        now: &now,
        commits: views.iter().map(|view| facts(project, view)).collect(),
        matrix,
        units: &units,
        known: RefCell::default(),
    };
    let root = now.root();
    let (file, function) = function_of(test);
    let source = |path: &BStr| recorded.analysis(path);
    let wide_words = |unit: &Unit| {
        let facts = recorded.of(unit.path());
        facts.map_or_else(Vec::new, |facts| facts.wide_words(unit))
    };
    let ways = Ways::of(RowOf {
        units: units.iter().map(|(unit, _)| unit.clone()).collect(),
        root: root.as_bstr(),
        file: project.path_of(file),
        shown_file: file.to_owned(),
        function,
        source: &source,
        wide_words: &wide_words,
    });
    let cause = |(unit, from, to): (Unit, Fingerprint, Fingerprint)| {
        let then = recorded.of(unit.path());
        let changes = match then {
            Some(then) => now.changes(then, &unit)?,
            None => Vec::new(),
        };
        Ok(Cause {
            name: ways.name(&unit),
            changes: match changes.is_empty() {
                true => vec![Change::between(from, to)],
                false => changes,
            },
            way: ways.to(&unit),
            unit,
            from,
            to,
        })
    };
    Ok(Causes {
        told: changed.into_iter().map(cause).collect::<Result<_>>()?,
        more,
    })
}

fn facts<'v>(project: &'v Project, view: &'v View) -> Facts<'v> {
    let root = project.repository.root();
    Facts::new(
        view,
        root,
        Environment::Elsewhere,
        project.cache(),
        configured,
    )
}

/// Where sources can be as they were recorded: in the commit that was checked
/// out, or, if they were not committed yet, in one since.
fn views_of(project: &Project, matrix: &Matrix) -> Result<Vec<View>> {
    let repository = &project.repository;
    let recorded = repository.resolve(&matrix.header.commit);
    let mut views = Vec::new();
    // A clone need not have the commit.
    if let Ok(revision) = recorded {
        views.push(repository.tree_view(&revision)?);
    }
    if !matrix.header.dirty.is_empty() {
        views.push(repository.tree_view(&repository.head()?)?);
    }
    Ok(views)
}

/// The sources from which a matrix was recorded, as far as they are at hand.
struct Recorded<'a> {
    now: &'a Facts<'a>,
    /// That of the record first.
    commits: Vec<Facts<'a>>,
    matrix: &'a Matrix,
    /// The units of the row, sorted.
    units: &'a [(Unit, Fingerprint)],
    /// By path: which of the states holds the source as it was; the number of
    /// commits stands for now.
    known: RefCell<FxHashMap<BString, Option<usize>>>,
}

impl Recorded<'_> {
    /// The state that holds the source at `path` as it was recorded.
    fn of(&self, path: &BStr) -> Option<&Facts<'_>> {
        if let Some(known) = self.known.borrow().get(path) {
            return known.and_then(|at| self.state(at));
        }
        let found = (0..=self.commits.len()).find(|at| {
            let state = self.state(*at);
            state.is_some_and(|facts| self.is_same(facts, path))
        });
        self.known.borrow_mut().insert(path.into(), found);
        found.and_then(|at| self.state(at))
    }

    fn state(&self, at: usize) -> Option<&Facts<'_>> {
        match at == self.commits.len() {
            true => Some(self.now),
            false => self.commits.get(at),
        }
    }

    /// Whether all that the row holds of `path` has its recorded value there.
    fn is_same(&self, facts: &Facts<'_>, path: &BStr) -> bool {
        let mut dirty = self.matrix.header.dirty.iter();
        if let Some((_, recorded)) = dirty.find(|(known, _)| known == path) {
            let now = match facts.view().entry(path) {
                Ok(Entry::File { fingerprint, .. }) => fingerprint,
                Ok(Entry::Missing) => Fingerprint::MISSING,
                Ok(Entry::Dir | Entry::TooLarge { .. } | Entry::Unknown) | Err(_) => return false,
            };
            if now != *recorded {
                return false;
            }
        }
        let mut of_path = self.units.iter().filter(|(unit, _)| unit.path == path);
        of_path.all(|(unit, recorded)| match facts.value(unit) {
            Value::Known(value) => value == *recorded,
            Value::Late | Value::Unknown(_) => false,
        })
    }

    fn analysis(&self, path: &BStr) -> Option<Rc<Analysis>> {
        // What cannot be read is not at hand.
        self.of(path)?.module(path).ok().flatten()
    }
}

//! What each strategy would have selected at each revision of a history, with
//! what is recorded of the revisions before; and whether that was right.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use anyhow::Result;

use super::decide::{Known, Request, decide_on};
use super::project::Project;
use super::shelf::{Selections, Shelf};
use crate::history::{Classifier, CommitGraph, CommitId, Head, Hints};
use crate::matrix::{Header, MatrixView, Outcome, Table, TestId};
use crate::select::{CauseKind, FirstCauses, Reason, Selection, Strategy, Verdict};
use crate::store::{FsStore, Name};

/// What is to be replayed.
pub(crate) struct Replaying<'a> {
    /// Parents before children.
    pub commits: &'a [CommitId],
    pub strategies: &'a [Strategy],
    /// Also the history formulas as published, which are unsafe.
    pub published: bool,
    /// Revisions of which there can be no results, and why.
    pub failures: &'a BTreeMap<CommitId, String>,
}

/// One revision of a replay.
pub(crate) struct Replayed {
    pub head: Head,
    pub subject: String,
    /// Why there are no results of it; `None` if there are.
    pub missing: Option<String>,
    /// The tests that there are, and the seconds that they took.
    pub tests: usize,
    pub seconds: f64,
    /// How each test that really ran there ended.
    pub outcomes: BTreeMap<String, Outcome>,
    /// By column.
    pub columns: BTreeMap<Column, Chosen>,
}

/// A strategy, in its safe form or as published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Column {
    pub strategy: Strategy,
    pub published: bool,
}

/// What a strategy came to at one revision.
pub(crate) struct Chosen {
    pub used: Strategy,
    pub fallbacks: Vec<String>,
    /// Why everything ran, if it did.
    pub all_because: Option<String>,
    pub selected: usize,
    /// How many of the selected tests there are of each kind of cause: each
    /// counts once, at the first that it has.
    pub causes: BTreeMap<CauseKind, usize>,
    pub seconds: f64,
    pub misses: Vec<Miss>,
}

/// A test that was left out and ended differently.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Miss {
    pub test: String,
    /// The revision whose result was taken, and that result.
    pub revision: String,
    pub then: Outcome,
    pub now: Outcome,
}

/// A replay in progress: what is known before the revision in hand.
struct Replay<'a> {
    project: &'a Project,
    what: &'a Replaying<'a>,
    shelf: Shelf<'a>,
    classifier: Classifier,
    graph: Rc<CommitGraph>,
    /// S_sel as each column's strategy would have it.
    selections: BTreeMap<Column, Rc<Selections>>,
}

/// Replays a history. `advance` is told after each revision.
///
/// # Errors
/// If git cannot be read.
pub(crate) fn replay(
    project: &Project,
    store: &FsStore,
    what: &Replaying<'_>,
    mut advance: impl FnMut(usize),
) -> Result<Vec<Replayed>> {
    let Some(newest) = what.commits.last() else {
        return Ok(Vec::new());
    };
    let mut stored = matrices(project, store);
    let mut replay = Replay {
        project,
        what,
        shelf: Shelf::empty(store),
        classifier: Classifier::new(&project.repository, *newest)?,
        graph: Rc::new(CommitGraph::load_all(&project.repository, what.commits)?),
        selections: BTreeMap::new(),
    };
    let mut replayed = Vec::new();
    for (at, commit) in what.commits.iter().enumerate() {
        let found = stored.remove(commit);
        replayed.push(replay.revision(*commit, found.as_ref())?);
        if let Some((name, header)) = found {
            replay.shelf.add(name, header);
        }
        advance(at + 1);
    }
    Ok(replayed)
}

/// The clean matrix of each commit in which the most tests ran, of the
/// environment that most matrices are of.
fn matrices(project: &Project, store: &FsStore) -> BTreeMap<CommitId, (Name, Header)> {
    let (headers, _) = store.headers();
    let mut usable: Vec<(Name, Header)> = headers;
    usable.retain(|(_, header)| {
        project.owns(&header.key) && header.dirty.is_empty() && header.tests > 0
    });
    let mut environments: BTreeMap<String, usize> = BTreeMap::new();
    for (_, header) in &usable {
        *environments
            .entry(header.key.environment.clone())
            .or_default() += 1;
    }
    let most = environments.iter().max_by_key(|(_, count)| **count);
    let Some(environment) = most.map(|(name, _)| name.clone()) else {
        return BTreeMap::new();
    };
    let mut best: BTreeMap<CommitId, (Name, Header)> = BTreeMap::new();
    for (name, header) in usable {
        let Ok(commit) = header.commit.parse::<CommitId>() else {
            continue;
        };
        let rank = |header: &Header| (header.ran, header.created);
        let is_better = best
            .get(&commit)
            .is_none_or(|(_, known)| rank(&header) > rank(known));
        if header.key.environment == environment && is_better {
            best.insert(commit, (name, header));
        }
    }
    best
}

impl Replay<'_> {
    fn revision(&mut self, commit: CommitId, found: Option<&(Name, Header)>) -> Result<Replayed> {
        let repository = &self.project.repository;
        let revision = repository.revision(commit)?;
        let view = repository.tree_view(&revision)?;
        let head = self.classifier.classify(revision, &Hints::default())?;
        let matrix = match found {
            Some((name, _)) => self.shelf.load(name).ok(),
            None => None,
        };
        let ran = matrix.as_deref().map(results).unwrap_or_default();
        let known = Known::default();
        let mut replayed = Replayed {
            subject: repository.subject(&commit)?,
            missing: self.why_missing(&commit, matrix.as_deref()),
            tests: ran.len(),
            seconds: total(ran.values()),
            outcomes: outcomes(&ran),
            columns: BTreeMap::new(),
            head,
        };
        let mut counting = Counting {
            shelf: &self.shelf,
            known: &known,
            first_causes: BTreeMap::new(),
        };
        for column in self.columns() {
            let selections = self.selections.entry(column).or_default().clone();
            self.shelf.follow(selections);
            let request = Request {
                strategy: column.strategy,
                head: Some(&replayed.head),
                graph: Some(self.graph.clone()),
                known: Some(&known),
                published: column.published,
                ..Request::default()
            };
            let decision = decide_on(self.project, &self.shelf, &view, &request)?;
            let selection = &decision.selection;
            let left_out: BTreeMap<&str, _> = selection.excluded().collect();
            let mut chosen = Chosen {
                used: selection.course.used,
                fallbacks: selection.course.fallbacks.clone(),
                all_because: selection.all_because.clone(),
                selected: selection.selected().count(),
                causes: counting.count(selection, selection.selected().map(|(test, _)| test)),
                seconds: selection.seconds().1,
                misses: Vec::new(),
            };
            if matrix.is_some() {
                let run = ran.iter().filter(|(test, _)| !left_out.contains_key(*test));
                chosen.selected = run.clone().count();
                chosen.causes = counting.count(selection, run.clone().map(|(test, _)| *test));
                chosen.seconds = total(run.clone().map(|(_, result)| result));
                let selected: BTreeSet<String> = run.map(|(test, _)| (*test).to_owned()).collect();
                for (test, evidence) in &left_out {
                    if let Some(result) = ran.get(test)
                        && result.ran
                        && result.outcome != evidence.outcome
                    {
                        chosen.misses.push(Miss {
                            test: (*test).to_owned(),
                            revision: evidence.revision.to_string(),
                            then: evidence.outcome,
                            now: result.outcome,
                        });
                    }
                }
                let selections = self.selections.entry(column).or_default();
                Rc::make_mut(selections).insert(commit, selected);
            } else if replayed.tests == 0 {
                replayed.tests = selection.verdicts.len();
                replayed.seconds = selection.seconds().0;
            }
            replayed.columns.insert(column, chosen);
        }
        Ok(replayed)
    }

    fn columns(&self) -> Vec<Column> {
        let safe = self.what.strategies.iter().map(|strategy| Column {
            strategy: *strategy,
            published: false,
        });
        let published = [
            Strategy::MergeHistory,
            Strategy::RebaseHistory,
            Strategy::CherryHistory,
            Strategy::RevertHistory,
        ];
        let published = published.into_iter().map(|strategy| Column {
            strategy,
            published: true,
        });
        safe.chain(published.filter(|_| self.what.published))
            .collect()
    }

    fn why_missing(&self, commit: &CommitId, matrix: Option<&MatrixView>) -> Option<String> {
        if matrix.is_some() {
            return None;
        }
        let known = self.what.failures.get(commit).cloned();
        Some(known.unwrap_or_else(|| "not recorded".to_owned()))
    }
}

/// Counts the causes of selections at one view.
struct Counting<'a> {
    shelf: &'a Shelf<'a>,
    known: &'a Known,
    /// By the name of a matrix; `None` where it was not compared.
    first_causes: BTreeMap<String, Option<(Rc<MatrixView>, FirstCauses)>>,
}

impl Counting<'_> {
    fn count<'t>(
        &mut self,
        selection: &Selection,
        tests: impl Iterator<Item = &'t str>,
    ) -> BTreeMap<CauseKind, usize> {
        let mut counts = BTreeMap::new();
        for test in tests {
            let kind = match selection.verdicts.get(test) {
                _ if selection.all_because.is_some() => CauseKind::Everything,
                Some(Verdict::Run(reason)) => self.kind(reason, test),
                // Nobody knew it, so nobody left it out.
                Some(Verdict::Skip(_)) | None => CauseKind::New,
            };
            *counts.entry(kind).or_default() += 1;
        }
        counts
    }

    fn kind(&mut self, reason: &Reason, test: &str) -> CauseKind {
        let first_causes = match reason {
            Reason::Changed { baseline, .. } | Reason::Unconfirmed { baseline, .. } => {
                self.first_causes(baseline, test)
            }
            _ => None,
        };
        CauseKind::of(reason, first_causes)
    }

    fn first_causes(&mut self, matrix: &str, test: &str) -> Option<CauseKind> {
        let (shelf, known) = (self.shelf, self.known);
        let make = || {
            let known = known.borrow();
            let (name, found) = known.iter().find(|(name, _)| name.to_string() == matrix)?;
            let matrix = shelf.load(name).ok()?;
            let first_causes = FirstCauses::new(&*matrix, found);
            Some((matrix, first_causes))
        };
        let made = self.first_causes.entry(matrix.to_owned());
        let (matrix, first_causes) = made.or_insert_with(make).as_ref()?;
        first_causes.of(matrix.row(matrix.row_of(TestId::Test(test))?).sets)
    }
}

/// What became of one test at a revision.
struct TestResult {
    outcome: Outcome,
    seconds: f64,
    /// Whether it really ran there.
    ran: bool,
}

fn outcomes(results: &BTreeMap<&str, TestResult>) -> BTreeMap<String, Outcome> {
    let ran = results.iter().filter(|(_, result)| result.ran);
    ran.map(|(test, result)| ((*test).to_owned(), result.outcome))
        .collect()
}

/// Not `sum`: that of nothing is a negative zero.
fn total<'r>(results: impl Iterator<Item = &'r TestResult>) -> f64 {
    results.fold(0.0, |sum, result| sum + result.seconds)
}

fn results(matrix: &MatrixView) -> BTreeMap<&str, TestResult> {
    let tests = matrix.tests();
    tests
        .map(|(test, row)| {
            let result = TestResult {
                outcome: row.outcome,
                seconds: f64::from(row.duration_ms) / 1e3,
                ran: row.selected,
            };
            (test, result)
        })
        .collect()
}

//! From the project's state and its store to a verdict on every known test.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use anyhow::Result;

use super::ask::{Around, ask};
use super::baselines::{Baseline, Place, find_baseline};
use super::close::close;
use super::compare::Comparison;
use super::exchange::consult;
use super::gone::Gone;
use super::inventory::unlisted;
use super::ledger::Ledger;
use super::project::Project;
use super::shelf::Shelf;
use crate::config::Origin;
use crate::history::{Classifier, CommitGraph, CommitId, Head, Hints, HistoryError, View, short};
use crate::languages::Probe;
use crate::matrix::{Header, Matrix, Row, TestId, UnitKind};
use crate::runners::Anew;
use crate::runners::{Prober, Sources};
use crate::select::{
    Course, Differences, Layout, Reason, Rule, Selection, Strategy, Unlisted, Verdict, plan, tts,
};
use crate::store::{FsStore, Name, Trouble};

/// What is asked.
#[derive(Clone, Default)]
pub struct Request<'a> {
    pub strategy: Strategy,
    /// Only matrices of this commit may justify a skip.
    pub baseline: Option<CommitId>,
    /// The interpreter of the test environment, if the tests will run here.
    pub prober: Option<&'a dyn Prober>,
    /// The command that will run the tests, if it is known.
    pub command: Option<&'a [String]>,
    /// What an event tells of the head.
    pub hints: Hints,
    /// How the head came to be, if that is known already.
    pub head: Option<&'a Head>,
    /// The history, if it is loaded already.
    pub graph: Option<Rc<CommitGraph>>,
    /// How matrices differ from the view, as far as that is known already.
    pub known: Option<&'a Known>,
    /// Take the history formulas as they were published, which is unsafe.
    pub published: bool,
    /// Nothing was compiled: the sources, read once for all matrices, tell of class
    /// files. Otherwise these count as they lie on disk, or as unknown.
    pub unbuilt: Option<&'a Sources>,
    /// Ask nobody: an earlier job selected, and handed on what it got.
    pub local_only: bool,
    /// What the run before this one stored, of the same command: tests run once more.
    pub after: Option<Name>,
}

/// Differences between matrices and one view, kept from question to question.
pub type Known = RefCell<BTreeMap<Name, Rc<Differences>>>;

/// The answer, with what it was made from.
pub struct Decision {
    pub selection: Selection,
    /// How the head came to be; `None` if that cannot be told.
    pub head: Option<Head>,
    pub baseline: Option<Baseline>,
    /// Other matrices that prove skips.
    pub others: Vec<Baseline>,
    /// Which of them does, for a test or for the list of all tests.
    pub proofs: BTreeMap<TestId, usize>,
    /// What the interpreter said of late units.
    pub probe: Probe,
    pub trouble: Vec<Trouble>,
    /// The index of the store, if it had to be made anew.
    pub index: Option<Trouble>,
    /// Fallbacks that people should hear of.
    pub notes: Vec<String>,
    /// What tests of the run before leave anew: those that are left out and read it run.
    pub(crate) anew: Option<Anew>,
}

impl Decision {
    /// The matrix whose row of `test` is the proof of its skip.
    pub fn proof_of(&self, test: &str) -> Option<&Matrix> {
        self.proof(&TestId::from(test))
    }

    /// The matrix that proves which tests there are, and its row that does.
    pub fn proof_of_collection(&self) -> Option<(&Matrix, &Row)> {
        let matrix = self.proof(&TestId::Collection)?;
        Some((matrix, matrix.row(TestId::Collection)?))
    }

    fn proof(&self, test: &TestId) -> Option<&Matrix> {
        // A row that cannot be read whole is not carried over.
        self.baseline_of(test)?.matrix.whole().ok()
    }

    /// One of those that were compared.
    pub(super) fn baseline_named(&self, name: &str) -> Option<&Baseline> {
        let mut known = self.baseline.iter().chain(&self.others);
        known.find(|one| one.name.to_string() == name)
    }

    /// Where the row is that proves it.
    pub(super) fn baseline_of(&self, test: &TestId) -> Option<&Baseline> {
        match self.proofs.get(test) {
            Some(at) => self.others.get(*at),
            None => self.baseline.as_ref(),
        }
    }
}

/// What is to be decided, and from what.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    pub project: &'a Project,
    pub shelf: &'a Shelf<'a>,
    pub view: &'a View,
    pub request: &'a Request<'a>,
}

/// What people should hear of how a decision was made.
#[derive(Default)]
pub(super) struct Heard {
    pub notes: Vec<String>,
    pub trouble: Vec<Trouble>,
    pub index: Option<Trouble>,
}

/// A verdict on every known test, and the matrices that prove it.
pub(super) struct Answer {
    pub selection: Selection,
    pub nearest: Option<Baseline>,
    /// Other matrices that prove skips.
    pub others: Vec<Baseline>,
    /// By test, which of them does.
    pub proofs: BTreeMap<TestId, usize>,
}

/// Selects the tests that must run at `view`, by all that is stored.
///
/// # Errors
/// If git cannot be read. Trouble with the store or the interpreter is no
/// error: it makes more tests run and is named in the answer.
pub fn decide(
    project: &Project,
    store: &FsStore,
    view: &View,
    request: &Request<'_>,
) -> Result<Decision> {
    let environment = || environment_of(request)?.ok();
    let mut told = project.told.clone();
    if !request.local_only {
        let consulted = consult(project, store, view, request.strategy, environment);
        told.fallbacks.extend(consulted.fallbacks);
        told.details.extend(consulted.details);
    }
    let mut decision = decide_on(project, &Shelf::of(store), view, request)?;
    close(project, store, &mut decision);
    decision.notes.splice(0..0, told.fallbacks);
    decision.selection.course.notes.extend(told.details);
    Ok(decision)
}

/// Selects the tests that must run at `view`, by the matrices of `shelf`.
///
/// # Errors
/// Those of [`decide`].
pub fn decide_on(
    project: &Project,
    shelf: &Shelf<'_>,
    view: &View,
    request: &Request<'_>,
) -> Result<Decision> {
    let question = Question {
        project,
        shelf,
        view,
        request,
    };
    let mut heard = Heard::default();
    let comparison = Comparison::new(question);
    let head = question.head(&mut heard);
    let answer = question.answer(head.as_ref(), &comparison, &mut heard)?;
    Ok(Decision {
        selection: answer.selection,
        head,
        baseline: answer.nearest,
        others: answer.others,
        proofs: answer.proofs,
        probe: comparison.into_probe(),
        trouble: heard.trouble,
        index: heard.index,
        notes: heard.notes,
        anew: None,
    })
}

impl Answer {
    fn new(selection: Selection) -> Answer {
        Answer {
            selection,
            nearest: None,
            others: Vec::new(),
            proofs: BTreeMap::new(),
        }
    }
}

impl<'a> Question<'a> {
    /// How the head came to be. Trouble is worth a note: no strategy needs to
    /// know it for being safe.
    fn head(&self, heard: &mut Heard) -> Option<Head> {
        if let Some(head) = self.request.head {
            return Some(head.clone());
        }
        let revision = *self.view.revision();
        let classifier = Classifier::new(&self.project.repository, revision.commit);
        let classified = classifier.and_then(|classifier| {
            let mut classifier = classifier.without_dominators();
            if !self.request.strategy.asks_for_copies() {
                classifier = classifier.without_copies();
            }
            classifier.classify(revision, &self.request.hints)
        });
        let trouble = |error: &HistoryError| {
            heard.notes.push(format!(
                "how {} was made cannot be told: {error}",
                revision.commit.short()
            ));
        };
        classified.inspect_err(trouble).ok()
    }

    /// Finds the nearest results, compares them with the head, asks those that the
    /// strategy names, and leaves out tests that are gone.
    fn answer(
        &self,
        head: Option<&Head>,
        comparison: &Comparison<'a>,
        heard: &mut Heard,
    ) -> Result<Answer> {
        let Question {
            project,
            view,
            request,
            ..
        } = *self;
        let all = |why: String| Answer::new(Selection::all(request.strategy, why));
        if request.strategy == Strategy::All {
            return Ok(all(asked_for_all(project)));
        }
        let nearest = match self.nearest(heard)? {
            Ok(nearest) => nearest,
            Err(why) => return Ok(all(why)),
        };
        let delta = comparison.delta(nearest.matrix.header(), heard);
        view.settle()?;
        if request.prober.is_none() {
            heard.notes.extend(project.undeclared(view));
        }
        if let Some(why) = project.runs_all(delta.as_ref()) {
            return Ok(Answer {
                nearest: Some(nearest),
                ..all(why)
            });
        }
        let found = comparison.of((&nearest.name, &nearest.matrix), delta.as_ref(), heard);
        let mut answer = Answer::new(traditional(request.strategy, &nearest, &found));
        let more = unlisted(
            project,
            &nearest.matrix,
            delta.as_ref(),
            view,
            request.prober,
        )?;
        answer.selection.may_also_hold(more);
        if request.prober.is_none() && project.environment_changed(view, delta.as_ref()) {
            answer.selection.may_all_come_back();
        }
        match head.filter(|_| request.baseline.is_none()) {
            Some(head) => self.follow(head, comparison, &nearest, &mut answer, heard)?,
            None => answer.selection.course.used = Strategy::Commit,
        }
        note_outside(project, &answer.selection, heard);
        let gone = Gone {
            project,
            facts: &comparison.facts(),
            nearest: (&nearest.matrix, &found),
            others: &answer.others,
        };
        gone.drop_from(&mut answer.selection)?;
        if !project.config.driver.confirms() {
            answer.selection.settle();
        }
        for pattern in project.always_run() {
            let is_named = |test: &str| pattern.matches(test.as_bytes());
            answer.selection.force(&pattern.to_string(), is_named);
        }
        answer.nearest = Some(nearest);
        Ok(answer)
    }

    /// The usable matrix that is nearest to the head, or why there is none.
    fn nearest(&self, heard: &mut Heard) -> Result<Result<Baseline, String>> {
        let Question {
            project,
            shelf,
            view,
            request,
        } = *self;
        // Asked only if some matrix is about this project: it starts a process.
        let environment = OnceCell::new();
        let wanted = |header: &Header| {
            project.owns(&header.key)
                && request
                    .baseline
                    .is_none_or(|commit| header.commit == commit.to_string())
                && match environment.get_or_init(|| environment_of(request)) {
                    Some(Ok(environment)) => header.key.environment == *environment,
                    Some(Err(_)) | None => true,
                }
        };
        let is_ours = |header: &Header| project.is_of(&header.key);
        let search = find_baseline(&project.repository, shelf, view, wanted, is_ours)?;
        if let Some(Some(Err(error))) = environment.into_inner() {
            heard.notes.push(format!(
                "the interpreter cannot be asked about its environment: {error:#}"
            ));
        }
        heard.trouble = search.trouble;
        let Some(nearest) = search.baseline else {
            return Ok(Err(search.none_because));
        };
        // An incomplete clone was told already.
        if nearest.place == Place::Elsewhere && project.told.fallbacks.is_empty() {
            heard.notes.push(format!(
                "no ancestor of {} has results; comparing with those of {}",
                view.revision().commit.short(),
                short(&nearest.matrix.header().commit)
            ));
        }
        Ok(Ok(nearest))
    }

    /// Asks the matrices that the strategy's rule names, if those are more than the
    /// nearest.
    fn follow(
        &self,
        head: &Head,
        comparison: &Comparison<'a>,
        nearest: &Baseline,
        answer: &mut Answer,
        heard: &mut Heard,
    ) -> Result<()> {
        let request = self.request;
        let key = &nearest.matrix.header().key;
        let graph = request.graph.clone();
        let repository = &self.project.repository;
        let ledger = Ledger::new(repository, self.shelf, head, graph, |header| {
            header.key == *key
        });
        let tip = ledger.tip(head, self.view.dirty()?.is_empty());
        let plan = plan(request.strategy, &tip, &ledger);
        answer.selection.course = Course {
            asked: request.strategy,
            used: plan.used,
            fallbacks: plan.fallbacks.iter().map(ToString::to_string).collect(),
            notes: plan.notes.clone(),
        };
        // What only the kind of the head decides is no trouble.
        let gaps = plan.fallbacks.iter().filter(|one| !one.is_by_kind);
        heard.notes.extend(gaps.map(ToString::to_string));
        if plan.rule != Rule::Nearest {
            let around = Around {
                comparison,
                nearest,
            };
            ask(&around, &ledger, &plan, answer, heard)?;
        }
        Ok(())
    }
}

/// Who asked for everything, if somebody did.
fn asked_for_all(project: &Project) -> String {
    match project.config.strategy.origin {
        Origin::Turn(key) => format!("it is the turn of a full run, by `{key}`"),
        _ => "asked for: strategy `all`".to_owned(),
    }
}

/// The words that name the environment of the tests, if it can be asked.
fn environment_of(request: &Request<'_>) -> Option<Result<String>> {
    request.prober.map(|prober| prober.environment())
}

fn traditional(strategy: Strategy, baseline: &Baseline, found: &Differences) -> Selection {
    let matrix = &baseline.matrix;
    let name = baseline.name.to_string();
    let verdicts = tts(&**matrix, &name, found);
    let mut selection = Selection {
        course: Course::plain(strategy),
        all_because: None,
        verdicts: BTreeMap::new(),
        inventory_doubt: None,
        unlisted: Vec::new(),
        lacks_any: false,
        compiles: matrix.units_of_kind(UnitKind::Class).next().is_some(),
        baselines: Vec::new(),
        revisions: BTreeMap::new(),
        durations: BTreeMap::new(),
        layout: Layout::default(),
        processes: Default::default(),
    };
    selection.relies_on(&name, &matrix.header().commit);
    let mut collection = None;
    for (row, verdict) in verdicts.into_iter().enumerate() {
        let row = matrix.row(row);
        let Some(test) = row.test.test() else {
            collection = Some(verdict);
            continue;
        };
        if matches!(verdict, Verdict::Run(_)) {
            selection.durations.insert(test.to_owned(), row.duration_ms);
        }
        selection.verdicts.insert(test.to_owned(), verdict);
    }
    selection.may_also_hold(Unlisted::of_collection(collection.as_ref()));
    selection
}

/// Tests that use what `paths` does not name run when it changes, as all do;
/// people should know that the line is too narrow.
fn note_outside(project: &Project, selection: &Selection, heard: &mut Heard) {
    let outside = selection.selected().find_map(|(_, reason)| {
        let (Reason::Changed { unit, .. } | Reason::Unconfirmed { unit, .. }) = reason else {
            return None;
        };
        let is_path = !unit.path.is_empty() && !project.may_hold_tests(&unit.path);
        is_path.then(|| unit.path.clone())
    });
    if let Some(path) = outside {
        heard.notes.push(format!(
            "tests use {path}, which `paths` does not name; they run where it changes"
        ));
    }
}

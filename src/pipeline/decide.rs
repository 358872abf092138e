//! From the project's state and its store to a verdict on every known test.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use anyhow::Result;
use bstr::ByteSlice;

use super::ask::{Around, ask};
use super::baselines::{Baseline, Place, find_baseline};
use super::differences::differences;
use super::exchange::consult;
use super::inventory::unlisted;
use super::ledger::Ledger;
use super::probe::Prober;
use super::project::Project;
use super::shelf::Shelf;
use super::unbuilt::{Sources, Unbuilt};
use crate::config::Origin;
use crate::history::{Classifier, CommitGraph, CommitId, Delta, Entry, Head, Hints, View};
use crate::languages::{Environment, Facts, Probe, Value};
use crate::matrix::{Fingerprint, Header, Matrix, MatrixView, Unit, UnitId, UnitKind};
use crate::runners::{jvm, maven, pytest};
use crate::select::{
    COLLECTION, Course, Differences, Layout, Plan, Reason, Rule, Selection, Strategy, Thresholds,
    Unlisted, Verdict, plan, tts,
};
use crate::store::{FsStore, Name, Trouble};

/// What is asked.
#[derive(Clone, Default)]
pub struct Request<'a> {
    pub strategy: Strategy,
    /// Only matrices of this commit may justify a skip.
    pub baseline: Option<CommitId>,
    /// The interpreter of the test environment, if the tests will run here.
    pub prober: Option<&'a Prober>,
    /// The command that will run the tests, if it is known.
    pub command: Option<&'a [String]>,
    /// What an event tells of the head.
    pub hints: Hints,
    /// What `thesis` calls many and short.
    pub thresholds: Thresholds,
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
    /// By test, which of them does.
    pub proofs: BTreeMap<String, usize>,
    /// What the interpreter said of late units.
    pub probe: Probe,
    pub trouble: Vec<Trouble>,
    /// The index of the store, if it had to be made anew.
    pub index: Option<Trouble>,
    /// Fallbacks that people should hear of.
    pub notes: Vec<String>,
}

impl Decision {
    /// The matrix whose row of `test` is the proof of its skip.
    pub fn proof_of(&self, test: &str) -> Option<&Matrix> {
        let baseline = match self.proofs.get(test) {
            Some(at) => Some(&self.others[*at]),
            None => self.baseline.as_ref(),
        };
        // A row that cannot be read whole is not carried over.
        baseline?.matrix.whole().ok()
    }

    fn all(&mut self, strategy: Strategy, why: impl Into<String>) {
        self.selection = Selection::all(strategy, why);
    }
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
    let mut decision = Decision {
        selection: Selection::all(request.strategy, asked_for_all(project)),
        head: None,
        baseline: None,
        others: Vec::new(),
        proofs: BTreeMap::new(),
        probe: Probe::default(),
        trouble: Vec::new(),
        index: None,
        notes: Vec::new(),
    };
    decision.head = match request.head {
        Some(head) => Some(head.clone()),
        None => classify(project, view, request, &mut decision.notes),
    };
    if request.strategy == Strategy::All {
        return Ok(decision);
    }
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
        decision.notes.push(format!(
            "the interpreter cannot be asked about its environment: {error:#}"
        ));
    }
    decision.trouble = search.trouble;
    let Some(baseline) = search.baseline else {
        decision.all(request.strategy, search.none_because);
        return Ok(decision);
    };
    // Of what the clone lacks people have heard already.
    if baseline.place == Place::Elsewhere && project.told.fallbacks.is_empty() {
        decision.notes.push(format!(
            "no ancestor of {} has results; comparing with those of {}",
            short(&view.revision().commit.to_string()),
            short(&baseline.matrix.header().commit)
        ));
    }
    let delta = delta_to(project, baseline.matrix.header(), view, &mut decision.notes);
    view.settle()?;
    if request.prober.is_none() {
        decision.notes.extend(project.undeclared(view));
    }
    if let Some(pattern) = project.runs_all(delta.as_ref()) {
        decision.all(request.strategy, pattern);
        decision.baseline = Some(baseline);
        return Ok(decision);
    }
    let found = compare(
        project,
        view,
        request,
        (&baseline.name, &baseline.matrix),
        delta.as_ref(),
        &mut decision,
    );
    decision.selection = traditional(request.strategy, &baseline, &found);
    let more = unlisted(project, &baseline.matrix, delta.as_ref(), view)?;
    decision.selection.may_also_hold(more);
    if request.prober.is_none() && project.environment_changed(view, delta.as_ref()) {
        // All tests may come back where they run: more than one machine can do.
        decision.selection.lacks_any = true;
    }
    let head = decision.head.clone();
    match head.filter(|_| request.baseline.is_none()) {
        Some(head) => {
            let key = &baseline.matrix.header().key;
            let graph = request.graph.clone();
            let ledger = Ledger::new(&project.repository, shelf, &head, graph, |header| {
                header.key == *key
            });
            let tip = ledger.tip(&head, view.dirty()?.is_empty());
            let plan = plan(request.strategy, &tip, &ledger, &request.thresholds);
            note_plan(request.strategy, &plan, &mut decision);
            if plan.rule != Rule::Nearest {
                let around = Around {
                    project,
                    shelf,
                    view,
                    request,
                    nearest: &baseline,
                };
                ask(&around, &ledger, &plan, &mut decision)?;
            }
        }
        None => decision.selection.course.used = Strategy::Commit,
    }
    let facts = facts_of(project, view, request, &decision.probe);
    note_outside(project, &mut decision);
    let gone = Gone {
        project,
        facts: &facts,
        nearest: (&baseline.matrix, &found),
        others: &decision.others,
    };
    gone.drop_from(&mut decision.selection)?;
    for pattern in project.always_run() {
        decision.selection.force(&pattern.to_string(), |test| {
            pattern.matches(test.as_bytes())
        });
    }
    decision.baseline = Some(baseline);
    Ok(decision)
}

/// Who asked for everything, if somebody did.
fn asked_for_all(project: &Project) -> String {
    match project.config.strategy.origin {
        Origin::Turn(key) => format!("it is the turn of a full run, by `{key}`"),
        _ => "asked for: strategy `all`".to_owned(),
    }
}

/// How the head came to be. Trouble is worth a note: no strategy needs to
/// know for being safe.
fn classify(
    project: &Project,
    view: &View,
    request: &Request<'_>,
    notes: &mut Vec<String>,
) -> Option<Head> {
    let revision = *view.revision();
    let classified = Classifier::new(&project.repository, revision.commit).and_then(|classifier| {
        let mut classifier = classifier.without_dominators();
        if !request.strategy.asks_for_copies() {
            classifier = classifier.without_copies();
        }
        classifier.classify(revision, &request.hints)
    });
    match classified {
        Ok(head) => Some(head),
        Err(error) => {
            let commit = revision.commit.to_string();
            notes.push(format!(
                "how {} was made cannot be told: {error}",
                short(&commit)
            ));
            None
        }
    }
}

fn note_plan(asked: Strategy, plan: &Plan, decision: &mut Decision) {
    decision.selection.course = Course {
        asked,
        used: plan.used,
        fallbacks: plan.fallbacks.iter().map(ToString::to_string).collect(),
        notes: plan.notes.clone(),
    };
    // What only the kind of the head decides is no trouble.
    let gaps = plan.fallbacks.iter().filter(|one| !one.is_by_kind);
    decision.notes.extend(gaps.map(ToString::to_string));
}

/// The words that name the environment of the tests, if it can be asked.
fn environment_of(request: &Request<'_>) -> Option<Result<String>> {
    request.prober.map(Prober::environment)
}

pub(super) fn delta_to(
    project: &Project,
    header: &Header,
    view: &View,
    notes: &mut Vec<String>,
) -> Option<Delta> {
    let repository = &project.repository;
    let from = repository.recorded(&header.commit, &header.tree);
    match from.and_then(|from| repository.delta(&from, &header.dirty, view).ok()) {
        Some(delta) => Some(delta),
        None if !project.told.fallbacks.is_empty() => None,
        None => {
            notes.push(format!(
                "the files of commit {} are not in this clone: every recorded unit is compared",
                short(&header.commit)
            ));
            None
        }
    }
}

/// How the units of `matrix` differ at `view`, its late units settled as far
/// as they can be.
pub(super) fn compare(
    project: &Project,
    view: &View,
    request: &Request<'_>,
    (name, matrix): (&Name, &MatrixView),
    delta: Option<&Delta>,
    decision: &mut Decision,
) -> Rc<Differences> {
    if let Some(known) = request.known
        && let Some(found) = known.borrow().get(name)
    {
        return found.clone();
    }
    probe_units(request, matrix, decision);
    let mut probe = decision.probe.clone();
    settle_options(request, matrix, &mut probe);
    let facts = facts_of(project, view, request, &probe);
    let unbuilt = unbuilt_of(project, view, request, matrix, delta, decision);
    let mut found = differences(matrix, delta, &facts, unbuilt.as_ref());
    if project.environment_is_declared(view, delta) {
        note_declared(matrix, &probe, &mut found);
    }
    let found = Rc::new(found);
    if let Some(known) = request.known {
        known.borrow_mut().insert(*name, found.clone());
    }
    found
}

/// What sources tell of a matrix of class files, where that is wanted. If they tell
/// nothing, people hear why.
fn unbuilt_of<'v>(
    project: &Project,
    view: &'v View,
    request: &Request<'_>,
    matrix: &MatrixView,
    delta: Option<&'v Delta>,
    decision: &mut Decision,
) -> Option<Unbuilt<'v>> {
    let sources = request.unbuilt?;
    matrix.units_of_kind(UnitKind::Class).next()?;
    let unbuilt = Unbuilt::new(project, view, matrix, delta, sources);
    if let Some(why) = unbuilt.refusal() {
        let commit = short(&matrix.header().commit);
        let known = "before the build nothing is known";
        // Of the nearest matrix, and not of each that is asked besides.
        if !decision.notes.iter().any(|note| note.starts_with(known)) {
            let note = format!("{known} of the classes of {commit}: {why}");
            decision.notes.push(note);
        }
    }
    Some(unbuilt)
}

fn probe_units(request: &Request<'_>, matrix: &MatrixView, decision: &mut Decision) {
    let Some(prober) = request.prober else {
        return;
    };
    let known = &decision.probe.values;
    let probed = [UnitKind::Dist, UnitKind::Runtime, UnitKind::Env];
    let units = probed
        .into_iter()
        .flat_map(|kind| matrix.units_of_kind(kind));
    let unknown: Vec<Unit> = units
        .map(|id| matrix.unit(id))
        .filter(|unit| !known.contains_key(&(unit.kind, unit.name.clone())))
        .collect();
    match prober.ask(unknown.iter()) {
        Ok(answer) => decision.probe.values.extend(answer.values),
        Err(error) => decision
            .notes
            .push(format!("the interpreter cannot be asked: {error:#}")),
    }
}

/// The same command line comes to the same options, unless who will run it
/// knows better: a setting is no word of it.
fn settle_options(request: &Request<'_>, matrix: &MatrixView, probe: &mut Probe) {
    if request
        .command
        .is_some_and(|command| command == matrix.header().command)
    {
        let options = Unit::new(UnitKind::Config, "", pytest::ARGS);
        if let Some(id) = matrix.find(&options) {
            let value = matrix.fingerprint(id);
            let known = probe.values.entry((UnitKind::Config, options.name));
            known.or_insert(value);
        }
    }
}

/// The files that declare the test environment are those of the baseline, and
/// so are the packages, the interpreter, and how it starts. Variables that only
/// tests read are not declared; options are, if the command is `probe`'s.
fn note_declared(matrix: &MatrixView, probe: &Probe, found: &mut Differences) {
    let is_declared = |id: &&UnitId| match matrix.unit(**id) {
        unit if matches!(unit.kind, UnitKind::Dist | UnitKind::Runtime) => true,
        unit if unit.kind == UnitKind::Env => {
            pytest::READ_BY_EVERY_TEST.contains(&unit.name.as_str())
        }
        unit => probe.values.get(&(unit.kind, unit.name)) == Some(&matrix.fingerprint(**id)),
    };
    found.declared = found.late.iter().filter(is_declared).copied().collect();
}

fn facts_of<'v>(
    project: &'v Project,
    view: &'v View,
    request: &Request<'_>,
    probe: &Probe,
) -> Facts<'v> {
    let environment = match request.prober {
        Some(_) => Environment::Here(probe.clone()),
        None => Environment::Elsewhere,
    };
    let compiled_since = match request.prober {
        Some(Prober::Jvm(jvm)) => jvm.compiled_since,
        Some(Prober::Python(_)) | None => None,
    };
    let root = project.repository.root();
    let facts = Facts::new(view, root, environment, project.cache());
    match compiled_since {
        Some(since) => facts.with_build(since, jvm::build_folders(root)),
        None => facts,
    }
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
    };
    selection.relies_on(&name, &matrix.header().commit);
    let mut verdicts = verdicts.into_iter().enumerate().peekable();
    // The least of all ids.
    let collection = verdicts.next_if(|(row, _)| matrix.row(*row).test == COLLECTION);
    let collection = collection.map(|(_, verdict)| verdict);
    selection.may_also_hold(Unlisted::of_collection(collection.as_ref()));
    let durations = &mut selection.durations;
    let named = verdicts.map(|(row, verdict)| {
        let row = matrix.row(row);
        if matches!(verdict, Verdict::Run(_)) {
            durations.insert(row.test.to_owned(), row.duration_ms);
        }
        (row.test.to_owned(), verdict)
    });
    selection.verdicts = named.collect();
    selection
}

/// Tests that use what `paths` does not name run when it changes, as all do;
/// people should know that the line is too narrow.
fn note_outside(project: &Project, decision: &mut Decision) {
    let outside = decision.selection.selected().find_map(|(_, reason)| {
        let Reason::Changed { unit, .. } = reason else {
            return None;
        };
        let is_path = !unit.path.is_empty() && !project.may_hold_tests(&unit.path);
        is_path.then(|| unit.path.clone())
    });
    if let Some(path) = outside {
        decision.notes.push(format!(
            "tests use {path}, which `paths` does not name; they run where it changes"
        ));
    }
}

/// Tells which tests are gone.
struct Gone<'a> {
    project: &'a Project,
    facts: &'a Facts<'a>,
    /// The nearest matrix, and how it differs from the head.
    nearest: (&'a MatrixView, &'a Differences),
    others: &'a [Baseline],
}

impl Gone<'_> {
    /// Tests whose own source is gone are not available at the head.
    fn drop_from(&self, selection: &mut Selection) -> Result<()> {
        let mut gone = Vec::new();
        for (test, reason) in selection.selected() {
            if matches!(reason, Reason::Changed { .. }) && self.is_gone(test)? {
                gone.push(test.to_owned());
            }
        }
        for test in gone {
            selection.verdicts.remove(&test);
        }
        Ok(())
    }

    /// Whether all classes of the test's name are known, and known to be gone.
    fn is_class_gone(&self, test: &str) -> bool {
        let (nearest, found) = self.nearest;
        let (module, class) = maven::source_of(test);
        let module = self.project.path_of(module);
        let mut ids = nearest.units_of_kind(UnitKind::Class).filter(|id| {
            nearest.is_named(*id, &class) && nearest.path(*id).starts_with(module.as_slice())
        });
        let gone = Some(Fingerprint::MISSING);
        let is_gone = |id: UnitId| value_at_head(nearest, found, id) == gone;
        match ids.next() {
            Some(first) => is_gone(first) && ids.all(is_gone),
            None => false,
        }
    }

    fn is_gone(&self, test: &str) -> Result<bool> {
        if self
            .nearest
            .0
            .units_of_kind(UnitKind::Class)
            .next()
            .is_some()
        {
            return Ok(self.is_class_gone(test));
        }
        let (file, qualified) = pytest::source_of(test);
        let path = self.project.path_of(file);
        if self.facts.view().entry(path.as_bstr())? == Entry::Missing {
            return Ok(true);
        }
        let function = Unit::new(UnitKind::Code, path, qualified);
        let (nearest, found) = self.nearest;
        if let Some(id) = nearest.find(&function)
            && let Some(value) = value_at_head(nearest, found, id)
        {
            return Ok(value == Fingerprint::MISSING);
        }
        let mut matrices = self.others.iter().map(|other| &other.matrix);
        let is_known =
            nearest.find(&function).is_some() || matrices.any(|m| m.find(&function).is_some());
        Ok(is_known && self.facts.value(&function) == Value::Known(Fingerprint::MISSING))
    }
}

/// The value of a unit at the head, as comparing it has shown.
fn value_at_head(matrix: &MatrixView, found: &Differences, id: UnitId) -> Option<Fingerprint> {
    if found.unknown.contains_key(&id) || found.late.contains(&id) {
        return None;
    }
    let changed = found.changed.get(&id).copied();
    changed.or_else(|| Some(matrix.fingerprint(id)))
}

/// The first ten digits of a commit id, for people.
fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

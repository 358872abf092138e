//! How stored matrices differ from the head.

use std::cell::RefCell;
use std::rc::Rc;

use super::decide::{Heard, Question};
use super::differences::differences;
use super::project::Project;
use crate::history::{Delta, View, short};
use crate::languages::{Environment, Facts, Probe};
use crate::matrix::{Header, MatrixView, Unit, UnitId, UnitKind, What};
use crate::runners::{self, READ_BY_EVERY_TEST, Unbuilt};
use crate::select::Differences;
use crate::store::Name;

/// Compares one matrix after the other with the head of a question. What the
/// environment of the tests said for one of them is kept for the next.
pub(super) struct Comparison<'a> {
    pub question: Question<'a>,
    probe: RefCell<Probe>,
}

/// What changed between the state of a stored matrix and `view`; `None` if its
/// files are not in this clone.
pub(super) fn delta_to(project: &Project, header: &Header, view: &View) -> Option<Delta> {
    let repository = &project.repository;
    let from = repository.recorded(&header.commit, &header.tree)?;
    repository.delta(&from, &header.dirty, view).ok()
}

impl<'a> Comparison<'a> {
    pub(super) fn new(question: Question<'a>) -> Comparison<'a> {
        Comparison {
            question,
            probe: RefCell::default(),
        }
    }

    /// What the environment of the tests said of late units.
    pub(super) fn into_probe(self) -> Probe {
        self.probe.into_inner()
    }

    /// What changed since a matrix was recorded. People hear if that is unknown.
    pub(super) fn delta(&self, header: &Header, heard: &mut Heard) -> Option<Delta> {
        let project = self.question.project;
        let delta = delta_to(project, header, self.question.view);
        // An incomplete clone was told already.
        if delta.is_none() && project.told.fallbacks.is_empty() {
            heard.notes.push(format!(
                "the files of commit {} are not in this clone: every recorded unit is compared",
                short(&header.commit)
            ));
        }
        delta
    }

    /// How the units of `matrix` differ at the head. Late units are settled as far
    /// as they can be.
    pub(super) fn of(
        &self,
        (name, matrix): (&Name, &MatrixView),
        delta: Option<&Delta>,
        heard: &mut Heard,
    ) -> Rc<Differences> {
        let Question {
            project,
            view,
            request,
            ..
        } = self.question;
        if let Some(known) = request.known
            && let Some(found) = known.borrow().get(name)
        {
            return found.clone();
        }
        self.probe_units(matrix, heard);
        let mut probe = self.probe.borrow().clone();
        self.settle_options(matrix, &mut probe);
        let facts = self.facts_with(&probe);
        let unbuilt = self.unbuilt(matrix, delta, heard);
        let mut found = differences(matrix, delta, &facts, unbuilt.as_ref());
        if project.environment_is_declared(view, delta) {
            note_declared(matrix, &probe, &mut found);
        }
        found.are_same_tests = request.after == Some(*name);
        let found = Rc::new(found);
        if let Some(known) = request.known {
            known.borrow_mut().insert(*name, found.clone());
        }
        found
    }

    /// What holds at the head.
    pub(super) fn facts(&self) -> Facts<'a> {
        self.facts_with(&self.probe.borrow())
    }

    fn facts_with(&self, probe: &Probe) -> Facts<'a> {
        let Question {
            project,
            view,
            request,
            ..
        } = self.question;
        let environment = match request.prober {
            Some(_) => Environment::Here(probe.clone()),
            None => Environment::Elsewhere,
        };
        let compiled_since = request.prober.and_then(|prober| prober.compiled_since());
        let root = project.repository.root();
        let facts = Facts::new(
            view,
            root,
            environment,
            project.cache(),
            runners::configured,
        );
        match compiled_since {
            Some(since) => facts.with_build(since, project.config.driver.written_folders(root)),
            None => facts,
        }
    }

    /// What sources tell of a matrix of class files, where that is wanted. If they
    /// tell nothing, people hear why.
    fn unbuilt<'d>(
        &self,
        matrix: &MatrixView,
        delta: Option<&'d Delta>,
        heard: &mut Heard,
    ) -> Option<Unbuilt<'d>>
    where
        'a: 'd,
    {
        let sources = self.question.request.unbuilt?;
        matrix.units_of_kind(UnitKind::Class).next()?;
        let tree = self.question.project.tree(self.question.view);
        let unbuilt = Unbuilt::new(&tree, matrix, delta, sources);
        if let Some(why) = unbuilt.refusal() {
            let commit = short(&matrix.header().commit);
            let known = "before the build nothing is known";
            // Of the nearest matrix, and not of each that is asked besides.
            if !heard.notes.iter().any(|note| note.starts_with(known)) {
                heard
                    .notes
                    .push(format!("{known} of the classes of {commit}: {why}"));
            }
        }
        Some(unbuilt)
    }

    fn probe_units(&self, matrix: &MatrixView, heard: &mut Heard) {
        let Some(prober) = self.question.request.prober else {
            return;
        };
        let mut probe = self.probe.borrow_mut();
        let probed = [UnitKind::Dist, UnitKind::Runtime, UnitKind::Env];
        let units = probed
            .into_iter()
            .flat_map(|kind| matrix.units_of_kind(kind));
        let unknown: Vec<Unit> = units
            .map(|id| matrix.unit(id))
            .filter(|unit| !probe.values.contains_key(unit))
            .collect();
        match prober.ask(&unknown) {
            Ok(answer) => probe.values.extend(answer.values),
            Err(error) => heard
                .notes
                .push(format!("the interpreter cannot be asked: {error:#}")),
        }
    }

    /// The same command line comes to the same options, unless who will run it
    /// knows better: a setting is no word of it.
    fn settle_options(&self, matrix: &MatrixView, probe: &mut Probe) {
        let command = self.question.request.command;
        if command.is_some_and(|command| command == matrix.header().command) {
            let options = Unit::of(What::Options);
            if let Some(id) = matrix.find(&options) {
                let value = matrix.fingerprint(id);
                let known = probe.values.entry(options);
                known.or_insert(value);
            }
        }
    }
}

/// The files that declare the test environment are those of the baseline, and
/// so are the packages, the interpreter, and how it starts. Variables that only
/// tests read are not declared; options are, if the command is `probe`'s.
fn note_declared(matrix: &MatrixView, probe: &Probe, found: &mut Differences) {
    let is_declared = |id: &&UnitId| match matrix.unit(**id) {
        unit if matches!(unit.kind(), UnitKind::Dist | UnitKind::Runtime) => true,
        Unit {
            what: What::Env(name),
            ..
        } => READ_BY_EVERY_TEST.contains(&&*name),
        unit if unit.what == What::AllEnv => false,
        unit => probe.values.get(&unit) == Some(&matrix.fingerprint(**id)),
    };
    found.declared = found.late.iter().filter(is_declared).copied().collect();
}

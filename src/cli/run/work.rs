//! One suite's run: decide, launch, observe, record.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::SystemTime;

use serde_json::Value;

use super::super::shards::Division;
use super::super::{deciding, service, telling};
use super::anew::COMPARED;
use super::{Done, RunRequest};
use crate::error::{Error, Exit};
use crate::history::View;
use crate::pipeline::{
    Decision, Judged, Project, Ran, Recorded, Request, TestCommand, Workshop, decide, guests,
    launch, record_run,
};
use crate::report::{CiSelection, Event, Report, SelectionJson};
use crate::run::{Asker, Ended, Gate};
use crate::runners::emission::LATE;
use crate::runners::file_of;
use crate::runners::{Anew, Built, Question};
use crate::select::{Mode, Need, Part, Selection};

/// One suite and what is to be done with it.
pub(super) struct Work<'a> {
    pub request: &'a RunRequest,
    pub project: &'a Project,
    pub workshop: &'a Workshop,
    /// Its name, if it is one of several.
    pub suite: Option<String>,
    pub command: &'a [OsString],
    pub cwd: PathBuf,
    /// Whether the tests were started, or may have been.
    pub has_started: &'a Cell<bool>,
    /// How many runs of this command came before, for tests that failed only in a part.
    pub runs_before: u8,
    /// Those of them that were for tests that may meet what others leave anew.
    pub passes: u8,
    /// The run before, if tests left something anew in it: those that can meet it run.
    pub after: Option<&'a Recorded>,
    /// Tests that fail in the suite's own order too, as runs of this command have shown.
    pub failing: &'a RefCell<BTreeSet<String>>,
    pub report: &'a Report,
}

/// What was decided, and for which state.
struct Chosen {
    view: View,
    decision: Decision,
    /// What would be left out of a run of everything.
    audited: Option<Decision>,
    /// What the service is still to be told of it.
    told: Option<CiSelection>,
}

/// What became of the tests.
enum Tests {
    NotRun,
    Ran(Ran),
    /// Nothing is known of them.
    Unwatched(Ran),
}

impl Work<'_> {
    /// Decides, runs what has to run, and records it.
    pub(super) fn run(&self) -> Result<(Exit, Done), Error> {
        let (chosen, tests) = match self.gate() {
            Some((gate, question)) => self.decide_when_asked(gate, question)?,
            None => self.decide_first()?,
        };
        if self.request.dry_run {
            let document = match self.report.is_json() {
                true => self.json(&chosen).value()?,
                false => telling::list(&chosen.decision.selection, self.suite.as_deref()).into(),
            };
            return Ok((Exit::DONE, self.done(chosen, Some(document))));
        }
        match tests {
            Tests::NotRun => self.keep(chosen),
            Tests::Ran(ran) => self.record(&ran, chosen),
            Tests::Unwatched(ran) => self.conclude(&ran, Ok(Recorded::default()), chosen),
        }
    }

    /// Compiles if that is needed, decides, and then starts the tests.
    fn decide_first(&self) -> Result<(Chosen, Tests), Error> {
        let since = SystemTime::now();
        let built = match self.build()? {
            true => Built::Since(since),
            false => Built::No,
        };
        let chosen = self.choose(built)?;
        let selection = &chosen.decision.selection;
        if self.request.dry_run || selection.mode() == Mode::None {
            return Ok((chosen, Tests::NotRun));
        }
        let (project, report) = (self.project, self.report);
        let division = self.division(&chosen);
        let part = self.part(division.as_ref());
        let exclude = self.write_exclusions(&chosen, part)?;
        let out = self.workshop.scratch.join("out");
        let tell = |why| report.detail(why);
        let driver = project.config.driver;
        let left_out = driver.emit(selection, part, &project.dir, &out, &tell)?;
        self.has_started.set(true);
        let tests = self.tests(exclude, left_out);
        let ran = launch(project, self.workshop, &tests)?.wait()?;
        Ok((chosen, Tests::Ran(ran)))
    }

    /// Starts the command, and decides when it asks what to leave out: then all is
    /// compiled.
    fn decide_when_asked(&self, gate: Gate, question: Question) -> Result<(Chosen, Tests), Error> {
        let (project, report) = (self.project, self.report);
        // What the tests run with if nobody asks.
        let before = project.repository.work_view()?;
        let late = self.workshop.scratch.join("out").join(LATE);
        let tests = self.tests(late, Some(gate.path().to_owned()));
        self.has_started.set(true);
        let mut launched = launch(project, self.workshop, &tests)?;
        let chosen = match gate.wait(&mut launched.running) {
            Ok(Some(asker)) => self.answer(asker, &question).map(Some),
            Ok(None) => Ok(None),
            Err(error) => Err(error.into()),
        };
        match &chosen {
            Ok(Some(_)) => launched.is_told(),
            Ok(None) => {}
            Err(error) => {
                report.warning(format!("{error}: all tests run, and nothing is recorded"));
            }
        }
        let ran = launched.wait()?;
        let Some(chosen) = chosen? else {
            return self.unasked(ran, before, question);
        };
        let is_none = chosen.decision.selection.mode() == Mode::None;
        let tests = match is_none && ran.is_silent() && ran.ended == Ended::Exit(0) {
            true => Tests::NotRun,
            false => Tests::Ran(ran),
        };
        Ok((chosen, tests))
    }

    /// Decides, and answers what to leave out.
    fn answer(&self, asker: Asker, question: &Question) -> Result<Chosen, Error> {
        let project = self.project;
        let chosen = self.choose(Built::Yes)?;
        let selection = &chosen.decision.selection;
        let division = self.division(&chosen);
        let part = self.part(division.as_ref());
        self.write_exclusions(&chosen, part)?;
        let tell = |why| self.report.detail(why);
        let driver = project.config.driver;
        let list = match selection.mode() {
            Mode::None => question.nothing_runs.to_owned(),
            Mode::All | Mode::Subset => driver.answer(selection, part, &project.dir, &tell),
        };
        asker.answer(&list)?;
        Ok(chosen)
    }

    /// The command ended, and nobody asked what to leave out: it did not come to
    /// the tests, or ran them as its build says.
    fn unasked(&self, ran: Ran, view: View, question: Question) -> Result<(Chosen, Tests), Error> {
        let words = self.words();
        let asked = self.asked(&view, &words)?;
        let store = self.project.store();
        let mut decision = decide(self.project, &store, &view, &asked)?;
        let Question { by, since, .. } = question;
        let why = format!("{by} did not ask what to leave out");
        decision.selection = Selection::all(asked.strategy, why.clone());
        let is_silent = ran.is_silent();
        match is_silent {
            true => self
                .report
                .detail(format!("{why}: all tests count as selected")),
            // Nobody would learn why it is never faster.
            false => self.report.event(Event::Fallback {
                reason: format!("{why}, which it does from {since} on: all tests ran"),
            }),
        }
        let chosen = Chosen {
            told: self.tell_service(&decision)?,
            audited: None,
            decision,
            view,
        };
        let tests = match is_silent {
            true => Tests::Unwatched(ran),
            false => Tests::Ran(ran),
        };
        Ok((chosen, tests))
    }

    /// Compiles what the command will test; whether what is on disk is what it will test.
    fn build(&self) -> Result<bool, Error> {
        let config = &self.project.config;
        let command = (self.command, self.cwd.as_path());
        let out = self.workshop.scratch.join("out");
        let output = telling::output(self.report);
        deciding::build(config, command, &out, &output, self.report)
    }

    /// Where the command will ask what to leave out, if one run of it can compile and test.
    fn gate(&self) -> Option<(Gate, Question)> {
        if self.request.dry_run {
            return None;
        }
        let driver = self.project.config.driver;
        let question = match driver.question(self.command, &self.cwd) {
            Ok(question) => question?,
            Err(why) => {
                self.report.detail(why);
                return None;
            }
        };
        match Gate::new(self.workshop.scratch.join("out").join(question.file)) {
            Ok(gate) => Some((gate, question)),
            Err(error) => {
                let why = format!("the command cannot ask what to leave out: {error:#}");
                self.report.detail(why);
                None
            }
        }
    }

    fn tests(&self, exclude: PathBuf, left_out: Option<PathBuf>) -> TestCommand<'_> {
        TestCommand {
            command: self.command,
            cwd: &self.cwd,
            exclude: Some(exclude),
            left_out,
            output: telling::output(self.report),
        }
    }

    fn write_exclusions(&self, chosen: &Chosen, part: Option<Part<'_>>) -> Result<PathBuf, Error> {
        let decided = (&chosen.view, &chosen.decision);
        telling::write_exclusions(decided, part, self.project, self.workshop, self.report)
    }

    fn words(&self) -> Vec<String> {
        let config = &self.project.config;
        config
            .driver
            .words(self.command, &self.cwd, &config.root.value)
    }

    fn asked<'r>(&self, view: &View, words: &'r [String]) -> Result<Request<'r>, Error> {
        let event = &self.request.event;
        Ok(Request {
            strategy: self.request.config.strategy.value,
            command: Some(words),
            hints: event.resolve(&self.project.repository, view.revision().commit)?,
            after: self.after.and_then(|recorded| recorded.name),
            ..Request::default()
        })
    }

    /// Decides for the state at hand, and tells everybody.
    fn choose(&self, built: Built) -> Result<Chosen, Error> {
        let (project, report) = (self.project, self.report);
        let store = project.store();
        let view = project.repository.work_view()?;
        let prober = self
            .workshop
            .prober(project, (self.command, &self.cwd), built);
        let words = self.words();
        let asked = Request {
            prober: prober.as_deref(),
            ..self.asked(&view, &words)?
        };
        let mut decision = decide(project, &store, &view, &asked)?;
        // The run that counts after tests failed in a part: what they need is known for one
        // process.
        decision.selection.processes.is_one = self.runs_before > 0;
        if let Some(recorded) = self.after {
            let failed = recorded.outcomes.iter().find(|(_, end)| !end.is_good());
            for leaver in recorded.anew.leavers() {
                // What failed met it, and does so again.
                if let Some((test, _)) = failed {
                    let test = test.clone();
                    decision.selection.bring(leaver, Need::LeavesTo { test });
                }
                // It may be the end of a fixture that other tests of the file need.
                let file = file_of(leaver);
                for ran in recorded.outcomes.keys() {
                    if file_of(ran) == file {
                        let test = leaver.to_owned();
                        decision.selection.bring(ran, Need::LeavesTo { test });
                    }
                }
            }
            decision.anew = Some(Anew {
                is_broad: self.passes > COMPARED,
                ran: match failed.is_none() && recorded.anew.inexact.is_empty() {
                    true => recorded.outcomes.keys().cloned().collect(),
                    false => BTreeSet::new(),
                },
                ..recorded.anew.clone()
            });
        }
        if self.request.shard.is_some() {
            deciding::lay_out(project, &view, &mut decision, false, report)?;
        }
        telling::tell_decision(&decision, self.suite.as_deref(), report);
        let told = self.tell_service(&decision)?;
        let audited = match self.request.dry_run || decision.selection.mode() == Mode::None {
            true => None,
            false => deciding::to_audit(project, &store, &view, &asked, decision.head.as_ref())?,
        };
        Ok(Chosen {
            view,
            decision,
            audited,
            told,
        })
    }

    fn division(&self, chosen: &Chosen) -> Option<Division> {
        let shard = self.request.shard?;
        let decision = &chosen.decision;
        let mut division = Division::into_exactly(&decision.selection, shard.of);
        let known = chosen.audited.as_ref();
        division.guests = guests(self.project, decision, known, &division.shards);
        Some(division)
    }

    fn part<'d>(&self, division: Option<&'d Division>) -> Option<Part<'d>> {
        let (shard, division) = self.request.shard.zip(division)?;
        Some(division.part(shard.index))
    }

    /// Nothing had to run.
    fn keep(&self, chosen: Chosen) -> Result<(Exit, Done), Error> {
        telling::keep(
            self.project,
            self.workshop,
            (&chosen.view, &chosen.decision),
            self.words(),
            self.report,
        );
        let json = || {
            let json = self.json(&chosen);
            json.with_outcomes(&BTreeMap::new()).value()
        };
        let document = self.report.is_json().then(json).transpose()?;
        Ok((Exit::DONE, self.done(chosen, document)))
    }

    fn record(&self, ran: &Ran, chosen: Chosen) -> Result<(Exit, Done), Error> {
        let judged = Judged {
            before: &chosen.view,
            decision: &chosen.decision,
            audited: chosen.audited.as_ref(),
        };
        let recorded = record_run(self.project, self.workshop, ran, &judged);
        self.conclude(ran, recorded, chosen)
    }

    /// Tells and shares what a run came to.
    fn conclude(
        &self,
        ran: &Ran,
        recorded: anyhow::Result<Recorded>,
        chosen: Chosen,
    ) -> Result<(Exit, Done), Error> {
        let (project, report) = (self.project, self.report);
        let recorded = telling::tell_run(project, ran, recorded, &chosen.decision, report);
        let exit = Exit(u8::try_from(ran.ended.status()).unwrap_or(u8::MAX));
        let after = self.after_others(ran, &recorded, &chosen.decision, exit);
        // With what is known of order by now.
        telling::share(project, &recorded, report);
        let (exit, again) = after?;
        let mut outcomes = recorded.outcomes.clone();
        // Such a run looks for itself.
        let (exit, more) = match again.outcomes.is_empty() {
            true => self.who_meets(&recorded, exit)?,
            false => (exit, BTreeMap::new()),
        };
        outcomes.extend(again.outcomes);
        outcomes.extend(more);
        let json = || {
            let json = self.json(&chosen).with_outcomes(&outcomes);
            let json = json.with_passed_after(&again.after);
            let json = json.with_values(&recorded.confirmed, &recorded.refuted);
            json.with_audit(&recorded.audit).value()
        };
        let document = report.is_json().then(json).transpose()?;
        let done = self.done(chosen, document);
        Ok((exit, Done { outcomes, ..done }))
    }

    fn json(&self, chosen: &Chosen) -> SelectionJson {
        let is_shallow = self.project.repository.is_shallow();
        telling::selection_json(&chosen.decision, &chosen.view)
            .with_ci(self.request.ci.as_ref(), Some(is_shallow))
    }

    fn done(&self, chosen: Chosen, document: Option<Value>) -> Done {
        Done {
            suite: self.suite.clone(),
            told: chosen.told,
            document,
            outcomes: BTreeMap::new(),
        }
    }

    /// Tells people at once. Of several suites the outputs wait for the others,
    /// and come back.
    fn tell_service(&self, decision: &Decision) -> Result<Option<CiSelection>, Error> {
        let ci = self.request.ci.as_ref();
        let mut told = CiSelection::new(&decision.selection, &service::fallbacks(decision));
        told.suite = self.suite.clone();
        service::tell_people(ci, &told, self.report);
        match self.suite {
            Some(_) => Ok(Some(told)),
            None => {
                service::tell_outputs(ci, &told)?;
                Ok(None)
            }
        }
    }
}

//! `tamis run`.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::Args;
use serde_json::Value;

use super::shards::Division;
use super::strategy::{EventArgs, StrategyArgs};
use super::{Globals, deciding, service, suites, telling, whole};
use crate::ci::CiContext;
use crate::config::{Config, Setting, Strategy};
use crate::error::{Error, Exit};
use crate::history::View;
use crate::pipeline::{
    self, Decision, Judged, Order, Project, Request, Session, Workshop, decide, open_whole,
    run_tests, start_tests,
};
use crate::report::{CiSelection, Event, Report, SelectionJson};
use crate::run::{Asker, Ended, Gate, RunPlan};
use crate::runners::emission::LATE;
use crate::runners::{Build, Built, Prober, Question};
use crate::select::{Mode, Part, Selection, Shard};

/// Select, run what is selected, and record the results.
///
/// The first time all tests run. The exit status is that of the test command;
/// 0 when no test had to run.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    tamis run                      with the test command that tamis finds\n  \
    tamis run -- pytest -x -n 2    with your own\n  \
    tamis run --dry-run            only say what would run\n  \
    tamis run --all                run and record everything anew")]
pub struct RunArgs {
    #[command(flatten)]
    selecting: StrategyArgs,
    /// Run all tests: the same as --strategy all
    #[arg(long, conflicts_with = "strategy")]
    all: bool,
    /// Say what would run, and run nothing
    #[arg(long)]
    dry_run: bool,
    /// Run only this part of the tests: 2/4
    #[arg(long, value_name = "M/N")]
    shard: Option<Shard>,
    /// The test command [default: the configuration's, else found]
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// What `run` is to do: flags and configuration merged.
#[derive(Clone, Debug)]
pub struct RunRequest {
    pub config: Config,
    pub dry_run: bool,
    /// What was typed; empty: what is configured or found.
    pub command: Vec<OsString>,
    /// What an event tells of the head.
    pub event: EventArgs,
    /// Which part runs.
    pub shard: Option<Shard>,
    /// Whom to tell how the selection came out.
    pub ci: Option<CiContext>,
}

impl RunArgs {
    fn resolve(&self, globals: &Globals) -> Result<RunRequest, Error> {
        let mut overrides = self.selecting.overrides();
        if self.all {
            overrides.strategy = Some(Setting::flag(Strategy::All, "--all"));
        }
        let config = globals.config(&overrides)?.for_command(&self.command);
        Ok(RunRequest {
            config,
            dry_run: self.dry_run,
            command: self.command.clone(),
            event: self.selecting.event(globals.ci.as_ref()),
            shard: self.shard,
            ci: globals.ci.clone(),
        })
    }
}

pub fn run(args: &RunArgs, globals: &Globals, report: &Report) -> Result<Exit, Error> {
    globals.enter_ci(report)?;
    let suites = globals.each_suite()?;
    let requests = suites.iter().map(|globals| args.resolve(globals));
    let requests = requests.collect::<Result<Vec<_>, _>>()?;
    let (exit, ran) = suites::for_each(&suites, report, |at, globals| {
        run_suite(&requests[at], globals, report)
    })?;
    let mut told = Vec::new();
    let mut documents = Vec::new();
    for ran in ran {
        told.extend(ran.told);
        documents.extend(ran.document.map(|document| (ran.suite, document)));
    }
    // Outputs of a part are worse than none, which mean all.
    if !told.is_empty() && told.len() == suites.len() {
        service::tell_outputs(globals.ci.as_ref(), &CiSelection::join(told))?;
    }
    if report.is_json() {
        report.json(&suites::join_documents(documents))?;
    } else if args.dry_run {
        let lines: String = documents
            .iter()
            .filter_map(|(_, lines)| lines.as_str())
            .collect();
        report.data(&lines)?;
    }
    Ok(exit)
}

/// What a suite's run leaves.
struct Ran {
    suite: Option<String>,
    /// Where it is one of several.
    told: Option<CiSelection>,
    /// The JSON document, or the lines of a dry run.
    document: Option<Value>,
}

fn run_suite(
    request: &RunRequest,
    globals: &Globals,
    report: &Report,
) -> Result<(Exit, Ran), Error> {
    let has_started = Cell::new(false);
    let done = select_and_run(request, globals, &has_started, report);
    done.or_else(|error| {
        let ci = globals.ci.as_ref();
        let may = whole::may_run(&error, ci, request.event.is_named()) && !has_started.get();
        match may {
            true => run_whole(request, globals, &error, report),
            false => Err(error),
        }
    })
}

fn select_and_run(
    request: &RunRequest,
    globals: &Globals,
    has_started: &Cell<bool>,
    report: &Report,
) -> Result<(Exit, Ran), Error> {
    let project = open_whole(&request.config, globals.ci.as_ref())?;
    deciding::join_shards(&project, report);
    let command = suites::command_of(&request.command, &request.config, report)?;
    let is_typed = !request.command.is_empty();
    let work = Work {
        request,
        project: &project,
        suite: globals.mark(),
        cwd: suites::folder_of_command(is_typed, &request.config, globals),
        has_started,
        report,
    };
    let workshop = Workshop::set_up_as(&project, &globals.mark().unwrap_or_default())?;
    let done = work.select_and_run(&workshop, &command);
    workshop.clean_up();
    done
}

/// Runs everything after `error`, which came before any test.
fn run_whole(
    request: &RunRequest,
    globals: &Globals,
    error: &Error,
    report: &Report,
) -> Result<(Exit, Ran), Error> {
    let ci = globals.ci.as_ref();
    let suite = globals.mark();
    let command = suites::command_of(&request.command, &request.config, report)?;
    let selection = whole::select(error, &request.config, report);
    let told = whole::told(&selection, suite.clone());
    let told = match suite {
        Some(_) => {
            service::tell_people(ci, &told, report);
            Some(told)
        }
        None => {
            service::tell_service(ci, &told, report)?;
            None
        }
    };
    let exit = match request.dry_run {
        true => Exit::DONE,
        false => {
            let is_typed = !request.command.is_empty();
            let cwd = suites::folder_of_command(is_typed, &request.config, globals);
            whole::run(&command, &cwd, report)?
        }
    };
    let json = || whole::json(&selection, ci, !request.dry_run);
    let document = report.is_json().then(json).transpose()?;
    let ran = Ran {
        suite,
        told,
        document,
    };
    Ok((exit, ran))
}

/// What was selected, and what the service will be told of it.
struct Chosen {
    decision: Decision,
    told: Option<CiSelection>,
}

/// One suite and what is to be done with it.
struct Work<'a> {
    request: &'a RunRequest,
    project: &'a Project,
    /// Its name, if it is one of several.
    suite: Option<String>,
    cwd: PathBuf,
    /// Whether the tests were, or may have been.
    has_started: &'a Cell<bool>,
    report: &'a Report,
}

impl Work<'_> {
    fn select_and_run(
        &self,
        workshop: &Workshop,
        command: &[OsString],
    ) -> Result<(Exit, Ran), Error> {
        if let Some((gate, question)) = self.gate(workshop, command) {
            return self.run_at_once(workshop, command, gate, question);
        }
        let Work {
            request,
            project,
            report,
            ..
        } = *self;
        let since = SystemTime::now();
        let out = workshop.scratch.join("out");
        let built = match self.build(command, &out)? {
            true => Built::Since(since),
            false => Built::No,
        };
        let view = project.repository.work_view()?;
        let prober = workshop.prober(project, (command, &self.cwd), built);
        let words = self.words(command);
        let asked = self.asked(&view, prober.as_deref(), &words)?;
        let chosen = self.choose(&asked, &view)?;
        if request.dry_run {
            let document = match report.is_json() {
                true => self.json(&chosen, &view).value()?,
                false => telling::list(&chosen.decision.selection, self.suite.as_deref()).into(),
            };
            return Ok((Exit::DONE, self.ran(chosen, Some(document))));
        }
        if chosen.decision.selection.mode() == Mode::None {
            return self.keep(workshop, chosen, &view, words);
        }
        let audited = self.audited(&asked, &view, &chosen)?;
        let selection = &chosen.decision.selection;
        let division = self.division(selection);
        let part = self.part(division.as_ref());
        let exclude = telling::write_exclusions(selection, part, project, workshop)?;
        let tell = |why| report.detail(why);
        let left_out = project
            .config
            .driver
            .emit(selection, part, &project.dir, &out, &tell)?;
        self.has_started.set(true);
        let session = run_tests(
            project,
            &project.store(),
            workshop,
            &Order {
                command: command.to_vec(),
                cwd: &self.cwd,
                exclude: Some(exclude),
                left_out,
                output: telling::output(report),
            },
            &Judged {
                before: &view,
                decision: &chosen.decision,
                audited: audited.as_ref(),
            },
        )?;
        self.conclude(session, chosen, &view)
    }

    /// Compiles what a command will test; whether what lies on disk is what it will test.
    fn build(&self, command: &[OsString], out: &Path) -> Result<bool, Error> {
        let report = self.report;
        let build = match self.project.config.driver.build(command, out)? {
            Build::NotNeeded => return Ok(false),
            Build::Done => return Ok(true),
            Build::By(build) => build,
            Build::Unknown(why) => {
                report.detail(why);
                return Ok(false);
            }
        };
        let plan = RunPlan::plain(build, &self.cwd);
        let is_built = plan.execute(&telling::output(report))? == Ended::Exit(0);
        if !is_built {
            report.warning("the project does not compile by itself: all tests run");
        }
        Ok(is_built)
    }

    fn words(&self, command: &[OsString]) -> Vec<String> {
        let config = &self.project.config;
        config.driver.words(command, &self.cwd, &config.root.value)
    }

    /// Where the command will ask what to leave out, if one run of it can compile and test.
    fn gate(&self, workshop: &Workshop, command: &[OsString]) -> Option<(Gate, Question)> {
        if self.request.dry_run {
            return None;
        }
        let question = match self.project.config.driver.question(command, &self.cwd) {
            Ok(question) => question?,
            Err(why) => {
                self.report.detail(why);
                return None;
            }
        };
        match Gate::new(workshop.scratch.join("out").join(question.file)) {
            Ok(gate) => Some((gate, question)),
            Err(error) => {
                let why = format!("the command cannot ask what to leave out: {error:#}");
                self.report.detail(why);
                None
            }
        }
    }

    /// Starts the command, and selects when it asks what to leave out: then all is
    /// compiled.
    fn run_at_once(
        &self,
        workshop: &Workshop,
        command: &[OsString],
        gate: Gate,
        question: Question,
    ) -> Result<(Exit, Ran), Error> {
        let Work {
            project, report, ..
        } = *self;
        // What the tests run with if nobody asks.
        let before = project.repository.work_view()?;
        let order = Order {
            command: command.to_vec(),
            cwd: &self.cwd,
            exclude: Some(workshop.scratch.join("out").join(LATE)),
            left_out: Some(gate.path().to_owned()),
            output: telling::output(report),
        };
        self.has_started.set(true);
        let mut started = start_tests(project, workshop, &order)?;
        let asker = gate.wait(&mut started.running);
        let words = self.words(command);
        let chosen = match asker {
            Ok(Some(asker)) => {
                let answered = self.answer(workshop, command, &words, asker, question);
                answered.map(Some)
            }
            Ok(None) => Ok(None),
            Err(error) => Err(error.into()),
        };
        if let Err(error) = &chosen {
            report.warning(format!("{error}: all tests run, and nothing is recorded"));
        }
        let ran = started.wait()?;
        let Some((chosen, audited, view)) = chosen? else {
            return self.unasked(workshop, &order, &words, ran, &before, question);
        };
        let exclusions = order.exclusions();
        let is_none = chosen.decision.selection.mode() == Mode::None;
        if is_none && ran.is_silent() && ran.ended == Ended::Exit(0) {
            return self.keep(workshop, chosen, &view, words);
        }
        let judged = Judged {
            before: &view,
            decision: &chosen.decision,
            audited: audited.as_ref(),
        };
        let store = project.store();
        let session = ran.record(project, &store, workshop, &judged, &exclusions);
        self.conclude(session, chosen, &view)
    }

    /// Selects, and answers what to leave out.
    fn answer(
        &self,
        workshop: &Workshop,
        command: &[OsString],
        words: &[String],
        asker: Asker,
        question: Question,
    ) -> Result<(Chosen, Option<Decision>, View), Error> {
        let project = self.project;
        let view = project.repository.work_view()?;
        let prober = workshop.prober(project, (command, &self.cwd), Built::Yes);
        let asked = self.asked(&view, prober.as_deref(), words)?;
        let chosen = self.choose(&asked, &view)?;
        let audited = self.audited(&asked, &view, &chosen)?;
        let selection = &chosen.decision.selection;
        let division = self.division(selection);
        let part = self.part(division.as_ref());
        telling::write_exclusions(selection, part, project, workshop)?;
        let tell = |why| self.report.detail(why);
        let list = match selection.mode() {
            Mode::None => question.nothing_runs.to_owned(),
            _ => project
                .config
                .driver
                .answer(selection, part, &project.dir, &tell),
        };
        asker.answer(&list)?;
        Ok((chosen, audited, view))
    }

    /// The command ended, and nobody asked what to leave out: it did not come to
    /// the tests, or ran them as its build says.
    fn unasked(
        &self,
        workshop: &Workshop,
        order: &Order<'_>,
        words: &[String],
        ran: pipeline::Ran<'_>,
        before: &View,
        question: Question,
    ) -> Result<(Exit, Ran), Error> {
        let project = self.project;
        let asked = self.asked(before, None, words)?;
        let mut decision = decide(project, &project.store(), before, &asked)?;
        let Question { by, since, .. } = question;
        let why = format!("{by} did not ask what to leave out");
        decision.selection = Selection::all(asked.strategy, why.clone());
        match ran.is_silent() {
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
            decision,
        };
        let session = match ran.is_silent() {
            true => ran.unrecorded(),
            false => {
                let judged = Judged {
                    before,
                    decision: &chosen.decision,
                    audited: None,
                };
                let store = project.store();
                ran.record(project, &store, workshop, &judged, &order.exclusions())
            }
        };
        self.conclude(session, chosen, before)
    }

    fn asked<'r>(
        &self,
        view: &View,
        prober: Option<&'r dyn Prober>,
        words: &'r [String],
    ) -> Result<Request<'r>, Error> {
        let config = &self.request.config;
        let event = &self.request.event;
        Ok(Request {
            strategy: config.strategy.value,
            baseline: None,
            prober,
            command: Some(words),
            hints: event.resolve(&self.project.repository, view.revision().commit)?,
            ..Request::default()
        })
    }

    /// Selects, and tells everybody.
    fn choose(&self, asked: &Request<'_>, view: &View) -> Result<Chosen, Error> {
        let Work {
            project, report, ..
        } = *self;
        let mut decision = decide(project, &project.store(), view, asked)?;
        if self.request.shard.is_some() {
            deciding::lay_out(project, view, &mut decision, false, report)?;
        }
        telling::tell_decision(&decision, self.suite.as_deref(), report);
        let told = self.tell_service(&decision)?;
        Ok(Chosen { decision, told })
    }

    fn audited(
        &self,
        asked: &Request<'_>,
        view: &View,
        chosen: &Chosen,
    ) -> Result<Option<Decision>, Error> {
        let head = chosen.decision.head.as_ref();
        deciding::to_audit(self.project, &self.project.store(), view, asked, head)
    }

    fn division(&self, selection: &Selection) -> Option<Division> {
        let shard = self.request.shard?;
        Some(Division::into_exactly(selection, shard.of))
    }

    fn part<'d>(&self, division: Option<&'d Division>) -> Option<Part<'d>> {
        let (shard, division) = self.request.shard.zip(division)?;
        Some(division.part(shard.index))
    }

    fn json(&self, chosen: &Chosen, view: &View) -> SelectionJson {
        let is_shallow = self.project.repository.is_shallow();
        telling::selection_json(&chosen.decision, view)
            .with_ci(self.request.ci.as_ref(), Some(is_shallow))
    }

    fn ran(&self, chosen: Chosen, document: Option<Value>) -> Ran {
        Ran {
            suite: self.suite.clone(),
            told: chosen.told,
            document,
        }
    }

    /// Nothing had to run.
    fn keep(
        &self,
        workshop: &Workshop,
        chosen: Chosen,
        view: &View,
        words: Vec<String>,
    ) -> Result<(Exit, Ran), Error> {
        let Work {
            project, report, ..
        } = *self;
        let store = project.store();
        telling::keep(
            project,
            &store,
            workshop,
            view,
            &chosen.decision,
            words,
            report,
        );
        let document = report.is_json().then(|| {
            let json = self.json(&chosen, view);
            json.with_outcomes(&BTreeMap::new()).value()
        });
        Ok((Exit::DONE, self.ran(chosen, document.transpose()?)))
    }

    /// Tells and shares what a session came to.
    fn conclude(
        &self,
        session: Session,
        chosen: Chosen,
        view: &View,
    ) -> Result<(Exit, Ran), Error> {
        let Work {
            project, report, ..
        } = *self;
        let status = session.ended.status();
        let recorded = telling::tell_session(project, session, &chosen.decision, report);
        telling::share(project, &project.store(), &recorded, report);
        let document = report.is_json().then(|| {
            let json = self.json(&chosen, view).with_outcomes(&recorded.outcomes);
            json.with_audit(&recorded.audit).value()
        });
        let exit = Exit(u8::try_from(status).unwrap_or(u8::MAX));
        Ok((exit, self.ran(chosen, document.transpose()?)))
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

#[cfg(test)]
mod tests {
    use super::super::testing::Project;
    use super::*;
    use crate::config::Overrides;

    #[test]
    fn every_option_changes_the_request() {
        let groups: [&[&str]; 8] = [
            &["--deepen", "always"],
            &["--shard", "2/4"],
            &["--strategy", "commit"],
            &["--all"],
            &["--dry-run"],
            &["--before", "c"],
            &["--pr-head", "d"],
            &["--", "pytest", "-x"],
        ];
        Project::new("version: 1\n").each_matters(&[], &groups, RunArgs::resolve);
    }

    #[test]
    fn a_typed_command_beats_the_configured_one() {
        let project = Project::new("version: 1\ncommand: [pytest, -q]\n");
        let config = project.globals().config(&Overrides::default()).unwrap();
        let (report, ..) = crate::report::testing::report(crate::report::Style::default());
        let command = |typed: &[OsString]| suites::command_of(typed, &config, &report).unwrap();
        assert_eq!(command(&[]), ["pytest", "-q"]);
        assert_eq!(command(&["pytest".into(), "-x".into()]), ["pytest", "-x"]);
    }
}

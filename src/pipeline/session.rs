//! One run of the tests' command under collection, and its record.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};

use super::decide::Decision;
use super::merge;
use super::observe::observe;
use super::project::Project;
use super::record::record;
use super::recording::{CommandRun, Recorded, Recording};
use crate::history::View;
use crate::languages::{Environment, Facts};
use crate::observe::Observations;
use crate::run::{Ended, Output, Running, install_agent_for};
use crate::runners::emission::read_exclusions;
use crate::runners::{self, Asked, Built, Launch, Prober, Runner};
use crate::select::Exclusions;
use crate::store::FsStore;

/// What came of a run.
pub struct Session {
    /// The command's words.
    pub command: Vec<String>,
    pub ended: Ended,
    pub seconds: f64,
    /// Why nothing could be recorded, or what was.
    pub recorded: Result<Recorded>,
}

/// Keeps git from seeing the state folder, whatever the project ignores. Where
/// this cannot be written, nothing can be stored either, and that is reported.
fn hide(state: &Path) {
    let file = state.join(".gitignore");
    if !file.exists() && fs_err::create_dir_all(state).is_ok() {
        let _ = crate::disk::write(file, "*\n");
    }
}

/// Everything that a run needs besides its command.
pub struct Workshop {
    pub agent: PathBuf,
    /// Scratch folder of this run.
    pub scratch: PathBuf,
    pub run: String,
    pub now: u64,
}

impl Workshop {
    /// Installs the agent and makes a scratch folder.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn set_up(project: &Project) -> Result<Workshop> {
        Workshop::set_up_as(project, "")
    }

    /// The same, for one of several runs of this process: `which` tells their
    /// names apart.
    ///
    /// # Errors
    /// Those of [`Workshop::set_up`].
    pub fn set_up_as(project: &Project, which: &str) -> Result<Workshop> {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |elapsed| elapsed.as_secs());
        let id = std::process::id();
        let run = match which {
            "" => format!("{now}-{id}"),
            which => format!("{now}-{id}-{which}"),
        };
        // Not in the project, which may be read-only.
        let scratch = tempfile::Builder::new()
            .prefix("tamis-")
            .tempdir()
            .context("cannot make a folder for traces; set TMPDIR to one that can be written")?
            .keep();
        hide(project.state());
        Ok(Workshop {
            agent: install_agent_for(project.state()).context("cannot install the collector")?,
            scratch,
            run,
            now,
        })
    }

    /// Who tells what a command will run its tests with. `built`: whether classes count
    /// as they lie on disk.
    pub fn prober(
        &self,
        project: &Project,
        (command, cwd): (&[OsString], &Path),
        built: Built,
    ) -> Option<Box<dyn Prober>> {
        let runner = runners::driver(project.config.runner.value, command);
        runner.prober(&Asked {
            command,
            cwd,
            root: project.repository.root(),
            agent: &self.agent,
            built,
            settings: project.config.settings(),
        })
    }

    /// Removes the scratch folder, unless TAMIS_DEBUG asks for it. What stays
    /// behind takes space, no more.
    pub fn clean_up(&self) {
        if std::env::var_os("TAMIS_DEBUG").is_some() {
            return;
        }
        let _ = std::fs::remove_dir_all(&self.scratch);
    }
}

/// Where and how the command runs.
pub struct Order<'a> {
    pub command: Vec<OsString>,
    pub cwd: &'a Path,
    /// The file of tests to leave out, if not those of the decision.
    pub exclude: Option<PathBuf>,
    /// The same for the build tool, if the command is one of Maven's or Gradle's.
    pub left_out: Option<PathBuf>,
    /// Where what the command says goes.
    pub output: Output,
}

/// What a run is recorded with.
pub struct Judged<'a> {
    /// The project before the tests started.
    pub before: &'a View,
    pub decision: &'a Decision,
    /// What would be left out, to be compared with what happens; if not
    /// given, what the decision leaves out.
    pub audited: Option<&'a Decision>,
}

/// Runs the command under collection and records what its tests used.
///
/// # Errors
/// If the command cannot be started. Trouble in recording is in the answer:
/// the command's own status must not be lost.
pub fn run_tests(
    project: &Project,
    store: &FsStore,
    workshop: &Workshop,
    order: &Order<'_>,
    judged: &Judged<'_>,
) -> Result<Session> {
    let exclusions = order.exclusions();
    let ran = start_tests(project, workshop, order)?.wait()?;
    Ok(ran.record(project, store, workshop, judged, &exclusions))
}

impl Order<'_> {
    /// What is left out. What an unreadable file leaves out, the plug-in does not
    /// leave out either.
    pub fn exclusions(&self) -> Exclusions {
        let read = self.exclude.as_deref().map(read_exclusions);
        read.and_then(Result::ok).unwrap_or_default()
    }
}

/// The command, under collection.
pub struct Started<'a> {
    pub running: Running,
    order: &'a Order<'a>,
    runner: &'static dyn Runner,
    traces: PathBuf,
    since: Instant,
}

/// Starts the command under collection.
///
/// # Errors
/// If it cannot be started.
pub fn start_tests<'a>(
    project: &Project,
    workshop: &Workshop,
    order: &'a Order<'a>,
) -> Result<Started<'a>> {
    let traces = workshop.scratch.join("traces");
    let runner = project.config.driver;
    let plan = runner.launch(&Launch {
        command: &order.command,
        cwd: order.cwd,
        project: &project.dir,
        root: project.repository.root(),
        run: &workshop.run,
        agent: &workshop.agent,
        traces: &traces,
        out: &workshop.scratch.join("out"),
        exclude: order.exclude.as_deref(),
        left_out: order.left_out.as_deref(),
        settings: project.config.settings(),
    })?;
    let since = Instant::now();
    Ok(Started {
        running: plan.start(&order.output)?,
        order,
        runner,
        traces,
        since,
    })
}

impl<'a> Started<'a> {
    /// Waits for the command's end.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn wait(self) -> Result<Ran<'a>> {
        Ok(Ran {
            ended: self.running.wait()?,
            seconds: self.since.elapsed().as_secs_f64(),
            order: self.order,
            runner: self.runner,
            traces: self.traces,
        })
    }
}

/// The command came to its end.
pub struct Ran<'a> {
    pub ended: Ended,
    seconds: f64,
    order: &'a Order<'a>,
    runner: &'static dyn Runner,
    traces: PathBuf,
}

impl Ran<'_> {
    fn words(&self, project: &Path) -> Vec<String> {
        let Order { command, cwd, .. } = self.order;
        self.runner.words(command, cwd, project)
    }

    /// Whether no process wrote down anything.
    pub fn is_silent(&self) -> bool {
        std::fs::read_dir(&self.traces).is_ok_and(|mut traces| traces.next().is_none())
    }

    /// The session without a record: nothing is known of any test.
    pub fn unrecorded(self) -> Session {
        Session {
            command: self.words(self.order.cwd),
            ended: self.ended,
            seconds: self.seconds,
            recorded: Ok(Recorded::default()),
        }
    }

    /// Records what the tests used. `exclusions`: what they were told to leave out.
    pub fn record(
        self,
        project: &Project,
        store: &FsStore,
        workshop: &Workshop,
        judged: &Judged<'_>,
        exclusions: &Exclusions,
    ) -> Session {
        let command = self.words(self.order.cwd);
        let ended = self.ended;
        let seconds = self.seconds;
        Session {
            command,
            ended,
            seconds,
            recorded: self.observe_and_record(project, store, workshop, judged, exclusions),
        }
    }

    fn observe_and_record(
        self,
        project: &Project,
        store: &FsStore,
        workshop: &Workshop,
        judged: &Judged<'_>,
        exclusions: &Exclusions,
    ) -> Result<Recorded> {
        let after = project.repository.work_view()?;
        let facts = facts_before(project, judged.before, judged.decision);
        let ran = CommandRun {
            words: self.words(&project.dir),
            exclusions,
            ended: self.ended,
        };
        let observed = observe(project, &facts, &self.traces, &ran)?;
        let recording = Recording {
            ran,
            before: judged.before,
            after: &after,
            decision: judged.decision,
            audited: judged.audited.unwrap_or(judged.decision),
            run: merge::run_name(&workshop.run, exclusions.shard.as_ref()),
            now: workshop.now,
        };
        record(project, store, &facts, &observed, &recording)
    }
}

/// What held before the tests started.
fn facts_before<'v>(project: &'v Project, before: &'v View, decision: &Decision) -> Facts<'v> {
    let environment = Environment::Here(decision.probe.clone());
    let root = project.repository.root();
    Facts::new(
        before,
        root,
        environment,
        project.cache(),
        runners::configured,
    )
}

/// Records a state at which nothing had to run: the results of the baseline hold
/// for it.
///
/// # Errors
/// Those of [`record`].
pub fn record_unrun(
    project: &Project,
    store: &FsStore,
    workshop: &Workshop,
    (view, decision): (&View, &Decision),
    words: Vec<String>,
) -> Result<Recorded> {
    let facts = facts_before(project, view, decision);
    let recording = Recording {
        ran: CommandRun {
            words,
            exclusions: &Exclusions::default(),
            ended: Ended::Exit(0),
        },
        before: view,
        after: view,
        decision,
        audited: decision,
        run: workshop.run.clone(),
        now: workshop.now,
    };
    record(project, store, &facts, &Observations::default(), &recording)
}

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
use crate::config::{Config, Granularity};
use crate::history::View;
use crate::languages::{Environment, Facts};
use crate::observe::Collected;
use crate::run::{Ended, Output, RunPlan, Running, install_agent_for, jvm_library};
use crate::runners::pytest::Exclusions;
use crate::runners::pytest::probe::{Interpreter, Jvm, Prober};
use crate::runners::{gradle, junit, jvm, maven, pytest};
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

    /// The interpreter to ask about the environment of `command`, if the
    /// command tells which one that is.
    pub fn prober(&self, command: &[OsString], cwd: &Path, project: &Project) -> Option<Prober> {
        Some(Prober::Python(Interpreter {
            python: pytest::python_of(command)?.into_os_string(),
            flags: pytest::flags_of(command),
            agent: self.agent.clone(),
            cwd: cwd.to_owned(),
            root: project.repository.root().to_owned(),
        }))
    }

    /// What a command of Maven, Gradle or the launcher in `cwd` will run its tests with.
    /// Classes then count as they lie on disk, so the project must have been built.
    pub fn jvm_prober(command: &[OsString], cwd: &Path, config: &Config) -> Prober {
        let home = jvm::home(command, cwd);
        Prober::Jvm(Jvm {
            compiled_since: None,
            runtime: home.map_or_else(String::new, |home| maven::runtime_in(&home)),
            args: jvm_options(command, cwd, config),
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
        let read = self.exclude.as_deref().map(pytest::read_exclusions);
        read.and_then(Result::ok).unwrap_or_default()
    }
}

/// The command, under collection.
pub struct Started<'a> {
    pub running: Running,
    order: &'a Order<'a>,
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
    let tool = jvm::Tool::of(&order.command);
    let args = jvm_options(&order.command, order.cwd, &project.config);
    let root = project.repository.root();
    let command = match (tool, &order.left_out) {
        (Some(jvm::Tool::Maven), Some(excludes)) => {
            let nested = granularity_of(tool, &project.config) == Granularity::Method
                && maven::excludes_nested(&project.dir);
            maven::with_exclusions(&order.command, excludes, nested)
        }
        (Some(jvm::Tool::Gradle), excludes) => {
            let script = gradle::Script {
                project: &project.dir,
                run: &workshop.run,
                agent: &jvm_library(&workshop.agent),
                excludes: excludes.as_deref(),
                variables: &jvm::variables(&traces, root, &args),
            };
            let script = gradle::write_script(&script, &workshop.scratch.join("out"))?;
            gradle::with_script(&order.command, &script)
        }
        (Some(jvm::Tool::Console), Some(excludes)) => {
            junit::with_options(&order.command, excludes)?
        }
        _ => order.command.clone(),
    };
    let plan = RunPlan::python(
        command,
        order.cwd,
        &workshop.agent,
        root,
        &traces,
        order.exclude.as_deref(),
    );
    let is_gradle = tool == Some(jvm::Tool::Gradle);
    // Any other command may come to a JVM by a script of its own.
    let may_start_jvm =
        tool.is_some() || jvm::is_java(&order.command) || maven::find(order.cwd).is_some();
    let plan = match !is_gradle && may_start_jvm {
        true => {
            let plan = plan.with_jvm(&workshop.agent, &args);
            match granularity_of(tool, &project.config) {
                Granularity::Class => plan,
                Granularity::Method => plan.with_test_methods(),
            }
        }
        false => plan,
    };
    let since = Instant::now();
    Ok(Started {
        running: plan.start(&order.output)?,
        order,
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
            traces: self.traces,
        })
    }
}

/// The command came to its end.
pub struct Ran<'a> {
    pub ended: Ended,
    seconds: f64,
    order: &'a Order<'a>,
    traces: PathBuf,
}

impl Ran<'_> {
    /// Whether no process wrote down anything.
    pub fn is_silent(&self) -> bool {
        std::fs::read_dir(&self.traces).is_ok_and(|mut traces| traces.next().is_none())
    }

    /// The session without a record: nothing is known of any test.
    pub fn unrecorded(self) -> Session {
        Session {
            command: words(&self.order.command, self.order.cwd, self.order.cwd),
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
        let command = words(&self.order.command, self.order.cwd, self.order.cwd);
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
            words: words(&self.order.command, self.order.cwd, &project.dir),
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
    Facts::new(before, root, environment, project.cache())
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
    record(project, store, &facts, &Collected::default(), &recording)
}

/// What a test is: a class whatever is asked for, where only classes can be left out.
fn granularity_of(tool: Option<jvm::Tool>, config: &Config) -> Granularity {
    match tool {
        Some(jvm::Tool::Gradle | jvm::Tool::Console) => Granularity::Class,
        Some(jvm::Tool::Maven) | None => config.granularity.value,
    }
}

/// The options that can alter outcomes, what a test is, and what of class files counts.
fn jvm_options(command: &[OsString], cwd: &Path, config: &Config) -> Vec<String> {
    let tool = jvm::Tool::of(command);
    let mut options = match tool {
        Some(tool) => tool.options(command, cwd),
        None => maven::options(command, cwd),
    };
    let granularity = granularity_of(tool, config);
    if granularity != Granularity::Class {
        options.push(format!("granularity={granularity}"));
    }
    if config.debug_info.value {
        options.push(jvm::DEBUG_INFO.to_owned());
    }
    options
}

/// A command line as it is stored: bytes that are not UTF-8 are replaced,
/// which can only make two different commands equal in name, and then the
/// options that pytest saw still differ. In another folder than that of the
/// project the same words come to other tests.
pub fn words(command: &[OsString], cwd: &Path, project: &Path) -> Vec<String> {
    let mut words: Vec<String> = command
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    if let Some(added) = std::env::var_os("PYTEST_ADDOPTS") {
        words.push(format!("PYTEST_ADDOPTS={}", added.to_string_lossy()));
    }
    if jvm::Tool::of(command).is_some() {
        // With what variables add to it.
        words.extend(maven::options(&[], Path::new("")));
    } else if let below = cwd.strip_prefix(project).unwrap_or(cwd)
        && !below.as_os_str().is_empty()
    {
        words.push(format!("{}{}", pytest::FOLDER, below.display()));
    }
    words
}

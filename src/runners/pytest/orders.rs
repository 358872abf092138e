//! pytest in orders of tamis's choice: one process collects the tests, and a fork of it runs
//! each order (`agents/python/boot/_tamis/order`).

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bstr::ByteSlice;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ADDED, causes, id_prefix, reproducer};
use crate::count::counted;
use crate::error::Error;
use crate::order::{Process, Step};
use crate::run::{Door, Heard, RunPlan, Served};
use crate::runners::orders::{
    Cause, Heeded, Limits, Ordered, Orders, Ran, Request, Told, explained,
};
use crate::runners::wrapped::before_path;

/// What the fork server may take to tell that a test took too long.
const PATIENCE: Duration = Duration::from_secs(90);

/// Processes of pytest that wait for orders.
pub(super) struct Sessions {
    words: Words,
    /// Orders are run in its forks.
    server: Option<Server>,
    /// One that was started to compare it with the server, and has run nothing yet.
    spare: Option<Server>,
    tests: Vec<String>,
    cannot_fork: Option<String>,
    /// The generators of random numbers that the project seeds.
    seeded: Option<Vec<String>>,
}

/// How pytest is started.
#[derive(Clone)]
pub(super) struct Words {
    pub(super) command: Vec<OsString>,
    cwd: PathBuf,
    project: PathBuf,
    root: PathBuf,
    boot: PathBuf,
    /// Where code is whose coverage is measured, from the start.
    pub(super) measured: Option<Vec<PathBuf>>,
}

/// A process of pytest that has collected its tests.
pub(super) struct Server {
    served: Served,
    hello: Hello,
    /// The ids of tests as tamis knows them, in the order of this process.
    pub(super) tests: Vec<String>,
    numbers: HashMap<String, usize>,
}

/// What such a process says first.
#[derive(Debug, Deserialize)]
struct Hello {
    tests: Vec<String>,
    rootdir: PathBuf,
    /// Test files that cannot be collected.
    errors: u64,
    /// The state of each generator of random numbers.
    chance: BTreeMap<String, String>,
    cannot_fork: Option<String>,
    /// Seconds of processor time so far.
    cpu: f64,
}

impl Sessions {
    /// Starts pytest, and waits until it has collected its tests.
    ///
    /// # Errors
    /// If it does not come to its tests, or has none.
    pub(super) fn start(ordered: &Ordered<'_>) -> Result<Sessions, Error> {
        let words = Words::of(ordered);
        let server = words.start(&words.command, None)?;
        if server.tests.is_empty() {
            return Err(Error::usage("the command runs no tests"));
        }
        Ok(Sessions {
            tests: server.tests.clone(),
            cannot_fork: server.hello.cannot_fork.clone(),
            server: Some(server),
            spare: None,
            seeded: None,
            words,
        })
    }

    /// A process that has run nothing yet.
    fn fresh(&mut self) -> Result<Server, Error> {
        let started = match self.spare.take() {
            Some(spare) => spare,
            None => self.words.start(&self.words.command, None)?,
        };
        if self.seeded.is_none()
            && let Some(server) = &self.server
        {
            let (ours, theirs) = (&server.hello.chance, &started.hello.chance);
            let same = ours
                .iter()
                .filter(|(name, state)| theirs.get(*name) == Some(state));
            self.seeded = Some(same.map(|(name, _)| name.clone()).collect());
        }
        Ok(started)
    }

    fn run_forked(&mut self, step: &Step, limits: Limits<'_>) -> Result<Option<Ran>, Error> {
        let asked = self.ask(step, limits, Value::Null)?;
        Ok(asked.map(|(ran, _)| ran))
    }

    /// Runs an order in a fork, which looks for what `wish` says.
    fn ask(
        &mut self,
        step: &Step,
        limits: Limits<'_>,
        wish: Value,
    ) -> Result<Option<(Ran, Value)>, Error> {
        if self.server.is_none() {
            self.server = Some(self.words.start(&self.words.command, None)?);
        }
        if self.seeded.is_none() {
            // The next order that needs a fresh process has it.
            let spare = self.fresh()?;
            self.spare = Some(spare);
        }
        let seeded = self.seeded.clone().unwrap_or_default();
        let Some(server) = &mut self.server else {
            return Err(Error::bug("the process that was started is gone"));
        };
        let since = Instant::now();
        let heeded = server.ask(step, limits, Some((&seeded, wish)))?;
        let mut ran = heeded.ran;
        ran.ended.elapsed = since.elapsed().as_secs_f64();
        if heeded.told != Told::All {
            // A test may have ended the server as well.
            self.server = None;
        }
        Ok((heeded.told != Told::Interrupted).then_some((ran, heeded.seen)))
    }

    fn run_fresh(&mut self, step: &Step, limits: Limits<'_>) -> Result<Option<Ran>, Error> {
        let since = Instant::now();
        let mut server = self.fresh()?;
        let ran = server.run_here(step, limits)?;
        Ok(ran.map(|mut ran| {
            ran.ended.elapsed = since.elapsed().as_secs_f64();
            ran
        }))
    }
}

impl Orders for Sessions {
    fn tests(&self) -> &[String] {
        &self.tests
    }

    fn scopes(&self, test: &str) -> Vec<String> {
        let end = test.find('[').unwrap_or(test.len());
        let ends = test[..end].match_indices("::").map(|(at, _)| at);
        ends.map(|at| test[..at].to_owned()).collect()
    }

    fn is_slow(&self) -> Option<&str> {
        self.cannot_fork.as_deref()
    }

    fn do_not_fork(&mut self, why: String) {
        self.cannot_fork = Some(why);
    }

    fn run(&mut self, step: &Step, limits: Limits<'_>) -> Result<Option<Ran>, Error> {
        match step.process {
            Process::Forked if self.cannot_fork.is_none() => self.run_forked(step, limits),
            Process::Forked | Process::Fresh => self.run_fresh(step, limits),
        }
    }

    fn record(
        &mut self,
        order: &[String],
        limits: Limits<'_>,
        traces: &Path,
    ) -> Result<Option<Ran>, Error> {
        let mut server = self.words.start(&self.words.command, Some(traces))?;
        let step = Step {
            order: order.to_vec(),
            process: Process::Fresh,
        };
        let since = Instant::now();
        let ran = server.run_here(&step, limits)?;
        // It writes the last of its trace at its end.
        server.served.end()?;
        Ok(ran.map(|mut ran| {
            ran.ended.elapsed = since.elapsed().as_secs_f64();
            ran
        }))
    }

    fn explain(
        &mut self,
        order: &[String],
        shared: &[String],
        limits: Limits<'_>,
    ) -> Result<Option<Cause>, Error> {
        if let Some(why) = &self.cannot_fork {
            let why = format!("tests are traced in forks only: {why}");
            return Err(Error::usage(why));
        }
        let root = self.words.root.clone();
        causes::explain(order, shared, &root, &mut |order, wish| {
            let step = Step {
                order: order.to_vec(),
                process: Process::Forked,
            };
            self.ask(&step, limits, wish)
        })
    }

    fn command_for(&self, order: &[String]) -> Vec<String> {
        let rootdir = self.server.as_ref().map(|server| &server.hello.rootdir);
        let rootdir = rootdir.unwrap_or(&self.words.project);
        let prefix = self.words.prefix(rootdir);
        let own = order.iter().map(|test| {
            let test = test.strip_prefix(prefix.as_str()).unwrap_or(test);
            reproducer::from(&self.words.cwd, rootdir, test)
        });
        reproducer::command(&self.words.command, &self.words.cwd)
            .into_iter()
            .chain(own)
            .collect()
    }

    fn reproduce(&mut self, order: &[String], limits: Limits<'_>) -> Result<Option<Ran>, Error> {
        let command: Vec<OsString> = self
            .command_for(order)
            .into_iter()
            .map(Into::into)
            .collect();
        let Ok(mut server) = self.words.start(&command, None) else {
            return Ok(None);
        };
        if server.tests != order {
            return Ok(None);
        }
        let step = Step {
            order: order.to_vec(),
            process: Process::Fresh,
        };
        server.run_here(&step, limits)
    }
}

impl Words {
    pub(super) fn of(ordered: &Ordered<'_>) -> Words {
        Words {
            command: ordered.command.to_vec(),
            cwd: ordered.cwd.to_owned(),
            project: ordered.project.to_owned(),
            root: ordered.root.to_owned(),
            boot: ordered.agent.join("boot"),
            measured: None,
        }
    }

    /// Starts `command`, and waits until it has collected its tests. Its processes write
    /// traces if they are told where.
    pub(super) fn start(
        &self,
        command: &[OsString],
        traces: Option<&Path>,
    ) -> Result<Server, Error> {
        let door = Door::new()?;
        let added = std::env::var(ADDED).ok();
        let path = std::env::var_os("PYTHONPATH");
        let words = json!({
            "socket": door.path(),
            "scratch": door.scratch(),
            "measure": &self.measured,
            "restore": {
                "PYTHONPATH": path.map(|path| path.to_string_lossy().into_owned()),
                ADDED: &added,
            },
        });
        let plugin = "-p _tamis.order";
        let options = added.map_or(plugin.to_owned(), |added| format!("{added} {plugin}"));
        let mut plan = RunPlan::plain(command.to_vec(), &self.cwd);
        plan.env = vec![
            ("PYTHONPATH".into(), before_path(self.boot.as_os_str())),
            (ADDED.into(), options.into()),
            ("TAMIS_ORDER".into(), words.to_string().into()),
        ];
        if let Some(traces) = traces {
            plan.env.push(("TAMIS_TRACE_DIR".into(), traces.into()));
            plan.env.push(("TAMIS_ROOT".into(), (&self.root).into()));
        }
        let mut served = door.open(&plan)?;
        match served.hear(None)? {
            Heard::Line(line) => {
                let hello: Hello = serde_json::from_str(&line).map_err(anyhow::Error::from)?;
                self.server(served, hello)
            }
            Heard::Interrupted => Err(Error::usage("interrupted before any test ran")),
            Heard::Late | Heard::Ended => {
                let ended = served.end()?;
                let why = format!(
                    "the test command did not come to its tests (it ended with {})",
                    ended.status()
                );
                Err(explained(why, &served)
                    .with_hint("run the command by itself, and see what it says")
                    .with_hint(
                        "orders need a command that starts pytest with the environment of tamis",
                    ))
            }
        }
    }

    fn server(&self, mut served: Served, hello: Hello) -> Result<Server, Error> {
        if hello.errors > 0 {
            let files = counted(hello.errors as usize, "test file");
            let why = format!("{files} cannot be collected");
            // It tells why at its end.
            served.end()?;
            return Err(explained(why, &served)
                .with_hint("mend that first: orders of some tests tell little"));
        }
        let prefix = self.prefix(&hello.rootdir);
        let tests: Vec<String> = hello
            .tests
            .iter()
            .map(|test| format!("{prefix}{test}"))
            .collect();
        let numbers = tests.iter().cloned().zip(0..).collect();
        Ok(Server {
            served,
            hello,
            tests,
            numbers,
        })
    }

    /// What stands before pytest's own ids.
    fn prefix(&self, rootdir: &Path) -> String {
        let below = |path: &Path| {
            let path = fs_err::canonicalize(path).unwrap_or_else(|_| path.to_owned());
            let below = path.strip_prefix(&self.root).ok()?;
            Some(below.as_os_str().as_encoded_bytes().to_vec())
        };
        match (below(rootdir), below(&self.project)) {
            (Some(rootdir), Some(project)) => id_prefix(rootdir.as_bstr(), project.as_bstr()),
            _ => String::new(),
        }
    }
}

impl Server {
    /// Runs an order in this very process, which ends with it.
    fn run_here(&mut self, step: &Step, limits: Limits<'_>) -> Result<Option<Ran>, Error> {
        self.run_with(step, limits, Value::Null)
    }

    /// The same, with more that the process is asked for.
    pub(super) fn run_with(
        &mut self,
        step: &Step,
        limits: Limits<'_>,
        more: Value,
    ) -> Result<Option<Ran>, Error> {
        let Heeded { told, mut ran, .. } = self.ask_for(step, limits, None, more)?;
        ran.ended.cpu += self.hello.cpu;
        Ok((told != Told::Interrupted).then_some(ran))
    }

    /// Asks for something that takes no test, and waits for it.
    ///
    /// # Errors
    /// If the process cannot do it, or ends first.
    pub(super) fn ask_about(&mut self, words: &Value) -> Result<(), Error> {
        self.served.say(&words.to_string());
        match self.served.hear(None)? {
            Heard::Line(line) => {
                let said: Value = serde_json::from_str(&line).map_err(anyhow::Error::from)?;
                match said[1].as_str() {
                    None => Ok(()),
                    Some(why) => Err(Error::usage(why)),
                }
            }
            Heard::Interrupted => Err(Error::usage("interrupted before any test ran")),
            Heard::Late | Heard::Ended => {
                self.served.end()?;
                let why = "the test process ended before it told of its tests".to_owned();
                Err(explained(why, &self.served))
            }
        }
    }

    /// Runs an order. `fork`: in a fork, with the generators of random numbers to keep there
    /// and what it is to look for besides.
    fn ask(
        &mut self,
        step: &Step,
        limits: Limits<'_>,
        fork: Option<(&[String], Value)>,
    ) -> Result<Heeded, Error> {
        self.ask_for(step, limits, fork, Value::Null)
    }

    fn ask_for(
        &mut self,
        step: &Step,
        limits: Limits<'_>,
        fork: Option<(&[String], Value)>,
        asked: Value,
    ) -> Result<Heeded, Error> {
        let number = |test: &str| self.numbers.get(test).copied();
        let request = Request::new(&step.order, number, limits)?;
        let seconds: Vec<f64> = request.limits.iter().map(Duration::as_secs_f64).collect();
        let is_forked = fork.is_some();
        let (seeded, wish) = fork.unwrap_or_default();
        let mut words = json!({
            "run": request.numbers, "limits": seconds, "fork": is_forked, "seeded": seeded,
            "why": wish,
        });
        if let (Some(words), Value::Object(asked)) = (words.as_object_mut(), asked) {
            words.extend(asked);
        }
        // The fork server looks after its forks itself.
        let more = if is_forked { PATIENCE } else { Duration::ZERO };
        request.hear(&mut self.served, &words.to_string(), more)
    }
}

//! Runs the orders that a search asks for.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::data::accesses;
use super::dependences::RecordedTest;
use super::project::Project;
use super::workshop::Workshop;
use crate::config::nearest;
use crate::error::Error;
use crate::order::{Accesses, Data, Ended, Process, Spent, Step, Stepper, Suite, Test, Twice};
use crate::runners::{self, Cause, Ordered, Orders, Ran, Runner};

/// What a test may take of which nothing is known.
const UNKNOWN: Duration = Duration::from_secs(600);

/// What a test may take besides a multiple of what it took before: a busy machine.
const SPARE: Duration = Duration::from_secs(10);

/// How often a test that differs between a fork and a fresh process is run in both: one that
/// flips by chance passes for such a test once in 128 times.
const AGAIN: usize = 4;

/// How often a test may take what it took before.
const SLOWER: f64 = 20.0;

/// The tests of a suite, ready to be run in any order.
pub(crate) struct Ordering {
    pub(crate) suite: Suite,
    orders: Box<dyn Orders>,
    limits: TimeLimits,
    command: Vec<OsString>,
    cwd: PathBuf,
    runner: &'static dyn Runner,
    /// What came of the tests' own order, for whom asks for it next.
    known: VecDeque<Ran>,
    /// A run of the suite at this very state, which is one in a fresh process.
    recorded: Option<Ran>,
}

/// What is recorded, and where traces go.
pub(crate) type Place<'a> = (&'a Project, &'a Workshop);

/// Who reads and writes which state, and what it took to see that.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    pub(crate) accesses: Accesses,
    /// A test that ended a run early: of those behind it, less is known.
    pub(crate) lost: Option<String>,
    pub(crate) spent: Spent,
}

/// How long tests may take: what the user says, else by what they took.
#[derive(Debug, Default)]
struct TimeLimits {
    fixed: Option<Duration>,
    seconds: BTreeMap<String, f64>,
}

impl TimeLimits {
    fn of(&self, test: &str) -> Duration {
        if let Some(fixed) = self.fixed {
            return fixed;
        }
        let taken = self.seconds.get(test);
        taken.map_or(UNKNOWN, |seconds| {
            Duration::from_secs_f64(seconds * SLOWER).saturating_add(SPARE)
        })
    }

    fn learn(&mut self, ran: &Ran) {
        for (test, seconds) in &ran.ended.seconds {
            let known = self.seconds.entry(test.clone()).or_default();
            *known = known.max(*seconds);
        }
    }
}

impl Ordering {
    /// Starts the test command, and waits until it has collected its tests. `limit`: what
    /// each test may take.
    ///
    /// # Errors
    /// If the runner cannot run orders, or does not come to its tests.
    pub(crate) fn open(
        project: &Project,
        workshop: &Workshop,
        (command, cwd): (&[OsString], &Path),
        limit: Option<Duration>,
    ) -> Result<Ordering, Error> {
        let runner = runners::driver(project.config.runner.value, command);
        let orders = runner.orders(&Ordered {
            command,
            cwd,
            project: &project.dir,
            root: project.repository.root(),
            agent: &workshop.agent,
        })?;
        let tests = orders.tests().iter();
        let tests = tests.map(|test| (test.clone(), orders.scopes(test)));
        let suite = Suite::new(tests).map_err(|Twice(test)| {
            Error::usage(format!("two tests have the id {test}"))
                .with_hint("orders need ids that are different")
        })?;
        Ok(Ordering {
            suite,
            orders,
            command: command.to_vec(),
            cwd: cwd.to_owned(),
            runner,
            limits: TimeLimits {
                fixed: limit,
                ..TimeLimits::default()
            },
            known: VecDeque::new(),
            recorded: None,
        })
    }

    /// Takes a recorded run of all tests in their own order for one that need not be run again;
    /// whether it is one of these tests.
    pub(crate) fn is_recorded(&mut self, run: &[RecordedTest]) -> bool {
        if !run.iter().map(|test| &test.id).eq(self.suite.ids()) {
            return false;
        }
        let mut ended = Ended {
            is_recorded: true,
            ..Ended::default()
        };
        for test in run {
            ended.outcomes.insert(test.id.clone(), test.outcome);
            ended.seconds.insert(test.id.clone(), test.seconds);
        }
        let ran = Ran {
            ended,
            said: BTreeMap::new(),
        };
        self.limits.learn(&ran);
        self.recorded = Some(ran);
        true
    }

    /// Why every order takes a process of its own; `None` if it need not.
    pub(crate) fn is_slow(&self) -> Option<&str> {
        self.orders.is_slow()
    }

    /// Whether it is seen what tests read and write.
    pub(crate) fn sees_accesses(&self) -> bool {
        self.orders.sees_accesses()
    }

    /// The tests that a user named, each at most once.
    ///
    /// # Errors
    /// If one is unknown (with the nearest id that is known) or named twice.
    pub(crate) fn known(&self, named: &[String]) -> Result<(), Error> {
        let mut seen = BTreeMap::new();
        for (at, test) in named.iter().enumerate() {
            if self.suite.find(test).is_none() {
                let error = Error::usage(format!("there is no test {test}"));
                let known = self.suite.ids().iter().map(String::as_str);
                return Err(match nearest(test, known) {
                    Some(near) => error.with_hint(format!("did you mean {near}?")),
                    None => error.with_hint("`tamis order run --list` names all tests"),
                });
            }
            if let Some(before) = seen.insert(test, at + 1) {
                let why = format!(
                    "{test} is in the order twice, as number {before} and {}",
                    at + 1
                );
                return Err(Error::usage(why).with_hint("a test runs once in an order"));
            }
        }
        Ok(())
    }

    /// Runs an order; `None` if the user interrupted it.
    ///
    /// # Errors
    /// If a test of it is unknown, or the runner does not come to its tests.
    pub(crate) fn run(&mut self, step: &Step) -> Result<Option<Ran>, Error> {
        let limits = &self.limits;
        let Some(ran) = self.orders.run(step, &|test| limits.of(test))? else {
            return Ok(None);
        };
        self.limits.learn(&ran);
        Ok(Some(ran))
    }

    /// Runs the tests in their own order in a fresh process and in a fork, so that no test
    /// passes for a dependent one that only cannot stand the fork. A search gets what came
    /// of it for the first two orders that it asks for.
    ///
    /// # Errors
    /// Those of [`Ordering::run`].
    pub(crate) fn compare_processes(&mut self) -> Result<Option<Ran>, Error> {
        let step = |process| Step {
            order: self.suite.ids().to_vec(),
            process,
        };
        let (forked, fresh) = (step(Process::Forked), step(Process::Fresh));
        let (mut by_fresh, mut by_fork) = (Vec::new(), Vec::new());
        let mut differs = None;
        if let Some(recorded) = self.recorded.take() {
            let Some(ran) = self.run(&forked)? else {
                return Ok(None);
            };
            by_fork.push(ran);
            // A difference may come from anything that has happened since.
            match differing(std::slice::from_ref(&recorded), &by_fork) {
                None => by_fresh.push(recorded),
                Some(_) => by_fork.clear(),
            }
        }
        while by_fresh.is_empty() || differs.is_some() && by_fresh.len() < AGAIN {
            let Some(ran) = self.run(&fresh)? else {
                return Ok(None);
            };
            by_fresh.push(ran);
            let Some(ran) = self.run(&forked)? else {
                return Ok(None);
            };
            by_fork.push(ran);
            differs = differing(&by_fresh, &by_fork);
        }
        let first = by_fresh[0].clone();
        self.known = match differs {
            Some(test) => {
                let why = format!("{test} ends otherwise in a fork than in a fresh process");
                self.orders.do_not_fork(why);
                by_fresh.into_iter().take(2).collect()
            }
            None => [by_fresh.swap_remove(0), by_fork.swap_remove(0)].into(),
        };
        Ok(Some(first))
    }

    /// Who reads and writes which state: the tests run under collection in their own order, and
    /// in that order reversed, so that who only repeats what an earlier test wrote is seen as
    /// well. `None` if the user interrupted it.
    ///
    /// # Errors
    /// Those of [`Ordering::run`], and if git or the traces cannot be read.
    pub(crate) fn accesses(&mut self, place: Place<'_>) -> Result<Option<Recorded>, Error> {
        let mut recorded = Recorded::default();
        let order = self.suite.ids().to_vec();
        let reversed: Vec<String> = order.iter().rev().cloned().collect();
        for (order, name) in [(order, "forwards"), (reversed, "backwards")] {
            if !self.record(&order, name, place, &mut recorded)? {
                return Ok(None);
            }
        }
        Ok(Some(recorded))
    }

    /// The same in one order only.
    ///
    /// # Errors
    /// Those of [`Ordering::accesses`].
    pub(super) fn accesses_in(
        &mut self,
        order: &[String],
        place: Place<'_>,
    ) -> Result<Option<Recorded>, Error> {
        let mut recorded = Recorded::default();
        let name = format!("first-{}", order.len());
        let done = self.record(order, &name, place, &mut recorded)?;
        Ok(done.then_some(recorded))
    }

    /// Records an order; whether it was not interrupted.
    fn record(
        &mut self,
        order: &[String],
        name: &str,
        (project, workshop): Place<'_>,
        recorded: &mut Recorded,
    ) -> Result<bool, Error> {
        let traces = workshop.scratch.join(name);
        fs_err::create_dir_all(&traces).map_err(anyhow::Error::from)?;
        let limits = &self.limits;
        let Some(ran) = self
            .orders
            .record(order, &|test| limits.of(test), &traces)?
        else {
            return Ok(false);
        };
        self.limits.learn(&ran);
        if let Some(lost) = &ran.ended.lost {
            recorded.lost.get_or_insert(lost.test.clone());
        }
        let spent = &mut recorded.spent;
        spent.orders += 1;
        spent.executions += ran.ended.outcomes.len();
        spent.elapsed += ran.ended.elapsed;
        spent.cpu += ran.ended.cpu;
        let words = self.command.iter().map(|word| word.to_string_lossy());
        let words: Vec<String> = words.map(Cow::into_owned).collect();
        let accesses = accesses(project, &traces, &words)?;
        recorded.accesses.known.extend(accesses.known);
        recorded.accesses.by_anyone.extend(accesses.by_anyone);
        Ok(true)
    }

    /// Runs what `search` asks for until it is done. `tell` hears of each order when it has
    /// run. Whether the user interrupted it.
    ///
    /// # Errors
    /// Those of [`Ordering::run`].
    pub(crate) fn drive<S: Stepper>(
        &mut self,
        search: &mut S,
        tell: &mut dyn FnMut(&S, &Step, &Ran),
    ) -> Result<bool, Error> {
        while let Some(step) = search.next() {
            let is_known = step.process == Process::Forked && step.order == self.suite.ids();
            let known = is_known.then(|| self.known.pop_front()).flatten();
            let ran = match known {
                Some(ran) => Some(ran),
                None => self.run(&step)?,
            };
            let Some(ran) = ran else {
                return Ok(true);
            };
            search.observe(&step, &ran.ended);
            tell(search, &step, &ran);
        }
        Ok(false)
    }

    /// Why the last test of an order ends otherwise than alone; `None` if the user
    /// interrupted it. The order is recorded first, to know which state is looked at.
    ///
    /// # Errors
    /// Those of [`Ordering::run`], and if git or the traces cannot be read.
    pub(crate) fn explain(
        &mut self,
        order: &[String],
        place: Place<'_>,
    ) -> Result<Option<Cause>, Error> {
        let mut recorded = Recorded::default();
        if self.sees_accesses() && !self.record(order, "witness", place, &mut recorded)? {
            return Ok(None);
        }
        let data = Data::new(&self.suite, recorded.accesses);
        let numbers: Vec<Test> = order.iter().filter_map(|id| self.suite.find(id)).collect();
        let (last, before) = numbers
            .split_last()
            .ok_or_else(|| Error::bug("an order of no test"))?;
        let shared = before
            .iter()
            .flat_map(|writer| data.between(*writer, *last));
        let shared: BTreeSet<String> = shared.map(str::to_owned).collect();
        let shared: Vec<String> = shared.into_iter().collect();
        let limits = &self.limits;
        self.orders.explain(order, &shared, &|test| limits.of(test))
    }

    /// Runs orders at the same time, each in a process of its own; `None` if the user
    /// interrupted them.
    ///
    /// # Errors
    /// Those of [`Ordering::run`].
    pub(crate) fn run_at_once(
        &mut self,
        orders: &[Vec<String>],
        (project, workshop): Place<'_>,
    ) -> Result<Option<Vec<Ran>>, Error> {
        let ordered = Ordered {
            command: &self.command,
            cwd: &self.cwd,
            project: &project.dir,
            root: project.repository.root(),
            agent: &workshop.agent,
        };
        let (runner, limits) = (self.runner, &self.limits);
        let run = |order: &Vec<String>| {
            if order.is_empty() {
                return Ok(Some(Ran::default()));
            }
            let since = Instant::now();
            let step = Step {
                order: order.clone(),
                process: Process::Forked,
            };
            let ran = runner
                .orders(&ordered)?
                .run(&step, &|test| limits.of(test))?;
            Ok(ran.map(|mut ran| {
                ran.ended.elapsed = since.elapsed().as_secs_f64();
                ran
            }))
        };
        let all: Vec<Result<Option<Ran>, Error>> = std::thread::scope(|scope| {
            let started: Vec<_> = orders
                .iter()
                .map(|order| scope.spawn(|| run(order)))
                .collect();
            let lost = |_| Err(Error::bug("a thread that runs tests panicked"));
            started
                .into_iter()
                .map(|one| one.join().unwrap_or_else(lost))
                .collect()
        });
        all.into_iter().collect()
    }

    /// The command that runs these tests in this order without tamis.
    pub(crate) fn command_for(&self, order: &[String]) -> String {
        shell_words::join(self.orders.command_for(order))
    }

    /// Runs that command, and tells what came of it; `None` if it was interrupted, or ran
    /// other tests.
    ///
    /// # Errors
    /// Those of [`Ordering::run`].
    pub(crate) fn reproduce(&mut self, order: &[String]) -> Result<Option<Ran>, Error> {
        let limits = &self.limits;
        self.orders.reproduce(order, &|test| limits.of(test))
    }
}

/// A test that ended in one way each time in `some`, and in another one each time in
/// `others`.
fn differing(some: &[Ran], others: &[Ran]) -> Option<String> {
    let way = |ran: &Ran, test: &str| match &ran.ended.lost {
        Some(lost) if lost.test == test => None,
        // Behind one that was lost.
        Some(_) if !ran.ended.outcomes.contains_key(test) => Some(None),
        _ => Some(ran.ended.outcomes.get(test).copied()),
    };
    let all = |runs: &[Ran], test: &str| {
        let first = way(runs.first()?, test);
        runs.iter()
            .all(|ran| way(ran, test) == first)
            .then_some(first)
    };
    let first = some.first()?;
    let lost = first.ended.lost.iter().map(|lost| &lost.test);
    let mut tests = first.ended.outcomes.keys().chain(lost);
    let is_other = |test: &&String| match (all(some, test), all(others, test)) {
        (Some(one), Some(other)) => one != other,
        _ => false,
    };
    tests.find(is_other).cloned()
}

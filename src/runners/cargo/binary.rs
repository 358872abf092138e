//! Runs a test binary that Cargo has built: each test in a process of its own, several at a time,
//! so that it is known what each uses.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::io::{Read, Seek, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result};
use bstr::{BString, ByteSlice};

use super::image::Image;
use super::output::{self, Counts};
use super::plan::{Built, CargoPlan, Program, load, sources_of};
use super::rows::{self, Row};
use super::words::Words;
use super::work::{BUILT, begins};
use crate::run::{Ended, was_interrupted};
use crate::tracer::{self, CAN_FOLLOW, Entries, Job, ProgramId, Programs, Seen};

/// A test binary, and where it is.
pub(super) struct Binary<'a> {
    pub plan: &'a CargoPlan,
    pub built: &'a Built,
    pub program: &'a Program,
    pub cwd: PathBuf,
    pub images: Images<'a>,
    path: OsString,
    args: Vec<OsString>,
    /// Tells files of this process from those of others.
    pub name: String,
}

/// The programs whose functions are known, each read when it first starts.
pub(super) struct Images<'a> {
    built: &'a Built,
    known: Mutex<BTreeMap<ProgramId, Option<Arc<Image>>>>,
}

impl Images<'_> {
    /// The program of this device and number, if it is one of the project.
    pub(super) fn program(&self, file: ProgramId) -> Option<&Program> {
        self.built.programs.iter().find(|one| one.file == file)
    }

    /// Its functions; `None` if they cannot be told apart.
    pub(super) fn get(&self, file: ProgramId) -> Option<Arc<Image>> {
        let program = self.program(file)?;
        let mut known = self.known.lock().expect("nobody panics with it");
        let image = known.entry(file).or_insert_with(|| {
            if program.by_files.is_some() {
                return None;
            }
            let sources = sources_of(self.built, program);
            let image = Image::read(&program.path, &program.own_crate, &program.crates, &sources);
            image.ok().map(Arc::new)
        });
        image.clone()
    }
}

impl Programs for Images<'_> {
    fn entries(&self, program: ProgramId) -> Option<Arc<Entries>> {
        Some(self.get(program)?.entries.clone())
    }
}

/// Runs a binary as `argv` says; returns its status.
///
/// # Errors
/// If it cannot be started, or what it did not be written down.
pub(crate) fn run_binary(
    plan: &Path,
    argv: &[OsString],
    out: &mut (dyn Write + Send),
) -> Result<i32> {
    let plan: CargoPlan = load(plan)?;
    let built: Built = load(&plan.out.join(BUILT))?;
    let (path, args) = argv.split_first().context("no test binary was given")?;
    let about = fs_err::metadata(path)?;
    let file = (about.dev(), about.ino());
    let Some(program) = built.programs.iter().find(|one| one.file == file) else {
        // Nobody knows what it is made of.
        let status = Command::new(path).args(args).status()?;
        return Ok(Ended::of(status).status());
    };
    let binary = Binary {
        plan: &plan,
        built: &built,
        program,
        cwd: std::env::current_dir()?,
        images: Images {
            built: &built,
            known: Mutex::default(),
        },
        path: path.clone(),
        args: args.to_vec(),
        name: format!("{}-cargo", std::process::id()),
    };
    begins(&plan, program)?;
    if plan.untraced.is_none() {
        tracer::adopt_orphans()?;
    }
    binary.run(out)
}

/// A test, by its number among those of the binary.
struct Turn<'t> {
    number: usize,
    name: &'t str,
}

/// What the threads that run tests share.
struct Shared<'o> {
    waiting: VecDeque<usize>,
    done: BTreeMap<usize, Row>,
    failed: Vec<(String, Vec<u8>)>,
    error: Option<anyhow::Error>,
    out: &'o mut (dyn Write + Send),
}

impl Binary<'_> {
    fn run(&self, out: &mut (dyn Write + Send)) -> Result<i32> {
        if !is_of_harness(&self.program.path)? {
            return self.run_as_one(out);
        }
        let Some((tests, ignored)) = self.tests()? else {
            // It ends at once. What it says then people have to see.
            return self.run_as_one(out);
        };
        let since = Instant::now();
        let is_left_out = |name: &String| self.plan.left_out.contains(&self.id(name));
        let first = tests.iter().enumerate();
        let first = first.filter(|(_, name)| !is_left_out(name));
        let first: VecDeque<usize> = first.map(|(at, _)| at).collect();
        let chosen = first.len();
        output::begin(out, chosen + ignored.len())?;
        for name in &ignored {
            writeln!(out, "test {name} ... ignored")?;
        }
        let mut shared = Shared {
            waiting: first,
            done: BTreeMap::new(),
            failed: Vec::new(),
            error: None,
            out,
        };
        self.run_all(&tests, &mut shared)?;
        // Where the work tree is another one now, tests may find something else.
        if shared
            .done
            .values()
            .any(|row| row.traced.seen.changes_below(&[&self.plan.root]).is_some())
        {
            let rest = 0..tests.len();
            shared.waiting = rest.filter(|at| !shared.done.contains_key(at)).collect();
            self.run_all(&tests, &mut shared)?;
        }
        let Shared { done, failed, .. } = shared;
        let left_out = tests.iter().enumerate();
        let left_out = left_out.filter(|(at, _)| !done.contains_key(at));
        let left_out: Vec<String> = left_out.map(|(_, name)| self.id(name)).collect();
        let counts = Counts {
            passed: done.len() - failed.len(),
            failed: failed.len(),
            ignored: ignored.len(),
            left_out: left_out.len(),
        };
        let mut rows: Vec<Row> = done.into_values().collect();
        rows::settle(&mut rows);
        rows::write(self, &rows, &left_out)?;
        output::end(out, &failed, counts, since.elapsed())?;
        Ok(if failed.is_empty() { 0 } else { FAILED })
    }

    /// Runs the tests that wait, as many at a time as the command says.
    fn run_all(&self, tests: &[String], shared: &mut Shared<'_>) -> Result<()> {
        let args = self
            .args
            .iter()
            .map(|arg| arg.to_string_lossy().into_owned());
        let args: Vec<String> = args.collect();
        let said = Words::threads(&args).or_else(|| {
            let said = std::env::var("RUST_TEST_THREADS").ok()?;
            said.parse().ok()
        });
        let most = || thread::available_parallelism().map_or(1, usize::from);
        let at_once = said
            .unwrap_or_else(most)
            .clamp(1, shared.waiting.len().max(1));
        let common = Mutex::new(shared);
        thread::scope(|scope| {
            for _ in 0..at_once {
                scope.spawn(|| self.work(tests, &common));
            }
        });
        let shared = common.into_inner().expect("nobody panics with it");
        match shared.error.take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    fn work(&self, tests: &[String], common: &Mutex<&mut Shared<'_>>) {
        loop {
            let number = {
                let mut shared = common.lock().expect("nobody panics with it");
                if was_interrupted() || shared.error.is_some() {
                    return;
                }
                match shared.waiting.pop_front() {
                    Some(number) => number,
                    None => return,
                }
            };
            let turn = Turn {
                number,
                name: &tests[number],
            };
            let done = self.one(&turn);
            let mut shared = common.lock().expect("nobody panics with it");
            let told = done.and_then(|(row, output)| self.tell(&turn, row, &output, &mut shared));
            if let Err(error) = told {
                shared.error.get_or_insert(error);
            }
        }
    }

    fn tell(
        &self,
        turn: &Turn<'_>,
        row: Row,
        output: &[u8],
        shared: &mut Shared<'_>,
    ) -> Result<()> {
        let told = output::read(output);
        shared.out.write_all(&told.text)?;
        if row.is_crash() {
            write!(shared.out, "\ntest {} ... FAILED", turn.name)?;
        }
        writeln!(shared.out)?;
        shared.out.flush()?;
        if row.has_failed() {
            shared.failed.push((turn.name.to_owned(), told.of_failure));
        }
        shared.done.insert(turn.number, row);
        Ok(())
    }

    fn one(&self, turn: &Turn<'_>) -> Result<(Row, Vec<u8>)> {
        let mut argv = vec![self.path.clone(), "--exact".into(), turn.name.into()];
        argv.extend(self.args.iter().cloned());
        self.start(&argv, self.id(turn.name))
    }

    /// A program that is one test, or that does not say which tests it has.
    fn run_as_one(&self, out: &mut (dyn Write + Send)) -> Result<i32> {
        let id = self.program.id.clone();
        if self.plan.left_out.contains(&id) {
            writeln!(out, "(left out)")?;
            rows::write(self, &[], &[id])?;
            return Ok(0);
        }
        let mut argv = vec![self.path.clone()];
        argv.extend(self.args.iter().cloned());
        let (row, output) = self.start(&argv, id)?;
        out.write_all(&output)?;
        out.flush()?;
        let status = row.status();
        let mut rows = [row];
        rows::settle(&mut rows);
        rows::write(self, &rows, &[])?;
        Ok(status)
    }

    fn start(&self, argv: &[OsString], id: String) -> Result<(Row, Vec<u8>)> {
        let mut output = tempfile::tempfile().context("cannot make a file for output")?;
        let job = Job {
            argv,
            cwd: &self.cwd,
            timeout: None,
            env: &[],
            output: Some(&output),
            marks: None,
            programs: CAN_FOLLOW.then_some(&self.images as &dyn Programs),
        };
        let traced = match &self.plan.untraced {
            None => tracer::trace(&job, tracer::end_descendants)?,
            Some(why) => tracer::untraced(&job, why)?,
        };
        let mut text = Vec::new();
        output.rewind()?;
        output.read_to_end(&mut text)?;
        let mut row = Row::of(id, traced);
        row.meets_programs(self.built);
        self.forget_own(&mut row.traced.seen);
        Ok((row, text))
    }

    /// The tests as the binary itself lists them, and those that it ignores; `None` if it does
    /// not list them.
    fn tests(&self) -> Result<Option<(Vec<String>, Vec<String>)>> {
        let (all, ignored) = (list(&self.path, &[])?, list(&self.path, &["--ignored"])?);
        let (Some(all), Some(ignored)) = (all, ignored) else {
            return Ok(None);
        };
        let known: BTreeSet<&String> = ignored.iter().collect();
        let run = all.iter().filter(|name| !known.contains(name));
        let run: Vec<String> = run.cloned().collect();
        Ok(Some((run, ignored)))
    }

    fn id(&self, test: &str) -> String {
        format!("{} {test}", self.program.id)
    }

    /// Leaves away what belongs to this run, and programs whose functions count instead.
    fn forget_own(&self, seen: &mut Seen) {
        let out = &self.plan.out;
        let programs: BTreeSet<BString> = self
            .built
            .programs
            .iter()
            .flat_map(|one| one.paths())
            .map(|path| BString::from(path.as_os_str().as_bytes()))
            .collect();
        let is_own =
            |path: &BString| programs.contains(path) || tracer::is_below(path.as_bstr(), out);
        seen.forget(is_own);
    }
}

/// The tests of a program that did not run.
pub(super) fn ids_of(program: &Program) -> Vec<String> {
    let known = is_of_harness(&program.path).unwrap_or(false);
    let listed = known
        .then(|| list(program.path.as_os_str(), &[]).ok())
        .flatten();
    match listed.flatten() {
        Some(names) => {
            let names = names.iter();
            names.map(|name| format!("{} {name}", program.id)).collect()
        }
        None => vec![program.id.clone()],
    }
}

/// The tests as a binary itself lists them; `None` if it does not.
fn list(program: &OsStr, more: &[&str]) -> Result<Option<Vec<String>>> {
    let output = Command::new(program)
        .args(["--list", "--format=terse"])
        .args(more)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .context("cannot start the test binary")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let names = text.lines().filter_map(|line| line.strip_suffix(": test"));
    let names = names.map(str::to_owned).collect();
    Ok(output.status.success().then_some(names))
}

/// The status of a test binary of which some test fails.
const FAILED: i32 = 101;

/// Whether a program is one of the harness that lists its tests; others may do anything when they
/// are asked for a list.
fn is_of_harness(program: &Path) -> Result<bool> {
    const MAIN: &[u8] = b"test_main_static";
    let bytes = crate::disk::read(program)?;
    Ok(bytes.contains_str(MAIN))
}

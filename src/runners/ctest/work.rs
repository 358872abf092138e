//! Runs `ctest` under the tracer, with a process of tamis before each test, and writes down what
//! each test used.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use bstr::BString;
use serde_json::json;

use super::around::{Around, CUSTOM};
use super::listed::{Listed, definition_of, list};
use super::rows::{Folders, MAIN, OWN, Rows, TEST};
use super::verdicts::{self, Verdicts};
use super::words::Words;
use crate::matrix::{Fingerprint, Outcome};
use crate::run::{Ended, was_interrupted};
use crate::runners::supervised::Supervised;
use crate::tracer::{self, Job, Seen, Units, value};

/// Who writes traces of programs in any language.
const COLLECTOR: &str = "process";

/// What numbers begin with in `add_test.cmake`.
const OF_TAMIS: &str = "tamis-";

/// The folder of results.
const STORE: &str = ".tamis";

/// The first scope of a test; 0 is what all need.
const FIRST_TEST: u64 = 1;

/// Runs the command of the plan in a file; returns its status. `tell` hears why nothing is
/// recorded, if so, and `say` why more runs than had to.
///
/// # Errors
/// If it cannot be started, or what it did not be written down.
pub(crate) fn run_ctest(
    file: &Path,
    out: &mut dyn Write,
    tell: &mut dyn FnMut(String),
) -> Result<i32> {
    let plan = Supervised::load(file)?;
    let words = Words::read(&plan.words()).context("this is no `ctest`")?;
    let folder = words.folder(&plan.cwd);
    let listed = match words.why_left_alone() {
        Some(why) => Err(why),
        None => super::build::version(&words.program)
            .and_then(|_| list(&words, &folder, &plan.root, true))
            .map_err(|error| format!("{error:#}")),
    };
    let listed = match listed {
        Ok(listed) => listed,
        Err(why) => {
            tell(why);
            return alone(&plan);
        }
    };
    if plan.untraced.is_none() {
        tracer::adopt_orphans()?;
    }
    let marks = plan.out.join("marks");
    fs_err::create_dir_all(&marks)?;
    let mut work = Work {
        plan: &plan,
        words: &words,
        folder,
        listed: &listed,
        marks,
        rows: Rows::default(),
        verdicts: Verdicts::new(),
        told: None,
    };
    let status = work.run_all(out)?;
    work.write()?;
    Ok(status)
}

/// Runs a command of which nothing is recorded.
fn alone(plan: &Supervised) -> Result<i32> {
    let words = plan.words();
    let (program, args) = words.split_first().context("no command was given")?;
    let status = Command::new(program).args(args).status();
    let status = status.with_context(|| format!("cannot start `{}`", program.display()))?;
    Ok(Ended::of(status).status())
}

/// Becomes a program, after it has been said that what this process uses is told apart under
/// this name.
///
/// # Errors
/// If it cannot be started.
pub(crate) fn become_test(marks: &Path, name: &str, argv: &[OsString]) -> Result<()> {
    let look = |name: &str| {
        let _ = marks.join(name).symlink_metadata();
    };
    match name {
        MAIN => look(MAIN),
        number => {
            let number = number.strip_prefix(OF_TAMIS).unwrap_or(number);
            look(OWN);
            look(&format!("{TEST}{number}"));
        }
    }
    let (program, args) = argv.split_first().context("no test was given")?;
    let error = Command::new(program).args(args).exec();
    Err(error).with_context(|| format!("cannot start `{}`", program.display()))
}

/// A run of the tests in a folder.
struct Work<'a> {
    plan: &'a Supervised,
    words: &'a Words,
    /// The one that CMake builds in.
    folder: PathBuf,
    listed: &'a Listed,
    marks: PathBuf,
    rows: Rows,
    verdicts: Verdicts,
    /// The file of results, if people want it.
    told: Option<String>,
}

impl Work<'_> {
    /// Runs what is not left out, and the rest, too, if one test leaves another work tree behind:
    /// what that does to the others, no row tells.
    fn run_all(&mut self, out: &mut dyn Write) -> Result<i32> {
        let left_out = self.listed.left_out(&self.plan.left_out);
        let status = self.run_without(&left_out, out)?;
        if left_out.is_empty() || was_interrupted() {
            return Ok(status);
        }
        let Some(why) = self.rows.leaves(&self.plan.root, &self.folder) else {
            return Ok(status);
        };
        writeln!(out, "{why}: the other tests run, too")?;
        // What failed may have missed what those leave.
        let done = self.verdicts.iter();
        let done = done.filter(|(_, (outcome, _))| *outcome != Outcome::Failed);
        let done: Vec<String> = done.map(|(name, _)| name.clone()).collect();
        let done: BTreeSet<&str> = done.iter().map(String::as_str).collect();
        self.run_without(&done, out)
    }

    fn run_without(&mut self, left_out: &BTreeSet<&str>, out: &mut dyn Write) -> Result<i32> {
        let tests = self.listed.tests.iter();
        let runs = tests.filter(|(name, _)| !left_out.contains(name.as_str()));
        if runs.count() == 0 && !left_out.is_empty() {
            return Ok(0);
        }
        let around = Around {
            folder: &self.folder,
            listed: self.listed,
            left_out,
            marks: &self.marks,
        };
        let around = around.write(&self.plan.out)?;
        if !left_out.is_empty() {
            writeln!(
                out,
                "{} left out",
                crate::count::counted(left_out.len(), "test")
            )?;
            out.flush()?;
        }
        let results = self.plan.out.join("results.xml");
        let _ = fs_err::remove_file(&results);
        let mut argv: Vec<OsString> = vec![
            std::env::current_exe()?.into(),
            "ctest-test".into(),
            self.marks.clone().into(),
            MAIN.into(),
            "--".into(),
            self.words.program.clone(),
        ];
        argv.extend(self.words.all(&self.folder, &self.plan.cwd));
        argv.extend(["--output-junit".into(), results.clone().into()]);
        let job = Job {
            argv: &argv,
            cwd: &around,
            timeout: None,
            env: &[],
            output: None,
            marks: Some(&self.marks),
            programs: None,
        };
        let traced = match &self.plan.untraced {
            None => tracer::trace(&job, tracer::end_descendants)?,
            Some(why) => tracer::untraced(&job, why)?,
        };
        let store = self.plan.root.join(STORE);
        let folders = Folders {
            out: &self.plan.out,
            store: &store,
            build: &self.folder,
        };
        self.rows.take(traced.parts, self.listed, &folders);
        if let Some(why) = traced.seen.incomplete {
            self.rows.session.doubt(why);
        }
        if results.is_file() {
            self.verdicts.extend(verdicts::read(&results)?);
            if let Some(file) = self.words.results(&self.folder) {
                let text = crate::disk::read_to_string(&results)?;
                self.told = Some(match self.told.take() {
                    Some(before) => verdicts::joined(&before, &text),
                    None => text,
                });
                crate::disk::write(file, self.told.as_deref().unwrap_or_default())?;
            }
        }
        Ok(traced.ended.status())
    }

    /// Writes one trace, with all tests.
    fn write(&mut self) -> Result<()> {
        self.rows.settle(self.listed);
        let name = format!("{}-ctest", std::process::id());
        let mut units = Units::begin(&name, COLLECTOR, &self.plan.cwd);
        let flags = super::deciding(self.words, &self.folder);
        let definitions = self.listed.definitions(&flags);
        let defined = |units: &mut Units, name: &str| {
            let print = definitions.get(name).copied();
            units.of("runtime", name.into(), value(print))
        };
        let nothing: [u64; 0] = [];
        for file in CUSTOM.map(|name| self.folder.join(name)) {
            let path = BString::from(file.as_os_str().as_bytes());
            match file.is_file() {
                true => {
                    self.rows.session.files.entry(path).or_default();
                }
                false => self.rows.session.misses(path),
            }
        }
        let session = &self.rows.session;
        let mut common = units.seen(session);
        let all = tracer::of_all(std::env::vars_os());
        common.push(units.of("env", "*".into(), value(Some(all))));
        for name in self.spelled() {
            let set = std::env::var_os(name);
            let set = set.map(|set| Fingerprint::of_value(set.as_encoded_bytes()));
            common.push(units.of("env", name.into(), value(set)));
        }
        units.lines.add(json!(["+", 0, common, nothing]));
        let none = Seen::default();
        let mut ran: Vec<&String> = Vec::new();
        for (scope, (test, (outcome, seconds))) in (FIRST_TEST..).zip(&self.verdicts) {
            let own = self.rows.tests.get(test);
            let seen = own.unwrap_or(&none);
            let mut numbers = units.seen(seen);
            numbers.push(defined(&mut units, &definition_of(test)));
            let lines = &mut units.lines;
            lines.add(json!(["s", scope, "test", test, null]));
            lines.add(json!(["b", scope, test, ""]));
            lines.add(json!(["+", scope, numbers, [0]]));
            lines.writes(scope, seen);
            let doubt = session
                .incomplete
                .clone()
                .or_else(|| seen.incomplete.clone());
            let lost = || "no process was seen to run it".to_owned();
            let doubt = doubt.or_else(|| own.is_none().then(lost));
            let doubt = doubt.or_else(|| self.listed.tests.get(test)?.doubt());
            lines.ends(scope, test, *outcome, *seconds, &doubt);
            ran.push(test);
        }
        // Those that `ctest` did not come to still have to run.
        let rest = self.listed.that_run();
        let rest = rest.filter(|name| !self.verdicts.contains_key(*name));
        let (out, late): (Vec<&String>, Vec<&String>) =
            rest.partition(|name| self.plan.left_out.contains(*name));
        ran.extend(late);
        units.lines.add(json!(["items", ran, out]));
        units.lines.save(&self.plan.traces, &name)
    }

    /// The variables of CI services that files spell which tests use.
    fn spelled(&self) -> BTreeSet<&'static str> {
        let mut all = Seen::default();
        for seen in self.rows.tests.values().chain([&self.rows.session]) {
            for path in seen.files.keys() {
                all.files.entry(path.clone()).or_default();
            }
        }
        tracer::spelled(&all, &[])
    }
}

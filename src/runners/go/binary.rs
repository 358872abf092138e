//! Runs a test binary that `go test` has built: each test in a process of its own, so that it is
//! known what it uses. What `go test` reads of its output is as if there had been one.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use bstr::{BString, ByteSlice};

use super::coverage::{Counts, Meta};
use super::model::unknown_test;
use super::output::{self, Told};
use super::plan::{GoPlan, GoTest, Packages, TestPackage, load};
use super::rows::{self, Row};
use super::tests::is_run;
use super::work::{PACKAGES, begins};
use crate::matrix::Outcome;
use crate::run::{Ended, was_interrupted};
use crate::tracer::{self, Job, Seen, Traced};

/// A test binary, and where it is.
pub(super) struct Binary<'a> {
    pub plan: &'a GoPlan,
    pub packages: &'a Packages,
    pub package: &'a TestPackage,
    pub cwd: PathBuf,
    program: OsString,
    /// The same without links, as the kernel knows it.
    real: BString,
    args: Vec<OsString>,
    /// Tells files of this process from those of others.
    name: String,
}

/// How one test, or a group of them, went.
pub(super) struct Ran {
    pub traced: Traced,
    /// The functions that ran; `None` if that is not known.
    pub functions: Option<BTreeSet<(u32, u32)>>,
    told: Told,
}

/// Runs a binary as `argv` says, whose tests the plan in a file tells of; returns its status.
///
/// # Errors
/// If it cannot be started, or what it did not be written down.
pub(crate) fn run_binary(plan: &Path, argv: &[OsString], out: &mut dyn Write) -> Result<i32> {
    let plan: GoPlan = load(plan)?;
    let packages: Packages = load(&plan.out.join(PACKAGES))?;
    let (program, args) = argv.split_first().context("no test binary was given")?;
    let cwd = std::env::current_dir()?;
    let typed = std::env::var_os("PWD").map(PathBuf::from);
    let known = packages.by_folder.get(&cwd);
    let known = known.or_else(|| packages.by_folder.get(&typed?));
    let Some(package) = known else {
        // Nobody knows what it is made of.
        let status = Command::new(program).args(args).status()?;
        return Ok(Ended::of(status).status());
    };
    let real = fs_err::canonicalize(program)?;
    let binary = Binary {
        plan: &plan,
        packages: &packages,
        package,
        cwd,
        program: program.clone(),
        real: real.as_os_str().as_bytes().into(),
        args: args.to_vec(),
        name: format!("{}-go", std::process::id()),
    };
    begins(&plan, package)?;
    if plan.untraced.is_none() {
        tracer::adopt_orphans()?;
    }
    binary.run(out)
}

/// Where processes of tests write, one after the other.
struct Place {
    /// Counters, and what tells of their functions, which is the same for all.
    folder: PathBuf,
    output: File,
}

impl Binary<'_> {
    fn run(&self, out: &mut dyn Write) -> Result<i32> {
        if self.package.is_group {
            return self.run_group(out);
        }
        let tests = self.tests()?;
        let mut rows = Vec::new();
        let mut left_out = Vec::new();
        let mut written = BTreeSet::new();
        let mut disturbed = false;
        let mut status = 0;
        let mut has_failed = false;
        let mut meta = None;
        let mut place = self.place()?;
        for test in &tests {
            let id = self.package.id(&test.name);
            let is_over = was_interrupted() || has_failed && self.has_flag("failfast");
            let may_stay = self.plan.left_out.contains(&id) && !disturbed;
            if is_over || may_stay {
                left_out.push(id);
                continue;
            }
            let only = format!("-test.run=^{}$", test.name);
            let mut ran = self.start(&mut place, Some(only), &mut meta)?;
            out.write_all(&ran.told.text)?;
            out.flush()?;
            let seen = &mut ran.traced.seen;
            self.forget_own(seen);
            seen.keep_prints_of(&written);
            written.extend(seen.written.iter().cloned());
            disturbed |= seen.changes_below(&[&self.plan.root]).is_some();
            let own = ran.traced.ended.status();
            has_failed |= ran.told.has_failed;
            status = status.max(own);
            rows.push(Row::of(id, test, ran, outcome(own)));
        }
        rows::mark_shared(&mut rows);
        rows::write(self, &self.name, &rows, &left_out, meta.as_ref())?;
        if rows.is_empty() {
            output::nothing_ran(out)?;
        } else {
            output::end(out, status, has_failed, self.has_flag("v"))?;
        }
        Ok(status)
    }

    /// Tests with something around all of them run together.
    fn run_group(&self, out: &mut dyn Write) -> Result<i32> {
        let tests = &self.package.tests;
        let ids: Vec<String> = tests
            .iter()
            .map(|test| self.package.id(&test.name))
            .collect();
        if ids.iter().all(|id| self.plan.left_out.contains(id)) {
            rows::write(self, &self.name, &[], &ids, None)?;
            output::nothing_ran(out)?;
            return Ok(0);
        }
        let mut meta = None;
        let mut ran = self.start(&mut self.place()?, None, &mut meta)?;
        if self.package.goes_on {
            ran.functions = None;
        }
        out.write_all(&ran.told.whole)?;
        out.flush()?;
        self.forget_own(&mut ran.traced.seen);
        let status = ran.traced.ended.status();
        let failed = output::failed(&ran.told.whole);
        let row = Row::group(ids, tests, &self.package.shared, ran, |name| match status {
            0 => Outcome::Passed,
            _ if failed.is_empty() || failed.contains(name) => Outcome::Failed,
            // If the process broke off, some did not run.
            1 => Outcome::Passed,
            _ => Outcome::Error,
        });
        rows::write(self, &self.name, &[row], &[], meta.as_ref())?;
        Ok(status)
    }

    /// The tests, as the binary itself lists them.
    fn tests(&self) -> Result<Vec<GoTest>> {
        let covered = self.folder("list")?;
        let output = Command::new(&self.program)
            .arg("-test.list=.")
            .env("GOCOVERDIR", &covered)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .context("cannot start the test binary")?;
        let known = &self.package.tests;
        let known: BTreeMap<&str, &GoTest> = known
            .iter()
            .map(|test| (test.name.as_str(), test))
            .collect();
        let listed = String::from_utf8_lossy(&output.stdout);
        let mut tests = Vec::new();
        let mut named = BTreeSet::new();
        for name in listed.lines().filter(|name| is_run(name)) {
            if !named.insert(name) {
                continue;
            }
            tests.push(match known.get(name) {
                Some(test) => (*test).clone(),
                None => unknown_test(name, self.package),
            });
        }
        // A binary that ends at once lists nothing; what it says then people have to see.
        let missing = self.package.tests.iter();
        let missing = missing.filter(|test| !named.contains(test.name.as_str()));
        tests.extend(missing.cloned());
        Ok(tests)
    }

    /// Where all tests of the binary write. To make files takes as long as a short test.
    fn place(&self) -> Result<Place> {
        Ok(Place {
            folder: self.folder("counters")?,
            output: tempfile::tempfile().context("cannot make a file for output")?,
        })
    }

    /// A new folder for counters.
    fn folder(&self, part: &str) -> Result<PathBuf> {
        let folder = self.plan.out.join(format!("{}-{part}", self.name));
        fs_err::create_dir_all(&folder)?;
        Ok(folder)
    }

    fn has_flag(&self, name: &str) -> bool {
        let flag = format!("-test.{name}=");
        let mut args = self.args.iter().map(|arg| arg.to_string_lossy());
        args.any(|arg| {
            arg.strip_prefix(&flag)
                .is_some_and(|value| value != "false")
        })
    }

    /// Runs the tests that `only` names.
    fn start(
        &self,
        place: &mut Place,
        only: Option<String>,
        meta: &mut Option<Meta>,
    ) -> Result<Ran> {
        let Place { folder, output } = place;
        output.set_len(0)?;
        output.rewind()?;
        let mut argv = vec![self.program.clone()];
        argv.extend(only.map(OsString::from));
        let mut counters = OsString::from("-test.gocoverdir=");
        counters.push(&*folder);
        argv.push(counters);
        // `go test` was told none: it would be for all processes together.
        argv.push(format!("-test.timeout={}", self.plan.timeout).into());
        let own = ["-test.gocoverdir=", "-test.timeout="];
        let is_own = |arg: &OsString| {
            own.iter()
                .any(|one| arg.as_bytes().starts_with(one.as_bytes()))
        };
        let is_other = |arg: &&OsString| !is_own(arg);
        argv.extend(self.args.iter().filter(is_other).cloned());
        let env = [("GOCOVERDIR".into(), folder.clone().into_os_string())];
        let job = Job {
            argv: &argv,
            cwd: &self.cwd,
            timeout: None,
            env: &env,
            output: Some(output),
            marks: None,
            programs: None,
        };
        let traced = match &self.plan.untraced {
            None => tracer::trace(&job, tracer::end_descendants)?,
            Some(why) => tracer::untraced(&job, why)?,
        };
        let told = output::read(text(output)?);
        let functions = self.functions(folder, &traced.seen, meta);
        Ok(Ran {
            traced,
            functions,
            told,
        })
    }

    /// The functions that ran in all processes of the binary; `None` if some did not tell.
    fn functions(
        &self,
        folder: &Path,
        seen: &Seen,
        meta: &mut Option<Meta>,
    ) -> Option<BTreeSet<(u32, u32)>> {
        let counts = Counts::take(folder).ok()?;
        if meta.is_none() {
            *meta = Meta::read(folder).ok()?;
        }
        let started = seen.executed.iter();
        let started =
            started.filter(|(path, _)| **path == self.real || path.starts_with(b"/proc/"));
        let started: usize = started.map(|(_, times)| times).sum();
        let is_own = meta.as_ref().is_some_and(|meta| counts.are_of(meta));
        if !is_own {
            return None;
        }
        let is_whole = counts.processes == started;
        (is_whole || self.plan.untraced.is_some()).then_some(counts.ran)
    }

    /// Leaves away what belongs to this run.
    fn forget_own(&self, seen: &mut Seen) {
        let out = &self.plan.out;
        let is_own = |path: &BString| *path == self.real || tracer::is_below(path.as_bstr(), out);
        seen.forget(is_own);
    }

    /// What the binary itself spells of variables.
    pub(super) fn spelled(&self) -> BTreeSet<&'static str> {
        let mut seen = Seen::default();
        seen.files.insert(self.real.clone(), None);
        tracer::spelled(&seen, &[])
    }
}

fn text(output: &mut File) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    output.rewind()?;
    output.read_to_end(&mut text)?;
    Ok(text)
}

fn outcome(status: i32) -> Outcome {
    match status {
        0 => Outcome::Passed,
        128.. => Outcome::Crashed,
        _ => Outcome::Failed,
    }
}

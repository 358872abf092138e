//! Runs `go test` so that a process of tamis is put before each test binary.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use serde_json::json;

use super::listed::{Settings, list, settings};
use super::model::Survey;
use super::plan::{GoPlan, Packages, TestPackage, load, save};
use super::words::Words;
use crate::languages::go_trace::COLLECTOR;
use crate::matrix::Fingerprint;
use crate::run::Ended;
use crate::tracer::{self, Lines};

/// The file that tells of packages.
pub(super) const PACKAGES: &str = "packages.json";

/// The first version whose counters are known.
pub(super) const OLDEST: u32 = 22;

/// The names under which what decides results is stored.
pub(super) const SETTINGS: &str = "go";
pub(super) const FLAGS: &str = "flags of go test";

/// Runs the command of the plan in a file; returns its status. `tell` hears why nothing is
/// recorded, if so.
///
/// # Errors
/// If it cannot be started.
pub(crate) fn run_go_test(
    file: &Path,
    out: &mut dyn Write,
    tell: &mut dyn FnMut(String),
) -> Result<i32> {
    let plan: GoPlan = load(file)?;
    let command: Vec<OsString> = plan.command.iter().map(OsString::from).collect();
    let words = Words::read(&command).context("this is no `go test`")?;
    match prepare(&plan, &words) {
        Ok(packages) => watched(file, &plan, &words, &packages, out),
        Err(why) => {
            tell(why.to_string());
            let status = typed(&plan, &words).args(&plan.command[1..]).status();
            let status = status.with_context(|| format!("cannot start `{}`", words.program))?;
            Ok(Ended::of(status).status())
        }
    }
}

/// Looks at the packages, and writes down what is known of them.
///
/// # Errors
/// Why nothing can be known.
fn prepare(plan: &GoPlan, words: &Words) -> Result<Packages> {
    let settings = settings(&words.program, &plan.cwd)?;
    if let Some(why) = too_old(&settings) {
        anyhow::bail!("{why}");
    }
    if let Some(why) = words.why_left_alone(settings.get("GOFLAGS")) {
        anyhow::bail!("{why}");
    }
    let flags = words.of_build();
    let listed = list(&words.program, &plan.cwd, &flags, &words.packages)?;
    let listed = listed.context("`go list` does not understand the packages")?;
    let survey = Survey {
        listed: &listed,
        settings: &settings,
        root: &plan.root,
        cwd: &plan.cwd,
    };
    let mut packages = survey.packages()?;
    anyhow::ensure!(
        !packages.asked.contains("command-line-arguments"),
        "files are named, and not packages"
    );
    packages.environment = environment(words, &settings);
    fs_err::create_dir_all(plan.out.join(DONE))?;
    save(&packages, &plan.out.join(PACKAGES))?;
    Ok(packages)
}

/// Why a version of Go is not one that tamis knows, if so.
pub(super) fn too_old(settings: &Settings) -> Option<String> {
    let version = settings.get("GOVERSION");
    let is_known = settings.minor().is_none_or(|minor| minor >= OLDEST);
    (!is_known).then(|| format!("{version} is too old: tamis needs Go 1.{OLDEST} or later"))
}

/// What decides results besides files.
fn environment(words: &Words, settings: &Settings) -> Vec<(String, String, String)> {
    let all = tracer::of_all(std::env::vars_os());
    let print = |text: &str| Fingerprint::of_value(text.as_bytes()).hex();
    let unit = |kind: &str, name: &str, value| (kind.to_owned(), name.to_owned(), value);
    vec![
        unit("env", "*", all.hex()),
        unit("runtime", SETTINGS, print(&settings.text())),
        unit("runtime", FLAGS, print(&words.deciding())),
    ]
}

/// The program of a command, where it runs.
fn typed(plan: &GoPlan, words: &Words) -> Command {
    let mut command = Command::new(&words.program);
    // It goes by the variable where that leads to the same folder.
    command.current_dir(&plan.cwd).env("PWD", &plan.cwd);
    command
}

fn watched(
    file: &Path,
    plan: &GoPlan,
    words: &Words,
    packages: &Packages,
    out: &mut dyn Write,
) -> Result<i32> {
    let program = std::env::current_exe()?;
    let exec = [program.as_path(), Path::new("go-binary"), file].map(quoted);
    let counted = packages
        .modules
        .iter()
        .map(|module| format!("{module}/..."));
    let counted: Vec<String> = counted.collect();
    let left_out = left_out(plan, words, packages)?;
    for package in &left_out {
        if !words.is_json() {
            writeln!(out, "ok  \t{}\t(left out)", package.import_path)?;
        }
    }
    let names = left_out.iter().map(|package| package.import_path.as_str());
    let names: BTreeSet<&str> = names.collect();
    let asked = packages.asked.iter().map(String::as_str);
    let rest: Vec<&str> = asked.filter(|name| !names.contains(name)).collect();
    let targets: Vec<&str> = match names.is_empty() {
        true => words.packages.iter().map(String::as_str).collect(),
        false => rest,
    };
    if targets.is_empty() && !names.is_empty() {
        return Ok(0);
    }
    let mut command = typed(plan, words);
    command
        .arg("test")
        .arg(format!("-exec={}", exec.join(" ")))
        .arg("-cover")
        .arg(format!("-coverpkg={}", counted.join(",")))
        // Each process of a test has its own.
        .arg("-timeout=0")
        .args(words.typed())
        .args(targets);
    if !words.args.is_empty() {
        command.arg("-args").args(&words.args);
    }
    command.stdout(Stdio::piped());
    let child = command.spawn();
    let mut child = child.with_context(|| format!("cannot start `{}`", words.program))?;
    let said = child.stdout.take().context("its output is not there")?;
    let mut said = BufReader::new(said);
    let mut line = Vec::new();
    while said.read_until(b'\n', &mut line)? > 0 {
        out.write_all(&without_counters(&line, &packages.untested))?;
        out.flush()?;
        line.clear();
    }
    let ended = Ended::of(child.wait()?);
    tell_of_others(plan, packages)?;
    Ok(ended.status())
}

/// The packages of which every test is left out, if all of them compile and `go vet` finds what
/// `go test` lets it look for in none: to link their binaries would take longest.
fn left_out<'p>(
    plan: &GoPlan,
    words: &Words,
    packages: &'p Packages,
) -> Result<Vec<&'p TestPackage>> {
    let is_left_out = |package: &&TestPackage| {
        let mut tests = package.tests.iter();
        let is_known = !package.may_have_more && !package.tests.is_empty();
        is_known && tests.all(|test| plan.left_out.contains(&package.id(&test.name)))
    };
    let found: Vec<&TestPackage> = packages.by_folder.values().filter(is_left_out).collect();
    if found.is_empty() || words.vets_otherwise() {
        return Ok(Vec::new());
    }
    let vet = typed(plan, words)
        .arg("vet")
        .args(VETTED)
        .args(words.of_build())
        .args(found.iter().map(|package| &package.import_path))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !vet.is_ok_and(|status| status.success()) {
        // They are built, and all that is wrong is told as ever.
        return Ok(Vec::new());
    }
    let ids = found.iter().flat_map(|package| {
        let tests = package.tests.iter();
        tests.map(|test| package.id(&test.name))
    });
    let ids: Vec<String> = ids.collect();
    let name = format!("{}-go-left-out", std::process::id());
    let mut lines = Lines::begin(&name, COLLECTOR, &plan.cwd);
    let nothing: [&str; 0] = [];
    lines.add(json!(["items", nothing, ids]));
    lines.save(&plan.traces, &name)?;
    for package in &found {
        begins(plan, package)?;
    }
    Ok(found)
}

/// What `go test` has `go vet` look for.
const VETTED: [&str; 11] = [
    "-atomic",
    "-bool",
    "-buildtags",
    "-directive",
    "-errorsas",
    "-ifaceassert",
    "-nilfunc",
    "-printf",
    "-slog",
    "-stringintconv",
    "-tests",
];

/// A word as the `go` command reads it again.
fn quoted(word: &Path) -> String {
    let text = word.display().to_string();
    match text.contains([' ', '\t', '"']) {
        true => format!("'{text}'"),
        false => text,
    }
}

/// What `go test` says of a package without tests, as if nothing were counted. Where it has no
/// statement either, `go test` does not even end the line.
fn without_counters(line: &[u8], untested: &BTreeSet<String>) -> Vec<u8> {
    let text = String::from_utf8_lossy(line);
    for (mark, tab, end) in [("", "\t", "\n"), ("\"Output\":\"", "\\t", "\\n")] {
        let Some(at) = text.find(mark).map(|at| at + mark.len()) else {
            continue;
        };
        let told = text[at..].strip_prefix(tab);
        let told = told.and_then(|told| told.split_once(&format!("{tab}{tab}")));
        let Some((package, rest)) = told.filter(|(package, _)| untested.contains(*package)) else {
            continue;
        };
        let rest = match rest.strip_prefix("coverage: ") {
            Some(share) => share.split_once(end).map_or("", |(_, rest)| rest),
            None => rest,
        };
        let before = &text[..at];
        return format!("{before}?   {tab}{package}{tab}[no test files]{end}{rest}").into_bytes();
    }
    line.to_vec()
}

/// Marks of the binaries that ran.
const DONE: &str = "done";

/// The mark of one.
fn mark(plan: &GoPlan, package: &TestPackage) -> PathBuf {
    let name = package.import_path.replace('%', "%25").replace('/', "%2F");
    plan.out.join(DONE).join(name)
}

pub(super) fn begins(plan: &GoPlan, package: &TestPackage) -> Result<()> {
    Ok(crate::disk::write(mark(plan, package), "")?)
}

/// Says of packages of which no binary ran (they do not compile) that they have tests.
fn tell_of_others(plan: &GoPlan, packages: &Packages) -> Result<()> {
    let others = packages.by_folder.values();
    let others = others.filter(|package| !mark(plan, package).exists());
    let tests = others.flat_map(|package| {
        let tests = package.tests.iter();
        tests.map(|test| package.id(&test.name))
    });
    let tests: Vec<String> = tests.collect();
    if tests.is_empty() {
        return Ok(());
    }
    let name = format!("{}-go", std::process::id());
    let mut lines = Lines::begin(&name, COLLECTOR, &plan.cwd);
    let nothing: [&str; 0] = [];
    lines.add(json!(["items", tests, nothing]));
    lines.save(&plan.traces, &name)
}

/// Whether some file in a folder or below is one of tests.
pub(super) fn has_tests(folder: &Path) -> bool {
    /// What is looked at, so that it takes no time.
    const MOST: usize = 20_000;
    let is_other = |name: &std::ffi::OsStr| {
        let name = name.as_bytes();
        name.starts_with(b".") || name.starts_with(b"_") || name == b"node_modules"
    };
    let below = walkdir::WalkDir::new(folder).into_iter();
    let mut below = below
        .filter_entry(|entry| entry.depth() == 0 || !is_other(entry.file_name()))
        .take(MOST)
        .flatten();
    below.any(|entry| entry.file_name().as_bytes().ends_with(b"_test.go"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_without_tests_are_told_of_as_ever() {
        let untested = BTreeSet::from(["demo/a".to_owned()]);
        let line =
            |text: &str| String::from_utf8(without_counters(text.as_bytes(), &untested)).unwrap();
        let expected = "?   \tdemo/a\t[no test files]\n";
        assert_eq!(line("\tdemo/a\t\tcoverage: 0.0% of statements\n"), expected);
        let next = "ok  \tdemo/b\t0.003s\n";
        assert_eq!(
            line(&format!("\tdemo/a\t\t{next}")),
            format!("{expected}{next}")
        );
        let json = r#"{"Action":"output","Output":"\tdemo/a\t\tcoverage: 0.0% of statements\n"}"#;
        let told = r#"{"Action":"output","Output":"?   \tdemo/a\t[no test files]\n"}"#;
        assert_eq!(line(json), told);
        let json = r#"{"Action":"output","Output":"\tdemo/a\t\t"}"#;
        assert_eq!(line(json), told);
        for other in [next, "\tdemo/b\t\tx\n", "{}\n"] {
            assert_eq!(line(other), other);
        }
    }
}

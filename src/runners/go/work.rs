//! Runs `go test` so that a process of tamis is put before each test binary.

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
            let status = typed(&plan, &words).args(&plan.command[2..]).status();
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
    packages.modules = survey.modules();
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
    let mut command = typed(plan, words);
    command
        .arg("test")
        .arg(format!("-exec={}", exec.join(" ")))
        .arg("-cover")
        .arg(format!("-coverpkg={}", counted.join(",")))
        .args(words.typed())
        .args(&words.packages);
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
        out.write_all(&without_counters(&line))?;
        out.flush()?;
        line.clear();
    }
    let ended = Ended::of(child.wait()?);
    tell_of_others(plan, packages)?;
    Ok(ended.status())
}

/// A word as the `go` command reads it again.
fn quoted(word: &Path) -> String {
    let text = word.display().to_string();
    match text.contains([' ', '\t', '"']) {
        true => format!("'{text}'"),
        false => text,
    }
}

/// What `go test` says of a package without tests, as if nothing were counted.
fn without_counters(line: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(line);
    for (tab, end) in [("\t", "\n"), ("\\t", "\\n")] {
        let words = format!("{tab}{tab}coverage: 0.0% of statements");
        let Some(at) = text.find(&words) else {
            continue;
        };
        let before = &text[..at];
        let start = before.rfind(tab).unwrap_or(0);
        let rest = &text[at + words.len()..];
        let rest = rest.find(end).map_or("", |end| &rest[end..]);
        let package = &before[start..];
        let head = &before[..start];
        return format!("{head}?   {package}{tab}[no test files]{rest}").into_bytes();
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
        tests.map(|test| format!("{}.{}", package.import_path, test.name))
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
        let line = |text: &str| String::from_utf8(without_counters(text.as_bytes())).unwrap();
        let told = line("\tdemo/a\t\tcoverage: 0.0% of statements\n");
        assert_eq!(told, "?   \tdemo/a\t[no test files]\n");
        let json =
            r#"{"Action":"output","Package":"a","Output":"\ta\t\tcoverage: 0.0% of statements\n"}"#;
        let told = line(json);
        let expected = r#"{"Action":"output","Package":"a","Output":"?   \ta\t[no test files]\n"}"#;
        assert_eq!(told, expected);
        let other = "ok  \tdemo/b\t0.003s\n";
        assert_eq!(line(other), other);
    }
}

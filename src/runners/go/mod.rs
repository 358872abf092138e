//! Go's tests: `go test` of a module or a workspace.
//!
//! `go test` builds and tells as ever. A process of tamis is put before each test binary (with
//! `-exec`), which runs each test in a process of its own: coverage counters tell which functions
//! ran, and the tracer which files were used.

mod binary;
mod coverage;
mod emit;
mod listed;
mod model;
mod output;
mod plan;
mod rows;
mod tests;
mod words;
mod work;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Result;
use bstr::{BStr, ByteSlice};

use super::command::OfThisProcess;
use super::emission::left_out_for_sure;
use super::supervised;
use super::{
    Asked, Detected, Examples, Finished, FoundCommand, Launch, Prober, Runner, Settings, Source,
    TestsOf, Unwatched, on_path, pytest,
};
use crate::check::Check;
use crate::error::Error;
use crate::languages::is_part_of_go_package;
use crate::matrix::Fingerprint;
use crate::observe::Observations;
use crate::run::RunPlan;
use crate::select::{Part, Selection};
use crate::tracer;

use plan::GoPlan;
use words::Words;

pub(crate) use binary::run_binary;
pub(crate) use work::run_go_test;

#[derive(Clone, Copy, Debug)]
pub(super) struct Go;

/// The file that tells a process of tamis what to run.
const PLAN: &str = "go.json";

/// What marks a module, and a workspace.
const MODULE: &str = "go.mod";
const WORKSPACE: &str = "go.work";

const INSTALL: &str = "install Go from https://go.dev/dl, or put its folder `bin` into PATH";

impl Runner for Go {
    fn name(&self) -> &'static str {
        "go"
    }

    fn detect(&self, folder: &Path) -> Option<Detected> {
        if self.signs(folder).is_empty() {
            return None;
        }
        Some(Detected {
            tests_of: TestsOf::Go,
            has_tests: work::has_tests(folder),
            has_wrapper: false,
        })
    }

    fn signs(&self, folder: &Path) -> Vec<&'static str> {
        let signs = [MODULE, WORKSPACE].into_iter();
        signs.filter(|name| folder.join(name).is_file()).collect()
    }

    fn starts(&self, command: &[OsString]) -> bool {
        Words::read(command).is_some()
    }

    fn find_command(&self, settings: &Settings<'_>) -> Result<FoundCommand, Error> {
        if on_path("go").is_none() {
            return Err(
                Error::usage("Go is not installed: there is no `go` in PATH").with_hint(INSTALL),
            );
        }
        let mut words: Vec<OsString> = vec!["go".into(), "test".into()];
        words.extend(patterns(settings.root).into_iter().map(OsString::from));
        Ok(FoundCommand {
            words,
            because: None,
        })
    }

    fn emit_for_later(
        &self,
        selection: &Selection,
        part: Option<Part<'_>>,
        _project: Option<&Path>,
        out: &Path,
    ) -> Result<()> {
        emit::write(selection, part, out)
    }

    fn launch(&self, launch: &Launch<'_>) -> Result<RunPlan> {
        let left_out = left_out_for_sure(launch.exclude)?;
        let words = Words::read(launch.command);
        let plan = GoPlan {
            traces: launch.traces.to_owned(),
            root: launch.root.to_owned(),
            out: launch.out.to_owned(),
            cwd: launch.cwd.to_owned(),
            timeout: words.map_or_else(String::new, |words| words.timeout().to_owned()),
            command: strings(launch.command),
            left_out,
            untraced: tracer::why_not(),
        };
        fs_err::create_dir_all(launch.out)?;
        let file = launch.out.join(PLAN);
        plan::save(&plan, &file)?;
        let program = std::env::current_exe()?;
        let argv = vec![program.into(), "go-test".into(), file.into()];
        Ok(RunPlan {
            traces: launch.traces.to_owned(),
            ..RunPlan::plain(argv, launch.cwd)
        })
    }

    fn prober(&self, asked: &Asked<'_>) -> Option<Box<dyn Prober>> {
        let words = Words::read(asked.command)?;
        let mut definitions = BTreeMap::new();
        let print = |text: String| Fingerprint::of_value(text.as_bytes());
        definitions.insert(work::FLAGS.to_owned(), print(words.deciding()));
        // Where it cannot be asked, its value is another one.
        if let Ok(settings) = listed::settings(&words.program, asked.cwd) {
            definitions.insert(work::SETTINGS.to_owned(), print(settings.text()));
        }
        Some(Box::new(OfThisProcess::of(definitions)))
    }

    fn may_bring_tests(&self, path: &BStr) -> Option<bool> {
        let name = path.rsplit_str("/").next().unwrap_or(path);
        let is_of_module = [MODULE, WORKSPACE].iter().any(|one| name == one.as_bytes());
        Some(is_of_module || is_part_of_go_package(name.as_bstr()))
    }

    /// The processes before the binaries have told everything.
    fn know_tests(&self, _ran: &Finished<'_>, _observed: &mut Observations) {}

    fn locate<'t>(&self, _test: &'t str, _is_compiled: bool) -> Option<Source<'t>> {
        None
    }

    fn why_unwatched(&self, _project: &Path, command: &[String]) -> Unwatched {
        let words: Vec<OsString> = command.iter().map(OsString::from).collect();
        let flags = std::env::var("GOFLAGS").unwrap_or_default();
        let why = Words::read(&words).and_then(|words| words.why_left_alone(&flags));
        Unwatched {
            why,
            hint: "let `go test ./...` run without that, and `go vet ./...` pass".to_owned(),
        }
    }

    fn doctor(&self, settings: &Settings<'_>, command: Option<&[OsString]>) -> Vec<Check> {
        let program = command.and_then(|words| words.first()?.to_str());
        let program = program.unwrap_or("go");
        let mut checks = vec![match listed::settings(program, settings.root) {
            Err(error) => Check::fail(self.name(), format!("{error:#}"), INSTALL),
            Ok(found) => match work::too_old(&found) {
                Some(why) => Check::fail(self.name(), why, INSTALL),
                None => Check::ok(self.name(), found.get("GOVERSION").to_owned()),
            },
        }];
        checks.push(supervised::check(self.name()));
        checks
    }

    fn lock_files(&self, folder: &Path) -> Vec<&'static str> {
        let files = ["go.sum"].into_iter();
        files.filter(|name| folder.join(name).is_file()).collect()
    }

    fn examples(&self) -> Examples {
        Examples {
            command: "[go, test, ./...]",
            python: None,
            paths: "[pkg/]",
            own: |_| String::new(),
            ..pytest::EXAMPLES
        }
    }
}

/// What names all packages: in a workspace those of each module.
fn patterns(root: &Path) -> Vec<String> {
    let all = || vec!["./...".to_owned()];
    if !root.join(WORKSPACE).is_file() {
        return all();
    }
    let modules = Command::new("go")
        .args(["list", "-m", "-f", "{{.Dir}}"])
        .current_dir(root)
        .env("PWD", root)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let Ok(modules) = modules else {
        return all();
    };
    let text = String::from_utf8_lossy(&modules.stdout);
    let folders = text
        .lines()
        .filter_map(|line| Path::new(line).strip_prefix(root).ok());
    let patterns = folders.map(|folder| match folder.as_os_str().is_empty() {
        true => "./...".to_owned(),
        false => format!("./{}/...", folder.display()),
    });
    let patterns: Vec<String> = patterns.collect();
    match patterns.is_empty() {
        true => all(),
        false => patterns,
    }
}

fn strings(words: &[OsString]) -> Vec<String> {
    let words = words.iter();
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}

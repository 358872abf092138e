//! Rust's tests: `cargo test` of a package or a workspace.
//!
//! Cargo builds and tells as ever. A process of tamis is put before each test binary (as its
//! runner), which runs each test in a process of its own: breakpoints tell which functions ran,
//! and the tracer which files were used.

mod binary;
mod build;
mod dep_info;
mod doc;
mod emit;
mod image;
mod inputs;
mod model;
mod output;
mod plan;
mod rows;
mod words;
mod work;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use anyhow::Result;
use bstr::{BStr, ByteSlice};

use super::command::OfThisProcess;
use super::emission::left_out_for_sure;
use super::{
    Asked, Detected, Examples, Finished, FoundCommand, Launch, Prober, Runner, Settings, Source,
    TestsOf, Unwatched, on_path, pytest,
};
use crate::check::Check;
use crate::error::Error;
use crate::matrix::Fingerprint;
use crate::observe::Observations;
use crate::run::RunPlan;
use crate::select::{Part, Selection};
use crate::tracer;

use plan::CargoPlan;
use words::Words;

pub(crate) use binary::run_binary as run_cargo_binary;
pub(crate) use doc::run_rustdoc;
pub(crate) use work::run_cargo_test;

#[derive(Clone, Copy, Debug)]
pub(super) struct Cargo;

/// The file that tells a process of tamis what to run.
const PLAN: &str = "cargo.json";

const MANIFEST: &str = "Cargo.toml";

const INSTALL: &str = "install Rust from https://rustup.rs, or put the folder of `cargo` into PATH";

impl Runner for Cargo {
    fn name(&self) -> &'static str {
        "cargo"
    }

    fn detect(&self, folder: &Path) -> Option<Detected> {
        if self.signs(folder).is_empty() {
            return None;
        }
        Some(Detected {
            tests_of: TestsOf::Rust,
            has_tests: inputs::has_tests(folder),
            has_wrapper: false,
        })
    }

    fn signs(&self, folder: &Path) -> Vec<&'static str> {
        let is_there = folder.join(MANIFEST).is_file();
        is_there.then_some(MANIFEST).into_iter().collect()
    }

    fn starts(&self, command: &[OsString]) -> bool {
        Words::read(command).is_some()
    }

    fn find_command(&self, settings: &Settings<'_>) -> Result<FoundCommand, Error> {
        if on_path("cargo").is_none() {
            return Err(
                Error::usage("Rust is not installed: there is no `cargo` in PATH")
                    .with_hint(INSTALL),
            );
        }
        let mut words: Vec<OsString> = vec!["cargo".into(), "test".into()];
        let manifest = crate::disk::read_to_string(settings.root.join(MANIFEST));
        if manifest.is_ok_and(|text| text.contains("[workspace")) {
            words.push("--workspace".into());
        }
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
        fs_err::create_dir_all(launch.out)?;
        let words = launch.command.iter();
        let plan = CargoPlan {
            traces: launch.traces.to_owned(),
            root: launch.root.to_owned(),
            out: fs_err::canonicalize(launch.out)?,
            cwd: launch.cwd.to_owned(),
            cache: launch.project.join(".tamis/cache"),
            command: words
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
            left_out,
            untraced: tracer::why_not(),
        };
        let file = plan.out.join(PLAN);
        plan::save(&plan, &file)?;
        let program = std::env::current_exe()?;
        let argv = vec![program.into(), "cargo-test".into(), file.into()];
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
        let tools = build::compiler(&words.program, words.toolchain.as_deref(), asked.cwd);
        if let Ok(tools) = tools {
            definitions.insert(work::TOOLS.to_owned(), print(tools));
        }
        Some(Box::new(OfThisProcess::of(definitions)))
    }

    /// Any source can be a new test binary, or have new tests.
    fn may_bring_tests(&self, path: &BStr) -> Option<bool> {
        let name = path.rsplit_str("/").next().unwrap_or(path);
        Some(name.ends_with(b".rs") || name == MANIFEST.as_bytes())
    }

    /// The processes before the binaries have told everything.
    fn know_tests(&self, _ran: &Finished<'_>, _observed: &mut Observations) {}

    fn locate<'t>(&self, _test: &'t str, _is_compiled: bool) -> Option<Source<'t>> {
        None
    }

    fn why_unwatched(&self, project: &Path, command: &[String]) -> Unwatched {
        let words: Vec<OsString> = command.iter().map(OsString::from).collect();
        let words = Words::read(&words);
        let why = words.and_then(|words| words.why_left_alone());
        Unwatched {
            why: why.or_else(|| inputs::own_runner(project)),
            hint: "let `cargo test` run without that, and compile".to_owned(),
        }
    }

    fn doctor(&self, settings: &Settings<'_>, command: Option<&[OsString]>) -> Vec<Check> {
        let program = command.and_then(|words| words.first()?.to_str());
        let tools = build::compiler(program.unwrap_or("cargo"), None, settings.root);
        let mut checks = vec![match tools {
            Err(error) => Check::fail(self.name(), format!("{error:#}"), INSTALL),
            Ok(found) => {
                let found = found.lines().next().unwrap_or_default();
                Check::ok(self.name(), found.to_owned())
            }
        }];
        checks.push(match tracer::why_not() {
            None if tracer::CAN_FOLLOW => Check::ok(
                self.name(),
                "tamis sees which functions and files tests use",
            ),
            None => Check::warn(
                self.name(),
                "tamis sees which functions run only on x86-64: tests run every time",
                "run the tests on x86-64",
            ),
            Some(why) => Check::warn(
                self.name(),
                format!("{why}: tests run every time"),
                "let the container or sandbox allow `seccomp`",
            ),
        });
        checks
    }

    fn lock_files(&self, folder: &Path) -> Vec<&'static str> {
        let files = ["Cargo.lock"].into_iter();
        files.filter(|name| folder.join(name).is_file()).collect()
    }

    fn examples(&self) -> Examples {
        Examples {
            command: "[cargo, test, --workspace]",
            python: None,
            paths: "[crates/core/]",
            own: |_| String::new(),
            ..pytest::EXAMPLES
        }
    }
}

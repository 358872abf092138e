//! Tests that run in Node: vitest, jest, and `node --test`. A test is a test file.
//!
//! A process of tamis supervises the command and sees which files its processes use. An agent in
//! each Node process tells which of that is about which test file; the rest counts for all. So
//! what the agent does not know leads to more tests, and not to fewer.

mod emit;
mod functions;
mod plan;
mod project;
mod rows;
mod script;
mod told;
mod work;

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Result;
use bstr::{BStr, ByteSlice};

use super::command::OfThisProcess;
use super::supervised::{self, Supervised};
use super::{
    Asked, Detected, Examples, Finished, FoundCommand, Launch, Prober, Runner, Settings, Source,
    TestsOf, Unwatched, on_path, program_name, pytest,
};
use crate::check::Check;
use crate::error::Error;
use crate::observe::Observations;
use crate::run::RunPlan;
use crate::select::{Part, Selection};

use project::{PACKAGE, Package};

pub(crate) use work::run_node_tests;

#[derive(Clone, Copy, Debug)]
pub(super) struct Node;

/// Programs that run in Node, and those that run scripts of a package.
const PROGRAMS: [&str; 4] = ["node", "npx", "vitest", "jest"];
const MANAGERS: [&str; 3] = ["npm", "pnpm", "yarn"];

/// What sources are called that can be tests.
const SOURCES: [&str; 11] = [
    "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "vue", "svelte", "astro",
];

const INSTALL: &str = "install Node.js 18 or later, or put its folder into PATH";

impl Runner for Node {
    fn name(&self) -> &'static str {
        "node"
    }

    fn detect(&self, folder: &Path) -> Option<Detected> {
        let package = Package::of(folder)?;
        package.has_tests().then_some(Detected {
            tests_of: TestsOf::Node,
            has_tests: true,
            has_wrapper: false,
        })
    }

    fn signs(&self, folder: &Path) -> Vec<&'static str> {
        let is_there = folder.join(PACKAGE).is_file();
        is_there.then_some(PACKAGE).into_iter().collect()
    }

    fn starts(&self, command: &[OsString]) -> bool {
        program_name(command).is_some_and(|program| PROGRAMS.contains(&program))
    }

    fn drives(&self, command: &[OsString]) -> bool {
        let is_manager = |program| MANAGERS.contains(&program);
        self.starts(command) || program_name(command).is_some_and(is_manager)
    }

    fn find_command(&self, settings: &Settings<'_>) -> Result<FoundCommand, Error> {
        let package = Package::of(settings.root).unwrap_or_default();
        let found = |words| FoundCommand {
            words,
            because: None,
        };
        if let Some(tool) = package.tool() {
            let (name, words) = (tool.name, tool.words.iter().map(OsString::from));
            let Some(program) = tool.installed(settings.root) else {
                let why = format!("{name} is not installed: there is no node_modules/.bin/{name}");
                let hint = "run `npm install`, or as the project says";
                return Err(Error::usage(why).with_hint(hint));
            };
            return Ok(found([program.into()].into_iter().chain(words).collect()));
        }
        if on_path("node").is_none() {
            return Err(
                Error::usage("Node.js is not installed: there is no `node` in PATH")
                    .with_hint(INSTALL),
            );
        }
        let script = package.node_test();
        Ok(found(script.unwrap_or_else(|| match package.has_tests() {
            true => vec!["npm".into(), "test".into()],
            false => vec!["node".into(), "--test".into()],
        })))
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
        Supervised::of(launch)?.by("node-test")
    }

    fn prober(&self, asked: &Asked<'_>) -> Option<Box<dyn Prober>> {
        let definition = plan::definition(asked.command, asked.cwd, asked.root);
        Some(Box::new(OfThisProcess::of([definition])))
    }

    /// Which test files there are the command itself finds, so it has to be asked.
    fn may_bring_tests(&self, path: &BStr) -> Option<bool> {
        let name = path.rsplit_str("/").next().unwrap_or(path);
        let ending = name.rsplit_str(".").next().unwrap_or_default();
        let is_source = SOURCES.iter().any(|one| ending == one.as_bytes());
        // A pattern of the configuration can be about any name.
        Some(is_source || path.contains_str("test") || path.contains_str("spec"))
    }

    /// The supervisor has told everything.
    fn know_tests(&self, _ran: &Finished<'_>, _observed: &mut Observations) {}

    fn locate<'t>(&self, _test: &'t str, _is_compiled: bool) -> Option<Source<'t>> {
        None
    }

    fn why_unwatched(&self, _project: &Path, _command: &[String]) -> Unwatched {
        Unwatched::unless("what is watched is vitest, jest and `node --test`;")
    }

    fn doctor(&self, settings: &Settings<'_>, command: Option<&[OsString]>) -> Vec<Check> {
        let mut checks = vec![self.node()];
        let package = Package::of(settings.root).unwrap_or_default();
        let missing = package
            .tool()
            .filter(|tool| tool.installed(settings.root).is_none());
        if let (None, Some(tool)) = (command, missing) {
            let found = format!("{} is not installed", tool.name);
            checks.push(Check::fail(self.name(), found, "run `npm install`"));
        }
        checks.push(supervised::check(self.name()));
        checks
    }

    fn lock_files(&self, folder: &Path) -> Vec<&'static str> {
        let files = ["package-lock.json", "pnpm-lock.yaml", "yarn.lock"];
        let files = files.into_iter();
        files.filter(|name| folder.join(name).is_file()).collect()
    }

    fn examples(&self) -> Examples {
        Examples {
            command: "[npx, vitest, run]",
            python: None,
            paths: "[\"src/**\"]",
            own: |_| String::new(),
            ..pytest::EXAMPLES
        }
    }
}

/// The first version of Node that the agent understands.
const OLDEST: u32 = 18;

impl Node {
    /// Whether Node is there, and new enough.
    fn node(self) -> Check {
        let output = Command::new("node")
            .arg("--version")
            .stdin(Stdio::null())
            .output();
        let version = match output {
            Ok(output) if output.status.success() => {
                String::from_utf8_lossy(&output.stdout).trim().to_owned()
            }
            _ => return Check::fail(self.name(), "Node.js is not installed", INSTALL),
        };
        let first = version.trim_start_matches('v').split('.').next();
        let first = first.and_then(|first| first.parse::<u32>().ok());
        match first {
            Some(first) if first < OLDEST => {
                let found = format!("Node.js {version} is too old");
                Check::fail(self.name(), found, INSTALL)
            }
            _ => Check::ok(self.name(), format!("Node.js {version}")),
        }
    }
}

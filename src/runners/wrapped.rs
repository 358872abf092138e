//! A command that does not show what it starts: `make test`, `tox`, a script of the
//! project's. Nothing can be added to its words, so collectors come to the processes by
//! variables, and the one in the test process leaves tests out.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::template::Examples;
use super::{
    FoundCommand, Launch, Ordered, Orders, Runner, Settings, jvm, maven, program_name, pytest,
};
use crate::check::Check;
use crate::error::Error;
use crate::run::RunPlan;

/// No configuration names it: a runner is told from another by its tests.
pub(super) struct Wrapped;

impl Runner for Wrapped {
    fn name(&self) -> &'static str {
        "wrapped"
    }

    fn starts(&self, _command: &[OsString]) -> bool {
        false
    }

    fn orders(&self, _ordered: &Ordered<'_>) -> Result<Box<dyn Orders>, Error> {
        let why = "orders can be chosen for pytest and Maven, and this command does not show what \
                   it starts";
        Err(Error::usage(why).with_hint("write the command that starts one of them behind `--`"))
    }

    fn find_command(&self, _settings: &Settings<'_>) -> Result<FoundCommand, Error> {
        Err(Error::usage("no test command is given"))
    }

    fn doctor(&self, _settings: &Settings<'_>, _command: Option<&[OsString]>) -> Vec<Check> {
        Vec::new()
    }

    fn examples(&self) -> Examples {
        pytest::EXAMPLES
    }
}

/// With the collector for Python, which is where no other process looks, and with that of
/// the JVM where one may be started.
pub(super) fn plan(launch: &Launch<'_>) -> RunPlan {
    let plan = with_python(launch.command.to_vec(), launch);
    let may_start_jvm =
        program_name(launch.command) == Some("java") || maven::is_project(launch.cwd);
    match may_start_jvm {
        true => {
            let options = maven::options(launch.command, launch.cwd);
            let granularity = launch.settings.granularity;
            jvm::with_collector(plan, launch, options, granularity)
        }
        false => plan,
    }
}

/// The variable by which Python hashes texts.
const HASH_SEED: &str = "PYTHONHASHSEED";

/// What is made in the order of a set is the same in each run, so that it can be compared. Which seed
/// it is does not matter, but with 0 the interpreter says that it hashes texts the same way always.
const SEED: &str = "1";

/// The plan to run `argv` with the collector for Python.
pub(super) fn with_python(argv: Vec<OsString>, launch: &Launch<'_>) -> RunPlan {
    let boot = launch.agent.join("boot");
    let mut env: Vec<(OsString, OsString)> = vec![
        ("PYTHONPATH".into(), before_path(boot.as_os_str())),
        ("TAMIS_TRACE_DIR".into(), launch.traces.into()),
        ("TAMIS_ROOT".into(), launch.root.into()),
    ];
    if let Some(exclude) = launch.exclude {
        env.push(("TAMIS_EXCLUDE".into(), exclude.into()));
    }
    if !launch.serials.is_empty() {
        env.push(("TAMIS_SERIALS".into(), launch.serials.into()));
    }
    if std::env::var_os(HASH_SEED).is_none() {
        env.push((HASH_SEED.into(), SEED.into()));
        // So that the collector takes it away before anybody sees it.
        env.push(("TAMIS_HASH_SEED".into(), SEED.into()));
    }
    RunPlan {
        argv,
        cwd: launch.cwd.to_owned(),
        env,
        traces: launch.traces.to_owned(),
    }
}

pub(super) fn before_path(first: &OsStr) -> OsString {
    let mut joined = first.to_owned();
    let known = std::env::var_os("PYTHONPATH");
    if let Some(known) = known.filter(|known| !known.is_empty()) {
        joined.push(":");
        joined.push(known);
    }
    joined
}

/// A command line as it is stored: bytes that are not UTF-8 are replaced,
/// which can only make two different commands equal in name, and then the
/// options that pytest saw still differ. In another folder than that of the
/// project the same words come to other tests.
pub(super) fn words(command: &[OsString], cwd: &Path, project: &Path) -> Vec<String> {
    let mut words = plain_words(command);
    let below = cwd.strip_prefix(project).unwrap_or(cwd);
    if !below.as_os_str().is_empty() {
        words.push(format!("{}{}", pytest::FOLDER, below.display()));
    }
    words
}

/// The words of a command, and what pytest is told by a variable.
pub(super) fn plain_words(command: &[OsString]) -> Vec<String> {
    let words = command
        .iter()
        .map(|word| word.to_string_lossy().into_owned());
    let mut words: Vec<String> = words.collect();
    if let Some(added) = std::env::var_os(pytest::ADDED) {
        words.push(format!("{}={}", pytest::ADDED, added.to_string_lossy()));
    }
    words
}

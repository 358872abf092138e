//! JUnit's console launcher as one of the runners.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::check::Check;
use crate::error::Error;
use crate::run::RunPlan;
use crate::runners::jvm::doctor::{Jdk, of_jvm, untold};
use crate::runners::maven::home_of;
use crate::runners::{
    Asked, Build, Examples, FoundCommand, Granularity, Launch, Prober, Runner, Settings, Unwatched,
    jvm, program_name, wrapped,
};
use crate::select::{Part, Selection};

#[derive(Clone, Copy)]
pub(crate) struct Junit;

const NO_CLASS_PATH: &str = "write the `command` in tamis.yml: no build file has its class path";

impl Runner for Junit {
    fn name(&self) -> &'static str {
        "junit"
    }

    fn starts(&self, command: &[OsString]) -> bool {
        program_name(command) == Some("java")
    }

    fn drives(&self, command: &[OsString]) -> bool {
        super::is_console(command)
    }

    fn find_command(&self, _settings: &Settings<'_>) -> Result<FoundCommand, Error> {
        let message = "`runner: junit` needs a `command`, as no build file has the class path";
        Err(Error::usage(message).with_hint(
            "write it in tamis.yml: \
             [java, -cp, \"lib/*:out\", org.junit.platform.console.ConsoleLauncher, --scan-classpath]",
        ))
    }

    fn build(&self, _command: &[OsString], _cwd: &Path, _out: &Path) -> Result<Build> {
        Ok(Build::Done)
    }

    fn emit(
        &self,
        selection: &Selection,
        part: Option<Part<'_>>,
        _project: &Path,
        out: &Path,
        _tell: &dyn Fn(String),
    ) -> Result<Option<PathBuf>> {
        super::emit(selection, part, out)
    }

    fn launch(&self, launch: &Launch<'_>) -> Result<RunPlan> {
        let argv = match launch.left_out {
            Some(excludes) => super::with_options(launch.command, excludes)?,
            None => launch.command.to_vec(),
        };
        let plan = wrapped::with_python(argv, launch);
        let options = super::options(launch.command, launch.cwd);
        Ok(jvm::with_collector(
            plan,
            launch,
            options,
            Granularity::Class,
        ))
    }

    fn prober(&self, asked: &Asked<'_>) -> Option<Box<dyn Prober>> {
        let options = super::options(asked.command, asked.cwd);
        let arguments = jvm::arguments(options, Granularity::Class, &asked.settings);
        let home = super::program(asked.command, asked.cwd).and_then(|java| home_of(&java));
        jvm::prober(asked.built.at_once(), home.as_deref(), arguments)
    }

    fn words(&self, command: &[OsString], _cwd: &Path, _project: &Path) -> Vec<String> {
        jvm::words(command)
    }

    fn starts_nothing_for_nothing(&self) -> bool {
        true
    }

    fn needs_built(&self) -> bool {
        true
    }

    fn why_unwatched(&self, _project: &Path, _command: &[String]) -> Unwatched {
        Unwatched::unless(
            "what is watched is what JUnit's launcher runs in the JVM that the command starts: \
             does its class path lead to compiled tests?",
        )
    }

    fn doctor(&self, settings: &Settings<'_>, command: Option<&[OsString]>) -> Vec<Check> {
        let Some(command) = command else {
            let found = "no `command` is configured";
            return vec![Check::fail(self.name(), found, NO_CLASS_PATH)];
        };
        let home = super::program(command, settings.root).and_then(|java| home_of(&java));
        let own = match self.drives(command) {
            true => class_path(command, settings.root),
            false => untold(command),
        };
        of_jvm(home.as_deref(), Jdk::OfCommand, settings.root, vec![own])
    }

    fn examples(&self) -> Examples {
        Examples {
            command: "[java, -cp, \"lib/*:out\", org.junit.platform.console.ConsoleLauncher, \
                      --scan-classpath]",
            ..jvm::EXAMPLES
        }
    }
}

/// What the class path of the launcher leads to.
fn class_path(command: &[OsString], root: &Path) -> Check {
    let name = "class path";
    let options = super::options(command, root);
    let folders: Vec<&str> = super::folders(&options).collect();
    let missing = folders.iter().find(|folder| !root.join(folder).exists());
    let has_classes = |folder: &&&str| {
        jvm::class_files(&root.join(folder)).is_ok_and(|classes| !classes.is_empty())
    };
    match (folders.iter().find(has_classes), missing) {
        (Some(_), None) => Check::ok(name, folders.join(", ")),
        (_, Some(missing)) => Check::warn(
            name,
            format!("{missing} is not there"),
            "compile first: tamis compiles nothing for this runner",
        ),
        (None, None) => Check::warn(
            name,
            "no folder on it has a class file",
            "compile first: tamis compiles nothing for this runner",
        ),
    }
}

//! Gradle as one of the runners.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::{MARKS, Script, command, emit};
use crate::check::Check;
use crate::error::Error;
use crate::run::{RunPlan, jvm_library};
use crate::runners::jvm::doctor::{Tool, build_tool, of_build, version_parts};
use crate::runners::{
    Asked, Build, Detected, Examples, FoundCommand, Granularity, Launch, Prober, Runner, Settings,
    TestsOf, Unwatched, jvm, maven, wrapped,
};
use crate::select::{Part, Selection};

#[derive(Clone, Copy)]
pub(crate) struct Gradle;

const TOOL: Tool = Tool {
    name: "gradle",
    mark: "Gradle ",
    wrapper: "gradlew",
    properties: "gradle/wrapper/gradle-wrapper.properties",
    stem: "gradle-",
};

impl Runner for Gradle {
    fn name(&self) -> &'static str {
        "gradle"
    }

    fn detect(&self, folder: &Path) -> Option<Detected> {
        super::is_project(folder).then(|| Detected {
            tests_of: TestsOf::Jvm,
            has_tests: jvm::has_tests(folder),
            has_wrapper: folder.join("gradlew").is_file(),
        })
    }

    fn signs(&self, folder: &Path) -> Vec<&'static str> {
        let mut signs = jvm::present(folder, &MARKS);
        signs.extend(jvm::present(folder, &["gradlew", "src/test"]));
        signs
    }

    fn starts(&self, command: &[OsString]) -> bool {
        command::is_gradle(command)
    }

    fn find_command(&self, settings: &Settings<'_>) -> Result<FoundCommand, Error> {
        match super::is_project(settings.root) {
            true => Ok(jvm::with_wrapper(settings.root, "gradlew", "gradle")),
            false => Err(jvm::no_build(self.name(), settings.root)),
        }
    }

    fn build(&self, command: &[OsString], _cwd: &Path, out: &Path) -> Result<Build> {
        let script = emit::write_compile_script(out)?;
        let build = command::build_command(command, &script);
        Ok(build.map_or_else(jvm::no_build_command, Build::By))
    }

    fn emit(
        &self,
        selection: &Selection,
        part: Option<Part<'_>>,
        project: &Path,
        out: &Path,
        tell: &dyn Fn(String),
    ) -> Result<Option<PathBuf>> {
        emit::emit(selection, part, project, out, tell)
    }

    fn launch(&self, launch: &Launch<'_>) -> Result<RunPlan> {
        let options = super::options(launch.command);
        let arguments = jvm::arguments(options, Granularity::Class, &launch.settings);
        let script = Script {
            project: launch.project,
            run: launch.run,
            agent: &jvm_library(launch.agent),
            excludes: launch.left_out,
            variables: &jvm::variables(launch.traces, launch.root, &arguments),
        };
        let script = emit::write_script(&script, launch.out)?;
        let argv = command::with_script(launch.command, &script);
        // The script gives the collector to the JVMs of tests alone.
        Ok(wrapped::with_python(argv, launch))
    }

    fn prober(&self, asked: &Asked<'_>) -> Option<Box<dyn Prober>> {
        let options = super::options(asked.command);
        let arguments = jvm::arguments(options, Granularity::Class, &asked.settings);
        jvm::prober(
            asked.built.at_once(),
            maven::java_home().as_deref(),
            arguments,
        )
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

    fn written_folders(&self, top: &Path) -> Vec<PathBuf> {
        super::build_folders(top)
    }

    fn why_unwatched(&self, _project: &Path, _command: &[String]) -> Unwatched {
        Unwatched::unless(
            "under Gradle, what is watched is JUnit and TestNG in the JVMs of tasks of the type \
             Test;",
        )
    }

    fn doctor(&self, settings: &Settings<'_>, command: Option<&[OsString]>) -> Vec<Check> {
        of_build(self, settings, command, |command| {
            let (found, version) = build_tool(&TOOL, command, settings.root);
            vec![match version.as_deref().and_then(version_parts) {
                Some(parts) if parts < [4, 0, 0] => Check::fail(
                    "gradle",
                    format!("{} is too old", found.found),
                    "use Gradle 4.0 or later",
                ),
                Some(parts) if parts >= [9, 0, 0] => Check::warn(
                    "gradle",
                    format!(
                        "{} is newer than what the init script was made for",
                        found.found
                    ),
                    "if it fails there, use Gradle 4.0 to 8",
                ),
                _ => found,
            }]
        })
    }

    fn examples(&self) -> Examples {
        Examples {
            command: "[./gradlew, check]",
            ..jvm::EXAMPLES
        }
    }
}

//! Maven as one of the runners.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Result;
use bstr::BString;

use super::orders::Sessions;
use super::{command, emit};
use crate::check::Check;
use crate::error::Error;
use crate::matrix::Unit;
use crate::run::RunPlan;
use crate::runners::{
    Asked, Build, Detected, Examples, FoundCommand, Granularity, Launch, Ordered, Orders, Prober,
    Question, Runner, Settings, TestsOf, Tree, Unwatched, jvm, pytest, wrapped,
};
use crate::select::{Part, Selection};

#[derive(Clone, Copy)]
pub(crate) struct Maven;

impl Runner for Maven {
    fn name(&self) -> &'static str {
        "maven"
    }

    fn detect(&self, folder: &Path) -> Option<Detected> {
        super::is_project(folder).then(|| Detected {
            tests_of: TestsOf::Jvm,
            has_tests: jvm::has_tests(folder),
            has_wrapper: folder.join("mvnw").is_file(),
        })
    }

    fn signs(&self, folder: &Path) -> Vec<&'static str> {
        jvm::present(folder, &[super::POM, "mvnw", "src/test"])
    }

    fn starts(&self, command: &[OsString]) -> bool {
        command::is_maven(command)
    }

    fn find_command(&self, settings: &Settings<'_>) -> Result<FoundCommand, Error> {
        match super::is_project(settings.root) {
            true => Ok(jvm::with_wrapper(settings.root, "mvnw", "mvn")),
            false => Err(jvm::no_build(self.name(), settings.root)),
        }
    }

    fn build(&self, command: &[OsString], _cwd: &Path, _out: &Path) -> Result<Build> {
        if command::compiles_nothing(command) {
            return Ok(Build::Done);
        }
        Ok(command::build_command(command).map_or_else(jvm::no_build_command, Build::By))
    }

    fn question(&self, command: &[OsString], cwd: &Path) -> Result<Option<Question>, String> {
        match super::why_twice(command, cwd) {
            None => Ok(Some(Question {
                file: emit::FILE,
                by: "Surefire",
                since: "2.19",
                // Nor is a JVM started to find that abstract classes have no tests.
                nothing_runs: emit::EVERYTHING,
            })),
            Some(why) => Err(format!(
                "Maven is started twice, to compile and then to test: {why}"
            )),
        }
    }

    fn answer(
        &self,
        selection: &Selection,
        part: Option<Part<'_>>,
        project: &Path,
        tell: &dyn Fn(String),
    ) -> String {
        emit::list(selection, part, project, tell)
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

    fn emit_for_later(
        &self,
        selection: &Selection,
        part: Option<Part<'_>>,
        project: Option<&Path>,
        out: &Path,
    ) -> Result<()> {
        pytest::write_args(selection, part, out)?;
        emit::emit_for_later(selection, part, project, out)
    }

    fn is_told_by_name(&self) -> bool {
        true
    }

    fn emit_tests(
        &self,
        tests: &BTreeMap<String, bool>,
        project: &Path,
        out: &Path,
    ) -> Result<Option<PathBuf>> {
        emit::emit_tests(tests, project, out)
    }

    fn ignores_failure(&self, command: &[OsString]) -> bool {
        command::ignores_failure(command)
    }

    fn launch(&self, launch: &Launch<'_>) -> Result<RunPlan> {
        let granularity = launch.settings.granularity;
        let argv = match launch.left_out {
            Some(excludes) => {
                let nested =
                    granularity == Granularity::Method && emit::excludes_nested(launch.project);
                command::with_exclusions(launch.command, excludes, nested)
            }
            None => launch.command.to_vec(),
        };
        let plan = wrapped::with_python(argv, launch);
        let options = super::options(launch.command, launch.cwd);
        Ok(jvm::with_collector(plan, launch, options, granularity))
    }

    fn orders(&self, ordered: &Ordered<'_>) -> Result<Box<dyn Orders>, Error> {
        Ok(Box::new(Sessions::start(ordered)?))
    }

    fn prober(&self, asked: &Asked<'_>) -> Option<Box<dyn Prober>> {
        let options = super::options(asked.command, asked.cwd);
        let granularity = asked.settings.granularity;
        let arguments = jvm::arguments(options, granularity, &asked.settings);
        jvm::prober(asked.built, super::java_home().as_deref(), arguments)
    }

    fn words(&self, command: &[OsString], _cwd: &Path, _project: &Path) -> Vec<String> {
        jvm::words(command)
    }

    fn variables(&self) -> &'static [&'static str] {
        &command::JVM_OPTIONS
    }

    fn is_known_by_sources(&self) -> bool {
        true
    }

    fn is_of_sources(
        &self,
        tree: &Tree<'_>,
        command: &[String],
        edited: &BTreeSet<BString>,
        units: &[&Unit],
    ) -> Result<(), String> {
        super::is_of_sources(tree, command, edited, units)
    }

    fn hides_tests(&self, project: &Path, command: &[String]) -> Option<String> {
        let inside = super::inside_by(project, command)?;
        Some(format!(
            "`{}` {} in {} runs tests in Maven's own JVM, where nothing is collected",
            inside.setting,
            inside.value,
            inside.place()
        ))
    }

    fn starts_nothing_for_nothing(&self) -> bool {
        true
    }

    fn written_folders(&self, top: &Path) -> Vec<PathBuf> {
        super::build_folders(top)
    }

    fn why_unwatched(&self, project: &Path, command: &[String]) -> Unwatched {
        super::unwatched::why(project, command)
    }

    fn doctor(&self, settings: &Settings<'_>, command: Option<&[OsString]>) -> Vec<Check> {
        super::doctor::checks(settings, command)
    }

    fn examples(&self) -> Examples {
        jvm::EXAMPLES
    }
}

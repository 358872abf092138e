//! pytest as one of the runners.

use std::ffi::OsString;
use std::path::Path;

use super::observing::Watched;
use super::orders::Sessions;
use super::{ADDED, detect, doctor};
use crate::check::Check;
use crate::error::Error;
use crate::runners::{
    Detected, Examples, FoundCommand, Observer, Ordered, Orders, Runner, Settings, TestsOf,
    program_name,
};

#[derive(Clone, Copy)]
pub(crate) struct Pytest;

/// Files that declare the versions of installed packages.
const LOCK_FILES: [&str; 9] = [
    "uv.lock",
    "poetry.lock",
    "pdm.lock",
    "pylock.toml",
    "Pipfile.lock",
    "requirements.txt",
    "requirements-dev.txt",
    "requirements-test.txt",
    "constraints.txt",
];

pub(crate) const EXAMPLES: Examples = Examples {
    command: "[pytest, -q]",
    python: Some(".venv/bin/python"),
    paths: "[\"src/**\", \"tests/**\"]",
    suites: "api: {root: services/api, paths: [\"services/api/**\"]}",
    label: "py312",
    always_run: "[\"tests/smoke/**\"]",
    run_all_when: "[Dockerfile, \".github/workflows/**\"]",
    keep_together: "[[tests/test_setup.py, tests/test_use.py]]",
    own: |lock_files| {
        let lock_files = match lock_files {
            [] => "requirements.txt".to_owned(),
            files => files.join(", "),
        };
        format!(
            "\n\
             # Files that pin packages and interpreter, for test steps without tamis.\n\
             #: lock-files: [{lock_files}]\n\
             \n\
             # Caches and registries that tests leave behind without another noticing.\n\
             #: benign-state: [\"src/pkg/lexer.py#_cache\"]\n"
        )
    },
};

// A command that does not show what it starts may start pytest: what holds for such a
// command holds here.
impl Runner for Pytest {
    fn name(&self) -> &'static str {
        "pytest"
    }

    fn detect(&self, folder: &Path) -> Option<Detected> {
        detect::has_tests(folder).then_some(Detected {
            tests_of: TestsOf::Python,
            has_tests: true,
            has_wrapper: false,
        })
    }

    fn signs(&self, folder: &Path) -> Vec<&'static str> {
        let holds = |file: &str, text: &str| {
            crate::disk::read(folder.join(file))
                .is_ok_and(|content| String::from_utf8_lossy(&content).contains(text))
        };
        let signs = [
            ("pytest.ini", folder.join("pytest.ini").is_file()),
            (".pytest.ini", folder.join(".pytest.ini").is_file()),
            ("pyproject.toml", holds("pyproject.toml", "pytest")),
            ("tox.ini", holds("tox.ini", "pytest")),
            ("setup.cfg", holds("setup.cfg", "pytest")),
            ("conftest.py", folder.join("conftest.py").is_file()),
            ("tests/", folder.join("tests").is_dir()),
            ("test/", folder.join("test").is_dir()),
        ];
        let found = signs.into_iter().filter(|(_, is_there)| *is_there);
        found.map(|(name, _)| name).collect()
    }

    fn starts(&self, command: &[OsString]) -> bool {
        let name = program_name(command);
        name.is_some_and(|name| name.starts_with("python") || name.starts_with("pytest"))
    }

    fn find_command(&self, settings: &Settings<'_>) -> Result<FoundCommand, Error> {
        Ok(detect::find(settings.root, settings.interpreter)?)
    }

    fn orders(&self, ordered: &Ordered<'_>) -> Result<Box<dyn Orders>, Error> {
        Ok(Box::new(Sessions::start(ordered)?))
    }

    fn takes_orders(&self) -> bool {
        true
    }

    fn observer(&self, ordered: &Ordered<'_>, original: &Path) -> Result<Box<dyn Observer>, Error> {
        Ok(Box::new(Watched::new(ordered, original)))
    }

    fn has_interpreter(&self) -> bool {
        true
    }

    fn confirms(&self) -> bool {
        true
    }

    fn variables(&self) -> &'static [&'static str] {
        &[ADDED]
    }

    fn doctor(&self, settings: &Settings<'_>, _command: Option<&[OsString]>) -> Vec<Check> {
        doctor::checks(settings)
    }

    fn is_checked_by_init(&self) -> bool {
        false
    }

    fn lock_files(&self, folder: &Path) -> Vec<&'static str> {
        let files = LOCK_FILES.into_iter();
        files.filter(|name| folder.join(name).exists()).collect()
    }

    fn examples(&self) -> Examples {
        EXAMPLES
    }
}

//! Which runner a name, a folder or a command line means.

use std::cmp::Reverse;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::wrapped::Wrapped;
use super::{ALL, Runner, TestsOf, pytest};

/// What a folder looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FoundRunner {
    pub runner: &'static dyn Runner,
    /// Another one whose tests seem to be there as well.
    pub other: Option<&'static dyn Runner>,
}

/// The runner with this name.
pub(crate) fn named(name: &str) -> Option<&'static dyn Runner> {
    ALL.iter().copied().find(|runner| runner.name() == name)
}

/// The runner of `folder`, where nothing says which: one that has tests there goes first,
/// then a build of the JVM's, and of two builds the one that the project brings along.
pub(crate) fn found(folder: &Path) -> FoundRunner {
    let detected = ALL.iter().copied().filter_map(|runner| {
        let detected = runner.detect(folder)?;
        Some((runner, detected))
    });
    let mut detected: Vec<_> = detected.collect();
    detected.sort_by_key(|(_, one)| {
        let is_build = one.tests_of == TestsOf::Jvm;
        Reverse((one.has_tests, is_build, one.has_wrapper))
    });
    let first = detected.first();
    let other = detected
        .iter()
        .find(|(_, one)| first.is_some_and(|(_, first)| first.tests_of != one.tests_of));
    FoundRunner {
        runner: first.map_or(&pytest::Pytest, |(runner, _)| *runner),
        other: other.map(|(runner, _)| *runner),
    }
}

/// The runner whose own program a command starts.
pub(crate) fn of_program(command: &[OsString]) -> Option<&'static dyn Runner> {
    ALL.iter().copied().find(|runner| runner.starts(command))
}

/// The runner whose tests an interpreter runs that is configured.
pub(crate) fn of_interpreter() -> Option<&'static dyn Runner> {
    ALL.iter().copied().find(|runner| runner.has_interpreter())
}

/// Who starts a command and tells it what to leave out: `runner` if it can, else the
/// one whose command it is. Where the command hides what it starts, nobody adds words.
pub(crate) fn driver(runner: &'static dyn Runner, command: &[OsString]) -> &'static dyn Runner {
    match runner.drives(command) {
        true => runner,
        false => of_program(command)
            .filter(|runner| runner.drives(command))
            .unwrap_or(&Wrapped),
    }
}

/// Who started a command that was recorded.
pub(crate) fn of_words(words: &[String]) -> &'static dyn Runner {
    let words: Vec<OsString> = words.iter().map(OsString::from).collect();
    driver(&Wrapped, &words)
}

/// A recorded command without what variables added to it.
pub(crate) fn typed_words(words: &[String]) -> Vec<String> {
    let added = ALL.iter().copied().flat_map(|runner| runner.variables());
    let added: Vec<&str> = added.copied().collect();
    let is_added = |word: &&String| {
        let name = word.split('=').next().unwrap_or_default();
        added.contains(&name)
    };
    words
        .iter()
        .filter(|word| !is_added(word))
        .cloned()
        .collect()
}

/// The program of this name that a command finds.
pub(super) fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|program| program.is_file())
}

/// The name of a command's program, without its folders.
pub(super) fn program_name(command: &[OsString]) -> Option<&str> {
    Path::new(command.first()?).file_name()?.to_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_decides() {
        let of = |files: &[&str]| {
            let folder = tempfile::tempdir().unwrap();
            for file in files {
                let path = folder.path().join(file);
                fs_err::create_dir_all(path.parent().unwrap()).unwrap();
                fs_err::write(path, "").unwrap();
            }
            let found = found(folder.path());
            (found.runner.name(), found.other.map(|other| other.name()))
        };
        let java = "core/src/test/java/A.java";
        assert_eq!(of(&[]), ("pytest", None));
        assert_eq!(of(&["tests/test_a.py"]), ("pytest", None));
        assert_eq!(of(&["pom.xml"]), ("maven", None));
        let python = of(&["pom.xml", "tests/test_a.py"]);
        assert_eq!(python, ("pytest", Some("maven")));
        let both = of(&["pom.xml", "conftest.py", java]);
        assert_eq!(both, ("maven", Some("pytest")));
        assert_eq!(of(&["settings.gradle.kts", java]), ("gradle", None));
        let wrapper = of(&["pom.xml", "build.gradle", "gradlew"]);
        assert_eq!(wrapper, ("gradle", None));
        let wrappers = of(&["pom.xml", "build.gradle", "gradlew", "mvnw"]);
        assert_eq!(wrappers, ("maven", None));
        assert_eq!(of(&["pom.xml", "build.gradle"]), ("maven", None));
    }

    #[test]
    fn programs_tell_their_runner() {
        let of = |program: &str| of_program(&[program.into()]).map(|runner| runner.name());
        assert_eq!(of("./gradlew"), Some("gradle"));
        assert_eq!(of("/usr/bin/mvn"), Some("maven"));
        assert_eq!(of("python3.11"), Some("pytest"));
        assert_eq!(of("/jdk/bin/java"), Some("junit"));
        assert_eq!(of("make"), None);
    }

    #[test]
    fn a_command_is_driven_by_its_own_runner_or_by_nobody() {
        let of = |runner: &str, line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            driver(named(runner).unwrap(), &words).name()
        };
        assert_eq!(of("pytest", "pytest -q"), "pytest");
        assert_eq!(of("pytest", "mvn test"), "maven");
        assert_eq!(of("maven", "make test"), Wrapped.name());
        assert_eq!(of("pytest", "make test"), Wrapped.name());
        let launcher = "java -cp a org.junit.platform.console.ConsoleLauncher";
        assert_eq!(of("maven", launcher), "junit");
        let core = "java -cp a org.junit.runner.JUnitCore A";
        assert_eq!(of("junit", core), Wrapped.name());
    }

    #[test]
    fn names_are_told_apart() {
        for (at, runner) in ALL.iter().copied().enumerate() {
            let first = ALL.iter().position(|other| *other == runner);
            assert_eq!(first, Some(at));
            assert_eq!(named(runner.name()), Some(runner));
        }
    }

    #[test]
    fn every_runner_is_documented() {
        let pages = [
            include_str!("../../docs/configuration.md"),
            include_str!("../../docs/select.md"),
        ];
        for runner in ALL {
            let name = format!("`{runner}`");
            assert!(pages.iter().all(|page| page.contains(&name)), "{name}");
        }
    }

    #[test]
    fn words_of_variables_are_left_away() {
        let words = [
            "mvn",
            "test",
            "JAVA_TOOL_OPTIONS=-x",
            "PYTEST_ADDOPTS=-q",
            "-Da=b",
        ];
        let words = words.map(str::to_owned);
        assert_eq!(typed_words(&words), ["mvn", "test", "-Da=b"]);
    }
}

//! Which program runs the tests of a folder, where nothing says so.

use std::ffi::OsString;
use std::path::Path;

use crate::config::Runner;

/// What a folder looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundRunner {
    pub runner: Runner,
    /// Another one whose tests seem to be there as well.
    pub other: Option<Runner>,
}

/// The runner of `folder`: that of a JVM's build if there is one, unless only
/// Python's tests are there.
pub fn found_runner(folder: &Path) -> FoundRunner {
    let alone = |runner| FoundRunner {
        runner,
        other: None,
    };
    let Some(build) = build_in(folder) else {
        return alone(Runner::Pytest);
    };
    match (has_jvm_tests(folder), has_pytest(folder)) {
        (_, false) => alone(build),
        (true, true) => FoundRunner {
            runner: build,
            other: Some(Runner::Pytest),
        },
        (false, true) => FoundRunner {
            runner: Runner::Pytest,
            other: Some(build),
        },
    }
}

/// The runner that a command is of: the last word of its program's path tells.
pub fn runner_of(program: &OsString) -> Option<Runner> {
    let name = Path::new(program).file_name()?.to_str()?;
    match name {
        "mvn" | "mvnw" | "mvnd" => Some(Runner::Maven),
        "gradle" | "gradlew" => Some(Runner::Gradle),
        "java" => Some(Runner::Junit),
        name if name.starts_with("python") || name.starts_with("pytest") => Some(Runner::Pytest),
        _ => None,
    }
}

fn build_in(folder: &Path) -> Option<Runner> {
    let has = |name: &str| folder.join(name).is_file();
    let gradle = [
        "build.gradle",
        "build.gradle.kts",
        "settings.gradle",
        "settings.gradle.kts",
    ];
    match (has("pom.xml"), gradle.into_iter().any(has)) {
        (true, true) if has("gradlew") && !has("mvnw") => Some(Runner::Gradle),
        (true, _) => Some(Runner::Maven),
        (false, true) => Some(Runner::Gradle),
        (false, false) => None,
    }
}

/// Whether the folder or a module beneath it has sources of tests.
fn has_jvm_tests(folder: &Path) -> bool {
    let is_in = |folder: &Path| folder.join("src/test").is_dir();
    let below = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    is_in(folder)
        || below(folder)
            .iter()
            .any(|module| is_in(module) || below(module).iter().any(|module| is_in(module)))
}

fn has_pytest(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).is_file();
    let says = |name: &str| {
        crate::disk::read_to_string(folder.join(name)).is_ok_and(|text| text.contains("pytest"))
    };
    let is_test = |name: &str| {
        name == "conftest.py"
            || (name.ends_with(".py") && name.starts_with("test_"))
            || name.ends_with("_test.py")
    };
    let holds = |folder: &Path| {
        let mut entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.any(|entry| entry.file_name().to_str().is_some_and(is_test))
    };
    ["pytest.ini", ".pytest.ini"].into_iter().any(has)
        || ["pyproject.toml", "setup.cfg", "tox.ini"]
            .into_iter()
            .any(says)
        || ["", "test", "tests"]
            .iter()
            .any(|name| holds(&folder.join(name)))
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
            let found = found_runner(folder.path());
            (found.runner, found.other)
        };
        use Runner::{Gradle, Maven, Pytest};
        let java = "core/src/test/java/A.java";
        assert_eq!(of(&[]), (Pytest, None));
        assert_eq!(of(&["pom.xml"]), (Maven, None));
        assert_eq!(of(&["pom.xml", "tests/test_a.py"]), (Pytest, Some(Maven)));
        assert_eq!(of(&["pom.xml", "conftest.py", java]), (Maven, Some(Pytest)));
        assert_eq!(of(&["settings.gradle.kts", java]), (Gradle, None));
        assert_eq!(of(&["pom.xml", "build.gradle", "gradlew"]), (Gradle, None));
        assert_eq!(of(&["pom.xml", "build.gradle"]), (Maven, None));
    }

    #[test]
    fn programs_tell_their_runner() {
        let of = |program: &str| runner_of(&program.into());
        assert_eq!(of("./gradlew"), Some(Runner::Gradle));
        assert_eq!(of("/usr/bin/mvn"), Some(Runner::Maven));
        assert_eq!(of("python3.11"), Some(Runner::Pytest));
        assert_eq!(of("/jdk/bin/java"), Some(Runner::Junit));
        assert_eq!(of("make"), None);
    }
}

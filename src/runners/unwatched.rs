//! Why a command started no test that could be watched, and what to do about it.

use std::ffi::OsString;
use std::path::Path;

use super::jvm::{Tool, is_java};
use super::maven;

/// What there is to say.
#[derive(Debug, PartialEq, Eq)]
pub struct Unwatched {
    /// The cause, if it was found.
    pub why: Option<String>,
    pub hint: String,
}

/// Words with which no test runs, as a command and a build's files have them.
const SKIPS: [&str; 3] = ["maven.test.skip", "skipTests", "skip.surefire.tests"];

const DOCTOR: &str = "`tamis doctor` looks into it, and TAMIS_DEBUG=1 tells why a collector \
                      did not start";

/// Looks for the cause in a project at `dir` and the `command` that ran its tests.
pub fn why_unwatched(dir: &Path, command: &[String]) -> Unwatched {
    let words: Vec<OsString> = command.iter().map(OsString::from).collect();
    let generic = |hint: String| Unwatched { why: None, hint };
    match Tool::of(&words) {
        Some(Tool::Maven) => of_maven(dir, command).unwrap_or_else(|| {
            generic(format!(
                "under Maven, what is watched is JUnit 3 to 6 and TestNG, in the JVM that Surefire \
                 starts; {DOCTOR}"
            ))
        }),
        Some(Tool::Gradle) => generic(format!(
            "under Gradle, what is watched is JUnit and TestNG in the JVMs of tasks of the type \
             Test; {DOCTOR}"
        )),
        Some(Tool::Console) => generic(format!(
            "what is watched is what JUnit's launcher runs in the JVM that the command starts: \
             does its class path lead to compiled tests? {DOCTOR}"
        )),
        None if is_java(&words) => generic(format!(
            "what is watched is JUnit's console launcher and `JUnitCore`, and TestNG; {DOCTOR}"
        )),
        None => generic(format!(
            "what is watched is pytest with Python 3.8 or later (not with `python -I` or `-S`), \
             and JUnit under Maven or Gradle, not in a container or on another machine; {DOCTOR}"
        )),
    }
}

fn of_maven(dir: &Path, command: &[String]) -> Option<Unwatched> {
    if let Some(inside) = maven::inside_by(dir, command) {
        let (setting, value) = (inside.setting, inside.value);
        let place = inside.place();
        return Some(Unwatched {
            why: Some(format!(
                "`{setting}` {value} in {place} has Surefire run the tests in Maven's own JVM, \
                 where nothing is watched"
            )),
            hint: format!(
                "take `{setting}` out of {place}, or say `forkCount` 1: until then all tests run \
                 every time"
            ),
        });
    }
    let skips = |word: &&String| {
        let set = word.strip_prefix("-D").unwrap_or(word);
        let (name, value) = set.split_once('=').unwrap_or((set, "true"));
        SKIPS.contains(&name) && value == "true"
    };
    command.iter().find(skips).map(|word| Unwatched {
        why: Some(format!("the command has `{word}`, with which no test runs")),
        hint: "leave it out to run the tests".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(pom: &str, line: &str) -> Unwatched {
        let top = tempfile::tempdir().unwrap();
        fs_err::write(top.path().join("pom.xml"), pom).unwrap();
        let command: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let mut told = why_unwatched(top.path(), &command);
        let top = top.path().display().to_string();
        told.why = told.why.map(|why| why.replace(&top, "TOP"));
        told.hint = told.hint.replace(&top, "TOP");
        told
    }

    #[test]
    fn the_setting_and_its_place_are_named() {
        let of_pom = told("<project><forkMode>never</forkMode></project>", "mvn test");
        let why = of_pom.why.unwrap();
        assert!(why.starts_with("`forkMode` never in TOP/pom.xml"), "{why}");
        assert!(of_pom.hint.contains("out of TOP/pom.xml"));
        let of_command = told("<project/>", "mvn test -DforkCount=0").why.unwrap();
        assert!(
            of_command.starts_with("`forkCount` 0 in the command"),
            "{of_command}"
        );
        let skipped = told("<project/>", "mvn install -DskipTests").why.unwrap();
        assert!(skipped.contains("`-DskipTests`"), "{skipped}");
        let runs = "mvn test -DskipTests=false";
        assert_eq!(told("<project/>", runs).why, None);
    }

    #[test]
    fn each_runner_has_its_own_hint() {
        for line in [
            "mvn test",
            "gradle test",
            "java -cp x org.junit.runner.JUnitCore A",
        ] {
            let told = told("<!-- <forkCount>0</forkCount> -->", line);
            assert!(
                told.why.is_none() && !told.hint.contains("pytest"),
                "{told:?}"
            );
        }
        assert!(told("<project/>", "make test").hint.contains("pytest"));
    }
}

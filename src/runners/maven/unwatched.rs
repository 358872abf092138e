//! Why no test was watched under Maven.

use std::path::Path;

use super::inside_by;
use crate::runners::Unwatched;

/// Words with which no test runs, as a command and a build's files have them.
const SKIPS: [&str; 3] = ["maven.test.skip", "skipTests", "skip.surefire.tests"];

/// Looks for the cause in a project and in the command that ran its tests.
pub(super) fn why(project: &Path, command: &[String]) -> Unwatched {
    if let Some(inside) = inside_by(project, command) {
        let (setting, value) = (inside.setting, inside.value);
        let place = inside.place();
        return Unwatched {
            why: Some(format!(
                "`{setting}` {value} in {place} has Surefire run the tests in Maven's own JVM, \
                 where nothing is watched"
            )),
            hint: format!(
                "take `{setting}` out of {place}, or say `forkCount` 1: until then all tests run \
                 every time"
            ),
        };
    }
    let skips = |word: &&String| {
        let set = word.strip_prefix("-D").unwrap_or(word);
        let (name, value) = set.split_once('=').unwrap_or((set, "true"));
        SKIPS.contains(&name) && value == "true"
    };
    match command.iter().find(skips) {
        Some(word) => Unwatched {
            why: Some(format!("the command has `{word}`, with which no test runs")),
            hint: "leave it out to run the tests".to_owned(),
        },
        None => Unwatched::unless(
            "under Maven, what is watched is JUnit 3 to 6 and TestNG, in the JVM that Surefire \
             starts;",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(pom: &str, line: &str) -> Unwatched {
        let top = tempfile::tempdir().unwrap();
        fs_err::write(top.path().join("pom.xml"), pom).unwrap();
        let command: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let mut told = why(top.path(), &command);
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
}

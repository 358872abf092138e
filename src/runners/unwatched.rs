//! Why a command started no test that could be watched, and what to do about it.

/// What there is to say.
#[derive(Debug, PartialEq, Eq)]
pub struct Unwatched {
    /// The cause, if it was found.
    pub why: Option<String>,
    pub hint: String,
}

const DOCTOR: &str = "`tamis doctor` looks into it, and TAMIS_DEBUG=1 tells why a collector \
                      did not start";

impl Unwatched {
    /// Where the cause is not known, it helps to know what is watched at all.
    pub(super) fn unless(watched: &str) -> Unwatched {
        Unwatched {
            why: None,
            hint: format!("{watched} {DOCTOR}"),
        }
    }
}

/// What holds for a command that does not show what it starts.
pub(super) fn of_any() -> Unwatched {
    Unwatched::unless(
        "what is watched is pytest with Python 3.8 or later (not with `python -I` or `-S`), \
         and JUnit under Maven or Gradle, not in a container or on another machine;",
    )
}

#[cfg(test)]
mod tests {
    use crate::runners;

    #[test]
    fn each_runner_has_its_own_hint() {
        let top = tempfile::tempdir().unwrap();
        let pom = "<!-- <forkCount>0</forkCount> -->";
        fs_err::write(top.path().join("pom.xml"), pom).unwrap();
        let hint = |line: &str| {
            let command: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let runner = runners::of_words(&command);
            let told = runner.why_unwatched(top.path(), &command);
            assert_eq!(told.why, None);
            told.hint
        };
        let launcher = "java -cp x org.junit.platform.console.ConsoleLauncher";
        for line in ["mvn test", "gradle test", launcher] {
            assert!(!hint(line).contains("pytest"), "{line}");
        }
        assert!(hint("make test").contains("pytest"));
    }
}

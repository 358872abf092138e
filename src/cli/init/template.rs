//! The commented `tamis.yml` that `init` writes.

use super::Findings;
use crate::config::Runner;

/// The examples of a file; what is not there does not concern its runner.
struct Examples {
    command: &'static str,
    python: Option<&'static str>,
    paths: &'static str,
    suites: &'static str,
    label: &'static str,
    always_run: &'static str,
    run_all_when: &'static str,
    keep_together: &'static str,
}

const PYTEST: Examples = Examples {
    command: "[pytest, -q]",
    python: Some(".venv/bin/python"),
    paths: "[\"src/**\", \"tests/**\"]",
    suites: "api: {root: services/api, paths: [\"services/api/**\"]}",
    label: "py312",
    always_run: "[\"tests/smoke/**\"]",
    run_all_when: "[Dockerfile, \".github/workflows/**\"]",
    keep_together: "[[tests/test_setup.py, tests/test_use.py]]",
};

const MAVEN: Examples = Examples {
    command: "[mvn, -B, verify]",
    python: None,
    paths: "[\"src/**\", \"core/**\"]",
    suites: "web: {root: web, runner: pytest}",
    label: "jdk17",
    always_run: "[\"**.SmokeTest\"]",
    run_all_when: "[Dockerfile, \"src/test/data/**\"]",
    keep_together: "[[demo.SetUpTest, demo.UseTest]]",
};

const GRADLE: Examples = Examples {
    command: "[./gradlew, check]",
    ..MAVEN
};

const JUNIT: Examples = Examples {
    command: "[java, -cp, \"lib/*:out\", org.junit.platform.console.ConsoleLauncher, \
              --scan-classpath]",
    ..MAVEN
};

/// The text for a project that looks like this.
pub fn template(findings: &Findings) -> String {
    let examples = match findings.runner {
        Runner::Pytest => PYTEST,
        Runner::Maven => MAVEN,
        Runner::Gradle => GRADLE,
        Runner::Junit => JUNIT,
    };
    let is_jvm = examples.python.is_none();
    let mut text = head(findings.runner, &examples);
    if !is_jvm {
        let lock_files = match findings.lock_files.as_slice() {
            [] => "requirements.txt".to_owned(),
            files => files.join(", "),
        };
        text.push_str(&format!(
            "\n\
             # Files that pin packages and interpreter, for test steps without tamis.\n\
             #: lock-files: [{lock_files}]\n\
             \n\
             # Caches and registries that tests leave behind without another noticing.\n\
             #: benign-state: [\"src/pkg/lexer.py#_cache\"]\n"
        ));
    }
    let keep_together = examples.keep_together;
    text.push_str(&format!(
        "\n\
         # Tests whose order matters: they run on one machine.\n\
         #: keep-together: {keep_together}\n"
    ));
    if is_jvm {
        text.push_str(
            "\n\
             # What a test is: class, or method (JUnit 4 and 5 under Maven).\n\
             #: granularity: class\n\
             \n\
             # Whether tests look at line numbers.\n\
             #: debug-info: true\n",
        );
    }
    text.push_str(
        "\n\
         # Environment variables that may differ without a test noticing.\n\
         #: env:\n\
         #:   ignore: [BUILD_NUMBER]\n",
    );
    text
}

fn head(runner: Runner, examples: &Examples) -> String {
    let Examples {
        command,
        python,
        paths,
        suites,
        label,
        always_run,
        run_all_when,
        ..
    } = examples;
    let python = python.map_or_else(
        || format!("# The test command, if tamis should not look for it.\n#: command: {command}\n"),
        |python| {
            format!(
                "# The test command and the interpreter, if tamis should not look for them.\n\
                 #: command: {command}\n\
                 #: python: {python}\n"
            )
        },
    );
    format!(
        "# tamis runs only the tests that a change can affect.\n\
         # Every key but `version` is optional; a line that begins with #: shows one\n\
         # with an example. docs/configuration.md of tamis describes each.\n\
         version: 1\n\
         runner: {runner}\n\
         \n\
         {python}\
         \n\
         # The sub-folder in which the tests run, and a name for this set of tests.\n\
         #: root: .\n\
         #: paths: {paths}\n\
         #: suite: {runner}\n\
         # Or several suites, each with what is different about it.\n\
         #: suites:\n\
         #:   {suites}\n\
         \n\
         # Where results are kept, and how many `tamis store gc` leaves.\n\
         #: store: .tamis/store\n\
         # Where they are shared with CI and with others, and whom to trust there.\n\
         #: shared-store: git:origin\n\
         #: shared-label: {label}\n\
         #: trust:\n\
         #:   refs: [main, \"release/*\"]\n\
         #: keep: 50\n\
         # When to fetch what a shallow clone lacks: ci, always, never.\n\
         #: deepen: ci\n\
         \n\
         # auto, memo, commit, all, or one of docs/theory.md.\n\
         #: strategy: auto\n\
         \n\
         # Tests that always run; files whose change runs every test.\n\
         #: always-run: {always_run}\n\
         #: run-all-when: {run_all_when}\n\
         # In CI, every so many runs of the default branch run everything.\n\
         #: run-all-every: 10\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::file::NAME;
    use crate::config::{Key, file};

    #[test]
    fn the_written_file_is_valid_with_and_without_its_examples() {
        let mut told = String::new();
        for runner in [Runner::Pytest, Runner::Maven, Runner::Gradle, Runner::Junit] {
            let findings = Findings {
                runner,
                ..Findings::default()
            };
            let text = template(&findings);
            file::parse(text.as_bytes(), NAME).unwrap();
            let all = text.replace("#: ", "");
            file::parse(all.as_bytes(), NAME).unwrap_or_else(|error| panic!("{error}\n{all}"));
            assert!(text.contains(&format!("\nrunner: {runner}\n")));
            assert_eq!(text.contains("#: python:"), runner == Runner::Pytest);
            assert_eq!(text.contains("#: granularity:"), runner != Runner::Pytest);
            told.push_str(&all);
        }
        for key in Key::ALL {
            assert!(told.contains(&format!("\n{}:", key.word())), "{key:?}");
        }
    }
}

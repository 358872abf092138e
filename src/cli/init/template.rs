//! The commented `tamis.yml` that `init` writes.

use super::Findings;
use crate::runners::{Examples, Runner};

/// The text for a project that looks like this.
pub(super) fn template(findings: &Findings) -> String {
    let examples = findings.runner.examples();
    let mut text = head(findings.runner, &examples);
    let keep_together = examples.keep_together;
    text.push_str(&format!(
        "\n\
         # Tests whose order matters: they run on one machine.\n\
         #: keep-together: {keep_together}\n"
    ));
    text.push_str(&(examples.own)(&findings.lock_files));
    text.push_str(
        "\n\
         # Environment variables that may differ without a test noticing.\n\
         #: env:\n\
         #:   ignore: [BUILD_NUMBER]\n",
    );
    text
}

fn head(runner: &dyn Runner, examples: &Examples) -> String {
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
    use crate::runners;

    #[test]
    fn the_written_file_is_valid_with_and_without_its_examples() {
        let mut told = String::new();
        for runner in runners::ALL.iter().copied() {
            let findings = Findings {
                runner,
                other: None,
                signs: Vec::new(),
                lock_files: Vec::new(),
            };
            let text = template(&findings);
            file::parse(text.as_bytes(), NAME).unwrap();
            let all = text.replace("#: ", "");
            file::parse(all.as_bytes(), NAME).unwrap_or_else(|error| panic!("{error}\n{all}"));
            assert!(text.contains(&format!("\nrunner: {runner}\n")));
            let has_python = runner.examples().python.is_some();
            assert_eq!(text.contains("#: python:"), has_python);
            told.push_str(&all);
        }
        for key in Key::ALL {
            assert!(told.contains(&format!("\n{}:", key.word())), "{key:?}");
        }
    }
}

//! The words of a Gradle command.

use std::ffi::OsString;
use std::path::Path;

/// Options whose value is the next word.
const WITH_VALUE: [&str; 22] = [
    "-b",
    "--build-file",
    "-c",
    "--settings-file",
    "-D",
    "--system-prop",
    "-F",
    "--dependency-verification",
    "-g",
    "--gradle-user-home",
    "-I",
    "--init-script",
    "-P",
    "--project-prop",
    "-p",
    "--project-dir",
    "--console",
    "--include-build",
    "--max-workers",
    "--priority",
    "--project-cache-dir",
    "--warning-mode",
];

/// The words of a command after the program, each with what it is.
fn words(command: &[OsString]) -> Vec<(Word, &OsString)> {
    let mut told = Vec::new();
    let mut left_out_next = false;
    let mut value_next = false;
    for word in command.iter().skip(1) {
        let text = word.to_string_lossy();
        let kind = match () {
            () if left_out_next || value_next => Word::Option,
            () if text.starts_with('-') => Word::Option,
            () => Word::Task,
        };
        // What is not to be run need not be compiled, but may not exist then.
        left_out_next = !left_out_next && (text == "-x" || text == "--exclude-task");
        value_next = !value_next && WITH_VALUE.iter().any(|option| *option == text);
        told.push((kind, word));
    }
    told
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Task,
    Option,
}

/// Whether a command is one of Gradle's.
pub(crate) fn is_gradle(command: &[OsString]) -> bool {
    let program = command.first().map(Path::new);
    let name = program.and_then(Path::file_name).unwrap_or_default();
    ["gradle", "gradlew"].iter().any(|known| name == *known)
}

/// Whether the command says itself which tests run, or whether they fail.
fn chooses_tests(command: &[OsString]) -> bool {
    command.iter().any(|word| {
        let text = word.to_string_lossy();
        text == "--tests" || text.starts_with("--tests=") || text == "--test-dry-run"
    })
}

/// The command that makes all that `command` would test, with `script` to keep the tests
/// from running; `None` where that
/// is not known: it has tasks of other names than `test`, `…Test`, `check`,
/// `build` and `clean`, or chooses tests itself.
pub(crate) fn build_command(command: &[OsString], script: &Path) -> Option<Vec<OsString>> {
    if chooses_tests(command) {
        return None;
    }
    let mut build = vec![command.first()?.clone()];
    let mut tests = 0;
    for (kind, word) in words(command) {
        match kind {
            Word::Option => build.push(word.clone()),
            Word::Task => match tests_of(&word.to_string_lossy())? {
                Some(task) => {
                    tests += 1;
                    build.push(format!("{task}Classes").into());
                    build.push(task.into());
                }
                None => build.push(word.clone()),
            },
        }
    }
    build.push("--quiet".into());
    (tests > 0).then(|| with_script(&build, script))
}

/// The task that runs the tests of a task: `:core:check` → `:core:test`;
/// `Some(None)` for one that tests nothing and may run twice, `None` for one that
/// is not known.
fn tests_of(task: &str) -> Option<Option<String>> {
    let (before, name) = match task.rfind(':') {
        Some(at) => task.split_at(at + 1),
        None => ("", task),
    };
    let tests = match name {
        "clean" => return Some(None),
        "test" | "check" | "build" => "test",
        name if name.ends_with("Test") => name,
        _ => return None,
    };
    Some(Some(format!("{before}{tests}")))
}

/// The command with a script that is run before the build's own.
pub(crate) fn with_script(command: &[OsString], script: &Path) -> Vec<OsString> {
    let mut words = command.to_vec();
    let at = words.len().min(1);
    words.splice(at..at, ["--init-script".into(), script.into()]);
    words
}

/// Options that only change what is printed, how fast it comes, how it is fetched, and
/// what else still runs after a failure.
const SILENT: [&str; 30] = [
    "-q",
    "--quiet",
    "-i",
    "--info",
    "-d",
    "--debug",
    "-w",
    "--warn",
    "-s",
    "--stacktrace",
    "-S",
    "--full-stacktrace",
    "--offline",
    "--refresh-dependencies",
    "--daemon",
    "--no-daemon",
    "--build-cache",
    "--no-build-cache",
    "--rerun-tasks",
    "--continue",
    "--no-continue",
    "--parallel",
    "--no-parallel",
    "--profile",
    "--watch-fs",
    "--no-watch-fs",
    "--scan",
    "--no-scan",
    "--configuration-cache",
    "--no-configuration-cache",
];

/// The same, with a value in the next word or behind `=`.
const SILENT_WITH_VALUE: [&str; 4] = ["--console", "--max-workers", "--priority", "--warning-mode"];

/// The words of a command that can change an outcome, and `variables` by which
/// Gradle takes options.
pub(super) fn option_words(
    command: &[OsString],
    variables: impl Iterator<Item = (String, OsString)>,
) -> Vec<String> {
    let mut words = command
        .iter()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned());
    let mut told = Vec::new();
    while let Some(word) = words.next() {
        let name = word.split('=').next().unwrap_or(&word);
        if SILENT_WITH_VALUE.contains(&word.as_str()) {
            words.next();
        } else if !SILENT.contains(&word.as_str()) && !SILENT_WITH_VALUE.contains(&name) {
            told.push(word);
        }
    }
    let mut variables: Vec<String> = variables
        .map(|(name, value)| format!("{name}={}", value.to_string_lossy()))
        .collect();
    variables.sort();
    told.extend(variables);
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn a_build_compiles_the_tests_and_no_more() {
        let build = |line: &str| build_command(&split(line), Path::new("x"));
        let is = |line: &str| Some(split(line));
        assert_eq!(
            build("gradle test"),
            is("gradle --init-script x testClasses test --quiet")
        );
        assert_eq!(
            build("./gradlew -p test clean :core:check -x lint"),
            is(
                "./gradlew --init-script x -p test clean :core:testClasses :core:test -x lint --quiet"
            )
        );
        assert_eq!(
            build("gradle slowTest --offline"),
            is("gradle --init-script x slowTestClasses slowTest --offline --quiet")
        );
        assert_eq!(build("gradle publish test"), None);
        assert_eq!(build("gradle clean"), None);
        assert_eq!(build("gradle test --tests a.B"), None);
    }

    #[test]
    fn gradle_goes_by_two_names() {
        assert!(is_gradle(&split("./gradlew test")) && is_gradle(&split("/usr/bin/gradle test")));
        assert!(!is_gradle(&split("mvn test")) && !is_gradle(&[]));
    }

    #[test]
    fn what_is_only_printed_is_no_option() {
        let variables = [("GRADLE_OPTS".to_owned(), OsString::from("-Dx=y"))];
        let told = option_words(&split("gradle -q test -Px=1"), variables.into_iter());
        assert_eq!(told, ["test", "-Px=1", "GRADLE_OPTS=-Dx=y"]);
        let line = "gradle --continue --console plain test --max-workers=2 --offline -d --x";
        assert_eq!(option_words(&split(line), [].into_iter()), ["test", "--x"]);
    }
}

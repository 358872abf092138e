//! The words of a Maven command.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::around::{takes_value, without_silent};
use super::emit::NESTED;

/// Phases that run tests, or that come behind those which do.
const PHASES: [&str; 12] = [
    "test",
    "prepare-package",
    "package",
    "pre-integration-test",
    "integration-test",
    "post-integration-test",
    "verify",
    "install",
    "deploy",
    "site",
    "post-site",
    "site-deploy",
];

/// Whether a word is a phase that runs tests, or that comes behind one.
pub(super) fn is_phase(word: &str) -> bool {
    PHASES.contains(&word)
}

/// The words of a command that are neither options nor their values: phases and goals.
pub(crate) fn goals(words: &[String]) -> impl Iterator<Item = &str> {
    let before = std::iter::once("").chain(words.iter().map(String::as_str));
    let all = before
        .zip(words)
        .filter(|(before, word)| !word.starts_with('-') && !takes_value(before));
    all.map(|(_, word)| word.as_str())
}

/// The first word of a command that names another pom than the one in its folder.
pub(crate) fn other_pom(words: &[String]) -> Option<&String> {
    let other = ["-fae", "-ff", "-fn"];
    words.iter().find(|word| {
        word.starts_with("--file") || word.starts_with("-f") && !other.contains(&word.as_str())
    })
}

/// Whether a command is one of Maven's.
pub(crate) fn is_maven(command: &[OsString]) -> bool {
    let program = command.first().map(Path::new);
    let name = program.and_then(Path::file_name).unwrap_or_default();
    ["mvn", "mvnw", "mvnd"].iter().any(|known| name == *known)
}

/// The phases before the first of those that run tests.
const EARLY: [&str; 15] = [
    "clean",
    "validate",
    "initialize",
    "generate-sources",
    "process-sources",
    "generate-resources",
    "process-resources",
    "compile",
    "process-classes",
    "generate-test-sources",
    "process-test-sources",
    "generate-test-resources",
    "process-test-resources",
    "test-compile",
    "process-test-classes",
];

/// Whether a word is a phase that comes before all tests.
pub(super) fn is_early(word: &str) -> bool {
    EARLY.contains(&word)
}

/// Whether a word is the goal by which Surefire runs tests: `surefire:test`, with its
/// group, version and execution if they are given.
pub(super) fn is_surefire(word: &str) -> bool {
    let word = word.split('@').next().unwrap_or(word);
    let Some((plugin, "test")) = word.rsplit_once(':') else {
        return false;
    };
    plugin == "surefire" || plugin.split(':').nth(1) == Some("maven-surefire-plugin")
}

/// The command that compiles all that `command` would test; `None` if it
/// compiles nothing itself.
pub(crate) fn build_command(command: &[OsString]) -> Option<Vec<OsString>> {
    let mut build = Vec::with_capacity(command.len() + 2);
    let (mut phases, mut goals, mut others) = (0, 0, 0);
    let mut is_value = false;
    for (at, word) in command.iter().enumerate() {
        let text = word.to_string_lossy();
        let is_goal = at > 0 && !is_value && !text.starts_with('-');
        is_value = at > 0 && takes_value(&text);
        match () {
            () if is_goal && is_phase(&text) => phases += 1,
            () if is_goal && is_surefire(&text) => goals += 1,
            // What comes behind the tests is no part of what they need.
            () if is_goal && phases + goals > 0 => {}
            // Whether it compiles has to be told.
            () if ignores_failure(std::slice::from_ref(word)) => {}
            () => {
                others += usize::from(is_goal);
                build.push(word.clone());
            }
        }
    }
    if phases == 0 && (goals == 0 || others == 0) {
        return None;
    }
    build.push("--quiet".into());
    if phases > 0 {
        build.push("test-compile".into());
    }
    Some(build)
}

/// Whether the command runs tests of what lies there, and nothing else.
pub(crate) fn compiles_nothing(command: &[OsString]) -> bool {
    let words: Vec<String> = command
        .iter()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let mut goals = goals(&words).peekable();
    goals.peek().is_some() && goals.all(is_surefire)
}

/// Whether the command ends well whatever happens, also where nothing compiles.
pub(crate) fn ignores_failure(command: &[OsString]) -> bool {
    let words = ["-fn", "--fail-never"];
    command
        .iter()
        .any(|word| words.iter().any(|known| word == known))
}

/// Beginnings of definitions that have no part in what is compiled.
const HARMLESS: [&str; 12] = [
    "aether.",
    "file.encoding=",
    "http.",
    "https.",
    "java.net.",
    "javax.net.",
    "jansi.",
    "maven.artifact.",
    "maven.wagon.",
    "org.slf4j.",
    "style.",
    "sun.",
];

/// The first of these options that may change what Maven compiles, and how.
pub(crate) fn definition_in(words: &str) -> Option<&str> {
    words.split_whitespace().find(|word| {
        let known = [
            "-X",
            "-e",
            "-B",
            "-ntp",
            "-q",
            "-T",
            "-o",
            "-j",
            "-a",
            "--add-",
            "--batch-mode",
            "--enable-",
            "--errors",
            "--no-transfer-progress",
            "--offline",
            "--quiet",
            "--threads",
        ];
        match word.strip_prefix("-D") {
            Some(set) => !HARMLESS.iter().any(|known| set.starts_with(known)),
            None => !known.iter().any(|known| word.starts_with(known)),
        }
    })
}

/// Whether the command says itself which tests run. With its own exclusions it
/// changes what Surefire leaves out besides: see `list`.
pub(super) fn chooses_tests(command: &[OsString]) -> bool {
    let text = |word: &OsStr| word.to_string_lossy().into_owned();
    command.iter().map(|word| text(word)).any(|word| {
        let definition = word.strip_prefix("-D").unwrap_or(&word);
        let name = definition.split('=').next().unwrap_or_default();
        let chosen = [
            "test",
            "it.test",
            "surefire.excludesFile",
            "failsafe.excludesFile",
            "surefire.excludes",
            "failsafe.excludes",
            "surefire.suiteXmlFiles",
            "failsafe.suiteXmlFiles",
        ];
        definition.contains('=') && chosen.contains(&name)
    })
}

/// The command that leaves out the tests that `excludes` lists, and `nested` classes
/// by a setting of their own. One that says itself which tests run stays as it is.
pub(crate) fn with_exclusions(
    command: &[OsString],
    excludes: &Path,
    nested: bool,
) -> Vec<OsString> {
    let mut command = command.to_vec();
    if !chooses_tests(&command) {
        for name in ["surefire", "failsafe"] {
            if nested {
                command.push(format!("-D{name}.excludes={NESTED}").into());
            }
            let mut option = OsString::from(format!("-D{name}.excludesFile="));
            option.push(excludes);
            command.push(option);
        }
    }
    command
}

/// Variables whose words the JVM takes as options. Collecting sets the first.
pub(crate) const JVM_OPTIONS: [&str; 2] = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"];

/// The words of a command that can change an outcome: see [`without_silent`]. Of
/// `variables`, what the user set counts as well.
pub(super) fn option_words(
    command: &[OsString],
    variables: impl Iterator<Item = (&'static str, OsString)>,
    is_named: impl Fn(&str) -> bool,
) -> Vec<String> {
    let words = command.iter().skip(1);
    let words = words.map(|word| word.to_string_lossy().into_owned());
    let variables = variables.map(|(name, value)| format!("{name}={}", value.to_string_lossy()));
    let mut told = without_silent(words.collect(), is_named);
    told.extend(variables);
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn a_build_ends_before_the_tests() {
        let build = |line: &str| build_command(&words(line));
        let is = |line: &str| Some(words(line));
        assert_eq!(build("mvn test"), is("mvn --quiet test-compile"));
        assert_eq!(
            build("./mvnw -pl test clean verify -Px"),
            is("./mvnw -pl test clean -Px --quiet test-compile")
        );
        assert_eq!(build("mvn -fn test"), is("mvn --quiet test-compile"));
        // What comes behind the tests is not done twice.
        assert_eq!(
            build("mvn test sonar:sonar -Dx deploy"),
            is("mvn -Dx --quiet test-compile")
        );
        assert!(ignores_failure(&words("mvn -fn test")) && !ignores_failure(&words("mvn test")));
    }

    #[test]
    fn the_goal_by_itself_tests_what_was_compiled_before_it() {
        let build = |line: &str| build_command(&words(line));
        let line = "mvn clean process-test-classes surefire:test -Px jar:jar";
        let built = words("mvn clean process-test-classes -Px --quiet");
        assert_eq!(build(line), Some(built));
        for goal in [
            "surefire:test",
            "surefire:test@unit",
            "org.apache.maven.plugins:maven-surefire-plugin:test",
            "org.apache.maven.plugins:maven-surefire-plugin:3.2.5:test",
        ] {
            assert!(is_surefire(goal), "{goal}");
            let alone = words(&format!("mvn -q {goal}"));
            assert!(build_command(&alone).is_none() && compiles_nothing(&alone));
        }
        for other in [
            "test",
            "surefire:help",
            "surefire-report:test",
            "a:b:test",
            "x:test",
        ] {
            assert!(!is_surefire(other), "{other}");
        }
        assert!(!compiles_nothing(&words("mvn -q")));
        assert!(!compiles_nothing(&words("mvn jar:jar surefire:test")));
    }

    #[test]
    fn goals_are_told_from_options_and_their_values() {
        let words = |line: &str| -> Vec<String> { line.split(' ').map(str::to_owned).collect() };
        let line = words("-pl :core -am clean -Dx=a:b antrun:run test -T 2");
        assert_eq!(
            goals(&line).collect::<Vec<_>>(),
            ["clean", "antrun:run", "test"]
        );
        assert_eq!(other_pom(&words("test -fae -ff -fn -am")), None);
        for line in ["-f x", "--file=x", "-fx.xml"] {
            assert!(other_pom(&words(line)).is_some(), "{line}");
        }
    }

    #[test]
    fn a_choice_of_the_user_stays() {
        let with = |line: &str| with_exclusions(&words(line), Path::new("/x"), false).len();
        assert_eq!(with("mvn test"), 4);
        assert_eq!(with("mvn test -Dtest=A"), 3);
        assert_eq!(with("mvn test -D test=A"), 4);
    }

    #[test]
    fn what_is_only_printed_is_no_option() {
        let variables = [("JAVA_TOOL_OPTIONS", OsString::from("-Dx=y"))];
        let options = option_words(&words("mvn -q test -Dx"), variables.into_iter(), |_| true);
        assert_eq!(options, ["test", "-Dx", "JAVA_TOOL_OPTIONS=-Dx=y"]);
    }

    #[test]
    fn variables_can_change_what_is_compiled() {
        let all = "-Xmx2g -Dhttp.keepAlive=false --add-opens=a/b=c -Dorg.slf4j.x=y -ntp";
        assert_eq!(definition_in(all), None);
        let release = "-Dmaven.compiler.release=11";
        assert_eq!(definition_in(&format!("-Xmx2g {release}")), Some(release));
        for word in ["-Pfast", "--file=x.xml", "--define=x=y", "--settings=x.xml"] {
            assert_eq!(definition_in(word), Some(word));
        }
    }

    #[test]
    fn maven_goes_by_several_names() {
        assert!(is_maven(&words("/usr/bin/mvn test")) && is_maven(&words("./mvnw test")));
        assert!(!is_maven(&words("python -m pytest")) && !is_maven(&[]));
    }
}

//! Words of a command that no test's outcome depends on: they change what is printed, how
//! fast it comes, whether a failure ends the build, and how Maven fetches.

use std::ffi::OsString;
use std::path::Path;

use super::around::{Around, Words};
use super::pom::Project;

const OPTIONS: [&str; 30] = [
    "-q",
    "--quiet",
    "-X",
    "--debug",
    "-e",
    "--errors",
    "-V",
    "--show-version",
    "-B",
    "--batch-mode",
    "--non-interactive",
    "-ntp",
    "--no-transfer-progress",
    "-o",
    "--offline",
    "-U",
    "--update-snapshots",
    "-nsu",
    "--no-snapshot-updates",
    "-C",
    "--strict-checksums",
    "-c",
    "--lax-checksums",
    "-ff",
    "--fail-fast",
    "-fae",
    "--fail-at-end",
    "-fn",
    "--fail-never",
    "--raw-streams",
];

/// The same, with a value in the next word or behind `=`.
const WITH_VALUE: [&str; 8] = [
    "-T",
    "--threads",
    "-b",
    "--builder",
    "-l",
    "--log-file",
    "--color",
    "-color",
];

/// Properties that tell Maven's output and Surefire's reports apart, and whether a failure
/// ends the build.
const PROPERTIES: [&str; 10] = [
    "failIfNoTests",
    "jansi.force",
    "jansi.mode",
    "jansi.passthrough",
    "maven.test.failure.ignore",
    "style.color",
    "surefire.failIfNoSpecifiedTests",
    "surefire.printSummary",
    "surefire.useFile",
    "trimStackTrace",
];

/// Those of `words` that can change an outcome. `is_named`: whether something in the build
/// refers to a property.
pub fn without_silent(words: Vec<String>, is_named: impl Fn(&str) -> bool) -> Vec<String> {
    let is_silent = |definition: &str| {
        let name = definition.split('=').next().unwrap_or_default();
        PROPERTIES.contains(&name) && !is_named(name)
    };
    let mut told = Vec::with_capacity(words.len());
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if WITH_VALUE.contains(&word.as_str()) {
            words.next();
        } else if ["-D", "--define"].contains(&word.as_str()) {
            if let Some(value) = words.next().filter(|value| !is_silent(value)) {
                told.extend([word, value]);
            }
        } else if !is_option(&word)
            && !word.strip_prefix("-D").is_some_and(is_silent)
            && !word.strip_prefix("--define=").is_some_and(is_silent)
        {
            told.push(word);
        }
    }
    told
}

fn is_option(word: &str) -> bool {
    let with_value = || {
        WITH_VALUE
            .iter()
            .filter_map(|option| word.strip_prefix(option))
            .any(|rest| rest.starts_with('='))
    };
    // As in `-T1C`.
    let threads = word.strip_prefix("-T").unwrap_or_default();
    OPTIONS.contains(&word)
        || threads.starts_with(|sign: char| sign.is_ascii_digit())
        || with_value()
}

/// Whether a pom, or the settings, refer to a property: a profile is active by it, or an
/// argument is made of it. If not all of them are known, they may.
pub fn is_named(folder: &Path, command: &[OsString], property: &str) -> bool {
    let typed = Words::of(command.iter().skip(1));
    if typed.poms().next().is_some() {
        return true;
    }
    let around = Around::of(folder, &typed);
    let project = Project::of_modules(folder, &around.repository);
    let is_unknown = around.doubt.is_some() || project.doubt().is_some();
    let mut said = around.said.iter();
    is_unknown || project.mentions(property) || said.any(|one| one.mentions(property))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(line: &str) -> String {
        let words = line.split(' ').map(str::to_owned).collect();
        without_silent(words, |name| name == "style.color").join(" ")
    }

    #[test]
    fn what_no_outcome_depends_on_is_no_option() {
        for line in [
            "-q test -B -ntp -o -X -e -fae -U",
            "-T 4 test -T1C -T2 --threads=2 --threads 2",
            "test -Dmaven.test.failure.ignore -Dmaven.test.failure.ignore=true",
            "-D maven.test.failure.ignore=true test --define failIfNoTests=false",
            "test --color always --color=never -l log.txt --log-file=log.txt",
        ] {
            assert_eq!(kept(line), "test", "{line}");
        }
        for line in [
            "clean test",
            "test -Dx -Dmaven.test.skip=true",
            "-D x=y test -Pfast -P slow",
            "test -Dmaven.test.failure.ignored",
            "test -Dstyle.color=never",
            "-f other.xml -s T test -Tx",
        ] {
            assert_eq!(kept(line), line);
        }
    }

    #[test]
    fn a_property_that_a_pom_refers_to_counts() {
        let top = tempfile::tempdir().unwrap();
        let pom = |text: &str| fs_err::write(top.path().join("pom.xml"), text).unwrap();
        let named = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            is_named(top.path(), &words, "failIfNoTests")
        };
        pom("<project/>");
        assert!(!named("mvn test -DfailIfNoTests"));
        assert!(named("mvn test -f x.xml"));
        pom("<project><argLine>-Da=${failIfNoTests}</argLine></project>");
        assert!(named("mvn test"));
        pom("<project><parent><groupId>no.such</groupId><relativePath/></parent></project>");
        assert!(named("mvn test"));
    }
}

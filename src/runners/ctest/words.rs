//! What the words of a `ctest` command mean.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::runners::program_name;

/// The words of a command.
#[derive(Debug, Default)]
pub(super) struct Words {
    pub program: OsString,
    /// All but the folder and the file for results.
    args: Vec<Arg>,
    /// `--test-dir`
    folder: Option<PathBuf>,
    /// `--output-junit`
    results: Option<PathBuf>,
    /// A word with which the command does something else than to run tests once.
    alone: Option<String>,
}

/// An option, and its value.
#[derive(Debug)]
struct Arg {
    name: OsString,
    value: Option<OsString>,
}

/// Options that say which tests run, with a value.
const FILTERS: [&str; 13] = [
    "-R",
    "--tests-regex",
    "-E",
    "--exclude-regex",
    "-L",
    "--label-regex",
    "-LE",
    "--label-exclude",
    "-FA",
    "-FS",
    "-FC",
    "--fixture-exclude-any",
    "--fixture-exclude-setup",
];

/// The same, with a file.
const FILTERS_IN_FILES: [&str; 2] = ["--tests-from-file", "--exclude-from-file"];

/// Other options with a file.
const FILES: [&str; 3] = ["-O", "--output-log", "--resource-spec-file"];

/// Those of them that are named from the folder in which the command runs.
const LOGS: [&str; 2] = ["-O", "--output-log"];

const CONFIGURATION: [&str; 2] = ["-C", "--build-config"];

/// Other options with a value.
const VALUES: [&str; 12] = [
    "--fixture-exclude-cleanup",
    "--timeout",
    "--stop-time",
    "--repeat",
    "--repeat-until-fail",
    "--max-width",
    "--no-tests",
    "--test-output-size-passed",
    "--test-output-size-failed",
    "--test-output-truncation",
    "--test-load",
    "--overwrite",
];

/// Options that decide no result.
const NEUTRAL: [&str; 13] = [
    "-j",
    "--parallel",
    "-V",
    "-VV",
    "--verbose",
    "--extra-verbose",
    "-Q",
    "--quiet",
    "--output-on-failure",
    "--progress",
    "--stop-on-failure",
    "--schedule-random",
    "--no-label-summary",
];

/// What the words begin with that do something else.
const ALONE: [&str; 22] = [
    "-N",
    "--show-only",
    "--print-labels",
    "-T",
    "--test-action",
    "-D",
    "--dashboard",
    "-M",
    "--test-model",
    "-S",
    "--script",
    "--build-and-test",
    "--preset",
    "--list-presets",
    "--rerun-failed",
    "-I",
    "--tests-information",
    "-U",
    "--union",
    "-h",
    "--help",
    "--version",
];

impl Words {
    /// `None` if the command is none of `ctest`.
    pub(super) fn read(command: &[OsString]) -> Option<Words> {
        if program_name(command)? != "ctest" {
            return None;
        }
        let mut words = Words {
            program: command[0].clone(),
            ..Words::default()
        };
        let mut rest = command[1..].iter();
        while let Some(word) = rest.next() {
            let (name, mut value) = parts(word);
            let takes = |names: &[&str]| names.iter().any(|one| name == *one);
            let is_next = takes(&FILTERS)
                || takes(&FILTERS_IN_FILES)
                || takes(&FILES)
                || takes(&CONFIGURATION)
                || takes(&VALUES)
                || takes(&["--test-dir", "--output-junit"]);
            if is_next && value.is_none() {
                value = rest.next().cloned();
            }
            match (name.to_str(), &value) {
                (Some("--test-dir"), Some(folder)) => words.folder = Some(folder.into()),
                (Some("--output-junit"), Some(file)) => words.results = Some(file.into()),
                (Some("-j" | "--parallel"), None) => {
                    // The number may follow or not.
                    let number = rest.as_slice().first();
                    let is_number = |word: &&OsString| {
                        let word = word.to_string_lossy();
                        word.chars().all(|digit| digit.is_ascii_digit())
                    };
                    value = number.filter(is_number).cloned();
                    if value.is_some() {
                        rest.next();
                    }
                    words.args.push(Arg { name, value });
                }
                (Some(one), _) if ALONE.contains(&one) || !one.starts_with('-') => {
                    words.alone.get_or_insert_with(|| one.to_owned());
                }
                _ => words.args.push(Arg { name, value }),
            }
        }
        Some(words)
    }

    /// Why the command is started as it is, if so.
    pub(super) fn why_left_alone(&self) -> Option<String> {
        let word = self.alone.as_ref()?;
        Some(format!("with `{word}`, `ctest` does not run tests by name"))
    }

    /// The folder that CMake builds in, of a command that runs in `cwd`.
    pub(super) fn folder(&self, cwd: &Path) -> PathBuf {
        let folder = self.folder.as_deref().unwrap_or(Path::new(""));
        let folder = cwd.join(folder);
        fs_err::canonicalize(&folder).unwrap_or(folder)
    }

    /// The file that people want results in.
    pub(super) fn results(&self, folder: &Path) -> Option<PathBuf> {
        Some(folder.join(self.results.as_ref()?))
    }

    pub(super) fn configuration(&self) -> Option<&OsStr> {
        let mut args = self.args.iter().rev();
        args.find(|arg| CONFIGURATION.iter().any(|name| arg.name == *name))?
            .value
            .as_deref()
    }

    /// How many tests it may run, or programs compile, at a time.
    pub(super) fn at_once(&self) -> Option<usize> {
        let mut args = self.args.iter().rev();
        let arg = args.find(|arg| arg.name == "-j" || arg.name == "--parallel")?;
        arg.value.as_ref()?.to_str()?.parse().ok()
    }

    /// What says which tests run, for a command in any folder.
    pub(super) fn filters(&self, folder: &Path) -> Vec<OsString> {
        let all = [&FILTERS[..], &FILTERS_IN_FILES, &CONFIGURATION].concat();
        self.those(folder, |name| all.iter().any(|one| name == *one))
    }

    /// All, for a command in any folder; `cwd` is the one in which it was to run.
    pub(super) fn all(&self, folder: &Path, cwd: &Path) -> Vec<OsString> {
        let is_log = |name: &OsStr| LOGS.iter().any(|one| name == *one);
        let mut words = self.those(folder, |name| !is_log(name));
        words.extend(self.those(cwd, is_log));
        words
    }

    /// What decides the result of a test besides what it is.
    pub(super) fn deciding(&self) -> String {
        let neutral = [&FILTERS[..], &FILTERS_IN_FILES, &LOGS, &NEUTRAL].concat();
        let words = self.those(Path::new(""), |name| neutral.iter().all(|one| name != *one));
        let words = words.iter().map(|word| word.to_string_lossy());
        words.collect::<Vec<_>>().join(" ")
    }

    fn those(&self, folder: &Path, are_wanted: impl Fn(&OsStr) -> bool) -> Vec<OsString> {
        let mut words = Vec::new();
        for arg in self.args.iter().filter(|arg| are_wanted(&arg.name)) {
            words.push(arg.name.clone());
            let is_file = FILES.iter().chain(&FILTERS_IN_FILES);
            let is_file = is_file.into_iter().any(|name| arg.name == *name);
            words.extend(arg.value.iter().map(|value| match is_file {
                true => folder.join(value).into(),
                false => value.clone(),
            }));
        }
        words
    }
}

/// The name of an option and its value, where these are one word.
fn parts(word: &OsStr) -> (OsString, Option<OsString>) {
    let Some(text) = word.to_str() else {
        return (word.to_owned(), None);
    };
    if let Some(number) = text.strip_prefix("-j").filter(|rest| !rest.is_empty()) {
        return ("-j".into(), Some(number.into()));
    }
    match text.split_once('=').filter(|_| text.starts_with("--")) {
        Some((name, value)) => (name.into(), Some(value.into())),
        None => (text.into(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Words {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        Words::read(&words).unwrap()
    }

    #[test]
    fn the_folder_goes_and_files_are_named_from_anywhere() {
        let words = read("ctest --test-dir out -R x -j 4 -O log --output-junit=j.xml -V");
        assert_eq!(words.folder(Path::new("/p")), Path::new("/p/out"));
        let all = words.all(Path::new("/p/out"), Path::new("/p"));
        assert_eq!(all, ["-R", "x", "-j", "4", "-V", "-O", "/p/log"]);
        assert_eq!(words.filters(Path::new("/p")), ["-R", "x"]);
        assert_eq!(words.at_once(), Some(4));
        assert_eq!(words.results(Path::new("/b")), Some("/b/j.xml".into()));
        assert!(words.why_left_alone().is_none());
    }

    #[test]
    fn what_decides_results_is_told_apart() {
        let plain = read("ctest").deciding();
        for line in ["ctest -j8", "ctest -j -V", "ctest -R a", "ctest --progress"] {
            assert_eq!(read(line).deciding(), plain, "{line}");
        }
        for line in ["ctest -C Debug", "ctest --timeout 3", "ctest --new x"] {
            assert_ne!(read(line).deciding(), plain, "{line}");
        }
    }

    #[test]
    fn what_runs_no_tests_is_left_alone() {
        for line in [
            "ctest -N",
            "ctest --preset a",
            "ctest -I 1,2",
            "ctest -T Test",
        ] {
            assert!(read(line).why_left_alone().is_some(), "{line}");
        }
        assert!(read("ctest -C Debug -LE slow").why_left_alone().is_none());
    }
}

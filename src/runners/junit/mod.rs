//! JUnit's console launcher, which a command starts by `java` itself.
//!
//! Nothing is compiled, and no build file says what the class path is: the command
//! does. What it names counts as it lies on disk.

mod runner;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::jvm;
use super::maven::{JVM_OPTIONS, source_of};
use crate::select::{Part, Selection};

pub(crate) use runner::Junit;

const MAIN: &str = "org.junit.platform.console.ConsoleLauncher";
const JAR: &str = "junit-platform-console-standalone";

/// Options of `java` whose value is the next word.
const OF_JAVA: [&str; 13] = [
    "-cp",
    "-classpath",
    "--class-path",
    "-p",
    "--module-path",
    "--upgrade-module-path",
    "--add-modules",
    "--limit-modules",
    "--add-reads",
    "--add-exports",
    "--add-opens",
    "--enable-native-access",
    "--source",
];

/// Options of `java` and of the launcher whose value is a class path.
const CLASS_PATHS: [&str; 8] = [
    "-cp",
    "-classpath",
    "--classpath",
    "--class-path",
    "--scan-classpath",
    "--scan-class-path",
    "-p",
    "--module-path",
];

/// Words with which the launcher runs no tests.
const NO_TESTS: [&str; 7] = [
    "discover",
    "engines",
    "-h",
    "--help",
    "--list-engines",
    "--list-tests",
    "--version",
];

/// What an option begins with that tells of one entry of the class path.
const ENTRY: &str = "class path: ";

/// The longest pattern, in bytes: Linux takes no word of more than 128 KiB.
const LONGEST: usize = 64 << 10;

/// The most bytes of all patterns.
const MOST: usize = 1 << 20;

/// The file that [`emit`] writes.
const FILE: &str = "console.excludes";

/// Whether a command starts the launcher, with nothing but words that tell all:
/// files of arguments do not.
pub(crate) fn is_console(command: &[OsString]) -> bool {
    let Some((program, words)) = command.split_first() else {
        return false;
    };
    if Path::new(program).file_name() != Some(OsStr::new("java")) {
        return false;
    }
    let Some(words) = words
        .iter()
        .map(|word| word.to_str())
        .collect::<Option<Vec<_>>>()
    else {
        return false;
    };
    let reads_more = |word: &&str| {
        let files = ["VMOptionsFile=", "-XX:Flags="];
        word.starts_with('@') || files.iter().any(|file| word.contains(file))
    };
    let Some(at) = launcher_at(&words) else {
        return false;
    };
    let runs_none = |word: &&str| *word == "--" || NO_TESTS.contains(word);
    let set = JVM_OPTIONS
        .into_iter()
        .filter_map(|name| std::env::var(name).ok());
    !words.iter().any(reads_more)
        && !words[at..].iter().any(runs_none)
        && !set
            .into_iter()
            .any(|set| set.split_whitespace().any(|word| reads_more(&word)))
}

/// Where the words of the launcher begin, behind those of `java`.
fn launcher_at(words: &[&str]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        match *word {
            "-jar" => {
                let jar = Path::new(words.get(at + 1)?).file_name()?.to_str()?;
                return (jar.starts_with(JAR) && jar.ends_with(".jar")).then_some(at + 2);
            }
            MAIN => return Some(at + 1),
            option if OF_JAVA.contains(&option) => at += 2,
            option if option.starts_with('-') => at += 1,
            _ => return None,
        }
    }
    None
}

/// The `java` that a command in `cwd` starts.
pub(crate) fn program(command: &[OsString], cwd: &Path) -> Option<PathBuf> {
    let name = Path::new(command.first()?);
    if name.components().count() > 1 {
        return Some(cwd.join(name));
    }
    let path = std::env::var_os("PATH")?;
    let mut folders = std::env::split_paths(&path).map(|folder| cwd.join(folder).join(name));
    folders.find(|file| file.is_file())
}

/// The options by which the user can alter outcomes, and what lies on the class path.
pub(crate) fn options(command: &[OsString], cwd: &Path) -> Vec<String> {
    let text = |word: &OsString| word.to_string_lossy().into_owned();
    let mut words: Vec<String> = command.iter().skip(1).map(text).collect();
    words = without_silent(words);
    let mut paths = class_paths(&words);
    for name in JVM_OPTIONS.into_iter().chain(["CLASSPATH"]) {
        if let Some(value) = std::env::var_os(name) {
            let value = text(&value);
            words.push(format!("{name}={value}"));
            match name {
                "CLASSPATH" => paths.push(value),
                _ => paths.extend(class_paths(&split(&value))),
            }
        }
    }
    let entries = paths.iter().flat_map(|path| path.split([':', ';']));
    words.extend(entries.map(|entry| format!("{ENTRY}{entry} ({})", what_is(&cwd.join(entry)))));
    words
}

/// Words of the launcher that only change what is printed; where they have a value, it is
/// the next word or behind `=`.
const SILENT: [(&str, bool); 6] = [
    ("--details", true),
    ("--details-theme", true),
    ("--disable-ansi-colors", false),
    ("--disable-banner", false),
    ("--single-color", false),
    ("--theme", true),
];

/// Those that can change an outcome. What `java` itself is told is among them whatever it is.
fn without_silent(words: Vec<String>) -> Vec<String> {
    let borrowed: Vec<&str> = words.iter().map(String::as_str).collect();
    let start = launcher_at(&borrowed).unwrap_or(words.len());
    let (of_java, of_launcher) = words.split_at(start);
    let mut told = of_java.to_vec();
    let mut rest = of_launcher.iter();
    while let Some(word) = rest.next() {
        let (name, value) = word
            .split_once('=')
            .map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
        match SILENT.iter().find(|(known, _)| *known == name) {
            Some((_, true)) if value.is_none() => drop(rest.next()),
            Some((_, takes)) if *takes || value.is_none() => {}
            _ => told.push(word.clone()),
        }
    }
    told
}

fn split(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// The class paths that a command names.
fn class_paths(words: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if CLASS_PATHS.contains(&word.as_str()) {
            found.extend(words.get(at + 1).cloned());
        } else if let Some((option, value)) = word.split_once('=')
            && CLASS_PATHS.contains(&option)
        {
            found.push(value.to_owned());
        }
    }
    found
}

fn what_is(entry: &Path) -> String {
    let Some(folder) = entry.parent().filter(|_| entry.ends_with("*")) else {
        return match () {
            () if entry.is_dir() => FOLDER.to_owned(),
            () if entry.exists() => "file".to_owned(),
            () => NOTHING.to_owned(),
        };
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut jars: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.to_lowercase().ends_with(".jar"))
        .collect();
    jars.sort();
    jars.join(" ")
}

const FOLDER: &str = "folder";
const NOTHING: &str = "nothing";

/// The folders on the class path of a command that had these [`options`], there or
/// not, relative to where it ran.
pub(crate) fn folders(options: &[String]) -> impl Iterator<Item = &str> {
    let entries = options.iter().filter_map(|word| word.strip_prefix(ENTRY));
    entries.filter_map(|entry| {
        let (path, is) = entry.rsplit_once(" (")?;
        [FOLDER, NOTHING]
            .contains(&is.strip_suffix(')')?)
            .then_some(path)
    })
}

/// Writes `console.excludes` into `out`, an option of the launcher a line; `None` if
/// nothing is to be left out.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn emit(
    selection: &Selection,
    part: Option<Part<'_>>,
    out: &Path,
) -> Result<Option<PathBuf>> {
    let lines = patterns(&left_out(selection, part));
    if lines.iter().map(String::len).sum::<usize>() > MOST {
        return Ok(None);
    }
    jvm::written(&lines.concat(), &out.join(FILE))
}

/// The classes that are proven, without anything left open, where no other test has
/// the name of one or is nested in it.
fn left_out(selection: &Selection, part: Option<Part<'_>>) -> Vec<String> {
    let mut stay: Vec<String> = Vec::new();
    let mut classes: Vec<String> = Vec::new();
    for (test, leaves) in jvm::left_out(selection, part) {
        let class = source_of(test).1.replace('/', ".");
        match leaves {
            true => classes.push(class),
            false => stay.push(class),
        }
    }
    let keeps = |class: &String| {
        let nested = format!("{class}$");
        stay.iter()
            .any(|one| one == class || one.starts_with(&nested))
    };
    classes.retain(|class| !keeps(class));
    classes.sort();
    classes.dedup();
    classes
}

fn patterns(classes: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut open = String::new();
    let mut end = |open: &mut String| {
        if !open.is_empty() {
            lines.push(format!("--exclude-classname=^({open})(\\$.*)?$\n"));
            open.clear();
        }
    };
    for class in classes {
        let mut quoted = String::new();
        for letter in class.chars() {
            if letter.is_ascii() && !letter.is_ascii_alphanumeric() {
                quoted.push('\\');
            }
            quoted.push(letter);
        }
        if open.len() + quoted.len() > LONGEST {
            end(&mut open);
        }
        if !open.is_empty() {
            open.push('|');
        }
        open.push_str(&quoted);
    }
    end(&mut open);
    lines
}

/// The command with the options that [`emit`] wrote.
///
/// # Errors
/// If they cannot be read.
pub(crate) fn with_options(command: &[OsString], options: &Path) -> Result<Vec<OsString>> {
    let text =
        crate::disk::read_to_string(options).context("cannot read what is to be left out")?;
    let added = text.lines().map(OsString::from);
    Ok(command.iter().cloned().chain(added).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::samples::evidence;
    use crate::select::{Reason, Strategy, Verdict};

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn the_launcher_is_known_by_class_and_by_jar() {
        let is = |line: &str| is_console(&words(line));
        assert!(is(
            "java -cp a:b org.junit.platform.console.ConsoleLauncher --scan-classpath"
        ));
        assert!(is(
            "/jdk/bin/java -ea -jar lib/junit-platform-console-standalone-1.10.2.jar execute -cp a"
        ));
        assert!(!is("java -cp a org.junit.runner.JUnitCore a.B"));
        assert!(!is(
            "java -cp a Main org.junit.platform.console.ConsoleLauncher"
        ));
        assert!(!is("java @more org.junit.platform.console.ConsoleLauncher"));
        assert!(!is("java org.junit.platform.console.ConsoleLauncher @more"));
        assert!(!is(
            "java org.junit.platform.console.ConsoleLauncher discover -cp a"
        ));
        assert!(!is(
            "java -XX:VMOptionsFile=x org.junit.platform.console.ConsoleLauncher"
        ));
        assert!(!is("java -jar other.jar") && !is("java") && !is_console(&[]));
    }

    #[test]
    fn what_the_class_path_leads_to_counts() {
        let here = tempfile::tempdir().unwrap();
        fs_err::create_dir_all(here.path().join("out")).unwrap();
        for jar in ["lib/b.jar", "lib/a.JAR", "lib/c.txt", "x.jar"] {
            let jar = here.path().join(jar);
            fs_err::create_dir_all(jar.parent().unwrap()).unwrap();
            fs_err::write(jar, "").unwrap();
        }
        let line = format!("java -cp out:lib/*:x.jar:none {MAIN} --scan-classpath=out");
        let options = options(&words(&line), here.path());
        let told: Vec<&str> = options
            .iter()
            .filter_map(|word| word.strip_prefix(ENTRY))
            .collect();
        let all = [
            "out (folder)",
            "lib/* (a.JAR b.jar)",
            "x.jar (file)",
            "none (nothing)",
            "out (folder)",
        ];
        assert_eq!(told, all);
        let quiet = format!(
            "java -cp out:lib/*:x.jar:none {MAIN} --details tree --scan-classpath=out \
             --details-theme=ascii --disable-banner"
        );
        assert_eq!(super::options(&words(&quiet), here.path()), options);
        let quiet = quiet.replace("--disable-banner", "--disable-banner=x");
        assert_ne!(super::options(&words(&quiet), here.path()), options);
        assert_eq!(
            folders(&options).collect::<Vec<_>>(),
            ["out", "none", "out"]
        );
    }

    #[test]
    fn a_class_is_left_out_with_its_nested_ones_or_not_at_all() {
        let mut selection = Selection::all(Strategy::Auto, "");
        let skip = || Verdict::Skip(evidence());
        for (test, verdict) in [
            ("demo.ATest", skip()),
            ("demo.BTest", skip()),
            ("demo.BTest$Inner", Verdict::Run(Reason::New)),
            ("core/demo.CTest", skip()),
            ("app/demo.CTest", Verdict::Run(Reason::New)),
            ("demo.D$Test", skip()),
        ] {
            selection.verdicts.insert(test.into(), verdict);
        }
        assert_eq!(left_out(&selection, None), ["demo.ATest", "demo.D$Test"]);
        let lines = patterns(&left_out(&selection, None));
        assert_eq!(
            lines,
            ["--exclude-classname=^(demo\\.ATest|demo\\.D\\$Test)(\\$.*)?$\n"]
        );
        let many: Vec<String> = (0..9000).map(|at| format!("demo.Test{at}")).collect();
        let lines = patterns(&many);
        assert!(lines.len() > 1 && lines.iter().all(|line| line.len() < 2 * LONGEST));
    }
}

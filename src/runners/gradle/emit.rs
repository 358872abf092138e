//! The script that Gradle runs before the build's own, and the classes that it
//! leaves out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::runners::jvm::{left_out_of, written};
use crate::runners::maven::source_of;
use crate::select::{Part, Selection};

const SCRIPT: &str = include_str!("init.gradle");

/// Lines of a folder, relative to the project's, and a class file: those of the
/// tests that are left out.
fn lines(tests: Vec<(&str, bool)>) -> Vec<String> {
    // Outside the project nobody knows where its folder is.
    let leaves = |(test, leaves): &(&str, bool)| *leaves && !test.starts_with('/');
    let tests = tests.into_iter();
    tests
        .filter(leaves)
        .map(|(test, _)| {
            let (module, class) = source_of(test);
            format!("{module}\t{class}.class\n")
        })
        .collect()
}

/// Writes `gradle.excludes` into `out` for a project that is built; `None` if nothing is
/// to be left out. `tell` hears why more runs than has to.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn emit(
    selection: &Selection,
    part: Option<Part<'_>>,
    project: &Path,
    out: &Path,
    tell: &dyn Fn(String),
) -> Result<Option<PathBuf>> {
    let lines = lines(left_out_of(project, selection, part, tell));
    written(&lines.concat(), &out.join("gradle.excludes"))
}

/// Writes `tamis.compile.gradle` into `out`, which keeps tests from running.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn write_compile_script(out: &Path) -> Result<PathBuf> {
    fs_err::create_dir_all(out)?;
    let file = out.join("tamis.compile.gradle");
    crate::disk::write(&file, include_str!("compile.gradle"))?;
    Ok(file)
}

/// What the script is to do.
pub(crate) struct Script<'a> {
    /// The folder that names of tests are relative to.
    pub project: &'a Path,
    /// Tells this run from all others.
    pub run: &'a str,
    /// The library of the JVM's collector.
    pub agent: &'a Path,
    /// What [`emit`] wrote.
    pub excludes: Option<&'a Path>,
    /// Variables of the tests' JVMs.
    pub variables: &'a BTreeMap<String, String>,
}

/// Writes `tamis.init.gradle` into `out`.
///
/// # Errors
/// If it cannot be written, or a path is not UTF-8, which Groovy cannot say.
pub(crate) fn write_script(script: &Script<'_>, out: &Path) -> Result<PathBuf> {
    let text = |path: &Path| {
        let text = path.to_str().map(quoted);
        text.with_context(|| format!("{} is not UTF-8: Gradle cannot be told", path.display()))
    };
    let excludes = script.excludes.map(text).transpose()?;
    let agent = script
        .agent
        .to_str()
        .map(|path| format!("-agentpath:{path}"));
    let agent = agent.context("the collector's path is not UTF-8")?;
    let pairs = script.variables.iter();
    let pairs: Vec<String> = pairs
        .map(|(name, value)| format!("{}: {}", quoted(name), quoted(value)))
        .collect();
    let filled = SCRIPT
        .replace("@TOP@", &text(script.project)?)
        .replace("@RUN@", &quoted(script.run))
        .replace("@AGENT@", &quoted(&agent))
        .replace("@EXCLUDES@", excludes.as_deref().unwrap_or("null"))
        .replace("@VARIABLES@", &format!("[{}]", pairs.join(", ")));
    fs_err::create_dir_all(out)?;
    let file = out.join("tamis.init.gradle");
    crate::disk::write(&file, filled)?;
    Ok(file)
}

/// A string of Groovy without anything that it would look into.
fn quoted(text: &str) -> String {
    let mut told = String::from("'");
    for letter in text.chars() {
        match letter {
            '\'' | '\\' => told.extend(['\\', letter]),
            // Groovy reads \u before anything else: a line would end there.
            '\n' => told.push_str("\\n"),
            '\r' => told.push_str("\\r"),
            ' '..='~' => told.push(letter),
            _ => {
                let mut units = [0; 2];
                for unit in letter.encode_utf16(&mut units) {
                    told.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    told.push('\'');
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::samples::evidence;
    use crate::select::{Reason, Strategy, Verdict};

    #[test]
    fn classes_are_left_out_by_folder() {
        let mut selection = Selection::all(Strategy::Auto, "");
        let skip = || Verdict::Skip(evidence());
        for (test, verdict) in [
            ("/elsewhere/demo.XTest", skip()),
            ("a/demo.XTest", skip()),
            ("b/demo.XTest", Verdict::Run(Reason::New)),
            ("demo.Y$ZTest", skip()),
        ] {
            selection.verdicts.insert(test.into(), verdict);
        }
        let lines = lines(crate::runners::jvm::left_out(&selection, None)).concat();
        assert_eq!(lines, "a\tdemo/XTest.class\n\tdemo/Y$ZTest.class\n");
    }

    #[test]
    fn what_groovy_would_look_into_is_escaped() {
        assert_eq!(quoted("a b$c"), "'a b$c'");
        assert_eq!(quoted("it's\\n"), r"'it\'s\\n'");
        assert_eq!(quoted("ü\n"), r"'\u00fc\n'");
    }
}

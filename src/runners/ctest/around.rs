//! A folder of tests around the one that CMake wrote. `ctest` reads the project's own files from
//! there, so that all properties of tests hold; only `add_test` puts a process of tamis before each
//! program, and leaves out what has not to run.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::listed::Listed;
use crate::disk;

/// Where `ctest` finds tests.
const TESTS: &str = "CTestTestfile.cmake";

/// Where `ctest` keeps its log and how long tests took.
pub(super) const LOGS: &str = "Testing";

/// What the project sets; `ctest` reads it in the folder that it starts in.
pub(super) const CUSTOM: &str = "CTestCustom.cmake";

/// The same for what CMake has set: a line for each.
const SETTINGS: &str = "DartConfiguration.tcl";

/// The lines of it that say where the project is built, and how long a test may take.
const PLACE: &str = "BuildDirectory:";
const TIMEOUT: &str = "TimeOut:";

/// What begins and ends a text in which nothing means anything.
const QUOTES: (&str, &str) = ("[========[", "]========]");

/// What every test is started by, written in the language of `ctest`. Names are numbers: those of
/// [`Listed::tests`].
const ADD_TEST: &str = include_str!("add_test.cmake");

/// How a test is started.
pub(super) struct Around<'a> {
    /// The folder that CMake builds in.
    pub folder: &'a Path,
    pub listed: &'a Listed,
    pub left_out: &'a BTreeSet<&'a str>,
    /// The folder for marks (see `tracer::Parts`).
    pub marks: &'a Path,
}

/// How long a test may take that says nothing about it, as CMake has set it.
pub(super) fn timeout(folder: &Path) -> String {
    let settings = settings(folder).unwrap_or_default();
    let mut lines = settings.lines();
    let line = lines.find(|line| line.starts_with(TIMEOUT));
    line.unwrap_or_default().to_owned()
}

fn settings(folder: &Path) -> Option<String> {
    disk::read_to_string(folder.join(SETTINGS)).ok()
}

impl Around<'_> {
    /// Writes the folder into `out`, and returns it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn write(&self, out: &Path) -> Result<PathBuf> {
        let around = out.join("ctest");
        if around.exists() {
            fs_err::remove_dir_all(&around)?;
        }
        fs_err::create_dir_all(&around)?;
        disk::write(around.join(TESTS), self.text()?)?;
        if self.folder.join(CUSTOM).is_file() {
            symlink(self.folder.join(CUSTOM), around.join(CUSTOM))?;
        }
        if let Some(settings) = settings(self.folder) {
            let lines = settings.lines().map(|line| match line.starts_with(PLACE) {
                true => format!("{PLACE} {}\n", around.display()),
                false => format!("{line}\n"),
            });
            disk::write(around.join(SETTINGS), lines.collect::<String>())?;
        }
        let logs = self.folder.join(LOGS);
        // Where it cannot be made, the log is here.
        if fs_err::create_dir_all(&logs).is_ok() {
            symlink(&logs, around.join(LOGS))?;
        }
        Ok(around)
    }

    fn text(&self) -> Result<String> {
        let (open, close) = QUOTES;
        let quoted = |text: &str| format!("{open}{text}{close}");
        let mut text = String::new();
        let program = std::env::current_exe()?;
        let set = |text: &mut String, name: &str, value: &str| {
            writeln!(text, "set({} {})", quoted(name), quoted(value))
        };
        set(&mut text, "tamis_program", &program.to_string_lossy())?;
        set(&mut text, "tamis_marks", &self.marks.to_string_lossy())?;
        for (number, (name, test)) in self.listed.tests.iter().enumerate() {
            let how = match self.left_out.contains(name.as_str()) {
                true => "out".to_owned(),
                false => number.to_string(),
            };
            set(&mut text, &format!("tamis_test_{name}"), &how)?;
            // What is written without a folder `ctest` looks for.
            if let Some(program) = test.program() {
                set(&mut text, &format!("tamis_program_{name}"), program)?;
            }
        }
        text.push_str(ADD_TEST);
        let folder = self.folder.to_string_lossy();
        writeln!(text, "subdirs({})", quoted(&folder))?;
        Ok(text)
    }
}

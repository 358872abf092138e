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
pub(super) const TESTS: &str = "CTestTestfile.cmake";

/// Where `ctest` keeps its log and how long tests took.
pub(super) const LOGS: &str = "Testing";

/// What the project sets; `ctest` reads these in the folder that it starts in.
pub(super) const CUSTOM: [&str; 2] = ["CTestCustom.cmake", "CTestCustom.ctest"];

/// The same for what CMake has set: a line for each.
const SETTINGS: &str = "DartConfiguration.tcl";

/// The line of it that says where the project is built.
const PLACE: &str = "BuildDirectory:";

/// Those that say where and when: they decide nothing.
const NAMES: [&str; 3] = ["Site:", "BuildName:", "NightlyStartTime:"];

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

/// What CMake has set for all tests: how long one may take, what resources there are.
pub(super) fn set_for_all(folder: &Path) -> String {
    let settings = settings(folder).unwrap_or_default();
    let lines = settings.lines();
    let lines = lines.filter(|line| !NAMES.iter().any(|name| line.starts_with(name)));
    let tests = disk::read_to_string(folder.join(TESTS)).unwrap_or_default();
    let set = tests.lines().filter(|line| line.starts_with("set("));
    lines.chain(set).map(|line| format!("{line}\n")).collect()
}

fn settings(folder: &Path) -> Option<String> {
    disk::read_to_string(folder.join(SETTINGS)).ok()
}

fn quoted(text: &str) -> String {
    let (open, close) = QUOTES;
    // The first end of a line does not count.
    format!("{open}\n{text}{close}")
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
        let custom = CUSTOM.iter().map(|name| self.folder.join(name));
        let custom = custom.filter(|file| file.is_file());
        let custom = custom.map(|file| format!("include({})\n", quoted(&file.to_string_lossy())));
        disk::write(around.join(CUSTOM[0]), custom.collect::<String>())?;
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
        let mut text = String::new();
        let program = std::env::current_exe()?;
        let set = |text: &mut String, name: &str, value: &str| {
            writeln!(text, "set({} {})", quoted(name), quoted(value))
        };
        set(&mut text, "tamis_program", &program.to_string_lossy())?;
        set(&mut text, "tamis_marks", &self.marks.to_string_lossy())?;
        for (number, (name, test)) in self.listed.tests.iter().enumerate() {
            let how = match () {
                () if self.left_out.contains(name.as_str()) => "out".to_owned(),
                () if !test.can_be_seen() => String::new(),
                () => number.to_string(),
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

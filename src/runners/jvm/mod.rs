//! What the runners of JVM tests share: where classes lie, what is left out of them, how
//! the collector gets into a JVM, and what `doctor` looks at.

pub(crate) mod doctor;
mod known;
mod launch;
mod orders;
mod probe;
pub(super) mod testng;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Result;
use bstr::BStr;
use walkdir::{DirEntry, WalkDir};

use super::maven::Configuration;
use super::{Build, Examples, FoundCommand, gradle, maven};
use crate::error::Error;
use crate::escape::shown_path;
use crate::languages::jvm::classes_in;
use crate::select::{Part, Selection, Verdict};

pub(crate) use known::add_left_out;
pub(crate) use launch::{arguments, variables, with_collector, words};
pub(crate) use orders::{Captured, Server, Starter, capture, run_through};
pub(crate) use probe::prober;

/// Each test, with whether it is left out: it is proven to need no run, without anything
/// left open, or it is another machine's.
pub(crate) fn left_out<'s>(
    selection: &'s Selection,
    part: Option<Part<'s>>,
) -> Vec<(&'s str, bool)> {
    let tests = selection.verdicts.iter().map(|(test, verdict)| {
        let is_here = part.is_none_or(|part| part.has(test));
        let is_proven = matches!(verdict, Verdict::Skip(evidence) if evidence.late.is_empty());
        (test.as_str(), is_proven || !is_here)
    });
    tests.collect()
}

/// The same of a project that is built. `tell` hears why more runs than has to.
pub(crate) fn left_out_of<'s>(
    project: &Path,
    selection: &'s Selection,
    part: Option<Part<'s>>,
    tell: &dyn Fn(String),
) -> Vec<(&'s str, bool)> {
    let mut tests = left_out(selection, part);
    testng::keep_together(&mut tests, project, tell);
    tests
}

/// The same of one that is not, or not yet: which tests need others is not known there.
pub(crate) fn left_out_unbuilt<'t>(
    project: &Path,
    tests: Vec<(&'t str, bool)>,
) -> Vec<(&'t str, bool)> {
    let stay = tests.iter().any(|(_, leaves)| *leaves) && testng::is_named_in(project);
    let tests = tests.into_iter();
    tests
        .map(|(test, leaves)| (test, leaves && !stay))
        .collect()
}

/// Writes what is to be left out as `file`; `None` if that is nothing.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn written(lines: &str, file: &Path) -> Result<Option<PathBuf>> {
    if lines.is_empty() {
        return Ok(None);
    }
    fs_err::create_dir_all(file.parent().unwrap_or(file))?;
    crate::disk::write(file, lines)?;
    Ok(Some(file.to_owned()))
}

/// The folder of the module that a class file belongs to.
pub(crate) fn module_of(class_file: &BStr) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let path = Path::new(std::ffi::OsStr::from_bytes(class_file));
    gradle::module_of(path).or_else(|| maven::module_of(class_file))
}

/// What configures every test of a project in the work tree at `top`, whose `command`
/// ran in one of `folders`.
pub(crate) fn configuration(top: &Path, folders: &[PathBuf], command: &[String]) -> Configuration {
    let words: Vec<OsString> = command.iter().map(OsString::from).collect();
    let is_maven = maven::is_maven(&words) || maven::is_project(top);
    let mut found = match is_maven {
        true => Configuration::of(top, folders, command),
        false => Configuration::default(),
    };
    if gradle::is_project(top) || !is_maven {
        found.files.extend(gradle::config_files(top));
    }
    found
}

/// Those of some files and folders that are there.
pub(crate) fn present(folder: &Path, names: &[&'static str]) -> Vec<&'static str> {
    let names = names.iter().copied();
    names.filter(|name| folder.join(name).exists()).collect()
}

/// The command that runs the tests of `project`: by its own wrapper if it has one.
pub(crate) fn with_wrapper(project: &Path, wrapper: &str, program: &str) -> FoundCommand {
    let program = match project.join(wrapper).is_file() {
        true => format!("./{wrapper}"),
        false => program.to_owned(),
    };
    FoundCommand {
        words: vec![program.into(), "test".into()],
        because: None,
    }
}

/// There is no command, as there is no build.
pub(crate) fn no_build(runner: &str, root: &Path) -> Error {
    let message = format!("{} has no build of {runner}", shown_path(root));
    Error::usage(message).with_hint(CORRECT)
}

const CORRECT: &str = "correct `runner` or `root` in tamis.yml, or give a `command`";

/// It is not known what compiles all that a command tests, and no more.
pub(crate) fn no_build_command() -> Build {
    Build::Unknown("tamis knows no command that compiles what this one tests".to_owned())
}

pub(crate) const EXAMPLES: Examples = Examples {
    command: "[mvn, -B, verify]",
    python: None,
    paths: "[\"src/**\", \"core/**\"]",
    suites: "web: {root: web, runner: pytest}",
    label: "jdk17",
    always_run: "[\"**.SmokeTest\"]",
    run_all_when: "[Dockerfile, \"src/test/data/**\"]",
    keep_together: "[[demo.SetUpTest, demo.UseTest]]",
    own: |_| {
        "\n\
         # What a test is: class, or method (JUnit 4 and 5 under Maven).\n\
         #: granularity: class\n\
         \n\
         # Whether tests look at line numbers.\n\
         #: debug-info: true\n"
            .to_owned()
    },
};

/// All files beneath a folder, as far as it can be read. Links are files.
pub(super) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = WalkDir::new(folder).min_depth(1).into_iter().flatten();
    let files = entries.filter(|entry| !entry.file_type().is_dir());
    files.map(DirEntry::into_path).collect()
}

/// Whether a folder or a module beneath it has sources of tests.
pub(crate) fn has_tests(folder: &Path) -> bool {
    let is_in = |folder: &Path| folder.join("src/test").is_dir();
    let below = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    is_in(folder)
        || below(folder)
            .iter()
            .any(|module| is_in(module) || below(module).iter().any(|module| is_in(module)))
}

/// Where the compiled tests of all modules lie unless they say otherwise.
pub(crate) fn test_outputs(top: &Path) -> Vec<PathBuf> {
    let mut outputs = maven::test_outputs(top);
    let modules = gradle::modules(top).into_iter();
    outputs.extend(modules.flat_map(|module| gradle::test_outputs(&module)));
    outputs
}

/// Where the compiled tests of one module may lie, absolute.
pub(crate) fn outputs_of(module: &Path) -> Vec<PathBuf> {
    let mut outputs = gradle::test_outputs(module);
    outputs.push(module.join("target/test-classes"));
    outputs
}

/// The class files beneath a folder that declare a type.
///
/// # Errors
/// If a folder cannot be listed.
pub(crate) fn class_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut classes = classes_in(folder)?;
    classes.retain(|name| {
        let name = name.rsplit('/').next().unwrap_or(name);
        name != "module-info" && name != "package-info"
    });
    let files = classes.into_iter();
    Ok(files
        .map(|name| folder.join(format!("{name}.class")))
        .collect())
}

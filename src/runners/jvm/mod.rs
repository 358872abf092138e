//! The programs that run a JVM's tests, seen from one side. Which one a project or a
//! command has is asked here; what it is told differs.

pub mod doctor;
pub(super) mod testng;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Result;
use bstr::BStr;

use super::maven::Configuration;
use super::pytest::Part;
use super::{gradle, junit, maven};
use crate::config::Runner;
use crate::languages::jvm::classes_in;
use crate::select::{Selection, Verdict};

/// What the collector is told, and keeps, where what compilers add for debuggers counts.
pub const DEBUG_INFO: &str = "debug-info=true";

/// What runs tests in JVMs, and can be told what to leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    Maven,
    Gradle,
    /// JUnit's launcher, without a build tool.
    Console,
}

impl Tool {
    /// The one whose command this is.
    pub fn of(command: &[OsString]) -> Option<Tool> {
        match () {
            () if maven::is_maven(command) => Some(Tool::Maven),
            () if gradle::is_gradle(command) => Some(Tool::Gradle),
            () if junit::is_console(command) => Some(Tool::Console),
            () => None,
        }
    }

    /// The command that compiles all that `command` would test; `None` if that
    /// is not known. What it needs is written into `out`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn build_command(self, command: &[OsString], out: &Path) -> Result<Option<Vec<OsString>>> {
        Ok(match self {
            Tool::Maven => maven::build_command(command),
            Tool::Gradle => {
                let script = gradle::write_compile_script(out)?;
                gradle::build_command(command, &script)
            }
            Tool::Console => None,
        })
    }

    /// The options by which the user can alter outcomes, for a command that runs in `cwd`.
    pub fn options(self, command: &[OsString], cwd: &Path) -> Vec<String> {
        match self {
            Tool::Maven => maven::options(command, cwd),
            Tool::Gradle => gradle::options(command),
            Tool::Console => junit::options(command, cwd),
        }
    }

    /// Writes into `out` what is to be left out of a project that is built; `None` if
    /// that is nothing. `tell` hears why more runs than has to.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn emit(
        self,
        selection: &Selection,
        part: Option<Part<'_>>,
        project: &Path,
        out: &Path,
        tell: &dyn Fn(String),
    ) -> Result<Option<PathBuf>> {
        match self {
            Tool::Maven => maven::emit(selection, part, project, out, tell),
            Tool::Gradle => gradle::emit(selection, part, project, out, tell),
            Tool::Console => junit::emit(selection, part, out),
        }
    }
}

/// Each test, with whether it is left out: it is proven to need no run, without anything
/// left open, or it is another machine's.
pub fn left_out<'s>(selection: &'s Selection, part: Option<Part<'s>>) -> Vec<(&'s str, bool)> {
    let tests = selection.verdicts.iter().map(|(test, verdict)| {
        let is_here = part.is_none_or(|part| part.has(test));
        let is_proven = matches!(verdict, Verdict::Skip(evidence) if evidence.late.is_empty());
        (test.as_str(), is_proven || !is_here)
    });
    tests.collect()
}

/// The same of a project that is built. `tell` hears why more runs than has to.
pub fn left_out_of<'s>(
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
pub fn left_out_unbuilt<'t>(project: &Path, tests: Vec<(&'t str, bool)>) -> Vec<(&'t str, bool)> {
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
pub fn written(lines: &str, file: &Path) -> Result<Option<PathBuf>> {
    if lines.is_empty() {
        return Ok(None);
    }
    fs_err::create_dir_all(file.parent().unwrap_or(file))?;
    crate::disk::write(file, lines)?;
    Ok(Some(file.to_owned()))
}

/// The folder of the JDK with which a command in `cwd` runs its tests, unless a build says
/// another one.
pub fn home(command: &[OsString], cwd: &Path) -> Option<PathBuf> {
    match Tool::of(command) {
        Some(Tool::Console) => maven::home_of(&junit::program(command, cwd)?),
        _ => maven::java_home(),
    }
}

/// Whether a command starts a JVM itself: JUnit's `JUnitCore`, say.
pub fn is_java(command: &[OsString]) -> bool {
    let program = command.first().map(Path::new);
    program
        .and_then(Path::file_name)
        .is_some_and(|name| name == "java")
}

/// What the JVMs of tests are told, whoever starts them.
pub fn variables(traces: &Path, root: &Path, args: &[String]) -> BTreeMap<String, String> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let pairs = [
        ("TAMIS_ARGS", args.join("\n")),
        ("TAMIS_ROOT", text(root)),
        ("TAMIS_TRACE_DIR", text(traces)),
    ];
    pairs.map(|(name, value)| (name.to_owned(), value)).into()
}

/// The folder of the module that a class file belongs to.
pub fn module_of(class_file: &BStr) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let path = Path::new(std::ffi::OsStr::from_bytes(class_file));
    gradle::module_of(path).or_else(|| maven::module_of(class_file))
}

/// What configures every test of a project in the work tree at `top`, whose `command`
/// ran in one of `folders`.
pub fn configuration(top: &Path, folders: &[PathBuf], command: &[String]) -> Configuration {
    let words: Vec<OsString> = command.iter().map(OsString::from).collect();
    let is_maven = maven::is_maven(&words) || maven::find(top).is_some();
    let mut found = match is_maven {
        true => Configuration::of(top, folders, command),
        false => Configuration::default(),
    };
    if gradle::find(top).is_some() || !is_maven {
        found.files.extend(gradle::config_files(top));
    }
    found
}

/// Where Maven leaves what it makes of each module beneath `top`: absolute.
pub fn build_folders(top: &Path) -> Vec<PathBuf> {
    let modules = maven::modules(top).into_iter();
    modules.map(|module| module.join("target")).collect()
}

/// What the builds of a runner write, beneath `top`: absolute.
pub fn written_folders(runner: Runner, top: &Path) -> Vec<PathBuf> {
    match runner {
        Runner::Maven => build_folders(top),
        Runner::Gradle => gradle::build_folders(top),
        Runner::Junit | Runner::Pytest => Vec::new(),
    }
}

/// Where the compiled tests of all modules lie unless they say otherwise.
pub fn test_outputs(top: &Path) -> Vec<PathBuf> {
    let mut outputs = maven::test_outputs(top);
    let modules = gradle::modules(top).into_iter();
    outputs.extend(modules.flat_map(|module| gradle::test_outputs(&module)));
    outputs
}

/// Where the compiled tests of one module may lie, absolute.
pub fn outputs_of(module: &Path) -> Vec<PathBuf> {
    let mut outputs = gradle::test_outputs(module);
    outputs.push(module.join("target/test-classes"));
    outputs
}

/// The class files beneath a folder that declare a type.
///
/// # Errors
/// If a folder cannot be listed.
pub fn class_files(folder: &Path) -> Result<Vec<PathBuf>> {
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

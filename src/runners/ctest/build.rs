//! Where CMake builds, and how tamis has it do so before tests are selected: what was built tells
//! which tests an edit can affect.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use anyhow::{Context, Result, ensure};

use crate::run::Ended;

/// What CMake reads to configure a project.
pub(super) const LISTS: &str = "CMakeLists.txt";

/// What it keeps in a folder that it builds in.
const CACHE: &str = "CMakeCache.txt";

/// The folder that it will build in, if it has not yet.
const FOLDER: &str = "build";

/// How deep below a project a folder is looked for: `out/build/debug`.
const DEPTH: usize = 3;

/// How many programs are compiled at a time.
const PARALLEL: &str = "CMAKE_BUILD_PARALLEL_LEVEL";

/// Whether a project has tests, as far as its own lists tell.
pub(super) fn has_tests(folder: &Path) -> bool {
    let text = crate::disk::read_to_string(folder.join(LISTS)).unwrap_or_default();
    let text = text.to_lowercase();
    let words = ["enable_testing", "include(ctest)", "include (ctest)"];
    words.iter().any(|word| text.contains(word))
}

/// The folders below a project, or this itself, that CMake was told to build it in.
pub(super) fn folders(project: &Path) -> Vec<PathBuf> {
    let walk = walkdir::WalkDir::new(project)
        .max_depth(DEPTH)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(|entry| {
            let name = entry.file_name().as_encoded_bytes();
            let is_hidden = entry.depth() > 0 && name.starts_with(b".");
            entry.file_type().is_dir() && !is_hidden && name != b"node_modules"
        });
    let folders = walk
        .filter_map(Result::ok)
        .map(walkdir::DirEntry::into_path);
    folders.filter(|folder| builds(folder, project)).collect()
}

/// Whether CMake was told to build this project in that folder.
fn builds(folder: &Path, project: &Path) -> bool {
    let home = source_of(folder);
    home.is_some_and(|home| home == project || fs_err::canonicalize(project).ok() == Some(home))
}

/// The project that CMake builds in a folder.
fn source_of(folder: &Path) -> Option<PathBuf> {
    const HOME: &str = "CMAKE_HOME_DIRECTORY:INTERNAL=";
    let cache = crate::disk::read_to_string(folder.join(CACHE)).ok()?;
    let line = cache.lines().find_map(|line| line.strip_prefix(HOME))?;
    Some(line.into())
}

/// The folder that CMake builds a project in, from there.
///
/// # Errors
/// The folders, if there are several.
pub(super) fn folder_of(project: &Path) -> Result<PathBuf, Vec<String>> {
    let known = folders(project);
    let inside = |folder: &PathBuf| folder.strip_prefix(project).map(Path::to_owned);
    let mut inside: Vec<PathBuf> = known.iter().filter_map(|one| inside(one).ok()).collect();
    if inside.len() > 1 && inside.iter().any(|one| one == Path::new(FOLDER)) {
        inside = vec![FOLDER.into()];
    }
    match &inside[..] {
        [] => Ok(FOLDER.into()),
        [only] if only.as_os_str().is_empty() => Ok(".".into()),
        [only] => Ok(only.clone()),
        several => Err(several
            .iter()
            .map(|one| one.display().to_string())
            .collect()),
    }
}

/// The arguments of tamis that build in a folder; `None` if there is nothing to build from.
pub(super) fn command(
    folder: &Path,
    project: &Path,
    configuration: Option<&OsStr>,
    at_once: Option<usize>,
) -> Option<Vec<OsString>> {
    let has_lists = folder.join(CACHE).is_file() || project.join(LISTS).is_file();
    if !has_lists {
        return None;
    }
    let mut words: Vec<OsString> = vec!["ctest-build".into(), folder.into(), project.into()];
    if let Some(configuration) = configuration {
        words.extend(["--configuration".into(), configuration.into()]);
    }
    if let Some(number) = at_once {
        words.extend(["--parallel".into(), number.to_string().into()]);
    }
    Some(words)
}

/// Builds in a folder, after it has been configured for this if it was not yet. Returns how the
/// first command ended that failed.
///
/// # Errors
/// If CMake cannot be started.
pub(crate) fn build_with_cmake(
    folder: &Path,
    project: &Path,
    configuration: Option<&OsStr>,
    at_once: Option<usize>,
) -> Result<i32> {
    if !folder.join(CACHE).is_file() {
        let mut configure = Command::new("cmake");
        configure.arg("-S").arg(project).arg("-B").arg(folder);
        if let Some(configuration) = configuration {
            let mut kind = OsString::from("-DCMAKE_BUILD_TYPE=");
            kind.push(configuration);
            configure.arg(kind);
        }
        let status = started(&mut configure)?;
        if status != 0 {
            return Ok(status);
        }
    }
    let mut build = Command::new("cmake");
    build.arg("--build").arg(folder);
    if let Some(configuration) = configuration {
        build.arg("--config").arg(configuration);
    }
    if std::env::var_os(PARALLEL).is_none() {
        let most = || thread::available_parallelism().map_or(1, usize::from);
        let number = at_once.unwrap_or_else(most);
        build.args(["--parallel", &number.to_string()]);
    }
    started(&mut build)
}

fn started(command: &mut Command) -> Result<i32> {
    let status = command.status();
    let status = status.context("cannot start `cmake`; is CMake installed?")?;
    Ok(Ended::of(status).status())
}

/// The first version of CMake whose `ctest` writes results that programs can read.
const OLDEST: (u32, u32) = (3, 21);

/// The version of the program, if it is new enough.
///
/// # Errors
/// If it cannot be started, or is too old.
pub(super) fn version(program: &OsStr) -> Result<String> {
    let output = Command::new(program)
        .arg("--version")
        .output()
        .with_context(|| format!("cannot start `{}`; is CMake installed?", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let first = text.lines().next().unwrap_or_default();
    let number = first.rsplit(' ').next().unwrap_or_default();
    let mut parts = number.split('.').map(str::parse::<u32>);
    let version = match (parts.next(), parts.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor),
        _ => OLDEST,
    };
    ensure!(
        version >= OLDEST,
        "CMake {number} is too old: its tests can be told apart from {}.{} on",
        OLDEST.0,
        OLDEST.1
    );
    Ok(number.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_that_cmake_builds_in_is_found() {
        let project = tempfile::tempdir().unwrap();
        let top = fs_err::canonicalize(project.path()).unwrap();
        assert_eq!(folder_of(&top), Ok("build".into()));
        let add = |folder: &str, home: &Path| {
            let folder = top.join(folder);
            fs_err::create_dir_all(&folder).unwrap();
            let text = format!(
                "A:STRING=b\nCMAKE_HOME_DIRECTORY:INTERNAL={}\n",
                home.display()
            );
            fs_err::write(folder.join(CACHE), text).unwrap();
        };
        add("build/_deps/other", Path::new("/other"));
        assert_eq!(folder_of(&top), Ok("build".into()));
        add("out/debug", &top);
        assert_eq!(folder_of(&top), Ok("out/debug".into()));
        add("out/release", &top);
        let both = ["out/debug", "out/release"].map(str::to_owned);
        assert_eq!(folder_of(&top), Err(both.to_vec()));
        add("build", &top);
        assert_eq!(folder_of(&top), Ok("build".into()));
    }

    #[test]
    fn lists_tell_whether_there_are_tests() {
        let project = tempfile::tempdir().unwrap();
        assert!(!has_tests(project.path()));
        for (text, expected) in [("project(x)", false), ("Enable_Testing()", true)] {
            fs_err::write(project.path().join(LISTS), text).unwrap();
            assert_eq!(has_tests(project.path()), expected);
        }
    }
}

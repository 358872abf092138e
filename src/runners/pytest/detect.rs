//! Finding pytest without configuration.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use crate::runners::{FoundCommand, on_path};

/// Finds the interpreter of `project` that has pytest: `chosen` if given, the
/// project's own virtual environment, the active one, then the `PATH`.
///
/// # Errors
/// If no interpreter has pytest; the message lists those that were asked.
pub(super) fn find(project: &Path, chosen: Option<&Path>) -> Result<FoundCommand> {
    let mut asked: Vec<String> = Vec::new();
    for (python, because) in interpreters(project, chosen) {
        if has_pytest(&python) {
            let args = ["-m", "pytest"].map(OsString::from);
            return Ok(FoundCommand {
                words: std::iter::once(python.into_os_string())
                    .chain(args)
                    .collect(),
                because: Some(format!("using the pytest of {because}")),
            });
        }
        asked.push(format!("{} ({because})", python.display()));
    }
    if asked.is_empty() {
        bail!(
            "no Python interpreter was found: activate the project's virtual environment, or name one with `python:` in tamis.yml or TAMIS_PYTHON"
        );
    }
    bail!(
        "none of these interpreters has pytest: {}. Install it (`python -m pip install pytest`), activate the project's virtual environment, or name its interpreter with `python:` in tamis.yml or TAMIS_PYTHON",
        asked.join(", ")
    )
}

/// The interpreter that `command` runs its tests in, as far as the command
/// tells: the program itself, or that of its first line (`#!`).
pub(super) fn python_of(command: &[OsString]) -> Option<PathBuf> {
    let program = Path::new(command.first()?);
    if is_python(program) {
        return Some(program.to_owned());
    }
    let script = match program.components().count() {
        1 => on_path(program.to_str()?)?,
        _ => program.to_owned(),
    };
    let mut start = Vec::new();
    crate::disk::open(script)
        .ok()?
        .take(512)
        .read_to_end(&mut start)
        .ok()?;
    let line = start
        .strip_prefix(b"#!")?
        .split(|byte| *byte == b'\n')
        .next()?;
    let interpreter = PathBuf::from(std::str::from_utf8(line).ok()?.trim());
    is_python(&interpreter).then_some(interpreter)
}

/// The arguments of the interpreter itself in `command`: of `python -O -m pytest`,
/// `-O`. `None` if one is not known, or would keep another script from running.
/// Scripts have none: with one in their first line, no interpreter is found.
pub(super) fn flags_of(command: &[OsString]) -> Option<Vec<OsString>> {
    let (program, arguments) = command.split_first()?;
    if !is_python(Path::new(program)) {
        return Some(Vec::new());
    }
    let mut flags = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let text = argument.to_str()?;
        let Some(letters) = text.strip_prefix('-') else {
            return Some(flags);
        };
        match letters.trim_start_matches(['b', 'B', 'd', 'E', 'I', 'O', 'P', 's', 'S', 'u']) {
            "" if !letters.is_empty() => flags.push(argument.clone()),
            "m" if letters == "m" => return Some(flags),
            "W" | "X" => {
                flags.push(argument.clone());
                flags.push(arguments.next()?.clone());
            }
            rest if rest.starts_with(['W', 'X']) => flags.push(argument.clone()),
            _ => return None,
        }
    }
    Some(flags)
}

pub(super) fn is_python(program: &Path) -> bool {
    program
        .file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| name.starts_with("python") || name.starts_with("pypy"))
}

/// Where the project's interpreter may be, the likeliest first, and why
/// there; `chosen` is the only candidate if given.
pub(super) fn interpreters(project: &Path, chosen: Option<&Path>) -> Vec<(PathBuf, String)> {
    if let Some(python) = chosen {
        return vec![(python.to_owned(), "as configured".to_owned())];
    }
    let mut found = Vec::new();
    for folder in [".venv", "venv"] {
        let python = project.join(folder).join("bin/python");
        if python.exists() {
            found.push((python, format!("the project's {folder}")));
        }
    }
    if let Some(active) = std::env::var_os("VIRTUAL_ENV") {
        let python = Path::new(&active).join("bin/python");
        if python.exists() {
            // The environment that the user activated comes first.
            found.insert(0, (python, "the active virtual environment".to_owned()));
        }
    }
    for name in ["python", "python3"] {
        if let Some(python) = on_path(name) {
            found.push((python, "found on PATH".to_owned()));
        }
    }
    found
}

fn has_pytest(python: &Path) -> bool {
    if stands_beside(python) {
        return true;
    }
    Command::new(python)
        .args([
            "-c",
            "import importlib.util, sys; sys.exit(importlib.util.find_spec('pytest') is None)",
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Whether the virtual environment of this interpreter has pytest, as its files show. To start
/// the interpreter for the same answer takes a tenth of what a small run does. The folder has
/// the version in its name: an environment whose interpreter is another one by now (the system
/// was updated) has packages that nobody finds.
fn stands_beside(python: &Path) -> bool {
    let is_version = |name: &str| {
        let minor = name.strip_prefix("python3.");
        minor.is_some_and(|minor| minor.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let Ok(real) = python.canonicalize() else {
        return false;
    };
    let name = real.file_name().and_then(|name| name.to_str());
    let (Some(top), Some(name)) = (python.parent().and_then(Path::parent), name) else {
        return false;
    };
    let package = top.join("lib").join(name).join("site-packages/pytest");
    is_version(name) && top.join("pyvenv.cfg").is_file() && package.join("__init__.py").is_file()
}

/// Whether a folder looks like one with tests of pytest's.
pub(super) fn has_tests(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).is_file();
    let says = |name: &str| {
        crate::disk::read_to_string(folder.join(name)).is_ok_and(|text| text.contains("pytest"))
    };
    let is_test = |name: &str| {
        name == "conftest.py"
            || (name.ends_with(".py") && name.starts_with("test_"))
            || name.ends_with("_test.py")
    };
    let holds = |folder: &Path| {
        let mut entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.any(|entry| entry.file_name().to_str().is_some_and(is_test))
    };
    ["pytest.ini", ".pytest.ini"].into_iter().any(has)
        || ["pyproject.toml", "setup.cfg", "tox.ini"]
            .into_iter()
            .any(says)
        || ["", "test", "tests"]
            .iter()
            .any(|name| holds(&folder.join(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An environment of Python 3.13 with pytest, whose interpreter is `version` now.
    #[cfg(unix)]
    fn environment(version: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let package = folder.path().join("lib/python3.13/site-packages/pytest");
        let bin = folder.path().join("bin");
        fs_err::create_dir_all(&package).unwrap();
        fs_err::create_dir_all(&bin).unwrap();
        fs_err::write(package.join("__init__.py"), "").unwrap();
        fs_err::write(folder.path().join("pyvenv.cfg"), "").unwrap();
        fs_err::write(folder.path().join(version), "").unwrap();
        let python = bin.join("python");
        fs_err::os::unix::fs::symlink(folder.path().join(version), &python).unwrap();
        (folder, python)
    }

    #[cfg(unix)]
    #[test]
    fn the_files_of_an_environment_show_pytest() {
        let (folder, python) = environment("python3.13");
        assert!(stands_beside(&python));
        fs_err::remove_file(folder.path().join("pyvenv.cfg")).unwrap();
        assert!(!stands_beside(&python));
        for other in ["python3.14", "python3", "python3.x", "python"] {
            let (_folder, python) = environment(other);
            assert!(!stands_beside(&python), "{other}");
        }
        let (folder, python) = environment("python3.13");
        fs_err::remove_file(folder.path().join("python3.13")).unwrap();
        assert!(!stands_beside(&python), "its interpreter is gone");
    }
}

//! What `doctor` looks at in the Python environment.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::config::{Config, Setting, shown_path};
use crate::report::Check;

/// The oldest interpreter that the collector supports.
const OLDEST: (u32, u32) = (3, 8);

/// Prints the interpreter's version and pytest's, or nothing for the latter.
const PROBE: &str = "\
import sys
print('%d.%d.%d' % sys.version_info[:3])
try:
    import pytest
    print(pytest.__version__)
except ImportError:
    pass
";

/// An interpreter that answered.
#[derive(Debug, PartialEq, Eq)]
struct Python {
    version: String,
    pytest: Option<String>,
}

pub fn checks(config: &Config) -> Vec<Check> {
    let name = "python";
    let candidates = candidates(config);
    let mut failures = Vec::new();
    for (path, why) in &candidates {
        match probe(path, &config.root.value) {
            Ok(python) => return found(path, why, &python),
            Err(failure) => failures.push(format!("{} ({why}): {failure}", shown_path(path))),
        }
    }
    vec![Check::fail(
        name,
        format!("no interpreter answers: {}", failures.join("; ")),
        "activate the project's environment, or set `python` in tamis.yml",
    )]
}

/// Where an interpreter may be, the likeliest first, and why there. What the
/// user named is the only candidate.
fn candidates(config: &Config) -> Vec<(PathBuf, String)> {
    if let Setting {
        value: Some(path),
        origin,
    } = &config.python
    {
        return vec![(path.clone(), format!("`python` from {origin}"))];
    }
    let mut list = Vec::new();
    if let Some(active) = std::env::var_os("VIRTUAL_ENV") {
        let path = Path::new(&active).join("bin/python");
        list.push((path, "VIRTUAL_ENV".to_owned()));
    }
    for folder in [".venv", "venv"] {
        let path = config.root.value.join(folder).join("bin/python");
        if path.exists() {
            list.push((path, format!("the folder {folder}")));
        }
    }
    for name in ["python3", "python"] {
        list.push((PathBuf::from(name), "PATH".to_owned()));
    }
    list
}

fn probe(python: &Path, folder: &Path) -> Result<Python, String> {
    let output = Command::new(python)
        .args(["-c", PROBE])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines = text.lines();
    match (output.status.success(), lines.next()) {
        (true, Some(version)) => Ok(Python {
            version: version.to_owned(),
            pytest: lines.next().map(str::to_owned),
        }),
        _ => {
            let errors = String::from_utf8_lossy(&output.stderr);
            let last = errors.lines().last().unwrap_or("no message").to_owned();
            Err(format!("{}, {last}", output.status))
        }
    }
}

fn found(path: &Path, why: &str, python: &Python) -> Vec<Check> {
    let shown = format!("{} {} (from {why})", shown_path(path), python.version);
    let interpreter = if is_supported(&python.version) {
        Check::ok("python", shown)
    } else {
        Check::fail(
            "python",
            format!("{shown} is too old"),
            format!("use Python {}.{} or later", OLDEST.0, OLDEST.1),
        )
    };
    let pytest = match &python.pytest {
        Some(version) => Check::ok("pytest", version.clone()),
        None => Check::fail(
            "pytest",
            format!("{} cannot import it", shown_path(path)),
            format!(
                "`{} -m pip install pytest`, or set `python`",
                shown_path(path)
            ),
        ),
    };
    vec![interpreter, pytest]
}

fn is_supported(version: &str) -> bool {
    let mut parts = version.split('.').map(str::parse::<u32>);
    match (parts.next(), parts.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= OLDEST,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::CheckState;

    #[test]
    fn versions_compare_as_numbers() {
        let supported = ["3.8.0", "3.10.13", "4.0.0"].map(is_supported);
        let refused = ["2.7.18", "3.7.17", "what"].map(is_supported);
        assert_eq!((supported, refused), ([true; 3], [false; 3]));
    }

    #[test]
    fn the_interpreter_and_pytest_are_two_findings() {
        let states = |version: &str, pytest: Option<&str>| {
            let python = Python {
                version: version.to_owned(),
                pytest: pytest.map(str::to_owned),
            };
            found(Path::new("python3"), "PATH", &python)
                .into_iter()
                .map(|check| check.state)
                .collect::<Vec<_>>()
        };
        use CheckState::{Fail, Ok};
        assert_eq!(states("3.12.1", Some("8.3.4")), [Ok, Ok]);
        assert_eq!(states("3.12.1", None), [Ok, Fail]);
        assert_eq!(states("3.7.1", Some("7.0")), [Fail, Ok]);
    }

    #[test]
    fn a_program_that_is_no_interpreter_says_so() {
        let folder = Path::new("/");
        let missing = probe(Path::new("/no/such/python"), folder).unwrap_err();
        assert!(missing.contains("No such file"), "{missing}");
        let wrong = probe(Path::new("false"), folder).unwrap_err();
        assert!(wrong.contains("exit status: 1"), "{wrong}");
    }
}

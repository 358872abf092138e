//! What `doctor` looks at in the Python environment.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Context;

use super::detect::interpreters;
use crate::check::Check;
use crate::escape::shown_path;
use crate::observe::read_traces;
use crate::run::{Output, install_agent};
use crate::runners::{Launch, Settings, wrapped};

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

pub(super) fn checks(settings: &Settings<'_>) -> Vec<Check> {
    let name = "python";
    let candidates = interpreters(settings.root, settings.interpreter);
    let mut failures = Vec::new();
    for (path, why) in &candidates {
        match probe(path, settings.root) {
            Ok(python) => {
                let mut checks = found(path, why, &python);
                checks.push(collector(path, settings));
                return checks;
            }
            Err(failure) => failures.push(format!("{} ({why}): {failure}", shown_path(path))),
        }
    }
    vec![Check::fail(
        name,
        format!("no interpreter answers: {}", failures.join("; ")),
        "activate the project's environment, or set `python` in tamis.yml",
    )]
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

/// Starts the interpreter once under the collector, to see which one it gets.
fn collector(python: &Path, settings: &Settings<'_>) -> Check {
    let name = "collector";
    match started_collector(python, settings).as_deref() {
        Ok("eval-frame" | "monitoring") => Check::ok(name, "native: records at little cost"),
        Ok(kind) => Check::warn(
            name,
            format!("pure Python ({kind}): runs take up to twice the time"),
            "use CPython 3.9 to 3.13 on Linux for the native one",
        ),
        Err(error) => Check::fail(
            name,
            format!("it does not start: {error:#}"),
            "run again with TAMIS_DEBUG=1 and report what it says",
        ),
    }
}

fn started_collector(python: &Path, settings: &Settings<'_>) -> anyhow::Result<String> {
    let scratch = tempfile::tempdir()?;
    let agent = install_agent(scratch.path())?;
    let traces = scratch.path().join("traces");
    let command = [python.into(), "-c".into(), "pass".into()];
    let launch = Launch {
        command: &command,
        cwd: settings.root,
        project: settings.root,
        root: settings.root,
        run: "doctor",
        agent: &agent,
        traces: &traces,
        out: scratch.path(),
        exclude: None,
        left_out: None,
        serials: OsStr::new(""),
        settings: *settings,
    };
    wrapped::with_python(command.to_vec(), &launch).execute(&Output::Stderr)?;
    let (traces, _) = read_traces(&traces)?;
    let trace = traces.into_iter().next().context("it left no trace")?;
    Ok(trace.open.collector)
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
    use crate::check::CheckState;

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

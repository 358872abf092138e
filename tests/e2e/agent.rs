//! Runs the Python agent's own tests with pytest and the interpreters of this machine: its
//! traces, and its native helper.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::harness::{Python, Wanted};

/// The directory of a native helper, compiled once for all.
fn helper() -> &'static Path {
    static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();
    DIRECTORY.get_or_init(|| {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("helper");
        std::fs::create_dir_all(&directory).expect("the target directory can be written");
        let library = directory.join("_tamis_native.so");
        let made = Command::new("rustc")
            .args(["--crate-name", "_tamis_native", "--crate-type", "cdylib"])
            .args([
                "--edition",
                "2024",
                "-C",
                "opt-level=1",
                "-C",
                "panic=abort",
            ])
            .arg("-o")
            .arg(&library)
            .arg(agent().join("native/src/lib.rs"))
            .status();
        assert!(
            made.is_ok_and(|status| status.success()),
            "rustc compiles it"
        );
        directory
    })
}

fn agent() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("agents/python")
}

fn run(suite: &str, wanted: Wanted) {
    for python in Python::find(wanted).iter().filter_map(Python::with_plugins) {
        let scratch = tempfile::tempdir().expect("a temporary directory");
        let output = Command::new(python.executable())
            .args(["-m", "pytest", "-q", "-p", "no:cacheprovider"])
            .arg(format!(
                "--basetemp={}",
                scratch.path().join("base").display()
            ))
            .arg(suite)
            .current_dir(agent())
            .env("TAMIS_NATIVE_DIR", helper())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .output()
            .expect("the interpreter starts");
        assert!(
            output.status.success(),
            "{suite} with {python}:\n{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn traces_newest() {
    run("tests", Wanted::Newest);
}

#[test]
fn traces_python_3_11() {
    run("tests", Wanted::Minor(11));
}

#[test]
fn helper_newest() {
    run("native/tests", Wanted::Newest);
}

#[test]
fn helper_python_3_11() {
    run("native/tests", Wanted::Minor(11));
}

#[test]
#[ignore = "all other interpreters: `.ci/all` has them"]
fn helper_others() {
    // 3.8 has no hook for it.
    for minor in (9..=15).filter(|minor| *minor != 11) {
        run("native/tests", Wanted::Minor(minor));
    }
}

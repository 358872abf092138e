//! Runs the Python agent's own tests with pytest and the interpreters of this machine: its
//! traces, and its native helper.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::harness::{Python, Wanted};

/// A directory with the native helper that tamis embeds, and nothing else.
fn helper() -> &'static Path {
    static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();
    DIRECTORY.get_or_init(|| {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let installed = tamis::exposed::run::install_agent(&target.join("cache/tamis"));
        let installed = installed.expect("the target directory can be written");
        let directory = target.join("helper");
        fs_err::create_dir_all(&directory).expect("the target directory can be written");
        let library = "_tamis_native.so";
        fs_err::copy(
            installed.join("boot").join(library),
            directory.join(library),
        )
        .expect("tamis embeds it");
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

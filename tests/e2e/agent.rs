//! Runs the Python agent's own tests with pytest and the interpreters of this machine: its
//! traces, and its native helper.

use std::collections::BTreeSet;
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

/// A copy of the agent with its tests. The agent is compiled there, and not anew in each of
/// the many processes of its tests, which write no compiled files.
fn agent() -> &'static Path {
    static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();
    DIRECTORY.get_or_init(|| {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("agents/python");
        let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("agents/python");
        let _ = fs_err::remove_dir_all(&copy);
        fs_err::create_dir_all(copy.parent().unwrap()).expect("the target can be written");
        let copied = Command::new("cp")
            .arg("-a")
            .args([&sources, &copy])
            .status();
        assert!(copied.expect("there is cp").success(), "{}", copy.display());
        copy
    })
}

/// Runs `suites`, files and folders of tests.
fn run(suites: &[&str], wanted: Wanted) {
    for python in Python::find(wanted).iter().filter_map(Python::with_plugins) {
        let compiled = Command::new(python.executable())
            .args(["-m", "compileall", "-q", "boot"])
            .current_dir(agent())
            .status();
        assert!(compiled.expect("the interpreter starts").success());
        let scratch = tempfile::tempdir().expect("a temporary directory");
        let output = Command::new(python.executable())
            .args(["-m", "pytest", "-q", "-p", "no:cacheprovider"])
            .arg(format!(
                "--basetemp={}",
                scratch.path().join("base").display()
            ))
            .args(suites)
            .current_dir(agent())
            .env("TAMIS_NATIVE_DIR", helper())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .output()
            .expect("the interpreter starts");
        assert!(
            output.status.success(),
            "{suites:?} with {python}:\n{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

/// The tests whose outcome depends on the collector, which 3.11 does not share with newer
/// interpreters.
const OF_COLLECTOR: [&str; 3] = [
    "tests/test_processes.py",
    "tests/test_state.py",
    "tests/test_units.py",
];

const OTHERS: [&str; 10] = [
    "tests/test_bytecode.py",
    "tests/test_keys.py",
    "tests/test_left.py",
    "tests/test_met.py",
    "tests/test_pytest.py",
    "tests/test_restoring.py",
    "tests/test_selection.py",
    "tests/test_spelled.py",
    "tests/test_values.py",
    "tests/test_workers.py",
];

#[test]
fn traces_newest() {
    run(&["tests"], Wanted::Newest);
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn traces_python_3_11() {
    run(&OF_COLLECTOR, Wanted::Minor(11));
}

#[test]
#[ignore = "the second interpreter: `.ci/all` has it"]
fn other_traces_python_3_11() {
    run(&OTHERS, Wanted::Minor(11));
}

#[test]
fn no_tests_of_the_agent_are_forgotten() {
    let files = fs_err::read_dir(agent().join("tests")).expect("the agent has tests");
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let found: BTreeSet<String> = names
        .filter(|name| name.starts_with("test_"))
        .map(|name| format!("tests/{name}"))
        .collect();
    let known = OF_COLLECTOR.iter().chain(&OTHERS);
    assert_eq!(found, known.map(ToString::to_string).collect());
}

#[test]
fn helper_newest() {
    run(&["native/tests"], Wanted::Newest);
}

#[test]
#[ignore = "the second interpreter: `.ci/all` has it"]
fn helper_python_3_11() {
    run(&["native/tests"], Wanted::Minor(11));
}

#[test]
#[ignore = "all other interpreters: `.ci/all` has them"]
fn helper_others() {
    // 3.8 has no hook for it.
    for minor in (9..=15).filter(|minor| *minor != 11) {
        run(&["native/tests"], Wanted::Minor(minor));
    }
}

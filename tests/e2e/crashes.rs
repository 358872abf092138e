//! Runs in which the interpreter dies: tests that were running or had not run yet run again.
//! Nothing is lost, and nothing of the crash counts as proof.

use std::collections::BTreeSet;

use crate::harness::*;

const FILES: &str = r#"
-- test_crash.py --
import os
import signal
import sys
import time


def test_before():
    pass


def test_crash():
    how = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "how.txt")).read()
    if how == "exit":
        os._exit(3)
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "abort":
        os.abort()
    if how == "sleep":
        time.sleep(60)
    if how == "systemexit":
        sys.exit(4)


def test_after():
    pass


def test_last():
    pass
"#;

/// Crashes in the given way, repairs the cause, and checks which tests run.
fn crash(python: &Python, how: &str, ini: &str) {
    let mut project = Project::new(python, FILES);
    project.write("pytest.ini", ini);
    project.write("how.txt", "well");
    project.commit("well");
    let all = ids(&["test_before", "test_crash", "test_after", "test_last"]);
    assert_eq!(keys(&project.run().outcomes), all);

    // An edit that affects all tests, and makes one crash.
    project.write("how.txt", how);
    project.write("conftest.py", "X = 1\n");
    let crashed = project.tamis(&["run"]);
    assert_ne!(crashed.code(), 0, "{how}: {}", crashed.stderr);

    let select = project.select();
    for id in ids(&["test_crash", "test_after", "test_last"]) {
        assert!(
            !select.excluded.contains_key(&id),
            "{how}: {id} must run: {select:?}"
        );
    }

    project.write("how.txt", "well");
    let run = project.run();
    assert_eq!(run.code, 0, "{}", run.stderr);
    let ran = keys(&run.outcomes);
    let must = ids(&["test_crash", "test_after", "test_last"]);
    assert!(must.is_subset(&ran), "{how}: {ran:?}");
    // test_before ended before the crash and was recorded.
    assert_eq!(ran, must, "{how}");
    assert_eq!(
        run.outcomes.values().collect::<BTreeSet<_>>(),
        BTreeSet::from([&"passed".to_owned()])
    );
    let again = project.run();
    assert!(again.outcomes.is_empty(), "{:?}", again.outcomes);
}

fn ids(names: &[&str]) -> BTreeSet<String> {
    names
        .iter()
        .map(|name| format!("test_crash.py::{name}"))
        .collect()
}

fn keys(outcomes: &Outcomes) -> BTreeSet<String> {
    outcomes.keys().cloned().collect()
}

#[test]
fn os_exit() {
    on_all_interpreters(Wanted::Newest, |python| crash(python, "exit", "[pytest]\n"));
}

#[test]
fn killed() {
    on_all_interpreters(Wanted::Newest, |python| crash(python, "kill", "[pytest]\n"));
}

#[test]
fn aborted() {
    on_all_interpreters(Wanted::Newest, |python| {
        crash(python, "abort", "[pytest]\n")
    });
}

#[test]
fn killed_on_3_11() {
    on_all_interpreters(Wanted::Minor(11), |python| {
        crash(python, "kill", "[pytest]\n")
    });
}

#[test]
fn time_out() {
    let ini = "[pytest]\nfaulthandler_timeout = 1\nfaulthandler_exit_on_timeout = true\n";
    on_all_interpreters(Wanted::Newest, |python| {
        // The option exists from pytest 9 on. Without it nothing ends the test.
        let probe = "import pytest, sys; sys.exit(pytest.version_tuple < (9,))";
        let version = project_probe(python, probe);
        if version {
            crash(python, "sleep", ini);
        }
    });
}

fn project_probe(python: &Python, program: &str) -> bool {
    let project = Project::bare_world(python);
    let done = project.command(python.executable(), &["-c", program], &project.root());
    done.status.success()
}

/// With `-x`, tests after the failure have not run: they run next time.
#[test]
fn stopped_early() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(
            python,
            r#"
-- test_stop.py --
import pathlib


def test_a():
    pass


def test_b():
    assert pathlib.Path(__file__).with_name("good.txt").exists()


def test_c():
    pass
"#,
        );
        project.set_env("PYTEST_ADDOPTS", Some("-x"));
        let run = project.run();
        assert_eq!(run.code, 1);
        assert_eq!(run.outcomes.len(), 2);
        project.write("good.txt", "");
        let run = project.run();
        let ran: Vec<&str> = run.outcomes.keys().map(String::as_str).collect();
        assert_eq!(
            ran,
            ["test_stop.py::test_b", "test_stop.py::test_c"],
            "{}",
            run.stderr
        );
    });
}

/// A file that cannot be collected is an error in every run until it is repaired. Then its
/// tests run.
#[test]
fn collection_error() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(
            python,
            r#"
-- lib.py --
VALUE = 1
-- test_lib.py --
import lib


def test_value():
    assert lib.VALUE == 1
-- test_other.py --
def test_other():
    pass
"#,
        );
        assert_eq!(project.run().code, 0);
        project.write("lib.py", "raise ValueError\n");
        let first = project.tamis(&["run"]);
        assert_ne!(first.code(), 0, "{}", first.stderr);
        let second = project.tamis(&["run"]);
        assert_ne!(second.code(), 0, "still broken: {}", second.stderr);
        // Equal, and another value.
        project.write("lib.py", "VALUE = 1.0\n");
        let run = project.run();
        assert_eq!(run.code, 0, "{}", run.stderr);
        let ran: Vec<&str> = run.outcomes.keys().map(String::as_str).collect();
        assert_eq!(ran, ["test_lib.py::test_value"], "{}", run.stderr);
    });
}

/// A run that failed although every test passed counts as a failure: its tests run again, with
/// everything that failed.
#[test]
fn a_run_that_fails_as_a_whole_runs_again() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.write("pytest.ini", "[pytest]\n");
        project.write("how.txt", "well");
        project.write(
            "conftest.py",
            "import os\n\n\ndef pytest_sessionfinish(session):\n    if os.path.exists('leak'):\n        session.exitstatus = 9\n",
        );
        project.write("leak", "");
        project.commit("leaks");
        let all = ids(&["test_before", "test_crash", "test_after", "test_last"]);
        for _ in 0..2 {
            let run = project.run();
            assert_eq!((run.code, keys(&run.outcomes)), (9, all.clone()));
        }
        let told = project.tamis(&["why", "test_crash.py::test_last"]).stdout;
        assert!(
            told.contains("ended with 9 though no test failed"),
            "{told}"
        );
        project.delete("leak");
        let run = project.run();
        assert_eq!((run.code, keys(&run.outcomes)), (0, all));
        assert!(project.run().outcomes.is_empty());
    });
}

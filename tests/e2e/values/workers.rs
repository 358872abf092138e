//! Workers of pytest-xdist: each takes values, and leaves out at its turn what they confirm.

use crate::harness::*;

const WORKERS: [&str; 7] = ["--", "python", "-m", "pytest", "-n", "2", "-q"];
const ONE_WORKER: [&str; 7] = ["--", "python", "-m", "pytest", "-n", "1", "-q"];

const FILES: &str = r#"
-- lib.py --
import os


def build(n):
    return [n, 2 * n]


TABLE = build(1)
PLACE = "at " + os.environ.get("PYTEST_XDIST_WORKER", "none")


def apart():
    return 5
-- test_lib.py --
import lib


def test_table():
    assert lib.TABLE[1] == 2


def test_place():
    assert lib.PLACE.startswith("at ")


def test_apart():
    assert lib.apart() == 5


def test_again():
    assert lib.apart() + 1 == 6
"#;

/// A project of which the first revision is recorded by workers.
fn recorded(python: &Python, files: &str, arguments: &[&str]) -> Project {
    let mut project = Project::new(python, files);
    let plain = project.plain();
    assert_eq!(project.run_with(arguments).outcomes, plain);
    project
}

/// Commits, runs, and checks that exactly these tests of a file ran, and end as all tests do.
fn step(project: &mut Project, arguments: &[&str], change: Change, file: &str, ran: &[&str]) {
    change.apply(project);
    project.commit("step");
    let run = project.run_with(arguments);
    let plain = project.plain();
    let wanted = ran.iter().map(|name| {
        let id = format!("{file}::{name}");
        let outcome = plain[&id].clone();
        (id, outcome)
    });
    assert_eq!(run.outcomes, wanted.collect(), "{change:?}\n{}", run.stderr);
    for (test, outcome) in plain {
        let is_known = run.outcomes.contains_key(&test);
        assert!(is_known || outcome == "passed", "{test} was missed");
    }
}

/// What differs between workers has no value, and all else is compared by each of them.
#[test]
fn values_of_workers() {
    with_plugins(Wanted::Newest, |python| {
        let mut project = recorded(python, FILES, &WORKERS);
        let file = "test_lib.py";
        let same = replace("lib.py", "[n, 2 * n]", "[n, n + n]");
        step(&mut project, &WORKERS, same, file, &["test_place"]);
        let more = append("lib.py", "\n\ndef more():\n    pass\n\n\nMORE = more()\n");
        step(&mut project, &WORKERS, more, file, &["test_place"]);
        let other = replace("lib.py", "[n, n + n]", "[n, 3 * n]");
        step(
            &mut project,
            &WORKERS,
            other,
            file,
            &["test_place", "test_table"],
        );
        let own = replace("lib.py", "return 5", "return 6 - 1");
        step(
            &mut project,
            &WORKERS,
            own,
            file,
            &["test_again", "test_apart", "test_table"],
        );
    });
}

/// A test with which a fixture ends runs: whether that works is an outcome of its own. Where
/// nothing ends but modules, pytest refuses to begin the next test before they have.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn fixtures_end_with_a_test() {
    let files = r#"
-- lib.py --
def build(n):
    return [n, 2 * n]


TABLE = build(1)
-- conftest.py --
import pytest


@pytest.fixture(scope="module")
def opened(request):
    held = []
    yield held
    assert not held
-- test_a.py --
import lib


def test_1(opened):
    assert lib.TABLE


def test_2(opened):
    assert True


def test_3(opened):
    assert True
-- test_b.py --
def test_1():
    assert True


def test_2():
    assert True
-- test_c.py --
import lib


def test_1():
    assert lib.TABLE == [1, 2]
"#;
    with_plugins(Wanted::Newest, |python| {
        let mut project = recorded(python, files, &ONE_WORKER);
        replace("lib.py", "[n, 2 * n]", "[n, 3 * n]").apply(&mut project);
        project.commit("step");
        let run = project.run_with(&ONE_WORKER);
        let ran: Vec<&str> = run.outcomes.keys().map(String::as_str).collect();
        assert!(!ran.contains(&"test_a.py::test_2"), "{}", run.stderr);
        assert!(!ran.contains(&"test_b.py::test_2"), "{}", run.stderr);
        assert_eq!(run.outcomes["test_a.py::test_3"], "passed");
        assert_eq!(run.outcomes["test_c.py::test_1"], "failed");
        // The tear-down fails with the last test, which values alone would excuse.
        replace("test_a.py", "assert lib.TABLE", "opened.append(lib.TABLE)").apply(&mut project);
        replace("lib.py", "[n, 3 * n]", "[n, n + 2 * n]").apply(&mut project);
        project.commit("left");
        let run = project.run_with(&ONE_WORKER);
        assert_ne!(
            run.outcomes["test_a.py::test_3"], "passed",
            "{}",
            run.stderr
        );
    });
}

/// What only the process does that spreads the tests, at import and in hooks.
#[test]
fn only_in_the_controller() {
    let files = r#"
-- lib.py --
def build(n):
    return n


def apart():
    return 5
-- conftest.py --
import json
import os
import pathlib

FILE = pathlib.Path(__file__).parent / "limit.tmp"

if "PYTEST_XDIST_WORKER" not in os.environ:
    import lib

    LIMIT = lib.build(1)

    def pytest_configure_node(node):
        node.workerinput["limit"] = LIMIT

    def pytest_sessionstart(session):
        FILE.write_text(json.dumps(LIMIT))
-- test_lib.py --
import conftest
import lib


def test_input(request):
    assert getattr(request.config, "workerinput", {"limit": 1})["limit"] == 1


def test_file():
    assert conftest.FILE.read_text() == "1"


def test_apart():
    assert lib.apart() == 5
"#;
    with_plugins(Wanted::Newest, |python| {
        let mut project = Project::new(python, files);
        project.write(
            ".gitignore",
            "*.tmp\n__pycache__/\n.pytest_cache/\n.tamis/\n",
        );
        project.commit("ignore");
        project.run_with(&WORKERS);
        replace("lib.py", "return n", "return n + 1").apply(&mut project);
        project.commit("more");
        let run = project.run_with(&WORKERS);
        for test in ["test_input", "test_file"] {
            let ended = run.outcomes.get(&format!("test_lib.py::{test}"));
            assert_eq!(ended.map(String::as_str), Some("failed"), "{}", run.stderr);
        }
    });
}

/// What a hook of the project hands to the workers is state of the process.
#[test]
fn handed_to_workers() {
    let files = r#"
-- lib.py --
def size():
    return 1


def apart():
    return 5
-- conftest.py --
def pytest_configure_node(node):
    import lib

    node.workerinput["size"] = lib.size()
-- test_lib.py --
import lib


def test_size(request):
    assert request.config.workerinput["size"] == 1 if hasattr(request.config, "workerinput") else True


def test_apart():
    assert lib.apart() == 5
"#;
    with_plugins(Wanted::Newest, |python| {
        let mut project = recorded(python, files, &WORKERS);
        replace("lib.py", "return 1", "return 2").apply(&mut project);
        project.commit("two");
        let run = project.run_with(&WORKERS);
        let ended = run.outcomes.get("test_lib.py::test_size");
        assert_eq!(ended.map(String::as_str), Some("failed"), "{}", run.stderr);
    });
}

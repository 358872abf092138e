//! Tools that run together with tamis: pytest-xdist and pytest-cov.

use crate::harness::*;

const FILES: &str = r#"
-- lib.py --
import functools


def sign(x):
    if x > 0:
        return 1
    elif x < 0:
        return -1
    return 0


def loop(n):
    total = 0
    for i in range(n):
        if i % 2:
            continue
        total += sign(i)
    return total


@functools.lru_cache(maxsize=None)
def slow():
    return compute()


def compute():
    return 1


def gen():
    yield 1
    yield 2
-- conftest.py --
import pytest

import lib


@pytest.fixture
def base():
    return lib.loop(4)
-- test_a.py --
import threading

import lib


def test_sign():
    assert lib.sign(3) == 1


def test_loop():
    assert lib.loop(4) == 1


def test_base(base):
    assert base == 1


def test_slow():
    assert lib.slow() == 1


def test_gen():
    assert list(lib.gen()) == [1, 2]


def test_thread():
    thread = threading.Thread(target=lib.sign, args=(-1,))
    thread.start()
    thread.join()


def test_none():
    pass
-- test_b.py --
import lib


def test_sign():
    assert lib.sign(-3) == -1


def test_base(base):
    assert base == 1


def test_slow():
    assert lib.slow() == 1


def test_none():
    pass
"#;

/// A recording in one process and one by two workers select the same tests.
fn same_selection(python: &Python) {
    let edits = [
        replace("lib.py", "return -1", "return -1 * 1"),
        replace("lib.py", "total = 0", "total = 0 * 1"),
        replace("lib.py", "return compute()", "return 1 * compute()"),
        replace("lib.py", "yield 2", "yield 1 + 1"),
        replace("conftest.py", "lib.loop(4)", "lib.loop(3 + 1)"),
        append("test_b.py", "\nX = 1\n"),
        append("lib.py", "# end\n"),
    ];
    let mut selections = Vec::new();
    for options in [None, Some("-n 2")] {
        let mut project = Project::new(python, FILES);
        project.set_env("PYTEST_ADDOPTS", options);
        let run = project.run();
        assert_eq!(run.outcomes.len(), 11, "{}", run.stderr);
        assert_eq!(run.outcomes, project.plain());
        let base = project.snapshot();
        let mut selected = Vec::new();
        for edit in &edits {
            project.restore(&base);
            edit.apply(&mut project);
            let run = project.run();
            let ran: Vec<String> = run.outcomes.keys().cloned().collect();
            selected.push(ran);
        }
        selections.push(selected);
    }
    assert_eq!(selections[0], selections[1], "one process, two workers");
    assert!(
        selections[0][0].len() > 1 && selections[0][6].is_empty(),
        "{selections:?}"
    );
}

#[test]
fn xdist_newest() {
    with_plugins(Wanted::Newest, same_selection);
}

#[test]
#[ignore = "the second interpreter: `.ci/all` has it"]
fn xdist_python_3_11() {
    with_plugins(Wanted::Minor(11), same_selection);
}

fn runs_nothing(project: &mut Project) {
    let run = project.run();
    assert!(
        run.outcomes.is_empty(),
        "{:?}\n{}",
        run.selection,
        run.stderr
    );
}

/// Records of one are valid for the other.
#[test]
fn xdist_and_back() {
    with_plugins(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        assert_eq!(project.run().outcomes.len(), 11);
        project.set_env("PYTEST_ADDOPTS", Some("-n 2"));
        runs_nothing(&mut project);
    });
}

/// The report of pytest-cov with branches, with and without tamis.
fn same_coverage(python: &Python) {
    let project = Project::new(python, FILES);
    let options = "--cov=. --cov-branch --cov-report=json:cov.json";
    let report = |command: &str, arguments: &[&str]| {
        let mut project = Project::new(python, FILES);
        project.set_env("PYTEST_ADDOPTS", Some(options));
        let root = project.root();
        let done = project.command(command, arguments, &root);
        assert_eq!(done.code(), 0, "{command}: {}{}", done.stdout, done.stderr);
        let json: serde_json::Value = serde_json::from_str(&project.read("cov.json")).unwrap();
        (json["files"].clone(), json["totals"].clone())
    };
    let executable = project.python.executable();
    let plain = report(executable.to_str().unwrap(), &["-m", "pytest"]);
    let under_tamis = report(env!("CARGO_BIN_EXE_tamis"), &["run"]);
    let missing = &plain.0["lib.py"]["missing_branches"];
    assert!(missing.is_array(), "{plain:?}");
    assert_eq!(plain, under_tamis);
}

#[test]
fn coverage_newest() {
    with_plugins(Wanted::Newest, same_coverage);
}

#[test]
fn coverage_python_3_11() {
    with_plugins(Wanted::Minor(11), same_coverage);
}

/// Reports of pytest-cov read sources, and coverage has a state of its own in each process:
/// neither is a dependency.
fn coverage_is_no_dependency(python: &Python) {
    let mut project = Project::new(python, FILES);
    project.set_env("PYTEST_ADDOPTS", Some("--cov=. --cov-branch"));
    let lib = project.read("lib.py");
    project.write("lib.py", &format!("{lib}\n\nGIRTH = 1\n"));
    project.run();
    project.write("lib.py", &format!("{lib}\n\nGIRTH = len(\"a\")\n"));
    runs_nothing(&mut project);
}

#[test]
fn coverage_is_no_dependency_newest() {
    with_plugins(Wanted::Newest, coverage_is_no_dependency);
}

#[test]
fn coverage_is_no_dependency_python_3_11() {
    with_plugins(Wanted::Minor(11), coverage_is_no_dependency);
}

/// Watched caches still look the same to programs.
const CACHES: &str = r#"
-- test_caches.py --
import copy
import functools
import inspect
import pickle


@functools.lru_cache(maxsize=None)
def f(x=1):
    return x


class C:
    @functools.lru_cache(maxsize=2)
    def m(self, a):
        return self, a


def test_type():
    assert not inspect.isfunction(f)
    assert isinstance(f, functools._lru_cache_wrapper)
    assert type(f).__name__ in repr(f) and "lru_cache" in repr(f)


def test_attributes():
    assert "__wrapped__" in vars(f)
    assert not any("tamis" in name for name in vars(f))
    f.extra = 3
    assert f.extra == 3 and f.__wrapped__(4) == 4


def test_calls():
    assert f(x=3) == 3 and f() == 1 and f() == 1
    assert f.cache_info()[:2] == (1, 2)
    f.cache_clear()
    c = C()
    assert c.m(2) == (c, 2) and c.m(a=3) == (c, 3)


def test_copies():
    assert pickle.loads(pickle.dumps(f)) is f
    assert copy.deepcopy(f) is f
"#;

fn caches_look_the_same(python: &Python) {
    let mut project = Project::new(python, CACHES);
    let run = project.run();
    assert_eq!((run.outcomes.len(), run.code), (4, 0), "{}", run.stderr);
}

#[test]
fn caches_newest() {
    on_all_interpreters(Wanted::Newest, caches_look_the_same);
}

#[test]
fn caches_python_3_11() {
    on_all_interpreters(Wanted::Minor(11), caches_look_the_same);
}

#[test]
#[ignore = "all other interpreters: `.ci/all` has them"]
fn caches_others() {
    on_all_interpreters(Wanted::Others, caches_look_the_same);
}

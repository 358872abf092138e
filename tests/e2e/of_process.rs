//! What is another object in each process, and what frameworks do while tests are collected: who
//! does not use it need not run for it.

use crate::harness::*;
use crate::ties::step;

const READERS: &str = r#"
-- test_x.py --
import pytest
import util
@pytest.mark.parametrize("n", range(40))
def test_x(n):
    util.K()
-- test_m.py --
import app
def test_amount():
    assert app.AMOUNT > 0
-- util.py --
def other():
    return 2
class K:
    pass
"#;

/// Handlers of `logging` and consoles keep the stream that pytest has in the place of `sys.stderr`
/// while it collects tests.
#[test]
fn streams_that_pytest_captures_have_a_value() {
    const FILES: &str = r#"
-- app.py --
import logging.config, sys
import util
AMOUNT = util.other()
OUT = sys.stdout
HANDLER = logging.StreamHandler()
logging.config.dictConfig({
    "version": 1,
    "handlers": {"console": {"class": "logging.StreamHandler"}},
    "root": {"handlers": ["console"]},
})
LOG = logging.getLogger("app")
-- test_a.py --
import sys
import pytest
import app
def test_out():
    app.OUT.isatty()
def test_handler():
    assert app.HANDLER.stream is not app.OUT
def test_log(caplog):
    app.LOG.warning("a")
    assert caplog.messages == ["a"]
@pytest.mark.parametrize("stream", [sys.stdin, sys.stdout, sys.stderr])
def test_stream(stream):
    assert stream
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        for option in ["--capture=fd", "--capture=sys", "-s"] {
            let mut project = Project::new(python, &[FILES, READERS].concat());
            project.write("pytest.ini", &format!("[pytest]\naddopts = {option}\n"));
            project.commit("one");
            project.run();
            let run = step(&mut project, &[("util.py", "return 2", "return 1 + 2")]);
            let ran: Vec<&str> = run.outcomes.keys().map(String::as_str).collect();
            assert_eq!(ran, ["test_m.py::test_amount"], "{option}: {}", run.stderr);
        }
    });
}

/// A database in memory lasts no longer than its connection.
#[test]
fn a_database_in_memory_is_no_file() {
    const FILES: &str = r#"
-- app.py --
import sqlite3
import util
AMOUNT = util.other()
DATABASE = sqlite3.connect(":memory:")
-- test_a.py --
import app
def test_a():
    assert app.DATABASE.execute("select 1").fetchone() == (1,)
def test_b():
    assert app.sqlite3
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, &[FILES, READERS].concat());
        project.commit("one");
        project.run();
        let run = step(&mut project, &[("util.py", "return 2", "return 1 + 2")]);
        let ran: Vec<&str> = run.outcomes.keys().map(String::as_str).collect();
        let expected = ["test_a.py::test_a", "test_m.py::test_amount"];
        assert_eq!(ran, expected, "{}", run.stderr);
    });
}

/// hypothesis reads the sources of all modules while tests are collected, and whenever a test that
/// asks it for examples has imported more.
#[test]
fn only_tests_that_ask_hypothesis_need_the_sources_that_it_reads() {
    const PROVIDERS: &str = r#"
import sys
_constants, _sys_modules_len = set(), None
def _get_local_constants():
    global _sys_modules_len
    if len(sys.modules) != _sys_modules_len:
        for module in list(sys.modules.values()):
            path = getattr(module, "__file__", None) or ""
            if path.startswith(ROOT) and "site-packages" not in path:
                with open(path) as file:
                    _constants.update(file.read().split())
        _sys_modules_len = len(sys.modules)
    return _constants
"#;
    const PLUGIN: &str = r#"
def pytest_collection_modifyitems(items):
    import hypothesis.internal.conjecture.providers as providers
    providers._get_local_constants()
"#;
    const FILES: &str = r#"
-- pytest.ini --
[pytest]
addopts = -p asks_hypothesis
-- app.py --
import util
AMOUNT = util.other()
-- test_a.py --
import hypothesis.internal.conjecture.providers as providers
def test_constants():
    assert "2" in providers._get_local_constants()
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, &[FILES, READERS].concat());
        project.make_own_venv();
        let root = project.root();
        let providers = PROVIDERS.replace("ROOT", &format!("{:?}", root.to_str().unwrap()));
        let folder = "hypothesis/internal/conjecture";
        project.install(
            "hypothesis",
            "1.0",
            &[
                ("hypothesis/__init__.py".into(), String::new()),
                ("hypothesis/internal/__init__.py".into(), String::new()),
                (format!("{folder}/__init__.py"), String::new()),
                (format!("{folder}/providers.py"), providers),
                ("asks_hypothesis.py".into(), PLUGIN.into()),
            ],
        );
        project.commit("one");
        project.run();
        let run = step(&mut project, &[("util.py", "return 2", "return 3")]);
        let ran: Vec<&str> = run.outcomes.keys().map(String::as_str).collect();
        let expected = ["test_a.py::test_constants", "test_m.py::test_amount"];
        assert_eq!(ran, expected, "{}", run.stderr);
        assert!(project.is_as_plain(), "{}", run.stderr);
    });
}

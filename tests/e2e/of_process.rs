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

/// Who looks for the value of an object in C reads what others did to it while they ran, though no
/// dictionary or list shows it.
#[test]
fn what_changes_in_place_is_left_to_others() {
    const FILES: &str = r#"
-- app.py --
import array, io, logging.handlers, queue, random
import util
logging.getLogger("app").addHandler(logging.handlers.QueueHandler(queue.SimpleQueue()))
ARRAY = array.array("i", [1, 2])
BUFFER = io.StringIO()
QUEUE = queue.SimpleQueue()
RANDOM = random.Random(3)
-- test_a.py --
import app, util
def test_array():
    app.ARRAY[0] = util.other()
def test_buffer():
    app.BUFFER.write("x" * util.other())
def test_queue():
    for n in range(util.other() - 2):
        app.QUEUE.put(n)
def test_random():
    for _ in range(util.other()):
        app.RANDOM.random()
-- test_b.py --
import app
def test_array():
    assert app.ARRAY[0] == 2
def test_buffer():
    assert app.BUFFER.getvalue() == "xx"
def test_queue():
    assert app.QUEUE.empty()
def test_random():
    assert app.RANDOM.random() == 0.36995516654807925
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, &[FILES, READERS].concat());
        project.write("test_m.py", "");
        project.commit("one");
        project.run();
        let run = step(&mut project, &[("util.py", "return 2", "return 3")]);
        assert!(project.is_as_plain(), "{}", run.stderr);
        let changed = |test: &&String| test.starts_with("test_b.py");
        assert_eq!(run.outcomes.keys().filter(changed).count(), 4);
        assert!(!run.outcomes.contains_key("test_x.py::test_x[0]"));
    });
}

/// What is done to pytest's handlers and streams while the project is imported is state of the process.
#[test]
fn what_imports_do_to_handlers_and_streams_of_pytest_counts() {
    const FILES: &str = r#"
-- mask.py --
import logging
class Mask(logging.Filter):
    def __init__(self, word):
        self.word = word
    def filter(self, record):
        record.msg = str(record.msg).replace(self.word, "***")
        return True
-- app.py --
import util
util.set_up()
-- util.py --
import logging, sys
import mask
def other():
    return 2
class K:
    pass
def set_up():
    for handler in logging.getLogger().handlers:
        handler.addFilter(mask.Mask("secret"))
    sys.stdout.reconfigure(errors="strict")
-- test_a.py --
import logging, sys
import app
def test_log(caplog):
    logging.warning("secret")
    assert "secret" not in caplog.text
def test_stream():
    assert sys.stdout.errors == "strict"
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        for (from, to) in [
            ("\"secret\"", "\"password\""),
            ("\"strict\"", "\"replace\""),
        ] {
            let mut project = Project::new(python, FILES);
            project.commit("one");
            project.run();
            let run = step(&mut project, &[("util.py", from, to)]);
            assert!(project.is_as_plain(), "{to}: {}", run.stderr);
        }
    });
}

//! Tests that wait for their turn, as earlier tests may have left something for them: they run
//! only if that is different.

use std::collections::BTreeSet;

use crate::harness::*;

const LIB: &str = r#"
-- lib.py --
import os
CACHE = {}
START = {"a": 0}
OTHER = []
MISSING = object()
class Box:
    held = None
def make(key):
    return key * 2
def fill(key):
    CACHE[key] = make(key)
def begin():
    START["a"] = 1
def add():
    CACHE["sum"] = START["a"] + make(1)
def mark():
    CACHE["mark"] = MISSING
def box():
    Box.held = make(5)
def export():
    os.environ["MADE"] = str(make(3))
def use():
    OTHER.append(1)
def read(key):
    return CACHE.get(key)
-- test_a.py --
import lib
def test_begin():
    lib.begin()
def test_first():
    lib.fill(1)
def test_second():
    lib.fill(2)
def test_sum():
    lib.add()
def test_mark():
    lib.mark()
def test_box():
    lib.box()
def test_export():
    lib.export()
def test_use():
    lib.use()
-- test_b.py --
import os
import pytest
import lib
@pytest.mark.parametrize("n", range(3))
def test_read(n):
    assert lib.read(1) == 2
@pytest.mark.parametrize("n", range(3))
def test_sum(n):
    assert lib.read("sum") == 3
@pytest.mark.parametrize("n", range(3))
def test_mark(n):
    assert lib.read("mark") is lib.MISSING
@pytest.mark.parametrize("n", range(3))
def test_box(n):
    assert lib.Box.held == 10
@pytest.mark.parametrize("n", range(3))
def test_export(n):
    assert os.environ["MADE"] == "6"
def test_alone():
    assert True
"#;

/// A recorded project.
fn recorded(python: &Python) -> Project {
    let mut project = Project::new(python, LIB);
    project.commit("one");
    let run = project.run();
    assert_eq!(run.outcomes.len(), 24, "{}", run.stderr);
    project
}

/// Replaces a text in a file, commits that and runs what has to.
pub fn step(project: &mut Project, edits: &[(&str, &str, &str)]) -> Run {
    for (file, from, to) in edits {
        let text = project.read(file);
        assert!(text.contains(from), "{file} lacks {from}");
        project.write(file, &text.replace(from, to));
    }
    project.commit("next");
    project.run()
}

/// The functions in `test_b.py` that ran, and those of them that failed.
pub fn readers(run: &Run) -> (BTreeSet<&str>, BTreeSet<&str>) {
    let (mut ran, mut failed) = (BTreeSet::new(), BTreeSet::new());
    for (test, outcome) in &run.outcomes {
        if let Some(name) = test.strip_prefix("test_b.py::") {
            let name = name.split('[').next().unwrap_or_default();
            ran.insert(name);
            if outcome != "passed" {
                failed.insert(name);
            }
        }
    }
    (ran, failed)
}

const MAKE: &str = "return key * 2";

#[test]
fn what_others_make_in_another_turn_is_the_business_of_those_who_need_it() {
    on_all_interpreters(Wanted::Newest, |python| {
        let text = r#"
-- lib.py --
CACHE = {}
def make(key):
    return key * 2
def fill(key):
    CACHE[key] = make(key)
-- test_a.py --
import lib
class TestA:
    @classmethod
    def setup_class(cls):
        cls.value = lib.make(1)
    def test_first(self):
        assert self.value == 2
def test_fill():
    lib.fill(2)
-- test_b.py --
import pytest
import lib
@pytest.fixture(scope="module")
def kept():
    return lib.CACHE[2]
@pytest.mark.parametrize("n", range(8))
def test_kept(n, kept):
    assert kept == 4
"#;
        let mut project = Project::new(python, text);
        project.commit("one");
        project.run();
        // A new test sets up the class.
        let first = "    def test_first(self):\n";
        let two = format!("    def test_new(self):\n        assert self.value == 2\n{first}");
        let edits = [
            ("test_a.py", first, two.as_str()),
            ("lib.py", MAKE, "return key + key"),
        ];
        let run = step(&mut project, &edits);
        let ran: Vec<&String> = run.outcomes.keys().collect();
        let wanted = [
            "test_a.py::TestA::test_first",
            "test_a.py::TestA::test_new",
            "test_a.py::test_fill",
        ];
        assert_eq!(ran, wanted, "{}", run.stderr);
    });
}

#[test]
fn who_reads_what_is_the_same_is_left_out() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python);
        let texts = [
            MAKE,
            "return key + key",
            "return 2 * key",
            "return key + 1 * key",
        ];
        for two in texts.windows(2) {
            let run = step(&mut project, &[("lib.py", two[0], two[1])]);
            let same = two[1];
            let (ran, _) = readers(&run);
            assert!(ran.is_empty(), "{same}: {ran:?}\n{}", run.stderr);
            assert_eq!(run.outcomes.len(), 6, "{}", run.stderr);
            assert_eq!(run.code, 0);
        }
        // The rows still know what the results depend on.
        let run = step(&mut project, &[("lib.py", texts[3], "return key * 3")]);
        let (_, failed) = readers(&run);
        assert!(
            failed.is_superset(&["test_read", "test_sum", "test_box"].into()),
            "{failed:?}\n{}",
            run.stderr
        );
    });
}

/// What is edited, and which tests then fail in a full run.
const BREAK: [(&str, &str, &str, &[&str]); 9] = [
    (
        "lib.py",
        MAKE,
        "return key * 3",
        &["test_read", "test_sum", "test_box", "test_export"],
    ),
    // Without the test that sets `a` the sum would be the recorded one.
    (
        "lib.py",
        MAKE,
        "return key * 3 if key == 1 else key * 2",
        &["test_read", "test_sum"],
    ),
    (
        "lib.py",
        "CACHE[\"mark\"] = MISSING",
        "CACHE[\"mark\"] = object()",
        &["test_mark"],
    ),
    (
        "lib.py",
        "Box.held = make(5)",
        "Box.held = None",
        &["test_box"],
    ),
    (
        "lib.py",
        "= str(make(3))",
        "= str(make(4))",
        &["test_export"],
    ),
    ("test_a.py", "lib.begin()", "pass", &["test_sum"]),
    (
        "test_a.py",
        "def test_box():\n    lib.box()\n",
        "",
        &["test_box"],
    ),
    ("test_a.py", "lib.fill(1)", "lib.fill(3)", &["test_read"]),
    (
        "test_a.py",
        "    lib.fill(2)",
        "    lib.fill(2)\n    lib.CACHE.clear()",
        &["test_read"],
    ),
];

#[test]
fn who_reads_something_else_runs() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python);
        let snapshot = project.snapshot();
        for (file, from, to, expected) in BREAK.iter().step_by(one_in(2)) {
            let run = step(&mut project, &[(file, from, to)]);
            let (ran, failed) = readers(&run);
            let expected: BTreeSet<&str> = expected.iter().copied().collect();
            assert_eq!(failed, expected, "{to}\n{}", run.stderr);
            assert!(!ran.contains("test_alone"), "{to}\n{}", run.stderr);
            project.restore(&snapshot);
        }
    });
}

/// A new test that changes what others read counts as well.
#[test]
fn a_new_test_leaves_something() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python);
        project.write(
            "test_ab.py",
            "import lib\ndef test_new():\n    lib.CACHE[1] = 3\n",
        );
        let run = step(&mut project, &[("lib.py", MAKE, "return key + key")]);
        let (_, failed) = readers(&run);
        assert_eq!(failed, ["test_read"].into(), "{}", run.stderr);
    });
}

/// In another order another state is met.
#[test]
fn in_another_order_everything_runs_that_waits() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python);
        let begin = "def test_begin():\n    lib.begin()\n";
        let sum = "def test_sum():\n    lib.add()\n";
        let edits = [
            ("test_a.py", begin, ""),
            ("test_a.py", sum, &*format!("{sum}{begin}")),
            ("lib.py", MAKE, "return key + key"),
        ];
        let run = step(&mut project, &edits);
        let (ran, failed) = readers(&run);
        assert_eq!(failed, ["test_sum"].into(), "{ran:?}\n{}", run.stderr);
    });
}

/// A run of part of the tests leaves another state, and does not pass for one of all.
#[test]
fn a_run_of_some_in_between() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python);
        // Only this one runs, with the first that changes what it reads, and so it leaves less than
        // after the others.
        let edit = ("test_a.py", "    lib.use()", "    lib.use()\n    x = 1");
        let run = step(&mut project, &[edit]);
        assert!(
            run.outcomes.contains_key("test_a.py::test_use"),
            "{}",
            run.stderr
        );
        assert_eq!(run.outcomes.len(), 2, "{}", run.stderr);
        let run = step(&mut project, &[("lib.py", MAKE, "return key + key")]);
        assert!(readers(&run).1.is_empty(), "{}", run.stderr);
        let run = step(
            &mut project,
            &[("lib.py", "return key + key", "return key * 3")],
        );
        let (_, failed) = readers(&run);
        assert!(
            failed.contains("test_read") && failed.contains("test_sum"),
            "{failed:?}\n{}",
            run.stderr
        );
    });
}

/// What fixtures of a file set up and tear down is left by the tests in whose turn that happens.
#[test]
fn fixtures_leave_something() {
    const FILES: &str = r#"
-- lib.py --
STATE = {}
def made():
    return 1
def use():
    return 0
-- test_a.py --
import pytest
import lib
@pytest.fixture(scope="module")
def part():
    lib.STATE["part"] = lib.made()
    yield
    lib.STATE["part"] = lib.made() + 1
def test_one(part):
    assert lib.STATE["part"] == 1
@pytest.mark.parametrize("n", range(4))
def test_two(part, n):
    assert lib.STATE["part"] == 1
def test_three(part):
    lib.use()
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(6))
def test_read(n):
    assert lib.STATE["part"] == 2
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.commit("one");
        assert_eq!(project.run().outcomes.len(), 12);
        let snapshot = project.snapshot();
        for (to, fails) in [("return 2 - 1", false), ("return 3", true)] {
            let run = step(&mut project, &[("lib.py", "return 1", to)]);
            let (ran, failed) = readers(&run);
            assert_eq!(!failed.is_empty(), fails, "{ran:?}\n{}", run.stderr);
            project.restore(&snapshot);
        }
        // The last test of the file is another one now.
        let edit = ("test_a.py", "def test_three(part):\n    lib.use()\n", "");
        let run = step(
            &mut project,
            &[edit, ("lib.py", "return 1", "return 2 - 1")],
        );
        assert!(readers(&run).1.is_empty(), "{}", run.stderr);
    });
}

/// Projects in which more than a cell tells what earlier tests did. `return 5` becomes
/// `return 6`, and all tests called `test_r` fail then.
const BEYOND: [(&str, &str); 6] = [
    (
        "a fixture has kept it",
        "
-- test_a.py --
import lib
def test_w():
    lib.X[0] = lib.made()
-- test_b.py --
import pytest
import lib
@pytest.fixture(scope='module')
def kept():
    return lib.X[0]
def test_first(kept):
    pass
def test_restore():
    lib.X[0] = 1
@pytest.mark.parametrize('n', range(8))
def test_r(n, kept):
    assert kept == 5
",
    ),
    (
        "a cache has kept it",
        "
-- test_a.py --
import lib
def test_w():
    lib.X[0] = lib.made()
def test_fill():
    lib.kept()
def test_restore():
    lib.X[0] = 1
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize('n', range(10))
def test_r(n):
    assert lib.kept() == 5
",
    ),
    (
        "a module has kept it",
        "
-- late.py --
import lib
VALUE = lib.X[0]
-- test_a.py --
import lib
def test_w():
    lib.X[0] = lib.made()
def test_import():
    import late
def test_restore():
    lib.X[0] = 1
-- test_b.py --
import pytest
@pytest.mark.parametrize('n', range(10))
def test_r(n):
    import late
    assert late.VALUE == 5
",
    ),
    (
        "the working directory is another one",
        "
-- test_a.py --
import os
import lib
def test_w():
    lib.X[0] = 2
    os.makedirs('d%d' % lib.made(), exist_ok=True)
    os.chdir('d%d' % lib.made())
-- test_b.py --
import os
import pytest
import lib
@pytest.mark.parametrize('n', range(8))
def test_r(n):
    assert lib.X[0] and os.path.basename(os.getcwd()) == 'd5'
",
    ),
    (
        "what is shared is no longer so",
        "
-- test_a.py --
import lib
def test_one():
    lib.A['k'] = [1]
def test_w():
    lib.B['k'] = lib.A['k'] if lib.made() == 5 else list(lib.A['k'])
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize('n', range(8))
def test_r(n):
    assert lib.B['k'] is lib.A['k']
",
    ),
    (
        "the module is another one",
        "
-- test_a.py --
import sys
import importlib
import lib
def test_w():
    del sys.modules['lib']
    importlib.import_module('lib').X[0] = lib.made()
-- test_b.py --
import pytest
@pytest.mark.parametrize('n', range(8))
def test_r(n):
    import lib
    assert lib.X[0] == 5
",
    ),
];

#[test]
fn more_than_cells_tell_what_tests_did() {
    const LIB: &str = "
-- lib.py --
import functools
X = [1]
A = {}
B = {}
def made():
    return 5
@functools.lru_cache(None)
def kept():
    return X[0]
";
    on_all_interpreters(Wanted::Newest, |python| {
        for (name, files) in BEYOND {
            let mut project = Project::new(python, &[LIB, files.trim_start()].concat());
            project.commit("one");
            let run = project.run();
            assert!(run.outcomes.values().all(|one| one == "passed"), "{name}");
            let run = step(&mut project, &[("lib.py", "return 5", "return 6")]);
            let (ran, failed) = readers(&run);
            assert_eq!(failed, ["test_r"].into(), "{name}: {ran:?}\n{}", run.stderr);
        }
    });
}

/// A fixture that a test set up which is left out now holds what it held.
#[test]
fn fixtures_are_set_up_at_their_time() {
    const FILES: &str = r#"
-- lib.py --
X = [1]
STATE = {}
def made():
    return 5
-- test_a.py --
import lib
def test_w():
    lib.STATE["v"] = lib.made()
-- test_b.py --
import pytest
import lib
@pytest.fixture(scope="module")
def kept():
    return lib.X[0]
def test_first(kept):
    pass
def test_mid():
    lib.X[0] = 9
@pytest.mark.parametrize("n", range(8))
def test_r(n, kept):
    assert kept == 1 and lib.STATE["v"] in (5, 6)
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.commit("one");
        project.run();
        let run = step(&mut project, &[("lib.py", "return 5", "return 6")]);
        assert!(readers(&run).1.is_empty(), "{}", run.stderr);
    });
}

const THREAD: &str = r#"
-- conftest.py --
import threading
import time
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
-- test_a.py --
def test_a():
    assert True
"#;

/// A run that took no values says why later ones cannot use them.
#[test]
fn a_run_without_values_says_why() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, THREAD);
        let run = project.run();
        let told = "for equal values: other threads are running";
        assert!(run.stderr.contains(told), "{}", run.stderr);
        let mut project = Project::new(python, LIB);
        let run = project.run();
        assert!(!run.stderr.contains("equal values"), "{}", run.stderr);
    });
}

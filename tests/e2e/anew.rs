//! A test starts to leave something behind: those that can meet it run, although nothing that
//! their own rows name is different.

use std::collections::BTreeSet;

use crate::harness::*;
use crate::ties::{readers, step};

/// No state, so that earlier tests tie nobody; tests that could read some.
const LIB: &str = r#"
-- lib.py --
import os
STATE = {}
LIMIT = 3
CHAIN = []
class Shape:
    sides = 4
def limit():
    return LIMIT
-- other.py --
BOUND = 3
-- conftest.py --
import pytest
@pytest.fixture(scope="session")
def box():
    return {"v": 1}
-- test_a.py --
import os
import lib
def test_early():
    assert True
def test_own(box):
    assert True
def test_late():
    assert lib.limit() == 3
-- test_b.py --
import os
import pytest
import lib
import other
@pytest.mark.parametrize("n", range(8))
def test_limit(n):
    assert lib.limit() == 3
@pytest.mark.parametrize("n", range(8))
def test_sides(n):
    assert lib.Shape.sides == 4
@pytest.mark.parametrize("n", range(8))
def test_env(n):
    assert "ADDED" not in os.environ
@pytest.mark.parametrize("n", range(8))
def test_box(n, box):
    assert box["v"] == 1
def test_links():
    lib.CHAIN.append(lib.limit())
def test_chain():
    assert lib.CHAIN == [3]
@pytest.mark.parametrize("n", range(8))
def test_other(n):
    assert other.BOUND == 3
"#;

fn recorded(python: &Python) -> Project {
    let mut project = Project::new(python, LIB);
    project.commit("one");
    let run = project.run();
    assert_eq!((run.code, run.outcomes.len()), (0, 45), "{}", run.stderr);
    project
}

const FIRST: &str = "def test_early():\n    assert True\n";

/// What each of these leaves, put into the first test, and who fails for that.
const LEFT: [(&str, &[&str], &[&str]); 5] = [
    (
        "lib.LIMIT = 4",
        &["test_limit", "test_links", "test_chain"],
        &["test_limit", "test_chain"],
    ),
    ("lib.Shape.sides = 5", &["test_sides"], &["test_sides"]),
    // Whoever runs may read it, and so may programs that tests start.
    (
        "os.environ['ADDED'] = '1'",
        &[
            "test_limit",
            "test_sides",
            "test_env",
            "test_box",
            "test_other",
        ],
        &["test_env"],
    ),
    // Nobody reads it.
    ("lib.STATE['v'] = 1", &[], &[]),
    ("pass", &[], &[]),
];

#[test]
fn an_edited_test_that_starts_to_leave_something() {
    on_all_interpreters(Wanted::Newest, |python| {
        for (left, ran, failed) in LEFT.iter().step_by(one_in(2)) {
            let mut project = recorded(python);
            let edit = format!("def test_early():\n    {left}\n    assert True\n");
            let run = step(&mut project, &[("test_a.py", FIRST, &edit)]);
            let seen = readers(&run);
            let ran: BTreeSet<&str> = ran.iter().copied().collect();
            assert!(ran.is_subset(&seen.0), "{left}: {seen:?} {}", run.stderr);
            assert_eq!(
                seen.1,
                failed.iter().copied().collect(),
                "{left}: {}",
                run.stderr
            );
            assert_eq!(run.code, i32::from(!failed.is_empty()), "{}", run.stderr);
            if !left.starts_with("os.") {
                assert!(!seen.0.contains("test_other"), "{left}: {}", run.stderr);
            }
            let plain = project.plain();
            for (test, end) in &plain {
                assert_eq!(
                    project.last.get(test),
                    Some(end),
                    "{left}: {test} {}",
                    run.stderr
                );
            }
            // It is known from now on.
            if failed.is_empty() {
                assert!(project.run().outcomes.is_empty());
                let again = format!("def test_early():\n    {left}\n    assert 1\n");
                let run = step(&mut project, &[("test_a.py", &edit, &again)]);
                assert_eq!(run.outcomes.len(), 1, "{left}: {}", run.stderr);
                assert!(!run.stderr.contains("did not before"), "{}", run.stderr);
            }
        }
    });
}

#[test]
fn a_new_test_that_leaves_something() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python);
        let new = "def test_new(monkeypatch):\n    lib.LIMIT = 5\n\ndef test_late():";
        let run = step(&mut project, &[("test_a.py", "def test_late():", new)]);
        let (_, failed) = readers(&run);
        assert_eq!(
            failed,
            ["test_limit", "test_chain"].into(),
            "{}",
            run.stderr
        );
        assert_eq!(
            run.outcomes["test_a.py::test_late"], "failed",
            "{}",
            run.stderr
        );
        assert_eq!(run.code, 1);
        assert!(!run.outcomes.contains_key("test_a.py::test_early"));
        // They fail for as long as it stands.
        let run = project.run();
        assert_eq!(readers(&run).1, failed, "{}", run.stderr);
        let run = step(&mut project, &[("test_a.py", "lib.LIMIT = 5", "pass")]);
        assert_eq!((run.code, readers(&run).1.len()), (0, 0), "{}", run.stderr);
        assert!(
            project
                .plain()
                .iter()
                .all(|(test, end)| project.last[test] == *end)
        );
    });
}

#[test]
fn a_test_that_starts_to_change_what_a_fixture_holds() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python);
        let own = "def test_own(box):\n    assert True";
        let edit = "def test_own(box):\n    box['v'] = 2";
        let run = step(&mut project, &[("test_a.py", own, edit)]);
        assert_eq!(readers(&run).1, ["test_box"].into(), "{}", run.stderr);
        assert_eq!(run.outcomes.len(), 1 + 8, "{}", run.stderr);
    });
}

/// What a test makes first in a part that another one makes first of all is nothing new.
#[test]
fn who_comes_first_in_a_part_leaves_nothing_anew() {
    const FILES: &str = r#"
-- lib.py --
import functools
LAZY = None
def lazy():
    global LAZY
    if LAZY is None:
        LAZY = [1, 2]
    return LAZY
@functools.lru_cache(None)
def kept(key):
    return [key]
-- conftest.py --
import pytest
@pytest.fixture(scope="session")
def box():
    return [1]
-- test_a.py --
import lib
def test_first(box):
    assert lib.lazy() == [1, 2] and lib.kept(1) == [1]
-- test_b.py --
import pytest
import lib
def test_edited(box):
    assert lib.lazy() == [1, 2] and lib.kept(1) == [1]
@pytest.mark.parametrize("n", range(8))
def test_read(n, box):
    assert lib.lazy() and lib.kept(1)
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.commit("one");
        project.run();
        let from = "test_edited(box):\n    assert lib.lazy() == [1, 2] and lib.kept(1) == [1]";
        let to = "test_edited(box):\n    assert lib.lazy() == [1, 2] and box";
        let run = step(&mut project, &[("test_b.py", from, to)]);
        let ran: Vec<&String> = run.outcomes.keys().collect();
        // It met what the first one makes.
        let wanted = ["test_a.py::test_first", "test_b.py::test_edited"];
        assert_eq!(ran, wanted, "{}", run.stderr);
    });
}

/// A program, and edits of it: file, text, other text.
struct Program {
    what: &'static str,
    files: &'static str,
    steps: &'static [(&'static str, &'static str, &'static str)],
}

const STATE: &str = r#"
-- lib.py --
LIMIT = 3
A = B = C = 0
def limit():
    return LIMIT
def work():
    return 1
"#;

/// The test that meets it, where a program has no other.
const VICTIM: &str = r#"
-- test_b.py --
import lib
def test_v():
    assert lib.limit() == 3
"#;

const PROGRAMS: [Program; 7] = [
    Program {
        what: "a function that a test calls, while values excuse all others",
        files: r#"
-- test_a.py --
import lib
def test_p():
    assert lib.work() == 1
"#,
        steps: &[(
            "lib.py",
            "def work():\n    return 1",
            "def work():\n    global LIMIT\n    LIMIT = 4\n    return 1",
        )],
    },
    Program {
        what: "another value each time, with a test that takes the first",
        files: r#"
-- test_a.py --
import lib
def test_p():
    assert True
-- test_b.py --
import lib
def test_v():
    assert lib.limit() in (3, 4)
"#,
        steps: &[
            ("test_a.py", "assert True", "lib.LIMIT = 4"),
            ("test_a.py", "lib.LIMIT = 4", "lib.LIMIT = 5"),
            ("test_a.py", "lib.LIMIT = 5", "lib.LIMIT = 3"),
        ],
    },
    Program {
        what: "the end of a fixture, in the turn of a test that does not need it",
        files: r#"
-- test_a.py --
import pytest
import lib
@pytest.fixture(scope="module")
def kept():
    yield 1
    lib.work()
def test_p(kept):
    assert kept == 1
def test_last():
    assert True
"#,
        steps: &[("test_a.py", "    lib.work()", "    lib.LIMIT = 4")],
    },
    Program {
        what: "what the next test leaves too, which reads it first",
        files: r#"
-- test_a.py --
import lib
def test_p():
    lib.B = 1
def test_m():
    lib.C = 1
    assert lib.A == 0
def test_q():
    lib.A = 1
"#,
        steps: &[("test_a.py", "    lib.B = 1", "    lib.B = 1\n    lib.A = 7")],
    },
    Program {
        what: "a test that leaves more after another one that meets something new",
        files: r#"
-- test_a.py --
import lib
def test_p():
    assert True
def test_m():
    if lib.limit() == 4:
        lib.A = 1
def test_q():
    assert True
-- test_b.py --
import lib
def test_v():
    assert lib.B == 0
"#,
        steps: &[
            (
                "test_a.py",
                "def test_q():\n    assert True",
                "def test_q():\n    lib.C = 1\n    lib.B = lib.A",
            ),
            (
                "test_a.py",
                "def test_p():\n    assert True",
                "def test_p():\n    lib.LIMIT = 4",
            ),
        ],
    },
    Program {
        what: "what a class sets and puts back before",
        files: r#"
-- test_a.py --
import unittest
import lib
class TestA(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        lib.LIMIT = 9
    @classmethod
    def tearDownClass(cls):
        lib.LIMIT = 3
    def test_a(self):
        assert lib.limit() == 9
def test_p():
    assert True
"#,
        steps: &[("test_a.py", "    assert True", "    lib.LIMIT = 4")],
    },
    Program {
        what: "both tests in one commit",
        files: r#"
-- test_a.py --
import lib
def test_p():
    assert True
-- test_b.py --
import lib
def test_v():
    assert lib.limit() == 3
def test_w():
    assert lib.limit() == 3
"#,
        steps: &[
            ("test_a.py", "    assert True", "    lib.LIMIT = 4"),
            (
                "test_b.py",
                "def test_w",
                "def test_x():\n    assert True\ndef test_w",
            ),
            (
                "test_b.py",
                "def test_v():\n",
                "def test_v():\n    assert 1\n",
            ),
            ("test_a.py", "lib.LIMIT = 4", "pass"),
        ],
    },
];

#[test]
fn every_step_ends_as_a_run_of_everything() {
    on_all_interpreters(Wanted::Newest, |python| {
        // `.ci/all` tries all.
        for program in PROGRAMS.iter().step_by(one_in(2)) {
            let what = program.what;
            let has_victim = program.files.contains("-- test_b.py --");
            let victim = if has_victim { "" } else { VICTIM };
            let files = format!("{STATE}{}{victim}", program.files);
            let mut project = Project::new(python, &files);
            project.run();
            for (at, edit) in program.steps.iter().enumerate() {
                let run = step(&mut project, &[*edit]);
                let plain = project.plain();
                let is_red = plain.values().any(|end| end != "passed");
                assert_eq!(run.code == 0, !is_red, "{what}, {at}: {}", run.stderr);
                for (test, end) in &plain {
                    let last = project.last.get(test);
                    assert_eq!(last, Some(end), "{what}, {at}: {test} {}", run.stderr);
                }
                // It stays as it is. Which test ends a fixture is not known by name.
                let times = match (is_red, what.starts_with("the end")) {
                    (true, false) => 3,
                    (false, _) => 1,
                    (true, true) => 0,
                };
                for _ in 0..times {
                    let run = project.run();
                    assert_eq!(run.code == 0, !is_red, "{what}, {at}: {}", run.stderr);
                }
            }
        }
    });
}

/// Two branches that were recorded by themselves, merged with nothing to run.
#[test]
fn a_merge_keeps_what_tests_leave() {
    on_all_interpreters(Wanted::Newest, |python| {
        let files = r#"
-- test_a.py --
import lib
def test_p():
    assert True
-- test_b.py --
import lib
def test_v():
    assert lib.limit() == 3
-- test_c.py --
def test_c():
    assert True
-- test_d.py --
def test_d():
    assert True
"#;
        let mut project = Project::new(python, &format!("{STATE}{files}"));
        project.run();
        project.git(&["branch", "one"]);
        step(&mut project, &[("test_d.py", "assert True", "assert 1")]);
        project.git(&["checkout", "-q", "one"]);
        step(&mut project, &[("test_c.py", "assert True", "assert 1")]);
        project.git(&["checkout", "-q", "-"]);
        project.git(&["merge", "-q", "--no-edit", "one"]);
        let run = project.run();
        assert!(run.outcomes.is_empty(), "{}", run.stderr);
        let run = step(
            &mut project,
            &[("test_a.py", "assert True", "lib.LIMIT = 4")],
        );
        assert_eq!(readers(&run).1, ["test_v"].into(), "{}", run.stderr);
    });
}

/// What pytest and unittest note of a failure or of a class is nothing that a test leaves.
#[test]
fn what_runs_tests_leaves_nothing_anew() {
    on_all_interpreters(Wanted::Newest, |python| {
        let files = r#"
-- test_a.py --
import unittest
import lib
def test_p():
    assert True
class TestA(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = lib.LIMIT
    @classmethod
    def tearDownClass(cls):
        del cls.kept
    def test_1(self):
        assert lib.limit() == 3
    def test_2(self):
        assert lib.limit() == 3
    def test_3(self):
        assert lib.limit() == 3
-- test_b.py --
import lib
def test_v():
    assert lib.limit() == 3
"#;
        let mut project = Project::new(python, &format!("{STATE}{files}"));
        project.failures_stay = true;
        project.run();
        let second = "def test_2(self):\n        assert";
        let edit = "def test_2(self):\n        assert 1 and";
        for edit in [
            ("test_a.py", "assert True", "assert False"),
            ("test_a.py", second, edit),
        ] {
            let run = step(&mut project, &[edit]);
            assert!(!run.stderr.contains("did not before"), "{}", run.stderr);
        }
    });
}

/// Names that count how often something ran are others in a part.
#[test]
fn names_that_count_are_nothing_new() {
    on_all_interpreters(Wanted::Newest, |python| {
        let files = r#"
-- lib.py --
COUNT = [0]
def fresh(kind):
    COUNT[0] += 1
    globals()["made_%s_%d" % (kind, COUNT[0])] = 1
-- test_a.py --
import lib
def test_first():
    lib.fresh("a")
    lib.fresh("a")
def test_edited():
    lib.fresh("b")
-- test_b.py --
import lib
def test_look():
    assert isinstance(vars(lib), dict)
"#;
        let mut project = Project::new(python, files);
        project.run();
        let run = step(
            &mut project,
            &[("test_a.py", "fresh(\"b\")", "fresh(kind=\"b\")")],
        );
        assert!(run.outcomes.contains_key("test_a.py::test_edited"));
        assert!(!run.stderr.contains("did not before"), "{}", run.stderr);
        // Another kind is.
        let run = step(
            &mut project,
            &[("test_a.py", "fresh(kind=\"b\")", "fresh(kind=\"c\")")],
        );
        assert!(run.stderr.contains("did not before"), "{}", run.stderr);
    });
}

/// What an object computes for itself when it is used first is no other value.
#[test]
fn what_is_as_before_is_not_left() {
    on_all_interpreters(Wanted::Newest, |python| {
        let files = r#"
-- test_a.py --
import pathlib
HERE = pathlib.Path(__file__).parent / "data"
def test_first():
    assert str(HERE) and not HERE.is_file()
def test_edited():
    assert not HERE.is_dir()
def test_last():
    assert HERE.name == "data"
"#;
        let mut project = Project::new(python, files);
        project.run();
        let run = step(
            &mut project,
            &[("test_a.py", "HERE.is_dir()", "HERE.is_file()")],
        );
        assert_eq!(run.outcomes.len(), 1, "{}", run.stderr);
    });
}

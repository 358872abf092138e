//! Attributes that fixtures set in test classes: only who gets at such a class can read them.

use crate::harness::*;
use crate::ties::step;

cases!(of_a_name, got_at);

const OF_A_NAME: &str = r#"
-- lib.py --
def first():
    return 1


class Clock:
    def now_of(self):
        return 7
-- test_lib.py --
import time

import pytest

import lib


@pytest.fixture(scope="class")
def clock(request):
    request.cls.now_of = time.perf_counter()


@pytest.mark.usefixtures("clock")
class TestFirst:
    def test_first(self):
        assert self.now_of and lib.first() == 1


class TestSecond:
    def test_second(self):
        assert lib.Clock().now_of() == 7


def test_third():
    assert lib.Clock().now_of() == 7
"#;

fn of_a_name() -> Case {
    Case::new(OF_A_NAME)
        .by_value()
        .edit(
            "a test with another time in its class",
            [replace("lib.py", "return 1", "return 2")],
            ["! test_lib.py::TestFirst::test_first"],
        )
        .edit(
            "tests that ask something else for the same name",
            [replace("lib.py", "return 7", "return len('seven..')")],
            [
                "test_lib.py::TestSecond::test_second",
                "test_lib.py::test_third",
            ],
        )
}

const GOT_AT: &str = r#"
-- lib.py --
def depth():
    return 3


KEPT = []
-- test_lib.py --
import sys

import pytest

import lib


@pytest.fixture(scope="class")
def deep(request):
    request.cls.depth_of = lib.depth()


@pytest.mark.usefixtures("deep")
class TestFirst:
    depth_of = None

    def test_first(self):
        lib.KEPT.append(self)


class TestSecond(TestFirst):
    def test_second(self):
        assert self.depth_of == 3


class TestThird:
    def test_spelled(self):
        assert TestFirst.depth_of == 3


def test_nested():
    def inner():
        return TestFirst

    assert inner().depth_of == 3


def test_kept():
    assert lib.KEPT[0].depth_of == 3


Other = TestFirst


def test_another_name():
    assert Other.depth_of == 3


class Holder:
    kinds = [TestFirst]


class Helper(TestFirst):
    __test__ = False


def test_below():
    assert Helper().depth_of == 3


def test_held():
    assert Holder.kinds[0].depth_of == 3


def test_by_text():
    assert getattr(sys.modules[__name__], "Test" + "First").depth_of == 3


def test_by_globals():
    assert globals()["TestFirst"].depth_of == 3
-- test_other.py --
import test_lib


def test_other():
    assert test_lib.TestFirst.depth_of == 3


def test_by_vars():
    assert vars(test_lib)["Test" + "First"].depth_of == 3
"#;

/// By its name or another one, a subclass, an object of it, a container, or all of its module.
fn got_at() -> Case {
    Case::new(GOT_AT).by_value().edit(
        "what a fixture sets",
        [replace("lib.py", "return 3", "return 4")],
        [
            "test_lib.py::TestFirst::test_first",
            "test_lib.py::TestSecond::test_first",
            "! test_lib.py::TestSecond::test_second",
            "! test_lib.py::TestThird::test_spelled",
            "! test_lib.py::test_nested",
            "! test_lib.py::test_kept",
            "! test_lib.py::test_another_name",
            "! test_lib.py::test_below",
            "! test_lib.py::test_held",
            "! test_lib.py::test_by_text",
            "! test_lib.py::test_by_globals",
            "! test_other.py::test_other",
            "! test_other.py::test_by_vars",
        ],
    )
}

/// Whoever reads it runs after the test whose fixture sets it, and that is all that it needs.
#[test]
fn a_time_in_a_class_is_right_where_its_own_test_leaves_it() {
    const FILES: &str = r#"
-- lib.py --
def second():
    return 2
LEFT = []
-- test_lib.py --
import time
import pytest
import lib
@pytest.fixture(scope="class")
def clock(request):
    request.cls.now_of = time.perf_counter()
@pytest.mark.usefixtures("clock")
class TestFirst:
    def test_first(self):
        assert self.now_of
    def test_second(self):
        assert self.now_of and lib.second() == 2
@pytest.mark.parametrize("n", range(40))
def test_third(n):
    lib.LEFT.append(n)
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.commit("one");
        project.run();
        let run = step(
            &mut project,
            &[("lib.py", "return 2", "return len([0, 0])")],
        );
        let ran: Vec<&str> = run.outcomes.keys().map(String::as_str).collect();
        let expected =
            ["first", "second"].map(|test| format!("test_lib.py::TestFirst::test_{test}"));
        assert_eq!(ran, expected, "{}", run.stderr);
    });
}

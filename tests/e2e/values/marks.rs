//! The marks of tests, as what code finds that lists members.

use crate::harness::*;

cases!(marks_as_members);

/// How a test is marked is no value of its function: who lists members does not read it.
fn marks_as_members() -> Case {
    Case::new(
        r#"
-- lib.py --
def made():
    return [1, 2]


def limit():
    return 1


LIMIT = limit()
-- test_members.py --
import inspect
import time
import pytest
import lib


class TestMarked:
    # Another value in each run, as a time is.
    @pytest.mark.parametrize("x", [*lib.made(), time.time_ns()], ids=["one", "two", "other"])
    def test_marked(self, x):
        assert x >= 1

    def helper(self):
        return 1


class Shape:
    sides = 4


def test_names():
    assert "test_marked" in dict(inspect.getmembers(TestMarked))


def test_values():
    assert getattr(Shape(), "".join(["si", "des"])) == 4


def test_list():
    assert len(inspect.getmembers(TestMarked)) > 2


def test_marks():
    assert len(TestMarked.test_marked.pytestmark[0].args[1]) == 3
"#,
    )
    .by_value()
    .edit(
        "what is equal",
        [replace("lib.py", "return 1\n", "return 2 - 1\n")],
        between(
            [
                "test_members.py::TestMarked::test_marked[other]",
                "test_members.py::test_marks",
            ],
            // It spells the name of the test.
            ["test_members.py::test_names"],
        ),
    )
    .edit(
        "other parameters",
        [replace("lib.py", "return [1, 2]", "return [1, 2, 3][:2]")],
        between(
            [
                "test_members.py::TestMarked::test_marked[other]",
                "test_members.py::test_marks",
            ],
            // It spells the name of the test.
            ["test_members.py::test_names"],
        ),
    )
}

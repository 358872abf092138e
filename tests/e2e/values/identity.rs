//! Names that share one object, and functions and objects that look alike.

use crate::harness::*;

cases!(shared, alike);

fn shared() -> Case {
    Case::new(
        r#"
-- sentinel.py --
missing = object()
-- user.py --
from sentinel import missing


def get(values, key, default=missing):
    return values.get(key, default)


def plain():
    return 1
-- lists.py --
def pair():
    found = []
    return found, found


def texts():
    word = tuple([1, 2])
    return word, word


A, B = pair()
C, D = texts()
TABLE = {"a": A, "b": B}


class Box:
    items = A


def add(value):
    B.append(value)
    return Box.items


def only():
    return len(A)
-- test_user.py --
import sentinel
import user


def test_missing():
    assert user.get({}, 1) is sentinel.missing


def test_plain():
    assert user.plain() == 1
-- test_lists.py --
import lists


def test_is():
    assert lists.A is lists.B


def test_texts():
    assert lists.C is lists.D


def test_table():
    assert lists.TABLE["a"] is lists.TABLE["b"]


def test_only():
    assert lists.only() == 0
-- test_changed.py --
import lists


def test_add():
    try:
        assert lists.add(1) == [1]
    finally:
        lists.B.clear()
"#,
    )
    .by_value()
    .edit(
        "an object of its own in place of an import",
        [replace(
            "user.py",
            "from sentinel import missing",
            "missing = object()",
        )],
        ["! test_user.py::test_missing"],
    )
    .edit(
        "two lists in place of one",
        [replace(
            "lists.py",
            "    found = []\n    return found, found",
            "    return [], []",
        )],
        between(
            [
                "! test_lists.py::test_is",
                "! test_lists.py::test_table",
                "! test_changed.py::test_add",
            ],
            ["test_lists.py::test_only"],
        ),
    )
    .edit(
        "two tuples in place of one",
        [replace(
            "lists.py",
            "return word, word",
            "return word, tuple([1, 2])",
        )],
        ["! test_lists.py::test_texts"],
    )
    .edit(
        "the same sharing",
        [replace(
            "lists.py",
            "return found, found",
            "return (found,) * 2",
        )],
        NONE,
    )
}

/// Functions and classes with one name, and code that differs.
fn alike() -> Case {
    Case::new(
        r#"
-- lib.py --
def kind():
    return 1


def make(kind):
    if kind == 1:

        def inner():
            return 1

    else:

        def inner():
            return 2

    return inner


CHOICE = make(kind())
PICKED = (lambda: 1, lambda: 2)[kind() - 1]


class Holder:
    made_by_it = make(kind())
    value_of_it = property(PICKED)


if kind() == 1:

    def chosen():
        return 1

else:

    def chosen():
        return 2


def plain():
    return 1
-- test_lib.py --
import lib


def test_choice():
    assert lib.CHOICE() == 1


def test_picked():
    assert lib.PICKED() == 1


def test_chosen():
    assert lib.chosen() == 1


def test_method():
    assert lib.Holder.made_by_it() == 1


def test_plain():
    assert lib.plain() == 1
"#,
    )
    .by_value()
    .edit(
        "the other function of the same name",
        [replace(
            "lib.py",
            "def kind():\n    return 1",
            "def kind():\n    return 2",
        )],
        [
            "! test_lib.py::test_choice",
            "! test_lib.py::test_picked",
            "! test_lib.py::test_chosen",
            "! test_lib.py::test_method",
        ],
    )
    .edit(
        "the same function",
        [replace(
            "lib.py",
            "def kind():\n    return 1",
            "def kind():\n    return 2 - 1",
        )],
        NONE,
    )
}

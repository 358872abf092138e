//! Edits of docstrings: who reads them?

use crate::harness::*;

cases!(docstrings, docstrings_read_at_import, parameters_by_name);

const DOCSTRINGS: &str = r#"
-- lib.py --
import functools


class Deaf(type):
    def __new__(meta, name, bases, space):
        return super().__new__(meta, name, bases, dict(space, count=len(space)))


def same(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


class Box:
    """A box."""

    def fill(self, amount=1):
        """Fills it."""
        return amount


class Made(metaclass=Deaf):
    """Made."""

    def fill(self):
        """Fills what was made."""
        return 2


def area(width):
    """Of a square."""
    return width * width


@same
def length(width):
    """Of a line."""
    return width


def text_of(thing):
    return thing.__doc__
-- test_lib.py --
import inspect

import lib


def test_area():
    assert lib.area(3) == 9


def test_length():
    assert lib.length(3) == 3


def test_box():
    assert lib.Box().fill() == 1


def test_made():
    assert lib.Made().fill() == 2


def test_of_function():
    assert lib.text_of(lib.area) == "Of a square."


def test_of_copy():
    assert lib.length.__doc__ == "Of a line."


def test_of_class():
    assert inspect.getdoc(lib.Box()) == "A box."


def test_of_method():
    assert getattr(lib.Box().fill, "__doc__") == "Fills it."


def test_of_made():
    assert lib.Made.fill.__doc__ == "Fills what was made."


def test_vars():
    assert "A box." in [value for value in vars(lib.Box).values() if isinstance(value, str)]
"#;

/// Only tests whose code reads docstrings depend on them.
fn docstrings() -> Case {
    Case::new(DOCSTRINGS)
        .edit(
            "of a function",
            [replace("lib.py", "Of a square.", "Of any square.")],
            ["! test_lib.py::test_of_function"],
        )
        .edit(
            "of a function that is decorated",
            [replace("lib.py", "Of a line.", "Of any line.")],
            between(
                ["! test_lib.py::test_of_copy"],
                [
                    "test_lib.py::test_of_function",
                    "test_lib.py::test_of_class",
                    "test_lib.py::test_of_method",
                    "test_lib.py::test_of_made",
                ],
            ),
        )
        .edit(
            "of a class",
            [replace("lib.py", "A box.", "Any box.")],
            between(
                ["! test_lib.py::test_of_class", "! test_lib.py::test_vars"],
                ["test_lib.py::test_of_method"],
            ),
        )
        .edit(
            "of a method",
            [replace("lib.py", "Fills it.", "It fills.")],
            between(
                ["! test_lib.py::test_of_method"],
                ["test_lib.py::test_of_made", "test_lib.py::test_of_class"],
            ),
        )
        .edit(
            "of a method of a class with a metaclass",
            [replace("lib.py", "Fills what was made.", "It fills.")],
            between(
                ["! test_lib.py::test_of_made"],
                [
                    "test_lib.py::test_of_function",
                    "test_lib.py::test_of_copy",
                    "test_lib.py::test_of_class",
                    "test_lib.py::test_of_method",
                ],
            ),
        )
        .edit(
            "taken away",
            [replace("lib.py", "    \"\"\"Of a square.\"\"\"\n", "")],
            ["! test_lib.py::test_of_function"],
        )
}

/// Code that reads docstrings at import.
fn docstrings_read_at_import() -> Case {
    Case::new(
        r#"
-- told.py --
KNOWN = {}


def tell(function):
    KNOWN[function.__name__] = function.__doc__
    return function
-- lib.py --
import told


@told.tell
def area(width):
    """Of a square."""
    return width * width


def other():
    """Another."""
    return 1
-- test_lib.py --
import lib
import told


def test_told():
    assert told.KNOWN["area"] == "Of a square."


def test_area():
    assert lib.area(2) == 4


def test_other():
    assert lib.other() == 1
-- test_apart.py --
def test_apart():
    pass
"#,
    )
    .edit(
        "of what is decorated",
        [replace("lib.py", "Of a square.", "Of any square.")],
        [
            "! test_lib.py::test_told",
            "test_lib.py::test_area",
            "test_lib.py::test_other",
        ],
    )
}

/// `signature` when only the names of arguments are used.
fn parameters_by_name() -> Case {
    Case::new(
        r#"
-- lib.py --
from __future__ import annotations

import inspect


def area(width: int, height: int) -> int:
    return width * height


def names_of(function):
    return list(inspect.signature(function).parameters.keys())
-- test_lib.py --
import lib


def test_names():
    assert lib.names_of(lib.area) == ["width", "height"]


def test_other():
    pass
"#,
    )
    .edit(
        "an annotation",
        [replace("lib.py", "height: int", "height: float")],
        [],
    )
    .edit(
        "a name",
        [replace(
            "lib.py",
            "height: int) -> int:\n    return width * height",
            "depth: int) -> int:\n    return width * depth",
        )],
        ["! test_lib.py::test_names"],
    )
}

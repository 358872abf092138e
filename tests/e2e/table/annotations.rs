//! Edits of annotations that nobody evaluates: who reads them?

use crate::harness::*;

cases!(
    annotations_as_text,
    annotations_read_at_import,
    annotations_read_by_a_package,
    evaluated
);

const ANNOTATIONS_AS_TEXT: &str = r#"
-- base.py --
class Deaf(type):
    def __new__(meta, name, bases, space):
        return super().__new__(meta, name, bases, dict(space, count=len(space)))
-- lib.py --
from __future__ import annotations

from typing import Optional

import base


class Box:
    size: int
    name: Optional[str]
    kind = "box"

    def __init__(self, weight: int = 3):
        self.weight = weight

    def fill(self, amount: int = 1) -> int:
        return amount


class Kept(metaclass=base.Deaf):
    note: int

    def fill(self, times: int = 1) -> int:
        return times


def area(width: int, height: int = 2) -> int:
    total: int = width * height
    return total


def names_of(thing):
    return sorted(thing.__annotations__)
-- test_lib.py --
import inspect
import typing

import lib


def test_area():
    assert lib.area(3) == 6


def test_box():
    assert lib.Box().fill() == 1


def test_weight():
    assert lib.Box().weight == 3


def test_kept():
    assert lib.Kept().fill() == 1


def test_hints():
    assert typing.get_type_hints(lib.area)["width"] is int


def test_signature():
    assert str(inspect.signature(lib.area)) == "(width: 'int', height: 'int' = 2) -> 'int'"


def test_named():
    assert getattr(lib.area, "__annotations__")["width"] == "int"


def test_by_the_project():
    assert lib.names_of(lib.Box) == ["name", "size"]


def test_vars():
    assert vars(lib.Box)["__annotations__"]["size"] == "int"


def test_listed():
    found = [getattr(lib.Box, name) for name in dir(lib.Box) if "annot" in name]
    assert found[0]["size"] == "int"
"#;

/// Only tests whose code reads annotations depend on them.
fn annotations_as_text() -> Case {
    let case = Case::new(ANNOTATIONS_AS_TEXT)
        // For 3.8 the last pytest-asyncio asks any fixture for its signature.
        .since(9)
        .edit(
            "of an argument",
            [replace("lib.py", "width: int", "width: float")],
            [
                "! test_lib.py::test_hints",
                "! test_lib.py::test_signature",
                "! test_lib.py::test_named",
            ],
        )
        .edit(
            "of a result",
            [replace(
                "lib.py",
                "height: int = 2) -> int",
                "height: int = 2) -> float",
            )],
            [
                "test_lib.py::test_hints",
                "! test_lib.py::test_signature",
                "test_lib.py::test_named",
            ],
        )
        .edit(
            "of a member",
            [replace("lib.py", "size: int", "size: float")],
            [
                "test_lib.py::test_by_the_project",
                "! test_lib.py::test_vars",
                "! test_lib.py::test_listed",
            ],
        )
        .edit(
            "another member",
            [replace(
                "lib.py",
                "size: int\n",
                "size: int\n    more: int\n",
            )],
            [
                "! test_lib.py::test_by_the_project",
                "test_lib.py::test_vars",
                "test_lib.py::test_listed",
            ],
        );
    beside_members(case)
}

fn beside_members(case: Case) -> Case {
    case.edit(
        "of a method",
        [replace("lib.py", "amount: int", "amount: float")],
        between([], ["test_lib.py::test_vars", "test_lib.py::test_listed"]),
    )
    .edit(
        "of the constructor",
        [replace("lib.py", "weight: int", "weight: float")],
        between(
            [],
            [
                "test_lib.py::test_by_the_project",
                "test_lib.py::test_vars",
                "test_lib.py::test_listed",
            ],
        ),
    )
    .edit(
        "of a variable",
        [replace("lib.py", "total: int", "total: float")],
        [],
    )
    .edit(
        "of a method of a class with a metaclass that does not read them",
        [replace("lib.py", "times: int", "times: float")],
        between(
            [],
            [
                "test_lib.py::test_hints",
                "test_lib.py::test_signature",
                "test_lib.py::test_named",
                "test_lib.py::test_by_the_project",
                "test_lib.py::test_vars",
                "test_lib.py::test_listed",
            ],
        ),
    )
    .edit(
        "of a member of a class with a metaclass",
        [replace("lib.py", "note: int", "note: float")],
        [
            "test_lib.py::test_area",
            "test_lib.py::test_box",
            "test_lib.py::test_weight",
            "test_lib.py::test_kept",
            "test_lib.py::test_hints",
            "test_lib.py::test_signature",
            "test_lib.py::test_named",
            "test_lib.py::test_by_the_project",
            "test_lib.py::test_vars",
            "test_lib.py::test_listed",
        ],
    )
    .edit(
        "a default beside them",
        [replace("lib.py", "height: int = 2", "height: int = 3")],
        [
            "! test_lib.py::test_area",
            "test_lib.py::test_hints",
            "! test_lib.py::test_signature",
            "test_lib.py::test_named",
        ],
    )
}

/// A module that reads annotations at import affects all who import it.
fn annotations_read_at_import() -> Case {
    Case::new(
        r#"
-- base.py --
class Noting(type):
    def __new__(meta, name, bases, space):
        notes = str(space["fill"].__annotations__["amount"])
        return super().__new__(meta, name, bases, dict(space, told=notes))
-- lib.py --
from __future__ import annotations

import base


class Told(metaclass=base.Noting):
    def fill(self, amount: int = 1) -> int:
        return amount


VALUE = 1
-- test_lib.py --
import lib


def test_told():
    assert lib.Told.told == "int"


def test_value():
    assert lib.VALUE == 1
-- test_other.py --
def test_other():
    pass
"#,
    )
    .edit(
        "of an argument",
        [replace("lib.py", "amount: int", "amount: float")],
        ["! test_lib.py::test_told", "test_lib.py::test_value"],
    )
}

/// An installed package that reads and keeps the annotations of its arguments affects every
/// test that has their owner.
fn annotations_read_by_a_package() -> Case {
    Case::new(
        r#"
-- lib.py --
from __future__ import annotations


def area(width: int) -> int:
    return width


def other(width: int) -> int:
    return width
-- test_lib.py --
import reader

import lib


def test_first():
    assert reader.kind(lib.area) == "int"


def test_kept():
    assert reader.kind(lib.area) == "int"


def test_area():
    assert lib.area(1) == 1


def test_other():
    assert lib.other(1) == 1
"#,
    )
    .own_venv()
    .setup([install(
        "reader",
        "1.0.0",
        &[(
            "reader.py",
            "KNOWN = {}\ndef kind(f):\n    if f not in KNOWN:\n        KNOWN[f] = f.__annotations__['width']\n    return KNOWN[f]\n",
        )],
    )])
    .edit(
        "of an argument",
        [replace("lib.py", "area(width: int", "area(width: float")],
        [
            "! test_lib.py::test_first",
            "! test_lib.py::test_kept",
            "test_lib.py::test_area",
        ],
    )
}

/// Annotations that the interpreter evaluates.
fn evaluated() -> Case {
    Case::new(
        r#"
-- lib.py --
def area(width: int, height: int = 2) -> int:
    class Inner:
        note: int = 1

    return width * height


def other():
    return 1
-- test_lib.py --
import lib


def test_area():
    assert lib.area(3) == 6


def test_other():
    assert lib.other() == 1
"#,
    )
    .edit(
        "another one",
        [replace("lib.py", "width: int", "width: float")],
        ["test_lib.py::test_area"],
    )
    .edit(
        "one of a class in a function",
        [replace("lib.py", "note: int", "note: missing")],
        ["! test_lib.py::test_area"],
    )
    .edit(
        "from now on they are text",
        [replace(
            "lib.py",
            "def area",
            "from __future__ import annotations\n\n\ndef area",
        )],
        ["test_lib.py::test_area", "test_lib.py::test_other"],
    )
}

//! Members of classes, and whoever reads annotations: it may ask for what these are about, and tells if
//! it gets all members.

use crate::harness::*;

cases!(
    asked_by_annotations,
    fields_with_text,
    named_after_annotations,
    named_by_annotations,
    read_for_nothing
);

const READER: &str = r#"import inspect
import typing


def signature(function):
    return inspect.signature(function)


def defaults(function):
    kinds = [one for one in typing.get_type_hints(function).values() if "lib" in one.__module__]
    return [getattr(kind, name) for kind in kinds for name in kind.__annotations__]


def converted(kind):
    return [getattr(kind, "serialize_" + name, None) for name in kind.__annotations__]


def wanted(function, kind):
    return [name for name in function.__annotations__ if hasattr(kind, name)]


def everything(function):
    kinds = typing.get_type_hints(function).values()
    return [value for kind in kinds for name, value in inspect.getmembers(kind) if name == "other"]
"#;

const FILES: &str = r#"
-- lib.py --
class Box:
    size: int = 3
    other = 4


class Plain:
    hue_of = "plain"


def width(box: Box, depth_of: int = 1):
    return 2
-- test_lib.py --
import reader

import lib


def test_width():
    assert lib.width(1) == 2


def test_asks():
    assert "box" in str(reader.signature(lib.width)) and lib.Plain


def test_defaults():
    assert reader.defaults(lib.width) == [3]


def test_converted():
    assert reader.converted(lib.Box) == [None]


def test_wanted():
    assert reader.wanted(lib.width, lib.Plain) == []


def test_everything():
    assert reader.everything(lib.width) == [4]
"#;

fn asked_by_annotations() -> Case {
    Case::new(FILES)
        .by_value()
        .own_venv()
        .setup([install("reader", "1.0.0", &[("reader.py", READER)])])
        .edit(
            "what an annotation of a class is about",
            [replace("lib.py", "size: int = 3", "size: int = 5")],
            at_least(["! test_lib.py::test_defaults"]),
        )
        .edit(
            "another member of it",
            [replace("lib.py", "other = 4", "other = 6")],
            ["! test_lib.py::test_everything"],
        )
        .edit(
            "a member of a class that nobody lists",
            [replace(
                "lib.py",
                "hue_of = \"plain\"",
                "tint_of = \"plain\"",
            )],
            NONE,
        )
        .edit(
            "a new one",
            [append(
                "lib.py",
                "\n\nclass New(Plain):\n    def more_of(self):\n        return 1\n",
            )],
            NONE,
        )
}

/// By names that are made of annotated ones, and those of arguments.
fn named_after_annotations() -> Case {
    Case::new(FILES)
        .by_value()
        .own_venv()
        .setup([install("reader", "1.0.0", &[("reader.py", READER)])])
        .edit(
            "a member that is called after an annotated one",
            [replace(
                "lib.py",
                "    other = 4",
                "    other = 4\n    serialize_size = 1",
            )],
            at_least(["! test_lib.py::test_converted"]),
        )
        .edit(
            "one that is called like an argument",
            [replace(
                "lib.py",
                "    hue_of",
                "    depth_of = 1\n    hue_of",
            )],
            at_least(["! test_lib.py::test_wanted"]),
        )
}

/// A class by another name.
fn named_by_annotations() -> Case {
    Case::new(FILES)
        .by_value()
        .own_venv()
        .setup([install("reader", "1.0.0", &[("reader.py", READER)])])
        .edit(
            "another class for an annotation",
            [replace("lib.py", "box: Box", "box: Plain")],
            at_least([
                "! test_lib.py::test_defaults",
                "! test_lib.py::test_everything",
            ]),
        )
}

/// The fields of a dataclass have the text of its annotations: who evaluates that reads what it means.
fn fields_with_text() -> Case {
    Case::new(
        r#"
-- held.py --
from __future__ import annotations

import dataclasses


@dataclasses.dataclass
class Data:
    girth: Altitude


def weigh(weight: Altitude):
    return weight


def setting(value):
    return value


Altitude = setting(int)
-- test_held.py --
import dataclasses

import pytest

import held


def text():
    return dataclasses.fields(held.Data)[0].type


@pytest.fixture(scope="module")
def meant():
    return eval(text(), vars(held))


def test_plain():
    assert held.Data(1).girth == 1


def test_evaluated():
    assert eval(text(), vars(held)) == int


def test_looked_up():
    assert getattr(held, text()) == int


def test_by_fixture(meant):
    assert meant == int
"#,
    )
    .by_value()
    .edit(
        "what an annotation names",
        [replace("held.py", "setting(int)", "setting(str)")],
        [
            "! test_held.py::test_evaluated",
            "! test_held.py::test_looked_up",
            "! test_held.py::test_by_fixture",
        ],
    )
    .edit(
        "the annotation of a function",
        [replace("held.py", "weight: Altitude", "weight: int")],
        // Who evaluates, or looks up any name, could get at that function.
        between(
            NONE,
            [
                "test_held.py::test_evaluated",
                "test_held.py::test_looked_up",
                "test_held.py::test_by_fixture",
            ],
        ),
    )
}

const DOUBLES: &str = r#"from unittest import mock


def replaced(target, name, value):
    return mock.patch.object(target, name, value)


def about(kind):
    return sorted(vars(kind))
"#;

const REFLECTION: &str = r#"import inspect


def get_signature(function):
    return inspect.signature(function)
"#;

const READ_FOR_NOTHING: &str = r#"
-- lib.py --
class Box:
    size_of: int = 3


class Tool:
    box: "Box" = None

    def run(self, box: "Box" = None):
        return 1
-- test_lib.py --
import dataclasses
import typing

import doubles
from hypothesis.internal.reflection import get_signature

import lib


def test_size():
    assert lib.Box.size_of == 3


def test_replaced():
    with doubles.replaced(lib.Tool, "run", None):
        assert lib.Tool.run is None


def test_text_for_its_names():
    assert list(get_signature(lib.Tool.run).parameters) == ["self", "box"]


def test_no_text():
    class Local:
        a: int
        b: typing.Any

    assert "__module__" in doubles.about(Local)


def test_copied():
    @dataclasses.dataclass
    class Local:
        box: "lib.Box" = None

    assert "box=None" in repr(Local())
"#;

/// By `unittest.mock`, which looks for another member; by hypothesis, which wants names; what is no
/// text; and what a copy gets. So who else has annotated members does not depend on it.
fn read_for_nothing() -> Case {
    let reflection = [
        ("hypothesis/__init__.py", ""),
        ("hypothesis/internal/__init__.py", ""),
        ("hypothesis/internal/reflection.py", REFLECTION),
    ];
    Case::new(READ_FOR_NOTHING)
        .by_value()
        .own_venv()
        .setup([
            install("doubles", "1.0.0", &[("doubles.py", DOUBLES)]),
            install("hypothesis", "6.0.0", &reflection),
        ])
        .edit(
            "a member of a class with annotations",
            [replace("lib.py", "size_of: int = 3", "size_of: int = 5")],
            // Who makes a dataclass reads its annotations.
            ["! test_lib.py::test_size", "test_lib.py::test_copied"],
        )
}

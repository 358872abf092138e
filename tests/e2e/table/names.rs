//! Edits outside function bodies: who can reach the changed name?

use crate::harness::*;

cases!(plain_names, imports, typing, reflection);

const PLAIN_NAMES: &str = r#"
-- lib.py --
import os

__all__ = ["area", "limit"]

LIMIT = 10
TABLE = {"low": 1, "high": LIMIT}
KEY = lambda pair: pair[1]


def area(width, height=2):
    """Width times height."""
    return width * height


def limit():
    return LIMIT


def lookup(name, table=TABLE):
    return table[name]


def apply(f=limit):
    return f()


def sort(pairs):
    return sorted(pairs, key=KEY)


def unused():
    return len([])


def count():
    global TOTAL
    TOTAL = TOTAL + 1
    return TOTAL


TOTAL = 0
-- other.py --
from lib import LIMIT as BOUND
from lib import area


def twice(x):
    return 2 * area(x)


def bound():
    return BOUND
-- test_lib.py --
import lib
import other


def test_area():
    assert lib.area(3) == 6


def test_doc():
    assert lib.area.__doc__ == "Width times height."


def test_limit():
    assert lib.limit() == 10


def test_lookup():
    assert lib.lookup("low") == 1


def test_apply():
    assert lib.apply() == 10


def test_sort():
    assert lib.sort([(0, 2), (1, 1)]) == [(1, 1), (0, 2)]


def test_count():
    assert lib.count() == 1


def test_twice():
    assert other.twice(2) == 8


def test_bound():
    assert other.bound() == 10


def test_missing():
    try:
        lib.EXTRA
    except AttributeError:
        return
    assert False


def test_none():
    pass
"#;

/// Functions, constants, and what is built from them.
fn plain_names() -> Case {
    Case::new(PLAIN_NAMES)
        .edit(
            "add a function",
            [append("lib.py", "\n\ndef new():\n    pass\n")],
            NONE,
        )
        .edit(
            "remove a function",
            [replace("lib.py", "def unused():\n    return len([])\n", "")],
            NONE,
        )
        .edit(
            "rename a function",
            [replace("lib.py", "def sort(", "def order(")],
            ["! test_lib.py::test_sort"],
        )
        .edit(
            "default of a parameter",
            [replace("lib.py", "height=2", "height=3")],
            [
                "! test_lib.py::test_area",
                "test_lib.py::test_doc",
                "! test_lib.py::test_twice",
            ],
        )
        .edit(
            "docstring",
            [replace("lib.py", "Width times", "Height times")],
            ["! test_lib.py::test_doc"],
        )
        .edit(
            "constant that a table and a function use",
            [replace("lib.py", "LIMIT = 10", "LIMIT = 11")],
            [
                "! test_lib.py::test_limit",
                "test_lib.py::test_lookup",
                "! test_lib.py::test_apply",
                "! test_lib.py::test_bound",
            ],
        )
        .edit(
            "table that is a default",
            [replace("lib.py", "\"low\": 1", "\"low\": 2")],
            ["! test_lib.py::test_lookup"],
        )
        .edit(
            "another function as default",
            [replace("lib.py", "f=limit", "f=area")],
            ["! test_lib.py::test_apply"],
        )
        .edit(
            "lambda",
            [replace("lib.py", "pair[1]", "-pair[1]")],
            ["! test_lib.py::test_sort"],
        )
        .edit(
            "name that was missing",
            [append("lib.py", "\nEXTRA = 1\n")],
            ["! test_lib.py::test_missing"],
        )
        .edit(
            "state's first value, which a function declares global",
            [replace("lib.py", "\nTOTAL = 0", "\nTOTAL = 1")],
            all_but([], ["test_lib.py::test_count"]),
        )
        .edit(
            "list of exported names",
            [replace("lib.py", "[\"area\", \"limit\"]", "[\"area\"]")],
            NONE,
        )
        .edit(
            "import that nothing uses",
            [replace("lib.py", "import os", "import os\nimport re")],
            NONE,
        )
        .edit(
            "import removed",
            [replace("lib.py", "import os\n", "")],
            NONE,
        )
        .edit(
            "hide a builtin",
            [append("lib.py", "\n\ndef sorted(x, key):\n    return x\n")],
            all_but([], ["test_lib.py::test_sort"]),
        )
        .edit(
            "call at the top level",
            [append("lib.py", "\nunused()\n")],
            ALL,
        )
        .because("test_lib.py::test_none", "\"effects\"")
}

const IMPORTS: &str = r#"
-- pkg/__init__.py --
from .core import run as run
from .core import Thing as Thing


def __getattr__(name):
    if name == "old":
        return run
    raise AttributeError(name)
-- pkg/core.py --
from . import tools
from .types import Kind

try:
    from .fast import speed
except ImportError:
    speed = None


class Thing(Kind):
    pass


def run():
    return tools.step(1)


def how_fast():
    return speed


def later():
    from .late import value
    return value()
-- pkg/tools.py --
def step(x, by=1):
    return x + by


def other():
    return 0
-- pkg/types.py --
class Kind:
    level = 1
-- pkg/late.py --
NUMBER = 5


def value():
    return NUMBER


def idle(a=1):
    return a
-- test_pkg.py --
import pkg
import pkg.core


def test_run():
    assert pkg.run() == 2


def test_thing():
    assert pkg.Thing.level == 1


def test_speed():
    assert pkg.core.how_fast() is None


def test_late():
    assert pkg.core.later() == 5


def test_old():
    assert pkg.old() == 2


def test_none():
    pass
"#;

/// Names from import statements, and how they are passed on.
fn imports() -> Case {
    Case::new(IMPORTS)
    .edit(
        "default behind a module's name",
        [replace("pkg/tools.py", "by=1", "by=2")],
        ["! test_pkg.py::test_run", "! test_pkg.py::test_old"],
    )
    .edit(
        "function that nobody asks for",
        [replace("pkg/tools.py", "def other()", "def another()")],
        NONE,
    )
    .edit(
        "base behind two imports",
        [replace("pkg/types.py", "level = 1", "level = 2")],
        ["! test_pkg.py::test_thing"],
    )
    .edit(
        "constant of a module imported in a function",
        [replace("pkg/late.py", "NUMBER = 5", "NUMBER = 6")],
        ["! test_pkg.py::test_late"],
    )
    .edit(
        "beside it",
        [replace("pkg/late.py", "a=1", "a=2")],
        NONE,
    )
    .edit(
        "optional import appears",
        [write("pkg/fast.py", "speed = 1\n")],
        all_but([], ["test_pkg.py::test_speed"]),
    )
    .edit(
        "name that __getattr__ answers for is bound",
        [append("pkg/__init__.py", "\n\nold = int\n")],
        ["! test_pkg.py::test_old"],
    )
    .edit(
        "name passed on no more",
        [replace("pkg/__init__.py", "from .core import Thing as Thing\n", "")],
        all_but([], ["test_pkg.py::test_thing"]),
    )
    .edit(
        "name imported under another name",
        [replace("pkg/__init__.py", "import run as run", "import how_fast as run")],
        all_but([], ["test_pkg.py::test_run", "test_pkg.py::test_old"]),
    )
    .edit(
        "import for type checkers",
        [replace(
            "pkg/tools.py",
            "def step",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .core import Thing\n\n\ndef step",
        )],
        NONE,
    )
}

/// Names that are found without being written.
fn reflection() -> Case {
    Case::new(
        r#"
-- things.py --
VALUE = 1


def one():
    return 1


class Kept:
    level = 1
-- helper.py --
import importlib
import pickle
import sys

import things


def names():
    return sorted(n for n in vars(things) if n[0] != "_")


def by_name(module, name):
    return getattr(importlib.import_module(module), name)


def through_sys(name):
    return getattr(sys.modules["things"], name)


def again(data):
    return pickle.loads(data)


def direct():
    return things.one()
-- test_reflection.py --
from unittest import mock

import helper


def test_names():
    assert helper.names() == ["Kept", "VALUE", "one"]


def test_by_name():
    assert helper.by_name("thi" + "ngs", "VAL" + "UE") == 1


def test_sys():
    assert helper.through_sys("VAL" + "UE") == 1


def test_pickle():
    assert helper.again(b"cthings\nKept\n.").level == 1


def test_patch():
    with mock.patch("things.VALUE", 3):
        pass


def test_direct():
    assert helper.direct() == 1
"#,
    )
    .edit(
        "value",
        [replace("things.py", "VALUE = 1", "VALUE = 2")],
        [
            "test_reflection.py::test_names",
            "! test_reflection.py::test_by_name",
            "! test_reflection.py::test_sys",
            "test_reflection.py::test_pickle",
            "test_reflection.py::test_patch",
        ],
    )
    .edit(
        "class",
        [replace("things.py", "level = 1", "level = 2")],
        [
            "test_reflection.py::test_names",
            "test_reflection.py::test_by_name",
            "test_reflection.py::test_sys",
            "! test_reflection.py::test_pickle",
            "test_reflection.py::test_patch",
        ],
    )
    .edit(
        "new name",
        [append("things.py", "\nMORE = 1\n")],
        [
            "! test_reflection.py::test_names",
            "test_reflection.py::test_by_name",
            "test_reflection.py::test_sys",
            "test_reflection.py::test_pickle",
            "test_reflection.py::test_patch",
        ],
    )
}

/// Annotations, signatures, and their readers.
fn typing() -> Case {
    Case::new(
        r#"
-- typed.py --
from __future__ import annotations

import typing


class Unit:
    pass


Alias = Unit


def measure(x: Alias, y: int = 1) -> typing.Optional[Unit]:
    return None


def quiet(x: Missing):
    return x


class Box:
    size: int = 1

    def put(self, x: int) -> None:
        pass
-- test_typed.py --
import inspect
import typing

import typed


def test_hints():
    assert typing.get_type_hints(typed.measure)["x"] is typed.Unit


def test_signature():
    assert str(inspect.signature(typed.measure)) == "(x: 'Alias', y: 'int' = 1) -> 'typing.Optional[Unit]'"


def test_class_hints():
    assert typing.get_type_hints(typed.Box) == {"size": int}


def test_missing():
    try:
        typing.get_type_hints(typed.quiet)
    except NameError:
        return
    assert False


def test_none():
    assert typed.quiet(1) == 1
"#,
    )
    .edit(
        "what an annotation's name is bound to",
        [replace("typed.py", "Alias = Unit", "Alias = int")],
        ["! test_typed.py::test_hints", "test_typed.py::test_signature"],
    )
    .edit(
        "signature",
        [replace("typed.py", "y: int = 1", "y: int = 2")],
        ["test_typed.py::test_hints", "! test_typed.py::test_signature"],
    )
    .edit(
        "annotation of a member",
        [replace("typed.py", "size: int = 1", "size: str = 1")],
        ["! test_typed.py::test_class_hints"],
    )
    .edit(
        "name that an annotation misses",
        [append("typed.py", "\nMissing = int\n")],
        ["! test_typed.py::test_missing"],
    )
}

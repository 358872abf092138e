//! What runs during the import of a module, and which file an import finds.

use crate::harness::*;

cases!(shadowing, optional, packages, linked, closure);

const CLOSURE: &str = r#"
-- registry.py --
ENTRIES = {}


def register(f):
    ENTRIES[f.__name__] = wrap(f)
    return f


def wrap(f):
    return lambda: f() + 1


def call(name):
    return ENTRIES[name]()
-- plugins.py --
from registry import register


@register
def first():
    return 1


@register
def second():
    return 2
-- base.py --
class Base:
    subclasses = []

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        Base.subclasses.append(label(cls))


def label(cls):
    return cls.__name__


class Meta(type):
    def __new__(mcs, name, bases, space):
        return super().__new__(mcs, name, bases, dict(space, tag=tag()))


def tag():
    return 1
-- derived.py --
from base import Base, Meta


class Derived(Base):
    pass


class Tagged(metaclass=Meta):
    pass


def derived_body():
    return 1
-- deep.py --
import derived


def value():
    return derived.Tagged.tag
-- test_plugins.py --
import plugins
import registry


def test_first():
    assert registry.call("first") == 2


def test_second():
    assert registry.call("second") == 3


def test_nothing():
    assert plugins
-- test_derived.py --
import base
import derived


def test_subclasses():
    assert base.Base.subclasses == ["Derived"]


def test_body():
    assert derived.derived_body() == 1
-- test_deep.py --
import deep


def test_value():
    assert deep.value() == 1


def test_nothing():
    pass
-- test_none.py --
def test_none():
    pass
"#;

/// Function bodies that run during an import belong to all importers.
fn closure() -> Case {
    Case::new(CLOSURE)
        .edit(
            "decorator's body",
            [replace("registry.py", "= wrap(f)", "= lambda: 0")],
            [
                "! test_plugins.py::test_first",
                "! test_plugins.py::test_second",
                "test_plugins.py::test_nothing",
            ],
        )
        .edit(
            "called by a decorator",
            [replace("registry.py", "f() + 1", "f() + 2")],
            [
                "! test_plugins.py::test_first",
                "! test_plugins.py::test_second",
                "test_plugins.py::test_nothing",
            ],
        )
        .edit(
            "decorated function",
            [replace("plugins.py", "return 1", "return 5")],
            ["! test_plugins.py::test_first"],
        )
        .edit(
            "__init_subclass__",
            [replace("base.py", "append(label(cls))", "insert(0, 0)")],
            [
                "! test_derived.py::test_subclasses",
                "test_derived.py::test_body",
                "test_deep.py::test_value",
                "test_deep.py::test_nothing",
            ],
        )
        .edit(
            "called by __init_subclass__",
            [replace(
                "base.py",
                "return cls.__name__",
                "return cls.__name__.lower()",
            )],
            [
                "! test_derived.py::test_subclasses",
                "test_derived.py::test_body",
                "test_deep.py::test_value",
                "test_deep.py::test_nothing",
            ],
        )
        .edit(
            "called by a metaclass",
            [replace("base.py", "return 1", "return 2")],
            [
                "test_derived.py::test_subclasses",
                "test_derived.py::test_body",
                "! test_deep.py::test_value",
                "test_deep.py::test_nothing",
            ],
        )
        .edit(
            "body of a module between",
            [replace("deep.py", "derived.Tagged.tag", "0")],
            ["! test_deep.py::test_value"],
        )
        .edit(
            "top level at the end of a chain",
            [append("base.py", "\nprint()\n")],
            [
                "test_derived.py::test_subclasses",
                "test_derived.py::test_body",
                "test_deep.py::test_value",
                "test_deep.py::test_nothing",
            ],
        )
}

/// New files that an import finds before the present one.
fn shadowing() -> Case {
    Case::new(
        r#"
-- lib.py --
import json

import config


def dump():
    return json.dumps([1])


def level():
    return config.LEVEL
-- config.py --
LEVEL = 1
-- test_lib.py --
import lib


def test_dump():
    assert lib.dump() == "[1]"


def test_level():
    assert lib.level() == 1
-- test_lazy.py --
def test_sched():
    import sched
    assert hasattr(sched, "scheduler")


def test_none():
    pass
"#,
    )
    .edit(
        "package before a module",
        [write("config/__init__.py", "LEVEL = 2\n")],
        ["test_lib.py::test_dump", "! test_lib.py::test_level"],
    )
    .edit(
        "folder without __init__ beside a module",
        [write("config/notes.txt", "")],
        between([], ["test_lib.py::test_dump", "test_lib.py::test_level"]),
    )
    .edit(
        "module before one of the standard library, imported in a function",
        [write("sched.py", "")],
        // A module of the standard library has no scope, so a file that could shadow it
        // affects every test.
        between(
            ["! test_lazy.py::test_sched"],
            [
                "test_lazy.py::test_none",
                "test_lib.py::test_dump",
                "test_lib.py::test_level",
            ],
        ),
    )
    .edit(
        "new module that nobody imports",
        [write("fresh.py", "X = 1\n")],
        NONE,
    )
}

/// Modules behind a symbolic link to their folder.
fn linked() -> Case {
    Case::new(
        r#"
-- real/lib.py --
VALUE = 1
-- conftest.py --
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "linked"))
-- test_it.py --
import os

from conftest import HERE


def test_optional():
    try:
        import extra
    except ImportError:
        extra = None
    assert extra is None


def test_listing():
    names = os.listdir(os.path.join(HERE, "linked"))
    assert [name for name in names if name.endswith(".py")] == ["lib.py"]


def test_lib():
    import lib
    assert lib.VALUE == 1
"#,
    )
    .setup([symlink("linked", "real")])
    .edit(
        "module appears behind the link",
        [write("real/extra.py", "")],
        ["! test_it.py::test_optional", "! test_it.py::test_listing"],
    )
    .edit(
        "module behind the link edited",
        [write("real/lib.py", "VALUE = 2\n")],
        // By now the listing contains `__pycache__`.
        between(["! test_it.py::test_lib"], ["test_it.py::test_listing"]),
    )
}

/// Imports that failed and now succeed.
fn optional() -> Case {
    Case::new(
        r#"
-- lib.py --
try:
    import speedups
except ImportError:
    speedups = None


def fast():
    return speedups is not None


def constant():
    return 1
-- pkg/__init__.py --
-- pkg/core.py --
def find():
    try:
        from . import _native
    except ImportError:
        return 0
    return _native.VALUE


def spec():
    import importlib.util
    return importlib.util.find_spec("sought") is None


def inner():
    try:
        from pkg.sub import deep
    except ImportError:
        return 0
    return deep.VALUE
-- test_lib.py --
import lib


def test_fast():
    assert not lib.fast()


def test_constant():
    assert lib.constant() == 1
-- test_pkg.py --
from pkg import core


def test_find():
    assert core.find() == 0


def test_spec():
    assert core.spec()


def test_inner():
    assert core.inner() == 0


def test_importorskip():
    import pytest
    pytest.importorskip("skipped_for")


def test_none():
    pass
"#,
    )
    .edit(
        "module sought at import",
        [write("speedups.py", "")],
        ["! test_lib.py::test_fast", "test_lib.py::test_constant"],
    )
    .edit(
        "relative import in a function",
        [write("pkg/_native.py", "VALUE = 1\n")],
        ["! test_pkg.py::test_find"],
    )
    .edit(
        "find_spec",
        [write("sought.py", "")],
        ["! test_pkg.py::test_spec"],
    )
    .edit(
        "sub-package",
        [
            write("pkg/sub/__init__.py", ""),
            write("pkg/sub/deep.py", "VALUE = 1\n"),
        ],
        ["! test_pkg.py::test_inner"],
    )
    .edit(
        "importorskip",
        [write("skipped_for.py", "")],
        ["test_pkg.py::test_importorskip"],
    )
}

const PACKAGES: &str = r#"
-- src/app/__init__.py --
from .names import *

VERSION = "1"
-- src/app/names.py --
__all__ = ["public"]


def public():
    return 1


def hidden():
    return 2
-- src/app/left.py --
from app import right


def go():
    return right.back()


def home():
    return 1
-- src/app/right.py --
import app.left


def back():
    return app.left.home()
-- src/space/part.py --
VALUE = 1
-- src/solo.py --
ALONE = 1
-- conftest.py --
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).with_name("src")))
-- tests/test_app.py --
import app


def test_public():
    assert app.public() == 1


def test_version():
    assert app.VERSION == "1"
-- tests/test_cycle.py --
from app import left


def test_go():
    assert left.go() == 1
-- tests/test_space.py --
import space.part


def test_space():
    assert space.part.VALUE == 1
-- tests/test_none.py --
def test_none():
    pass
"#;

/// Packages: their `__init__`, star imports, namespace packages, cycles.
fn packages() -> Case {
    Case::new(PACKAGES)
        .edit(
            "function behind a star import",
            [replace("src/app/names.py", "return 1", "return 3")],
            ["! tests/test_app.py::test_public"],
        )
        .edit(
            "names of a star import",
            [replace(
                "src/app/names.py",
                "[\"public\"]",
                "[\"public\", \"hidden\"]",
            )],
            [
                "tests/test_app.py::test_public",
                "tests/test_app.py::test_version",
                "tests/test_cycle.py::test_go",
            ],
        )
        .edit(
            "package's __init__ reaches who imports a part of it",
            [replace("src/app/__init__.py", "\"1\"", "\"2\"")],
            [
                "tests/test_app.py::test_public",
                "! tests/test_app.py::test_version",
                "tests/test_cycle.py::test_go",
            ],
        )
        .edit(
            "in a cycle",
            [replace("src/app/left.py", "return 1", "return 2")],
            ["! tests/test_cycle.py::test_go"],
        )
        .edit(
            "top level in a cycle",
            [append("src/app/right.py", "\nX = 1\n")],
            NONE,
        )
        .edit(
            "part of a namespace package",
            [replace("src/space/part.py", "1", "2")],
            ["! tests/test_space.py::test_space"],
        )
        .edit(
            "namespace package becomes a regular one",
            [write("src/space/__init__.py", "")],
            // A namespace package has none either.
            between(
                ["tests/test_space.py::test_space"],
                [
                    "tests/test_app.py::test_public",
                    "tests/test_app.py::test_version",
                    "tests/test_cycle.py::test_go",
                    "tests/test_none.py::test_none",
                ],
            ),
        )
        .edit(
            "module that nobody imports",
            [write("src/fresh.py", "")],
            NONE,
        )
}

//! Which names a test reads of modules that it uses.

use crate::harness::*;

cases!(
    new_names,
    shadows,
    computed,
    passed_on,
    walkers,
    globals_of_others,
    providers,
);

/// What comes new into a module that all tests use.
fn new_names() -> Case {
    Case::new(
        r#"
-- app/__init__.py --
from .core import run
-- app/core.py --
import os.path


def run():
    return step()


def step():
    return 1
-- conftest.py --
import app
-- test_app.py --
import app


def test_run():
    assert app.run() == 1


def test_there():
    assert not hasattr(app, "stop")


def test_try():
    try:
        from app.core import stop
    except ImportError:
        stop = None
    assert stop is None
-- test_other.py --
from app.core import *


def test_step():
    assert step() == 1
"#,
    )
    .by_value()
    .edit(
        "a function",
        [append("app/core.py", "\n\ndef walk():\n    return 2\n")],
        NONE,
    )
    .edit(
        "a class, imports, a constant and a function that runs at once",
        [
            replace(
                "app/core.py",
                "import os.path\n",
                "import enum\nimport os.path\nimport re\n\nWORD = re.compile(r'\\w+')\n",
            ),
            append(
                "app/core.py",
                "\n\nclass Kind(enum.Enum):\n    A = 1\n\n\ndef kinds():\n    return list(Kind)\n\n\nKINDS = kinds()\n",
            ),
        ],
        NONE,
    )
    .edit(
        "a new module that the package imports",
        [
            write("app/more.py", "MORE = 1\n"),
            append("app/__init__.py", "from .more import MORE\n"),
        ],
        NONE,
    )
    .edit(
        "a name that two tests ask for",
        [
            append("app/core.py", "\n\ndef stop():\n    return 2\n"),
            append("app/__init__.py", "from .core import stop\n"),
        ],
        ["! test_app.py::test_there", "! test_app.py::test_try"],
    )
    .edit(
        "`__all__` leaves out a name",
        [append("app/core.py", "\n\n__all__ = ['run']\n")],
        ["! test_other.py::test_step"],
    )
    .edit(
        "a package's `__getattr__`",
        [append(
            "app/__init__.py",
            "\n\ndef __getattr__(name):\n    return 1\n",
        )],
        at_least(["! test_app.py::test_there"]),
    )
}

/// New names that hide others.
fn shadows() -> Case {
    Case::new(
        r#"
-- tools.py --
def order(items):
    return sorted(items)


def text():
    return oct(8)
-- settings.py --
def max(*items):
    return 7
-- limits.py --
from settings import *


def top():
    return max(1, 2)
-- test_tools.py --
import tools
import limits


def test_order():
    assert tools.order([2, 1]) == [1, 2]


def test_text():
    assert tools.text() == "0o10"


def test_top():
    assert limits.top() == 7
"#,
    )
    .by_value()
    .edit(
        "a module's name hides a builtin",
        [append(
            "tools.py",
            "\n\ndef sorted(items):\n    return items\n",
        )],
        ["! test_tools.py::test_order"],
    )
    .edit(
        "a name that hid a builtin is gone",
        [replace("settings.py", "def max", "def most")],
        ["! test_tools.py::test_top"],
    )
    .edit(
        "a builtin is replaced at import",
        [append(
            "settings.py",
            "\nimport builtins\nbuiltins.oct = max\n",
        )],
        at_least(["! test_tools.py::test_text"]),
    )
}

/// Names that code makes from parts.
fn computed() -> Case {
    Case::new(
        r#"
-- m.py --
def seed():
    return 1


ab = seed()
cd = 5


def look(a, b):
    return globals()[a + b]


def fixed():
    return cd
-- test_m.py --
import inspect

import m


def test_getattr():
    assert getattr(m, "a" + "b") == 1


def test_vars():
    assert vars(m)["a" + "b"] == 1


def test_dict():
    assert m.__dict__["a" + "b"] == 1


def test_globals():
    assert m.look("a", "b") == 1


def test_count():
    assert len([name for name in dir(m) if not name.startswith("_")]) == 5


def test_members():
    assert len(inspect.getmembers(m, inspect.isfunction)) == 3


def test_eval():
    assert eval("m." + "a" + "b") == 1


def test_fixed():
    assert m.fixed() == 5
"#,
    )
    .by_value()
    .edit(
        "a value read by computed names",
        [replace("m.py", "return 1", "return 2")],
        between(
            [
                "! test_m.py::test_getattr",
                "! test_m.py::test_vars",
                "! test_m.py::test_dict",
                "! test_m.py::test_globals",
                "! test_m.py::test_eval",
            ],
            ["test_m.py::test_count", "test_m.py::test_members"],
        ),
    )
    .edit(
        "a new name where names are listed",
        [append("m.py", "\n\ndef new():\n    return 2\n")],
        between(
            ["! test_m.py::test_count", "! test_m.py::test_members"],
            [
                "test_m.py::test_getattr",
                "test_m.py::test_vars",
                "test_m.py::test_dict",
                "test_m.py::test_globals",
                "test_m.py::test_eval",
            ],
        ),
    )
}

/// Modules, classes and functions that are handed on, and read by others.
fn passed_on() -> Case {
    Case::new(
        r#"
-- settings.py --
def level():
    return 1


LEVEL = level()
DEPTH = 2
-- reader.py --
def read(module, *names):
    return [getattr(module, name) for name in names]


def only(config):
    return config.DEPTH
-- words.py --
NAMES = "LEVEL DEPTH".split()
-- test_reader.py --
import operator

import reader
import settings
import words


def test_read():
    assert reader.read(settings, *words.NAMES) == [1, 2]


def test_attrgetter():
    assert operator.attrgetter(words.NAMES[0])(settings) == 1


def test_only():
    assert reader.only(settings) == 2


def test_words():
    assert words.NAMES
"#,
    )
    .by_value()
    .edit(
        "a value that a function reads of a module that it gets",
        [replace("settings.py", "return 1", "return 3")],
        between(
            [
                "! test_reader.py::test_read",
                "! test_reader.py::test_attrgetter",
            ],
            ["test_reader.py::test_only"],
        ),
    )
}

/// Tests that walk over modules, classes or objects.
fn walkers() -> Case {
    Case::new(
        r#"
-- lib.py --
class Base:
    def run(self):
        return 1


class One(Base):
    pass


def names():
    return sorted(each.__name__ for each in Base.__subclasses__())
-- test_modules.py --
import sys

import lib


def test_modules():
    found = [
        name
        for module in list(sys.modules.values())
        if str(getattr(module, "__file__", "")).endswith("/lib.py")
        for name in vars(module)
        if name.startswith("walk_")
    ]
    assert found == []
-- test_classes.py --
import lib


def test_names():
    assert lib.names() == ["One"]


def test_run():
    assert lib.One().run() == 1
-- test_objects.py --
import gc

import lib


def test_objects():
    found = [each for each in gc.get_objects() if type(each).__name__ == "walked"]
    assert found == []
-- test_plain.py --
import lib


def test_plain():
    assert lib.Base().run() == 1
"#,
    )
    .by_value()
    .edit(
        "a function, for who walks over modules",
        [append("lib.py", "\n\ndef walk_here():\n    return 1\n")],
        between(
            ["! test_modules.py::test_modules"],
            [
                "test_classes.py::test_names",
                "test_objects.py::test_objects",
            ],
        ),
    )
    .edit(
        "a class, for who asks for subclasses",
        [append("lib.py", "\n\nclass Two(Base):\n    pass\n")],
        between(
            ["! test_classes.py::test_names"],
            [
                "test_modules.py::test_modules",
                "test_objects.py::test_objects",
            ],
        ),
    )
    .edit(
        "an object, for who walks over all",
        [append(
            "lib.py",
            "\n\nclass walked(list):\n    pass\n\n\nHELD = [walked()]\n",
        )],
        between(
            ["! test_objects.py::test_objects"],
            [
                "test_classes.py::test_names",
                "test_modules.py::test_modules",
            ],
        ),
    )
}

/// A global name is that of the module of the code, unless the code runs elsewhere.
fn globals_of_others() -> Case {
    Case::new(
        r#"
-- lib.py --
RATE = 2


def pay():
    return 3
-- other.py --
RATE = 5
-- test_lib.py --
import os
import types

import code_of
import lib
import other

LIMIT = 1


def test_own():
    assert (LIMIT, os.sep, lib.pay()) == (1, "/", 3)


def test_asked():
    assert lib.RATE == 2


def test_elsewhere():
    made = types.FunctionType(code_of.rate.__code__, vars(lib))
    assert made() == 2


def test_exec():
    space = vars(other)
    exec(code_of.ASKS, space)
    assert space["FOUND"] == 5
-- code_of.py --
def rate():
    return RATE


ASKS = compile("FOUND = RATE", "<text>", "exec")
"#,
    )
    .by_value()
    .edit(
        "names that others have, too",
        [append("lib.py", "\nLIMIT = 9\nimport os\n")],
        between(NONE, ["test_lib.py::test_elsewhere"]),
    )
    .edit(
        "a global that code gets of another module",
        [replace("lib.py", "RATE = 2", "RATE = 4")],
        between(
            ["! test_lib.py::test_asked", "! test_lib.py::test_elsewhere"],
            ["test_lib.py::test_exec"],
        ),
    )
    .edit(
        "a global that text gets",
        [replace("other.py", "RATE = 5", "RATE = 6")],
        between(
            ["! test_lib.py::test_exec"],
            ["test_lib.py::test_asked", "test_lib.py::test_elsewhere"],
        ),
    )
}

/// A function of a module that provides what the module lacks.
fn providers() -> Case {
    Case::new(
        r#"
-- app/__init__.py --
from .core import run

NAME = "app"
-- app/core.py --
def run():
    return 1
-- conftest.py --
import pytest

import app


@pytest.fixture
def module():
    return app
-- test_app.py --
import app


def test_run():
    assert app.run() == 1


def test_lacks():
    assert not hasattr(app, "stop")


def test_asks():
    try:
        found = app.walk
    except AttributeError:
        found = None
    assert found is None


def test_imports():
    try:
        from app import jump
    except ImportError:
        jump = None
    assert jump is None


def test_name():
    assert app.NAME == "app"


def test_looks(module):
    found = [getattr(module, name, None) for name in ("st" + "ay",)]
    assert found == [None]
"#,
    )
    .by_value()
    .edit(
        "a new one",
        [append(
            "app/__init__.py",
            "\n\ndef __getattr__(name):\n    if name[:2] != \"__\":\n        return 1\n    raise AttributeError(name)\n",
        )],
        [
            "! test_app.py::test_lacks",
            "! test_app.py::test_asks",
            "! test_app.py::test_imports",
            "! test_app.py::test_looks",
        ],
    )
}

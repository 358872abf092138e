//! Language features that bind names or run code in less usual places.

use crate::harness::*;

cases!(
    found_by_metadata,
    without_init,
    in_circles,
    not_compiled,
    statements
);

/// Walrus, comprehensions, class bodies that call, named tuples, conditions.
fn statements() -> Case {
    Case::new(
        r#"
-- lib.py --
import sys
import typing


def double(x, by=2):
    return x * by


if (size := double(3)) > 5:
    BIG = True

SQUARES = [double(n) for n in range(3)]


class Settings:
    limit = double(10)
    names = ("a", "b")


class Pair(typing.NamedTuple):
    left: int
    right: int = 0


if sys.version_info >= (3, 0):
    TEXT = "new"
else:
    TEXT = "old"


def apart(a=1):
    return a


def pick():
    return [n for n in SQUARES if (last := n)] and TEXT
-- test_lib.py --
import lib


def test_walrus():
    assert lib.size == 6 and lib.BIG


def test_comprehension():
    assert lib.SQUARES == [0, 2, 4]


def test_class_body():
    assert lib.Settings.limit == 20


def test_pair():
    assert lib.Pair(1) == (1, 0)


def test_pick():
    assert lib.pick() == "new"


def test_apart():
    assert lib.apart() == 1
"#,
    )
    .edit(
        "default of what the module itself calls",
        [replace("lib.py", "by=2", "by=3")],
        all_but(
            [],
            [
                "test_lib.py::test_walrus",
                "test_lib.py::test_comprehension",
                "test_lib.py::test_class_body",
            ],
        ),
    )
    .edit(
        "field of a named tuple",
        [replace("lib.py", "right: int = 0", "right: int = 5")],
        all_but([], ["test_lib.py::test_pair"]),
    )
    .edit(
        "value under a condition",
        [replace("lib.py", "TEXT = \"new\"", "TEXT = \"newer\"")],
        all_but([], ["test_lib.py::test_pick"]),
    )
    .edit(
        "argument of a call in a class body",
        [replace("lib.py", "double(10)", "double(11)")],
        all_but([], ["test_lib.py::test_class_body"]),
    )
    .edit(
        "function beside all that",
        [replace("lib.py", "a=1", "a=2")],
        ["! test_lib.py::test_apart"],
    )
}

/// An object that an installed package's metadata names.
fn found_by_metadata() -> Case {
    Case::new(
        r#"
-- plug.py --
VALUE = 1


def start(value=VALUE):
    return value


def other(a=1):
    return a
-- test_plug.py --
from importlib import metadata


def test_found():
    found = metadata.entry_points()
    group = found.select(group="app.parts") if hasattr(found, "select") else found["app.parts"]
    assert [point.load()() for point in group] == [1]


def test_nothing():
    pass
"#,
    )
    .own_venv()
    .setup([install(
        "app",
        "1.0.0",
        &[(
            "app-1.0.0.dist-info/entry_points.txt",
            "[app.parts]\nstart = plug:start\n",
        )],
    )])
    .edit(
        "constant that its default is",
        [replace("plug.py", "VALUE = 1", "VALUE = 2")],
        ["! test_plug.py::test_found"],
    )
    .edit(
        "signature of what is found",
        [replace("plug.py", "start(value=VALUE)", "start(value=7)")],
        ["! test_plug.py::test_found"],
    )
}

/// Packages without `__init__.py`.
fn without_init() -> Case {
    Case::new(
        r#"
-- spaces/inner/tools.py --
from . import words

RATE = 2


def times(x, rate=RATE):
    return words.name(x * rate)


def unused(a=1):
    return a
-- spaces/inner/words.py --
def name(x, end="!"):
    return str(x) + end


def other():
    return 0
-- test_spaces.py --
from spaces.inner import tools


def test_times():
    assert tools.times(2) == "4!"


def test_nothing():
    pass
"#,
    )
    .edit(
        "default behind a relative import",
        [replace("spaces/inner/words.py", "end=\"!\"", "end=\"?\"")],
        ["! test_spaces.py::test_times"],
    )
    .edit(
        "constant",
        [replace("spaces/inner/tools.py", "RATE = 2", "RATE = 3")],
        ["! test_spaces.py::test_times"],
    )
    .edit(
        "what nobody asks for",
        [replace("spaces/inner/tools.py", "a=1", "a=2")],
        NONE,
    )
    .edit(
        "one more name from a package that may have other parts",
        [replace(
            "spaces/inner/tools.py",
            "from . import words\n",
            "from . import words\nfrom .words import other\n",
        )],
        ["test_spaces.py::test_nothing", "test_spaces.py::test_times"],
    )
}

/// Modules that import names from each other.
fn in_circles() -> Case {
    Case::new(
        r#"
-- ring/__init__.py --
-- ring/one.py --
def early(a=1):
    return a


from .two import late


def use():
    return late()


EXTRA = 1
-- ring/two.py --
from .one import early


def late():
    return early()


def spare():
    return 3
-- test_ring.py --
def test_use():
    from ring import one
    assert one.use() == 1


def test_two():
    from ring import one, two
    assert two.late() == 1


def test_nothing():
    pass
"#,
    )
    .edit(
        "name that is not bound yet",
        [replace(
            "ring/two.py",
            "import early",
            "import early, EXTRA",
        )],
        ["! test_ring.py::test_use", "! test_ring.py::test_two"],
    )
    .edit(
        "binding moved below the import that needs it",
        [
            replace("ring/one.py", "def early(a=1):\n    return a\n\n\n", ""),
            append("ring/one.py", "\n\ndef early(a=1):\n    return a\n"),
        ],
        ["! test_ring.py::test_use", "! test_ring.py::test_two"],
    )
    .edit(
        "default of a name in the circle",
        [replace("ring/one.py", "a=1", "a=2")],
        ["! test_ring.py::test_use", "! test_ring.py::test_two"],
    )
    .edit(
        "binding after the import",
        [replace("ring/one.py", "EXTRA = 1", "EXTRA = 2")],
        NONE,
    )
}

/// Errors of the compiler in functions that never run: no import works.
fn not_compiled() -> Case {
    Case::new(
        r#"
-- lib.py --
def used():
    return 1


def unused(x):
    return x
-- test_lib.py --
def test_used():
    import lib
    assert lib.used() == 1


def test_nothing():
    pass
"#,
    )
    .edit(
        "break outside a loop",
        [replace("lib.py", "    return x", "    break")],
        ["! test_lib.py::test_used"],
    )
    .edit(
        "name that is not bound around",
        [replace("lib.py", "    return x", "    nonlocal y")],
        ["! test_lib.py::test_used"],
    )
    .edit(
        "await outside a coroutine",
        [replace("lib.py", "    return x", "    await x")],
        ["! test_lib.py::test_used"],
    )
    .edit(
        "argument twice",
        [append("lib.py", "\n\ndef more(a, a):\n    pass\n")],
        ["! test_lib.py::test_used"],
    )
}

//! Functions that run when modules are imported, and statements of modules.

use crate::harness::*;

cases!(functions, defaults, computed_once, statements);

/// The body of a function that only import-time code calls.
fn functions() -> Case {
    Case::new(
        r#"
-- tables.py --
def build(n):
    return {"a": n, "b": 2 * n}


def unit():
    return 5


TABLE = build(1)
OTHER = unit()


def area(x):
    return x * OTHER


def plain(x):
    return x
-- helpers.py --
import tables

SIZE = tables.area(2)


def grow(x):
    return x + SIZE
-- test_tables.py --
import tables


def test_table():
    assert tables.TABLE == {"a": 1, "b": 2}


def test_area():
    assert tables.area(2) == 10


def test_plain():
    assert tables.plain(3) == 3
-- test_helpers.py --
import helpers


def test_grow():
    assert helpers.grow(1) == 11


def test_name():
    assert helpers.__name__ == "helpers"
"#,
    )
    .by_value()
    .edit(
        "the same value in another way",
        [replace(
            "tables.py",
            r#"{"a": n, "b": 2 * n}"#,
            "dict(a=n, b=n + n)",
        )],
        NONE,
    )
    .edit(
        "another entry",
        [replace("tables.py", "2 * n", "3 * n")],
        ["! test_tables.py::test_table"],
    )
    .edit(
        "the same entries in another order",
        [replace(
            "tables.py",
            r#"{"a": n, "b": 2 * n}"#,
            r#"{"b": 2 * n, "a": n}"#,
        )],
        ["test_tables.py::test_table"],
    )
    .edit(
        "a value that a function reads, and another module's code at import",
        [replace("tables.py", "return 5", "return 6")],
        [
            "! test_tables.py::test_area",
            "! test_helpers.py::test_grow",
        ],
    )
}

/// Statements of a module.
fn statements() -> Case {
    Case::new(
        r#"
-- config.py --
import os

DEBUG = False
LIMIT = 10
LEVELS = [1, 2]
NAMES = []
for name in ("a", "b"):
    NAMES.append(name)
if DEBUG:
    MODE = "debug"
else:
    MODE = "plain"


def limit():
    return LIMIT


def mode():
    return MODE
-- test_config.py --
import config


def test_limit():
    assert config.limit() == 10


def test_levels():
    assert config.LEVELS == [1, 2]


def test_names():
    assert config.NAMES == ["a", "b"]


def test_mode():
    assert config.mode() == "plain"


def test_path():
    assert config.os.path.sep
"#,
    )
    .by_value()
    .edit(
        "a constant",
        [replace("config.py", "LIMIT = 10", "LIMIT = 11")],
        ["! test_config.py::test_limit"],
    )
    .edit(
        "the same value, written in another way",
        [replace("config.py", "LIMIT = 10", "LIMIT = 5 + 5")],
        NONE,
    )
    .edit(
        "a loop",
        [replace("config.py", r#"("a", "b")"#, r#"("a", "b", "c")"#)],
        ["! test_config.py::test_names"],
    )
    .edit(
        "a statement that changes nothing",
        [append("config.py", "\nLEVELS.append(3)\nLEVELS.pop()\n")],
        NONE,
    )
    .edit(
        "a statement that changes a value of another name",
        [append("config.py", "\nLEVELS.append(3)\n")],
        ["! test_config.py::test_levels"],
    )
    .edit(
        "a condition that decides a value",
        [replace("config.py", "if DEBUG", "if not DEBUG")],
        ["! test_config.py::test_mode"],
    )
    .edit(
        "a type of number",
        [replace(
            "config.py",
            "LEVELS = [1, 2]",
            "LEVELS = [True, 2.0]",
        )],
        ["test_config.py::test_levels"],
    )
    .edit(
        "a value gone",
        [replace("config.py", "LIMIT = 10\n", "")],
        ["! test_config.py::test_limit"],
    )
}

/// Defaults, signatures and closures of functions.
fn defaults() -> Case {
    Case::new(
        r#"
-- scale.py --
def factor():
    return 2


def scaled(x, by=factor()):
    return x * by


def keyed(*, by=factor()):
    return by


def given(value, other=1):
    return value + other


def maker(n):
    def inner(x):
        return x + n

    return inner


add = maker(factor())


def same(x):
    return x
-- test_scale.py --
import scale


def test_scaled():
    assert scale.scaled(2) == 4


def test_keyed():
    assert scale.keyed() == 2


def test_given():
    assert scale.given(value=1) == 2


def test_add():
    assert scale.add(1) == 3


def test_same():
    assert scale.same(1) == 1
"#,
    )
    .by_value()
    .edit(
        "a function that computes defaults and what a closure holds",
        [replace("scale.py", "return 2", "return 3")],
        [
            "! test_scale.py::test_scaled",
            "! test_scale.py::test_keyed",
            "! test_scale.py::test_add",
        ],
    )
    .edit(
        "the same defaults",
        [replace("scale.py", "return 2", "return 1 + 1")],
        NONE,
    )
    .edit(
        "a default",
        [replace("scale.py", "other=1", "other=2")],
        ["! test_scale.py::test_given"],
    )
    .edit(
        "the name of a parameter that a caller gives",
        [replace(
            "scale.py",
            "def given(value, other=1):\n    return value + other",
            "def given(number, other=1):\n    return number + other",
        )],
        ["! test_scale.py::test_given"],
    )
    .edit(
        "another decorator",
        [
            replace("scale.py", "def same(x)", "@twice\ndef same(x)"),
            replace(
                "scale.py",
                "def factor",
                "def twice(f):\n    return lambda x: 2 * f(x)\n\n\ndef factor",
            ),
        ],
        ["! test_scale.py::test_same"],
    )
}

/// A value that is made at the first use, in a test: this is no import-time code.
fn computed_once() -> Case {
    Case::new(
        r#"
-- late.py --
def value():
    return 1


VALUE = value()
-- user.py --
def late():
    import late

    return late.VALUE


def quick():
    return 2
-- test_user.py --
import user


def test_late():
    assert user.late() == 1


def test_again():
    from late import VALUE
    assert VALUE == 1


def test_quick():
    assert user.quick() == 2
"#,
    )
    .by_value()
    .edit(
        "a module that is first imported within a test",
        [replace("late.py", "return 1", "return 2")],
        ["! test_user.py::test_late", "! test_user.py::test_again"],
    )
    .edit(
        "the same value",
        [replace("late.py", "return 1", "return 3 - 2")],
        between(
            NONE,
            ["test_user.py::test_late", "test_user.py::test_again"],
        ),
    )
}

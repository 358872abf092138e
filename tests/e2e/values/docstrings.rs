//! Docstrings: only who reads them is affected.

use crate::harness::*;

cases!(by_name, by_other_ways);

/// Of functions, methods, classes and modules.
fn by_name() -> Case {
    Case::new(
        r#"
-- lib.py --
"""A library."""


def first():
    """The first."""
    return 1


class Thing:
    """A thing."""

    def turn(self):
        """It turns."""
        return 2


def about(f):
    return f.__doc__


HELP = {"first": about(first)}
-- test_lib.py --
import inspect

import lib


def test_first():
    assert lib.first() == 1


def test_turn():
    assert lib.Thing().turn() == 2


def test_doc():
    assert lib.first.__doc__ == "The first."


def test_getdoc():
    assert inspect.getdoc(lib.Thing.turn) == "It turns."


def test_about():
    assert lib.about(lib.Thing) == "A thing."


def test_help():
    assert lib.HELP == {"first": "The first."}


def test_module():
    assert lib.__doc__ == "A library."
"#,
    )
    .by_value()
    .edit(
        "a function's docstring, read directly and at import",
        [replace("lib.py", "The first.", "The one.")],
        between(
            ["! test_lib.py::test_doc", "! test_lib.py::test_help"],
            [
                "test_lib.py::test_getdoc",
                "test_lib.py::test_about",
                "test_lib.py::test_module",
            ],
        ),
    )
    .edit(
        "a method's docstring, read by `inspect`",
        [replace("lib.py", "It turns.", "It moves.")],
        between(
            ["! test_lib.py::test_getdoc"],
            [
                "test_lib.py::test_doc",
                "test_lib.py::test_about",
                "test_lib.py::test_module",
            ],
        ),
    )
    .edit(
        "a class's docstring, read by a function of the project",
        [replace("lib.py", "A thing.", "A part.")],
        between(
            ["! test_lib.py::test_about"],
            [
                "test_lib.py::test_doc",
                "test_lib.py::test_getdoc",
                "test_lib.py::test_module",
            ],
        ),
    )
    .edit(
        "the module's docstring",
        [replace("lib.py", "A library.", "A module.")],
        between(
            ["! test_lib.py::test_module"],
            [
                "test_lib.py::test_doc",
                "test_lib.py::test_about",
                "test_lib.py::test_getdoc",
            ],
        ),
    )
}

const BY_OTHER_WAYS: &str = r#"
-- lib.py --
import functools

TEXT = "Set."


def late():
    return 1


late.__doc__ = TEXT


def plain():
    """Plain."""
    return 2


def same(function):
    @functools.wraps(function)
    def wrapper():
        return function()

    return wrapper


def later():
    """Later."""


later.__wrapped__ = plain


@same
def copied():
    """Copied."""
    return 3


def outer():
    def inner():
        """Inner."""

    return inner


INNER = outer()


def escaped():
    """Written \x41."""
    return 4


class Thing:
    @property
    def size(self):
        """Its size."""
        return 5

    @staticmethod
    def kind():
        """Its kind."""
        return 6


def text_of(thing):
    return getattr(thing, "__" + "doc__")
-- late.py --
import lib

DOC = lib.plain.__doc__
-- test_lib.py --
import functools

import lib


def test_none():
    assert (lib.late(), lib.plain(), lib.copied(), lib.escaped()) == (1, 2, 3, 4)


def test_members():
    assert (lib.Thing().size, lib.Thing.kind()) == (5, 6)


def test_late():
    assert lib.text_of(lib.late) == "Set."


def test_later():
    assert lib.text_of(lib.later) == "Later."


def test_plain():
    assert lib.text_of(lib.plain) == "Plain."


def test_copied():
    assert lib.text_of(lib.copied) == "Copied."


def test_inner():
    assert lib.text_of(lib.INNER) == "Inner."


def test_escaped():
    assert lib.text_of(lib.escaped) == "Written A."


def test_kind():
    assert lib.text_of(lib.Thing.kind) == "Its kind."


def test_descriptor():
    assert vars(lib.Thing)["kind"].__doc__ == "Its kind."


def test_partial():
    partial = functools.update_wrapper(functools.partial(lib.plain), lib.plain)
    assert partial.__doc__ == "Plain."


def test_late_import():
    import late

    assert late.DOC == "Plain."


def test_size():
    assert lib.Thing.size.__doc__ == "Its size."


def test_constants():
    assert "Plain." in lib.plain.__code__.co_consts
"#;

/// Docstrings that do not come with the function, and ways to read them that nobody spells.
fn by_other_ways() -> Case {
    Case::new(BY_OTHER_WAYS)
        .by_value()
        .edit(
            "one that is set",
            [replace("lib.py", "\"Set.\"", "\"Other.\"")],
            between(["! test_lib.py::test_late"], OF_OTHERS),
        )
        .edit(
            "one that is set from now on",
            [append("lib.py", "\n\nplain.__doc__ = 'Other.'\n")],
            between(
                [
                    "! test_lib.py::test_plain",
                    "! test_lib.py::test_partial",
                    "! test_lib.py::test_late_import",
                ],
                OF_OTHERS,
            ),
        )
        .edit(
            "one that is in the constants, too",
            [replace("lib.py", "Plain.", "Other.")],
            [
                "! test_lib.py::test_plain",
                "! test_lib.py::test_constants",
                "! test_lib.py::test_partial",
                "! test_lib.py::test_late_import",
            ],
        )
        .edit(
            "one that was copied",
            [replace("lib.py", "Copied.", "Other.")],
            between(["! test_lib.py::test_copied"], OF_OTHERS),
        )
        .edit(
            "that of a function in a function",
            [replace("lib.py", "Inner.", "Other.")],
            ["! test_lib.py::test_inner"],
        )
        .edit(
            "one that the compiler might warn of",
            [replace("lib.py", "Written", "Said")],
            ["! test_lib.py::test_escaped"],
        )
        .edit(
            "that of a static method",
            [replace("lib.py", "Its kind.", "Other.")],
            between(
                ["! test_lib.py::test_kind", "! test_lib.py::test_descriptor"],
                OF_OTHERS,
            ),
        )
        .edit(
            "the copy of another's",
            [append("lib.py", "\n\nlater.__doc__ = plain.__doc__\n")],
            between(["! test_lib.py::test_later"], OF_OTHERS),
        )
        .edit(
            "that of a property",
            [replace("lib.py", "Its size.", "Other.")],
            between(["! test_lib.py::test_size"], OF_OTHERS),
        )
}

/// Tests that read docstrings: where one was set, it may be any.
const OF_OTHERS: [&str; 12] = [
    "test_lib.py::test_later",
    "test_lib.py::test_descriptor",
    "test_lib.py::test_partial",
    "test_lib.py::test_late_import",
    "test_lib.py::test_late",
    "test_lib.py::test_plain",
    "test_lib.py::test_copied",
    "test_lib.py::test_inner",
    "test_lib.py::test_escaped",
    "test_lib.py::test_kind",
    "test_lib.py::test_size",
    "test_lib.py::test_constants",
];

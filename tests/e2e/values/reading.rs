//! Annotations, source text and what nobody names: only who reads them is affected.

use crate::harness::*;

cases!(
    nameless,
    annotations,
    source,
    decorated,
    evaluated_by_a_package
);

/// Functions that no name of a module leads to, and others that read themselves.
fn nameless() -> Case {
    Case::new(
        r#"
-- lib.py --
def make():
    def inner():
        """Inner."""

    return inner


def doc(f):
    return f.__doc__


def docs(functions):
    return [f.__doc__ for f in functions]


def make_class():
    class Thing:
        """A thing."""

        def turn(self):
            """It turns."""

    return Thing


KEPT = [make()]
MADE = make_class()
-- test_lib.py --
import inspect

import lib


def test_nested():
    def function():
        """Nested."""

    assert lib.doc(function) == "Nested."


def test_made():
    assert lib.doc(lib.make()) == "Inner."


def test_kept():
    assert lib.docs(lib.KEPT) == ["Inner."]


def test_class():
    assert lib.doc(lib.make_class()) == "A thing."


def test_method():
    assert inspect.getdoc(lib.make_class().turn) == "It turns."


def test_kept_method():
    assert inspect.getdoc(lib.MADE.turn) == "It turns."


def test_itself():
    """Itself."""
    assert lib.doc(test_itself) == "Itself."
"#,
    )
    .by_value()
    .edit(
        "of a function in a test",
        [replace("test_lib.py", "\"\"\"Nested", "\"\"\"Other")],
        at_least(["! test_lib.py::test_nested"]),
    )
    .edit(
        "of a test",
        [replace("test_lib.py", "\"\"\"Itself", "\"\"\"Other")],
        at_least(["! test_lib.py::test_itself"]),
    )
    .edit(
        "of a function that a function makes",
        [replace("lib.py", "Inner.", "Other.")],
        at_least(["! test_lib.py::test_made", "! test_lib.py::test_kept"]),
    )
    .edit(
        "of a class that a function makes",
        [replace("lib.py", "A thing.", "Other.")],
        at_least(["! test_lib.py::test_class"]),
    )
    .edit(
        "of its method",
        [replace("lib.py", "It turns.", "Other.")],
        at_least([
            "! test_lib.py::test_method",
            "! test_lib.py::test_kept_method",
        ]),
    )
}

fn annotations() -> Case {
    Case::new(
        r#"
-- lib.py --
import typing


def first(x: int):
    return x


class Thing:
    size: int = 1

    def turn(self):
        return 2


def hints(f):
    return typing.get_type_hints(f)


KINDS = hints(first)
-- test_lib.py --
import inspect

import lib


def test_first():
    assert lib.first(1) == 1


def test_turn():
    assert lib.Thing().turn() == 2


def test_size():
    assert lib.Thing.size == 1


def test_annotations():
    assert lib.first.__annotations__ == {"x": int}


def test_signature():
    assert inspect.signature(lib.first).parameters["x"].annotation is int


def test_hints():
    assert lib.hints(lib.Thing) == {"size": int}


def test_kinds():
    assert lib.KINDS == {"x": int}
"#,
    )
    .by_value()
    .edit(
        "a parameter's annotation",
        [replace("lib.py", "x: int", "x: str")],
        between(
            [
                "! test_lib.py::test_annotations",
                "! test_lib.py::test_signature",
                "! test_lib.py::test_kinds",
            ],
            ["test_lib.py::test_hints"],
        ),
    )
    .edit(
        "an attribute's annotation",
        [replace("lib.py", "size: int", "size: float")],
        between(
            ["! test_lib.py::test_hints"],
            [
                "test_lib.py::test_annotations",
                "test_lib.py::test_signature",
            ],
        ),
    )
}

/// Who reads source text reads all of it.
fn source() -> Case {
    Case::new(
        r#"
-- lib.py --
def first():
    return 1


def second():
    return 2
-- test_source.py --
import inspect

import lib


def test_source():
    assert "return 1" in inspect.getsource(lib.first)
-- test_code.py --
import lib

def test_second():
    assert lib.second() == 2
"#,
    )
    .by_value()
    .edit(
        "a function whose text is read, and that does not run",
        [replace("lib.py", "return 1", "return 3")],
        ["! test_source.py::test_source"],
    )
}

/// A library that reads docstrings and annotations at import, as those of command lines do.
fn decorated() -> Case {
    Case::new(
        r#"
-- commands.py --
class Command:
    def __init__(self, function):
        self.function = function
        self.help = (function.__doc__ or "").strip()
        self.kinds = {k: v.__name__ for k, v in function.__annotations__.items()}

    def run(self, *values):
        return self.function(*values)


def command(function):
    return Command(function)
-- app.py --
from commands import command


@command
def greet(name: str):
    """Greets."""
    return "hello " + name


@command
def leave():
    """Leaves."""
    return "bye"
-- test_app.py --
import app


def test_help():
    assert app.greet.help == "Greets."


def test_run():
    assert app.greet.run("A") == "hello A"


def test_kinds():
    assert app.greet.kinds == {"name": "str"}


def test_leave():
    assert app.leave.run() == "bye"
"#,
    )
    .by_value()
    .edit(
        "a docstring that became a value",
        [replace("app.py", "Greets.", "Welcomes.")],
        between(
            ["! test_app.py::test_help"],
            ["test_app.py::test_run", "test_app.py::test_kinds"],
        ),
    )
    .edit(
        "a function that ran at import, with another result for one",
        [replace(
            "commands.py",
            "v.__name__ for",
            "v.__name__.upper() for",
        )],
        between(
            ["! test_app.py::test_kinds"],
            ["test_app.py::test_run", "test_app.py::test_help"],
        ),
    )
    .edit(
        "the constructor, with the same result",
        [replace(
            "commands.py",
            "self.function = function",
            "self.__dict__['function'] = function",
        )],
        NONE,
    )
}

/// An installed package that evaluates annotations of what it is given.
fn evaluated_by_a_package() -> Case {
    Case::new(
        r#"
-- lib.py --
from __future__ import annotations

import typing


def setting(value):
    return value


LIMIT = setting(1)
KIND = setting(1)
DEEP = setting(1)
SOME = typing.Optional["DEEP"]


class Node:
    size = setting(1)


def area(width: KIND) -> SOME:
    return width


def place(node: Node):
    return node


def limit():
    return LIMIT
-- test_lib.py --
import reader

import lib


def test_kind():
    assert reader.evaluate(lib.area, "width") == 1


def test_deep():
    text = reader.evaluate(lib.area, "return").__args__[0].__forward_arg__
    assert reader.evaluate_text(lib.area, text) == 1


def test_members():
    assert reader.lists(lib.place, "node")["si" + "ze"] == 1


def test_limit():
    assert lib.limit() == 1


def test_plain():
    assert lib.area(2) == 2
"#,
    )
    .by_value()
    .own_venv()
    .setup([install(
        "reader",
        "1.0.0",
        &[(
            "reader.py",
            "def evaluate(f, name):\n    return evaluate_text(f, f.__annotations__[name])\n\n\n\
             def evaluate_text(f, text):\n    return eval(text, f.__globals__)\n\n\n\
             def lists(f, name):\n    return dict(vars(evaluate(f, name)))\n",
        )],
    )])
    .edit(
        "what an annotation names",
        [replace("lib.py", "KIND = setting(1)", "KIND = setting(3)")],
        between(
            ["! test_lib.py::test_kind"],
            // It could do that at any time.
            [
                "test_lib.py::test_deep",
                "test_lib.py::test_limit",
                "test_lib.py::test_members",
                "test_lib.py::test_plain",
            ],
        ),
    )
    .edit(
        "what the text in a type names",
        [replace("lib.py", "DEEP = setting(1)", "DEEP = setting(3)")],
        between(
            ["! test_lib.py::test_deep"],
            [
                "test_lib.py::test_kind",
                "test_lib.py::test_limit",
                "test_lib.py::test_members",
                "test_lib.py::test_plain",
            ],
        ),
    )
    .edit(
        "a member of a class that an annotation names",
        [replace("lib.py", "size = setting(1)", "size = setting(3)")],
        between(
            ["! test_lib.py::test_members"],
            [
                "test_lib.py::test_deep",
                "test_lib.py::test_kind",
                "test_lib.py::test_limit",
                "test_lib.py::test_plain",
            ],
        ),
    )
    .edit(
        "what no annotation names",
        [replace(
            "lib.py",
            "LIMIT = setting(1)",
            "LIMIT = setting(3)",
        )],
        ["! test_lib.py::test_limit"],
    )
}

//! Code that a program makes of text: what it spells, wherever it runs.

use crate::harness::*;

cases!(code_made_of_text, templates, frames);

/// `exec` and `eval` lead to what their code names, and to no more.
fn code_made_of_text() -> Case {
    Case::new(
        r#"
-- engine.py --
import functools

import values

CACHE = {}
PLAIN = "plain"


def build(text, name="<made>"):
    space = {"start": 1}
    exec(compile(text, name, "exec"), space)
    return space["root"]


@functools.lru_cache(maxsize=None)
def kept(text):
    return build(text)


def here(text):
    return eval(text)


def into_own(text):
    exec(text, globals())


def bind(function, text):
    function.__code__ = build(text).__code__
    return function
-- values.py --
A = 1
B = 2
C = 3
D = 4
E = 5
F = 6
-- test_made.py --
import trace
import types

import engine
import values

FUNCTION = "def root():\n    from values import {0}\n    return {0}\n"


def test_name():
    assert engine.build(FUNCTION.format("A"))() == 1


def test_attribute():
    assert engine.build("import values\ndef root():\n    return values.B\n")() == 2


def test_missing():
    made = engine.build("def root():\n try:\n  from values import Z\n except ImportError:\n  return 0\n return Z\n")
    assert made() == 0


def test_own_names():
    assert engine.here("PLAIN") == "plain"


def test_missing_own_name():
    try:
        assert engine.here("LATER") == 0
    except NameError:
        pass


def test_first_to_keep():
    assert engine.kept(FUNCTION.format("C"))() == 3


def test_from_cache():
    assert engine.kept(FUNCTION.format("C"))() == 3


def test_function_of_code():
    code = compile(FUNCTION.format("D"), "<made>", "exec").co_consts[0]
    space = {}
    exec("", space)
    assert types.FunctionType(code, space)() == 4


def test_given_to_a_function():
    assert engine.bind(lambda: 0, FUNCTION.format("E"))() == 5


def test_run_by_the_library():
    space = {}
    code = compile("from values import F as found", "<made>", "exec")
    trace.Trace(count=0, trace=0).runctx(code, space, space)
    assert space["found"] == 6


def test_none():
    assert engine.build("def root():\n    return 5\n")() == 5
"#,
    )
    .edit(
        "a name that code imports",
        [replace("values.py", "A = 1", "A = 7")],
        ["! test_made.py::test_name", "test_made.py::test_attribute"],
    )
    .edit(
        "an attribute of a module that it imports",
        [replace("values.py", "B = 2", "B = 7")],
        ["! test_made.py::test_attribute"],
    )
    .edit(
        "a name that is missing",
        [replace("values.py", "A = 1", "A = 1\nZ = 1")],
        [
            "! test_made.py::test_missing",
            "test_made.py::test_attribute",
        ],
    )
    .edit(
        "a global name of who runs it",
        [replace("engine.py", "\"plain\"", "\"other\"")],
        ["! test_made.py::test_own_names"],
    )
    .edit(
        "a global name that appears",
        [replace("engine.py", "PLAIN =", "LATER = 3\nPLAIN =")],
        ["! test_made.py::test_missing_own_name"],
    )
    .edit(
        "what code in a cache names",
        [replace("values.py", "C = 3", "C = 7")],
        [
            "! test_made.py::test_first_to_keep",
            "! test_made.py::test_from_cache",
            "test_made.py::test_attribute",
        ],
    )
    .edit(
        "what a function names that is made of code",
        [replace("values.py", "D = 4", "D = 7")],
        [
            "! test_made.py::test_function_of_code",
            "test_made.py::test_attribute",
        ],
    )
    .edit(
        "what code names that a function is given",
        [replace("values.py", "E = 5", "E = 7")],
        [
            "! test_made.py::test_given_to_a_function",
            "test_made.py::test_attribute",
        ],
    )
    .edit(
        "what code names that the library runs",
        [replace("values.py", "F = 6", "F = 7")],
        [
            "! test_made.py::test_run_by_the_library",
            "test_made.py::test_attribute",
        ],
    )
}

/// Functions of a template engine: compiled once, kept by the program, run by
/// tests that did not make them.
fn templates() -> Case {
    Case::new(
        r#"
-- engine.py --
import runtime


class Template:
    made = None

    def __init__(self, text):
        names = ", ".join(sorted(set(text.split())))
        source = "from runtime import " + names + "\ndef root():\n    return [" + names + "]\n"
        space = {}
        exec(compile(source, "page.txt", "exec"), space)
        self.root = space["root"]

    def render(self):
        return self.root()
-- runtime.py --
upper = 1
lower = 2
title = 3
-- test_pages.py --
import engine
import pytest

PAGE = engine.Template("upper")


@pytest.fixture(scope="module")
def page():
    return engine.Template("lower")


def test_page_of_the_module():
    assert PAGE.render() == [1]


def test_page_of_a_fixture(page):
    assert page.render() == [2]


def test_the_same_page(page):
    assert page.render() == [2]


def test_own_page():
    assert engine.Template("title").render() == [3]


def test_none():
    assert engine.Template.made is None
"#,
    )
    .edit(
        "what a template of the module names",
        // Every test of the file needs its import.
        [replace("runtime.py", "upper = 1", "upper = 4")],
        all_but([], ["test_pages.py::test_page_of_the_module"]),
    )
    .edit(
        "what a fixture's template names",
        [replace("runtime.py", "lower = 2", "lower = 4")],
        [
            "! test_pages.py::test_page_of_a_fixture",
            "! test_pages.py::test_the_same_page",
        ],
    )
    .edit(
        "what a test's template names",
        [replace("runtime.py", "title = 3", "title = 4")],
        ["! test_pages.py::test_own_page"],
    )
}

/// Frames give the names of the modules whose code ran.
fn frames() -> Case {
    Case::new(
        r#"
-- lib.py --
import pickle

KEPT = pickle.dumps((1, 2))
LEVEL = 1
OTHER = 1


def fail():
    raise ValueError("no")


def level_of(error):
    return error.__traceback__.tb_frame.f_globals.get("LEVEL", 0)


def next_level_of(error):
    return error.__traceback__.tb_next.tb_frame.f_globals.get("LEVEL", 0)


def variables_of(error):
    return sorted(error.__traceback__.tb_frame.f_locals)


def fail_with_a_module():
    import other
    raise ValueError(other.__name__)


def hidden_in(error):
    held = error.__traceback__.tb_next.tb_frame.f_locals
    return [getattr(value, "HID" + "DEN") for value in held.values()]


def is_pickler(thing):
    return isinstance(thing, pickle.Pickler)
-- other.py --
HIDDEN = 1
-- test_frames.py --
import lib
import pytest


def raised():
    with pytest.raises(ValueError) as caught:
        lib.fail()
    return caught.value


def test_level():
    error = raised()
    # Of this very file it is missing.
    assert lib.level_of(error) == 0


def test_variables():
    assert lib.variables_of(raised()) == ["caught"]


def test_module_in_a_frame():
    try:
        lib.fail_with_a_module()
    except ValueError as error:
        assert lib.hidden_in(error) == [1]


def test_pickler():
    assert not lib.is_pickler(1)


def test_next_level():
    try:
        lib.fail()
    except ValueError as error:
        frame = error.__traceback__.tb_next.tb_frame
        assert frame.f_globals.get("LEVEL") == 1
"#,
    )
    .edit(
        "a name that frames are asked for",
        [replace("lib.py", "LEVEL = 1", "LEVEL = 2")],
        [
            "test_frames.py::test_level",
            "! test_frames.py::test_next_level",
        ],
    )
    .edit(
        "the same, where it was missing",
        [replace(
            "test_frames.py",
            "import pytest\n",
            "import pytest\n\nLEVEL = 5\n",
        )],
        [
            "! test_frames.py::test_level",
            "test_frames.py::test_next_level",
        ],
    )
    .edit(
        "what a module has that a function imports",
        [replace("other.py", "HIDDEN = 1", "HIDDEN = 2")],
        ["! test_frames.py::test_module_in_a_frame"],
    )
    .edit(
        "another name of their module",
        [replace("lib.py", "OTHER = 1", "OTHER = 2")],
        NONE,
    )
}

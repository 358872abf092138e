//! Code that is generated, and what code gets from frames and tracebacks: such code reads what
//! no source of it spells, and nothing else.

use crate::harness::*;

cases!(generated, kept, templates, frames, lines);

const CORE: &str = r#"
-- core.py --
def setting(value):
    return value


LIMIT = setting(1)
OTHER = setting(2)
NAMES = [setting("a")]


def step():
    return LIMIT
"#;

fn limit() -> Vec<Change> {
    vec![replace(
        "core.py",
        "LIMIT = setting(1)",
        "LIMIT = setting(3)",
    )]
}

fn other() -> Vec<Change> {
    vec![replace(
        "core.py",
        "OTHER = setting(2)",
        "OTHER = setting(4)",
    )]
}

fn more() -> Vec<Change> {
    vec![append("core.py", "\n\nMISSING = setting(5)\n")]
}

const GENERATED: &str = r#"
-- test_generated.py --
import types

import core
from core import *


def test_nothing():
    space = {}
    exec("x = 1 + 1", space)
    assert space["x"] == 2


def test_eval():
    assert eval("core.LIMIT") == 1


def test_global():
    assert eval("LIMIT") == 1


def test_space():
    assert eval("held.LIMIT", {"held": core}) == 1


def test_import():
    space = {}
    exec("from core import LIMIT as found", space)
    assert space["found"] == 1


def test_import_module():
    space = {}
    exec("import core as c\nfound = getattr(c, 'LI' + 'MIT')", space)
    assert space["found"] == 1


def test_compiled():
    code = compile("core.LIMIT", "<made>", "eval")
    assert eval(code) == 1


def test_nested():
    space = {}
    exec("def f():\n    from core import LIMIT\n    return LIMIT", space)
    assert space["f"]() == 1


def test_made():
    code = compile("def f():\n    return core.LIMIT", "<made>", "exec")
    made = types.FunctionType(code.co_consts[0], globals())
    assert made() == 1


def test_replaced():
    def f():
        return 0

    code = compile("def f():\n    return core.LIMIT", "<made>", "exec")
    f.__code__ = code.co_consts[0]
    assert f() == 1


def test_twice():
    assert eval("eval('core.LI' + 'MIT')") == 1


def test_text():
    assert eval("getattr(core, name)", {"core": core, "name": "LI" + "MIT"}) == 1


def test_mapped():
    assert list(map(eval, ["core.LI" + "MIT"])) == [1]


def test_absent():
    try:
        found = eval("core.MISSING")
    except AttributeError:
        found = None
    assert found is None


def test_absent_import():
    space = {}
    try:
        exec("from core import MISSING", space)
    except ImportError:
        pass
    assert "MISSING" not in space


def test_absent_global():
    try:
        found = eval("MISSING")
    except NameError:
        found = None
    assert found is None
"#;

/// Ways to run generated code.
fn generated() -> Case {
    Case::new(format!("{CORE}{GENERATED}"))
        .by_value()
        .edit(
            "a value that generated code reads",
            limit(),
            Expect::Between(
                vec![
                    "! test_generated.py::test_eval",
                    "! test_generated.py::test_global",
                    "! test_generated.py::test_space",
                    "! test_generated.py::test_import",
                    "! test_generated.py::test_import_module",
                    "! test_generated.py::test_compiled",
                    "! test_generated.py::test_nested",
                    "! test_generated.py::test_made",
                    "! test_generated.py::test_replaced",
                    "! test_generated.py::test_twice",
                    "! test_generated.py::test_text",
                    "! test_generated.py::test_mapped",
                ],
                // They hand on the module, or may import it.
                vec![
                    "test_generated.py::test_absent",
                    "test_generated.py::test_absent_import",
                ],
            ),
        )
        .edit(
            "a name that generated code lacks",
            more(),
            Expect::Between(
                vec![
                    "! test_generated.py::test_absent",
                    "! test_generated.py::test_absent_import",
                    "! test_generated.py::test_absent_global",
                ],
                vec![
                    "test_generated.py::test_import_module",
                    "test_generated.py::test_twice",
                    "test_generated.py::test_text",
                    "test_generated.py::test_mapped",
                    "test_generated.py::test_space",
                    "test_generated.py::test_eval",
                    "test_generated.py::test_compiled",
                    "test_generated.py::test_global",
                    "test_generated.py::test_import",
                    "test_generated.py::test_nested",
                    "test_generated.py::test_made",
                    "test_generated.py::test_replaced",
                    "test_generated.py::test_nothing",
                ],
            ),
        )
}

/// Code that is generated at import, by a fixture, or by another test, and runs later.
fn kept() -> Case {
    let tests = r#"
-- making.py --
import core

SPACE = {"core": core}
exec("def made():\n    return core.LIMIT", SPACE)
made = SPACE["made"]
held = eval("lambda: core.LIMIT", {"core": core})
code = compile("core.LIMIT", "<kept>", "eval")
KEPT = {}
-- test_kept.py --
import pytest

import making


@pytest.fixture(scope="module")
def late():
    space = {"core": making.core}
    exec("def late():\n    return core.LIMIT", space)
    return space["late"]


def test_nothing():
    assert making.KEPT == {}


def test_made():
    assert making.made() == 1


def test_held():
    assert making.held() == 1


def test_code():
    assert eval(making.code, {"core": making.core}) == 1


def test_first(late):
    assert late() == 1


def test_second(late):
    assert late() + 1 == 2


def test_keep():
    exec("def f():\n    return core.LIMIT", {"core": making.core}, making.KEPT)


def test_use():
    assert making.KEPT["f"]() == 1
"#;
    Case::new(format!("{CORE}{tests}")).by_value().edit(
        "a value that code of before reads",
        limit(),
        Expect::Between(
            vec![
                "! test_kept.py::test_made",
                "! test_kept.py::test_held",
                "! test_kept.py::test_code",
                "! test_kept.py::test_first",
                "! test_kept.py::test_second",
                "! test_kept.py::test_use",
            ],
            vec!["test_kept.py::test_keep", "test_kept.py::test_nothing"],
        ),
    )
}

/// A template engine: generated code has names of its own, and reads few of the program.
fn templates() -> Case {
    let text = r#"
-- engine.py --
import core


def render(source):
    code = compile(source, "<template>", "exec")
    space = {"upper": str.upper}
    exec(code, space)
    return space["result"]
-- test_engine.py --
from engine import render


def test_plain():
    assert render("result = upper('a')") == "A"


def test_core():
    assert render("from core import LIMIT\nresult = LIMIT") == 1


def test_others():
    assert render("from core import OTHER\nresult = OTHER") == 2
"#;
    Case::new(format!("{CORE}{text}"))
        .by_value()
        .edit("what one reads", limit(), ["! test_engine.py::test_core"])
        .edit(
            "what another reads",
            other(),
            ["! test_engine.py::test_others"],
        )
        .edit("what none reads", more(), NONE)
}

/// What frames hand out.
fn frames() -> Case {
    let text = r#"
-- helper.py --
import inspect
import sys


def names():
    return sys._getframe(1).f_globals


def variables():
    return inspect.currentframe().f_back.f_locals


def caller():
    return sys._getframe(1).f_code.co_name


def all_of(function):
    return function.__globals__


def one_of(function):
    return function.__globals__["OTHER"]


def module_of(function):
    return function.__globals__["core"]


def put(function):
    return function.__globals__.update


def ask(function, key="__globals__"):
    return getattr(function, key).get("LI" + "MIT")
-- test_frames.py --
import core
import helper


def test_name():
    assert helper.caller() == "test_name"


def test_globals():
    found = helper.names()["core"]
    assert vars(found)["LI" + "MIT"] == 1


def test_locals():
    import core as here
    assert vars(helper.variables()["here"])["LI" + "MIT"] == 1


def test_function():
    assert helper.all_of(core.step)["LI" + "MIT"] == 1


def test_one_name():
    assert helper.one_of(core.step) == 2


def test_by_name():
    assert helper.ask(core.step) == 1


def test_module():
    assert vars(helper.module_of(test_module))["LI" + "MIT"] == 1


def test_method():
    assert helper.put(core.step).__self__["LI" + "MIT"] == 1


def test_of_another():
    assert "sys" in helper.all_of(helper.names)
"#;
    Case::new(format!("{CORE}{text}"))
        .by_value()
        .edit(
            "a value that is looked up in what a frame or a function gave",
            limit(),
            [
                "! test_frames.py::test_globals",
                "! test_frames.py::test_locals",
                "! test_frames.py::test_function",
                "! test_frames.py::test_by_name",
                "! test_frames.py::test_module",
                "! test_frames.py::test_method",
            ],
        )
        .edit(
            "a value that is asked for by its name",
            other(),
            between(
                ["! test_frames.py::test_one_name"],
                [
                    "test_frames.py::test_globals",
                    "test_frames.py::test_locals",
                    "test_frames.py::test_function",
                    "test_frames.py::test_by_name",
                    "test_frames.py::test_module",
                    "test_frames.py::test_method",
                ],
            ),
        )
}

/// Line numbers that a program asks for are those of the file.
fn lines() -> Case {
    let text = r#"
-- core.py --
import sys

SIZE = len("a")


def fail():
    raise ValueError


def here():
    return sys._getframe().f_lineno


def quiet():
    return 1
-- test_lines.py --
import core


def test_raised():
    try:
        core.fail()
    except ValueError as error:
        found = error.__traceback__
    assert found.tb_next.tb_lineno == 7


def test_here():
    assert core.here() == 11


def test_first_line():
    assert core.quiet.__code__.co_firstlineno == 14


def test_quiet():
    assert core.quiet() == 1


def test_not_asked():
    try:
        core.fail()
    except ValueError as error:
        assert error.__traceback__ is not None
"#;
    Case::new(text)
        .by_value()
        .edit(
            "an import",
            [replace("core.py", "import sys", "import os\nimport sys")],
            [
                "! test_lines.py::test_raised",
                "! test_lines.py::test_here",
                "! test_lines.py::test_first_line",
            ],
        )
        .edit(
            "a value, in its line",
            [replace("core.py", r#"len("a")"#, r#"len("aa")"#)],
            [
                "test_lines.py::test_raised",
                "test_lines.py::test_here",
                "test_lines.py::test_first_line",
            ],
        )
}

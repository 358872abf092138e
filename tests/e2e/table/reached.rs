//! State that outlives a test, and code that comes to it without a function that names it.

use crate::harness::*;

cases!(lambdas, proxies, looked_up);

/// Code outside functions reads what a test left behind.
fn lambdas() -> Case {
    Case::new(
        r#"
-- lib.py --
COUNTS = {}


def fill():
    COUNTS["a"] = step(1)


def step(x):
    return x


peek = lambda: COUNTS.get("a")
-- test_lib.py --
import lib


def test_fill():
    lib.fill()


def test_peek():
    assert lib.peek() == 1


def test_none():
    pass
"#,
    )
    .edit(
        "what filled the container",
        [replace("lib.py", "return x", "return x + 1")],
        ["test_lib.py::test_fill", "! test_lib.py::test_peek"],
    )
}

/// A dead proxy: inspecting it runs the program's code, which fails.
fn proxies() -> Case {
    Case::new(
        r#"
-- service.py --
class Proxy:
    def _value(self):
        raise RuntimeError("outside of a request")

    __class__ = property(_value)
    __dict__ = property(_value)


current = Proxy()


def work():
    return 1


def other():
    return 1
-- test_service.py --
import pytest
import service


@pytest.fixture(scope="session")
def proxy():
    return {"proxy": service.current}


def test_with_a_proxy(proxy):
    assert service.work() == 1


def test_without():
    assert service.other() == 1
"#,
    )
    .edit(
        "nothing that tests use",
        [append("service.py", "\n\ndef unused():\n    return 1\n")],
        [],
    )
    .edit(
        "what one test runs",
        [replace(
            "service.py",
            "other():\n    return 1",
            "other():\n    return 2",
        )],
        ["! test_service.py::test_without"],
    )
}

/// A global that a test changes, and code that looks up names that nobody spells.
fn looked_up() -> Case {
    Case::new(
        r#"
-- core.py --
REGISTRY = {}


def register(name):
    REGISTRY[name] = make(name)


def make(name):
    return name
-- other.py --
class Thing:
    size = 1


def look(thing, name):
    return getattr(thing, name)
-- hub.py --
import core

HELD = [core]


def held():
    return HELD[0]
-- test_change.py --
import core


def test_register():
    core.register("a")
-- test_look.py --
import core
import other


def test_instance():
    assert other.look(other.Thing(), "si" + "ze") == 1


def test_named():
    assert core.REGISTRY.get("a", "a") == "a"


def test_module():
    assert other.look(core, "REGIS" + "TRY").get("a", "a") == "a"
-- test_held.py --
import hub
import other


def test_held():
    assert other.look(hub.held(), "REGIS" + "TRY").get("a", "a") == "a"
"#,
    )
    .edit(
        "what the global gets",
        [replace("core.py", "    return name", "    return name * 2")],
        [
            "test_change.py::test_register",
            "! test_held.py::test_held",
            "! test_look.py::test_named",
            "! test_look.py::test_module",
        ],
    )
}

//! Code that does not run from top to bottom: generators, descriptors, generated code, and
//! code that replaces other code.

use crate::harness::*;

cases!(descriptors, replaced, generated, suspended);

const SUSPENDED: &str = r#"
-- lib.py --
def numbers():
    yield 1
    yield from more()


def more():
    yield 2


async def answer():
    return await inner()


async def inner():
    return 1


async def ticks():
    yield 1


def counter():
    count = 0
    while True:
        count += 1
        yield step(count)


def step(count):
    return count


class Manager:
    def __enter__(self):
        return 1

    def __exit__(self, *_):
        leave()


def leave():
    pass
-- test_suspended.py --
import asyncio

import lib
import pytest


def test_generator():
    assert list(lib.numbers()) == [1, 2]


def test_coroutine():
    assert asyncio.run(lib.answer()) == 1


def test_async_generator():
    async def collect():
        return [tick async for tick in lib.ticks()]
    assert asyncio.run(collect()) == [1]


def test_manager():
    with lib.Manager() as value:
        assert value == 1


def test_expression():
    assert sum(lib.step(x) for x in range(3)) == 3


@pytest.fixture(scope="module")
def counting():
    return lib.counter()


def test_count_one(counting):
    assert next(counting) == 1


def test_count_two(counting):
    assert next(counting) >= 1


def test_none():
    pass
"#;

/// Bodies that stop and continue: generators and coroutines.
fn suspended() -> Case {
    Case::new(SUSPENDED)
        .edit(
            "generator",
            [replace(
                "lib.py",
                "yield 1\n    yield from",
                "yield 0\n    yield from",
            )],
            ["! test_suspended.py::test_generator"],
        )
        .edit(
            "delegate",
            [replace("lib.py", "yield 2", "yield 3")],
            ["! test_suspended.py::test_generator"],
        )
        .edit(
            "coroutine",
            [replace(
                "lib.py",
                "    return 1\n\n\nasync def ticks",
                "    return 2\n\n\nasync def ticks",
            )],
            ["! test_suspended.py::test_coroutine"],
        )
        .edit(
            "async generator",
            [replace(
                "lib.py",
                "ticks():\n    yield 1",
                "ticks():\n    yield 2",
            )],
            ["! test_suspended.py::test_async_generator"],
        )
        .edit(
            "exit of a context manager",
            [replace("lib.py", "    pass", "    raise ValueError")],
            ["! test_suspended.py::test_manager"],
        )
        .edit(
            "generator that two tests drive",
            [replace("lib.py", "count += 1", "count -= 1")],
            // The generator is closed after the last test; on 3.11 that resumes it.
            between(
                [
                    "! test_suspended.py::test_count_one",
                    "! test_suspended.py::test_count_two",
                ],
                ["test_suspended.py::test_none"],
            ),
        )
        .edit(
            "called by a generator that two tests drive",
            [replace("lib.py", "return count", "return -count")],
            [
                "! test_suspended.py::test_expression",
                "! test_suspended.py::test_count_one",
                "! test_suspended.py::test_count_two",
            ],
        )
}

const DESCRIPTORS: &str = r#"
-- lib.py --
class Field:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner):
        return getattr(instance, self.name, 1)

    def __set__(self, instance, value):
        setattr(instance, self.name, value)


class Model:
    field = Field()

    @property
    def prop(self):
        return 1

    @prop.setter
    def prop(self, value):
        self.other = value

    def __getattr__(self, name):
        if name.startswith("dynamic"):
            return 1
        raise AttributeError(name)

    def __eq__(self, other):
        return True

    def __len__(self):
        return 1

    def __repr__(self):
        return "Model"


def __getattr__(name):
    if name == "module_attribute":
        return 1
    raise AttributeError(name)
-- test_descriptors.py --
import lib


def test_get():
    assert lib.Model().field == 1


def test_set():
    model = lib.Model()
    model.field = 2
    assert model._field == 2


def test_property():
    assert lib.Model().prop == 1


def test_setter():
    model = lib.Model()
    model.prop = 2
    assert model.other == 2


def test_getattr():
    assert lib.Model().dynamic == 1


def test_eq():
    assert lib.Model() == 1


def test_len():
    assert len(lib.Model()) == 1


def test_repr():
    assert "{!r}".format(lib.Model()) == "Model"


def test_module_getattr():
    assert lib.module_attribute == 1


def test_none():
    pass
"#;

/// Code that attribute access runs.
fn descriptors() -> Case {
    Case::new(DESCRIPTORS)
        .edit(
            "__get__",
            [replace("lib.py", "self.name, 1)", "self.name, 2)")],
            ["! test_descriptors.py::test_get"],
        )
        .edit(
            "__set__",
            [replace("lib.py", "self.name, value)", "self.name, -value)")],
            ["! test_descriptors.py::test_set"],
        )
        .edit(
            "__set_name__, which runs at import",
            [replace("lib.py", "\"_\" + name", "\"__\" + name")],
            all_but([], ["test_descriptors.py::test_set"]),
        )
        .edit(
            "property",
            [replace(
                "lib.py",
                "def prop(self):\n        return 1",
                "def prop(self):\n        return 2",
            )],
            // The functions of a property share one qualified name.
            [
                "! test_descriptors.py::test_property",
                "test_descriptors.py::test_setter",
            ],
        )
        .edit(
            "setter",
            [replace(
                "lib.py",
                "self.other = value",
                "self.other = -value",
            )],
            [
                "! test_descriptors.py::test_setter",
                "test_descriptors.py::test_property",
            ],
        )
        .edit(
            "__getattr__",
            [replace(
                "lib.py",
                "            return 1",
                "            return 2",
            )],
            // The descriptor looks for an attribute that the object does not have.
            [
                "! test_descriptors.py::test_getattr",
                "test_descriptors.py::test_get",
            ],
        )
        .edit(
            "__eq__",
            [replace("lib.py", "return True", "return False")],
            ["! test_descriptors.py::test_eq"],
        )
        .edit(
            "__len__",
            [replace(
                "lib.py",
                "__len__(self):\n        return 1",
                "__len__(self):\n        return 2",
            )],
            ["! test_descriptors.py::test_len"],
        )
        .edit(
            "__repr__",
            [replace("lib.py", "\"Model\"", "\"M\"")],
            ["! test_descriptors.py::test_repr"],
        )
        .edit(
            "module's __getattr__",
            [replace(
                "lib.py",
                "\"module_attribute\":\n        return 1",
                "\"module_attribute\":\n        return 2",
            )],
            // pytest itself asks modules for attributes when it collects a file.
            between(
                ["! test_descriptors.py::test_module_getattr"],
                [
                    "test_descriptors.py::test_get",
                    "test_descriptors.py::test_set",
                    "test_descriptors.py::test_property",
                    "test_descriptors.py::test_setter",
                    "test_descriptors.py::test_getattr",
                    "test_descriptors.py::test_eq",
                    "test_descriptors.py::test_len",
                    "test_descriptors.py::test_repr",
                    "test_descriptors.py::test_none",
                ],
            ),
        )
}

/// Code that is made while a test runs.
fn generated() -> Case {
    Case::new(
        r#"
-- lib.py --
import collections

SOURCE = "def made():\n    return 1\n"

Point = collections.namedtuple("Point", "x y")


def build():
    space = {}
    exec(SOURCE, space)
    return space["made"]


def from_file(path):
    space = {}
    with open(path) as file:
        exec(compile(file.read(), path, "exec"), space)
    return space["made"]


def text():
    return "1 + 1"


def module_text():
    return "VALUE = 1\n"
-- template.txt --
def made():
    return 1
-- test_generated.py --
import os
import sys

import lib

HERE = os.path.dirname(os.path.abspath(__file__))


def test_exec():
    assert lib.build()() == 1


def test_file():
    assert lib.from_file(os.path.join(HERE, "template.txt"))() == 1


def test_eval():
    assert eval(lib.text()) == 2


def test_written_module(tmp_path, monkeypatch):
    (tmp_path / "written_by_test.py").write_text(lib.module_text())
    monkeypatch.syspath_prepend(str(tmp_path))
    import written_by_test
    assert written_by_test.VALUE == 1
    del sys.modules["written_by_test"]


def test_namedtuple():
    assert lib.Point(1, 2).y == 2


def test_none():
    pass
"#,
    )
    .edit(
        "source of exec",
        [replace("lib.py", "return 1\\n", "return 2\\n")],
        // Without the native helper, generated code can name anything.
        Expect::Between(
            vec!["! test_generated.py::test_exec"],
            vec![
                "test_generated.py::test_file",
                "test_generated.py::test_eval",
                "test_generated.py::test_written_module",
            ],
        ),
    )
    .edit(
        "function that calls exec",
        [replace(
            "lib.py",
            "return space[\"made\"]\n\n\ndef from_file",
            "return lambda: 3\n\n\ndef from_file",
        )],
        ["! test_generated.py::test_exec"],
    )
    .edit(
        "file that is executed",
        [replace("template.txt", "return 1", "return 2")],
        ["! test_generated.py::test_file"],
    )
    .edit(
        "text for eval",
        [replace("lib.py", "1 + 1", "1 + 2")],
        ["! test_generated.py::test_eval"],
    )
    .edit(
        "text of a module",
        [replace("lib.py", "VALUE = 1", "VALUE = 2")],
        ["! test_generated.py::test_written_module"],
    )
}

/// Functions with which a test replaces others.
fn replaced() -> Case {
    Case::new(
        r#"
-- lib.py --
def clock():
    return 1


def now():
    return clock()


def fake():
    return 5
-- plain.py --
def start():
    return 1


VALUE = start()


def get():
    return VALUE
-- test_replaced.py --
import lib


def test_patched(monkeypatch):
    monkeypatch.setattr(lib, "clock", lib.fake)
    assert lib.now() == 5


def test_patched_lambda(monkeypatch):
    monkeypatch.setattr("lib.clock", lambda: 7)
    assert lib.now() == 7


def test_real():
    assert lib.now() == 1


def test_mock():
    from unittest import mock
    with mock.patch("lib.clock", return_value=9):
        assert lib.now() == 9
-- test_reload.py --
import importlib

import plain


def test_reload():
    importlib.reload(plain)
    assert plain.get() == 1


def test_after():
    assert plain.get() == 1


def test_none():
    pass
"#,
    )
    .edit(
        "the replacement",
        [replace("lib.py", "return 5", "return 6")],
        ["! test_replaced.py::test_patched"],
    )
    .edit(
        "the replaced",
        [replace(
            "lib.py",
            "clock():\n    return 1",
            "clock():\n    return 2",
        )],
        ["! test_replaced.py::test_real"],
    )
    .edit(
        "body in a reloaded module",
        [replace("plain.py", "return VALUE", "return -VALUE")],
        [
            "! test_reload.py::test_reload",
            "! test_reload.py::test_after",
        ],
    )
    .edit(
        "run at import and at reload",
        [replace("plain.py", "return 1", "return 2")],
        [
            "! test_reload.py::test_reload",
            "! test_reload.py::test_after",
            "test_reload.py::test_none",
        ],
    )
}

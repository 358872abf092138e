//! State that caches and objects of the standard library hold: a later test that reads it
//! depends on the code of the test that put it there.

use crate::harness::*;

cases!(cached_values, library_objects, wrapped);

/// The test that changes a value which a cache has given out, and the one that sees it.
fn cached_values() -> Case {
    Case::new(
        r#"
-- lib.py --
import functools


@functools.lru_cache(maxsize=None)
def options():
    return {"depth": 1, "seen": []}


class Item:
    size = 0


@functools.lru_cache(maxsize=None)
def item(name):
    return Item()


class Parser:
    @functools.lru_cache(maxsize=None)
    def rules(self):
        return ["first"]


PARSER = Parser()
-- helper.py --
def entry():
    return "a"


def size():
    return 3


def rule():
    return "second"


def unused():
    return 1
-- test_change.py --
import helper
import lib


def test_entry():
    lib.options()["seen"].append(helper.entry())


def test_size():
    lib.item("box").size = helper.size()


def test_rule():
    lib.PARSER.rules().append(helper.rule())
-- test_read.py --
import lib


def test_entry():
    assert lib.options()["seen"] in ([], ["a"])


def test_size():
    assert lib.item("box").size in (0, 3)


def test_rule():
    assert lib.PARSER.rules() in (["first"], ["first", "second"])


def test_none():
    pass
"#,
    )
    .edit(
        "entry of a cached dict",
        [replace("helper.py", "\"a\"", "\"b\"")],
        ["test_change.py::test_entry", "! test_read.py::test_entry"],
    )
    .edit(
        "attribute of a cached object",
        [replace("helper.py", "return 3", "return 4")],
        ["test_change.py::test_size", "! test_read.py::test_size"],
    )
    .edit(
        "list that a method's cache keeps",
        [replace("helper.py", "\"second\"", "\"third\"")],
        ["test_change.py::test_rule", "! test_read.py::test_rule"],
    )
}

const LIBRARY_OBJECTS: &str = r#"
-- lib.py --
import argparse
import collections
import configparser
import contextlib
import queue
import threading

WAITING = queue.Queue()
PARSER = argparse.ArgumentParser()
CONFIG = configparser.ConfigParser()
USERS = collections.UserDict()
CHAIN = collections.ChainMap({})
STACK = contextlib.ExitStack()
READY = threading.Event()
-- helper.py --
def waiting():
    return "a"


def flag():
    return "--fast"


def value():
    return "1"


def user():
    return "ann"


def link():
    return "b"


def callback():
    return print


def ready():
    return True
-- test_change.py --
import helper
import lib


def test_queue():
    lib.WAITING.put(helper.waiting())


def test_parser():
    lib.PARSER.add_argument(helper.flag(), action="store_true")


def test_config():
    lib.CONFIG.read_dict({"main": {"x": helper.value()}})


def test_user():
    lib.USERS["name"] = helper.user()


def test_chain():
    lib.CHAIN["x"] = helper.link()


def test_stack():
    lib.STACK.callback(helper.callback())


def test_ready():
    if helper.ready():
        lib.READY.set()
-- test_read.py --
import lib


def test_queue():
    assert list(lib.WAITING.queue) in ([], ["a"])


def test_parser():
    assert not hasattr(lib.PARSER.parse_args([]), "slow")


def test_config():
    assert not lib.CONFIG.has_section("main") or lib.CONFIG.get("main", "x") == "1"


def test_user():
    assert lib.USERS.get("name", "ann") == "ann"


def test_chain():
    assert lib.CHAIN.get("x", "b") == "b"


def test_stack():
    assert all(args[1].__wrapped__ is print for args in lib.STACK._exit_callbacks)


def test_ready():
    assert lib.READY.is_set() or lib.USERS is not None


def test_none():
    pass
"#;

/// Instances of classes of the standard library.
fn library_objects() -> Case {
    Case::new(LIBRARY_OBJECTS)
        .edit(
            "queue",
            [replace("helper.py", "\"a\"", "\"z\"")],
            ["test_change.py::test_queue", "! test_read.py::test_queue"],
        )
        .edit(
            "parser of arguments",
            [replace("helper.py", "--fast", "--slow")],
            ["test_change.py::test_parser", "! test_read.py::test_parser"],
        )
        .edit(
            "parser of configurations",
            [replace("helper.py", "\"1\"", "\"2\"")],
            ["test_change.py::test_config", "! test_read.py::test_config"],
        )
        .edit(
            "user's dictionary",
            [replace("helper.py", "\"ann\"", "\"bob\"")],
            between(
                ["test_change.py::test_user", "! test_read.py::test_user"],
                ["test_read.py::test_ready"],
            ),
        )
        .edit(
            "chain of dictionaries",
            [replace("helper.py", "\"b\"", "\"c\"")],
            ["test_change.py::test_chain", "! test_read.py::test_chain"],
        )
        .edit(
            "stack of callbacks",
            [replace("helper.py", "return print", "return repr")],
            ["test_change.py::test_stack", "! test_read.py::test_stack"],
        )
        .edit(
            "event",
            [replace("helper.py", "return True", "return False")],
            ["test_change.py::test_ready", "test_read.py::test_ready"],
        )
}

/// Objects in C that lead to others.
fn wrapped() -> Case {
    Case::new(
        r#"
-- lib.py --
import functools
import types


class Log:
    def __init__(self):
        self.lines = []

    def write(self, line):
        self.lines.append(line)


def join(parts, more=()):
    return ",".join([*parts, *more])


WRITE = Log().write
JOINED = functools.partial(join, [])
VIEW = types.MappingProxyType({"list": []})
SPACE = types.SimpleNamespace(count=0)


class Step(functools.partial):
    __slots__ = ("size",)


STEP = Step(join, [])
-- helper.py --
def line():
    return "a"


def part():
    return "b"


def item():
    return "c"


def count():
    return 1


def size():
    return 5
-- test_change.py --
import helper
import lib


def test_method():
    lib.WRITE(helper.line())


def test_partial():
    lib.JOINED.args[0].append(helper.part())


def test_view():
    lib.VIEW["list"].append(helper.item())


def test_space():
    lib.SPACE.count = helper.count()


def test_derived():
    lib.STEP.size = helper.size()
-- test_read.py --
import lib


def test_method():
    assert lib.WRITE.__self__.lines in ([], ["a"])


def test_partial():
    assert lib.JOINED() in ("", "b")


def test_view():
    assert lib.VIEW["list"] in ([], ["c"])


def test_space():
    assert lib.SPACE.count in (0, 1)


def test_derived():
    assert not hasattr(lib.STEP, "size") or lib.STEP.size == 5


def test_none():
    pass
"#,
    )
    .edit(
        "object of a bound method",
        [replace("helper.py", "\"a\"", "\"z\"")],
        ["test_change.py::test_method", "! test_read.py::test_method"],
    )
    .edit(
        "argument of a partial",
        [replace("helper.py", "\"b\"", "\"z\"")],
        [
            "test_change.py::test_partial",
            "! test_read.py::test_partial",
        ],
    )
    .edit(
        "mapping behind a view",
        [replace("helper.py", "\"c\"", "\"z\"")],
        ["test_change.py::test_view", "! test_read.py::test_view"],
    )
    .edit(
        "namespace",
        [replace("helper.py", "return 1", "return 2")],
        ["test_change.py::test_space", "! test_read.py::test_space"],
    )
    .edit(
        "slot of a derived partial",
        [replace("helper.py", "return 5", "return 6")],
        [
            "test_change.py::test_derived",
            "! test_read.py::test_derived",
        ],
    )
}

//! Values that functions keep: users of a value depend on the code that computed it.

use crate::harness::*;

cases!(
    caches,
    results_got_at_otherwise,
    equal_keys,
    forward_references,
    cached_properties,
    kept_properties
);

const CACHES: &str = r#"
-- lib.py --
import functools
import pathlib

cache = getattr(functools, "cache", functools.lru_cache(maxsize=None))


@functools.lru_cache()
def settings():
    return read()


def read():
    return int(pathlib.Path(__file__).with_name("settings.txt").read_text())


@cache
def table():
    return fill()


def fill():
    return {"a": 1}


@functools.lru_cache(maxsize=None)
def square(x):
    return multiply(x, x)


def multiply(x, y):
    return x * y


class Parser:
    @functools.lru_cache(maxsize=None)
    def rules(self):
        return compile_rules()


def compile_rules():
    return 1


PARSER = Parser()


def plain():
    return 1
-- settings.txt --
1
-- test_first.py --
import lib


def test_settings():
    assert lib.settings() == 1


def test_table():
    assert lib.table()["a"] == 1


def test_square():
    assert lib.square(2) == 4


def test_method():
    assert lib.PARSER.rules() == 1
-- test_second.py --
import lib


def test_settings():
    assert lib.settings() == 1


def test_table():
    assert lib.table()["a"] == 1


def test_square():
    assert lib.square(2) == 4


def test_method():
    assert lib.PARSER.rules() == 1


def test_plain():
    assert lib.plain() == 1
-- test_third.py --
def test_none():
    pass
"#;

/// `functools.lru_cache` and `cache`.
fn caches() -> Case {
    Case::new(CACHES)
        .edit(
            "lru_cache",
            [replace("lib.py", "return int(", "return 1 + int(")],
            cached([
                "! test_first.py::test_settings",
                "! test_second.py::test_settings",
            ]),
        )
        .edit(
            "file read on a miss",
            [write("settings.txt", "2\n")],
            cached([
                "! test_first.py::test_settings",
                "! test_second.py::test_settings",
            ]),
        )
        .edit(
            "cache",
            [replace("lib.py", "{\"a\": 1}", "{\"a\": 2}")],
            cached([
                "! test_first.py::test_table",
                "! test_second.py::test_table",
            ]),
        )
        .edit(
            "cache with arguments",
            [replace("lib.py", "x * y", "x + y + 1")],
            cached([
                "! test_first.py::test_square",
                "! test_second.py::test_square",
            ]),
        )
        .edit(
            "cached method",
            [replace(
                "lib.py",
                "compile_rules():\n    return 1",
                "compile_rules():\n    return 2",
            )],
            cached([
                "! test_first.py::test_method",
                "! test_second.py::test_method",
            ]),
        )
}

/// The code of a cache may be charged to every test whose modules reach the cache.
fn cached(lower: [&'static str; 2]) -> Expect {
    between(
        lower,
        [
            "test_first.py::test_settings",
            "test_first.py::test_table",
            "test_first.py::test_square",
            "test_first.py::test_method",
            "test_second.py::test_settings",
            "test_second.py::test_table",
            "test_second.py::test_square",
            "test_second.py::test_method",
            "test_second.py::test_plain",
        ],
    )
}

/// `functools.cached_property` of objects that outlive a test.
fn cached_properties() -> Case {
    Case::new(
        r#"
-- lib.py --
import functools


class Client:
    @functools.cached_property
    def token(self):
        return login()


def login():
    return 1


class Local:
    @functools.cached_property
    def token(self):
        return local()


def local():
    return 1


CLIENT = Client()
-- other.py --
import functools


class Session:
    @functools.cached_property
    def token(self):
        return handshake()


def handshake():
    return 1
-- conftest.py --
import other
import pytest


@pytest.fixture(scope="session")
def session():
    return other.Session()
-- test_singleton.py --
import lib


def test_first():
    assert lib.CLIENT.token == 1


def test_second():
    assert lib.CLIENT.token == 1


def test_own():
    assert lib.Local().token == 1
-- test_session.py --
def test_first(session):
    assert session.token == 1


def test_second(session):
    assert session.token == 1


def test_none():
    pass
"#,
    )
    .edit(
        "of a module's object",
        [replace(
            "lib.py",
            "login():\n    return 1",
            "login():\n    return 2",
        )],
        between(
            [
                "! test_singleton.py::test_first",
                "! test_singleton.py::test_second",
            ],
            // The first one imports what these can ask.
            ["test_session.py::test_first", "test_singleton.py::test_own"],
        ),
    )
    .edit(
        "of a test's own object",
        [replace(
            "lib.py",
            "local():\n    return 1",
            "local():\n    return 2",
        )],
        between(
            ["! test_singleton.py::test_own"],
            [
                "test_singleton.py::test_first",
                "test_singleton.py::test_second",
            ],
        ),
    )
    .edit(
        "of a session fixture's value",
        [replace("other.py", "return 1", "return 2")],
        // conftest.py imports the module of the cache, so all tests reach it.
        between(
            [
                "! test_session.py::test_first",
                "! test_session.py::test_second",
            ],
            [
                "test_session.py::test_none",
                "test_singleton.py::test_first",
                "test_singleton.py::test_second",
                "test_singleton.py::test_own",
            ],
        ),
    )
}

/// Where an object can be that keeps a property, with nobody watching: what `get` is.
const KEEPERS: [(&str, &str); 15] = [
    (
        "dunder",
        "__kept__ = Client()\ndef get():\n    return __kept__",
    ),
    (
        "local",
        "LOCAL = threading.local()\nLOCAL.kept = Client()\ndef get():\n    return LOCAL.kept",
    ),
    (
        "context",
        "V = contextvars.ContextVar('v', default=Client())\ndef get():\n    return V.get()",
    ),
    (
        "generator",
        "def keep():\n    kept = Client()\n    while True:\n        yield kept\n\
         K = keep()\ndef get():\n    return next(K)",
    ),
    (
        "generator_in_turn",
        "def keep():\n    kept = yield\n    while True:\n        yield kept\n\
         K = keep()\nnext(K)\ndef get():\n    return K.send(Client())",
    ),
    (
        "closure",
        "def make():\n    kept = Client()\n    return lambda: kept\nget = make()",
    ),
    (
        "cycle",
        "K = itertools.cycle([Client()])\ndef get():\n    return next(K)",
    ),
    (
        "partial",
        "get = functools.partial(operator.pos, Client())\nClient.__pos__ = lambda self: self",
    ),
    ("method", "get = Client().itself"),
    (
        "text",
        "class Text(Client, str):\n    pass\nK = Text('k')\ndef get():\n    return K",
    ),
    (
        "enumeration",
        "class E(Client, enum.Enum):\n    K = 1\ndef get():\n    return E.K",
    ),
    (
        "weakly",
        "K = weakref.WeakValueDictionary()\ndef make():\n    kept = Client()\n    \
         kept.me = kept\n    K[1] = kept\n    return kept\ndef get():\n    \
         return K.get(1) or make()",
    ),
    (
        "reference",
        "K = []\ndef make():\n    kept = Client()\n    kept.me = kept\n    \
         K.append(weakref.ref(kept))\n    return kept\ndef get():\n    \
         return K and K[0]() or make()",
    ),
    (
        "subclass",
        "class Late(Client):\n    pass\nK = iter([Late()] * 2)\ndef get():\n    \
         return next(K)",
    ),
    (
        "exception",
        "try:\n    raise ValueError(Client())\nexcept ValueError as error:\n    \
         K = error\ndef get():\n    return K.args[0]",
    ),
];

/// Whoever gets at such an object depends on what filled it.
fn kept_properties() -> Case {
    let mut files = String::new();
    let (mut edits, mut tests) = (Vec::new(), Vec::new());
    for (name, get) in KEEPERS {
        files += &format!(
            "-- at_{name}.py --\nimport contextvars, enum, functools, itertools, operator\n\
             import threading, weakref\n\n\nclass Client:\n    @functools.cached_property\n    \
             def token(self):\n        return login()\n\n    def itself(self):\n        \
             return self\n\n\ndef login():\n    return 1\n\n\n{get}\n\
             -- test_{name}.py --\nimport at_{name}\n\n\ndef test_first():\n    \
             assert at_{name}.get().token == 1\n\n\ndef test_second():\n    \
             assert at_{name}.get().token == 1\n"
        );
        edits.push(replace(
            &format!("at_{name}.py"),
            "login():\n    return 1",
            "login():\n    return 2",
        ));
        for test in ["first", "second"] {
            tests.push(&*format!("! test_{name}.py::test_{test}").leak());
        }
    }
    Case::new(files).edit("of what objects keep", edits, Expect::AtLeast(tests))
}

/// The meaning of a name in `List["Item"]` is kept for all who write the same.
fn forward_references() -> Case {
    Case::new(
        r#"
-- a.py --
from __future__ import annotations
import typing


class Item:
    pass


def take(x: typing.List["Item"]):
    pass


def look():
    return list(typing.get_type_hints(take))
-- b.py --
from __future__ import annotations
import typing


def give(x: typing.List["Item"]):
    pass


def look():
    return list(typing.get_type_hints(give))
-- test_a.py --
import a


def test_look():
    assert a.look() != ["x", "y"]


def test_none():
    pass
-- test_b.py --
import b


def test_look():
    assert b.look() == ["x"]


def test_none():
    pass
"#,
    )
    // 3.8 does not evaluate the text.
    .since(9)
    .edit(
        "of whoever looked first",
        [replace(
            "a.py",
            "return list(typing.get_type_hints(take))",
            "return []",
        )],
        ["test_a.py::test_look", "! test_b.py::test_look"],
    )
}

/// Who gets at a cache by another way than its name meets what a test did to its results.
fn results_got_at_otherwise() -> Case {
    Case::new(
        r#"
-- boxes.py --
import functools


class Box:
    memo = None


@functools.lru_cache
def of_table(number):
    return Box()


@functools.lru_cache
def of_part(number):
    return Box()


@functools.lru_cache
def of_default(number):
    return Box()


@functools.lru_cache
def of_class(number):
    return Box()


TABLE = {"m": of_table}
PART = functools.partial(of_part, 2)


def by_default(make=of_default):
    return make(2)


class Holder:
    maker = staticmethod(of_class)
-- test_a.py --
import boxes


def text():
    return "one"


def test_sets():
    for make in (boxes.of_table, boxes.of_part, boxes.of_default, boxes.of_class):
        make(2).memo = text()
-- test_b.py --
import boxes


def test_table():
    assert (boxes.TABLE["m"](2).memo or "one") == "one"


def test_part():
    assert (boxes.PART().memo or "one") == "one"


def test_default():
    assert (boxes.by_default().memo or "one") == "one"


def test_class():
    assert (boxes.Holder.maker(2).memo or "one") == "one"
"#,
    )
    .by_value()
    .edit(
        "what is set",
        [replace("test_a.py", "\"one\"", "\"two\"")],
        [
            "test_a.py::test_sets",
            "! test_b.py::test_table",
            "! test_b.py::test_part",
            "! test_b.py::test_default",
            "! test_b.py::test_class",
        ],
    )
}

/// A cache finds a result by an equal key, which something else may have made.
fn equal_keys() -> Case {
    Case::new(
        r#"
-- lib.py --
import functools


@functools.lru_cache(maxsize=1)
def answer(value, weight=0):
    return yes() if value is True else other()


def yes():
    return 1


def other():
    return 1
-- test_lib.py --
import lib


def test_all():
    lib.answer(1, 0), lib.answer(5, 0), lib.answer(True, 0)


def test_int():
    assert lib.answer(1, 0) == 1
"#,
    )
    .by_value()
    .edit(
        "what `True` is answered by",
        [replace(
            "lib.py",
            "yes():\n    return 1",
            "yes():\n    return 2",
        )],
        ["test_lib.py::test_all", "! test_lib.py::test_int"],
    )
}

//! State that outlives a test: later tests depend on what produced it.

use crate::harness::*;

cases!(caches, cached_properties, globals, containers, at_import);

/// `functools.lru_cache` and `cache`.
fn caches() -> Case {
    Case::new(
        r#"
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
"#,
    )
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

/// A cache's code may be charged to every test whose modules reach the cache.
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

/// `functools.cached_property` of things that outlive a test.
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
            ["test_singleton.py::test_own"],
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

/// Names of a module and attributes of a class that a test binds.
fn globals() -> Case {
    Case::new(
        r#"
-- service.py --
_instance = None


class Service:
    shared = None

    def __init__(self):
        self.value = compute()


def compute():
    return 1


def get():
    global _instance
    if _instance is None:
        _instance = Service()
    return _instance


def configure():
    Service.shared = choose()


def choose():
    return 1


def other():
    return 5
-- test_service.py --
import service


def test_first():
    assert service.get().value == 1


def test_second():
    assert service.get().value == 1


def test_other():
    assert service.other() == 5


def test_configure():
    service.configure()


def test_configured():
    assert service.Service.shared == 1
-- test_apart.py --
def test_apart():
    pass
"#,
    )
    .edit(
        "singleton built lazily",
        [replace(
            "service.py",
            "compute():\n    return 1",
            "compute():\n    return 2",
        )],
        between(
            [
                "! test_service.py::test_first",
                "! test_service.py::test_second",
            ],
            // They name the module, but not what was changed in it.
            ["test_service.py::test_configured"],
        ),
    )
    .edit(
        "attribute set on a class",
        [replace(
            "service.py",
            "choose():\n    return 1",
            "choose():\n    return 2",
        )],
        [
            "test_service.py::test_configure",
            "! test_service.py::test_configured",
        ],
    )
    .edit(
        "constructor of the singleton",
        [replace(
            "service.py",
            "self.value = compute()",
            "self.value = compute() + 1",
        )],
        between(
            [
                "! test_service.py::test_first",
                "! test_service.py::test_second",
            ],
            ["test_service.py::test_configured"],
        ),
    )
}

/// Containers of a module that a test fills.
fn containers() -> Case {
    Case::new(
        r#"
-- registry.py --
HANDLERS = {}
LOG = []
SEEN = set()


class Box:
    pass


BOX = Box()


def register(name):
    HANDLERS[name] = make_handler()


def make_handler():
    return 1


def look_up(name):
    return HANDLERS[name]


def log(text):
    LOG.append(prefix() + text)


def prefix():
    return "> "


def last():
    return LOG[-1]


def put():
    BOX.inner = {}
    BOX.inner["n"] = number()


def number():
    return 1


def get():
    return BOX.inner["n"]


def mark():
    SEEN.add(item())


def item():
    return 1


def unrelated():
    return 1
-- test_a_registry.py --
import registry


def test_register():
    registry.register("a")


def test_log():
    registry.log("x")


def test_put():
    registry.put()


def test_mark():
    registry.mark()
-- test_b_registry.py --
import registry


def test_look_up():
    assert registry.look_up("a") == 1


def test_last():
    assert registry.last() == "> x"


def test_get():
    assert registry.get() == 1


def test_direct():
    assert registry.SEEN == {1}


def test_unrelated():
    assert registry.unrelated() == 1
"#,
    )
    .edit(
        "dict filled by a test",
        [replace(
            "registry.py",
            "make_handler():\n    return 1",
            "make_handler():\n    return 2",
        )],
        [
            "test_a_registry.py::test_register",
            "! test_b_registry.py::test_look_up",
        ],
    )
    .edit(
        "list appended by a test",
        [replace("registry.py", "\"> \"", "\"< \"")],
        [
            "test_a_registry.py::test_log",
            "! test_b_registry.py::test_last",
        ],
    )
    .edit(
        "object changed by a test",
        [replace(
            "registry.py",
            "number():\n    return 1",
            "number():\n    return 2",
        )],
        [
            "test_a_registry.py::test_put",
            "! test_b_registry.py::test_get",
        ],
    )
    .edit(
        "set named by the test itself",
        [replace(
            "registry.py",
            "item():\n    return 1",
            "item():\n    return 2",
        )],
        [
            "test_a_registry.py::test_mark",
            "! test_b_registry.py::test_direct",
        ],
    )
    .edit(
        "body of the test that filled it",
        [replace("test_a_registry.py", "log(\"x\")", "log(\"y\")")],
        [
            "test_a_registry.py::test_log",
            "! test_b_registry.py::test_last",
        ],
    )
    .edit(
        "nothing that was left behind",
        [replace(
            "registry.py",
            "unrelated():\n    return 1",
            "unrelated():\n    return 2",
        )],
        ["! test_b_registry.py::test_unrelated"],
    )
}

/// A module imported first by one test and used by another.
fn at_import() -> Case {
    Case::new(
        r#"
-- lazy.py --
def build():
    return 1


VALUE = build()


def second_only():
    return 1


def get():
    return VALUE
-- deeper.py --
import lazy

DOUBLE = lazy.VALUE * 2
-- test_lazy.py --
def test_first():
    import lazy
    assert lazy.VALUE == 1


def test_second():
    import lazy
    assert lazy.VALUE == 1
    assert lazy.second_only() == 1


def test_from():
    from lazy import get
    assert get() == 1


def test_by_name():
    import importlib
    assert importlib.import_module("lazy").VALUE == 1


def test_sys_modules():
    import sys
    import lazy  # noqa: F401
    assert sys.modules["lazy"].VALUE == 1


def test_through():
    import deeper
    assert deeper.DOUBLE == 2


def test_none():
    pass
"#,
    )
    .edit(
        "top level",
        [replace("lazy.py", "VALUE = build()", "VALUE = build() + 1")],
        [
            "! test_lazy.py::test_first",
            "! test_lazy.py::test_second",
            "! test_lazy.py::test_from",
            "! test_lazy.py::test_by_name",
            "! test_lazy.py::test_sys_modules",
            "! test_lazy.py::test_through",
        ],
    )
    .edit(
        "function that its import runs",
        [replace(
            "lazy.py",
            "build():\n    return 1",
            "build():\n    return 2",
        )],
        [
            "! test_lazy.py::test_first",
            "! test_lazy.py::test_second",
            "! test_lazy.py::test_from",
            "! test_lazy.py::test_by_name",
            "! test_lazy.py::test_sys_modules",
            "! test_lazy.py::test_through",
        ],
    )
    .edit(
        "function that one test calls",
        [replace(
            "lazy.py",
            "second_only():\n    return 1",
            "second_only():\n    return 2",
        )],
        ["! test_lazy.py::test_second"],
    )
    .edit(
        "top level of a module between",
        [replace("deeper.py", "* 2", "* 3")],
        ["! test_lazy.py::test_through"],
    )
}

//! Members of classes, one by one.

use crate::harness::*;

cases!(members, library_bases, made, proxies, looked_up);

fn members() -> Case {
    Case::new(
        r#"
-- lib.py --
class Base:
    bound_of_it = 3
    names = ["a"]

    def run(self):
        return self.bound_of_it

    def ask_it(self):
        return 1


class Other:
    def run(self):
        return 1


class Child(Base):
    pass


class Apart:
    def run(self):
        return 1
-- test_lib.py --
import lib


def test_limit():
    assert lib.Child().run() == 3


def test_ask():
    assert lib.Child().ask_it() == 1


def test_apart():
    assert lib.Apart().run() == 1


def test_truth():
    assert lib.Apart()


def test_names():
    assert lib.Base.names == ["a"]
"#,
    )
    .by_value()
    .edit(
        "a new method and a new class",
        [append(
            "lib.py",
            "\n    def more_of_it(self):\n        return 2\n\n\nclass New(Base):\n    bound_of_it = 4\n",
        )],
        NONE,
    )
    .edit(
        "an attribute that a method reads",
        [replace("lib.py", "bound_of_it = 3", "bound_of_it = 4")],
        ["! test_lib.py::test_limit"],
    )
    .edit(
        "the same attribute by another way",
        [replace("lib.py", "bound_of_it = 3", "bound_of_it = len('abc')")],
        NONE,
    )
    .edit(
        "a method that hides another",
        [replace(
            "lib.py",
            "class Child(Base):\n    pass",
            "class Child(Base):\n    def ask_it(self):\n        return 2",
        )],
        ["! test_lib.py::test_ask"],
    )
    .edit(
        "a method that the language looks for",
        [append(
            "lib.py",
            "\n    def __bool__(self):\n        return False\n",
        )],
        at_least(["! test_lib.py::test_truth"]),
    )
    .edit(
        "another base",
        [replace(
            "lib.py",
            "class Child(Base)",
            "class Child(Other, Base)",
        )],
        at_least(["! test_lib.py::test_limit"]),
    )
}

/// Members that are found by names from data.
fn looked_up() -> Case {
    Case::new(
        r#"
-- lib.py --
class Visitor:
    def visit(self, kind):
        method = getattr(self, "visit_" + kind, None)
        return method() if method else "none"

    def visit_a(self):
        return "a"


class Quiet:
    def name(self):
        return "quiet"


def handlers(owner):
    return sorted(name for name in dir(owner) if name.startswith("on_"))
-- test_lib.py --
import lib


class Handler:
    def on_start(self):
        pass


def test_visit():
    assert lib.Visitor().visit("b") == "none"


def test_handlers():
    assert lib.handlers(Handler) == ["on_start"]


def test_quiet_handlers():
    assert lib.handlers(lib.Quiet) == []


def test_name():
    assert lib.Quiet().name() == "quiet"
"#,
    )
    .by_value()
    .edit(
        "a method that is found by a computed name",
        [replace(
            "lib.py",
            "    def visit_a",
            "    def visit_b(self):\n        return 'b'\n\n    def visit_a",
        )],
        between(
            ["! test_lib.py::test_visit"],
            [
                "test_lib.py::test_handlers",
                "test_lib.py::test_quiet_handlers",
            ],
        ),
    )
    .edit(
        "a method that is listed",
        [replace(
            "lib.py",
            "class Quiet:\n",
            "class Quiet:\n    def on_stop(self):\n        pass\n\n",
        )],
        between(
            ["! test_lib.py::test_quiet_handlers"],
            ["test_lib.py::test_handlers", "test_lib.py::test_visit"],
        ),
    )
    .edit(
        "a method of a test file's class",
        [replace(
            "test_lib.py",
            "class Handler:\n",
            "class Handler:\n    def on_stop(self):\n        pass\n\n",
        )],
        between(
            ["! test_lib.py::test_handlers"],
            [
                "test_lib.py::test_quiet_handlers",
                "test_lib.py::test_visit",
            ],
        ),
    )
}

/// Classes whose base is a library's: the library calls what it finds.
fn library_bases() -> Case {
    Case::new(
        r#"
-- visitors.py --
import ast


class Names(ast.NodeVisitor):
    def __init__(self):
        self.found = []


def find(text):
    names = Names()
    names.visit(ast.parse(text))
    return names.found
-- encoders.py --
import json


class Encoder(json.JSONEncoder):
    pass


def text(value):
    try:
        return json.dumps(value, cls=Encoder)
    except TypeError:
        return "none"
-- threads.py --
import threading


class Worker(threading.Thread):
    done = False


def work():
    worker = Worker()
    worker.start()
    worker.join()
    return worker.done
-- test_lib.py --
import encoders
import threads
import visitors


def test_find():
    assert visitors.find("x") == []


def test_text():
    assert encoders.text(object) == "none"


def test_work():
    assert threads.work() is False


def test_name():
    assert visitors.__name__ == "visitors"
"#,
    )
    .by_value()
    .edit(
        "a method of a visitor",
        [replace(
            "visitors.py",
            "\n\ndef find",
            "\n    def visit_Name(self, node):\n        self.found.append(node.id)\n\n\ndef find",
        )],
        at_least(["! test_lib.py::test_find"]),
    )
    .edit(
        "a method of an encoder",
        [replace(
            "encoders.py",
            "    pass",
            "    def default(self, value):\n        return 1",
        )],
        at_least(["! test_lib.py::test_text"]),
    )
    .edit(
        "what a thread runs",
        [replace(
            "threads.py",
            "    done = False\n",
            "    done = False\n\n    def run(self):\n        self.done = True\n",
        )],
        at_least(["! test_lib.py::test_work"]),
    )
}

/// Classes that code makes: metaclasses, data classes, enums, named tuples.
fn made() -> Case {
    Case::new(
        r#"
-- meta.py --
class Meta(type):
    def __new__(meta, name, bases, space):
        space["tag_of_it"] = name.lower()
        space["count_of_it"] = len(name)
        return super().__new__(meta, name, bases, space)


class Model(metaclass=Meta):
    def about(self):
        return self.tag_of_it

    def size(self):
        return self.count_of_it


class Fields:
    def __init_subclass__(cls):
        cls.fields = sorted(name for name in vars(cls) if not name.startswith("_"))


class Form(Fields):
    title = 1
-- kinds.py --
import collections
import dataclasses
import enum


class Color(enum.Enum):
    RED = 1
    BLUE = 2


@dataclasses.dataclass
class Point:
    x: int = 0
    y: int = 0


Pair = collections.namedtuple("Pair", "one two")


def third():
    return 3
-- test_meta.py --
import meta


def test_about():
    assert meta.Model().about() == "model"


def test_size():
    assert meta.Model().size() == 5


def test_form():
    assert meta.Form.fields == ["title"]
-- test_kinds.py --
import kinds


def test_colors():
    assert len(kinds.Color) == 2


def test_point():
    assert repr(kinds.Point()) == "Point(x=0, y=0)"


def test_pair():
    assert kinds.Pair._fields == ("one", "two")


def test_third():
    assert kinds.third() == 3
"#,
    )
    .by_value()
    .edit(
        "a metaclass, with the same classes",
        [replace(
            "meta.py",
            "super().__new__(meta, name, bases, space)",
            "super().__new__(meta, name, bases, dict(space))",
        )],
        NONE,
    )
    .edit(
        "a metaclass, with another attribute",
        [replace("meta.py", "name.lower()", "name.upper()")],
        between(["! test_meta.py::test_about"], ["test_meta.py::test_form"]),
    )
    .edit(
        "`__init_subclass__`",
        [replace(
            "meta.py",
            "not name.startswith(\"_\")",
            "name != \"title\"",
        )],
        between(
            ["! test_meta.py::test_form"],
            ["test_meta.py::test_about", "test_meta.py::test_size"],
        ),
    )
    .edit(
        "a member of an enum",
        [replace("kinds.py", "BLUE = 2", "BLUE = 2\n    GREEN = 3")],
        at_least(["! test_kinds.py::test_colors"]),
    )
    .edit(
        "a field of a data class",
        [replace(
            "kinds.py",
            "y: int = 0",
            "y: int = 0\n    z: int = 0",
        )],
        at_least(["! test_kinds.py::test_point"]),
    )
    .edit(
        "a field of a named tuple",
        [replace("kinds.py", "one two", "one two three")],
        at_least(["! test_kinds.py::test_pair"]),
    )
}

/// Objects that forward everything: to look at them would run code of the program.
fn proxies() -> Case {
    Case::new(
        r#"
-- proxy.py --
class Proxy:
    __slots__ = ("get",)

    def __init__(self, get):
        object.__setattr__(self, "get", get)

    __class__ = property(lambda self: type(self.get()))

    def __getattr__(self, name):
        return getattr(self.get(), name)

    def __setattr__(self, name, value):
        setattr(self.get(), name, value)

    def __eq__(self, other):
        raise RuntimeError("no context")

    def __hash__(self):
        raise RuntimeError("no context")

    def __repr__(self):
        raise RuntimeError("no context")

    def __bool__(self):
        raise RuntimeError("no context")


class Settings:
    def __init__(self, level):
        self.level = level


def level():
    return 1


def nothing():
    raise RuntimeError("no context")


HELD = Settings(level())
current = Proxy(lambda: HELD)
empty = Proxy(nothing)
TABLE = {"current": current, "empty": empty}
-- test_proxy.py --
import proxy


def test_current():
    assert proxy.current.level == 1


def test_empty():
    assert proxy.empty is not None


def test_table():
    assert len(proxy.TABLE) == 2
"#,
    )
    .by_value()
    .edit(
        "what a proxy leads to",
        [replace("proxy.py", "return 1", "return 2")],
        between(
            ["! test_proxy.py::test_current"],
            ["test_proxy.py::test_table"],
        ),
    )
    .edit(
        "nothing of it",
        [replace("proxy.py", "return 1", "return 2 - 1")],
        NONE,
    )
}

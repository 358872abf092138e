//! Names by which code asks for attributes, where no source spells them.

use crate::harness::*;

cases!(by_name, by_objects, by_others, by_annotations);

const BY_NAME: &str = r#"
-- core.py --
class Shape:
    height = 1
    girth = 1

    def __init__(self):
        self.own = 1

    def visit_plain(self):
        return 1


class Other:
    depth = 1
-- ask.py --
import functools


@functools.cache
def other(number):
    return number


def often(thing, name):
    return sum(getattr(thing, name) * other(at) for at in range(600))


def get(thing, name):
    return getattr(thing, name)


def get_or(thing, name, default):
    return getattr(thing, name, default)


def has(thing, name):
    return hasattr(thing, name)


def put(thing, name, value):
    setattr(thing, name, value)


def drop(thing, name):
    delattr(thing, name)


def each(thing, names):
    return [getattr(thing, name) for name in names]


def through(thing, names, get=getattr):
    return [get(thing, name) for name in names]


def formatted(thing, start):
    return getattr(thing, f"{start}girth")


def written(thing, end):
    return getattr(thing, "%sgirth" % (end,))


def told(thing, name):
    "girth"
    return getattr(thing, name)


def mapped(thing, names):
    return list(map(getattr, [thing] * len(names), names))
-- test_core.py --
import ask
import core


def test_get():
    assert ask.get(core.Shape(), "hei" + "ght") == 1


def test_get_of_class():
    assert ask.get(core.Shape, "hei" + "ght") == 1


def test_other():
    assert ask.get(core.Other(), "dep" + "th") == 1


def test_default():
    assert ask.get_or(core.Shape(), "new" + "name", 1) == 1


def test_has():
    assert not ask.has(core.Shape(), "visit_" + "other")


def test_put():
    ask.put(core.Shape(), "new" + "name", 1)


def test_drop():
    thing = core.Shape()
    ask.drop(thing, "ow" + "n")
    assert not ask.has(thing, "ow" + "n")


def test_each():
    assert ask.each(core.Shape(), ["gir" + "th"]) == [1]


def test_through():
    assert ask.through(core.Shape(), ["gir" + "th"]) == [1]


def test_folded():
    found = getattr(core.Shape(), "gir" + "th")
    assert found == 1


def test_formatted():
    assert ask.formatted(core.Shape(), "") == 1


def test_written():
    assert ask.written(core.Shape(), "") == 1


def test_told():
    assert ask.told(core.Shape(), "gir" + "th") == 1


def test_mapped():
    assert ask.mapped(core.Shape(), ["gir" + "th"]) == [1]


def test_often():
    assert ask.often(core.Shape, "hei" + "ght") == 179700


def test_none():
    assert core.Shape().own == 1
"#;

fn by_name() -> Case {
    Case::new(BY_NAME)
        .by_value()
        .edit(
            "value",
            [replace("core.py", "height = 1", "height = 2")],
            [
                "! test_core.py::test_get",
                "! test_core.py::test_get_of_class",
                "! test_core.py::test_often",
                // Of what it passes on nobody tells the name.
                "test_core.py::test_mapped",
            ],
        )
        .edit(
            "another value",
            [replace("core.py", "girth = 1", "girth = 2")],
            [
                "! test_core.py::test_each",
                "! test_core.py::test_through",
                "! test_core.py::test_folded",
                "! test_core.py::test_formatted",
                "! test_core.py::test_written",
                "! test_core.py::test_told",
                "! test_core.py::test_mapped",
            ],
        )
        .edit(
            "new attribute",
            [replace(
                "core.py",
                "    girth = 1",
                "    girth = 1\n    newname = property(lambda self: 2)",
            )],
            [
                "! test_core.py::test_default",
                "! test_core.py::test_put",
                "test_core.py::test_mapped",
            ],
        )
        .edit(
            "new method",
            [replace(
                "core.py",
                "    def visit_plain",
                "    def visit_other(self):\n        return 2\n\n    def visit_plain",
            )],
            ["! test_core.py::test_has", "test_core.py::test_mapped"],
        )
        .edit(
            "class attribute that shows when the other is gone",
            [replace(
                "core.py",
                "    girth = 1",
                "    girth = 1\n    own = 1",
            )],
            [
                "! test_core.py::test_drop",
                // `Shape()` spells it.
                "test_core.py::test_get",
                "test_core.py::test_default",
                "test_core.py::test_has",
                "test_core.py::test_put",
                "test_core.py::test_each",
                "test_core.py::test_through",
                "test_core.py::test_folded",
                "test_core.py::test_formatted",
                "test_core.py::test_written",
                "test_core.py::test_told",
                "test_core.py::test_none",
                "test_core.py::test_mapped",
            ],
        )
}

/// Code in C that asks for an attribute. `attrgetter` does so by a name that stood where a module made
/// it; all who need the module may use it. Of `format` the agent is told.
const BY_OBJECTS: &str = r#"
-- core.py --
class Shape:
    zork_height = 1
    zork_girth = 1
    zork_depth = 1
    zork_width = 1
    zork_size = 1
    zork_slope = 1


Shape.own = Shape
-- ask.py --
import operator

READ = operator.attrgetter("zork_height")
DEEP = operator.attrgetter("own.own.zork_girth")
TEXT = "{0.zork_depth}"
TEXTS = {"one": ("{0.zork_width:>{1.zork_size}}",)}


NAME = "zork_slope"


def computed(of):
    return ("{0." + NAME + "}").format(of)


def mapped(of):
    return ("{it." + NAME + "}").format_map({"it": of})


def closure():
    text = "{0.own.zork_depth}"
    return lambda of: text.format(of)


CALL = closure()
-- test_core.py --
import ask
import core


def test_read():
    assert ask.READ(core.Shape) == 1


def test_deep():
    assert ask.DEEP(core.Shape) == 1


def test_text():
    assert ask.TEXT.format(core.Shape) == "1"


def test_texts():
    assert ask.TEXTS["one"][0].format(core.Shape, core.Shape) == "1"


def test_computed():
    assert ask.computed(core.Shape) == "1"


def test_mapped():
    assert ask.mapped(core.Shape) == "1"


def test_closure():
    assert ask.CALL(core.Shape) == "1"
-- test_other.py --
def test_other():
    assert True
"#;

fn by_objects() -> Case {
    Case::new(BY_OBJECTS)
        .by_value()
        .edit(
            "attrgetter",
            [replace("core.py", "zork_height = 1", "zork_height = 22")],
            [
                "! test_core.py::test_read",
                "test_core.py::test_deep",
                "test_core.py::test_text",
                "test_core.py::test_texts",
                "test_core.py::test_computed",
                "test_core.py::test_mapped",
                "test_core.py::test_closure",
            ],
        )
        .edit(
            "several names",
            [replace("core.py", "zork_girth = 1", "zork_girth = 22")],
            [
                "test_core.py::test_read",
                "! test_core.py::test_deep",
                "test_core.py::test_text",
                "test_core.py::test_texts",
                "test_core.py::test_computed",
                "test_core.py::test_mapped",
                "test_core.py::test_closure",
            ],
        )
        .edit(
            "text for `format`",
            [replace("core.py", "zork_depth = 1", "zork_depth = 22")],
            ["! test_core.py::test_text", "! test_core.py::test_closure"],
        )
        .edit(
            "texts in a tuple in a dictionary",
            [replace("core.py", "zork_width = 1", "zork_width = 22")],
            ["! test_core.py::test_texts"],
        )
        .edit(
            "a field in another",
            [replace("core.py", "zork_size = 1", "zork_size = 22")],
            ["! test_core.py::test_texts"],
        )
        .edit(
            "texts that are worked out",
            [replace("core.py", "zork_slope = 1", "zork_slope = 22")],
            [
                "! test_core.py::test_computed",
                "! test_core.py::test_mapped",
            ],
        )
}

/// Fixtures, caches, threads, generated code and texts of a class of their own.
const BY_OTHERS: &str = r#"
-- core.py --
class Shape:
    altitude = 1
    latitude = 1
    longitude = 1
    magnitude = 1
    amplitude = 1
-- ask.py --
import functools
from concurrent.futures import ThreadPoolExecutor


class Text(str):
    pass


def get(thing, name):
    return getattr(thing, name)


@functools.lru_cache
def kept(thing, name):
    return getattr(thing, name)


def in_thread(thing, name):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(get, thing, name).result()


def direct(thing, name):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(getattr, thing, name).result()


def generated(thing, name):
    return eval("getattr(thing, name)", {"thing": thing, "name": name})
-- test_core.py --
import ask
import core
import pytest


@pytest.fixture(scope="module")
def value():
    return ask.get(core.Shape(), "alti" + "tude")


def test_fixture(value):
    assert value == 1


def test_fixture_again(value):
    assert value == 1


def test_kept():
    assert ask.kept(core.Shape, "lati" + "tude") == 1


def test_kept_again():
    assert ask.kept(core.Shape, "lati" + "tude") == 1


def test_in_thread():
    assert ask.in_thread(core.Shape(), "longi" + "tude") == 1


def test_direct():
    assert ask.direct(core.Shape(), "longi" + "tude") == 1


def test_text():
    assert ask.get(core.Shape(), ask.Text("magni" + "tude")) == 1


def test_generated():
    assert ask.generated(core.Shape(), "ampli" + "tude") == 1


def test_many():
    thing = core.Shape()
    for n in range(600):
        setattr(thing, "n%d" % n, n)
    assert ask.get(thing, "ampli" + "tude") == 1
"#;

fn by_others() -> Case {
    Case::new(BY_OTHERS)
        .by_value()
        .edit(
            "fixture",
            [replace("core.py", "altitude = 1", "altitude = 2")],
            [
                "! test_core.py::test_fixture",
                "! test_core.py::test_fixture_again",
                "test_core.py::test_direct",
                "test_core.py::test_generated",
                "test_core.py::test_many",
            ],
        )
        .edit(
            "cache",
            [replace("core.py", "latitude = 1", "latitude = 2")],
            [
                "! test_core.py::test_kept",
                "! test_core.py::test_kept_again",
                "test_core.py::test_direct",
                "test_core.py::test_generated",
                "test_core.py::test_many",
            ],
        )
        .edit(
            "thread",
            [replace("core.py", "longitude = 1", "longitude = 2")],
            [
                "! test_core.py::test_in_thread",
                "! test_core.py::test_direct",
                "test_core.py::test_generated",
                "test_core.py::test_many",
            ],
        )
        .edit(
            "text of a class of its own",
            [replace("core.py", "magnitude = 1", "magnitude = 2")],
            [
                "! test_core.py::test_text",
                "test_core.py::test_direct",
                "test_core.py::test_generated",
                "test_core.py::test_many",
            ],
        )
        .edit(
            "generated code",
            [replace("core.py", "amplitude = 1", "amplitude = 2")],
            [
                "! test_core.py::test_generated",
                "! test_core.py::test_many",
                "test_core.py::test_direct",
            ],
        )
}

/// `register` of a function reads its annotations and asks what their text means.
const BY_ANNOTATIONS: &str = r#"
-- core.py --
class Node:
    pass


class Other:
    pass


Meant = Node


def of_node(value: "Node"):
    return "node"


def of_meant(value: "Meant"):
    return "meant"


def of_type(value: Node):
    return "type"


class Quiet:
    register = True
-- shapes.py --
import functools


def show():
    @functools.singledispatch
    def show(value):
        return "any"

    return show


def add(show, function):
    show.register(function)
    return show
-- test_core.py --
import core
import shapes


def test_text():
    show = shapes.add(shapes.show(), core.of_node)
    assert show(core.Node()) == "node"


def test_meant():
    show = shapes.add(shapes.show(), core.of_meant)
    assert show(core.Node()) == "meant"


def test_type():
    show = shapes.add(shapes.show(), core.of_type)
    assert show(core.Node()) == "type"


def test_quiet():
    assert core.Quiet.register


def test_plain():
    assert core.of_type(1) == "type"
"#;

fn by_annotations() -> Case {
    Case::new(BY_ANNOTATIONS)
        .by_value()
        .edit(
            "text of an annotation",
            [replace("core.py", "value: \"Node\"", "value: \"Other\"")],
            ["! test_core.py::test_text"],
        )
        .edit(
            "annotation",
            [replace("core.py", "value: Node", "value: Other")],
            ["! test_core.py::test_type"],
        )
        .edit(
            "what the text means",
            [replace("core.py", "Meant = Node", "Meant = Other")],
            ["! test_core.py::test_meant"],
        )
        .edit(
            "something else",
            [replace("core.py", "Meant = Node", "Meant = Node\nMORE = 1")],
            [],
        )
}

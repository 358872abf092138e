//! Edits of classes outside their methods: their members, and the registries in which they are
//! entered.

use crate::harness::*;

cases!(registries, classes);

const CLASSES: &str = r#"
-- geo/__init__.py --
-- geo/base.py --
class Base:
    sides = 0

    def area(self):
        return 0

    def name(self):
        return "base"


class Mixin:
    def loud(self):
        return self.name().upper()
-- geo/shapes.py --
import functools

from .base import Base, Mixin


class Square(Mixin, Base):
    sides = 4

    def __init__(self, side=2):
        self.side = side

    def area(self):
        return self.side ** 2


class Circle(Base):
    @property
    def radius(self):
        return 1

    @functools.cached_property
    def half(self):
        return 0.5


class Slots:
    __slots__ = ("a",)


def make(kind):
    return {"square": Square, "circle": Circle}[kind]()


def plain():
    return 1
-- test_shapes.py --
from geo import shapes


def test_square():
    assert shapes.Square().area() == 4


def test_loud():
    assert shapes.Square().loud() == "BASE"


def test_circle():
    assert shapes.Circle().area() == 0


def test_factory():
    assert shapes.make("circle").name() == "base"


def test_members():
    assert sorted(n for n in vars(shapes.Circle) if n[0] != "_") == ["half", "radius"]


def test_slots():
    assert not hasattr(shapes.Slots(), "__dict__")


def test_plain():
    assert shapes.plain() == 1
"#;

/// Members, bases, and the makers of instances.
fn classes() -> Case {
    Case::new(CLASSES)
        .edit(
            "override what a base does",
            [replace(
                "geo/shapes.py",
                "    @functools",
                "    def name(self):\n        return \"circle\"\n\n    @functools",
            )],
            [
                "test_shapes.py::test_circle",
                "! test_shapes.py::test_factory",
                "! test_shapes.py::test_members",
            ],
        )
        .edit(
            "member of the base of both",
            [replace("geo/base.py", "    sides = 0", "    sides = 1")],
            // Two bases may be incompatible, which is an effect.
            ALL,
        )
        .edit(
            "default in a method",
            [replace("geo/shapes.py", "side=2", "side=3")],
            [
                "! test_shapes.py::test_square",
                "test_shapes.py::test_loud",
                "test_shapes.py::test_factory",
            ],
        )
        .edit(
            "bases swapped",
            [replace(
                "geo/shapes.py",
                "Square(Mixin, Base)",
                "Square(Base, Mixin)",
            )],
            ALL,
        )
        .edit(
            "base removed",
            [replace(
                "geo/shapes.py",
                "class Circle(Base)",
                "class Circle",
            )],
            [
                "! test_shapes.py::test_circle",
                "! test_shapes.py::test_factory",
                "test_shapes.py::test_members",
            ],
        )
        .edit(
            "slot",
            [replace(
                "geo/shapes.py",
                "__slots__ = (\"a\",)",
                "__slots__ = (\"b\",)",
            )],
            ALL,
        )
        .edit(
            "the base gets a hook for subclasses",
            [replace(
                "geo/base.py",
                "class Mixin:\n",
                "class Mixin:\n    def __init_subclass__(cls):\n        cls.area = None\n\n",
            )],
            all_but([], ["test_shapes.py::test_square"]),
        )
        .edit(
            "new class",
            [append("geo/shapes.py", "\n\nclass New(Base):\n    pass\n")],
            NONE,
        )
}

const REGISTRIES: &str = r#"
-- registry.py --
import abc
import functools

ENTRIES = {}
LIMIT = 1


def register(thing):
    ENTRIES[thing.__name__] = thing
    return thing


class Plugin:
    known = []

    def __init_subclass__(cls):
        Plugin.known.append(cls.__name__)


class Meta(type):
    def __new__(mcs, name, bases, space):
        ENTRIES[name] = space.get("value")
        return super().__new__(mcs, name, bases, space)


class Sized(abc.ABC):
    pass


@functools.singledispatch
def show(x):
    return "?"
-- parts.py --
import dataclasses
import enum

import registry


@registry.register
def first(a=1):
    return a


class Second(registry.Plugin):
    value = 1


class Third(metaclass=registry.Meta):
    value = 3


class Other:
    pass


registry.Sized.register(Other)


@registry.show.register(int)
def show_int(x):
    return "int"


class Colour(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Point:
    x: int = 0


def apart(a=1):
    return a
-- test_parts.py --
import parts
import registry


def test_registered():
    assert registry.ENTRIES["first"]() == 1


def test_subclass():
    assert registry.Plugin.known == ["Second"]


def test_meta():
    assert registry.ENTRIES["Third"] == 3


def test_abc():
    assert isinstance(parts.Other(), registry.Sized)


def test_dispatch():
    assert registry.show(1) == "int"


def test_enum():
    assert [c.name for c in parts.Colour] == ["RED"]


def test_dataclass():
    assert parts.Point().x == 0


def test_apart():
    assert parts.apart() == 1
-- test_alone.py --
import registry


def test_alone():
    assert registry.LIMIT == 1


def test_show():
    assert registry.show("") == "?"
"#;

/// All tests run in which something is registered, and perhaps `test_alone`: nobody knows what that
/// leaves in the function by which others dispatch. `failing` fails.
fn all_but_alone(failing: &'static str) -> Expect {
    let tests = [
        "test_parts.py::test_registered",
        "test_parts.py::test_subclass",
        "test_parts.py::test_meta",
        "test_parts.py::test_abc",
        "test_parts.py::test_dispatch",
        "test_parts.py::test_enum",
        "test_parts.py::test_dataclass",
        "test_parts.py::test_apart",
        "test_alone.py::test_show",
    ];
    let fails = |test| {
        if failing.ends_with(test) {
            failing
        } else {
            test
        }
    };
    between(tests.map(fails), ["test_alone.py::test_alone"])
}

/// Objects that register themselves by name.
fn registries() -> Case {
    Case::new(REGISTRIES)
        .edit(
            "default of a registered function",
            [replace("parts.py", "first(a=1)", "first(a=2)")],
            all_but(
                ["test_alone.py::test_alone"],
                ["test_parts.py::test_registered"],
            ),
        )
        .edit(
            "another plug-in",
            [append(
                "parts.py",
                "\n\nclass More(registry.Plugin):\n    pass\n",
            )],
            all_but(
                ["test_alone.py::test_alone"],
                ["test_parts.py::test_subclass"],
            ),
        )
        .edit(
            "member that a metaclass reads",
            [replace("parts.py", "value = 3", "value = 4")],
            all_but(["test_alone.py::test_alone"], ["test_parts.py::test_meta"]),
        )
        .edit(
            "registration removed",
            [replace("parts.py", "registry.Sized.register(Other)\n", "")],
            all_but_alone("! test_parts.py::test_abc"),
        )
        .edit(
            "type that is dispatched on",
            [replace("parts.py", "register(int)", "register(float)")],
            all_but(
                ["test_alone.py::test_alone"],
                ["test_parts.py::test_dispatch"],
            ),
        )
        .edit(
            "member of an enum",
            [replace(
                "parts.py",
                "    RED = 1",
                "    RED = 1\n    BLUE = 2",
            )],
            all_but(["test_alone.py::test_alone"], ["test_parts.py::test_enum"]),
        )
        .edit(
            "field of a dataclass",
            [replace("parts.py", "x: int = 0", "x: int = 1")],
            all_but_alone("! test_parts.py::test_dataclass"),
        )
        .edit(
            "function beside all that",
            [replace("parts.py", "apart(a=1)", "apart(a=2)")],
            ["! test_parts.py::test_apart"],
        )
}

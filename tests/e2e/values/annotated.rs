//! What annotations mean: only who really reads some is affected, and whoever a reader may have
//! told of it.

use crate::harness::*;

cases!(
    spelled_only,
    read_of_nothing,
    kept_at_import,
    kept_by_a_test,
    of_instances,
    of_types,
    by_a_plug_in,
    read_in_tests,
    by_metaclass,
    by_dataclass,
    of_modules
);

/// Code that spells the name of a reader, and reads nothing.
fn spelled_only() -> Case {
    Case::new(
        r#"
-- lib.py --
def setting(value):
    return value


Altitude = setting(int)


class Writer:
    def signature(self):
        return "w"


def area(girth: "Altitude"):
    return 2


def dataclass():
    return 3
-- test_lib.py --
import inspect
import sys

import lib


def test_writer():
    assert lib.Writer().signature() == "w"


def test_dataclass():
    assert lib.dataclass() == 3


def test_signature():
    text = inspect.signature(lib.area).parameters["girth"].annotation
    assert getattr(sys.modules["lib"], text) == int


def test_altitude():
    assert lib.Altitude == int
"#,
    )
    .by_value()
    .edit(
        "what an annotation names",
        [replace("lib.py", "setting(int)", "setting(str)")],
        [
            "! test_lib.py::test_altitude",
            "! test_lib.py::test_signature",
        ],
    )
    .edit(
        "an annotation",
        [replace("lib.py", "girth: \"Alt", "girth: \"Lat")],
        ["! test_lib.py::test_signature"],
    )
}

/// A test reads in many ways.
fn read_in_tests() -> Case {
    Case::new(
        r#"
-- lib.py --
from __future__ import annotations

import inspect
import sys
import typing


def setting(value):
    return value


Altitude = setting(int)


def area(girth: Altitude):
    return 2


class Box:
    girth: Altitude


class Case(Box):
    weight: int


def mean(text):
    return getattr(sys.modules[__name__], text)


def of_class(kind):
    return mean(inspect.getfullargspec(area).annotations["girth"])
-- test_lib.py --
import inspect
import operator
import typing

import lib


def test_hints():
    assert typing.get_type_hints(lib.Case)["girth"] == int


def test_class():
    assert lib.of_class(lib.Box) == int


def test_attribute():
    assert lib.mean(operator.attrgetter("__annotations__")(lib.Box)["girth"]) == int


def test_members():
    found = dict(inspect.getmembers(lib.Box))
    assert lib.mean(found["__annotations__"]["girth"]) == int


def test_instance():
    assert lib.mean(lib.Case.__mro__[1].__annotations__["girth"]) == int


def test_plain():
    assert lib.area(1) == 2


def test_box():
    assert lib.Box()
"#,
    )
    .by_value()
    .edit(
        "what an annotation names",
        [replace("lib.py", "setting(int)", "setting(str)")],
        [
            "! test_lib.py::test_hints",
            "! test_lib.py::test_class",
            "! test_lib.py::test_attribute",
            "! test_lib.py::test_members",
            "! test_lib.py::test_instance",
        ],
    )
}

/// What tests of an installed package share.
const LIB: &str = r#"from __future__ import annotations

import dataclasses
import typing

import reader


def setting(value):
    return value


Altitude = setting(int)
Latitude = setting(int)


@reader.plain
def area(girth: Altitude):
    return 2


class Box:
    girth: Altitude


class Case(Box):
    weight: int
"#;

/// As `reader`, with the functions `more`.
fn with_reader(files: &'static str, more: &str) -> Case {
    let text = format!(
        "import dataclasses\nimport inspect\nimport sys\nimport typing\n\n\n\
         def plain(f):\n    return f\n\n\n\
         def own(x: 'int'):\n    return typing.get_type_hints(own)\n\n\n\
         class Own:\n    x: 'int'\n\n\n\
         HINTS = inspect.signature(own), typing.get_type_hints(Own), own(1)\n\n\n\
         def mean(module, text):\n    return getattr(sys.modules[module], text)\n\n\n{more}"
    );
    Case::new(files).by_value().own_venv().setup([
        write("lib.py", LIB),
        install("reader", "1.0.0", &[("reader.py", &text)]),
    ])
}

fn meaning() -> [Change; 1] {
    [replace(
        "lib.py",
        "Altitude = setting(int)",
        "Altitude = setting(str)",
    )]
}

/// A package that reads its own annotations, and could read others.
fn read_of_nothing() -> Case {
    with_reader(
        r#"
-- test_lib.py --
import lib
import reader


def test_plain():
    assert lib.area(1) == 2


def test_own():
    assert reader.own(1)["x"] is int


def test_altitude():
    assert lib.Altitude == int
"#,
        "def of(f):\n    return mean(f.__module__, inspect.signature(f).parameters['girth'].annotation)\n",
    )
    .edit("what an annotation names", meaning(), [
        "! test_lib.py::test_altitude",
    ])
}

/// A package that keeps the text when it is imported, and asks what it means in a test.
fn kept_at_import() -> Case {
    with_reader(
        r#"
-- held.py --
import lib
import reader

reader.keep(lib.area)
-- test_lib.py --
import held
import lib
import reader


def test_kept():
    assert reader.kept("area") == int


def test_plain():
    assert lib.area(1) == 2
"#,
        "KEPT = {}\n\n\n\
         def keep(f):\n    KEPT[f.__name__] = f.__module__, inspect.signature(f).parameters['girth'].annotation\n\n\n\
         def kept(name):\n    return mean(*KEPT[name])\n",
    )
    .edit(
        "what an annotation names",
        meaning(),
        between(["! test_lib.py::test_kept"], ["test_lib.py::test_plain"]),
    )
}

/// A package to which the first test that asks tells the text.
fn kept_by_a_test() -> Case {
    with_reader(
        r#"
-- test_lib.py --
import lib
import reader


def test_first():
    assert reader.of(lib.Box) == int


def test_second():
    assert reader.of(lib.Box) == int


def test_typed():
    assert reader.typed(lib.Case) == int


def test_plain():
    assert lib.area(1) == 2
"#,
        "KEPT = {}\n\n\n\
         def of(kind):\n    if kind not in KEPT:\n        KEPT[kind] = kind.__dict__['__annotations__']\n\
         \x20   return mean(kind.__module__, KEPT[kind]['girth'])\n\n\n\
         HINTED = {}\n\n\n\
         def typed(kind):\n    if kind not in HINTED:\n        HINTED[kind] = typing.get_type_hints(kind)\n\
         \x20   return HINTED[kind]['girth']\n",
    )
    .edit(
        "what an annotation names",
        meaning(),
        between(
            [
                "! test_lib.py::test_first",
                "! test_lib.py::test_second",
                "! test_lib.py::test_typed",
            ],
            ["test_lib.py::test_plain"],
        ),
    )
}

/// A package that asks instances.
fn of_instances() -> Case {
    with_reader(
        r#"
-- test_lib.py --
import lib
import reader


def test_attribute():
    assert reader.of(lib.Box()) == int


def test_again():
    assert reader.of(lib.Box()) == int


def test_by_name():
    assert reader.by_name(lib.Box()) == int
"#,
        "def of(one):\n    return mean(type(one).__module__, one.__annotations__['girth'])\n\n\n\
         def by_name(one):\n    found = getattr(one, '__annotations__')\n\
         \x20   return mean(type(one).__module__, found['girth'])\n",
    )
    .edit(
        "what an annotation names",
        meaning(),
        [
            "! test_lib.py::test_attribute",
            "! test_lib.py::test_again",
            "! test_lib.py::test_by_name",
        ],
    )
}

/// A package that evaluates the text in a type, and keeps what it means.
fn of_types() -> Case {
    with_reader(
        r#"
-- held.py --
import typing

import lib

SOME = typing.Optional["Altitude"]
-- test_lib.py --
import held
import lib
import reader


def test_first():
    assert reader.of("lib", held.SOME) == typing_of(int)


def test_second():
    assert reader.of("lib", held.SOME) == typing_of(int)


def test_plain():
    assert lib.area(1) == 2


def typing_of(kind):
    return held.typing.Optional[kind]
"#,
        "KEPT = {}\n\n\n\
         def of(module, kind):\n    def held():\n        pass\n\n\
         \x20   if module not in KEPT:\n        held.__annotations__ = {'x': kind}\n\
         \x20       space = vars(sys.modules[module])\n\
         \x20       KEPT[module] = typing.get_type_hints(held, space)['x']\n\
         \x20   return KEPT[module]\n",
    )
    .edit(
        "what the text names",
        meaning(),
        between(
            ["! test_lib.py::test_first", "! test_lib.py::test_second"],
            ["test_lib.py::test_plain"],
        ),
    )
}

/// A metaclass gets annotations among the names of a class that is not there yet.
fn by_metaclass() -> Case {
    with_reader(
        r#"
-- held.py --
from __future__ import annotations

import reader


class Model(metaclass=reader.Meta):
    girth: Altitude


class Sub(Model):
    girth: Altitude


def setting(value):
    return value


Altitude = setting(int)
-- test_lib.py --
import held
import lib
import reader


def test_kept():
    assert reader.kept("Sub") == int


def test_plain():
    assert lib.area(1) == 2
"#,
        "KEPT = {}\n\n\n\
         class Meta(type):\n    def __new__(meta, name, bases, space):\n\
         \x20       KEPT[name] = space['__module__'], space.get('__annotations__', {'girth': 'Altitude'})['girth']\n\
         \x20       return super().__new__(meta, name, bases, space)\n\n\n\
         def kept(name):\n    return mean(*KEPT[name])\n",
    )
    .edit(
        "what an annotation names",
        [replace("held.py", "Altitude = setting(int)", "Altitude = setting(str)")],
        between(["! test_lib.py::test_kept"], ["test_lib.py::test_plain"]),
    )
}

/// Fields keep the text, and the package asks them.
fn by_dataclass() -> Case {
    with_reader(
        r#"
-- held.py --
from __future__ import annotations

import dataclasses


@dataclasses.dataclass
class Data:
    girth: Altitude
    made: dataclasses.InitVar[int] = 1


def setting(value):
    return value


Altitude = setting(int)
-- test_lib.py --
import held
import lib
import reader


def test_field():
    assert reader.of(held.Data) == int


def test_plain():
    assert lib.area(1) == 2
"#,
        "def of(kind):\n    [field] = dataclasses.fields(kind)\n    return mean(kind.__module__, field.type)\n",
    )
    .edit(
        "what an annotation names",
        [replace("held.py", "Altitude = setting(int)", "Altitude = setting(str)")],
        between(["! test_lib.py::test_field"], ["test_lib.py::test_plain"]),
    )
}

/// A module has annotations, too.
fn of_modules() -> Case {
    with_reader(
        r#"
-- held.py --
from __future__ import annotations


def setting(value):
    return value


Altitude = setting(int)
girth: Altitude = 2
-- test_lib.py --
import held
import lib
import reader


def test_module():
    assert reader.of(held)["girth"] == "Altitude"


def test_again():
    assert reader.mean("held", reader.KEPT["held"]) == int


def test_plain():
    assert lib.area(1) == 2
"#,
        "KEPT = {}\n\n\n\
         def of(module):\n    KEPT[module.__name__] = module.__annotations__['girth']\n\
         \x20   return inspect.get_annotations(module)\n",
    )
    .since(10)
    .edit(
        "what an annotation names",
        [replace(
            "held.py",
            "Altitude = setting(int)",
            "Altitude = setting(str)",
        )],
        between(
            ["! test_lib.py::test_again"],
            ["test_lib.py::test_module", "test_lib.py::test_plain"],
        ),
    )
}

/// A plug-in that reads what all test functions have.
fn by_a_plug_in() -> Case {
    with_reader(
        r#"
-- pytest.ini --
[pytest]
addopts = -p reader
-- test_lib.py --
from __future__ import annotations

import lib
from lib import Altitude


def test_first(girth: Altitude = None):
    assert lib.area(1) == 2


def test_second():
    import reader

    assert reader.mean("lib", reader.KEPT["test_first"][0]) == int
"#,
        "KEPT = {}\n\n\n\
         def pytest_runtest_setup(item):\n\
         \x20   parameters = inspect.signature(item.function).parameters\n\
         \x20   KEPT[item.name] = [one.annotation for one in parameters.values()][0:1]\n",
    )
    .edit(
        "what an annotation names",
        meaning(),
        between(["! test_lib.py::test_second"], ["test_lib.py::test_first"]),
    )
}

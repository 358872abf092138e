//! Star imports: values and modules among the names that they take; and modules that code gets
//! by other ways than a name of theirs.

use crate::harness::*;

cases!(given, unusual);

fn given() -> Case {
    Case::new(
        r#"
-- pkg/__init__.py --
from .sub import *
from . import deep, use
-- pkg/sub.py --
from . import deep
from .values import SPAN


def girth():
    return 3
-- pkg/values.py --
SPAN = 8
-- pkg/deep.py --
DEPTH = 1
-- pkg/use.py --
from .sub import *

HELD = [deep]
TABLE = [SPAN]


def look(module, name):
    return vars(module)[name]


def given(name):
    return look(deep, name)


def part_of(name):
    from . import sub
    return look(sub.deep, name)


def span():
    return SPAN
-- test_plain.py --
import pkg


def test_plain():
    assert pkg.girth() == 3
-- test_given.py --
from pkg import use


def test_given():
    assert use.given("DEP" + "TH") == 1


def test_part():
    assert use.part_of("DEP" + "TH") == 1


def test_held():
    assert use.look(use.HELD[0], "DEP" + "TH") == 1


def test_span():
    assert use.span() == 8


def test_table():
    assert use.TABLE == [8]
"#,
    )
    .edit(
        "a module among the names of a star import is passed on",
        [replace("pkg/deep.py", "1", "2")],
        at_least([
            "! test_given.py::test_given",
            "! test_given.py::test_part",
            "! test_given.py::test_held",
        ]),
    )
    .edit(
        "a value among them that its source imports",
        [replace("pkg/values.py", "8", "9")],
        at_least(["! test_given.py::test_span", "! test_given.py::test_table"]),
    )
    .edit(
        "the source of a star import has one more name",
        [replace(
            "pkg/sub.py",
            "from . import deep",
            "EXTENT = 1\nfrom . import deep",
        )],
        ALL,
    )
}

/// A namespace package, an attribute of a library, a module that can be called.
fn unusual() -> Case {
    Case::new(
        r#"
-- ns/flat.py --
import real as ee
-- real.py --
DEPTH = 1
-- use.py --
import ns.flat


def look(module, name):
    return vars(module)[name]


def two():
    return look(ns.flat.ee, "DEP" + "TH")
-- test_a.py --
import use


def test_two():
    assert use.two() == 1
-- test_b.py --
import json
import real as dd


def look(module, name):
    return vars(module)[name]


def test_set():
    json.dd = dd


def test_read():
    assert look(json.dd, "DEP" + "TH") == 1
-- pkg/__init__.py --
-- pkg/k.py --
import types


class K(types.ModuleType):
    def __call__(self, name):
        return vars(self)[name]
-- pkg/mod2.py --
import sys
from .k import K
sys.modules[__name__].__class__ = K
NAME = 1
-- test_c.py --
from pkg import mod2
import pkg.mod2


def test_own():
    assert mod2("NA" + "ME") == 1


def test_part():
    assert pkg.mod2("NA" + "ME") == 1
"#,
    )
    .edit(
        "a module that a namespace package has, and a library by another name",
        [replace("real.py", "1", "2")],
        at_least(["! test_a.py::test_two", "! test_b.py::test_read"]),
    )
    .edit(
        "a module that is called",
        [replace("pkg/mod2.py", "1", "2")],
        at_least(["! test_c.py::test_own", "! test_c.py::test_part"]),
    )
}

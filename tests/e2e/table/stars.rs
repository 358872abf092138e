//! Modules among the names that a star import takes, or that have the name of an attribute of
//! a library.

use crate::harness::*;

cases!(given);

fn given() -> Case {
    Case::new(
        r#"
-- pkg/__init__.py --
from .sub import *
from .width import *
from . import area, deep, use
-- pkg/sub.py --
from . import deep


def girth():
    return 3
-- pkg/deep.py --
DEPTH = 1
-- pkg/marks.py --
UNIT = 1
-- pkg/width.py --
from . import marks


def width():
    return 7
-- pkg/area.py --
SIZE = 5


def altitude():
    return 6
-- pkg/use.py --
from .sub import *


def look(module, name):
    return getattr(module, name)


def given(name):
    return look(deep, name)


def part_of(name):
    from . import sub
    return look(sub.deep, name)
-- test_plain.py --
import pkg


def test_plain():
    assert pkg.girth() == 3 and pkg.width() == 7
-- test_given.py --
from pkg import use


def test_given():
    assert use.given("DEPTH") == 1


def test_part():
    assert use.part_of("DEPTH") == 1
-- test_library.py --
import pytest
import pkg


def test_library():
    assert pytest.approx(3.0) == pkg.girth()
-- test_alias.py --
from pkg import area as approx


def test_alias():
    assert approx.altitude() == 6
"#,
    )
    .edit(
        "a module among the names of a star import is passed on",
        [replace("pkg/deep.py", "1", "2")],
        ["! test_given.py::test_given", "! test_given.py::test_part"],
    )
    .edit(
        "the source of a star import has one more name",
        [replace("pkg/sub.py", "from", "EXTENT = 1\nfrom")],
        ALL,
    )
    .edit(
        "what a module has of which a function with its name is called",
        [replace("pkg/marks.py", "1", "2")],
        NONE,
    )
    .edit(
        "a module that a test calls as a library calls a function",
        [replace("pkg/area.py", "5", "7")],
        NONE,
    )
}

"""Which cells are counters, and how one is written."""

import sys
import types

import pytest
import traces

sys.path.insert(0, traces.BOOT)
from _tamis.places import Place
from _tamis.restoring import Numbers

sys.path.remove(traces.BOOT)


def module(**names):
    made = types.ModuleType("lib")
    vars(made).update(names)
    return made


class Meta(type):
    kind = 0

    def __setattr__(cls, name, value):
        raise AssertionError("code of the program ran")


class Counted(metaclass=Meta):
    number = 3
    kind = 1
    __size__ = 5
    is_ready = True


@pytest.mark.parametrize(
    "name, number",
    [
        ("N", 7),
        ("READY", None),
        ("NONE", None),
        ("TEXT", None),
        ("LARGE", None),
        ("MISSING", None),
        ("Counted.number", 3),
        ("Counted.is_ready", None),
        ("Counted.__size__", None),
        # An assignment would ask the metaclass.
        ("Counted.kind", None),
        ("N.real", None),
        ("D['a.b']", None),
    ],
)
def test_what_can_be_replaced(name, number):
    lib = module(
        N=7, READY=True, NONE=None, TEXT="7", LARGE=1 << 64, Counted=Counted, D={"a.b": 1}
    )
    assert Place(lib, name).number() == number


def test_nothing_is_where_no_module_is():
    assert Place(None, "N").number() is None


def test_numbers_are_written():
    lib = module(N=7, Counted=Counted)
    Place(lib, "N").put(9)
    Place(lib, "Counted.number").put(4)
    assert (lib.N, Counted.number) == (9, 4)


CELL = "lib.py", "N"


class Scope:
    """The import of the module."""

    name = "/project/lib.py"


def numbers_of(values, known, lib=None):
    """Of tests that leave `values` in one cell, one after the other."""
    agent = types.SimpleNamespace(
        left=types.SimpleNamespace(numbers={}),
        values=types.SimpleNamespace(modules={Scope(): lib or module(N=0)}),
        relative=lambda path: path.rpartition("/")[2],
    )
    recorded = {"t%d" % at: {CELL: value} for at, value in enumerate(values)}
    return Numbers(agent, recorded, {value: value[1:] for value in known}, frozenset())


EIGHT = ["v%d" % at for at in range(8)]


@pytest.mark.parametrize(
    "values, is_counter",
    [
        (EIGHT, True),
        (EIGHT + ["?t8"], True),
        (EIGHT[:7] * 2, False),
        (EIGHT + ["other"], False),
        # The code of those who change it counts.
        (EIGHT + [None], False),
    ],
)
def test_what_counts(values, is_counter):
    assert numbers_of(values, EIGHT).cells == ({CELL} if is_counter else set())


def test_who_must_leave_it():
    numbers = numbers_of(EIGHT + ["?t8"], EIGHT)
    assert numbers.begun_by("t0", {CELL: "v0"}) == {CELL}
    assert not numbers.begun_by("t1", {CELL: "v1"})
    assert numbers.given({CELL: "v1"}) == {CELL}
    assert not numbers.given({CELL: "?t8"})


def test_what_is_no_number_now_is_no_counter():
    assert not numbers_of(EIGHT, EIGHT, module(N=[])).cells

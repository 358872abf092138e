"""Which tests stay on one worker of pytest-xdist."""

import sys

import pytest

import traces

sys.path.insert(0, traces.BOOT)
from _tamis import workers

sys.path.remove(traces.BOOT)

pytest.importorskip("xdist")


class Node:
    class gateway:
        id = "gw"


class Config:
    class option:
        loadscopereorder = True

    def __init__(self, mode):
        self.mode = mode

    def getoption(self, name, default=None):
        return self.mode

    getvalue = getoption


TESTS = ["a.py::C::t1", "a.py::C::t2", "a.py::t3", "b.py::t4", "b.py::t5[x@y]", "c.py::t6"]


def scopes(mode, together, tests=TESTS):
    made = workers.scheduler(Config(mode), None, together)
    made._merge(tests)
    found = {}
    for test in tests:
        found.setdefault(made._split_scope(test), []).append(TESTS[tests.index(test)])
    return sorted(found.values())


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    # All that the base class needs of xdist's session.
    from xdist.scheduler import LoadScopeScheduling

    monkeypatch.setattr(LoadScopeScheduling, "__init__", lambda self, config, log: None)


def test_tests_of_a_set_stay_together_and_others_do_not():
    sets = [["a.py::C::t2", "b.py::t4"], ["b.py::t5[x@y]", "c.py::t6"]]
    expected = [TESTS[:1], [TESTS[1], TESTS[3]], [TESTS[2]], [TESTS[4], TESTS[5]]]
    assert scopes("load", sets) == expected
    assert scopes("worksteal", sets) == expected


def test_what_the_mode_keeps_together_stays_so():
    sets = [["a.py::C::t2", "c.py::t6"]]
    assert scopes("loadfile", sets) == [TESTS[:3] + TESTS[5:], TESTS[3:5]]
    assert scopes("loadscope", sets) == [TESTS[:2] + TESTS[5:], [TESTS[2]], TESTS[3:5]]


def test_two_sets_in_one_scope_are_one():
    sets = [["a.py::C::t1", "b.py::t4"], ["a.py::t3", "c.py::t6"]]
    assert scopes("loadfile", sets) == [TESTS]


def test_groups_of_xdist_count_and_their_names_are_no_part_of_ids():
    marked = list(TESTS)
    marked[0] += "@one"
    marked[5] += "@one"
    sets = [["c.py::t6", "b.py::t4"]]
    expected = [[TESTS[0], TESTS[3], TESTS[5]]] + [[test] for test in TESTS[1:3] + TESTS[4:5]]
    assert scopes("loadgroup", sets, marked) == expected


def test_where_nothing_is_known_or_divided_xdist_decides():
    assert workers.scheduler(Config("load"), None, []) is None
    assert workers.scheduler(Config("each"), None, [["a", "b"]]) is None

"""Who is apart is found out before tests run, and who meets what they left when they have ended."""

import sys
import types

import traces

sys.path.insert(0, traces.BOOT)
from _tamis.apart import apart
from _tamis.plan import Plan

sys.path.remove(traces.BOOT)

LEFT = "lib.py", "Thing.size"


class Present:
    """A session in which a library that asks for `size` is imported at some time."""

    def __init__(self):
        self.spelled = set()

    def module_at(self, path):
        return "lib"

    def path(self, path):
        return path

    def find_class(self, name):
        return type

    def is_library(self, path):
        return False

    def is_found_by_base(self, name):
        return False

    def is_asked_by_base(self, kind, key):
        return False

    def spelled_by_libraries(self, names):
        return self.spelled & names

    def asked_by_name(self):
        return set()

    def loose_modules(self):
        return False, set()


def settling(tests):
    content = {
        "units": [{}],
        "sets": [[0]],
        "paths": ["lib.py"],
        "modules": [[0], []],
        "matrices": [],
        "tests": {test: {"tied": {"sets": [0], "modules": 0, "late_modules": 1}} for test in tests},
    }
    of_items = types.SimpleNamespace(file_of=lambda item: ("test_it.py",))
    return types.SimpleNamespace(
        agent=types.SimpleNamespace(session=of_items),
        plan=Plan(content, Present(), {}),
        waiting=frozenset(tests[1:]),
        recorded={tests[0]: {LEFT: "value"}},
        made={tests[0]: ""},
        hashes=frozenset(),
    )


def items(tests):
    return [types.SimpleNamespace(nodeid=test, fixturenames=()) for test in tests]


def test_what_is_imported_later_may_read_more():
    tests = ["test_leaves", "test_a", "test_b"]
    one = settling(tests)
    assert apart(one, items(tests), {"test_leaves"}) == {"test_a", "test_b"}
    one.plan.session.spelled = {"size"}
    assert one.plan.read_by(frozenset([LEFT]), "test_a", "test_it.py", ()) == {LEFT}


def test_if_most_can_read_it_none_is():
    tests = ["test_leaves", "test_a", "test_b", "test_c"]
    one = settling(tests)
    one.plan.tests["test_a"]["tied"]["anything"] = True
    assert apart(one, items(tests), {"test_leaves"}) == {"test_b", "test_c"}
    one.plan.tests["test_b"]["tied"]["anything"] = True
    assert apart(one, items(tests), {"test_leaves"}) == frozenset()

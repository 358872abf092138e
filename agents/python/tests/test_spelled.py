"""Which names libraries may ask objects of the project for."""

import sys
import types

import pytest
import traces

sys.path.insert(0, traces.BOOT)
from _tamis.spelled import Spelled

sys.path.remove(traces.BOOT)

LIBRARY = """
class Version:
    def __init__(self, text, *more):
        found = text.strip()
        self.asked = self.pattern.match(found)
        other = more
        self.pair, self.again = found, other
        del self.dropped

    def of_another(self, version):
        return self.own, version.foreign

    def of_one_of_two(self, version):
        return (self if version is None else version).either

    def of_what_it_becomes(self, version):
        self = version
        return self.rebound

    def of_its_own(self):
        return self.own.inner

    def of_a_function(self):
        return lambda: self.enclosed

    def of_others(self):
        return worldwide

    def with_texts(self):
        return getattr(self, "worked_out")

    @staticmethod
    def of_none(version):
        return version.given

def function(version):
    return version.plain

class Base:
    def method(self):
        return self.inherited
"""


@pytest.fixture
def spelled(monkeypatch):
    library = types.ModuleType("library")
    exec(compile(LIBRARY, "library.py", "exec"), vars(library))
    monkeypatch.setitem(sys.modules, "library", library)
    own = type("Own", (library.Base,), {"__module__": "program"})
    classes = vars(library.Version), vars(library.Base)
    functions = [one for members in classes for one in members.values()]
    functions += [vars(library.Version)["of_none"].__func__, library.function]
    functions = [one for one in functions if isinstance(one, types.FunctionType)]
    yield Spelled(functions, {"in_c"}, 200, lambda kind: kind is own)


def test_a_method_asks_its_own_object(spelled):
    for name in ("asked", "pattern", "pair", "again", "dropped", "own"):
        assert not spelled.has(name), name


def test_whatever_else_may_be_of_the_project(spelled):
    names = "match foreign either rebound inner enclosed worldwide worked_out given plain inherited in_c"
    for name in names.split():
        assert spelled.has(name), name


def test_who_calls_hooks_asks_objects_of_its_own():
    names = {}
    exec(compile("def call(hook):\n    return hook.opts", "/site/pluggy/_caller.py", "exec"), names)
    assert not Spelled([names["call"]], (), 200, lambda kind: False).has("opts")

"""Who is told that somebody gets all members of a class."""

import pytest

PROGRAM = """
import functools, inspect, operator
native.start(("/",), ("/lib/",))
told = []
def tell(of):
    told.append(type.__getattribute__(of, "__name__"))
    return is_known
native.watch_frames(*[lambda *one: None] * 3, tell, *[print] * 2)
is_known = False
class Meta(type):
    def __getattribute__(cls, name): raise SystemExit(name)
    __hash__ = __eq__ = lambda *one: 1 / 0
class Base: pass
class Thing(Base): pass
class Strange(metaclass=Meta): pass
kept = type.__dict__["__dict__"].__get__
"""

WAYS = {
    "Thing.__dict__": ["Thing"],
    "vars(Thing)": ["Thing"],
    "dir(Thing)": ["Thing", "Base"],
    "dir(Thing())": ["Thing", "Base"],
    "kept(Thing)": ["Thing"],
    "list(map(vars, [Thing, Base]))": ["Thing", "Base"],
    "getattr(Thing, '__dict__')": ["Thing"],
    "operator.attrgetter('__dict__')(Thing)": ["Thing"],
    "type.__getattribute__(Strange, '__dict__')": ["Strange"],
    "inspect.getattr_static(Thing, 'x', None)": ["Thing", "Base"],
    "vars(Thing())": [],
    "Thing.__name__, Thing.mro(), Thing.__bases__": [],
    "dir(int), vars(int), int.__dict__": [],
}


@pytest.mark.parametrize("way", sorted(WAYS))
def test_a_way(run, way):
    (found,) = run(PROGRAM + "told.clear()\n%s\nout(sorted(set(told)))\n" % way)
    assert found == sorted(WAYS[way])


def test_a_known_class_is_told_once_in_each_epoch(run):
    program = "told.clear(); is_known = True\n"
    ask = "vars(Thing); kept(Thing); type.__getattribute__(Strange, '__dict__')\n" * 2
    found = run(PROGRAM + program + ask + "native.swap()\n" + ask + "out(told)\n")
    assert found == [["Thing", "Strange"] * 2]


def test_a_class_that_is_gone_does_not_hide_another_one(run):
    program = """
told.clear()
import gc
is_known = True
def one(name):
    kind = type(name, (), {})
    vars(kind)
    del kind
    gc.collect()
for name in "abc":
    one(name)
    native.swap()
    vars(Base)
out([name for name in told if name != "Base"])
"""
    assert run(PROGRAM + program) == [["a", "b", "c"]]

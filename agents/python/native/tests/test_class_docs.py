"""Who is told that somebody asks for the docstring of a class."""

import pytest

PROGRAM = """
import functools, inspect, operator, types
native.start(("/",), ("/lib/",))
told = []
def tell(of):
    told.append(of.co_name if isinstance(of, types.CodeType) else type.__getattribute__(of, "__name__"))
    return is_known
native.watch_frames(*[lambda *one: None] * 5, tell)
native.watch_attributes(lambda *one: False, __import__("builtins"), None)
is_known = False
class Meta(type):
    def __getattribute__(cls, name): raise SystemExit(name)
    __hash__ = __eq__ = lambda *one: 1 / 0
class Base:
    "Base"
class Thing(Base): pass
class Strange(metaclass=Meta):
    "Strange"
class Plain(type):
    "Plain"
class Marked(metaclass=Plain):
    "Marked"
kept = type.__dict__["__doc__"].__get__
names = {"Thing": Thing, "Base": Base}
exec(compile("def asks(x): return x.__doc__", "/lib/a.py", "exec"), names)
asks = names["asks"]
"""

WAYS = {
    "Thing.__doc__": ["Thing"],
    "getattr(Thing, '__doc__')": ["Thing"],
    "getattr(Thing(), '__doc__')": ["Thing"],
    "operator.attrgetter('__doc__')(Base)": ["Base"],
    "kept(Thing)": ["Thing"],
    # Its metaclass has a docstring.
    "getattr(Marked, '__doc__')": ["Marked"],
    "functools.wraps(Marked)(lambda: 0)": ["Marked"],
    "asks(Marked)": ["asks"],
    # Its metaclass has a docstring, which hides the descriptor.
    "type.__getattribute__(Strange, '__doc__')": [],
    "functools.wraps(Thing)(lambda: 0)": ["Thing"],
    "assert inspect.getdoc(Thing) == 'Base'": ["Base", "Thing"],
    "asks(Thing())": ["asks"],
    "asks(Thing)": ["Thing", "asks"],
    "getattr(Thing(), '__doc', 1); getattr(Thing, '__name__'); vars(Thing)": [],
    "int.__doc__; getattr(1, '__doc__')": [],
    "Thing.__doc__ = 'other'": [],
}


@pytest.mark.parametrize("way", sorted(WAYS))
def test_a_way(run, way):
    (found,) = run(PROGRAM + "told.clear()\n%s\nout(sorted(set(told) - {'getdoc', '_finddoc'}))\n" % way)
    assert found == sorted(WAYS[way])


def test_a_class_still_has_its_docstring(run):
    ask = "out([Thing.__doc__, Base.__doc__, Base().__doc__, int.__doc__ is not None])\n"
    change = "Thing.__doc__ = 'new'\nout(Thing.__doc__)\n"
    assert run(PROGRAM + ask + change) == [[None, "Base", "Base", True], "new"]


def test_code_that_asks_is_told_in_each_epoch(run):
    ask = "asks(Thing())\nasks(Thing())\n"
    program = "told.clear(); is_known = True\n"
    found = run(PROGRAM + program + ask + "native.swap()\n" + ask + "out(told)\n")
    assert found == [["asks"] * 2]


def test_code_of_the_project_is_told_until_that_is_enough(run):
    program = """
exec(compile("def own(x): return x.__doc__", "/main.py", "exec"), names)
answers, told[:] = [None, None, True, None, False, None], []
def tell(of):
    told.append(of.co_name)
    return answers.pop(0)
native.watch_frames(*[lambda *one: None] * 5, tell)
for _ in range(5): names["own"](1)
native.swap()
for _ in range(2): names["own"](1)
native.swap()
names["own"](1)
out([len(told), sorted(set(told)), answers])
"""
    assert run(PROGRAM + program) == [[6, ["own"], []]]


def test_code_that_does_not_matter_is_told_once(run):
    program = "told.clear(); is_known = False\nasks(Thing())\nasks(Thing())\nnative.swap()\n"
    assert run(PROGRAM + program + "asks(Thing())\nout(told)\n") == [["asks"]]

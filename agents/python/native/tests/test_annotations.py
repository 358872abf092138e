"""Who is told that somebody gets annotations."""

import sys

import pytest

PROGRAM = """
import functools, inspect, operator, typing
native.start(("/",), ("/lib/",))
told = []
def f(a: int): pass
def tell(of, found):
    has_name = type(of) in (type(f), type(sys))
    kind = of if issubclass(type(of), type) else type(of)
    name = of.__name__ if has_name else type.__getattribute__(kind, "__name__")
    told.append([name, type(found).__name__])
native.watch_frames(*[lambda *one: None] * 2, tell, *[lambda *one: None] * 3)
import builtins
native.watch_attributes(lambda *one: None, builtins, None)
class Base:
    x: int
class Thing(Base):
    y: int
class Meta(type):
    def __getattribute__(cls, name): raise SystemExit(name)
    __hash__ = __eq__ = lambda *one: 1 / 0
class Strange(metaclass=Meta):
    x: int
module = sys.modules[__name__]
kept = type.__dict__["__dict__"].__get__
"""

WAYS = {
    "f.__annotations__": [["f", "dict"]],
    "getattr(f, '__annotations__')": [["f", "dict"]],
    "Thing.__annotations__": [["Thing", "dict"]],
    "operator.attrgetter('__annotations__')(Thing)": [["Thing", "dict"]],
    "type.__getattribute__(Strange, '__annotations__')": [["Strange", "dict"]],
    "Thing.__dict__": [["Thing", "mappingproxy"]],
    "vars(Thing)": [["Thing", "mappingproxy"]],
    "kept(Thing)": [["Thing", "mappingproxy"]],
    "module.__annotations__": [["__main__", "dict"]],
    "getattr(Thing(), '__annotations__', None)": [["Thing", "NoneType"]],
    "Thing(), Thing.x if 0 else 0, Thing.__name__": [],
    "Thing().__dict__": [],
    "int.__dict__": [],
    "getattr(Thing(), '__doc__')": [],
}


@pytest.mark.skipif(sys.version_info < (3, 10), reason="classes have no descriptor")
@pytest.mark.parametrize("way", sorted(WAYS))
def test_a_way(run, way):
    (found,) = run(PROGRAM + "told.clear()\n%s\nout(told)\n" % way)
    if sys.version_info >= (3, 14) and "mappingproxy" not in str(found):
        # Who computes them asks once more.
        assert found[-1:] == WAYS[way][-1:]
    else:
        assert found == WAYS[way]


@pytest.mark.skipif(sys.version_info < (3, 10), reason="classes have no descriptor")
def test_annotations_can_be_set_and_deleted(run):
    (found,) = run(
        PROGRAM + "Thing.__annotations__ = {'a': 1}\nmodule.__annotations__ = {'b': 2}\n"
        "held = [Thing.__annotations__, module.__annotations__]\n"
        "del Thing.__annotations__\n"
        "try: int.__annotations__\nexcept AttributeError as error: held.append(str(error))\n"
        "try: Thing.__dict__ = {}\nexcept AttributeError as error: held.append(1)\n"
        "out(held + [Thing.__annotations__])\n"
    )
    assert found[:2] == [{"a": 1}, {"b": 2}]
    assert "__annotations__" in found[2]
    assert found[3:] == [1, {}]


@pytest.mark.skipif(sys.version_info < (3, 10), reason="classes have no descriptor")
def test_code_outside_the_project_that_asks(run):
    (found,) = run(
        PROGRAM + "names = {}\n"
        "exec(compile('def asks(x): return x.__annotations__\\ndef not_(x): return x.other',"
        " '/lib/it.py', 'exec'), names)\n"
        "told.clear()\nnames['asks'](f)\nnames['asks'](f)\nnames['not_'].__get__\n"
        "out(told)\n"
    )
    assert found == [["code", "NoneType"], ["f", "dict"], ["f", "dict"]]

"""Who is told that somebody asks how a function can be called, or calls it in a way that it cannot be."""

import sys

import pytest

PROGRAM = """
import functools, inspect, operator, types
native.start(("/",), ("/lib/",))
told = []
def tell(of):
    told.append(of if type(of) is str else of.__qualname__)
native.watch_frames(*[lambda *one: None] * 4, tell, lambda *one: None)
own = '''
class Thing:
    def __init__(self, x=1, *, y=2): self.x = x
    def method(self, a): return a
def plain(a, b=3): return a
def waits(a): yield a
'''
exec(compile(own, "/project/own.py", "exec"))
exec(compile("def other(a): pass", "/lib/other.py", "exec"))
def attempt(function, *args, **options):
    try: function(*args, **options)
    except TypeError: pass
kept = types.FunctionType.__dict__["__code__"].__get__
"""

WAYS = {
    "plain.__code__": ["plain"],
    "getattr(plain, '__defaults__')": ["plain"],
    "Thing.__init__.__kwdefaults__": ["Thing.__init__"],
    "operator.attrgetter('__closure__')(Thing().method)": ["Thing.method"],
    "kept(plain)": ["plain"],
    "inspect.signature(Thing)": ["Thing.__init__"],
    "inspect.iscoroutinefunction(plain)": ["plain"],
    "plain(1), Thing(), Thing().method(1), callable(plain)": [],
    "plain.__name__, plain.__qualname__, hash(plain)": [],
    "functools.update_wrapper(lambda: None, plain)": [],
    "plain.__defaults__ = (4,)": [],
    "other.__code__, inspect.signature(other)": [],
}

CALLS = {
    "attempt(plain)": ["plain"],
    "attempt(plain, 1, 2, 3)": ["plain"],
    "attempt(plain, 1, c=3)": ["plain"],
    "attempt(plain, 1, a=1)": ["plain"],
    "attempt(Thing, 1, 2)": ["Thing.__init__"],
    "attempt(Thing().method)": ["Thing.method"],
    "attempt(waits)": ["waits"],
    "attempt(list, map(plain, [1], [2], [3]))": ["plain"],
    "attempt(sorted, [1, 2], key=Thing().method)": [],
    "attempt(max, [1, 2], key=lambda: 0)": ["<lambda>"],
    "attempt(int, None)": [],
    "attempt(lambda: 1 + '')": [],
}


@pytest.mark.parametrize("way", sorted(WAYS))
def test_a_way(run, way):
    (found,) = run(PROGRAM + "told.clear()\n%s\nout(sorted(set(told)))\n" % way)
    assert found == sorted(WAYS[way])


@pytest.mark.skipif(sys.version_info < (3, 12), reason="errors in C code are not made")
@pytest.mark.parametrize("call", sorted(CALLS))
def test_a_call(run, call):
    (found,) = run(PROGRAM + "told.clear()\n%s\nout(sorted(set(told)))\n" % call)
    assert found == sorted(CALLS[call])


def test_errors_are_as_ever(run):
    program = """
class Own(TypeError):
    def __new__(cls, *args): return Exception.__new__(cls, *args)
    def __init__(self, text, more): super().__init__(text); self.more = more
one, other = Own("plain() got x", 2), TypeError("plain() got y", 3)
try: Own("x")
except TypeError as error: third = error
out([one.args, one.more, other.args, str(third), TypeError().args, told])
try: TypeError(x=1)
except TypeError as error: out(str(error))
"""
    found, error = run(PROGRAM + "told.clear()\n" + program)
    args, more, others, third, empty, told = found
    assert (args, more, others, empty) == (["plain() got x"], 2, ["plain() got y", 3], [])
    assert "more" in third and error == "TypeError() takes no keyword arguments"
    assert "plain" in told

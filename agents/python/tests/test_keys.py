"""Functions that use a global dictionary by key only."""

import sys

import pytest

import traces

sys.path.insert(0, traces.BOOT)
from _tamis import keyed_code
from _tamis.keys import Dictionary

sys.path.remove(traces.BOOT)

pytestmark = pytest.mark.skipif(sys.version_info < (3, 12), reason="no instruction is told")

BY_KEY = [
    ("def f(k): return D[k]", {("value", False, "k")}),
    ("def f(k): return D['a']", {("value", True, "a")}),
    ("def f(k): return k in D", {("presence", False, "k")}),
    ("def f(k): return 'a' not in D", {("presence", True, "a")}),
    ("def f(k): D[k] = 1", {("store", False, "k")}),
    ("def f(k): del D[k]", {("presence", False, "k")}),
    ("def f(k): D[k] += 1", {("value", False, "k")}),
    ("def f(k): return D.get(k)", {("value", False, "k")}),
    ("def f(k, v): return D.get(k, v)", {("value", False, "k")}),
    ("def f(k): D.setdefault(k, []).append(k)", {("value", False, "k")}),
    ("def f(k): return D.pop(k, None)", {("value", False, "k")}),
    ("def f(k): return D[k][k]", {("value", False, "k")}),
    ("def f(k): return [a for a in k if a in D]", {("presence", False, "a")}),
    ("def f(k): return (k if k else 'b') in D", {("presence", False, "k"), ("presence", True, "b")}),
    ("def f(k):\n    a = 'x%s' % k\n    if a in D: return D[a]", {("presence", False, "a"), ("value", False, "a")}),
]

AS_A_WHOLE = [
    "def f(k): return len(D)",
    "def f(k): return D",
    "def f(k): return [a for a in D]",
    "def f(k): return D[k if k else 'b']",
    "def f(k): return D[k.a]",
    "def f(k): return D.get(k if k else 'b')",
    "def f(k): return D.get(k, default=1)",
    "def f(k): return D.items()",
    "def f(k): return (D if k else k)[k], D.copy",
    "def f(k): return k.D, D[k]",
    "def f(k): return 'D', D[k]",
    "def f(k): return D[k], lambda: D",
    "def f(k): yield D[k]",
    "async def f(k): return D[k]",
    "def f(k):\n    global D\n    D = {}\n    return D[k]",
    "def f(k):\n    def g(): return D[k]\n    return D[k], g",
    "def f(k): return D(k)",
]


def accesses(source):
    names = {}
    exec(compile(source, "lib.py", "exec"), names)
    found = keyed_code.accesses(names["f"].__code__, "D")
    return None if found is None else set(found.values())


@pytest.mark.parametrize("source, wanted", BY_KEY)
def test_by_key(source, wanted):
    assert accesses(source) == wanted


@pytest.mark.parametrize("source", AS_A_WHOLE)
def test_as_a_whole(source):
    assert accesses(source) is None


def test_names_of_entries():
    held = {"a.b": 1, "x" * 99: 2, "\n": 3}
    one = Dictionary("lib.py", "D", held)
    names = [one.entry(key) for key in held]
    assert names[0] == "D['a\\x2eb']"
    assert [name[:3] for name in names[1:]] == ["D[~"] * 2
    assert [one.key_of(name + "?") for name in names] == list(held)
    assert set(one.changed(None)) == {*names, *(name + "?" for name in names)}
    held["a.b"] = 5
    assert list(one.changed(["a.b"])) == [names[0]]

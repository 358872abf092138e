"""What objects are called in a taking of a few cells, and what stands for names of places."""

import sys


def test_names_of_an_earlier_taking(run):
    """A few cells have the values that they have among all."""
    source = (
        "import itertools\nMARK = object()\nTEXT = 'not given'\na = {}\nb = [MARK]\n"
        "def f(x=TEXT): pass\n"
        "class C:\n  n = 1\n  class D: pass\ncount = itertools.count()\n"
    )
    out = run(
        "from cell_steps import *\n"
        "made = module(" + repr(source) + ")\nother = module('import itertools\\n', 'other')\n"
        "roots = (('other', other), ('program', made))\n"
        "def some(*keys): return native.cells((('program', made, keys),), (), 2)['program']\n"
        "def every():\n"
        "  found = native.cells(roots, (), 2)\n"
        "  return {label: keys for label, keys in found.items() if label[0] != '*'}\n"
        "native.watch_add(made.a); native.watch_add(made.b)\n"
        "first = native.cells(roots, (), 1)\n"
        "out(sorted(str((label, *keys)) for label, keys in first.items() if label[0] == '*'))\n"
        "first = {label: keys for label, keys in first.items() if label[0] != '*'}\n"
        "out(every() == first)\n"
        "made.a['x'] = made.MARK\nshared = some('a')['a']\n"
        "made.a['x'] = object()\nown = some('a')['a']\n"
        "out([shared[:16] == own[:16], shared == own, every()['program']['a'] == own])\n"
        "out(every()['program']['b'] == first['program']['b'])\n"
        "out([some('f')['f'] == first['program']['f'], sorted(map(str, some('a', '')))])\n"
        "class E(made.C.D): pass\n"
        "out(sorted(native.cells((('program', made, ('*subclasses',)),), (), 2)))\n",
    )
    assert out[0] == ["('*unwatched:program', 'count')"]
    assert out[1:4] == [True, [True, False, True], True]
    assert out[4] == [True, ["None", "a"]]
    assert out[5] == ["program:C.D"]


def test_new_objects_are_taken_again_unless_they_are_watched(run):
    """Who shares one that is watched shares it with the place that held it first."""
    source = "a = {}\nb = {}\nc = {}\ndef f(): pass\n"
    out = run(
        "from cell_steps import *\n"
        "made = module(" + repr(source) + ")\nroots = (('program', made),)\n"
        "def some(*keys): return native.cells((('program', made, keys),), (), 2)\n"
        "def unwatched(found): return sorted(found.get('*unwatched:program', ()))\n"
        "for one in (made.a, made.b, made.c, made.f): native.watch_add(one)\n"
        "native.cells(roots, (), 1)\n"
        "made.a['x'] = new = []\nout(unwatched(some('a', 'c')))\n"
        "native.watch_add(new)\nout(unwatched(some('a', 'c')))\n"
        "made.b['x'] = new\nshared = some('b')['program']['b']\n"
        "made.b['x'] = []\nown = some('b')\n"
        "out([shared[:16] == own['program']['b'][:16], shared == own['program']['b']])\n"
        "out(unwatched(own))\n"
        "made.c['f'] = lambda: 1\nout(unwatched(some('a', 'c')))\n"
        "native.watch_add(made.c['f'])\nout(unwatched(some('a', 'c')))\n",
    )
    assert out == [["a"], [], [True, False], ["b"], ["c"], []]


def test_who_declares_something_needs_no_watching(run):
    source = (
        "import functools, inspect, sys\n"
        "def f(a, b=1): pass\n"
        "signature = inspect.signature(f)\nlisting = [1]\n"
        "other = signature.replace(return_annotation=[listing])\n"
        "bound = signature.bind(1)\nprop = functools.cached_property(f)\n"
    )
    out = run(
        "from cell_steps import *\n"
        "made = module(" + repr(source) + ")\n"
        "found = native.cells((('program', made),), (), 1)['*unwatched:program']\n"
        "names = ('signature', 'other', 'bound', 'prop')\n"
        "out(sorted(one for one in names if one in found))\n",
    )
    # Properties had locks once.
    assert out == [["bound", "other"] + ["prop"] * (sys.version_info < (3, 12))]


def test_asking_changes_no_value(run):
    """What the interpreter makes when somebody asks for it is no state."""
    source = (
        "f = lambda x: x\nheld = [lambda: 1]\nclass C:\n  def m(self): pass\n"
        "def local():\n  class Local: pass\n  return Local\nmade = local()\n"
    )
    (found,) = run(
        "from cell_steps import *\nimport inspect\n"
        "made = module(" + repr(source) + ")\nroots = (('program', made),)\n"
        "first = native.cells(roots)\n"
        "for function in (made.f, made.held[0], made.C.m, made.local):\n"
        "  vars(function), function.__annotations__, inspect.signature(function)\n"
        "for holder in (made, made.C, made.made): getattr(holder, '__annotations__', None)\n"
        "second = native.cells(roots)\n"
        "out([[label, key] for label, keys in second.items() for key in keys\n"
        "     if first[label].get(key) != keys[key]] + [len(first) - len(second)])\n",
    )
    assert found == [0]


def test_texts_that_name_places_in_the_project(run):
    """They are the same in another checkout; other texts that begin alike are not."""
    out = run(
        "from cell_steps import *\n"
        "def value(text, folder):\n"
        "    made = module('a = %r; b = {%r: [%r]}' % (text, text, text), 'm', 'm.py')\n"
        "    cells = native.cells((('m', made),), ((folder + '/', '*project/'),))['m']\n"
        "    return cells['a'], cells['b']\n"
        "one, two = '/home/one', '/srv/two'\n"
        "for rest in ('', '/', '/x/\\u00e9', '-x', '\\udc80'):\n"
        "    there, here = value(one + rest, one), value(two + rest, two)\n"
        "    out([a == b for a, b in zip(there, here)])\n"
        "    out(value(one + rest, two) == value(two + rest, one))\n"
        "out(value(one, one) == value('', one))\n"
        "out(value('/x', one) == value(one + '/x', one))\n"
        "out(value(one, one) == value(one, two))\n"
    )
    assert out[:6] == [[True, True], False] * 3
    assert out[6:10] == [[False, False], False] * 2
    assert out[10:] == [False, False, False]

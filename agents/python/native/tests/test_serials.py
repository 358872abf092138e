"""Numbers by which a class counts its objects: what value they have, and who is told to get them."""

import pytest

PROGRAM = """
import copy, inspect, operator, pickle
class Base:
    pass
class Field(Base):
    turn = 0
    def __init__(self): self.turn = Field.turn; Field.turn += 1
class Own(Field):
    pass
class Other:
    def __init__(self): self.turn = 7
class Slotted:
    __slots__ = ("__dict__",)
got = []
def watch(kind=Field):
    return native.serial(
        kind, "turn", lambda is_set: got.append(is_set),
        (copy.copy.__code__, copy.deepcopy.__code__, copy._reconstruct.__code__),
        (Base.__dict__["__dict__"], Slotted.__dict__["__dict__"]),
        tuple(vars(object)[name] for name in ("__reduce_ex__", "__getstate__") if name in vars(object)),
        operator.attrgetter,
    )
def at(turn, kind=Field):
    one = kind.__new__(kind)
    one.turn = turn
    return native.cells((("m", {"x": one}),))["m"]["x"]
number = watch()
"""


def test_values_of_places(run):
    program = """
out(at(3) == at(4))
for value in (0, 3, 3, 10): assert native.serial_is(number, value, None)
# In one import: as which there; and in which.
before = [at(3), at(4), at(10)]
out([at(3) == at(4), at(3) == at(10), at(3, Own) == at(3), at(0) == at(3)])
for value, test in (20, "a"), (20, "b"), (25, "c"): assert native.serial_is(number, value, test)
out([before == [at(3), at(4), at(10)], at(20) == at(25), at(21) == at(22)])
"""
    first, of_imports, of_tests = run(PROGRAM + program)
    assert first is False
    assert of_imports == [False] * 4
    assert of_tests == [True, False, False]


def test_others_before_move_numbers_only(run):
    program = """
for value in %r: assert native.serial_is(number, value, None)
for value, test in %r: assert native.serial_is(number, value, test)
out([at(value).hex() for value in %r])
"""
    first = PROGRAM + program % ((0, 3, 10), ((20, "a"), (25, "b")), (3, 9, 10, 12, 20, 24, 25, 30))
    then = PROGRAM + program % ((0, 5, 12), ((30, "a"), (30, "x"), (40, "b")), (5, 11, 12, 14, 30, 34, 40, 45))
    (values,), (moved,) = run(first), run(then)
    # What `a` made is `x`'s now.
    assert [one == other for one, other in zip(values, moved)] == [True] * 4 + [False] * 2 + [True] * 2


def test_a_number_that_was_set_back_is_one(run):
    program = """
assert native.serial_is(number, 5, None)
out(native.serial_is(number, 4, None))
plain = [at(5), at(6)]
out(native.serial_is(number, 9, "a"))
out(plain == [at(5), at(6)] and at(9) != at(10))
number = watch(Other)
out(native.serial_is(number, None, None))
"""
    assert run(PROGRAM + program) == [False, False, True, False]


WAYS = {
    "vars(Field())": True,
    "Own().__dict__": True,
    "inspect.getmembers(Field())": True,
    "pickle.dumps(Field())": True,
    "Field().__reduce_ex__(2)": True,
    "Field().__reduce_ex__(1)": True,
    "copy.copy(Field()).__dict__": True,
    "setattr(Field(), '__dict__', {})": True,
    "operator.attrgetter('name.turn')": True,
    "operator.attrgetter('name', 'turn')": True,
    "copy.copy(Field()), copy.deepcopy(Own())": False,
    "vars(Other()), vars(Base()), vars(Slotted())": False,
    "operator.attrgetter('name', 'turns')": False,
    "Field().turn, getattr(Field(), 'turn'), repr(Field())": False,
    "vars(Field), Field.__dict__": False,
}


@pytest.mark.parametrize("way", sorted(WAYS))
def test_a_way(run, way):
    (found,) = run(PROGRAM + "got.clear()\n%s\nout(bool(got))\n" % way)
    assert found == WAYS[way]


def test_what_is_watched_works_as_ever(run):
    program = """
one = Field()
one.name = "x"
slotted = Slotted()
slotted.a = 1
out([vars(one), vars(slotted), pickle.loads(pickle.dumps(one)).name, operator.attrgetter("name")(one)])
try: operator.attrgetter(3)
except TypeError as error: out(str(error))
"""
    found, error = run(PROGRAM + program)
    assert found == [{"turn": 0, "name": "x"}, {"a": 1}, "x", "x"]
    assert error == "attribute name must be a string"


NAMED = {
    "getattr(Field(), 'turn')": [False],
    "getattr(Own, 'turn', None)": [False],
    "getattr(Other(), 'turn')": [],
    "getattr(Field(), 'name', None)": [],
    "hasattr(Field(), 'turn')": [],
    "setattr(Field, 'turn', 3)": [True],
    "setattr(Field(), 'turn', 3)": [True],
    # What looks like one stands among them.
    "setattr(Other(), 'turn', 3)": [True],
    "setattr(Field(), 'name', 3)": [],
    "field = Field(); delattr(field, 'turn')": [True],
    "setattr(module, 'Field', Own)": [True],
    "setattr(Other, 'Field', Own)": [],
    "argparse.ArgumentParser().parse_args([], argparse.Namespace(tune=1))": [],
    "parser = argparse.ArgumentParser(); parser.add_argument('--turn'); parser.parse_args([])": [True],
    "\nwith mock.patch.object(Field, 'tu' + 'rn', 3): pass": [True],
}


@pytest.mark.parametrize("way", sorted(NAMED))
def test_who_works_out_the_name(run, way):
    program = "import argparse, types\nfrom unittest import mock\nmodule = types.ModuleType('m')\n"
    program += "native.start(('/nowhere',), ())\nnative.watch_attributes(lambda *one: True, __import__('builtins'), None)\n"
    (found,) = run(PROGRAM + program + "got.clear()\n%s\nout(sorted(set(got)))\n" % way)
    assert found == NAMED[way]

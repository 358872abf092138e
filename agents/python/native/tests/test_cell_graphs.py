"""Random object graphs: digests against a slow oracle in Python."""

import os

import pytest

ROUNDS = int(os.environ.get("TAMIS_FUZZ", "8"))

ORACLE = """
from cell_steps import *
import copy, random

class Node:
    pass

class Slotted:
    __slots__ = ("a", "b")

def children(x):
    if isinstance(x, (list, tuple)): return list(x)
    if isinstance(x, dict): return [part for pair in x.items() for part in pair]
    if isinstance(x, Node): return [part for pair in vars(x).items() for part in pair]
    if isinstance(x, Slotted): return [getattr(x, "a", "unset"), getattr(x, "b", "unset")]
    return None

def same(x, y, mapping, tuples=False):
    "Whether both unfold alike; with a mapping, whether they share alike too."
    seen, stack, back = set(), [(x, y)], {}
    while stack:
        x, y = stack.pop()
        if type(x) is not type(y): return False
        parts = children(x)
        if parts is None:
            if x != y: return False
            continue
        if mapping and (tuples or not isinstance(x, tuple)):
            if back.setdefault(("x", id(x)), id(y)) != id(y): return False
            if back.setdefault(("y", id(y)), id(x)) != id(x): return False
        if (id(x), id(y)) in seen: continue
        seen.add((id(x), id(y)))
        others = children(y)
        if len(parts) != len(others): return False
        stack += zip(parts, others)
    return True

def graph(chance, size):
    nodes = [chance.choice([list, dict, Node, Slotted])() for _ in range(size)]
    def pick():
        kind = chance.random()
        if kind < 0.3: return chance.choice([0, 1, "a", None, 2.5])
        if kind < 0.4: return (chance.choice(nodes), chance.choice(nodes))
        return chance.choice(nodes)
    for node in nodes:
        for at in range(chance.randrange(3)):
            if isinstance(node, list): node.append(pick())
            elif isinstance(node, dict): node[at] = pick()
            else: setattr(node, "ab"[at], pick())
    return nodes

def change(chance, nodes):
    node = chance.choice(nodes)
    value = chance.choice(nodes + [0, "a"])
    if isinstance(node, list): node[:1] = [value]
    elif isinstance(node, dict): node[0] = value
    else: node.a = value

seed = int(sys.argv[1])
chance = random.Random(seed)
wrong, equal, shared = [], 0, 0
for turn in range(300):
    one = graph(chance, chance.randrange(1, 9))
    two = copy.deepcopy(one)
    if taken(one[0]) != taken(two[0]): wrong.append((turn, "a copy differs"))
    for _ in range(chance.randrange(1, 3)): change(chance, two)
    pairs = [(one[0], two[0])] + [(x, y) for x in one[:3] for y in one[:3]]
    for x, y in pairs:
        first, second = taken(x), taken(y)
        unfolds, shares = same(x, y, False), same(x, y, True)
        equal += unfolds
        shared += shares
        if first[:16] == second[:16] and not unfolds: wrong.append((turn, "equal values"))
        if first == second and not shares: wrong.append((turn, "equal sharing"))
        # One tuple or two equal ones: no program should go by that, yet it may
        # count where they are part of a cycle.
        if first != second and same(x, y, True, True): wrong.append((turn, "differ"))
    # From one cell to another: which of two equal objects does it hold?
    names = types.ModuleType("m")
    names.a, names.b, names.c = one[0], one[-1], one[len(one) // 2]
    three = copy.deepcopy([names.a, names.b, names.c])
    copied = types.ModuleType("m")
    copied.a, copied.b, copied.c = three
    if native.cells((("m", names),)) != native.cells((("m", copied),)): wrong.append((turn, "a copy of three"))
    copied.b = copy.deepcopy(names.b)
    before, after = native.cells((("m", names),))["m"], native.cells((("m", copied),))["m"]
    held = [names.a, names.b, names.c], [copied.a, copied.b, copied.c]
    if before == after and not same(*held, True): wrong.append((turn, "equal sharing of cells"))
    if before != after and same(*held, True, True): wrong.append((turn, "cells differ"))
out([wrong[:5], equal > 300, shared > 300])
"""


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_random_graphs(run, seed):
    assert run(ORACLE, seed) == [[[], True, True]]


def test_tuples_without_end(run):
    """Tuples of plain values have no node, but a list of pairs may be longer than the stack."""
    out = run(
        "from cell_steps import *\n"
        "def chain(end, length):\n"
        "    for at in range(length): end = (at, end)\n"
        "    return end\n"
        "for length in (3, 40, 100000):\n"
        "    same = value(chain((1, 'a'), length)) == value(chain((1, 'a'), length))\n"
        "    out([same, value(chain((1, 'a'), length)) == value(chain((1, 'b'), length))])\n"
    )
    assert out == [[True, False]] * 3


def test_plain_entries_of_a_cache(run):
    out = run(
        "from cell_steps import *\nimport functools\n"
        "def filled(results, size=None):\n"
        "    known = dict(sorted(results.items()))\n"
        "    made = functools.lru_cache(size)(lambda key, *more: known[key])\n"
        "    for key in results: made(key), made(key, (key, 1))\n"
        "    return value(made)\n"
        "one, other = {1: 'a', 2: ('b', 3)}, {1: 'a', 2: ('b', 4)}\n"
        "turned = dict(reversed(one.items()))\n"
        "for size in (None, 4, 100):\n"
        "    out([filled(one, size) == filled(dict(one), size), filled(one, size) == filled(other, size),\n"
        "         filled(one, size) == filled(turned, size)])\n"
    )
    assert out == [[True, False, True], [True, False, False], [True, False, True]]

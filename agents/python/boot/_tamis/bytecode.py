"""Reads bytecode as it lies, without what `dis` makes of it.

PYTEST_DONT_REWRITE
"""

import itertools
import sys
from opcode import EXTENDED_ARG, opmap, opname

# A place for what the interpreter keeps for itself; none before 3.11.
_CACHE = opmap.get("CACHE", -1)

# What gets an attribute, and where in its argument the name is.
ATTRIBUTES = {
    opmap[name]: (shift if sys.version_info >= (3, 12) else 0)
    for name, shift in (("LOAD_ATTR", 1), ("LOAD_METHOD", 0), ("LOAD_SUPER_ATTR", 2))
    if name in opmap
}


def steps(code, begin=0):
    """Offset, operation and argument of each instruction from an offset on; those that only
    extend an argument are left out."""
    raw, extended = code.co_code, 0
    for at in range(begin, len(raw), 2):
        operation, argument = raw[at], raw[at + 1] | extended
        extended = 0
        if operation == EXTENDED_ARG:
            extended = argument << 8
        else:
            yield at, operation, argument


def steps_at(code, at, count):
    """What stands at offset `at`, and the operations after it: `count` in all if there are as many,
    each with its argument."""
    # Code that has not begun is before its first operation. And of a call that is under way,
    # some versions tell the last place that belongs to it.
    raw, at = code.co_code, max(at, 0)
    begin = at
    while begin > 0 and raw[begin - 2] == EXTENDED_ARG:
        begin -= 2
    found = (step[1:] for step in steps(code, begin) if step[0] == at or step[1] != _CACHE)
    return list(itertools.islice(found, count))


def attribute(code, operation, argument):
    """The attribute that an instruction of `code` gets, if it is one that gets any."""
    shift = ATTRIBUTES.get(operation)
    return None if shift is None else code.co_names[argument >> shift]


# One name, or two.
_LOADS_FAST = "LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW"


def read_only(code, asked):
    """The arguments of `code` that it asks for the attribute `asked`, if it asks nothing else for it,
    and they stay what they are; `None` if that cannot be told."""
    # Few programs need it, and whatever runs tests has it.
    from dis import findlabels

    labels = frozenset(findlabels(code.co_code))
    count = code.co_argcount + code.co_kwonlyargcount
    arguments, found, stored = code.co_varnames[:count], set(), set()
    before = None
    for at, operation, argument in steps(code):
        if attribute(code, operation, argument) == asked:
            if before is None or at in labels:
                return None
            found.add(before)
        name = opname[operation]
        before = None
        if name in ("LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK"):
            before = arguments[argument] if argument < count else None
        elif "STORE_FAST_" in name:
            stored.update((argument >> 4, argument & 15))
        elif "FAST" in name and not name.startswith(_LOADS_FAST):
            stored.add(argument)
    are_kept = stored.isdisjoint(map(arguments.index, found))
    return tuple(found) if found and are_kept else None

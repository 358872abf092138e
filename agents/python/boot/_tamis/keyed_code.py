"""Finds out from bytecode whether a function uses a global dictionary by key only.

PYTEST_DONT_REWRITE
"""

import dis
import opcode
import types

from .bytecode import steps

# `CO_OPTIMIZED`, and generators and coroutines of all kinds: those go on in other scopes than they
# began in.
_OPTIMIZED, _SUSPENDED = 0x1, 0x20 | 0x80 | 0x100 | 0x200

_NAMES = opcode.opname
_VARIABLE = ("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW")
_VARIABLES = ("LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW")
# What one instruction gives for an argument.
_SIMPLE = _VARIABLE + ("LOAD_CONST", "LOAD_SMALL_INT", "LOAD_GLOBAL", "LOAD_DEREF")
_EMPTY = ("BUILD_LIST", "BUILD_MAP", "BUILD_TUPLE")
_METHODS = ("get", "setdefault", "pop")
# `NB_SUBSCR`, of 3.14.
_SUBSCRIPT = 26


def accesses(code, name):
    """What a function does with its global dictionary `name`: offset -> how, whether the key is a
    text, and that text or the variable with the key. `None` if it does anything but to get or set
    what is at a key."""
    if not code.co_flags & _OPTIMIZED or code.co_flags & _SUSPENDED:
        return None
    if "<locals>" in code.co_qualname or _spells(code, name):
        return None
    all_steps = [_Step(code, *one) for one in steps(code) if one[1]]
    labels = frozenset(dis.findlabels(code.co_code))
    found = {}
    for at, step in enumerate(all_steps):
        if step.global_name() == name:
            access = _access(all_steps, at, labels)
            if access is None:
                return None
            found[step.offset] = access
        elif step.spells(name):
            return None
    return found or None


def begin(code):
    """The offset of the first instruction of a function that runs at each call; `None` if there is
    none."""
    names = [(offset, _NAMES[operation]) for offset, operation, _ in steps(code) if operation]
    for (_, name), (offset, _) in zip(names, names[1:]):
        if name == "RESUME":
            return offset
    return None


def _spells(code, name):
    """Whether the name stands elsewhere than in what the function loads: in functions inside of
    it, or in texts that consist of names."""
    from .reached import _add_words

    words = set()
    for constant in code.co_consts:
        if type(constant) is types.CodeType:
            if name in constant.co_names or name in constant.co_freevars:
                return True
            if _spells(constant, name):
                return True
        else:
            _add_words(constant, words)
    return name in words


class _Step:
    __slots__ = ("code", "offset", "name", "argument")

    def __init__(self, code, offset, operation, argument):
        self.code = code
        self.offset = offset
        self.name = _NAMES[operation]
        self.argument = argument

    def global_name(self):
        """The global that it loads, if it is not to be called."""
        if self.name == "LOAD_GLOBAL" and not self.argument & 1:
            return self.code.co_names[self.argument >> 1]
        return None

    def spells(self, name):
        """Whether it does something else with a name."""
        if _OPCODES.get(self.name) is None:
            return False
        shift = _OPCODES[self.name]
        names = self.code.co_names
        return self.argument >> shift < len(names) and names[self.argument >> shift] == name

    def key(self):
        """`(whether it is a text, the text or the variable)` that it loads; `None` if it is
        neither."""
        if self.name == "LOAD_CONST":
            text = self.code.co_consts[self.argument]
            return (True, text) if type(text) is str else None
        if self.name in _VARIABLE:
            return self._variable(self.argument)
        if self.name == "STORE_FAST_LOAD_FAST":
            return self._variable(self.argument & 15)
        return None

    def first_key(self):
        """The same of the first of two variables."""
        return self._variable(self.argument >> 4) if self.name in _VARIABLES else None

    def _variable(self, number):
        names = self.code.co_varnames
        return (False, names[number]) if number < len(names) else None

    def method(self):
        """The method of the dictionary that it asks for."""
        if self.name == "LOAD_ATTR" and self.argument & 1:
            name = self.code.co_names[self.argument >> 1]
            return name if name in _METHODS else None
        return None

    def is_simple(self):
        if self.name in _EMPTY:
            return self.argument == 0
        return self.name in _SIMPLE


def _names_of_operations():
    """How far the number of a name is shifted in the argument of an instruction that has one."""
    shifts = {"LOAD_GLOBAL": 1, "LOAD_ATTR": 1, "LOAD_SUPER_ATTR": 2}
    return {_NAMES[one]: shifts.get(_NAMES[one], 0) for one in opcode.hasname}


_OPCODES = _names_of_operations()


def _access(all_steps, at, labels):
    before = all_steps[at - 1] if at else None
    after = all_steps[at + 1 : at + 6]
    if len(after) < 2:
        return None
    if after[0].name == "CONTAINS_OP":
        # What is before it must be what is looked for, wherever that code came from.
        key = before.key() if before is not None and all_steps[at].offset not in labels else None
        return None if key is None else ("presence", *key)
    key = after[0].key()
    if key is not None:
        how = _subscript(after[1:])
        return None if how is None else (how, *key)
    if after[0].method() is None:
        return None
    if after[1].name in _VARIABLES:
        key, rest = after[1].first_key(), after[2:3]
        count = 2
    else:
        key = after[1].key()
        count = 1
        rest = after[2:3]
        if rest and rest[0].name != "CALL":
            if not rest[0].is_simple():
                return None
            count, rest = 2, after[3:4]
    if key is None or not rest or rest[0].name != "CALL" or rest[0].argument != count:
        return None
    return ("value", *key)


def _subscript(after):
    """How what follows uses the key that was loaded."""
    first = after[0]
    if first.name == "STORE_SUBSCR":
        return "store"
    if first.name == "DELETE_SUBSCR":
        return "presence"
    if first.name == "COPY" and len(after) > 2 and after[1].name == "COPY":
        first = after[2]
    if first.name == "BINARY_SUBSCR":
        return "value"
    return "value" if first.name == "BINARY_OP" and first.argument == _SUBSCRIPT else None

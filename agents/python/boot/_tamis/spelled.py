"""The names that code outside the project may ask objects of the project for.

A method that asks its own first argument for a name asks an object of its class. That is none of
the project's as long as no class of the project comes from it.

PYTEST_DONT_REWRITE
"""

import dis
import sys
import types
from opcode import hasname, opmap, opname

from .bytecode import ATTRIBUTES, attribute, steps
from .watch import is_a

# This asks plug-ins for what the runner names, and all else of objects of its own.
_OF_HOOKS = "/pluggy/"

_FIRST = ("LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK")
_NAMING = frozenset(hasname)
# Its argument also tells whether somebody calls what it gets.
_GLOBAL = opmap["LOAD_GLOBAL"] if sys.version_info >= (3, 11) else -1


class Spelled:
    """Names and texts in the code of some functions. Others than short `texts` do not count."""

    def __init__(self, functions, texts, longest, is_own):
        self._texts = set(texts)
        self._longest = longest
        self._is_own = is_own
        # Name -> the code that has it; and of methods of libraries, by their code, the class.
        self._codes = {}
        self._classes = {}
        self._known = {}
        codes = set()
        for function in functions:
            codes.add(function.__code__)
            kind = _class_of(function)
            if kind is not None:
                self._classes[function.__code__] = kind
        for code in (inner for outer in codes for inner in nested(outer)):
            self._take(code)

    def _take(self, code):
        if _OF_HOOKS not in code.co_filename:
            for name in code.co_names:
                self._codes.setdefault(name, []).append(code)
        for constant in code.co_consts:
            if type(constant) is str:
                if len(constant) <= self._longest:
                    self._texts.add(constant)
            elif type(constant) in (tuple, frozenset):
                self._texts.update(one for one in constant if type(one) is str)

    def has(self, name):
        """Whether any of the code may ask an object of the project for `name`."""
        known = self._known.get(name)
        if known is None:
            known = name in self._texts
            known = known or any(not self._asks_itself(one, name) for one in self._codes.get(name, ()))
            self._known[name] = known
        return known

    def _asks_itself(self, code, name):
        kind = self._classes.get(code)
        return kind is not None and not self._has_own(kind) and _asks_first_only(code, name)

    def _has_own(self, kind):
        """Whether a class of the project comes from `kind`."""
        waiting, seen = [kind], set()
        while waiting:
            one = waiting.pop()
            if one in seen:
                continue
            seen.add(one)
            if self._is_own(one):
                return True
            waiting.extend(type.__subclasses__(one))
        return False


def _class_of(function):
    """The class whose method a function is; `None` if it may be something else as well."""
    path, _, name = function.__qualname__.rpartition(".")
    if not path or "<" in path or not function.__code__.co_argcount:
        return None
    found = sys.modules.get(function.__module__)
    for part in path.split("."):
        if not is_a(found, (type, types.ModuleType)):
            return None
        found = vars(found).get(part)
    return found if is_a(found, type) and vars(found).get(name) is function else None


def _asks_first_only(code, name):
    """Whether `code` has `name` only for attributes of its first argument, which stays what it is."""
    targets = set(dis.findlabels(code.co_code))
    # Which variable lies on top, if the operation before has put one there.
    top, last = None, -1
    for at, operation, argument in steps(code):
        if opname[operation] == "CACHE":
            continue
        is_reached_otherwise = any(place in targets for place in range(last + 1, at + 1))
        is_first = top == 0 and not is_reached_otherwise
        if _has_name(code, operation, argument, name) and not is_first:
            return False
        top, stored = _variables(opname[operation], argument)
        if 0 in stored:
            return False
        last = at
    return True


def _variables(operation, argument):
    """Which variable an operation puts on top, and which it sets: of two in one argument, both."""
    pair = argument >> 4, argument & 15
    if operation in _FIRST:
        return argument, ()
    if operation == "LOAD_FAST_LOAD_FAST":
        return pair[1], ()
    if operation == "STORE_FAST_LOAD_FAST":
        return pair[1], pair[:1]
    if "_FAST" not in operation:
        return None, ()
    if operation.count("_FAST") > 1:
        return None, pair
    return None, () if operation.startswith("LOAD_FAST") and "CLEAR" not in operation else (argument,)


def _has_name(code, operation, argument, name):
    """Whether an operation has this name."""
    if operation in ATTRIBUTES:
        return attribute(code, operation, argument) == name
    if operation not in _NAMING:
        return False
    return code.co_names[argument >> (operation == _GLOBAL)] == name


def nested(code):
    """A code object and all in it."""
    yield code
    for constant in code.co_consts:
        if type(constant) is types.CodeType:
            yield from nested(constant)

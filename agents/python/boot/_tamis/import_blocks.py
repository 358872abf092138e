"""Import statements that follow one another: nothing else of the project runs between them.

PYTEST_DONT_REWRITE
"""

import sys
from importlib.machinery import PathFinder
from opcode import EXTENDED_ARG, opmap

_STDLIB = getattr(sys, "stdlib_module_names", sys.builtin_module_names)

# What import statements consist of, beside `IMPORT_NAME`.
_PARTS = frozenset(
    opmap[name]
    for name in """CACHE EXTENDED_ARG IMPORT_FROM LOAD_CONST LOAD_SMALL_INT NOP POP_TOP ROT_TWO
    STORE_FAST STORE_GLOBAL STORE_NAME SWAP""".split()
    if name in opmap
)
_IMPORT_NAME, _LOAD_CONST = opmap["IMPORT_NAME"], opmap["LOAD_CONST"]
_LOAD_SMALL_INT = opmap.get("LOAD_SMALL_INT")


class Block:
    """The import statements from the one on that `frame` runs."""

    def __init__(self, frame):
        self.frame = frame
        self.begin = self.end = frame.f_lasti
        # Whether one of them seems to load a module still.
        self.goes_on = self._read(frame.f_code)

    def has(self, frame):
        """Whether `frame` has come to the statement that goes on."""
        return frame is self.frame and frame.f_lasti == self.end

    def _read(self, code):
        content, argument, loaded = code.co_code, 0, []
        # Its level and names stand before it.
        for at in range(max(self.begin - 8, 0), len(content), 2):
            kind = content[at]
            argument |= content[at + 1]
            if at < self.begin:
                pass
            elif kind == _IMPORT_NAME:
                level, names = loaded[-2:] if len(loaded) >= 2 else (0, None)
                if at > self.begin and level != 0:
                    # A module of the project.
                    return False
                self.end = at
                if level == 0 and _is_to_load(code.co_names[argument >> _SHIFT], names):
                    return True
            elif kind not in _PARTS:
                return False
            if kind == _LOAD_CONST:
                loaded.append(code.co_consts[argument])
            elif kind == _LOAD_SMALL_INT:
                loaded.append(argument)
            argument = argument << 8 if kind == EXTENDED_ARG else 0
        return False


# From 3.15 on the lowest bits say how the import is done.
_SHIFT = 2 if sys.version_info >= (3, 15) else 0


def _is_to_load(name, names):
    module = sys.modules.get(name)
    if module is None:
        return _is_found(name.partition(".")[0])
    return type(names) is tuple and any(
        "%s.%s" % (name, one) not in sys.modules and one not in vars(module)
        for one in names
        if one != "*"
    )


def _is_found(name):
    """Whether there is something to import, other than the standard library."""
    if name in sys.modules:
        return True
    return name not in _STDLIB and PathFinder.find_spec(name) is not None

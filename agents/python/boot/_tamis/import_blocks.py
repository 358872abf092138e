"""Import statements that follow one another: nothing else of the project runs between them.

PYTEST_DONT_REWRITE
"""

import sys
import types
from importlib.machinery import PathFinder
from opcode import opmap

from .bytecode import steps
from .watch import is_a

_STDLIB = getattr(sys, "stdlib_module_names", sys.builtin_module_names)

# What import statements consist of, beside `IMPORT_NAME`.
_PARTS = frozenset(
    opmap[name]
    for name in """CACHE IMPORT_FROM NOP POP_TOP ROT_TWO
    STORE_FAST STORE_GLOBAL STORE_NAME SWAP""".split()
    if name in opmap
)
_IMPORT_NAME, _LOAD_CONST = opmap["IMPORT_NAME"], opmap["LOAD_CONST"]
_LOAD_SMALL_INT = opmap.get("LOAD_SMALL_INT")


class Block:
    """The import statements from the one on that `frame` runs."""

    def __init__(self, frame):
        self.frame = frame
        self.end = frame.f_lasti
        # Whether one of them seems to load a module still.
        self.goes_on = self._read(frame.f_code, frame.f_lasti)

    def has(self, frame):
        """Whether `frame` has come to the statement that goes on."""
        return frame is self.frame and frame.f_lasti == self.end

    def _read(self, code, begin):
        loaded = []
        # Its level and names stand before it.
        for at, operation, argument in steps(code, max(begin - 8, 0)):
            if operation == _LOAD_CONST:
                loaded.append(code.co_consts[argument])
            elif operation == _LOAD_SMALL_INT:
                loaded.append(argument)
            elif operation == _IMPORT_NAME and at >= begin:
                level, names = loaded[-2:] if len(loaded) >= 2 else (0, None)
                if at > begin and level != 0:
                    # A module of the project.
                    return False
                self.end = at
                if level == 0 and _is_to_load(code.co_names[argument >> _SHIFT], names):
                    return True
            elif operation not in _PARTS and at >= begin:
                return False
        return False


# From 3.15 on the lowest bits say how the import is done.
_SHIFT = 2 if sys.version_info >= (3, 15) else 0


def _is_to_load(name, names):
    module = sys.modules.get(name)
    if module is None:
        return _is_found(name.partition(".")[0])
    if type(names) is not tuple or not is_a(module, types.ModuleType):
        return False
    return any(
        "%s.%s" % (name, one) not in sys.modules and one not in vars(module)
        for one in names
        if one != "*"
    )


def _is_found(name):
    """Whether there is something to import, other than the standard library."""
    if name in sys.modules:
        return True
    return name not in _STDLIB and PathFinder.find_spec(name) is not None

"""State that outlives a test, by the names that `docs/order.md` lists.

Nothing here runs code of the program: values are looked at as they lie in memory.

PYTEST_DONT_REWRITE
"""

import hashlib
import os
import sys
import types

from . import outside

_CODE = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.ModuleType,
    types.MethodType,
    type,
)

MISSING = object()

# Of a container, a text and a file.
_MOST_ITEMS = 200
_MOST_TEXT = 2000
_MOST_BYTES = 1 << 20


class Cell:
    """One cell. `root` is the folder that paths in names are relative to."""

    def __init__(self, name, root, session):
        self.name = name
        self.root = root
        self.session = session

    def shape(self):
        """What it holds now, as text; and the entries, if it is a dictionary."""
        kind, separator, rest = self.name.partition("#")
        if self.name.startswith("environ[") and self.name.endswith("]"):
            value = os.environ._data.get(os.environ.encodekey(self.name[8:-1]), MISSING)
        elif not separator:
            return _file(os.path.join(self.root, self.name)), None
        elif kind == "process":
            return outside.describe(rest), None
        elif kind == "fixture":
            value = self._fixture(rest)
        else:
            value = self._global(kind, rest)
        return shape(value), _entries(value)

    def _global(self, path, names):
        module = _module_at(os.path.join(self.root, path)) or sys.modules.get(path, MISSING)
        return resolve(module, names.split("."))

    def _fixture(self, name):
        base, _, name = name.rpartition("::")
        name = name.partition("[")[0]
        infos = (getattr(item, "_fixtureinfo", None) for item in self.session.items)
        known = (getattr(info, "name2fixturedefs", {}).get(name, ()) for info in infos)
        for definition in (one for some in known for one in some):
            result = getattr(definition, "cached_result", None)
            if definition.baseid == base and result is not None:
                return result[0]
        return MISSING


def _module_at(path):
    real = os.path.realpath(path)
    for module in list(sys.modules.values()):
        file = getattr(module, "__dict__", {}).get("__file__")
        if isinstance(file, str) and (file == path or os.path.realpath(file) == real):
            return module
    return None


def name_of(module, names, root):
    """The name of a cell that begins at a global of a module. A module on the way to it is
    where it begins."""
    while len(names) > 1:
        inner = vars(module).get(names[0])
        if not isinstance(inner, types.ModuleType):
            break
        module, names = inner, names[1:]
    file = vars(module).get("__file__")
    if not isinstance(file, str):
        path = module.__name__
    elif file.startswith(os.path.join(root, "")):
        path = os.path.relpath(file, root)
    else:
        path = file
    return "%s#%s" % (path, ".".join(names))


def is_state(value):
    # Each variable is a cell of its own.
    known = value is MISSING or value is os.environ
    return not known and not isinstance(value, _CODE)


def resolve(value, names):
    for name in names:
        if value is MISSING:
            return MISSING
        inner = getattr(type(value), "__dict__", {}).get(name)
        if isinstance(inner, property):
            return MISSING
        try:
            value = object.__getattribute__(value, name)
        except AttributeError:
            value = _of_class(value, name)
    return value


def _of_class(value, name):
    if not isinstance(value, type):
        return MISSING
    for base in value.__mro__:
        if name in vars(base):
            return vars(base)[name]
    return MISSING


def _file(path):
    try:
        if os.path.isdir(path):
            return "folder %s" % sorted(os.listdir(path))[:_MOST_ITEMS]
        with open(path, "rb") as file:
            content = file.read(_MOST_BYTES)
    except OSError:
        return "nothing"
    digest = hashlib.sha256(content).hexdigest()[:8]
    return "%d bytes (%s) %r" % (len(content), digest, content[:60])


def _entries(value):
    if type(value) is not dict or len(value) > _MOST_ITEMS:
        return None
    return {shape(key): shape(held) for key, held in list(value.items())}


def shape(value, depth=4):
    """What a value holds, without running code of the program."""
    if value is MISSING:
        return "nothing"
    kind = type(value)
    if kind in (int, float, complex, bool, str, bytes, type(None)):
        return repr(value)[:_MOST_TEXT]
    if depth == 0 or isinstance(value, _CODE):
        return "%s at %x" % (kind.__name__, id(value))
    if kind in (list, tuple, set, frozenset):
        parts = [shape(one, depth - 1) for one in list(value)[:_MOST_ITEMS]]
        if kind in (set, frozenset):
            parts.sort()
        return "%s %d [%s]" % (kind.__name__, len(value), ", ".join(parts))
    if isinstance(value, dict):
        items = list(dict.items(value))[:_MOST_ITEMS]
        parts = ["%s: %s" % (shape(k, depth - 1), shape(v, depth - 1)) for k, v in items]
        return "%s %d {%s}" % (kind.__name__, dict.__len__(value), ", ".join(parts))
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        own = {}
    return "%s %s" % (kind.__name__, shape(dict(own), depth - 1) if own else hex(id(value)))

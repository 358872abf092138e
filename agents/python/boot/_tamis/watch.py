"""Finds out in pure Python which objects changed.

It has the interface of the native helper: `watch_add`, `watch_changed`, `watch_keys`,
`watch_clear`.
"""

import functools
import io
import operator
import types
import weakref
from collections import deque

# Unlike `id`, it raises no audit event.
identity = object.__hash__

# Values of these types are kept alive, which no program notices.
_PLAIN = (int, float, complex, str, bytes, bool, type(None))


def is_a(value, kinds):
    """`isinstance` without asking a proxy for its target's class: that would run the program's
    code, and may fail."""
    return issubclass(type(value), kinds)


# Types the instances of which never change, and modules of the standard library that have more.
_UNCHANGING = frozenset((range, slice, types.BuiltinFunctionType, types.MethodDescriptorType))
_WITH_UNCHANGING = frozenset("datetime decimal fractions ipaddress pathlib re uuid".split())


# `Py_TPFLAGS_HEAPTYPE`: a class that is not defined in C.
HEAP_TYPE = 1 << 9

# Buffers in memory: what they hold, and where it is read, is in C.
BUFFERS = frozenset((io.BytesIO, io.StringIO))


def is_unchanging(kind):
    """Whether the instances of a class have no state that changes, or none that is the project's."""
    module = kind.__module__
    if kind in _UNCHANGING or module in _WITH_UNCHANGING:
        return True
    return type(module) is str and module.partition(".")[0] in ("_pytest", "pluggy")


def is_idle(name):
    """Whether a module has this name for itself."""
    return name[:2] == "__" and name[-2:] == "__" and name != "__all__"


def member_at(holder, qualified):
    """What stands at a dotted name in a module or class, by way of such; `None` if nothing does."""
    for part in qualified.split("."):
        if not is_a(holder, (type, types.ModuleType)):
            return None
        holder = vars(holder).get(part)
    return holder


class Watch:
    """The shallow content of objects, compared by identity."""

    def __init__(self):
        self._objects = []
        self._states = []
        self._indexes = {}
        self._keys = {}

    def watch_add(self, value):
        index = self._indexes.get(identity(value))
        if index is not None:
            return index
        state = _state(value)
        if state is None:
            return None
        index = self._indexes[identity(value)] = len(self._objects)
        self._objects.append(_held(value, functools.partial(self._forget, identity(value), index)))
        self._states.append(state)
        return index

    def watches(self, value):
        return identity(value) in self._indexes

    def _forget(self, former, index, reference):
        """The object died: its identity may be reused."""
        if self._indexes.get(former) == index:
            del self._indexes[former]

    def watch_object(self, index):
        """The object with this index; `None` if it is dead."""
        held = self._objects[index]
        return held() if type(held) is weakref.ref else held

    def count(self):
        return len(self._objects)

    def watch_changed(self):
        changed = []
        self._keys = {}
        states = self._states
        for index, held in enumerate(self._objects):
            value = held() if type(held) is weakref.ref else held
            if value is None:
                continue
            state = states[index]
            try:
                now = state.after(value)
                if now is state:
                    continue
                if state.keys is not None:
                    self._keys[index] = state.different_keys(now)
                states[index] = now
            except Exception:
                # Another thread is changing it right now, or a proxy is dead.
                pass
            changed.append(index)
        return changed

    def watch_keys(self, index):
        return self._keys.get(index)

    def watch_clear(self):
        self._objects, self._states, self._indexes = [], [], {}


def held_weakly(value):
    """A weak reference to what can have one."""
    try:
        return weakref.ref(value)
    except TypeError:
        return value


def _held(value, forget):
    """A weak reference if possible: the program must not notice that the object is watched."""
    try:
        return weakref.ref(value, forget)
    except TypeError:
        return value


class _State:
    """The content of an object: identities, and guards against their reuse."""

    __slots__ = ("keys", "identities", "guards")

    def __init__(self, items, has_keys):
        keys, values = items
        self.keys = keys if has_keys else None
        self.identities = list(map(identity, values))
        self.guards = [_guard(value) for value in values]

    def after(self, value):
        """This state if `value` still has it, else the one that it has now."""
        items = _items(value)
        return self if self.equals(items) else _State(items, self.keys is not None)

    def equals(self, items):
        keys, values = items
        if len(values) != len(self.identities):
            return False
        if not all(map(operator.eq, map(identity, values), self.identities)):
            return False
        if self.keys is not None and not all(map(operator.is_, keys, self.keys)):
            return False
        return all(type(guard) is not weakref.ref or guard() is not None for guard in self.guards)

    def different_keys(self, now):
        before = dict(zip(map(_name, self.keys), self.identities))
        after = dict(zip(map(_name, now.keys), now.identities))
        return [key for key in {**before, **after} if before.get(key) != after.get(key)]


class _Buffer:
    """What a buffer holds, by its hash, and where it is read."""

    __slots__ = ("content",)
    keys = None

    def __init__(self, value):
        self.content = None if value.closed else (value.tell(), hash(value.getvalue()))

    def after(self, value):
        now = _Buffer(value)
        return self if now.content == self.content else now


def _name(key):
    return key if isinstance(key, (str, int, bytes)) else identity(key)


def _guard(value):
    if is_a(value, _PLAIN):
        return value
    try:
        return weakref.ref(value)
    except TypeError:
        return value


def _items(value):
    """`(keys, values)`: the shallow content; keys are `()` if there are no names."""
    if is_a(value, dict):
        content = value
    elif is_a(value, (types.ModuleType, type)):
        content = value.__dict__
    elif is_a(value, (list, set, deque)):
        return (), list(value)
    elif is_a(value, bytearray):
        return (), [bytes(value)]
    elif is_a(value, types.CellType):
        try:
            return (), [value.cell_contents]
        except ValueError:
            return (), []
    else:
        content = attributes(value)
    return list(content.keys()), list(content.values())


def attributes(value):
    """The `__dict__` of an instance, and its slots."""
    content = dict(getattr(value, "__dict__", ()))
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            found = kind.__dict__.get(name)
            if isinstance(found, types.MemberDescriptorType):
                try:
                    content[name] = found.__get__(value)
                except AttributeError:
                    pass
    return content


def _state(value):
    if type(value) in BUFFERS:
        return _Buffer(value)
    if is_a(value, (list, set, deque, bytearray, types.CellType)):
        return _State(_items(value), False)
    if is_a(value, (dict, types.ModuleType)):
        return _State(_items(value), True)
    kind = value if is_a(value, type) else type(value)
    if not kind.__flags__ & HEAP_TYPE:
        # Its state is in C.
        return None
    if kind is value:
        return _State(_items(value), True)
    try:
        return _State(_items(value), False)
    except Exception:
        return None

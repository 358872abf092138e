"""By which names code comes to the classes of a project: whoever evaluates such a name, as the text
of an annotation, gets a class, one of its instances, or a type that is made of it.

PYTEST_DONT_REWRITE
"""

from .watch import identity, is_a

# What types are made of, and the modules of their classes.
_PARTS = tuple(
    "__%s__" % one
    for one in "args metadata origin supertype bound constraints value default".split()
)
_OF_TYPES = ("typing", "types", "typing_extensions", "collections.abc", "dataclasses")
_DEEPEST = 5


class ClassNames:
    """The names in modules, and in their classes."""

    def __init__(self, modules):
        # By identity of the class, as its own class may say what is equal to it.
        self._names = {}
        # The same: those with a member that leads to it.
        self._owners = {}
        seen = set()
        waiting = [(None, vars(module)) for module in modules]
        while waiting:
            owner, space = waiting.pop()
            for name, value in list(space.items()):
                if type(name) is not str:
                    continue
                if is_a(value, type) and identity(value) not in seen:
                    seen.add(identity(value))
                    waiting.append((value, vars(value)))
                for kind in classes_of(value):
                    self._names.setdefault(identity(kind), set()).add(name)
                    if owner is not None:
                        self._owners.setdefault(identity(kind), []).append(owner)

    def of(self, kind):
        """The names that lead to a class, or to one that has its members, too, as it is derived from
        it, or leads to it by a member."""
        found, seen, waiting = set(), set(), [kind]
        while waiting:
            one = waiting.pop()
            if identity(one) not in seen:
                seen.add(identity(one))
                found.add(type.__dict__["__name__"].__get__(one))
                found |= self._names.get(identity(one), set())
                waiting.extend(type.__subclasses__(one))
                waiting.extend(self._owners.get(identity(one), ()))
        return found


def classes_of(value, depth=0):
    """A class itself, that of an instance, those that a type is made of."""
    kind = type(value)
    if is_a(value, type):
        yield value
    yield kind
    if depth == _DEEPEST:
        return
    if kind in (tuple, list):
        parts = value
    elif kind is dict:
        parts = list(value.values())
    elif kind.__module__ in _OF_TYPES:
        parts = [getattr(value, part, None) for part in _PARTS]
    else:
        return
    for part in parts:
        if part is not None:
            yield from classes_of(part, depth + 1)

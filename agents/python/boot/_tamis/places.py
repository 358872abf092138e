"""Globals of modules and members of classes that are numbers: reads them, and writes others.

PYTEST_DONT_REWRITE
"""

from .watch import is_a, member_at

# Larger ones are no counters, and take long to write.
_BITS = 64


class Place:
    """Where a global or a member of a class stands."""

    def __init__(self, module, name):
        """Of `name` in `module`, which may be missing."""
        holder, _, self._key = name.rpartition(".")
        found = member_at(module, holder) if holder else module
        # Others are no classes.
        self._holder = found if not holder or is_a(found, type) else None
        self._is_class = bool(holder)

    def number(self):
        """What stands there; `None` if that is no number, or cannot be replaced by another one
        without running code of the program."""
        names = {} if self._holder is None else vars(self._holder)
        value = names.get(self._key)
        if type(value) is not int or value.bit_length() > _BITS:
            return None
        if self._is_class and (
            self._key[:2] == "__"
            or any(self._key in vars(one) for one in type(self._holder).__mro__)
        ):
            return None
        return value

    def put(self, number):
        """Have it hold another one."""
        if self._is_class:
            type.__setattr__(self._holder, self._key, number)
        else:
            vars(self._holder)[self._key] = number

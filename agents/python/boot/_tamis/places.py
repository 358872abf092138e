"""Globals of modules and members of classes that are numbers: reads them, and writes others.

PYTEST_DONT_REWRITE
"""

from .watch import is_a, member_at

# Larger ones are no counters, and take long to write.
_BITS = 64


def text_of(value):
    """A number, a truth value or `None` as text; `None` for all else."""
    if value is None or type(value) is bool:
        return repr(value)
    return repr(value) if type(value) is int and value.bit_length() <= _BITS else None


def value_of(text):
    """What `text_of` told."""
    return {"None": None, "True": True, "False": False}[text] if text[0].isalpha() else int(text)


class Place:
    """Where a global or a member of a class stands."""

    def __init__(self, module, name):
        """Of `name` in `module`."""
        self.holder, _, self.key = name.rpartition(".")
        self.module = module

    def _names(self):
        holder = member_at(self.module, self.holder) if self.holder else self.module
        if self.holder and not is_a(holder, type):
            return None, None
        return holder, vars(holder)

    def text(self):
        """What stands there, as text; `None` if that is nothing, or no number."""
        _, names = self._names()
        if names is None or self.key not in names:
            return None
        return text_of(names[self.key])

    def put(self, value):
        """Have it hold `value`. Whether that could be done without running code of the program."""
        holder, names = self._names()
        if not self.holder:
            names[self.key] = value
        elif self.key[:2] == "__" or any(self.key in vars(one) for one in type(holder).__mro__):
            return False
        else:
            type.__setattr__(holder, self.key, value)
        return True

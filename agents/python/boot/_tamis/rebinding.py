"""Variables of functions that have returned: which of them may still be bound anew by a function
that was made in them."""

from collections import Counter

# Code may assign these by hand, or a suspended function may do it later.
_BY_HAND = rb"\bcell_contents\b"
_SUSPENDS = rb"\b(yield|await|async)\b"
_NONLOCAL = rb"\bnonlocal\b([\w\s,\\]*)"

# A marker among names.
_MAY_SUSPEND = b"?"

# The number of variables of enclosing functions that are watched in a source file with
# functions that can be suspended. For further ones the owning function is searched.
_UNASKED = 64


class Rebinding:
    """Asks the sources, and where these say too little, the owning functions."""

    def __init__(self):
        self._nonlocals = {}
        self._cells = Counter()
        self._owners = None

    def is_possible(self, function, name):
        """Whether another value may be bound to this name of an enclosing function after that
        function has returned."""
        file = function.__code__.co_filename
        names = self._nonlocals.get(file)
        if names is None:
            names = self._nonlocals[file] = _nonlocal_names(file)
        text = name.encode()
        # In a class, `__name` means `_Class__name`.
        if b"*" in names or any(
            text == one or (one[:2] == b"__" and text.endswith(one)) for one in names
        ):
            return True
        if _MAY_SUSPEND not in names:
            return False
        self._cells[file] += 1
        return self._cells[file] <= _UNASKED or self._may_suspend(function, name)

    def _may_suspend(self, function, name):
        if self._owners is None:
            # Imported only here: hardly any program has so many.
            from .owners import Owners

            self._owners = Owners()
        return self._owners.may_suspend(function, name)


def _nonlocal_names(file):
    """The names in `nonlocal` statements, and perhaps more; `*` for any, and `_MAY_SUSPEND` if
    some function may be suspended."""
    try:
        with open(file, "rb") as source:
            text = source.read()
    except (OSError, ValueError):
        return {b"*"}
    if not text.isascii():
        return {b"*"}
    # Imported only here: most processes that tests start never need it.
    import re

    if re.search(_BY_HAND, text):
        return {b"*"}
    found = re.findall(_NONLOCAL, text) if b"nonlocal" in text else ()
    names = {name for names in found for name in re.findall(rb"\w+", names)}
    if re.search(_SUSPENDS, text):
        names.add(_MAY_SUSPEND)
    return names

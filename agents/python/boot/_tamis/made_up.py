"""Names that tests make up and that are others in each run: they have a count or an address in them.

PYTEST_DONT_REWRITE
"""

import re

# Digits; and so many hexadecimal ones in a row that they are no word.
_NUMBER = re.compile("[0-9a-fA-F]{12,}|[0-9]+")
_DIGIT = re.compile("[0-9]")


def alike(cell):
    """What a cell has in common with those whose names differ only in such numbers; `None` if its name
    has none. Keys are what programs want them to be."""
    path, name = cell
    if "[" in name or _DIGIT.search(name) is None:
        return None
    return path, _NUMBER.sub(lambda found: "" if _DIGIT.search(found[0]) else found[0], name)


def renamed(now, then):
    """Those of the cells `now` and `then` that are there at one time only, and have a counterpart at
    the other; and the orders of names among which they are."""
    found = {}
    for cell in now ^ then:
        found.setdefault(alike(cell), set()).add(cell)
    found.pop(None, None)
    pairs = [cells for cells in found.values() if not cells.isdisjoint(now) and cells - now]
    cells = set().union(*pairs)
    return cells.union(*map(_orders, cells))


def _orders(cell):
    """Of the names of its module, and of its class."""
    path, name = cell
    holder, dot, _ = name.rpartition(".")
    return (path, ""), (path, holder + dot)

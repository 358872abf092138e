"""Names that tests make up and that are others in each run: they have the address of an object in them.

A name with a count in it is another one only where other tests have run, and somebody may ask for
just that one.

PYTEST_DONT_REWRITE
"""

import re

# So many hexadecimal digits in a row, and no word.
_ADDRESS = re.compile("(?=[a-f]*[0-9])[0-9a-f]{12,}")


def alike(cell):
    """What a cell has in common with those whose names differ only in addresses; `None` if its name has
    none. Keys are what programs want them to be."""
    path, name = cell
    if "[" in name or _ADDRESS.search(name) is None:
        return None
    return path, _ADDRESS.sub("", name)


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

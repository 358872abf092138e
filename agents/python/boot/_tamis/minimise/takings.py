"""Values of variables as digests that are the same in every process.

PYTEST_DONT_REWRITE
"""

try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

# Of a value of the native helper: what is held, without which objects hold it.
_CONTENT = 16


class Takings:
    def __init__(self, native, places):
        self.native = native
        self.places = places

    def _cells(self, named):
        return self.native.cells((("v", named),), self.places)["v"] if named else {}

    def each(self, named):
        """Name -> type, value (`None` if it cannot be seen), and whether it is plain: nobody can
        change it."""
        cells = self._cells(named)
        return {name: _told(value, cells[name]) for name, value in named.items()}

    def together(self, values, free, missing):
        """The values by position; one digest that tells also which are the same objects, and who
        shares them; and why it cannot be told."""
        named = {str(at): value for at, value in enumerate(values) if value is not missing}
        named.update(("g%d" % at, value) for at, value in enumerate(free))
        cells = self._cells(named)
        told = [
            None if value is missing else _told(value, cells[str(at)])
            for at, value in enumerate(values)
        ]
        why = next((cells[name] for name in named if isinstance(cells[name], str)), None)
        return told, _digest([cells[name] for name in named]), why

    def inputs(self, values):
        """The inputs of a call: for each its type and its value."""
        named = {str(at): value for at, value in enumerate(values)}
        cells = self._cells(named)
        why = next((cells[name] for name in named if isinstance(cells[name], str)), None)
        return [[_type(value), _text(cells[name])] for name, value in named.items()], why


def _told(value, cell):
    if isinstance(cell, str):
        return [_type(value), None, False]
    return [_type(value), cell[:_CONTENT].hex(), len(cell) == _CONTENT]


def _text(cell):
    return None if isinstance(cell, str) else cell.hex()


def _type(value):
    kind = type(value)
    return "%s.%s" % (kind.__module__, kind.__qualname__)


def _digest(cells):
    found = blake2b(digest_size=16)
    for cell in cells:
        found.update(repr(cell).encode())
    return found.hexdigest()

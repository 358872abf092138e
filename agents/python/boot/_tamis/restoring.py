"""Puts counters where tests which are left out would have left them.

A test that is left out does what it did, so in a run of all tests it leaves what it left in the
record. Where that is a number that tests only count, whoever runs after it gets the same from the
cell itself: then nobody has to run for what it leaves. Other numbers may say that something was done
which no cell shows (a connection is open, a table was made), and the first value of a counter, too:
so whoever leaves these does run.
"""

from .left import UNKNOWN
from .places import Place

# With so many different values it counts.
_VALUES = 8


class Numbers:
    """The cells in which tests leave nothing but numbers, as far as that is known, and many
    different ones."""

    def __init__(self, agent, recorded, numbers, serials):
        """`recorded` tells by test, in order, which cells it left with which values, in texts that
        begin with a mark if nobody knows; `numbers` are those that are such, and what they are;
        of the cells `serials` nobody reads more than the order."""
        self._agent = agent
        agent.left.numbers.update(numbers)
        values, others = {}, set()
        # The test that leaves a cell first.
        self._first = {}
        for test, left in recorded.items():
            for cell, value in left.items():
                self._first.setdefault(cell, test)
                if value in numbers:
                    values.setdefault(cell, set()).add(value)
                elif value is None or value[:1] != UNKNOWN:
                    others.add(cell)
        counted = {cell for cell, found in values.items() if len(found) >= _VALUES}
        modules = agent.values.modules.items()
        modules = {agent.relative(scope.name): module for scope, module in modules}
        self.cells = frozenset(
            (path, name)
            for path, name in counted - others - serials
            if Place(modules.get(path), name).number() is not None
        )
        # Of these, those that left-out tests leave since they were last put there.
        self._left_by = {}
        # The scopes that stand for such tests.
        self._standing = {}

    def given(self, left):
        """The cells that need nobody to leave them, of those that a test `left`."""
        known = self._agent.left.numbers
        return {cell for cell in self.cells.intersection(left) if left[cell] in known}

    def begun_by(self, test, left):
        """Those that the test leaves as the first one."""
        return {cell for cell in self.cells.intersection(left) if self._first[cell] == test}

    def left_out(self, test, cells):
        """A test was left out that leaves these."""
        for cell in self.cells.intersection(cells):
            self._left_by.setdefault(cell, []).append(test)

    def restore(self, stale, now):
        """Put in place what left-out tests would have left: `now` has the values that the `stale`
        cells have in a run of all tests. Returns those that hold these then."""
        left = self._agent.left
        values = {cell: now.get(cell) for cell in stale & self.cells}
        values = {cell: value for cell, value in values.items() if value in left.numbers}
        restored = left.restore(values)
        for cell in restored:
            for test in self._left_by.pop(cell, ()):
                self._stand_for(test, cell)
        return restored

    def _stand_for(self, test, cell):
        """Who reads the cell from now on depends on the code of `test`, which was left out."""
        scope = self._standing.get(test)
        if scope is None:
            scope = self._standing[test] = self._agent.new_scope("test", test)
            self._agent.trace.write("stands", scope.number, test)
        path, name = self._agent.left.absolute(cell)
        self._agent.trace.write("x", path, name, scope.number)

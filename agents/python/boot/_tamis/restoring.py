"""Puts numbers into cells that tests which are left out would have left there.

A test that is left out does what it did, so in a run of all tests it leaves what it left in the
record. Where that is a number, a truth value or `None`, whoever runs after it gets the same from
the cell itself: then nobody has to run for what it leaves.
"""

from .left import UNKNOWN


class Numbers:
    """The cells in which tests leave nothing but numbers, as far as that is known: there these can
    be put, so that nobody runs for that."""

    def __init__(self, agent, recorded, numbers):
        """`recorded` tells by test which cells it left with which values, in texts that begin with a
        mark if nobody knows; `numbers` are those that are such, and what they are."""
        self._agent = agent
        agent.left.numbers.update(numbers)
        others = {
            cell
            for left in recorded.values()
            for cell, value in left.items()
            if value not in numbers and (value is None or value[:1] != UNKNOWN)
        }
        self.cells = frozenset().union(*recorded.values()) - others
        # Of these, those that left-out tests leave since they were last put there.
        self._left_by = {}
        # The scopes that stand for such tests.
        self._standing = {}

    def given(self, left):
        """The cells that need nobody to leave them, of those that a test `left`."""
        known = self._agent.left.numbers
        return {cell for cell in self.cells.intersection(left) if left[cell] in known}

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

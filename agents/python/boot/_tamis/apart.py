"""Tests that wait for what earlier ones leave, and that nothing which runs can leave anything else.

Tests that are left out do what they did in the record, and so do those that turn out to be apart: what
they left would be the same. So only that of the tests which run can differ, and of those that are
gone or that another record proves. Nobody has to run for such a test. What the tests that run leave
anew, the next pass looks at: see `anew`.

PYTEST_DONT_REWRITE
"""

from .confirm import file_of, names_of
from .turns import hashes_of, hashes_told


def apart(settling, items, runs, elsewhere):
    """Those of the tests that wait in `settling` which are apart. `items` are all, in order; `runs`
    those of them that run whatever values they read, `elsewhere` those that another record has
    proven to do what they did there."""
    return _Sweep(settling, items, runs | elsewhere).found


class _Sweep:
    def __init__(self, settling, items, others):
        self.found = set()
        self._settling = settling
        # Cells and hashes of what may be different.
        self._cells = frozenset()
        self._moved = frozenset()
        self._is_known = True
        there = {item.nodeid for item in items}
        for test in settling.recorded.keys() - there:
            self._may_differ(test)
        for item in items:
            if not self._is_known:
                return
            test = item.nodeid
            if test in settling.waiting and self._is_apart(item):
                self.found.add(test)
            elif test in settling.waiting or test in others:
                self._may_differ(test)

    def _may_differ(self, test):
        settling = self._settling
        if test not in settling.recorded:
            return
        made = hashes_told(settling.made.get(test))
        if made is None:
            self._is_known = False
            return
        self._cells = self._cells.union(settling.recorded[test])
        self._moved = self._moved.union(hashes_of(made))

    def _is_apart(self, item):
        plan, test = self._settling.plan, item.nodeid
        part = plan.tied(test)
        if self._moved and plan.needs_one(part, self._moved):
            return False
        if not self._cells:
            return True
        file = file_of(self._settling.agent, plan, item)
        return plan.meets(self._cells, test, file, names_of(item)) is None

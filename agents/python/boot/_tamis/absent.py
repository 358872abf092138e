"""What tests meet that ran among fewer than there are now, as options or names of files chose these.

The record tells which of the others leave something. A test that can read any of it runs; what
another one leaves that nobody left before is looked at when that one runs.

PYTEST_DONT_REWRITE
"""

from .confirm import file_of, names_of
from .setters import Names
from .turns import hashes_of, hashes_told


class Absent:
    """The tests that are there now and were not there when others ran."""

    def __init__(self, agent, plan, collected):
        self._agent = agent
        self._plan = plan
        self._items = collected
        self._there = {item.nodeid for item in collected}
        self._exempt = None
        # By record and run: cells and hashes of names, or `None` if the record does not tell.
        self._left = {}

    def met_by(self, item):
        """What a test meets of what they leave; `None` if nothing."""
        told = self._plan.tests[item.nodeid]
        left = self._left_in(told["matrix"], told["absent"])
        if left is None:
            return "it is not known what tests leave that were not there when it ran"
        cells, hashes = left
        if hashes and self._plan.needs_one(self._plan.part(item.nodeid), hashes):
            return "what it gets may be made by a test that was not there when it ran"
        if not cells:
            return None
        file = file_of(self._agent, self._plan, item)
        return self._plan.meets(cells, item.nodeid, file, names_of(item))

    def _left_in(self, matrix, run):
        if (matrix, run) not in self._left:
            ties = self._plan.content["matrices"][matrix].get("ties") or {}
            tests = ties.get("absent", {}).get(run)
            self._left[matrix, run] = None if tests is None else self._left_by(ties, tests)
        return self._left[matrix, run]

    def _left_by(self, ties, tests):
        cells, hashes = set(), set()
        for test in self._there.intersection(tests):
            cells.update((path, name) for path, name, _ in ties["left"].get(test, ()))
            made = hashes_told(ties["made"].get(test, ""))
            if made is None:
                return None
            hashes |= hashes_of(made)
        if hashes and self._exempt is None:
            self._exempt = Names(self._agent, self._items).exempt
        return frozenset(cells), hashes - (self._exempt or frozenset())

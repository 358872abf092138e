"""Tests that wait for what earlier ones leave, and that nothing which runs can leave anything else.

Tests that are left out do what they did in the record, and so do those that turn out to be apart: what
they left would be the same. So only that of the tests which run can differ, and of those that are
gone. Nobody has to run for such a test. If those that run leave what they did not leave in the record,
and one that is apart can read that, the next pass runs it: see `anew`.

PYTEST_DONT_REWRITE
"""

from . import agent as agent_module
from .confirm import file_of, names_of
from .turns import hashes_of, hashes_told

# Left by a test of which nobody knows what it left: everybody can read that.
_LOST = ("*tests", "what could not be compared")


def apart(settling, items, runs):
    """Those of the tests that wait in `settling` which are apart; none if most are not, as few would
    save little, and those that run in the state of a part leave much else. `items` are all, in
    order; `runs` those of them that run whatever values they read."""
    found = _Sweep(settling, items, runs).found
    # Libraries that tests import may read other cells.
    settling.plan.forget()
    return frozenset(found if 2 * len(found) >= len(settling.waiting) else ())


class _Sweep:
    def __init__(self, settling, items, runs):
        self.found = set()
        self._settling = settling
        # All cells that tests left in the record. Who reads which is found out once, for all.
        self._all = frozenset().union(*settling.recorded.values())
        # Cells and hashes of what may be different.
        self._cells = set()
        self._moved = set()
        self._is_known = True
        settling.plan.needing.learn(settling.hashes)
        there = {item.nodeid for item in items}
        for test in settling.recorded.keys() - there:
            self._may_differ(test)
        # So many that wait may turn out not to be apart.
        spare = len(settling.waiting) // 2
        for item in items:
            if not self._is_known or spare < 0:
                return
            test = item.nodeid
            if test in settling.waiting and self._is_apart(item):
                self.found.add(test)
            elif test in settling.waiting or test in runs:
                self._may_differ(test)
                spare -= test in settling.waiting

    def _may_differ(self, test):
        settling = self._settling
        if test not in settling.recorded:
            return
        made = hashes_told(settling.made.get(test))
        if made is None:
            self._is_known = False
            return
        self._cells.update(settling.recorded[test])
        self._moved.update(hashes_of(made))

    def _is_apart(self, item):
        plan, test = self._settling.plan, item.nodeid
        part = plan.tied(test)
        if self._moved and plan.needs_one(part, self._moved):
            return False
        if not self._cells:
            return True
        file = file_of(self._settling.agent, plan, item)
        return self._cells.isdisjoint(plan.read_by(self._all, test, file, names_of(item)))


class Beside:
    """Sees what tests that run leave, and did not leave in the record, be it that others did. What
    of it tests that are apart can read is told in the end."""

    def __init__(self, settling, items, apart):
        self._settling = settling
        self._places = {item.nodeid: at for at, item in enumerate(items)}
        self._items = items
        self._apart = apart
        # Cell, and hash of what a test changed that others made -> tests.
        self._cells, self._changed = {}, {}
        self._is_lost = False
        # Who else is told.
        self.next = None

    def need(self, tests):
        """These run all the same."""
        self._apart = self._apart.difference(tests)

    def left(self, test, values):
        """A test has ended and left these values; without, nobody knows any more."""
        settling = self._settling
        if values is None:
            self._is_lost = True
        else:
            recorded = settling.recorded.get(test, {})
            for path, name in values:
                cell = settling.plan.session.path(path), name
                if cell not in recorded:
                    self._cells.setdefault(cell, set()).add(test)
            made = hashes_told(settling.agent.left.made.get(test, ""))
            then = hashes_told(settling.made.get(test, "")) or frozenset()
            for one in made - then:
                if one.endswith("+"):
                    self._changed.setdefault(one, set()).add(test)
        if self.next is not None:
            self.next(test, values)

    def tell(self, ran):
        """All tests have `ran`. Tell the trace which tests are apart, and which of those left something
        to one of them."""
        agent = agent_module.current
        agent.left.finish()
        apart = [item for item in self._items if item.nodeid in self._apart]
        agent.trace.write("apart", [item.nodeid for item in apart])
        found = {}
        if ran and (self._is_lost or not agent.left.has_ended):
            # Of all: nothing is looked for that tests leave which ran for others only.
            found = {test: ({_LOST}, set()) for test in ran}
        else:
            cells = frozenset(self._cells)
            for item in apart:
                self._meets(item, cells, found)
        for test, (cells, changed) in sorted(found.items()):
            told = [list(cell) for cell in sorted(cells)]
            agent.trace.write("beside", test, told, sorted(changed))

    def _meets(self, item, cells, found):
        plan, test = self._settling.plan, item.nodeid
        place = self._places[test]
        if cells:
            file = file_of(self._settling.agent, plan, item)
            for cell in plan.read_by(cells, test, file, names_of(item)):
                for by in self._cells[cell]:
                    if self._places[by] < place:
                        found.setdefault(by, (set(), set()))[0].add(cell)
        for one, tests in self._changed.items():
            if plan.needs_one(plan.tied(test), hashes_of((one,))):
                for by in tests:
                    if self._places[by] < place:
                        found.setdefault(by, (set(), set()))[1].add(one)

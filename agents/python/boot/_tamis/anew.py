"""Which tests that are left out can meet what others leave anew.

A run before this one has shown that some tests leave something which the record has nobody leave by
then. Tests after them were left out without being looked at: those that can read any of it run now.
What these leave is compared with the record when they have ended, and if it differs, another run
looks for those who meet that. After a few such runs they count as leaving something else than in
the record.

PYTEST_DONT_REWRITE
"""

from . import agent as agent_module
from .confirm import NEEDED, file_of, names_of, plan_of
from .turns import hashes_of

# Why all run.
ALL = "so many tests run that all do"


def met(exclusion, collected):
    """Test id -> what it meets, of the tests among the items `collected` that `exclusion` leaves
    out."""
    if not exclusion.anew:
        return {}
    agent = agent_module.current
    meets = Unknown(exclusion)
    if exclusion.plan and agent is not None and not agent.broken and agent.values is not None:
        if agent.values.holders is not None:
            try:
                meets = Meeting(agent, exclusion, collected)
            except Exception as error:
                agent.trace.write("no-values", "comparing the values failed: %r" % (error,))
    is_broad = exclusion.anew["is_broad"]
    found, needed = _sweep(exclusion, collected, meets, is_broad)
    if len(needed) > len(found):
        # To compare what they leave would cost more than to run who reads it.
        is_broad = True
        found, needed = _sweep(exclusion, collected, meets, is_broad)
    if is_broad and agent is not None:
        agent.trace.write("not-compared", True)
    found.update(dict.fromkeys(needed, NEEDED))
    return found


def unmet(exclusion, collected, met):
    """The tests among the items `collected` that need not run once more where nobody is `met`: those of
    the run before."""
    if not exclusion.anew or met:
        return frozenset()
    found = frozenset(exclusion.anew["ran"]).intersection(item.nodeid for item in collected)
    if found and agent_module.current is not None:
        agent_module.current.trace.write("unmet", sorted(found))
    return found


def costs_more(exclusion, runs, all_tests):
    """Whether so many run, or once more here and in the runs before, that all may as well: these leave
    what they leave in a run of all tests, and nobody has to look at it."""
    if exclusion.shard is not None:
        # The others run elsewhere.
        return False
    if exclusion.anew:
        return 3 * (exclusion.anew["again"] + runs) > 2 * all_tests
    return 10 * runs > 9 * all_tests


def _sweep(exclusion, collected, meets, is_broad):
    """What each test meets; and the tests that run for these."""
    found, needed = {}, set()
    cells, hashes = set(), set()
    fresh, known = exclusion.anew["by_test"], exclusion.anew["known"]
    before = []
    for item in collected:
        test = item.nodeid
        leaves = []
        if test in known and (cells or hashes):
            # It met that, and left something else than it leaves now, perhaps.
            leaves.append(known[test])
            if is_broad:
                leaves.append(meets.recorded(test))
        if test in fresh:
            leaves.append(fresh[test])
        if not leaves and (cells or hashes) and test not in known and meets.is_open(test):
            why = meets.why(item, frozenset(cells), frozenset(hashes))
            if why is not None:
                found[test] = why
                if is_broad:
                    leaves.append(meets.recorded(test))
                else:
                    needed.update(meets.needed_by(item, before))
        for one in leaves:
            cells.update(map(tuple, one["cells"]))
            hashes.update(hashes_of(one["made"]))
        before.append(item)
    return found, needed.difference(found)


class Unknown:
    """Where there is no plan."""

    def __init__(self, exclusion):
        self._exclusion = exclusion

    def is_open(self, test):
        """Whether a test is left out, or runs only for others."""
        return self._exclusion.is_left_out(test)

    def why(self, item, cells, hashes):
        """What a test meets of some cells and hashes of names; `None` if nothing."""
        return "nobody knows what it reads"

    def recorded(self, test):
        """What a test leaves in the record."""
        return {"cells": (), "made": ()}

    def needed_by(self, item, before):
        """Tests of the items `before` that leave what a test reads, and what those need."""
        return ()


class Meeting(Unknown):
    """Tells what tests meet and need by the plan."""

    def __init__(self, agent, exclusion, collected):
        Unknown.__init__(self, exclusion)
        self.agent = agent
        self.plan = plan_of(agent, exclusion, collected)
        ties = [one.get("ties") or {} for one in exclusion.plan["matrices"]]
        self._left = {test: cells for one in ties for test, cells in one.get("left", {}).items()}
        self._made = {test: made for one in ties for test, made in one.get("made", {}).items()}
        # Cell -> tests that leave it.
        self._leavers = {}
        for test, cells in self._left.items():
            for path, name, _ in cells:
                self._leavers.setdefault((path, name), set()).add(test)
        self._cells = frozenset(self._leavers)
        self._needed = set()

    def is_open(self, test):
        told = self.plan.tests.get(test)
        return Unknown.is_open(self, test) or told is not None and told.get("runs", False)

    def why(self, item, cells, hashes):
        test = item.nodeid
        if test not in self.plan.tests:
            return Unknown.why(self, item, cells, hashes)
        if hashes and self.plan.needs_one(self.plan.tied(test), hashes):
            return "what it gets is made or changed by a test that did not do so before"
        if not cells:
            return None
        file = file_of(self.agent, self.plan, item)
        return self.plan.meets(cells, test, file, names_of(item))

    def recorded(self, test):
        cells = [(path, name) for path, name, _ in self._left.get(test, ())]
        return {"cells": cells, "made": list(filter(None, self._made.get(test, "").split(",")))}

    def needed_by(self, item, before):
        places = {one.nodeid: (at, one) for at, one in enumerate(before)}
        waiting = [(len(before), item)]
        found = []
        while waiting:
            place, one = waiting.pop()
            if one.nodeid not in self.plan.tests:
                continue
            file = file_of(self.agent, self.plan, one)
            for cell in self.plan.read_of(self._cells, one.nodeid, file, names_of(one)):
                for test in self._leavers[cell] - self._needed:
                    at, leaver = places.get(test, (place, None))
                    if at < place and Unknown.is_open(self, test):
                        self._needed.add(test)
                        found.append(test)
                        waiting.append((at, leaver))
        return found

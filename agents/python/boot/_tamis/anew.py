"""Which tests that are left out can meet what others leave anew.

A run before this one has shown that some tests leave something which the record has nobody leave by
then. Tests after them were left out without being looked at: those that can read any of it run now.
What these leave is compared with the record when they have ended, and if it differs, another run
looks for those who meet that. After a few such runs they count as leaving something else than in
the record.

PYTEST_DONT_REWRITE
"""

from . import agent as agent_module
from .confirm import NEEDED, file_of, names_of
from .left import UNKNOWN
from .turns import hashes_of


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
        # Perhaps it costs less to run who reads what they leave than to compare that.
        more, _ = _sweep(exclusion, collected, meets, True)
        if len(more) < len(found) + len(needed):
            is_broad, found, needed = True, more, set()
    if is_broad and agent is not None:
        agent.trace.write("not-compared", True)
    found.update(dict.fromkeys(needed, NEEDED))
    return found


def _sweep(exclusion, collected, meets, is_broad):
    """What each test meets; and the tests that run for these."""
    found, needed = {}, set()
    # What was left so far that the record has nobody leave; and of this what tests have not met that
    # ran in the run before.
    all_left, unmet = Left(), Left()
    fresh, known = exclusion.anew["by_test"], exclusion.anew["known"]
    ran = frozenset(exclusion.anew["ran"])
    if [item.nodeid for item in collected if item.nodeid in ran] != exclusion.anew["ran"]:
        # In another order they met something else.
        ran = frozenset()
    before = []
    for item in collected:
        test = item.nodeid
        left = unmet if test in ran else all_left
        leaves = []
        if test in known and all_left:
            # It met that, and left something else than it leaves now, perhaps.
            leaves.append(known[test])
            if is_broad:
                leaves.append(meets.recorded(test))
        elif test not in known and test not in fresh and left and meets.is_open(test):
            why = meets.why(item, frozenset(left.cells), frozenset(left.hashes))
            ended = set() if is_broad else meets.ends(test, left.cells)
            if why is None and ended:
                why = "it leaves what another test leaves before it now"
            if why is not None:
                found[test] = why
                if is_broad:
                    leaves.append(meets.recorded(test))
                else:
                    needed.update(meets.needed_by(item, before))
            # What it leaves there is compared with the record.
            all_left.cells -= ended
            unmet.cells -= ended
        if test in ran and test not in known and test not in fresh:
            # What it leaves there was compared in the run before.
            all_left.cells -= meets.ends(test, all_left.cells) - unmet.cells
        for one in leaves:
            all_left.add(one)
            unmet.add(one)
        if test in fresh:
            all_left.add(fresh[test])
        before.append(item)
    return found, needed.difference(found)


class Left:
    """Cells, and hashes of the names of what tests make for others."""

    def __init__(self):
        self.cells, self.hashes = set(), set()

    def __bool__(self):
        return bool(self.cells or self.hashes)

    def add(self, leaves):
        self.cells.update(map(tuple, leaves["cells"]))
        self.hashes.update(hashes_of(leaves["made"]))


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

    def ends(self, test, cells):
        """In which of `cells` a test that can run leaves a known value in the record: whatever others
        left there, the state of the record begins again if it leaves that now."""
        return set()

    def needed_by(self, item, before):
        """Tests of the items `before` that leave what a test reads, and what those need."""
        return ()


class Meeting(Unknown):
    """Tells what tests meet and need by the plan."""

    def __init__(self, agent, exclusion, collected):
        # Imported only here: few sessions need them.
        from .plan import Plan
        from .present import Present

        Unknown.__init__(self, exclusion)
        self.agent = agent
        names = {item.nodeid: names_of(item) for item in collected}
        self.plan = Plan(exclusion.plan, Present(agent, agent.values), names)
        self._ties = ties = [one.get("ties") or {} for one in exclusion.plan["matrices"]]
        self._left = {test: cells for one in ties for test, cells in one.get("left", {}).items()}
        self._made = {test: made for one in ties for test, made in one.get("made", {}).items()}
        # Cell -> tests that leave it.
        self._leavers = {}
        for test, cells in self._left.items():
            for path, name, _ in cells:
                self._leavers.setdefault((path, name), set()).add(test)
        self._cells = frozenset(self._leavers)
        self._whole = {(path, name.partition("[")[0]) for path, name in self._cells if "[" in name}
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

    def ends(self, test, cells):
        if not cells or len(self._ties) > 1 or not self.is_open(test):
            return set()
        left = self._left.get(test, ())
        left = {(path, name) for path, name, value in left if _is_told(value) and _is_one(name)}
        # Of dictionaries the entries are compared.
        return cells.intersection(left) - self._whole

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


def _is_one(name):
    """Whether a cell is no order of names: who adds one changes that for all."""
    return name != "" and not name.endswith(".")


def _is_told(value):
    return value is not None and value != UNKNOWN

"""Which tests leave something that others can read, and so run with them.

PYTEST_DONT_REWRITE
"""

from .caches import cells_of
from .confirm import file_of, names_of
from .fixtures import TEAR_DOWN, fixtures_of, folders_of
from .met import ANYTHING, Functions, lasting, modules_of, read_of, units_of
from .names import name_hash
from .turns import hashes_of, hashes_told


class Reads:
    """Which cells that tests leave a test can read."""

    def __init__(self, settling, lacking):
        self._settling = settling
        # What tests could read in a run before this one, beside what a record says.
        self._lacking = lacking
        self._plan = settling.plan
        self._cells = frozenset().union(*settling.recorded.values())
        self._known = {}
        self._functions = Functions(self._plan)
        self._plan.needing.learn(settling.hashes.union(map(hash_of, settling.recorded)))

    def of(self, item):
        """Cells, and hashes of what it needs that tests make; `None` if no record tells."""
        test = item.nodeid
        if test not in self._known:
            part = None
            lacked = self._lacking.by_test.get(test)
            cells, needs = lacked or (set(), set())
            if test in self._plan.tests:
                part = self._plan.tied(test)
            if part is not None:
                file = file_of(self._settling.agent, self._plan, item)
                cells = cells | self._plan.read_by(self._cells, test, file, names_of(item))
                needs = needs.union(*map(self._plan.needing.of, part["sets"]))
            is_known = part is not None or lacked is not None
            exempt = self._settling.names.exempt
            self._known[test] = (cells, needs - exempt) if is_known else None
        return self._known[test]

    def of_unknown(self, collected, waiting):
        """Of `waiting` tests, those that read a cell of which nobody knows what earlier ones leave
        there."""
        unknown = self._settling.unknown()
        found = set()
        if not unknown:
            return found
        order = self._settling.order
        reading = self._plan.fresh(frozenset(unknown))
        for item in collected:
            test = item.nodeid
            if test in waiting:
                part = self._plan.tied(test)
                file = file_of(self._settling.agent, self._plan, item)
                read = reading.of(part, file, self._plan.needed(part), names_of(item))
                cells = {reading.differences.found[at].cell for at in read}
                if any(unknown[cell] < order.get(test, len(order)) for cell in cells):
                    found.add(test)
        return found

    def met_by(self, running, stale):
        """Which cells that tests leave, and `stale` ones, a test that ran can have read, by what ran in
        its turn, and the hashes of what it needed that others may have made; `ANYTHING` if nobody
        knows."""
        agent = self._settling.agent
        needs = lasting(agent.left.scope, agent)
        hashes = {name_hash(agent.left.name_of(one)) for one in needs}
        running.met.add(needs, agent)
        part = self._plan.tied(running.test) if running.test in self._plan.tests else None
        file = file_of(agent, self._plan, running.item)
        needed = modules_of(agent.left.scope, file, running.met, agent, self._plan)
        if part is not None:
            needed |= self._plan.needed(part)
        readings = [self._plan.reading(self._cells)]
        # What no record has anybody leave.
        fresh = frozenset(stale - self._cells)
        if fresh:
            readings.append(self._plan.fresh(fresh))
        met = set()
        for reading in readings:
            cells = self._met_of(running, reading, needed)
            if cells is ANYTHING:
                return ANYTHING
            met |= cells
        units = units_of(running.met, agent, self._plan, self._functions)
        return self._plan.apart.of(met, running.test, units), hashes

    def _met_of(self, running, reading, needed):
        """The same of the cells that `reading` is about, for modules that are `needed`."""
        agent = self._settling.agent
        cells = read_of(running.met, agent, self._plan, reading, self._functions)
        if cells is ANYTHING:
            return ANYTHING
        found = reading.differences.found
        cells = cells.union(found[at].cell for at in reading.by_names(names_of(running.item)))
        cells |= reading.read_by_all
        cells = {cell for cell in cells if cell in reading.everywhere or cell[0] in needed}
        return cells.union(reading.differences.settings)


class Names:
    """Hashes of the names of what tests make for others."""

    def __init__(self, agent, collected):
        fixtures = {name for item in collected for name in fixtures_of(item)}
        self.fixtures = {name_hash("fixture %s None" % name) for name in fixtures}
        # The path and the name of caches of functions of modules and classes.
        self.caches = set()
        # It does not matter who makes these: the folder for temporary files, and caches that have
        # their content in cells. And the end of a fixture makes nothing.
        self.exempt = {name_hash("fixture %s %s" % (name, TEAR_DOWN)) for name in fixtures}
        folders = folders_of(collected)
        self.exempt.update(name_hash("fixture %s None" % name) for name in folders)
        for scope in list(agent.named_scopes.values()):
            cells = cells_of(agent, scope)
            if cells:
                self.caches.add(cells[0])
                self.exempt.add(name_hash(agent.left.name_of(scope)))


def hash_of(test):
    """Of the name that who needs a test's code for another reason than cells has for it."""
    return name_hash("test " + test)


def setters(settling, collected, runs):
    """The tests, in order, that leave something which those that run can read; and what leads these to
    it, unless that is much more."""
    found = _setters(settling, collected, runs, False)
    if not found or settling.is_alone:
        return found
    of_all = _setters(settling, collected, runs, True)
    # Few leave something else without that, and then it is done in a second pass.
    return of_all if 2 * len(of_all) <= 3 * len(found) else found


def _setters(settling, collected, runs, are_led):
    """The same; `are_led`: with what leads to it."""
    found, cells, made = [], set(), set()
    # Cells into which something is put instead.
    given = set()
    for item in reversed(collected):
        test = item.nodeid
        if test in runs:
            reads = settling.reads.of(item)
            if reads is not None and settling.is_alone:
                cells.update(filter(settling.is_read_as_a_whole, reads[0]))
            elif reads is not None:
                cells |= reads[0]
                made |= reads[1]
        elif test in settling.recorded:
            then = settling.made_by(test)
            # What it imports may be a library, which asks for whatever its code spells.
            leads = then is None or not made.isdisjoint(then) or settling.imports(test, then)
            leads = leads and not settling.is_alone
            left = settling.recorded[test]
            begun = settling.numbers.begun_by(test, left)
            of_test = settling.numbers.given(left) - begun
            is_first = not given.isdisjoint(begun)
            if leads or is_first or not cells.isdisjoint(left.keys() - of_test):
                found.append(test)
                own = settling.reads.of(item) if are_led else None
                if own is not None:
                    cells |= own[0]
                    made |= own[1]
            # Who left them before makes no difference, but for the first one.
            given |= of_test & cells
            cells -= of_test
    return found[::-1]

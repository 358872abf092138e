"""Settles at their turn tests that earlier ones may have prepared something for.

Some code of an earlier test differs, or a value that it reads. What matters is what it *left*.
So all tests run that left something in the record, in their order, beside those that are
selected. When the turn of an open test comes, the state is that of a run of everything: tests
that are left out leave nothing. If each cell that the test can read and that tests have changed
has the recorded value, it does what it did.

Some of a test's code ran before its turn: a fixture was set up, another test changed a fixture's
value. What that read must have been the same *then*. As long as all that ran is proven to do what
it did, each cell had its recorded value at each moment. Of other tests the values are known that
they left, but not those in the middle of their turns. So cells are in doubt that were different when
a turn began, or that others touched in a turn in which a fixture was set up, a cache filled or a
module imported, until a comparison shows the recorded value again. Such a test must not read any cell
that was in doubt in a turn in which something of it ran. And all of these must have been made in the
turns of the record.
"""

from .apart import Beside, apart
from .confirm import file_of, names_of
from .left import UNKNOWN
from .separated import separators
from .turns import Turns, hashes_of, hashes_told


class Settling:
    """The tests of one record that wait for their turn."""

    def __init__(self, agent, plan, ties, waiting):
        self.agent = agent
        self.plan = plan
        # Test id -> what its reads are judged by.
        self.waiting = waiting
        # Tests that run only for what they leave: those that do what they did if what they read
        # is the same, and those that do so anyway.
        self.judged = frozenset()
        self.proven = frozenset()
        # Recorded tests, in order, and what each left: cell -> value.
        self.order = {test: at for at, test in enumerate(ties["order"])}
        self.recorded = {
            test: {(path, name): value for path, name, value in cells}
            for test, cells in ties["left"].items()
        }
        # By test: what ran in its turn that later tests do not run again.
        self.made = ties.get("made", {})
        made = {test: hashes_told(one) for test, one in self.made.items()}
        made = {test: None if one is None else hashes_of(one) for test, one in made.items()}
        # The hashes of all that, and its turns: `None` if a record does not tell by name what was
        # made.
        self.hashes = frozenset().union(*filter(None, made.values()))
        self._turns = None if None in made.values() else Turns(plan, self.order, made)
        self._ahead = sorted(self.recorded, key=self.order.__getitem__, reverse=True)
        # Who reads these has the code of those who changed them for its own.
        self._by_code = {
            cell
            for cells in self.recorded.values()
            for cell, value in cells.items()
            if value is None
        }
        # The place in the record of the test after the last known one that began.
        self._next = 0
        # What was left so far: then, and in this run; the cells where these differ, and those
        # that are still to be compared.
        self._then = {}
        self._now = {}
        self._different = set()
        self._told = set()
        # Tests that did what they did.
        self._same = set()
        # Cell -> the turns, as bits, in which it perhaps had another value at some time. It stays here
        # without turns, as for some tests all that was ever doubted counts.
        self._doubtful = {}
        # Cells that may still have another value, and since which turn. All later turns count.
        self._open = {}
        # The place of each turn of this run in the record: of a new test the next known one's.
        self._places = {}
        # Values were compared up to the turn that has this place.
        self._compared = 0
        # Whether tests of the record are gone: at each turn it may have something that was not left
        # here.
        self._has_gone = False
        # What outlives a test and was made in another turn than in the record: hashes of the names
        # of scopes; and whether that is not known of all.
        self._moved = frozenset()
        self._is_all_moved = False
        # Whether tests have run since values were compared, and such as may not have done what
        # they did.
        self._has_run = False
        self._is_in_doubt = False

    def is_in_order(self, tests):
        """Whether tests of the record come in its order."""
        places = [self.order[test] for test in tests if test in self.order]
        return all(one < next for one, next in zip(places, places[1:]))

    def gone(self, tests):
        """Only `tests` are there: nobody leaves what others left."""
        gone = self.recorded.keys() - set(tests)
        for test in gone:
            self._doubt(self.recorded[test], self.order[test])
            self._move("", self.made.get(test))
        self._has_gone = bool(gone)

    def left(self, test, values):
        """A test has ended and left these values; without, nobody knows any more."""
        if values is None:
            self._give_up()
            return
        recorded = self.recorded.get(test, {})
        place = self._places.get(test, 0)
        made = self.agent.left.made.get(test, "")
        if made != self._made(test):
            self._move(made, self._made(test))
            if test in self._same:
                # It met something else all the same, and perhaps others that are proven do.
                self._same.discard(test)
                self.proven = frozenset()
                self._is_other(test)
        for (path, name), value in values.items():
            cell = self.plan.session.path(path), name
            if test not in self._same:
                if value == UNKNOWN or self.agent.left.made.get(test) != "":
                    self._doubt((cell,), place)
                if cell not in recorded:
                    # No record tells who reads it.
                    self.proven = frozenset()
            if value == UNKNOWN:
                # Another one has changed it since.
                continue
            if cell in self._by_code:
                if cell in recorded:
                    continue
                value = None
            self._now[cell] = value
            self._told.add(cell)

    def _move(self, now, then):
        """In one turn this was made now, and that in the record."""
        now, then = hashes_told(now), hashes_told(then)
        if now is None or then is None:
            self._is_all_moved = True
        else:
            self._moved |= hashes_of(now ^ then)

    def _is_other(self, test):
        """It is not proven that `test` does what it did."""
        for cell, value in self.recorded.get(test, {}).items():
            if value == UNKNOWN or self._made(test) != "":
                self._doubt((cell,), self.order[test])
        self._is_in_doubt = True
        # What it leaves is looked at before the next one begins.
        self.agent.left.gaps.add(test)

    def _doubt(self, cells, place):
        """Since the turn at `place` these perhaps have another value."""
        turns = -1 << place
        for cell in cells:
            if place < self._open.get(cell, place + 1):
                self._doubtful[cell] = self._doubtful.get(cell, 0) | turns
                self._open[cell] = place

    def _trust(self, place):
        """Values were compared when the turn at `place` begins: a cell that does not differ has
        the recorded one, if it can be told."""
        before = (1 << place) - 1
        trusted = self._open.keys() - self._different - self._by_code
        # A doubt that begins later, with the turn of a test that is gone, stays.
        for cell in [one for one in trusted if self._open[one] < place]:
            self._doubtful[cell] &= before
            del self._open[cell]

    def _give_up(self):
        """Nobody waits any more, so nothing needs to be compared."""
        self.waiting = self.judged = frozenset()
        self.agent.left.gaps = set()

    def _made(self, test):
        """What the record has of a test that was made in its turn; `None` if it does not tell."""
        return self.made.get(test) if test in self.recorded else ""

    def begins(self, item):
        """The turn of `item` begins, which runs."""
        if not self.waiting:
            return
        test = item.nodeid
        if self._is_in_doubt or self._has_gone:
            # Of others it is known what they left.
            self._compare(item)
        self._places[test] = self.order.get(test, self._next)
        self._next = self.order.get(test, self._next - 1) + 1
        self._has_run = True
        if test in self.proven or test in self.judged and self._differs(item) is None:
            self._same.add(test)
            return
        self._is_other(test)

    def settle(self, item):
        """The turn of `item` begins: `None` if it need not run, else what differs."""
        if self._has_run or self._has_gone:
            self._compare(item)
        self._next = self.order[item.nodeid] + 1
        why = self._differs(item)
        if not self.waiting:
            # That was found out by this comparison.
            why = "nobody knows what earlier tests left"
        if why is not None:
            self.begins(item)
        return why

    def _differs(self, item):
        """What differs of what a test reads; `None` if nothing does."""
        part = self.plan.tied(item.nodeid)
        is_moved = self._is_all_moved or self._moved and self.plan.needs_one(part, self._moved)
        if is_moved:
            return "a fixture or cache may be made or changed in the turn of another test"
        cells = self._different.union(self._doubted(part, self.order.get(item.nodeid)))
        if not cells:
            return None
        file = file_of(self.agent, self.plan, item)
        return self.plan.meets(cells, item.nodeid, file, names_of(item))

    def _doubted(self, part, place):
        """The cells that perhaps had another value when something of `part` ran before its turn."""
        past = part.get("past")
        if not past or not self._doubtful:
            return ()
        if past != "named" or self._turns is None:
            return self._doubtful
        ran = self._turns.before(part, place)
        return [cell for cell, turns in self._doubtful.items() if turns & ran]

    def _compare(self, item):
        """Compare what was left with the record, up to the turn of `item`."""
        self._has_run = self._is_in_doubt = False
        # New tests come after the last known one.
        at = self.order.get(item.nodeid, self._next)
        told = self._told
        while self._ahead and self.order[self._ahead[-1]] < at:
            cells = self.recorded[self._ahead.pop()]
            self._then.update(cells)
            told.update(cells)
        self.agent.left.flush()
        # What the native helper cannot read is compared only now and then.
        self.agent.state.ran(None, final=True)
        for path, name in self.agent.state.changed:
            cell = self.plan.session.path(path), name
            self._now[cell] = None
            told.add(cell)
        for cell in told:
            now = self._now.get(cell)
            is_known = cell in self._now or cell not in self._by_code
            if is_known and (now is None or now != self._then.get(cell)):
                self._different.add(cell)
            else:
                self._different.discard(cell)
        self._doubt(self._different, self._compared)
        self._trust(at)
        self._compared = at
        self._told = set()


class Begun:
    """How the tests that wait are settled."""

    def __init__(self):
        # Those for which nobody has to run, and who sees whether that turns out so.
        self.apart = frozenset()
        self.beside = None
        # What settles others at their turn, if that pays, and the tests that run for it.
        self.settling = None
        self.needed = ()
        # Else why there is none.
        self.why = "another record has its values"


def begin(agent, plan, collected, kept, waiting):
    """Settle `waiting` tests as far as that pays, beside those that are `kept` and so run.
    `collected` are all items, in order."""
    begun = Begun()
    matrices = {plan.tests[test]["matrix"] for test in waiting}
    # The nearest record comes first.
    number = min(matrices)
    ties = plan.content["matrices"][number].get("ties")
    if not ties:
        begun.why = "what earlier tests leave is not known"
        return begun
    waiting = frozenset(test for test in waiting if plan.tests[test]["matrix"] == number)
    items = [item.nodeid for item in collected]
    settling = Settling(agent, plan, ties, waiting)
    if not settling.is_in_order(items):
        begun.why = "the tests are in another order"
        return begun
    runs = set(kept).difference(waiting)
    # Of tests that another record proves nobody knows here what they leave.
    if ties.get("is_alone") and all(told["matrix"] == number for told in plan.tests.values()):
        begun.apart = apart(settling, collected, runs)
    if begun.apart:
        begun.beside = Beside(settling, collected, begun.apart)
    settling.waiting = waiting = waiting - begun.apart
    if waiting:
        _settle_at_turn(begun, settling, collected, runs)
    return begun


def _settle_at_turn(begun, settling, collected, runs):
    """Have tests wait for their turn, if that pays."""
    items = [item.nodeid for item in collected]
    waiting = settling.waiting
    needed = [test for test in items if test in settling.recorded and test not in runs]
    needed += separators(collected, runs.union(needed), waiting)
    more = [test for test in needed if test not in waiting]
    # Of those that wait, these would run as well.
    saved = len(waiting) - (len(needed) - len(more))
    # Not all of them will turn out to be the same.
    if 2 * len(more) > saved:
        begun.why = "running what leaves something would cost more"
        return
    settling.judged = waiting.intersection(needed)
    settling.proven = frozenset(more)
    settling.gone(items)
    settling.waiting = waiting.difference(needed)
    runs = runs.union(needed, settling.waiting)
    settling.agent.left.gaps = {one for one, next in zip(items, items[1:]) if next not in runs}
    begun.settling, begun.needed = settling, needed

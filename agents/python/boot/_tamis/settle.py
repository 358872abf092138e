"""Settles at their turn tests that earlier ones may have prepared something for.

Some code of an earlier test differs, or a value that it reads. What matters is what it *leaves in a
run of all tests*. A test that is left out does what it did, and so leaves there what it left in the
record. A test that runs leaves what is seen, if it met what it meets in a run of all tests: it is
*exact*. If each cell that an open test can read and that tests have changed has the recorded value at its
turn, it does what it did.

Cells that left-out tests leave are *stale* here: perhaps they hold something else than in a run of all
tests. So those run as well that leave what the tests which run can read (`setters`), and a test
that could read anything stale all the same is not exact: nobody knows what it leaves, and it runs
again after all that leave something.

Some of a test's code ran before its turn: a fixture was set up, another test changed a fixture's
value. What that read must have been the same *then*. As long as all that ran is proven to do what
it did, each cell had its recorded value at each moment. Of other tests the values are known that
they left, but not those in the middle of their turns. So cells are in doubt that were different when
a turn began, or that others touched in a turn in which a fixture was set up, a cache filled or a
module imported, until a comparison shows the recorded value again. Such a test must not read any cell
that was in doubt in a turn in which something of it ran. And all of these must have been made in the
turns of the record.
"""

from .confirm import file_of, names_of
from .lacking import tell
from .left import UNKNOWN
from .met import ANYTHING, Met
from .restoring import Numbers
from .running import Running
from .setters import hash_of
from .turns import Turns, hashes_of, hashes_told


class Settling:
    """The tests of one record that wait for their turn."""

    def __init__(self, agent, plan, record, waiting, names):
        ties = record["ties"]
        self.agent = agent
        self.run = record["run"]
        self.names = names
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
            test: {(path, name): _known(value, test) for path, name, value in cells}
            for test, cells in sorted(ties["left"].items(), key=lambda one: self.order[one[0]])
        }
        # Nobody knows who left the last value of some.
        last = {}
        for test in self.recorded:
            last.update(dict.fromkeys(self.recorded[test], test))
        for cell, test in last.items():
            if _is_unknown(self.recorded[test][cell]):
                self.recorded[test][cell] = _NEVER
        # By test: what ran in its turn that later tests do not run again.
        self.made = ties.get("made", {})
        made = {test: hashes_told(one) for test, one in self.made.items()}
        exempt = names.exempt
        made = {
            test: None if one is None else hashes_of(one) - exempt for test, one in made.items()
        }
        # The hashes of all that, and its turns: `None` if a record does not tell by name what was
        # made.
        self.hashes = frozenset().union(*filter(None, made.values()))
        self._turns = None if None in made.values() else Turns(plan, self.order, made)
        self._ahead = list(reversed(list(self.recorded)))
        # Where nobody has to run for what others read.
        self.numbers = Numbers(agent, self.recorded, ties.get("numbers", {}), plan.session.serials)
        # Who reads these has the code of those who changed them for its own.
        self._by_code = {
            cell
            for cells in self.recorded.values()
            for cell, value in cells.items()
            if value is None
        }
        # The places in the record of tests that are there; of a new one that of the next known one.
        self._places = {}
        # What was left so far in the record, and what is left in a run of all tests; the cells
        # where these differ, and those that are still to be compared.
        self._then = {}
        self._now = {}
        self._different = set()
        self._told = set()
        # All of a dictionary whose entries are cells.
        self._whole = {
            (path, name.partition("[")[0])
            for cells in self.recorded.values()
            for path, name in cells
            if "[" in name and path[:1] != "*"
        }
        # Cells that perhaps hold something else here than in a run of all tests, as tests that leave
        # something are left out, and hashes of what these make.
        self._stale = set()
        self._unmade = set()
        # Who reads what.
        self.reads = None
        # Whether no test waits: then only what is told of those that run counts.
        self.is_alone = False
        self._serials = plan.session.serials
        self._caches = {(plan.session.path(path), name) for path, name in names.caches}
        # Tests to which pytest gives something else than in the record.
        self.other_items = frozenset()
        # The test that runs.
        self._running = None
        # Cell -> the turns, as bits, in which it perhaps had another value at some time. It stays here
        # without turns, as for some tests all that was ever doubted counts.
        self._doubtful = {}
        # Cells that may still have another value, and since which turn. All later turns count.
        self._open = {}
        # Values were compared up to the turn that has this place.
        self._compared = 0
        # The tests of the record that are there.
        self._there = frozenset(self.recorded)
        # What outlives a test and was made in another turn than in the record: hashes of the names
        # of scopes; and whether that is not known of all.
        self._moved = frozenset()
        self._is_all_moved = False
        # Of tests that ran: what each left as in a run of all tests, and those that did what they
        # did in the record.
        self.exact = {}
        self.same = []
        # Those that may have met something else than in a run of all tests, with what they met.
        self.inexact = {}
        # Whether all run that leave something: then those that run meet what they meet in a run of
        # all tests.
        self.is_broad = False
        self.is_active = True
        # How many that waited were left out, and ran.
        self._settled = self._refuted = 0
        # Whether tests have run since values were compared.
        self._has_run = False

    def take_places(self, tests):
        """All `tests` are there, in this order. Returns whether those of the record come in its order."""
        place = 0
        for test in tests:
            known = self.order.get(test)
            if known is not None and known < place:
                return False
            self._places[test] = place if known is None else known
            place = place if known is None else known + 1
        return True

    def gone(self, tests):
        """Only `tests` are there: nobody leaves what others left."""
        self._there = self.recorded.keys() & set(tests)
        for test in self.recorded.keys() - self._there:
            self._doubt(self.recorded[test], self.order[test])
            self._move("", self.made.get(test))

    def left(self, test, values):
        """A test has ended and left these values; without, nobody knows any more."""
        if values is None:
            self._give_up()
        elif self._running is not None and self._running.test == test:
            for (path, name), value in values.items():
                cell = self.plan.session.path(path), name
                self._running.left[cell] = None if value == UNKNOWN else value
                self._running.files[cell] = path

    def _end(self):
        """The test that ran has ended, and all of what it left is known."""
        running, self._running = self._running, None
        if running is None:
            return
        test = running.test
        recorded = self.recorded.get(test, {})
        made = self.agent.left.made.get(test, "")
        moved = self._difference(made, self._made(test))
        if running.is_same:
            self.same.append(test)
            if moved is None:
                self._is_all_moved = True
            else:
                self._unmade |= moved
            if self.is_broad:
                return
            both = running.left.keys() & recorded.keys()
            alike = {cell for cell in both if running.left[cell] == recorded[cell]}
            self._stale -= alike
            others = (running.left.keys() | recorded.keys()) - alike
            # If it did here what it does in a run of all tests, it leaves a value that no two runs have,
            # as the time is. But what is stale may be changed without being read, as the order of
            # names, and the whole of a dictionary may lack what others put there.
            if others and self._is_as_recorded(self._met_by(running)):
                unknown = {cell for cell in both if _is_unknown(recorded[cell])}
                believed = (both - self._whole) & (unknown | both - self._stale)
                self._stale -= believed
                others -= believed
            self._stale |= others
            return
        met = self._met_by(running)
        if moved is None or moved:
            # Perhaps it made what another one makes in a run of all tests.
            is_known = met is not ANYTHING and moved is not None
            met = (met[0], met[1] | moved) if is_known else ANYTHING
            self._move(made, self._made(test))
        if test in self.other_items:
            # What it made for others may be made of its parameters.
            self._move("", made)
        place = running.place
        if not self._is_as_recorded(met):
            lacked = self._lacked(met)
            if lacked != _NOTHING:
                self.inexact[test] = lacked
            cells = running.left.keys() | recorded.keys()
            self._told |= cells
            is_believed = self.is_alone or test in self.inexact
            believed = self._believed(running, recorded) if is_believed else set()
            for cell in believed:
                self._now[cell] = recorded[cell]
            cells -= believed
            self._doubt(cells, place)
            self._stale |= cells
            self._lacks(test, made, self._made(test))
            for cell in cells:
                self._now[cell] = None
            return
        left = running.left
        exact = self.exact[test] = []
        for cell, value in left.items():
            if cell in self._different and (cell in self._whole or cell in self._stale):
                value = None
            elif cell in self._whole and (running.files[cell], cell[1]) in self.agent.keys.known:
                # Its entries tell.
                value = recorded.get(cell) if self._has_entries_of(cell, left, recorded) else None
            elif cell in self._stale:
                # It need not be read to be changed, as the order of names, and may lack what others did.
                is_alike = cell not in self._serials and self._is_alike(left, recorded)
                value = recorded.get(cell) if is_alike else None
            if value is None or made != "":
                self._doubt((cell,), place)
            is_known = value is not None
            if cell in self._by_code:
                value = None
                is_known = cell in recorded
            is_told = is_known and not _is_unknown(value)
            exact.append([running.files[cell], cell[1], value if is_told else UNKNOWN])
            if cell in self._by_code and is_known:
                continue
            self._now[cell] = value
            self._told.add(cell)

    def _met_by(self, running):
        """What a test that ran met of what tests leave, as cells and hashes of what they make;
        `ANYTHING` if nobody knows."""
        if running.met is None:
            # There was nothing stale when it began.
            return set(), set()
        self.agent.settle()
        self.agent.met = None
        return self.reads.met_by(running, self._stale)

    def _believed(self, running, recorded):
        """The cells that a test which lacks something leaves as in the record, and is believed to: it
        runs once more, and if it does not leave the same then, those run that read it."""
        if self.is_broad:
            return set()
        return {
            cell
            for cell, value in running.left.items()
            if value is not None and cell not in self._stale and recorded.get(cell) == value
        }

    def _lacked(self, met):
        """What a test lacked that met this, so that it runs once more after those that leave it."""
        if not self.is_alone:
            return met
        if met is ANYTHING:
            return _NOTHING
        # Of caches it hardly matters who fills them.
        return (met[0] & self._stale) - self._caches, set()

    def is_read_as_a_whole(self, cell):
        """Whether who reads a cell reads all of it, so that it counts before the test has run: not where
        entries by key are seen then, nor of caches."""
        return cell not in self._caches and cell not in self._whole and "[" not in cell[1]

    def _is_as_recorded(self, met):
        """Whether a test meets the same in a run of all tests."""
        if met is ANYTHING:
            return False
        cells, made = met
        return cells.isdisjoint(self._stale) and made.isdisjoint(self._unmade)

    def _is_alike(self, left, recorded):
        """Whether a test left what it left in the record, as far as that can be seen here."""
        return left.keys() == recorded.keys() and all(
            cell in self._stale
            or cell in self._whole
            or value is not None
            and value == recorded[cell]
            for cell, value in left.items()
        )

    def _told_by_entries(self, test):
        """The dictionaries that hold something else here than in a run of all tests, whatever `test`
        leaves: others leave entries of theirs that are not here."""
        others = {cell for cell in self._stale if "[" in cell[1]} - self.recorded.get(test, {}).keys()
        return self._whole & {(path, name.partition("[")[0]) for path, name in others}

    def _has_entries_of(self, whole, left, recorded):
        """The same of the entries of a dictionary."""
        path, name = whole
        begin = name + "["

        def entries(cells):
            found = {cell: value for cell, value in cells.items() if cell[1].startswith(begin)}
            return {cell: value for cell, value in found.items() if cell[0] == path}

        return self._is_alike(entries(left), entries(recorded))

    def finish(self):
        """All tests have ended. Tell the trace of which it is known what they leave in a run of all
        tests."""
        if self.is_active:
            if self._has_run:
                self.agent.left.flush()
            self._end()
        write = self.agent.trace.write
        if not self.is_broad:
            tell(self.agent.trace, self.inexact)
        if not self.is_active:
            return
        known = [test for test in self.same if test in self.plan.tests]
        are_settled = self.judged | self.waiting
        settled = [test for test in known if test in are_settled]
        write("same", self.same, [test for test in known if test not in are_settled], settled)
        write("settled-by", self.run)
        write("by-code", sorted(self._by_code))
        for test, cells in self.exact.items():
            write("exact", test, cells)

    def _difference(self, now, then):
        """The hashes of what was made at one of two times only; `None` if that is not known."""
        now, then = hashes_told(now), hashes_told(then)
        if now is None or then is None:
            return None
        return hashes_of(now ^ then) - self.names.exempt

    def _move(self, now, then):
        """In one turn this was made now, and that in the record."""
        moved = self._difference(now, then)
        if moved is None:
            self._is_all_moved = True
        else:
            self._moved |= moved

    def _is_other(self, test):
        """It is not proven that `test` does what it did."""
        for cell, value in self.recorded.get(test, {}).items():
            if _is_unknown(value) or self._made(test) != "":
                self._doubt((cell,), self.order[test])

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
        self.is_active = False
        self.agent.met = None
        if self._running is not None and not self.is_alone:
            self.inexact[self._running.test] = ANYTHING
        self._running = None
        self.waiting = self.judged = frozenset()
        self.agent.left.gaps = set()

    def _made(self, test):
        """What the record has of a test that was made in its turn; `None` if it does not tell."""
        return self.made.get(test) if test in self.recorded else ""

    def made_by(self, test):
        """The hashes of what others get from a recorded test, but for caches that are cells; `None`
        if that is not known."""
        return self._got_from(test, self.made.get(test))

    def _got_from(self, test, made):
        made = hashes_told(made)
        return None if made is None else hashes_of(made) - self.names.exempt | {hash_of(test)}

    def _lacks(self, test, *made):
        """What `test` makes is not made here, or perhaps in another way."""
        for one in made:
            got = self._got_from(test, one)
            if got is None:
                self._is_all_moved = True
            else:
                self._unmade |= got

    def unknown(self):
        """The cells of which nobody knows what is left in them in the end, and since which place in
        the record."""
        return {
            cell: self.order[test]
            for test, cells in self.recorded.items()
            for cell, value in cells.items()
            if value == _NEVER
        }

    def imports(self, test, made):
        """Whether what a test makes for others is more than fixtures."""
        return not made <= self.names.fixtures | {hash_of(test)}

    def begins(self, item):
        """The turn of `item` begins, which runs. Returns what differs, if it was to run only for what
        it leaves."""
        if not self.is_active:
            # Nobody looks any more at what it lacks.
            if not self.is_alone:
                self.inexact[item.nodeid] = ANYTHING
            return None
        self._compare(item)
        test = item.nodeid
        why = self._differs(item) if test in self.judged else None
        self._runs(item, why is None and (test in self.proven or test in self.judged))
        return why

    def _runs(self, item, is_same):
        test = item.nodeid
        running = self._running = Running(item, is_same, self._places[test])
        self._has_run = True
        # What it leaves is looked at before the next one begins.
        self.agent.left.gaps.add(test)
        # Before it is known what the test itself leaves.
        self._stale.difference_update(self.numbers.restore(self._stale, self._now))
        if self.is_active:
            whole = self._told_by_entries(test)
            self.agent.left.unneeded = set(map(self.agent.left.absolute, whole))
        if test in self.recorded:
            self._passes(test, is_same, True)
        if not is_same:
            self._is_other(test)
        if self._stale or self._unmade:
            self.agent.absorb()
            self.agent.met = running.met = Met()

    def settle(self, item):
        """The turn of `item` begins: `None` if it need not run, else what differs."""
        self._compare(item)
        why = self._differs(item)
        if not self.is_active:
            # That was found out by this comparison.
            why = "nobody knows what earlier tests left"
        self._settled += why is None
        if why is not None:
            self._runs(item, False)
            self._refuted += 1
            if self._refuted > max(_MANY, self._settled):
                # Looking at what each leaves takes longer than it saves.
                self._give_up()
        return why

    def passes(self, item):
        """What was settled need not run, and does not."""
        if item.nodeid in self.recorded:
            self._passes(item.nodeid, True, False)

    def runs_as_well(self, item):
        """What was settled runs all the same."""
        self._runs(item, True)

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
        if past != "named" or self._turns is None or place is None:
            return self._doubtful
        ran = self._turns.before(part, place)
        return [cell for cell, turns in self._doubtful.items() if turns & ran]

    def _compare(self, item):
        """Compare what was left with the record, up to the turn of `item`."""
        at = self._places[item.nodeid]
        if self._has_run:
            self.agent.left.flush()
        self._end()
        while self._ahead and self.order[self._ahead[-1]] < at:
            test = self._ahead[-1]
            if test in self._there:
                self._passes(test, True, False)
            else:
                self._ahead.pop()
                self._then.update(self.recorded[test])
                self._told.update(self.recorded[test])
        if self._has_run:
            # What the native helper cannot read is compared only now and then.
            self.agent.state.ran(None, final=True)
            for path, name in self.agent.state.changed:
                cell = self.plan.session.path(path), name
                self._now[cell] = None
                self._told.add(cell)
            self._has_run = False
        for cell in self._told:
            now = self._now.get(cell)
            is_known = cell in self._now or cell not in self._by_code
            then = self._then.get(cell)
            if is_known and (now is None or now != then or then == _NEVER):
                self._different.add(cell)
            else:
                self._different.discard(cell)
        self._told = set()
        self._doubt(self._different, self._compared)
        self._trust(at)
        self._compared = at

    def _passes(self, test, is_same, runs):
        """The turn of a recorded test passes."""
        if self._ahead and self._ahead[-1] == test:
            self._ahead.pop()
        cells = self.recorded[test]
        self._told.update(cells)
        if is_same:
            if not runs:
                self._stale.update(cells)
                self.numbers.left_out(test, cells)
                self._lacks(test, self._made(test))
            for cell, value in cells.items():
                # It does not read what differs, so it changes that without reading it.
                is_other = self._now.get(cell) != self._then.get(cell) or (
                    cell in self._now and self._now[cell] is None
                )
                if value is not None:
                    self._now[cell] = None if is_other else value
        self._then.update(cells)


# So many tests that wait may turn out different before nobody waits any more.
_MANY = 200

# What a test lacks that met what it meets in a run of all tests.
_NOTHING = set(), set()

# Equal to nothing.
_NEVER = UNKNOWN + UNKNOWN


def _known(value, test):
    """What was left, and nobody knows what, is equal to itself only."""
    return value if value != UNKNOWN else UNKNOWN + test


def _is_unknown(value):
    return value is not None and value[:1] == UNKNOWN

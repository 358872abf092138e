"""What tests leave behind for those after them: the cells that changed during a test's turn, and the
values that they had when it ended. A turn is all from the end of the test before to its own end."""

import builtins
import sys

from .agent import guard
from .fixtures import TEAR_DOWN
from .keys import unwatched
from .names import name_hash
from .paths import OUTSIDE, PROJECT
from .places import Place
from .values import MODULES, PROCESS, digest_of
from .watch import is_a, member_at

# The value of a cell that another test changed before any could meet it that leaves nothing.
UNKNOWN = "?"

# Holders that are no modules of the project: everybody may read these.
_OF_ALL = (PROCESS, MODULES, "*builtins")

# Who runs such a scope first makes what others then find: fixtures that outlive a test, results
# that are kept, modules.
_SHARED = frozenset(("fixture", "cache", "import"))

# For the native helper: the subclasses of all classes of a module.
_BELOW = "*subclasses"

# By which names the native helper knows objects: it keeps those of a taking, or uses these.
_KEPT, _KNOWN = 1, 2

# As many cells are looked at, all takings together: for each test, and in each session. By the
# number and not by the clock, as two recordings must tell the same.
_CELLS_PER_TEST = 200
_CELLS_PER_SESSION = 100000


def install(agent):
    """Take values of what tests leave, if those of imports were taken."""
    agent.left = Left(agent) if agent.values is not None else None
    if agent.left is None:
        return
    push = agent.push

    left = agent.left

    def pushed(scope, needed=True):
        if scope.kind in _SHARED:
            left.scope_began(scope)
        return push(scope, needed)

    agent.push = pushed


class Left:
    """Takes the values that tests leave: as late as possible, as most of those who leave something
    come one after the other. Who leaves something never waits for what others left."""

    def __init__(self, agent):
        self.agent = agent
        # What is told of what tests leave, beside the trace: a function of the test's id and
        # cells with values.
        self.listener = None
        # Whether all tests have, and what they left is known.
        self.has_ended = False
        # Tests after which tests come that are left out: these would have met what is there.
        self.gaps = set()
        # Cells whose value tells nothing in this turn.
        self.unneeded = set()
        # Scopes that ran during this turn and that later tests do not run again, or of which this
        # turn changed what others get; and by test, the hashes of the names of those of its turn.
        self._shared = set()
        self._changed = set()
        self.made = {}
        # The scope of the test that ended last.
        self.scope = None
        # The scopes of caches that code of this turn asked.
        self.used = set()
        # Scopes whose names their units tell.
        self._named = set()
        # Cell -> id and scope of the test that changed it last.
        self._pending = {}
        # By cell: the last that left it.
        self._leavers = {}
        # The first test, and the last that left something if values are still to be taken.
        self._first = None
        self._last = None
        # The id of the test after which none comes.
        self._end = None
        self._cells = None
        # Values that are numbers -> these, as text.
        self.numbers = {}

    def scope_began(self, scope):
        """What later tests do not run again begins."""
        if scope.kind == "import" and self._cells is not None:
            # It binds names in packages, and does whatever it does, with nobody watching.
            self._cells.is_unwatched = True
            if self.agent.paths.place(scope.name) in (PROJECT, OUTSIDE):
                # Its cells are compared nowhere: who refers to it has them for content.
                self._cells.late.add(scope.extra)
        if scope not in self.agent.folders:
            self._shared.add(scope)
        # Before that, values tell what imports did.
        if scope.kind != "import" or self._cells is not None:
            self._name(scope)

    def value_changed(self, scope):
        """What `scope` made for others, a fixture for example, has another value now."""
        if scope not in self.agent.folders:
            self._changed.add(scope)
        self._name(scope)

    def _name(self, scope):
        if scope not in self._named:
            self._named.add(scope)
            # So a plan tells who needs it.
            self.agent.note("reached", "", "?" + self.name_of(scope), scope)

    def holders(self):
        """What of the agent's refers to modules."""
        return [] if self._cells is None else self._cells.holders()

    @guard
    def begin(self, tests):
        """All `tests` are found. What changed until now is in the values of the import phase."""
        self.agent.state.changes()
        self._shared, self._changed = set(), set()
        values = self.agent.values
        if self._tells_what_is_left() and values is not None and values.holders is not None:
            self._cells = Cells(self.agent)
            self._end = tests[-1] if tests else None

    def _tells_what_is_left(self):
        """Whether this process runs all tests, or all that run."""
        session = self.agent.session
        is_worker = hasattr(session.config, "workerinput")
        return session.is_whole or session.order is not None and not is_worker

    def turn_ended(self, test, scope):
        """Take in what changed since the last turn ended."""
        changed = self.agent.state.changes()
        made = self._hashes_of_turn()
        self.scope = scope
        # Else nobody knows.
        if self._cells is None:
            return
        by = test, scope.number
        self._first = self._first or by
        if changed or made:
            self._last = by
            self._tell_made(by, made)
        elif self.listener is not None:
            # In the record it may have left something.
            self.listener(test, {})
        for cell, is_timed in changed.items():
            before = self._pending.pop(cell, None)
            if before is not None:
                self._tell(before, {cell: UNKNOWN})
            if is_timed:
                self._pending[cell] = by
            else:
                self._tell(by, {cell: None})
        is_told = (changed or made) and test != self._end
        is_known = (is_told or self._cells.silent) and self._look(by)
        if self._cells.silent and not is_known:
            self._last = by
        if test == self._end:
            self.finish()
        elif not (is_told and is_known) or test in self.gaps:
            self.flush()
        self.used.clear()

    def _hashes_of_turn(self):
        """What was made in this turn, whenever that is; with a `+` what was changed. Empty if there
        is none."""
        shared = self._shared
        if not self.agent.session.ends_all:
            shared = [one for one in shared if one.extra != TEAR_DOWN]
        names = {(self.name_of(one), "") for one in shared}
        names.update((self.name_of(one), "+") for one in self._changed)
        self._shared, self._changed = set(), set()
        return ",".join(sorted("%08x%s" % (name_hash(name), mark) for name, mark in names))

    def name_of(self, scope):
        return "%s %s %s" % (scope.kind, self.agent.relative(scope.name), scope.extra)

    def _look(self, by):
        """Take the values of cells that are known to have changed, before another test changes them;
        whether that could be done. What else changed waits for a test that leaves nothing, as mostly
        many that do come one after the other."""
        whole = {cell: by for cell, by in self._pending.items() if self._cells.is_whole(cell)}
        parts = {cell: by for cell, by in self._pending.items() if cell not in whole}
        caches = {(scope.name, scope.extra) for scope in self.used} - parts.keys()
        differing = self._cells.look(parts, caches)
        if differing is None:
            return False
        self._pending = whole
        self._tell_unseen(by, set(differing) - caches)
        parts.update(dict.fromkeys(differing, by))
        self._tell_all(parts)
        return True

    def flush(self):
        """Take the values that are still to be taken."""
        last, self._last = self._last, None
        if last is None or self._cells is None:
            return
        pending, self._pending = self._pending, {}
        for cell in self.unneeded.intersection(pending):
            self._tell(pending.pop(cell), {cell: UNKNOWN})
        changed = self._taken(pending)
        if changed is None:
            self.give_up()
            return
        # These changed with something else, or in a way that nobody watches.
        unseen = [cell for cell in changed if cell not in pending]
        self._tell_unseen(last, unseen)
        pending.update(dict.fromkeys(unseen, last))
        self._tell_all(pending)

    def _tell_made(self, by, made):
        """Who is not told of leaves nothing."""
        self.made[by[0]] = made
        self.agent.trace.write("made", by[1], made)
        self._tell(by, {})

    def _tell_unseen(self, by, cells):
        """These changed with something else, or with nobody watching."""
        if cells and by[0] not in self.made:
            self._tell_made(by, "")
        if cells:
            self.agent.trace.write("unseen", by[1], sorted(list(cell) for cell in cells))
        for path, name in sorted(filter(self._cells.is_silent, cells)):
            self.agent.trace.write("x", path, name, by[1])

    def _tell_all(self, pending):
        by_test = {}
        for cell, by in pending.items():
            value = by_test.setdefault(by, {})[cell] = self._cells.value(cell)
            if value is not None and value not in self.numbers:
                self._tell_number(cell, value)
        for by, cells in by_test.items():
            self._tell(by, cells)

    def _tell_number(self, cell, value):
        number = self._cells.place(cell).number()
        if number is not None:
            self.numbers[value] = str(number)
            self.agent.trace.write("number", value, str(number))

    def absolute(self, cell):
        """A cell, of which the path is as units have it, with the path of the file."""
        return self._cells.paths.get(cell[0], cell[0]), cell[1]

    def restore(self, values):
        """Have cells hold these values, which are numbers, before the next test begins. Returns
        those that do. Paths are as units have them."""
        if self._cells is None or not values:
            return []
        state = self.agent.state
        state.ran(None)
        changed, of_scopes = dict(state.changed), set(self._changed)
        cells = {self.absolute(cell): cell for cell in values}
        numbers = {at: int(self.numbers[values[cell]]) for at, cell in cells.items()}
        put = self._cells.put(numbers)
        # No test has changed them.
        state.ran(None)
        state.changed, self._changed = changed, of_scopes
        return [cells[at] for at in put if self._cells.value(at) == values[cells[at]]]

    def finish(self):
        """All tests have ended."""
        self.flush()
        if self._cells is None:
            return
        if self._first is not None:
            self._cells.is_unwatched = True
            unseen = self._taken(())
            if unseen is None:
                self.give_up()
                return
            by_test = {}
            for cell in unseen:
                # Nobody knows since when, but that it was after that one.
                by = self._leavers.get(cell, self._first)
                by_test.setdefault(by, []).append(cell)
            for by, cells in by_test.items():
                self.agent.trace.write("unseen", by[1], [list(cell) for cell in cells])
                self._tell(by, dict.fromkeys(cells, UNKNOWN))
        self._cells = None
        self.has_ended = True

    def _taken(self, pending):
        """The cells that have changed; `None` if it is not known."""
        try:
            return self._cells.take(pending)
        except Exception as error:
            self.agent.trace.write("no-values", "values could not be taken: %r" % (error,))
            return None

    def give_up(self):
        """From now on nobody knows what tests leave."""
        self._cells = None
        self.agent.session.is_whole = False
        self.agent.trace.write("not-whole", "tests changed too much for values to be compared")
        if self.listener is not None:
            self.listener(None, None)

    def _tell(self, by, values):
        test, scope = by
        self._leavers.update(dict.fromkeys(values, by))
        told = [[path, name, value] for (path, name), value in values.items()]
        self.agent.trace.write("left", scope, told)
        if self.listener is not None:
            self.listener(test, values)


class Cells:
    """The cells and their values, as they were when they were taken last. All are taken once;
    then those only that were reported since the last taking, and those that may change with nobody
    watching.

    A cell is a path and a name in it. What belongs to one global or member is taken together: the
    *place* of a cell is the path, the class or `""`, and the name in that; this is `""` for the
    order of names in it, and `*subclasses` for the subclasses of all classes.
    """

    def __init__(self, agent):
        self.agent = agent
        from . import libraries

        self._keys = agent.keys
        modules = agent.values.modules.items()
        # Path -> module.
        self._roots = {scope.name: one for scope, one in modules if one is not None}
        self._sorted = sorted(self._roots.items())
        self._prefixes = libraries.places(agent)
        # Path -> its classes.
        self._classes = {path: set() for path in self._roots}
        # Label -> path.
        self.paths = {self.agent.relative(path): path for path in self._roots}
        # Label -> key -> its place and name, or `None`: most are taken again and again.
        self._located = {}
        self._seen = 0
        # Names of the project's modules that tests imported.
        self.late = set()
        # Whether all are to be taken next.
        self.is_unwatched = False
        self._there = self._modules()
        # What the names of objects rest on shall stay where it is.
        self._kept = self._others()
        taken = self._take(self._all() + self._kept, _KEPT)
        often, silent = unwatched(taken)
        for path, holder in map(self._holder, taken):
            self._classes.setdefault(path, set()).add(holder)
        # Place -> name -> value.
        self._values = self._by_place(taken)
        # The places of cells of modules with content that C code changes in place.
        self.silent = self._of_modules(silent)
        # The places that are always taken, and those that the next taking takes.
        self._always = {(path, "", _BELOW) for path in self._roots}
        self._always.update((holder, "", "") for holder in _OF_ALL)
        # What was asked for last, also by path and holder.
        self._grouped = frozenset(), {}
        self._asked = self._always.union(self._by_place(often))

    def holders(self):
        return [self._roots, self._there, self._sorted, *self._sorted]

    def value(self, cell):
        """A text; `None` if the cell has none, or it cannot be told."""
        path, name = _held_by(cell)
        is_module = path not in _OF_ALL
        if is_module and (path not in self._there or self._keys.has_lost(path, name)):
            # A module that tests imported, or one outside the project.
            return None
        value = self._values.get(self._place(path, name), {}).get(name, b"")
        return None if isinstance(value, str) else digest_of(value)

    def place(self, cell):
        """Where a cell stands."""
        return Place(self._there.get(cell[0]), cell[1])

    def put(self, numbers):
        """Have cells hold these numbers instead of others. Returns those that do, as far as that
        is known."""
        if self.is_unwatched or self._are_others():
            return []
        there, put = [], []
        for cell, number in numbers.items():
            place = self.place(cell)
            found = place.number()
            if found is not None:
                there.append(cell)
                if found != number:
                    place.put(number)
                    put.append(cell)
        return there if not put or self.look(put, ()) is not None else []

    def _of_modules(self, cells):
        return {place for place in self._by_place(cells) if place[0] in self._roots}

    def is_silent(self, cell):
        """Whether C code may change its content in place."""
        return cell[0] in self._roots and self._place(*cell) in self.silent

    def is_whole(self, cell):
        """Whether a cell is all of a dictionary whose entries are cells."""
        return _held_by(cell) in self._keys.known

    def look(self, changed, perhaps):
        """Take the cells at the places of those that have `changed`, or `perhaps` have, and no others.
        Returns those that nobody reported and that differ now; `None` if that could not be done."""
        places, beside = set(), set()
        for path, name in map(_held_by, changed):
            if path not in self._roots or name in self._classes[path]:
                return None
            place = self._place(path, name)
            places.add(place)
            # A new name may stand elsewhere in the order of names.
            beside.update(((path, "", ""), (path, place[1], "")))
        if self.is_unwatched or self._are_others():
            return None
        perhaps = [cell for cell in perhaps if cell[0] in self._roots and "<" not in cell[1]]
        beside.update(self._place(*cell) for cell in perhaps)
        beside |= self.silent
        beside -= places
        roots = self._some(places | beside)
        if roots is None:
            return None
        found = self._by_place(self._take(roots, _KNOWN, tuple(sorted(filter(None, self.late)))))
        self._seen += sum(map(len, found.values()))
        for place in places:
            self._values[place] = found.get(place, {})
        return [cell for place in beside for cell in self._renew(place, found.get(place, {}))]

    def _renew(self, place, now):
        """The cells at a place whose value is another one now."""
        before = self._values.get(place, {})
        if before == now:
            return []
        self._values[place] = now
        return [
            (place[0], name)
            for name in before.keys() | now.keys()
            if _bytes(before.get(name)) != _bytes(now.get(name))
        ]

    def take(self, changed):
        """Take the cells at the places of those that have `changed`, and at all where nobody
        watches everything. Returns those that differ now; `None` if too many were looked at."""
        for path, name in map(_held_by, changed):
            if path in self._roots:
                place = self._place(path, name)
                # A new name may stand elsewhere in the order of names.
                self._asked.update((place, (path, "", ""), (path, place[1], "")))
                # Another class: all of its members are others.
                self.is_unwatched |= name in self._classes[path]
        are_others = self._are_others()
        roots = None if self.is_unwatched or are_others else self._some(self._asked)
        is_all = roots is None
        self.is_unwatched = False
        if are_others:
            self._there = self._modules()
        roots = self._all() if is_all else roots
        late = tuple(sorted(filter(None, self.late)))
        taken = self._take(roots + self._others(), _KNOWN, late)
        often, silent = unwatched(taken)
        self.silent |= self._of_modules(silent)
        found = self._by_place(taken)
        self._seen += sum(map(len, found.values()))
        if self._seen > _CELLS_PER_SESSION + _CELLS_PER_TEST * len(self.agent.session.order):
            return None
        differing = []
        for place in self._values.keys() | found.keys() if is_all else self._asked:
            differing += self._renew(place, found.get(place, {}))
        self._asked = self._always.union(self._by_place(often))
        return differing

    def _take(self, roots, naming, late=()):
        taken = self.agent.collector.native.cells(roots, self._prefixes, naming, late)
        return self._keys.named(taken)

    # -- roots --------------------------------------------------------------

    def _modules(self):
        """Path -> module, where an import gets this one, and not another of the same name."""
        return {path: one for path, one in self._sorted if _is_there(one)}

    def _are_others(self):
        """Whether imports get other modules than at the last taking."""
        there = self._there
        return any(_is_there(one) != (path in there) for path, one in self._sorted)

    def _all(self):
        modules = tuple((self.agent.relative(path), one) for path, one in self._there.items())
        return modules + self._keys.roots(self._there, self.agent.relative)

    def _some(self, asked):
        """Those of the places that are asked for; `None` if a class is not there any more."""
        if self._grouped[0] != asked:
            keys = {}
            for path, holder, key in sorted(asked):
                keys.setdefault((path, holder), []).append(key)
            self._grouped = frozenset(asked), keys
        roots = []
        for (path, holder), those in self._grouped[1].items():
            found = self._there.get(path)
            if found is None:
                continue
            label = self.agent.relative(path)
            if holder:
                label = "%s:%s" % (label, holder)
                found = member_at(found, holder)
                if not is_a(found, type):
                    return None
            roots.append((label, found, tuple(those)))
        # What is new has a name by its place in the whole dictionary.
        return tuple(roots) + self._keys.roots(self._there, self.agent.relative, asked)

    def _others(self):
        from . import loaded, process_state

        return (
            (PROCESS, process_state.describe_between_tests(self.agent)),
            (MODULES, loaded.made_by_hand()),
            ("*builtins", builtins),
        )

    # -- places -------------------------------------------------------------

    def _by_place(self, taken):
        found = {}
        for label, cells in taken.items():
            located = self._located.setdefault(label, {})
            for key, value in cells.items():
                try:
                    at = located[key]
                except KeyError:
                    at = located[key] = self._locate(label, key)
                if at is not None:
                    place, name = at
                    found.setdefault(place, {})[name] = value
        return found

    def _locate(self, label, key):
        """The place and the name of a cell; `None` if it is none of those that tests leave."""
        if isinstance(key, str) and key.endswith(".pytestmark"):
            # They tell how a test runs, and no other test meets them.
            return None
        path, holder = self._holder(label)
        holder = holder and holder + "."
        name = holder + (key.hex() if isinstance(key, bytes) else key or "")
        return self._place(path, name), name

    def _holder(self, label):
        """The path and the class that have a label."""
        path = self.paths.get(label, label)
        if path != label or path in _OF_ALL or path in self._roots:
            return path, ""
        module, _, name = label.rpartition(":")
        return self.paths.get(module, module), name

    def _place(self, path, name):
        if path in _OF_ALL:
            return path, "", ""
        if name.endswith((".__subclasses__", "._abc_impl")):
            return path, "", _BELOW
        classes = self._classes.get(path, ())
        if name.endswith("]?"):
            # An entry, and whether it is there.
            name = name[:-1]
        holder, key = "", name
        while True:
            first, _, rest = key.partition(".")
            inner = "%s.%s" % (holder, first) if holder else first
            # The order of names in a class is `Class.`.
            if first == key or inner not in classes:
                return path, holder, first
            holder, key = inner, rest


def _held_by(cell):
    """The cell that has the value: of variables of the environment that of the process."""
    return (PROCESS, cell[1]) if cell[1].startswith("environ[") else cell


def _bytes(value):
    """What has no value is always the same; the watching tells whether it changed."""
    return value if isinstance(value, bytes) else None


def _is_there(module):
    """Whether an import gets this module, and not another one of the same name."""
    return sys.modules.get(vars(module).get("__name__")) is module

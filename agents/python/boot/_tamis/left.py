"""What tests leave behind for those after them: the cells that changed during a test's turn,
with the values that they had when it ended.

A test's turn is all from the end of the test before it to its own end: fixtures that were set
up or torn down then, and imports, are part of it.
"""

import builtins
import sys
import types

try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

from .agent import guard
from .values import MODULES, PROCESS
from .watch import is_a

# The value of a cell that another test changed before any could meet it that leaves nothing.
UNKNOWN = "?"

# Holders that are no modules of the project: everybody may read these.
_OF_ALL = (PROCESS, MODULES, "*builtins")

# Who runs such a scope first makes what others then find: fixtures that outlive a test, results
# that are kept, modules.
_SHARED = frozenset(("fixture", "cache", "import"))

# As many cells are looked at, all takings together: for each test, and in each session. By the
# number and not by the clock, as two recordings must tell the same.
_CELLS_PER_TEST = 100
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
            left.has_shared = True
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
        # Tests after which tests come that are left out: these would have met what is there.
        self.gaps = frozenset()
        # Whether something ran during this turn that later tests do not run again.
        self.has_shared = False
        # Cell -> id and scope of the test that changed it last.
        self._pending = {}
        # The last test that left something, if values are still to be taken.
        self._last = None
        # Cell -> value, as they were when values were taken last.
        self._known = None
        self._roots = None
        self._seen = 0

    @guard
    def begin(self):
        """All tests are found. What changed until now is in the values of the import phase."""
        self.agent.state.changes()
        self.has_shared = False
        values = self.agent.values
        if self.agent.session.is_whole and values is not None and values.holders is not None:
            self._known = self._taken()

    def turn_ended(self, test, scope):
        """Take in what changed since the last turn ended."""
        changed = self.agent.state.changes()
        has_shared, self.has_shared = self.has_shared, False
        # Else it did not begin in the state of a run of everything, or nobody knows.
        if self._known is None:
            return
        by = test, scope.number
        if changed or has_shared:
            self._last = by
            # Who is not told of leaves nothing.
            self._tell(by, {})
        for cell, is_timed in changed.items():
            before = self._pending.pop(cell, None)
            if before is not None:
                self._tell(before, {cell: UNKNOWN})
            if is_timed:
                self._pending[cell] = by
            else:
                self._tell(by, {cell: None})
        if not (changed or has_shared) or test in self.gaps:
            self.flush()

    def flush(self):
        """Take the values that are still to be taken."""
        last, self._last = self._last, None
        if last is None or self._known is None:
            return
        pending, self._pending = self._pending, {}
        try:
            now = self._taken()
        except Exception as error:
            self.agent.trace.write("no-values", "values could not be taken: %r" % (error,))
            now = None
        if now is None:
            self.give_up()
            return
        by_test = {}
        for cell in now.keys() | self._known.keys():
            if cell not in pending and now.get(cell) != self._known.get(cell):
                # It changed with something else, or in a way that nobody watches.
                pending[cell] = last
        for cell, by in pending.items():
            by_test.setdefault(by, {})[cell] = self._value(cell, now)
        self._known = now
        for by, cells in by_test.items():
            self._tell(by, cells)

    def give_up(self):
        """From now on nobody knows what tests leave."""
        self._known = None
        self.agent.session.is_whole = False
        self.agent.trace.write("not-whole")
        if self.listener is not None:
            self.listener(None, None)

    def _value(self, cell, now):
        """A text, `None` if it cannot be told."""
        path, name = cell
        if name.startswith("environ["):
            cell = PROCESS, name
        elif path not in _OF_ALL and not _is_there(self._roots.get(path)):
            # A module that tests imported, or one outside the project.
            return None
        value = now.get(cell, b"")
        return None if value is None else blake2b(value, digest_size=16).hexdigest()

    def _tell(self, by, values):
        test, scope = by
        told = [[path, name, value] for (path, name), value in values.items()]
        self.agent.trace.write("left", scope, told)
        if self.listener is not None:
            self.listener(test, values)

    # -- taking -------------------------------------------------------------

    def _taken(self):
        """All cells: (path, name) -> bytes, `None` if it has no value. `None` if there are too
        many."""
        from . import libraries, process_state

        if self._roots is None:
            modules = self.agent.values.modules.items()
            self._roots = {scope.name: one for scope, one in modules if one is not None}
            self._places = libraries.places(self.agent)
        roots = sorted(self._roots.items())
        roots = [(path, module) for path, module in roots if _is_there(module)]
        others = (
            (PROCESS, process_state.describe_between_tests(self.agent)),
            (MODULES, _made_by_hand()),
            ("*builtins", builtins),
        )
        native = self.agent.collector.native
        labels = {self._short(path): path for path, _ in roots}
        labelled = [(self._short(path), module) for path, module in roots]
        taken = native.cells(tuple(labelled) + others, self._places)
        found = {}
        for label, cells in taken.items():
            path, holder = labels.get(label, label), ""
            if label not in labels and label not in _OF_ALL:
                # A class of a module.
                path, _, holder = label.rpartition(":")
                path, holder = labels.get(path, path), holder + "."
            for key, value in cells.items():
                if isinstance(key, bytes):
                    key = key.hex()
                found[path, holder + (key or "")] = None if isinstance(value, str) else value
        self._seen += len(found)
        most = _CELLS_PER_SESSION + _CELLS_PER_TEST * len(self.agent.session.order)
        return found if self._seen <= most else None

    def _short(self, path):
        """The same in every checkout."""
        top = self.agent.root + "/"
        return path[len(top) :] if path.startswith(top) else path


def _made_by_hand():
    """What programs have put where imports find it."""
    found = {}
    for name, module in list(sys.modules.items()):
        spec = vars(module).get("__spec__") if is_a(module, types.ModuleType) else None
        if type(name) is str and spec is None and name != "__main__":
            if name.partition(".")[0] not in ("_tamis", "_tamis_native"):
                found[name] = module
    return found


def _is_there(module):
    """Whether an import gets this module, and not another one of the same name."""
    return module is not None and sys.modules.get(vars(module).get("__name__")) is module

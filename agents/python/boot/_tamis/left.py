"""What tests leave behind for those after them: the cells that changed during a test's turn,
with the values that they had when it ended.

A test's turn is all from the end of the test before it to its own end: fixtures that were set
up or torn down then, and imports, are part of it.
"""

import os

try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

from .watch import is_a


def install(agent):
    """Take values of what tests leave, if those of imports were taken."""
    agent.left = Left(agent) if agent.values is not None else None


# The value of a cell that another test changed before any could meet it that leaves nothing.
UNKNOWN = "?"


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
        # Cell -> id and scope of the test that changed it last.
        self.pending = {}
        self._modules = None
        self._places = None

    def begin(self):
        """All tests are found. What changed until now is in the values of the import phase."""
        self.agent.state.changes()

    def turn_ended(self, test, scope):
        """Take in what changed since the last turn ended."""
        changed = self.agent.state.changes()
        # Else it did not begin in the state of a run of everything, or nobody knows.
        if not self.agent.session.is_whole or self.agent.values.holders is None:
            return
        for cell, is_timed in changed.items():
            before = self.pending.pop(cell, None)
            if before is not None:
                self._tell(before, {cell: UNKNOWN})
            if is_timed:
                self.pending[cell] = test, scope.number
            else:
                self._tell((test, scope.number), {cell: None})
        if not changed or test in self.gaps:
            self.flush()

    def flush(self):
        """Take the values that are still to be taken."""
        pending, self.pending = self.pending, {}
        if not pending:
            return
        try:
            values = self._values(pending)
        except Exception:
            values = dict.fromkeys(pending)
        by_test = {}
        for cell, by in pending.items():
            by_test.setdefault(by, {})[cell] = values[cell]
        for by, cells in by_test.items():
            self._tell(by, cells)

    def _tell(self, by, values):
        test, scope = by
        told = [[path, name, value] for (path, name), value in values.items()]
        self.agent.trace.write("left", scope, told)
        if self.listener is not None:
            self.listener(test, values)

    def _values(self, cells):
        """By cell: its value, a text; `None` if it cannot be told."""
        from . import libraries

        if self._modules is None:
            modules = self.agent.values.modules.items()
            self._modules = {scope.name: one for scope, one in modules if one is not None}
            self._places = libraries.places(self.agent)
        # Names by which other modules have what these cells hold.
        roots = [(path, self._modules[path], ()) for path in sorted(self._modules)]
        roots = [("*names " + self._short(path), module, keys) for path, module, keys in roots]
        found, labels = {}, {}
        for cell in sorted(cells):
            found[cell] = None
            path, name = cell
            if name.startswith("environ["):
                found[cell] = _of_text(repr(os.environ.get(name[8:-1])))
                continue
            label = "%s#%s" % (self._short(path), name)
            root = self._root(label, path, name)
            if root is not None:
                labels[label] = cell
                roots.append(root)
        if labels:
            taken = self.agent.collector.native.cells(tuple(roots), self._places)
            for label, cell in labels.items():
                found[cell] = _joined(label, taken)
        return found

    def _short(self, path):
        """The same in every checkout."""
        top = self.agent.root + "/"
        return path[len(top) :] if path.startswith(top) else path

    def _root(self, label, path, name):
        """Where the native helper finds a cell; `None` if nobody knows."""
        holder = self._modules.get(path) or self.agent.state.libraries.get(path)
        if holder is None:
            return None
        first, _, attribute = name.partition(".")
        if not attribute:
            return label, holder, (first,)
        kind = vars(holder).get(first)
        return (label, kind, (attribute,)) if is_a(kind, type) else None


def _joined(label, taken):
    """One value of all that stands under a label. What is not there has one, too."""
    digest = blake2b(digest_size=16)
    for one in sorted(taken):
        if one != label and not one.startswith(label + ":"):
            continue
        cells = [(key or "", value) for key, value in taken[one].items()]
        for key, value in sorted(cells, key=lambda cell: repr(cell[0])):
            if isinstance(value, str):
                # It cannot be told.
                return None
            digest.update(repr((one, key)).encode("utf-8", "surrogatepass") + value)
    return digest.hexdigest()


def _of_text(text):
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

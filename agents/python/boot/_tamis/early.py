"""Libraries as their own import left them.

Much of what libraries hold is another thing in each process (a generator that the system seeded,
addresses, a time), or cannot be told (what C code made). But where a library still holds the very
objects that it had when control came back from its import to the project, the project has not
touched it: then whatever differs from another process comes from no edit.

PYTEST_DONT_REWRITE
"""

import os
import sys
from _thread import get_ident

from . import libraries, process_state
from .import_blocks import Block
from .paths import OUTSIDE, PROJECT, SITE, is_harness

try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

# Of `native.cells`: by address; all cells apart.
_IN_PLACE, _APART = 3, True
# Units that are compared in other ways, and places where no module of the project stands.
_ELSEWHERE = frozenset(("dist", "env", "lookup", "runtime"))
# So many cells are looked at again before imports: beyond, what later ones load counts by value.
_MOST_CELLS = 500000
# Of a label: what comes before the module's name.
_PREFIX = "*lib:"


class Early:
    """The takings after the imports."""

    def __init__(self, agent):
        self.agent = agent
        self.cells = agent.collector.native.cells
        self.thread = get_ident()
        # Names in `sys.modules` that were looked at.
        self.seen = set()
        # The import statements that load libraries now, if there are several.
        self.block = None
        # Label -> root; what it was made in; its cells, also of its classes by their labels.
        self.roots = {}
        self.circumstances = {}
        self.taken = {}
        # What the cells hold in places that nothing else may take.
        self.kept = []
        # What the import that runs now began with; `None` if that cannot be told.
        self.begun = None
        # Pairs of label and key: what was touched before that.
        self.touched_before = frozenset()
        self.looked_at = 0

    def begin(self):
        """pytest has its plug-ins. What they loaded is as their imports left it if the project
        has no code among them and did not start pytest by itself."""
        if self.agent.values.modules or self._is_started_by_project():
            self.skip()
        else:
            self.begun = self._circumstances()
            self.take()

    def _is_started_by_project(self):
        main = getattr(sys.modules.get("__main__"), "__file__", None)
        if not isinstance(main, str) or os.path.dirname(main) == os.path.dirname(sys.executable):
            return False
        return self.agent.paths.place(self.agent.paths.absolute(main)) in (PROJECT, OUTSIDE)

    def import_begins(self, frame, is_library):
        """`frame`, of pytest or the project, imports a library, or one of the project's modules,
        which runs now."""
        if get_ident() != self.thread:
            return
        block, self.block = self.block, None
        if block is not None and block.has(frame):
            if is_library:
                self.block = block
                return
            self.take()
        # Who knows what ran since the others were loaded.
        self.skip()
        if is_library:
            self.begun = self._circumstances()

    def import_ended(self, frame):
        """`frame` has imported a library."""
        if get_ident() != self.thread:
            return
        block = Block(frame)
        if block.goes_on:
            # Libraries often change others when they are imported.
            self.block = block
        else:
            self.take()

    def skip(self):
        """Code of the project may have changed what was loaded since the last time."""
        self.seen.update(sys.modules)

    def take(self):
        """Take the modules that were loaded since the last time."""
        new = [name for name in list(sys.modules) if name not in self.seen]
        if not new:
            return
        self.seen.update(new)
        begun, self.begun = self.begun, None
        met = None if begun is None else self._met(new)
        if met is None:
            return
        if met:
            begun = blake2b(repr((begun, met)).encode(), digest_size=16).hexdigest()
        found = libraries.roots(self.agent, (), new)
        roots = [root for root in found if self._is_of_library(root[1])]
        if not roots:
            return
        roots = tuple((label, module, without, _APART) for label, module, without, _ in roots)
        for root in roots:
            self.roots[root[0]] = root
            self.circumstances[root[0]] = begun
        # What only libraries did to one another is as an import left it.
        touched = self.touched_before
        for label, cells in self._look().items():
            before = self.taken.get(label, {})
            left = {key: value for key, value in before.items() if (label, key) in touched}
            left.update(item for item in cells.items() if (label, item[0]) not in touched)
            self.taken[label] = left

    def _met(self, names):
        """What an import of these modules looked for in the project, and what it found; `None` if it
        read files of the project or ran its code: then what came of it can be told by values
        alone."""
        agent = self.agent
        scopes = (agent.module_scopes.get(name) for name in names)
        units = set().union(*(scope.units for scope in scopes if scope is not None))
        met = [one for one in agent.told(units) if self._is_of_project(one[0], one[1])]
        if any(kind != "exists" for kind, _, _ in met):
            return None
        return sorted((agent.relative(path), str(found)) for _, path, found in met)

    def _is_of_project(self, kind, path):
        if kind == "code":
            return True
        if kind in _ELSEWHERE or not path:
            return False
        path = self.agent.paths.absolute(path)
        return path != self.agent.root and self.agent.paths.place(path) == PROJECT

    def _is_of_library(self, module):
        path = libraries.path_of(module)
        if not path:
            # Libraries make modules of their own, the interpreter has some without a file.
            origin = getattr(vars(module).get("__spec__"), "origin", None)
            return origin not in ("built-in", "frozen")
        return self.agent.paths.place(path) == SITE and not is_harness(path)

    def _circumstances(self):
        """What an import may ask for that the project may have set for it alone: the process, and
        what was touched of libraries. `None` if it cannot be told."""
        self.looked_at += sum(map(len, self.taken.values()))
        if self.looked_at > _MOST_CELLS:
            return None
        found = blake2b(digest_size=16)
        told = process_state.describe(self.agent)
        places = libraries.places(self.agent)
        self._add(found, self.cells((("", told),), places), [("", key) for key in told])
        touched = self.touched()
        changed = sorted({label for label, cells in touched.items() if cells})
        self.touched_before = frozenset(cell for cells in touched.values() for cell in cells)
        now = self.cells(tuple(self.roots[label] for label in changed), places)
        if not all(self._add(found, now, sorted(touched[label], key=str)) for label in changed):
            return None
        return found.hexdigest()

    @staticmethod
    def _add(found, cells, keys):
        """Adds the contents of cells; returns whether all can be told."""
        can_tell = True
        for label, key in keys:
            value = cells.get(label, {}).get(key, b"")
            can_tell &= type(value) is bytes
            found.update(repr((label, key, value[:16] if type(value) is bytes else None)).encode())
        return can_tell

    def root(self, root):
        """What is to be taken of a library in the end."""
        label, module = root[:2]
        known = self.roots.get(label)
        if known is not None and known[1] is module:
            return known
        # Another module stands there now.
        self.roots.pop(label, None)
        return root

    def _look(self):
        """All cells of these libraries now, by address."""
        places = libraries.places(self.agent)
        now = self.cells(tuple(self.roots.values()), places, _IN_PLACE)
        self.kept.append(now.pop(None))
        return now

    def touched(self):
        """Label of a library -> pairs of label and key of the cells that are not as its import
        left them."""
        now = self._look()
        found = {label: [] for label in self.roots}
        for label in now.keys() | self.taken.keys():
            of_library = _PREFIX + label[len(_PREFIX) :].partition(":")[0]
            if of_library not in found:
                continue
            before, after = self.taken.get(label, {}), now.get(label, {})
            if before == after and all(type(one) is bytes for one in after.values()):
                continue
            for key in before.keys() | after.keys():
                value = before.get(key)
                if type(value) is not bytes or value != after.get(key):
                    found[of_library].append((label, key))
        return found

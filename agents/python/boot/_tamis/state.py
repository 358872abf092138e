"""State that outlives a test: changes of module globals, class attributes, the objects that
they reach, and fixture values.

A later test whose code names such state needs the code of the test that changed it.
"""

import functools
import gc
import os
import sys
import types
import weakref
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Sequence

from .agent import guard
from .caches import cells_of
from .handed import Handed
from .paths import OUTSIDE, PROJECT, SITE, STDLIB, is_harness
from .rebinding import Rebinding
from .watch import (
    BUFFERS, HEAP_TYPE, Watch, attributes, held_weakly, is_a, is_idle, is_unchanging, member_at,
)

# Limits of the walk: the distance from a global, the number of objects and of items of a container.
_DEPTH = 12
_OBJECTS = 400000
_OBJECTS_IN_PYTHON = 20000
_WIDTH = 5000

# Objects that the native helper cannot read are compared more seldom, the more there are: in every
# n-th call, one for each of so many. Never by the clock: two recordings must find the same.
_OBJECTS_PER_CALL = 256

# The code of functions that choose an implementation by the class of an argument.
_DISPATCHERS = frozenset(
    part
    for part in functools.singledispatch.__code__.co_consts
    if isinstance(part, types.CodeType) and part.co_name == "wrapper"
)

# Of a class: what counts in another way, and what `copyreg` keeps of it.
_IDLE = frozenset(
    ("__doc__", "__annotations__", "__annotate__", "__abstractmethods__", "__slotnames__")
    # What unittest notes of the set-up of a class.
    + ("tearDown_exceptions", "_classSetupFailed")
)

# The type of what is registered with an abstract class.
_REGISTRY = type(vars(Sequence)["_abc_impl"])

# Marks of test functions tell how tests run, not what they compute.
_MARKS = "pytestmark"

# The program's own metaclasses are not asked.
_qualified_name = type.__dict__["__qualname__"].__get__
_bases = type.__dict__["__bases__"].__get__

_CONTAINERS = frozenset((dict, list, set, deque, OrderedDict, defaultdict, Counter))

# Modules of the standard library the instances of which hold what a program puts into them.
_HOLDERS = frozenset(
    """argparse collections configparser contextlib email.message graphlib http.cookiejar
    http.cookies optparse queue sched threading unittest.mock""".split()
)

# Objects in C that lead to others and have no state beside. Instances of classes that derive
# from these may have some.
_WRAPPERS = frozenset(
    (functools.partial, types.MappingProxyType, types.MethodType, types.SimpleNamespace)
)
# Types of which the instances have no state. Those of classes that derive from these may have some.
PLAIN = frozenset((int, float, complex, str, bytes, bool, type(None)))


# The name of a unit of scopes that made for others what nobody watches.
_UNWATCHED = "?not watched"


class State:
    """Watches the state in project modules and fixtures.

    Watched objects form a graph that is walked once. `parents` leads from an object's index to
    the indexes of its holders, and to roots: `("module", file)`, `("class", file, name)`,
    `("name", file, name)` and `("fixture", scope)`.
    """

    def __init__(self, agent, native):
        self.agent = agent
        # Objects that the native helper does not understand are always watched in Python.
        self.native = native
        self.weak = Watch()
        self.limit = _OBJECTS if native else _OBJECTS_IN_PYTHON
        self.parents = {}
        self.modules = {}
        self.libraries = set()
        # `(path, name)` of what changed since `changes` was last asked -> whether it is known
        # since when.
        self.changed = {}
        # Scopes that ran since the last check in Python, in order.
        self.pending = {}
        self._calls = 0
        # Scope of parameters and marks -> the cells that hold these as well.
        self._cells = {}
        self._objects = {}
        self._classes = {}
        self._unnamed = {}
        self._rebinding = Rebinding()
        self.handed = Handed(agent)
        # Whether the walk met something that may change with nobody watching.
        self._has_missed = False

    # -- what is watched --------------------------------------------------

    def start(self):
        self.environment = self._environment()

    def _environment(self):
        """The variables by value: setting and restoring one makes new objects. pytest's own
        ones change with each test."""
        found = dict(os.environ._data)
        found.pop(b"PYTEST_CURRENT_TEST", None)
        found.pop("PYTEST_CURRENT_TEST", None)
        return found

    def module_ran(self, module):
        """A project module has finished its import."""
        path = getattr(module, "__file__", None)
        if not isinstance(path, str) or self._has_module(module):
            return
        path = self.agent.paths.absolute(path)
        # A test may look whether a module that it has made goes away.
        passes = self.agent.paths.place(path) == OUTSIDE
        self.modules[id(module)] = held_weakly(module) if passes else module
        self.agent.keys.module_ran(module, path)
        self._add(module, ("module", path))
        for name, value in list(vars(module).items()):
            self._walk_global(module.__name__, path, name, value)

    def _has_module(self, module):
        known = self.modules.get(id(module))
        return known is module or type(known) is weakref.ref and known() is module

    def library(self, module, path):
        """Watch the public names in a module that is not the project's: it may fill others when
        it is used first."""
        self.libraries.add(path)
        self._add(module, ("module", path))

    def _walk_global(self, module_name, path, name, value):
        if is_idle(name):
            return
        if is_a(value, type):
            self.handed.met(value, name)
            if getattr(value, "__module__", None) == module_name:
                self._walk_class(path, name, value)
        elif not is_a(value, types.ModuleType):
            self._walk(value, ("name", path, name))
            # Under another name all of it may have been watched before.
            for part, root in self.agent.keys.entries(value):
                self._walk(part, root)

    def _walk_class(self, path, name, kind):
        if not kind.__flags__ & HEAP_TYPE:
            return
        if self._add(kind, ("class", path, name)) is None:
            return
        for attribute, value in list(vars(kind).items()):
            if attribute in ("__dict__", "__weakref__", "__doc__", "__module__"):
                continue
            if type(value) is _REGISTRY:
                # Those read it who ask whether something is an instance.
                for reader in (name, "isinstance", "issubclass"):
                    self._add(value, ("name", path, reader))
            else:
                self._walk_member(kind, path, "%s.%s" % (name, attribute), value)

    def _walk_member(self, kind, path, name, value):
        if is_a(value, type) and vars(value).get("__module__") == vars(kind).get("__module__"):
            self.handed.met(value, name)
            self._walk_class(path, name, value)
        else:
            self._walk(value, ("name", path, name))

    def _add(self, value, parent):
        """The index of `value` if it is watched for the first time; `None` if it already was,
        or cannot be watched."""
        if len(self.parents) >= self.limit:
            self._has_missed = True
            return None
        index = self._index(value)
        if index is None:
            return None
        parents = self.parents.get(index)
        if parents is not None:
            parents.add(parent)
            return None
        self.parents[index] = {parent}
        return index

    def _index(self, value):
        """The number of a watched object; negative if it is watched in Python."""
        if self.native is not None and type(value) not in BUFFERS:
            # Programs may notice that an instance is kept alive.
            weak = type(self.modules.get(id(value))) is weakref.ref or not (
                type(value) in _CONTAINERS
                or is_a(value, (type, types.ModuleType, types.CellType, bytearray))
            )
            index = self.native.watch_add(value, weak)
            if index is not None:
                if index not in self._objects:
                    self._objects[index] = held_weakly(value) if weak else value
                return index
            if not weak:
                return None
        index = self.weak.watch_add(value)
        return None if index is None else -1 - index

    def _object(self, index):
        """The watched object; `None` if it is dead."""
        if index < 0:
            return self.weak.watch_object(-1 - index)
        held = self._objects[index]
        return held() if type(held) is weakref.ref else held

    def _walk(self, value, parent):
        """Watch everything reachable from a value, breadth first."""
        root, self._has_missed = parent, False
        waiting = deque([(value, parent, 0)])
        while waiting:
            value, parent, depth = waiting.popleft()
            if type(value) in PLAIN:
                continue
            if depth > _DEPTH:
                self._has_missed = True
                continue
            for part, holder in self._visit(value, parent):
                waiting.append((part, holder, depth + 1))
        if self._has_missed:
            for root in (root,) if isinstance(root, tuple) else self._roots(root):
                if root[0] == "fixture":
                    # In which turns it changes, nobody knows.
                    self.agent.note("reached", "", _UNWATCHED, root[1])

    def _visit(self, value, parent):
        """Watch one value. Returns its parts, each with its holder."""
        if is_a(value, (staticmethod, classmethod)):
            return [(value.__func__, parent)]
        if is_a(value, property):
            return [(part, parent) for part in (value.fget, value.fset) if part is not None]
        if is_a(value, functools.singledispatchmethod):
            return [(value.dispatcher, parent)]
        if type(value) in _WRAPPERS:
            return [(part, parent) for part in gc.get_referents(value)]
        if is_a(value, types.FunctionType):
            return self._visit_function(value, parent)
        if is_a(value, types.ModuleType):
            return ()
        if is_a(value, type):
            return self._visit_class(value, parent)
        if type(value) in (tuple, frozenset):
            return [(part, parent) for part in value] if len(value) <= _WIDTH else ()
        if not is_a(value, bytearray) and not self._is_watched(type(value)):
            self._has_missed = self._has_missed or not is_unchanging(type(value))
            return ()
        index = self._add(value, parent)
        if index is None:
            return ()
        parts = self._held(value, index)
        if self._is_unnamed(type(value)):
            parts.append(type(value))
        return [(part, index) for part in parts]

    def _visit_class(self, kind, parent):
        """A class to which no name leads has its state like an instance: one that a function made.
        Those that tests make are too many."""
        self.handed.met(kind)
        session = self.agent.session
        in_test = session is not None and session.test is not None
        if not (self._is_unnamed(kind) and self._is_watched_class(kind)):
            return ()
        if in_test:
            self._has_missed = True
            return ()
        index = self._add(kind, parent)
        if index is None:
            return ()
        return [(part, index) for part in (*vars(kind).values(), *_bases(kind))]

    def _is_unnamed(self, kind):
        """Whether a class is not where its module and its qualified name say."""
        answer = self._unnamed.get(kind)
        if answer is None:
            module = vars(kind).get("__module__")
            module = sys.modules.get(module) if type(module) is str else None
            answer = self._unnamed[kind] = member_at(module, _qualified_name(kind)) is not kind
        return answer

    def _held(self, value, index):
        """The content of a watched object."""
        if index < 0 or type(value) is dict:
            found = _held(value)
        else:
            # The helper runs no code of the program, and makes no `__dict__`.
            found = self.native.watch_held(index, _WIDTH) or []
        if is_a(value, (tuple, frozenset)):
            kind = tuple if is_a(value, tuple) else frozenset
            if kind.__len__(value) <= _WIDTH:
                found.extend(kind.__iter__(value))
        return found

    def _gained(self, value, index):
        """What a changed object holds now, without the entries of a dict that are the same."""
        if index >= 0 and type(value) is dict:
            keys = self.native.watch_keys(index)
            # Looking up other keys would run code of the program.
            if keys is not None and all(type(key) is str for key in keys):
                return [value[key] for key in keys if key in value and key != _MARKS]
        return self._held(value, index)

    def _visit_function(self, function, parent):
        code = function.__code__
        if code in _DISPATCHERS:
            return _registry(function, parent)
        file = code.co_filename
        # What a program compiles itself has no file.
        if file[:1] != "<" and self.agent.paths.code_file(file) is None:
            return ()
        if self.native is not None:
            # What can be assigned to it.
            index = self._add(function, parent)
            if index is None:
                return ()
            parent = index
        parts = list(function.__defaults__ or ())
        parts.extend((function.__kwdefaults__ or {}).values())
        if function.__dict__:
            parts.append(function.__dict__)
        found = [(part, parent) for part in parts]
        for name, cell in zip(code.co_freevars, function.__closure__ or ()):
            holder = parent
            if self._rebinding.is_possible(function, name):
                holder = self._add(cell, parent)
            if holder is not None:
                found.extend((part, holder) for part in _held(cell))
        return found

    def _is_watched(self, kind):
        return kind in _CONTAINERS or kind in BUFFERS or self._is_watched_class(kind)

    def _is_watched_class(self, kind):
        """Classes of the project or of its dependencies, and some of the library's, all written
        in Python."""
        answer = self._classes.get(kind)
        if answer is None:
            answer = self._classes[kind] = self._judge_class(kind)
        return answer

    def _judge_class(self, kind):
        self.handed.met(kind)
        if not kind.__flags__ & HEAP_TYPE:
            return False
        module = sys.modules.get(kind.__module__)
        path = getattr(module, "__file__", None)
        if not isinstance(path, str):
            return False
        path = self.agent.paths.absolute(path)
        place = self.agent.paths.place(path)
        if place == STDLIB:
            return kind.__module__ in _HOLDERS
        if place == SITE:
            return not is_harness(path)
        return place in (PROJECT, OUTSIDE)

    def fixture_made(self, scope, value):
        """The value of a fixture instance that outlives a test is known."""
        self._walk(value, ("fixture", scope))

    def shared_by_items(self, scope, values, cells):
        """Parameters and marks: these tests can meet what others did to such an object. `cells`
        hold such."""
        self._cells.setdefault(scope, set()).update(cells)
        self._walk_some(scope, values)

    def cached(self, scope, value):
        """A function of the project's made a value that its cache keeps for later callers."""
        self._walk_some(scope, (value,))

    def _walk_some(self, scope, values):
        """Half of what can be watched is left for globals: modules may be imported later."""
        limit, self.limit = self.limit, self.limit // 2
        try:
            for value in values:
                self._walk(value, ("fixture", scope))
        finally:
            self.limit = limit

    # -- what changed -----------------------------------------------------

    def changes(self):
        """What was reported since the last call: `(path, name)` -> whether it is known which of
        the tests that ended did it."""
        changed, self.changed = self.changed, {}
        return changed

    def ran(self, scope, final=False):
        """`scope` ran since the last call. Changes by the session itself need no record, since
        every test needs scope 0."""
        if scope is self.agent.root_scope:
            scope = None
        self._check_environment(scope)
        scopes = [] if scope is None else [scope]
        if self.native is not None:
            changed = self.native.watch_changed()
            if changed:
                self._report_changes(changed, scopes)
        self._check_in_python(scopes, final)

    def _check_in_python(self, scopes, final):
        """What the native helper cannot read. A change is charged to all scopes since the last
        comparison."""
        watched = self.weak.count()
        if not watched:
            return
        self.pending.update(dict.fromkeys(scopes))
        self._calls += 1
        if self._calls <= watched // _OBJECTS_PER_CALL and not final:
            return
        self._calls = 0
        scopes, self.pending = self.pending, {}
        changed = [-1 - index for index in self.weak.watch_changed()]
        self._report_changes(changed, scopes, is_timed=watched < _OBJECTS_PER_CALL)

    def _check_environment(self, scope):
        before = self.environment
        # pytest sets no variable between tests.
        if before == os.environ._data:
            return
        now = self._environment()
        if before == now:
            return
        self.environment = now
        for name in before.keys() | now.keys():
            text = os.fsdecode(name)
            if before.get(name) != now.get(name) and not text.startswith("PYTEST_"):
                root = ("name", os.__file__, "environ[%s]" % text)
                self._report(root, [] if scope is None else [scope])

    def _report_changes(self, indexes, scopes, is_timed=True):
        reported = set()
        for index in indexes:
            value = self._object(index)
            if value is None:
                continue
            for root in self._roots(index):
                if root[0] == "module":
                    self._module_changed(index, value, root[1], reported)
                elif root[0] == "class":
                    self._class_changed(index, value, root[1], root[2], reported)
                else:
                    reported.add(root)
            if is_a(value, type) and self._is_unnamed(value):
                for key in self._keys(index, value):
                    self._walk(vars(value).get(key), index)
            elif not isinstance(value, (types.ModuleType, type)):
                for part in self._gained(value, index):
                    self._walk(part, index)
                if self.agent.keys.of(value):
                    keys = self._keys(index) or None
                    reported.update(self.agent.keys.changed(value, keys))
                    for part, root in self.agent.keys.entries(value, keys):
                        self._walk(part, root)
        for root in reported:
            self._report(root, scopes, is_timed)

    def _roots(self, index):
        """The roots of a watched object. Modules and classes are roots only for themselves."""
        found, seen, waiting = set(), {index}, [index]
        while waiting:
            for parent in self.parents.get(waiting.pop(), ()):
                if isinstance(parent, tuple):
                    found.add(parent)
                elif parent not in seen:
                    seen.add(parent)
                    waiting.append(parent)
        return found

    def _class_changed(self, index, kind, path, name, reported):
        for key in self._keys(index):
            if key in _IDLE:
                continue
            full = "%s.%s" % (name, key)
            reported.add(("name", path, full))
            self._walk_member(kind, path, full, vars(kind).get(key))

    def _module_changed(self, index, module, path, reported):
        for key in self._keys(index, module):
            if not isinstance(key, str) or is_idle(key):
                continue
            if key[:1] == "_" and path in self.libraries:
                continue
            value = vars(module).get(key)
            if isinstance(value, types.ModuleType) and value.__name__ == "%s.%s" % (
                module.__name__,
                key,
            ):
                # The import system binds a submodule in its package.
                continue
            reported.add(("name", path, key))
            reported.update(self.agent.keys.rebound(path, key, value))
            self._walk_global(module.__name__, path, key, value)

    def _keys(self, index, holder=None):
        if index >= 0:
            keys = self.native.watch_keys(index)
        else:
            keys = self.weak.watch_keys(-1 - index)
        if keys is None:
            return list(vars(holder)) if holder is not None else []
        return keys

    def _report(self, root, scopes, is_timed=True):
        of_name = root[0] == "name"
        # Who reads a cell that is a cache meets what became of its results, and nobody else does.
        cells = [root[1:]] if of_name else cells_of(self.agent, root[1])
        for cell in (*self._cells.get(root[1], ()), *cells):
            self._has_changed(cell, is_timed)
        if not of_name and self.agent.left is not None:
            self.agent.left.value_changed(root[1])
        for scope in scopes:
            for path, name in cells:
                if scope.kind != "import" or scope.name != path:
                    self.agent.trace.write("x", path, name, scope.number)
            if not cells:
                self.agent.trace.write("y", root[1].number, scope.number)

    def _has_changed(self, cell, is_timed):
        self.changed[cell] = is_timed and self.changed.get(cell, True)


def _registry(function, parent):
    """The registry of a `functools.singledispatch` function."""
    register = vars(function).get("register")
    if not is_a(register, types.FunctionType):
        return ()
    names = zip(register.__code__.co_freevars, register.__closure__ or ())
    return [(cell.cell_contents, parent) for name, cell in names if name == "registry"]


def _held(value):
    """The content of a watched object."""
    if is_a(value, types.CellType):
        try:
            return [value.cell_contents]
        except ValueError:
            return []
    parts = []
    if type(value) is not dict and type(value) not in BUFFERS:
        try:
            parts.extend(attributes(value).values())
        except Exception:
            # A dead proxy holds nothing.
            pass
    if is_a(value, dict):
        if len(value) <= _WIDTH:
            for key, held in list(dict.items(value)):
                if type(key) is not str or key != _MARKS:
                    parts.append(held)
    elif is_a(value, (list, set, deque)) and len(value) <= _WIDTH:
        parts.extend(list(value))
    return parts


def install(agent):
    """Watch state, beginning with the first project module."""
    native = agent.collector.native if hasattr(agent.collector, "native") else None
    state = State(agent, native)
    state.start()
    agent.state = state

    @guard
    def imported(scope):
        module = sys.modules.get(scope.extra)
        if module is not None and agent.paths.place(scope.name) in (PROJECT, OUTSIDE):
            # A change that a test will restore does not count. So while a test runs, the check
            # waits for its end.
            if agent.session is None or agent.session.test is None:
                state.ran(scope)
            state.module_ran(module)

    agent.module_imported = imported

    @guard
    def importing(path):
        # An earlier change of the importer is not one of the imported module.
        if agent.paths.place(path) in (PROJECT, OUTSIDE):
            state.ran(agent.top)

    agent.module_importing = importing

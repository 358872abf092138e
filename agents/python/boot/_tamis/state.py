"""State that outlives a test: changes of module globals, class attributes,
what they reach, and fixture values.

A later test that runs code which names such state needs what ran in the test
that changed it.
"""

import os
import sys
import time
import types
from collections import deque

from .agent import guard
from .paths import OUTSIDE, PROJECT, SITE, HARNESS, site_entry
from .watch import Watch

_clock = time.perf_counter

# Bounds of the walk: how far from a global, how many objects in all, and how
# many items of one container.
_DEPTH = 4
_OBJECTS = 50000
_WIDTH = 2000

# The share of the elapsed time that checks in pure Python may take.
_BUDGET = 0.03

_CONTAINERS = (dict, list, set, tuple, frozenset, deque)
_PLAIN = (int, float, complex, str, bytes, type(None))


class State:
    """Watches the state that project modules and fixtures hold."""

    def __init__(self, agent, native):
        self.agent = agent
        self.watch = native or Watch()
        self.native = native is not None
        self.labels = {}
        self._objects = {}
        self.modules = {}
        self.pending = []
        self.next_check = 0.0
        self.full = False
        self._classes = {}

    # -- what is watched --------------------------------------------------

    def start(self):
        self.environment = self._environment()

    def _environment(self):
        """The variables by value: setting one and restoring it makes new
        objects. pytest's own come and go with each test."""
        return {
            name: value
            for name, value in os.environ._data.items()
            if not (name if isinstance(name, str) else os.fsdecode(name)).startswith("PYTEST_")
        }

    def _index(self, value):
        index = self.watch.watch_add(value)
        if self.native and index is not None:
            # The helper holds it as well.
            self._objects[index] = value
        return index

    def module_ran(self, module):
        """A project module has finished its import."""
        path = getattr(module, "__file__", None)
        if not isinstance(path, str) or id(module) in self.modules:
            return
        self.modules[id(module)] = module
        path = self.agent.paths.absolute(path)
        index = self._index(module)
        if index is not None:
            self.labels.setdefault(index, []).append((path, None))
        for name, value in list(vars(module).items()):
            self._walk_global(module.__name__, path, name, value)

    def _walk_global(self, module_name, path, name, value):
        if name[:2] == "__" and name[-2:] == "__":
            return
        if isinstance(value, type):
            if getattr(value, "__module__", None) == module_name:
                self._walk_class(path, name, value)
        elif not isinstance(value, types.ModuleType):
            self._walk(value, path, name)

    def _walk_class(self, path, name, kind):
        if not kind.__flags__ & 1 << 9:
            return
        self._add(kind, path, name + ".")
        for attribute, value in list(vars(kind).items()):
            if attribute in ("__dict__", "__weakref__", "__doc__", "__module__"):
                continue
            if isinstance(value, type):
                if getattr(value, "__module__", None) == kind.__module__ and value is not kind:
                    self._walk(value, path, "%s.%s" % (name, attribute))
            else:
                self._walk(value, path, "%s.%s" % (name, attribute))

    def _add(self, value, path, name):
        """Whether `value` is watched for the first time."""
        if len(self.labels) >= _OBJECTS:
            self.full = True
            return False
        index = self._index(value)
        if index is None:
            return False
        labels = self.labels.get(index)
        if labels is None:
            self.labels[index] = [(path, name)]
            return True
        if (path, name) not in labels:
            labels.append((path, name))
        return False

    def _walk(self, value, path, name):
        """Watch what is reachable from a value, breadth first."""
        waiting = deque([(value, 0)])
        seen = set()
        while waiting:
            value, depth = waiting.popleft()
            if isinstance(value, _PLAIN) or id(value) in seen or depth > _DEPTH:
                continue
            seen.add(id(value))
            if len(seen) > _WIDTH:
                return
            for part in self._parts(value, path, name):
                waiting.append((part, depth + 1))

    def _parts(self, value, path, name):
        """What a value holds; the value is watched if it can change."""
        if isinstance(value, (staticmethod, classmethod)):
            value = value.__func__
        elif isinstance(value, property):
            return [part for part in (value.fget, value.fset) if part is not None]
        if isinstance(value, types.FunctionType):
            return self._function_parts(value, path, name)
        if isinstance(value, types.ModuleType):
            return ()
        if isinstance(value, _CONTAINERS) and type(value).__module__ in (
            "builtins",
            "collections",
        ):
            if not isinstance(value, (tuple, frozenset)):
                self._add(value, path, name)
            if len(value) > _WIDTH:
                return ()
            return list(value.values()) if isinstance(value, dict) else list(value)
        if isinstance(value, bytearray):
            self._add(value, path, name)
            return ()
        if isinstance(value, type):
            return ()
        if not self._is_watched_class(type(value)):
            return ()
        self._add(value, path, name)
        held = getattr(value, "__dict__", None)
        parts = list(held.values()) if isinstance(held, dict) else []
        if isinstance(value, _CONTAINERS) and len(value) <= _WIDTH:
            parts.extend(dict.values(value) if isinstance(value, dict) else value)
        return parts

    def _function_parts(self, function, path, name):
        parts = []
        if self.agent.paths.code_file(function.__code__.co_filename) is None:
            return parts
        parts.extend(function.__defaults__ or ())
        parts.extend((function.__kwdefaults__ or {}).values())
        if function.__dict__:
            self._add(function.__dict__, path, name)
            parts.extend(function.__dict__.values())
        for cell in function.__closure__ or ():
            self._add(cell, path, name)
            try:
                parts.append(cell.cell_contents)
            except ValueError:
                pass
        return parts

    def _is_watched_class(self, kind):
        """Classes of the project or of its dependencies, written in Python."""
        answer = self._classes.get(kind)
        if answer is None:
            answer = self._classes[kind] = self._judge_class(kind)
        return answer

    def _judge_class(self, kind):
        if not kind.__flags__ & 1 << 9:
            return False
        module = sys.modules.get(kind.__module__)
        path = getattr(module, "__file__", None)
        if not isinstance(path, str):
            return False
        path = self.agent.paths.absolute(path)
        place = self.agent.paths.place(path)
        if place == SITE:
            return site_entry(path).split(".")[0] not in HARNESS
        return place in (PROJECT, OUTSIDE)

    def fixture_made(self, scope, value):
        """A fixture instance that outlives a test has its value."""
        self._walk(value, scope, None)

    # -- what changed -----------------------------------------------------

    def ran(self, scope, final=False):
        """`scope` ran since the last call: check, or remember it."""
        if scope is not None and scope not in self.pending:
            self.pending.append(scope)
        now = _clock()
        if not self.native and now < self.next_check and not final:
            return
        scopes, self.pending = self.pending, []
        self._check(scopes)
        if not self.native:
            end = _clock()
            self.next_check = end + (end - now) / _BUDGET

    def _check_environment(self, scopes):
        before, now = self.environment, self._environment()
        if before == now:
            return
        self.environment = now
        for name in before.keys() | now.keys():
            if before.get(name) != now.get(name):
                self._report(os.__file__, "environ[%s]" % os.fsdecode(name), scopes)

    def _check(self, scopes):
        self._check_environment(scopes)
        for index in self.watch.watch_changed():
            value = self._object(index)
            for path, name in list(self.labels.get(index, ())):
                self._changed(index, value, path, name, scopes)

    def _object(self, index):
        """The watched object; `None` when it is no more."""
        if self.native:
            return self._objects[index]
        return self.watch.watch_object(index)

    def _changed(self, index, value, path, name, scopes):
        if not isinstance(path, str):
            # A fixture's value.
            for scope in scopes:
                self._write("y", path.number, scope.number)
            self._walk(value, path, None)
        elif name is None:
            self._module_changed(index, value, path, scopes)
        elif name.endswith("."):
            for key in self._keys(index):
                if key in ("__doc__", "__annotations__", "__annotate__", "__abstractmethods__"):
                    continue
                self._report(path, name + str(key), scopes)
                attribute = vars(value).get(key)
                if attribute is not None:
                    self._walk(attribute, path, name + str(key))
        else:
            self._report(path, name, scopes)
            self._walk(value, path, name)

    def _module_changed(self, index, module, path, scopes):
        for key in self._keys(index, module):
            if not isinstance(key, str) or (key[:2] == "__" and key[-2:] == "__"):
                continue
            value = vars(module).get(key)
            if isinstance(value, types.ModuleType) and value.__name__ == "%s.%s" % (
                module.__name__,
                key,
            ):
                # The import system binds a submodule in its package.
                continue
            self._report(path, key, scopes)
            if value is not None:
                self._walk_global(module.__name__, path, key, value)

    def _keys(self, index, holder=None):
        keys = self.watch.watch_keys(index)
        if keys is None:
            return list(vars(holder)) if holder is not None else []
        return keys

    def _report(self, path, name, scopes):
        for scope in scopes:
            if scope.kind == "import" and scope.name == path:
                continue
            self._write("x", path, name, scope.number)

    def _write(self, *record):
        self.agent.trace.write(*record)


def install(agent):
    """Watch from the first project module on."""
    native = agent.collector.native if hasattr(agent.collector, "native") else None
    state = State(agent, native)
    state.start()
    agent.state = state

    @guard
    def imported(scope):
        module = sys.modules.get(scope.extra)
        if module is not None and agent.paths.place(scope.name) in (PROJECT, OUTSIDE):
            # What a test patched and will restore is no change: while one
            # runs, the check waits for its end.
            if agent.session is None or agent.session.test is None:
                state.ran(scope)
            state.module_ran(module)

    agent.module_imported = imported

"""Serial numbers: a class counts its objects and gives each the next number, by which they are
sorted. The names of such numbers come from `tamis`, which has read the sources.

What others made before moves all numbers that follow, and nothing else. So a number has the value
of its place: in which import or test its object was made, and as which there.

PYTEST_DONT_REWRITE
"""

import gc
import operator
import os
import re
import sys
import types

from .agent import guard
from .asked_in_c import held_names
from .paths import PROJECT
from .places import Place
from .spelled import nested
from .watch import HEAP_TYPE, is_a, member_at

# The variable with a line for each: path, class and name.
_TOLD = "TAMIS_SERIALS"

# What the text of such units begins with. Alone it says that these are told at all.
_MARK = "#"
# Code gets a number in another way than by its name.
_GOT = _MARK + "*"
# Nothing is known of these numbers any more.
_LOST = _MARK + "?"


def install(agent):
    """Look at serial numbers whenever an import begins or ends."""
    told = agent.hidden_environment.get(_TOLD)
    if not told or agent.values is None or "TAMIS_SPAWN" in agent.hidden_environment:
        return
    serials = agent.serials = Serials(agent, told)
    importing, imported = agent.module_importing, agent.module_imported

    @guard
    def begins(path):
        serials.look()
        importing(path)

    @guard
    def ended(scope):
        imported(scope)
        serials.imported(scope)
        serials.look()

    agent.module_importing, agent.module_imported = begins, ended


def cells_of(agent):
    """Serial numbers, as cells. Tests that leave other ones do so without reading them."""
    return frozenset() if agent.serials is None else agent.serials.cells


class Serial:
    """One of them, of which the class may not be there yet."""

    def __init__(self, line):
        self.path, self.of, self.name = line.split("\t")
        self.place = None
        # The module and the class.
        self.globals = self.kind = None
        self.index = None


class Serials:
    """Those of the project."""

    def __init__(self, agent, told):
        self.agent = agent
        self._native = agent.collector.native
        self._all = [Serial(line) for line in told.split("\n")]
        self._names = {one.name for one in self._all}
        # Those of which the class is there.
        self._known = []
        self._is_told = False
        # How many modules there were when code was looked at, that code, and by file whether its source
        # was read.
        self._loaded = 0
        self._seen = set()
        self._read = {}
        # The same as cells.
        self.cells = frozenset((one.path, "%s.%s" % (one.of, one.name)) for one in self._all)

    def imported(self, scope):
        """Find the classes of a module that was imported."""
        path = self.agent.relative(scope.name)
        for one in self._all:
            if one.path == path:
                if one.index is not None or self.agent.values.is_over:
                    # Another class of the same source.
                    return self._lose()
                self._find(one, self.agent.values.modules.get(scope))

    def _find(self, one, module):
        kind = None if module is None else member_at(module, one.of)
        place = Place(module, "%s.%s" % (one.of, one.name))
        if not is_a(kind, type) or not _is_plain(kind) or place.number() is None:
            # It is not what the source says, so nobody knows who reads it.
            return self._lose()
        import copy

        class Slotted:
            __slots__ = ("__dict__",)

        one.place, one.globals, one.kind = place, vars(module), kind
        one.index = self._native.serial(
            kind,
            one.name,
            self.on_content,
            tuple(one.__code__ for one in (copy.copy, copy.deepcopy, copy._reconstruct)),
            (vars(Serials)["__dict__"], vars(Slotted)["__dict__"]),
            tuple(vars(object)[name] for name in _GETTING if name in vars(object)),
            operator.attrgetter,
        )
        self._known.append(one)

    def look(self):
        """An import begins or ends."""
        if not self.agent.values.is_over:
            self._tell(None)

    @guard
    def test_begins(self, test):
        if self._is_told and self._loaded != len(sys.modules) and self._is_spelled():
            return self._lose()
        self._tell(test)

    def _tell(self, test):
        for one in self._known:
            is_there = one.globals.get(one.of) is one.kind
            number = one.place.number() if is_there else None
            if not self._native.serial_is(one.index, number, test):
                return self._lose()

    def _lose(self):
        """A number is none that only tells the order."""
        for one in self._known:
            self._native.serial_is(one.index, None, None)
        self._known, self.cells = [], frozenset()
        if self._is_told:
            # Code that counts on has not said so.
            self.agent.note("reached", "", _LOST, self.agent.root_scope)
            if self.agent.left is not None:
                self.agent.left.give_up()

    def check(self):
        """All tests are found."""
        # Nothing is told of one that only tests import.
        if len(self._known) < len(self._all) or self._is_spelled():
            return self._lose()
        self.agent.note("reached", "", _MARK, self.agent.root_scope)
        self._is_told = True

    def _is_spelled(self):
        """Whether somebody spells such a number who stands in no source that was read, and so may do
        anything with it."""
        self._loaded = len(sys.modules)
        # Objects that ask for a name have it.
        if not self._names.isdisjoint(held_names()):
            return True
        for function in gc.get_objects():
            if type(function) is types.FunctionType and function.__code__ not in self._seen:
                code = function.__code__
                self._seen.add(code)
                if not self._is_read(code.co_filename) and _spells(code, self._names):
                    return True
        return False

    def _is_read(self, file):
        known = self._read.get(file)
        if known is None:
            known = self._read[file] = self._was_read(file)
        return known

    def _was_read(self, file):
        paths = self.agent.paths
        path = paths.code_file(file)
        if path is None:
            return paths.actor(file) == "agent"
        # Links to folders were not followed.
        real = self.agent.relative(os.path.realpath(path))
        if paths.place(path) != PROJECT or real[:1] == "/" or not real.endswith(".py"):
            return False
        folders = real.split("/")[:-1]
        above = (os.path.join(self.agent.root, *folders[:at]) for at in range(1, len(folders) + 1))
        return _OTHERS.isdisjoint(folders) and not any(
            os.path.exists(os.path.join(one, "pyvenv.cfg")) for one in above
        )

    def on_name(self, name, is_got):
        """Some code asks an object for a name that it has worked out, and gets what has it, or perhaps
        sets that."""
        if name in self._names and (not is_got or self.agent.reached.is_by_value()):
            self._lose()

    def on_content(self, is_set):
        """Some code gets all that an object holds, or will get a number by its name. `is_set`: it sets
        one so, or has another class in the place of that which counts."""
        reached, frame = self.agent.reached, sys._getframe(1)
        if reached.is_own(frame):
            return
        if is_set or reached.is_by_value():
            # What it makes of that others find.
            return self._lose()
        self.agent.note("reached", "", _GOT)


def _is_plain(kind):
    """Whether objects of a class hold what they have in a dictionary that no code in C looks into."""
    line = type.mro(kind)
    return type not in line and all(one is object or one.__flags__ & HEAP_TYPE for one in line)


# Folders in which `tamis` reads no sources.
_OTHERS = frozenset(("node_modules", "__pycache__", "site-packages"))

# Texts that code may ask objects for.
_NAMES = re.compile(r"[\w.]+")

# The methods of all objects that get all that they hold.
_GETTING = ("__reduce_ex__", "__getstate__")


def _spells(code, names):
    return any(
        not names.isdisjoint(one.co_names) or any(_names_one(text, names) for text in one.co_consts)
        for one in nested(code)
    )


def _names_one(constant, names):
    if type(constant) in (tuple, frozenset):
        return any(_names_one(one, names) for one in constant)
    if type(constant) is not str or not _NAMES.fullmatch(constant):
        return False
    return not names.isdisjoint(constant.split("."))

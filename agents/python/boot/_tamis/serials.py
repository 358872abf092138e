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
from .watch import is_a, member_at

# The variable with a line for each: path, class, name, and whether it is raised before an object
# gets it.
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
        self.path, self.of, self.name, is_first = line.split("\t")
        self.is_raised_first = bool(is_first)
        self.place = None
        self.index = None


class Serials:
    """Those of the project."""

    def __init__(self, agent, told):
        self.agent = agent
        self._native = agent.collector.native
        self._all = [Serial(line) for line in told.split("\n")]
        # Those of which the class is there.
        self._known = []
        self._is_told = False
        # The same as cells.
        self.cells = frozenset((one.path, "%s.%s" % (one.of, one.name)) for one in self._all)

    def imported(self, scope):
        """Find the classes of a module that was imported."""
        path = self.agent.relative(scope.name)
        if self.agent.values.is_over:
            return
        for one in self._all:
            if one.path == path and one.index is None:
                self._find(one, self.agent.values.modules.get(scope))

    def _find(self, one, module):
        kind = None if module is None else member_at(module, one.of)
        place = Place(module, "%s.%s" % (one.of, one.name))
        if not is_a(kind, type) or type in type.mro(kind) or place.number() is None:
            # It is not what the source says, so nobody knows who reads it.
            return self._lose()
        import copy

        class Slotted:
            __slots__ = ("__dict__",)

        one.place = place
        one.index = self._native.serial(
            kind,
            one.name,
            one.is_raised_first,
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
        self._tell(test)

    def _tell(self, test):
        for one in self._known:
            if not self._native.serial_is(one.index, one.place.number(), test):
                self._lose()

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
        """All tests are found. Whoever spells such a number and stands in no source that was read may
        do anything with it."""
        names = {one.name for one in self._all}
        # Nothing is told of one that only tests import. And objects that ask for a name have it.
        if len(self._known) < len(self._all) or not names.isdisjoint(held_names()):
            return self._lose()
        seen = set()
        for function in gc.get_objects():
            if type(function) is types.FunctionType and function.__code__ not in seen:
                code = function.__code__
                seen.add(code)
                if not self._is_read(code.co_filename) and _spells(code, names):
                    return self._lose()
        self.agent.note("reached", "", _MARK, self.agent.root_scope)
        self._is_told = True

    def _is_read(self, file):
        paths = self.agent.paths
        path = paths.code_file(file)
        if path is None:
            return paths.actor(file) == "agent"
        # Links to folders were not followed.
        real = self.agent.relative(os.path.realpath(path))
        return paths.place(path) == PROJECT and real[:1] != "/"

    def on_content(self):
        """Some code gets all that an object holds, or will get a number by its name."""
        reached, frame = self.agent.reached, sys._getframe(1).f_back
        if not reached.is_by_value() and (frame is None or not reached.is_own(frame)):
            self.agent.note("reached", "", _GOT)


# Texts that code may ask objects for.
_NAMES = re.compile(r"[\w.]+")

# The methods of all objects that get all that they hold.
_GETTING = ("__reduce_ex__", "__getstate__")


def _spells(code, names):
    for one in nested(code):
        if not names.isdisjoint(one.co_names):
            return True
        for text in one.co_consts:
            if type(text) is str and _NAMES.fullmatch(text):
                if not names.isdisjoint(text.split(".")):
                    return True
    return False

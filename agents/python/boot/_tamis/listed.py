"""Classes of which code gets all members at once: `vars(C)`, `dir(C)`, `C.__dict__`.

Which of them it then looks at nobody sees. So it reads every member of these classes, and of no
other one.
"""

import sys
import types

from .bytecode import attribute, steps_at
from .watch import is_a, member_at

# What the text of such a unit begins with. Alone it says that these are told at all.
_MARK = "{"
# Stands for all classes outside of the project.
_OUTSIDE = _MARK + "*"

_DICT = "__dict__"


class Listed:
    """Notes which classes those are."""

    def __init__(self, agent, reached):
        self.agent = agent
        self.reached = reached
        # Id of a code object, and offset in it -> the code, and whether it asks there for `__dict__`.
        self._places = {}

    def begin(self):
        """From now on they are told."""
        self.agent.note("reached", "", _MARK, self.agent.root_scope)

    def on_members(self, of):
        """Some code gets the members of the class `of`. The answer: whether that need not be told
        again before another scope begins."""
        if self.reached.is_by_value():
            return False
        frame = sys._getframe(1).f_back
        if self._wants_one(frame) or self.reached.is_for_items(frame):
            return False
        path, name = home_of(of, self.reached)
        if path is None:
            self.agent.note("reached", "", _OUTSIDE)
        elif name is not None:
            self.agent.note("reached", path, _MARK + name)
        return name is not None

    def _wants_one(self, frame):
        """Whether `frame` asks for a member by its name, which it spells, or is a part of the
        standard library that wants something for itself."""
        if not self._asks(frame):
            return False
        if self.reached.paths.actor(frame.f_code.co_filename) == "stdlib":
            return True
        return self.reached.asked_at(_DICT, frame) is not None

    def _asks(self, frame):
        """Whether `frame` itself is about to get the attribute, and calls nothing that does so."""
        code, at = frame.f_code, frame.f_lasti
        known = self._places.get((id(code), at))
        if known is None:
            (step,) = steps_at(code, at, 1)
            known = self._places[id(code), at] = code, attribute(code, *step) == _DICT
        return known[1]


def home_of(of, reached):
    """The path of the module of a class, `None` outside the project, and `module:Name`; `None` for one
    that does not stand there: it is a part of whatever leads to it."""
    name, qualified = _text(of, "__module__"), _text(of, "__qualname__")
    module = sys.modules.get(name)
    if not is_a(module, types.ModuleType):
        return None, None
    is_home = member_at(module, qualified) is of
    return reached.file_of(vars(module)), "%s:%s" % (name, qualified) if is_home else None


def _text(of, name):
    found = type.__dict__[name].__get__(of)
    return found if type(found) is str else ""

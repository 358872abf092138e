"""Whose docstrings code asks classes for: `C.__doc__`, `getattr(x, "__doc__")`, `inspect.getdoc(C)`.

Who spells `__doc__` in the project reads those of all classes. Others are seen: classes have a
descriptor for it. Not their instances, which answer with that of their class; so code of a library
that asks some object reads those of all classes, too.
"""

import sys
import types

from .bytecode import attribute, steps
from .listed import home_of
from .watch import is_a

# What the text of such a unit begins with. Alone it says that these are told at all.
_MARK = '"'
# Stands for all classes outside of the project.
_OUTSIDE = _MARK + "*"

_DOC = "__doc__"

# Parts of the standard library that ask whatever somebody gives them. Others ask classes, or what
# they made themselves.
_ASK_ANYTHING = ("inspect.py", "pydoc.py", "doctest.py", "cmd.py")


class ClassDocs:
    """Notes which classes those are."""

    def __init__(self, agent, reached):
        self.agent = agent
        self.reached = reached
        # Id of a code object -> the code, and whether it asks whatever it is given.
        self._asking = {}

    def begin(self):
        """From now on they are told."""
        self.agent.note("reached", "", _MARK, self.agent.root_scope)

    def on_docs(self, of):
        """Some code asks the class `of`, or an instance of it, or the code `of`, which is not the
        project's, may ask one. The answer: whether that need not be told again before another scope
        begins."""
        if is_a(of, types.CodeType):
            if self._asks_anything(of):
                if not self.reached.is_by_value():
                    self.agent.note("reached", "", "." + _DOC)
                return True
            return False
        if self.reached.is_by_value():
            return False
        file = sys._getframe(1).f_back.f_code.co_filename
        if self.reached.is_of_runner(file):
            return False
        path, name = home_of(of, self.reached)
        if path is None:
            # The standard library looks at its own.
            if self.reached.paths.actor(file) != "stdlib":
                self.agent.note("reached", "", _OUTSIDE)
            return False
        if name is not None:
            self.agent.note("reached", path, _MARK + name)
        return name is not None

    def _asks_anything(self, code):
        known = self._asking.get(id(code))
        if known is None:
            known = self._asking[id(code)] = code, self._may_ask(code)
        return known[1]

    def _may_ask(self, code):
        file = code.co_filename
        actor = self.reached.paths.actor(file)
        if actor == "stdlib":
            if not file.endswith(_ASK_ANYTHING):
                return False
        elif actor != "other" or self.reached.is_of_runner(file):
            return False
        return any(attribute(code, *step[1:]) == _DOC for step in steps(code))

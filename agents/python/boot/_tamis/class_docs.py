"""Whose docstrings code asks classes for: `C.__doc__`, `getattr(x, "__doc__")`, `inspect.getdoc(C)`.

Who has `__doc__` in a text reads those of all classes. Others are seen: classes have a descriptor for
it. Not their instances, which answer with that of their class; so code that asks some object reads
those of all classes, too, unless it asks nothing but its arguments, and these are no instances.
"""

import sys
import types
import weakref

from .bytecode import attribute, read_only, steps
from .listed import home_of
from .watch import HEAP_TYPE, is_a

# What the text of such a unit begins with. Alone it says that these are told at all.
_MARK = '"'
# Stands for all classes outside of the project.
_OUTSIDE = _MARK + "*"

_DOC = "__doc__"

# Code may ask whatever there is.
_ANY = "*"

# Parts of the standard library that ask whatever somebody gives them. Others ask classes, or what
# they made themselves.
_ASK_ANYTHING = ("inspect.py", "pydoc.py", "doctest.py", "cmd.py")


class ClassDocs:
    """Notes which classes those are."""

    def __init__(self, agent, reached):
        self.agent = agent
        self.reached = reached
        # Id of a code object -> the code, and whom it asks: `None` for nobody, or names of arguments, or
        # `_ANY`.
        self._asking = {}

    def begin(self):
        """From now on they are told."""
        self.agent.note("reached", "", _MARK, self.agent.root_scope)

    def on_docs(self, of):
        """Some code asks the class `of`, or an instance of it, or the code `of`, which runs now, may ask
        one. The answer: whether that need not be told again before another scope begins; `None` for
        code that may ask one when it runs the next time."""
        if is_a(of, types.CodeType):
            return self._on_code(of)
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
        # What was told once is held, and tests may want to see a class go.
        return False

    def _on_code(self, code):
        known = self._asking.get(id(code))
        if known is None:
            known = self._asking[id(code)] = code, self._asked_by(code)
        asked = known[1]
        if asked is None:
            return False
        if self.reached.is_by_value():
            return None
        if asked is not _ANY:
            frame = sys._getframe(2).f_back
            found = frame.f_locals if frame.f_code is code else {}
            if all(name in found and self._is_told(found[name]) for name in asked):
                return None
        self.agent.note("reached", "", "." + _DOC)
        return True

    def _is_told(self, thing):
        """Tells of a thing that is asked whose docstring it may answer with, unless that is told
        anyway; `False` if it may be any."""
        kind = type(thing)
        if kind in (types.FunctionType, type):
            return True
        # A metaclass has a docstring, which hides the descriptor.
        kind = thing if is_a(thing, type) else kind
        if not kind.__flags__ & HEAP_TYPE:
            return kind not in weakref.ProxyTypes
        path, name = home_of(kind, self.reached)
        if path is not None and name is not None:
            self.agent.note("reached", path, _MARK + name)
        # Others may stand for something else.
        return path is not None

    def _asked_by(self, code):
        file = code.co_filename
        if not any(attribute(code, *step[1:]) == _DOC for step in steps(code)):
            return None
        if self.reached.paths.code_file(file) is not None:
            return read_only(code, _DOC) or _ANY
        actor = self.reached.paths.actor(file)
        if actor == "stdlib":
            if not file.endswith(_ASK_ANYTHING):
                return None
        elif actor != "other" or self.reached.is_of_runner(file):
            return None
        return _ANY

"""Functions of which code asks how they can be called: for their code, their defaults, their
closure. And those that were called in a way that they cannot be.

Any other call of a function runs its code. So nobody else notices that its signature, its defaults
or its closure differ.
"""

import sys

from .watch import is_a

# What the text of such a unit begins with. Alone it says that these are told at all.
_MARK = "("
# A library asked, which may keep the answer for others.
_KEPT = _MARK + "*"

# The native helper takes no function with a longer name for one that can be told.
_LONGEST = 200

# What pytest asks tests and fixtures before it calls them.
_BEFORE_CALLS = "compat.py"


class Signatures:
    """Notes which functions those are, by their qualified names."""

    def __init__(self, agent, reached):
        self.agent = agent
        self.reached = reached

    def begin(self):
        """From now on they are told."""
        self.agent.note("reached", "", _MARK, self.agent.root_scope)

    def on_signature(self, of):
        """Some code asks the function `of`, or a call did not fit the function with this name."""
        if self.reached.is_by_value():
            return
        # A thread may call a function from C.
        frame = sys._getframe(1).f_back
        name = of
        if not is_a(of, str):
            if frame is not None and (self.reached.is_own(frame) or self._is_for_runner(frame)):
                return
            name = of.__qualname__
        self.read(name)
        if len(name) <= _LONGEST and self._is_by_library(frame):
            self.agent.note("reached", "", _KEPT + name, self.agent.root_scope)

    def read(self, name):
        """Something that says which function has this name is read."""
        if len(name) <= _LONGEST:
            self.agent.note("reached", "", _MARK + name)

    def _is_for_runner(self, frame):
        """Whether pytest itself asks: how tests and fixtures can be called makes their items."""
        if self.reached.is_for_items(frame):
            return True
        asking = self.reached.runner_of(frame)
        return asking is not None and asking.f_code.co_filename.endswith(_BEFORE_CALLS)

    def _is_by_library(self, frame):
        """Whether an installed package asks, perhaps through the standard library."""
        paths = self.reached.paths
        while frame is not None:
            file = frame.f_code.co_filename
            actor = paths.actor(file)
            if actor not in ("stdlib", "agent"):
                return actor == "other" and paths.code_file(file) is None
            frame = frame.f_back
        return False

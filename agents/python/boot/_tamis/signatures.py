"""Functions of which code asks how they can be called: for their code, their defaults, their
closure. And those that were called in a way that they cannot be.

Any other call of a function runs its code. So nobody else notices that its signature, its defaults
or its closure differ.
"""

import sys

from .watch import is_a

# What the text of such a unit begins with. Alone it says that these are told at all.
_MARK = "("

_LONGEST = 200


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
        name = of
        if not is_a(of, str):
            frame = sys._getframe(1).f_back
            # How tests and fixtures can be called makes their items.
            if self.reached.is_own(frame) or self.reached.is_for_runner(frame):
                return
            name = of.__qualname__
        if len(name) <= _LONGEST and name.isprintable():
            self.agent.note("reached", "", _MARK + name)

"""Notes which environment variables are read."""

import os
import sys

from . import envvars
from .agent import watcher

# The language of messages concerns every test once one asks for it: most tests of a program
# that translates its messages do, again and again.
_OF_ALL = frozenset(("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"))

# The variables that tamis sets for its own processes. They stay in the C environment, which
# children inherit, but `os.environ` does not show them.
_PASSED_ON = ("PYTHONPATH", "PYTEST_PLUGINS", "PYTHONHASHSEED")


def hide(agent):
    """Remove tamis's additions from `os.environ`, and keep them in `agent`."""
    data = os.environ._data
    seed = os.environ.get(envvars.SEED)
    for name in list(os.environ):
        if envvars.is_ours(name):
            agent.hidden_environment[name] = os.environ[name]
            del data[os.environ.encodekey(name)]
        elif name in _PASSED_ON:
            own = envvars.own_value(name, os.environ[name], agent.boot, seed)
            if own == os.environ[name]:
                continue
            if own is None:
                del data[os.environ.encodekey(name)]
            else:
                data[os.environ.encodekey(name)] = os.environ.encodevalue(own)


def install(agent):
    """Watch every way of reading `os.environ`."""
    kind = type(os.environ)
    plain_iterate = kind.__iter__
    # The names that an iteration over all variables is about to read.
    expected = []
    # Name -> the fingerprint of its initial value.
    values = {}
    # The names on which every test depends already, and pytest's own variable with the name of
    # the running test.
    settled = {"PYTEST_CURRENT_TEST"}
    environ, environb = os.environ, getattr(os, "environb", os.environ)

    @watcher
    def note(name):
        if isinstance(name, bytes):
            name = os.fsdecode(name)
        if isinstance(name, str) and agent.acts(sys._getframe(3)):
            scope = agent.top
            if name not in values:
                values[name] = envvars.fingerprint_of(name, agent.start_environment)
            value = values[name]
            if name in _OF_ALL and agent.role == "main":
                agent.note("env", name, value, agent.root_scope)
                settled.add(name)
            else:
                agent.note("env", name, value, scope)
                scope.variables.add(name)

    def getitem(self, key):
        if self is environ or self is environb:
            if expected and expected[-1] is key:
                expected.pop()
            else:
                del expected[:]
                if key.__class__ is not str or not (
                    key in settled or key in agent.top.variables
                ):
                    note(key)
        # The same code as in the standard library. Another call would cost most for missing
        # variables, because of the exception.
        try:
            value = self._data[self.encodekey(key)]
        except KeyError:
            raise KeyError(key) from None
        return self.decodevalue(value)

    def iterate(self):
        if self is not environ and self is not environb:
            yield from plain_iterate(self)
            return
        note("*")
        # An iteration over all variables then reads the values in the same order, as
        # `dict(os.environ)` does.
        names = list(plain_iterate(self))
        expected[:] = reversed(names)
        yield from names

    def copy(self):
        if self is not environ and self is not environb:
            return dict(self)
        note("*")
        return {self.decodekey(key): self.decodevalue(self._data[key]) for key in self._data}

    getitem.__name__, getitem.__qualname__ = "__getitem__", "_Environ.__getitem__"
    iterate.__name__, iterate.__qualname__ = "__iter__", "_Environ.__iter__"
    copy.__qualname__ = "_Environ.copy"
    kind.__getitem__ = getitem
    kind.__iter__ = iterate
    kind.copy = copy

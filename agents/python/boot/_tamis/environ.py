"""Which environment variables are read."""

import os
import sys

from . import envvars
from .agent import watcher

# What tamis sets for its own processes. It stays in the C environment, which
# children inherit, but `os.environ` does not show it.
_PASSED_ON = ("PYTHONPATH", "PYTEST_PLUGINS")


def hide(agent):
    """Take what tamis added out of `os.environ`, keep it in `agent`."""
    data = os.environ._data
    for name in list(os.environ):
        if envvars.is_ours(name):
            agent.hidden_environment[name] = os.environ[name]
            del data[os.environ.encodekey(name)]
        elif name in _PASSED_ON:
            own = envvars.own_value(name, os.environ[name], agent.boot)
            if own == os.environ[name]:
                continue
            if own is None:
                del data[os.environ.encodekey(name)]
            else:
                data[os.environ.encodekey(name)] = os.environ.encodevalue(own)


def install(agent):
    """Watch every way of reading `os.environ`."""
    kind = type(os.environ)
    plain_get = kind.__getitem__
    plain_iterate = kind.__iter__
    iterated = [None]
    watched = [os.environ, getattr(os, "environb", os.environ)]

    @watcher
    def note(name):
        if isinstance(name, bytes):
            name = os.fsdecode(name)
        if isinstance(name, str) and agent.acts(sys._getframe(3)):
            agent.note("env", name, envvars.fingerprint_of(name, agent.start_environment))

    def getitem(self, key):
        if key is not iterated[0] and any(self is one for one in watched):
            note(key)
        return plain_get(self, key)

    def iterate(self):
        if all(self is not one for one in watched):
            yield from plain_iterate(self)
            return
        note("*")
        try:
            for key in plain_iterate(self):
                # Whoever walks over all of them reads each value as well.
                iterated[0] = key
                yield key
        finally:
            iterated[0] = None

    def copy(self):
        if all(self is not one for one in watched):
            return dict(self)
        note("*")
        return {self.decodekey(key): self.decodevalue(self._data[key]) for key in self._data}

    getitem.__name__, getitem.__qualname__ = "__getitem__", "_Environ.__getitem__"
    iterate.__name__, iterate.__qualname__ = "__iter__", "_Environ.__iter__"
    copy.__qualname__ = "_Environ.copy"
    kind.__getitem__ = getitem
    kind.__iter__ = iterate
    kind.copy = copy

"""Which classes of libraries code of the project has registered with abstract classes of libraries.

What libraries register when they are imported is there whenever they are: it is no state. Of classes of the
project the values of the libraries tell.
"""

import abc
import sys
import types

from .agent import watcher
from .watch import is_a

_IMPORTS = "<frozen importlib"


class Registered:
    """Notes them, by name."""

    def __init__(self, agent):
        self.agent = agent
        self.pairs = set()

    def on_registered(self, kind, other):
        """`other` was registered with the class `kind`."""
        if self._is_of_project(kind) or self._is_of_project(other):
            return
        if not self._is_by_library(sys._getframe(1)):
            self.pairs.add("%s %s" % (_name(kind), _name(other)))

    def _is_of_project(self, kind):
        module = sys.modules.get(type.__dict__["__module__"].__get__(kind))
        file = vars(module).get("__file__") if is_a(module, types.ModuleType) else None
        return type(file) is str and self.agent.paths.code_file(file) is not None

    def _is_by_library(self, frame):
        """Whether a library does so that is being imported, and no code of the project on the
        way."""
        while frame is not None:
            file = frame.f_code.co_filename
            if file.startswith(_IMPORTS):
                return True
            if self.agent.paths.code_file(file) is not None:
                return False
            frame = frame.f_back
        return False


def install(agent):
    agent.registered = Registered(agent)
    tell = watcher(agent.registered.on_registered)
    function = abc._abc_register

    def registering(kind, other):
        answer = function(kind, other)
        tell(kind, other)
        return answer

    abc._abc_register = registering


def _name(kind):
    get = type.__dict__
    return "%s.%s" % (get["__module__"].__get__(kind), get["__qualname__"].__get__(kind))

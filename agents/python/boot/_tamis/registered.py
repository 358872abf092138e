"""Which classes of libraries others have registered with abstract classes of libraries.

What a module registers of its own while it is imported is there whenever the class can be asked for: it is no
state. What others register, another library, too, goes by whether they were imported. Of classes of the project the values
of the libraries tell.
"""

import abc
import sys
import types

from .agent import watcher
from .watch import is_a


class Registered:
    """Notes them, by name."""

    def __init__(self, agent):
        self.agent = agent
        self.pairs = set()

    def on_registered(self, kind, other):
        """`other` was registered with the class `kind`."""
        if self._is_of_project(kind) or self._is_of_project(other):
            return
        if not (_is_being_imported(kind) or _is_being_imported(other)):
            self.pairs.add("%s %s" % (_name(kind), _name(other)))

    def _is_of_project(self, kind):
        module = sys.modules.get(type.__dict__["__module__"].__get__(kind))
        file = vars(module).get("__file__") if is_a(module, types.ModuleType) else None
        return type(file) is str and self.agent.paths.code_file(file) is not None


def install(agent):
    agent.registered = Registered(agent)
    tell = watcher(agent.registered.on_registered)
    function = abc._abc_register

    def registering(kind, other):
        answer = function(kind, other)
        tell(kind, other)
        return answer

    abc._abc_register = registering


def _is_being_imported(kind):
    module = sys.modules.get(type.__dict__["__module__"].__get__(kind))
    spec = vars(module).get("__spec__") if is_a(module, types.ModuleType) else None
    return getattr(spec, "_initializing", False) is True


def _name(kind):
    get = type.__dict__
    return "%s.%s" % (get["__module__"].__get__(kind), get["__qualname__"].__get__(kind))

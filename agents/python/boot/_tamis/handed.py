"""Test classes that something has beside the module that defines them: another name, a container, or an
object that is kept. Whoever gets at such a class may do so without spelling its name.

PYTEST_DONT_REWRITE
"""

from .watch import is_a

# The program's own metaclasses are not asked.
_qualified_name = type.__dict__["__qualname__"].__get__
lines = type.__dict__["__mro__"].__get__


def simple_name(kind):
    """By which code spells a class."""
    return _qualified_name(kind).rpartition(".")[2]


class Handed:
    """Tells which they are, as a name that everybody spells."""

    def __init__(self, agent):
        self._agent = agent
        # By identity: those that were met before the tests were found, and the classes of these.
        self._met, self._of_tests = {}, None

    def met(self, kind, name=None):
        """Something leads to a class or to an object of it. `name`: if that is only a global or member
        of this name."""
        if name is not None and name.rpartition(".")[2] == simple_name(kind):
            return
        if self._of_tests is None:
            self._met[id(kind)] = kind
            return
        # An object of a class has what is in those above.
        for one in lines(kind):
            if self._of_tests.pop(id(one), None) is not None:
                self._agent.note("reached", "", "." + simple_name(one), self._agent.root_scope)

    def begin(self, items):
        """All tests are found."""
        kinds = [getattr(item, "cls", None) for item in items]
        self._of_tests = {id(kind): kind for kind in kinds if is_a(kind, type)}
        met, self._met = self._met, {}
        for kind in met.values():
            self.met(kind)

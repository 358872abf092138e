"""What tests of one function share: their parameters, and what their marks hold.

pytest makes these objects once, when it finds the tests. A test that changes one does so for
those that get it later.
"""

import sys

from .agent import guard
from .state import PLAIN


class Parameters:
    """The objects that items share, by test function: each has a scope, as a fixture has."""

    def __init__(self, agent):
        self.agent = agent
        # Id of a function's items without their parameters -> its scope; `None` if nothing that
        # these share can be changed.
        self._scopes = {}
        # Of marks that were looked at: id, and for which function.
        self._marks = set()

    @guard
    def watch(self, items):
        """Watch what these items hold from now on."""
        for item in items:
            name = _function_of(item)
            self._scopes.setdefault(name)
            found, cells = [], set()
            for node, mark in item.iter_markers_with_node():
                if (id(mark), name) not in self._marks:
                    self._marks.add((id(mark), name))
                    values = (mark.args, *mark.kwargs.values())
                    found += values
                    if not all(map(_is_constant, values)):
                        cells.update(self._cell_of(node))
            call = getattr(item, "callspec", None)
            if call is not None:
                found.extend(call.params.values())
            found = [value for value in found if not _is_constant(value)]
            if found:
                if self._scopes[name] is None:
                    self._scopes[name] = self.agent.new_scope("fixture", name)
                self.agent.state.shared_by_items(self._scopes[name], found, cells)

    def _cell_of(self, node):
        """The cell that holds the marks of a function or a class."""
        marked = getattr(node, "obj", None)
        module = sys.modules.get(getattr(marked, "__module__", None))
        path, name = getattr(module, "__file__", None), getattr(marked, "__qualname__", None)
        if isinstance(path, str) and isinstance(name, str):
            name += ".pytestmark" if isinstance(marked, type) else ""
            yield self.agent.paths.absolute(path), name

    def scope(self, item):
        """The scope that the test needs; `None` if there is none."""
        return self._scopes.get(_function_of(item))


def _function_of(item):
    return item.nodeid.partition("[")[0]


def _is_constant(value):
    if type(value) in (tuple, frozenset):
        return all(map(_is_constant, value))
    return type(value) in PLAIN

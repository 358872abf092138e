"""Test classes that a test cannot get at.

Fixtures and `setUpClass` set attributes of test classes, often to values that no other run has. Only
code that has the class, or an object of it, can read these, and the runner gives both to the class's
own tests alone. Another test spells the name of the class, or gets all of its module, or something
else has the class (see `handed`). Or else what it asks another object for is not it.

PYTEST_DONT_REWRITE
"""

from .confirm import file_of
from .handed import lines, simple_name
from .names import name_hash
from .watch import is_a


class Apart:
    """Which tests can get at the cells of test classes."""

    def __init__(self, agent, plan, collected):
        self._plan = plan
        # Class -> its path and qualified name, and its test -> the same with those above it; by path the
        # names of all; and by path and name the names by which code spells them.
        kinds, self._classes, self._own, self._spelled = {}, {}, {}, {}
        names = {}
        with_class = [item for item in collected if is_a(getattr(item, "cls", None), type)]
        for item in with_class:
            if id(item.cls) not in names:
                names[id(item.cls)] = set(map(simple_name, _with_subclasses(item.cls)))
            path, name = file_of(agent, plan, item), item.cls.__qualname__
            kinds.setdefault(id(item.cls), set()).add((path, name))
            self._classes.setdefault(path, set()).add(name)
            self._spelled.setdefault((path, name), set()).update(names[id(item.cls)])
        for item in with_class:
            above = (kinds.get(id(kind), set()) for kind in lines(item.cls))
            self._own[item.nodeid] = set().union(*above)
        self._holders = {}
        # Class -> the units that may get at it, and by number of a set the classes that these do.
        self._units = self._by_set = None

    def of(self, cells, test, units=()):
        """Those of `cells` that are not members of a test class which a test cannot get at. `units`: what
        it ran beside what its row has."""
        found = {cell: self._holder(cell) for cell in cells}
        others = set(found.values()) - {None} - self._own.get(test, set())
        if others:
            others -= self._got_at(test, units)
        return {cell for cell, holder in found.items() if holder not in others}

    def _holder(self, cell):
        """The test class that a cell is a member of."""
        if cell not in self._holders:
            path, name = cell
            classes = [one for one in self._classes.get(path, ()) if name.startswith(one + ".")]
            # Of nested ones the innermost.
            self._holders[cell] = (path, max(classes, key=len)) if classes else None
        return self._holders[cell]

    def _got_at(self, test, units):
        if self._units is None:
            self._find()
        found = {place for place, those in self._units.items() if not those.isdisjoint(units)}
        told = self._plan.tests.get(test)
        if told is not None:
            for number in (told.get("tied") or told).get("sets", ()):
                found |= self._by_set.get(number, set())
        return found

    def _find(self):
        plan = self._plan
        numbers = {path: at for at, path in enumerate(plan.paths)}
        self._units, by_unit, self._by_set = {}, {}, {}
        for place, names in self._spelled.items():
            units = plan.index.of(map(name_hash, names), (), ("anything",))
            units |= plan.index.leading_to(numbers.get(place[0]))
            self._units[place] = units
            for unit in units:
                by_unit.setdefault(unit, set()).add(place)
        known = by_unit.keys()
        for number, units in enumerate(plan.content["sets"]):
            for unit in known & units:
                self._by_set.setdefault(number, set()).update(by_unit[unit])


def _with_subclasses(kind):
    found = [kind]
    for one in found:
        found += type.__subclasses__(one)
    return found

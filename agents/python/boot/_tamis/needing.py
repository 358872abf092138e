"""Which sets of units of a plan need what earlier tests made: fixtures, caches, imported modules.

The units of a part name what that is by a hash.
"""


class Needing:
    """Finds what of it a set needs."""

    def __init__(self, content, index):
        self._sets = content["sets"]
        self._index = index
        # All hashes that were asked for, the units that have any of them, and those of sets.
        self._asked = frozenset()
        self._by_unit = {}
        self._by_set = {}

    def learn(self, hashes):
        """It will be asked for these."""
        new = self._asked.union(hashes)
        if len(new) == len(self._asked):
            return
        for one in new - self._asked:
            for unit in self._index.of((one,), (), ()):
                self._by_unit.setdefault(unit, set()).add(one)
        self._asked = new
        self._by_set = {}

    def of(self, number):
        """Which of the hashes that it knows a set has."""
        found = self._by_set.get(number)
        if found is None:
            units = self._by_unit.keys() & self._sets[number]
            found = frozenset().union(*map(self._by_unit.__getitem__, units))
            self._by_set[number] = found
        return found

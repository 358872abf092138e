"""Finds the units of a plan by what they may read."""

# What units tell of what they read without spelling it.
_FLAGS = ("anything", "members", "docstrings", "annotations")


class UnitIndex:
    """Which units may read something, by what they tell. It is asked at the turns of tests, of few
    differences and many units."""

    def __init__(self, units, sets):
        self.units = units
        self._sets = sets
        self._by_name = None
        self._annotating = None
        self._loose = None
        self._leading = None

    def of(self, hashes, paths, flags):
        """The units that read one of these names, look into one of these modules, or tell one of
        these flags."""
        if self._by_name is None:
            self._index()
        found = set()
        for known, wanted in (
            (self._by_name, hashes),
            (self._by_path, paths),
            (self._by_flag, flags),
        ):
            for one in wanted:
                found.update(known.get(one, ()))
        return found

    def annotating(self):
        """The sets with units that read annotations."""
        if self._annotating is None:
            units = self.of((), (), ("annotations",))
            sets = enumerate(self._sets) if units else ()
            self._annotating = {at for at, one in sets if not units.isdisjoint(one)}
        return self._annotating

    def loose(self, number):
        """Of each unit in a set that gets modules only if something hands these out: numbers of
        their paths, and whether pytest's `request` may do so."""
        if self._loose is None:
            units = {
                at: (frozenset(unit["loose"]), bool(unit.get("asks_runner")))
                for at, unit in enumerate(self.units)
                if unit.get("loose")
            }
            self._loose = {}
            for at, one in enumerate(self._sets) if units else ():
                found = units.keys() & one
                if found:
                    self._loose[at] = [units[unit] for unit in found]
        return self._loose.get(number, ())

    def leading_to(self, path):
        """The units that get all of a module, by the number of its path, or may if something hands it
        out."""
        if self._leading is None:
            self._leading = {}
            for number, unit in enumerate(self.units):
                for one in (*unit.get("holds", ()), *unit.get("loose", ())):
                    self._leading.setdefault(one, set()).add(number)
        return self._leading.get(path, set())

    def _index(self):
        self._by_name, self._by_path, self._by_flag = {}, {}, {}
        for number, unit in enumerate(self.units):
            for name in (*unit.get("names", ()), *unit.get("loads", ())):
                self._by_name.setdefault(name, []).append(number)
            for path in unit.get("holds", ()):
                self._by_path.setdefault(path, []).append(number)
            for flag in _FLAGS:
                if unit.get(flag):
                    self._by_flag.setdefault(flag, []).append(number)

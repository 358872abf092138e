"""The plan of `tamis select` by which tests are confirmed: what each can read.

PYTEST_DONT_REWRITE
"""

from .differences import Differences, Readings, among
from .names import name_hash
from .needing import Needing
from .unit_index import UnitIndex

# So many sets of cells are kept with who reads them.
_MOST_MET = 4


class Plan:
    """The `confirm` part of the file of `tamis select`."""

    def __init__(self, content, session, names):
        self.content = content
        self.session = session
        if not content.get("tells_serials", False):
            session.serials = frozenset()
        # Test -> names by which pytest reads cells for it.
        self._names = names
        self.paths = content["paths"]
        self.modules = [frozenset(self.paths[at] for at in one) for one in content["modules"]]
        self.asked = frozenset(content.get("asked", ()))
        self.leading = frozenset(content.get("leading", ()))
        self.tests = content["tests"]
        self.index = UnitIndex(content["units"], content["sets"])
        # By number of the matrix.
        self._differences = {}
        self._readings = {}
        self._earlier = {}
        # Cells that `meets` was asked about, and who reads them.
        self._met = {}
        # All that tests left, and who reads that.
        self._every = None
        self._fresh = None
        # Whose test classes cells belong to, once the tests are there.
        self.apart = None
        self.needing = Needing(content, self.index)

    def judge(self, test, part, file, names, changed):
        """`None` if the test is confirmed, else what is different. `part` tells what of it
        counts, `file` is the test's file, `names` are further names by which it reads cells,
        `changed` the late units that differ."""
        told = self.tests[test]
        if not changed.isdisjoint(told.get("late", ())):
            return "its environment differs"
        matrix = told["matrix"]
        if matrix not in self._differences:
            holders = self.content["matrices"][matrix]["holders"]
            found = Differences.of_import(holders, self.session, self.asked, self._tells_calls)
            self._differences[matrix] = found
            self._readings[matrix] = Readings(self.content, self.index, found)
        differences = self._differences[matrix]
        if differences.everywhere:
            return among(sorted(differences.everywhere))
        if test in differences.items:
            return "its parameters, marks or fixtures differ"
        named = ()
        if part.get("past"):
            differ, named = self._of_earlier(matrix)
            # Else what such a test made is not what it made.
            if differ and (part is told or part["past"] != "named"):
                return "the parameters, marks or fixtures of an earlier test differ"
        needed = self.modules[part["modules"]]
        doubtful = needed & self.session.doubtful
        if doubtful:
            return "the import of %s did more than leave values" % min(doubtful)
        return self._readings[matrix].tell(part, file, needed, names, named)

    def _tells_calls(self, function):
        """Whether records tell of all who know how a function can be called. What a library has asked it
        may have kept for others."""
        is_kept = self.index.of((name_hash("(*" + function),), (), ())
        return self.content.get("tells_calls", False) and not is_kept

    def other_items(self, matrix):
        """Tests to which pytest gives other parameters, marks or fixtures than in a record."""
        known = self._differences.get(matrix)
        return frozenset() if known is None else known.items

    def _of_earlier(self, matrix):
        """Of the tests whose code others may have: whether the items of any differ, and which
        differences pytest reads by name for one of these."""
        if matrix not in self._earlier:
            ties = self.content["matrices"][matrix].get("ties")
            tests = self._names.keys() if ties is None else ties["left"].keys()
            differ = not self._differences[matrix].items.isdisjoint(tests)
            names = {name for test in tests for name in self._names.get(test, ())}
            self._earlier[matrix] = differ, self._readings[matrix].by_names(names)
        return self._earlier[matrix]

    def tied(self, test):
        """What is told of a test without the earlier tests that it can meet something of; `None`
        if there are none, or all of them count as its own code."""
        return self.tests[test].get("tied")

    def part(self, test):
        """The same, or all that is told of it."""
        return self.tied(test) or self.tests[test]

    def needs_one(self, part, hashes):
        """Whether `part` of a test needs one of the scopes whose names have these hashes."""
        self.needing.learn(hashes)
        return any(not self.needing.of(number).isdisjoint(hashes) for number in part["sets"])

    def read_of(self, cells, test, file, names):
        """Those of `cells` that a test reads, but for settings of the process."""
        reading = self.reading(cells)
        found = reading.differences.found
        part = self.tied(test)
        read = {found[at].cell for at in reading.of(part, file, self.needed(part), names)}
        return self.apart.of(read, test)

    def read_by(self, cells, test, file, names):
        """The same with settings of the process, which every test reads."""
        settings = self.reading(cells).differences.settings
        return self.read_of(cells, test, file, names) | settings

    def reading(self, cells):
        # To compare large ones takes long.
        known = None if self._every is None else self._every[0]
        if known is not cells and known != cells:
            self._every = cells, self._left(cells)
        return self._every[1]

    def fresh(self, cells):
        """The same of cells that no record has: these are few."""
        if self._fresh is None or self._fresh[0] != cells:
            self._fresh = cells, self._left(cells)
        return self._fresh[1]

    def forget(self):
        """What is asked later is answered by what there is then."""
        self._every = self._fresh = None

    def _left(self, cells):
        found = Differences.of_tests(cells, self.session, self.asked)
        return Readings(self.content, self.index, found)

    def needed(self, part):
        return self.modules[part["modules"]] | self.modules[part["late_modules"]]

    def meets(self, cells, test, file, names):
        """What a test meets of `cells`, which earlier tests have left with another value; `None`
        if it cannot read any of them."""
        cells = frozenset(self.apart.of(cells, test))
        meeting = self._met.pop(cells, None)
        if meeting is None:
            meeting = self._left(cells)
            if len(self._met) == _MOST_MET:
                # The one that was asked for longest ago.
                del self._met[next(iter(self._met))]
        self._met[cells] = meeting
        everywhere = meeting.differences.everywhere
        if everywhere:
            return among(everywhere)
        part = self.part(test)
        return meeting.tell(part, file, self.needed(part), names)

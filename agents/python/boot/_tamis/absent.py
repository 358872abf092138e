"""Which tests run for what they leave, and whether a test that runs misses the others.

A test that leaves something need not run if nobody can read that: no test that runs, none that waits,
and none of those that run for them in turn. Nor need those run that one test needs if they are many: a
test that waits then runs, and what one leaves that runs counts for nothing. What a test reads is known
from the record if its own code is the same. Of others it is found out when they have ended.

PYTEST_DONT_REWRITE
"""

from .confirm import file_of, names_of
from .differences import Differences, Readings
from .names import name_hash
from .turns import hashes_of

# By which code may get at what it does not spell: what a collector tells of names that were asked for.
_LOOKING = frozenset(
    """vars dir getattr hasattr setattr delattr locals globals help eval exec execfile compile
    attrgetter methodcaller getmembers getmembers_static getattr_static classify_class_attrs
    getdoc render_doc get_overloads f_builtins __import__ __builtins__ __subclasses__ __dict__
    __dir__ __getattribute__""".split()
)


# As many tests run for one that runs anyway.
_MOST_FOR_ONE = 10


class Needs:
    """What the tests that leave something leave, and who needs that."""

    def __init__(self, agent, plan, settling, collected):
        self.agent = agent
        self.plan = plan
        self.order = settling.order
        self.items = {item.nodeid: item for item in collected}
        self.leaving = self.items.keys() & settling.recorded.keys()
        # Cell -> who leaves it.
        self.by_cell = {}
        for test in self.leaving:
            for cell in settling.recorded[test]:
                self.by_cell.setdefault(cell, []).append(test)
        differences = Differences.of_tests(self.by_cell, plan.session, plan.asked)
        self.reading = Readings(plan.content, plan.index, differences)
        self.differences = differences
        # Set -> who makes something that its units need.
        self.makers = {}
        by_hash = {}
        for test in self.leaving:
            made = [one for one in (settling.made.get(test) or "").split(",") if one]
            for one in hashes_of(made) | {name_hash("test " + test)}:
                by_hash.setdefault(one, []).append(test)
        for one, tests in by_hash.items():
            for number in plan.sets_that_need(one):
                self.makers.setdefault(number, set()).update(tests)
        self.made = by_hash
        # By test: who leaves something for it, and the same with all that those need.
        self._before = {}
        self._closed = {}
        self._all = {}

    def choose(self, runs, waiting):
        """The tests that run beside `runs` for what they leave, and those among `waiting` that wait:
        where more than half as many would have to run for some, these run at once."""
        needed = set()
        # What changes the process reaches everybody.
        for cell in self.by_cell.keys() - set(self.differences.cells):
            needed.update(self.by_cell[cell])
        needed |= self.of_all(needed)
        groups = {}
        for test in runs | waiting:
            groups.setdefault((test in runs, self.of(test)), []).append(test)
        # Those that run come first, and of each kind the cheapest.
        groups = sorted(groups.items(), key=lambda one: (not one[0][0], len(one[0][1])))
        is_new = True
        while is_new:
            is_new, left = False, []
            for (run, closure), tests in groups:
                most = max(_MOST_FOR_ONE, 2 * len(tests)) if run else len(tests) // 2
                if len(closure - needed - runs) <= most:
                    is_new = is_new or not closure <= needed
                    needed |= closure
                else:
                    left.append(((run, closure), tests))
            groups = left
        costly = {test for (run, _), tests in groups if not run for test in tests}
        return needed - runs, waiting - (costly - needed)

    def of_all(self, tests):
        """The tests that leave something which one of `tests` needs, or one of those themselves."""
        return set().union(*map(self.of, tests))

    def of(self, test):
        """The same of one test."""
        waiting = [test]
        while waiting:
            last = waiting[-1]
            if last not in self._before:
                place = self.order.get(last, -1)
                # A new one has no place.
                those = self._needed_by(last) if place >= 0 else ()
                self._before[last] = [one for one in those if self.order[one] < place]
            open_ones = [one for one in self._before[last] if one not in self._closed]
            if open_ones:
                # Each of these stands before it in the order.
                waiting.extend(open_ones)
                continue
            waiting.pop()
            before = self._before[last]
            closure = frozenset(before).union(*(self._closed[one] for one in before))
            # Many are equal.
            self._closed[last] = self._all.setdefault(closure, closure)
        return self._closed[test]

    def _needed_by(self, test):
        if test not in self.plan.tests:
            # Nobody knows what it reads.
            return self.leaving
        part = self.plan.tied(test) or self.plan.tests[test]
        found = set()
        for number in part["sets"]:
            found |= self.makers.get(number, set())
        item = self.items[test]
        needed = self.plan.modules[part["modules"]] | self.plan.modules[part["late_modules"]]
        file = file_of(self.agent, self.plan, item)
        for at in self.reading.of(part, file, needed, names_of(item)):
            found.update(self.by_cell[self.differences.cells[at]])
        return found


class Absent:
    """What the tests leave that do not run."""

    def __init__(self, agent, needs, absent):
        self.agent = agent
        self.tests = frozenset(absent)
        self.plan = needs.plan
        self._order = needs.order
        cells = {
            cell: min(self._order[test] for test in tests if test in self.tests)
            for cell, tests in needs.by_cell.items()
            if not self.tests.isdisjoint(tests)
        }
        # The place of the first test that leaves it.
        self._since = cells
        self._made = {
            one: min(self._order[test] for test in tests if test in self.tests)
            for one, tests in needs.made.items()
            if not self.tests.isdisjoint(tests)
        }
        self._differences = Differences.of_tests(cells, self.plan.session, self.plan.asked)
        self._reading = Readings(self.plan.content, self.plan.index, self._differences)
        self._readers = self.plan.content["readers"]
        self._told = {}
        self._by_unit = {}
        self._imports = None

    def is_missed(self, item, place, scopes, names, edges):
        """Whether a test at a place in the order may have read what absent tests before it leave.
        `scopes` began in its turn and have these `names`, hashed; `edges` are those of what they
        need."""
        made = self._made
        if any(made.get(one, place) < place for one in names | edges):
            return True
        read = set()
        for scope in scopes:
            if self._reads(scope, read):
                return True
        modules = self._modules(item, scopes)
        file = file_of(self.agent, self.plan, item)
        read |= set(self._reading.of({"sets": ()}, file, modules, names_of(item)))
        read = self._reading.in_modules(read, modules)
        cells = self._differences.cells
        return any(self._since[cells[at]] < place for at in read)

    def _modules(self, item, scopes):
        """The paths of the modules that a test can reach: of its file, what it imports itself, and
        what those import."""
        if self._imports is None:
            self._imports = {one.number: one for one in self.agent.values.modules}
        collected = self.agent.session.file_of(item)[2]
        found, seen = set(), set()
        waiting = [self.agent.root_scope, collected, *scopes]
        while waiting:
            scope = waiting.pop()
            if scope.kind in ("import", "collect"):
                found.add(self.agent.relative(scope.name))
            for number in scope.edges - seen:
                seen.add(number)
                if number in self._imports:
                    waiting.append(self._imports[number])
        return found

    def _reads(self, scope, read):
        """Adds to `read` what the code of a scope reads; `True`: perhaps anything."""
        codes, by_key = [], {}
        for number in scope.units:
            place = self.agent.code_places.get(number)
            if place is not None:
                codes.append(place)
                continue
            kind, path, value = self._unit(number)
            if kind in ("names", "module", "annotations", "docstring"):
                # Nobody knows which.
                return True
            if kind == "reached" and self._reaches(path, value, by_key, read):
                return True
        spans = set()
        for path, line, name in codes:
            path = self.agent.relative(path)
            if path not in self._readers:
                return True
            spans.add((path, *self._span(path, line)))
        marked = {}
        for (path, line), held in by_key.items():
            marked.setdefault((path, self._span(path, line)[0]), set()).update(held)
        for path, first, number in spans:
            if number is not None:
                read |= self._of_unit(number, marked.get((path, first), ()))
        return False

    def _unit(self, number):
        if number not in self._told:
            self._told = {known: key for key, known in list(self.agent._units.items())}
        return self._told.get(number, ("names", "", None))

    def _reaches(self, path, text, by_key, read):
        """The same of what was told besides code."""
        path = self.agent.relative(path)
        found = self._differences.cells
        if text[:2] == "[!":
            line, _, held = text[2:].split(" ")
            by_key.setdefault((path, int(line)), set()).add(held)
        elif text[:1] == "[":
            kind = text[1:].partition("[")[0] + "[]"
            wanted = {(path, text[1:]), (path, kind)}
            read.update(at for at, cell in enumerate(found) if cell in wanted)
        elif text == "*":
            return True
        else:
            word = text.lstrip(":.=?")
            if word in _LOOKING and text[:1] != "?":
                return True
            read.update(self._reading.by_names((word,)))
        return False

    def _span(self, path, line):
        """The first line of the function that code on a line belongs to, and the number of what it
        reads. What is in no function comes last."""
        for first, last, number in self._readers.get(path, ()):
            if first <= line <= last or first == 0:
                return first, number
        return 0, None

    def _of_unit(self, number, by_key):
        key = number, tuple(sorted(by_key))
        known = self._by_unit.get(key)
        if known is None:
            unit = dict(self.plan.content["units"][number])
            hashes = {name_hash(one) for one in by_key}
            unit["loads"] = [one for one in unit.get("loads", ()) if one not in hashes]
            known = self._reading.of_unit(unit)
            self._by_unit[key] = known
        return known

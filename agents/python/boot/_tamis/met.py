"""What a test that runs can read, whatever its row says: by the code that ran in its turn, and what
the agent was told of names that this worked out.

PYTEST_DONT_REWRITE
"""

from bisect import bisect_right

from .agent import MET
from .readers import NAMES as ANNOTATIONS

# Of what cannot be told in cells.
ANYTHING = None


class Met:
    """Takes in what happens since a turn began."""

    def __init__(self):
        # Numbers of code, and (kind, path, text) of what was told.
        self.code = set()
        self.notes = set()

    def add(self, scopes, agent):
        """Also what ran when these were made, whenever that was: they may hold what reads by names
        that stood there."""
        numbers = list(set().union(*(scope.units for scope in scopes)))
        told = agent.told(numbers)
        self.notes.update(one for one in told if one[0] in MET)
        self.code.update(number for number, one in zip(numbers, told) if one[0] == "code")


class Functions:
    """The functions of the project, and what they read, as the plan has them."""

    def __init__(self, plan):
        self._plan = plan
        # Path -> the first lines, and for each the last one and the number of a unit; that of the
        # module is apart.
        self._by_path, self._modules = {}, {}
        for number, functions in plan.content.get("functions", {}).items():
            path = plan.paths[int(number)]
            self._modules[path] = [unit for first, _, unit in functions if first == 0]
            functions = [one for one in functions if one[0] != 0]
            self._by_path[path] = [one[0] for one in functions], functions

    def at(self, path, line):
        """The first line and the unit of the function there; the line is 0 for code of the module
        itself. `None` if nobody knows."""
        if path not in self._by_path:
            return None
        lines, functions = self._by_path[path]
        found = bisect_right(lines, line) - 1
        if found >= 0 and line <= functions[found][1]:
            return lines[found], functions[found][2]
        return (0, self._modules[path][0]) if self._modules[path] else None


def read_of(met, agent, plan, reading, functions):
    """The cells of those that `reading` is about that a turn may have read; `ANYTHING` if nobody
    knows."""
    found = set()
    by_key = _read_by_key(met, plan)
    reads_annotations = any(map(_is_of_annotations, met.notes))
    for number in met.code:
        place = agent.code_places.get(number)
        if place is None:
            return ANYTHING
        path = plan.session.path(place[0])
        function = functions.at(path, place[1])
        if function is None:
            return ANYTHING
        line, unit = function
        reads_annotations |= reading.reads_annotations(unit)
        cells = reading.cells_of(unit)
        # Of a dictionary that it reads by key, the keys were told.
        found |= {cell for cell in cells if (path, line, cell) not in by_key}
    for kind, path, text in met.notes:
        cells = _of_note(kind, path, text, plan, reading)
        if cells is ANYTHING:
            return ANYTHING
        found |= cells
    return found | reading.cells_by_annotations() if reads_annotations else found


def units_of(met, agent, plan, functions):
    """The units of what ran in a turn, as far as the plan has them."""
    places = (agent.code_places.get(number) for number in met.code)
    found = (functions.at(plan.session.path(path), line) for path, line in filter(None, places))
    return {function[1] for function in found if function is not None}


def _is_of_annotations(note):
    kind, _, text = note
    return kind == "annotations" or kind == "reached" and text[1:] in ANNOTATIONS


def _read_by_key(met, plan):
    found = set()
    for kind, path, text in met.notes:
        if kind == "reached" and text[:2] == "[!":
            line, _, rest = text[2:].partition(" ")
            path = plan.session.path(path)
            found.add((path, int(line), (path, rest.rpartition(" ")[2])))
    return found


def _of_note(kind, path, text, plan, reading):
    every = reading.by_cell
    if kind == "annotations":
        return set()
    if kind == "docstring":
        return {cell for cell in every if "__doc__" in cell[1]}
    if kind != "reached":
        return ANYTHING
    path = plan.session.path(path) if path else path
    mark, name = text[:1], text[1:]
    if text == "*":
        return {cell for cell in every if cell[0] == path}
    if mark == "[":
        if name[:1] == "!":
            return set()
        name = name[:-1] if name[-1:] == "?" else name
        is_whole = "[" not in name
        return {
            cell
            for cell in every
            if cell[0] == path
            and (cell[1] in (name, name + "?") or is_whole and cell[1].startswith(name + "["))
        }
    if mark == '"':
        return {cell for cell in every if cell[1] == name.rpartition(":")[2] + ".__doc__"}
    if mark == "{":
        name = name.rpartition(":")[2]
        those = {cell for cell in every if name and cell[1].startswith(name + ".")}
        return {cell for cell in those if not cell[1].endswith(".__subclasses__")}
    if mark == "?":
        # Or that is the name of something that tests make.
        return set() if " " in name else _named(name, reading)
    if mark in ("=", ".") and name == "__doc__":
        return {cell for cell in every if "__doc__" in cell[1]}
    if mark in ("=", ".", ":"):
        return ANYTHING if name in plan.leading else _named(name, reading)
    # Code that was made while the test ran imports that, perhaps.
    return ANYTHING if text in plan.leading else _named(text, reading)


def _named(name, reading):
    return {reading.differences.found[at].cell for at in reading.by_names((name,))}


def modules_of(scope, file, met, agent, plan):
    """The paths of modules of which a test may have met something: those of the code that ran, its
    file, those that its turn imported, and what all these import."""
    by_number = {one.number: one for one in agent.values.modules}
    places = (agent.code_places.get(number) for number in met.code)
    files = {place[0] for place in places if place is not None}
    paths = {path: plan.session.path(path) for path in {one.name for one in agent.values.modules}}
    open_ones = [
        number
        for number, one in by_number.items()
        if one.name in files or paths[one.name] == file or one.name.endswith("conftest.py")
    ]
    open_ones.extend(by_number.keys() & scope.edges)
    seen = set()
    while open_ones:
        number = open_ones.pop()
        if number not in seen:
            seen.add(number)
            open_ones.extend(by_number.keys() & by_number[number].edges)
    return {paths[by_number[number].name] for number in seen}


def lasting(scope, agent):
    """The fixtures, caches and properties that a scope needs, perhaps made before its turn."""
    by_number = {one.number: one for one in list(agent.named_scopes.values())}
    by_number.update(agent.fixtures)
    open_ones, seen, found = list(scope.edges), set(), []
    while open_ones:
        number = open_ones.pop()
        if number in seen:
            continue
        seen.add(number)
        one = by_number.get(number)
        if one is not None and one.kind in ("fixture", "cache", "property"):
            found.append(one)
            if "[" in (one.extra or "") and one.kind == "cache":
                # Of some misses of a cache.
                whole = one.kind, one.name, one.extra.partition("[")[0]
                found.append(agent.named_scopes[whole])
            open_ones.extend(one.edges)
    return found

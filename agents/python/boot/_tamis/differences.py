"""Which tests need not run, because every cell that they can read has the
value of an earlier run.

The plan of `tamis select` names tests of which only code of other parts changed: code that ran
at import and reaches them by the values that it left. For each it tells what its own code can
read: names (by hash), modules that it holds, or anything. Cells whose values differ, or that
have none, are looked for first; then who reads one of them. Whoever cannot be decided runs.
"""

from .asked_in_c import held_names
from .difference import (
    HELD_BY_CLASSES,
    KINDS,
    NAMED,
    OF_FUNCTIONS,
    PROVIDER,
    Difference,
    asked_for,
    qualified_name,
    said,
)
from .names import name_hash
from .values import ITEMS, MODULES, PROCESS, is_plain

# What the interpreter asks of modules by itself.
_ASKED_OF_MODULES = frozenset(("__dir__", "__path__", "__class__"))

# Of a class these have readers of their own, all other names with two underlines are read by
# operators and statements.
_READ_BY_NAME = frozenset(("__annotations__", "__doc__", "__subclasses__"))

# What runs at exit: only by the name of that module a test can get at it.
_AT_EXIT = (PROCESS, "atexit")

# Who asks the garbage collector for objects meets all subclasses.
_LISTING_OBJECTS = ("get_objects", "get_referrers")


def _is_plain(value):
    return value is not None and is_plain(value)


def _is_of_new(key, before, after):
    """Whether a cell belongs to a function that only one of the two takings has."""
    owner, _, last = key.rpartition(".")
    if last not in OF_FUNCTIONS:
        return False
    here, there = (after, before) if key in after else (before, after)
    return owner in here and owner not in there


class Differences:
    """Cells that have not the value of the record."""

    def __init__(self, session, asked):
        self.session = session
        # Names of the asked in test files and `conftest.py`.
        self.asked = asked
        # Differences that count for all tests, as text.
        self.everywhere = []
        # Test ids whose items differ.
        self.items = set()
        # Cells of tests that are such: every test reads them.
        self.settings = set()
        self.found = []

    @classmethod
    def of_import(cls, recorded, session, asked, tells_calls):
        """What of one record's cells differs from this session's when all tests are found.
        `tells_calls`: of which functions records tell whoever knows how they can be called."""
        found = cls(session, asked)
        found._compare(recorded, tells_calls)
        found._judge()
        return found

    @classmethod
    def of_tests(cls, cells, session, asked):
        """`cells`, pairs of a path and a name, that tests have left with another value."""
        found = cls(session, asked)
        for path, name in sorted(cells):
            one = found._left(path, name)
            if one is None:
                found.settings.add((path, name))
            else:
                one.cell = path, name
                found.found.append(one)
        found._judge()
        for one in found.found:
            if one.key == "__subclasses__":
                # Those of classes that tests define and drop go when the collector comes. Only
                # who spells the name meets them.
                one.for_all = False
                one.kind = "subclasses"
                one.hashes.update(map(name_hash, _LISTING_OBJECTS))
        return found

    def _left(self, path, name):
        """What differs where tests have left a cell with another value; `None` if that counts for
        all tests."""
        if name.startswith("environ["):
            self.everywhere.append("the environment variable %s differs" % name[8:-1])
            return None
        if (path, name) == _AT_EXIT:
            return Difference("process", name, "")
        if path == MODULES:
            # Who asks for a module spells its name; who goes through all, `modules`.
            return Difference("sys", name.rpartition(".")[2] or "modules", "")
        if path[:1] == "*":
            self.everywhere.append("%s %s differs" % (path[1:], name))
            return None
        module = self.session.module_at(path)
        is_library = module is None and self.session.is_library(path)
        holder, _, key = name.rpartition(".")
        module = module or path
        holder = "%s:%s" % (module, holder) if holder else module
        # One of a library is read by whoever spells its name; one of a module that tests
        # import, by those who need that.
        one = Difference(holder, key, "" if is_library else path)
        if (path, name) in self.session.serials:
            one.be_serial()
        return one

    def _compare(self, recorded, tells_calls):
        then = {(name, path): dict(map(tuple, cells)) for name, path, cells in recorded}
        now = self.session.cells
        modules_then = {key for key in then if ":" not in key[0]}
        modules_now = {key for key in now if ":" not in key[0]}
        for holder in then.keys() | now.keys():
            name, path = holder
            before, after = then.get(holder), now.get(holder)
            if (before is None or after is None) and not name.startswith("*"):
                module = (name.partition(":")[0], path)
                if (module in modules_then) != (module in modules_now):
                    if ":" not in name:
                        self.found.append(Difference(name, None, path))
                    continue
            if before is None or after is None:
                if ":" in name:
                    # A class, or a library that was imported at one time only: what it did to
                    # others shows there.
                    self.found.append(Difference(name, None, path))
                    continue
                before, after = before or {}, after or {}
            for key in before.keys() | after.keys():
                value = before.get(key)
                if value is None or value != after.get(key):
                    are_plain = all(map(_is_plain, (value, after.get(key))))
                    are_plain = are_plain and tells_calls(qualified_name(name, key))
                    self._add(name, key, path, _is_of_new(key, before, after), are_plain)

    def _add(self, name, key, path, is_of_new, are_plain):
        why = self.session.why.get((name, path, key))
        if name == ITEMS:
            self.items.add(key)
        elif name == MODULES:
            # An import asks for the last part of a module's name.
            self.found.append(Difference("sys", key.rpartition(".")[2], path))
        elif (name, key) == _AT_EXIT:
            self.found.append(Difference("process", key, ""))
        elif path == "" or name.startswith("*"):
            # A library has one value. It has no order of names, whose key this would be of a
            # module of the project.
            text = ("%s %s" % (name.lstrip("*"), key)).strip().replace("lib:", "the library ")
            self.everywhere.append(said(text, why))
        else:
            self.found.append(Difference(name, key, path, why))
            self.found[-1].is_plain = are_plain
            if is_of_new:
                self.found[-1].be_text()
            elif are_plain and key != "__subclasses__":
                self.found[-1].be_called()
            elif (path, qualified_name(name, key)) in self.session.serials:
                self.found[-1].be_serial()

    # -- who reads it -------------------------------------------------------

    def _judge(self):
        asked_by_libraries = []
        are_asked = any(one.is_of_class() for one in self.found) and "__doc__" in held_names()
        for one in self.found:
            if are_asked and one.is_of_class():
                one.for_all = True
            if one.kind == "class":
                # Who reads an instance or a subclass of it reads another cell, too.
                one.for_all = self.session.is_found_by_base(one.name)
                continue
            if one.kind not in ("member", "global", "call", "serial") or one.path == "":
                continue
            if one.key in self.asked or one.key.startswith("pytest_"):
                one.for_all = True
            elif one.kind == "call":
                # Who calls it runs its code.
                continue
            elif one.kind == "global":
                one.for_all = one.key in _ASKED_OF_MODULES
            elif self._is_implicit(one):
                one.for_all = True
            elif one.key != "__subclasses__":
                asked_by_libraries.append(one)
        if asked_by_libraries:
            spelled = self.session.spelled_by_libraries({one.key for one in asked_by_libraries})
            spelled |= self.session.asked_by_name()
            for one in asked_by_libraries:
                one.for_all = one.key in spelled

    def _is_implicit(self, one):
        """Whether operators, statements or a class outside the project may read this member."""
        key = one.key
        kind = self.session.find_class(one.name)
        if key == "__subclasses__":
            # `isinstance` asks the subclasses of an abstract class.
            is_asked = kind is not None and "_abc_impl" in vars(kind) and not one.is_plain
            is_asked = is_asked or one.is_plain and self.session.asks_for_subclasses()
            return is_asked or self.session.is_found_by_base(one.name)
        if key in ("<bases>", "_abc_impl"):
            return True
        if key[:2] == "__" and key[-2:] == "__" and key not in _READ_BY_NAME:
            return True
        return kind is None or self.session.is_asked_by_base(kind, key)


class Readings:
    """Which differences each unit and each set of units reads."""

    def __init__(self, content, index, differences):
        self.units = content["units"]
        self.index = index
        self.sets = content["sets"]
        self.paths = content["paths"]
        self.differences = differences
        found = differences.found
        self._by_hash = {}
        self._by_path = {}
        for at, one in enumerate(found):
            for number in one.hashes:
                self._by_hash.setdefault(number, []).append(at)
            # How a test is marked matters to pytest, and to who spells the test.
            if one.path and one.kind not in ("marks", "subclasses", "serial"):
                self._by_path.setdefault(one.path, []).append(at)
        self._hashes = frozenset(self._by_hash)
        # Number of a path, and what differs there.
        self._held = [
            (number, self._by_path[path])
            for number, path in enumerate(self.paths)
            if path in self._by_path
        ]
        # pytest asks the test's own file for much that this lacks.
        self._providers = {
            one.path: at
            for at, one in enumerate(found)
            if one.kind == "global" and one.key == PROVIDER
        }
        every = {kind: set() for kind in KINDS}
        for at, one in enumerate(found):
            every[one.kind].add(at)
        # Whether records tell who asks classes for docstrings.
        self._tells_docs = content.get("tells_docs", False)
        self._by_flag = {
            "anything": set(range(len(found)))
            - every["marks"]
            - every["subclasses"]
            - every["serial"],
            "members": every["member"]
            | {at for at in every["shape"] if ":" in found[at].name}
            | {at for at, one in enumerate(found) if one.key in HELD_BY_CLASSES},
            "docstrings": {at for at in every["docs"] if not self._is_told(found[at])},
        }
        self._annotations = None
        # Whether records tell of whom code gets all members.
        self._tells = content.get("tells_calls", False)
        # The units that can get a global that holds a module.
        self._getters = None
        self._by_kind = every
        # Of a module that is there at one time only, the importers decide.
        self._counts_everywhere = every["module"] | {
            at for at, one in enumerate(found) if one.path == ""
        }
        self._for_all = {}
        for at, one in enumerate(found):
            if one.for_all:
                self._for_all.setdefault(one.path, set()).add(at)
        self._conftests = [path for path in self._by_path if _file_name(path) == "conftest.py"]
        self._read_by_set = {}
        self._read_by_unit = {}
        # The cells that tests leave of which the differences are: all, those of no module, and those
        # that whoever has the module reads; and by unit.
        self.by_cell = {one.cell for one in found}
        self.everywhere = {found[at].cell for at in self._counts_everywhere}
        self.read_by_all = {one.cell for one in found if one.for_all}
        self._cells_of = {}
        self._reading = None

    def _is_told(self, one):
        """Whether the collector tells of all who ask a class for its docstring, this cell. Of others a
        metaclass of the project may answer."""
        session = self.differences.session
        kind = session.find_class(one.name) if one.is_of_class() else None
        is_plain = kind is not None and not any(map(session.is_own, type.mro(type(kind))))
        return self._tells_docs and is_plain

    def _of_loose(self, told, names):
        """What differs in modules that a test gets only if something hands them out."""
        read = set()
        for number in told.get("sets", ()) if self._by_path else ():
            for paths, asks_runner in self.index.loose(number):
                # Few differ, and a unit may lead to hundreds.
                those = [at for path, at in self._held if path in paths]
                if not those:
                    continue
                those = {one for at in those for one in at}
                if asks_runner and "request" in names:
                    read |= those
                    continue
                are_loose, named = self.differences.session.loose_modules()
                if are_loose or named and self._gets_one(told, named):
                    read |= those
        return read

    def _gets_one(self, told, named):
        """Whether code of a test can get one of the globals `named`: pairs of path and name."""
        if self._getters is None:
            hashes = {}
            for path, name in named:
                hashes.setdefault(name_hash(name), set()).add(path)
            self._getters = {
                number for number, unit in enumerate(self.units) if self._gets(unit, hashes)
            }
        return any(
            not self._getters.isdisjoint(self.sets[number]) for number in told.get("sets", ())
        )

    def _gets(self, unit, hashes):
        if unit.get("anything"):
            return True
        if not hashes.keys().isdisjoint(unit.get("names", ())):
            return True
        file = unit.get("file")
        path = None if file is None else self.paths[file]
        if any(path in hashes[one] for one in hashes.keys() & set(unit.get("loads", ()))):
            return True
        held = {self.paths[at] for at in unit.get("holds", ())}
        return any(not held.isdisjoint(paths) for paths in hashes.values())

    def _of_unit(self, unit):
        read = set()
        for number in self._hashes.intersection(unit.get("names", ())):
            read.update(self._by_hash[number])
        loads = self._hashes.intersection(unit.get("loads", ()))
        if loads:
            file = unit.get("file")
            path = None if file is None else self.paths[file]
            read.update(
                at
                for number in loads
                for at in self._by_hash[number]
                if self._is_loaded_from(path, self.differences.found[at])
            )
        for at in unit.get("holds", ()):
            read.update(self._by_path.get(self.paths[at], ()))
        self._add_flags(read, unit)
        return read

    def _add_flags(self, read, told):
        for flag, those in self._by_flag.items():
            if those and told.get(flag):
                read |= those

    @staticmethod
    def _is_loaded_from(path, one):
        """Whether code in `path` that loads a global name of that kind may get it there. A
        module or class may be bound to the name under another one."""
        return one.path in (path, "") if one.kind == "global" else one.kind in NAMED

    def _by_annotations(self):
        """What those read who read annotations: these, what their text means to whoever
        evaluates it, and members of classes."""
        if self._annotations is None:
            found = self.differences.found
            named = {at: one for at, one in enumerate(found) if one.kind in NAMED}
            members = {at: asked_for(found[at].key) for at in self._by_flag["members"]}
            wanted = {name for one in named.values() for name in one.names}.union(*members.values())
            session = self.differences.session
            told = session.spelled_by_annotations(wanted) if wanted else (set(), set())
            spelled, annotated = told
            spelled = {at for at, one in named.items() if not spelled.isdisjoint(one.names)}
            # Of a class that has annotations it may ask for what these are about. Of whom it gets all
            # members it tells.
            if self._tells:
                members = {at for at, names in members.items() if not names.isdisjoint(annotated)}
            self._annotations = self._by_kind["annotations"].union(members, spelled)
        return self._annotations

    def _of_set(self, number):
        read = self._read_by_set.get(number)
        if read is None:
            read = set()
            # Large suites have millions of units in sets, and few read a difference.
            for unit in self._reading_units().intersection(self.sets[number]):
                read |= self._unit(unit)
            self._read_by_set[number] = read
        return read

    def _reading_units(self):
        if self._reading is None:
            held = [number for number, _ in self._held]
            flags = [flag for flag, those in self._by_flag.items() if those]
            may = self.index.of(self._hashes, held, flags)
            self._reading = {unit for unit in may if self._unit(unit)}
        return self._reading

    def _unit(self, number):
        read = self._read_by_unit.get(number)
        if read is None:
            read = self._read_by_unit[number] = self._of_unit(self.units[number])
        return read

    # -- of cells that tests leave ------------------------------------------

    def cells_of(self, unit):
        """Those that a unit of the plan reads, in whatever module, and those where it may look if
        something put a module there."""
        known = self._cells_of.get(unit)
        if known is None:
            found = self.differences.found
            known = {found[at].cell for at in self._unit(unit)}
            loose = {self.paths[at] for at in self.units[unit].get("loose", ())}
            known.update(one.cell for one in found if loose and one.path in loose)
            self._cells_of[unit] = known
        return known

    def reads_annotations(self, unit):
        """Whether a unit of the plan does so."""
        return bool(self.units[unit].get("annotations"))

    def cells_by_annotations(self):
        """Those that whoever reads annotations may read."""
        return {self.differences.found[at].cell for at in self._by_annotations()}

    def by_names(self, names):
        """The differences that pytest reads by one of these names. Not marks: those of the items are
        compared."""
        found = set()
        for number in self._hashes.intersection(map(name_hash, names)):
            found.update(self._by_hash[number])
        return found - self._by_kind["marks"]

    def tell(self, told, file, needed, names, named=()):
        """Which differences a test reads, as text; `None` if there are none. `named`: those that
        somebody reads for it by a name."""
        found = self.differences.found
        if not found:
            return None
        # What annotations mean costs much to find out, and few tests read any.
        read = self._known(told, file, needed, names, named) or self._annotated(told, needed)
        return among(sorted(str(found[at]) for at in read)) if read else None

    def of(self, told, file, needed, names, named=()):
        """The differences that a test reads."""
        if not self.differences.found:
            return ()
        return self._known(told, file, needed, names, named) | self._annotated(told, needed)

    def _annotated(self, told, needed):
        """Those that it reads as it reads annotations."""
        reads = self._reads_annotations(told)
        return self._needed(self._by_annotations(), needed) if reads else set()

    def _known(self, told, file, needed, names, named):
        """All others that it reads."""
        read = set(named)
        for number in told.get("sets", ()):
            read |= self._of_set(number)
        read |= self._of_loose(told, names)
        read |= self.by_names(names)
        if file in self._providers:
            read.add(self._providers[file])
        self._add_flags(read, told)
        read = self._needed(read, needed)
        for path, those in self._for_all.items():
            if path in needed:
                read |= those
        for path in self._conftests:
            directory = path[: -len("conftest.py")]
            if path in needed or file.startswith(directory):
                read.update(self._by_path[path])
        return read

    def _needed(self, read, needed):
        """Those of `read` that are in modules which the test needs."""
        found = self.differences.found
        return {at for at in read if found[at].path in needed or at in self._counts_everywhere}

    def _reads_annotations(self, told):
        return told.get("annotations") or any(
            number in self.index.annotating() for number in told.get("sets", ())
        )


def _file_name(path):
    return path.rpartition("/")[2]


def among(texts):
    """For people: one of them, and how many more."""
    more = len(texts) - 1
    return "%s%s" % (texts[0], ", and %d more" % more if more else "")

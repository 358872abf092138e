"""What the project's code reaches by names that no source of it spells: generated code tells its
own names, and frames hand out the names of modules and the lines of files. And which docstrings
are read, by whatever code.

Only the native collector sees frames and reads of docstrings. Without it, code that names frames
counts as code that can reach anything.
"""

import builtins
import functools
import opcode
import os
import re
import sys
import types

from .agent import watcher
from .asked_in_c import names_in
from .bytecode import attribute, steps, steps_at
from .class_docs import ClassDocs
from .listed import Listed
from .readers import Readers
from .signatures import Signatures
from .watch import is_a, member_at

# `exec`, `eval`, and what else runs or makes code; and what a pickle gets by its name.
EVENTS = (
    "exec",
    "compile",
    "code.__new__",
    "function.__new__",
    "object.__setattr__",
    "marshal.dumps",
    "pickle.find_class",
)

# `CO_OPTIMIZED`: code with variables of its own, as functions have.
_OPTIMIZED = 1

_WORDS = re.compile(r"[\w.,:\s]*\Z")
_WORD = re.compile(r"[^\W\d]\w*")

_OPERATIONS = opcode.opmap
_GLOBAL = _OPERATIONS["LOAD_GLOBAL"]
_IMPORT = _OPERATIONS["IMPORT_NAME"]
_IMPORT_FROM = _OPERATIONS["IMPORT_FROM"]
_ATTRIBUTE = _OPERATIONS["LOAD_ATTR"]
_CONSTANT = _OPERATIONS["LOAD_CONST"]
# Not in every version.
_METHOD = _OPERATIONS.get("LOAD_METHOD", -1)
_SUBSCRIPT = _OPERATIONS.get("BINARY_SUBSCR", -1)
_CALLS = frozenset(_OPERATIONS.get(name, -1) for name in ("PRECALL", "CALL", "CALL_METHOD"))
_STORES = frozenset((_OPERATIONS["STORE_NAME"], _OPERATIONS["STORE_GLOBAL"]))
_LOADING = frozenset(
    _OPERATIONS.get(name) for name in ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS")
)

# `CO_HAS_DOCSTRING`: whether the first constant is one.
_HAS_DOCSTRING = 0x4000000 if sys.version_info >= (3, 14) else 0

# Without telling the native helper of it.
_constants = types.CodeType.co_consts.__get__

# Who copies docstrings: those of the copies count where they are read. What the agent itself
# looks at is for nobody; pytest shows the docstrings of fixtures.
_COPY = functools.update_wrapper.__code__
_OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep
_OF_RUNNER = re.compile(r"[/\\](_pytest|pluggy)[/\\]")

# Code that asks for more names, or for longer ones, may ask for any.
_MOST_NAMES = 500
_LONGEST = 200

# As many decorators as the native helper follows.
_MOST_WRAPPERS = 16

# When pytest looks for tests.
_COLLECTING = frozenset(("session", "collect"))

# The import system runs modules, and pytest those that it rewrites: they have files.
_IMPORTS = frozenset(("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>"))


def install(agent):
    """Watch frames from now on. Events come by way of `files`."""
    agent.reached = Reached(agent)
    native = getattr(agent.collector, "native", None)
    agent.reached.readers.begin(native is not None)
    if native is not None:
        reached = agent.reached
        watched = reached.on_frame, reached.on_docstring, reached.on_annotations
        listed = Listed(agent, reached)
        signatures = reached.signatures = Signatures(agent, reached)
        docs = ClassDocs(agent, reached)
        watched += listed.on_members, signatures.on_signature, docs.on_docs
        native.watch_frames(*map(watcher, watched))
        listed.begin()
        docs.begin()
        signatures.begin()
        if not native.watch_attributes(watcher(reached.on_attribute), builtins, _COPY):
            reached.ask_for_any(agent.root_scope)


class Reached:
    """Turns reads of frames, and generated code that runs, into units."""

    def __init__(self, agent):
        self.agent = agent
        self.paths = agent.paths
        # What the project called the source of code that it compiled.
        self.compiled = set()
        # Id of code and offset in it -> the code, and what is asked for there.
        self._asked = {}
        # Id of a docstring that was copied -> the text, and the code that it is of.
        self.copied = {}
        # The scope that asked for attributes last, in which turn, and for which.
        self._asking = None, None, set()
        # File of code -> whether the test runner's or the agent's code is in it.
        self._runners = {}
        # The module that a pickle is about to get, and for whom.
        self._unpickling = None
        self.readers = Readers(agent, self)
        # Only the native helper tells who asks for those.
        self.signatures = None

    def on_frame(self, name, frame):
        """Code of the project gets the attribute `name` of `frame` (or of a traceback there), of
        a code object, or of a function."""
        if name == "__globals__":
            names = frame.__globals__
        elif name in ("f_globals", "f_locals"):
            names = frame.f_globals
        else:
            code = getattr(frame, "f_code", frame)
            path = self.paths.code_file(code.co_filename)
            if path is not None:
                self.agent.note_file(path)
            return
        key = self.asked_at(name, sys._getframe(1).f_back)
        if key is not None:
            path = self.file_of(names)
            if is_a(names.get(key), types.ModuleType):
                # What comes next can ask that for any name, in ways that nobody sees.
                self.agent.note("names", "*")
            elif path is not None and key:
                self.agent.note("reached", path, "." + key)
            return
        if name == "f_locals" and frame.f_code.co_flags & _OPTIMIZED:
            held = list(frame.f_locals.values())
            for module in held:
                if is_a(module, types.ModuleType):
                    self._all_of(vars(module))
            return
        self._all_of(names)

    def asked_at(self, name, reader):
        """The text that `reader` asks the names for that it is about to get: `x["name"]`,
        `x.get("name")`. `None` if it does something else with them."""
        # The hash of code goes through all of it.
        code, at = reader.f_code, reader.f_lasti
        known = self._asked.get((id(code), at))
        if known is None:
            first, *rest = steps_at(code, at, 4)
            is_plain = first[0] == _ATTRIBUTE and attribute(code, *first) == name
            known = code, _asked_in(code, rest) if is_plain else None
            self._asked[id(code), at] = known
        return known[1]

    def _all_of(self, names):
        """The project got hold of `names`, perhaps those of a module."""
        path = self.file_of(names)
        if path is not None:
            module = sys.modules.get(names.get("__name__"))
            if path.endswith(".py") or is_a(module, types.ModuleType) and vars(module) is names:
                self.agent.note("reached", path, "*")

    def look_at_module(self, scope):
        """Code of the project that calls a module passes it on. From its source nobody knows, as hardly
        any module can be called. Returns whether the one with this scope can."""
        if not callable(sys.modules.get(scope.extra)):
            return False
        path = self.paths.code_file(scope.name)
        if path is not None:
            self.agent.note("reached", path, "*", self.agent.root_scope)
        return path is not None

    def look_at_modules(self):
        """Others may have given modules a class after their import. Returns whether any can be called."""
        return any([self.look_at_module(one) for one in list(self.agent.module_scopes.values())])

    def file_of(self, names):
        file = names.get("__file__")
        return self.paths.code_file(file) if type(file) is str else None

    def on_attribute(self, name, is_got):
        """Code of the project asks an object for `name`, by a built-in function, and gets what has
        it or not. `is_got` is `False` if `name` is a text for `str.format`. The answer: whether it
        need not be told again before another scope begins."""
        if is_got is False:
            return all([self.on_attribute(one, True) for one in names_in(name)])
        if self.agent.serials is not None:
            self.agent.serials.on_name(name, is_got)
        scope, met = self.agent.top, self.agent.met
        if scope is not self._asking[0] or met is not self._asking[1]:
            self._asking = scope, met, set()
        names = self._asking[2]
        # The native helper tells the same ones again and again where others run in between.
        name = ("=" if is_got else "?") + name
        if name in names:
            return True
        if len(names) > _MOST_NAMES or len(name) > _LONGEST or not name.isprintable():
            self.ask_for_any(scope)
        else:
            names.add(name)
            self.agent.note("reached", "", name)
        return True

    def ask_for_any(self, scope):
        """It looks up names, and nobody knows which."""
        self.agent.note("reached", "", ":vars", scope)

    def on_docstring(self, of, found):
        """Some code gets the docstring `found` of a function, or the constants of a code
        object."""
        frame = sys._getframe(1).f_back
        reader = frame.f_code
        if reader is not _COPY and type(of) is types.FunctionType:
            own = of.__code__
            if _docstring(own) is found and self._path_of(own) is None:
                # Most docstrings are those of libraries, which nobody edits.
                return
        file = reader.co_filename
        is_idle = self.is_by_value() or self.is_of_runner(file)
        # What wraps a fixture.
        is_idle = is_idle or reader is _COPY and self.is_for_runner(frame)
        if is_idle and reader is not _COPY:
            return
        code = of if is_a(of, types.CodeType) else _origin(of, found)
        if reader is _COPY:
            if code is not None and found is not None:
                self.copied.setdefault(id(found), (found, set()))[1].add(code)
        if is_idle:
            return
        if code is not None:
            self._docstring_of(code)
            return
        origins = self.copied.get(id(found), (None, ()))[1]
        for origin in origins:
            self._docstring_of(origin)
        those = origins or (of.__code__,)
        # Libraries look at each other when they are imported.
        is_of_libraries = self.agent.top.kind == "session" or origins
        is_of_libraries = is_of_libraries and self.paths.code_file(file) is None
        if not is_of_libraries or any(self._path_of(one) is not None for one in those):
            self.agent.note("docstring", "", "*")

    def on_annotations(self, of, found):
        """Some code gets the annotations of a function, or what computes them, and so on: see
        `Readers`."""
        frame = sys._getframe(1).f_back
        if is_a(of, types.CodeType):
            self.readers.on_code(of)
        else:
            self.readers.on_read(of, found, frame)

    def is_for_runner(self, frame):
        """Whether pytest asks, perhaps through the standard library: what it reads of tests and
        fixtures counts anyway."""
        return self.runner_of(frame) is not None

    def is_for_items(self, frame):
        """Whether pytest asks while it looks for tests. Later it also calls what others ask for a test
        (`patch.object(…, autospec=True)`)."""
        return self.agent.top.kind in _COLLECTING and self.is_for_runner(frame)

    def runner_of(self, frame):
        """The frame of pytest that asks; `None` if somebody else does."""
        while frame is not None:
            file = frame.f_code.co_filename
            if self.is_of_runner(file):
                return frame
            if self.paths.actor(file) != "stdlib":
                return None
            frame = frame.f_back
        return None

    @staticmethod
    def is_own(frame):
        """Whether the agent itself asks."""
        return frame.f_code.co_filename.startswith(_OWN)

    def is_of_runner(self, file):
        answer = self._runners.get(file)
        if answer is None:
            answer = file.startswith(_OWN) or _OF_RUNNER.search(file) is not None
            self._runners[file] = answer
        return answer

    def is_by_value(self):
        """Whether what is read counts by the values that it leaves: import-time code reads it,
        and values are still to be taken."""
        if self.agent.top.kind != "import" or self.agent.role == "child":
            return False
        values = self.agent.values
        return values is None or not values.is_over

    def _path_of(self, code):
        return self.paths.code_file(code.co_filename)

    def _docstring_of(self, code):
        path = self._path_of(code)
        if path is not None and code.co_name[:1] != "<":
            self.agent.note("docstring", path, "%d %s" % (code.co_firstlineno, code.co_name))
            # Another function at that name has another one.
            self.signatures.read(getattr(code, "co_qualname", code.co_name))

    def on_event(self, event, arguments, frame):
        """An audit event, of `EVENTS`, that `frame` raised."""
        spaces = []
        if event == "pickle.find_class":
            self._unpickled(*arguments, frame)
            return
        if event == "code.__new__":
            self.agent.keys.made_code(*arguments[1:3])
            return
        if event == "marshal.dumps":
            self._marshalled(arguments[0], frame)
            return
        if event == "object.__setattr__":
            if arguments[1] != "__code__":
                return
            code = arguments[2]
            if is_a(arguments[0], types.FunctionType):
                spaces.append(arguments[0].__globals__)
        elif event == "compile":
            name = arguments[1]
            if type(name) is str and self._project_file(frame) is not None:
                self.compiled.add(name)
            return
        else:
            code = arguments[0]
        if type(code) is not types.CodeType or frame is None:
            return
        if frame.f_code.co_filename in _IMPORTS:
            return
        path = self.paths.code_file(code.co_filename)
        if path is not None and path.endswith(".py"):
            # The collector sees it. But perhaps it runs with the names of another module. How code
            # of the project got those for a new function is seen.
            is_seen = event == "function.__new__" and self._project_file(frame) is not None
            if not is_seen and not _OF_RUNNER.search(frame.f_code.co_filename):
                self._spelled(code, "", spaces)
            return
        caller = self._project_file(frame)
        if caller is None and code.co_filename not in self.compiled:
            # What text means, such as that of annotations, is asked by libraries, too.
            if not _STORES.isdisjoint(code.co_code[::2]):
                return
            self.readers.on_evaluated(code, frame)
            if self.is_by_value():
                return
            if self.is_for_runner(frame):
                return
        self._spelled(code, caller or "", spaces)

    def _marshalled(self, code, frame):
        """Code as bytes has its docstrings, and those of all that it defines."""
        if type(code) in (tuple, list, set, frozenset):
            for part in code:
                self._marshalled(part, frame)
        elif type(code) is dict:
            self._marshalled([*code, *code.values()], frame)
        if not is_a(code, types.CodeType) or frame is None:
            return
        reader = frame.f_code.co_filename
        path = self.paths.code_file(code.co_filename)
        if path is not None and reader not in _IMPORTS and not _OF_RUNNER.search(reader):
            self.agent.note_file(path)

    def is_unpickling(self, name, frame):
        """Whether `frame` gets the module of this name for what a pickle asks of it."""
        asked, self._unpickling = self._unpickling, None
        return frame is not None and asked == (name, id(frame))

    def is_any_unpickling(self):
        return self._unpickling is not None

    def _unpickled(self, name, qualified, frame):
        """A pickle gets what stands at a qualified name of a module."""
        self._unpickling = name, id(frame)
        module = sys.modules.get(name)
        path = None
        if is_a(module, types.ModuleType):
            path = self.file_of(vars(module))
            found = member_at(module, qualified)
            if is_a(found, types.ModuleType):
                # What comes next can ask that for any name.
                self.agent.note("names", "*")
            elif is_a(found, type):
                # Its instances get attributes, of which nobody tells the names.
                for kind in type.mro(found):
                    self._all_of(vars(sys.modules.get(vars(kind).get("__module__"), types)))
        registered = vars(sys.modules.get("copyreg", types)).get("_extension_registry", ())
        # Of what has a number only the first pickle tells, which keeps it for all others.
        scope = self.agent.root_scope if (name, qualified) in registered else None
        # A function of a library may look up what nobody spells: `getattr`.
        mark = ":" if path is None else "."
        for part in qualified.split("."):
            self.agent.note("reached", path or "", mark + part, scope)

    def _project_file(self, frame):
        return None if frame is None else self.paths.code_file(frame.f_code.co_filename)

    def _spelled(self, code, caller, spaces):
        """Note what `code` spells, for `caller` and for the modules of which it has the names."""
        note = self.agent.note
        # Of code that something else runs, nobody knows whose names it loads.
        mark = ":" if caller else ""
        waiting = [code]
        while waiting:
            one = waiting.pop()
            spelled = set(one.co_names)
            for constant in one.co_consts:
                if type(constant) is types.CodeType:
                    waiting.append(constant)
                else:
                    _add_words(constant, spelled)
            loads = _Loads(one)
            names = {loads.marked(name, mark) for name in spelled if "." not in name}
            modules = _imported(one)
            if modules is None:
                note("names", "*")
                modules = ()
            asked = {caller}
            for space in spaces + [vars(module) for module in modules]:
                path = self.file_of(space)
                if path is not None:
                    asked.add(path)
            for module in loads.modules():
                self._all_of(vars(module))
            for path in asked:
                for name in names:
                    note("reached", path, name)


def _origin(function, text):
    """The code that has a function's docstring `text`: its own, or that of a function that it
    wraps. None if something has set another."""
    for _ in range(_MOST_WRAPPERS + 1):
        if text is _docstring(function.__code__):
            return function.__code__
        function = function.__dict__.get("__wrapped__")
        if type(function) is not types.FunctionType:
            return None
    return None


def _docstring(code):
    """The docstring that functions get from their code; None if it has none."""
    constants = _constants(code)
    if _HAS_DOCSTRING and not code.co_flags & _HAS_DOCSTRING:
        return None
    return constants[0] if constants and type(constants[0]) is str else None


def _add_words(constant, names):
    """The words of a text that consists of such."""
    if type(constant) is str:
        if len(constant) < 1000 and _WORDS.match(constant):
            names.update(_WORD.findall(constant))
    elif type(constant) in (tuple, frozenset):
        for part in constant:
            _add_words(part, names)


def _asked_in(code, steps):
    first, second, third = steps + [(None, 0)] * (3 - len(steps))
    if first[0] in (_ATTRIBUTE, _METHOD):
        is_method = first[0] == _METHOD or sys.version_info >= (3, 12) and first[1] & 1
        name = attribute(code, *first)
        if name == "update" and is_method:
            # It puts something there, and gets nothing.
            return ""
        if name != "get" or third[0] not in _CALLS or third[1] != 1:
            return None
        first = second
    elif second[0] != _SUBSCRIPT:
        return None
    if first[0] != _CONSTANT:
        return None
    key = _constants(code)[first[1]]
    return key if type(key) is str else None


class _Loads:
    """How `code` comes to what has a name: it loads it, imports it, or else asks objects."""

    def __init__(self, code):
        self.loaded = set()
        self.imported = set()
        # Dotted names of modules that it binds to a variable as they are.
        self.bound = set()
        raw, names = code.co_code, code.co_names
        for at, operation, argument in steps(code):
            if operation in _LOADING:
                if operation == _GLOBAL and sys.version_info >= (3, 11):
                    argument >>= 1
                self.loaded.add(names[argument])
            elif operation == _IMPORT_FROM:
                self.imported.add(names[argument])
            elif operation == _IMPORT and raw[at + 2] != _IMPORT_FROM:
                self.bound.add(names[argument])

    def marked(self, name, mark):
        """`name` as the matrix has it, with `mark` if it is only loaded."""
        if name in self.imported:
            return name
        return mark + name if name in self.loaded else "." + name

    def modules(self):
        """The modules of `bound`, and the packages that they are in."""
        found = []
        for name in self.bound:
            while name:
                found.append(sys.modules.get(name))
                name = name.rpartition(".")[0]
        return [module for module in found if is_a(module, types.ModuleType)]


def _imported(code):
    """The modules that `code` imports; `None` if they cannot be told."""
    count = code.co_code[::2].count(_IMPORT)
    if not count:
        return ()
    found = [sys.modules[name] for name in code.co_names if name in sys.modules]
    # One that is not loaded yet, or relative to a package.
    is_relative = sys.version_info >= (3, 14) or any(
        type(constant) is int and 0 < constant < 100 for constant in code.co_consts
    )
    if len(found) < count or is_relative:
        return None
    return [module for module in found if is_a(module, types.ModuleType)]

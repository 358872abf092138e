"""What this session has, for `differences`: its cells, its classes, and the names in the code of
libraries."""

import abc
import gc
import sys
import types

from .asked_in_c import held_names
from .serials import cells_of
from .spelled import Spelled, nested
from .watch import HEAP_TYPE, is_a, member_at

try:
    from _abc import _get_dump as _registered
except ImportError:
    _registered = None

# Members that C code of the standard library asks of objects of any class.
_ASKED_BY_C = frozenset(
    """acquire close closed data default dispatch_table dst encoding end errors fileno
    find_class find_spec flush fromutc get isatty items keys mode mro name newlines peek
    persistent_id persistent_load pop raw read read1 readable readall readinto readline
    readlines reducer_override _as_parameter_ _asyncio_future_blocking add_done_callback
    call_soon comment delimiter doctype doublequote end_ns escapechar finalize from_param
    get_loop inverse lineterminator pi quotechar quoting skipinitialspace start_ns step
    strict value release seek seekable send start tell throw truncate tzname
    update utcoffset values writable write writelines""".split()
)

# Longer texts of libraries are not looked at: any of them may be such a name.
_LONGEST = 200

# Modules whose classes have hooks that answer for the class itself only, not for subclasses.
# `object` has the last one.
_HOOKS_FOR_THEMSELVES = (None, "collections.abc", "_collections_abc", "contextlib", "os")


class Present:
    """The taking of this session."""

    def __init__(self, agent, values):
        self.agent = agent
        # (name, path) -> key -> value; `None` if it has none.
        self.cells = {
            (holder.name, self.path(holder.path)): {
                key: value for key, (value, _) in holder.cells.items()
            }
            for holder in values.holders
        }
        self.serials = cells_of(agent)
        # Packages whose code asks classes for their subclasses.
        self._asking = None
        self._are_loose = None
        # The names that libraries spell, with these modules loaded.
        self._spelled, self._spelled_with = frozenset(), None
        self._matched = None
        self._annotated = None
        self.values = values
        self._names = None
        # (name, path, key) -> why it has none.
        self.why = {
            (holder.name, self.path(holder.path), key): why
            for holder in values.holders
            for key, (_, why) in holder.cells.items()
            if why is not None
        }
        ended = set(values.ended())
        # Files whose import or collection does not reach tests by values alone.
        self.doubtful = {
            self.path(scope.name)
            for scope in [*values.modules, *values.collections()]
            if scope.number not in ended
        }
        self._modules = {
            scope.extra: module
            for scope, module in values.modules.items()
            if module is not None
        }

    def path(self, absolute):
        """As units have it."""
        return self.agent.relative(absolute)

    def module_at(self, path):
        """The name of the project's module of this file; `None` if there is none."""
        if self._names is None:
            modules = self.values.modules.items()
            self._names = {
                self.path(scope.name): scope.extra for scope, one in modules if one is not None
            }
        return self._names.get(path)

    def is_library(self, path):
        """Whether a module outside the project, of which changes count, has this file."""
        return any(path == self.path(one) for one in self.agent.state.libraries)

    # -- classes ------------------------------------------------------------

    def find_class(self, name):
        """The class of a holder `module:Qualified.Name`; `None` if it is not there now."""
        module, _, qualified = name.partition(":")
        found = member_at(self._modules.get(module), qualified)
        return found if is_a(found, type) else None

    def is_asked_by_base(self, kind, key):
        """Whether a class outside the project, written in Python, may ask its subclass `kind`
        for this member."""
        unittest = sys.modules.get("unittest.case")
        case = getattr(unittest, "TestCase", None)
        for base in type.mro(kind)[1:]:
            if not base.__flags__ & HEAP_TYPE or self.is_own(base):
                continue
            if case is not None and issubclass(base, case):
                if any(key in vars(one) for one in type.mro(base)):
                    return True
            elif base not in _EMPTY:
                return True
        return False

    def asked_by_name(self):
        """Members that the interpreter or `typing` asks classes for because other classes name
        them: those of protocols that `isinstance` looks at, and of `__match_args__`."""
        found, seen, waiting = set(), set(), []
        for name in ("typing", "typing_extensions"):
            protocol = getattr(sys.modules.get(name), "Protocol", None)
            if is_a(protocol, type):
                waiting.extend(type.__subclasses__(protocol))
        while waiting:
            kind = waiting.pop()
            if kind not in seen:
                seen.add(kind)
                waiting.extend(type.__subclasses__(kind))
                if vars(kind).get("_is_protocol"):
                    found.update(vars(kind))
                    found.update(vars(kind).get("__annotations__", ()))
        if self._matched is None:
            # Whoever assigns others later changes a member that all read.
            self._matched = set()
            for name, _ in self.cells:
                kind = self.find_class(name) if ":" in name else None
                names = vars(kind).get("__match_args__", ()) if kind is not None else ()
                if type(names) is tuple:
                    self._matched.update(one for one in names if type(one) is str)
        return found | self._matched

    def is_found_by_base(self, name):
        """Whether a library may find a class that is new (or gone: its bases are not known) by
        asking one of its own for subclasses."""
        kind = self.find_class(name)
        if kind is None or _answers_by_itself(kind):
            # `isinstance` asks abstract classes and their subclasses in C.
            return True
        packages = {
            str(vars(base).get("__module__")).partition(".")[0]
            for base in type.mro(kind)[1:]
            if base.__flags__ & HEAP_TYPE and not self.is_own(base)
        }
        return bool(packages) and not packages.isdisjoint(self._packages_asking())

    def asks_for_subclasses(self):
        """Whether code of a library may ask any class for its subclasses."""
        return not self._packages_asking() <= _ASK_FOR_INSTANCES

    def _packages_asking(self):
        """Those with code that spells that."""
        if self._asking is None:
            self._asking = {
                str(function.__module__).partition(".")[0]
                for function in self._functions_of_libraries()
                if any("__subclasses__" in code.co_names for code in nested(function.__code__))
            }
        return self._asking

    def is_own(self, kind):
        return vars(kind).get("__module__") in self._modules

    # -- libraries ----------------------------------------------------------

    def spelled_by_libraries(self, wanted):
        """Which of the names code outside the project spells, in any loaded function."""
        # It is asked again at the turns of tests, and looks at everything in memory.
        loaded = frozenset(map(id, sys.modules.values()))
        if self._spelled_with != loaded:
            texts = _ASKED_BY_C | held_names()
            functions = self._functions_of_libraries()
            self._spelled = Spelled(functions, texts, _LONGEST, self.is_own)
            self._spelled_with = loaded
        return {name for name in wanted if len(name) > _LONGEST or self._spelled.has(name)}

    def spelled_by_annotations(self, wanted):
        """Which of the names mean something to whoever evaluates annotations of the project, and which
        are annotated."""
        # Imported only here: few tests need it.
        from .annotated import Annotated

        # The agent's session has hidden the older objects from the collector.
        gc.unfreeze()
        if self._annotated is None:
            self._annotated = Annotated(self._is_annotated_here)
        paths = {path for _, path in self.cells if path.endswith(".py")}
        paths = [path if path[:1] == "/" else "%s/%s" % (self.agent.root, path) for path in paths]
        return self._annotated.spelled(frozenset(wanted), paths)

    def _is_annotated_here(self, one):
        if type(one) is types.FunctionType:
            return self._is_project(one.__code__.co_filename) or one.__module__ in self._modules
        return self.is_own(one)

    def loose_modules(self):
        """Whether something holds a module of the project otherwise than import statements do, and
        the paths and names of globals that hold one as they are bound to an attribute."""
        if self._are_loose is None:
            # Imported only here: few tests need it.
            from .loose import find

            gc.unfreeze()
            holder, named = find(self.agent, self._modules)
            files = ((vars(module).get("__file__"), name) for module, name in named)
            named = {(self.path(file), name) for file, name in files}
            self._are_loose = holder is not None, named
        return self._are_loose

    def _functions_of_libraries(self):
        is_own = {}
        # The agent's session has hidden the older objects from the collector.
        gc.unfreeze()
        for function in gc.get_objects():
            if type(function) is types.FunctionType:
                file = function.__code__.co_filename
                if file not in is_own:
                    is_own[file] = self._is_project(file)
                if not is_own[file]:
                    yield function

    def _is_project(self, file):
        paths = self.agent.paths
        return paths.code_file(file) is not None or paths.actor(file) == "agent"


# These want to know whose instance something is, or show a class to people who ask for that.
_ASK_FOR_INSTANCES = frozenset(("abc", "_py_abc", "functools", "pydoc"))

# What a metaclass answers `isinstance` with.
_CHECKS = frozenset(("__instancecheck__", "__subclasscheck__"))


def _answers_by_itself(kind):
    """Whether a class may say of objects of other classes that they are its instances: by a
    hook, by what was registered with it, or by its metaclass."""
    hooks = (one for one in type.mro(kind) if "__subclasshook__" in vars(one))
    if vars(next(hooks)).get("__module__") not in _HOOKS_FOR_THEMSELVES:
        return True
    checks = (one for one in type.mro(type(kind)) if not _CHECKS.isdisjoint(vars(one)))
    lines = type.mro(kind) + type.mro(type(kind))
    names_others = any("__subclasses__" in vars(one) for one in lines if one is not type)
    if names_others or next(checks) not in (type, abc.ABCMeta):
        return True
    if "_abc_impl" not in vars(kind):
        return False
    return _registered is None or bool(_registered(kind)[0])


def _empty():
    """Classes of the library that ask nothing of a subclass but names with underlines."""
    import abc

    found = {abc.ABC, abc.ABCMeta}
    typing = sys.modules.get("typing")
    if hasattr(typing, "Generic"):
        found.add(typing.Generic)
    return frozenset(found)


_EMPTY = _empty()

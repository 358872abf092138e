"""The values that the import phase left: what tests can read of it.

After collection, one *taking* of the globals of all modules, of the items and of the process,
by the native helper. `confirm` compares it with that of an earlier run.
"""

import codecs
import encodings
import gc
import os
import sys
import types
from _thread import _count, get_ident

try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

from .agent import guard
from .imports import past_imports
from .paths import OUTSIDE, PROJECT, SITE
from .watch import is_a
from .workers import has_project_hook

# Functions that run in threads of their own, and the ends of the names of their files: by them a
# worker of xdist gets its orders, and pytest-rerunfailures counts together with xdist.
_SERVERS = {
    "_thread_receiver": os.path.join("execnet", "gateway_base.py"),
    "run_server": os.sep + "pytest_rerunfailures.py",
}

# Of a cell that is not there any more.
_GONE = b"gone"

# The holders that are no modules.
PROCESS, ITEMS, MODULES = "*process", "*items", "*modules"


def install(agent):
    """Note the modules whose import ends."""
    if not hasattr(agent.collector, "native"):
        return
    values = agent.values = Values(agent)
    first, first_importing = agent.module_imported, agent.module_importing

    @guard
    def importing(path):
        first_importing(path)
        if values.early is None:
            return
        is_library = agent.paths.place(path) == SITE
        if not _is_library(agent, agent.top):
            values.early.import_begins(past_imports(agent, sys._getframe()), is_library)
        elif not is_library:
            values.early.skip()

    @guard
    def imported(scope):
        first(scope)
        if agent.paths.place(scope.name) in (PROJECT, OUTSIDE):
            values.imported(scope)
        elif values.early is not None and not _is_library(agent, agent.top):
            values.early.import_ended(past_imports(agent, sys._getframe()))

    agent.module_importing = importing
    agent.module_imported = imported

    agent.first_random = None

    def keep_random(module):
        agent.first_random = module._inst.getstate()

    if "random" in sys.modules:
        keep_random(sys.modules["random"])
    else:
        agent.after_import["random"] = guard(keep_random)


class Holder:
    """Cells that belong together: `name` of the module or class, its file, and for each key a
    pair `(value, why)`; one of them is `None`."""

    __slots__ = ("name", "path", "cells")

    def __init__(self, name, path):
        self.name = name
        self.path = path
        self.cells = {}


class Values:
    """The taking of one session."""

    def __init__(self, agent):
        self.agent = agent
        # Import scope -> its module; `None` if it is not known.
        self.modules = {}
        self.holders = None
        self.trouble = None
        self.codecs = None
        self.early = None
        if "TAMIS_SPAWN" not in agent.hidden_environment:
            self.begin()
        self.is_over = False

    def begin(self):
        """Before the garbage collector forgets what the interpreter holds. The earlier, the fewer
        objects there are to ask; the interpreter never holds others."""
        if self.codecs is None:
            self.codecs = _codecs_of_interpreter()

    def begin_early(self):
        """pytest has begun to load its plug-ins."""
        from . import early

        self.early = early.Early(self.agent)
        self.early.begin()

    def imported(self, scope):
        if self.is_over:
            return
        module = sys.modules.get(scope.extra)
        if not is_a(module, types.ModuleType) or not scope.name.endswith(".py"):
            module = None
        known = self.modules.get(scope, module)
        # An import that ran twice made two modules.
        self.modules[scope] = module if known is module else None

    def take(self, config, items, all_collected):
        """Take the values now; `trouble` says why there are none."""
        self.holders = None
        if self.trouble is None:
            self.trouble = self._forbidden(config)
        if self.trouble is None and not all_collected:
            self.trouble = "collecting tests failed"
        if self.trouble is None:
            try:
                self.holders = self._taken(items)
            except Exception as error:
                self.trouble = "the values could not be taken: %r" % (error,)
        # Modules that tests import shall go away as usual.
        self.is_over = True

    def _forbidden(self, config):
        if self.agent.role != "main":
            return "this is not the first process"
        if _other_threads():
            return "other threads are running"
        # A `conftest.py` may hand something to a worker that no value tells.
        is_worker = hasattr(config, "workerinput")
        if is_worker and has_project_hook(self.agent, config, "pytest_configure_node"):
            return "a hook of the project prepares the workers of pytest-xdist"
        return None

    def _roots(self, items):
        """What is taken, and for each label of a module its name and path."""
        # Imported only here: most processes that tests start never need them.
        from . import item_values, libraries, loaded, process_state

        agent = self.agent
        modules = [module for module in self.modules.values() if module is not None]
        roots = libraries.roots(agent, {id(module) for module in modules})
        if self.early is not None:
            roots = [self.early.root(root) for root in roots]
        own = {root[0]: (root[0], "") for root in roots}
        for scope, module in self.modules.items():
            if module is not None:
                label = scope.extra
                while label in own:
                    # Another `conftest`.
                    label += "'"
                own[label] = scope.extra, scope.name
                roots.append((label, module))
        described = item_values.describe(items, self._is_of_harness)
        for label, content in (
            (ITEMS, described),
            (PROCESS, process_state.describe(agent)),
            (MODULES, {"modules": loaded.names(), **loaded.stand_ins()}),
        ):
            own[label] = label, ""
            roots.append((label, content))
        return tuple(roots), own

    def _is_of_harness(self, function):
        code = getattr(function, "__code__", None)
        return code is not None and self.agent.paths.actor(code.co_filename) == "harness"

    def _taken(self, items):
        from . import libraries

        native, keys = self.agent.collector.native, self.agent.keys
        places = libraries.places(self.agent)
        roots, own = self._roots(items)
        labels = {path: label for label, (_, path) in own.items() if path}
        modules = {scope.name: module for scope, module in self.modules.items()}
        roots += keys.roots(modules, labels.get)
        first = keys.named(native.cells(roots, places))
        # Where the same object differs a moment later, nobody can say what it holds.
        second = keys.named(
            native.cells(
                tuple(root for root in roots if not root[0].startswith("*lib:")), places
            )
        )
        found = self._libraries(first)
        for label, cells in first.items():
            name, inner = label, ""
            if label not in own:
                name, _, inner = label.partition(":")
            name, path = own[name]
            holder = Holder(name + ":" + inner if inner else name, path)
            again = second.get(label, cells)
            for key, value in cells.items():
                if key is None and label in (ITEMS, PROCESS, MODULES):
                    continue
                if isinstance(key, bytes):
                    key = key.hex()
                holder.cells[key or ""] = _told(value, again.get(key, value))
            if holder.cells:
                found.append(holder)
        return found

    def _libraries(self, taken):
        """Holders of the libraries that are known as their import left them; takes their cells out
        of `taken`."""
        early, self.early = self.early, None
        found = []
        for label, touched in sorted(early.touched().items() if early is not None else ()):
            holder = Holder(label, "")
            holder.cells[""] = early.circumstances[label], None
            for of, key in touched:
                value = taken.get(of, {}).get(key, _GONE)
                name = "%s.%s" % (of[len(label) + 1 :], key) if of != label else key
                holder.cells[name] = _told(value, value)
            found.append(holder)
        for holder in found:
            inner = holder.name + ":"
            for label in [one for one in taken if one == holder.name or one.startswith(inner)]:
                del taken[label]
        return found

    # -- the trace --------------------------------------------------------

    def tell(self):
        """Write what was taken to the trace."""
        write = self.agent.trace.write
        if self.holders is None:
            write("no-values", self.trouble or "no tests were collected")
            return
        worker = getattr(self.agent.session.config, "workerinput", None)
        if worker is not None:
            write("worker", worker["testrunuid"])
        write("imported", self.ended())
        for holder in self.holders:
            cells = [
                [key, value] if why is None else [key, value, why]
                for key, (value, why) in holder.cells.items()
            ]
            write("cells", holder.name, holder.path, cells)
        # Code that a module runs again belongs to whoever runs it.
        named = self.agent.named_scopes
        for key in [key for key in named if key[0] == "import"]:
            del named[key]
        self.agent.scopes = []

    def tell_of_controller(self):
        """The process that spreads tests over workers of xdist runs none itself. Its imports of
        `conftest.py` reach tests only if they did more than leave values."""
        self.agent.trace.write("imported", self.ended())
        self.agent.trace.write("controller")

    def ended(self):
        """The numbers of the imports and collections that reach tests (of other files) by the
        values that they left, and in no other way."""
        caches = [scope for scope in self.agent.scopes if scope.kind in ("cache", "property")]
        doubtful = self.agent.doubtful | self.agent.files.passing.lasting()
        while True:
            # What a miss of a cache does, its callers do.
            more = {
                scope.number
                for scope in caches
                if scope.number not in doubtful and not doubtful.isdisjoint(scope.edges)
            }
            if not more:
                break
            doubtful |= more
        by_caches = doubtful.intersection(scope.number for scope in caches)
        scopes = [scope for scope, module in self.modules.items() if module is not None]
        return [
            scope.number
            for scope in scopes + self.collections()
            if scope.number not in doubtful and by_caches.isdisjoint(scope.edges)
        ]

    def collections(self):
        """The scopes in which the items of test files were made."""
        return [
            scope
            for scope in self.agent.scopes
            # What a `conftest.py` registers is more than a value.
            if scope.kind == "collect" and not scope.name.endswith("conftest.py")
        ]


def _is_library(agent, scope):
    return scope.kind == "import" and agent.paths.place(scope.name) == SITE


def _other_threads():
    """How many threads run beside this one, but for those that serve the runner."""
    count = _count()
    if count:
        own = get_ident()
        others = [frame for number, frame in sys._current_frames().items() if number != own]
        count -= sum(map(_serves_runner, others))
    return count


def _serves_runner(frame):
    while frame is not None:
        code = frame.f_code
        file = _SERVERS.get(code.co_name)
        if file is not None and code.co_filename.endswith(file):
            return True
        frame = frame.f_back
    return False


def _told(value, again):
    """`(value, why)` of a cell of which `again` is the second taking."""
    if isinstance(value, str):
        return None, value
    if not isinstance(again, bytes) or again[:16] != value[:16]:
        return None, "volatile"
    return digest_of(value), None


def digest_of(value):
    """The text of a cell's value as the native helper tells it. The last bit of it says whether the
    cell is plain: a function that is nothing but its code and how that can be called, or subclasses
    that have no say on what other objects are."""
    is_plain = len(value) % 16
    digest = blake2b(value, digest_size=16).digest()
    return (digest[:-1] + bytes((digest[-1] & 0xFE | is_plain,))).hex()


def is_plain(digest):
    """Whether the last bit of such a text says so."""
    return int(digest[-1], 16) & 1 == 1


def _codecs_of_interpreter():
    """The functions that look for codecs and those that handle errors: the interpreter's own
    list and dictionary, which only the garbage collector shows."""
    search, strict = encodings.search_function, codecs.strict_errors
    lists, handlers = [], []
    for one in gc.get_referrers(search, strict):
        if type(one) is list and any(held is search for held in one):
            lists.append(one)
        elif type(one) is dict and "strict" in one and "__name__" not in one:
            if any(held is strict for held in one.values()):
                handlers.append(one)
    # A generator is opaque.
    return (lists[0], handlers[0]) if len(lists) == len(handlers) == 1 else (i for i in ())

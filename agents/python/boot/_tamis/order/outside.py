"""What tests leave changed outside of the project's own modules: settings of the process, and
names in libraries. Looked at only when tamis asks who reads and writes what.

A change has the file `*process` and the name of the setting, or the file of the library's module
(`*lib:NAME` without one) and the name in it.

PYTEST_DONT_REWRITE
"""

import gc
import os
import random
import signal
import sys
import threading

from .. import pause, process_state
from ..agent import guard
from ..paths import HARNESS, OUTSIDE, PROJECT

# Of these, names change with every test, settings tell the same, or nobody's tests read them.
_BUSY = frozenset(("sys", "_thread", "warnings", "linecache", "traceback", "tracemalloc", "coverage"))

PROCESS = "*process"


class Outside:
    """What the state outside of the project's modules was when the last test ended."""

    def __init__(self, agent):
        self.agent = agent
        self.settings = {}
        self.modules = {}

    @guard
    def begin(self):
        self.settings = _settings(self.agent)
        self._watch_modules()

    @guard
    def ran(self, scope):
        """Tell what changed since the last call: `scope` did it."""
        now = _settings(self.agent)
        for name, value in now.items():
            if self.settings.get(name) != value:
                self._tell(name, scope)
        self.settings = now
        for name, module in self.modules.items():
            # A new one was imported, which can be done again.
            if sys.modules.get(name) is not module:
                self._tell("sys.modules[%s]" % name, scope)
        self._watch_modules()

    def _tell(self, name, scope):
        self.agent.trace.write("x", PROCESS, name, scope.number)

    def _watch_modules(self):
        """Names in libraries, which tests patch and forget to put back."""
        for name, module in list(sys.modules.items()):
            if name not in self.modules and self._is_library(name, module):
                self.agent.state.library(module, _file(module) or "*lib:" + name)
        self.modules = dict(sys.modules)

    def _is_library(self, name, module):
        top = name.split(".")[0]
        if type(module) is not type(sys) or top in _BUSY or top in HARNESS or top == "_tamis":
            return False
        path = _file(module)
        return path is None or self.agent.paths.place(path) not in (PROJECT, OUTSIDE)


def _file(module):
    path = vars(module).get("__file__")
    return path if isinstance(path, str) else None


def describe(name):
    """A setting as text."""
    if name.startswith("sys.modules["):
        module = sys.modules.get(name[len("sys.modules[") : -1])
        return "nothing" if module is None else "module at %x" % id(module)
    try:
        return repr(_PARTS[name](None))
    except Exception:
        return "unknown"


def _settings(agent):
    found = {}
    for name, value in _PARTS.items():
        try:
            found[name] = value(agent)
        except Exception:
            found[name] = None
    return found


def _cwd(agent):
    try:
        return os.getcwd()
    except OSError:
        return "gone"


def _signals(agent):
    return [signal.getsignal(number) for number in _SIGNALS]


_SIGNALS = sorted(signal.valid_signals())


def _logging(agent):
    logging = sys.modules.get("logging")
    if logging is None:
        return None
    manager = logging.Logger.manager
    found = {"": _logger(logging.root)}
    for name, logger in list(manager.loggerDict.items()):
        if isinstance(logger, logging.Logger):
            told = _logger(logger)
            if told != (0, False, True, [], []):
                found[name] = told
    return found, manager.disable


def _logger(logger):
    handlers = [
        (id(one), one.level)
        for one in logger.handlers
        if not type(one).__module__.startswith("_pytest.")
    ]
    filters = [id(one) for one in logger.filters]
    return logger.level, logger.disabled, logger.propagate, handlers, filters


class _Chance:
    """Whether somebody seeded a generator. Numbers that were only drawn leave it as much to
    chance as before."""

    def __init__(self, state):
        self.state = state
        self.last = None
        self.seeds = 0

    def __call__(self, agent):
        now = self.state()
        if now is not None and self.last is not None and not self._follows(now):
            self.seeds += 1
        self.last = now
        return self.seeds

    def _follows(self, now):
        words, drawn = now
        if self.last[0] == words:
            return drawn >= self.last[1]
        other = random.Random()
        other.setstate((3, (*self.last[0], self.last[1]), None))
        for _ in range(_MOST_DRAWS):
            # All words of the state, which are then made anew together.
            for _ in range(len(words)):
                other.getrandbits(32)
            if other.getstate()[1][:-1] == words:
                return True
        return False


# So many times the words of a generator's state may be used up in one test.
_MOST_DRAWS = 20


def _drawn():
    """The words of the generator's state, and how many of them are used up."""
    state = random.getstate()[1]
    return state[:-1], state[-1]


def _drawn_by_numpy():
    numpy = sys.modules.get("numpy.random")
    if numpy is None:
        return None
    state = numpy.get_state()
    return tuple(state[1].tolist()), int(state[2])


def _hooks(agent):
    return [sys.excepthook, sys.displayhook, sys.unraisablehook, threading.excepthook]


def _decimal(agent):
    decimal = sys.modules.get("decimal")
    if decimal is None:
        return None
    context = decimal.getcontext()
    return context.prec, context.rounding, context.Emin, context.Emax, context.capitals


def _warnings(agent):
    warnings = sys.modules.get("warnings")
    return None if warnings is None else [repr(one) for one in warnings.filters]


def _zone(agent):
    time = sys.modules.get("time")
    return None if time is None else (time.tzname, time.timezone)


def _sockets(agent):
    socket = sys.modules.get("_socket")
    return None if socket is None else socket.getdefaulttimeout()


_PARTS = {
    "cwd": _cwd,
    "umask": lambda agent: process_state.umask(),
    "sys.path": lambda agent: list(sys.path),
    "recursion limit": lambda agent: sys.getrecursionlimit(),
    "hooks": _hooks,
    "signals": _signals,
    "logging": _logging,
    "locale": process_state.locale_name,
    "random": _Chance(_drawn),
    "numpy.random": _Chance(_drawn_by_numpy),
    "decimal": _decimal,
    "warnings": _warnings,
    "time zone": _zone,
    "threads": lambda agent: sorted(one.name for one in threading.enumerate()),
    "gc": lambda agent: (pause.is_on(), gc.get_threshold()),
    "trace": lambda agent: (sys.gettrace(), sys.getprofile()),
    "socket timeout": _sockets,
}

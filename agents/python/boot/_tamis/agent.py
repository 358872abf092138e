"""The agent of one process: the current scope and its observations."""

import atexit
import functools
import os
import sys
import time
import _thread

from . import VERSION, envvars, fingerprint
from .paths import OUTSIDE, SITE, Paths
from .scopes import Scope, Token
from .trace import Trace

# The agent of this process, or `None` if nothing is collected.
current = None


# In a tuple, no library that sets the clock of tests finds it.
_CLOCK = (time.monotonic,)

# Kinds of notes that tell what of cells is read.
MET = frozenset(("reached", "names", "docstring", "annotations"))


class Agent:
    """Scopes, units and the trace of this process.

    All threads record into the scope on top of one stack.
    """

    def __init__(self, trace_directory, root, boot):
        self.pid = os.getpid()
        self.boot = boot
        self.root = root
        self.lock = _thread.RLock()
        self.paths = Paths(root, (os.path.dirname(boot), boot, trace_directory))
        self.trace = Trace(trace_directory)
        self.role = None
        self.broken = None
        self.finished = False
        # The pytest session that is watched.
        self.session = None
        self.start_environment = _start_environment(boot)
        self.hidden_environment = {}
        self.collector = None
        self.keys = None
        self._units = {}
        self._by_number = []
        self._scope_count = 1
        # Where code is, by number: path and first line.
        self.code_places = {}
        # By number: the scopes of instances of fixtures that outlive a test.
        self.fixtures = {}
        # What ran and was read since a turn began, if somebody asks.
        self.met = None
        # What was written of the code of the present test.
        self._told_code = set()
        self.dirty = []
        self.module_scopes = {}
        # First parts of their names.
        self.module_tops = set()
        # Import statement -> the scopes of its modules.
        self.import_edges = {}
        self.named_scopes = {}
        # Those of imports, collection and caches.
        self.scopes = []
        # Scope 0. Its record waits until the role of the process is known.
        self.root_scope = Scope(0, "session", "", None, self.dirty)
        self.stack = [Token(self.root_scope)]
        self.top = self.root_scope
        # Numbers of scopes that did more than leave values: wrote files, started processes.
        self.doubtful = set()
        # Path -> the scope that wrote it, or made the directory.
        self.written = {}
        self.made = {}
        # Directory -> the scopes that wrote, made or removed something in it.
        self.wrote_in = {}
        # Filled by `imports`: the scopes that found a module missing, and its name.
        self.missing_modules = []
        self.settle_missing = None
        # Module name -> what to do after the module has run.
        self.after_import = {}
        self.state = None
        self.values = None
        self.reached = None
        self.properties = None
        # Of those that tests leave.
        self.left = None
        # Filled by `order`, if tamis asks who reads and writes what.
        self.outside = None
        # Of classes with abstract ones.
        self.registered = None
        # That classes count their objects by.
        self.serials = None
        # Called with the file of a module that is about to run, and with the scope of a module
        # that has run.
        self.module_importing = None
        self.module_imported = None
        # The scopes of pytest's own fixtures for temporary folders, and how many functions these have
        # told `atexit` to call.
        self.folders = set()
        self.exits_of_pytest = 0
        # Whether a process was started since the last test began.
        self.has_started = False
        # Filled by `imports`: the places searched for a found module.
        self.spec_lookups = {}
        self.settle_lookups = None

    # -- scopes -----------------------------------------------------------

    def new_scope(self, kind, name, extra=None):
        with self.lock:
            scope = Scope(self._scope_count, kind, name, extra, self.dirty)
            self._scope_count += 1
            self.trace.write("s", scope.number, kind, name, extra)
            if kind == "fixture":
                self.fixtures[scope.number] = scope
        return scope

    def new_test(self, name, told, file):
        """The scope of a test that begins. It is written at once, so that the trace shows the
        beginning even if the process dies. `told` and `file` are its name and the path of its
        file as JSON."""
        with self.lock:
            scope = Scope(self._scope_count, "test", name, None, self.dirty)
            self._scope_count += 1
            self._told_code.clear()
            self.trace.write_test(scope.number, told, file)
            if self.has_started:
                self.has_started = False
                self.trace.write("clock", scope.number, _CLOCK[0]())
            self.trace.flush()
        return scope

    def named_scope(self, kind, name, extra=None):
        """The one scope of this kind, name and extra."""
        key = (kind, name, extra)
        scope = self.named_scopes.get(key)
        if scope is None:
            scope = self.named_scopes[key] = self.new_scope(kind, name, extra)
            self.scopes.append(scope)
        return scope

    def push(self, scope, needed=True):
        """Make `scope` the current one; the previous one needs it."""
        with self.lock:
            self.absorb()
            if needed:
                self.top.need(scope)
            token = Token(scope)
            self.stack.append(token)
            self.top = scope
            if self.trace.through:
                self.write_scopes()
                self.collector.scope_changed(scope)
            return token

    def pop(self, token):
        """Undo one `push`, wherever its entry is now on the stack."""
        with self.lock:
            self.absorb()
            if token.scope.imports:
                self.resolve_imports(token.scope)
            for at in range(len(self.stack) - 1, 0, -1):
                if self.stack[at] is token:
                    del self.stack[at]
                    break
            self.top = self.stack[-1].scope
            if self.trace.through:
                self.write_scopes()
                self.collector.scope_changed(self.top)

    def absorb(self):
        """Everything seen since the last switch belongs to the top."""
        if self.spec_lookups:
            self.settle_lookups(self)
        if self.collector is not None:
            if self.top.kind == "test" and not self.trace.through:
                # Most of a trace's content takes this short way.
                units = self.collector.swap_text()
                if self.met is not None and units:
                    self.met.code.update(map(int, units.split(",")))
                told = self.top.number, units
                # Between two values that it computes for others, a test often runs the same.
                if units and told not in self._told_code:
                    self._told_code.add(told)
                    self.trace.write_code(*told)
            else:
                units = self.collector.swap()
                if self.met is not None:
                    self.met.code.update(units)
                if units:
                    self.top.add_all(units)
            reason = self.collector.lost()
            if reason is not None:
                for token in self.stack:
                    self.trace.write("i", token.scope.number, reason)

    # -- observations -----------------------------------------------------

    def acts(self, frame):
        """Whether the event in `frame` is the program's, and not one of the test runner or the
        agent for themselves."""
        known = self.paths.actors
        while frame is not None:
            code = frame.f_code
            actor = known.get(code.co_filename) or self.paths.actor(code.co_filename)
            if actor == "other":
                return True
            if actor == "harness" and code.co_name != "importorskip":
                return False
            frame = frame.f_back
        return True

    def unit(self, kind, path, value=None):
        """The number of an observation, defined in the trace when new."""
        key = (kind, path, value)
        number = self._units.get(key)
        if number is None:
            with self.lock:
                number = self._units.get(key)
                if number is None:
                    number = len(self._units)
                    self._units[key] = number
                    self._by_number.append(key)
                    self.trace.write("u", number, kind, path, value)
        return number

    def told(self, numbers):
        """Kinds, paths and texts of units; those of code, which the collector numbers, have no
        path here."""
        known = self._by_number
        return [
            known[number] if number < len(known) else ("code", None, None) for number in numbers
        ]

    def relative(self, path):
        """An absolute path as units have it: relative in the repository, the same in every
        checkout."""
        top = self.root + "/"
        return path[len(top) :] if path.startswith(top) else path

    def note(self, kind, path, value=None, scope=None):
        """The current scope (or `scope`) depends on this."""
        if self.finished:
            return
        scope = self.top if scope is None else scope
        if self.met is not None and kind in MET:
            self.met.notes.add((kind, path, value))
        if scope.add(self.unit(kind, path, value)) and self.trace.through:
            self.write_scopes()

    def note_code(self, number):
        """Write-through: code ran for the first time since the last switch."""
        with self.lock:
            if self.top.add(number):
                self.write_scopes()

    def note_file(self, path, scope=None):
        """The content of the absolute `path` matters, and so do the symbolic links on the way
        to it."""
        real = self.note_links(path, scope)
        self.note("file", real, self._outside_value(real), scope)

    def note_links(self, path, scope=None):
        """The symbolic links on the way to `path` matter. Returns its target."""
        links, real = self.paths.links(path)
        for link in links:
            self.note("file", link, self._outside_value(link), scope)
        return real

    def _outside_value(self, path):
        if self.paths.place(path) == OUTSIDE:
            return fingerprint.of_file(path)
        return None

    # -- the trace --------------------------------------------------------

    def become(self, role):
        """The role is known, so the trace may be written."""
        self.role = role
        spawn, starter = self.hidden_environment.get("TAMIS_SPAWN"), None
        where = self.hidden_environment.get("TAMIS_SCOPE")
        if where and ":" in where:
            trace, _, number = where.rpartition(":")
            starter = [trace, int(number)] if number.isdigit() else None
        self.open_trace(role, spawn, None, starter)
        if role == "child":
            # Imported only here: it needs this module.
            from .processes import runs_text

            if runs_text():
                # Nobody knows which names that has.
                self.note("names", "*", None, self.root_scope)
            self.write_through()

    def open_trace(self, role, spawn, fork_of, starter):
        try:
            cwd = os.getcwd()
        except OSError:
            cwd = ""
        self.trace.set_header(
            {
                "version": 1,
                "trace": self.trace.id,
                "pid": os.getpid(),
                "ppid": os.getppid(),
                "role": role,
                "spawn": spawn,
                "fork_of": fork_of,
                "scope": starter,
                "python": "%d.%d.%d" % sys.version_info[:3],
                "runtime": fingerprint.runtime()[1],
                "executable": sys.executable or "",
                "prefix": sys.prefix,
                "argv": list(getattr(sys, "orig_argv", None) or getattr(sys, "argv", [])),
                "cwd": cwd,
                "collector": self.collector.name if self.collector else "none",
                "agent": VERSION,
            },
            ("s", 0, "session" if role == "main" else "child", "", None),
        )

    def write_through(self):
        self.trace.through = True
        if self.collector is not None:
            self.collector.write_through(self)
        self.flush()

    def write_scopes(self):
        """Write what the scopes gained since the last time to the trace."""
        with self.lock:
            if self.collector is not None:
                for definition in self.collector.definitions():
                    self.trace.write_definition(*definition)
                    self.code_places[definition[0]] = definition[1:3]
            if self.dirty:
                dirty = self.dirty[:]
                del self.dirty[:]
                add = self.trace.write_additions
                for scope in dirty:
                    units, edges = scope.take()
                    add(scope.number, units, edges)

    def settle(self):
        """Write everything seen so far to the trace."""
        with self.lock:
            self.absorb()
            self.tell()

    def tell(self):
        """Write what the scopes have to the trace."""
        with self.lock:
            if self.missing_modules:
                self.settle_missing(self)
            for token in self.stack:
                if token.scope.imports:
                    self.resolve_imports(token.scope)
            self.write_scopes()

    def flush(self):
        """Write everything seen so far to the file."""
        with self.lock:
            self.settle()
            self.trace.flush()

    def disable(self, where, error):
        """The agent failed: the records of this process are incomplete."""
        if self.broken is not None:
            return
        self.broken = "the collector failed in %s: %r" % (where, error)
        self.finished = True
        complain(self.broken)
        try:
            with self.lock:
                self.trace.write("i", 0, self.broken)
                if self.role is not None:
                    self.trace.flush()
        except Exception:
            pass

    def close(self, status):
        """The process ends normally."""
        if self.role is None:
            self.become("child" if "TAMIS_SPAWN" in self.hidden_environment else "other")
        self.reached.readers.look_at_classes()
        self.reached.look_at_modules()
        self.flush()
        self.tell_end()
        self.trace.write("close", status)
        self.trace.flush()

    def tell_end(self):
        """When the process ends: another one may still talk to it if it is not over by then."""
        self.trace.write("ended", _CLOCK[0]())


def complain(text):
    """One line, for people who debug."""
    if current is not None and not current.hidden_environment.get("TAMIS_DEBUG"):
        return
    try:
        sys.stderr.write("tamis: %s\n" % text)
    except Exception:
        pass


# Threads inside the agent: its own actions are not observed.
_busy = set()
_thread_id = _thread.get_ident


def guard(function):
    """Errors of `function`, a part of the agent, never reach the user."""

    def guarded(*arguments):
        thread = _thread_id()
        outermost = thread not in _busy
        if outermost:
            _busy.add(thread)
        try:
            return function(*arguments)
        except Exception as error:
            if current is not None:
                current.disable(function.__name__, error)
            return None
        finally:
            if outermost:
                _busy.discard(thread)

    return guarded


def unobserved(function, *arguments):
    """Calls `function`, of which nothing is observed."""
    thread = _thread_id()
    outermost = thread not in _busy
    _busy.add(thread)
    try:
        return function(*arguments)
    finally:
        if outermost:
            _busy.discard(thread)


def watcher(function):
    """Like `guard`, for observations of the program: does nothing, and answers `None`, for the
    agent's own actions, or when nothing is collected any more."""

    def watching(*arguments):
        thread = _thread_id()
        if thread in _busy or current.finished:
            return
        _busy.add(thread)
        try:
            return function(*arguments)
        except Exception as error:
            current.disable(function.__name__, error)
        finally:
            _busy.discard(thread)

    return watching


def start(trace_directory):
    """Start collecting in this process."""
    global current
    if current is not None:
        return current
    boot = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    root = os.environ.get("TAMIS_ROOT") or ""
    agent = Agent(trace_directory, root.rstrip("/"), boot)
    from . import caches, collector, dists, environ, files, imports, processes, pytest_entry
    from . import constants, keys, left, reached, references, registered, serials, state, values

    current = agent
    try:
        environ.hide(agent)
        agent.collector = collector.choose(agent)
        if isinstance(agent.collector, collector.Native):
            agent.trace.append = agent.collector.native.append
        keys.install(agent)
        dists.install(agent)
        reached.install(agent)
        files.install(agent)
        environ.install(agent)
        processes.install(agent)
        caches.install(agent)
        constants.install(agent)
        references.install(agent)
        registered.install(agent)
        agent.resolve_imports = functools.partial(imports.resolve, agent)
        agent.settle_lookups = imports.settle_lookups
        agent.settle_missing = imports.settle_missing
        imports.install(agent)
        dists.watch_metadata(agent)
        pytest_entry.install(agent)
        state.install(agent)
        values.install(agent)
        left.install(agent)
        serials.install(agent)
        agent.note("runtime", "python", fingerprint.runtime()[0])
        # Before a program can change the inputs.
        fingerprint.start_up()
        atexit.register(_at_exit)
        agent.collector.start()
        if "TAMIS_SPAWN" in agent.hidden_environment:
            agent.become("child")
    except Exception as error:
        agent.disable("start", error)
    return agent


def _at_exit():
    agent = current
    if agent is None or agent.pid != os.getpid():
        return
    try:
        agent.close(None)
    except Exception as error:
        agent.disable("close", error)


def _start_environment(boot):
    """The variables as they would be without tamis, text to text."""
    found = {}
    seed = os.environ.get(envvars.SEED)
    for name, value in os.environ.items():
        value = envvars.own_value(name, value, boot, seed)
        if value is not None:
            found[name] = value
    return found

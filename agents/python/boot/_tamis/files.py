"""Which files, directories and missing paths are looked at, and written."""

import functools
import os
import stat
import sys

from .agent import guard, watcher
from .paths import IGNORED, STDLIB, SITE

_SOURCE_SUFFIXES = (".py", ".pyc", ".pyo", ".pyw", ".so", ".pyd")

# Functions of the standard library that only ask whether a path exists, and
# as what. Other callers of `os.stat` see size and time as well.
_KIND_ONLY = frozenset(
    """exists isfile isdir islink lexists ismount isjunction _joinrealpath realpath
    is_file is_dir is_symlink is_mount _resolve resolve _glob0 _glob1 glob0 glob1
    _iglob _lexists _isdir select_exists _select_from _exists walk""".split()
)
_KIND_MODULES = frozenset(
    "genericpath posixpath pathlib pathlib._local pathlib._abc pathlib._os glob os".split()
)

_MOST_SKIPPED = 100000

# Audit events that the collector passes on.
EVENTS = (
    "open",
    "os.listdir",
    "os.scandir",
    "sqlite3.connect",
    "ctypes.dlopen",
    "os.mkdir",
    "os.rename",
    "os.remove",
    "os.rmdir",
    "os.symlink",
    "os.link",
    "os.truncate",
)


class Files:
    """Turns events and probes into units of the current scope."""

    def __init__(self, agent):
        self.agent = agent
        self.paths = agent.paths
        self.lstat = os.lstat
        self.stat = os.stat
        # Absolute paths, as given, of places where nothing counts.
        self.skipped = set()

    # -- what counts ------------------------------------------------------

    def wanted(self, path, frame, importing=False):
        """The absolute path if what happens there may matter, else `None`."""
        if isinstance(path, int) or path is None:
            return None
        given = path
        path = self.paths.absolute(path)
        if path is None or "\0" in path:
            return None
        place = self.paths.place(path)
        if place in (IGNORED, STDLIB):
            if type(given) is str and given[:1] == "/" and len(self.skipped) < _MOST_SKIPPED:
                self.skipped.add(given)
            return None
        known = self.paths.actors
        called = False
        while frame is not None:
            name = frame.f_code.co_filename
            actor = known.get(name) or self.paths.actor(name)
            if actor == "importlib" and importing:
                return None
            if actor == "other":
                return path
            if actor == "harness":
                return None
            called = called or actor != "agent"
            frame = frame.f_back
        # Called by no Python code: the interpreter opens its main script.
        return path if called or not importing else None

    def is_made(self, path):
        """Whether the session made a directory that `path` lies in."""
        made = self.agent.made
        if not made:
            return False
        while path:
            if path in made:
                return True
            path = path[: path.rfind("/")]
        return False

    # -- reading ----------------------------------------------------------

    def read(self, path):
        agent = self.agent
        producer = agent.written.get(path)
        if producer is not None:
            agent.top.need(producer)
        elif self.paths.place(path) == SITE:
            agent.note_site(path)
        elif self.is_made(path):
            # In a directory of the session, but not written by this process.
            agent.note("file", path)
        else:
            agent.note_file(path)

    def list(self, path):
        agent = self.agent
        producer = agent.made.get(path)
        if producer is not None:
            agent.top.need(producer)
        elif not self.is_made(path) and self.paths.place(path) != SITE:
            agent.note("dir", agent.note_links(path))

    def probe(self, path, kind):
        """A check of existence found `kind`."""
        agent = self.agent
        producer = agent.written.get(path) or agent.made.get(path)
        if producer is not None:
            agent.top.need(producer)
        elif self.is_made(path):
            return
        elif self.paths.place(path) != SITE:
            agent.note("exists", agent.note_links(path), kind)
        elif kind == "file":
            agent.note_site(path)

    # -- writing ----------------------------------------------------------

    def write(self, path, frame, made=False):
        """The session writes, makes or removes `path`."""
        path = None if isinstance(path, int) else self.paths.absolute(path)
        if path is None or self.paths.place(path) in (IGNORED, STDLIB):
            return
        agent = self.agent
        if made:
            try:
                self.lstat(path)
                return
            except (OSError, ValueError):
                agent.made[path] = agent.top
        else:
            agent.written[path] = agent.top
        if agent.acts(frame):
            agent.trace.write("w", agent.top.number, path)

    # -- events -----------------------------------------------------------

    def on_event(self, event, arguments, frame):
        if event == "open":
            self.on_open(arguments, frame)
        elif event in ("os.listdir", "os.scandir"):
            if _seeks_distributions(frame):
                return
            path = self.wanted(arguments[0] if arguments[0] is not None else ".", frame, True)
            if path is not None:
                self.list(path)
        elif event == "sqlite3.connect":
            self.on_database(arguments[0], frame)
        elif event == "ctypes.dlopen":
            name = arguments[0]
            if isinstance(name, (str, bytes)) and os.fsencode(name).count(b"/"):
                path = self.wanted(name, frame)
                if path is not None:
                    self.read(path)
        elif event == "os.mkdir":
            self.write(arguments[0], frame, made=True)
        elif event == "os.rename":
            self.paths.forget_links()
            self.on_rename(arguments[0], arguments[1], frame)
        elif event in ("os.symlink", "os.link"):
            self.paths.forget_links()
            self.write(arguments[1], frame)
        else:
            self.write(arguments[0], frame)

    def on_open(self, arguments, frame):
        name, mode, flags = arguments
        if isinstance(name, int):
            return
        if not isinstance(flags, int):
            flags = 0
        access = flags & os.O_ACCMODE
        writes = access != os.O_RDONLY
        if not writes and isinstance(mode, str):
            writes = any(letter in mode for letter in "wax+")
        if writes:
            truncates = flags & (os.O_TRUNC | os.O_EXCL)
            if not truncates:
                path = self.wanted(name, frame)
                if path is not None and path not in self.agent.written:
                    self.probe_content(path)
            self.write(name, frame)
            return
        text = os.fsdecode(name) if isinstance(name, bytes) else name
        importing = isinstance(text, str) and text.endswith(_SOURCE_SUFFIXES)
        path = self.wanted(name, frame, importing)
        if path is None:
            return
        try:
            mode_bits = self.stat(path).st_mode
        except (OSError, ValueError):
            self.probe(path, "missing")
            return
        if stat.S_ISDIR(mode_bits):
            self.probe(path, "dir")
        else:
            self.read(path)

    def probe_content(self, path):
        """A file is opened for reading and writing, or to append."""
        try:
            self.lstat(path)
        except (OSError, ValueError):
            self.probe(path, "missing")
        else:
            self.read(path)

    def on_database(self, name, frame):
        if not isinstance(name, (str, bytes)):
            return
        text = os.fsdecode(name)
        if text in ("", ":memory:"):
            return
        if text.startswith("file:"):
            text = text[5:].split("?", 1)[0]
            if text.startswith("//"):
                text = "/" + text.lstrip("/")
            if text in ("", ":memory:"):
                return
        path = self.wanted(text, frame)
        if path is None:
            return
        self.probe_content(path)
        try:
            self.lstat(path)
        except (OSError, ValueError):
            self.write(path, frame)

    def on_rename(self, source, target, frame):
        old = None if isinstance(source, int) else self.paths.absolute(source)
        made = self.agent.made.get(old) if old else None
        if made is not None:
            new = self.paths.absolute(target)
            if new is not None:
                self.agent.made[new] = self.agent.top
        self.write(source, frame)
        self.write(target, frame)


def _seeks_distributions(frame):
    """Whether `importlib.metadata` looks for installed packages: those are
    units of their own (`dists`), whatever else the directory holds."""
    while frame is not None and str(frame.f_globals.get("__name__")).startswith("_tamis."):
        frame = frame.f_back
    return frame is not None and str(frame.f_globals.get("__name__")).startswith(
        ("importlib.metadata", "importlib_metadata")
    )


class Probe:
    """Stands in for a function of `os` that looks at a path.

    An object, not a function: old versions of `pathlib` keep `os.stat` in a
    class body, where a Python function would become a method.
    """

    def __init__(self, plain, note, skipped, is_known):
        self._plain = plain
        self._note = note
        # Whether what was found for an absolute path adds nothing.
        self._is_known = is_known
        # Absolute paths that are known not to count.
        self._skipped = skipped
        self.__name__ = plain.__name__
        self.__qualname__ = plain.__name__
        self.__module__ = plain.__module__
        self.__doc__ = plain.__doc__
        self.__text_signature__ = getattr(plain, "__text_signature__", None)
        self.__wrapped__ = plain

    def __call__(self, *arguments, **options):
        path = arguments[0] if arguments else None
        if path.__class__ is str and path in self._skipped:
            return self._plain(*arguments, **options)
        try:
            found = self._plain(*arguments, **options)
        except (OSError, ValueError) as error:
            self._note(arguments, options, error, None)
            raise
        if not (path.__class__ is str and self._is_known(path, found)):
            self._note(arguments, options, None, found)
        return found

    def __repr__(self):
        return repr(self._plain)

    def __reduce__(self):
        return self.__name__


def _probe_kind(native, actors):
    """The class of probes: with the native helper, one that looks into
    `_skipped`, and at who asks, without running Python code."""
    if native is None:
        return Probe

    class QuickProbe(native.Probe, Probe):
        def __init__(self, *arguments):
            Probe.__init__(self, *arguments)
            self._seen = functools.partial(Probe.__call__, self)
            self._actors = actors

    QuickProbe.__name__ = QuickProbe.__qualname__ = "Probe"
    return QuickProbe


def install(agent):
    """Watch events and probes."""
    files = agent.files = Files(agent)

    @watcher
    def on_event(event, arguments):
        # A hook in Python adds one more frame of the agent.
        frame = sys._getframe(1).f_back
        files.on_event(event, arguments, frame)

    _install_probes(agent, files)
    agent.collector.audit(on_event, EVENTS)
    _watch_line_cache(agent, files)


def _install_probes(agent, files):
    @watcher
    def on_stat(arguments, options, error, found):
        if options and options.get("dir_fd") is not None:
            return
        frame = sys._getframe(3)
        path = files.wanted(arguments[0] if arguments else options.get("path"), frame)
        if path is None:
            return
        if error is not None:
            if isinstance(error, (FileNotFoundError, NotADirectoryError)):
                files.probe(path, "missing")
            return
        kind = found.st_mode
        if stat.S_ISDIR(kind):
            scope = agent.top
            files.probe(path, "dir")
            # Not if another thread has begun another scope meanwhile.
            if arguments and path == arguments[0] and agent.top is scope:
                scope.directories.add(path)
        elif _asks_for_kind(frame):
            files.probe(path, "file")
        elif stat.S_ISLNK(kind):
            agent.note_links(path)
        else:
            files.read(path)

    def is_known(path, found):
        return path in agent.top.directories and stat.S_ISDIR(found.st_mode)

    def is_new(path, found):
        return False

    @watcher
    def on_access(arguments, options, error, found):
        if options.get("dir_fd") is not None:
            return
        path = files.wanted(arguments[0] if arguments else options.get("path"), sys._getframe(3))
        if path is not None:
            if not found:
                files.probe(path, "missing")
            else:
                files.probe(path, "dir" if os.path.isdir(path) else "file")

    @watcher
    def on_readlink(arguments, options, error, found):
        if options.get("dir_fd") is not None or error is not None:
            return
        path = files.wanted(arguments[0] if arguments else options.get("path"), sys._getframe(3))
        if path is not None and path not in agent.written:
            agent.note_links(path)

    kind = _probe_kind(getattr(agent.collector, "native", None), agent.paths.actors)
    for name, note in (
        ("stat", on_stat),
        ("lstat", on_stat),
        ("access", on_access),
        ("readlink", on_readlink),
    ):
        plain = getattr(os, name, None)
        if plain is None:
            continue
        known = is_known if note is on_stat else is_new
        probe = kind(plain, note, files.skipped, known)
        for group in ("supports_dir_fd", "supports_fd", "supports_follow_symlinks",
                      "supports_effective_ids"):
            members = getattr(os, group, None)
            if members is not None and plain in members:
                members.add(probe)
        setattr(os, name, probe)


def _asks_for_kind(frame):
    """Whether the caller of `os.stat` uses no more than the kind of entry."""
    for _ in range(2):
        if frame is None or frame.f_globals.get("__name__") not in _KIND_MODULES:
            return False
        if frame.f_code.co_name in _KIND_ONLY:
            return True
        frame = frame.f_back
    return False


def _watch_line_cache(agent, files):
    """Source text that a program looks at is data: `inspect.getsource`,
    tracebacks that show lines."""

    @watcher
    def note(filename):
        if not isinstance(filename, str) or filename[:1] == "<":
            return
        path = files.wanted(filename, sys._getframe(3))
        if path is not None and path.endswith(_SOURCE_SUFFIXES):
            if agent.paths.is_project_code(path):
                files.read(path)

    def watch(linecache):
        plain = linecache.getlines

        def getlines(filename, module_globals=None):
            note(filename)
            return plain(filename, module_globals)

        getlines.__doc__ = plain.__doc__
        linecache.getlines = getlines

    library = os.path.dirname(os.path.abspath(os.__file__))
    if "linecache" in sys.modules or agent.paths.place(library) != STDLIB:
        import linecache

        watch(linecache)
    else:
        # Most processes that tests start never load it.
        agent.after_import["linecache"] = guard(watch)

"""Notes which files, directories and missing paths are read and written."""

import functools
import os
import stat
import sys
from _thread import get_ident

from . import lines, reached
from .agent import watcher
from .passing import Passing
from .paths import IGNORED, PROJECT, SOURCE_SUFFIXES, STDLIB, SITE

# Functions of the standard library that only need to know whether a path exists and its kind.
# Other callers of `os.stat` also see size and time.
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

# What these do lasts, and no value shows it: an import that does it reaches tests by more than
# the values that it leaves.
LASTING = (
    "os.kill",
    "os.killpg",
    "resource.prlimit",
    "resource.setrlimit",
    "socket.bind",
    "socket.connect",
    "socket.sendmsg",
    "socket.sendto",
    "sys.addaudithook",
)


class Files:
    """Turns audit events and probes into units of the current scope."""

    def __init__(self, agent):
        self.agent = agent
        self.paths = agent.paths
        self.lstat = os.lstat
        self.stat = os.stat
        self.passing = Passing()
        # Absolute paths, as given, that do not count.
        self.skipped = set()
        # Thread -> the directory below which it is opening something.
        self.opening = {}

    # -- what counts ------------------------------------------------------

    def given(self, path, directory):
        """`path`, relative to a directory's descriptor (`None` or -1 for the current
        directory). `None` if it is unknown; then the record is incomplete."""
        if directory is None or directory == -1 or isinstance(path, int) or path is None:
            return path
        return self._known(self.paths.beneath(path, directory))

    def listed(self, path):
        """The directory whose names are read. It may be a descriptor."""
        if path is None:
            return "."
        return self._known(self.paths.of_descriptor(path)) if isinstance(path, int) else path

    def _known(self, path):
        if path is None and not self.agent.finished:
            agent = self.agent
            reason = "it used a directory by a descriptor that leads to no path"
            agent.trace.write("i", agent.top.number, reason)
        return path

    def wanted(self, path, frame, importing=False):
        """The absolute path if it may matter, otherwise `None`."""
        if isinstance(path, int) or path is None:
            return None
        given = path
        path = self.paths.absolute(path)
        if path is None or "\0" in path:
            return None
        if self.is_idle(path, given):
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
        # Not called by Python code: the interpreter opens its main script.
        return path if called or not importing else None

    def is_idle(self, path, given):
        """Whether an absolute path, and how it was given, does not count, whoever asks."""
        is_idle = self.paths.place(path) in (IGNORED, STDLIB)
        if is_idle and type(given) is str and given[:1] == "/":
            if len(self.skipped) < _MOST_SKIPPED:
                self.skipped.add(given)
        return is_idle

    def is_made(self, path):
        """Whether `path` is in a directory that the session made."""
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
            self.meet(producer, path)
        elif self.paths.place(path) == SITE:
            agent.note_site(path)
        elif self.is_made(path):
            # It is in a directory of the session, but another process wrote it.
            agent.note("file", path)
        else:
            agent.note_file(path)

    def list(self, path):
        agent = self.agent
        producer = agent.made.get(path)
        if producer is not None:
            self.meet(producer, path)
        elif not self.is_made(path) and self.paths.place(path) != SITE:
            agent.note("dir", agent.note_links(path))
        for writer in tuple(agent.wrote_in.get(path, ())):
            self.meet(writer, path)

    def probe(self, path, kind):
        """A check for existence found `kind`."""
        agent = self.agent
        producer = agent.written.get(path) or agent.made.get(path)
        if producer is not None:
            self.meet(producer, path)
        elif self.is_made(path):
            return
        elif self.paths.place(path) != SITE:
            agent.note("exists", agent.note_links(path), kind)
        elif kind == "file":
            agent.note_site(path)

    def meet(self, producer, path):
        """The session reads what it wrote itself."""
        agent = self.agent
        agent.top.need(producer)
        if producer is not agent.top:
            agent.doubtful.add(producer.number)
        if agent.outside is not None and producer is not agent.top:
            agent.trace.write("r", agent.top.number, path)

    # -- writing ----------------------------------------------------------

    def write(self, path, frame, made=False, directory=None, opens=False, lasts=False):
        """The session writes, makes or removes `path`. What it does so `lasts` even if the path
        is gone in the end."""
        path = self.given(path, directory)
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
            is_over = agent.values is None or agent.values.is_over
            if lasts or is_over or not self.passing.note(path, agent.top, opens):
                agent.doubtful.add(agent.top.number)
            agent.wrote_in.setdefault(path[: path.rfind("/")], {})[agent.top] = None
            agent.trace.write("w", agent.top.number, path)

    # -- events -----------------------------------------------------------

    def on_event(self, event, arguments, frame):
        if event == "open":
            self.on_open(arguments, frame)
        elif event in ("os.listdir", "os.scandir"):
            if _seeks_distributions(frame):
                return
            path = self.wanted(self.listed(arguments[0]), frame, True)
            if path is not None:
                self.list(path)
        elif event in LASTING:
            self.agent.doubtful.add(self.agent.top.number)
        elif event == "sqlite3.connect":
            self.agent.doubtful.add(self.agent.top.number)
            self.on_database(arguments[0], frame)
        elif event == "ctypes.dlopen":
            name = arguments[0]
            if name is not None:
                self.agent.doubtful.add(self.agent.top.number)
            if isinstance(name, (str, bytes)) and os.fsencode(name).count(b"/"):
                path = self.wanted(name, frame)
                if path is not None:
                    self.read(path)
        elif event == "os.mkdir":
            self.write(arguments[0], frame, True, arguments[2])
        elif event == "os.rename":
            self.paths.forget_links()
            self.on_rename(*arguments[:4], frame=frame)
        elif event == "os.symlink":
            self.paths.forget_links()
            self.write(arguments[1], frame, False, arguments[2])
        elif event == "os.link":
            self.paths.forget_links()
            self.take(self.given(arguments[0], arguments[2]), frame)
            # Another name of a file that stays.
            self.write(arguments[1], frame, False, arguments[3], lasts=True)
        elif event == "os.truncate":
            # The rest is the old content.
            self.take(arguments[0], frame)
            self.write(arguments[0], frame, opens=True)
        else:
            self.write(arguments[0], frame, False, arguments[1])

    def on_open(self, arguments, frame):
        name, mode, flags = arguments
        if isinstance(name, int):
            return
        if not isinstance(flags, int):
            flags = 0
        if mode is None and self.opening:
            name = self.given(name, self.opening.get(get_ident()))
        access = flags & os.O_ACCMODE
        writes = access != os.O_RDONLY
        if not writes and isinstance(mode, str):
            writes = mode not in ("r", "rb") and any(letter in mode for letter in "wax+")
        if mode is None and self.passing.is_file(self.paths.absolute(name)):
            # What has a descriptor can be read when its path is gone.
            self.agent.doubtful.add(self.agent.top.number)
        if writes:
            truncates = flags & (os.O_TRUNC | os.O_EXCL)
            if not truncates:
                path = self.wanted(name, frame)
                if path is not None:
                    self.probe_content(path)
            self.write(name, frame, opens=True, lasts=mode is None)
            return
        if type(name) is str and name[:1] == "/" and "\0" not in name:
            # Most are sources of the standard library, and bytecode.
            if self.is_idle(self.paths.absolute(name), name):
                return
        text = os.fsdecode(name) if isinstance(name, bytes) else name
        importing = isinstance(text, str) and text.endswith(SOURCE_SUFFIXES)
        importing = importing and not _asks_for_source(frame)
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
        """A file is opened for reading and writing, or for appending."""
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

    def on_rename(self, source, target, source_directory=None, target_directory=None, *, frame):
        source = self.given(source, source_directory)
        target = self.given(target, target_directory)
        old = None if source is None else self.paths.absolute(source)
        made = self.agent.made.get(old) if old else None
        if made is not None:
            new = None if target is None else self.paths.absolute(target)
            if new is not None:
                self.agent.made[new] = self.agent.top
        else:
            self.take(source, frame)
        self.write(source, frame)
        self.write(target, frame)

    def take(self, source, frame):
        """What is at `source` gets another name, or a part of it remains."""
        path = self.wanted(source, frame)
        if path is None:
            return
        try:
            is_folder = stat.S_ISDIR(self.lstat(path).st_mode)
        except (OSError, ValueError):
            self.probe(path, "missing")
            return
        if not is_folder:
            self.read(path)
        elif self.paths.place(path) == PROJECT and not self.is_made(path):
            reason = "it moved a directory that it did not make: %s" % path
            self.agent.trace.write("i", self.agent.top.number, reason)


def _past_agent(frame):
    """The first frame from `frame` on that is not the agent's: hooks in Python have one more
    frame than those of the native helper."""
    while frame is not None and str(frame.f_globals.get("__name__")).startswith("_tamis."):
        frame = frame.f_back
    return frame


def _seeks_distributions(frame):
    """Whether `importlib.metadata` looks for installed packages. These are units of their own
    (`dists`), so the rest of the directory does not matter."""
    frame = _past_agent(frame)
    return frame is not None and str(frame.f_globals.get("__name__")).startswith(
        ("importlib.metadata", "importlib_metadata")
    )


def _asks_for_source(frame):
    """Whether somebody reads a module's file through a loader (`get_source`, `get_data`)
    without running it."""
    frame = _past_agent(frame)
    if frame is None or frame.f_code.co_name != "get_data":
        return False
    frame = frame.f_back
    return frame is not None and frame.f_code.co_name != "get_code"


class Probe:
    """Replaces a function of `os` that looks at a path.

    It is an object and not a function: old versions of `pathlib` keep `os.stat` in a class
    body, where a Python function would become a method.
    """

    def __init__(self, plain, note, skipped, is_known):
        self._plain = plain
        self._note = note
        # Whether the result for an absolute path adds nothing new.
        self._is_known = is_known
        # Absolute paths that do not count.
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


class Opener(Probe):
    """Replaces `os.open`, whose audit event does not give `dir_fd`."""

    def __init__(self, plain, opening):
        Probe.__init__(self, plain, None, frozenset(), None)
        self._opening = opening

    def __call__(self, *arguments, **options):
        directory = options.get("dir_fd") if options else None
        if directory is None:
            return self._plain(*arguments, **options)
        self._opening[get_ident()] = directory
        try:
            return self._plain(*arguments, **options)
        finally:
            self._opening.pop(get_ident(), None)


def _probe_kind(native, actors):
    """The class of probes. That of the native helper checks `_skipped` and the caller without
    running Python code."""
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
        # A hook in Python has one more frame of the agent.
        frame = sys._getframe(1).f_back
        if event in reached.EVENTS:
            agent.reached.on_event(event, arguments, frame)
        else:
            files.on_event(event, arguments, frame)

    _install_probes(agent, files)
    agent.collector.audit(on_event, EVENTS + LASTING + reached.EVENTS)
    lines.install(agent, files)


def _install_probes(agent, files):
    def path_of(arguments, options, frame):
        path = arguments[0] if arguments else options.get("path")
        if options and options.get("dir_fd") is not None:
            path = files.given(path, options["dir_fd"])
        return files.wanted(path, frame)

    @watcher
    def on_stat(arguments, options, error, found):
        frame = sys._getframe(3)
        path = path_of(arguments, options, frame)
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
            # Unless another thread has started another scope meanwhile.
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
        path = path_of(arguments, options, sys._getframe(3))
        if path is None:
            return
        if os.path.isdir(path):
            files.probe(path, "dir")
        elif _asks_for_executable(arguments, options) and files.paths.place(path) == PROJECT:
            # A file's mode is part of its fingerprint.
            files.probe_content(path)
        else:
            files.probe(path, "file" if found else "missing")

    @watcher
    def on_readlink(arguments, options, error, found):
        if error is not None:
            return
        path = path_of(arguments, options, sys._getframe(3))
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
        _put(name, plain, kind(plain, note, files.skipped, known))
    _put("open", os.open, Opener(os.open, files.opening))


def _put(name, plain, stand_in):
    for group in ("supports_dir_fd", "supports_fd", "supports_follow_symlinks",
                  "supports_effective_ids"):
        members = getattr(os, group, None)
        if members is not None and plain in members:
            members.add(stand_in)
    setattr(os, name, stand_in)


def _asks_for_executable(arguments, options):
    mode = arguments[1] if len(arguments) > 1 else options.get("mode")
    return isinstance(mode, int) and mode & os.X_OK


def _asks_for_kind(frame):
    """Whether the caller of `os.stat` only needs the kind of entry."""
    for _ in range(2):
        if frame is None or frame.f_globals.get("__name__") not in _KIND_MODULES:
            return False
        if frame.f_code.co_name in _KIND_ONLY:
            return True
        frame = frame.f_back
    return False

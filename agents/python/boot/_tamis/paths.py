"""The role of a path in the run: project, dependency, standard library, noise."""

import os
import sys

# Kinds of places, by the longest known directory above a path.
PROJECT = 1  # inside the repository, or an editable install
OUTSIDE = 2  # none of the others: data, generated files, other code
SITE = 3  # installed third-party packages
STDLIB = 4  # the interpreter's own files
IGNORED = 5  # devices, the agent, the trace

# Packages that only run and report tests. What they read for themselves (their configuration,
# the files that they collect) is not a dependency.
HARNESS = frozenset(
    """_pytest pytest pluggy xdist execnet py iniconfig coverage pytest_cov
    exceptiongroup tomli packaging""".split()
)

# Ends of the names of files that hold code.
SOURCE_SUFFIXES = (".py", ".pyc", ".pyo", ".pyw", ".so", ".pyd")

_IGNORED_PARTS = frozenset((".git", "__pycache__", ".pytest_cache", ".hypothesis", ".tamis"))
# `fcntl.F_GETPATH` of macOS, which Python has from 3.9 on.
_GET_PATH = 50
_SITE_NAMES = ("/site-packages/", "/dist-packages/")


class Paths:
    """Classifies paths; every answer is cached.

    `root` is the repository, `ignored` are directories of no interest.
    """

    def __init__(self, root, ignored):
        self.root = root
        self._own = os.path.dirname(os.path.abspath(__file__)) + "/"
        self._places = {}
        self._cache = {}
        self._code_files = {}
        self.actors = {}
        self._links = {}
        self._cwd = os.getcwd
        self._lstat = os.lstat
        self._readlink = os.readlink
        for directory in ("/dev", "/proc", "/sys"):
            self._places[directory] = IGNORED
        for directory in _interpreter_prefixes():
            self._places[directory] = STDLIB
        for directory in _site_directories():
            self._places[directory] = SITE
        if root:
            # A root that is itself a prefix (`/usr`) still belongs to the project.
            self._places[root] = PROJECT
        for directory in ignored:
            self._places[directory] = IGNORED

    def add_project(self, directory):
        """An editable install outside the repository."""
        directory = directory.rstrip("/")
        if directory and self._places.get(directory) is None:
            self._places[directory] = PROJECT
            self._cache.clear()
            self._code_files.clear()
            self.actors.clear()

    def absolute(self, path):
        """`path` absolute, without `.` and `..`; `None` if it is not a path."""
        try:
            path = os.fspath(path)
        except TypeError:
            return None
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if not path.startswith("/"):
            try:
                path = self._cwd() + "/" + path
            except OSError:
                return None
        if "/." in path or "//" in path or path[-1:] == "/":
            path = os.path.normpath(path)
            if path.startswith("//"):
                path = path[1:]
        return path

    def beneath(self, path, descriptor):
        """`path`, which is relative to an open directory unless it is absolute, without
        descriptors; `None` if that is unknown."""
        try:
            path = os.fspath(path)
        except TypeError:
            return None
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if path.startswith("/"):
            return path
        directory = self.of_descriptor(descriptor)
        return None if directory is None else directory + "/" + path

    def of_descriptor(self, descriptor):
        """The absolute path of an open file; `None` if it has none or it is unknown."""
        try:
            if sys.platform == "darwin":
                import fcntl

                raw = fcntl.fcntl(descriptor, _GET_PATH, bytes(1024))
                path = os.fsdecode(raw.partition(b"\0")[0])
            else:
                path = self._readlink("/proc/self/fd/%d" % descriptor)
        except (OSError, ValueError, TypeError, OverflowError, ImportError):
            return None
        return path if path[:1] == "/" and not path.endswith(" (deleted)") else None

    def place(self, path):
        """The kind of place of the absolute `path`."""
        place = self._cache.get(path)
        if place is None:
            place = self._cache[path] = self._find_place(path)
        return place

    def _find_place(self, path):
        if path.endswith(".pyc") or not _IGNORED_PARTS.isdisjoint(path.split("/")):
            return IGNORED
        directory = path
        while directory:
            place = self._places.get(directory)
            if place is not None:
                break
            directory = directory[: directory.rfind("/")]
        else:
            place = OUTSIDE
        if place in (PROJECT, OUTSIDE, STDLIB):
            # Another virtual environment, or one above this interpreter.
            inner, outer = _SITE_NAMES
            if inner in path or outer in path or path.endswith((inner[:-1], outer[:-1])):
                return SITE
        return place

    def is_project_code(self, path):
        """Whether code in the absolute `path` may belong to the project."""
        return self.place(path) in (PROJECT, OUTSIDE)

    def code_prefixes(self):
        """`(wanted, unwanted)`: path prefixes of project code and of other code; the longer
        one decides. `code_file` is more exact."""
        wanted, unwanted = ["/"], []
        for directory, place in self._places.items():
            of_project = place in (PROJECT, OUTSIDE)
            (wanted if of_project else unwanted).append(directory + "/")
        return tuple(wanted), tuple(unwanted)

    def code_file(self, name):
        """The absolute path of a code object's file if it may belong to the project, otherwise
        `None`."""
        if name in self._code_files:
            return self._code_files[name]
        if not name or name[0] == "<":
            return None
        path = self.absolute(name)
        found = path if path is not None and self.is_project_code(path) else None
        if name[0] == "/":
            # Another one may belong to another file in another directory.
            self._code_files[name] = found
        return found

    def directories(self):
        """The known directories, each with its kind of place."""
        return list(self._places.items())

    def actor(self, name):
        """Who runs code in the file `name`: `stdlib`, `importlib`, `harness`, `agent` or
        `other`."""
        actor = self.actors.get(name)
        if actor is None:
            actor = self.actors[name] = self._find_actor(name)
        return actor

    def _find_actor(self, name):
        if name.startswith(("<frozen importlib._bootstrap", "<frozen zipimport")):
            return "importlib"
        if name.startswith("<frozen "):
            return "stdlib"
        if name.startswith("<"):
            # Compiled text, for example the condition of a mark, which pytest evaluates but
            # the program wrote.
            return "other"
        if name.startswith(self._own):
            return "agent"
        path = self.absolute(name)
        if path is None:
            return "other"
        place = self.place(path)
        if place == STDLIB:
            return "stdlib"
        if place == IGNORED:
            return "harness"
        if place == SITE:
            if is_harness(path):
                return "harness"
        return "other"

    def links(self, path):
        """The symbolic links on the way of the absolute `path`, and its target."""
        found = []
        seen = set()
        real = self._resolve(path, found, seen, 0)
        return found, real

    def _resolve(self, path, found, seen, depth):
        if path in ("/", "") or depth > 40:
            return path
        head, _, tail = path.rpartition("/")
        if head:
            cached = self._links.get(head)
            if cached is None:
                own = []
                cached = (self._resolve(head, own, set(), depth), own)
                if len(self._links) < 20000:
                    self._links[head] = cached
            head = cached[0]
            found.extend(link for link in cached[1] if link not in found)
        here = head.rstrip("/") + "/" + tail
        if here in seen:
            return here
        try:
            target = self._readlink(here)
        except (OSError, ValueError):
            return here
        seen.add(here)
        if here not in found:
            found.append(here)
        if not target.startswith("/"):
            target = head + "/" + target
        return self._resolve(os.path.normpath(target), found, seen, depth + 1)

    def forget_links(self):
        """The session changed a link or moved a directory."""
        self._links.clear()


def site_entry(path):
    """The top-level name in site-packages to which the file belongs."""
    for name in _SITE_NAMES:
        at = path.rfind(name)
        if at >= 0:
            return path[at + len(name) :].split("/", 1)[0]
    return ""


def is_harness(path):
    """Whether the file in site-packages belongs to what runs and reports tests."""
    return site_entry(path).split(".")[0] in HARNESS


def site_directory(path):
    """The site-packages directory of the file, or `None`."""
    for name in _SITE_NAMES:
        at = path.rfind(name)
        if at >= 0:
            return path[: at + len(name) - 1]
    return None


def _interpreter_prefixes():
    found = set()
    for prefix in (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix):
        found.add(prefix.rstrip("/"))
        found.add(os.path.realpath(prefix).rstrip("/"))
    library = os.path.dirname(os.__file__)
    found.add(library)
    found.add(os.path.realpath(library))
    found.discard("")
    return found


def _site_directories():
    return {
        entry.rstrip("/")
        for entry in sys.path
        if entry.rstrip("/").endswith(("/site-packages", "/dist-packages"))
    }

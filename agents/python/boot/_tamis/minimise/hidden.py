"""State that no variable of a test shows: globals of the project, settings of the process, and
what lies outside of it.

PYTEST_DONT_REWRITE
"""

import os
import sys
import types

from .. import process_state
from ..watch import is_a

# Of `native.cells`: objects are called after where they are in memory.
_IN_PLACE = 3

# Audit events after which another run of the same statements may find another world.
_EVENTS = frozenset(
    """os.mkdir os.rename os.remove os.rmdir os.chdir os.chmod os.chown os.link os.symlink
    os.truncate os.utime os.fork os.forkpty os.system os.exec os.posix_spawn os.spawn os.kill
    subprocess.Popen sqlite3.connect tempfile.mkstemp tempfile.mkdtemp _thread.start_new_thread
    _thread.start_joinable_thread sys.setprofile sys.settrace signal.pthread_kill mmap.__new__
    ctypes.dlopen pty.spawn""".split()
)
_KINDS = ("socket.", "shutil.", "ftplib.", "http.client.", "smtplib.", "urllib.")


class Outside:
    """Notes when the running test does something outside of its process."""

    def __init__(self):
        self.seen = None
        self.is_on = False
        sys.addaudithook(self._heard)

    def begin(self):
        self.seen, self.is_on = None, True

    def end(self):
        self.is_on = False
        return self.seen

    def _heard(self, event, arguments):
        if not self.is_on or self.seen is not None:
            return
        if event == "open":
            if _writes(*arguments[:3]):
                self.seen = "it writes a file"
        elif event in _EVENTS or event.startswith(_KINDS):
            self.seen = "it uses what lies outside of its process: %s" % event


def _writes(path, mode, flags):
    if isinstance(path, str) and path.endswith(".pyc") or "__pycache__" in str(path):
        return False
    if isinstance(mode, str):
        return not set("wax+").isdisjoint(mode)
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


class Process:
    """What `process_state` asks of an agent, for a process that has none."""

    def __init__(self, root, boot):
        self.root = root
        self.boot = boot
        self.start_environment = {
            os.fsdecode(name): os.fsdecode(value) for name, value in os.environ._data.items()
        }
        random = sys.modules.get("random")
        self.first_random = None if random is None else random._inst.getstate()
        self.arguments = list(sys.argv)
        self.values = types.SimpleNamespace(codecs=None)
        self.session = None


class Hidden:
    """Takings of the hidden state, and what differs between two of them."""

    def __init__(self, native, sources, boot):
        self.native = native
        self.sources = sources
        self.process = Process(sources.root, boot)

    def take(self):
        modules = self._modules()
        roots = tuple(("%s" % name, module) for name, module in modules)
        # What is held in place is kept until the next taking is compared with it.
        cells = self.native.cells(roots, (), _IN_PLACE)
        kept = cells.pop(None, None)
        # The libraries that are there: one that a statement brings may count for the next.
        told = process_state.describe(self.process)
        told["modules"] = len(sys.modules)
        process = self.native.cells((("process", told),), ())["process"]
        return cells, process, kept

    def difference(self, before, after):
        """The name of what is not as before; `None` if all is."""
        for label in before[0].keys() | after[0].keys():
            first, second = before[0].get(label, {}), after[0].get(label, {})
            if first != second:
                keys = [key for key in first.keys() | second.keys() if _at(first, key) != _at(second, key)]
                names = sorted(str(key) for key in keys if key is not None)
                return "%s.%s" % (label, names[0]) if names else label
        for key in before[1].keys() | after[1].keys():
            first, second = before[1].get(key), after[1].get(key)
            # What is opaque is so in every taking.
            if first != second and not (isinstance(first, str) and isinstance(second, str)):
                return "process#%s" % key
        return None

    def _modules(self):
        found = []
        for name, module in list(sys.modules.items()):
            if type(name) is not str or not is_a(module, types.ModuleType):
                continue
            path = vars(module).get("__file__")
            if isinstance(path, str) and self.sources.is_of_project(path):
                found.append((name, module))
        return found


def _at(cells, key):
    return cells.get(key)

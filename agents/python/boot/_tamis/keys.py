"""Which entries of a module's dictionaries code reads, by key.

A registry or a cache is one global, and every test that touches it would read what all others
put there. Most functions only ask such a dictionary for one key. The collector watches these as they
run (`sys.monitoring`, Python 3.12 and later): what they read is the *entry*, a cell of its own.

A function counts if all that it does with the global is `X[k]`, `k in X`, `X.get(k)`,
`X.setdefault(k)` or `X.pop(k)`, where `k` is a variable of its own or a text. Any other function
reads the dictionary as a whole.
"""

import functools
import sys
import types

try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

from .agent import guard
from .keyed_code import accesses, begin
from .watch import is_a

# A scope that reads more entries reads all of the dictionary.
_MOST_READS = 500
# So often a function may ask in a whole session. Each time costs as much as a few calls.
_MOST_EVENTS = 200000
# Longer keys are named by a digest.
_LONGEST = 60
# The value of what tells only that something is there.
_THERE = b"there"
# Dictionaries with more entries are not looked into.
_MOST_ENTRIES = 5000


def install(agent):
    """Watch functions from now on, if the interpreter can tell what they do."""
    agent.keys = Keys(agent)
    if hasattr(agent.collector, "native") and hasattr(sys, "monitoring"):
        agent.keys.start()


class Dictionary:
    """A global that holds a dictionary, of which some functions read entries by key."""

    def __init__(self, path, name, held):
        self.path = path
        self.name = name
        # The dictionary itself, and the keys that it had when it was looked at last.
        self.held = held
        self.keys = set()
        self._names = {}
        self._found = {}

    def entry(self, key):
        """The name of the cell of an entry."""
        name = self._names.get(key)
        if name is None:
            text = repr(key)
            if len(text) > _LONGEST or not key.isprintable():
                digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8)
                text = "~" + digest.hexdigest()
            # A point divides names of classes and members.
            name = self._names[key] = "%s[%s]" % (self.name, text.replace(".", "\\x2e"))
            self._found[name] = key
        return name

    def key_of(self, name):
        """The key of an entry or its presence; `None` if nobody asked for it."""
        return self._found.get(name.rstrip("?"))

    @property
    def kind(self):
        """The name of the cell that tells whether there are entries by key at all."""
        return self.name + "[]"

    def entries(self, keys=None):
        """Pairs of a key, one of `keys`, and what is there."""
        if keys is None:
            return [(key, held) for key, held in dict.items(self.held) if type(key) is str]
        return [(key, self.held[key]) for key in keys if type(key) is str and key in self.held]

    def named(self, cells, are_unwatched):
        """By the names of cells what was taken of the entries."""
        found = {}
        for key, value in cells.items():
            if type(key) is str:
                found[self.entry(key)] = value
                if not are_unwatched:
                    found[self.entry(key) + "?"] = _THERE
            elif type(key) is int and not are_unwatched:
                # Which object the dictionary is: whether others hold the same one.
                found[self.kind] = value
        if self.kind in found and not all(type(key) is str for key in dict.keys(self.held)):
            # Such a key may be equal to another one.
            found[self.kind] = "a key that is no str"
        return found

    def changed(self, keys):
        """The names of the cells that are others now, if what is at `keys` was changed."""
        now = {key for key in dict.keys(self.held) if type(key) is str}
        if keys is None:
            keys = now | self.keys
        elif any(type(key) is not str for key in keys):
            yield self.kind
        for key in keys:
            if type(key) is str:
                name = self.entry(key)
                yield name
                if (key in now) != (key in self.keys):
                    yield name + "?"
        self.keys = now


class Keys:
    """Watches functions that read dictionaries by key, and knows the dictionaries."""

    def __init__(self, agent):
        self.agent = agent
        # (Path, name) -> dictionary; the same by the identity of what it holds.
        self.known = {}
        self._by_identity = {}
        # Label -> that of its module, and the dictionary.
        self._labels = {}
        # Id of a code object -> what it does, by offset.
        self._watched = {}
        # Those that were watched; and file and name of code that programs made.
        self._forgotten, self._made = [], set()
        # Paths of modules that have run.
        self._paths = set()
        self._tool = None
        # What was told of the scope that read last.
        self._scope, self._told, self._read = None, set(), 0

    def start(self):
        monitoring = sys.monitoring
        for tool in range(6):
            if monitoring.get_tool(tool) == "tamis":
                self._tool = tool
                event = monitoring.events.INSTRUCTION
                monitoring.register_callback(tool, event, self._callback(monitoring.DISABLE))

    # -- dictionaries ---------------------------------------------------------

    @guard
    def module_ran(self, module, path):
        """A module of the project has run: watch its functions."""
        if self._tool is None:
            return
        if path in self._paths:
            # It ran twice, and nobody knows which one is met.
            for known in list(self.known):
                if known[0] == path:
                    self._give_up(*known)
            return
        self._paths.add(path)
        found = {
            name: value
            for name, value in list(vars(module).items())
            if type(value) is dict and type(name) is str and name[:2] != "__"
            # Variables of the environment are called like its entries.
            and name != "environ"
        }
        for code in _codes_of(module) if found else ():
            names = found.keys() & set(code.co_names)
            done = {name: accesses(code, name) for name in names}
            done = {name: one for name, one in done.items() if one is not None}
            is_made = (code.co_filename, code.co_name) in self._made
            if done and begin(code) is not None and not is_made:
                self._watch(code, path, vars(module), done)
                for name in done:
                    self._know(path, name, found[name])

    def _know(self, path, name, held):
        if (path, name) not in self.known and _can_be_told(held):
            one = self.known[path, name] = Dictionary(path, name, held)
            one.keys = {key for key, _ in one.entries()}
            self._by_identity.setdefault(id(held), []).append(one)

    def of(self, held):
        """The dictionaries that are this object."""
        return self._by_identity.get(id(held), ()) if type(held) is dict else ()

    def entries(self, held, keys=None):
        """The entries, or those at `keys`, of an object that is a dictionary which some code reads
        by key: pairs of what is there and the root of its cell."""
        return [
            (value, ("name", one.path, one.entry(key)))
            for one in self.of(held)
            for key, value in one.entries(keys)
        ]

    def changed(self, held, keys):
        """The roots of the cells that are others now, if what is at `keys` was changed. `None`: at
        any."""
        those = list(self.of(held))
        found = {("name", one.path, name) for one in those for name in one.changed(keys)}
        if those and not _can_be_told(held):
            for one in those:
                self._give_up(one.path, one.name)
        return found

    def rebound(self, path, name, value):
        """The same, as the global `name` holds `value` now."""
        one = self.known.get((path, name))
        if one is None or value is one.held:
            return ()
        if type(value) is not dict:
            self._give_up(path, name)
            return {("name", path, one.kind)}
        self._by_identity[id(one.held)].remove(one)
        one.held = value
        self._by_identity.setdefault(id(value), []).append(one)
        return {("name", path, name) for name in (one.kind, *one.changed(None))}

    def _give_up(self, path, name):
        """Who asks it for a key reads all of it from now on."""
        one = self.known.pop((path, name), None)
        if one is not None:
            self._by_identity[id(one.held)].remove(one)

    def holders(self):
        """What of the agent's refers to the names of modules."""
        return list(self._watched.values())

    # -- values ---------------------------------------------------------------

    def roots(self, modules, label, asked=None):
        """What the native helper takes of the dictionaries of `modules`: path -> module. `label`
        gives the label of a path. Only the entries at `asked`, places of cells, if there are any."""
        found = []
        for (path, name), one in self.known.items():
            module = modules.get(path)
            if module is None or vars(module).get(name) is not one.held:
                continue
            root = "%s[%s" % (label(path), name), one.held
            self._labels[root[0]] = label(path), one
            if asked is None:
                found.append(root)
                continue
            cells = [at for of, _, at in asked if of == path]
            keys = tuple(key for key in map(one.key_of, cells) if key is not None)
            if keys or one.kind in cells:
                found.append(root + (keys,))
        return tuple(found)

    def named(self, taken):
        """Puts what was `taken` of dictionaries to the cells of their modules."""
        for label, (of, one) in self._labels.items():
            for mark in ("", "*unwatched:"):
                cells = taken.pop(mark + label, None)
                if cells is not None:
                    into = taken.setdefault(mark + of, {})
                    into.update(one.named(cells, bool(mark)))
        return taken

    def has_lost(self, path, name):
        """Whether a cell is an entry of a dictionary of which nothing is known any more."""
        name, mark, _ = name.partition("[")
        return bool(mark) and (path, name) not in self.known

    # -- functions ------------------------------------------------------------

    def _watch(self, code, path, space, done):
        entry = begin(code)
        by_offset = {
            offset: (name, *access)
            for name, places in done.items()
            for offset, access in places.items()
        }
        marks = ["[!%d %s %s" % (code.co_firstlineno, code.co_name, name) for name in done]
        # The code object stays alive, so that no other one gets its place in memory.
        self._watched[id(code)] = code, path, space, entry, marks, by_offset, [0]
        sys.monitoring.set_local_events(self._tool, code, sys.monitoring.events.INSTRUCTION)

    def _callback(self, disable):
        watched = self._watched

        def at_instruction(code, offset):
            one = watched.get(id(code))
            if one is None or offset != one[3] and offset not in one[5]:
                return disable
            try:
                self._on(one, offset, sys._getframe(1))
            except Exception as error:
                self.agent.disable("at_instruction", error)

        return at_instruction

    def _on(self, one, offset, frame):
        _, path, space, entry, marks, by_offset, count = one
        agent = self.agent
        if agent.finished:
            return
        scope = agent.top
        if scope is not self._scope:
            self._scope, self._told, self._read = scope, set(), 0
        if offset == entry:
            for mark in marks:
                self._tell(path, mark)
            count[0] += 1
        if offset not in by_offset:
            return
        name, how, of_text, source = by_offset[offset]
        key = source if of_text else frame.f_locals.get(source)
        count[0] += 1
        if count[0] > _MOST_EVENTS:
            self._forget(one)
            return
        if key is None and not of_text and source not in frame.f_locals:
            # It fails.
            return
        is_known = type(key) is str and frame.f_globals is space and (path, name) in self.known
        if not is_known or type(space.get(name)) is not dict:
            self._tell(path, "[" + name)
            return
        text = self.known[path, name].entry(key)
        text = "[%s%s" % (text, "?" if how == "presence" else "")
        if (path, text) not in self._told:
            self._read += 1
            self._tell(path, text if self._read <= _MOST_READS else "[" + name)

    def _tell(self, path, text):
        if (path, text) not in self._told:
            self._told.add((path, text))
            self.agent.note("reached", path, text)

    def _forget(self, one):
        """It is not watched any more. As there are scopes that run it without a mark, it counts as
        reading everything in all of them."""
        code, path = one[:2]
        sys.monitoring.set_local_events(self._tool, code, 0)
        del self._watched[id(code)]
        self._forgotten.append(code)
        for name in {name for name, *_ in one[5].values()}:
            self.agent.note("reached", path, "[" + name)

    def made_code(self, file, name):
        """A program makes a code object: a copy of one that is watched is not."""
        self._made.add((file, name))
        for one in list(self._watched.values()):
            if one[0].co_name == name and one[0].co_filename == file:
                self._forget(one)


def _can_be_told(held):
    """Whether entries tell all of a dictionary. A key that is no text may be equal to one, and in
    large dictionaries nobody sees what changes in them."""
    return len(held) <= _MOST_ENTRIES and all(type(key) is str for key in dict.keys(held))


def _codes_of(module):
    """The code of functions and methods that a module defines, where names lead to them."""
    space, found, seen = vars(module), [], set()
    waiting = list(space.values())
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if is_a(value, (staticmethod, classmethod)):
            waiting.append(value.__func__)
        elif type(value) is property:
            waiting.extend((value.fget, value.fset, value.fdel))
        elif type(value) is functools.cached_property:
            waiting.append(value.func)
        elif type(value) is types.FunctionType:
            waiting.append(value.__dict__.get("__wrapped__"))
            if value.__globals__ is space:
                found.append(value.__code__)
        elif is_a(value, type) and vars(value).get("__module__") == module.__name__:
            waiting.extend(vars(value).values())
    return found


def unwatched(taken):
    """Takes out of `taken` which of its cells may change with nobody watching, and those of which
    no dict or list shows it. Without those that have no value: they are as they were until they
    get one, and that is seen at the end."""
    found, silent = {}, {}
    for marked in [label for label in taken if label.startswith("*unwatched:")]:
        label = marked.partition(":")[2]
        cells = taken.get(label, {})
        for key, mark in taken.pop(marked).items():
            if not isinstance(cells.get(key), str):
                found.setdefault(label, {})[key] = None
                if mark[0]:
                    silent.setdefault(label, {})[key] = None
    return found, silent

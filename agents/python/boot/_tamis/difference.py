"""A cell that differs, and by which names code reads it.

PYTEST_DONT_REWRITE
"""

from .names import name_hash

# What modules are asked for a name that they lack.
PROVIDER = "__getattr__"

# Who lists the members of a class meets these, too.
HELD_BY_CLASSES = ("__annotations__", "__doc__")

# What the text begins with that tells a class of which all members were got.
_LISTED = "{"

# The same for one that was asked for its docstring.
_ASKED_FOR_DOCS = '"'


class Difference:
    """A cell that has not the recorded value, or a module or class that is there at one time
    only."""

    __slots__ = (
        *("name", "key", "path", "why", "kind", "for_all", "names", "hashes", "cell"),
        "is_plain",
    )

    def __init__(self, name, key, path, why=None):
        self.name = name
        self.key = key
        self.path = path
        # Why it has no value now.
        self.why = why
        # Every test that needs the module reads it.
        self.for_all = False
        # The path and the name by which tests left it.
        self.cell = None
        # Whether both values say so: see `values.digest_of`.
        self.is_plain = False
        self.kind = _kind(name, key)
        self._name()

    def _name(self):
        """By which names code reads it."""
        self.names = self._spelled()
        self.hashes = {name_hash(name) for name in self.names}
        if self.kind == "entry":
            # Code that asks for it by key tells the collector.
            self.hashes.add(name_hash("%s#%s" % (self.path, self.key)))
        holder = self.name.partition(":")[2]
        if holder:
            # Code that gets all members of a class tells which class.
            marks = _LISTED if self.is_listed() else ""
            marks += _ASKED_FOR_DOCS if self.is_of_class() else ""
            told = (self.name, "%s:%s" % (self.path, holder)) if self.path else ("*",)
            self.hashes.update(name_hash(mark + one) for mark in marks for one in told)
        if self.kind == "call":
            self.hashes.add(name_hash("(" + qualified_name(self.name, self.key)))
        if self.kind == "global" and self.key == PROVIDER:
            self.hashes.add(name_hash("%s:%s" % (self.path, PROVIDER)))

    def is_of_class(self):
        """Whether it is the docstring of a class."""
        return self.key == "__doc__" and ":" in self.name

    def is_listed(self):
        """Whether who lists the members of a class meets it."""
        if self.key in HELD_BY_CLASSES:
            return True
        return self.kind in ("member", "serial", "shape") and self.key != "__subclasses__"

    def _spelled(self):
        if self.kind == "module":
            # Who imports a library in a test gets it then. Who wants `a.b` spells `b`.
            return () if self.name.startswith("*lib:") else (self.name.rpartition(".")[2],)
        if self.kind == "class":
            return (self.name.replace(":", ".").rpartition(".")[2],)
        if self.kind == "marks":
            # A file that marks its own tests spells the attribute.
            return (self.key.rpartition(".")[0].rpartition(".")[2],)
        if self.kind in ("docs", "annotations"):
            # `f.__doc__`: those who spell `f` alone do not read it.
            return (self.key.rpartition(".")[2],)
        if self.kind in ("shape", "text", "entry", "call", "serial"):
            return ()
        return (self.key,)

    def be_serial(self):
        """A number that classes count their objects by: code that does no more than that, or sorts
        them, does not read it."""
        self.kind = "serial"
        self._name()

    def be_text(self):
        """The docstring or the annotations of a function that is there at one time only: who
        gets at the function has read another cell."""
        self.kind = "text"
        self._name()

    def be_called(self):
        """How a function can be called, which says all that it is but for its code."""
        self.kind = "call"
        self._name()

    def __str__(self):
        if self.kind in ("module", "class"):
            text = self.name.lstrip("*").replace(":", ".")
        elif self.kind == "shape":
            text = "order of names in %s" % self.name
        else:
            key = self.key.replace("\\x2e", ".") if self.kind == "entry" else self.key
            text = "%s.%s" % (self.name.replace(":", "."), key)
        return said(text, self.why)


def said(text, why):
    return "%s has no value (%s)" % (text, why) if why else text + " differs"


# The last one is what stands at a key of a global dictionary.
KINDS = tuple(
    """module class text docs annotations marks shape member global subclasses entry call
    serial""".split()
)
# Those that code gets at by a name.
NAMED = ("module", "class", "member", "global")


# Cells of their own that functions have.
OF_FUNCTIONS = ("__doc__", "__annotations__", "pytestmark")


def _kind(name, key):
    if key is None:
        return "class" if ":" in name else "module"
    last = key.rpartition(".")[2]
    if last == "__doc__":
        return "docs"
    if last == "__annotations__":
        return "annotations"
    if last == "pytestmark" and last != key:
        return "marks"
    if key == "":
        return "shape"
    if key.endswith(("]", "]?")) and ":" not in name:
        return "entry"
    return "member" if ":" in name else "global"


def qualified_name(name, key):
    """The qualified name of a function in a holder."""
    holder = name.partition(":")[2]
    return "%s.%s" % (holder, key) if holder else key


def asked_for(member):
    """The annotated names for which code may ask a class for this member: its own, and those that it
    has between underlines (`serialize_size`). Test methods are asked for by nobody but the runner."""
    if not isinstance(member, str) or member.startswith("test"):
        return {member}
    parts = member.strip("_").split("_")[:_MOST_PARTS]
    ends = range(1, len(parts) + 1)
    return {member, *("_".join(parts[at:end]) for end in ends for at in range(end))}


# Of longer names the rest is not looked at.
_MOST_PARTS = 12

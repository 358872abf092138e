"""Who reads annotations of the project, and whether somebody may know what they say: code of an
installed package that read some, or code of the project that did so before the tests and may have
kept their text.

Whoever knows can find out what the text means, now or later, and look at the classes that it leads
to. Which names that takes nobody sees. So this counts for all tests.
"""

import functools
import sys
import types

from .bytecode import attribute, steps, steps_at
from .watch import identity, is_a

# Classes have a descriptor for annotations since then. Before, nobody can tell who reads them.
_CAN_TELL = (3, 10)

# What gets annotations when it stands after a dot, or as a key among the members of a class.
NAMES = frozenset(
    ("__annotations__", "__annotate__", "__annotate_func__", "__annotations_cache__")
)

# These run where the tests do not: what they keep is what tests may find.
_BEFORE_TESTS = frozenset(("session", "child", "import", "collect"))

# Who copies annotations: those of the copies count where they are read.
_COPY = functools.update_wrapper.__code__
_COPIES = "reprlib.py"

# What these attributes lead to has descriptors for annotations.
_NO_INSTANCES = frozenset(("__call__", "__class__", "__func__", "__init__", "__new__"))

# Parts of the standard library that look members up by names that somebody gives them. Others
# spell what they look for.
_INSPECT = "inspect.py"
_BY_ANY_NAME = (_INSPECT, "pydoc.py", "mock.py", "doctest.py")

# Where `unittest.mock` has the name of the member that it looks up.
_KEYS = {"get_original": "name", "_must_skip": "entry"}

# hypothesis reads the signatures of tests for the names of what it hands over. What their text means
# it asks `typing`, and that is seen.
_FOR_NAMES = "/hypothesis/internal/reflection.py"

_DATACLASSES = "dataclasses.py"
_FIELDS = "__dataclass_fields__"

_TYPING = ("typing.py", "annotationlib.py", "typing_extensions.py")

_MAPPING = type(type.__dict__)
_DEEPEST = 10


class Readers:
    """Notes who reads, and tells once that somebody may know text."""

    def __init__(self, agent, reached):
        self.agent = agent
        self.paths = agent.paths
        self.reached = reached
        self.is_known = False
        # Whether fields of a dataclass of the project have text, and somebody asks who may find out
        # what it means.
        self._have_text = self._asks_fields = False
        # Code and offset in it -> whether it asks only for names of parameters there.
        self._by_names = {}
        # By name of a module: whether it is outside of the project.
        self._outside = {}

    def begin(self, can_tell):
        if not can_tell or sys.version_info < _CAN_TELL:
            self._tell()
            self.agent.note("annotations", "", None, self.agent.root_scope)

    def _tell(self):
        if not self.is_known:
            self.is_known = True
            self.agent.note("annotations", "*", None, self.agent.root_scope)

    def on_read(self, of, found, frame):
        """`frame` gets `found` of a function, a class or a module: annotations, what computes
        them, or the members of a class. Or it asks another object for annotations."""
        who = self._who(frame)
        if who is None:
            return
        if type(found) is str and found == _FIELDS:
            if _gives_fields(frame) and self._is_of_project(of):
                self._on_fields(who)
            return
        if who == "project" and self._wants_names(frame):
            return
        is_before = self.agent.top.kind in _BEFORE_TESTS
        is_direct = who == "project" and self._asker(frame.f_code.co_filename) == who
        if is_a(found, _MAPPING):
            # What code of the project does with the members of a class is known from its source.
            if is_direct and not is_before or self._looks_for_others(frame):
                return
        if not self._is_of_project(of) or self._is_for_names(frame):
            return
        if who == "library":
            if _has_text(found):
                self._tell()
        elif is_before and _has_text(found) and self._may_keep(frame, is_direct):
            if _makes_dataclass(frame):
                self._have_text = True
                self._tell_of_text()
            else:
                self._tell()
        if not self.reached.is_by_value():
            self.agent.note("reached", "", ".__annotations__")

    def _on_fields(self, who):
        """Somebody asks for the fields of a dataclass. Code of the project may hand their text on to a
        library while its test runs."""
        if who == "project" and self.agent.top.kind not in _BEFORE_TESTS:
            self.agent.note("reached", "", ".__annotations__")
        else:
            self._ask_fields()

    def _ask_fields(self):
        """Somebody asks for fields who may find out what text means when nobody sees that: a library,
        or code that keeps the text."""
        self._asks_fields = True
        self._tell_of_text()

    def _tell_of_text(self):
        """The text that the fields of a dataclass have is a value as long as nobody asks for them."""
        if self._have_text and self._asks_fields:
            self._tell()

    def _looks_for_others(self, frame):
        """Whether code wants the members of a class for something else."""
        key = self.reached.asked_at("__dict__", frame)
        if key is not None:
            return key not in NAMES
        code = frame.f_code
        if self._asker(code.co_filename) != "stdlib":
            return False
        if not code.co_filename.endswith(_BY_ANY_NAME):
            return not _asks(code)
        # `attr`: in `getattr_static`, by which `isinstance` asks for members of protocols.
        key = frame.f_locals.get(_KEYS.get(code.co_name, "attr"))
        if key == _FIELDS:
            self._ask_fields()
        return type(key) is str and key not in NAMES or code.co_name.startswith("_shadowed_dict")

    def _is_for_names(self, frame):
        asking = self._asking(frame)
        return asking is not None and asking.f_code.co_filename.endswith(_FOR_NAMES)

    def _wants_names(self, frame):
        """Whether `signature(x).parameters.keys()` reads, which drops all but names."""
        asking = frame
        while self._asker(asking.f_code.co_filename) in ("stdlib", "agent"):
            if not asking.f_code.co_filename.endswith(_INSPECT):
                return False
            asking = asking.f_back
        if asking is frame:
            return False
        place = asking.f_code, asking.f_lasti
        known = self._by_names.get(place)
        if known is None:
            names = [attribute(place[0], *step) for step in steps_at(*place, 3)[1:]]
            known = self._by_names[place] = names == ["parameters", "keys"]
        return known

    @staticmethod
    def _may_keep(frame, is_direct):
        """Whether code of the project may keep text of annotations, other than where it is."""
        if not is_direct:
            # `typing` keeps what it means.
            return not frame.f_code.co_filename.endswith(_TYPING)
        # Or it makes a static method, which gets a copy.
        return _asks(frame.f_code)

    def on_code(self, code):
        """Code runs for the first time that spells `__annotations__`, outside of the project, or
        `__dataclass_fields__`. Nobody sees if it asks an object whose class answers."""
        if self.is_known:
            return
        who = self._asker(code.co_filename)
        if _FIELDS in code.co_names and who in ("project", "library"):
            # Nobody tells when it does so again.
            self._ask_fields()
        if who != "library":
            return
        if any(before not in _NO_INSTANCES for before in _asked(code)):
            self._tell()

    def on_evaluated(self, code, frame):
        """`frame` evaluates an expression that comes out of a text."""
        if not code.co_names:
            return
        who = self._who(frame)
        if who == "project" and not self.reached.is_by_value():
            # Perhaps text that the fields of a dataclass have.
            self.agent.note("reached", "", ".__annotations__")
        if self.is_known or who != "library":
            return
        if frame.f_code.co_filename.endswith(_TYPING):
            # Names of a module, and of a class there.
            held = map(frame.f_locals.get, ("globalns", "localns", "globals", "locals"))
            spaces = [one for one in held if type(one) is dict and one]
            names = [one.get("__name__", one.get("__module__")) for one in spaces]
            if names and all(map(self._is_outside, names)):
                return
        self._tell()

    def look_at_classes(self):
        """A metaclass gets the annotations of a class among its members, before there is a
        class that could be asked."""
        if self.is_known:
            return
        seen, waiting = set(), [object]
        while waiting:
            one = waiting.pop()
            if identity(one) in seen:
                continue
            seen.add(identity(one))
            waiting.extend(type.__subclasses__(one))
            if type(one) is not type and any(map(self._is_of_library, type.mro(type(one)))):
                if self._is_of_project(one):
                    self._tell()
                    return

    # -- who asks -----------------------------------------------------------

    def _who(self, frame):
        """Whether the project or a library reads, perhaps by way of the standard library; `None`
        if it is the test runner, or nobody makes anything of it."""
        code = frame.f_code
        file = code.co_filename
        is_copy = code is _COPY or file.endswith(_COPIES) and self._asker(file) == "stdlib"
        if is_copy or self._asker(file) == "agent":
            return None
        asking = self._asking(frame)
        asker = asking and self._asker(asking.f_code.co_filename)
        return asker if asker in ("project", "library") else None

    def _asking(self, frame):
        """Who has the standard library read. The agent stands in for functions of that."""
        while frame is not None and self._asker(frame.f_code.co_filename) in ("stdlib", "agent"):
            frame = frame.f_back
        return frame

    def _asker(self, file):
        actor = self.paths.actor(file)
        if actor == "other":
            return "library" if self.paths.code_file(file) is None else "project"
        return actor

    # -- of whom ------------------------------------------------------------

    def _is_of_project(self, of):
        if is_a(of, types.FunctionType):
            code = of.__code__
            if self.paths.code_file(code.co_filename) is not None:
                return True
            return not self._is_outside(of.__module__)
        if is_a(of, types.ModuleType):
            return not self._is_outside(vars(of).get("__name__"))
        kind = of if is_a(of, type) else type(of)
        return any(not self._is_outside(_module_of(one)) for one in type.mro(kind))

    def _is_of_library(self, kind):
        name = _module_of(kind)
        file = vars(sys.modules.get(name, types)).get("__file__")
        return type(file) is str and self._asker(file) == "library"

    def _is_outside(self, name):
        """Whether a module is known to be another one's than the project's."""
        if type(name) is not str:
            return False
        known = self._outside.get(name)
        if known is None:
            known = self._find_outside(name)
            if name in sys.modules:
                self._outside[name] = known
        return known

    def _find_outside(self, name):
        # A package gives its classes the names of modules that come later.
        whole = name
        while name:
            module = sys.modules.get(name)
            file = vars(module).get("__file__") if is_a(module, types.ModuleType) else None
            if type(file) is str:
                return self.paths.code_file(file) is None
            name = name.rpartition(".")[0]
        name = whole
        known = getattr(sys, "stdlib_module_names", sys.builtin_module_names)
        return name.partition(".")[0] in known


def _makes_dataclass(frame):
    """Whether a dataclass is made of a class."""
    while frame is not None and frame.f_code.co_filename.endswith(_INSPECT):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.endswith(_DATACLASSES)


def _gives_fields(frame):
    """Whether fields are handed out, and not used to copy, compare or extend an object."""
    asking = None
    while frame is not None and frame.f_code.co_filename.endswith(_DATACLASSES):
        asking, frame = frame.f_code.co_name, frame.f_back
    return asking in (None, "fields")


def _asks(code):
    """Whether code spells that it gets annotations."""
    texts = (one for one in code.co_consts if type(one) is str)
    return not NAMES.isdisjoint(texts) or bool(_asked(code))


def _asked(code):
    """The attributes of which code asks annotations; `None` for what is none."""
    found = []
    if NAMES.isdisjoint(code.co_names):
        return found
    before = None
    for _, operation, argument in steps(code):
        name = attribute(code, operation, argument)
        if name is not None:
            if name in NAMES:
                found.append(before)
            before = name
        elif operation:
            before = None
    return found


def _module_of(kind):
    return type.__dict__["__module__"].__get__(kind)


def _has_text(found):
    """Whether annotations, or the members of a class, have text that somebody may evaluate."""
    if is_a(found, _MAPPING):
        found = next((found[name] for name in NAMES if name in found), None)
        if found is None:
            return False
    if type(found) is not dict:
        # What computes them, or those of an object that nobody knows.
        return True
    return any(_is_text(value, 0) for value in list(found.values()))


def _is_text(value, depth):
    if depth > _DEEPEST:
        return True
    if value is None or value is Ellipsis or is_a(value, type):
        return False
    if type(value).__name__.startswith("_Special"):
        return False
    if type(value).__module__ in ("typing", "types"):
        parts = getattr(value, "__args__", None)
        return type(parts) is not tuple or any(_is_text(part, depth + 1) for part in parts)
    return True

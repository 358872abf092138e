"""Makes random small programs and edits them: see programs.py."""

import re

BUILTINS = ["len", "sorted", "repr", "int", "str"]


class Module:
    """A module being made: a list of blocks, each a few lines of source."""

    def __init__(self, program, name):
        self.program = program
        self.name = name
        self.head = []
        self.blocks = []

    def text(self):
        return "\n".join(self.head + [block for _, block in self.blocks]) + "\n"

    def names(self):
        return [name for name, _ in self.blocks if name]


class Program:
    def __init__(self, rng, number):
        self.rng = rng
        self.package = "p%d" % number
        self.count = 0
        self.modules = []
        # Code that reaches all names makes all tests depend on all of them. Most programs do
        # not have such code.
        self.reflects = rng.random() < 0.2
        # A module that may import anything guarantees nothing about the names around it.
        self.helpers = HELPERS + REFLECTING if self.reflects else HELPERS
        # Some modules make code from text, or look at frames.
        self.makes = rng.random() < 0.3
        if self.makes:
            self.helpers += MAKING
        init = Module(self, "__init__")
        for index in range(rng.randint(2, 5)):
            module = Module(self, "m%d" % index)
            if rng.random() < 0.5:
                module.head.append("from __future__ import annotations")
            if rng.random() < 0.2:
                module.head.append('"""Module %d."""' % index)
                module.head.reverse()
            self.modules.append(module)
            self.imports(module)
            for _ in range(rng.randint(3, 9)):
                self.add(module)
        self.modules.append(init)
        self.reexports(init)
        self.tests = [self.test() for _ in range(rng.randint(3, 7))]
        self.test_head = ["import %s" % self.package] + [
            "from %s import %s" % (self.package, module.name) for module in self.modules[:-1]
        ]
        if rng.random() < 0.4:
            module = rng.choice(self.modules[:-1])
            names = module.names()
            if names:
                name = rng.choice(names)
                self.test_head.append("from %s.%s import %s" % (self.package, module.name, name))
                self.tests.append("show(%s)" % name)

    # -- names --------------------------------------------------------------

    def fresh(self, kind):
        self.count += 1
        return "%s%d" % (kind, self.count)

    def earlier(self, module):
        """Modules that `module` may import without a cycle."""
        return self.modules[: self.modules.index(module)] if module in self.modules else self.modules

    def value(self, module, depth=0):
        """An expression with names that are bound, or nearly always bound, when it is
        evaluated."""
        rng = self.rng
        names = [n for n in module.names() if n[0] in "kf"]
        choice = rng.random()
        if choice < 0.35 or depth > 2:
            return str(rng.randint(0, 9))
        if choice < 0.6 and names:
            name = rng.choice(names)
            return name if name[0] == "k" else "%s()" % name
        if choice < 0.7 and names:
            return "[%s, %s]" % (self.value(module, depth + 1), rng.choice(names)[0] and self.value(module, depth + 1))
        if choice < 0.78:
            return "len(%r)" % ("x" * rng.randint(0, 5))
        others = [m for m in self.modules if m is not module and m.names() and m.name != "__init__"]
        if not self.reflects:
            others = [m for m in others if (None, "from . import %s" % m.name) in module.blocks]
        if self.makes and names and rng.random() < 0.4:
            return self.making(module, rng.choice(names), others)
        if others:
            other = rng.choice(others)
            name = rng.choice(other.names())
            if not self.reflects:
                if choice < 0.88:
                    return "attempt(lambda: %s.%s)" % (other.name, rng.choice([name, name, "x9", "f9"]))
                return "attempt(lambda: %s.%s%s)" % (other.name, name, "()" if name[0] in "fc" else "")
            call = "()" if name[0] in "fc" else ""
            if choice < 0.86:
                return "get(%s.%s, %r)" % (self.package, other.name, name)
            if choice < 0.92:
                return "optional(%r, %r)" % ("%s.%s" % (self.package, other.name), rng.choice([name, "x9", "f9"]))
            return "later(lambda: mod(%r).%s%s)" % ("%s.%s" % (self.package, other.name), name, call)
        return repr("s%d" % rng.randint(0, 9))

    def literal(self):
        rng = self.rng
        return rng.choice(
            [
                str(rng.randint(0, 99)),
                repr("t%d" % rng.randint(0, 9)),
                "[%d, %d]" % (rng.randint(0, 9), rng.randint(0, 9)),
                "{'a': %d}" % rng.randint(0, 9),
                "(%d,)" % rng.randint(0, 9),
                "None",
            ]
        )

    # -- blocks ---------------------------------------------------------------

    def imports(self, module):
        rng = self.rng
        for other in self.earlier(module):
            if rng.random() < 0.7:
                names = [n for n in other.names()]
                choice = rng.random()
                if choice < 0.35 and names:
                    name = rng.choice(names)
                    module.blocks.append((name, "from .%s import %s" % (other.name, name)))
                elif choice < 0.45 and names:
                    name, new = rng.choice(names), self.fresh(rng.choice("k"))
                    if name[0] == "k":
                        module.blocks.append((new, "from .%s import %s as %s" % (other.name, name, new)))
                elif choice < 0.65:
                    module.blocks.append((None, "from . import %s" % other.name))
                elif choice < 0.66:
                    module.blocks.append((None, "from .%s import *" % other.name))
                elif choice < 0.8:
                    module.blocks.append(
                        (None, "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .%s import missing" % other.name)
                    )
                elif choice < 0.9:
                    new = self.fresh("k")
                    module.blocks.append(
                        (new, "try:\n    from .%s import x9 as %s\nexcept ImportError:\n    %s = 0" % (other.name, new, new))
                    )
                else:
                    module.blocks.append((None, "import %s.%s" % (self.package, other.name)))
        module.blocks.append((None, self.helpers))

    def reexports(self, init):
        rng = self.rng
        for module in self.modules[:-1]:
            choice = rng.random()
            names = module.names()
            if choice < 0.4 and names:
                name = rng.choice(names)
                init.blocks.append((name, "from .%s import %s as %s" % (module.name, name, name)))
            elif choice < 0.43:
                init.blocks.append((None, "from .%s import *" % module.name))
        if rng.random() < 0.1:
            init.blocks.append((None, "def __getattr__(name):\n    if name == 'lazy':\n        from . import m0\n        return m0\n    raise AttributeError(name)"))
        if rng.random() < 0.2:
            init.blocks.append((None, "__all__ = ['m0']"))

    def add(self, module, name=None, at=None):
        block = self.block(module, name)
        if at is None:
            module.blocks.append(block)
        else:
            module.blocks.insert(at, block)

    def block(self, module, name=None):
        rng = self.rng
        kind = name[0] if name else rng.choice("kkkffffffcccccde")
        if kind == "k" or (name and kind not in "fcde"):
            name = name or self.fresh("k")
            form = rng.random()
            if form < 0.5:
                return name, "%s = %s" % (name, self.literal())
            if form < 0.6:
                return name, "%s: int = %s" % (name, rng.randint(0, 99))
            if form < 0.7:
                return name, "%s = lambda: %s" % (name, self.value(module))
            if form < 0.8:
                functions = [n for n in module.names() if n[0] == "f"] or ["len"]
                return name, "%s = {'go': %s, 'n': %d}" % (name, rng.choice(functions), rng.randint(0, 9))
            return name, "%s = %s" % (name, self.value(module))
        if kind == "f":
            return self.function(module, name or self.fresh("f"))
        if kind == "c":
            return self.klass(module, name or self.fresh("c"))
        if kind == "d":
            return self.registry(module, name or self.fresh("d"))
        return self.effect(module)

    def function(self, module, name):
        rng = self.rng
        consts = [n for n in module.names() if n[0] == "k"]
        parameters = rng.choice(
            ["", "a=%d" % rng.randint(0, 9), "*, b=%s" % self.literal(), "a: int = 1, *args", "a: 'k1' = 2",
             "a: %s = 3" % self.annotation(module), "a: int = 1, *args: %s" % self.annotation(module)]
            + (["a=%s" % rng.choice(consts)] if consts else [])
        )
        lines = ["def %s(%s)%s:" % (name, parameters, rng.choice(["", " -> int", " -> 'missing'", " -> " + self.annotation(module)]))]
        if rng.random() < 0.2:
            lines.append('    """Does %d."""' % rng.randint(0, 9))
        if rng.random() < 0.15:
            lines.append("    from .%s import %s" % self.somewhere(module))
        shown = self.value(module)
        if rng.random() < 0.15:
            target = self.fresh("g")
            lines = ["%s = 0" % target] + lines
            lines += ["    global %s" % target, "    %s += 1" % target]
            shown = "(%s, %s)" % (shown, target)
        if rng.random() < 0.25:
            lines.append(rng.choice(["    v: %s = 1", "    v: %s", "    def v(w: %s = 2): return w", "    class v:\n        w: %s = 3"]) % self.annotation(module))
        if rng.random() < 0.12 and module.names():
            shown = "(%s, %s)" % (shown, self.reading(rng.choice(module.names())))
        if "a" in parameters and rng.random() < 0.6:
            shown = "(a, %s)" % shown
        if "b=" in parameters:
            shown = "(b, %s)" % shown
        lines.append("    return %s" % shown)
        decorator = rng.random()
        if decorator < 0.08:
            lines.insert(len(lines) - lines[::-1].index(next(l for l in lines if l.startswith("def"))) - 1, "@functools.lru_cache(maxsize=None)")
        elif decorator < 0.16:
            registries = [n for n in module.names() if n[0] == "d"]
            if registries:
                at = next(i for i, l in enumerate(lines) if l.startswith("def"))
                lines.insert(at, "@%s" % rng.choice(registries))
        return name, "\n".join(lines)

    def annotation(self, module):
        """One that can be evaluated anywhere."""
        rng = self.rng
        names = [n for n in module.names() if n[0] in "kfc"]
        return rng.choice(["int", "str", "'k%d'" % rng.randint(1, 9), "typing.Optional[int]", "None", "typing.List['c%d']" % rng.randint(1, 9)]
                          + ([repr(rng.choice(names))] if names else []))

    def reading(self, name):
        """An expression that reads annotations or docstrings of a module in some way."""
        return "attempt(lambda: %s)" % self.rng.choice(
            ["sorted(%s.__annotations__.items(), key=str)", "notes(%s)", "notes_of_members(%s)", "repr(vars(%s).get('__annotations__'))",
             "listed(%s)", "str(inspect.signature(%s))", "found(%s, '__anno' 'tations__')",
             "%s.__doc__", "inspect.getdoc(%s)", "docs(%s)", "texts(%s)", "found(%s, '__d' 'oc__')",
             "list(inspect.signature(%s).parameters.keys())", "%s.__code__.co_consts[:1]"]
        ) % name

    def making(self, module, name, others):
        """An expression that runs code made from text, or looks at a frame."""
        rng = self.rng
        other = rng.choice(others or [module])
        theirs = rng.choice([*(other.names() or [name]), "x9", "f9"])
        path = "%s.%s" % (self.package, other.name)
        text = rng.choice(
            [
                " from %s import %s as v\n return show(v)" % (path, theirs),
                " import %s as m\n return show(m.%s)" % (path, theirs),
                " from %s import %s as m\n return show(getattr(m, %r, 'none'))" % (self.package, other.name, theirs),
                " try:\n  from %s import %s as v\n except ImportError:\n  v = 'none'\n return show(v)" % (path, theirs),
                " return 3",
                " return show(eval(%r))" % rng.choice(["1", "show"]),
            ]
        )
        return rng.choice(
            [
                "attempt(lambda: made(%r))" % text,
                "attempt(lambda: made_once(%r))" % text,
                "attempt(lambda: eval(%r))" % rng.choice([name, "show(%s)" % name, "x9", "[%s for _ in 'ab']" % name]),
                "attempt(lambda: made_here(%r))" % rng.choice([name, theirs]),
                "attempt(lambda: pickle.dumps(%s))" % name,
                "attempt(lambda: frame_of(lambda: nothing).f_globals.get(%r, 'none'))" % name,
                "attempt(lambda: asked(lambda: %s))" % name,
                "attempt(lambda: held(lambda: nothing))",
            ]
        )

    def somewhere(self, module):
        others = [m for m in self.modules if m is not module and m.name != "__init__" and m.names()]
        if not others:
            return module.name, "functools"
        other = self.rng.choice(others)
        return other.name, self.rng.choice(other.names())

    def klass(self, module, name):
        rng = self.rng
        bases = [n for n in module.names() if n[0] == "c" and n != name]
        base = rng.choice(bases) if bases and rng.random() < 0.6 else rng.choice(["", "", "", "Exception", "abc.ABC", "dict"])
        meta = ", metaclass=%s" % rng.choice(["Meta", "Noting"]) if base and base in bases and rng.random() < 0.08 else ""
        if not base and rng.random() < 0.12:
            base = rng.choice(["metaclass=Noting", "metaclass=Meta", "metaclass=Deaf", "metaclass=Telling", "Noted", "Told", "typing.Protocol"])
        lines = ["class %s%s:" % (name, "(%s%s)" % (base, meta) if base else "")]
        if rng.random() < 0.06:
            lines.insert(0, rng.choice(["@noting", "@telling", "@typing.runtime_checkable"]))
        form = rng.random()
        if form < 0.05 and not base and len(lines) == 1:
            lines = ["class %s(typing.NamedTuple):" % name]
            lines += ["    a: %s = %d" % (self.annotation(module), rng.randint(0, 9)), "    b: %s = 2" % self.annotation(module)]
            return name, "\n".join(lines)
        if form < 0.1 and not base:
            lines = ["class %s(enum.Enum):" % name]
            lines += ["    A = %d" % rng.randint(0, 9), "    B = %d" % rng.randint(10, 19)]
            return name, "\n".join(lines)
        if form < 0.2 and not base:
            lines.insert(0, "@dataclasses.dataclass")
            lines += ["    a: int = %d" % rng.randint(0, 9)]
            return name, "\n".join(lines)
        if rng.random() < 0.35:
            lines.append('    """Class %d."""' % rng.randint(0, 9))
        for _ in range(rng.randint(1, 3)):
            what = rng.random()
            if what < 0.03:
                lines.append("    %s" % rng.choice(["z = __doc__", "def r(self, a=__doc__): return a"]))
            elif what < 0.25:
                lines.append("    %s = %s" % (rng.choice("xyz"), self.literal()))
            elif what < 0.5:
                lines.append(self.method(module))
            elif what < 0.6:
                lines.append("    @property\n    def %s(self):\n        return %s" % (rng.choice("xyz"), self.value(module)))
            elif what < 0.7:
                lines.append("    @classmethod\n    def %s(cls):\n        return [cls.__name__, %s]" % (rng.choice("pqr"), self.value(module)))
            elif what < 0.78:
                lines.append("    def %s(self, a=1):\n        return ['up', optional_call(super(), %r)]" % (rng.choice("pqr"), rng.choice("pqr")))
            elif what < 0.84:
                lines.append("    def __init_subclass__(cls, **kw):\n        super().__init_subclass__(**kw)\n        cls.tag = %s" % self.literal())
            elif what < 0.9:
                lines.append("    def __repr__(self):\n        return 'R%d'" % rng.randint(0, 9))
            elif what < 0.95:
                lines.append("    def __eq__(self, other):\n        return %s" % rng.choice(["True", "NotImplemented"]))
            else:
                lines.append("    y: int = %d" % rng.randint(0, 9))
            if rng.random() < 0.3:
                lines.append("    %s: %s" % (rng.choice("xyzw"), self.annotation(module)))
        return name, "\n".join(lines)

    def method(self, module):
        rng = self.rng
        consts = [n for n in module.names() if n[0] == "k"]
        parameters = rng.choice(
            ["a=%d" % rng.randint(0, 9), "a: int = %d" % rng.randint(0, 9), "*, a=%s" % self.literal(), "a=1, b: 'k1' = 2"]
            + (["a=%s" % rng.choice(consts)] if consts else [])
            + ["a: %s = 1" % self.annotation(module), "a=1, *b: %s" % self.annotation(module)]
        )
        doc = '        """Does %d."""\n' % rng.randint(0, 9) if rng.random() < 0.4 else ""
        head = "    @functools.lru_cache(maxsize=None)\n" if rng.random() < 0.05 else "    @noting\n" if rng.random() < 0.05 else "    @telling\n" if rng.random() < 0.05 else ""
        result = " -> %s" % self.annotation(module) if rng.random() < 0.3 else ""
        return "%s    def %s(self, %s)%s:\n%s        return (a, %s)" % (head, rng.choice("pqr"), parameters, result, doc, self.value(module))

    def registry(self, module, name):
        return (
            name,
            "%s_ENTRIES = []\ndef %s(thing):\n    %s_ENTRIES.append((thing.__name__, %d))\n    return thing"
            % (name, name, name, self.rng.randint(0, 9)),
        )

    def effect(self, module):
        rng = self.rng
        names = module.names()
        form = rng.random()
        if not self.reflects and (0.3 <= form < 0.6 or 0.7 <= form < 0.8):
            form = 0.9
        if form < 0.3 and names:
            name = rng.choice(names)
            return None, "try:\n    %s.extra = %d\nexcept (AttributeError, TypeError, NameError):\n    pass" % (name, rng.randint(0, 9))
        if form < 0.45:
            others = [m for m in self.earlier(module) if m is not module]
            if others:
                other = rng.choice(others)
                return None, "mod(%r).patched = %d" % ("%s.%s" % (self.package, other.name), rng.randint(0, 9))
        if form < 0.6:
            name = self.fresh("k")
            return name, "if optional(%r, 'x9') == 'none':\n    %s = %d\nelse:\n    %s = %d" % (
                self.package + "." + module.name, name, rng.randint(0, 9), name, rng.randint(0, 9))
        if form < 0.7:
            name = self.fresh("k")
            return name, "for %s in range(%d): pass" % (name, rng.randint(1, 5))
        if form < 0.8 and names:
            return None, "%s_backup = globals().get(%r)" % (self.fresh("k"), rng.choice(names))
        name = self.fresh("k")
        return name, "%s = sorted([%d, %d])" % (name, rng.randint(0, 9), rng.randint(0, 9))

    # -- tests ------------------------------------------------------------------

    def test(self):
        rng = self.rng
        module = rng.choice(self.modules[:-1])
        names = module.names() or ["HELP"]
        name = rng.choice(names)
        where = "%s.%s" % (module.name, name)
        kind = name[0]
        if kind == "f":
            return rng.choice(["show(%s())", "show(%s())", "show(%s())", "signature(%s)", "%s.__doc__", "hints(%s)",
                               "optional_call(%s, 'cache_info')", "str(%s.__annotations__)", "attribute(%s, '__annotations__')",
                               "call_by(%s, '__call__')", "document(%s)", "parameters(%s)"]) % where
        if kind == "c":
            return rng.choice(
                ["describe(%s)", "attribute(make(%s), 'x')", "optional_call(make(%s), 'p')", "optional_call(make(%s), 'q')",
                 "[c.__name__ for c in %s.__mro__]", "repr(make(%s))", "sorted(n for n in vars(%s) if n[0] != '_')",
                 "attribute(%s, 'tag')", "make(%s) == 3", "signature(%s.p)", "%s.q.__doc__", "hints(%s.p)",
                 "str(hints_of_class(%s))", "attribute(%s, '__annotations__')", "str(vars(%s).get('__annotations__'))",
                 "attribute(make(%s), '__annotations__')", "attempt(lambda: isinstance(3, %s))", "attribute(%s.p, 'noted')",
                 "attempt(lambda: make(%s).p())", "optional_call(make(%s), 'r')", "listed(%s)", "bound(%s)",
                 "documents(%s)", "%s.__doc__", "document(%s)", "texts(%s)", "document(make(%s))", "call_by(make(%s), 'pq'[1:])", "attempt(lambda: make(%s).p(3))"]
                + ["reload_pickle(%s)", "subclasses(%s)"] * self.reflects
            ) % where
        if kind == "d":
            return "show(%s_ENTRIES)" % where
        if rng.random() < 0.25:
            return "attempt(lambda: %s.%s)" % (module.name, rng.choice(["x9", "f9", "patched"] + names))
        if rng.random() < (0.15 if self.reflects else 0.02):
            return rng.choice(
                ["sorted(n for n in vars(%s) if n[0] in 'kfcd')", "hasattr(%s, 'x9')", "get(%s, 'f9')", "%s.__doc__", "attribute(%s, 'patched')"]
            ) % module.name
        return "show(%s)" % where

    # -- edits ------------------------------------------------------------------

    def edit(self):
        rng = self.rng
        for _ in range(rng.choice([1, 1, 1, 2])):
            module = rng.choice(self.modules)
            if not module.blocks:
                continue
            at = rng.randrange(len(module.blocks))
            name, block = module.blocks[at]
            what = rng.random()
            if block == self.helpers:
                what = 0.9
            if '"""' in block and rng.random() < 0.4:
                module.blocks[at] = (name, re.sub(r'"""(Does|Class) .', r'"""\1 %d' % rng.randint(0, 9), block))
            elif what < 0.5 and name and not block.startswith(("from", "try")):
                module.blocks[at] = self.block(module, name)
            elif what < 0.6:
                del module.blocks[at]
            elif what < 0.7:
                module.blocks.insert(rng.randrange(len(module.blocks)), module.blocks.pop(at))
            elif what < 0.74:
                new = rng.choice(BUILTINS)
                module.blocks.insert(at, (None, "def %s(*a, **k):\n    return 'mine'" % new))
            elif what < 0.84:
                new = rng.choice(["x9", "f9", "patched", "lazy"] + [n for m in self.modules for n in m.names()][:20])
                module.blocks.insert(at + 1, (new, "%s = %d" % (new, rng.randint(100, 199))))
            elif what < 0.9:
                source, item = self.somewhere(module)
                module.blocks.insert(at, (item, "from .%s import %s" % (source, item)))
            else:
                self.add(module, at=at + 1)


HELPERS = '''import abc, dataclasses, enum, functools, inspect, typing
def attempt(f):
    try: return show(f())
    except Exception as error: return type(error).__name__
def optional_call(thing, name):
    f = getattr(thing, name, None)
    return show(f()) if callable(f) else show(f)
def show(x): return type(x).__name__ if callable(x) or hasattr(x, '__dict__') else repr(x)
def noting(thing):
    thing.noted = show(str(thing.__annotations__))
    return thing
def notes(thing): return sorted(map(str, typing.get_type_hints(thing).items()))
def notes_of_members(thing): return [str(getattr(v, "__annotations__", 0)) for n, v in sorted(vars(thing).items()) if n[0] in "pqr"]
def listed(thing): return [str(getattr(thing, n)) for n in sorted(dir(thing)) if "annot" in n]
def found(thing, name): return str(getattr(thing, name))
def telling(thing):
    thing.noted = show(str(thing.__doc__))
    return thing
def docs(thing): return [str(getattr(v, "__doc__", 0)) for n, v in sorted(vars(thing).items()) if n[0] in "pqr"]
def texts(thing): return sorted(v for v in vars(thing).values() if isinstance(v, str))
class Telling(type):
    def __new__(m, n, b, s):
        found = [str(s.get("__doc__"))] + [str(v.__doc__) for v in s.values() if inspect.isfunction(v)]
        return super().__new__(m, n, b, dict(s, tag=str(found)))
class Told:
    def __init_subclass__(cls, **kw):
        super().__init_subclass__(**kw)
        cls.tag = str([v for v in vars(cls).values() if isinstance(v, str)])
class Deaf(type):
    def __new__(m, n, b, s): return super().__new__(m, n, b, dict(s, meta=len(s)))
class Noting(type):
    def __new__(m, n, b, s):
        notes = [str(s.get("__annotations__"))] + [str(v.__annotations__) for v in s.values() if inspect.isfunction(v)]
        return super().__new__(m, n, b, dict(s, tag=str(notes)))
class Noted:
    def __init_subclass__(cls, **kw):
        super().__init_subclass__(**kw)
        cls.tag = str([vars(cls).get("__annotations__"), getattr(vars(cls).get("p"), "__annotations__", 0)])
class Meta(type):
    def __new__(m, n, b, s): return super().__new__(m, n, b, dict(s, meta=1))'''

MAKING = '''
import pickle
MADE = {}
def build(text):
    space = {"show": show}
    exec(compile("def run():\\n" + text, "<made>", "exec"), space)
    return space["run"]
def made(text): return build(text)()
def made_once(text):
    if text not in MADE:
        MADE[text] = build(text)
    return MADE[text]()
def made_here(name):
    exec("made_value = show(" + name + ")")
    return eval("show(" + name + ")")
def frame_of(f):
    try: f()
    except Exception as error: return error.__traceback__.tb_next.tb_frame
def asked(f):
    try: f() + nothing
    except Exception as error:
        tb = error.__traceback__
        return [tb.tb_frame.f_globals.get("k1", "none"), show(tb.tb_frame.f_globals.get("f1", "none"))]
def held(f): return sorted(frame_of(f).f_locals)'''

REFLECTING = '''
import importlib
def get(module, name): return show(getattr(importlib.import_module(str(module)), name, 'none')) if isinstance(module, str) else show(getattr(module, name, 'none'))
def mod(name): return importlib.import_module(name)
def later(f): return f
def optional(module, name):
    import sys
    return show(getattr(sys.modules.get(module), name, 'none'))'''

TEST_HELPERS = '''
import inspect, pickle, re, typing

def show(x):
    if inspect.isclass(x): return "class " + x.__name__
    if inspect.ismodule(x): return "module " + x.__name__
    if inspect.isfunction(x): return "function"
    if callable(x): return "callable"
    if isinstance(x, dict): return sorted((k, show(v)) for k, v in x.items())
    if isinstance(x, (list, tuple)): return [show(v) for v in x]
    return repr(x) if isinstance(x, (int, str, type(None))) else type(x).__name__
def signature(f): return str(inspect.signature(f))
def hints(f): return sorted(typing.get_type_hints(f))
def make(c):
    try: return c()
    except TypeError: return c(1)
def attribute(x, name): return show(getattr(x, name, "none"))
def optional_call(x, name):
    f = getattr(x, name, None)
    return show(f()) if callable(f) else show(f)
def documents(c): return sorted((n, str(getattr(getattr(c, n), "__doc__", 0))) for n in dir(c) if n[0] != "_")
def document(x): return inspect.getdoc(x)
def parameters(x): return list(inspect.signature(x).parameters.keys())
def texts(c): return sorted(v for v in vars(c).values() if isinstance(v, str))
def call_by(x, name): return show(getattr(x, name)())
def hints_of_class(c): return sorted(map(str, typing.get_type_hints(c).items()))
def listed(c): return [str(getattr(c, n)) for n in dir(c) if "annot" in n and n[:1] == "_"]
def bound(c): return str(inspect.signature(c))
def describe(c): return [c.__name__, [b.__name__ for b in c.__bases__], sorted(n for n in vars(c) if n[0] != "_")]
def reload_pickle(c): return pickle.loads(pickle.dumps(c)) is c
def subclasses(c): return sorted(s.__name__ for s in c.__subclasses__())
def get(m, name): return show(getattr(m, name, "none"))
def attempt(f):
    try: return re.sub("0x[0-9a-f]+", "", repr(f()))[:300]
    except Exception as error: return type(error).__name__
'''


TEST_IMPORT = (
    "from program_helpers import show, signature, hints, make, attribute, optional_call, "
    "describe, reload_pickle, subclasses, get, attempt, documents, call_by, hints_of_class, listed, bound, document, texts, parameters"
)

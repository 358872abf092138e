"""Changes of state that outlives a test are reported with the test that made them."""

import functools
import os

import traces


def changes(run):
    """`(file:name, test or module)` of the state changes of a run."""
    main = run.main()
    found = set()
    for record in main.changes:
        if record[0] == "x":
            kind, name, _ = main.scopes[record[3]]
            found.add(
                ("%s:%s" % (os.path.basename(record[1]), record[2]), os.path.basename(name))
            )
        else:
            who = main.scopes[record[2]][1]
            found.add((main.scopes[record[1]][1], who))
    return found


def test_changes_between_tests(project):
    project.write("library.py", """
        import abc, os
        REGISTRY = {}
        ITEMS = []
        FLAGS = set()
        COUNT = 0
        NESTED = {"a": [1, {"b": []}]}
        FIXED = {}
        class Thing:
            made = 0
            names = []
            def __init__(self): self.value = 1
            class Inner: made = 0
        SINGLE = Thing()
        def local():
            class Local: made = 0
            return Local
        LOCALS = [local()]
        def default(x, seen=[]): seen.append(x)
        def count():
            global COUNT
            COUNT += 1
        def closure():
            n = 0
            def step():
                nonlocal n
                n += 1
            return step
        step = closure()
        def read(): return REGISTRY
        def bare(x=1, *, y=1): pass
        class Base(abc.ABC):
            def method(self): pass
    """)
    steps = {
        "registry": "library.REGISTRY['a'] = 1",
        "items": "library.ITEMS.append(1)",
        "flags": "library.FLAGS.add(1)",
        "count": "library.count()",
        "nested": "library.NESTED['a'][1]['b'].append(1)",
        "class_attribute": "library.Thing.made += 1",
        "class_list": "library.Thing.names.append(1)",
        "inner_class": "library.Thing.Inner.made = 1",
        "local_class": "library.LOCALS[0].made = 1",
        "instance": "library.SINGLE.value = 2",
        "default": "library.default(1)",
        "closure": "library.step()",
        "new_global": "library.fresh = 1",
        "environ": "import os; os.environ['XYZ'] = '1'",
        "restored": "library.FIXED['a'] = 1; del library.FIXED['a']",
        "read": "library.read()",
        "function_attribute": "library.read.calls = 1",
        "function_defaults": "library.bare.__defaults__ = (2,)",
        "function_restored": "library.count.x = 1; del library.count.x",
        "method_attribute": "library.Base.method.calls = 1",
        "registered": "library.Base.register(int)",
    }
    text = "import library, pytest\n"
    for name, line in steps.items():
        text += "def test_%s():\n    %s\n" % (name, line)
    text += "def test_patched(monkeypatch):\n    monkeypatch.setattr(library, 'COUNT', 9)\n"
    project.write("test_it.py", text)
    run = project.pytest("test_it.py", "-p", "no:randomly")
    found = changes(run)
    expected = {
        "library.py:REGISTRY": "registry",
        "library.py:ITEMS": "items",
        "library.py:FLAGS": "flags",
        "library.py:COUNT": "count",
        "library.py:NESTED": "nested",
        "library.py:Thing.made": "class_attribute",
        "library.py:Thing.names": "class_list",
        "library.py:Thing.Inner.made": "inner_class",
        "library.py:LOCALS": "local_class",
        "library.py:SINGLE": "instance",
        "library.py:default": "default",
        "library.py:step": "closure",
        "library.py:fresh": "new_global",
        "os.py:environ[XYZ]": "environ",
    }
    is_native = os.path.exists(os.path.join(traces.BOOT, "_tamis_native.so"))
    if is_native:
        expected["library.py:read"] = "function_attribute"
        expected["library.py:bare"] = "function_defaults"
        expected["library.py:Base.method"] = "method_attribute"
        expected["library.py:Base"] = "registered"
    for name, test in expected.items():
        assert (name, "test_it.py::test_" + test) in found, (name, found)
    names = {name for name, _ in found}
    assert "library.py:FIXED" not in names
    if is_native:
        wanted = {(name, "test_it.py::test_" + test) for name, test in expected.items()}
        assert not found - wanted, sorted(found - wanted)


def test_a_change_far_from_globals_is_charged_to_its_test(project):
    # Objects of classes with a base in C, of which there are many, and what they hold.
    project.write("library.py", """
        from collections import namedtuple
        class Broken(Exception):
            __slots__ = ("causes",)
        class Pair(namedtuple("Pair", "first second")):
            __slots__ = ()
        ERRORS = [Broken() for _ in range(3000)]
        for error in ERRORS:
            error.causes = Pair([], error)
    """)
    project.write("test_it.py", """
        import library, pytest
        @pytest.mark.parametrize("n", range(20))
        def test_before(n): pass
        def test_slot(): library.ERRORS[7].causes = None
        def test_between(): pass
        def test_item(): library.ERRORS[8].causes.first.append(1)
        def test_after(): pass
    """)
    run = project.pytest("test_it.py", "-p", "no:randomly")
    found = changes(run)
    tests = {("library.py:ERRORS", "test_it.py::test_" + name) for name in ("slot", "item")}
    assert tests <= found, found
    if os.path.exists(os.path.join(traces.BOOT, "_tamis_native.so")):
        assert found == tests


def test_an_import_that_registers_elsewhere(project):
    project.write("registry.py", """
        PLUGINS = []
        class Base:
            kinds = []
            def __init_subclass__(cls): Base.kinds.append(cls)
        def register(f):
            PLUGINS.append(f)
            return f
        OWN = [1]
        OWN.append(2)
    """)
    project.write("plug.py", """
        import registry
        @registry.register
        def f(): pass
        class Kind(registry.Base): pass
    """)
    project.write("test_it.py", """
        import registry
        def test_load(): import plug
        def test_use(): assert len(registry.PLUGINS) == 1
    """)
    found = changes(project.pytest("test_it.py"))
    # While a test runs, the check waits for its end: the test may have patched.
    assert ("registry.py:PLUGINS", "test_it.py::test_load") in found
    assert ("registry.py:Base.kinds", "test_it.py::test_load") in found
    assert not [name for name, _ in found if "OWN" in name]


def test_fixture_values(project):
    project.write("test_it.py", """
        import pytest
        @pytest.fixture(scope="session")
        def box(): return {"a": []}
        @pytest.fixture(scope="session")
        def still(): return {"a": []}
        def test_first(box, still): box["a"].append(1)
        def test_second(box, still): assert box["a"] == [1]
    """)
    found = changes(project.pytest("test_it.py"))
    assert ("test_it.py::box", "test_it.py::test_first") in found
    assert not [name for name, _ in found if name.endswith("::still")]


def test_parameters_and_marks(project):
    project.write("library.py", """
        import functools
        class Thing:
            @functools.cached_property
            def value(self): return 1
        THING = Thing()
    """)
    project.write("test_it.py", """
        import pytest, library
        @pytest.mark.parametrize("bag", [[]])
        @pytest.mark.parametrize("n", [0, 1])
        def test_bag(bag, n): bag.append(1) if n == 0 else None
        @pytest.mark.parametrize("n", [(0, "a"), (1, "b")])
        def test_constants(n): pass
        @pytest.fixture(params=[library.Thing()])
        def thing(request): return request.param
        def test_thing(thing): assert thing.value
        def test_same(thing): assert thing.value
        @pytest.mark.held([])
        def test_mark(request): request.node.get_closest_marker("held").args[0].append(1)
        def test_global(): assert library.THING.value
    """)
    found = changes(project.pytest("test_it.py"))
    assert found == {
        ("test_it.py::test_bag", "test_it.py::test_bag[0-bag0]"),
        ("test_it.py::test_thing", "test_it.py::test_thing[thing0]"),
        ("test_it.py::test_same", "test_it.py::test_thing[thing0]"),
        ("test_it.py::test_mark", "test_it.py::test_mark"),
        ("library.py:THING", "test_it.py::test_global"),
    }


def test_watch_does_not_keep_removed_values_alive(project):
    project.write("test_it.py", """
        import gc, weakref
        class Thing: pass
        THINGS = {"a": Thing()}
        def test_first(): pass
        def test_gone():
            reference = weakref.ref(THINGS["a"])
            del THINGS["a"]
            gc.collect()
            assert reference() is None
    """)
    project.pytest("test_it.py")


def test_many_variables_of_enclosing_functions(project):
    """If there are many, those of functions that have returned are not watched. Those of
    suspended functions, and the objects in any of them, are."""
    project.write("library.py", """
        class Maker:
            def make(self):
                box = []
                def get(): return box
                return get

            def steps(self):
                n = 0
                def read(): return n
                yield read
                n = 1

        GETTERS = [Maker().make() for _ in range(200)]
        STEPS = [Maker().steps() for _ in range(3)]
        READERS = [next(steps) for steps in STEPS]
    """)
    project.write("test_it.py", """
        import library
        def test_content(): library.GETTERS[150]().append(1)
        def test_suspended(): next(library.STEPS[2], None)
        def test_nothing(): pass
    """)
    found = changes(project.pytest("test_it.py"))
    assert ("library.py:GETTERS", "test_it.py::test_content") in found
    assert ("library.py:READERS", "test_it.py::test_suspended") in found


def test_owner_of_a_variable(monkeypatch):
    """The function decides only if it is found."""
    monkeypatch.syspath_prepend(traces.BOOT)
    from _tamis.owners import Owners

    def owner():
        value = 1
        def middle():
            def inner(): return value
            return inner
        return middle()

    def suspended():
        value = 1
        yield lambda: value

    class Holder:
        make = staticmethod(owner)
        wrapped = functools.wraps(owner)(lambda: owner())

    known = {"owner": owner, "suspended": suspended, "Holder": Holder, "other": Holder}
    def asked(function, path, name="value"):
        found = type(function)(function.__code__, known, "f", None, function.__closure__)
        found.__qualname__ = path
        return Owners().may_suspend(found, name)

    inner = owner()
    for path in ("owner", "Holder.make", "Holder.wrapped"):
        assert not asked(inner, path + ".<locals>.middle.<locals>.inner"), path
    assert asked(next(suspended()), "suspended.<locals>.<lambda>")
    # Another function with that name, none, or something else.
    for path in ("suspended.<locals>.inner", "gone.<locals>.inner", "other.<locals>.inner", "f"):
        assert asked(inner, path), path
    assert asked(inner, "owner.<locals>.inner", "elsewhere")


def test_variables_of_enclosing_functions(project):
    project.write("counter.py", """
        def make():
            z\u00e4hler = 0
            def bump():
                nonlocal z\u00e4hler
                z\u00e4hler += 1
            return bump
        bump = make()
    """)
    project.write("mangled.py", """
        class K:
            def make(self):
                __n = 0
                def bump():
                    nonlocal __n
                    __n += 1
                return bump
        bump = K().make()
    """)
    project.write("held.py", """
        def make():
            n = 0
            def get(): return n
            yield get
            n = 1
        steps = make()
        get = next(steps)
    """)
    project.write("test_it.py", """
        import counter, held, mangled
        def test_bump(): counter.bump()
        def test_mangled(): mangled.bump()
        def test_held(): next(held.steps, None)
        def test_nothing(): pass
    """)
    found = changes(project.pytest("test_it.py"))
    assert ("counter.py:bump", "test_it.py::test_bump") in found
    assert ("mangled.py:bump", "test_it.py::test_mangled") in found
    assert ("held.py:get", "test_it.py::test_held") in found

"""Which units each test gets, and which it must not get."""

import os
import sys

import pytest

import traces

sys.path.insert(0, traces.BOOT)
from _tamis.envvars import OF_EVERY_TEST

sys.path.remove(traces.BOOT)


def test_constants_decorators_and_registries(project):
    project.write("constants.py", "LIMIT = 3\n")
    project.write("registry.py", """
        HANDLERS = {}
        def handler(name):
            def register(function):
                HANDLERS[name] = checked(function)
                return function
            return register
        def checked(function): return function
        def unused(): pass
    """)
    project.write("library.py", """
        import registry
        from constants import LIMIT
        @registry.handler("a")
        def a(): return LIMIT
    """)
    project.write("test_it.py", "import library\ndef test_one(): assert library.LIMIT == 3\n")
    run = project.pytest("test_it.py")
    code = run.code("test_one")
    assert {
        "constants.py:<module>",
        "registry.py:<module>",
        "registry.py:handler",
        "registry.py:register",
        "registry.py:checked",
        "library.py:<module>",
    } <= code
    assert not {"registry.py:unused", "library.py:a"} & code


@pytest.mark.parametrize(
    "statement",
    [
        "import package.lazy",
        "from package import lazy",
        "from package.lazy import function",
        "import importlib; importlib.import_module('package.lazy')",
        "from package import *",
        "__import__('package.lazy')",
    ],
)
def test_lazy_imports_bind_every_importer(project, statement):
    project.write("package/__init__.py", "__all__ = ['lazy']\n")
    project.write("package/lazy.py", "from package import deep\nX = deep.made()\ndef function(): pass\n")
    project.write("package/deep.py", "def made(): return 1\ndef other(): pass\n")
    if "*" in statement:
        one = "def test_one(): exec(%r)\ndef test_two(): exec(%r)\n" % (statement, statement)
    else:
        one = "def test_one():\n    %s\ndef test_two():\n    %s\n" % (statement, statement)
    project.write("test_it.py", one + "def test_three(): pass\n")
    run = project.pytest("test_it.py")
    needed = {"lazy.py:<module>", "deep.py:<module>", "deep.py:made", "__init__.py:<module>"}
    for test in ("test_one", "test_two"):
        assert needed <= run.code(test)
        assert "deep.py:other" not in run.code(test)
        assert os.path.join(project.root, "package", "lazy") in {
            path for path, _ in run.of_kind(test, "lookup")
        }
    assert not needed & run.code("test_three")


def test_relative_imports_and_reload(project):
    project.write("package/__init__.py")
    project.write("package/a.py", "def f():\n    from . import b\n    from .b import g\n    return g()\n")
    project.write("package/b.py", "def g(): return 1\n")
    project.write("test_it.py", """
        import importlib
        from package import a
        def test_one(): a.f()
        def test_two(): a.f()
        def test_reload():
            import package.b
            importlib.reload(package.b)
        def test_other(): pass
    """)
    run = project.pytest("test_it.py")
    for test in ("test_one", "test_two", "test_reload"):
        assert "b.py:<module>" in run.code(test)
    assert "b.py:<module>" not in run.code("test_other")


def test_import_semantics_stay(project):
    project.write("bad.py", "import missing_thing\n")
    project.write("test_it.py", """
        import builtins, importlib, sys, traceback, pytest
        def test_traceback():
            try:
                import bad
            except ImportError as error:
                files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
            assert not [name for name in files if "_tamis" in name]
            assert error_name(files)
        def error_name(files): return files[-1].endswith("bad.py") or "importlib" in files[-1]
        def test_errors():
            with pytest.raises(ImportError): __import__("nope")
            with pytest.raises(TypeError): __import__(3)
            with pytest.raises((ImportError, TypeError, KeyError)): __import__("x", None, None, (), 1)
            assert __import__("os.path").__name__ == "os"
            assert __import__("os.path", None, None, ["join"]).__name__ == "posixpath"
            assert builtins.__import__.__doc__
    """)
    project.pytest("test_it.py")


def test_failed_imports(project):
    project.write("library.py", """
        try:
            import speedups
        except ImportError:
            speedups = None
        try:
            from package import optional
        except ImportError:
            optional = None
    """)
    project.write("package/__init__.py")
    project.write("test_it.py", """
        def test_one(): import library
        def test_two(): import library
        def test_three(): pass
    """)
    run = project.pytest("test_it.py")
    for test in ("test_one", "test_two"):
        lookups = {path for path, _ in run.of_kind(test, "lookup")}
        assert os.path.join(project.root, "speedups") in lookups
        assert os.path.join(project.root, "package", "optional") in lookups
        assert ("speedups", None) in run.of_kind(test, "dist")
    assert ("speedups", None) not in run.of_kind("test_three", "dist")


def test_data_files(project):
    project.write("package/__init__.py")
    for name in "abcdefg":
        project.write("package/%s.json" % name, "{}")
    project.write("package/deep/x.txt")
    project.write("package/db.sqlite")
    os.symlink("a.json", os.path.join(project.root, "package", "link.json"))
    os.symlink("deep", os.path.join(project.root, "package", "linked"))
    project.write("test_it.py", """
        import os, pathlib, pkgutil, shutil, sqlite3, package
        HERE = pathlib.Path(package.__file__).parent
        def test_open(): open(HERE / "a.json").close()
        def test_os_open(): os.close(os.open(str(HERE / "b.json"), os.O_RDONLY))
        def test_pathlib(): (HERE / "c.json").read_text()
        def test_pkgutil(): pkgutil.get_data("package", "d.json")
        def test_copy(tmp_path): shutil.copy(str(HERE / "e.json"), str(tmp_path))
        def test_sqlite(): sqlite3.connect(str(HERE / "db.sqlite")).close()
        def test_link(): open(str(HERE / "link.json")).close()
        def test_linked_directory(): open(str(HERE / "linked" / "x.txt")).close()
        def test_listdir(): os.listdir(str(HERE))
        def test_scandir(): list(os.scandir(str(HERE / "deep")))
        def test_glob(): list(HERE.glob("*.json"))
        def test_size(): os.path.getsize(str(HERE / "f.json"))
        def test_exists(): assert (HERE / "g.json").exists() and os.path.isdir(str(HERE / "deep"))
        def test_missing(): assert not (HERE / "no.json").exists()
        def test_missing_open():
            try: open(str(HERE / "no2.json"))
            except OSError: pass
        def test_nothing(): pass
    """)
    run = project.pytest("test_it.py")
    expected = {
        "test_open": "a.json",
        "test_os_open": "b.json",
        "test_pathlib": "c.json",
        "test_pkgutil": "d.json",
        "test_copy": "e.json",
        "test_sqlite": "db.sqlite",
        "test_size": "f.json",
    }
    for test, name in expected.items():
        assert run.paths(test, "file") == {name}, test
    assert run.paths("test_link", "file") == {"link.json", "a.json"}
    files = {os.path.relpath(p, project.root) for p, _ in run.of_kind("test_linked_directory", "file")}
    assert files == {"package/linked", "package/deep/x.txt"}
    assert run.paths("test_listdir", "dir") == {"package"}
    assert run.paths("test_scandir", "dir") == {"deep"}
    assert "package" in run.paths("test_glob", "dir")
    probes = {(os.path.basename(p), v) for p, v in run.of_kind("test_exists", "exists")}
    assert {("g.json", "file"), ("deep", "dir")} <= probes
    assert not run.paths("test_exists", "file")
    for test, name in (("test_missing", "no.json"), ("test_missing_open", "no2.json")):
        assert (os.path.join(project.root, "package", name), "missing") in run.of_kind(test, "exists")
    assert not run.of_kind("test_nothing", "file") and not run.of_kind("test_nothing", "dir")


def test_outside_files_have_fingerprints(project, tmp_path):
    outside = tmp_path / "outside.txt"
    outside.write_text("hello")
    project.write("test_it.py", "def test_one(): open(%r).close()\n" % str(outside))
    run = project.pytest("test_it.py")
    assert (str(outside), "b6fc4c620b67d95f953a5c1c1230aa72") in run.of_kind("test_one", "file")


def test_files_of_the_session_are_no_units(project):
    project.write("test_it.py", """
        import os, pathlib, tempfile
        def helper(): return 1
        def test_write():
            helper()
            pathlib.Path("out.txt").write_text("x")
        def test_read(): pathlib.Path("out.txt").read_text()
        def test_tmp(tmp_path):
            assert not (tmp_path / "a").exists()
            (tmp_path / "a").write_text("x")
            (tmp_path / "d").mkdir()
            assert os.listdir(str(tmp_path)) and (tmp_path / "a").read_text() == "x"
            assert not (tmp_path / "d" / "none").exists()
        def test_tempfile():
            with tempfile.TemporaryDirectory() as where:
                with open(os.path.join(where, "f"), "w+") as f:
                    f.write("x")
                assert os.listdir(where) == ["f"]
        def test_kept(): os.makedirs("data", exist_ok=True); open("data/x").close()
    """)
    project.write("data/x")
    run = project.pytest("test_it.py")
    assert not run.of_kind("test_read", "file")
    assert "test_it.py:helper" in run.code("test_read")
    tmp = [unit for unit in run.closure("test_tmp") if unit[0] in ("file", "exists", "dir")]
    assert not [unit for unit in tmp if "pytest-" in unit[1] and project.root not in unit[1]], tmp
    assert not run.of_kind("test_tempfile", "dir")
    assert run.paths("test_kept", "file") == {"x"}
    assert os.path.join(project.root, "out.txt") in [path for _, path in run.main().writes]


def test_who_asks_for_a_path(project):
    """Calls of pytest for itself are no units. Calls of hooks are, and so are those that a
    function of the standard library makes for the test."""
    project.write("conftest.py", """
        import os, pathlib
        def pytest_runtest_setup(item):
            os.path.exists("asked-by-hook")
            pathlib.Path("asked-by-hook-too").is_file()
    """)
    project.write("test_it.py", """
        import os, pathlib, shutil
        def test_direct():
            os.stat(".")
            assert not os.path.exists("asked-by-test")
        def test_library():
            assert not pathlib.Path("asked-by-test").is_file()
            assert shutil.which("./asked-by-which") is None
        def deep(n):
            return os.path.lexists("asked-deeply") if n == 0 else deep(n - 1)
        def test_deep(): assert not deep(40)
        def test_nothing(): pass
    """)
    run = project.pytest("test_it.py")
    # Installed plug-ins may ask for the root.
    root = os.path.basename(project.root)
    asked = {test: run.paths(test, "exists") - {root} for test in ("test_nothing", "test_deep")}
    hook = {"asked-by-hook", "asked-by-hook-too"}
    assert asked["test_nothing"] == hook
    assert run.paths("test_direct", "exists") >= hook | {"asked-by-test"}
    assert run.paths("test_library", "exists") >= hook | {"asked-by-test", "asked-by-which"}
    assert asked["test_deep"] == hook | {"asked-deeply"}


def test_environment(project):
    project.write("test_it.py", """
        import os, subprocess, sys
        def test_get(): os.environ.get("APPLE")
        def test_item(): os.environ["PEAR"]
        def test_getenv(): os.getenv("PLUM", "x")
        def test_in(): "CHERRY" in os.environ
        def test_all(): dict(os.environ)
        def test_copy(): os.environ.copy()
        def test_patched(monkeypatch): monkeypatch.setenv("FIG", "1")
        def test_nothing(): pass
    """)
    run = project.pytest("test_it.py", environment={"PEAR": "green", "SHLVL": "7"})
    # Files that pytest and its plug-ins read at the start belong to every test.
    of_all = run.of_kind("test_nothing", "env")
    assert {name for name, _ in of_all} == set(OF_EVERY_TEST)

    def read(test):
        return run.of_kind(test, "env") - of_all

    assert read("test_get") == {("APPLE", None)}
    ((name, value),) = read("test_item")
    assert name == "PEAR" and len(value) == 32
    assert read("test_getenv") == {("PLUM", None)}
    assert read("test_in") == {("CHERRY", None)}
    assert {name for name, _ in read("test_all")} == {"*"}
    assert read("test_all") == read("test_copy")
    again = project.pytest("test_it.py", environment={"PEAR": "green", "SHLVL": "8"})
    assert again.of_kind("test_all", "env") - of_all == read("test_all")


def test_caches(project):
    project.write("library.py", """
        import functools
        @functools.lru_cache(maxsize=None)
        def cached(n):
            "Doc."
            return inner(n)
        def inner(n): return deep(n)
        def deep(n): return n
        @functools.lru_cache(maxsize=None)
        def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
        class Thing:
            @functools.lru_cache()
            def method(self): return 1
    """)
    project.write("test_it.py", """
        import inspect, pickle, library
        def test_first(): assert library.cached(1) == 1
        def test_second():
            assert library.cached(1) == 1
            assert library.cached.cache_info().hits == 1
        def test_never(): pass
        def test_looks():
            assert library.cached.__name__ == "cached" and library.cached.__doc__ == "Doc."
            assert library.cached.__wrapped__.__code__.co_name == "cached"
            assert str(inspect.signature(library.cached)) == "(n)"
            assert pickle.loads(pickle.dumps(library.cached)) is library.cached
            assert library.Thing().method() == 1
        def test_deep(): assert library.fib(300) > 0
    """)
    run = project.pytest("test_it.py")
    for test in ("test_first", "test_second"):
        assert {"library.py:cached", "library.py:inner", "library.py:deep"} <= run.code(test)
    assert "library.py:inner" not in run.code("test_never")


def test_misses_that_ran_something_else(project):
    project.write("library.py", """
        import functools
        @functools.lru_cache(maxsize=None)
        def width(text, more=0): return len(text) if text.isascii() else other(text)
        def other(text): return 2
        @functools.lru_cache(maxsize=2)
        def small(n, m): return odd(n) if n % 2 else even(n)
        def odd(n): return n
        def even(n): return n
        @functools.lru_cache(maxsize=None)
        def held(n): return [odd(n) if n % 2 else even(n)]
        @functools.lru_cache(maxsize=None)
        def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
        @functools.lru_cache(maxsize=None)
        def fails(n): return odd(n) // 0 if n % 2 else even(n)
        @functools.lru_cache(maxsize=None)
        def imports(n):
            if n: import late
            return n
        @functools.lru_cache(maxsize=None)
        def writes(n):
            if n: open("written.txt", "w").close()
            return n
        def outer(n): return width("a" * n)
        @functools.lru_cache(maxsize=1)
        def kind(n, m): return odd(n) if n is True else even(n)
        @functools.lru_cache(maxsize=None)
        def nested(n): return n
    """)
    project.write("late.py", "")
    project.write("test_it.py", """
        import library, pytest
        def test_fills(): assert [library.width(one) for one in ("a", "é")] == [1, 2]
        def test_ascii(): assert library.width("a") == 1
        def test_other(): assert library.width("é") == 2
        def test_new(): assert library.width("b") == 1
        def test_keyword(): assert library.width("a", more=2) == 1
        def test_small(): [library.small(n, 0) for n in range(5)]
        def test_evicted(): assert library.small(0, 0) == 0
        def test_equal(): assert library.small(True, 0) == 1
        def test_equal_again(): assert library.small(1, 0) == 1
        def test_held(): library.held(1), library.held(2)
        def test_held_again(): assert library.held(1) == [1]
        def test_fib(): library.fib(30)
        def test_fib_again(): library.fib(3)
        def test_fails():
            with pytest.raises(ZeroDivisionError): library.fails(1)
        def test_does_not(): library.fails(2)
        def test_imports(): library.imports(1)
        def test_imports_again(): library.imports(1)
        def test_imports_not(): library.imports(0)
        def test_writes(): library.writes(1)
        def test_writes_not(): library.writes(0)
        def test_outer(): library.outer(2)
        def test_counts(): library.width.cache_info()
        def test_kinds(): library.kind(1, 0), library.kind(5, 0), library.kind(True, 0)
        def test_kind(): library.kind(1, 0)
        def test_nested():
            deep = ()
            for _ in range(900): deep = (deep,)
            assert library.nested(deep) == deep
            assert library.nested("a" * 5000)
    """)
    run = project.pytest("test_it.py")

    known = set("width other small odd even held fib fails outer".split())

    def ran(test):
        return {one.partition(":")[2] for one in run.code(test)} & known

    assert ran("test_fills") == {"width", "other"}
    assert ran("test_ascii") == ran("test_new") == ran("test_keyword") == {"width"}
    assert ran("test_other") == {"width", "other"}
    assert ran("test_outer") == {"outer", "width"}
    assert ran("test_counts") == {"width", "other"}
    assert ran("test_kind") >= {"odd", "even"}
    assert ran("test_evicted") == {"small", "even"}
    assert {"small", "odd"} <= ran("test_equal") and {"small", "odd"} <= ran("test_equal_again")
    assert ran("test_held_again") == {"held", "odd", "even"}
    assert ran("test_fib_again") == {"fib"}
    assert ran("test_fails") == {"fails", "odd"}
    assert ran("test_does_not") == {"fails", "even"}
    for test in ("test_imports", "test_imports_again"):
        assert "late.py:<module>" in run.code(test)
    assert "late.py:<module>" not in run.code("test_imports_not")


def test_properties(project):
    project.write("library.py", """
        import functools
        class Thing:
            @functools.cached_property
            def own(self): return self.once()
            def once(self): return 1
            @functools.cached_property
            def kept(self): return self.hidden()
            def hidden(self): return 1
            @functools.cached_property
            def stated(self): return self.named()
            def named(self): return 1
        THING = Thing()
        def keep():
            thing = Thing()
            while True: yield thing
        KEPT = keep()
        def lost():
            thing = Thing()
            thing.itself = thing
            return thing
    """)
    project.write("test_it.py", """
        import library
        def test_own(): assert library.Thing().own == 1
        def test_lost(): assert library.lost().own == 1
        def test_kept(): assert next(library.KEPT).kept == 1
        def test_stated(): assert library.THING.stated == 1
        def test_never(): pass
    """)
    run = project.pytest("test_it.py")
    assert {"library.py:own", "library.py:once"} <= run.code("test_own") & run.code("test_lost")
    assert {"library.py:kept", "library.py:hidden"} <= run.code("test_never")
    assert {"library.py:stated", "library.py:named"} <= run.code("test_stated")
    # The pure collector does not know what is garbage.
    others = run.code("test_never") - {"library.py:own", "library.py:once"}
    assert not {"library.py:stated", "library.py:named"} & others


def test_source_text_that_a_test_reads(project):
    project.write("library.py", "def f():\n    # why\n    return 1\n")
    project.write("test_it.py", """
        import inspect, library, pytest
        def test_source(): assert "why" in inspect.getsource(library.f)
        def test_again(): assert "why" in inspect.getsource(library.f)
        def test_call(): library.f()
        def test_failing(): assert library.f() == 2
    """)
    run = project.pytest("test_it.py", check=1)
    for test in ("test_source", "test_again"):
        assert "library.py" in run.paths(test, "file")
    assert run.paths("test_call", "file") == set()
    assert run.paths("test_failing", "file") == set()


def test_generators_and_coroutines(project):
    project.write("library.py", """
        def numbers():
            yield first()
            yield second()
        def first(): return 1
        def second(): return 2
        GENERATOR = numbers()
        async def main(): return await part()
        async def part(): return first()
    """)
    project.write("test_it.py", """
        import asyncio, library
        def test_first(): next(library.GENERATOR)
        def test_second(): next(library.GENERATOR)
        def test_async(): assert asyncio.new_event_loop().run_until_complete(library.main()) == 1
    """)
    run = project.pytest("test_it.py")
    assert {"library.py:numbers", "library.py:second"} <= run.code("test_second")
    assert "library.py:first" not in run.code("test_second")
    assert {"library.py:main", "library.py:part", "library.py:first"} <= run.code("test_async")


def test_package_file_of_a_dependency(project):
    project.write("test_it.py", """
        def test_one():
            import iniconfig
        def test_two():
            import xdist
    """)
    run = project.pytest("test_it.py")
    assert "pytest" in {name for name, _ in run.of_kind("test_one", "dist")}
    assert "runtime" in {kind for kind, _, _ in run.closure("test_one")}


def test_versions_that_a_test_asks_for(project):
    project.write("test_it.py", """
        import importlib.metadata, pytest
        def test_version(): assert importlib.metadata.version("pluggy")
        def test_missing():
            with pytest.raises(importlib.metadata.PackageNotFoundError):
                importlib.metadata.version("No_Such.Thing")
        def test_neither(): pass
    """)
    run = project.pytest("test_it.py")
    ((name, value),) = {one for one in run.of_kind("test_version", "dist") if one[0] == "pluggy"}
    assert len(value) == 32
    assert ("no-such-thing", None) in run.of_kind("test_missing", "dist")
    assert ("no-such-thing", None) not in run.of_kind("test_neither", "dist")
    assert not run.of_kind("test_version", "dir")


def test_stdlib_shadowing_is_looked_up(project):
    project.write("test_it.py", "def test_one():\n    import colorsys\ndef test_two():\n    import colorsys\n")
    run = project.pytest("test_it.py")
    for test in ("test_one", "test_two"):
        assert os.path.join(project.root, "colorsys") in {
            path for path, _ in run.of_kind(test, "lookup")
        }


def test_agent_takes_no_part(project):
    project.write("sitecustomize.py", "import builtins\nbuiltins.shadowed = True\n")
    project.write("script.py", """
        import builtins, sys
        assert builtins.shadowed
        assert not [entry for entry in sys.path if entry.endswith("agents/python/boot")]
        assert "pytest" not in sys.modules and "json" not in sys.modules
    """)
    import traces

    path = traces.BOOT + os.pathsep + project.root
    run = project.command([sys.executable, "script.py"], {"PYTHONPATH": path}, check=0)
    (process,) = run.processes.values()
    assert process.header["role"] == "other"


def test_modules_that_something_executes_by_hand(project):
    project.write("library.py", "import colorsys\n")
    project.write("made.py", "")
    project.write("test_it.py", """
        import importlib.util
        def test_import():
            import library, sched
        def test_by_hand():
            spec = importlib.util.spec_from_file_location("made", "made.py")
            spec.loader.exec_module(importlib.util.module_from_spec(spec))
        def test_again():
            import library
            spec = library.__spec__
            spec.loader.exec_module(importlib.util.module_from_spec(spec))
    """)
    run = project.pytest("test_it.py")
    assert run.paths("test_import", "module") == set()
    assert run.paths("test_by_hand", "module") == {"made.py"}
    assert run.paths("test_again", "module") == {"library.py"}

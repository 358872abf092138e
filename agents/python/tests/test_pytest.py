"""pytest's own structures: fixtures, conftests, outcomes, plug-ins."""

import json
import os
import sys

import pytest

LIBRARY = """
    def made(): return deeper()
    def deeper(): return 1
    def used(): return 2
    def closed(): pass
"""


@pytest.mark.parametrize("scope", ["session", "package", "module", "class"])
def test_fixture_code_reaches_all_who_use_it(project, scope):
    project.write("library.py", LIBRARY)
    project.write("test_it.py", """
        import pytest, library
        @pytest.fixture(scope=%r)
        def base():
            yield library.made()
            library.closed()
        @pytest.fixture(scope=%r)
        def value(base): return base + library.used()
        class TestThem:
            def test_none(self): pass
            def test_first(self, value): pass
            def test_second(self, value): pass
            def test_third(self, request): request.getfixturevalue("value")
            def test_base(self, base): pass
            def test_last(self): pass
    """ % (scope, scope))
    run = project.pytest("test_it.py")
    made = {"library.py:made", "library.py:deeper", "library.py:closed", "test_it.py:base"}
    for test in ("first", "second", "third"):
        assert made | {"library.py:used", "test_it.py:value"} <= run.code("TestThem::test_" + test)
    assert made <= run.code("TestThem::test_base")
    assert "library.py:used" not in run.code("TestThem::test_base")
    assert not made & run.code("TestThem::test_none")
    # The last test is the one that reports a failing tear-down.
    assert "library.py:closed" in run.code("TestThem::test_last")


def test_dynamic_requests_between_fixtures(project):
    project.write("library.py", LIBRARY)
    project.write("test_it.py", """
        import pytest, library
        @pytest.fixture(scope="session")
        def base(): return library.made()
        @pytest.fixture(scope="session")
        def outer(request): return request.getfixturevalue("base")
        def test_first(base, outer): pass
        def test_second(outer): pass
    """)
    run = project.pytest("test_it.py")
    assert "library.py:deeper" in run.code("test_second")


def test_parametrized_fixture_instances(project):
    project.write("library.py", "def a(): pass\ndef b(): pass\n")
    project.write("test_it.py", """
        import pytest, library
        @pytest.fixture(scope="session", params=["a", "b"])
        def value(request): getattr(library, request.param)()
        def test_one(value): pass
    """)
    run = project.pytest("test_it.py")
    assert "library.py:a" in run.code("test_one[a]") and "library.py:b" in run.code("test_one[b]")
    assert "library.py:b" not in run.code("test_one[a]")


def test_xunit_and_unittest_setup(project):
    project.write("library.py", "def a(): pass\ndef b(): pass\ndef c(): pass\ndef d(): pass\n")
    project.write("test_it.py", """
        import unittest, library
        def setup_module(module): library.a()
        class TestPlain:
            @classmethod
            def setup_class(cls): library.b()
            def test_1(self): pass
            def test_2(self): pass
        class TestUnit(unittest.TestCase):
            @classmethod
            def setUpClass(cls): library.c()
            def setUp(self): library.d()
            def test_1(self): pass
            def test_2(self):
                with self.subTest(n=1): pass
    """)
    run = project.pytest("test_it.py")
    for test in ("TestPlain::test_1", "TestPlain::test_2"):
        assert {"library.py:a", "library.py:b"} <= run.code(test)
        assert not {"library.py:c", "library.py:d"} & run.code(test)
    for test in ("TestUnit::test_1", "TestUnit::test_2"):
        assert {"library.py:a", "library.py:c", "library.py:d"} <= run.code(test)
        assert "library.py:b" not in run.code(test)


def test_conftests_bind_the_tests_beneath_them(project):
    project.write("conftest.py", """
        import pytest
        @pytest.fixture(autouse=True)
        def everywhere(): return helper()
        def helper(): pass
        def pytest_collection_modifyitems(items): order()
        def order(): pass
    """)
    project.write("a/conftest.py", "import a_helper\nVALUE = a_helper.f()\n")
    project.write("a/a_helper.py", "def f(): return 1\n")
    project.write("a/test_a.py", "def test_a(): pass\n")
    project.write("b/conftest.py", "import pytest\n@pytest.fixture\ndef only_b(): return 1\n")
    project.write("b/test_b.py", "def test_b(only_b): pass\n")
    run = project.pytest()
    a, b = run.code("test_a"), run.code("test_b")
    for code in (a, b):
        assert {"conftest.py:everywhere", "conftest.py:helper", "conftest.py:order"} <= code
    conftests = {
        test: {os.path.relpath(p, project.root) for k, p, n in run.closure(test) if p.endswith("conftest.py") and k == "code"}
        for test in ("test_a", "test_b")
    }
    assert conftests == {
        "test_a": {"conftest.py", "a/conftest.py"},
        "test_b": {"conftest.py", "b/conftest.py"},
    }
    assert "a_helper.py:f" in a and "a_helper.py:f" not in b


def test_parametrize_sources(project):
    project.write("cases.py", """
        import json, os
        def load():
            with open(os.path.join(os.path.dirname(__file__), "cases.json")) as text:
                return json.load(text)
        def name(case): return "case%d" % case
    """)
    project.write("cases.json", "[1, 2]")
    project.write("test_it.py", """
        import pytest, cases
        @pytest.mark.parametrize("case", cases.load(), ids=cases.name)
        def test_case(case): pass
    """)
    project.write("test_generated.py", """
        import cases
        def pytest_generate_tests(metafunc): metafunc.parametrize("n", cases.load())
        def test_n(n): pass
    """)
    project.write("test_other.py", "def test_other(): pass\n")
    run = project.pytest()
    for test in ("test_case[case1]", "test_case[case2]", "test_n[1]"):
        assert "cases.py:load" in run.code(test)
        assert "cases.json" in run.paths(test, "file")
    assert "cases.py:name" in run.code("test_case[case1]")
    assert "cases.json" not in run.paths("test_other", "file")


def test_outcomes(project):
    project.write("test_it.py", """
        import pytest, unittest
        @pytest.fixture
        def bad(): raise ValueError
        @pytest.fixture
        def bad_end():
            yield
            raise ValueError
        def test_pass(): pass
        def test_fail(): assert 0
        def test_error(bad): pass
        def test_error_end(bad_end): pass
        def test_skip(): pytest.skip("x")
        @pytest.mark.skip
        def test_skip_mark(): pass
        @pytest.mark.xfail
        def test_xfail(): assert 0
        @pytest.mark.xfail(run=False)
        def test_xfail_norun(): assert 0
        @pytest.mark.xfail
        def test_xpass(): pass
        @pytest.mark.xfail(strict=True)
        def test_xpass_strict(): pass
        class TestUnit(unittest.TestCase):
            @unittest.expectedFailure
            def test_expected(self): assert 0
            @unittest.skip("x")
            def test_skipped(self): pass
    """)
    run = project.pytest("test_it.py", check=1)
    assert run.outcomes() == {
        "test_pass": "passed",
        "test_fail": "failed",
        "test_error": "error",
        "test_error_end": "error",
        "test_skip": "skipped",
        "test_skip_mark": "skipped",
        "test_xfail": "xfailed",
        "test_xfail_norun": "xfailed",
        "test_xpass": "xpassed",
        "test_xpass_strict": "failed",
        "TestUnit::test_expected": "xfailed",
        "TestUnit::test_skipped": "skipped",
    }


def test_flaky(project):
    pytest.importorskip("pytest_rerunfailures")
    project.write("test_it.py", """
        COUNT = []
        def test_flaky():
            COUNT.append(1)
            assert len(COUNT) > 1
        def test_bad(): assert 0
    """)
    run = project.pytest("test_it.py", "--reruns", "1", plugins=True, check=1)
    assert run.outcomes() == {"test_flaky": "flaky", "test_bad": "failed"}


def test_doctests(project):
    project.write("library.py", '''
        def f():
            """
            >>> f()
            1
            """
            return g()
        def g(): return 1
    ''')
    project.write("guide.txt", ">>> 1 + 1\n2\n")
    run = project.pytest("--doctest-modules", "--doctest-glob=*.txt")
    assert "library.py:g" in run.code("library.f")
    # A docstring is part of the module's execution.
    assert "library.py:<module>" in run.code("library.f")
    assert "guide.txt" in run.paths("guide.txt", "file")
    assert "library.py" not in run.paths("guide.txt", "file")


def test_asyncio_plugin(project):
    pytest.importorskip("pytest_asyncio")
    project.write("library.py", LIBRARY)
    project.write("test_it.py", """
        import asyncio, pytest, pytest_asyncio, library
        @pytest_asyncio.fixture(scope="module")
        async def value():
            await asyncio.sleep(0)
            return library.made()
        def test_third(): pass
        @pytest.mark.asyncio
        async def test_first(value): await asyncio.sleep(0)
        @pytest.mark.asyncio
        async def test_second(value): library.used()
    """)
    options = [] if sys.version_info >= (3, 9) else ["-p", "no:warnings"]
    run = project.pytest("test_it.py", *options, plugins=True)
    for test in ("test_first", "test_second"):
        assert "library.py:deeper" in run.code(test)
    assert "library.py:used" not in run.code("test_first")
    assert "library.py:deeper" not in run.code("test_third")
    assert "pytest-asyncio" in {name for name, _ in run.of_kind("test_third", "dist")}


def normalised(run):
    """The closures without the parts of a single process."""
    return {
        test: {
            unit
            for unit in run.closure(test)
            if unit[0] not in ("lookup", "dist", "env") and "python3" not in unit[1]
        }
        for test in run.tests
    }


def test_xdist_sees_the_same(project):
    pytest.importorskip("xdist")
    project.write("library.py", LIBRARY)
    project.write("conftest.py", "import pytest\n@pytest.fixture(scope='session')\ndef s():\n    import library\n    return library.made()\n")
    for name in "ab":
        project.write("test_%s.py" % name, "import library\ndef test_1(s): pass\ndef test_2(s): library.used()\ndef test_3(s): pass\n")
    alone = project.pytest(plugins=True)
    shared = project.pytest("-n", "2", plugins=True)
    assert set(alone.tests) == set(shared.tests)
    assert normalised(alone) == normalised(shared)
    mains = [one for one in shared.processes.values() if one.header["role"] == "main"]
    assert sorted(len(one.tests) > 0 for one in mains) == [False, True, True]
    assert len({json.dumps(one.items) for one in mains if one.tests}) == 1
    configs = [one.config["args"] for one in mains] + [alone.main().config["args"]]
    assert configs == [configs[0]] * 4
    assert not [one for one in shared.processes.values() if one.header["role"] == "child"]


def test_sessions_inside_a_session(project):
    project.write("library.py", LIBRARY)
    project.write("conftest.py", "pytest_plugins = ['pytester']\n")
    project.write("test_it.py", """
        import library
        def test_before(): pass
        def test_inner(testdir):
            testdir.makepyfile(test_inside='''
                import pytest, library
                @pytest.fixture(scope="session")
                def value(): return library.made()
                def test_inside(value): library.used()
            ''')
            testdir.inline_run("-p", "no:cacheprovider").assertoutcome(passed=1)
        def test_after(): library.used()
    """)
    run = project.pytest("test_it.py")
    assert set(run.outcomes()) == {"test_before", "test_inner", "test_after"}
    assert {"library.py:deeper", "library.py:used"} <= run.code("test_inner")
    assert "library.py:deeper" not in run.code("test_after")
    assert len(run.main().items[0]) == 3


def test_coverage_report_is_the_same(project):
    pytest.importorskip("pytest_cov")
    project.write("library.py", "def f(n):\n    if n:\n        return 1\n    return 2\ndef g():\n    return 3\n")
    project.write("test_it.py", "import library\ndef test_f(): library.f(1)\ndef test_g(): library.g()\n")
    arguments = ["--cov=library", "--cov-branch", "--cov-report=json:cov.json", "test_it.py"]
    report = os.path.join(project.root, "cov.json")

    def files():
        with open(report) as text:
            return json.load(text)["files"]

    run = project.pytest(*arguments, plugins=True)
    with_agent = files()
    project.pytest(*arguments, plugins=True, environment={"TAMIS_TRACE_DIR": ""})
    assert files() == with_agent
    assert "library.py:g" not in run.code("test_f") and "library.py:f" in run.code("test_f")
    assert "library.py" not in run.paths("test_f", "file")


def test_import_mode_importlib(project):
    project.write("tests/conftest.py", "import pytest\n@pytest.fixture\ndef f(): return 1\n")
    project.write("tests/test_it.py", "X = 1\ndef test_one(f): pass\ndef test_two(): pass\n")
    run = project.pytest("--import-mode=importlib")
    for test in ("test_one", "test_two"):
        assert {"test_it.py:<module>", "conftest.py:<module>"} <= run.code(test)


def test_config_record(project):
    project.write("pytest.ini", "[pytest]\naddopts = -v\n")
    project.write("test_it.py", "def test_one(): pass\n")
    run = project.pytest(
        "test_it.py::test_one", "-x", "--tb=short", "-k", "one", "-vv", "--strict-markers",
        "-o", "xfail_strict=true", "-W", "ignore", "--maxfail=3",
        environment={"PYTEST_ADDOPTS": "--runxfail -q"},
    )
    config = run.main().config
    assert config["rootdir"] == project.root
    assert config["inifile"] == os.path.join(project.root, "pytest.ini")
    kept = " ".join(config["args"])
    for option in ("--strict-markers", "--runxfail", "xfail_strict=true", "ignore", "no:cacheprovider"):
        assert option in kept
    for option in ("test_one", "--tb", "-k", "-v", "-x", "maxfail"):
        assert option not in kept
    assert run.main().items == [["test_it.py::test_one"], []]


def test_finds_record(project):
    def finds(*arguments, **options):
        return project.pytest(*arguments, **options).main().finds

    def path(*parts):
        return os.path.realpath(os.path.join(project.root, *parts))

    project.write("pytest.ini", "[pytest]\ntestpaths = tests more*/unit\npython_files = check_*.py\n")
    project.write("tests/check_it.py", "def test_one(): pass\n")
    plain = finds("-x")
    assert plain["args"][-1] == "-x" and plain["others"] == []
    assert plain["names"] == ["check_*.py", "test*.txt"]
    assert plain["in"] == [path(), path("tests")]
    one = finds("tests/check_it.py::test_one", "--doctest-glob=*.md", "--doctest-modules")
    assert one["names"] == ["*.md", "*.py", "check_*.py"]
    assert one["in"] == [path("tests", "check_it.py")]
    assert finds("--pyargs", "tests")["in"] is None
    # A plug-in that takes files by another rule, or ignores some.
    project.write("tests/conftest.py", "def pytest_collect_file(parent): pass\n")
    assert len(finds()["others"]) == 1
    project.write("tests/conftest.py", "def pytest_ignore_collect(config): pass\n")
    assert finds()["others"] == []
    project.write("picky.py", "def pytest_ignore_collect(config): pass\n")
    assert finds("-p", "picky") is None
    assert finds("--lf", "-p", "cacheprovider") is None


def test_odd_ids_and_paths(project):
    project.write("test_it.py", """
        import pytest
        @pytest.mark.parametrize("x", ["a b", "[", "\\n", "\\u00e9", "::"])
        def test_odd(x): pass
        def test_bytes():
            import os
            open(b"bad\\xff.txt", "w").close()
            open(b"data\\xff.txt").close()
    """)
    path = os.path.join(os.fsencode(project.root), b"data\xff.txt")
    open(path, "w").close()
    run = project.pytest("test_it.py")
    assert len(run.outcomes()) == 6
    assert (os.fsdecode(path), None) in run.of_kind("test_bytes", "file")


def test_plugin_by_hand(project):
    import traces

    project.write("test_it.py", "def test_one(): pass\n")
    run = project.pytest("test_it.py", "-p", "_tamis.plugin")
    assert set(run.outcomes()) == {"test_one"}
    assert not [arg for arg in run.main().config["args"] if "_tamis" in arg]
    run = project.pytest("test_it.py", environment={"PYTEST_PLUGINS": "_tamis.plugin"})
    assert set(run.outcomes()) == {"test_one"}
    assert "Warning" not in run.output or "asyncio" in run.output
    assert os.path.isdir(traces.BOOT)


def test_keeps_its_own_bytecode_where_the_user_wants_none(project, tmp_path):
    import shutil
    import traces

    boot = str(tmp_path / "boot")
    shutil.copytree(traces.BOOT, boot, ignore=shutil.ignore_patterns("__pycache__"))
    project.write("library.py", "")
    project.write("test_it.py", """
        import sys, library
        def test_one(): assert sys.dont_write_bytecode
    """)
    environment = {"PYTHONPATH": boot, "PYTHONDONTWRITEBYTECODE": "1"}
    for _ in range(2):
        run = project.pytest("test_it.py", environment=environment)
        assert set(run.outcomes()) == {"test_one"}
    package = os.path.join(boot, "_tamis")
    modules = [name for name in os.listdir(package) if name.endswith(".py")]
    assert len(os.listdir(os.path.join(package, "__pycache__"))) == len(modules)
    assert not os.path.exists(os.path.join(project.root, "__pycache__"))

//! conftest.py files, pytest's configuration and plug-ins.

use crate::harness::*;

cases!(conftest, no_conftest, ini, pyproject, ini_appears, plugins);

const TREE: &str = r#"
-- pytest.ini --
[pytest]
-- conftest.py --
import pytest


@pytest.fixture
def value():
    return 1


@pytest.fixture
def unused():
    return 1


def pytest_collection_modifyitems(items):
    order(items)


def order(items):
    pass


def pytest_runtest_setup(item):
    check(item)


def check(item):
    pass
-- a/conftest.py --
import pytest


@pytest.fixture(autouse=True)
def auto():
    return 1


@pytest.fixture
def local():
    return 1
-- a/test_a.py --
def test_value(value):
    assert value == 1


def test_local(local):
    assert local == 1
-- b/test_b.py --
def test_value(value):
    assert value == 1


def test_none():
    pass
-- b/deep/test_deep.py --
def test_deep():
    pass
"#;

fn conftest() -> Case {
    Case::new(TREE)
        .edit(
            "body of a fixture",
            [replace("conftest.py", "def value():\n    return 1", "def value():\n    return 2")],
            ["! a/test_a.py::test_value", "! b/test_b.py::test_value"],
        )
        .edit(
            "body of an unused fixture",
            [replace("conftest.py", "def unused():\n    return 1", "def unused():\n    return 2")],
            NONE,
        )
        .edit("new fixture", [append("conftest.py", "\n\n@pytest.fixture\ndef more():\n    return 1\n")], ALL)
        .edit(
            "hook of collection",
            [replace("conftest.py", "    order(items)", "    items.reverse()")],
            ALL,
        )
        .edit(
            "called by a hook of collection",
            [replace("conftest.py", "def order(items):\n    pass", "def order(items):\n    items.reverse()")],
            ALL,
        )
        .edit(
            "hook of each test",
            [replace("conftest.py", "def check(item):\n    pass", "def check(item):\n    assert item")],
            ALL,
        )
        .edit(
            "new autouse fixture that fails",
            [append("conftest.py", "\n\n@pytest.fixture(autouse=True)\ndef fails():\n    assert False\n")],
            [
                "! a/test_a.py::test_value",
                "! a/test_a.py::test_local",
                "! b/test_b.py::test_value",
                "! b/test_b.py::test_none",
                "! b/deep/test_deep.py::test_deep",
            ],
        )
        .edit(
            "body of an autouse fixture in a folder",
            [replace("a/conftest.py", "def auto():\n    return 1", "def auto():\n    assert False")],
            ["! a/test_a.py::test_value", "! a/test_a.py::test_local"],
        )
        .edit(
            "body of a fixture in a folder",
            [replace("a/conftest.py", "def local():\n    return 1", "def local():\n    return 2")],
            ["! a/test_a.py::test_local"],
        )
        .edit(
            "top level in a folder",
            [append("a/conftest.py", "\nX = 1\n")],
            ["a/test_a.py::test_value", "a/test_a.py::test_local"],
        )
        .edit(
            "new in a folder",
            [write("b/conftest.py", "import pytest\n\n\n@pytest.fixture(autouse=True)\ndef fails():\n    assert False\n")],
            [
                "! b/test_b.py::test_value",
                "! b/test_b.py::test_none",
                "! b/deep/test_deep.py::test_deep",
            ],
        )
        .edit(
            "new in a deeper folder",
            [write("b/deep/conftest.py", "def pytest_runtest_setup(item):\n    assert False\n")],
            ["! b/deep/test_deep.py::test_deep"],
        )
        .edit(
            "deleted in a folder",
            [delete("a/conftest.py")],
            ["a/test_a.py::test_value", "! a/test_a.py::test_local"],
        )
        .edit(
            "deleted at the top",
            [delete("conftest.py")],
            [
                "! a/test_a.py::test_value",
                "a/test_a.py::test_local",
                "! b/test_b.py::test_value",
                "b/test_b.py::test_none",
                "b/deep/test_deep.py::test_deep",
            ],
        )
        .edit("comment", [append("conftest.py", "# the end\n"), append("a/conftest.py", "# the end\n")], NONE)
}

fn no_conftest() -> Case {
    Case::new(
        r#"
-- test_a.py --
def test_a():
    pass
-- sub/test_b.py --
def test_b():
    pass
"#,
    )
    .edit(
        "first conftest.py",
        [write(
            "conftest.py",
            "import pytest\n\n\n@pytest.fixture(autouse=True)\ndef fails():\n    assert False\n",
        )],
        ["! test_a.py::test_a", "! sub/test_b.py::test_b"],
    )
    .edit(
        "first conftest.py, in a folder",
        [write("sub/conftest.py", "")],
        ["sub/test_b.py::test_b"],
    )
    .edit(
        "first pytest.ini",
        [write("pytest.ini", "[pytest]\nxfail_strict = true\n")],
        ALL,
    )
    .edit(
        "first tox.ini",
        [write("tox.ini", "[pytest]\nxfail_strict = true\n")],
        ALL,
    )
    .edit(
        "first setup.cfg",
        [write("setup.cfg", "[tool:pytest]\nxfail_strict = true\n")],
        ALL,
    )
    .edit(
        "first pyproject.toml",
        [write(
            "pyproject.toml",
            "[tool.pytest.ini_options]\nxfail_strict = true\n",
        )],
        ALL,
    )
    .edit(
        "files without options for pytest",
        [
            write("setup.cfg", "[metadata]\nname = x\n"),
            write("tox.ini", "[tox]\nenvlist = py\n"),
        ],
        NONE,
    )
}

fn ini() -> Case {
    Case::new(
        r#"
-- pytest.ini --
[pytest]
markers =
    slow: takes long
filterwarnings =
    error::RuntimeWarning
-- test_ini.py --
import warnings


def test_warns():
    try:
        warnings.warn("x", RuntimeWarning)
    except RuntimeWarning:
        return
    assert False


def test_none():
    pass
"#,
    )
    .edit(
        "option changed",
        [replace("pytest.ini", "error::", "ignore::")],
        ["! test_ini.py::test_warns", "test_ini.py::test_none"],
    )
    .edit(
        "option added",
        [append("pytest.ini", "xfail_strict = true\n")],
        ALL,
    )
    .edit(
        "comment",
        [append("pytest.ini", "# a comment\n; another\n")],
        NONE,
    )
    .edit(
        "another section",
        [append("pytest.ini", "[other]\nx = 1\n")],
        NONE,
    )
    .edit(
        "deleted",
        [delete("pytest.ini")],
        ["! test_ini.py::test_warns", "test_ini.py::test_none"],
    )
    .edit(
        "a file of lower rank beside it",
        [write("tox.ini", "[pytest]\nxfail_strict = true\n")],
        NONE,
    )
}

fn pyproject() -> Case {
    Case::new(
        r#"
-- pyproject.toml --
# the project
[project]
name = "x"
version = "1"

[tool.black]
line-length = 88

[tool.pytest.ini_options]
filterwarnings = ["error::RuntimeWarning"]
-- test_ini.py --
import warnings


def test_warns():
    try:
        warnings.warn("x", RuntimeWarning)
    except RuntimeWarning:
        return
    assert False


def test_none():
    pass
"#,
    )
    .edit(
        "pytest's table",
        [replace("pyproject.toml", "error::", "ignore::")],
        ["! test_ini.py::test_warns", "test_ini.py::test_none"],
    )
    .edit(
        "another tool's table",
        [replace("pyproject.toml", "88", "100")],
        NONE,
    )
    .edit(
        "comment and order",
        [
            replace("pyproject.toml", "# the project\n", ""),
            append("pyproject.toml", "# end\n"),
        ],
        NONE,
    )
    .edit(
        "pytest.ini takes its place",
        [write("pytest.ini", "[pytest]\n")],
        ["! test_ini.py::test_warns", "test_ini.py::test_none"],
    )
}

/// Sections of setup.cfg and tox.ini.
fn ini_appears() -> Case {
    Case::new(
        r#"
-- setup.cfg --
[metadata]
name = x

[tool:pytest]
filterwarnings = error::RuntimeWarning
-- tox.ini --
[tox]
envlist = py
-- test_ini.py --
import warnings


def test_warns():
    try:
        warnings.warn("x", RuntimeWarning)
    except RuntimeWarning:
        return
    assert False
"#,
    )
    .edit(
        "section changed",
        [replace("setup.cfg", "error::", "ignore::")],
        ["! test_ini.py::test_warns"],
    )
    .edit(
        "another section",
        [replace("setup.cfg", "name = x", "name = y")],
        NONE,
    )
    .edit("comment", [append("setup.cfg", "# end\n")], NONE)
    .edit(
        "section appears in a file of higher rank",
        [append("tox.ini", "[pytest]\nfilterwarnings = ignore\n")],
        ["! test_ini.py::test_warns"],
    )
    .edit(
        "file of higher rank without a section",
        [append("tox.ini", "[testenv]\nx = 1\n")],
        NONE,
    )
}

/// Plug-ins of the project: `-p`, `pytest_plugins`.
fn plugins() -> Case {
    Case::new(
        r#"
-- pytest.ini --
[pytest]
addopts = -p helpers.plugin
pythonpath = .
-- helpers/__init__.py --
-- helpers/plugin.py --
import pytest


@pytest.fixture
def plugged():
    return make()


def make():
    return 1


def pytest_runtest_setup(item):
    before(item)


def before(item):
    pass
-- helpers/second.py --
import pytest


@pytest.fixture
def second():
    return 1
-- conftest.py --
pytest_plugins = ["helpers.second"]
-- test_plugins.py --
def test_plugged(plugged):
    assert plugged == 1


def test_second(second):
    assert second == 1


def test_none():
    pass
"#,
    )
    .edit(
        "fixture of a plug-in",
        [replace("helpers/plugin.py", "return 1", "return 2")],
        ["! test_plugins.py::test_plugged"],
    )
    .edit(
        "fixture of a plug-in named in conftest.py",
        [replace("helpers/second.py", "return 1", "return 2")],
        ["! test_plugins.py::test_second"],
    )
    .edit(
        "hook of a plug-in",
        [replace(
            "helpers/plugin.py",
            "    before(item)\n",
            "    assert False\n",
        )],
        [
            "! test_plugins.py::test_plugged",
            "! test_plugins.py::test_second",
            "! test_plugins.py::test_none",
        ],
    )
    .edit(
        "called by a hook of a plug-in",
        [replace(
            "helpers/plugin.py",
            "(item):\n    pass",
            "(item):\n    return 1",
        )],
        ALL,
    )
    .edit(
        "top level of a plug-in",
        [append("helpers/plugin.py", "\nX = 1\n")],
        ALL,
    )
    .edit(
        "top level of the other",
        [append("helpers/second.py", "\nX = 1\n")],
        ALL,
    )
    .edit("comment", [append("helpers/plugin.py", "# end\n")], NONE)
}

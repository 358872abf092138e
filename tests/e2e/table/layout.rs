//! The place of the project, and the folder of the command.

use crate::harness::*;

cases!(subdirectory, monorepo, names);

const TREE: &str = r#"
-- pytest.ini --
[pytest]
pythonpath = src
-- src/lib.py --
def one():
    return 1


def two():
    return 2
-- tests/conftest.py --
import pytest


@pytest.fixture
def data():
    import pathlib
    return pathlib.Path(__file__).with_name("data.txt").read_text()
-- tests/data.txt --
1
-- tests/test_lib.py --
import lib


def test_one():
    assert lib.one() == 1


def test_two():
    assert lib.two() == 2


def test_data(data):
    assert data == "1\n"
"#;

/// The command runs in a folder of the project, below pytest's root.
fn subdirectory() -> Case {
    Case::new(TREE)
        .cwd("tests")
        .edit(
            "function",
            [replace("src/lib.py", "return 1", "return 3")],
            ["! tests/test_lib.py::test_one"],
        )
        .edit(
            "file",
            [write("tests/data.txt", "2\n")],
            ["! tests/test_lib.py::test_data"],
        )
        .edit(
            "configuration",
            [append("pytest.ini", "xfail_strict = true\n")],
            ALL,
        )
        .edit("comment", [append("src/lib.py", "# end\n")], NONE)
}

/// The project is a folder of a bigger repository.
fn monorepo() -> Case {
    Case::new(
        r#"
-- README.md --
text
-- shared/common.py --
def shared():
    return 1
-- services/a/pyproject.toml --
[tool.pytest.ini_options]
pythonpath = [".", "../../shared"]
-- services/a/lib.py --
def one():
    return 1
-- services/a/test_a.py --
import common
import lib


def test_lib():
    assert lib.one() == 1


def test_shared():
    assert common.shared() == 1
-- services/b/lib.py --
def one():
    return 1
-- services/b/test_b.py --
def test_b():
    assert False
"#,
    )
    .cwd("services/a")
    .edit(
        "function",
        [replace("services/a/lib.py", "return 1", "return 2")],
        ["! test_a.py::test_lib"],
    )
    .edit(
        "shared function",
        [replace("shared/common.py", "return 1", "return 2")],
        ["! test_a.py::test_shared"],
    )
    .edit(
        "another service",
        [replace("services/b/lib.py", "return 1", "return 2")],
        NONE,
    )
    .edit(
        "top of the repository",
        [write("README.md", "more\n")],
        NONE,
    )
    .edit(
        "configuration",
        [append("services/a/pyproject.toml", "xfail_strict = true\n")],
        ALL,
    )
    .edit(
        "conftest.py above",
        [write("conftest.py", "")],
        between([], ["test_a.py::test_lib", "test_a.py::test_shared"]),
    )
}

/// File names with spaces and letters beyond ASCII.
fn names() -> Case {
    Case::new(
        r#"
-- pytest.ini --
[pytest]
python_files = test_*.py
-- my data/ä b.txt --
1
-- sub dir/test_näme.py --
import pathlib

HERE = pathlib.Path(__file__).resolve().parent.parent


def test_read():
    assert (HERE / "my data" / "ä b.txt").read_text() == "1\n"


def test_ünïcode():
    assert helper() == 1


def helper():
    return 1


def test_none():
    pass
-- test_plain.py --
def test_plain():
    pass
"#,
    )
    .edit(
        "data",
        [write("my data/ä b.txt", "2\n")],
        ["! sub dir/test_näme.py::test_read"],
    )
    .edit(
        "function",
        [replace("sub dir/test_näme.py", "return 1", "return 2")],
        ["! sub dir/test_näme.py::test_ünïcode"],
    )
}

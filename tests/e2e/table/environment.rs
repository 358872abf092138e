//! Environment variables. Each edit is late: only the test step sees it.

use crate::harness::*;

cases!(reads, at_import, everything, given_to_a_child);

const READS: &str = r#"
-- test_env.py --
import os

import pytest


def test_get():
    assert os.environ.get("E_GET", "1") == "1"


def test_getenv():
    assert os.getenv("E_GETENV", "1") == "1"


def test_getitem():
    try:
        value = os.environ["E_ITEM"]
    except KeyError:
        value = "1"
    assert value == "1"


def test_in():
    assert "E_IN" not in os.environ


def test_bytes():
    assert os.environb.get(b"E_BYTES", b"1") == b"1"


def test_getenvb():
    assert os.getenvb(b"E_GETENVB", b"1") == b"1"


def test_expand():
    assert os.path.expandvars("$E_EXPAND") == "1"


def test_two():
    assert os.environ.get("E_GET", "1") + os.environ.get("E_TWO", "1") == "11"


def test_setdefault(monkeypatch):
    monkeypatch.setenv("E_SET", "1")
    assert os.environ["E_SET"] == "1"


@pytest.mark.skipif("os.environ.get('E_SKIP')")
def test_skipif():
    pass


def test_none():
    pass
"#;

/// The ways to read one variable.
fn reads() -> Case {
    Case::new(READS)
        .setup([env("E_EXPAND", "1"), env("E_ITEM", "1")])
        .edit(
            "environ.get",
            [env("E_TWO", "2")],
            ["! test_env.py::test_two"],
        )
        .late()
        .edit(
            "one variable, two tests",
            [env("E_GET", "2")],
            ["! test_env.py::test_get", "! test_env.py::test_two"],
        )
        .late()
        .edit(
            "getenv",
            [env("E_GETENV", "2")],
            ["! test_env.py::test_getenv"],
        )
        .late()
        .edit(
            "environ[]",
            [env("E_ITEM", "2")],
            ["! test_env.py::test_getitem"],
        )
        .late()
        .edit(
            "environ[] unset",
            [unset("E_ITEM")],
            ["test_env.py::test_getitem"],
        )
        .late()
        .edit("in", [env("E_IN", "")], ["! test_env.py::test_in"])
        .late()
        .edit(
            "environb",
            [env("E_BYTES", "2")],
            ["! test_env.py::test_bytes"],
        )
        .late()
        .edit(
            "getenvb",
            [env("E_GETENVB", "2")],
            ["! test_env.py::test_getenvb"],
        )
        .late()
        .edit(
            "expandvars",
            [env("E_EXPAND", "2")],
            ["! test_env.py::test_expand"],
        )
        .late()
        .edit(
            "monkeypatch saves the old value",
            [env("E_SET", "2")],
            between([], ["test_env.py::test_setdefault"]),
        )
        .late()
        .edit(
            "condition of a mark",
            [env("E_SKIP", "1")],
            ["test_env.py::test_skipif"],
        )
        .late()
        .edit("unread variable", [env("E_NOBODY", "1")], NONE)
        .edit(
            "variable and file",
            [
                env("E_IN", ""),
                replace(
                    "test_env.py",
                    "not in os.environ",
                    "not in os.environ  # no",
                ),
            ],
            ["! test_env.py::test_in"],
        )
        .late()
}

/// A variable that is read during an import belongs to all who import the module.
fn at_import() -> Case {
    Case::new(
        r#"
-- settings.py --
import os

DEBUG = os.environ.get("E_DEBUG") == "1"
-- app.py --
import settings


def mode():
    return "debug" if settings.DEBUG else "plain"


def name():
    return "app"
-- test_app.py --
import app


def test_mode():
    assert app.mode() == "plain"


def test_name():
    assert app.name() == "app"
-- test_lazy.py --
def test_lazy():
    import settings
    assert not settings.DEBUG


def test_not():
    pass
-- test_fixture.py --
import os

import pytest


@pytest.fixture(scope="module")
def home():
    return os.environ.get("E_HOME", "x")


def test_first(home):
    assert home == "x"


def test_second(home):
    assert home == "x"


def test_other():
    pass
"#,
    )
    .edit(
        "read at import",
        [env("E_DEBUG", "1")],
        [
            "! test_app.py::test_mode",
            "test_app.py::test_name",
            "! test_lazy.py::test_lazy",
        ],
    )
    .late()
    .edit(
        "read by a module's fixture",
        [env("E_HOME", "y")],
        [
            "! test_fixture.py::test_first",
            "! test_fixture.py::test_second",
        ],
    )
    .late()
}

/// All variables at once.
fn everything() -> Case {
    Case::new(
        r#"
-- test_all.py --
import os


def test_items():
    assert not [name for name, _ in os.environ.items() if name.startswith("E_X")]


def test_copy():
    assert "E_X" not in dict(os.environ)


def test_child_shell():
    import subprocess
    import sys
    program = "import os; print(os.environ.get('E_CHILD', '1'))"
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert done.stdout == b"1\n"


def test_none():
    assert os.environ.get("HOME")
"#,
    )
    .edit(
        "any new variable",
        [env("E_X", "1")],
        between(
            ["! test_all.py::test_items", "! test_all.py::test_copy"],
            ["test_all.py::test_child_shell"],
        ),
    )
    .late()
    .edit(
        "read by a child",
        [env("E_CHILD", "2")],
        [
            "test_all.py::test_items",
            "test_all.py::test_copy",
            "! test_all.py::test_child_shell",
        ],
    )
    .late()
}

/// A test gives a child a value that the test process itself does not have.
fn given_to_a_child() -> Case {
    Case::new(
        r#"
-- other.txt --
1
-- test_given.py --
import os
import subprocess
import sys

PROGRAM = "import os; print(os.environ.get('E_GIVEN'))"


def test_given(monkeypatch):
    monkeypatch.setenv("E_GIVEN", "7")
    assert subprocess.check_output([sys.executable, "-c", PROGRAM]) == b"7\n"


def test_own():
    assert os.environ.get("E_GIVEN", "") in ("", "x")
"#,
    )
    .edit("nothing that they use", [write("other.txt", "2")], NONE)
    .edit(
        "what the test process is given",
        [env("E_GIVEN", "x")],
        ["test_given.py::test_given", "test_given.py::test_own"],
    )
    .late()
}

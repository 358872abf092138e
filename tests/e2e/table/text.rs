//! The parts of a file's text that count: docstrings, but not comments or formatting.

use crate::harness::*;

cases!(formatting, docstrings, unparsable, added_tests);

const LIB: &str = r#"
-- lib.py --
"""A module."""
import os


def add(a, b):
    """Adds."""
    text = 'x'
    return a + b if text else None


def silent(a):
    return a


class Thing:
    """A thing."""

    def method(self):
        """Does it."""
        return {"a": 1, "b": 2}


NUMBERS = [1, 2]
-- conftest.py --
import pytest


@pytest.fixture
def one():
    return 1
-- test_lib.py --
import lib


def test_add(one):
    assert lib.add(one, 2) == 3


def test_method():
    assert lib.Thing().method()["a"] == 1


def test_silent():
    assert lib.silent(1) == 1


def test_docs():
    assert lib.add.__doc__ == "Adds."


def test_module_docs():
    assert lib.__doc__ == "A module."
-- test_none.py --
def test_none():
    pass
"#;

fn formatting() -> Case {
    Case::new(LIB)
        .edit("comment at the end", [append("lib.py", "# end\n")], NONE)
        .edit("comment that moves all lines", [replace("lib.py", "import os\n", "# one\n# two\nimport os\n")], NONE)
        .edit("comment in a function", [replace("lib.py", "    text = 'x'\n", "    # why\n    text = 'x'  # x\n")], NONE)
        .edit("quotes", [replace("lib.py", "text = 'x'", "text = \"x\"")], NONE)
        .edit("blank lines", [replace("lib.py", "\n\n\ndef silent", "\n\n\n\n\n\ndef silent")], NONE)
        .edit("parentheses", [replace("lib.py", "return a + b if text else None", "return (\n        (a + b) if text else None\n    )")], NONE)
        .edit("trailing comma", [replace("lib.py", "{\"a\": 1, \"b\": 2}", "{\n            \"a\": 1,\n            \"b\": 2,\n        }")], NONE)
        .edit("number's notation", [replace("lib.py", "[1, 2]", "[0x1, 0b10]")], NONE)
        .edit("line endings", [python("p='lib.py'; t=open(p,'rb').read(); open(p,'wb').write(t.replace(b'\\n', b'\\r\\n'))")], NONE)
        .edit("byte order mark", [python("p='lib.py'; t=open(p,'rb').read(); open(p,'wb').write(b'\\xef\\xbb\\xbf' + t)")], NONE)
        .edit("in a test file", [replace("test_lib.py", "import lib\n", "# the library\nimport lib\n\n# tests\n")], NONE)
        .edit("in conftest.py", [replace("conftest.py", "    return 1", "    return 1  # one")], NONE)
        .edit("file touched", [python("import os; os.utime('lib.py', (1, 1))")], NONE)
        .edit(
            "name of a local variable",
            [python("p='lib.py'; t=open(p).read(); open(p,'w').write(t.replace('text', 'word'))")],
            ["test_lib.py::test_add"],
        )
}

fn docstrings() -> Case {
    Case::new(LIB)
        .edit(
            "of a function, read without running it",
            [replace("lib.py", "\"\"\"Adds.\"\"\"", "\"\"\"Sums.\"\"\"")],
            between(
                ["! test_lib.py::test_docs"],
                ["test_lib.py::test_module_docs"],
            ),
        )
        .edit(
            "of a module",
            [replace(
                "lib.py",
                "\"\"\"A module.\"\"\"",
                "\"\"\"The module.\"\"\"",
            )],
            ["test_lib.py::test_docs", "! test_lib.py::test_module_docs"],
        )
        .edit(
            "of a class",
            [replace(
                "lib.py",
                "\"\"\"A thing.\"\"\"",
                "\"\"\"The thing.\"\"\"",
            )],
            NONE,
        )
}

/// Files with Python's ending that Python cannot parse.
fn unparsable() -> Case {
    Case::new(
        r#"
-- broken.py --
def f(:
-- latin.py --
# -*- coding: latin-1 -*-
def value():
    return 1
-- test_broken.py --
import pathlib

import pytest


def test_import():
    with pytest.raises(SyntaxError):
        import broken  # noqa: F401


def test_read():
    assert "def" in pathlib.Path(__file__).with_name("broken.py").read_text()


def test_latin():
    import latin
    assert latin.value() == 1


def test_none():
    pass
"#,
    )
    .edit(
        "repaired",
        [write("broken.py", "def f():\n    pass\n")],
        ["! test_broken.py::test_import", "test_broken.py::test_read"],
    )
    .edit(
        "still broken",
        [append("broken.py", "# comment\n")],
        ["test_broken.py::test_import", "test_broken.py::test_read"],
    )
    .edit(
        "in another encoding",
        [replace("latin.py", "return 1", "return 2")],
        ["! test_broken.py::test_latin"],
    )
}

/// Tests that are added, removed or renamed.
fn added_tests() -> Case {
    Case::new(
        r#"
-- test_a.py --
def test_one():
    pass


def test_two():
    pass
-- test_b.py --
def test_three():
    pass
"#,
    )
    .edit(
        "new test in a file",
        [append(
            "test_a.py",
            "\n\ndef test_new():\n    assert False\n",
        )],
        ["! test_a.py::test_new"],
    )
    .edit(
        "new file",
        [write("test_c.py", "def test_new():\n    assert False\n")],
        ["! test_c.py::test_new"],
    )
    .edit(
        "new file in a new folder",
        [write("more/test_d.py", "def test_new():\n    pass\n")],
        ["more/test_d.py::test_new"],
    )
    .edit(
        "test renamed",
        [replace("test_a.py", "test_two", "test_deux")],
        ["test_a.py::test_deux"],
    )
    .edit(
        "file renamed",
        [rename("test_b.py", "test_c.py")],
        ["test_c.py::test_three"],
    )
    .edit(
        "test removed",
        [replace("test_a.py", "\n\ndef test_two():\n    pass\n", "")],
        NONE,
    )
    .edit("file removed", [delete("test_b.py")], NONE)
}

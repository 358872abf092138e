//! Lines of sources that a program shows.

use crate::harness::*;

cases!(line_cache, tracebacks, encodings);

/// A program with a function that fails.
const FAILS: &str = r#"
-- app.py --
import inspect
import logging
import traceback


def above(x):
    return x


def fails():
    raise ValueError("no")


def report():
    try:
        fails()
    except ValueError:
        return traceback.format_exc()


def log():
    try:
        fails()
    except ValueError:
        logging.getLogger("app").exception("failed")


def source():
    return inspect.getsource(fails)


def below():
    return 1
-- test_app.py --
import app


def test_text():
    assert 'raise ValueError("no")\n' in app.report()


def test_number():
    assert "line 11," in app.report()


def test_logged(caplog):
    app.log()
    assert 'raise ValueError("no")\n' in caplog.text


def test_source():
    assert chr(35) not in app.source()


def test_above():
    assert app.above(1)


def test_below():
    assert app.below()
"#;

/// A traceback shows some lines with their numbers, and no others.
fn tracebacks() -> Case {
    Case::new(FAILS)
        .edit(
            "a function below",
            [replace("app.py", "return 1", "return 2")],
            ["test_app.py::test_below", "test_app.py::test_source"],
        )
        .edit(
            "one above, of as many lines",
            [replace("app.py", "return x", "return x + 0")],
            ["test_app.py::test_above", "test_app.py::test_source"],
        )
        .edit(
            "lines come below",
            [replace(
                "app.py",
                "def below():",
                "# more\n\n\ndef below():",
            )],
            ["test_app.py::test_source"],
        )
        .edit(
            "a line comes above",
            [replace("app.py", "def above(x):", "# more\ndef above(x):")],
            [
                "! test_app.py::test_number",
                "test_app.py::test_text",
                "test_app.py::test_logged",
                "test_app.py::test_source",
            ],
        )
        .edit(
            "other line ends",
            [Change::Python(
                "import pathlib\npath = pathlib.Path('app.py')\n\
             path.write_bytes(path.read_bytes().replace(b'\\n', b'\\r\\n'))\n"
                    .to_owned(),
            )],
            ["test_app.py::test_source"],
        )
        .edit(
            "another function with this line comes to its place",
            [
                replace("app.py", "def above(x):\n    return x\n\n\n", ""),
                replace(
                    "app.py",
                    "def report():",
                    "def other():\n    raise ValueError(\"no\")\n\n\ndef report():",
                ),
                replace(
                    "test_app.py",
                    "\n\ndef test_above():\n    assert app.above(1)\n",
                    "",
                ),
            ],
            [
                "! test_app.py::test_number",
                "test_app.py::test_text",
                "test_app.py::test_logged",
                "test_app.py::test_source",
            ],
        )
        .edit(
            "a comment at the line",
            [replace(
                "app.py",
                "raise ValueError(\"no\")",
                "raise ValueError(\"no\")  # why",
            )],
            [
                "test_app.py::test_number",
                "! test_app.py::test_text",
                "! test_app.py::test_logged",
                "! test_app.py::test_source",
            ],
        )
}

/// Other uses of the module that keeps lines.
fn line_cache() -> Case {
    Case::new(
        r#"
-- data.txt --
one
two
-- tool --
print(1)
-- app.py --
import logging


def log():
    try:
        raise ValueError("no")
    except ValueError:
        logging.getLogger("app").exception("failed")
-- test_app.py --
import linecache
import os
from unittest import mock

import app

HERE = os.path.dirname(__file__)


def test_line():
    assert linecache.getline(os.path.join(HERE, "data.txt"), 2) == "two\n"


def test_lines():
    assert linecache.getlines(os.path.join(HERE, "tool")) == ["print(1)\n"]


def test_none():
    assert linecache.getline(app.__file__, 0) == ""


def test_patched():
    with mock.patch("os.path.isfile", side_effect=[True]) as isfile:
        app.log()
        assert os.path.isfile("x")
    isfile.assert_called_once()
"#,
    )
    .edit(
        "a file that is no source",
        [replace("data.txt", "two", "three")],
        ["! test_app.py::test_line"],
    )
    .edit(
        "a source that does not say so",
        [replace("tool", "1", "2")],
        ["! test_app.py::test_lines"],
    )
}

/// Which characters lines are made of.
fn encodings() -> Case {
    Case::new(
        "\n-- app.py --\n# coding: latin-1\nimport traceback\n\n\ndef fails():\n    \
         raise ValueError(\"n\u{e9}\")\n\n\ndef report():\n    try:\n        fails()\n    \
         except ValueError:\n        return traceback.format_exc()\n\n\ndef below():\n    \
         return 1\n-- test_app.py --\nimport app\n\n\ndef test_report():\n    \
         assert \"n\u{c3}\u{a9}\" in app.report()\n\n\ndef test_below():\n    assert app.below()\n",
    )
    .edit(
        "other characters by other words above",
        [replace("app.py", "# coding: latin-1", "# coding: utf-8")],
        ["! test_app.py::test_report"],
    )
    .edit(
        "below, where bytes stand for other characters",
        [replace("app.py", "return 1", "return 2")],
        ["test_app.py::test_below", "test_app.py::test_report"],
    )
}

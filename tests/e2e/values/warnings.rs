//! Warnings while tests are collected.

use crate::harness::*;

cases!(warnings);

/// pytest keeps the warnings of collecting in a list, which nobody's tests read.
fn warnings() -> Case {
    Case::new(
        r#"
-- lib.py --
import warnings


def build(n):
    return [n, 2 * n]


warnings.warn("old", UserWarning)
TABLE = build(1)


def apart():
    return 5
-- test_lib.py --
import lib


def test_table():
    assert lib.TABLE == [1, 2]


def test_apart():
    assert lib.apart() == 5
"#,
    )
    .by_value()
    .edit(
        "a warning moves, and there is another one",
        [replace(
            "lib.py",
            "def build(n):",
            "warnings.warn(\"new\", UserWarning)\n\n\ndef build(n):",
        )],
        [],
    )
    .edit(
        "with a value",
        [replace(
            "lib.py",
            "warnings.warn(\"old\", UserWarning)\nTABLE = build(1)",
            "TABLE = build(2)",
        )],
        ["! test_lib.py::test_table"],
    )
}

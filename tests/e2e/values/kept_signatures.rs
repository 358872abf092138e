//! What a library has found out of how a function can be called it may keep, and tell others who do not
//! ask.

use crate::harness::*;

cases!(kept_by_a_library);

const READER: &str = r#"import inspect

KNOWN = {}


def count(function):
    if function not in KNOWN:
        KNOWN[function] = len(inspect.signature(function).parameters)
    return KNOWN[function]
"#;

fn kept_by_a_library() -> Case {
    Case::new(
        r#"
-- lib.py --
def size(a):
    return a


def width(a):
    return a
-- test_lib.py --
import reader

import lib


def test_first():
    reader.count(lib.size)


def test_second():
    assert reader.count(lib.size) == 1


def test_width():
    assert callable(lib.width)


def test_call():
    assert lib.width(1) == 1
"#,
    )
    .by_value()
    .own_venv()
    .setup([install("reader", "1.0.0", &[("reader.py", READER)])])
    .edit(
        "an argument that the first one asks for",
        [replace("lib.py", "size(a)", "size(a, b=1)")],
        ["test_lib.py::test_first", "! test_lib.py::test_second"],
    )
    .edit(
        "one that nobody asks for",
        [replace("lib.py", "width(a)", "width(a, b=1)")],
        ["test_lib.py::test_call"],
    )
}

//! Modules that packages take from others with all names.

use super::modules::{CORE, limit};
use crate::harness::*;

cases!(by_star);

/// Modules that a package has by `import *`: its statements say so.
fn by_star() -> Case {
    let text = r#"
-- pack/__init__.py --
from pack.inner import *
from pack.inner import *  # again
-- pack/inner/__init__.py --
import core
from . import leaf
from .leaf import *
-- pack/inner/leaf.py --
SIZE = 1
-- magic.py --
import runpy

import pack

MAGIC = runpy.run_path


def limit():
    return pack.core.LIMIT


def look(module, name):
    return vars(module)[name]


def found():
    return look(pack.core, "LI" + "MIT")


def passed():
    return look(pack, "co" + "re")


def first():
    return look(passed(), "LI" + "MIT")
-- test_magic.py --
import magic


class Thing:
    size = 1


def look(thing, name):
    return getattr(thing, name)


def test_looks():
    assert look(Thing(), "si" + "ze") == 1


def test_limit():
    assert magic.limit() == 1


def test_found():
    assert magic.found() == 1


def test_first():
    assert magic.first() == 1
"#;
    Case::new(format!("{CORE}{text}")).by_value().edit(
        "a value that no text of the test names",
        limit("core.py"),
        [
            "! test_magic.py::test_limit",
            "! test_magic.py::test_found",
            "! test_magic.py::test_first",
        ],
    )
}

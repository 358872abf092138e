//! What holds a module otherwise than import statements do, where import-time code can reach any
//! name.

use super::modules::{CORE, limit};
use crate::harness::*;

cases!(bound_to_attributes);

/// Globals that hold a module as a statement binds them to an attribute: who can get these.
fn bound_to_attributes() -> Case {
    let text = r#"
-- hub.py --
import core

NAMED = {}


def named(key):
    return NAMED.get(key)
-- binding.py --
import runpy

import hub

MAGIC = runpy.run_path
kernel = hub.core


def look(thing):
    return vars(thing)["LI" + "MIT"]


def inside():
    return look(kernel)


def other():
    return 2
-- test_binding.py --
import binding
import hub
from binding import kernel as own

mine = hub.core


def test_by_name():
    assert binding.look(binding.kernel) == 1


def test_inside():
    assert binding.inside() == 1


def test_alias():
    assert binding.look(own) == 1


def test_late():
    from binding import kernel as late

    assert binding.look(late) == 1


def test_own():
    assert binding.look(mine) == 1


def test_computed():
    assert binding.look(getattr(binding, "ker" + "nel")) == 1
-- test_star.py --
from binding import *


def test_star():
    assert look(kernel) == 1
-- test_other.py --
import binding


def test_other():
    assert binding.other() == 2


def test_something_else():
    assert binding.look(type("", (), {"LI" + "MIT": 1})) == 1
"#;
    Case::new(format!("{CORE}{text}")).by_value().edit(
        "a value that is looked up",
        limit("core.py"),
        [
            "! test_binding.py::test_by_name",
            "! test_binding.py::test_inside",
            "! test_binding.py::test_alias",
            "! test_binding.py::test_late",
            "! test_binding.py::test_own",
            "! test_binding.py::test_computed",
            "! test_star.py::test_star",
        ],
    )
}

//! What a pickle names, and nobody else.

use crate::harness::*;

cases!(named, by_state, looked_up);

const NAMED: &str = r#"
-- things.py --
VALUE = 1


class Kept:
    altitude = 1


class Outer:
    class Inner:
        altitude = 1


class Other:
    altitude = 1


class Plain:
    pass


def make(n=1):
    return n


factory = make
-- store.py --
import pickle


def load(data):
    return pickle.loads(data)


def altitude(data):
    return load(data).altitude


class Renaming(pickle.Unpickler):
    pass
-- test_store.py --
import io
import pickle
import sys

import store
import things


def test_class():
    assert store.altitude(b"cthings\nKept\n.") == 1


def test_inner():
    assert store.altitude(b"\x80\x04\x8c\x06things\x8c\x0bOuter.Inner\x93.") == 1


def test_instance():
    assert store.altitude(b"(ithings\nOther\n.") == 1


def test_state():
    state = store.load(b"\x80\x02cthings\nPlain\n)\x81N}U\x07heightsK\x01s\x86b.")
    assert vars(state)


def test_call():
    assert store.load(b"cthings\nfactory\n(tR.") == 1


def test_value():
    assert store.load(b"cthings\nVALUE\n.") == 1


def test_unpickler():
    assert store.Renaming(io.BytesIO(b"cthings\nVALUE\n.")).load() == 1


def test_python():
    assert pickle._loads(b"cthings\nVALUE\n.") == 1


def test_module():
    assert vars(store.load(b"csys\nmodules\n.")["things"]) is vars(sys.modules["things"])
"#;

fn named() -> Case {
    Case::new(NAMED)
        .edit(
            "value",
            [replace("things.py", "VALUE = 1", "VALUE = 2")],
            [
                "! test_store.py::test_value",
                "! test_store.py::test_unpickler",
                "! test_store.py::test_python",
                "test_store.py::test_class",
                "test_store.py::test_inner",
                "test_store.py::test_instance",
                "test_store.py::test_state",
                "test_store.py::test_module",
            ],
        )
        .edit(
            "class",
            [replace(
                "things.py",
                "class Kept:\n    altitude = 1",
                "class Kept:\n    altitude = 2",
            )],
            [
                "! test_store.py::test_class",
                "test_store.py::test_inner",
                "test_store.py::test_instance",
                "test_store.py::test_state",
                "test_store.py::test_module",
            ],
        )
        .edit(
            "inner class",
            [replace(
                "things.py",
                "    class Inner:\n        altitude = 1",
                "    class Inner:\n        altitude = 2",
            )],
            [
                "! test_store.py::test_inner",
                "test_store.py::test_state",
                "test_store.py::test_module",
                // A class with another one in it is an effect.
                "test_store.py::test_call",
                "test_store.py::test_class",
                "test_store.py::test_instance",
                "test_store.py::test_python",
                "test_store.py::test_unpickler",
                "test_store.py::test_value",
            ],
        )
        .edit(
            "default of a function under another name",
            [replace("things.py", "make(n=1)", "make(n=2)")],
            [
                "! test_store.py::test_call",
                "test_store.py::test_class",
                "test_store.py::test_inner",
                "test_store.py::test_instance",
                "test_store.py::test_state",
                "test_store.py::test_module",
            ],
        )
        .edit(
            "function under another name",
            [replace("things.py", "factory = make", "factory = int")],
            [
                "! test_store.py::test_call",
                "test_store.py::test_class",
                "test_store.py::test_inner",
                "test_store.py::test_instance",
                "test_store.py::test_state",
                "test_store.py::test_module",
            ],
        )
        .edit(
            "class that goes away",
            [replace("things.py", "class Kept:", "class Away:")],
            [
                "! test_store.py::test_class",
                "test_store.py::test_inner",
                "test_store.py::test_instance",
                "test_store.py::test_state",
                "test_store.py::test_module",
            ],
        )
}

/// What C code sets, nobody tells.
fn by_state() -> Case {
    Case::new(NAMED).edit(
        "property that a state sets",
        [replace(
            "things.py",
            "class Plain:\n    pass",
            "class Plain:\n    heights = property()",
        )],
        [
            "! test_store.py::test_state",
            // What makes it is an effect.
            "test_store.py::test_call",
            "test_store.py::test_python",
            "test_store.py::test_unpickler",
            "test_store.py::test_value",
            "test_store.py::test_class",
            "test_store.py::test_inner",
            "test_store.py::test_instance",
            "test_store.py::test_module",
        ],
    )
}

/// A pickle that calls `getattr` reads what nobody spells.
const LOOKED_UP: &str = r#"
-- things.py --
import copyreg

REGISTERED = 1
copyreg.add_extension("things", "REGIS" + "TERED", 1)


class Kept:
    altitude = 1


class Other:
    altitude = 1
-- test_store.py --
import pickle

import things


def test_extension():
    assert pickle.loads(b"\x80\x02\x82\x01.") == 1


def test_extension_again():
    assert pickle.loads(b"\x80\x02\x82\x01.") == 1


def test_looked_up():
    assert pickle.loads(b"c__builtin__\ngetattr\n(cthings\nKept\nValtitude\ntR.") == 1


def test_plain():
    assert things.Other
"#;

fn looked_up() -> Case {
    Case::new(LOOKED_UP)
        .edit(
            "member",
            [replace(
                "things.py",
                "class Kept:\n    altitude = 1",
                "class Kept:\n    altitude = 2",
            )],
            [
                "! test_store.py::test_looked_up",
                // A number for one of its names is an effect.
                "test_store.py::test_extension",
                "test_store.py::test_extension_again",
                "test_store.py::test_plain",
            ],
        )
        .edit(
            "what has a number",
            [replace("things.py", "REGISTERED = 1", "REGISTERED = 2")],
            [
                "! test_store.py::test_extension",
                "! test_store.py::test_extension_again",
                "test_store.py::test_looked_up",
                "test_store.py::test_plain",
            ],
        )
}

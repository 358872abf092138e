//! Numbers that a class gives its objects in turn, by which they are sorted.

use crate::harness::*;

cases!(
    counted_objects,
    in_a_registry,
    known_otherwise,
    set_back,
    set_by_others
);

const CORE: &str = r#"
-- core.py --
class Field:
    turn = 0

    def __init__(self, name):
        self.name = name
        self.turn = Field.turn
        Field.turn += 1


def in_order(fields):
    return [one.name for one in sorted(fields, key=lambda one: one.turn)]
"#;

fn with_core(files: &str) -> Case {
    Case::new(format!("{CORE}{files}")).by_value()
}

/// What other tests and other modules make changes all numbers, and nothing else.
fn counted_objects() -> Case {
    with_core(
        r#"
-- conftest.py --
-- base.py --
from core import Field

EARLY = Field("early")
LATE = Field("late")
-- test_a.py --
import core


def test_first():
    assert core.Field("x").name == "x"


def test_other():
    assert core.in_order([]) == []
-- test_b.py --
import base
import core


def test_early():
    assert core.in_order([base.LATE, base.EARLY]) == ["early", "late"]


def test_later():
    mine = core.Field("mine")
    assert core.in_order([mine, base.LATE]) == ["late", "mine"]


def test_own():
    one, two = core.Field("one"), core.Field("two")
    assert core.in_order([two, one]) == ["one", "two"]


def test_nothing():
    pass
"#,
    )
    .edit(
        "an earlier test makes more of them",
        [replace(
            "test_a.py",
            "assert core.Field(\"x\")",
            "core.Field(\"y\")\n    assert core.Field(\"x\")",
        )],
        ["test_a.py::test_first"],
    )
    .edit(
        "a new test does",
        [append(
            "test_a.py",
            "\n\ndef test_new():\n    core.Field(\"new\")\n",
        )],
        ["test_a.py::test_new"],
    )
    .edit(
        "an earlier import does",
        [replace(
            "test_a.py",
            "import core\n",
            "import core\n\nSOME = core.Field(\"some\")\n",
        )],
        NONE,
    )
    .edit(
        "the same import does, before",
        [replace("base.py", "EARLY =", "Field(\"some\")\nEARLY =")],
        ["test_b.py::test_early", "test_b.py::test_later"],
    )
    .edit(
        "in another order",
        [replace(
            "base.py",
            "EARLY = Field(\"early\")\nLATE = Field(\"late\")",
            "LATE = Field(\"late\")\nEARLY = Field(\"early\")",
        )],
        ["! test_b.py::test_early", "test_b.py::test_later"],
    )
    .edit(
        "who sorts them reads more than the order",
        [replace("core.py", "one.turn)", "-one.turn)")],
        at_least([
            "! test_b.py::test_early",
            "! test_b.py::test_later",
            "! test_b.py::test_own",
        ]),
    )
}

/// Tests leave such objects to others.
fn in_a_registry() -> Case {
    with_core(
        r#"
-- registry.py --
from core import Field

A = []
B = []
-- test_a.py --
import registry


def test_count():
    assert registry.Field("x")


def test_a():
    registry.A.extend([registry.Field("one"), registry.Field("two")])


def test_b():
    registry.B.append(registry.Field("three"))
-- test_b.py --
import core
import registry


def test_of_a():
    assert core.in_order(reversed(registry.A)) == ["one", "two"]


def test_of_b():
    assert registry.B[-1].name == "three"
"#,
    )
    .edit(
        "other numbers",
        [replace("test_a.py", "assert registry.Field(\"x\")", "assert registry.Field(registry.Field(\"y\"))")],
        ["test_a.py::test_count"],
    )
    .edit(
        "other numbers of the same test",
        [replace("test_a.py", "registry.B.append", "registry.Field(\"y\")\n    registry.B.append")],
        ["test_a.py::test_b", "test_b.py::test_of_b"],
    )
    .edit(
        "another order",
        [replace(
            "test_a.py",
            "registry.A.extend([registry.Field(\"one\"), registry.Field(\"two\")])",
            "two, one = registry.Field(\"two\"), registry.Field(\"one\")\n    registry.A.extend([one, two])",
        )],
        ["test_a.py::test_a", "! test_b.py::test_of_a"],
    )
}

/// Ways to a number that do not spell it.
fn known_otherwise() -> Case {
    let reads = [
        "vars(field)[\"tu\" + \"rn\"]",
        "field.__dict__[\"tu\" + \"rn\"]",
        "getattr(field, \"tu\" + \"rn\")",
        "dict(inspect.getmembers(field))[\"tu\" + \"rn\"]",
        "operator.attrgetter(\"tu\" + \"rn\")(field)",
        "vars(pickle.loads(pickle.dumps(field)))[\"tu\" + \"rn\"]",
        "copy.copy(field).__dict__[\"tu\" + \"rn\"]",
        "vars(core.Field)[\"tu\" + \"rn\"] - 1",
        "eval(\"field.tu\" + \"rn\")",
        "next(map(getattr, [field], [\"tu\" + \"rn\"]))",
    ];
    let tests = reads.iter().enumerate().map(|(at, read)| {
        format!(
            "\n\ndef test_{at}():\n    field = core.Field(\"x\")\n    \
             assert field and {read} == {}\n",
            2 + at
        )
    });
    let tests: String = tests.collect();
    let files = format!(
        "-- test_a.py --\nimport core\n\n\ndef test_first():\n    core.Field(\"a\")\n    \
         core.Field(\"b\")\n-- test_b.py --\nimport copy\nimport inspect\nimport operator\n\
         import pickle\n\nimport core\n{tests}\n\ndef test_own():\n    one = core.Field(\"one\")\n    \
         two = copy.copy(core.Field(\"two\"))\n    \
         assert core.in_order([two, copy.deepcopy(one)]) == [\"one\", \"two\"]\n"
    );
    let mut all = vec!["test_a.py::test_first"];
    for at in 0..reads.len() {
        all.push(format!("! test_b.py::test_{at}").leak());
    }
    with_core(&files).edit(
        "an earlier test makes more of them",
        [replace(
            "test_a.py",
            "    core.Field(\"b\")",
            "    core.Field(\"b\")\n    core.Field(\"c\")",
        )],
        Expect::Exactly(all),
    )
}

/// A test sets the number back.
fn set_back() -> Case {
    with_core(
        r#"
-- base.py --
from core import Field

SOME = [Field(str(at)) for at in range(5)]
-- test_a.py --
import base
import core

FIELDS = [core.Field(str(at)) for at in range(20)]


def test_first():
    core.Field("a")


def test_back():
    setattr(core.Field, "tu" + "rn", 26)
-- test_b.py --
import core
import test_a


def test_order():
    mine = core.Field("mine")
    assert core.in_order([test_a.FIELDS[19], mine]) == ["19", "mine"]
"#,
    )
    .edit(
        "more before",
        [replace("base.py", "range(5)", "range(9)")],
        at_least(["! test_b.py::test_order"]),
    )
}

/// Libraries that set attributes of what they are given.
fn set_by_others() -> Case {
    with_core(
        r#"
-- base.py --
from core import Field

EARLY = Field("early")
LATE = Field("late")
-- test_a.py --
import core

SOME = [core.Field("some")]


def test_first():
    pass
-- test_b.py --
import argparse
from unittest import mock

import base
import core


def test_patched():
    with mock.patch.object(core.Field, "tu" + "rn", 3):
        assert core.in_order([core.Field("mine"), base.LATE]) == ["late", "mine"]


def test_parsed():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tu" + "rn", type=int)
    mine = parser.parse_args(["--tu" + "rn", "3"], core.Field("mine"))
    assert core.in_order([mine, base.LATE]) == ["late", "mine"]
"#,
    )
    .edit(
        "more before",
        [replace(
            "base.py",
            "EARLY =",
            "SOME = [Field(str(at)) for at in range(4)]\nEARLY =",
        )],
        at_least(["! test_b.py::test_patched", "! test_b.py::test_parsed"]),
    )
}

//! The origin of test parameters, and the look of their ids.

use crate::harness::*;

cases!(sources, strange_ids, raw_ids, shared_objects);

const SOURCES: &str = r#"
-- values.py --
VALUES = [1, 2]
-- numbers.json --
[1, 2]
-- hook.json --
[1, 2]
-- lib.py --
def generate():
    return [1, 2]


def name(value):
    return "v{}".format(value)
-- conftest.py --
import json
import pathlib


def pytest_generate_tests(metafunc):
    if "hooked" in metafunc.fixturenames:
        source = pathlib.Path(__file__).with_name("hook.json")
        metafunc.parametrize("hooked", json.loads(source.read_text()))
-- test_module.py --
import pytest
import values


@pytest.mark.parametrize("x", values.VALUES)
def test_x(x):
    assert x < 3


def test_same_file():
    pass
-- test_json.py --
import json
import pathlib

import pytest

NUMBERS = json.loads(pathlib.Path(__file__).with_name("numbers.json").read_text())


@pytest.mark.parametrize("x", NUMBERS)
def test_x(x):
    assert x < 3


def test_same_file():
    pass
-- test_function.py --
import lib
import pytest


@pytest.mark.parametrize("x", lib.generate(), ids=lib.name)
def test_x(x):
    assert x < 3


def test_same_file():
    pass
-- test_hook.py --
def test_x(hooked):
    assert hooked < 3
-- test_other.py --
def test_other():
    pass
"#;

fn sources() -> Case {
    Case::new(SOURCES)
        .edit(
            "constant in another module: a new parameter",
            [replace("values.py", "[1, 2]", "[1, 2, 3]")],
            [
                "test_module.py::test_x[1]",
                "test_module.py::test_x[2]",
                "! test_module.py::test_x[3]",
                "test_module.py::test_same_file",
            ],
        )
        .edit(
            "constant in another module: one less",
            [replace("values.py", "[1, 2]", "[1]")],
            [
                "test_module.py::test_x[1]",
                "test_module.py::test_same_file",
            ],
        )
        .edit(
            "file read at import",
            [write("numbers.json", "[1, 4]")],
            [
                "test_json.py::test_x[1]",
                "! test_json.py::test_x[4]",
                "test_json.py::test_same_file",
            ],
        )
        .edit(
            "function that made the values",
            [replace("lib.py", "return [1, 2]", "return [1, 5]")],
            [
                "test_function.py::test_x[v1]",
                "! test_function.py::test_x[v5]",
                "test_function.py::test_same_file",
            ],
        )
        .edit(
            "function that made the ids",
            [replace("lib.py", "v{}", "w{}")],
            [
                "test_function.py::test_x[w1]",
                "test_function.py::test_x[w2]",
                "test_function.py::test_same_file",
            ],
        )
        .edit(
            "file read by a hook of collection",
            [write("hook.json", "[1, 7]")],
            between(
                ["test_hook.py::test_x[1]", "! test_hook.py::test_x[7]"],
                // The hook runs for the file of every test.
                [
                    "test_module.py::test_x[1]",
                    "test_module.py::test_x[2]",
                    "test_module.py::test_same_file",
                    "test_json.py::test_x[1]",
                    "test_json.py::test_x[2]",
                    "test_json.py::test_same_file",
                    "test_function.py::test_x[v1]",
                    "test_function.py::test_x[v2]",
                    "test_function.py::test_same_file",
                    "test_other.py::test_other",
                ],
            ),
        )
}

const STRANGE: &str = r##"
-- calc.py --
def run(name):
    return globals()["do_" + name]()


def do_a():
    return 1


def do_b():
    return 1
-- test_ids.py --
import calc
import pytest

NAMES = ["a", "b", "a", "b", "a", "b", "a", "b", "a", "b", "a", "b", "a", "b"]
IDS = [
    "with space", "two  spaces", "[bracket]", "]", "a::b", "a/b.py::c", "é中", "🦀",
    "new\nline", "tab\t", "-k", "--x=$(id)", "'quote\"", "back\\slash",
]


@pytest.mark.parametrize("name", NAMES, ids=IDS)
def test_strange(name):
    assert calc.run(name) == 1


@pytest.mark.parametrize("text", ["@file", "#hash", "", " ", "a b", "*"])
def test_text(text):
    assert calc.do_b() == 1


def test_none():
    pass
"##;

/// Ids as pytest escapes them.
fn strange_ids() -> Case {
    Case::new(STRANGE)
        .edit(
            "half of the parameters",
            [replace(
                "calc.py",
                "def do_a():\n    return 1",
                "def do_a():\n    return 2",
            )],
            [
                "! test_ids.py::test_strange[with space]",
                "! test_ids.py::test_strange[[bracket]]",
                "! test_ids.py::test_strange[a::b]",
                "! test_ids.py::test_strange[\\xe9\\u4e2d]",
                "! test_ids.py::test_strange[new\\nline]",
                "! test_ids.py::test_strange[-k]",
                "! test_ids.py::test_strange['quote\"]",
            ],
        )
        .edit(
            "the other half",
            [replace(
                "calc.py",
                "def do_b():\n    return 1",
                "def do_b():\n    return 2",
            )],
            [
                "! test_ids.py::test_strange[two  spaces]",
                "! test_ids.py::test_strange[]]",
                "! test_ids.py::test_strange[a/b.py::c]",
                "! test_ids.py::test_strange[\\U0001f980]",
                "! test_ids.py::test_strange[tab\\t]",
                "! test_ids.py::test_strange[--x=$(id)]",
                "! test_ids.py::test_strange[back\\\\slash]",
                "! test_ids.py::test_text[@file]",
                "! test_ids.py::test_text[#hash]",
                "! test_ids.py::test_text[]",
                "! test_ids.py::test_text[ ]",
                "! test_ids.py::test_text[a b]",
                "! test_ids.py::test_text[*]",
            ],
        )
}

/// Ids with raw newlines and unicode, which a project may ask for.
fn raw_ids() -> Case {
    Case::new(STRANGE)
        .setup([write(
            "pytest.ini",
            "[pytest]\ndisable_test_id_escaping_and_forfeit_all_rights_to_community_support = true\n",
        )])
        .edit(
            "half of the parameters",
            [replace("calc.py", "def do_a():\n    return 1", "def do_a():\n    return 2")],
            [
                "! test_ids.py::test_strange[with space]",
                "! test_ids.py::test_strange[[bracket]]",
                "! test_ids.py::test_strange[a::b]",
                "! test_ids.py::test_strange[é中]",
                "! test_ids.py::test_strange[new\nline]",
                "! test_ids.py::test_strange[-k]",
                "! test_ids.py::test_strange['quote\"]",
            ],
        )
}

const SHARED_OBJECTS: &str = r#"
-- shapes.py --
import functools


def steps():
    return 3


def unshared():
    return 7


class Route:
    @functools.cached_property
    def altitude(self):
        return steps()

    @functools.cached_property
    def girth(self):
        return unshared()
-- lib.py --
def first_item():
    return 1


def title():
    return "a"


def memo():
    return 5


class Plain:
    kept = None

    def name(self):
        if self.kept is None:
            self.kept = title()
        return self.kept
-- test_list.py --
import lib
import pytest


@pytest.mark.parametrize("bag", [[]])
@pytest.mark.parametrize("turn", [0, 1])
def test_bag(bag, turn):
    if turn == 0:
        bag.append(lib.first_item())
    assert bag == [1]


def test_beside():
    pass
-- test_property.py --
import shapes
import pytest


@pytest.mark.parametrize("route", [shapes.Route()])
@pytest.mark.parametrize("turn", [0, 1])
def test_route(route, turn):
    assert route.altitude == 3


@pytest.mark.parametrize("turn", [0, 1])
def test_own(turn):
    assert shapes.Route().girth == 7
-- test_fixture.py --
import lib
import pytest


@pytest.fixture(params=[lib.Plain()])
def plain(request):
    return request.param


def test_one(plain):
    assert plain.name() == "a"


def test_two(plain):
    assert plain.name() == "a"
-- test_marks.py --
import lib
import pytest


@pytest.mark.settings({})
@pytest.mark.parametrize("turn", [0, 1])
def test_mark(request, turn):
    held = request.node.get_closest_marker("settings").args[0]
    if turn == 0:
        held["memo"] = lib.memo()
    assert held["memo"] == 5
-- pytest.ini --
[pytest]
markers = settings
"#;

/// Parameters and what marks hold are made once. A test can meet what another one did to them.
fn shared_objects() -> Case {
    Case::new(SHARED_OBJECTS)
        .edit(
            "put into a list of `parametrize`",
            [replace("lib.py", "return 1", "return 2")],
            [
                "! test_list.py::test_bag[0-bag0]",
                "! test_list.py::test_bag[1-bag0]",
            ],
        )
        .edit(
            "kept by `cached_property` of a parameter",
            [replace("shapes.py", "return 3", "return 4")],
            between(
                [
                    "! test_property.py::test_route[0-route0]",
                    "! test_property.py::test_route[1-route0]",
                ],
                [
                    "test_property.py::test_own[0]",
                    "test_property.py::test_own[1]",
                ],
            ),
        )
        .edit(
            "kept by `cached_property` of a test's own object",
            [replace("shapes.py", "return 7", "return 8")],
            between(
                [
                    "! test_property.py::test_own[0]",
                    "! test_property.py::test_own[1]",
                ],
                [
                    "test_property.py::test_route[0-route0]",
                    "test_property.py::test_route[1-route0]",
                ],
            ),
        )
        .edit(
            "kept in a parameter of a fixture",
            [replace("lib.py", "return \"a\"", "return \"b\"")],
            [
                "! test_fixture.py::test_one[plain0]",
                "! test_fixture.py::test_two[plain0]",
            ],
        )
        .edit(
            "put into what a mark holds",
            [replace("lib.py", "return 5", "return 6")],
            [
                "! test_marks.py::test_mark[0]",
                "! test_marks.py::test_mark[1]",
            ],
        )
}

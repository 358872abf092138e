//! Code that gets all members of a class at once reads those of this class, and of no other.

use crate::harness::*;

cases!(listed, kept);

const FILES: &str = r#"
-- lib.py --
class Base:
    from_base = 1


class One(Base):
    of_one = 1

    class Inner:
        of_inner = 1


class Two:
    of_two = 1

    def __dir__(self):
        return ["of_" + "two"]


class Meta(type):
    def of_meta(cls):
        return sorted(one for one in cls.__dict__ if one.startswith("of_"))


class Three(metaclass=Meta):
    of_three = 1
-- test_lib.py --
import concurrent.futures
import functools

import lib


def values(members):
    return [members[name] for name in members if name[:3] in ("of_", "fro")]


def test_vars():
    assert values(vars(lib.One)) == [1]


def test_dict():
    of_class = lib.One
    assert values(of_class.__dict__) == [1]


def test_by_text():
    assert values(getattr(lib.One, "__di" + "ct__")) == [1]


def test_mapped():
    assert [values(one) for one in map(vars, [lib.One])] == [[1]]


def test_in_thread():
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        assert [values(one) for one in pool.map(vars, [lib.One])] == [[1]]


def test_partial():
    assert values(functools.partial(vars, lib.One)()) == [1]


def test_dir():
    found = [getattr(lib.One, name) for name in dir(lib.One) if name[:3] in ("of_", "fro")]
    assert found == [1, 1]


def test_dir_of_instance():
    assert [name for name in dir(lib.One()) if name[:3] in ("of_", "fro")] == ["from_base", "of_one"]


def test_own_dir():
    assert [getattr(lib.Two(), name) for name in dir(lib.Two())] == [1]


def test_inner():
    assert values(vars(lib.One.Inner)) == [1]


def test_meta():
    assert lib.Three.of_meta() == ["of_three"]


def test_instance():
    one = lib.One()
    one.x = 2
    assert one.__dict__ == {"x": 2} and vars(one) == {"x": 2}


def test_local():
    class Local(lib.Base):
        y = 1

    assert [name for name in vars(Local) if name[:2] != "__"] == ["y"]
"#;

fn listed() -> Case {
    let of_one = [
        "! test_lib.py::test_vars",
        "! test_lib.py::test_dict",
        "! test_lib.py::test_by_text",
        "! test_lib.py::test_mapped",
        "! test_lib.py::test_in_thread",
        "! test_lib.py::test_partial",
    ];
    let with_dir = [
        "! test_lib.py::test_dir",
        "! test_lib.py::test_dir_of_instance",
    ];
    Case::new(FILES)
        .by_value()
        .edit(
            "another value in a class",
            [replace("lib.py", "of_one = 1", "of_one = 3")],
            Expect::Between(
                [&of_one[..], &["! test_lib.py::test_dir"]].concat(),
                vec!["test_lib.py::test_dir_of_instance"],
            ),
        )
        .edit(
            "a new member",
            [replace("lib.py", "of_one = 1", "of_one = of_new = 1")],
            Expect::Exactly([&of_one[..], &with_dir].concat()),
        )
        .edit(
            "a member of a base",
            [replace(
                "lib.py",
                "from_base = 1",
                "from_base = of_base = 1",
            )],
            with_dir,
        )
        .edit(
            "a member of a class within",
            [replace("lib.py", "of_inner = 1", "of_inner = 2")],
            ["! test_lib.py::test_inner"],
        )
        .edit(
            "a member of one with names of its own",
            [replace("lib.py", "of_two = 1", "of_two = 2")],
            ["! test_lib.py::test_own_dir"],
        )
        .edit(
            "a member that a method of the metaclass lists",
            [replace(
                "lib.py",
                "of_three = 1",
                "of_three = of_fourth = 1",
            )],
            ["! test_lib.py::test_meta"],
        )
}

/// What somebody else keeps: a fixture, an earlier test, a module that a test imports.
fn kept() -> Case {
    Case::new(
        r#"
-- lib.py --
class One:
    of_one = 1


class Two:
    of_two = 1


SEEN = []
-- late.py --
class Late:
    of_late = 1
-- test_lib.py --
import pytest

import lib


def values(members):
    return [members[name] for name in members if name[:3] == "of_"]


@pytest.fixture(scope="session")
def members():
    return vars(lib.One)


def test_fixture(members):
    assert values(members) == [1]


def test_fixture_again(members):
    assert values(members) == [1]


def test_keeps():
    lib.SEEN.append(vars(lib.Two))


def test_kept():
    assert values(lib.SEEN[0]) == [1]


def test_late():
    import late
    assert values(vars(late.Late)) == [1]


def test_other():
    assert lib.SEEN is not None
"#,
    )
    .by_value()
    .edit(
        "what a fixture lists",
        [replace("lib.py", "of_one = 1", "of_one = 2")],
        between(
            [
                "! test_lib.py::test_fixture",
                "! test_lib.py::test_fixture_again",
            ],
            ["test_lib.py::test_keeps"],
        ),
    )
    .edit(
        "what an earlier test listed",
        [replace("lib.py", "of_two = 1", "of_two = 2")],
        between(
            ["! test_lib.py::test_kept"],
            // Who imports a module first runs with those that may have that.
            [
                "test_lib.py::test_keeps",
                "test_lib.py::test_other",
                "test_lib.py::test_late",
            ],
        ),
    )
    .edit(
        "in a module that a test imports",
        [replace("late.py", "of_late = 1", "of_late = 2")],
        between(["! test_lib.py::test_late"], []),
    )
}

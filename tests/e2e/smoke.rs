//! A small part of everything, on each interpreter of the machine.

use crate::harness::*;

const SMOKE: &str = r#"
-- lib.py --
import functools
import os

LIMIT = 10


def one():
    return 1


def load():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data.txt")
    with open(path) as file:
        return file.read()


@functools.lru_cache(maxsize=None)
def cached():
    return fill()


def fill():
    return 1


def in_child(queue):
    queue.put(one_more())


def one_more():
    return 2


def gen():
    yield 1


class Thing:
    def __init__(self):
        self.value = 1
-- data.txt --
1
-- script.py --
print("out")
-- conftest.py --
import lib
import pytest


@pytest.fixture(scope="session")
def made():
    return lib.Thing()
-- test_lib.py --
import multiprocessing
import os
import subprocess
import sys

import lib
import pytest


def test_one():
    assert lib.one() == 1


def test_load():
    assert lib.load() == "1\n"


def test_env():
    assert os.environ.get("SMOKE") is None


def test_cached_first():
    assert lib.cached() == 1


def test_cached_second():
    assert lib.cached() == 1


def test_made_first(made):
    assert made.value == 1


def test_made_second(made):
    assert made.value == 1


def test_child():
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=lib.in_child, args=(queue,))
    process.start()
    assert queue.get(timeout=60) == 2
    process.join()


def test_script():
    assert subprocess.check_output([sys.executable, "script.py"]) == b"out\n"


def test_gen():
    assert list(lib.gen()) == [1]


@pytest.mark.parametrize("x", ["a b", "[é]"])
def test_param(x):
    assert lib.LIMIT == 10
-- test_none.py --
def test_none():
    pass
"#;

fn smoke() -> Case {
    Case::new(SMOKE)
        .edit(
            "function",
            [replace(
                "lib.py",
                "one():\n    return 1",
                "one():\n    return 2",
            )],
            ["! test_lib.py::test_one"],
        )
        .edit(
            "file",
            [write("data.txt", "2\n")],
            ["! test_lib.py::test_load"],
        )
        .edit(
            "environment",
            [env("SMOKE", "1")],
            ["! test_lib.py::test_env"],
        )
        .late()
        .edit(
            "cache",
            [replace(
                "lib.py",
                "fill():\n    return 1",
                "fill():\n    return 2",
            )],
            between(
                [
                    "! test_lib.py::test_cached_first",
                    "! test_lib.py::test_cached_second",
                ],
                [
                    "test_lib.py::test_one",
                    "test_lib.py::test_load",
                    "test_lib.py::test_env",
                    "test_lib.py::test_made_first",
                    "test_lib.py::test_made_second",
                    "test_lib.py::test_child",
                    "test_lib.py::test_script",
                    "test_lib.py::test_gen",
                    "test_lib.py::test_param[a b]",
                    "test_lib.py::test_param[[\\xe9]]",
                    "test_none.py::test_none",
                ],
            ),
        )
        .edit(
            "session fixture",
            [replace("lib.py", "self.value = 1", "self.value = 2")],
            [
                "! test_lib.py::test_made_first",
                "! test_lib.py::test_made_second",
            ],
        )
        .edit(
            "child",
            [replace(
                "lib.py",
                "one_more():\n    return 2",
                "one_more():\n    return 3",
            )],
            ["! test_lib.py::test_child"],
        )
        .edit(
            "script",
            [write("script.py", "print('in')\n")],
            ["! test_lib.py::test_script"],
        )
        .edit(
            "generator",
            [replace("lib.py", "yield 1", "yield 2")],
            ["! test_lib.py::test_gen"],
        )
        .edit(
            "comment",
            [
                append("lib.py", "# end\n"),
                append("test_lib.py", "# end\n"),
            ],
            NONE,
        )
        .edit(
            "top level of what conftest.py imports",
            [append("lib.py", "print()\n")],
            ALL,
        )
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn on_the_oldest_interpreter() {
    on_all_interpreters(Wanted::Oldest, |python| smoke().check(python));
}

#[test]
#[ignore = "all interpreters: `.ci/all` has them"]
fn on_every_interpreter() {
    on_all_interpreters(Wanted::Every, |python| smoke().check(python));
}

//! When state is read: who read it before a test changed it does not need that test.

use crate::harness::*;

cases!(before, garbage);

/// What read state before a test changed it: hooks that run when tests have been found, the
/// set-up of a wider fixture, a function behind a cache.
fn before() -> Case {
    Case::new(
        r#"
-- lib.py --
import functools

STATE = []


@functools.lru_cache(None)
def size():
    return len(STATE)


def fill():
    STATE.append(item())


def item():
    return 1
-- conftest.py --
import pytest

import lib


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: (len(lib.STATE), item.nodeid))


@pytest.fixture(scope="session")
def count():
    yield len(lib.STATE)
    assert len(lib.STATE) < 9
-- test_a.py --
def test_count(count):
    assert count == 0
-- test_b.py --
import lib


def test_size():
    assert lib.size() == 0
-- test_c.py --
import lib


def test_fill():
    lib.fill()
    assert lib.STATE == [1]
-- test_d.py --
def test_count_again(count):
    assert count == 0


def test_apart():
    pass
-- test_e.py --
import lib


def test_state():
    assert len(lib.STATE) < 9
"#,
    )
    .edit(
        "the code that changed it",
        [replace("lib.py", "return 1", "return 2")],
        between(["! test_c.py::test_fill"], ["test_e.py::test_state"]),
    )
    .edit(
        "what it is at import",
        [replace("lib.py", "STATE = []", "STATE = [0]")],
        at_least([
            "! test_a.py::test_count",
            "! test_b.py::test_size",
            "! test_c.py::test_fill",
            "! test_d.py::test_count_again",
            "test_e.py::test_state",
        ]),
    )
    .edit(
        "the tear-down",
        [replace("conftest.py", "< 9", "< 0")],
        at_least(["! test_e.py::test_state"]),
    )
}

/// What the garbage collector ends between two tests, it ends in the turn of the next one.
fn garbage() -> Case {
    Case::new(
        r#"
-- thing.py --
import gc


class Thing:
    def __del__(self):
        end()


def end():
    return 1


def leave():
    one = Thing()
    one.itself = one
    gc.set_threshold(1)
-- conftest.py --
import pytest

import thing


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    yield
    if item.name == "test_first":
        thing.leave()
-- test_a.py --
def test_first():
    pass
-- test_b.py --
def test_second():
    pass
-- test_c.py --
def test_third():
    pass
"#,
    )
    .edit(
        "the end of an object",
        [replace("thing.py", "return 1", "return 2")],
        between([], ["test_b.py::test_second"]),
    )
}

//! Kinds of tests: classes, doctests, asynchronous tests; and how tests end.

use crate::harness::*;

cases!(
    classes,
    outcomes,
    reruns,
    lent_to_doctests,
    lent_to_others,
    doctests,
    asynchronous
);

fn classes() -> Case {
    Case::new(
        r#"
-- lib.py --
def one():
    return 1


def two():
    return 2
-- base.py --
import lib


class Shared:
    number = 1

    def test_shared(self):
        assert lib.one() == self.number

    def helper(self):
        return lib.two()
-- test_classes.py --
import base
import lib


class TestOuter:
    class TestInner:
        def test_inner(self):
            assert lib.one() == 1

    def test_outer(self):
        assert lib.two() == 2


class TestA(base.Shared):
    def test_own(self):
        assert self.helper() == 2


class TestB(base.Shared):
    pass


def test_function():
    pass
"#,
    )
    .edit(
        "called by an inherited test",
        [replace("lib.py", "return 1", "return 0")],
        [
            "! test_classes.py::TestOuter::TestInner::test_inner",
            "! test_classes.py::TestA::test_shared",
            "! test_classes.py::TestB::test_shared",
        ],
    )
    .edit(
        "called by an inherited helper",
        [replace("lib.py", "return 2", "return 0")],
        [
            "! test_classes.py::TestOuter::test_outer",
            "! test_classes.py::TestA::test_own",
        ],
    )
    .edit(
        "body of an inherited test",
        [replace(
            "base.py",
            "lib.one() == self.number",
            "lib.one() != self.number",
        )],
        [
            "! test_classes.py::TestA::test_shared",
            "! test_classes.py::TestB::test_shared",
        ],
    )
    .edit(
        "variable of an inherited class",
        [replace("base.py", "number = 1", "number = 1.0")],
        ALL,
    )
}

fn doctests() -> Case {
    Case::new(
        r#"
-- pytest.ini --
[pytest]
addopts = --doctest-modules --doctest-glob=*.rst
pythonpath = .
-- lib.py --
def one():
    """Says one.

    >>> one()
    1
    """
    return inner()


def inner():
    return 1


def two():
    """Says two.

    >>> two()
    2
    """
    return 2
-- guide.rst --
A guide
=======

>>> import lib
>>> lib.two()
2
-- other.rst --
>>> 1 + 1
2
-- test_lib.py --
import lib


def test_one():
    assert lib.one() == 1
"#,
    )
    .edit(
        "function",
        [replace("lib.py", "return 1", "return 3")],
        ["! lib.py::lib.one", "! test_lib.py::test_one"],
    )
    .edit(
        "function that a text runs",
        [replace("lib.py", "    return 2", "    return 3")],
        ["! lib.py::lib.two", "! guide.rst::guide.rst"],
    )
    .edit(
        "docstring",
        [replace(
            "lib.py",
            "    >>> two()\n    2",
            "    >>> two()\n    3",
        )],
        between(
            ["! lib.py::lib.two"],
            [
                "lib.py::lib.one",
                "test_lib.py::test_one",
                "guide.rst::guide.rst",
            ],
        ),
    )
    .edit(
        "text",
        [append("guide.rst", "\n>>> 1\n2\n")],
        ["! guide.rst::guide.rst"],
    )
    .edit("comment", [append("lib.py", "# end\n")], NONE)
}

/// A module that a fixture gives to all doctests. They run last: who runs first changes what
/// the fixture holds, so that all later tests need it.
const LENT: &str = r#"
-- pytest.ini --
[pytest]
addopts = --doctest-glob=*.rst
pythonpath = .
-- lib.py --
LIMIT = 1


def one():
    return 1
-- conftest.py --
import lib
import pytest


@pytest.fixture(autouse=True)
def add(doctest_namespace):
    doctest_namespace["lib"] = lib
-- usage.rst --
>>> lib.LIMIT
1
-- test_lib.py --
import lib


def test_one():
    assert lib.one() == 1
"#;

fn lent_to_doctests() -> Case {
    Case::new(LENT)
        .by_value()
        .edit(
            "constant",
            [replace("lib.py", "LIMIT = 1", "LIMIT = 2")],
            ["! usage.rst::usage.rst"],
        )
        .edit(
            "new doctest",
            [write("worse.rst", ">>> lib.one()\n2\n")],
            ["! worse.rst::worse.rst"],
        )
        .edit(
            "a test that looks at the names",
            [append(
                "test_lib.py",
                "\n\ndef test_limit(doctest_namespace):\n    \
                 assert getattr(doctest_namespace['lib'], 'LIM' + 'IT') == 1\n",
            )],
            at_least(["test_lib.py::test_limit"]),
        )
}

fn lent_to_others() -> Case {
    let reader = r#"
-- test_list.py --
def test_all(request):
    everything = request.getfixturevalue("doctest_namespace").values()
    assert [vars(one)["LIMIT"] for one in everything if hasattr(one, "one")] == [1]
"#;
    Case::new(format!("{LENT}{reader}")).edit(
        "constant",
        [replace("lib.py", "LIMIT = 1", "LIMIT = 2")],
        between(
            ["! usage.rst::usage.rst", "! test_list.py::test_all"],
            ["test_lib.py::test_one"],
        ),
    )
}

fn asynchronous() -> Case {
    Case::new(
        r#"
-- lib.py --
import asyncio


async def fetch():
    await asyncio.sleep(0)
    return await low()


async def low():
    return 1


async def connect():
    return 1


async def background():
    return 1


async def start():
    task = asyncio.ensure_future(background())
    return await task
-- test_async.py --
import asyncio

import lib
import pytest
import pytest_asyncio


@pytest_asyncio.fixture
async def connection():
    value = await lib.connect()
    yield value
    await asyncio.sleep(0)


@pytest.mark.asyncio
async def test_fetch():
    assert await lib.fetch() == 1


@pytest.mark.asyncio
async def test_connection(connection):
    assert connection == 1


@pytest.mark.asyncio
async def test_task():
    assert await lib.start() == 1


@pytest.mark.asyncio
async def test_gather():
    assert await asyncio.gather(lib.low(), lib.low()) == [1, 1]


def test_plain():
    pass
"#,
    )
    .plugins()
    .edit(
        "coroutine",
        [replace(
            "lib.py",
            "low():\n    return 1",
            "low():\n    return 2",
        )],
        [
            "! test_async.py::test_fetch",
            "! test_async.py::test_gather",
        ],
    )
    .edit(
        "fixture",
        [replace(
            "lib.py",
            "connect():\n    return 1",
            "connect():\n    return 2",
        )],
        ["! test_async.py::test_connection"],
    )
    .edit(
        "task",
        [replace(
            "lib.py",
            "background():\n    return 1",
            "background():\n    return 2",
        )],
        ["! test_async.py::test_task"],
    )
}

const ENDS: &str = r#"
-- lib.py --
def one():
    return 1


def broken():
    return 1


def ready():
    return False
-- test_ends.py --
import lib
import pytest


def test_passes():
    assert lib.one() == 1


@pytest.mark.skip
def test_skipped():
    assert lib.one() == 2


def test_skips_itself():
    if not lib.ready():
        pytest.skip("not ready")


@pytest.mark.xfail
def test_expected():
    assert lib.broken() == 2


@pytest.mark.xfail(raises=ZeroDivisionError)
def test_expected_error():
    lib.broken() / 0


def test_expects_itself():
    if lib.broken() == 1:
        pytest.xfail("known")


def test_none():
    pass
"#;

/// Skipped and expectedly failing tests have rows like those that pass.
fn outcomes() -> Case {
    Case::new(ENDS)
        .edit("nothing", [], NONE)
        .edit(
            "function of a test that passes",
            [replace(
                "lib.py",
                "one():\n    return 1",
                "one():\n    return 2",
            )],
            ["! test_ends.py::test_passes"],
        )
        .edit(
            "why a test skips itself",
            [replace("lib.py", "return False", "return True")],
            ["test_ends.py::test_skips_itself"],
        )
        .edit(
            "what is known to fail",
            [replace(
                "lib.py",
                "broken():\n    return 1",
                "broken():\n    return 2",
            )],
            [
                "test_ends.py::test_expected",
                "test_ends.py::test_expected_error",
                "test_ends.py::test_expects_itself",
            ],
        )
}

/// Tests that ended badly always run again.
fn reruns() -> Case {
    Case::new(
        r#"
-- lib.py --
def one():
    return 1
-- test_bad.py --
import lib
import pytest


@pytest.fixture
def broken():
    assert False


@pytest.fixture
def closes_badly():
    yield 1
    assert False


def test_fails():
    assert lib.one() == 2


def test_error(broken):
    pass


def test_error_at_end(closes_badly):
    pass


@pytest.mark.xfail
def test_unexpected():
    assert lib.one() == 1


@pytest.mark.xfail(strict=True)
def test_unexpected_strict():
    assert lib.one() == 1


def test_passes():
    assert lib.one() == 1


def test_none():
    pass
"#,
    )
    .always([
        "! test_bad.py::test_fails",
        "! test_bad.py::test_error",
        "! test_bad.py::test_error_at_end",
        "test_bad.py::test_unexpected",
        "! test_bad.py::test_unexpected_strict",
    ])
    .edit("nothing", [], NONE)
    .because("test_bad.py::test_fails", "fail")
    .edit("another file", [write("notes.txt", "x")], NONE)
}

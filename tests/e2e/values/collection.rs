//! What tests are made of: test files, `conftest.py`, fixtures, parameters and marks.

use crate::harness::*;

cases!(test_files, hooks, marks, unittests, parameters_made_late; version_sensitive: fixtures);

fn test_files() -> Case {
    Case::new(
        r#"
-- lib.py --
def run():
    return 1
-- helpers.py --
def check(value):
    assert value == 1


def other(value):
    return value
-- test_lib.py --
import lib
from helpers import check

LIMIT = 1


def expected():
    return LIMIT


class TestRun:
    wanted = 1

    def test_wanted(self):
        assert lib.run() == self.wanted

    def test_own(self):
        assert lib.run() == 1


def test_check():
    check(lib.run())


def test_expected():
    assert lib.run() == expected()
"#,
    )
    .by_value()
    .edit(
        "a new test, a new function and a new import",
        [append(
            "test_lib.py",
            "\n\nimport re\n\n\ndef more():\n    return re.escape('a')\n\n\ndef test_more():\n    assert more()\n",
        )],
        ["test_lib.py::test_more"],
    )
    .edit(
        "a new test in a class",
        [replace(
            "test_lib.py",
            "    def test_own",
            "    def test_new(self):\n        pass\n\n    def test_own",
        )],
        ["test_lib.py::TestRun::test_new"],
    )
    .edit(
        "a constant of the test file",
        [replace("test_lib.py", "LIMIT = 1", "LIMIT = 2")],
        ["! test_lib.py::test_expected"],
    )
    .edit(
        "an attribute of the test class",
        [replace("test_lib.py", "wanted = 1", "wanted = 2")],
        between(
            ["! test_lib.py::TestRun::test_wanted"],
            ["test_lib.py::TestRun::test_own"],
        ),
    )
    .edit(
        "a helper module",
        [replace("helpers.py", "def other(value):\n    return value", "def other(value):\n    return 2")],
        NONE,
    )
    .edit(
        "what pytest asks a module for",
        [append("test_lib.py", "\n\ndef setup_module():\n    lib.run = lambda: 2\n")],
        at_least([
            "! test_lib.py::TestRun::test_wanted",
            "! test_lib.py::TestRun::test_own",
            "! test_lib.py::test_check",
            "! test_lib.py::test_expected",
        ]),
    )
    .edit(
        "what pytest asks a class for",
        [replace(
            "test_lib.py",
            "    wanted = 1\n",
            "    wanted = 1\n\n    def setup_method(self):\n        self.wanted = 2\n",
        )],
        between(
            ["! test_lib.py::TestRun::test_wanted"],
            ["test_lib.py::TestRun::test_own"],
        ),
    )
    .edit(
        "a test is gone and a class is no test class any more",
        [append("test_lib.py", "\n\nTestRun.__test__ = False\n")],
        at_least([]),
    )
}

const FIXTURES: &str = r#"
-- values.py --
def value():
    return 1


def pairs():
    return [(1, 1), (2, 2)]


VALUE = value()
-- conftest.py --
import pytest
import values


@pytest.fixture
def number():
    return values.VALUE


@pytest.fixture
def word():
    return "a"


@pytest.fixture(scope="session")
def shared():
    return make()


def make():
    return [1]


@pytest.fixture(params=values.pairs(), ids=["one", "two"])
def pair(request):
    return request.param
-- test_fixtures.py --
import pytest


def test_number(number):
    assert number == 1


def test_word(word):
    assert word == "a"


def test_shared(shared):
    assert shared == [1]


def test_pair(pair):
    assert pair[0] == pair[1]


def test_request(request):
    assert request.getfixturevalue("wo" + "rd") == "a"


def test_none():
    pass
-- sub/test_sub.py --
def test_sub(word):
    assert word == "a"
"#;

fn fixtures() -> Case {
    Case::new(FIXTURES)
    .by_value()
    .edit(
        "a value that a fixture reads",
        [replace("values.py", "return 1", "return 2")],
        // Who asks for a fixture by its name may get any.
        between(
            ["! test_fixtures.py::test_number"],
            ["test_fixtures.py::test_request"],
        ),
    )
    .edit(
        "the body of a fixture",
        [replace("conftest.py", "return \"a\"", "return \"b\"")],
        [
            "! test_fixtures.py::test_word",
            "! test_fixtures.py::test_request",
            "! sub/test_sub.py::test_sub",
        ],
    )
    .edit(
        "a fixture of the session",
        [replace("conftest.py", "return [1]", "return [2]")],
        ["! test_fixtures.py::test_shared"],
    )
    .edit(
        "a parameter of a fixture",
        [replace("values.py", "(2, 2)", "(2, 3)")],
        at_least(["! test_fixtures.py::test_pair[two]"]),
    )
    .edit(
        "a new fixture that nobody requests",
        [append(
            "conftest.py",
            "\n\n@pytest.fixture\ndef more():\n    return 1\n",
        )],
        // All of a `conftest.py` counts for the tests beneath it.
        at_least([]),
    )
    .edit(
        "a new fixture that everybody gets",
        [append(
            "conftest.py",
            "\n\n@pytest.fixture(autouse=True)\ndef more(monkeypatch):\n    monkeypatch.setattr(values, 'VALUE', 2)\n",
        )],
        at_least(["! test_fixtures.py::test_number"]),
    )
    .edit(
        "a fixture that hides another",
        [write(
            "sub/conftest.py",
            "import pytest\n\n\n@pytest.fixture\ndef word():\n    return 'b'\n",
        )],
        ["! sub/test_sub.py::test_sub"],
    )
    .edit(
        "a fixture in a test file that hides another",
        [append(
            "test_fixtures.py",
            "\n\n@pytest.fixture\ndef word():\n    return 'b'\n",
        )],
        between(
            ["! test_fixtures.py::test_word", "! test_fixtures.py::test_request"],
            [],
        ),
    )
    .edit(
        "another scope",
        [replace("conftest.py", "(scope=\"session\")", "(scope=\"module\")")],
        at_least(["test_fixtures.py::test_shared"]),
    )
}

/// Hooks in `conftest.py`.
fn hooks() -> Case {
    Case::new(
        r#"
-- conftest.py --
import marker


def pytest_configure(config):
    config.addinivalue_line("markers", "odd: is odd")


def pytest_collection_modifyitems(items):
    marker.mark(items)


def pytest_runtest_setup(item):
    marker.before(item)
-- marker.py --
import pytest


def mark(items):
    for item in items:
        if "odd" in item.name:
            item.add_marker(pytest.mark.odd)


def before(item):
    item.started = True
-- test_hooks.py --
def test_odd(request):
    assert request.node.get_closest_marker("odd")


def test_even(request):
    assert request.node.started


def test_plain():
    pass
"#,
    )
    .by_value()
    .edit(
        "marks that are given to items",
        [replace("marker.py", "\"odd\" in item.name", "False")],
        at_least(["! test_hooks.py::test_odd"]),
    )
    .edit(
        "a hook that runs for each test",
        [replace("marker.py", "item.started = True", "item.started = False")],
        at_least(["! test_hooks.py::test_even"]),
    )
    .edit(
        "a new hook",
        [append(
            "conftest.py",
            "\n\ndef pytest_runtest_call(item):\n    item.started = False\n",
        )],
        at_least(["! test_hooks.py::test_even"]),
    )
    .edit(
        "tests that are skipped by a hook",
        [append(
            "conftest.py",
            "\n\ndef pytest_itemcollected(item):\n    import pytest\n    item.add_marker(pytest.mark.skip)\n",
        )],
        ALL,
    )
}

/// Parameters and marks whose values are computed at import.
fn marks() -> Case {
    Case::new(
        r#"
-- values.py --
def values():
    return [1, 2]


def is_off():
    return False


def words():
    return ["a", "b"]


class Case:
    def __init__(self, given):
        self.given = given


def cases():
    return [Case(1), Case(2)]
-- test_marks.py --
import pytest
import values


@pytest.mark.parametrize("x", values.values(), ids=["one", "two"])
def test_values(x):
    assert x in (1, 2)


@pytest.mark.skipif(values.is_off(), reason="off")
def test_if():
    pass


@pytest.mark.parametrize("word", values.words())
def test_words(word):
    assert word in "abc"


@pytest.mark.parametrize("case", values.cases(), ids=["one", "two"])
def test_cases(case):
    assert case.given in (1, 2)


def test_plain():
    assert values.__name__ == "values"
"#,
    )
    .by_value()
    .edit(
        "a value with the same id",
        [replace("values.py", "return [1, 2]", "return [1, 3]")],
        between(
            ["! test_marks.py::test_values[two]"],
            ["test_marks.py::test_values[one]"],
        ),
    )
    .edit(
        "an object with the same id",
        [replace("values.py", "Case(1), Case(2)", "Case(1), Case(3)")],
        between(
            ["! test_marks.py::test_cases[two]"],
            ["test_marks.py::test_cases[one]"],
        ),
    )
    .edit(
        "the same values",
        [replace(
            "values.py",
            "return [1, 2]",
            "return list(range(1, 3))",
        )],
        NONE,
    )
    .edit(
        "one more parameter",
        [replace(
            "values.py",
            "[\"a\", \"b\"]",
            "[\"a\", \"b\", \"c\"]",
        )],
        between(
            ["test_marks.py::test_words[c]"],
            [
                "test_marks.py::test_words[a]",
                "test_marks.py::test_words[b]",
            ],
        ),
    )
    .edit(
        "a condition",
        [replace("values.py", "return False", "return True")],
        ["test_marks.py::test_if"],
    )
    .edit(
        "a mark of the module",
        [append(
            "test_marks.py",
            "\n\npytestmark = pytest.mark.skip\n",
        )],
        ALL,
    )
}

/// Test cases of `unittest`.
fn unittests() -> Case {
    Case::new(
        r#"
-- lib.py --
def value():
    return 1


VALUE = value()
-- test_lib.py --
import unittest

import lib


class Base(unittest.TestCase):
    wanted = 1

    def check(self):
        self.assertEqual(lib.VALUE, self.wanted)


class ValueTest(Base):
    def test_value(self):
        self.check()

    def test_truth(self):
        self.assertTrue(True)


class ApartTest(unittest.TestCase):
    def test_apart(self):
        self.assertEqual(1, 1)
"#,
    )
    .by_value()
    .edit(
        "a value",
        [replace("lib.py", "return 1", "return 2")],
        between(
            ["! test_lib.py::ValueTest::test_value"],
            ["test_lib.py::ValueTest::test_truth"],
        ),
    )
    .edit(
        "the same value",
        [replace("lib.py", "return 1", "return 2 - 1")],
        NONE,
    )
    .edit(
        "a method that `unittest` looks for",
        [replace(
            "test_lib.py",
            "    wanted = 1\n",
            "    wanted = 1\n\n    def setUp(self):\n        self.wanted = 2\n",
        )],
        between(
            ["! test_lib.py::ValueTest::test_value"],
            ["test_lib.py::ValueTest::test_truth"],
        ),
    )
    .edit(
        "a new test",
        [append(
            "test_lib.py",
            "\n    def test_new(self):\n        pass\n",
        )],
        between(["test_lib.py::ApartTest::test_new"], []),
    )
}

/// The search for tests in one file fills what a test of another file reads.
fn parameters_made_late() -> Case {
    Case::new(
        r#"
-- lib.py --
_memo = {}


def get(key):
    if key not in _memo:
        _memo[key] = len(key)
    return _memo[key]
-- test_first.py --
import pytest

import lib


def values():
    yield lib.get("x")


@pytest.mark.parametrize("value", values())
def test_value(value):
    assert value == 1
-- test_second.py --
import lib


def test_memo():
    assert lib.get("x") == 1 and list(lib._memo) == ["x"]
"#,
    )
    .by_value()
    .edit(
        "other code that leaves the same",
        [replace(
            "test_first.py",
            "yield lib.get(\"x\")",
            "one = lib.get(\"x\")\n    yield one",
        )],
        ["test_first.py::test_value[1]"],
    )
    .edit(
        "code that leaves something else",
        [replace("test_first.py", "lib.get(\"x\")", "lib.get(\"y\")")],
        [
            "test_first.py::test_value[1]",
            "! test_second.py::test_memo",
        ],
    )
}

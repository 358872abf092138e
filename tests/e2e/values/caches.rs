//! What import-time code or an earlier test computed, and later tests only read.

use crate::harness::*;

cases!(at_import, by_tests, weak, volatile);

/// Caches that are filled at import: the body behind them does not run again.
fn at_import() -> Case {
    Case::new(
        r#"
-- squares.py --
import functools

CACHE = {}


def square(x):
    return x * x


def fill():
    for i in range(4):
        CACHE[i] = square(i)


@functools.lru_cache(maxsize=None)
def cube(x):
    return x * x * x


@functools.lru_cache(maxsize=4)
def fourth(x):
    return x**4


class Table:
    @functools.cached_property
    def rows(self):
        return make_rows()


def make_rows():
    return [1]


TABLE = Table()

fill()
cube(2)
fourth(2)
TABLE.rows


def lookup(x):
    return CACHE[x]
-- test_squares.py --
import squares


def test_lookup():
    assert squares.lookup(2) == 4


def test_cube():
    assert squares.cube(2) == 8


def test_fourth():
    assert squares.fourth(2) == 16


def test_rows():
    assert squares.TABLE.rows == [1]


def test_name():
    assert squares.__name__ == "squares"
"#,
    )
    .by_value()
    .edit(
        "a dictionary",
        [replace(
            "squares.py",
            "return x * x\n\n\ndef fill",
            "return x + x + 1\n\n\ndef fill",
        )],
        ["! test_squares.py::test_lookup"],
    )
    .edit(
        "a dictionary, with the same values",
        [replace(
            "squares.py",
            "return x * x\n\n\ndef fill",
            "return x**2\n\n\ndef fill",
        )],
        NONE,
    )
    .edit(
        "`lru_cache`",
        [replace("squares.py", "x * x * x", "x * x * x + 1")],
        at_least(["! test_squares.py::test_cube"]),
    )
    .edit(
        "`lru_cache` of limited size",
        [replace("squares.py", "x**4", "x**5")],
        at_least(["! test_squares.py::test_fourth"]),
    )
    .edit(
        "`cached_property`",
        [replace("squares.py", "return [1]", "return [2]")],
        at_least(["! test_squares.py::test_rows"]),
    )
    .edit(
        "one more entry, that nobody asks for",
        [replace("squares.py", "cube(2)\n", "cube(2)\ncube(3)\n")],
        at_least([]),
    )
    .edit(
        "no entry any more",
        [replace("squares.py", "cube(2)\n", "")],
        at_least([]),
    )
}

/// A memo that one test fills and others read, and a value that one sets for another.
fn by_tests() -> Case {
    Case::new(
        r#"
-- memo.py --
MEMO = {}


def compute(key):
    return key.upper()


def get(key):
    if key not in MEMO:
        MEMO[key] = compute(key)
    return MEMO[key]


def peek(key):
    return MEMO.get(key)


def seed():
    return "b"


START = seed()


def apart():
    return 1
-- test_memo.py --
import memo


def test_first():
    assert memo.get("a")


def test_second():
    assert memo.get("a") == "A"


def test_third():
    assert memo.peek("a") == "A"


def test_apart():
    assert memo.apart() == 1
"#,
    )
    .by_value()
    .edit(
        "the generator",
        [replace("memo.py", "key.upper()", "key.title() + '!'")],
        [
            "test_memo.py::test_first",
            "! test_memo.py::test_second",
            "! test_memo.py::test_third",
        ],
    )
    .edit(
        "import-time code that fills it before",
        [replace(
            "memo.py",
            "START = seed()",
            "START = seed()\nMEMO['a'] = START",
        )],
        between(
            ["! test_memo.py::test_second", "! test_memo.py::test_third"],
            ["test_memo.py::test_first"],
        ),
    )
    .edit(
        "import-time code with the same effect",
        [replace("memo.py", "return \"b\"", "return 'b' + ''")],
        NONE,
    )
}

/// Objects that only live while somebody holds them.
fn weak() -> Case {
    Case::new(
        r#"
-- weak.py --
import weakref


class Item:
    pass


KEPT = []


def keep(item):
    KEPT.append(item)
    return item


ITEM = weakref.ref(keep(Item()))
ITEMS = weakref.WeakSet()
ITEMS.add(keep(Item()))
BY_NAME = weakref.WeakValueDictionary()
BY_NAME["a"] = keep(Item())


def plain():
    return 1
-- test_weak.py --
import weak


def test_item():
    assert weak.ITEM() is not None


def test_items():
    assert len(weak.ITEMS) == 1


def test_by_name():
    assert "a" in weak.BY_NAME


def test_plain():
    assert weak.plain() == 1
"#,
    )
    .by_value()
    .edit(
        "nobody holds them",
        [replace("weak.py", "    KEPT.append(item)\n", "")],
        [
            "! test_weak.py::test_item",
            "! test_weak.py::test_items",
            "! test_weak.py::test_by_name",
        ],
    )
    .edit(
        "held in another way",
        [replace(
            "weak.py",
            "KEPT.append(item)",
            "KEPT.extend([item])",
        )],
        between(
            NONE,
            [
                "test_weak.py::test_item",
                "test_weak.py::test_items",
                "test_weak.py::test_by_name",
            ],
        ),
    )
}

/// Values that are others at every start.
fn volatile() -> Case {
    Case::new(
        r#"
-- clock.py --
import time
import uuid


def now():
    return time.time()


STARTED = now()
ID = uuid.uuid4()
MOMENT = time.monotonic_ns()


def elapsed():
    return time.time() - STARTED


def plain():
    return 1
-- test_clock.py --
import clock


def test_elapsed():
    assert clock.elapsed() >= 0


def test_id():
    assert clock.ID


def test_moment():
    assert clock.MOMENT


def test_plain():
    assert clock.plain() == 1
"#,
    )
    .by_value()
    .edit(
        "import-time code in another way",
        [replace(
            "clock.py",
            "return time.time()\n\n\nS",
            "return time.time() + 0\n\n\nS",
        )],
        [
            "test_clock.py::test_elapsed",
            "test_clock.py::test_id",
            "test_clock.py::test_moment",
        ],
    )
    .edit(
        "import-time code that fails the test",
        [replace(
            "clock.py",
            "return time.time()\n\n\nS",
            "return time.time() + 9e9\n\n\nS",
        )],
        [
            "! test_clock.py::test_elapsed",
            "test_clock.py::test_id",
            "test_clock.py::test_moment",
        ],
    )
}

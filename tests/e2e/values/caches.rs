//! What import-time code or an earlier test computed, and later tests only read.

use crate::harness::*;

cases!(at_import, by_tests, misses, held, weak, volatile);

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

/// Who gets a number or a text of a cache needs what made that one, and not what made all others.
fn misses() -> Case {
    Case::new(
        r#"
-- width.py --
import functools


@functools.lru_cache(maxsize=None)
def width(text):
    return len(text) if text.isascii() else of_others(text)


def of_others(text):
    return 2


@functools.lru_cache(maxsize=1)
def small(number):
    return odd(number) if number % 2 else even(number)


def odd(number):
    return "odd"


def even(number):
    return "even"


class Box:
    def __init__(self, text):
        self.text = text


@functools.lru_cache
def box(text):
    return plain_box(text) if text.isascii() else other_box(text)


def plain_box(text):
    return Box(text)


def other_box(text):
    Box.last = box("a")
    return Box(text + "!")
-- test_width.py --
import width


def test_fills():
    assert width.width("a") + width.width("\u00e9")
    assert width.small(1) + width.small(2) + width.small(3)


def test_ascii():
    assert width.width("a") == 1


def test_other():
    assert width.width("\u00e9") == 2


def test_odd():
    assert width.small(1) == "odd"


def test_even():
    assert width.small(2) == "even"


def test_box():
    assert width.box("a").text == "a"


def test_other_box():
    assert width.box("\u00e9").text == "\u00e9!"
"#,
    )
    .by_value()
    .edit(
        "what some misses run",
        [replace("width.py", "return 2\n", "return 4\n")],
        ["test_width.py::test_fills", "! test_width.py::test_other"],
    )
    .edit(
        "what misses run that are soon forgotten",
        [replace("width.py", "\"odd\"", "\"odder\"")],
        ["test_width.py::test_fills", "! test_width.py::test_odd"],
    )
    .edit(
        "what another miss runs, of results that can be changed",
        [replace(
            "width.py",
            "return Box(text + \"!\")",
            "box(\"a\").text = \"b\"\n    return Box(text)",
        )],
        at_least(["! test_width.py::test_other_box"]),
    )
}

/// What a test does to an object that a cache holds is a matter of who reads the cache, by value.
fn held() -> Case {
    // Some results were made by tests that are left out.
    const READ: [&str; 5] = [
        "test_boxes.py::test_reads",
        "test_boxes.py::test_sets",
        "test_boxes.py::test_number",
        "test_boxes.py::test_set",
        "test_boxes.py::test_set_of_class",
    ];
    Case::new(
        r#"
-- boxes.py --
import functools


class Box:
    def __init__(self, number):
        self.number = number
        self.memo = None

    def read(self):
        if self.memo is None:
            self.memo = render(self.number)
        return self.memo

    @classmethod
    @functools.lru_cache
    def of(cls, number):
        return cls(number)


def render(number):
    return str(number)


@functools.lru_cache(maxsize=8)
def make(number):
    return Box(number)


def apart():
    return 1


make(1)
Box.of(1)
-- test_boxes.py --
import boxes


def text():
    return "one"


def test_reads():
    assert boxes.make(1).read() and boxes.Box.of(1).read()


def test_sets():
    boxes.make(2).memo = text()
    boxes.Box.of(2).memo = text()


def test_number():
    assert boxes.make(1).number == 1


def test_set():
    assert (boxes.make(2).memo or "one") == "one"


def test_set_of_class():
    assert (boxes.Box.of(2).memo or "one") == "one"


def test_apart():
    assert boxes.apart() == 1
"#,
    )
    .by_value()
    .edit(
        "how it comes to the same",
        [replace(
            "test_boxes.py",
            "return \"one\"",
            "return \"o\" + \"ne\"",
        )],
        between(["test_boxes.py::test_sets"], READ),
    )
    .edit(
        "what it sets",
        [replace("test_boxes.py", "return \"one\"", "return \"two\"")],
        between(
            [
                "! test_boxes.py::test_set",
                "! test_boxes.py::test_set_of_class",
            ],
            READ,
        ),
    )
    .edit(
        "what is kept, with the same text",
        [replace(
            "boxes.py",
            "return str(number)",
            "return \"%s\" % number",
        )],
        between(["test_boxes.py::test_reads"], READ),
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

//! Edits of methods outside their bodies, and of imports within a package.

use crate::harness::*;

cases!(
    methods,
    members_by_other_names,
    imports_of_names,
    patched_otherwise,
    patched
);

const METHODS: &str = r#"
-- shop.py --
RATE = 2


class Cart:
    """Holds things."""

    currency = "EUR"

    def add(self, price, count=1):
        """Adds."""
        self.total = price * count
        return self

    def tax(self, rate=RATE):
        return self.total * rate

    def show(self, sep: str = " "):
        return sep.join([str(self.total), self.currency])

    def __len__(self, by=1):
        return by


def cart():
    return Cart()
-- test_shop.py --
import shop


def test_add():
    assert shop.cart().add(3).total == 3


def test_tax():
    assert shop.cart().add(3).tax() == 6


def test_show():
    assert shop.Cart().add(1).show() == "1 EUR"


def test_len():
    assert len(shop.cart()) == 1


def test_doc():
    assert shop.Cart.add.__doc__ == "Adds."


def test_alone():
    assert shop.RATE == 2
"#;

/// Tests that run a method or ask for it by name depend on it. The other tests depend on what
/// the class shows of it.
fn methods() -> Case {
    Case::new(METHODS)
        .edit(
            "default of a method",
            [replace("shop.py", "count=1", "count=2")],
            [
                "! test_shop.py::test_add",
                "! test_shop.py::test_tax",
                "! test_shop.py::test_show",
                "test_shop.py::test_doc",
            ],
        )
        .edit(
            "docstring of a method",
            [replace(
                "shop.py",
                "\"\"\"Adds.\"\"\"",
                "\"\"\"Puts in.\"\"\"",
            )],
            ["! test_shop.py::test_doc"],
        )
        .edit(
            "annotation of a method",
            [replace("shop.py", "sep: str", "sep: object")],
            ["test_shop.py::test_show"],
        )
        .edit(
            "what a default is made of",
            [replace("shop.py", "RATE = 2", "RATE = 3")],
            ["! test_shop.py::test_tax", "! test_shop.py::test_alone"],
        )
        .edit(
            "default that the interpreter uses",
            [replace("shop.py", "by=1", "by=2")],
            [
                "test_shop.py::test_add",
                "test_shop.py::test_tax",
                "test_shop.py::test_show",
                "! test_shop.py::test_len",
                "test_shop.py::test_doc",
            ],
        )
        .edit(
            "argument without a default",
            [replace("shop.py", "count=1", "count")],
            [
                "! test_shop.py::test_add",
                "! test_shop.py::test_tax",
                "! test_shop.py::test_show",
                "test_shop.py::test_len",
                "test_shop.py::test_doc",
            ],
        )
        .edit(
            "method that nobody asks for",
            [replace(
                "shop.py",
                "    def __len__",
                "    def new(self, a=1):\n        return a\n\n    def __len__",
            )],
            [
                "test_shop.py::test_add",
                "test_shop.py::test_tax",
                "test_shop.py::test_show",
                "test_shop.py::test_len",
                "test_shop.py::test_doc",
            ],
        )
        .edit(
            "class attribute",
            [replace("shop.py", "EUR", "CHF")],
            [
                "test_shop.py::test_add",
                "test_shop.py::test_tax",
                "! test_shop.py::test_show",
                "test_shop.py::test_len",
                "test_shop.py::test_doc",
            ],
        )
}

/// Methods that are found by names made at run time.
fn members_by_other_names() -> Case {
    Case::new(
        r#"
-- menu.py --
import inspect


class Menu:
    def do_open(self, path="."):
        """Opens."""
        return path

    def do_save(self, path="x"):
        """Saves."""
        return path

    def wait(self):
        return None


class Proxy:
    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)


def call(menu, command):
    return getattr(menu, "do_" + command)()


def help_texts(menu):
    texts = []
    for name in dir(menu):
        if name[:3] == "do_":
            texts.append(getattr(menu, name).__doc__)
    return texts


def defaults(cls):
    return [str(inspect.signature(f)) for name, f in vars(cls).items() if name[:3] == "do_"]
-- test_menu.py --
import menu


def test_call():
    assert menu.call(menu.Menu(), "open") == "."


def test_help():
    assert menu.help_texts(menu.Menu()) == ["Opens.", "Saves."]


def test_defaults():
    assert menu.defaults(menu.Menu)[0] == "(self, path='.')"


def test_proxy():
    assert menu.Proxy(menu.Menu()).do_save() == "x"


def test_generators():
    found = [name for name in dir(menu.Menu) if menu.inspect.isgeneratorfunction(getattr(menu.Menu, name))]
    assert not found


def test_alone():
    assert menu.Menu()
"#,
    )
    .edit(
        "default of a method that was found",
        [replace("menu.py", "path=\".\"", "path=\"/\"")],
        [
            "! test_menu.py::test_call",
            "test_menu.py::test_help",
            "! test_menu.py::test_defaults",
            "test_menu.py::test_generators",
        ],
    )
    .edit(
        "docstring that is listed",
        [replace("menu.py", "Saves.", "Stores.")],
        ["! test_menu.py::test_help", "test_menu.py::test_generators"],
    )
    .edit(
        "default behind a proxy",
        [replace("menu.py", "path=\"x\"", "path=\"y\"")],
        [
            "test_menu.py::test_help",
            "test_menu.py::test_defaults",
            "! test_menu.py::test_proxy",
            "test_menu.py::test_generators",
        ],
    )
    .edit(
        "method that does not run becomes a generator",
        [replace("menu.py", "        return None", "        yield None")],
        [
            "test_menu.py::test_call",
            "test_menu.py::test_help",
            "test_menu.py::test_defaults",
            "test_menu.py::test_proxy",
            "! test_menu.py::test_generators",
            "test_menu.py::test_alone",
        ],
    )
}

/// An import may run code, fail, or bind a submodule in its package: every
/// import statement is an effect.
fn imports_of_names() -> Case {
    Case::new(
        r#"
-- app/__init__.py --
-- app/main.py --
from .tools import first
from .loop import spin


def use():
    return first()


def other():
    return spin(0)
-- app/tools.py --
import os

LOG = []
LOG.append("tools")


def first():
    return 1


def second():
    return 2


if os.sep == "?":
    third = 3
-- app/plain.py --
def helper():
    return 5
-- app/loop.py --
def spin(n):
    from . import main
    return n


def twist():
    return 1
-- test_app.py --
def test_use():
    from app import main
    assert main.use() == 1


def test_other():
    from app import main
    assert main.other() == 0
"#,
    )
    .edit(
        "one more name of a module",
        [
            replace("app/main.py", "import first\n", "import first, second\n"),
            replace("app/main.py", "return first()", "return first() + second()"),
        ],
        ALL,
    )
    .edit(
        "the same in a statement of its own",
        [
            replace(
                "app/main.py",
                "import first\n",
                "import first\nfrom .tools import second as more\n",
            ),
            replace("app/main.py", "return first()", "return more()"),
        ],
        ALL,
    )
    .edit(
        "import that nobody uses",
        [replace(
            "app/main.py",
            "import first\n",
            "import first, second\n",
        )],
        ALL,
    )
    .edit(
        "module that does nothing but bind",
        [replace(
            "app/main.py",
            "from .loop",
            "from .plain import helper\nfrom .loop",
        )],
        ALL,
    )
    .edit(
        "name that may not be there",
        [replace(
            "app/main.py",
            "import first\n",
            "import first, third\n",
        )],
        ALL,
    )
    .edit(
        "name of a module that leads back",
        [replace(
            "app/main.py",
            "import spin\n",
            "import spin, twist\n",
        )],
        ALL,
    )
    .edit(
        "imported name is gone",
        [replace("app/tools.py", "def first()", "def last()")],
        ALL,
    )
}

/// A test that replaces one name of a module does not depend on the other names.
fn patched() -> Case {
    Case::new(
        r#"
-- clock.py --
LIMIT = 3


def now(base=1):
    return base


def later(by=5):
    return now() + by


def unused(a=1):
    return a
-- test_clock.py --
import clock


def test_patched(monkeypatch):
    monkeypatch.setattr(clock, "now", lambda: 10)
    assert clock.later() == 15


def test_got():
    assert getattr(clock, "LIMIT") == 3 and not hasattr(clock, "MORE")
"#,
    )
    .edit(
        "default of what runs",
        [replace("clock.py", "by=5", "by=6")],
        ["! test_clock.py::test_patched"],
    )
    .edit(
        "what is asked for by name",
        [replace("clock.py", "LIMIT = 3", "LIMIT = 4")],
        ["! test_clock.py::test_got"],
    )
    .edit(
        "name that was missing",
        [append("clock.py", "\n\nMORE = 1\n")],
        ["! test_clock.py::test_got"],
    )
    .edit(
        "what nobody asks for",
        [append("clock.py", "\n\nextra = 1\n")],
        NONE,
    )
}

/// Another function with that name can inspect all its arguments.
fn patched_otherwise() -> Case {
    Case::new(
        r#"
-- clock.py --
def now(base=1):
    return base
-- test_own.py --
import pytest

import clock


class Peeking:
    def setattr(self, target, name, value):
        self.seen = sorted(vars(target))


@pytest.fixture(name="monkeypatch")
def peeking():
    return Peeking()


def test_peek(monkeypatch):
    monkeypatch.setattr(clock, "now", None)
    assert "now" in monkeypatch.seen and "extra" not in monkeypatch.seen
"#,
    )
    .edit(
        "what nobody asks for",
        [append("clock.py", "\n\nextra = 1\n")],
        ["! test_own.py::test_peek"],
    )
}

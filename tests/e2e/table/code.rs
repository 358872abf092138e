//! Parts of source code: functions, classes, constants, generated code.

use crate::harness::*;

cases!(constants, class_level, deleted; version_sensitive: bodies);

const BODIES: &str = r#"
-- lib.py --
def used():
    return inner()


def inner():
    return 1


def unused():
    return 2


def outer():
    def nested():
        return 1

    return nested() + [item for item in range(3)][1] + (lambda x: x)(1)


class Shape:
    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side ** 2

    @staticmethod
    def static():
        return 1

    @classmethod
    def named(cls):
        return cls.__name__

    def never(self):
        return None


class Square(Shape):
    def area(self):
        return super().area()
-- middle.py --
import lib


def twice():
    return lib.used() * 2
-- test_lib.py --
import lib


def test_used():
    assert lib.used() == 1


def test_outer():
    assert lib.outer() == 3


def test_init():
    assert lib.Shape(3).side == 3


def test_area():
    assert lib.Square(2).area() == 4


def test_static():
    assert lib.Shape.static() == 1


def test_class():
    assert lib.Square.named() == "Square"


def test_nothing():
    pass
-- test_middle.py --
import middle


def test_twice():
    assert middle.twice() == 2
-- test_apart.py --
def test_apart():
    pass
"#;

/// Function bodies select the tests that ran them; signatures and classes select those that
/// can reach them by name.
fn bodies() -> Case {
    Case::new(BODIES)
        .edit(
            "function",
            [replace(
                "lib.py",
                "def inner():\n    return 1",
                "def inner():\n    return 2",
            )],
            ["! test_lib.py::test_used", "! test_middle.py::test_twice"],
        )
        .edit(
            "function that nobody ran",
            [replace("lib.py", "return 2", "return 3")],
            NONE,
        )
        .edit(
            "method that nobody ran",
            [replace("lib.py", "return None", "return 3")],
            NONE,
        )
        .edit(
            "nested function",
            [replace(
                "lib.py",
                "        return 1\n\n    return nested()",
                "        return 2\n\n    return nested()",
            )],
            ["! test_lib.py::test_outer"],
        )
        .edit(
            "lambda and comprehension in a function",
            [replace(
                "lib.py",
                "range(3)][1] + (lambda x: x)",
                "range(3)][2] + (lambda x: x + 1)",
            )],
            ["! test_lib.py::test_outer"],
        )
        .edit(
            "constructor",
            [replace(
                "lib.py",
                "self.side = side",
                "self.side = side + 1",
            )],
            ["! test_lib.py::test_init", "! test_lib.py::test_area"],
        )
        .edit(
            "method reached by super",
            [replace("lib.py", "self.side ** 2", "self.side ** 3")],
            ["! test_lib.py::test_area"],
        )
        .edit(
            "static method",
            [replace(
                "lib.py",
                "def static():\n        return 1",
                "def static():\n        return 2",
            )],
            ["! test_lib.py::test_static"],
        )
        .edit(
            "class method",
            [replace("lib.py", "cls.__name__", "cls.__name__.lower()")],
            ["! test_lib.py::test_class"],
        )
        .edit(
            "new override of a method",
            [append(
                "lib.py",
                "\n    def __init__(self, side):\n        self.side = 0\n",
            )],
            ["! test_lib.py::test_area", "test_lib.py::test_class"],
        )
        .edit(
            "body of a test",
            [replace(
                "test_lib.py",
                "assert lib.outer() == 3",
                "assert lib.outer() == 4",
            )],
            ["! test_lib.py::test_outer"],
        )
        .edit(
            "body of a function between",
            [replace("middle.py", "* 2", "* 3")],
            ["! test_middle.py::test_twice"],
        )
}

/// Modules without functions.
fn constants() -> Case {
    Case::new(
        r#"
-- limits.py --
MAXIMUM = 10
NAMES = ["a", "b"]
-- rules.py --
from limits import MAXIMUM


def allowed(x):
    return x <= MAXIMUM


def always():
    return True
-- test_rules.py --
import rules


def test_allowed():
    assert rules.allowed(10)


def test_always():
    assert rules.always()
-- test_names.py --
import limits


def test_names():
    assert limits.NAMES == ["a", "b"]
-- test_other.py --
def test_other():
    pass
"#,
    )
    .edit(
        "constant",
        [replace("limits.py", "10", "9")],
        ["! test_rules.py::test_allowed"],
    )
    .edit(
        "element of a list",
        [replace("limits.py", "\"b\"", "\"c\"")],
        ["! test_names.py::test_names"],
    )
}

/// Code of a class or signature outside any body.
fn class_level() -> Case {
    Case::new(
        r#"
-- lib.py --
import functools


def double(f):
    @functools.wraps(f)
    def wrapper(*args):
        return 2 * f(*args)

    return wrapper


class Config:
    retries = 3

    def get(self):
        return self.retries


@double
def decorated():
    return 1


def default(x=1):
    return x


def mutable(x=[]):
    return list(x)


def keyword(*, x=1):
    return x


def annotated(x: int) -> int:
    return x


short = lambda: 1


class Child(Config):
    pass
-- test_lib.py --
import lib


def test_variable():
    assert lib.Config().get() == 3


def test_decorated():
    assert lib.decorated() == 2


def test_default():
    assert lib.default() == 1


def test_keyword():
    assert lib.keyword() == 1


def test_lambda():
    assert lib.short() == 1


def test_child():
    assert lib.Child().get() == 3
-- test_annotations.py --
def test_annotations():
    import lib
    assert lib.annotated.__annotations__ == {"x": int, "return": int}


def test_none():
    pass
"#,
    )
    .edit(
        "class variable",
        [replace("lib.py", "retries = 3", "retries = 4")],
        ["! test_lib.py::test_variable", "! test_lib.py::test_child"],
    )
    .edit(
        "decorator removed",
        [replace("lib.py", "@double\n", "")],
        all_but(
            ["test_annotations.py::test_none"],
            ["test_lib.py::test_decorated"],
        ),
    )
    .edit(
        "wrapper in the body of a decorator, which ran at import",
        [replace("lib.py", "2 * f", "3 * f")],
        all_but(
            ["test_annotations.py::test_none"],
            ["test_lib.py::test_decorated"],
        ),
    )
    .edit(
        "default argument",
        [replace("lib.py", "def default(x=1)", "def default(x=2)")],
        ["! test_lib.py::test_default"],
    )
    .edit(
        "keyword default",
        [replace("lib.py", "*, x=1", "*, x=2")],
        ["! test_lib.py::test_keyword"],
    )
    .edit(
        "annotation",
        [replace("lib.py", "x: int", "x: str")],
        ["! test_annotations.py::test_annotations"],
    )
    .edit(
        "lambda bound to a name",
        [replace("lib.py", "lambda: 1", "lambda: 2")],
        ["! test_lib.py::test_lambda"],
    )
    .edit(
        "base class",
        [replace(
            "lib.py",
            "class Child(Config)",
            "class Child(Config, dict)",
        )],
        all_but(["test_annotations.py::test_none"], []),
    )
}

/// Modules that are removed.
fn deleted() -> Case {
    Case::new(
        r#"
-- extra.py --
def value():
    return 1
-- unused.py --
def value():
    return 1
-- lib.py --
def get():
    try:
        import extra
    except ImportError:
        return 0
    return extra.value()
-- pkg/__init__.py --
-- pkg/a.py --
A = 1
-- test_lib.py --
import lib


def test_get():
    assert lib.get() == 1


def test_none():
    pass
-- test_pkg.py --
def test_a():
    from pkg import a
    assert a.A == 1


def test_package():
    import pkg
    assert pkg.__name__ == "pkg"


def test_none():
    pass
"#,
    )
    .edit("module", [delete("extra.py")], ["! test_lib.py::test_get"])
    .edit("unused module", [delete("unused.py")], NONE)
    .edit(
        "module of a package",
        [delete("pkg/a.py")],
        ["! test_pkg.py::test_a"],
    )
    .edit(
        "package",
        [delete("pkg")],
        ["! test_pkg.py::test_a", "! test_pkg.py::test_package"],
    )
    .edit(
        "module renamed",
        [rename("extra.py", "extras.py")],
        ["! test_lib.py::test_get"],
    )
}

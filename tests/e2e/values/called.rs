//! What is called is no module, whatever module has its name; but for those with a class for that.

use super::modules::{CORE, limit};
use crate::harness::*;

cases!(named_as_a_module, callable, made_callable_by_a_test);

/// A function that a package has instead of the submodule of the same name.
fn named_as_a_module() -> Case {
    let text = r#"
-- shop/__init__.py --
from .size import *
-- shop/size.py --
def setting(value):
    return value


LIMIT = setting(1)


def size(text):
    return len(text)
-- test_size.py --
import itertools

import shop
from reading import read
from shop import size


def test_called():
    assert shop.size("abc") == 3


def test_imported():
    assert size("abc") == 3


def test_looked_into():
    import sys
    assert read(sys.modules["shop.size"]) == 1


def test_library():
    assert len(list(itertools.product("ab", "cd"))) == 4
-- product.py --
def setting(value):
    return value


LIMIT = setting(1)
-- test_product.py --
import product
from reading import read


def test_product():
    assert read(product) == 1
"#;
    Case::new(format!("{CORE}{text}"))
        .by_value()
        .edit(
            "a value of the submodule",
            limit("shop/size.py"),
            ["! test_size.py::test_looked_into"],
        )
        .edit(
            "a value of a module with the name of a library's function",
            limit("product.py"),
            ["! test_product.py::test_product"],
        )
}

/// Modules that can be called look into themselves.
fn callable() -> Case {
    let text = r#"
-- making.py --
import sys
import types


class Callable(types.ModuleType):
    def __call__(self):
        return vars(self)["LI" + "MIT"]


def make_callable(name):
    sys.modules[name].__class__ = Callable
-- doing.py --
from making import make_callable

make_callable(__name__)


def setting(value):
    return value


LIMIT = setting(1)
-- box/__init__.py --
from making import make_callable
from . import doing

make_callable("box.doing")
-- box/doing.py --
def setting(value):
    return value


LIMIT = setting(1)
-- test_doing.py --
import box.doing
import doing


def test_name():
    assert doing() == 1


def test_attribute():
    assert box.doing() == 1
"#;
    Case::new(text)
        .by_value()
        .edit(
            "a value of a module",
            limit("doing.py"),
            Expect::AtLeast(vec!["! test_doing.py::test_name"]),
        )
        .edit(
            "a value of a submodule",
            limit("box/doing.py"),
            Expect::AtLeast(vec!["! test_doing.py::test_attribute"]),
        )
}

fn made_callable_by_a_test() -> Case {
    let text = r#"
-- doing.py --
def setting(value):
    return value


LIMIT = setting(1)
-- test_doing.py --
import sys
import types

import doing


class Callable(types.ModuleType):
    def __call__(self):
        return vars(self)["LI" + "MIT"]


def test_called():
    sys.modules["doing"].__class__ = Callable
    assert doing() == 1
"#;
    Case::new(text).by_value().edit(
        "a value of a module",
        limit("doing.py"),
        ["! test_doing.py::test_called"],
    )
}

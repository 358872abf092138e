//! Members of classes to which annotations lead: a library that reads annotations may list them.

use super::annotated::with_reader;
use crate::harness::*;

cases!(of_classes);

const FILES: &str = r#"
-- kinds.py --
import typing


def setting(value):
    return value


class Named:
    x_a = setting(1)


class Aliased:
    x_a = setting(1)


Other = Aliased


class Held:
    x_a = setting(1)


HELD = Held()


class Base:
    x_a = setting(1)


class Derived(Base):
    pass


class Apart:
    x_a = setting(1)


__all__ = ["Apart"]


def named(g: "Named"):
    pass


def aliased(g: "typing.List[Other]"):
    pass


def held(g: "typing.Annotated[int, HELD]"):
    pass


def derived(g: "Derived"):
    pass
-- deco.py --
import inspect


def hint(function):
    return inspect.signature(function).parameters["g"].annotation
-- test_own.py --
import deco
import kinds


def test_hint():
    assert deco.hint(kinds.named) == "Named"
-- test_lib.py --
import kinds
import reader


def test_named():
    assert reader.listed(kinds.named) == ["x_a"]


def test_aliased():
    assert reader.listed(kinds.aliased) == ["x_a"]


def test_held():
    assert reader.listed(kinds.held) == ["x_a"]


def test_derived():
    assert reader.listed(kinds.derived) == ["x_a"]


def test_none():
    pass
"#;

/// A library may know annotations, so all tests may read what these lead to.
const TESTS: [&str; 6] = [
    "test_own.py::test_hint",
    "test_lib.py::test_named",
    "test_lib.py::test_aliased",
    "test_lib.py::test_held",
    "test_lib.py::test_derived",
    "test_lib.py::test_none",
];

fn of_classes() -> Case {
    let reader = "def listed(function):\n    \
                  (hint,) = typing.get_type_hints(function, include_extras=True).values()\n    \
                  inner = getattr(hint, '__metadata__', None) or getattr(hint, '__args__', None)\n    \
                  kind = inner[0] if inner else hint\n    \
                  kind = kind if isinstance(kind, type) else type(kind)\n    \
                  names = {name for one in kind.__mro__ for name in vars(one)}\n    \
                  return sorted(name for name in names if name.startswith('x_'))\n";
    let mut case = with_reader(FILES, reader);
    for (class, failing) in [
        ("Named", "! test_lib.py::test_named"),
        ("Aliased", "! test_lib.py::test_aliased"),
        ("Held", "! test_lib.py::test_held"),
        ("Base", "! test_lib.py::test_derived"),
    ] {
        case = case.edit(class, [new_member(class)], between([failing], TESTS));
    }
    case.edit("no annotation leads to it", [new_member("Apart")], NONE)
}

fn new_member(class: &str) -> Change {
    let head = format!("class {class}:\n");
    replace("kinds.py", &head, &format!("{head}    x_b = setting(2)\n"))
}

//! Docstrings of classes: who asks for them is seen, by whatever code.

use crate::harness::*;

cases!(
    asked_by_a_library,
    asked_by_arguments,
    asked_for_other_things
);

const HELPER: &str = r#"import functools
import inspect

KNOWN = {}


class Command:
    def help(self):
        return self.__doc__


def of_class(kind):
    return kind.__doc__


def by_name(thing, name):
    return getattr(thing, name)


def lines(thing):
    return inspect.getdoc(thing).splitlines()


def named(kind):
    return functools.wraps(kind)(lambda: 0)


def kept(kind):
    if "text" not in KNOWN:
        KNOWN["text"] = kind.__doc__
    return KNOWN["text"]


# It reads docstrings when it is imported, too.
PLAIN = Command().help()
"#;

/// Each part is read in one way.
fn asked_by_a_library() -> Case {
    let classes = ["Bread", "Cake", "Soup", "Stew", "Tart", "Flan"];
    let lib: String = { classes.iter() }
        .map(|name| format!("class {name}:\n    \"\"\"{name}.\"\"\"\n    size = 1\n\n\n"))
        .collect();
    let edit = |name: &'static str| [replace("lib.py", &format!("\"{name}."), "\"New.")];
    Case::new(format!(
        r#"
-- lib.py --
import abc

import helper


class Serve(helper.Command):
    """Serves."""


class Eat(Serve):
    """Eats."""


class Kind(abc.ABC):
    """A kind."""


{lib}
-- test_lib.py --
import helper

import lib


def test_bread():
    assert helper.of_class(lib.Bread) == "Bread."


def test_cake():
    assert helper.by_name(lib.Cake(), "__" + "doc__") == "Cake."


def test_soup():
    assert helper.lines(lib.Soup()) == ["Soup."]


def test_stew():
    assert getattr(helper.named(lib.Stew), "__" + "doc__") == "Stew."


def test_tart():
    assert helper.kept(lib.Tart) == "Tart."


def test_kept():
    assert helper.kept(lib.Flan) == "Tart."


def test_serve():
    assert lib.Serve().help() == "Serves."


def test_eat():
    assert lib.Eat().help() == "Eats."


def test_kind():
    assert helper.of_class(lib.Kind) == "A kind."


def test_sizes():
    assert lib.Bread.size + lib.Cake().size + lib.Soup.size == 3
"#
    ))
    .by_value()
    .own_venv()
    .setup([install("helper", "1.0.0", &[("helper.py", HELPER)])])
    .edit(
        "of a class that is asked itself",
        edit("Bread"),
        between(["! test_lib.py::test_bread"], OF_INSTANCES),
    )
    .edit(
        "by a built-in function, of an instance",
        edit("Cake"),
        between(["! test_lib.py::test_cake"], OF_INSTANCES),
    )
    .edit(
        "by the standard library, of an instance",
        edit("Soup"),
        between(["! test_lib.py::test_soup"], OF_INSTANCES),
    )
    .edit(
        "a copy by `wraps`",
        edit("Stew"),
        between(["! test_lib.py::test_stew"], OF_INSTANCES),
    )
    .edit(
        "one that a library keeps",
        edit("Tart"),
        between(
            ["! test_lib.py::test_tart", "! test_lib.py::test_kept"],
            OF_INSTANCES,
        ),
    )
    .edit(
        "of an instance, by a method of a library's class",
        [replace("lib.py", "Serves.", "Waits.")],
        between(["! test_lib.py::test_serve"], OTHERS),
    )
    .edit(
        "that of a subclass",
        [replace("lib.py", "Eats.", "Drinks.")],
        between(["! test_lib.py::test_eat"], OTHERS),
    )
    .edit(
        "of a class with a metaclass",
        [replace("lib.py", "A kind.", "A sort.")],
        ["! test_lib.py::test_kind"],
    )
}

/// A library may ask for members of classes that it has the base of.
const OTHERS: [&str; 9] = [
    "test_lib.py::test_bread",
    "test_lib.py::test_cake",
    "test_lib.py::test_soup",
    "test_lib.py::test_stew",
    "test_lib.py::test_tart",
    "test_lib.py::test_kept",
    "test_lib.py::test_serve",
    "test_lib.py::test_eat",
    "test_lib.py::test_kind",
];

/// A library asks some instance, so these read all docstrings.
const OF_INSTANCES: [&str; 3] = [
    "test_lib.py::test_soup",
    "test_lib.py::test_serve",
    "test_lib.py::test_eat",
];

/// The project asks what it is given: no instance, mostly.
fn asked_by_arguments() -> Case {
    Case::new(
        r#"
-- lib.py --
import abc


def command(f):
    """Registers."""
    help = f.__doc__
    return help


def any_of(first, second):
    thing = first or second
    return thing.__doc__


def either(first, second):
    return (first if first else second).__doc__


class Menu:
    """A menu."""

    items = ()


class Dish(Menu):
    """A dish."""

    def about(self):
        return self.__doc__

    def all_about(self):
        class Inner:
            text = self.__doc__

        return [Inner.text, *(one.__doc__ for one in [self])]


class Kind(abc.ABC):
    """A kind."""


def late(f):
    yield 1
    yield f.__doc__
-- test_lib.py --
import functools
import weakref

import lib


def test_command():
    def some():
        """Some."""

    assert lib.command(some) == "Some."


def test_class():
    assert lib.command(lib.Menu) == "A menu."


def test_instance():
    assert lib.command(lib.Menu()) == "A menu."


def test_proxy():
    menu = lib.Menu()
    assert lib.command(weakref.proxy(menu)) == "A menu."


def test_any():
    assert lib.any_of(None, lib.Menu()) == "A menu."


def test_either():
    assert lib.either(lib.Menu(), None) == "A menu."


def test_self():
    assert lib.Dish().about() == "A dish."


def test_inner():
    assert lib.Dish().all_about() == ["A dish."] * 2


def test_late():
    assert list(lib.late(lib.Dish()))[1] == "A dish."


def test_kind():
    assert lib.command(lib.Kind) == "A kind."


def test_of_kind():
    assert lib.command(lib.Kind()) == "A kind."


def test_wraps():
    assert vars(functools.wraps(lib.Kind)(lib.Menu())) != {}


def test_items():
    assert lib.Menu.items == lib.Dish.items
"#,
    )
    .by_value()
    .edit(
        "of a class that has instances",
        [replace("lib.py", "A menu.", "No menu.")],
        between(
            [
                "! test_lib.py::test_class",
                "! test_lib.py::test_instance",
                "! test_lib.py::test_proxy",
                "! test_lib.py::test_any",
                "! test_lib.py::test_either",
            ],
            [
                "test_lib.py::test_self",
                "test_lib.py::test_inner",
                "test_lib.py::test_late",
            ],
        ),
    )
    .edit(
        "of another one",
        [replace("lib.py", "A dish.", "No dish.")],
        [
            "! test_lib.py::test_self",
            "! test_lib.py::test_inner",
            "! test_lib.py::test_late",
        ],
    )
    .edit(
        "of one with a metaclass",
        [replace("lib.py", "A kind.", "A sort.")],
        between(
            ["! test_lib.py::test_kind", "! test_lib.py::test_of_kind"],
            ["test_lib.py::test_wraps"],
        ),
    )
}

/// A docstring of a function, and attributes by methods with the names of built-in functions.
fn asked_for_other_things() -> Case {
    Case::new(
        r#"
-- lib.py --
class Box:
    """A box."""

    girth = 1

    def getattr(self, thing, name):
        return getattr(thing, name)


class Mark:
    """A mark."""

    girth = 2


def turn():
    """It turns."""


def around(name, box):
    def attrgetter(thing):
        return box.getattr(thing, name)

    return attrgetter


BOX = Box()
-- test_lib.py --
import inspect

import lib


def test_function():
    assert inspect.getdoc(lib.turn) == "It turns."


def test_box():
    box = lib.Box()
    assert box.getattr(lib.Mark(), "gir" + "th") == 2


def test_getter():
    assert lib.around("gir" + "th", lib.BOX)(lib.Box) == 1


def test_text():
    box = lib.Box()
    assert box.getattr(lib.Mark(), "__" + "doc__") == "A mark."


def test_builtin():
    assert lib.around("__" + "doc__", lib.BOX)(lib.Mark) == "A mark."


def test_mark():
    assert lib.Mark.girth == 2
"#,
    )
    .by_value()
    .edit(
        "a docstring",
        [replace("lib.py", "A mark.", "Another mark.")],
        between(
            ["! test_lib.py::test_text", "! test_lib.py::test_builtin"],
            ["test_lib.py::test_function"],
        ),
    )
    .edit(
        "another member",
        [replace("lib.py", "girth = 2", "girth = 3")],
        ["! test_lib.py::test_box", "! test_lib.py::test_mark"],
    )
}

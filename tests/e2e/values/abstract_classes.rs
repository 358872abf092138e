//! Abstract classes: whom `isinstance` takes for an instance.

use crate::harness::*;

cases!(abstract_classes);

/// Classes that are registered as those of an interface.
fn abstract_classes() -> Case {
    Case::new(
        r#"
-- shapes.py --
import abc
import collections.abc


class Shape(abc.ABC):
    pass


class Square:
    pass


class Table:
    pass


def is_shape(value):
    return isinstance(value, Shape)


def set_up():
    pass


set_up()
-- test_shapes.py --
import collections.abc

import shapes


def test_shape():
    assert not shapes.is_shape(shapes.Square())


def test_mapping():
    assert not isinstance(shapes.Table(), collections.abc.Mapping)


def test_new():
    assert shapes.Square()
"#,
    )
    .by_value()
    .edit(
        "with an interface of the project",
        [replace(
            "shapes.py",
            "    pass\n\n\nset_up",
            "    Shape.register(Square)\n\n\nset_up",
        )],
        at_least(["! test_shapes.py::test_shape"]),
    )
    .edit(
        "with an interface of a library",
        [replace(
            "shapes.py",
            "    pass\n\n\nset_up",
            "    collections.abc.Mapping.register(Table)\n\n\nset_up",
        )],
        at_least(["! test_shapes.py::test_mapping"]),
    )
    .edit(
        "a new class that answers for others",
        [append(
            "shapes.py",
            "\n\nclass Wide(collections.abc.Mapping):\n    @classmethod\n    \
             def __subclasshook__(cls, other):\n        return True\n",
        )],
        at_least(["! test_shapes.py::test_mapping"]),
    )
    .edit(
        "a new class that has one registered",
        [append(
            "shapes.py",
            "\n\nclass Wide(collections.abc.Mapping):\n    pass\n\n\nWide.register(Table)\n",
        )],
        at_least(["! test_shapes.py::test_mapping"]),
    )
    .edit(
        "a new class, derived from one that answers for others",
        [append(
            "shapes.py",
            "\n\nclass Hook:\n    @classmethod\n    def __subclasshook__(cls, other):\n        \
             return True\n\n\nclass Wide(Hook, Shape):\n    pass\n",
        )],
        at_least(["! test_shapes.py::test_shape"]),
    )
    .edit(
        "new classes for their own instances only",
        [append(
            "shapes.py",
            "\n\nclass Wide(collections.abc.Mapping):\n    pass\n\n\n\
             class Plain(abc.ABC):\n    @abc.abstractmethod\n    def area(self): ...\n\n\nset_up()\n",
        )],
        NONE,
    )
    .edit(
        "nothing",
        [replace(
            "shapes.py",
            "    pass\n\n\nset_up",
            "    return None\n\n\nset_up",
        )],
        NONE,
    )
}

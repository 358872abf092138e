//! Abstract classes: whom `isinstance` takes for an instance.

use crate::harness::*;

cases!(abstract_classes, below_an_interface, of_libraries);

const FILES: &str = r#"
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
"#;

/// Classes that are registered as those of an interface.
fn abstract_classes() -> Case {
    Case::new(FILES)
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

/// Classes that are derived from an interface.
fn below_an_interface() -> Case {
    Case::new(FILES)
    .by_value()
    .edit(
        "a new class without a name of its own that answers for others",
        [append(
            "shapes.py",
            "\n\nKEPT = [type(\"Wide\", (Shape,), {\"__subclasshook__\": classmethod(lambda *one: True)})]\n",
        )],
        at_least(["! test_shapes.py::test_shape"]),
    )
    .edit(
        "a new class below an interface that has one registered",
        [append(
            "shapes.py",
            "\n\nclass Wide(Shape):\n    pass\n\n\nWide.register(Square)\n",
        )],
        at_least(["! test_shapes.py::test_shape"]),
    )
    .edit(
        "a new class that names others as its subclasses",
        [append(
            "shapes.py",
            "\n\nclass Wide(Shape):\n    @classmethod\n    def __subclasses__(cls):\n        return [Square]\n",
        )],
        at_least(["! test_shapes.py::test_shape"]),
    )
    .edit(
        "a new class whose own kind answers for others",
        [append(
            "shapes.py",
            "\n\nclass Kind(abc.ABCMeta):\n    def __subclasscheck__(cls, other):\n        \
             return cls.__name__ == \"Wide\" or super().__subclasscheck__(other)\n\n\n\
             class Wide(Shape, metaclass=Kind):\n    pass\n",
        )],
        at_least(["! test_shapes.py::test_shape"]),
    )
    .edit(
        "new classes below an interface, for their own instances only",
        [append(
            "shapes.py",
            "\n\nclass Kind(abc.ABCMeta):\n    pass\n\n\n\
             class Round(Shape, metaclass=Kind):\n    pass\n\n\n\
             class Circle(Round):\n    pass\n\n\nset_up()\n",
        )],
        NONE,
    )
}

/// Classes of libraries, and interfaces of others: libraries register some when they are imported.
fn of_libraries() -> Case {
    Case::new(
        r#"
-- amounts.py --
import decimal
import numbers


def is_real(value):
    return isinstance(value, numbers.Real)


def set_up():
    pass


set_up()
-- late.py --
import collections
-- test_amounts.py --
import collections.abc
import decimal

import amounts
import late


def test_real():
    assert not amounts.is_real(decimal.Decimal(1))


def test_list():
    assert isinstance([], collections.abc.MutableSequence)
"#,
    )
    .by_value()
    .edit(
        "a library registers its own",
        [append("late.py", "import array\nimport asyncio\n")],
        NONE,
    )
    .edit(
        "the project does so",
        [replace(
            "amounts.py",
            "    pass\n\n\nset_up",
            "    numbers.Real.register(decimal.Decimal)\n\n\nset_up",
        )],
        at_least(["! test_amounts.py::test_real"]),
    )
    .edit(
        "the project has a library do so",
        [replace(
            "amounts.py",
            "    pass\n\n\nset_up",
            "    list(map(numbers.Real.register, [decimal.Decimal]))\n\n\nset_up",
        )],
        at_least(["! test_amounts.py::test_real"]),
    )
}

//! What tests assign to functions, and what they register with abstract classes.

use crate::harness::*;

cases!(assigned, registered);

const ASSIGNED: &str = r#"
-- service.py --
import functools


def value(name):
    return 1


def counted():
    counted.calls = value("calls")


def greet(name, times=0, *, end=0):
    return times, end


def other():
    return 1


def kept(function):
    @functools.wraps(function)
    def wrapper():
        return function()

    return wrapper


@kept
def wrapped():
    return 0


class Service:
    def method(self, n=0):
        return n

    @staticmethod
    def static():
        return 0


TABLE = {"f": lambda n=0: n}
-- test_service.py --
from service import Service, TABLE, counted, greet, kept, other, value, wrapped


def test_call():
    counted()


def test_set_defaults():
    greet.__defaults__ = (value("defaults"),)


def test_set_keyword():
    greet.__kwdefaults__["end"] = value("keyword")


def test_set_wrapped():
    wrapped.__wrapped__.state = value("wrapped")


def test_set_method():
    Service.method.__defaults__ = (value("method"),)


def test_set_static():
    Service.static.state = value("static")


def test_set_lambda():
    TABLE["f"].__defaults__ = (value("lambda"),)


def test_set_name():
    kept.__name__ = "named %d" % value("name")


def test_annotate():
    value.__annotations__["name"] = value("annotation")


def test_set_code():
    new = other.__code__.replace(co_consts=(None, value("code")))
    other.__code__ = new


def test_calls():
    assert counted.calls == 1


def test_defaults():
    assert greet("")[0] == 1


def test_keyword():
    assert greet("")[1] == 1


def test_wrapped():
    assert wrapped.__wrapped__.state == 1


def test_method():
    assert Service().method() == 1


def test_static():
    assert Service.static.state == 1


def test_lambda():
    assert TABLE["f"]() == 1


def test_name():
    assert kept.__name__ == "named 1"


def test_annotations():
    assert value.__annotations__ == {"name": 1}


def test_code():
    assert other() == 1
-- test_apart.py --
def test_apart():
    pass
"#;

fn assigned() -> Case {
    Case::new(ASSIGNED).edit(
        "what tests assign to functions",
        [replace(
            "service.py",
            "def value(name):\n    return 1",
            "def value(name):\n    return 2",
        )],
        [
            "test_service.py::test_call",
            "test_service.py::test_set_defaults",
            "test_service.py::test_set_keyword",
            "test_service.py::test_set_wrapped",
            "test_service.py::test_set_method",
            "test_service.py::test_set_static",
            "test_service.py::test_set_lambda",
            "test_service.py::test_set_name",
            "test_service.py::test_annotate",
            "test_service.py::test_set_code",
            "! test_service.py::test_calls",
            "! test_service.py::test_defaults",
            "! test_service.py::test_keyword",
            "! test_service.py::test_wrapped",
            "! test_service.py::test_method",
            "! test_service.py::test_static",
            "! test_service.py::test_lambda",
            "! test_service.py::test_name",
            "! test_service.py::test_annotations",
            "! test_service.py::test_code",
        ],
    )
}

const REGISTERED: &str = r#"
-- shapes.py --
import abc


class Shape(abc.ABC):
    pass


class Other(abc.ABC):
    pass


class Round(Shape):
    pass


class Square:
    pass


class Disc:
    pass


KINDS = (int, Shape)


def is_kind(thing):
    return isinstance(thing, KINDS)


def add(kind):
    Shape.register(kind)


def add_round(kind):
    Round.register(kind)
-- test_shapes.py --
from shapes import Disc, Other, Shape, Square, add, add_round, is_kind


def test_add():
    add(Square)


def test_is_shape():
    assert isinstance(Square(), Shape)


def test_is_kind():
    assert is_kind(Square())


def test_add_round():
    add_round(Disc)


def test_is_round():
    assert isinstance(Disc(), Shape)


def test_is_other():
    assert not isinstance(Square(), Other)
-- test_apart.py --
import pytest


@pytest.mark.parametrize("n", range(20))
def test_apart(n):
    pass
"#;

fn registered() -> Case {
    Case::new(REGISTERED)
        .edit(
            "what a test registers",
            [replace("shapes.py", "    Shape.register(kind)", "    pass")],
            between(
                [
                    "test_shapes.py::test_add",
                    "! test_shapes.py::test_is_shape",
                    "! test_shapes.py::test_is_kind",
                    "test_shapes.py::test_is_round",
                    "test_shapes.py::test_is_other",
                ],
                // What it leaves, others need.
                ["test_shapes.py::test_add_round"],
            ),
        )
        .edit(
            "what a test registers with a subclass",
            [replace("shapes.py", "    Round.register(kind)", "    pass")],
            between(
                [
                    "test_shapes.py::test_add_round",
                    "! test_shapes.py::test_is_round",
                    "test_shapes.py::test_is_other",
                ],
                ["test_shapes.py::test_add"],
            ),
        )
}

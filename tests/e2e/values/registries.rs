//! Registries that code fills at import: of the project, and of libraries.

use crate::harness::*;

cases!(by_decorator, by_class, of_libraries);

fn by_decorator() -> Case {
    Case::new(
        r#"
-- registry.py --
REGISTRY = {}


def register(function):
    REGISTRY[function.__name__] = function
    return function


def call(name):
    return REGISTRY[name]()


def names():
    return sorted(REGISTRY)
-- parts.py --
from registry import register


@register
def one():
    return 1


@register
def two():
    return 2
-- test_parts.py --
import parts
import registry


def test_one():
    assert parts.one() == 1


def test_call():
    assert registry.call("one") == 1


def test_names():
    assert registry.names() == ["one", "two"]
"#,
    )
    .by_value()
    .edit(
        "a new entry",
        [append(
            "parts.py",
            "\n\n@register\ndef three():\n    return 3\n",
        )],
        // An entry is no cell of its own yet.
        between(
            ["! test_parts.py::test_names"],
            ["test_parts.py::test_call"],
        ),
    )
    .edit(
        "the registering function, with the same entries",
        [replace(
            "registry.py",
            "REGISTRY[function.__name__] = function",
            "REGISTRY.update({function.__name__: function})",
        )],
        NONE,
    )
    .edit(
        "the body of an entry",
        [replace("parts.py", "return 1", "return 3")],
        ["! test_parts.py::test_one", "! test_parts.py::test_call"],
    )
    .edit(
        "another key",
        [replace(
            "registry.py",
            "[function.__name__]",
            "[function.__name__.upper()]",
        )],
        between(
            ["! test_parts.py::test_call", "! test_parts.py::test_names"],
            ["test_parts.py::test_one"],
        ),
    )
}

/// Classes that enter a registry when they are made, also by tests.
fn by_class() -> Case {
    Case::new(
        r#"
-- schema.py --
KNOWN = {}


class Schema:
    def __init_subclass__(cls):
        KNOWN[cls.__name__] = cls

    def load(self):
        return 1


def find(name):
    return KNOWN.get(name)
-- models.py --
import schema


class User(schema.Schema):
    pass
-- test_models.py --
import models
import schema


def test_find():
    assert schema.find("User") is models.User


def test_missing():
    assert schema.find("Group") is None


def test_load():
    assert models.User().load() == 1
-- test_new.py --
import schema


def test_new():
    class Local(schema.Schema):
        pass

    assert Local().load() == 1
"#,
    )
    .by_value()
    .edit(
        "a new class in the project",
        [append(
            "models.py",
            "\n\nclass Group(schema.Schema):\n    pass\n",
        )],
        between(
            ["! test_models.py::test_missing"],
            [
                "test_models.py::test_find",
                // It writes into the registry.
                "test_new.py::test_new",
            ],
        ),
    )
    .edit(
        "a new function",
        [append("models.py", "\n\ndef groups():\n    return []\n")],
        NONE,
    )
}

const OF_LIBRARIES: &str = r#"
-- set_up.py --
import codecs
import copyreg
import functools
import json
import logging
import mimetypes


class Odd:
    def __init__(self):
        self.value = 1


@functools.singledispatch
def show(value):
    return "any"


def prepare():
    pass


prepare()
-- test_set_up.py --
import copy
import json
import logging
import mimetypes

import set_up


def test_json():
    assert json.dumps({}) == "{}"


def test_copy():
    assert copy.copy(set_up.Odd()).value == 1


def test_codec():
    try:
        b"a".decode("x-odd")
    except LookupError:
        return
    assert False


def test_mime():
    assert mimetypes.guess_type("a.oddly")[0] is None


def test_show():
    assert set_up.show(1) == "any"


def test_logger():
    assert logging.getLogger("odd").getEffectiveLevel() == logging.WARNING


def test_filter():
    assert not logging.getLogger("odd").filters
-- test_apart.py --
def test_apart():
    assert True
"#;

/// What import-time code puts into libraries.
fn of_libraries() -> Case {
    Case::new(OF_LIBRARIES)
        .by_value()
        .edit(
            "a function of a library is replaced",
            [in_prepare("json.dumps = lambda value: 'odd'")],
            at_least(["! test_set_up.py::test_json"]),
        )
        .edit(
            "a reducer for copies",
            [in_prepare(
                "copyreg.pickle(Odd, lambda odd: (dict, (), None, None, iter([('value', 2)])))",
            )],
            at_least(["! test_set_up.py::test_copy"]),
        )
        .edit(
            "a codec",
            [in_prepare(
                "codecs.register(lambda name: codecs.lookup('utf-8') if 'odd' in name else None)",
            )],
            at_least(["! test_set_up.py::test_codec"]),
        )
        .edit(
            "a kind of file",
            [in_prepare("mimetypes.add_type('text/odd', '.oddly')")],
            at_least(["! test_set_up.py::test_mime"]),
        )
        .edit(
            "an implementation for a type",
            [in_prepare("show.register(int, lambda value: 'number')")],
            at_least(["! test_set_up.py::test_show"]),
        )
        .edit(
            "a logger's level",
            [in_prepare(
                "logging.getLogger('odd').setLevel(logging.ERROR)",
            )],
            at_least(["! test_set_up.py::test_logger"]),
        )
        .edit(
            "a logger's filter",
            [in_prepare(
                "logging.getLogger('odd').addFilter(lambda record: 1)",
            )],
            at_least(["! test_set_up.py::test_filter"]),
        )
        .edit("nothing", [in_prepare("return None")], NONE)
        .edit(
            "a logger, an expression, a class and names of the library",
            [append(
                "set_up.py",
                "\n\nimport abc\nimport dataclasses\nimport enum\nimport re\nimport typing\n\n\
             LOG = logging.getLogger(__name__)\nWORD = re.compile('a+')\n\n\n\
             @dataclasses.dataclass\nclass Point:\n    x: typing.Optional[int] = None\n\n\n\
             class Kind(enum.Enum):\n    A = 1\n\n\n\
             class Shape(abc.ABC):\n    @abc.abstractmethod\n    def area(self): ...\n",
            )],
            NONE,
        )
}

/// The body of the function that the project calls at import.
fn in_prepare(statement: &str) -> Change {
    replace(
        "set_up.py",
        "def prepare():\n    pass",
        &format!("def prepare():\n    {statement}"),
    )
}

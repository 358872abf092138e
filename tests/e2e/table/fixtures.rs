//! Fixtures: users of a value depend on the code that made it.

use crate::harness::*;

cases!(scopes, chains, overriding);

const SCOPES: &str = r#"
-- make.py --
def session():
    return 1


def package():
    return 1


def module():
    return 1


def klass():
    return 1


def function():
    return 1


def autouse():
    return 1


def teardown():
    pass


def parameter(value):
    return {"a": by_a, "b": by_b}[value]()


def by_a():
    return 1


def by_b():
    return 1
-- session.txt --
1
-- tests/__init__.py --
-- tests/conftest.py --
import pathlib

import make
import pytest


@pytest.fixture(scope="session")
def session():
    text = pathlib.Path(__file__).parent.with_name("session.txt").read_text()
    return make.session() * int(text)


@pytest.fixture(scope="package")
def package():
    return make.package()


@pytest.fixture(scope="session")
def closing():
    yield 1
    make.teardown()


@pytest.fixture(scope="session", params=["a", "b"])
def parameter(request):
    return make.parameter(request.param)
-- tests/test_one.py --
import make
import pytest


@pytest.fixture(scope="module")
def module():
    return make.module()


@pytest.fixture
def function():
    return make.function()


def test_session_first(session):
    assert session == 1


def test_session_second(session):
    assert session == 1


def test_package(package):
    assert package == 1


def test_module_first(module):
    assert module == 1


def test_module_second(module):
    assert module == 1


class TestClass:
    @pytest.fixture(scope="class")
    def klass(self):
        return make.klass()

    def test_first(self, klass):
        assert klass == 1

    def test_second(self, klass):
        assert klass == 1

    def test_third(self):
        pass


def test_function(function):
    assert function == 1


def test_closing_first(closing):
    assert closing == 1


def test_closing_second(closing):
    assert closing == 1


def test_parameter(parameter):
    assert parameter == 1


def test_by_name(request):
    assert request.getfixturevalue("session") == 1


@pytest.mark.usefixtures("session")
def test_mark():
    pass


def test_none():
    pass
-- tests/test_two.py --
def test_session_third(session):
    assert session == 1


def test_package_other(package):
    assert package == 1


def test_none():
    pass
-- tests/test_auto.py --
import make
import pytest


@pytest.fixture(autouse=True, scope="module")
def auto():
    assert make.autouse() == 1


def test_first():
    pass


def test_second():
    pass
"#;

fn scopes() -> Case {
    let case = Case::new(SCOPES)
        .setup([write("pytest.ini", "[pytest]\n"), write("conftest.py", "")])
        .edit(
            "session",
            [replace(
                "make.py",
                "session():\n    return 1",
                "session():\n    return 2",
            )],
            [
                "! tests/test_one.py::test_session_first",
                "! tests/test_one.py::test_session_second",
                "! tests/test_one.py::test_by_name",
                "tests/test_one.py::test_mark",
                "! tests/test_two.py::test_session_third",
            ],
        )
        .edit(
            "file read by a session fixture",
            [write("session.txt", "2\n")],
            [
                "! tests/test_one.py::test_session_first",
                "! tests/test_one.py::test_session_second",
                "! tests/test_one.py::test_by_name",
                "tests/test_one.py::test_mark",
                "! tests/test_two.py::test_session_third",
            ],
        )
        .edit(
            "body of a fixture",
            [replace(
                "tests/conftest.py",
                "* int(text)",
                "* int(text) + 1",
            )],
            [
                "! tests/test_one.py::test_session_first",
                "! tests/test_one.py::test_session_second",
                "! tests/test_one.py::test_by_name",
                "tests/test_one.py::test_mark",
                "! tests/test_two.py::test_session_third",
            ],
        )
        .edit(
            "package",
            [replace(
                "make.py",
                "package():\n    return 1",
                "package():\n    return 2",
            )],
            [
                "! tests/test_one.py::test_package",
                "! tests/test_two.py::test_package_other",
            ],
        )
        .edit(
            "module",
            [replace(
                "make.py",
                "module():\n    return 1",
                "module():\n    return 2",
            )],
            [
                "! tests/test_one.py::test_module_first",
                "! tests/test_one.py::test_module_second",
            ],
        )
        .edit(
            "class",
            [replace(
                "make.py",
                "klass():\n    return 1",
                "klass():\n    return 2",
            )],
            [
                "! tests/test_one.py::TestClass::test_first",
                "! tests/test_one.py::TestClass::test_second",
            ],
        )
        .edit(
            "function",
            [replace(
                "make.py",
                "function():\n    return 1",
                "function():\n    return 2",
            )],
            ["! tests/test_one.py::test_function"],
        );
    endings_and_parameters(case)
}

fn endings_and_parameters(case: Case) -> Case {
    case.edit(
        "tear-down after yield",
        [replace("make.py", "pass", "return 1")],
        // An error in the tear-down of a session belongs to the last test.
        [
            "tests/test_one.py::test_closing_first",
            "tests/test_one.py::test_closing_second",
            "tests/test_two.py::test_none",
        ],
    )
    .edit(
        "tear-down that fails",
        [replace("make.py", "pass", "raise ValueError")],
        [
            "tests/test_one.py::test_closing_first",
            "tests/test_one.py::test_closing_second",
            "! tests/test_two.py::test_none",
        ],
    )
    .edit(
        "one parameter of a fixture",
        [replace(
            "make.py",
            "by_a():\n    return 1",
            "by_a():\n    return 2",
        )],
        ["! tests/test_one.py::test_parameter[a]"],
    )
    .edit(
        "all parameters of a fixture",
        [replace("make.py", "[value]()", "[value]() + 1")],
        [
            "! tests/test_one.py::test_parameter[a]",
            "! tests/test_one.py::test_parameter[b]",
        ],
    )
}

const CHAINS: &str = r#"
-- make.py --
def base():
    return {"n": 1}


def late():
    return 1


def finalise():
    pass


def change(value):
    value["seen"] = 1
-- conftest.py --
import make
import pytest


@pytest.fixture(scope="session")
def base():
    return make.base()


@pytest.fixture(scope="module")
def middle(base):
    return base


@pytest.fixture
def top(middle):
    return dict(middle)


@pytest.fixture(scope="session")
def factory():
    built = []

    def build():
        if not built:
            built.append(make.late())
        return built[0]

    return build


@pytest.fixture(scope="module")
def final(request):
    request.addfinalizer(make.finalise)
    return 1
-- test_one.py --
import make


def test_top(top):
    assert top["n"] == 1


def test_base(base):
    assert base["n"] == 1


def test_factory_first(factory):
    assert factory() == 1


def test_factory_second(factory):
    assert factory() == 1


def test_factory_unused(factory):
    assert factory


def test_final_first(final):
    assert final == 1


def test_final_second(final):
    assert final == 1


def test_none():
    pass
-- test_two.py --
import make


def test_change(base):
    make.change(base)


def test_changed(base):
    assert base["seen"] == 1


def test_top(top):
    assert top["n"] == 1


def test_none():
    pass
"#;

/// Fixtures that use fixtures, and values that are changed or built late.
fn chains() -> Case {
    Case::new(CHAINS)
        .edit(
            "lowest fixture of a chain",
            [replace("make.py", "{\"n\": 1}", "{\"n\": 2}")],
            [
                "! test_one.py::test_top",
                "! test_one.py::test_base",
                "test_two.py::test_change",
                "test_two.py::test_changed",
                "! test_two.py::test_top",
            ],
        )
        .edit(
            "middle of a chain",
            [replace(
                "conftest.py",
                "    return base\n",
                "    return dict(base, n=2)\n",
            )],
            ["! test_one.py::test_top", "! test_two.py::test_top"],
        )
        .edit(
            "built by the first test that asks a fixture's value",
            [replace(
                "make.py",
                "late():\n    return 1",
                "late():\n    return 2",
            )],
            between(
                [
                    "! test_one.py::test_factory_first",
                    "! test_one.py::test_factory_second",
                ],
                ["test_one.py::test_factory_unused"],
            ),
        )
        .edit(
            "change made to a fixture's value by an earlier test",
            [replace(
                "make.py",
                "value[\"seen\"] = 1",
                "value[\"seen\"] = 2",
            )],
            between(
                ["test_two.py::test_change", "! test_two.py::test_changed"],
                // They also use the value.
                [
                    "test_two.py::test_top",
                    "test_one.py::test_top",
                    "test_one.py::test_base",
                ],
            ),
        )
        .edit(
            "finalizer",
            [replace("make.py", "pass", "return 1")],
            // An error in a module's finalizer belongs to the module's last test.
            [
                "test_one.py::test_final_first",
                "test_one.py::test_final_second",
                "test_one.py::test_none",
            ],
        )
}

/// A fixture with the name of another one.
fn overriding() -> Case {
    Case::new(
        r#"
-- conftest.py --
import pytest


@pytest.fixture
def value():
    return 1
-- test_top.py --
def test_top(value):
    assert value == 1


def test_none():
    pass
-- sub/test_sub.py --
def test_sub(value):
    assert value == 1


def test_sub_none():
    pass
"#,
    )
    .setup([write("pytest.ini", "[pytest]\n")])
    .edit(
        "body of the fixture",
        [replace("conftest.py", "return 1", "return 2")],
        ["! test_top.py::test_top", "! sub/test_sub.py::test_sub"],
    )
    .edit(
        "a conftest.py below overrides it",
        [write(
            "sub/conftest.py",
            "import pytest\n\n\n@pytest.fixture\ndef value():\n    return 3\n",
        )],
        [
            "! sub/test_sub.py::test_sub",
            "sub/test_sub.py::test_sub_none",
        ],
    )
    .edit(
        "the test's module overrides it",
        [append(
            "test_top.py",
            "\nimport pytest\n\n\n@pytest.fixture\ndef value():\n    return 3\n",
        )],
        ["! test_top.py::test_top", "test_top.py::test_none"],
    )
}

//! Modules that code passes on: whoever has one can look up any name in it.

use crate::harness::*;

cases!(
    other_names,
    parts,
    generated_names,
    generated_imports,
    wide_at_import,
    left_at_import,
);

pub(super) const CORE: &str = r#"
-- core.py --
def setting(value):
    return value


LIMIT = setting(1)
-- reading.py --
def read(module):
    return vars(module)["LI" + "MIT"]
"#;

pub(super) fn limit(path: &'static str) -> Vec<Change> {
    vec![replace(path, "LIMIT = setting(1)", "LIMIT = setting(3)")]
}

const OTHER_NAMES: &str = r#"
-- kernels.py --
import core as kernel
-- between.py --
from kernels import kernel as middle
-- everything.py --
from kernels import *
-- hub.py --
import core

HOLD = [core]
ALIAS = core


class Holder:
    module = core


def with_default(module=core):
    from reading import read
    return read(module)


def call(function):
    return function(core)
-- test_names.py --
import between
import everything
import hub
import kernels
from between import middle
from kernels import kernel
from kernels import kernel as renamed
from reading import read

TOP = kernels.kernel


def test_nothing():
    assert hub.call(lambda module: 1) == 1


def test_attribute():
    assert read(kernels.kernel) == 1


def test_imported():
    assert read(kernel) == 1


def test_renamed():
    assert read(renamed) == 1


def test_in_two_steps():
    assert read(middle) == 1


def test_attribute_in_two_steps():
    assert read(between.middle) == 1


def test_star():
    assert read(everything.kernel) == 1


def test_in_function():
    import between as here
    assert read(here.middle) == 1


def test_top():
    assert read(TOP) == 1


def test_local():
    alias = kernel
    held = [alias]
    assert read(held[0]) == 1


def test_list():
    assert read(hub.HOLD[0]) == 1


def test_assigned():
    assert read(hub.ALIAS) == 1


def test_class():
    assert read(hub.Holder.module) == 1


def test_default():
    assert hub.with_default() == 1


def test_argument():
    assert hub.call(read) == 1


def test_lacking():
    try:
        found = kernel.MISSING
    except AttributeError:
        found = None
    assert found is None
"#;

/// A module that others import by names that are not its own, and pass on.
fn other_names() -> Case {
    Case::new(format!("{CORE}{OTHER_NAMES}"))
        .by_value()
        .edit(
            "a value that is looked up",
            limit("core.py"),
            Expect::Between(
                vec![
                    "! test_names.py::test_attribute",
                    "! test_names.py::test_imported",
                    "! test_names.py::test_renamed",
                    "! test_names.py::test_in_two_steps",
                    "! test_names.py::test_attribute_in_two_steps",
                    "! test_names.py::test_star",
                    "! test_names.py::test_in_function",
                    "! test_names.py::test_top",
                    "! test_names.py::test_local",
                    "! test_names.py::test_list",
                    "! test_names.py::test_assigned",
                    "! test_names.py::test_class",
                    "! test_names.py::test_default",
                    "! test_names.py::test_argument",
                ],
                vec!["test_names.py::test_nothing", "test_names.py::test_lacking"],
            ),
        )
        .edit(
            "a name that a module lacks",
            vec![append("core.py", "\n\nMISSING = setting(5)\n")],
            Expect::Between(
                vec!["! test_names.py::test_lacking"],
                vec![
                    "test_names.py::test_nothing",
                    "test_names.py::test_attribute",
                    "test_names.py::test_imported",
                    "test_names.py::test_renamed",
                    "test_names.py::test_in_two_steps",
                    "test_names.py::test_attribute_in_two_steps",
                    "test_names.py::test_star",
                    "test_names.py::test_in_function",
                    "test_names.py::test_top",
                    "test_names.py::test_local",
                    "test_names.py::test_list",
                    "test_names.py::test_assigned",
                    "test_names.py::test_class",
                    "test_names.py::test_default",
                    "test_names.py::test_argument",
                ],
            ),
        )
}

const PACKAGE: &str = r#"
-- app/__init__.py --
from .environment import thing


def look(read):
    return eval("read(environment)")
-- app/environment.py --
def setting(value):
    return value


LIMIT = setting(1)


def thing():
    return 0
-- app/kinds.py --
import enum


class Kind(enum.Enum):
    environment = 1
    other = 2


class Plain:
    environment = 3
-- reading.py --
def read(module):
    return vars(module)["LI" + "MIT"]
"#;

/// Submodules as attributes of their package, and other attributes of their name.
fn parts() -> Case {
    let text = r#"
-- test_parts.py --
import app
import app.environment as long
from app import environment
from app.kinds import Kind, Plain
from reading import read


def same(value):
    return value


def test_attribute():
    assert read(app.environment) == 1


def test_imported():
    assert read(environment) == 1


def test_long():
    assert read(long) == 1


def test_member():
    assert same(Kind.environment) is not Kind.other


def test_of_class():
    assert same(Plain.environment) == 3


def test_variable():
    def given(environment):
        return same(environment)
    assert given(4) == 4
"#;
    Case::new(format!("{PACKAGE}{text}")).by_value().edit(
        "a value of the submodule",
        limit("app/environment.py"),
        [
            "! test_parts.py::test_attribute",
            "! test_parts.py::test_imported",
            "! test_parts.py::test_long",
        ],
    )
}

/// What generated code gets by the names that it loads.
fn generated_names() -> Case {
    let text = r#"
-- kernels.py --
import app.environment as kernel


def own(text, read):
    return eval(text)


def function(read):
    return 1


def names():
    return globals()


SPACE = {"inside": kernel}
REGISTRY = {}
-- test_other.py --
import app


def test_other():
    space = {"environment": 3}
    exec("def f(environment=environment):\n    return environment", space)
    assert space["f"]() == app.thing() + 3
-- test_generated.py --
import types

import app
import kernels
from kernels import kernel
from reading import read

TOP = kernels.kernel


def test_system():
    assert app.look(read) == 1


def test_own():
    assert kernels.own("read(kernel)", read) == 1


def test_code():
    code = compile("def f(read): return read(kernel)", "<made>", "exec")
    kept = kernels.function.__code__
    kernels.function.__code__ = code.co_consts[0]
    assert kernels.function(read) == 1
    kernels.function.__code__ = kept


def test_filled():
    assert eval("read(other)", {"other": kernel, "read": read}) == 1


def test_space():
    assert eval("read(inside)", dict(kernels.SPACE, read=read)) == 1


def test_all_names():
    assert eval("read(kernel)", dict(kernels.names(), read=read)) == 1


def test_vars():
    assert eval("read(kernel)", dict(vars(kernels), read=read)) == 1


def test_default():
    assert eval("lambda module=kernel: read(module)")() == 1


def test_top():
    assert eval("read(TOP)") == 1


def test_locals():
    from app import environment as here
    assert eval("read(here)", globals(), locals()) == 1


def test_made():
    code = compile("def f(): return read(kernel)", "<made>", "exec")
    assert types.FunctionType(code.co_consts[0], globals())() == 1


def test_put():
    kernels.REGISTRY["put"] = kernel


def test_take():
    assert not kernels.REGISTRY or eval("read(put)", dict(kernels.REGISTRY, read=read)) == 1
-- test_plain.py --
import pytest


@pytest.mark.parametrize("n", range(20))
def test_plain(n):
    assert True
"#;
    Case::new(format!("{PACKAGE}{text}")).by_value().edit(
        "a value that is looked up",
        limit("app/environment.py"),
        Expect::Between(
            vec![
                "! test_generated.py::test_system",
                "! test_generated.py::test_own",
                "! test_generated.py::test_code",
                "! test_generated.py::test_filled",
                "! test_generated.py::test_space",
                "! test_generated.py::test_all_names",
                "! test_generated.py::test_vars",
                "! test_generated.py::test_default",
                "! test_generated.py::test_top",
                "! test_generated.py::test_locals",
                "! test_generated.py::test_made",
                "! test_generated.py::test_take",
            ],
            vec!["test_generated.py::test_put"],
        ),
    )
}

/// What generated code imports, and passes on.
fn generated_imports() -> Case {
    let text = r#"
-- spaces/inner.py --
import app.environment as kernel
-- test_imports.py --
import app
import spaces.inner
from reading import read


def ran(text):
    space = {"read": read, "__package__": "app", "__name__": "app.made"}
    exec(text, space)
    return space["found"]


def test_thing():
    assert ran("from app import thing\nfound = thing()") == 0


def test_dotted():
    assert ran("import app.environment\nfound = read(app.environment)") == 1


def test_dotted_as():
    assert ran("import app.environment as e\nfound = read(e)") == 1


def test_package():
    assert ran("import app as a\nfound = read(vars(a)['environ' + 'ment'])") == 1


def test_from():
    assert ran("from app import environment as e\nfound = read(e)") == 1


def test_relative():
    assert ran("from . import environment as e\nfound = read(e)") == 1


def test_without_init():
    assert ran("import spaces.inner\nfound = read(spaces.inner.kernel)") == 1


def test_from_without_init():
    assert ran("from spaces import inner as i\nfound = read(i.kernel)") == 1


def test_in_function():
    text = "def f():\n    import app.environment as e\n    return read(e)\nfound = f()"
    assert ran(text) == 1
"#;
    Case::new(format!("{PACKAGE}{text}")).by_value().edit(
        "a value that is looked up",
        limit("app/environment.py"),
        Expect::Between(
            vec![
                "! test_imports.py::test_dotted",
                "! test_imports.py::test_dotted_as",
                "! test_imports.py::test_package",
                "! test_imports.py::test_from",
                "! test_imports.py::test_relative",
                "! test_imports.py::test_without_init",
                "! test_imports.py::test_from_without_init",
                "! test_imports.py::test_in_function",
            ],
            vec!["test_imports.py::test_thing"],
        ),
    )
}

/// Import-time code that can reach any name, and leaves no module anywhere.
fn wide_at_import() -> Case {
    let text = r#"
-- magic.py --
import runpy

import core

MAGIC = runpy.run_path


def limit():
    return core.LIMIT
-- test_magic.py --
import magic


class Thing:
    size = 1


def look(thing, name):
    return getattr(thing, name)


def test_looks():
    assert look(Thing(), "si" + "ze") == 1


def test_limit():
    assert magic.limit() == 1
"#;
    Case::new(format!("{CORE}{text}")).by_value().edit(
        "a value that no text of the test names",
        limit("core.py"),
        ["! test_magic.py::test_limit"],
    )
}

/// The same where it leaves one, by names that nobody spells.
fn left_at_import() -> Case {
    let text = r#"
-- magic.py --
import importlib
import runpy

MAGIC = runpy.run_path
core = importlib.import_module("co" + "re")


def look(name):
    return vars(core)[name]
-- holding.py --
import importlib
import runpy

MAGIC = runpy.run_path
HELD = {"it": importlib.import_module("co" + "re")}


def look(name):
    return vars(HELD["it"])[name]
-- names.py --
import importlib
import runpy

MAGIC = runpy.run_path


def keep():
    return vars(importlib.import_module("between"))


NAMES = keep()


def look(name):
    return vars(NAMES["core"])[name]
-- between.py --
import core
-- test_magic.py --
import magic


def test_global():
    assert magic.look("LI" + "MIT") == 1
-- test_holding.py --
import holding


def test_held():
    assert holding.look("LI" + "MIT") == 1
-- test_namespace.py --
import names


def test_namespace():
    assert names.look("LI" + "MIT") == 1
"#;
    Case::new(format!("{CORE}{text}")).by_value().edit(
        "a value that is looked up",
        limit("core.py"),
        [
            "! test_magic.py::test_global",
            "! test_holding.py::test_held",
            "! test_namespace.py::test_namespace",
        ],
    )
}

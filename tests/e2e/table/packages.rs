//! Installed or compiled code, and code outside the repository.

use crate::harness::*;

cases!(
    installed,
    plugin_installed,
    garbage_between_tests,
    editable,
    extension,
    lock_file
);

/// Distributions in site-packages.
fn installed() -> Case {
    Case::new(
        r#"
-- lib.py --
import alpha


def name():
    return alpha.name()


def other():
    return 1
-- test_alpha.py --
import lib


def test_name():
    assert lib.name() == "alpha 1"


def test_other():
    assert lib.other() == 1
-- test_beta.py --
def test_beta():
    import beta
    assert beta.VALUE == 1


def test_missing():
    try:
        import gamma
    except ImportError:
        gamma = None
    assert gamma is None


def test_none():
    pass
-- test_version.py --
import sys


def test_version():
    if sys.version_info < (3, 8):
        return
    from importlib import metadata
    assert metadata.version("alpha") == "1.0.0"


def test_none():
    pass
"#,
    )
    .own_venv()
    .setup([
        install(
            "alpha",
            "1.0.0",
            &[("alpha/__init__.py", "def name():\n    return 'alpha 1'\n")],
        ),
        install("beta", "1.0.0", &[("beta.py", "VALUE = 1\n")]),
    ])
    .edit(
        "updated",
        [install(
            "alpha",
            "1.0.1",
            &[("alpha/__init__.py", "def name():\n    return 'alpha 2'\n")],
        )],
        [
            "! test_alpha.py::test_name",
            "test_alpha.py::test_other",
            "! test_version.py::test_version",
        ],
    )
    .late()
    .edit(
        "updated, imported in a function",
        [install("beta", "1.0.1", &[("beta.py", "VALUE = 2\n")])],
        ["! test_beta.py::test_beta"],
    )
    .late()
    .edit(
        "same version with other content",
        [install("beta", "1.0.0", &[("beta.py", "VALUE = 3\n")])],
        ["! test_beta.py::test_beta"],
    )
    .late()
    .edit(
        "unrelated one installed",
        [install("delta", "1.0.0", &[("delta.py", "")])],
        NONE,
    )
    .edit(
        "optional one installed",
        [install("gamma", "1.0.0", &[("gamma.py", "")])],
        ["! test_beta.py::test_missing"],
    )
    .late()
    .edit(
        "one uninstalled",
        [uninstall("beta")],
        ["! test_beta.py::test_beta"],
    )
    .late()
}

/// An installed plug-in for pytest.
fn plugin_installed() -> Case {
    Case::new(
        r#"
-- test_a.py --
def test_a():
    pass
"#,
    )
    .own_venv()
    .edit(
        "a plug-in that fails every test",
        [install(
            "pytest_fails",
            "1.0.0",
            &[
                (
                    "pytest_fails.py",
                    "def pytest_runtest_setup(item):\n    assert False\n",
                ),
                (
                    "pytest_fails-1.0.0.dist-info/entry_points.txt",
                    "[pytest11]\nfails = pytest_fails\n",
                ),
            ],
        )],
        ["! test_a.py::test_a"],
    )
    .late()
}

/// A generator that a test left in a cycle of objects ends when these are collected: between two
/// tests.
fn garbage_between_tests() -> Case {
    Case::new(
        r#"
-- lib.py --
def lines():
    try:
        yield 1
    finally:
        pass
-- test_a.py --
import gc

import pytest

import lib


def test_leaves():
    gc.disable()
    kept = [lib.lines()]
    assert next(kept[0]) == 1
    kept.append(kept)


@pytest.mark.parametrize("n", range(8))
def test_other(n):
    pass
"#,
    )
    .own_venv()
    .setup([install(
        "pytest_collects",
        "1.0.0",
        &[
            (
                "pytest_collects.py",
                "import gc\ndef pytest_runtestloop(session):\n    for at, item in enumerate(session.items):\n        following = session.items[at + 1 : at + 2]\n        nextitem = following[0] if following else None\n        item.config.hook.pytest_runtest_protocol(item=item, nextitem=nextitem)\n        gc.collect()\n    return True\n",
            ),
            (
                "pytest_collects-1.0.0.dist-info/entry_points.txt",
                "[pytest11]\ncollects = pytest_collects\n",
            ),
        ],
    )])
    .edit(
        "how it begins",
        [replace("lib.py", "yield 1", "yield 1\n        yield 2")],
        ["test_a.py::test_leaves", "test_a.py::test_other[0]"],
    )
    .edit(
        "what it yields",
        [replace("lib.py", "yield 1", "yield 2")],
        ["! test_a.py::test_leaves", "test_a.py::test_other[0]"],
    )
}

/// Source outside the repository, installed in editable mode.
fn editable() -> Case {
    Case::new(
        r#"
-- test_outside.py --
import outer


def test_used():
    assert outer.used() == 1


def test_constant():
    assert outer.CONSTANT == 1
-- test_lazy.py --
def test_lazy():
    from outer import part
    assert part.value() == 1


def test_none():
    pass
"#,
    )
    .own_venv()
    .setup([
        write(
            "@outside/src/outer/__init__.py",
            "CONSTANT = 1\n\n\ndef used():\n    return 1\n\n\ndef unused():\n    return 1\n",
        ),
        write("@outside/src/outer/part.py", "def value():\n    return 1\n"),
        install(
            "outer",
            "1.0.0",
            &[("__editable__.outer-1.0.0.pth", "@outside")],
        ),
        python(
            "import pathlib, sysconfig\n\
             site = pathlib.Path(sysconfig.get_paths()['purelib'])\n\
             outside = pathlib.Path.cwd().parent / 'outside' / 'src'\n\
             (site / '__editable__.outer-1.0.0.pth').write_text(str(outside) + '\\n')",
        ),
    ])
    .edit(
        "function",
        [replace(
            "@outside/src/outer/__init__.py",
            "used():\n    return 1\n\n\ndef un",
            "used():\n    return 2\n\n\ndef un",
        )],
        between(
            ["! test_outside.py::test_used"],
            ["test_outside.py::test_constant", "test_lazy.py::test_lazy"],
        ),
    )
    .edit(
        "constant",
        [replace(
            "@outside/src/outer/__init__.py",
            "CONSTANT = 1",
            "CONSTANT = 2",
        )],
        ["! test_outside.py::test_constant"],
    )
    .edit(
        "module imported in a function",
        [replace(
            "@outside/src/outer/part.py",
            "return 1",
            "return 2",
        )],
        ["! test_lazy.py::test_lazy"],
    )
    .edit(
        "new file that nobody imports",
        [write("@outside/src/outer/more.py", "")],
        NONE,
    )
}

/// A C extension in the project's folder, rebuilt from changed source. The
/// extension is not tracked by git, as is usual.
fn extension() -> Case {
    Case::new(
        r#"
-- .gitignore --
__pycache__/
.pytest_cache/
.tamis/
*.so
-- native.c --
#include <Python.h>

static PyObject *value(PyObject *self, PyObject *args) { return PyLong_FromLong(1); }

static PyMethodDef methods[] = {{"value", value, METH_NOARGS, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "native", "", -1, methods};

PyMODINIT_FUNC PyInit_native(void) { return PyModule_Create(&module); }
-- build_native.py --
import os
import subprocess
import sysconfig

include = sysconfig.get_paths()["include"]
if os.path.exists(os.path.join(include, "Python.h")):
    target = "native" + sysconfig.get_config_var("EXT_SUFFIX")
    subprocess.check_call(["gcc", "-shared", "-fPIC", "-I", include, "native.c", "-o", target])
else:
    with open("native.py", "w") as file:
        value = "2" if "FromLong(2)" in open("native.c").read() else "1"
        file.write("VALUE = {}\n\n\ndef value():\n    return VALUE\n".format(value))
-- test_native.py --
import native


def test_value():
    assert native.value() == 1
-- test_lazy.py --
def test_lazy():
    import native
    assert native.value()


def test_none():
    pass
"#,
    )
    .setup([python("import runpy; runpy.run_path('build_native.py')")])
    .edit(
        "rebuilt",
        [
            replace("native.c", "FromLong(1)", "FromLong(2)"),
            python("import runpy; runpy.run_path('build_native.py')"),
        ],
        ["! test_native.py::test_value", "test_lazy.py::test_lazy"],
    )
    // git does not track it, so it may be different at the test step.
    .late()
    .edit(
        "source edited, not rebuilt",
        [replace("native.c", "FromLong(1)", "FromLong(2)")],
        NONE,
    )
}

/// Files that declare dependencies have no effect by themselves.
fn lock_file() -> Case {
    Case::new(
        r#"
-- requirements.txt --
alpha==1.0.0
-- README.md --
text
-- test_a.py --
def test_a():
    pass
"#,
    )
    .edit(
        "documentation",
        [
            write("README.md", "more text\n"),
            write("docs/new.md", "text\n"),
        ],
        NONE,
    )
}

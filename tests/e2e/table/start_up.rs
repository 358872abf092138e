//! The start of the tests' interpreter. Each test depends on it.

use crate::harness::*;

cases!(starting);

fn starting() -> Case {
    Case::new(
        r#"
-- pytest.ini --
[pytest]
-- src/lib.py --
V = 1
-- build/lib.py --
V = 2
-- build/plug.py --
-- src/plug.py --
import os

os.E2E_PLUG = True
-- test_start.py --
import os
import sys
import time
import warnings

import lib


def expect(condition):
    if not condition:
        raise ValueError


def test_debug():
    expect(not sys.flags.optimize)


def test_develop():
    expect(not sys.flags.dev_mode)


def test_hash():
    expect(sys.flags.hash_randomization)


def test_path():
    expect(lib.V == 1)


def test_plugin():
    expect(not hasattr(os, "E2E_PLUG"))


def test_site():
    expect(not hasattr(os, "E2E_SITE"))


def test_warning():
    warnings.warn("old")


def test_zone():
    expect(time.localtime(0).tm_hour == 0)
"#,
    )
    .setup([env("PYTHONPATH", "src"), env("TZ", "UTC")])
    .edit(
        "optimised",
        [env("PYTHONOPTIMIZE", "1")],
        all_but([], ["test_start.py::test_debug"]),
    )
    .late()
    .edit(
        "development mode",
        [env("PYTHONDEVMODE", "1")],
        all_but([], ["test_start.py::test_develop"]),
    )
    .late()
    .edit(
        "order of sets",
        [env("PYTHONHASHSEED", "0")],
        all_but([], ["test_start.py::test_hash"]),
    )
    .late()
    .edit(
        "other folder",
        [env("PYTHONPATH", "build")],
        all_but([], ["test_start.py::test_path"]),
    )
    .late()
    .edit(
        "plug-in by variable",
        [env("PYTEST_PLUGINS", "plug")],
        all_but([], ["test_start.py::test_plugin"]),
    )
    .late()
    .edit(
        "a sitecustomize appears",
        [write(
            "src/sitecustomize.py",
            "import os\n\nos.E2E_SITE = True\n",
        )],
        all_but([], ["test_start.py::test_site"]),
    )
    .edit(
        "warnings become errors",
        [env("PYTHONWARNINGS", "error:old")],
        all_but([], ["test_start.py::test_warning"]),
    )
    .late()
    .edit(
        "time zone",
        [env("TZ", "XYZ-9")],
        all_but([], ["test_start.py::test_zone"]),
    )
    .late()
    .edit(
        "bytecode is not kept",
        [env("PYTHONDONTWRITEBYTECODE", "1")],
        NONE,
    )
}

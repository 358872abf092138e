"""Finds or builds the helper, and runs scripts with it in fresh interpreters.

The hooks of the helper stay for the life of a process, so every scenario has its own
process.
"""

import json
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent


@pytest.fixture(scope="session")
def helper(tmp_path_factory):
    """The directory that holds `_tamis_native.so`."""
    given = os.environ.get("TAMIS_NATIVE_DIR")
    if given:
        return pathlib.Path(given)
    directory = tmp_path_factory.mktemp("helper")
    subprocess.run(
        ["rustc", "--crate-name", "_tamis_native", "--crate-type", "cdylib", "--edition", "2024",
         "-C", "opt-level=3", "-C", "panic=abort", "-o", str(directory / "_tamis_native.so"),
         str(HERE.parent / "src" / "lib.rs")],
        check=True,
    )
    return directory


@pytest.fixture
def run(helper, tmp_path):
    """Runs a script, which gets `native` and `out(value)`. Returns the values that it gave to
    `out`."""

    def run(script, *args, expect=0, files=()):
        for name, text in files:
            (tmp_path / name).write_text(text, encoding="utf-8")
        main = tmp_path / "main_script.py"
        main.write_text(
            "import json, sys\nimport _tamis_native as native\n"
            "def out(value): print('OUT ' + json.dumps(value), flush=True)\n" + script,
            encoding="utf-8",
        )
        path = os.pathsep.join([str(helper), str(tmp_path), str(HERE)])
        done = subprocess.run(
            [sys.executable, str(main), *map(str, args)],
            env={**os.environ, "PYTHONPATH": path},
            cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120,
        )
        assert done.returncode == expect, done.stdout + done.stderr
        return [json.loads(line[4:]) for line in done.stdout.splitlines() if line.startswith("OUT ")]

    return run

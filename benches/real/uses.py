#!/usr/bin/env python3
"""Which usual uses of popular packages make tests run that a change does not concern.

    python3 benches/real/uses.py [--work DIR] [--tamis BINARY] [--python PYTHON] [NAME...]

`uses.txt` has the uses: a name and the packages to install, the module `app`, and its tests. Each
becomes a project that is recorded. Then a function is edited that `app` calls for another value,
so one test has to run, and those of the use, and 120 without it, need not. Prints how many of these
ran and why, and ends with 1 if any of the 120 did, or if one of the use did that is not known to.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from running import Trouble, find_tamis, finish

# What each process has another one of (random names, moments), what nobody can look into, and what
# reads all of the module or the edited file.
KNOWN = {
    "apscheduler",
    "boto3",
    "django",
    "httpx",
    "hypothesis",
    "lxml",
    "msgspec",
    "multiprocessing",
    "pillow",
    "redis",
    "sqlite3",
}
BESIDE = {
    "util.py": "def other():\n    return 2\n\n\nclass Kind:\n    pass\n",
    "test_edited.py": "import app\n\n\ndef test_amount():\n    assert app.AMOUNT > 0\n",
    "test_others.py": "import pytest\nimport util\n\n\n"
    '@pytest.mark.parametrize("n", range(120))\ndef test_other(n):\n    util.Kind()\n',
    ".gitignore": ".tamis\n.hypothesis\n",
}
BEFORE = "import util\nAMOUNT = util.other()\n"
EDITED = "test_edited.py::test_amount"


def uses():
    """Name -> packages, source of `app`, source of its tests."""
    text = pathlib.Path(__file__).with_name("uses.txt").read_text()
    found = {}
    for part in re.split("^== ", text, flags=re.MULTILINE)[1:]:
        head, rest = part.split("\n", 1)
        name, packages = head.split(":")
        app, tests = re.split("^--\n", rest, flags=re.MULTILINE)
        found[name] = packages.split(), BEFORE + app, "import app\n" + tests
    return found


def call(command, folder, env=None):
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def venv(base, folder, packages):
    if not (folder / "complete").exists():
        call([base, "-m", "venv", folder], folder.parent)
        status, said, _ = call([folder / "bin/pip", "install", "-q", *packages], folder.parent)
        if status:
            raise Trouble("packages cannot be installed: %s" % said[-300:])
        (folder / "complete").touch()
    return folder / "bin/python"


def check(folder, python, tamis, app, tests):
    """How many tests of the use and of the others ran, and why."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path, text in {**BESIDE, "app.py": app, "test_use.py": tests}.items():
        (folder / path).write_text(text)
    who = ["-c", "user.name=bench", "-c", "user.email=bench@example.org"]
    for command in (["init", "-q"], ["add", "-A"], [*who, "commit", "-qm", "begin"]):
        call(["git", *command], folder)
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "TAMIS_PYTHON": str(python)}
    pytest = ["--", python, "-W", "ignore", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    status, said, _ = call([tamis, "run", *pytest], folder, env)
    if status:
        raise Trouble("%s: %s" % (folder.name, said[-300:]))
    util = folder / "util.py"
    util.write_text(util.read_text().replace("return 2", "return 3"))
    _, said, _ = call([tamis, "run", "--json", *pytest], folder, env)
    found = json.loads(said)
    ran = found["outcomes"].keys() - {EDITED}
    refuted = found.get("refuted") or {}
    why = sorted({refuted.get(test, "needed by others") for test in ran})
    of_use = sum(test.startswith("test_use.py") for test in ran)
    return of_use, len(ran) - of_use, "; ".join(why)


def main(arguments):
    options = {"--work": "target/real/uses", "--tamis": None, "--python": sys.executable}
    while arguments and arguments[0] in options:
        options[arguments[0]] = arguments[1]
        arguments = arguments[2:]
    work = pathlib.Path(options["--work"]).absolute()
    work.mkdir(parents=True, exist_ok=True)
    tamis = os.path.abspath(find_tamis(options["--tamis"]))
    known = uses()
    packages = sorted({one for packages, _, _ in known.values() for one in packages})
    python = venv(options["--python"], work / "venv", ["pytest", *packages])
    failed = False
    for name in arguments or known:
        _, app, tests = known[name]
        of_use, others, why = check(work / name, python, tamis, app, tests)
        # The last test of a file may run, as it tears down what earlier ones set up.
        failed |= others > 1 or (of_use > 0 and name not in KNOWN)
        print("%-20s %3d of %d, %3d of 120  %s" % (name, of_use, tests.count("def test_"), others, why))
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    finish(lambda: main(sys.argv[1:]))

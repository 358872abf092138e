#!/usr/bin/env python3
"""Which packages and plug-ins of pytest leave tests confirmable by value.

    python3 benches/real/packages.py [--work DIR] [--tamis BINARY] [SPEC...]

For each SPEC: a virtual environment of its own gets the packages, and a small project is recorded.
Then another clone of it has an edit that changes how a value is made, but not the value. All
three tests should be left out. A SPEC is `PACKAGES` (separated by blanks), `PACKAGES|ARGUMENTS`
with arguments of pytest, or `PACKAGES+MODULES`: the project imports these modules
(`numpy+numpy.linalg`). Without a SPEC, all of the list below.

Prints `yes` or tamis's reasons, and ends with 1 if there are any.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

from running import Trouble, find_tamis, finish

PLUGINS = """pytest-cov pytest-cov|--cov=core pytest-mock pytest-xdist pytest-asyncio pytest-timeout
    hypothesis pytest-django pytest-sugar pytest-html anyio Faker syrupy pytest-httpx respx
    pytest-rerunfailures pytest-env pytest-freezer pytest-bdd allure-pytest typeguard beartype
    pytest-testmon""".split()
LIBRARIES = """numpy pandas scipy+scipy.stats scikit-learn+sklearn.linear_model networkx sympy
    sqlalchemy+sqlalchemy.orm django+django.db.models fastapi flask pydantic aiohttp boto3 celery
    redis grpcio+grpc psutil docker pymongo trio tornado+tornado.web gevent lxml+lxml.etree
    jsonschema rich typer structlog loguru ipython+IPython pendulum arrow setuptools
    cryptography+cryptography.x509 paramiko""".split()
FILES = {
    "core/__init__.py": "import logging\n\nlog = logging.getLogger(__name__)\nLIMIT = 3\n\n\n"
    "def get():\n    return LIMIT\n",
    "core/other.py": "from . import LIMIT\n\nMORE = [LIMIT]\n",
    "test_core.py": """import core
from core import other


def test_get():
    assert core.get() == 3


def test_more(tmp_path):
    assert other.MORE


class TestIt:
    def test_patched(self, monkeypatch):
        monkeypatch.setattr(core, "LIMIT", 4)
        assert core.get() == 4
""",
    ".gitignore": ".tamis\n__pycache__\n.pytest_cache\n.coverage\n.hypothesis\n.testmondata*\n",
}


def call(command, folder, env=None):
    done = subprocess.run(
        command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return done.returncode, done.stdout


def check(spec, work, tamis):
    """`None` if all tests are left out, else what was said."""
    packages, _, arguments = spec.partition("|")
    packages, _, modules = packages.partition("+")
    if spec in LIBRARIES:
        modules = modules or packages
    folder = work / re.sub(r"\W+", "_", spec)
    shutil.rmtree(folder, ignore_errors=True)
    then, now, venv = folder / "then", folder / "now", folder / "venv"
    for path, text in FILES.items():
        file = then / path
        file.parent.mkdir(parents=True, exist_ok=True)
        head = "import %s\n" % modules if modules and path == "core/__init__.py" else ""
        file.write_text(head + text)
    who = ["-c", "user.name=bench", "-c", "user.email=bench@example.org"]
    for command in (["init", "-q"], ["add", "-A"], [*who, "commit", "-qm", "begin"]):
        call(["git", *command], then)
    call([sys.executable, "-m", "venv", venv], folder)
    status, said = call([venv / "bin/pip", "install", "-q", "pytest", *packages.split()], folder)
    if status:
        raise Trouble("%s cannot be installed: %s" % (packages, said[-300:]))
    env = {"PATH": "%s/bin:/usr/bin:/bin" % venv, "HOME": str(folder), "LANG": "C.UTF-8"}
    if modules:
        env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    pytest = ["--", "python", "-m", "pytest", "-q", *arguments.split()]
    status, said = call([tamis, "record", *pytest], then, env)
    if status:
        return said[-300:]
    call(["git", "clone", "-q", then, now], folder)
    shutil.copytree(then / ".tamis", now / ".tamis")
    core = now / "core/__init__.py"
    core.write_text(core.read_text().replace("LIMIT = 3", 'LIMIT = int("3")'))
    said = call([tamis, "run", *pytest], now, env)[1]
    if "3 left out as values are the same" in said:
        return None
    return " ".join(line for line in said.splitlines() if line.startswith("tamis: "))


def main(arguments):
    options = {"--work": "target/real/packages", "--tamis": None}
    while arguments and arguments[0] in options:
        options[arguments[0]] = arguments[1]
        arguments = arguments[2:]
    work = pathlib.Path(options["--work"]).absolute()
    tamis = find_tamis(options["--tamis"])
    failed = 0
    for spec in arguments or PLUGINS + LIBRARIES:
        why = check(spec, work, os.path.abspath(tamis))
        failed += why is not None
        print("%-40s %s" % (spec, "yes" if why is None else why), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    finish(lambda: main(sys.argv[1:]))

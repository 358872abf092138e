"""The test selection tools behind one interface: which tests would they leave out?

A tool's `build` identifies its version: answers of another build are not reused.
"""

import collections
import hashlib
import json
import shutil
from dataclasses import dataclass

from running import PLUGIN, Trouble, must, pytest_with_outcomes, read_outcomes, run, with_plugin


@dataclass
class Selection:
    tests: set
    """Ids of the base's tests that the tool would run."""
    seconds: float
    """The time that the answer took."""
    note: str
    """Other messages of the tool, for people."""
    asked: int = None
    """How many of them the tool had selected before the test process confirmed some; None: it
    confirms nothing."""
    cpu: float = None
    """CPU seconds of a real run at the commit, with the tool's own work; None: it was only asked."""


class Testmon:
    """pytest-testmon: it deselects tests during collection, so it is asked by only collecting,
    with a copy of the base's data."""

    name = "testmon"
    DATA = ".testmondata"

    def __init__(self, work, project, interpreter, _tamis):
        self.work = work
        self.project = project
        self.python = work.venv(project, interpreter, "peers")
        self.build = work.versions(self.python)["pytest-testmon"]

    def prepare(self, tree, out):
        """Records the base in `tree`, and keeps the data aside."""
        self.tree = tree
        self.out = out / "testmon.jsonl"
        self.kept = out / "testmon-base"
        self.forget()
        self.recording, _ = self.pytest("--testmon")
        if self.kept.exists():
            shutil.rmtree(self.kept)
        self.kept.mkdir(parents=True)
        for path in self.data():
            shutil.copy2(path, self.kept)

    def select(self, base, timeout):
        self.put_back()
        done, seen = self.pytest("--testmon", "--testmon-nocollect", "--collect-only", timeout=timeout)
        if seen.collected is None and not seen.broken and done.status not in (0, 1):
            # pytest itself did not start: the user sees that.
            return Selection(set(base), done.wall, "pytest did not start")
        selected = set(seen.collected or ()) & set(base)
        selected |= {test for test in base if in_broken(test, seen.broken)}
        self.put_back()
        ran, _ = self.pytest("--testmon", timeout=timeout)
        return Selection(selected, done.wall, "", cpu=ran.cpu)

    def put_back(self):
        """What was recorded at the base, as if nothing had run since."""
        self.forget()
        for path in self.kept.iterdir():
            shutil.copy2(path, self.tree)

    def pytest(self, *args, timeout=None):
        env = self.work.env(self.project, self.tree, self.python, PYTHONDONTWRITEBYTECODE=1)
        args = [*args, "--continue-on-collection-errors", *self.project.args]
        return pytest_with_outcomes(self.python, args, self.tree, env, self.out, timeout)

    def data(self):
        return list(self.tree.glob(self.DATA + "*"))

    def forget(self):
        for path in self.data():
            path.unlink()


class Tamis:
    """tamis: `select --json` on the working tree. Units that are checked only when the tests
    start (environment, installed packages) do not count here."""

    name = "tamis"

    def __init__(self, work, project, interpreter, tamis):
        self.work = work
        self.project = project
        self.python = work.venv(project, interpreter, "plain")
        self.tamis = tamis
        self.build = hashlib.sha1(tamis.read_bytes()).hexdigest()[:10]

    def forget(self, tree, out):
        """Begin anew in `tree`, without results."""
        self.tree = tree
        self.out = out
        store = tree / ".tamis"
        if store.exists():
            shutil.rmtree(store)
        exclude = tree / ".git" / "info" / "exclude"
        if ".tamis" not in exclude.read_text():
            exclude.write_text(exclude.read_text() + "/.tamis/\n")

    def prepare(self, tree, out):
        self.forget(tree, out)
        argv = [self.tamis, "record", "--", self.python, "-m", "pytest", "-q", *self.project.args]
        done = run(argv, tree, self.env(), out / "tamis-record.log")
        if done.status not in (0, 1):
            raise Trouble(f"`tamis record` ended with {done.status}, see {out}/tamis-record.log")

    def select(self, base, timeout):
        log = self.out / "tamis-select.json"
        argv = ["sh", "-c", '"$0" select --json 2>"$1"', self.tamis, self.out / "tamis-select.log"]
        done = must(argv, self.tree, self.env(), log, timeout)
        answer = json.loads(log.read_text())
        if answer["mode"] == "all":
            return Selection(set(base), done.wall, answer["reason"])
        excluded = {entry["id"] for entry in answer["excluded"]}
        return Selection(set(base) - excluded, done.wall, most_frequent(answer["selected"]))

    def env(self):
        return self.work.env(
            self.project, self.tree, self.python,
            TAMIS_PYTHON=self.python, PYTHONDONTWRITEBYTECODE=1,
        )


class TamisRun(Tamis):
    """tamis, asked by `tamis run` itself: the tests that really run, including everything that
    is settled when the tests start. Slower, but exact."""

    name = "tamis-run"

    def prepare(self, tree, out):
        super().prepare(tree, out)
        self.kept = out / "tamis-base"
        if self.kept.exists():
            shutil.rmtree(self.kept)
        shutil.copytree(tree / ".tamis", self.kept, symlinks=True)

    def select(self, base, timeout):
        shutil.rmtree(self.tree / ".tamis")
        shutil.copytree(self.kept, self.tree / ".tamis", symlinks=True)
        out = self.out / "tamis-run.jsonl"
        out.unlink(missing_ok=True)
        env = with_plugin(self.env(), out, test_seconds=timeout / 4)
        env["PYTEST_ADDOPTS"] = " ".join(
            ["-p", PLUGIN, "--continue-on-collection-errors", *self.project.args]
        )
        done = run([self.tamis, "run"], self.tree, env, self.out / "tamis-run.log", timeout)
        seen = read_outcomes(out)
        if seen.collected is None and done.status != 0:
            return Selection(set(base), done.wall, f"ended with {done.status}, nothing collected")
        ran = {*seen.tests, *(seen.collected or ())}
        ran |= {test for test in base if in_broken(test, seen.broken)}
        return Selection(ran & set(base), done.wall, "")


class TamisValues(Tamis):
    """tamis, with everything that the test process confirms: the parent is recorded by `tamis
    run`, and what counts at the commit are the tests that `tamis run` really runs."""

    name = "tamis-values"

    def prepare(self, tree, out):
        self.forget(tree, out)
        self.recording, answer = self.run("record")
        if answer is None or not answer.get("outcomes"):
            raise Trouble(f"`tamis run` ended with {self.recording.status}, see {out}/tamis-record.log")

    def select(self, base, timeout):
        done, answer = self.run("run", timeout)
        if answer is None or "outcomes" not in answer:
            return Selection(set(base), done.wall, f"ended with {done.status}", cpu=done.cpu)
        ran = set(answer["outcomes"]) & set(base)
        excluded = {entry["id"] for entry in answer["excluded"]}
        asked = len(set(base) - excluded)
        if answer["mode"] == "all":
            return Selection(ran, done.wall, str(answer["reason"]), asked, done.cpu)
        refuted = answer.get("refuted") or {}
        causes = [refuted.get(entry["id"], brief(entry["reason"]))
                  for entry in answer["selected"] if entry["id"] in ran]
        return Selection(ran, done.wall, counted(causes, 6), asked, done.cpu)

    def run(self, name, timeout=None):
        """`tamis run` with the test command; its JSON if it printed any."""
        answer = self.out / f"tamis-{name}.json"
        argv = ["sh", "-c", '"$@" 2>"$0"', self.out / f"tamis-{name}.log"]
        argv += [self.tamis, "run", "--json", "--", self.python, "-m", "pytest", "-q"]
        argv += ["--continue-on-collection-errors", *self.project.args]
        done = run(argv, self.tree, self.env(), answer, timeout)
        try:
            return done, json.loads(answer.read_text())
        except ValueError:
            return done, None


class TamisBenign(Tamis):
    """tamis, with the state declared that tests leave behind without effect on others."""

    name = "tamis-benign"

    def prepare(self, tree, out):
        self.configure(tree)
        super().prepare(tree, out)

    def select(self, base, timeout):
        self.configure(self.tree)
        return super().select(base, timeout)

    def configure(self, tree):
        exclude = tree / ".git" / "info" / "exclude"
        if "tamis.yml" not in exclude.read_text():
            exclude.write_text(exclude.read_text() + "/tamis.yml\n")
        declared = {"version": 1, "benign-state": list(self.project.benign)}
        (tree / "tamis.yml").write_text(json.dumps(declared))


TOOLS = {tool.name: tool for tool in (Tamis, TamisBenign, TamisRun, TamisValues, Testmon)}


def most_frequent(selected, count=4):
    """The most frequent causes: `1204 code src/click/core.py#Option.__init__; …`."""
    return counted([brief(entry["reason"]) for entry in selected], count)


def counted(causes, count):
    frequent = collections.Counter(causes).most_common(count)
    return "; ".join(f"{times} {cause}" for cause, times in frequent)


def brief(reason):
    unit = reason.get("unit")
    if reason["kind"] == "unconfirmed":
        return "unconfirmed " + brief({**reason, "kind": "changed"})
    if unit is None:
        return reason.get("detail") or reason["kind"]
    name = "#" + unit["name"] if "path" in unit and unit.get("name") else unit.get("name", "")
    return f"{unit['kind']} {unit.get('path', '')}{name}"


def in_broken(test, broken):
    """Whether a test belongs to a file, folder or class that cannot be collected."""
    return any(
        node in ("", ".") or test == node or test.startswith((f"{node}::", f"{node}/"))
        for node in broken
    )

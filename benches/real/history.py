#!/usr/bin/env python3
"""Walks through a real project's releases, and compares `tamis run` with
running all tests, at every step and for every test.

    python3 benches/real/history.py [NAME...] [--and-back]

At each release: check out, `tamis run`, then all tests plainly. A test that
tamis ran must end the same in both. A test that tamis left out must have, in
the plain run, the outcome that it had when tamis last ran it. Ends with 1 on
any difference, after three more plain runs could not explain it as flaky.

`--and-back` then visits the releases before the last again, newest first:
results of any earlier revision may serve there.
"""

import json
import shutil

from projects import Work, arguments, find, python_version, table
from running import Trouble, find_tamis, finish, pytest_with_outcomes, read_outcomes, run, with_plugin

CONFIRMATIONS = 3


class Walk:
    """One project's work tree, and the outcomes that tamis currently vouches for."""

    def __init__(self, work, project, interpreter, tamis):
        self.work = work
        self.project = project
        self.tamis = tamis
        self.python = work.venv(project, interpreter, "plain")
        self.tree = work.tree(project, "history", project.releases[0])
        exclude = self.tree / ".git" / "info" / "exclude"
        exclude.write_text(exclude.read_text() + "/.tamis/\n")
        self.out = work.folder / "out" / f"{project.name}-history"
        self.out.mkdir(parents=True, exist_ok=True)
        self.env = work.env(project, self.tree, self.python, TAMIS_PYTHON=self.python)
        self.verdicts = {}

    def step(self, release):
        """Returns a row of the table and the list of differences."""
        self.work.git(self.tree, "checkout", "-q", "-f", f"v{release}")
        ran, tamis_done = self.tamis_run()
        self.verdicts.update(ran)
        plain_done, plain = self.plain_run()
        differing = self.differences(plain, ran)
        flaky = []
        for _ in range(CONFIRMATIONS if differing else 0):
            _, again = self.plain_run()
            flaky += [test for test in differing if again.get(test) == self.verdicts.get(test)]
        misses = {test: how for test, how in differing.items() if test not in flaky}
        row = [
            self.project.name, release, len(plain), len(ran), f"{share(ran, plain):.1%}",
            len(misses), len(differing) - len(misses),
            f"{tamis_done.wall:.1f}", f"{plain_done.wall:.1f}",
            f"{tamis_done.cpu:.1f}", f"{plain_done.cpu:.1f}",
        ]
        return row, misses

    def differences(self, plain, ran):
        """`{test: (outcome that tamis vouches for, outcome of the plain run)}`."""
        found = {}
        for test, outcome in plain.items():
            if self.verdicts.get(test) != outcome:
                stands_for = self.verdicts.get(test, "never run")
                found[test] = (stands_for if test in ran else f"skipped, was {stands_for}", outcome)
        for test in ran:
            if test not in plain:
                found[test] = (ran[test], "no such test")
        return found

    def tamis_run(self):
        out = self.out / "tamis.jsonl"
        out.unlink(missing_ok=True)
        addopts = " ".join(["-p", "tamis_bench_outcomes", *self.project.args])
        env = dict(with_plugin(self.env, out), PYTEST_ADDOPTS=addopts)
        done = run([self.tamis, "run"], self.tree, env, self.out / "tamis.log")
        if done.status not in (0, 1):
            raise Trouble(f"`tamis run` ended with {done.status}, see {self.out}/tamis.log")
        shutil.copy(self.out / "tamis.log", self.out / f"tamis-{self.revision()}.log")
        return read_outcomes(out).tests, done

    def plain_run(self):
        out = self.out / "plain.jsonl"
        args = ["-p", "no:cacheprovider", *self.project.args]
        done, seen = pytest_with_outcomes(self.python, args, self.tree, self.env, out)
        if seen.status not in (0, 1):
            raise Trouble(f"the plain run ended with {done.status}, see {self.out}/plain.log")
        return done, seen.tests

    def revision(self):
        return (self.tree / ".git" / "HEAD").read_text().strip()[:12]


def share(ran, plain):
    return len(ran) / max(1, len(plain))


HEADINGS = ["project", "release", "tests", "run by tamis", "share", "misses", "flaky",
            "tamis run, s", "all, s", "tamis run, CPU s", "all, CPU s"]


def main():
    parser = arguments(__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="projects (default: all)")
    parser.add_argument("--tamis", help="the binary (default: the newest build)")
    parser.add_argument("--and-back", action="store_true")
    options = parser.parse_args()
    work, tamis = Work(options.work), find_tamis(options.tamis)
    print(f"CPython {python_version(options.python, work)}\n")
    print("| " + " | ".join(HEADINGS) + " |\n|" + "---|" * len(HEADINGS))
    all_misses = {}
    for name in options.names or table():
        project = find(name)
        walk = Walk(work, project, options.python, tamis)
        releases = list(project.releases)
        if options.and_back:
            releases += releases[-2::-1]
        for release in releases:
            row, misses = walk.step(release)
            print("| " + " | ".join(str(cell) for cell in row) + " |", flush=True)
            if misses:
                all_misses[f"{name} {release}"] = misses
    for step, misses in all_misses.items():
        print(f"\n{step}: {len(misses)} differences")
        for test, (stands_for, outcome) in list(misses.items())[:20]:
            print(f"    {json.dumps(test)}: tamis {stands_for}, all {outcome}")
    return 1 if all_misses else 0


if __name__ == "__main__":
    finish(main)

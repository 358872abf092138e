#!/usr/bin/env python3
"""Is a suite that is green in full green in part?

    python3 benches/real/green_in_part.py TAMIS PROJECT [--detect-budget 60s] -- COMMAND...

PROJECT is a git repository whose tests all pass under COMMAND (pytest). It is copied. `tamis
order detect` finds the tests that depend on order. Then, with what was found and without it:

- the body of each of them is edited alone, and `tamis run` follows;
- all tests run in 2, 3 and 4 shards.

Each run that fails is a false failure, for nothing that any test checks has changed. The same
with plain pytest (the edited test alone) shows what fails without tamis.
"""

import argparse
import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile


def git(folder, *words):
    subprocess.run(
        ["git", "-c", "user.name=x", "-c", "user.email=x@x", *words],
        cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )


class Copy:
    """A clean checkout of the project; what tests leave on disk is removed before each run."""

    def __init__(self, arguments, folder):
        self.tamis, self.command = os.path.abspath(arguments.tamis), arguments.command
        self.folder = os.path.join(folder, "project")
        shutil.copytree(arguments.project, self.folder, symlinks=True)
        with open(os.path.join(self.folder, ".git", "info", "exclude"), "a") as text:
            text.write("\n.tamis/\n")
        git(self.folder, "add", "-A")
        git(self.folder, "commit", "--allow-empty", "-qm", "start")

    def clean(self):
        git(self.folder, "clean", "-fdxq", "-e", ".tamis", "-e", "*.egg-info")

    def run(self, *words):
        self.clean()
        done = subprocess.run(
            [self.tamis, *words, "--", *self.command],
            cwd=self.folder, capture_output=True, text=True,
        )
        return done

    def edit(self, test):
        """Adds a statement to the body of `test`; says the same in other words."""
        path, *names = test.split("[")[0].split("::")
        path = os.path.join(self.folder, path)
        with open(path) as text:
            source = text.read()
        node = ast.parse(source)
        for name in names:
            node = next(
                (one for one in node.body if getattr(one, "name", None) == name), None
            )
            if node is None:
                return False
        first = node.body[0]
        lines = source.split("\n")
        lines.insert(first.lineno - 1, " " * first.col_offset + "edited = %d" % len(source))
        with open(path, "w") as text:
            text.write("\n".join(lines))
        git(self.folder, "commit", "-qam", "edit " + test)
        return True


def edits(copy, dependent, forget):
    """How many edits of one dependent test fail; and how many fail with plain pytest."""
    failed, plain, seen = [], [], 0
    for test in dependent:
        if forget:
            for name in os.listdir(os.path.join(copy.folder, ".tamis", "store")):
                if name.endswith(".dependences"):
                    os.remove(os.path.join(copy.folder, ".tamis", "store", name))
        if not copy.edit(test):
            print("cannot edit", test, file=sys.stderr)
            continue
        seen += 1
        copy.clean()
        alone = subprocess.run(
            [*copy.command, test], cwd=copy.folder, capture_output=True, text=True
        )
        if alone.returncode:
            plain.append(test)
        done = copy.run("run")
        if done.returncode:
            failed.append(test)
            print(test, done.stdout, done.stderr, file=sys.stderr)
    return seen, failed, plain


def shards(copy):
    """How many parts of a run of everything fail, of how many."""
    parts, failed, late = 0, 0, 0
    for of in (2, 3, 4):
        for index in range(1, of + 1):
            parts += 1
            done = copy.run("run", "--all", "--shard", "%d/%d" % (index, of))
            failed += done.returncode != 0
            late += "passes only after" in done.stderr
            if done.returncode:
                print(done.stdout, done.stderr, file=sys.stderr)
    return parts, failed, late


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tamis")
    parser.add_argument("project")
    parser.add_argument("--detect-budget", default="60s")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(arguments, folder)
        first = copy.run("run")
        if first.returncode:
            sys.exit("the suite is not green: " + first.stdout + first.stderr)
        print("without a search, shards: %d parts, %d failed, %d explained late" % shards(copy))
        done = copy.run("order", "detect", "--json", "--budget", arguments.detect_budget)
        found = json.loads(done.stdout)
        dependent = [one["id"] for one in found["dependent"]]
        print("%d of %d tests depend on order" % (len(dependent), found["tests"]))
        print("shards: %d parts, %d failed, %d explained late" % shards(copy))
        for forget in (False, True):
            seen, failed, plain = edits(copy, dependent, forget)
            print(
                "%s: %d edits, %d false failures; %d fail alone with pytest"
                % ("nothing known" if forget else "known", seen, len(failed), len(plain))
            )


if __name__ == "__main__":
    main()

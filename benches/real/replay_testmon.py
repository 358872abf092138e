#!/usr/bin/env python3
"""What pytest-testmon selects and misses on the history that `tamis replay` visited.

    tamis replay --last 40 --json --outcomes ends.json --record -- python -m pytest -q ARGS > replay.json
    python3 benches/real/replay_testmon.py --replay replay.json --outcomes ends.json \\
        --repository PATH --python PYTHON --env PYTHONPATH=src --args "ARGS" > table.md

`--repository` is a clone with these revisions, PYTHON the interpreter of the
replay, with testmon. The revisions are visited in the order of the replay, in
a clone of their own, and at each `pytest --testmon` really runs. testmon's
database goes with the history: a revision starts from a copy of what its first
parent left, also at a merge; if that was not visited, from that of the nearest
ancestor by first parents that was; else from that of the revision before it
in the list. The first revision starts from nothing, as tamis does there.

Missed by testmon: a test that the complete run of the revision has, that
testmon did not run, and whose outcome in the complete run of the revision at
which testmon last ran it was another. So both tools are held against the same
runs: those in `ends.json`. Revisions without complete results are visited, so
that the database goes on, and count for nothing.

Ids that hold the path of a work tree are compared without it. tamis sees
another id at each revision, so to it such a test is new each time.

testmon selects nothing where `-m` or `-k` is in force; leave such tests out by
`--ignore` and `--deselect` in both commands. What was done is kept in the work
folder: a second start goes on where the first ended.
"""

import argparse
import json
import re
import shlex
import shutil
import sys
from collections import Counter
from pathlib import Path

from commits import git
from running import Trouble, environment, finish, pytest_with_outcomes
from tools import in_broken

TIMEOUT = 1800


class Testmon:
    """Visits revisions, and remembers for each where its tests last ran."""

    def __init__(self, options):
        self.options = options
        self.work = Path(options.work).resolve()
        self.tree = self.work / "tree"
        extra = dict(word.split("=", 1) for word in options.env)
        home = self.work / "home"
        home.mkdir(parents=True, exist_ok=True)
        self.env = environment(home, options.python, PYTHONDONTWRITEBYTECODE=1, **extra)
        if not self.tree.exists():
            git(self.work, "clone", "-q", "--shared", "--no-checkout", str(Path(options.repository).resolve()), "tree")
            (self.tree / ".git/info/exclude").write_text("__pycache__/\n.pytest_cache/\n.testmondata*\n")

    def kept(self, commit):
        return self.work / "kept" / commit

    def start_of(self, commit, visited):
        """The visited revision whose database `commit` starts from; None for the first."""
        for ancestor in git(self.tree, "rev-list", "--first-parent", commit).split():
            if ancestor in visited:
                return ancestor
        return visited[-1] if visited else None

    def visit(self, commit, visited):
        kept = self.kept(commit)
        if (kept / "ran.json").exists():
            return self.told(json.loads((kept / "ran.json").read_text()))
        git(self.tree, "checkout", "-q", "--force", commit)
        git(self.tree, "clean", "-qfdx")
        start = self.start_of(commit, visited)
        for file in sorted(self.kept(start).glob(".testmondata*")) if start else []:
            shutil.copy2(file, self.tree)
        kept.mkdir(parents=True, exist_ok=True)
        args = ["--testmon", *shlex.split(self.options.args)]
        out = kept / "outcomes.jsonl"
        done, seen = pytest_with_outcomes(self.options.python, args, self.tree, self.env, out, TIMEOUT)
        log = out.with_suffix(".log").read_text(errors="replace")
        for file in self.tree.glob(".testmondata*"):
            shutil.copy2(file, kept)
        if not (kept / ".testmondata").exists():
            raise Trouble(f"testmon left no database at {commit}; see {out.with_suffix('.log')}")
        head = [line for line in log.splitlines() if line.startswith("testmon:")]
        record = {
            "start": start,
            "ran": seen.tests,
            "broken": seen.broken,
            "status": done.status,
            "seconds": round(done.wall, 1),
            "head": head[0] if head else "",
        }
        if "deactivated" in record["head"]:
            raise Trouble(f"testmon does not select: {record['head']}")
        (kept / "ran.json").write_text(json.dumps(record))
        return self.told(record)

    def told(self, record):
        ran = record["ran"].items()
        return dict(record, ran={without_place(test, re.escape(str(self.tree))): word for test, word in ran})


def misses(complete, record, last_ran, ends):
    """Tests of the complete run that testmon did not run and that ended differently where it
    last ran them."""
    missed = []
    for test, now in complete.items():
        if test in record["ran"] or in_broken(test, record["broken"]):
            continue
        then = ends.get(last_ran.get(test), {}).get(test)
        if then != now:
            missed.append((test, last_ran.get(test), then, now))
    return missed


def by_test(outcomes):
    return {without_place(test): word for word, tests in outcomes.items() for test in tests}


def without_place(test, tree=r"/[^\s\[]*/tamis-replay-\w+/tree"):
    return re.sub(tree, "TREE", test)


def measure(options, replay, ends):
    testmon = Testmon(options)
    visited, last_ran, rows = [], {}, []
    for revision in replay["revisions"]:
        commit = revision["commit"]
        record = testmon.visit(commit, visited)
        known = dict(last_ran.get(record["start"], {}))
        complete = ends.get(commit)
        row = {"revision": revision, "testmon": None, "missed": []}
        if complete is not None:
            row["testmon"] = sum(test in record["ran"] for test in complete)
            row["missed"] = misses(complete, record, known, ends)
            known.update((test, commit) for test in record["ran"])
        rows.append(row)
        last_ran[commit] = known
        visited.append(commit)
        if options.verbose:
            print(f"{commit[:10]} {len(record['ran'])} ran {record['head']}", file=sys.stderr, flush=True)
    return rows


def causes_text(causes):
    ordered = sorted(causes.items(), key=lambda item: -item[1])
    return ", ".join(f"{word} {count:,}" for word, count in ordered) or "-"


def table(rows, strategy):
    yield f"| revision | kind | tests | {strategy} | because of | testmon | missed by {strategy} | by testmon |"
    yield "|---|---|---|---|---|---|---|---|"
    sums = {}
    for at, row in enumerate(rows):
        revision = row["revision"]
        chosen = revision["strategies"].get(strategy)
        name = f"{revision['commit'][:8]} | {revision['kind']}"
        if row["testmon"] is None or chosen is None:
            yield f"| {name} | - | | no results | | | |"
            continue
        own = len(chosen.get("misses", []))
        yield (
            f"| {name} | {revision['tests']:,} | {chosen['selected']:,} | {causes_text(chosen['causes'])} "
            f"| {row['testmon']:,} | {own} | {len(row['missed'])} |"
        )
        groups = ["all"]
        groups += ["all but the first"] if at else []
        groups += ["merges but the first" if revision["parents"] > 1 else "others but the first"] if at else []
        for group in groups:
            sums.setdefault(group, Counter()).update(
                revisions=1, tests=revision["tests"], ours=chosen["selected"], own=own,
                testmon=row["testmon"], missed=len(row["missed"]),
            )
            causes = sums.setdefault((group, "causes"), Counter())
            causes.update(chosen["causes"])
    for group in ("all", "all but the first", "merges but the first", "others but the first"):
        total = sums.get(group)
        if total:
            share = lambda part: f"{part:,} ({100 * part / max(total['tests'], 1):.1f} %)"
            yield (
                f"| **{group}** | {total['revisions']} | {total['tests']:,} | {share(total['ours'])} "
                f"| {causes_text(sums[group, 'causes'])} | {share(total['testmon'])} | {total['own']} | {total['missed']} |"
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replay", required=True, help="what `tamis replay --json` printed")
    parser.add_argument("--outcomes", required=True, help="what `--outcomes` wrote")
    parser.add_argument("--repository", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--strategy", default="memo")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--args", default="", help="arguments for pytest, in one string")
    parser.add_argument("--work", default="target/real/replay-testmon", help="folder for the clone and databases")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    options.python = str(Path(options.python).absolute())
    replay = json.loads(Path(options.replay).read_text())
    ends = {commit: by_test(of) for commit, of in json.loads(Path(options.outcomes).read_text()).items()}
    rows = measure(options, replay, ends)
    print("\n".join(table(rows, options.strategy)))
    for row in rows:
        for test, where, then, now in row["missed"]:
            known = f"{then} at {where[:8]}" if where else "never run"
            print(f"- testmon left out `{test}` at {row['revision']['commit'][:8]}: {known}, {now} there")
    only = {test for row in rows for test, *_ in row["missed"]}
    print(f"\n{len(only)} different tests missed by testmon.", file=sys.stderr)


if __name__ == "__main__":
    finish(main)

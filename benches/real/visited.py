"""Visits commits of a project, where one command runs everything and tamis what it selects."""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
from pathlib import Path


def sh(tree, *words, env=None):
    done = subprocess.run(words, cwd=tree, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"`{' '.join(words)}` failed:\n{done.stdout[-3000:]}")
    return done.stdout


def timed(tree, words, env):
    """Runs a command; what it says, and its processor time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, cwd=tree, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def why(reason):
    unit = reason.get("unit") or {}
    return " ".join(str(part) for part in [reason.get("kind"), unit.get("kind"), unit.get("path"), unit.get("name")] if part)


def options(about):
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repository", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--tamis", type=Path, required=True)
    parser.add_argument("--count", type=int, default=15)
    parser.add_argument("--touching", nargs="+", default=["src"])
    parser.add_argument("words", nargs="*")
    return parser.parse_args()


def visit(given, ignored, build, test, outcomes, key=lambda test: test):
    """Prints a line for each commit, and a summary. `build` compiles, `test` runs everything and is
    given to tamis; both are words. `outcomes` reads what `test` says, by test; `key` names one of
    tamis's tests as that does."""
    work = given.work.resolve()
    tree = work / "tree"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    sh(work, "git", "clone", "-q", str(given.repository.resolve()), str(tree))
    (tree / ".git/info/exclude").write_text("\n".join([".tamis/", *ignored]))
    env = {**os.environ, "CI": "1"}
    log = ["git", "log", "--first-parent", f"-{given.count}", "--format=%H", "--", *given.touching]
    commits = sh(tree, *log).split()[::-1]
    first = sh(tree, "git", "rev-parse", f"{commits[0]}~1").strip()
    rows, before = [], None
    for number, commit in enumerate([first, *commits]):
        sh(tree, "git", "checkout", "-q", "--force", commit)
        timed(tree, build, env)
        everything = lambda: timed(tree, test, env)
        tamis = lambda: timed(tree, [given.tamis.resolve(), "run", "--json", "--", *test], env)
        turns = [everything, tamis] if number % 2 else [tamis, everything]
        results = {turn: turn() for turn in turns}
        (said, all_seconds), (told, seconds) = results[everything], results[tamis]
        (work / f"{commit[:9]}.txt").write_text(told)
        truth = outcomes(said)
        report = json.loads(told[told.index("\n{\n") + 1 : told.rindex("\n}") + 2] if "\n{\n" in told else "{}")
        ran = {key(test) for test in report.get("outcomes") or {}}
        reasons = [why(one.get("reason") or {}) for one in report.get("selected") or []]
        row = {
            "commit": commit[:9],
            "tests": len(truth),
            "all": round(all_seconds, 1),
            "tamis": len(ran),
            "tamis-cpu": round(seconds, 1),
            "why": max(set(reasons), key=reasons.count)[:150] if reasons else "",
        }
        if before is None:
            print(f"{commit[:9]}: {len(truth)} tests, {all_seconds:.1f} s; recorded {len(ran)} in {seconds:.1f} s", flush=True)
        else:
            other = [test for test in truth if before.get(test) != truth[test]]
            row["missed"] = [test for test in other if test not in ran]
            rows.append(row)
            print(json.dumps(row), flush=True)
        before = truth
    share = [row["tamis"] / row["tests"] for row in rows if row["tests"]]
    time = sum(row["tamis-cpu"] for row in rows) / sum(row["all"] for row in rows)
    missed = sum(len(row["missed"]) for row in rows)
    print(
        f"tamis: {100 * statistics.mean(share):.1f} % of tests (median {100 * statistics.median(share):.1f}), "
        f"{time:.2f} of the processor time of everything, {missed} missed"
    )

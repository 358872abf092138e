#!/usr/bin/env python3
"""What real commits of a Rust project select.

    python3 benches/real/cargo_commits.py --repository PATH --count 15 --work FOLDER --tamis BIN \\
        [--touching src] -- --workspace

The newest commits whose difference to their first parent touches `--touching` are visited, the
oldest first, in one work tree. At each one `cargo test --no-fail-fast` runs everything, and tamis
runs what it selects with what it knows from before; what comes first alternates, and everything is
built before. Missed: a test that did not run, and that ended in another way than at the commit
before. Behind `--` stand words for Cargo. Processor time is that of the whole command. The peers
`cargo test` and `cargo nextest` leave nothing out.
"""

import argparse
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

RUNNING = re.compile(r"^\s+Running .*\(\S*/(\S+)-[0-9a-f]{16}\)$")
DOC = re.compile(r"^\s+Doc-tests (\S+)$")
TEST = re.compile(r"^test (.*?)(?: - should panic)? \.\.\. (ok|FAILED|ignored.*)$")


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


def outcomes(said):
    """How each test ended, by binary and name; those of a package's documentation are one."""
    ended, binary, is_doc = {}, None, False
    for line in said.splitlines():
        if found := RUNNING.match(line):
            binary, is_doc = found[1], False
        elif found := DOC.match(line):
            binary, is_doc = found[1], True
            ended[binary, "(doc)"] = "ok"
        elif (found := TEST.match(line)) and not found[2].startswith("ignored"):
            if not is_doc:
                ended[binary, found[1]] = found[2]
            elif found[2] == "FAILED":
                ended[binary, "(doc)"] = "FAILED"
    return ended


def key(test):
    """The binary and the name of a test that tamis names."""
    binary, name = test.split(" ", 1) if " " in test else (test, "")
    last = binary.split("::")[-1].split("/")[-1]
    return last.replace("-", "_"), name


def why(reason):
    unit = reason.get("unit") or {}
    return " ".join(str(part) for part in [reason.get("kind"), unit.get("kind"), unit.get("path"), unit.get("name")] if part)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repository", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--tamis", type=Path, required=True)
    parser.add_argument("--count", type=int, default=15)
    parser.add_argument("--touching", nargs="+", default=["src"])
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    work = options.work.resolve()
    tree = work / "tree"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    sh(work, "git", "clone", "-q", str(options.repository.resolve()), str(tree))
    (tree / ".git/info/exclude").write_text(".tamis/\ntarget/\nCargo.lock\n")
    env = {**os.environ, "CI": "1"}
    log = ["git", "log", "--first-parent", f"-{options.count}", "--format=%H", "--", *options.touching]
    commits = sh(tree, *log).split()[::-1]
    first = sh(tree, "git", "rev-parse", f"{commits[0]}~1").strip()
    rows, before = [], None
    for number, commit in enumerate([first, *commits]):
        sh(tree, "git", "checkout", "-q", "--force", commit)
        test = ["cargo", "test", *options.words]
        building, _ = timed(tree, [*test, "--no-run"], env)
        everything = lambda: timed(tree, [*test, "--no-fail-fast"], env)
        tamis = lambda: timed(tree, [options.tamis.resolve(), "run", "--json", "--", *test, "--no-fail-fast"], env)
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


if __name__ == "__main__":
    main()

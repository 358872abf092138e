#!/usr/bin/env python3
"""What real commits of a project that uses vitest select: tamis, and `vitest --changed`.

    python3 benches/real/node.py --repository PATH --count 15 --work FOLDER --tamis BIN \\
        --touching src -- --coverage.enabled=false

`--repository` is a clone (bare or not), `--folder` the one of the package in it. The newest commits whose difference to their first
parent touches `--touching` are visited, the oldest first, in one work tree. At each one tamis
runs what it selects with what it knows from before, `vitest --changed PREVIOUS` runs what
that selects, and vitest runs everything. Missed: a test file that did not run, and that ended
in another way than at the commit before. Behind `--` stand words for vitest. Processor time is
that of the whole command. Packages are installed with npm whenever package.json is another one.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
from pathlib import Path


def sh(tree, *words, env=None, check=True):
    done = subprocess.run(words, cwd=tree, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if check and done.returncode:
        sys.exit(f"`{' '.join(words)}` failed:\n{done.stdout[-3000:]}")
    return done


def timed(tree, words, env):
    """Runs a command; its output, and its processor time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, cwd=tree, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def vitest(tree, env, out, words):
    """How each test file ended that vitest ran, by path, and the processor time."""
    out.unlink(missing_ok=True)
    command = ["node_modules/.bin/vitest", "run", "--reporter=json", f"--outputFile={out}", *words]
    _, seconds = timed(tree, command, env)
    ended = {}
    if out.exists():
        for file in json.loads(out.read_text())["testResults"]:
            name = str(Path(file["name"]).relative_to(tree))
            # A file can run in several projects.
            if ended.get(name) != "failed":
                ended[name] = file["status"]
    return ended, seconds


def install(tree, commit, known):
    package = (tree / "package.json").read_bytes()
    if package == known:
        return known
    print(f"{commit[:9]}: installing packages", flush=True)
    sh(tree, "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--legacy-peer-deps", "--no-package-lock", "--workspaces=false")
    return package


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repository", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--tamis", type=Path, required=True)
    parser.add_argument("--count", type=int, default=15)
    parser.add_argument("--touching", default="src")
    parser.add_argument("--folder", default=".")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    work = options.work.resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    top = work / "tree"
    sh(work, "git", "clone", "-q", str(options.repository.resolve()), str(top))
    tree = top / options.folder
    (top / ".git/info/exclude").write_text(".tamis/\nnode_modules/\npackage-lock.json\n")
    env = {**os.environ, "HOME": str(work), "CI": "1"}
    log = ["git", "log", "--first-parent", f"-{options.count}", "--format=%H", "--", options.touching]
    commits = sh(tree, *log).stdout.split()[::-1]
    first = sh(tree, "git", "rev-parse", f"{commits[0]}~1").stdout.strip()
    rows, package, before, previous = [], None, None, None
    for commit in [first, *commits]:
        sh(tree, "git", "checkout", "-q", "--force", commit)
        package = install(tree, commit, package)
        truth, all_seconds = vitest(tree, env, work / "all.json", options.words)
        command = [options.tamis.resolve(), "run", "--json", "--", "node_modules/.bin/vitest", "run", *options.words]
        done, seconds = timed(tree, command, env)
        ran = json.loads(done.stdout[: done.stdout.rindex("\n}") + 2] if done.stdout else "{}").get("outcomes") or {}
        row = {"commit": commit[:9], "tests": len(truth), "all": all_seconds, "tamis": len(ran), "tamis-cpu": seconds}
        if before is None:
            print(f"{commit[:9]}: {len(truth)} test files, {all_seconds:.0f} s; recorded in {seconds:.0f} s", flush=True)
        else:
            changed, peer_seconds = vitest(
                tree, env, work / "changed.json", [f"--changed={previous}", "--passWithNoTests", *options.words]
            )
            other = [test for test, ended in truth.items() if test in before and before[test] != ended]
            row["tamis-missed"] = [test for test in other if test not in ran]
            row["peer"], row["peer-cpu"] = len(changed), peer_seconds
            row["peer-missed"] = [test for test in other if test not in changed]
            rows.append(row)
            print(json.dumps(row), flush=True)
        before, previous = truth, commit
    for tool in ["tamis", "peer"]:
        share = [row[tool] / row["tests"] for row in rows if row["tests"]]
        time = sum(row[f"{tool}-cpu"] for row in rows) / sum(row["all"] for row in rows)
        missed = sum(len(row[f"{tool}-missed"]) for row in rows)
        print(
            f"{tool}: {100 * statistics.mean(share):.1f} % of test files (median {100 * statistics.median(share):.1f}), "
            f"{time:.2f} of the processor time of everything, {missed} missed"
        )


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Table 4.1 of the thesis again: how many commits and merges histories have,
and how many merges are automatic.

    python3 benches/real/table41.py --tamis target/release/tamis --clones FOLDER

FOLDER holds a git directory `OWNER+NAME` (bare or not) for each project that is
wanted; those that are not there are left out. Counted is the history of the
commit that the thesis names. Columns, each as `ours (the thesis's)`:

- commits, merges: all that the commit reaches; merges have several parents.
- rebases: "commits with different author and committer field", which is how the
  thesis approximates them (footnote 2): in the order of `git log`, those whose
  name or e-mail differs, without those that follow one of the same two people
  (as `uniq` would count them). It does not say so; this is what gives its numbers.
- merges on master: share of merges among the commits by first parents.
- automerges: share of the merges that `tamis classify` calls `automerge`;
  and by git, those of two parents for which `git merge-tree --write-tree` ends
  cleanly with exactly the tree of the merge.

What counts as a cherry-pick or revert the thesis does not say, so that column
and the sum that has it are left out.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

# Project: place, commit, commits, merges, rebases, merges on master in
# percent, automerges in percent.
THESIS = {
    "Astyanax": ("Netflix+astyanax", "ba58831", 725, 134, 3, 23.04, 94.02),
    "Cucumber": ("cucumber+cucumber-jvm", "5416686", 2495, 413, 21, 15.92, 77.48),
    "Dagger": ("square+dagger", "b135011", 531, 219, 1, 83.41, 100.00),
    "Dropwizard": ("dropwizard+dropwizard", "a01bfd7", 1855, 238, 4, 16.23, 95.37),
    "GraphHopper": ("graphhopper+graphhopper", "e2805e4", 1265, 59, 3, 3.64, 55.93),
    "JUnit": ("junit-team+junit4", "9917b9f", 1617, 250, 47, 21.33, 83.20),
    "OkHttp": ("square+okhttp", "5538ed2", 513, 212, 1, 80.16, 100.00),
    "Picasso": ("square+picasso", "29e3461", 470, 174, 11, 62.26, 98.85),
    "Retrofit": ("square+retrofit", "5bd3c1e", 631, 216, 4, 58.54, 99.07),
    "RxJava": ("ReactiveX+RxJava", "ae073dd", 1212, 267, 3, 49.74, 89.51),
    "TimesSquare": ("square+android-times-square", "d528622", 145, 50, 1, 65.71, 96.00),
}


def git(repo, *words):
    done = subprocess.run(["git", "-C", str(repo), *words], capture_output=True, text=True, errors="replace")
    return done.returncode, done.stdout.strip()


def lines(repo, *words):
    status, text = git(repo, *words)
    if status:
        sys.exit(f"`git {' '.join(words)}` failed in {repo}")
    return text.splitlines()


def is_auto_by_tamis(tamis, clone, commit):
    done = subprocess.run([tamis, "-C", clone, "classify", commit, "--json"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{tamis} classify {commit}: {done.stderr}")
    return json.loads(done.stdout)["kind"] == "automerge"


def is_auto_by_git(clone, tree, parents):
    if len(parents) != 2:
        return False
    status, answer = git(clone, "merge-tree", "--write-tree", "--allow-unrelated-histories", *parents)
    return status == 0 and answer.split()[:1] == [tree]


def rebases_of(clone, commit):
    people = lines(clone, "log", "--format=%an <%ae>%x00%cn <%ce>", commit)
    copied = [line for line in people if len(set(line.split("\0"))) == 2]
    return sum(1 for before, line in zip([None, *copied], copied) if line != before)


def row(tamis, project, clones):
    place, commit, commits, merges, rebases, on_master, automerges = THESIS[project]
    source = clones / place
    source = source / "repo" if (source / "repo").is_dir() else source
    if not source.is_dir():
        return None
    with tempfile.TemporaryDirectory() as folder:
        clone = f"{folder}/clone"
        lines(folder, "clone", "-q", "--shared", "--no-checkout", str(source), clone)
        commits_here = len(lines(clone, "rev-list", commit))
        copied = rebases_of(clone, commit)
        listing = lines(clone, "log", "--min-parents=2", "--format=%H %T %P", commit)
        by_tamis = by_git = 0
        for line in listing:
            name, tree, *parents = line.split()
            by_tamis += is_auto_by_tamis(tamis, clone, name)
            by_git += is_auto_by_git(clone, tree, parents)
        first = lines(clone, "rev-list", "--first-parent", "--parents", commit)
    master = 100 * sum(len(line.split()) > 2 for line in first) / len(first)
    auto, auto_git = (100 * count / len(listing) for count in (by_tamis, by_git))
    return (
        f"| {project} {commit} | {commits_here:,} ({commits:,}) | {len(listing):,} ({merges:,}) "
        f"| {copied} ({rebases}) | {master:.2f} ({on_master:.2f}) "
        f"| {auto:.2f} ({automerges:.2f}) | {auto_git:.2f} | {auto - automerges:+.2f} |"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tamis", required=True)
    parser.add_argument("--clones", required=True, type=Path)
    options = parser.parse_args()
    tamis = str(Path(options.tamis).resolve())
    print("| project | commits | merges | rebases | merges on master, % | automerges, % | by git, % | points off |")
    print("|---|---|---|---|---|---|---|---|")
    for project in THESIS:
        line = row(tamis, project, options.clones.resolve())
        if line:
            print(line, flush=True)


if __name__ == "__main__":
    main()

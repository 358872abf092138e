"""Compares `tamis classify` with git's command line on real histories.

    python benches/real/classify.py TAMIS COUNT REPOSITORY...

For each git directory: the newest COUNT merges of two parents, against
`git merge-tree --write-tree`; and the newest commits whose message claims a
pick or a revert, or quotes a subject as reverted; and the newest COUNT commits
of one parent, of which some may be copies of others by author and date alone.
Where tamis calls one automatic, git's own `cherry-pick` or `revert`, done by
merge-tree, must give the same tree; for a rebase, the pick of the old tip onto
the new parent. Prints one JSON object a repository. git adds objects: give it copies (`git clone --shared`).
"""

import json
import pathlib
import statistics
import subprocess
import sys
import time

CLAIMS = 200
IDENTITY = ("-c", "user.name=Ann Author", "-c", "user.email=ann@example.org")


def git(repo, *words):
    done = subprocess.run(["git", "-C", repo, *words], capture_output=True, text=True, errors="replace")
    return done.returncode, done.stdout


def classify(tamis, repo, commit):
    began = time.perf_counter()
    done = subprocess.run([tamis, "-C", repo, "classify", commit, "--json"], capture_output=True, text=True)
    seconds = time.perf_counter() - began
    if done.returncode:
        sys.exit(f"{tamis} classify {commit} in {repo}: {done.stderr}")
    return json.loads(done.stdout), seconds


def merges(tamis, repo, count, result):
    _, listing = git(repo, "log", "--min-parents=2", "--max-parents=2", "-n", str(count), "--format=%H %T %P", "HEAD")
    seconds = []
    for line in listing.splitlines():
        commit, tree, ours, theirs = line.split()
        status, answer = git(repo, "merge-tree", "--write-tree", "--allow-unrelated-histories", ours, theirs)
        is_clean = status == 0 and answer.split()[:1] == [tree]
        verdict, took = classify(tamis, repo, commit)
        seconds.append(took)
        result["merges"] += 1
        result["git_auto"] += is_clean
        result["tamis_auto"] += verdict["kind"] == "automerge"
        if is_clean != (verdict["kind"] == "automerge"):
            result["differ"].append(commit)
    result["median_process_ms"] = round(statistics.median(seconds) * 1000, 1) if seconds else None


def commit_tree(repo, tree, *parents):
    words = [word for parent in parents for word in ("-p", parent)]
    return git(repo, *IDENTITY, "commit-tree", "-m", "x", *words, f"{tree}^{{tree}}")[1].strip()


def replayed(repo, kind, commit, onto, base):
    """git's merge of the change, or its inverse, into `onto`: the tree, "conflict" or None.

    A pick is a merge whose base is the picked commit's parent; a revert has
    the two in each other's place. Made-up commits tell merge-tree the base.
    """
    old, new = (base, commit) if kind == "cherry-pick" else (commit, base)
    root = commit_tree(repo, old)
    sides = commit_tree(repo, onto, root), commit_tree(repo, new, root)
    status, answer = git(repo, "merge-tree", "--write-tree", *sides)
    return {0: answer.strip(), 1: "conflict"}.get(status)


def check(repo, commit, verdict, result):
    """Whether git's own replay agrees with a verdict that tamis calls automatic."""
    kind, references = verdict["kind"], verdict["references"]
    if not verdict["auto"] or kind not in ("cherry-pick", "revert", "rebase"):
        return
    if kind == "rebase":
        source = references["pre_rebase_tip"]
        base = git(repo, "rev-parse", source + "^")[1].strip()
    else:
        source = references[{"cherry-pick": "picked", "revert": "reverted"}[kind]]
        base = references[{"cherry-pick": "picked_parent", "revert": "reverted_parent"}[kind]]
    result["auto_" + kind] += 1
    way = "revert" if kind == "revert" else "cherry-pick"
    tree = replayed(repo, way, source, references["parents"][0], base)
    if tree is None:
        result["unchecked"].append(commit)
    elif tree != verdict["tree"]:
        result["false_auto"].append(commit)


def claims(tamis, repo, count, result):
    _, listing = git(
        repo, "log", "--max-parents=1", "-n", str(count), "--format=%H", "--grep=cherry picked from commit",
        "--grep=This reverts commit", '--grep=^Revert "', '--grep=^Reapply "', "HEAD",
    )
    for commit in listing.split():
        verdict, _ = classify(tamis, repo, commit)
        result["claims"] += 1
        check(repo, commit, verdict, result)


def others(tamis, repo, count, result):
    _, listing = git(
        repo, "log", "--max-parents=1", "--min-parents=1", "-n", str(count), "--format=%H", "--invert-grep",
        "--grep=cherry picked from commit", "--grep=This reverts commit", '--grep=^Revert "', '--grep=^Reapply "', "HEAD",
    )
    for commit in listing.split():
        verdict, _ = classify(tamis, repo, commit)
        result["others"] += 1
        result["copies"] += verdict["auto"] and verdict["kind"] in ("cherry-pick", "rebase")
        check(repo, commit, verdict, result)


def main():
    tamis, count, *repos = sys.argv[1:]
    for repo in repos:
        result = {
            "repository": pathlib.Path(repo).name, "merges": 0, "git_auto": 0, "tamis_auto": 0,
            "differ": [], "claims": 0, "auto_cherry-pick": 0, "auto_revert": 0, "auto_rebase": 0, "others": 0, "copies": 0, "false_auto": [], "unchecked": [],
        }
        merges(tamis, repo, int(count), result)
        claims(tamis, repo, CLAIMS, result)
        others(tamis, repo, int(count), result)
        print(json.dumps(result), flush=True)


main()

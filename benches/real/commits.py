#!/usr/bin/env python3
"""What real commits select: for each of the last commits that touch a project's
package, what tamis and testmon would run, and what they would miss.

    python3 benches/real/commits.py --project click --repository PATH --count 50

`--repository` is a clone (bare or not) with the project's history. For each
commit the tools record its first parent, then are asked at the commit; all
tests run plainly at both. Missed: a test that both have, whose outcome
differs, and that the tool would not run. Answers are kept in a JSON lines file
in the work folder, so that a second start goes on where the first ended.

testmon selects nothing where `-m` or `-k` is in force; leave such tests out by
`--args`, with `--ignore` or `--deselect`.

A test that only the commit has is run by every tool and counts for none.

`tamis-values` is tamis with early cut-off by value: it records and runs by `tamis run`,
and what counts are the tests that ran. Its CPU time, and that of testmon's run, is given
as a part of what all tests take plainly at the same commits. `--why` prints for each
commit what made them run.
"""

import json
import shlex
import shutil
import statistics
import subprocess

from projects import Work, arguments, find
from running import Trouble, find_tamis, finish, pytest_with_outcomes
from tools import TOOLS, in_broken

TIMEOUT = 900


def git(tree, *args):
    done = subprocess.run(["git", *args], cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise Trouble(f"`git {' '.join(args)}` in {tree}: {done.stderr.strip()}")
    return done.stdout.strip()


def clone(options, work, project):
    tree = work.folder / "trees" / f"{project.name}-commits"
    if tree.exists():
        shutil.rmtree(tree)
    tree.parent.mkdir(parents=True, exist_ok=True)
    git(work.folder, "clone", "-q", "--shared", "--no-checkout", str(options.repository), str(tree))
    (tree / ".git/info/exclude").write_text("__pycache__/\n.pytest_cache/\n.hypothesis/\n.testmondata*\n")
    return tree


def checkout(tree, commit):
    git(tree, "checkout", "-q", "--force", commit)
    git(tree, "clean", "-qfdx", "-e", ".tamis", "-e", ".testmondata*")


def outcomes(work, project, python, tree, out):
    env = work.env(project, tree, python, PYTHONDONTWRITEBYTECODE=1)
    args = ["--continue-on-collection-errors", *project.args]
    done, seen = pytest_with_outcomes(python, args, tree, env, out, TIMEOUT)
    return done, seen


def measure(work, project, tools, tree, commit, out):
    parent = git(tree, "rev-parse", commit + "^")
    checkout(tree, parent)
    for tool in tools:
        tool.prepare(tree, out)
    plain, before = outcomes(work, project, tools[0].python, tree, out / "before.jsonl")
    checkout(tree, commit)
    answers = {}
    for tool in tools:
        answers[tool.name] = tool.select(before.tests, TIMEOUT)
    everything, after = outcomes(work, project, tools[0].python, tree, out / "after.jsonl")
    both = [test for test in before.tests if test in after.tests or in_broken(test, after.broken)]
    record = {"commit": commit, "tests": len(both), "tools": {}}
    for tool in tools:
        chosen = answers[tool.name].tests
        missed = [test for test in both if before.tests[test] != after.tests.get(test) and test not in chosen]
        record["tools"][tool.name] = {
            "build": tool.build,
            "selected": sum(test in chosen for test in both),
            "missed": missed,
            "seconds": round(answers[tool.name].seconds, 3),
            "note": answers[tool.name].note,
            "asked": answers[tool.name].asked,
        }
        if answers[tool.name].cpu is not None:
            record["tools"][tool.name]["cpu"] = {
                "recording": [round(tool.recording.cpu, 2), round(plain.cpu, 2)],
                "run": [round(answers[tool.name].cpu, 2), round(everything.cpu, 2)],
            }
    return record


def parser_of(description, count):
    """The options of a script that visits `count` commits of a project."""
    parser = arguments(description)
    parser.add_argument("--project", required=True)
    parser.add_argument("--repository", required=True, help="a clone with the history")
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("--tamis", help="the binary (default: the newest build)")
    parser.add_argument("--from", dest="head", default="HEAD", help="the newest commit (HEAD)")
    parser.add_argument("--tools", default="tamis,testmon")
    parser.add_argument("--args", default="", help="more arguments for pytest, in one string")
    return parser


def begin(options, known):
    """The work folder, the project and the tools, by their names among those that are `known`."""
    work = Work(options.work)
    project = find(options.project)
    project.args += shlex.split(options.args)
    binary = find_tamis(options.tamis)
    names = options.tools.split(",")
    return work, project, [known[name](work, project, options.python, binary) for name in names]


def newest(options, project, tree):
    """The newest commits that touch the project's package, the last one first."""
    limits = ["--no-merges", f"--max-count={options.count}", "--format=%H", options.head]
    return git(tree, "log", *limits, "--", project.package).split()


def main():
    parser = parser_of(__doc__, count=50)
    parser.add_argument("--why", action="store_true", help="print what made the tests run")
    options = parser.parse_args()
    work, project, tools = begin(options, TOOLS)
    tree = clone(options, work, project)
    out = work.folder / "out" / f"{project.name}-commits"
    commits = newest(options, project, tree)
    results = work.folder / "results" / f"commits-{project.name}.jsonl"
    results.parent.mkdir(parents=True, exist_ok=True)
    known = {}
    for line in results.read_text().splitlines() if results.exists() else []:
        record = json.loads(line)
        known.setdefault(record["commit"], {}).update(record["tools"])
        known[record["commit"]]["tests"] = record["tests"]
    for commit in commits:
        have = known.setdefault(commit, {})
        wanted = [tool for tool in tools if have.get(tool.name, {}).get("build") != tool.build]
        if wanted:
            record = measure(work, project, wanted, tree, commit, out)
            with open(results, "a") as file:
                file.write(json.dumps(record) + "\n")
            have.update(record["tools"])
            have["tests"] = record["tests"]
        show(commit, have, tools, git(tree, "log", "-1", "--format=%s", commit))
        if options.why:
            show_causes(have, tools)
    print_summary([known[commit] for commit in commits], tools)


def show(commit, have, tools, subject):
    shares = "  ".join(f"{tool.name} {share(have[tool.name])}" for tool in tools)
    print(f"{commit[:9]} {have['tests']:5} tests  {shares}  {subject[:50]}", flush=True)


def share(answer):
    asked = answer.get("asked")
    confirming = "" if asked is None else f" of {asked} selected"
    return f"{answer['selected']:5}{confirming} ({len(answer['missed'])} missed)"


def show_causes(have, tools):
    for tool in tools:
        if have[tool.name]["note"]:
            print(f"    {tool.name}: {have[tool.name]['note']}", flush=True)


def print_summary(records, tools):
    records = [record for record in records if record["tests"]]
    for tool in tools:
        shares = [100 * record[tool.name]["selected"] / record["tests"] for record in records]
        missed = sum(len(record[tool.name]["missed"]) for record in records)
        print(
            f"{tool.name}: {len(records)} commits, mean share {statistics.mean(shares):.1f} %, "
            f"median {statistics.median(shares):.1f} %, {missed} missed{cpu_of(records, tool)}"
        )


def cpu_of(records, tool):
    """What recording the parents and the runs at the commits took by all plain runs of the same commits."""
    costs = [record[tool.name]["cpu"] for record in records if "cpu" in record[tool.name]]
    if not costs:
        return ""
    recording, running = (
        sum(cost[what][0] for cost in costs) / sum(cost[what][1] for cost in costs) for what in ("recording", "run")
    )
    return f", CPU by running everything {running:.2f} (recording {recording:.2f})"


if __name__ == "__main__":
    finish(main)

#!/usr/bin/env python3
"""What commits select that follow each other, as in daily use: the first parent is recorded as a
whole, then at each commit the tool runs, on what it stored at the commits before.

    python3 benches/real/in_a_row.py --project networkx --repository PATH --count 20

`--repository` is a clone (bare or not) with the project's history. At each commit all tests run
plainly, too: what a tool vouches for (the outcome of a test when the tool last ran it) is compared
with that, and the time of the tool with that of all tests. With `--check 5` that happens at each fifth commit.

`tamis run` may run tests in several passes: `share` is that of the largest one, `all` of all together.
"""

import json
import statistics

from commits import TIMEOUT, begin, checkout, clone, git, newest, outcomes, parser_of
from running import Trouble, finish
from tools import TamisValues, Testmon


class Tamis(TamisValues):
    """`tamis run`; its passes are in the events that it prints."""

    name = "tamis"

    def start(self, tree, out):
        self.forget(tree, out)
        self.step()

    def step(self):
        """Wall seconds, the outcomes of the tests that ran, and how many each pass ran."""
        done, answer = self.run("run", TIMEOUT)
        if answer is None or "outcomes" not in answer:
            raise Trouble(f"`tamis run` ended with {done.status}, see {self.out}/tamis-run.log")
        lines = (self.out / "tamis-run.log").read_text().splitlines()
        events = (json.loads(line) for line in lines if line.startswith('{"'))
        passes = [event["ran"] for event in events if event.get("event") == "ran"]
        return done.wall, answer["outcomes"], passes


class Peer(Testmon):
    """`pytest --testmon`."""

    def start(self, tree, out):
        self.tree, self.out = tree, out / "testmon.jsonl"
        self.forget()
        self.step()

    def step(self):
        done, seen = self.pytest("--testmon", timeout=TIMEOUT)
        return done.wall, seen.tests, [len(seen.tests)]


def main():
    parser = parser_of(__doc__, count=20)
    parser.add_argument("--check", type=int, default=1, help="run all tests at each of so many commits")
    options = parser.parse_args()
    work, project, tools = begin(options, {"tamis": Tamis, "testmon": Peer})
    tree = clone(options, work, project)
    out = work.folder / "out" / f"{project.name}-in-a-row"
    out.mkdir(parents=True, exist_ok=True)
    commits = newest(options, project, tree)[::-1]
    checkout(tree, commits[0] + "^")
    done, before = outcomes(work, project, tools[0].python, tree, out / "plain.jsonl")
    print(f"{commits[0][:9]}^ {len(before.tests)} tests, {done.wall:.1f} s plainly", flush=True)
    vouched = {}
    for tool in tools:
        tool.start(tree, out)
        vouched[tool.name] = dict(before.tests)
    rows = {tool.name: [] for tool in tools}
    for number, commit in enumerate(commits, 1):
        checkout(tree, commit)
        plain = None
        if number % options.check == 0:
            done, seen = outcomes(work, project, tools[0].python, tree, out / "plain.jsonl")
            plain = done.wall, seen.tests
        told = [commit[:9]]
        for tool in tools:
            seconds, ran, passes = tool.step()
            vouched[tool.name].update(ran)
            row = Row(seconds, passes, len(before.tests), plain, vouched[tool.name])
            rows[tool.name].append(row)
            told.append(f"{tool.name} {row}")
        print("  ".join(told), git(tree, "log", "-1", "--format=%s", commit)[:40], flush=True)
    for tool in tools:
        summary(tool.name, rows[tool.name])


class Row:
    """What one tool did at one commit."""

    def __init__(self, seconds, passes, tests, plain, vouched):
        self.seconds = seconds
        self.passes = passes or [0]
        self.share = 100 * max(self.passes) / tests
        self.of_all = 100 * sum(self.passes) / tests
        self.of_plain = None if plain is None else seconds / plain[0]
        tests = {} if plain is None else plain[1]
        # Some have other ids each time.
        self.wrong = sorted(test for test, end in tests.items() if vouched.get(test, end) != end)

    def __str__(self):
        text = f"{'+'.join(map(str, self.passes))} in {self.seconds:.1f} s"
        if self.of_plain is not None:
            text += f" ({self.of_plain:.2f})"
        return text + (f" WRONG {self.wrong[:3]}" if self.wrong else "")


def summary(name, rows):
    compared = [row.of_plain for row in rows if row.of_plain is not None]
    time = f", {statistics.mean(compared):.2f} times the time of all tests" if compared else ""
    print(
        f"{name}: {len(rows)} commits, share {statistics.mean(row.share for row in rows):.1f} % (all "
        f"{statistics.mean(row.of_all for row in rows):.1f}, median {statistics.median(row.share for row in rows):.1f})"
        f"{time}, {sum(len(row.wrong) for row in rows)} wrong"
    )


if __name__ == "__main__":
    finish(main)

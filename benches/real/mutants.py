#!/usr/bin/env python3
"""Mutates a real project's library code, and looks whether every test whose
outcome changes would have been selected.

    python3 benches/real/mutants.py --project click --count 100 --seed 1 --tool both

For each mutant all tests run plainly, once; each tool is asked, with the data
of the unmutated base, what it would run. The answers are appended to a JSON
lines file in the work folder: a second start goes on where the first ended,
and a second tool needs no new test runs. Ends with 1 if tamis missed a test.

- Outcome-changing: a test whose outcome differs from the base's, or a test
  that is gone because its file cannot be collected.
- Left out: tests whose outcome differs between two runs of the base; tests
  after the one in which the interpreter died; tests that are gone while their
  file is sound (their ids changed; under the new ids they are new tests).
- Missed: an outcome-changing test that the tool would not run. A missed test
  is run again twice on the mutant, together with the mutant's other missed
  tests alone: if it then ends as in the base, its outcome changed only after
  other tests, or by chance. These are counted apart ("not alone"): no rule on
  what the test itself uses can select them.
"""

import copy
import difflib
import json
import os
import queue
import statistics
import threading
import time

import mutate
from projects import Work, arguments, find, python_version
from running import Trouble, find_tamis, finish, pytest_with_outcomes
from tools import TOOLS, in_broken

BASE_RUNS = 2
ALONE_RUNS = 2


class Results:
    """The JSON lines file with the known answers; new ones are appended."""

    def __init__(self, path):
        self.path = path
        self.lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        self.base = None
        self.truth = {}
        self.answers = {}
        self.alone = {}
        for line in path.read_text().splitlines() if path.exists() else []:
            self.take(json.loads(line))

    def take(self, record):
        if "base" in record:
            self.base = record
        elif "alone" in record:
            self.alone.setdefault(record["id"], {}).update(record["alone"])
        elif "tool" in record:
            self.answers[record["id"], record["tool"], record["build"]] = record
        else:
            self.truth[record["id"]] = record

    def missed(self, mutant, tool):
        """The outcome-changing tests that the tool would not run."""
        changed = self.truth[mutant.id]["changed"]
        left_out = self.answers[mutant.id, tool.name, tool.build]["left_out"]
        return sorted(set(changed) & set(left_out) - set(self.base["flaky"]))

    def is_miss(self, mutant, test):
        """Whether a missed test's outcome also changes without other tests."""
        before, after = self.truth[mutant.id]["changed"][test]
        alone = self.alone[mutant.id].get(test, [])
        return after in ("not collected", "not run") or before not in alone

    def is_complete(self, mutant, tools):
        known = mutant.id in self.truth and all(
            (mutant.id, tool.name, tool.build) in self.answers for tool in tools
        )
        return known and not self.unconfirmed(mutant, tools)

    def unconfirmed(self, mutant, tools):
        missed = {test for tool in tools for test in self.missed(mutant, tool)}
        return sorted(missed - set(self.alone.get(mutant.id, {})))

    def append(self, record):
        with self.lock:
            self.take(record)
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")


class Worker:
    """A clean work tree for mutants."""

    def __init__(self, number, work, project, interpreter, tools, results):
        self.work = work
        self.project = project
        self.results = results
        self.python = work.venv(project, interpreter, "plain")
        self.tree = work.tree(project, f"mutants-{number}", project.base)
        self.out = work.folder / "out" / f"{project.name}-mutants-{number}"
        self.out.mkdir(parents=True, exist_ok=True)
        self.tools = [copy.copy(tool) for tool in tools]
        self.seconds = None

    def prepare(self):
        """Runs the base twice, and lets each tool record it."""
        runs, seconds = [], []
        for _ in range(BASE_RUNS):
            done, outcomes = self.run_all(timeout=None)
            if outcomes.status not in (0, 1):
                raise Trouble(f"the base's tests do not run, see {self.out}/plain.log")
            runs.append(outcomes.tests)
            seconds.append(done.wall)
        self.seconds = max(seconds)
        for tool in self.tools:
            tool.prepare(self.tree, self.out)
        return runs

    def run_all(self, timeout, test_seconds=None, only=()):
        env = self.work.env(self.project, self.tree, self.python, PYTHONDONTWRITEBYTECODE=1)
        args = ["--continue-on-collection-errors", "-p", "no:cacheprovider", *self.project.args]
        if only:
            listed = self.out / "only.json"
            listed.write_text(json.dumps(only))
            env["BENCH_ONLY"] = str(listed)
        out = self.out / "plain.jsonl"
        return pytest_with_outcomes(self.python, args, self.tree, env, out, timeout, test_seconds)

    def judge(self, mutant):
        """Applies the mutant, gets the missing answers, and reverts it."""
        path = self.tree / mutant.path
        source, times = path.read_bytes(), path.stat()
        path.write_bytes(mutant.apply(source))
        base = self.results.base["base"]
        try:
            if mutant.id not in self.results.truth:
                self.results.append({**mutant.to_json(), **self.effect(base)})
            for tool in self.tools:
                if (mutant.id, tool.name, tool.build) not in self.results.answers:
                    answer = tool.select(base, self.limit())
                    left_out = sorted(set(base) - answer.tests)
                    self.results.append({
                        "id": mutant.id, "tool": tool.name, "build": tool.build,
                        "seconds": answer.seconds, "note": answer.note, "left_out": left_out,
                    })
            unconfirmed = self.results.unconfirmed(mutant, self.tools)
            if unconfirmed:
                self.results.append({"id": mutant.id, "alone": self.outcomes_alone(unconfirmed)})
        finally:
            path.write_bytes(source)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            self.work.git(self.tree, "clean", "-q", "-f", "-d")

    def outcomes_alone(self, tests):
        found = {test: [] for test in tests}
        for _ in range(ALONE_RUNS):
            _, seen = self.run_all(self.limit(), test_seconds=self.test_limit(), only=tests)
            for test in tests:
                found[test].append(seen.tests.get(test, "did not end"))
        return found

    def test_limit(self):
        return max(10, self.seconds / 4)

    def limit(self):
        return 60 + 5 * self.seconds

    def effect(self, base):
        """The effect of the mutant on the tests."""
        start = time.time()
        done, seen = self.run_all(self.limit(), test_seconds=self.test_limit())
        flaky = set(self.results.base["flaky"])
        if seen.collected is None:
            # Nothing at all was collected: pytest did not start.
            changed = {test: [before, "not run"] for test, before in base.items()}
            return {"changed": changed, "broken": [""], "unknown": 0, "seconds": time.time() - start}
        changed, unknown = {}, 0
        collected = set(seen.collected)
        for test, before in base.items():
            after = seen.tests.get(test)
            if test in flaky or after == before:
                continue
            if after is not None:
                changed[test] = [before, after]
            elif test == seen.unfinished:
                changed[test] = [before, "hung" if done.timed_out else "crashed"]
            elif test in collected:
                unknown += 1
            elif in_broken(test, seen.broken):
                changed[test] = [before, "not collected"]
        return {
            "changed": changed,
            "broken": seen.broken,
            "unknown": unknown,
            "seconds": time.time() - start,
        }


def set_base(results, runs):
    """Stores the base's outcomes, or checks that the stored ones are the same."""
    first = runs[0]
    differing = {test for run in runs for test in {**run, **first} if run.get(test) != first.get(test)}
    if results.base is None:
        results.append({"base": first, "flaky": sorted(differing)})
        return
    stored = results.base["base"]
    differing |= {test for test in {**first, **stored} if first.get(test) != stored.get(test)}
    if differing - set(results.base["flaky"]):
        results.append({"base": stored, "flaky": sorted(differing | set(results.base["flaky"]))})


def work_off(workers, mutants, report):
    """Each worker takes the next mutant until none is left."""
    waiting = queue.Queue()
    for mutant in mutants:
        waiting.put(mutant)
    errors = []

    def loop(worker):
        while not errors:
            try:
                mutant = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                worker.judge(mutant)
                report(mutant)
            except Exception as error:  # noqa: BLE001 - told by the main thread
                errors.append(error)

    threads = [threading.Thread(target=loop, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


class Verdict:
    """One tool's answer for one mutant, compared with the outcomes."""

    def __init__(self, results, mutant, tool):
        self.mutant = mutant
        self.effects = results.truth[mutant.id]["changed"]
        self.changed = set(self.effects) - set(results.base["flaky"])
        missed = results.missed(mutant, tool)
        self.missed = [test for test in missed if results.is_miss(mutant, test)]
        self.not_alone = len(missed) - len(self.missed)
        left_out = len(results.answers[mutant.id, tool.name, tool.build]["left_out"])
        self.share = 1 - left_out / len(results.base["base"])


def table(results, mutants, tool):
    """The figures of one tool, and its verdicts with a miss."""
    verdicts = [Verdict(results, mutant, tool) for mutant in mutants]
    rows = []
    for zone in ("body", "skeleton", "all"):
        part = [v for v in verdicts if zone in ("all", v.mutant.zone)]
        if not part:
            continue
        shares = [v.share for v in part]
        changing = [v for v in part if v.changed]
        missed = [v for v in changing if v.missed]
        rows.append([
            tool.name, zone, len(part),
            f"{statistics.mean(shares):.1%}", f"{statistics.median(shares):.1%}",
            len(changing), len(missed), sum(len(v.missed) == len(v.changed) for v in missed),
            f"{sum(len(v.missed) for v in missed)} of {sum(len(v.changed) for v in changing)}",
            sum(v.not_alone for v in changing),
        ])
    return rows, [v for v in verdicts if v.missed]


HEADINGS = ["tool", "zone", "mutants", "selected, mean", "median",
            "outcome-changing", "with a missed test", "with all missed", "tests missed", "not alone"]


def print_table(rows):
    print("| " + " | ".join(HEADINGS) + " |")
    print("|" + "---|" * len(HEADINGS))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")


def print_missed(tool, verdicts):
    for verdict in verdicts:
        mutant = verdict.mutant
        print(f"\n{tool} missed {len(verdict.missed)} of {len(verdict.changed)}: "
              f"{mutant.path}:{mutant.line} {mutant.zone}, {mutant.operator} ({mutant.id})")
        print(f"    {mutant.before!r} -> {mutant.text!r}")
        for test in verdict.missed[:3]:
            print(f"    {test}: {' -> '.join(verdict.effects[test])}")


def options_of_command_line():
    parser = arguments(__doc__)
    parser.add_argument("--project", default="click")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--skeleton-share", type=float, default=0.5)
    parser.add_argument("--tool", choices=[*TOOLS, "both"], default="tamis")
    parser.add_argument("--tamis", help="the binary (default: the newest build)")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--paths", help="what to mutate, a glob (default: the package)")
    parser.add_argument("--show", metavar="ID", help="print the patch of one mutant and end")
    return parser.parse_args()


def main():
    options = options_of_command_line()
    work, project = Work(options.work), find(options.project)
    repository = work.repository(project)
    work.git(repository, "checkout", "-q", f"v{project.base}")
    pattern = options.paths or f"{project.package}/**/*.py"
    paths = [str(path.relative_to(repository)) for path in repository.glob(pattern)]
    paths = [path for path in paths if options.paths or "/tests/" not in path]
    mutants = mutate.choose(repository, paths, options.count, options.seed, options.skeleton_share)
    if options.show:
        return show(repository, mutants, options.show)

    version = python_version(options.python, work)
    results = Results(work.folder / "results" / f"mutants-{project.name}-{project.base}-{version}.jsonl")
    names = ["tamis", "testmon"] if options.tool == "both" else [options.tool]
    tamis = find_tamis(options.tamis) if names != ["testmon"] else None
    tools = [TOOLS[name](work, project, options.python, tamis) for name in names]
    missing = [mutant for mutant in mutants if not results.is_complete(mutant, tools)]
    if missing:
        workers = [Worker(number, work, project, options.python, tools, results)
                   for number in range(options.jobs)]
        for worker in workers:
            set_base(results, worker.prepare())
        left = [len(missing)]

        def report(mutant):
            left[0] -= 1
            changed = len(results.truth[mutant.id]["changed"])
            print(f"{left[0]:4} left: {mutant.path}:{mutant.line} {mutant.operator}: {changed} changed",
                  flush=True)

        work_off(workers, missing, report)

    print(f"\n{project.name} {project.base}, CPython {version}: {len(results.base['base'])} tests, "
          f"{len(results.base['flaky'])} flaky and left out; seed {options.seed}\n")
    tables = {tool.name: table(results, mutants, tool) for tool in tools}
    print_table([row for rows, _ in tables.values() for row in rows])
    for name, (_, verdicts) in tables.items():
        print_missed(name, verdicts)
    print(f"\nAll answers: {results.path}")
    return 1 if any(verdicts for name, (_, verdicts) in tables.items() if name != "testmon") else 0


def show(repository, mutants, wanted):
    """Prints one mutant's patch for `git apply`."""
    for mutant in mutants:
        if mutant.id == wanted:
            source = (repository / mutant.path).read_bytes()
            before, after = (text.decode().splitlines(keepends=True)
                             for text in (source, mutant.apply(source)))
            names = (f"a/{mutant.path}", f"b/{mutant.path}")
            print("".join(difflib.unified_diff(before, after, *names)), end="")
            return 0
    raise Trouble(f"none of these mutants has the id {wanted}")


if __name__ == "__main__":
    finish(main)

#!/usr/bin/env python3
"""tamis, Ekstazi and STARTS on the same revisions of one Maven project, against
running everything.

    python3 benches/real/jvm.py run --clone DIR --until REV --count 20 --name codec \\
        --mvn=-Drat.skip
    python3 benches/real/jvm.py table --name codec
    python3 benches/real/jvm.py overhead --clone DIR --until REV --rounds 5 --name codec \\
        --mvn=-Drat.skip

`--clone` is a git clone of a project with JUnit 4 tests (Ekstazi knows no JUnit
5) that compiles on the JDK at hand. Each tool works in a clone of its own,
without `target/` before each measurement, and keeps its own data from revision
to revision; the first revision is where each records everything, and is not
counted. A line of JSON a revision and tool goes into WORK/NAME.jsonl; what is
there already is not measured again.

*missed*: a test (class and method) that the tool did not run, and that ended,
when everything ran, otherwise than when the tool last ran it.
*A+E+C*: one command that selects, runs and records. *A+E* (`--ae`): selecting
alone, then a plain run that leaves the same classes out. `overhead` runs all tests
of one revision plainly and under each collector, in turn, each without data of an
earlier run: what `record`, Ekstazi's and JaCoCo's first runs cost. Seconds are CPU
seconds, user and system, of all processes; walls are stored as well.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

from running import find_tamis, run

EKSTAZI = "org.ekstazi:ekstazi-maven-plugin:5.3.0"
STARTS = "edu.illinois:starts-maven-plugin:1.4"
TOOLS = ["all", "tamis", "ekstazi", "starts"]
STATE = [".tamis", ".ekstazi", ".starts"]
WORSE = ["passed", "skipped", "failed"]


def git(folder, *words):
    done = subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


class Measured:
    """One project's clones and its results so far."""

    def __init__(self, options):
        self.options = options
        self.work = options.work.resolve()
        self.file = self.work / f"{options.name}.jsonl"
        lines = self.file.read_text().splitlines() if self.file.exists() else []
        self.rows = [json.loads(line) for line in lines]

    def row(self, revision, tool):
        for row in self.rows:
            if (row["revision"], row["tool"]) == (revision, tool):
                return row
        return None

    def add(self, row):
        self.rows.append(row)
        with open(self.file, "a") as file:
            file.write(json.dumps(row, sort_keys=True) + "\n")

    def clone(self, tool):
        folder = self.work / f"{self.options.name}-{tool}"
        if not folder.exists():
            folder.parent.mkdir(parents=True, exist_ok=True)
            git(self.work, "clone", "--quiet", str(self.options.clone.resolve()), str(folder))
            exclude = folder / ".git/info/exclude"
            exclude.write_text("".join(f"{name}/\n" for name in [*STATE, "target"]))
        return folder

    def revisions(self):
        """The commits that change main or test sources, oldest first."""
        count = str(self.options.count + 1)
        found = git(self.options.clone, "log", "--first-parent", "--no-merges", "--format=%H",
                    "-n", count, self.options.until, "--", *self.options.sources)
        return found.split()[::-1]


def environment(tool):
    env = {key: value for key, value in os.environ.items() if key != "JAVA_TOOL_OPTIONS"}
    if tool in ("ekstazi", "starts"):
        # These tools load their agents into Maven's own JVM.
        env["JAVA_TOOL_OPTIONS"] = "-Djdk.attach.allowAttachSelf=true"
    return env


def outcomes(folder):
    """The outcomes in Surefire's reports: {class: {method: outcome}}."""
    found = {}
    for report in folder.glob("**/target/surefire-reports/TEST-*.xml"):
        suite = report.name[len("TEST-"):-len(".xml")]
        # A class without a test method still counts as one that ran.
        methods = found.setdefault(suite, {})
        for case in ET.parse(report).getroot().iter("testcase"):
            words = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
            word = "failed" if set(words) & {"failure", "error"} else (words or ["passed"])[0]
            # Cases with the same name are not distinguished.
            known = methods.get(case.get("name"), "passed")
            methods[case.get("name")] = max(known, word, key=WORSE.index)
    # Ekstazi leaves an empty class when it skips one.
    return {suite: methods for suite, methods in found.items() if methods}


def clear(folder):
    for target in folder.glob("**/target"):
        shutil.rmtree(target, ignore_errors=True)


def measured(argv, folder, tool, log):
    done = run(argv, folder, environment(tool), log)
    return {"status": done.status, "wall": round(done.wall, 2), "cpu": round(done.cpu, 2)}


def command(tool, options):
    mvn = ["mvn", "-B", "-Dmaven.test.failure.ignore=true", *options.mvn]
    return {
        "all": [*mvn, "test"],
        "tamis": [options.tamis, "run", "--", *mvn, "test"],
        # As tamis does by default: failed tests run again.
        "ekstazi": [*mvn, f"{EKSTAZI}:ekstazi", "-Dekstazi.forcefailing=true"],
        "starts": [*mvn, f"{STARTS}:starts"],
    }[tool]


def apart(measure, tool, folder, everything, log):
    """Selects only, then runs plainly without the tests to leave out."""
    options = measure.options
    mvn = ["mvn", "-B", "-Dmaven.test.failure.ignore=true", *options.mvn]
    clear(folder)
    if tool == "tamis":
        first = measured([options.tamis, "run", "--dry-run", "--", *mvn, "test"], folder, tool, log)
        runs = set(log.read_text(errors="replace").splitlines())
        left_out = set(everything) - {line.rsplit("/", 1)[-1] for line in runs}
    else:
        argv = [*mvn, "test-compile", f"{EKSTAZI}:predict", "-Dekstazi.forcefailing=true"]
        first = measured(argv, folder, tool, log)
        lines = log.read_text(errors="replace").splitlines()
        mark = "NonAffected:: "
        left_out = {line.split(mark, 1)[1].strip() for line in lines if mark in line}
        left_out = {name.removesuffix(".java").replace("/", ".") for name in left_out}
    if set(everything) <= left_out:
        return first
    excludes = log.with_suffix(".excludes")
    patterns = [name.replace(".", "/") + ".java\n" for name in sorted(left_out)]
    excludes.write_text("".join([*patterns, "**/*$*\n"]))
    second = measured([*mvn, "test", f"-Dsurefire.excludesFile={excludes}"], folder, "all", log)
    return {"status": second["status"], "wall": first["wall"] + second["wall"],
            "cpu": first["cpu"] + second["cpu"]}


def measure_all(options):
    measure = Measured(options)
    logs = measure.work / f"{options.name}-logs"
    for at, revision in enumerate(measure.revisions()):
        for tool in options.tools:
            if measure.row(revision, tool):
                continue
            folder = measure.clone(tool)
            git(folder, "checkout", "--quiet", "--force", revision)
            log = logs / f"{revision[:10]}-{tool}.log"
            row = {"revision": revision, "tool": tool, "at": at}
            base = measure.row(revision, "all")
            if options.ae and tool in ("tamis", "ekstazi") and at:
                row["ae"] = apart(measure, tool, folder, base["outcomes"], log.with_suffix(".ae"))
            clear(folder)
            row.update(measured(command(tool, options), folder, tool, log))
            row["outcomes"] = outcomes(folder)
            measure.add(row)
            methods = sum(map(len, row["outcomes"].values()))
            print(f"{at:2} {revision[:10]} {tool:8} classes {len(row['outcomes']):4} "
                  f"tests {methods:5} cpu {row['cpu']:7.1f} status {row['status']}", flush=True)


def flat(row):
    """{(class, method): outcome}. The number of a Java object in a name is removed, since it
    changes."""
    found = {}
    for suite, methods in row["outcomes"].items():
        for name, outcome in methods.items():
            test = (suite, re.sub(r"@[0-9a-f]+", "@", name))
            found[test] = max(found.get(test, "passed"), outcome, key=WORSE.index)
    return found


def missed(everything, own, flaky):
    """For each revision after the first: tests whose outcome the tool has missed."""
    last, found = {}, []
    for all_row, row in zip(everything, own):
        last.update(flat(row))
        truth = flat(all_row)
        found.append(sorted(test for test, outcome in truth.items()
                            if last.get(test) != outcome and test[1] not in flaky))
        last = {test: outcome for test, outcome in last.items() if test in truth}
    return found[1:]


def table(options):
    measure = Measured(options)
    of = {tool: sorted((row for row in measure.rows if row["tool"] == tool),
                       key=lambda row: row["at"]) for tool in options.tools}
    # Leave out tools that were not measured.
    of = {tool: rows for tool, rows in of.items() if rows}
    count = min(map(len, of.values()), default=0)
    if "all" not in of or count < 2:
        sys.exit(f"{measure.file} does not have two revisions yet of `all` and each other tool")
    # If nothing compiles, no tool can run or miss a test.
    is_built = [bool(row["outcomes"]) for row in of["all"][:count]]
    of = {tool: [row for row, built in zip(rows, is_built) if built] for tool, rows in of.items()}
    count = sum(is_built)
    everything = of["all"]
    classes = sum(len(row["outcomes"]) for row in everything[1:])
    tests = sum(len(flat(row)) for row in everything[1:])
    cpu = sum(row["cpu"] for row in everything[1:])
    print(f"{count - 1} revisions; all: {classes / (count - 1):.0f} classes, "
          f"{tests / (count - 1):.0f} tests, {cpu / (count - 1):.1f} s CPU each")
    print("| tool | classes | tests | missed | A+E+C | median | A+E |")
    print("|---|---|---|---|---|---|---|")
    for tool in [tool for tool in of if tool != "all"]:
        rows = of[tool]
        misses = missed(everything, rows, options.flaky)
        ran = sum(len(row["outcomes"]) for row in rows[1:])
        ran_tests = sum(len(flat(row)) for row in rows[1:])
        pairs = list(zip(rows[1:], everything[1:]))
        ratios = [row["cpu"] / whole["cpu"] for row, whole in pairs]
        apart_cpu = [row["ae"]["cpu"] / whole["cpu"] for row, whole in pairs if "ae" in row]
        ae = f"{statistics.mean(apart_cpu):.0%}" if apart_cpu else "-"
        print(f"| {tool} | {ran / classes:.1%} | {ran_tests / tests:.1%} | "
              f"{sum(map(len, misses))} | {statistics.mean(ratios):.0%} | "
              f"{statistics.median(ratios):.0%} | {ae} |")
        for row, tests_missed in zip(rows[1:], misses):
            if tests_missed:
                named = ", ".join(f"{suite} {name}" for suite, name in tests_missed[:3])
                print(f"  missed by {tool} at {row['revision'][:10]}: {len(tests_missed)}, as {named}",
                      file=sys.stderr)


def overhead(options):
    """For each collector, the median over the rounds of its CPU time divided by the plain
    run's."""
    measure = Measured(options)
    folder = measure.clone("overhead")
    git(folder, "checkout", "--quiet", "--force", options.until)
    mvn = ["mvn", "-B", "-Dmaven.test.failure.ignore=true", *options.mvn]
    jacoco = "org.jacoco:jacoco-maven-plugin:0.8.12:prepare-agent"
    commands = {
        "plain": [*mvn, "test"],
        "tamis": [options.tamis, "record", "--", *mvn, "test"],
        "ekstazi": command("ekstazi", options),
        "jacoco": [*mvn, jacoco, "test"],
    }
    cpu = {name: [] for name in commands}
    for turn in range(options.rounds + 1):
        for name, argv in commands.items():
            clear(folder)
            for state in STATE:
                shutil.rmtree(folder / state, ignore_errors=True)
            log = measure.work / f"{options.name}-logs" / f"overhead-{turn}-{name}.log"
            row = measured(argv, folder, name, log)
            tests = sum(map(len, outcomes(folder).values()))
            print(f"{turn} {name:8} tests {tests:5} cpu {row['cpu']:7.1f} status {row['status']}",
                  flush=True)
            # The first turn only fills Maven's repository.
            if turn:
                cpu[name].append(row["cpu"])
    for name, seconds in cpu.items():
        ratios = [one / plain for one, plain in zip(seconds, cpu["plain"])]
        print(f"| {name} | {statistics.median(seconds):.1f} s | "
              f"{statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f}) |")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "table", "overhead"])
    parser.add_argument("--name", required=True)
    parser.add_argument("--clone", type=Path)
    parser.add_argument("--until", default="HEAD")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sources", nargs="*", default=["*src/main/java*", "*src/test/java*"])
    parser.add_argument("--mvn", action="append", default=[], help="one more word for Maven")
    parser.add_argument("--tools", nargs="*", default=TOOLS)
    parser.add_argument("--flaky", action="append", default=[],
                        help="a test method whose outcome is chance: never counted as missed")
    parser.add_argument("--ae", action="store_true")
    parser.add_argument("--tamis", default=None)
    parser.add_argument("--work", type=Path, default=Path("target/real/jvm"))
    options = parser.parse_args()
    options.tamis = str(Path(options.tamis or find_tamis(None)).resolve()) \
        if options.what != "table" else None
    {"run": measure_all, "table": table, "overhead": overhead}[options.what](options)


if __name__ == "__main__":
    main()

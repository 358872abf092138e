#!/usr/bin/env python3
"""Seeded mutants of a Maven project: does tamis select every test class that fails?

    jvm_mutants.py PROJECT --tamis target/debug/tamis [--count 100] [--seed 1]
                   [--option=-Drat.skip ...] [--out results.json]

PROJECT is a clean clone of a project with one module and JUnit 5, beside which no
other work is done. All tests are recorded once, with Maven. Each mutant changes one
operator, number or condition of a file in src/main/java. It is compiled by javac,
then tamis says what it would run (`run --dry-run`, with a `mvn` that compiles
nothing more), and all test classes run in one JVM. One that fails and did not fail
before, and that is not selected, is missed.
"""

import argparse
import json
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RULES = [
    (r" < ", " <= "), (r" > ", " >= "), (r" <= ", " < "), (r" >= ", " > "),
    (r" == ", " != "), (r" != ", " == "), (r" && ", " || "), (r" \|\| ", " && "),
    (r" \+ ", " - "), (r" - ", " + "), (r"\+\+", "--"), (r"\btrue\b", "false"),
    (r"\bfalse\b", "true"), (r"\bif \((?!!)", "if (!("), (r"\breturn this\b", "return null"),
    (r"(?<![\w.'])0(?![\w.'])", "1"), (r"(?<![\w.'])1(?![\w.'])", "2"),
]

RUNNER = """
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import org.junit.platform.engine.*;
import org.junit.platform.launcher.*;
import org.junit.platform.launcher.core.*;
import java.util.*;
public class RunAll {
    public static void main(String[] words) throws Exception {
        // Not to standard output, which tests may close.
        var out = new java.io.PrintStream(words[0]);
        var classes = Arrays.asList(words).subList(1, words.length);
        var request = LauncherDiscoveryRequestBuilder.request();
        for (String name : classes) request.selectors(selectClass(name));
        var failed = new TreeSet<String>();
        LauncherFactory.create().execute(request.build(), new TestExecutionListener() {
            public void executionFinished(TestIdentifier id, TestExecutionResult result) {
                if (result.getStatus() == TestExecutionResult.Status.FAILED) {
                    var found = java.util.regex.Pattern.compile("class:([^\\\\]]+)").matcher(id.getUniqueId());
                    failed.add(found.find() ? found.group(1) : "?");
                }
            }
        });
        out.println("FAILED " + String.join(" ", failed));
        System.exit(0);
    }
}
"""


def run(words, cwd, timeout=600, check=True, env=None):
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=timeout, env=env)
    if check and done.returncode:
        sys.exit(f"{words}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done


def in_code(line):
    text = line.strip()
    return text and not text.startswith(("*", "/*", "//", "@", "import", "package"))


def mutants(sources, seed):
    """An endless sequence of (file, line number, new line)."""
    chance = random.Random(seed)
    lines = [(f, n, line) for f in sources for n, line in enumerate(f.read_text().splitlines()) if in_code(line)]
    while True:
        file, number, line = chance.choice(lines)
        places = []
        for rule, new in RULES:
            for found in re.finditer(rule, line):
                # Not in a string.
                if line[: found.start()].count('"') % 2 == 0:
                    places.append((found, new))
        if places:
            found, new = chance.choice(places)
            changed = line[: found.start()] + new + line[found.end():]
            if new == "if (!(" and changed.rstrip().endswith(") {"):
                changed = changed.rstrip()[:-3] + ")) {"
            yield file, number, changed


class Project:
    def __init__(self, args):
        self.root = Path(args.project).resolve()
        self.tamis = str(Path(args.tamis).resolve())
        self.words = ["test", *args.option]
        self.work = Path(tempfile.mkdtemp(prefix="jvm-mutants-"))
        cp = self.work / "cp"
        run(["mvn", "-q", "dependency:build-classpath", f"-Dmdep.outputFile={cp}", "-Dmdep.includeScope=test"], self.root)
        self.libraries = cp.read_text().strip()
        self.launcher(args)
        self.release = args.release
        idle = self.work / "mvn"
        idle.write_text("#!/bin/sh\nexit 0\n")
        idle.chmod(0o755)
        self.idle = str(idle)

    def launcher(self, args):
        """The runner, with the launcher of the JUnit Platform that Maven has fetched for Surefire."""
        jars = [str(jar) for jar in Path(args.repository).expanduser().glob("org/junit/platform/junit-platform-launcher/*/*.jar")]
        engine = re.search(r"junit-platform-engine-([\d.]+)\.jar", self.libraries)
        wanted = [jar for jar in jars if engine and jar.endswith(f"-{engine.group(1)}.jar")]
        if not wanted:
            sys.exit(f"no launcher for the engine of {self.root}: run `mvn test` there first")
        self.libraries += ":" + wanted[0]
        (self.work / "RunAll.java").write_text(RUNNER)
        run(["javac", "-cp", self.libraries, "-d", str(self.work), str(self.work / "RunAll.java")], self.root)

    def record(self):
        run([self.tamis, "record", "--", "mvn", *self.words], self.root, timeout=1800, check=False)
        print("recorded", flush=True)

    def compile(self, files):
        words = ["javac", "-g", "-nowarn", "-source", self.release, "-target", self.release, "-d", "target/classes", "-cp", f"target/classes:{self.libraries}", "-encoding", "UTF-8"]
        return run([*words, *map(str, files)], self.root, check=False).returncode == 0

    def selected(self):
        done = run([self.tamis, "run", "--dry-run", "--json", "--", self.idle, *self.words], self.root, check=False)
        document = json.loads(done.stdout)
        selected = {one["id"] for one in document["selected"]}
        return selected, selected | {one["id"] for one in document["excluded"]}

    def failing(self, classes):
        words = ["java", "-XX:TieredStopAtLevel=1", "-Duser.language=en", "-cp",
                 f"{self.work}:target/test-classes:target/classes:{self.libraries}", "RunAll", str(self.work / "failed"), *classes]
        (self.work / "failed").unlink(missing_ok=True)
        run(words, self.root, timeout=300, check=False)
        text = (self.work / "failed").read_text()
        return set(text.removeprefix("FAILED").split())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project")
    parser.add_argument("--tamis", required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--option", action="append", default=[])
    parser.add_argument("--repository", default="~/.m2/repository")
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--release", default="8", help="of Java, as the project is compiled for")
    parser.add_argument("--recorded", action="store_true", help="all tests are recorded already")
    parser.add_argument("--out")
    args = parser.parse_args()
    project = Project(args)
    if not args.recorded:
        project.record()
    sources = sorted((project.root / "src/main/java").rglob("*.java"))
    sources = [file for file in sources if file.name != "package-info.java"]
    assert project.compile(sources)
    # The classes that Surefire runs; it leaves out some of the compiled ones.
    always, tests = project.selected()
    before = project.failing(sorted(tests))
    print(f"{len(tests)} test classes; {len(before)} fail, and {len(always)} run, without any edit", flush=True)
    rows, start, seen = [], time.time(), set()
    for file, number, line in mutants(sources, args.seed):
        if len(rows) == args.count or time.time() - start > 60 * args.minutes:
            break
        if (file, number, line) in seen:
            continue
        seen.add((file, number, line))
        text = file.read_bytes().decode()
        lines = text.splitlines()
        lines[number] = line
        file.write_bytes(("\n".join(lines) + "\n").encode())
        try:
            if not project.compile(sources):
                continue
            selected, _ = project.selected()
            try:
                failed = project.failing(sorted(tests)) - before
                ended = "killed" if failed else "survived"
            except (subprocess.TimeoutExpired, FileNotFoundError):
                # It is unknown which of them would have failed.
                failed, ended = set(), "no end"
            missed = sorted(failed - selected)
            rows.append({"file": file.name, "line": number + 1, "new": line.strip(), "ended": ended,
                         "failed": len(failed), "selected": len(selected), "missed": missed})
            print(json.dumps(rows[-1]), flush=True)
        finally:
            file.write_bytes(text.encode())
    assert project.compile(sources)
    report = {
        "available": len(tests), "always": len(always), "mutants": len(rows),
        "killed": sum(row["ended"] == "killed" for row in rows),
        "no_end": sum(row["ended"] == "no end" for row in rows),
        "selected": {"mean": statistics.mean(row["selected"] for row in rows),
                     "median": statistics.median(row["selected"] for row in rows)},
        "failing": statistics.mean(row["failed"] for row in rows),
        "missed": sum(bool(row["missed"]) for row in rows),
    }
    print(json.dumps(report, indent=1))
    if args.out:
        Path(args.out).write_text(json.dumps({"report": report, "mutants": rows}, indent=1))
    sys.exit(1 if report["missed"] else 0)


if __name__ == "__main__":
    main()

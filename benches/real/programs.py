"""Random small programs, edited at random, against 'run everything'.

    python3 benches/real/programs.py --tamis target/release/tamis --programs 1000 --seed 1

Each program is a package of a few modules (imports, classes, registries,
state, reflection) with a test file whose tests compare the values of
expressions with what they were at first. Many programs share a repository, so
that pytest starts seldom. After each round of edits, one per program, every
test that does not pass any more must have been selected; then the selected
tests run, and the next round builds on what was carried over.

A test that fails only after other tests, which the edit makes leave something
behind, is counted as *not alone*: by itself it passes.

Prints a line per batch and the number of tests missed; exit status 1 if any.
"""

import argparse
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

from random_programs import TEST_HELPERS, TEST_IMPORT, Program


def write(root, program):
    package = root / program.package
    package.mkdir(exist_ok=True)
    for module in program.modules:
        (package / (module.name + ".py")).write_text(module.text())


def write_tests(root, program, expected):
    lines = list(program.test_head) + [TEST_IMPORT]
    for at, expression in enumerate(program.tests):
        lines.append("def test_%d():\n    assert attempt(lambda: %s) == %r" % (at, expression, expected[at]))
    (root / ("test_%s.py" % program.package)).write_text("\n".join(lines) + "\n")


def run(command, root, **keywords):
    return subprocess.run(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **keywords)


# The first value of each expression, in the order of the tests. A program is left out if its
# test file cannot be imported.
PROBE = """
import json, sys
sys.path.insert(0, ".")
answers = {}
for name, head, tests in json.load(open("programs.json")):
    space = {}
    try:
        exec("\\n".join(head) + "\\nfrom program_helpers import *", space)
    except Exception as error:
        answers[name] = None
        continue
    values = []
    for test in tests:
        exec("value = attempt(lambda: %s)" % test, space)
        values.append(space["value"])
    answers[name] = values
json.dump(answers, open("answers.json", "w"))
"""


def outcomes(root, python):
    """For each test id, whether it passes."""
    done = run([python, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", "--continue-on-collection-errors", "--tb=no"], root)
    passed = {line.split(" ", 1)[1].split(" - ")[0] for line in done.stdout.splitlines() if line.startswith("PASSED ")}
    return passed


def passes_alone(root, python, test):
    return run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", test], root).returncode == 0


def batch(arguments, seed, count):
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory) / "repo"
        root.mkdir()
        (root / "program_helpers.py").write_text(TEST_HELPERS)
        (root / ".gitignore").write_text("__pycache__/\n.tamis/\n*.json\n")
        programs = [Program(rng, number) for number in range(count)]
        for program in programs:
            write(root, program)
        (root / "programs.json").write_text(json.dumps([(p.package, p.test_head, p.tests) for p in programs]))
        probe = run([arguments.python, "-B", "-c", PROBE], root)
        if probe.returncode:
            sys.exit(probe.stdout)
        answers = json.loads((root / "answers.json").read_text())
        programs = [program for program in programs if answers[program.package] is not None]
        for program in programs:
            write_tests(root, program, answers[program.package])
        for step in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "base"]):
            run(["git", *step], root, check=True)
        command = [arguments.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--continue-on-collection-errors"]
        # Tests share state within their file. Those that now differ from the first answers are
        # not used.
        recorded = run([arguments.tamis, "record", "--", *command], root)
        before = outcomes(root, arguments.python)
        counts = {"tests": 0, "selected": 0, "changed": 0, "not alone": 0}
        missed = []
        for turn in range(arguments.rounds):
            for program in programs:
                program.edit()
                write(root, program)
            run([arguments.tamis, "select", "--out", "out.json.d"], root)
            selection = json.loads((root / "out.json.d/selection.json").read_text())
            after = outcomes(root, arguments.python)
            excluded = {one["id"] for one in selection["excluded"]}
            # Only a test that passed is ever left out.
            lost = sorted(excluded - after)
            beside = [test for test in lost if passes_alone(root, arguments.python, test)]
            counts["not alone"] += len(beside)
            lost = sorted(set(lost) - set(beside))
            missed += ["round %d: %s" % (turn + 1, test) for test in lost]
            if arguments.causes:
                print(causes(selection))
            if not excluded:
                print(recorded.stdout[-2000:])
            if lost and arguments.keep:
                folder = pathlib.Path(arguments.keep) / ("seed-%d-round-%d" % (seed, turn + 1))
                shutil.copytree(root, folder, dirs_exist_ok=True)
            counts["tests"] += len(excluded) + len(selection["selected"])
            counts["selected"] += len(selection["selected"])
            counts["changed"] += len(before - after)
            if turn + 1 < arguments.rounds:
                run([arguments.tamis, "run", "--", *command], root)
                before = after
        return len(programs), counts, missed


def causes(selection):
    """How often each kind of unit selected a test."""
    kinds = {}
    for one in selection["selected"]:
        unit = one["reason"].get("unit")
        key = unit["kind"] if isinstance(unit, dict) else str(unit or one["reason"]["kind"]).split(" ")[0]
        kinds[key] = kinds.get(key, 0) + 1
    return kinds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tamis", required=True, type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has pytest")
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2, help="edits of each program, one after the other")
    parser.add_argument("--causes", action="store_true", help="print what selected the tests")
    parser.add_argument("--keep", help="a folder for the repositories of batches with misses")
    arguments = parser.parse_args()
    done = edits = tests = selected = changed = beside = 0
    misses = []
    seed = arguments.seed * 1_000_000
    while done < arguments.programs:
        result = batch(arguments, seed, arguments.batch)
        programs, counts, missed = result
        done, edits = done + programs, edits + programs * arguments.rounds
        tests, selected = tests + counts["tests"], selected + counts["selected"]
        changed += counts["changed"]
        beside += counts["not alone"]
        misses += ["seed %d: %s" % (seed, test) for test in missed]
        print("%d programs, %d edits, %d tests, %.1f %% selected, %d outcomes changed, %d missed, %d not alone"
              % (done, edits, tests, 100 * selected / max(tests, 1), changed, len(misses), beside), flush=True)
        for miss in missed[:5]:
            print("  missed", miss)
        seed += 1
    sys.exit(1 if misses else 0)


if __name__ == "__main__":
    main()

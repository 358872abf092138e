#!/usr/bin/env python3
"""Do rows depend on how busy the machine is? Records one revision again and again, every
second time beside busy loops, and compares all rows with those of the first recording.

    python3 benches/real/weather.py --project click [--rounds 4] [--busy 2]

The status is 1 if a row differs.
"""

import collections
import contextlib
import json
import os
import shutil
import subprocess
import sys

from projects import Work, arguments, find, python_version
from running import Trouble, find_tamis, finish, must, run


@contextlib.contextmanager
def busy(count):
    """Loops beside the recording, with a higher priority where the system allows it."""
    priority = -5 if os.geteuid() == 0 else 0
    loop = [sys.executable, "-c", f"import os\nos.nice({priority})\nwhile True: pass"]
    loops = [subprocess.Popen(loop) for _ in range(count)]
    try:
        yield
    finally:
        for one in loops:
            one.kill()
            one.wait()


def record(tamis, python, tree, env, args, log):
    """Records `tree` without any earlier result; returns the wall time."""
    if (tree / ".tamis").exists():
        shutil.rmtree(tree / ".tamis")
    done = run([tamis, "record", "--", python, "-m", "pytest", "-q", *args], tree, env, log)
    if done.status not in (0, 1):
        raise Trouble(f"`tamis record` ended with {done.status}, see {log}")
    return done.wall


def rows(tamis, tree, env, log, every):
    """Rows of the only matrix: `{test: (outcome, incomplete, units)}`."""
    def ask(*args):
        must(["sh", "-c", '"$0" "$@" 2>&-', tamis, "store", *args, "--json"], tree, env, log)
        return json.loads(log.read_text())

    [matrix] = (tree / ".tamis" / "store").glob("*.tamis")
    found = {}
    for test in sorted(row["test"] for row in ask("show", matrix.stem)["rows"])[::every]:
        [row] = ask("show", matrix.stem, "--test", test)["rows"]
        units = frozenset(tuple(sorted(unit.items())) for unit in row["units"])
        found[row["test"]] = row["outcome"], row["incomplete"], units
    return found


def compare(first, later):
    """The tests of both with different rows, and in how many rows each unit differs."""
    both = first.keys() & later.keys()
    different = [test for test in both if first[test] != later[test]]
    units = collections.Counter(
        unit for test in different for unit in first[test][2] ^ later[test][2]
    )
    return sorted(different), units, len(first.keys() ^ later.keys())


def main():
    parser = arguments(__doc__)
    parser.add_argument("--project", required=True)
    parser.add_argument("--rounds", type=int, default=4, help="recordings (4)")
    parser.add_argument("--busy", type=int, default=2, help="busy loops (2)")
    parser.add_argument("--every", type=int, default=1, help="compare every n-th test only (1)")
    parser.add_argument("--tamis", help="the binary (default: the newest build)")
    options = parser.parse_args()
    work, project = Work(options.work), find(options.project)
    tamis, python = find_tamis(options.tamis), work.venv(project, options.python, "plain")
    tree = work.tree(project, "weather", project.base)
    with open(tree / ".git" / "info" / "exclude", "a") as exclude:
        exclude.write("/.tamis/\n")
    env = work.env(project, tree, python, TAMIS_PYTHON=python, PYTHONDONTWRITEBYTECODE=1)
    # Sets of texts have another order in each process.
    del env["PYTHONHASHSEED"]
    print(f"{project.name} {project.base}, CPython {python_version(python, work)}")
    log, first, status = work.logs / f"weather-{project.name}.log", None, 0
    for number in range(options.rounds):
        loops = options.busy if number % 2 else 0
        with busy(loops):
            seconds = record(tamis, python, tree, env, project.args, log)
        found = rows(tamis, tree, env, log, options.every)
        told = f"{loops} loops beside it, {seconds:.1f} s: {len(found)} rows"
        if first is None:
            first = found
            print(told)
            continue
        different, units, other = compare(first, found)
        status |= bool(different)
        print(f"{told}, {len(different)} differ; {other} tests are in one recording only")
        for unit, count in units.most_common(5):
            print(f"    {count} rows: {dict(unit)}")
        for test in different[:3]:
            print(f"    {test}")
    return status


if __name__ == "__main__":
    finish(main)

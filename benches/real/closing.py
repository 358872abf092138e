#!/usr/bin/env python3
"""How long `record` takes to close rows: 2,000 tests, each of which needs 100
modules (and uses some of them), recorded once; then `cargo bench --bench
closing` on the traces.

    python3 benches/real/closing.py
"""

import random
import shutil
from pathlib import Path

from projects import Work, arguments
from running import find_tamis, finish, must
from select_speed import commit, synthetic_venv, work_env

MODULES, FUNCTIONS, TEST_FILES, TESTS_A_FILE = 100, 20, 100, 20
TOP = Path(__file__).resolve().parents[2]


def module_text(number, rng):
    """A module of functions and classes that uses those of earlier modules."""
    near = sorted(rng.sample(range(number), min(number, 3)))
    lines = [f"from pack import mod{other:02}" for other in near]
    if number:
        # All of them are in every closure.
        lines.append(f"from pack.mod{number - 1:02} import work0 as last")
    lines += ["", f"LIMIT = {number}", "", "", "class Base:", f"    size = LIMIT + {number}"]
    for function in range(FUNCTIONS):
        calls = [f"mod{other:02}.work{rng.randrange(FUNCTIONS)}(depth - 2)" for other in near]
        total = " + ".join([f"Base.size * {function}", *calls])
        lines += ["", "", f"def work{function}(depth, limit=LIMIT):",
                  f"    return 0 if depth <= 0 else {total}"]
    return "\n".join(lines) + "\n"


def test_text(rng):
    used = sorted(rng.sample(range(MODULES), 4)) + [MODULES - 1]
    lines = [f"from pack import mod{number:02}" for number in dict.fromkeys(used)]
    for test in range(TESTS_A_FILE):
        number, function = rng.choice(used), rng.randrange(FUNCTIONS)
        lines += ["", "", f"def test_{test}():", f"    assert mod{number:02}.work{function}(5) >= 0"]
    return "\n".join(lines) + "\n"


def make(work):
    tree = work.folder / "repositories" / "closing"
    if tree.exists():
        shutil.rmtree(tree)
    (tree / "pack").mkdir(parents=True)
    (tree / "tests").mkdir()
    work.git(tree, "init", "-q", "-b", "main")
    (tree / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    (tree / ".gitignore").write_text("__pycache__/\n.pytest_cache/\n.tamis/\n")
    (tree / "pack" / "__init__.py").write_text("")
    for number in range(MODULES):
        text = module_text(number, random.Random(number))
        (tree / "pack" / f"mod{number:02}.py").write_text(text)
    for number in range(TEST_FILES):
        text = test_text(random.Random(-1 - number))
        (tree / "tests" / f"test_{number:02}.py").write_text(text)
    commit(work, tree, "before")
    return tree


def main():
    parser = arguments(__doc__)
    parser.add_argument("--tamis", help="the binary (default: the newest build)")
    options = parser.parse_args()
    work = Work(options.work)
    tree = make(work)
    python = synthetic_venv(work, options.python)
    scratch = work.folder / "out" / "closing"
    if scratch.exists():
        shutil.rmtree(scratch)
    scratch.mkdir(parents=True)
    # TAMIS_DEBUG keeps the traces.
    env = {**work_env(work, python), "TMPDIR": str(scratch), "TAMIS_DEBUG": "1"}
    record = [find_tamis(options.tamis), "record", "--", python, "-m", "pytest", "-q"]
    must(record, tree, env, work.logs / "closing-record.log")
    traces = next(scratch.glob("tamis-*/traces"))
    log = work.logs / "closing-bench.log"
    must(["cargo", "bench", "--bench", "closing", "--", tree, traces], TOP, None, log)
    print(log.read_text(), end="")
    return 0


if __name__ == "__main__":
    finish(main)

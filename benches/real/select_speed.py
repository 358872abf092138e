#!/usr/bin/env python3
"""How long selecting takes on a synthetic repository: 10,000 tests in 1,000
files over 4,000 modules, recorded by `tamis record` once.

    python3 benches/real/select_speed.py [--rounds 15] [--edits 20]

Compared in one run, interleaved:
- `tamis select` for a commit that edits some functions, with
  `git diff --raw BASE HEAD` of the same two commits;
- `tamis run` where nothing changed, with `python -c pass` and `git status`.
"""

import random
import shutil
import statistics

from projects import Work, arguments, python_version
from running import environment, find_tamis, finish, must

MODULES, PACKAGES, LAYER = 4000, 40, 400
TEST_FILES, TESTS_A_FILE = 1000, 10
FUNCTIONS = 5
# Increase this when the generated code changes.
LAYOUT = 1


def module_path(number):
    return f"src/pack{number % PACKAGES:02}/mod{number:04}.py"


def module_name(number):
    return f"pack{number % PACKAGES:02}.mod{number:04}"


def module_text(number, rng, edited=()):
    """A module that uses up to two modules of the layer below its own."""
    below = max(0, number - LAYER)
    near = range(max(0, below - 25), min(below + 25, (number // LAYER) * LAYER))
    uses = sorted({rng.choice(near) for _ in range(2)}) if near else []
    lines = [f"from {module_name(other)} import work0 as other{other}" for other in uses]
    lines += ["", "", f"LIMIT = {number}"]
    for function in range(FUNCTIONS):
        calls = [f"other{other}(depth - 1)" for other in uses] if function < 2 else []
        total = " + ".join([str(function), *calls])
        # An edit changes the text of the function, but not its result.
        edit = ["    depth = int(depth)"] if function in edited else []
        lines += ["", "", f"def work{function}(depth):", *edit,
                  f"    return 0 if depth <= 0 else {total}"]
    return "\n".join(lines) + "\n"


def test_text(rng):
    used = sorted(rng.sample(range(MODULES), 4))
    lines = [f"import {module_name(number)} as m{number}" for number in used]
    for test in range(TESTS_A_FILE):
        number, function = rng.choice(used), rng.randrange(FUNCTIONS)
        lines += ["", "", f"def test_{test}():", f"    assert m{number}.work{function}(4) >= 0"]
    return "\n".join(lines) + "\n"


def make(work, edits):
    """The repository: tag `before`, and its child `after` with `edits` edited functions."""
    tree = work.folder / "repositories" / "synthetic"
    mark = tree / ".git" / "complete"
    made = f"layout {LAYOUT}, {edits} edits"
    if mark.exists() and mark.read_text() == made:
        return tree
    if tree.exists():
        shutil.rmtree(tree)
    tree.mkdir(parents=True)
    work.git(tree, "init", "-q", "-b", "main")
    (tree / "conftest.py").write_text(
        "import os\nimport sys\n\n"
        "sys.path.insert(0, os.path.join(os.path.dirname(__file__), 'src'))\n"
    )
    (tree / ".gitignore").write_text("__pycache__/\n.pytest_cache/\n.tamis/\n")
    for package in range(PACKAGES):
        folder = tree / "src" / f"pack{package:02}"
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text("")
    for number in range(MODULES):
        (tree / module_path(number)).write_text(module_text(number, random.Random(number)))
    (tree / "tests").mkdir()
    for number in range(TEST_FILES):
        text = test_text(random.Random(-1 - number))
        (tree / "tests" / f"test_{number:04}.py").write_text(text)
    commit(work, tree, "before")
    for number in random.Random(0).sample(range(MODULES), edits):
        text = module_text(number, random.Random(number), edited=[number % FUNCTIONS])
        (tree / module_path(number)).write_text(text)
    commit(work, tree, "after")
    mark.write_text(made)
    return tree


def commit(work, tree, tag):
    work.git(tree, "add", "-A", ".")
    work.git(tree, "commit", "-q", "-m", tag)
    work.git(tree, "tag", tag)


def interleaved(work, tree, env, commands, rounds):
    """The times of each round of each command; the first does not count."""
    times = {name: [] for name in commands}
    for number in range(-1, rounds):
        for name, argv in commands.items():
            done = must(argv, tree, env, work.logs / f"select-{name.split()[0]}.log")
            if number >= 0:
                times[name].append(done)
    return times


def print_times(times):
    print("| command | median ms | smallest-largest | CPU ms |\n|---|---|---|---|")
    for name, runs in times.items():
        seconds = [done.wall for done in runs]
        low, middle, high = (1000 * f(seconds) for f in (min, statistics.median, max))
        cpu = 1000 * statistics.median(done.cpu for done in runs)
        print(f"| {name} | {middle:.0f} | {low:.0f}-{high:.0f} | {cpu:.0f} |")
    print()


def print_ratio(times, name, to, what):
    pairs = zip(times[name], times[to])
    ratios = [getattr(one, what) / getattr(other, what) for one, other in pairs]
    print(f"{name} takes {statistics.median(ratios):.2f} times the {what} time of {to} "
          f"({min(ratios):.2f}-{max(ratios):.2f})")


def main():
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--edits", type=int, default=20, help="functions edited in the later commit")
    parser.add_argument("--tamis", help="the binary (default: the newest build)")
    parser.add_argument("--make-only", action="store_true", help="make the repository, time git alone")
    options = parser.parse_args()
    work = Work(options.work)
    tree = make(work, options.edits)
    diff = {"git diff --raw BASE HEAD": ["git", "diff", "--raw", "before", "after"]}
    if options.make_only:
        print_times(interleaved(work, tree, work_env(work), diff, options.rounds))
        return 0

    tamis = find_tamis(options.tamis)
    python = synthetic_venv(work, options.python)
    env = work_env(work, python)
    if (tree / ".tamis").exists():
        shutil.rmtree(tree / ".tamis")
    work.git(tree, "checkout", "-q", "before")
    record = [tamis, "record", "--", python, "-m", "pytest", "-q"]
    done = must(record, tree, env, work.logs / "select-record.log")
    print(f"CPython {python_version(python, work)}; recording the base took {done.wall:.0f} s\n")

    nothing = {
        "tamis run, no change": [tamis, "run"],
        "python -c pass; git status": ["sh", "-c", '"$0" -c pass; git status', python],
    }
    print_times(interleaved(work, tree, env, nothing, options.rounds))
    work.git(tree, "checkout", "-q", "after")
    commands = {
        "tamis select": [tamis, "select"],
        "tamis select --out DIR": [tamis, "select", "--out", work.folder / "out" / "select"],
        "tamis select --head HEAD": [tamis, "select", "--head", "HEAD"],
        **diff,
        "git status": ["git", "status"],
    }
    times = interleaved(work, tree, env, commands, options.rounds)
    print_times(times)
    for name in ("tamis select", "tamis select --head HEAD", "git status"):
        for what in ("wall", "cpu"):
            print_ratio(times, name, "git diff --raw BASE HEAD", what)
    return 0


def work_env(work, python=None):
    return environment(work.home, python, **({"TAMIS_PYTHON": python} if python else {}))


def synthetic_venv(work, interpreter):
    """The Python of a virtual environment with pytest alone."""
    version = python_version(interpreter, work)
    path = work.folder / "venvs" / f"synthetic-{version}"
    python = path / "bin" / "python"
    if not (path / "complete").exists():
        env, log = work_env(work), work.logs / "venv-synthetic.log"
        must([interpreter, "-m", "venv", "--clear", path], work.folder, env, log)
        must([python, "-m", "pip", "install", "-q", "pytest"], work.folder, env, log)
        (path / "complete").write_text("")
    return python


if __name__ == "__main__":
    finish(main)

#!/usr/bin/env python3
"""What recording costs: whole-run CPU and wall time beside plain pytest.

    python3 benches/real/overhead.py --project click --rounds 7 [--without tamis,...]

A round runs every variant once, in an order that rotates from round to round.
A ratio compares a variant with the plain run of the same round; told are the
median and the smallest and largest ratio. CPU time is user and system time of
the whole process tree.
"""

import shutil
import statistics

from projects import Work, arguments, find, python_version
from running import Trouble, find_tamis, finish, run


class Variant:
    """One way to run the suite. `forget` removes what an earlier run left."""

    def __init__(self, argv, python, extra=None, data=()):
        self.argv = argv
        self.python = python
        self.extra = extra or {}
        self.data = data

    def forget(self, tree):
        for pattern in self.data:
            for path in tree.glob(pattern):
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink()


def variants(work, project, interpreter, tamis):
    plain = work.venv(project, interpreter, "plain")
    peers = work.venv(project, interpreter, "peers")

    def pytest(python, *args):
        return [python, "-m", "pytest", "-q", *args, *project.args]

    record = [tamis, "record", "--", *pytest(plain)]
    store = [".tamis"]
    # Line coverage, whatever the project's own settings are.
    settings = work.home / "coverage.ini"
    settings.write_text("[run]\n")
    coverage = pytest(
        peers, f"--cov={project.package}", "--cov-context=test", "--cov-report=",
        f"--cov-config={settings}",
    )
    return {
        "plain": Variant(pytest(plain), plain),
        "tamis": Variant(record, plain, {"TAMIS_PYTHON": plain}, store),
        "tamis-python": Variant(
            record, plain, {"TAMIS_PYTHON": plain, "TAMIS_COLLECTOR": "pure"}, store
        ),
        "testmon": Variant(pytest(peers, "--testmon"), peers, data=[".testmondata*"]),
        "coverage": Variant(coverage, peers, data=[".coverage*"]),
    }


TEXT = {
    "plain": "`pytest`",
    "tamis": "`tamis record -- pytest`",
    "tamis-python": "the same, collector in Python",
    "testmon": "`pytest --testmon`, new data",
    "coverage": "`pytest --cov --cov-context=test`",
}


def measure(work, project, tree, chosen, rounds):
    """`{variant: [Done, ...]}`, one for each round."""
    times = {name: [] for name in chosen}
    names = list(chosen)
    for number in range(-1, rounds):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            variant = chosen[name]
            variant.forget(tree)
            env = work.env(project, tree, variant.python, **variant.extra)
            log = work.logs / f"overhead-{project.name}-{name}.log"
            done = run(variant.argv, tree, env, log)
            if done.status not in (0, 1):
                raise Trouble(f"{name} ended with {done.status}, see {log}")
            if number >= 0:  # the round before the first fills the caches
                times[name].append(done)
    return times


def ratio(times, name, what):
    ratios = [
        getattr(done, what) / getattr(plain, what)
        for done, plain in zip(times[name], times["plain"])
    ]
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"


def main():
    parser = arguments(__doc__)
    parser.add_argument("--project", default="click")
    parser.add_argument("--release", help="default: the project's base")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--without", default="", help="variants to leave out, with commas")
    parser.add_argument("--tamis", help="the binary (default: the newest build)")
    options = parser.parse_args()
    work, project = Work(options.work), find(options.project)
    without = set(filter(None, options.without.split(",")))
    needs_tamis = not {"tamis", "tamis-python"} <= without
    tamis = find_tamis(options.tamis) if needs_tamis else None
    chosen = variants(work, project, options.python, tamis)
    unknown = without - set(chosen)
    if unknown or "plain" in without:
        raise Trouble(f"--without takes {', '.join(name for name in chosen if name != 'plain')}")
    chosen = {name: variant for name, variant in chosen.items() if name not in without}
    release = options.release or project.base
    tree = work.tree(project, "overhead", release)
    with open(tree / ".git" / "info" / "exclude", "a") as exclude:
        exclude.write("/.tamis/\n")
    times = measure(work, project, tree, chosen, options.rounds)

    version = python_version(options.python, work)
    print(f"{project.name} {release}, CPython {version}, {options.rounds} rounds\n")
    print("| run | CPU s | wall s | CPU ratio | wall ratio |\n|---|---|---|---|---|")
    for name, runs in times.items():
        cpu, wall = (statistics.median(getattr(d, what) for d in runs) for what in ("cpu", "wall"))
        ratios = " | ".join(ratio(times, name, what) for what in ("cpu", "wall"))
        print(f"| {TEXT[name]} | {cpu:.2f} | {wall:.2f} | {ratios} |")
    return 0


if __name__ == "__main__":
    finish(main)

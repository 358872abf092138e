#!/usr/bin/env python3
"""Mutants of a project that uses vitest: does tamis select each test file that kills one?

    python3 benches/real/node_mutants.py --tree PATH --count 100 --tamis BIN --sources src/utils \\
        -- --coverage.enabled=false src/utils

`--tree` is a work tree with its packages installed; its changes are thrown away. tamis records all
once. Then one operator, word or number of a source below `--sources` is another one, tamis selects,
and vitest runs everything. Missed: a test file that ends in another way than without the mutant,
and was not selected. `--seed` chooses other mutants.
"""

import argparse
import os
import random
import re
import statistics
import sys
from pathlib import Path

from node import sh, vitest

CHANGES = [
    (r"===", "!=="),
    (r"!==", "==="),
    (r" && ", " || "),
    (r" \|\| ", " && "),
    (r" \+ ", " - "),
    (r" < ", " <= "),
    (r" > ", " >= "),
    (r"\btrue\b", "false"),
    (r"\bfalse\b", "true"),
    (r"\b0\b", "1"),
    (r"\b1\b", "2"),
    (r"return ", "return undefined && "),
    (r"if \(", "if (!"),
]


def places(text):
    """Where a text can be mutated: start, end, what stands there then."""
    found = []
    for pattern, other in CHANGES:
        for match in re.finditer(pattern, text):
            line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()].lstrip()
            if not line.startswith(("//", "*", "/*", "import ", "export type", "type ")):
                found.append((match.start(), match.end(), other))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("--tamis", type=Path, required=True)
    parser.add_argument("--sources", default="src")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    tree, tamis = options.tree.resolve(), options.tamis.resolve()
    env = {**os.environ, "HOME": str(tree.parent), "CI": "1"}
    command = ["--", "node_modules/.bin/vitest", "run", *options.words]
    sh(tree, "git", "checkout", "-q", "--force", "HEAD")
    sh(tree, "rm", "-rf", ".tamis")
    print(sh(tree, tamis, "run", *command, env=env, check=False).stdout.splitlines()[-1], flush=True)
    told = tree.parent / "mutant.json"
    before, _ = vitest(tree, env, told, options.words)
    files = sh(tree, "git", "ls-files", options.sources).stdout.split()
    sources = [one for one in files if re.search(r"\.[cm]?[jt]sx?$", one) and not re.search(r"test|spec", one)]
    chance = random.Random(options.seed)
    killed, missed, shares = 0, [], []
    while len(shares) < options.count:
        source = tree / chance.choice(sources)
        text = source.read_text()
        if not (found := places(text)):
            continue
        start, end, other = chance.choice(found)
        source.write_text(text[:start] + other + text[end:])
        out = tree.parent / "mutant"
        sh(tree, tamis, "select", "--out", out, *command, env=env)
        selected = set((out / "test-files.txt").read_text().split("\n"))
        after, _ = vitest(tree, env, told, options.words)
        source.write_text(text)
        dead = [test for test in before if before[test] != after.get(test)]
        lost = [test for test in dead if test not in selected]
        killed += bool(dead)
        missed += lost
        shares.append(len(selected & set(before)) / len(before))
        name = source.relative_to(tree)
        print(f"{len(shares)}: {name} {text[start:end]!r}: {len(dead)} of {len(before)} ended otherwise, missed {lost}", flush=True)
    print(
        f"{len(shares)} mutants, {killed} killed; {100 * statistics.mean(shares):.1f} % of test files selected "
        f"(median {100 * statistics.median(shares):.1f}); {len(missed)} missed"
    )
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()

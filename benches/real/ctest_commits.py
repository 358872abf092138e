#!/usr/bin/env python3
"""What real commits of a CMake project select.

    python3 benches/real/ctest_commits.py --repository PATH --count 15 --work FOLDER --tamis BIN \\
        [--touching src include tests] -- -DCMAKE_BUILD_TYPE=Release -- -E slow

As `cargo_commits.py`, with `ctest`, words for CMake and words for `ctest`. Both are measured after the build. The peer is
`ctest`, which leaves nothing out.
"""

import re

from visited import options, visit

TEST = re.compile(r"^ *\d+/\d+ Test +#\d+: (.*?) \.* *(?:\*\*\*)? *(Passed|Failed|Skipped|Timeout|Exception|Not Run)")


def outcomes(said):
    """How each test ended, by name."""
    found = (TEST.match(line) for line in said.splitlines())
    return {test[1]: test[2] for test in found if test}


if __name__ == "__main__":
    given = options(__doc__)
    words = given.words + ["--"]
    for_cmake, for_ctest = words[: words.index("--")], words[words.index("--") + 1 : -1]
    build = "cmake -S . -B build " + " ".join(for_cmake) + " && cmake --build build --parallel 2"
    visit(given, ["build/"], ["sh", "-c", build], ["ctest", "--test-dir", "build", *for_ctest], outcomes)

#!/usr/bin/env python3
"""What real commits of a Rust project select.

    python3 benches/real/cargo_commits.py --repository PATH --count 15 --work FOLDER --tamis BIN \\
        [--touching src] -- --workspace

The newest commits whose difference to their first parent touches `--touching` are visited, the
oldest first, in one work tree. At each one `cargo test --no-fail-fast` runs everything, and tamis
runs what it selects with what it knows from before; what comes first alternates, and everything is
built before. Missed: a test that did not run, and that ended in another way than at the commit
before. Behind `--` stand words for Cargo. Processor time is that of the whole command. The peers
`cargo test` and `cargo nextest` leave nothing out.
"""

import re

from visited import options, visit

RUNNING = re.compile(r"^\s+Running .*\(\S*/(\S+)-[0-9a-f]{16}\)$")
DOC = re.compile(r"^\s+Doc-tests (\S+)$")
TEST = re.compile(r"^test (.*?)(?: - should panic)? \.\.\. (ok|FAILED|ignored.*)$")


def outcomes(said):
    """How each test ended, by binary and name; those of a package's documentation are one."""
    ended, binary, is_doc = {}, None, False
    for line in said.splitlines():
        if found := RUNNING.match(line):
            binary, is_doc = found[1], False
        elif found := DOC.match(line):
            binary, is_doc = found[1], True
            ended[binary, "(doc)"] = "ok"
        elif (found := TEST.match(line)) and not found[2].startswith("ignored"):
            if not is_doc:
                ended[binary, found[1]] = found[2]
            elif found[2] == "FAILED":
                ended[binary, "(doc)"] = "FAILED"
    return ended


def key(test):
    """The binary and the name of a test that tamis names."""
    binary, name = test.split(" ", 1) if " " in test else (test, "")
    last = binary.split("::")[-1].split("/")[-1]
    return last.replace("-", "_"), name


if __name__ == "__main__":
    given = options(__doc__)
    test = ["cargo", "test", *given.words]
    visit(given, ["target/", "Cargo.lock"], [*test, "--no-run"], [*test, "--no-fail-fast"], outcomes, key)

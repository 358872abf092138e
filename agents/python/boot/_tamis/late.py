"""Tells which excluded tests must run after all.

The selection may be made where the test environment is missing. Units that only this process
can check (variables, installed packages, the interpreter, files outside the repository) are
compared here, once, with those of the selection. A test with a difference is admitted
again.
"""

import os

from . import dists, envvars, fingerprint

VERSION = 1

# The name of the unit of kind `runtime` for the start of the interpreter.
START_UP = "start-up"


class Unreadable(Exception):
    """The file with the excluded tests cannot be used."""


class Exclusion:
    """The tests to leave out, from the file of `tamis select`."""

    def __init__(self, path):
        import json

        try:
            with open(path, encoding="utf-8") as text:
                content = json.load(text)
        except (OSError, ValueError) as error:
            raise Unreadable("%s: %s" % (path, error))
        version = content.get("version") if isinstance(content, dict) else None
        if version != VERSION:
            raise Unreadable("%s has version %r, this agent reads %d" % (path, version, VERSION))
        try:
            late = content.get("late") or {}
            self.tests = frozenset(content["exclude"])
            self.units = [(kind, name, value) for kind, name, value in late.get("units", ())]
            self.needs = {test: list(units) for test, units in late.get("tests", {}).items()}
            for needed in self.needs.values():
                for at in needed:
                    self.units[at]
            # For `workers`, and whether there may be any.
            self.together = [list(group) for group in content.get("together", ())]
            self.one_process = bool(content.get("one_process"))
            # For `confirm`, which reads it.
            self.plan = content.get("confirm")
            # For `anew`, which reads it, too.
            self.anew = content.get("anew")
            self.shard = Shard(content["shard"]) if content.get("shard") else None
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise Unreadable("%s is not as expected: %r" % (path, error))
        self.changed = frozenset()

    def check(self, current):
        """Compare every late unit; `current` is a function of kind and name."""
        self.changed = frozenset(
            at
            for at, (kind, name, value) in enumerate(self.units)
            if current(kind, name) != value
        )

    def known(self):
        """The tests that it tells of."""
        return self.tests.union(self.plan["tests"] if self.plan else ())

    def is_left_out(self, test):
        if test in self.tests:
            return self.changed.isdisjoint(self.needs.get(test, ()))
        return self.shard is not None and not self.shard.has(test)

    def reason(self, test):
        """The changed units of a test that is admitted again."""
        for at in self.needs.get(test, ()):
            if at in self.changed:
                kind, name, _ = self.units[at]
                return "%s %s changed" % (kind, name) if name else "%s changed" % kind
        return ""


class Shard:
    """This machine's part of the unlisted tests. Known files stay with their tests; each shard
    takes a share of the others."""

    def __init__(self, content):
        self.index = int(content["index"])
        self.of = int(content["of"])
        self.files = dict(content["files"])
        # Tests of other shards that tests of this one need before them.
        self.guests = frozenset(content.get("guests", ()))
        if not 1 <= self.index <= self.of:
            raise ValueError("shard %d of %d" % (self.index, self.of))

    def has(self, test):
        import zlib

        if test in self.guests:
            return True
        path = test.split("::", 1)[0]
        home = self.files.get(path)
        if home is None:
            home = zlib.crc32(path.encode("utf-8", "surrogatepass")) % self.of + 1
        return home == self.index


def current_value(kind, name, environment, arguments=None, distributions=None):
    """The present fingerprint of a late unit; `None` if it is missing.

    `arguments` are the runner's options that can change outcomes, `environment` maps text to
    text.
    """
    if kind == "env":
        return envvars.fingerprint_of(name, environment)
    if kind == "runtime":
        return fingerprint.start_up() if name == START_UP else fingerprint.runtime()[0]
    if kind == "dist":
        return (distributions or dists.Distributions()).by_name(name)
    if kind == "config":
        if arguments is None:
            return None
        text = "".join(argument + "\n" for argument in arguments)
        return fingerprint.of_bytes(text.encode("utf-8", "surrogateescape"))
    if kind == "exists":
        return existing(name)
    if kind == "dir":
        return directory(name)
    return fingerprint.of_file(name)


def existing(path):
    """The result of a check for existence."""
    if os.path.isdir(path):
        return "dir"
    return "file" if os.path.exists(path) else "missing"


def directory(path):
    """The fingerprint of the sorted names in a directory, each with a letter for its kind."""
    try:
        with os.scandir(path) as entries:
            lines = []
            for entry in entries:
                kind = "l" if entry.is_symlink() else "d" if entry.is_dir() else "f"
                lines.append(b"%s %s\n" % (kind.encode(), os.fsencode(entry.name)))
    except OSError:
        return None
    return fingerprint.of_bytes(b"".join(sorted(lines)))

"""Which code is under test, and which tests it.

PYTEST_DONT_REWRITE
"""

import os

from ..paths import OUTSIDE, PROJECT, Paths

PRODUCTION, TEST, OTHER = "production", "test", "other"

_FOLDERS_OF_TESTS = frozenset(("test", "tests", "testing"))


class Sources:
    """Kinds of code objects. Production code is the project's code that is no test: not in a
    file with tests, in a `conftest.py`, or below a folder that is called after tests."""

    def __init__(self, roots, boot, test_files):
        """`roots`: the top of the project at hand, and of the one that it is a copy of."""
        self.roots = roots
        self.root = roots[0]
        self.paths = Paths(self.root, (boot,))
        for root in roots[1:]:
            self.paths.add_project(root)
        self.test_files = frozenset(test_files)
        self._kinds = {}
        self._asserting = {}

    def is_of_project(self, path):
        path = self.paths.absolute(path)
        return path is not None and self.paths.place(path) in (PROJECT, OUTSIDE)

    def kind(self, code):
        return self.kind_of(code.co_filename)

    def kind_of(self, name):
        """The kind of code in a file."""
        kind = self._kinds.get(name)
        if kind is None:
            kind = self._kinds[name] = self._find_kind(name)
        return kind

    def _find_kind(self, name):
        path = self.paths.code_file(name)
        if path is None:
            return OTHER
        folder, base = os.path.split(path)
        if path in self.test_files or base == "conftest.py":
            return TEST
        above = [root for root in self.roots if path.startswith(root + "/")]
        below = folder[len(above[0]) :] if above else folder
        if not _FOLDERS_OF_TESTS.isdisjoint(below.split("/")):
            return TEST
        return PRODUCTION

    def places(self):
        """Prefixes of files of code, and what stands for them in values."""
        return tuple((root + "/", "*project/") for root in self.roots)

    def may_assert(self, code):
        """Whether a helper of the tests may check something."""
        found = self._asserting.get(code)
        if found is None:
            found = self._asserting[code] = _may_assert(code)
        return found


_WORDS = ("assert", "raise", "fail", "warn", "check", "expect", "verify")


def _may_assert(code):
    names = code.co_names + code.co_varnames + code.co_freevars
    if any(word in name.lower() for name in names for word in _WORDS):
        return True
    # An `assert` that pytest has not rewritten names no exception from 3.14 on, and what is raised
    # may be called anything.
    source = _source(code)
    return b"assert" in source or b"raise" in source


def _source(code):
    try:
        with open(code.co_filename, "rb") as file:
            lines = file.read().splitlines()
    except OSError:
        return b"assert"
    last = max([line for *_, line in _lines(code) if line] or [code.co_firstlineno])
    return b"\n".join(lines[code.co_firstlineno - 1 : last])


def _lines(code):
    if hasattr(code, "co_lines"):
        return list(code.co_lines())
    import dis

    return [(start, None, line) for start, line in dis.findlinestarts(code)]

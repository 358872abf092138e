"""What pytest knows of each collected test, before it runs.

PYTEST_DONT_REWRITE
"""

import inspect
import os
import unittest

import pytest

# What these hold belongs to one test: a second one in the same function would find what the
# first has left.
_OF_ONE_TEST = frozenset(
    """cache caplog capfd capfdbinary capsys capsysbinary doctest_namespace event_loop freezer
    httpserver mocker monkeypatch pytester recwarn record_property record_testsuite_property
    record_xml_attribute request requests_mock subtests testdir tmp_path tmp_path_factory tmpdir
    tmpdir_factory""".split()
)

_PLAIN_BASES = (object, unittest.TestCase)


def describe(items):
    """One dictionary for each item; `alone` says why the test has to be left alone."""
    return [_described(item) for item in items]


def _described(item):
    found = {
        "path": os.path.abspath(str(getattr(item, "path", None) or item.fspath)),
        "function": None,
        "class": None,
        "fixtures": [],
        "alone": None,
    }
    function = getattr(item, "function", None)
    code = getattr(function, "__code__", None)
    if not isinstance(item, pytest.Function) or code is None:
        found["alone"] = "it is not a plain function"
        return found
    found["function"] = function.__qualname__
    found["fixtures"] = sorted(item.fixturenames)
    if item.cls is not None:
        found["class"] = item.cls.__qualname__
    found["alone"] = _why_alone(item, function, code, found["path"])
    return found


def _why_alone(item, function, code, path):
    if hasattr(item, "callspec"):
        return "it has parameters"
    if os.path.abspath(code.co_filename) != path:
        return "it is defined in another file, or decorated"
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        return "it is asynchronous or a generator"
    if item.own_markers:
        names = ", ".join(sorted({mark.name for mark in item.own_markers}))
        return "it has marks of its own: %s" % names
    # Where only other fixtures use them, all tests of the same fixtures begin alike, and what those
    # make of them is seen.
    named = code.co_varnames[: code.co_argcount]
    stateful = [name for name in named if name in _OF_ONE_TEST]
    if stateful:
        return "it uses the fixture %s, whose state belongs to one test" % stateful[0]
    return _why_class(item.cls, function)


def _why_class(cls, function):
    if cls is None:
        return None
    if function.__name__ not in vars(cls):
        return "it is inherited"
    if cls.__subclasses__():
        return "another class inherits from its class"
    bases = [base for base in cls.__mro__[1:] if base not in _PLAIN_BASES]
    if any(name.startswith("test") for base in bases for name in vars(base)):
        return "its class inherits tests"
    return None

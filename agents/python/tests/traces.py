"""Reads traces and runs small projects under the agent, for the tests."""

import glob
import json
import os
import subprocess
import sys
import textwrap

BOOT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "boot")


def _text(value):
    if isinstance(value, dict):
        return os.fsdecode(bytes.fromhex(value["hex"]))
    return value


# What is told of values, which `test_values` and `test_left` read.
_OF_VALUES = (
    "imported",
    "cells",
    "no-values",
    "confirmed",
    "refuted",
    "worker",
    "controller",
    "order",
    "left",
    "made",
    "unseen",
    "settled",
    "exact",
    "same",
    "by-code",
    "number",
    "stands",
    "inexact",
    "settled-by",
    "not-compared",
    "unmet",
)


class Process:
    """One trace file."""

    def __init__(self, path):
        self.records = []
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                if line.endswith("\n"):
                    self.records.append(json.loads(line))
        assert self.records[0][0] == "open", self.records[:1]
        self.header = self.records[0][1]
        self.id = self.header["trace"]
        self.units = {}
        self.scopes = {}
        self.content = {}
        self.tests = {}
        self.begun = {}
        self.items = None
        self.config = None
        self.finds = None
        self.incomplete = {}
        self.starts = []
        self.writes = []
        self.changes = []
        for record in self.records[1:]:
            self._take(record)

    def _take(self, record):
        tag, rest = record[0], record[1:]
        if tag == "c":
            self.units[rest[0]] = ("code", _text(rest[1]), rest[3])
        elif tag == "u":
            self.units[rest[0]] = (rest[1], _text(rest[2]), rest[3])
        elif tag == "s":
            self.scopes[rest[0]] = (rest[1], _text(rest[2]), rest[3])
        elif tag == "+":
            units, edges = self.content.setdefault(rest[0], (set(), set()))
            units.update(rest[1])
            edges.update(rest[2])
        elif tag == "b":
            self.begun[rest[1]] = rest[0]
        elif tag == "t":
            self.tests[_text(rest[1])] = (rest[0], rest[2], rest[4])
        elif tag == "i":
            self.incomplete.setdefault(rest[0], []).append(rest[1])
        elif tag == "items":
            self.items = rest
        elif tag == "config":
            self.config = rest[0]
        elif tag == "finds":
            self.finds = rest[0]
        elif tag == "p":
            self.starts.append(rest)
        elif tag == "w":
            self.writes.append(rest)
        elif tag in ("x", "y"):
            self.changes.append(record)
        elif tag in _OF_VALUES or tag in ("clock", "ended"):
            pass
        else:
            assert tag == "close", record


class Run:
    """All traces of one run, and its output."""

    def __init__(self, directory, done):
        self.output = done.stdout + done.stderr
        self.status = done.returncode
        self.processes = {}
        for path in glob.glob(os.path.join(directory, "*.trace")):
            process = Process(path)
            self.processes[process.id] = process
        self.tests = {}
        for process in self.processes.values():
            for test, (scope, outcome, reason) in process.tests.items():
                assert test not in self.tests, "reported twice: " + test
                self.tests[test] = (process, scope, outcome, reason)

    def main(self):
        (found,) = [one for one in self.processes.values() if one.header["role"] == "main"]
        return found

    def outcomes(self):
        return {test.split("::", 1)[1]: found[2] for test, found in self.tests.items()}

    def closure(self, test):
        """Units of a test as `(kind, path, name or value)`."""
        for full, (process, scope, _, _) in self.tests.items():
            if full == test or full.split("::", 1)[1] == test:
                return self._closure(process, scope)
        raise AssertionError("no such test: %s in %s" % (test, sorted(self.tests)))

    def _closure(self, process, scope):
        waiting, seen, found = [(process, scope)], set(), set()
        while waiting:
            process, scope = waiting.pop()
            key = (process.id, scope)
            if key in seen:
                continue
            seen.add(key)
            for part in self._forebears(process):
                units, edges = part.content.get(scope, ((), ()))
                if part is not process and scope not in self._inherited(process, scope):
                    continue
                for unit in units:
                    found.add(self._unit(part, unit))
                waiting.extend((part, edge) for edge in edges)
            for child in self.processes.values():
                if child.header["scope"] == [process.id, scope]:
                    waiting.append((child, 0))
                    # What a fork added to inherited scopes.
                    if child.header["fork_of"]:
                        waiting.extend((child, number) for number in child.content)
        return found

    def _inherited(self, process, scope):
        return () if scope in process.scopes else (scope,)

    def _forebears(self, process):
        while process is not None:
            yield process
            process = self.processes.get(process.header["fork_of"])

    def _unit(self, process, number):
        for part in self._forebears(process):
            if number in part.units:
                return part.units[number]
        raise AssertionError("undefined unit %s in %s" % (number, process.id))

    def code(self, test):
        """`file.py:function` for the code in a test's closure."""
        return {
            "%s:%s" % (os.path.basename(path), name)
            for kind, path, name in self.closure(test)
            if kind == "code"
        }

    def of_kind(self, test, kind):
        return {(path, value) for found, path, value in self.closure(test) if found == kind}

    def paths(self, test, kind):
        """Base names of the paths of one kind of unit."""
        return {os.path.basename(path) for path, _ in self.of_kind(test, kind)}


class Project:
    """A small project in a temporary directory."""

    def __init__(self, root):
        self.root = str(root)
        self.count = 0
        os.makedirs(self.root, exist_ok=True)

    def write(self, name, text=""):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as out:
            out.write(textwrap.dedent(text))
        return path

    def command(self, arguments, environment=None, cwd=None, check=None, timeout=120):
        """Run a command with the agent injected; returns the `Run`."""
        self.count += 1
        traces = os.path.join(self.root, ".tamis", "traces%d" % self.count)
        os.makedirs(traces)
        variables = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTEST_", "TAMIS_", "COV_"))
        }
        variables.update(
            PYTHONPATH=BOOT,
            TAMIS_TRACE_DIR=traces,
            TAMIS_ROOT=self.root,
            TAMIS_DEBUG="1",
        )
        for name in ("TAMIS_COLLECTOR",):
            if name in os.environ:
                variables[name] = os.environ[name]
        variables.update(environment or {})
        done = subprocess.run(
            arguments,
            cwd=cwd or self.root,
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
            timeout=timeout,
        )
        run = Run(traces, done)
        assert "collector failed" not in run.output, run.output
        if check is not None:
            assert run.status == check, run.output
        return run

    def pytest(self, *arguments, plugins=False, environment=None, **options):
        """Run pytest; with the installed plug-ins, which slow each start down, if asked."""
        options.setdefault("check", 0)
        environment = dict(environment or {})
        if not plugins:
            environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        return self.command(command + list(arguments), environment, **options)

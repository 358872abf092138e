"""A pytest plug-in that writes what became of each test, one JSON line each.

The file is named by BENCH_OUTCOMES. Lines are written as soon as they
are known, so that a run that is killed has told what it did until then:

    {"broken": NODE}                 the node could not be collected
    {"collected": [ID, ...]}         what will run, after deselection
    {"start": ID}
    {"test": ID, "outcome": WORD}
    {"end": STATUS}

BENCH_TEST_SECONDS, if set, bounds each phase of a test: mutants loop.
BENCH_ONLY, if set, names a JSON file with the ids that are to run.
"""

import json
import os
import signal

import pytest

# A test has several reports (phases, subtests). The worst one counts.
WORDS = ["passed", "skipped", "xfailed", "xpassed", "failed", "error"]


class TookTooLong(Exception):
    pass


def word_of(report):
    if report.failed:
        return "failed" if report.when == "call" else "error"
    expected_failure = hasattr(report, "wasxfail")
    if report.skipped:
        return "xfailed" if expected_failure else "skipped"
    return "xpassed" if expected_failure else "passed"


class Outcomes:
    def __init__(self, path):
        self.path = path
        self.worst = {}

    def write(self, **record):
        # Opened again for each line, and only by the process that loaded the plug-in: forked
        # children of tests must not write.
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def pytest_collectreport(self, report):
        if report.failed:
            self.write(broken=report.nodeid)

    def pytest_collection_finish(self, session):
        self.write(collected=[item.nodeid for item in session.items])

    def pytest_runtest_logstart(self, nodeid, location):
        self.worst[nodeid] = 0
        self.write(start=nodeid)

    def pytest_runtest_logreport(self, report):
        rank = WORDS.index(word_of(report))
        self.worst[report.nodeid] = max(rank, self.worst.get(report.nodeid, 0))

    def pytest_runtest_logfinish(self, nodeid, location):
        self.write(test=nodeid, outcome=WORDS[self.worst.pop(nodeid)])

    def pytest_sessionfinish(self, session, exitstatus):
        self.write(end=int(exitstatus))


class Only:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.ids = set(json.load(file))

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if item.nodeid in self.ids]


class TimeLimit:
    """Raises TookTooLong in a phase of a test that takes too long."""

    def __init__(self, seconds):
        self.seconds = seconds
        signal.signal(signal.SIGALRM, self.interrupt)

    def interrupt(self, signum, frame):
        raise TookTooLong(f"more than {self.seconds} s")

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_setup(self, item):
        yield from self.bounded()

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_call(self, item):
        yield from self.bounded()

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_teardown(self, item):
        yield from self.bounded()

    def bounded(self):
        # The interval repeats: a mutant may swallow the first exception.
        signal.setitimer(signal.ITIMER_REAL, self.seconds, 1.0)
        yield
        signal.setitimer(signal.ITIMER_REAL, 0)


def pytest_configure(config):
    path = os.environ.pop("BENCH_OUTCOMES", None)
    if path:
        config.pluginmanager.register(Outcomes(path), "tamis-bench-outcomes")
    only = os.environ.pop("BENCH_ONLY", None)
    if only:
        config.pluginmanager.register(Only(only), "tamis-bench-only")
    seconds = os.environ.pop("BENCH_TEST_SECONDS", None)
    if seconds:
        config.pluginmanager.register(TimeLimit(float(seconds)), "tamis-bench-limit")

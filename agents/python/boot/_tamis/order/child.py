"""One order, run in this process.

PYTEST_DONT_REWRITE
"""

import json
import time

import pytest

from .. import outcomes
from . import causes, cells

_clock = time.perf_counter

# Of the text of a failure.
_MOST_TEXT = 300


def prepare(config, temporary):
    """Make a fork of the server independent of its siblings."""
    factory = getattr(config, "_tmp_path_factory", None)
    if getattr(factory, "_given_basetemp", None) is not None:
        given = type(factory._given_basetemp)
        factory._given_basetemp = given(temporary)
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture is not None and capture.is_globally_capturing():
        # What a fork that was killed had said.
        capture.read_global_capture()


def run(session, items, request, write):
    """Run the tests; why it ended early, or `None`."""
    order = [items[number] for number in request["run"]]
    session.items = order
    session.testscollected = len(order)
    listener = Listener(write)
    session.config.pluginmanager.register(listener, "_tamis.order.listener")
    protocol = Protocol(session, request.get("why"), len(order) - 1)
    try:
        for position, item in enumerate(order):
            following = order[position + 1] if position + 1 < len(order) else None
            listener.begin(position, item)
            protocol.run(position, item, following)
            listener.end()
        protocol.tell(write)
    except (pytest.exit.Exception, KeyboardInterrupt) as error:
        return {"stopped": "%s: %s" % (type(error).__name__, str(error)[:_MOST_TEXT])}
    return None


class Protocol:
    """pytest's protocol of a test, under a trace function if tamis wants to know why."""

    def __init__(self, session, wish, last):
        config = session.config
        self.root = str(getattr(config, "rootpath", None) or config.rootdir)
        self.wish = wish
        self.last = last
        self.seen = None
        self.writes = None
        if wish is not None and wish["step"] == "writes":
            found = [cells.Cell(name, wish["root"], session) for name in wish["cells"]]
            self.writes = causes.Writes(self.root, found)

    def run(self, position, item, following):
        def run():
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)

        if self.wish is None:
            run()
        elif self.writes is None:
            if position == self.last:
                self.seen = causes.run_last(self.wish, self.root, run)
            else:
                run()
        elif position < self.last:
            self.writes.test = position
            with self.writes:
                run()
            self.writes.compare()

    def tell(self, write):
        if self.writes is not None:
            self.seen = {"writes": self.writes.describe()}
        if self.seen is not None:
            write(json.dumps(["w", -1, self.seen]).encode() + b"\n")


class Listener:
    """Tells what becomes of each test."""

    def __init__(self, write):
        self.write = write
        self.position = None
        self.id = None
        self.reports = None
        self.why = None
        self.since = 0.0

    def begin(self, position, item):
        self.position, self.id = position, item.nodeid
        self.reports, self.why = outcomes.Reports(), None
        self._tell(["b", position])
        self.since = _clock()

    def end(self):
        seconds = round(_clock() - self.since, 6)
        self._tell(["e", self.position, self.reports.outcome(), seconds, self.why])

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        made = yield
        if call.when == "teardown" and call.excinfo is not None:
            if made.excinfo is None and _is_of_wider_fixture(call.excinfo.tb):
                made.get_result().tamis_is_of_others = True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report):
        if report.nodeid == self.id and not hasattr(report, "tamis_is_of_others"):
            self.reports.reported(report)
            if report.outcome == "failed" and self.why is None:
                self.why = _first_line(report)

    def _tell(self, message):
        self.write(json.dumps(message).encode() + b"\n")


def _first_line(report):
    crash = getattr(report.longrepr, "reprcrash", None)
    text = str(report.longrepr if crash is None else crash.message)
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[0][:_MOST_TEXT] if lines else None


def _is_of_wider_fixture(traceback):
    """Whether a tear-down failed that comes after the last of several tests, whichever that is
    in this order."""
    while traceback is not None:
        owner = traceback.tb_frame.f_locals.get("self")
        if type(owner).__name__ == "FixtureDef":
            return owner.scope != "function"
        traceback = traceback.tb_next
    return False

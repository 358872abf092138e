"""Lines of one function, and calls of all: by `sys.monitoring` on 3.12 and later, before that by
trace and profile functions.

PYTEST_DONT_REWRITE
"""

import sys

_TOOL = 4
_NAME = "tamis"


class Monitoring:
    """`sys.monitoring`: code of libraries is told once, and then costs nothing."""

    def __init__(self, listener):
        self.listener = listener
        self.events = sys.monitoring.events
        self.code = None

    def open(self):
        mon, events = sys.monitoring, self.events
        mon.use_tool_id(_TOOL, _NAME)
        for event, call in (
            (events.LINE, self._line),
            (events.PY_START, self._start),
            (events.PY_RESUME, self._resume),
            (events.PY_THROW, self._throw),
            (events.PY_RETURN, self._leave),
            (events.PY_YIELD, self._leave),
            (events.PY_UNWIND, self._unwind),
        ):
            mon.register_callback(_TOOL, event, call)

    def begin(self, code):
        self.code = code
        events = self.events
        sys.monitoring.set_local_events(_TOOL, code, events.LINE)
        sys.monitoring.set_events(
            _TOOL,
            events.PY_START
            | events.PY_RESUME
            | events.PY_THROW
            | events.PY_RETURN
            | events.PY_YIELD
            | events.PY_UNWIND,
        )

    def end(self):
        sys.monitoring.set_events(_TOOL, 0)
        if self.code is not None:
            sys.monitoring.set_local_events(_TOOL, self.code, 0)
        self.code = None

    def _line(self, code, line):
        self.listener.line(sys._getframe(1), line)

    def _start(self, code, offset):
        if code is self.code:
            return None
        if not self.listener.wants(code):
            return sys.monitoring.DISABLE
        self.listener.enters(sys._getframe(1), True)
        return None

    def _resume(self, code, offset):
        if not self.listener.wants(code):
            return sys.monitoring.DISABLE
        self.listener.enters(sys._getframe(1), False)
        return None

    def _throw(self, code, offset, exception):
        if self.listener.wants(code):
            self.listener.enters(sys._getframe(1), False)

    def _leave(self, code, offset, value):
        if code is self.code:
            self.listener.returns(sys._getframe(1))
            return None
        if not self.listener.wants(code):
            return sys.monitoring.DISABLE
        self.listener.leaves(code)
        return None

    def _unwind(self, code, offset, exception):
        if code is self.code:
            self.listener.fails()
        elif self.listener.wants(code):
            self.listener.leaves(code)


class Tracing:
    """`sys.settrace` for the lines, `sys.setprofile` for the calls."""

    def __init__(self, listener):
        self.listener = listener
        self.code = None
        self.before = (None, None)

    def open(self):
        """Nothing to do."""

    def begin(self, code):
        self.code = code
        self.before = sys.gettrace(), sys.getprofile()
        sys.setprofile(self._profile)
        sys.settrace(self._trace)

    def end(self):
        sys.settrace(self.before[0])
        sys.setprofile(self.before[1])
        self.code = None

    def _trace(self, frame, event, argument):
        return self._lines if frame.f_code is self.code else None

    def _lines(self, frame, event, argument):
        if event == "line":
            self.listener.line(frame, frame.f_lineno)
        return self._lines

    def _profile(self, frame, event, argument):
        code = frame.f_code
        if code is self.code:
            if event == "return":
                self.listener.returns(frame)
        elif event in ("call", "return") and self.listener.wants(code):
            if event == "call":
                # The first instruction of a generator that is resumed is behind its start.
                self.listener.enters(frame, frame.f_lasti < 8 or not code.co_flags & 0x2A0)
            else:
                self.listener.leaves(code)


def choose(listener):
    return Monitoring(listener) if hasattr(sys, "monitoring") else Tracing(listener)

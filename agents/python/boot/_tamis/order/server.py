"""The server: one session that has collected its tests, and runs them in order after order.

Messages are lines of JSON. To tamis:

    {"tests": [ids], "rootdir": …, "chance": {…}, "cannot_fork": null or why, …}   once
    ["b", n]                      the n-th test of the order begins
    ["e", n, word, seconds, why]  it ended; `why` is the first line of its failure, or null
    ["w", -1, what]               what was found out about the last test (`causes.py`)
    ["d", how, cpu]               the order is done. `how` is null, or how the process ended early

From tamis:

    {"run": [numbers of tests], "limits": [seconds of each], "fork": bool, "seeded": [names],
     "why": what is to be found out about the last test, or null}

    {"describe": path}            what pytest knows of each test goes to a file; then comes "d"
    {"run": …, "limits": …, "observe": {…}}    the order, watched (`_tamis.minimise.statements`)
    {"run": …, "limits": …, "covered": path}   the order; what it covers goes to a file

The end of its input ends the session.

PYTEST_DONT_REWRITE
"""

import json
import os
import resource
import select
import shutil
import signal
import sys
import threading
import time

from . import chance, child

# A fork that has not come to its first test by then, or to its end after the last, is stuck.
_AROUND_TESTS = 60.0

# How often to look whether a process ended whose own children keep its pipe open.
_LOOK = 0.2


class Server:
    def __init__(self, channel, session, words, before, measured=None):
        self.channel = channel
        self.measured = measured
        self.session = session
        self.items = list(session.items)
        self.scratch = words["scratch"]
        self.random = chance.states()
        self.before = before
        self.orders = 0
        self.input = b""

    def serve(self):
        self.tell(self.describe())
        while True:
            line = self.line()
            if line is None:
                return
            request = json.loads(line)
            if "describe" in request:
                self.describe_tests(request["describe"])
            elif "observe" in request or "covered" in request:
                self.run_watched(request)
                return
            elif request["fork"]:
                self.fork(request)
            else:
                # This process is no longer fresh after it.
                self.run_here(request)
                return

    def describe(self):
        session, config = self.session, self.session.config
        return {
            "tests": [item.nodeid for item in self.items],
            "rootdir": str(getattr(config, "rootpath", None) or config.rootdir),
            "errors": session.testsfailed,
            "chance": chance.digest(self.random),
            "cannot_fork": _cannot_fork(),
            "cpu": _cpu(),
            "python": "%d.%d.%d" % sys.version_info[:3],
        }

    # -- messages -----------------------------------------------------------

    def tell(self, message):
        self.channel.sendall(json.dumps(message).encode() + b"\n")

    def line(self):
        """The next line from tamis; `None` at the end."""
        while b"\n" not in self.input:
            more = self.channel.recv(65536)
            if not more:
                return None
            self.input += more
        line, _, self.input = self.input.partition(b"\n")
        return line

    # -- orders -------------------------------------------------------------

    def run_here(self, request):
        before = _cpu()
        why = child.run(self.session, self.items, request, self.channel.sendall)
        self.tell(["d", why, _cpu() - before])

    def describe_tests(self, path):
        from ..minimise import tests_at_hand, why_not

        with open(path, "w", encoding="utf-8") as file:
            json.dump(tests_at_hand.describe(self.items), file)
        self.tell(["d", why_not(), 0.0])

    def run_watched(self, request):
        """As `run_here`, with more to tell."""
        before = _cpu()
        if "observe" in request:
            from .. import minimise

            why = minimise.observe(self.session, self.items, request, self.channel.sendall)
        else:
            why = child.run(self.session, self.items, request, self.channel.sendall)
            self.measured.write(request["covered"], self.items)
        self.tell(["d", why, _cpu() - before])

    def fork(self, request):
        self.orders += 1
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        temporary = os.path.join(self.scratch, "tmp-%d" % self.orders)
        sys.stdout.flush()
        sys.stderr.flush()
        if request.get("why") is not None:
            request["why"]["file"] = os.path.join(self.scratch, "way")
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            self._child(request, reader, writer, temporary)
        os.close(writer)
        try:
            os.setpgid(pid, pid)
        except OSError:
            # The child has done it already.
            pass
        try:
            how = self._watch(pid, reader, request["limits"])
        finally:
            os.close(reader)
            shutil.rmtree(temporary, ignore_errors=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.tell(["d", how, cpu])

    def _child(self, request, reader, writer, temporary):
        status = 70
        try:
            os.setpgid(0, 0)
            os.close(reader)
            self.channel.close()
            chance.restore(self.random, request["seeded"])
            child.prepare(self.session.config, temporary)
            why = child.run(self.session, self.items, request, _writer(writer))
            _writer(writer)(json.dumps(["f", why]).encode() + b"\n")
            status = 0
        finally:
            # No handlers at exit: they belong to the parent.
            os._exit(status)

    def _watch(self, pid, reader, limits):
        """Pass on what the child says until it has ended; how it ended too early, or `None`."""
        poll = select.poll()
        poll.register(reader, select.POLLIN)
        poll.register(self.channel, select.POLLIN)
        deadline = time.monotonic() + _AROUND_TESTS
        rest, said, timed_out = b"", None, False
        try:
            while True:
                wait = min(_LOOK, max(0.0, deadline - time.monotonic()))
                ready = [number for number, _ in poll.poll(wait * 1000 + 1)]
                if self.channel.fileno() in ready and not self._is_wanted():
                    sys.exit(1)
                if reader in ready:
                    more = os.read(reader, 1 << 20)
                    if not more:
                        break
                    lines, _, rest = (rest + more).rpartition(b"\n")
                    for line in lines.splitlines():
                        tag, first = json.loads(line)[:2]
                        if tag == "f":
                            said = (first,)
                            deadline = time.monotonic() + _AROUND_TESTS
                            continue
                        self.channel.sendall(line + b"\n")
                        limit = limits[first] if tag == "b" else _AROUND_TESTS
                        deadline = time.monotonic() + limit
                elif _has_ended(pid):
                    break
                elif time.monotonic() > deadline:
                    timed_out = True
                    break
        finally:
            # With all that it started and did not wait for.
            if not _has_ended(pid) and (said is None or timed_out):
                _kill_group(pid)
            status = _end_of(pid)
        if timed_out:
            return {"timed_out": True}
        if said is not None:
            return said[0]
        if os.WIFSIGNALED(status):
            return {"signal": os.WTERMSIG(status)}
        return {"exit": os.WEXITSTATUS(status)}

    def _is_wanted(self):
        """Whether tamis still listens. During an order it says nothing but goodbye."""
        more = self.channel.recv(65536)
        self.input += more
        return bool(more)


def _writer(pipe):
    def write(data):
        while data:
            data = data[os.write(pipe, data) :]

    return write


def _has_ended(pid):
    """Whether a child ended. Its number stays taken until it is waited for."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _kill_group(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        pass


def _end_of(pid):
    """Wait for a child, and end what it left running in its group."""
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    _kill_group(pid)
    return os.waitpid(pid, 0)[1]


def _cpu():
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(used.ru_utime + used.ru_stime for used in (own, children))


def _cannot_fork():
    """Why forks of this process would not be like it; `None` if they would."""
    if not hasattr(os, "fork") or sys.platform != "linux":
        return "this system does not allow it safely"
    others = [one.name for one in threading.enumerate() if one is not threading.main_thread()]
    if others:
        return "a thread runs after collection: " + ", ".join(sorted(others)[:3])
    return None

"""Processes that the run starts or forks.

A forked process continues with its own trace. The agent gets into any other process through
the environment, which also names the starter. The starting scope keeps a record of the
process, so that a missing trace is noticed.
"""

import os
import sys

from . import programs
from .agent import guard
from .scopes import Scope, Token

# Callers that start programs only to describe the machine. Their results are part of the
# runtime unit.
_EXCUSED = frozenset(("platform", "ctypes.util", "uuid", "_osx_support", "_aix_support"))


def install(agent):
    """Watch forks and all ways to start a program."""
    if not hasattr(os, "register_at_fork"):
        return
    starter = Starter(agent)
    os.register_at_fork(
        before=guard_nothing(starter.before_fork),
        after_in_parent=guard_nothing(starter.after_in_parent),
        after_in_child=guard_nothing(starter.after_in_child),
    )
    _watch_fork_exec(starter)
    _watch_spawn(starter)
    _watch_exec(starter)
    _watch_shell(starter)
    _watch_exit(agent)


def guard_nothing(method):
    guarded = guard(method)

    def hook():
        guarded()

    return hook


class Starter:
    """Notes that a process is started, and prepares its environment."""

    def __init__(self, agent):
        self.agent = agent
        self.putenv = os.putenv
        self.unsetenv = os.unsetenv
        self._locked = False

    # -- forks ------------------------------------------------------------

    def before_fork(self):
        agent = self.agent
        agent.lock.acquire()
        self._locked = True
        agent.doubtful.add(agent.top.number)
        # The child's records may use numbers that are defined here.
        agent.flush()

    def after_in_parent(self):
        self.agent.has_started = True
        if self._locked:
            self.agent.lock.release()

    def after_in_child(self):
        agent = self.agent
        if self._locked:
            agent.lock.release()
        if agent.finished or agent.role is None:
            agent.pid = os.getpid()
            agent.trace.renew()
            agent.finished = True
            return
        parent, scope = agent.trace.id, agent.top.number
        agent.pid = os.getpid()
        agent.role = "child"
        agent.trace.renew()
        agent.session = None
        del agent.dirty[:]
        agent.root_scope = Scope(0, "child", "", None, agent.dirty)
        agent.stack = [Token(agent.root_scope)]
        agent.top = agent.root_scope
        agent.open_trace("child", None, parent, [parent, scope])
        agent.write_through()

    # -- other programs ---------------------------------------------------

    def tokens(self, frame):
        """The variables that tell a new process who started it; `None` for a worker that runs
        tests itself, which is not a process of a test."""
        agent = self.agent
        if agent.role not in ("main", "child") or agent.finished:
            return None
        if agent.role == "main" and _is_called_from(frame, "execnet."):
            return None
        token = "%d-%s" % (os.getpid(), os.urandom(6).hex())
        scope = "%s:%d" % (agent.trace.id, agent.top.number)
        return {"TAMIS_SPAWN": token, "TAMIS_SCOPE": scope}

    def inherited(self):
        """The variables that bring the agent into a Python process."""
        agent = self.agent
        found = {
            name: value
            for name, value in agent.hidden_environment.items()
            if name not in ("TAMIS_SPAWN", "TAMIS_SCOPE")
        }
        return found

    def environment(self, given, tokens):
        """A copy of the environment `given` (a dict) with the agent in it."""
        made = dict(given)
        bytes_keys = any(isinstance(key, bytes) for key in made)
        convert = os.fsencode if bytes_keys else str
        added = self.inherited()
        added.update(tokens or {})
        for name, value in added.items():
            made[convert(name)] = convert(value)
        path = made.get(convert("PYTHONPATH"))
        boot = os.fsencode(self.agent.boot) if bytes_keys else self.agent.boot
        separator = b":" if bytes_keys else ":"
        if not path:
            made[convert("PYTHONPATH")] = boot
        elif boot not in path.split(separator):
            made[convert("PYTHONPATH")] = boot + separator + path
        return made

    def with_tokens(self, tokens, start):
        """Run `start` while the C environment has the variables for a child."""
        own = os.environ._data.get(b"PYTHONPATH", b"")
        boot = os.fsencode(self.agent.boot)
        added = dict(self.inherited(), **(tokens or {}))
        for name, value in added.items():
            self.putenv(name, value)
        self.putenv("PYTHONPATH", boot + b":" + own if own else boot)
        try:
            return start()
        finally:
            for name in tokens or ():
                self.unsetenv(name)

    @staticmethod
    def excuse(frame):
        for _ in range(12):
            if frame is None:
                return None
            name = frame.f_globals.get("__name__")
            if name in _EXCUSED:
                return "asks about the machine: %s" % name
            if name not in ("subprocess", "os", "contextlib") and not str(name).startswith(
                "_tamis"
            ):
                return None
            frame = frame.f_back
        return None

    def started(self, tokens, pid, program, frame, excused=None):
        """The `p` record."""
        if tokens is None:
            return
        if isinstance(program, bytes):
            program = os.fsdecode(program)
        agent = self.agent
        agent.has_started = True
        excused = excused or self.excuse(frame)
        if not excused:
            agent.doubtful.add(agent.top.number)
        agent.trace.write(
            "p", agent.top.number, tokens["TAMIS_SPAWN"], pid, str(program), excused
        )
        agent.flush()


    def replaced(self, tokens, program, frame):
        """The record of an `exec`. An `exec` that must fail has none: `os.execvp` tries one
        folder after another."""
        if isinstance(program, int) or os.access(program, os.X_OK):
            self.started(tokens, os.getpid(), program, frame)


def _is_called_from(frame, prefix):
    for _ in range(30):
        if frame is None:
            return False
        if str(frame.f_globals.get("__name__", "")).startswith(prefix):
            return True
        frame = frame.f_back
    return False


def _watch_fork_exec(starter):
    """The function with which `subprocess` and `multiprocessing` start programs."""
    import _posixsubprocess

    plain = _posixsubprocess.fork_exec
    prepare = guard(starter.tokens)
    note = guard(starter.started)
    excuse = guard(programs.excuse)
    change = guard(lambda lines, tokens: _with_lines(starter, lines, tokens))

    def fork_exec(*arguments):
        frame = sys._getframe(1)
        tokens = prepare(frame)
        lines = arguments[5] if len(arguments) > 5 else None
        # Before the child can close or remove its files.
        excused = None
        # A function that runs before the program may change folders and descriptors.
        if tokens is not None and len(arguments) > 5 and not any(map(callable, arguments[6:])):
            argv, candidates, _, _, folder, environment = arguments[:6]
            excused = excuse(starter.agent, argv, candidates, folder, environment)
        changed = change(lines, tokens) if lines is not None else None
        if changed is not None:
            pid = plain(*(arguments[:5] + (changed,) + arguments[6:]))
        else:
            pid = starter.with_tokens(tokens, lambda: plain(*arguments))
        note(tokens, pid, _first(arguments[0]), frame, excused)
        return pid

    _posixsubprocess.fork_exec = fork_exec
    loaded = sys.modules.get("subprocess")
    if loaded is not None and hasattr(loaded, "_fork_exec"):
        loaded._fork_exec = fork_exec


def _first(sequence):
    for program in sequence or ():
        return program
    return ""


def _with_lines(starter, lines, tokens):
    """An environment as `NAME=VALUE` lines of bytes, with the agent in it."""
    given = {}
    for line in lines:
        name, _, value = bytes(line).partition(b"=")
        given.setdefault(name, value)
    made = starter.environment(given or {b"": b""}, tokens)
    return [name + b"=" + value for name, value in made.items() if name]


def _watch_spawn(starter):
    prepare = guard(starter.tokens)
    note = guard(starter.started)
    change = guard(starter.environment)
    excuse = guard(
        lambda path, argv, env: programs.excuse(
            starter.agent,
            argv,
            [path],
            None,
            env and [os.fsencode(name) + b"=" + os.fsencode(env[name]) for name in env],
        )
    )

    def watch(plain):
        def posix_spawn(path, argv, env, **options):
            frame = sys._getframe(1)
            tokens = prepare(frame)
            excused = None
            if tokens is not None and not _opens(options.get("file_actions")):
                excused = excuse(path, argv, env)
            if env is None:
                # Allowed from Python 3.13 on: the C environment as it is.
                pid = starter.with_tokens(tokens, lambda: plain(path, argv, env, **options))
            else:
                changed = change(env, tokens)
                pid = plain(path, argv, env if changed is None else changed, **options)
            note(tokens, pid, path, frame, excused)
            return pid

        posix_spawn.__name__ = posix_spawn.__qualname__ = plain.__name__
        posix_spawn.__doc__ = plain.__doc__
        return posix_spawn

    for name in ("posix_spawn", "posix_spawnp"):
        if hasattr(os, name):
            setattr(os, name, watch(getattr(os, name)))


# File actions of `posix_spawn` that pass on or close descriptors. The last one is new in
# Python 3.13.
_NO_OPENING = tuple(
    getattr(os, name)
    for name in ("POSIX_SPAWN_CLOSE", "POSIX_SPAWN_DUP2", "POSIX_SPAWN_CLOSEFROM")
    if hasattr(os, name)
)


def _opens(actions):
    """Whether the child may get a file that this process did not open."""
    if not actions:
        return False
    if not isinstance(actions, (list, tuple)):
        return True
    return not all(isinstance(one, tuple) and one and one[0] in _NO_OPENING for one in actions)


def _watch_exec(starter):
    """A program replaces this process: the trace ends here."""
    prepare = guard(starter.tokens)
    note = guard(starter.replaced)
    change = guard(starter.environment)
    plain_v, plain_ve = os.execv, os.execve

    def execv(path, argv):
        frame = sys._getframe(1)
        tokens = prepare(frame)
        note(tokens, path, frame)
        return starter.with_tokens(tokens, lambda: plain_v(path, argv))

    def execve(path, argv, env):
        frame = sys._getframe(1)
        tokens = prepare(frame)
        changed = change(env, tokens)
        note(tokens, path, frame)
        return plain_ve(path, argv, env if changed is None else changed)

    execv.__doc__, execve.__doc__ = plain_v.__doc__, plain_ve.__doc__
    os.execv, os.execve = execv, execve


def _watch_shell(starter):
    prepare = guard(starter.tokens)
    note = guard(starter.started)
    plain = os.system

    def system(command):
        frame = sys._getframe(1)
        tokens = prepare(frame)
        # It is unknown what a shell runs: there is no process to wait for.
        note(tokens, 0, "sh -c %s" % (command,), frame)
        return starter.with_tokens(tokens, lambda: plain(command))

    system.__doc__ = plain.__doc__
    os.system = system


def _watch_exit(agent):
    plain = os._exit

    @guard
    def flush():
        if agent.role is not None and agent.pid == os.getpid():
            agent.tell_end()
            agent.flush()

    def _exit(status):
        flush()
        plain(status)

    _exit.__doc__ = plain.__doc__
    os._exit = _exit


# What begins the text by which `multiprocessing` and `execnet` start theirs: that gets all by names that
# are told.
_WORKERS = ("from multiprocessing.", "import sys;exec(eval(sys.stdin.readline()))")


def runs_text():
    """Whether this process runs Python that its command line or its standard input has, other than
    what starts workers."""
    arguments = list(getattr(sys, "orig_argv", None) or getattr(sys, "argv", ()))
    if all(one.startswith("-") for one in arguments[1:]):
        return True
    if "-c" not in arguments:
        return False
    text = arguments[arguments.index("-c") + 1 :][:1]
    return not (text and text[0].startswith(_WORKERS))

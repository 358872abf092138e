"""Starts processes, measures them, and reads the outcomes of tests."""

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

PLUGIN_FOLDER = Path(__file__).resolve().parent / "plugin"
PLUGIN = "tamis_bench_outcomes"


class Trouble(Exception):
    """An error that the user of the script must fix."""


@dataclass
class Done:
    """A finished process: seconds of wall time, and of CPU time (user and system) of it and of
    every descendant that was waited for."""

    status: int
    wall: float
    cpu: float
    timed_out: bool


def run(argv, cwd, env, log, timeout=None):
    """Runs `argv` to its end; the output goes to the file `log`."""
    log = Path(log)
    log.parent.mkdir(parents=True, exist_ok=True)
    timed_out = threading.Event()
    with open(log, "wb") as output:
        start = time.perf_counter()
        process = subprocess.Popen(
            [str(part) for part in argv],
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

        def stop():
            timed_out.set()
            os.killpg(process.pid, signal.SIGKILL)

        timer = threading.Timer(timeout, stop) if timeout else None
        if timer:
            timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        if timer:
            timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
    return Done(process.returncode, wall, usage.ru_utime + usage.ru_stime, timed_out.is_set())


def must(argv, cwd, env, log, timeout=None):
    """Like `run`, but a failure ends the script with the log's last lines."""
    done = run(argv, cwd, env, log, timeout)
    if done.status != 0:
        tail = Path(log).read_text(errors="replace").splitlines()[-15:]
        command = shlex.join(str(part) for part in argv)
        raise Trouble(f"`{command}` ended with {done.status} in {cwd}:\n" + "\n".join(tail))
    return done


def environment(home, python=None, **extra):
    """A small, fixed environment, so that two runs are alike."""
    path = os.environ.get("PATH", os.defpath)
    if python is not None:
        path = f"{Path(python).parent}{os.pathsep}{path}"
    env = {
        "PATH": path,
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_INPUT": "1",
    }
    # Settings of the machine for reaching packages; nothing else is kept.
    for name, value in os.environ.items():
        if name.startswith("PIP_") or name.lower() in ("http_proxy", "https_proxy", "no_proxy"):
            env.setdefault(name, value)
    env.update({name: str(value) for name, value in extra.items()})
    return env


@dataclass
class Outcomes:
    tests: dict = field(default_factory=dict)
    """Outcome by test id."""
    broken: list = field(default_factory=list)
    """Nodes that could not be collected."""
    collected: list = None
    """Ids that the runner was going to run; None if it never got that far."""
    unfinished: str = None
    """The test during which the process ended."""
    status: int = None
    """Exit status as pytest saw it; None if it was killed."""


def read_outcomes(path):
    found = Outcomes()
    started = None
    for line in Path(path).read_text().splitlines() if Path(path).exists() else []:
        record = json.loads(line)
        if "test" in record:
            found.tests[record["test"]] = record["outcome"]
            started = None
        elif "start" in record:
            started = record["start"]
        elif "broken" in record:
            found.broken.append(record["broken"])
        elif "collected" in record:
            found.collected = record["collected"]
        elif "end" in record:
            found.status = record["end"]
    found.unfinished = started
    return found


def pytest_with_outcomes(python, args, cwd, env, out, timeout=None, test_seconds=None):
    """Runs pytest plainly, and returns how it ended and the outcomes of the tests."""
    out = Path(out)
    out.unlink(missing_ok=True)
    env = with_plugin(env, out, test_seconds)
    argv = [python, "-m", "pytest", "-q", "-p", PLUGIN, *args]
    done = run(argv, cwd, env, out.with_suffix(".log"), timeout)
    return done, read_outcomes(out)


def with_plugin(env, out, test_seconds=None):
    path = [str(PLUGIN_FOLDER)] + ([env["PYTHONPATH"]] if env.get("PYTHONPATH") else [])
    env = dict(env, PYTHONPATH=os.pathsep.join(path), BENCH_OUTCOMES=str(out))
    if test_seconds:
        env["BENCH_TEST_SECONDS"] = str(test_seconds)
    return env


def find_tamis(given):
    """The binary to measure: the given one, or the newest build of this repository."""
    if given:
        return Path(given).resolve()
    target = Path(__file__).resolve().parents[2] / "target"
    built = [target / kind / "tamis" for kind in ("release", "debug")]
    built = [path for path in built if path.exists()]
    if not built:
        raise Trouble("no tamis binary: run `cargo build --release`, or name one with --tamis")
    return max(built, key=lambda path: path.stat().st_mtime)


def finish(main):
    """Runs `main`; an error for the user becomes one line without a traceback."""
    try:
        sys.exit(main())
    except Trouble as trouble:
        sys.exit(f"error: {trouble}")
    except KeyboardInterrupt:
        sys.exit(130)

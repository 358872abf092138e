"""Audit events, other users of the hooks, and refusals."""

import sys

import pytest

EARLY = sys.version_info < (3, 12)


def test_audit_passes_wanted_events_only(run):
    events, thread, faults, quiet = run("""
import threading, os
seen = []
def note(event, args):
    seen.append(event)
    open(os.devnull).close()          # its own events are not reported
native.audit(note, ('open', 'my.event', 'os.listdir'))
open(os.devnull).close(); os.listdir('.'); sys.audit('my.event', 1); sys.audit('my.other'); os.scandir('.').close()
out(seen); seen.clear()
worker = threading.Thread(target=lambda: open(os.devnull).close()); worker.start(); worker.join()
out(seen); seen.clear()
def fail(event, args): raise ValueError
native.audit(fail, ('open',))
open(os.devnull).close(); open(os.devnull).close()
out(native.audit_faults())
native.audit(None, ())
open(os.devnull).close()
out([native.audit_faults(), seen])
""")
    assert (events, thread, faults, quiet) == (["open", "os.listdir", "my.event"], ["open"], 2, [0, []])


def test_audit_lets_a_signal_through(run):
    (seen,) = run("""
import os
def stop(event, args): raise KeyboardInterrupt
native.audit(stop, ('my.event',))
try: sys.audit('my.event')
except KeyboardInterrupt: out('stopped')
native.audit(None, ())
""")
    assert seen == "stopped"


def test_excludes_relative_names_and_generated_names(run):
    (names,) = run("""
native.start(('/p/', '/p/x/y/'), ('/p/x/', '/p/z'))
for file in ['/p/a', '/p/x/b', '/p/x/y/c', '/p/z', '/q', 'rel', '<string>', '<frozen x>', '']:
    exec(compile('0', file, 'exec'))
native.swap()
out([file for _, file, _, _ in native.definitions()])
""")
    assert names == ["/p/a", "/p/x/y/c", "rel"] or names == ["main_script.py", "/p/a", "/p/x/y/c", "rel"]


def test_start_twice_stop_and_start_again(run):
    before, while_off, after = run("""
native.start(('/p/',), ())
try: native.start((), ())
except RuntimeError: pass
else: raise AssertionError
def go(file='/p/a'):
    exec(compile('0', file, 'exec'))
    return len(native.swap())
out(go())
native.stop(); native.stop()
out(go())
native.start(('/p/',), ())
out([go(), native.lost()])
""")
    assert (before, while_off, after) == (1, 0, [1, None])


@pytest.mark.skipif(EARLY, reason="sys.monitoring is new in 3.12")
def test_another_monitoring_tool_and_a_taken_id(run):
    (seen,) = run("""
m = sys.monitoring
m.use_tool_id(4, 'other')
calls = []
m.register_callback(4, m.events.PY_START, lambda code, _: calls.append(code.co_name))
m.set_events(4, m.events.PY_START)
native.start((sys.path[0] + '/',), ())
import project
native.swap(); project.f(); m.restart_events(); project.f()
mine = len(native.swap())
lost = native.lost()
m.set_events(3, 0)
out([mine, 'f' in calls, lost, native.lost() is None])
""", files=[("project.py", "def f(): pass\n")])
    assert seen == [1, True, None, False]


@pytest.mark.skipif(not EARLY, reason="PEP 523 is used up to 3.11")
def test_an_eval_frame_hook_beneath_ours_is_called_and_one_above_is_noticed(run):
    (seen,) = run("""
import ctypes
api = ctypes.pythonapi
EVAL = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
get, put = api._PyInterpreterState_GetEvalFrameFunc, api._PyInterpreterState_SetEvalFrameFunc
get.restype, get.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
put.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
api.PyInterpreterState_Main.restype = ctypes.c_void_p
main = api.PyInterpreterState_Main()
default = get(main)
native.start((sys.path[0] + '/',), ())
import project
native.swap()
project.f()
ours = get(main)
chained = [ours != default, len(native.swap()), native.lost()]
put(main, default)                 # another library that forgets about us
project.f()
taken = [len(native.swap()), native.lost()]
put(main, ours)
project.f()
out([chained, taken, [len(native.swap()), native.lost()]])
""", files=[("project.py", "def f(): pass\n")])
    chained, taken, back = seen
    assert (chained, taken[0], back) == ([True, 1, None], 0, [1, None])
    assert "place" in taken[1]


def test_deep_recursion_is_survived(run):
    (seen,) = run("""
sys.setrecursionlimit(30000)
native.start((sys.path[0] + '/',), ())
import project
sys.version_info[:2] >= (3, 11) and project.down(25000) or project.down(3000)
native.swap()
lost = native.lost()
project.other()
out([lost, len(native.swap())])
""", files=[("project.py", "def down(n): return n and down(n - 1)\ndef other(): pass\n")])
    assert seen == ["a deep recursion" if sys.version_info[:2] == (3, 11) else None, 1]


def test_pdb_steps_as_usual(run):
    (seen,) = run("""
import io, pdb, project
native.start((sys.path[0] + '/',), ())
text = io.StringIO()
debugger = pdb.Pdb(stdin=io.StringIO('break project.g\\ncontinue\\nwhere\\ncontinue\\n'), stdout=text)
debugger.runcall(project.f)
native.swap()
out(['g()' in text.getvalue(), sorted(name for _, file, _, name in native.definitions() if 'project' in file)])
""", files=[("project.py", "def f(): return g()\ndef g(): return 1\n")])
    assert seen == [True, ["f", "g"]]


def test_a_sub_interpreter_is_left_alone(run):
    (seen,) = run("""
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
native.start(('/p/',), ())
native.audit(lambda *_: None, ('open',))
inner = interpreters.create()
try:
    interpreters.run_string(inner, "exec(compile('0', '/p/a', 'exec')); open('/dev/null').close()")
finally:
    interpreters.destroy(inner)
out(len(native.swap()))
""")
    assert seen == 0

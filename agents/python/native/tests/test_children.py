"""Forks, write-through and kills."""


FORK = """
import os, signal
from project import first, second, third, odd
native.swap(); native.definitions()
first(); known = native.swap(); native.definitions()
trace = os.open('t.trace', os.O_WRONLY | os.O_CREAT | os.O_APPEND)
second()
pid = os.fork()
if not pid:
    native.write_through(trace, 7)
    first(); first(); third(); odd()
    if 'close' in sys.argv:
        os.close(trace)
        assert os.open('victim', os.O_WRONLY | os.O_CREAT) == trace
        native.swap()
        first()
    os.kill(os.getpid(), signal.SIGKILL)
os.waitpid(pid, 0)
out({'lines': list(map(json.loads, open('t.trace', encoding='utf-8'))),
     'first': known[0] + native.SHIFT, 'after': native.swap(),
     'victim': os.path.exists('victim') and os.path.getsize('victim')})
"""
PROJECT = """
def first(): pass
def second(): pass
def third(): pass
exec(compile('def odd(): pass', '/proj/q"\\\\\\n\\x01é\\udcff.py', 'exec'))
"""
START = "native.start((sys.path[0] + '/', '/proj/'), ())\n"


def test_a_killed_child_leaves_all_that_ran(run):
    (seen,) = run(START + FORK, files=[("project.py", PROJECT)])
    lines, first = seen["lines"], seen["first"]
    ran = [line[2] for line in lines if line[0] == "+"]
    defined = {line[1]: line for line in lines if line[0] == "c"}
    assert all(line[1] == 7 and line[3] == [] for line in lines if line[0] == "+")
    names = [defined.get(number, [0, 0, 0, 0, "told"])[4] for (number,) in ran]
    # Pending numbers before the fork, then what the child ran.
    assert names == ["second", "told", "third", "odd"]
    assert ran[1] == [first]
    odd = next(line for line in lines if line[0] == "c" and line[4] == "odd")
    assert bytes.fromhex(odd[2]["hex"]) == b'/proj/q"\\\n\x01\xc3\xa9\xff.py'
    # The parent continues as if nothing had happened.
    assert len(seen["after"]) == 1


def test_a_closed_descriptor_is_opened_again_and_never_another_file_written(run):
    (seen,) = run(START + FORK, "close", files=[("project.py", PROJECT)])
    assert seen["victim"] == 0
    assert [line for line in seen["lines"] if line[2] == [seen["first"]]] == [
        ["+", 7, [seen["first"]], []]] * 2


def test_text_is_escaped(run):
    (lines,) = run("""
import os
native.start(('/p/',), ())
native.write_through(os.open('t', os.O_WRONLY | os.O_CREAT | os.O_APPEND))
exec(compile('0', '/p/a"\\\\\\t\\u20ac.py', 'exec'))
native.write_through(-1)
exec(compile('0', '/p/b.py', 'exec'))
out([json.loads(line) for line in open('t', encoding='utf-8')])
assert len(native.swap()) == 1
""")
    assert [line[2] for line in lines if line[0] == "c"] == ['/p/a"\\\t\u20ac.py']


def test_spawned_pools_and_threads(run):
    (seen,) = run("""
import multiprocessing, project
if __name__ == '__main__':
    native.start((sys.path[0] + '/',), ())
    context = multiprocessing.get_context('fork')
    with context.Pool(2) as pool:
        out(pool.map(project.work, range(20)))
""", files=[("project.py", "def work(n): return n * n\n")])
    assert seen == [n * n for n in range(20)]

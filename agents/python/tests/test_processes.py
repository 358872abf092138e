"""Units of other processes belong to the test that started them."""

import sys

import pytest

LIBRARY = """
    import json, os
    HERE = os.path.dirname(os.path.abspath(__file__))
    def work(n):
        return helper(n) + json.load(open(os.path.join(HERE, "data.json")))["n"]
    def helper(n):
        return n
    def other():
        return 1
"""


@pytest.fixture
def library(project):
    project.write("library.py", LIBRARY)
    project.write("data.json", '{"n": 1}')
    project.write("conftest.py")
    return project


def expect_work(run, test):
    assert {"library.py:work", "library.py:helper"} <= run.code(test)
    assert "library.py:other" not in run.code(test)
    assert "data.json" in run.paths(test, "file")


def test_source_lines_that_a_script_reads(project):
    """The agent does not load `linecache` itself."""
    library = project.write("library.py", "def f():\n    return 1\n")
    project.write("script.py", """
        import sys
        assert "linecache" not in sys.modules
        import linecache
        assert linecache.getline("library.py", 2).strip() == "return 1"
    """)
    project.write("test_it.py", """
        import subprocess, sys
        def test_script():
            subprocess.run([sys.executable, "script.py"], check=True)
        def test_other():
            pass
    """)
    run = project.pytest("test_it.py")
    assert run.of_kind("test_script", "line") == {(library, "2")}
    assert "linecache" in run.paths("test_script", "lookup")
    assert not run.of_kind("test_other", "line")


def test_fork(library):
    library.write("test_it.py", """
        import os, library
        def test_fork():
            pid = os.fork()
            if pid == 0:
                library.work(1)
                os._exit(0)
            assert os.waitpid(pid, 0)[1] == 0
        def test_other():
            library.other()
    """)
    run = library.pytest("test_it.py")
    expect_work(run, "test_fork")
    assert "library.py:work" not in run.code("test_other")
    (child,) = [one for one in run.processes.values() if one.header["fork_of"]]
    assert child.header["role"] == "child"


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(library, method):
    library.write("test_it.py", """
        import multiprocessing, library
        def test_pool():
            with multiprocessing.get_context(%r).Pool(2) as pool:
                assert pool.map(library.work, [1, 2]) == [2, 3]
        def test_other():
            library.other()
    """ % method)
    run = library.pytest("test_it.py")
    expect_work(run, "test_pool")
    assert "library.py:work" not in run.code("test_other")


def test_script_as_a_subprocess(library):
    library.write("script.py", """
        import library, sys
        def main():
            print(library.work(2))
        main()
    """)
    library.write("test_it.py", """
        import os, subprocess, sys
        def test_inherited():
            assert subprocess.check_output([sys.executable, "script.py"]) == b"3\\n"
        def test_given():
            env = {"LANG": "C"}
            assert subprocess.check_output([sys.executable, "script.py"], env=env) == b"3\\n"
            assert env == {"LANG": "C"}
        def test_nothing():
            assert not [name for name in os.environ if "TAMIS" in name]
            assert "PYTHONPATH" not in os.environ
    """)
    run = library.pytest("test_it.py")
    for test in ("test_inherited", "test_given"):
        expect_work(run, test)
        assert {"script.py:main", "script.py:<module>"} <= run.code(test)
    assert "library.py:work" not in run.code("test_nothing")
    started = {(token, pid) for _, token, pid, _, _ in run.main().starts}
    traced = {
        (one.header["spawn"], one.header["pid"])
        for one in run.processes.values()
        if one.header["role"] == "child"
    }
    assert len(started) == 2 and started == traced


def test_other_programs_leave_no_trace(library):
    library.write("test_it.py", """
        import os, platform, subprocess
        def test_call():
            subprocess.check_call(["uname"])
        def test_system():
            os.system("uname")
        def test_spawn():
            os.waitpid(os.posix_spawn("/bin/uname", ["uname"], {}), 0)
        def test_spawnv():
            os.spawnv(os.P_WAIT, "/bin/uname", ["uname"])
    """)
    run = library.pytest("test_it.py")
    starts = [start for one in run.processes.values() for start in one.starts]
    assert [one[4] for one in starts] == [None] * 4
    traced = {(one.header["spawn"], one.header["pid"]) for one in run.processes.values()}
    assert not {(one[1], one[2]) for one in starts} & traced


def test_exec(library):
    library.write("script.py", "import library; library.work(1)")
    library.write("test_it.py", """
        import os, sys
        def test_exec():
            pid = os.fork()
            if pid == 0:
                os.execv(sys.executable, [sys.executable, "script.py"])
            assert os.waitpid(pid, 0)[1] == 0
    """)
    expect_work(library.pytest("test_it.py"), "test_exec")


def test_child_killed_keeps_what_ran(library):
    library.write("test_it.py", """
        import os, signal, library
        def test_kill():
            reader, writer = os.pipe()
            pid = os.fork()
            if pid == 0:
                library.work(1)
                os.write(writer, b".")
                signal.pause()
            os.read(reader, 1)
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    """)
    expect_work(library.pytest("test_it.py"), "test_kill")


@pytest.mark.parametrize("end", ["os._exit(3)", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_crash_of_the_main_process(library, end):
    library.write("test_it.py", """
        import os, signal, library
        def test_good():
            library.other()
        def test_crash():
            %s
        def test_never():
            pass
    """ % end)
    run = library.pytest("test_it.py", check=None)
    main = run.main()
    assert set(run.outcomes()) == {"test_good"}
    assert "library.py:other" in run.code("test_good")
    assert set(main.begun) == {"test_it.py::test_good", "test_it.py::test_crash"}


def test_threads(library):
    library.write("test_it.py", """
        import concurrent.futures, threading, library
        def test_thread():
            thread = threading.Thread(target=library.work, args=(1,))
            thread.start()
            thread.join()
        def test_executor():
            with concurrent.futures.ThreadPoolExecutor(2) as executor:
                assert executor.submit(library.work, 1).result() == 2
        def test_other():
            library.other()
    """)
    run = library.pytest("test_it.py")
    expect_work(run, "test_thread")
    expect_work(run, "test_executor")
    assert "library.py:work" not in run.code("test_other")


def test_pytest_in_a_child_is_no_second_main(library):
    library.write("inner.py", "def test_inner():\n    import library\n    library.work(1)\n")
    library.write("test_it.py", """
        import subprocess, sys
        def test_outer():
            subprocess.check_call([sys.executable, "-m", "pytest", "-q", "inner.py"])
    """)
    run = library.pytest("test_it.py")
    assert set(run.outcomes()) == {"test_outer"}
    expect_work(run, "test_outer")

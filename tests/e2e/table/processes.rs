//! Code in another process than the test's.

use crate::harness::*;

cases!(untraced, filters, processes, scripts);

const SCRIPTS: &str = r#"
-- script.py --
import sys

import helper


def main():
    print(helper.used())


if len(sys.argv) > 5:
    print("too many")
main()
-- helper.py --
def used():
    return 1


def unused():
    return 2
-- reader.py --
import pathlib

print(pathlib.Path(__file__).with_name("value.txt").read_text(), end="")
-- value.txt --
1
-- tool/__init__.py --
-- tool/__main__.py --
from tool import inner

print(inner.value())
-- tool/inner.py --
def value():
    return 1
-- nested.py --
import pathlib
import subprocess
import sys

script = pathlib.Path(__file__).with_name("reader.py")
print(subprocess.check_output([sys.executable, str(script)]).decode(), end="")
-- in_process.py --
def value():
    return 1


result = value()
-- direct.py --
#!/usr/bin/env python3
print("direct")
-- test_scripts.py --
import os
import pathlib
import runpy
import subprocess
import sys

HERE = pathlib.Path(__file__).parent


def out(*arguments, **options):
    return subprocess.check_output([sys.executable] + list(arguments), cwd=str(HERE), **options)


def test_script():
    assert out("script.py") == b"1\n"


def test_reader():
    assert out(str(HERE / "reader.py")) == b"1\n"


def test_module():
    assert out("-m", "tool") == b"1\n"


def test_program():
    assert out("-c", "import helper; print(helper.unused())") == b"2\n"


def test_nested():
    assert out("nested.py") == b"1\n"


def test_os_system():
    assert os.system("cd '{}' && '{}' -m tool > /dev/null".format(HERE, sys.executable)) == 0


def test_popen():
    with os.popen("cd '{}' && '{}' -m tool".format(HERE, sys.executable)) as pipe:
        assert pipe.read() == "1\n"


def test_executable():
    assert subprocess.check_output([str(HERE / "direct.py")]) == b"direct\n"


def test_runpy():
    assert runpy.run_path(str(HERE / "in_process.py"))["result"] == 1


def test_none():
    pass
"#;

/// Python programs started as a subprocess.
fn scripts() -> Case {
    Case::new(SCRIPTS)
        .setup([python("import os; os.chmod('direct.py', 0o755)")])
        // A shell is between the test and Python: it is unknown what it read.
        .always([
            "test_scripts.py::test_os_system",
            "test_scripts.py::test_popen",
        ])
        .edit(
            "body of the script",
            [replace(
                "script.py",
                "print(helper.used())",
                "print(helper.used() + 1)",
            )],
            ["! test_scripts.py::test_script"],
        )
        .edit(
            "top level of the script",
            [append("script.py", "print(0)\n")],
            ["! test_scripts.py::test_script"],
        )
        .edit(
            "function that the script's import runs",
            [replace("helper.py", "return 1", "return 3")],
            ["! test_scripts.py::test_script"],
        )
        .edit(
            "function that another program runs",
            [replace("helper.py", "return 2", "return 3")],
            ["! test_scripts.py::test_program"],
        )
        .edit(
            "constant in the script's import",
            [append("helper.py", "LIMIT = 1\n")],
            [
                "test_scripts.py::test_script",
                "test_scripts.py::test_program",
            ],
        )
        .edit(
            "data file of the script",
            [write("value.txt", "2\n")],
            [
                "! test_scripts.py::test_reader",
                "! test_scripts.py::test_nested",
            ],
        )
        .edit(
            "script of a script",
            [append("reader.py", "print(2)\n")],
            [
                "! test_scripts.py::test_reader",
                "! test_scripts.py::test_nested",
            ],
        )
        .edit(
            "package run with -m",
            [replace("tool/inner.py", "return 1", "return 2")],
            [
                "! test_scripts.py::test_module",
                "! test_scripts.py::test_popen",
            ],
        )
        .edit(
            "script run in process",
            [replace("in_process.py", "return 1", "return 2")],
            ["! test_scripts.py::test_runpy"],
        )
        .edit(
            "comment in the script",
            [append("script.py", "# end\n")],
            NONE,
        )
}

/// Processes of which tamis sees nothing: their tests always run.
fn untraced() -> Case {
    Case::new(
        r#"
-- value.txt --
1
-- shell.sh --
cat value.txt
-- test_untraced.py --
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent


def test_shell_script():
    assert subprocess.check_output(["sh", "shell.sh"], cwd=str(HERE)) == b"1\n"


def test_empty_environment():
    program = "print(open('value.txt').read(), end='')"
    assert subprocess.check_output([sys.executable, "-c", program], cwd=str(HERE), env={}) == b"1\n"


def test_isolated():
    program = "print(open('value.txt').read(), end='')"
    assert subprocess.check_output([sys.executable, "-I", "-S", "-c", program], cwd=str(HERE)) == b"1\n"


def test_traced():
    assert subprocess.check_output([sys.executable, "-c", "print(1)"]) == b"1\n"


def test_none():
    pass
"#,
    )
    .edit(
        "nothing",
        [],
        between(
            ["test_untraced.py::test_shell_script"],
            ["test_untraced.py::test_empty_environment", "test_untraced.py::test_isolated"],
        ),
    )
    .because("test_untraced.py::test_shell_script", "incomplete")
    .edit(
        "what they read",
        [write("value.txt", "2\n")],
        [
            "! test_untraced.py::test_shell_script",
            "! test_untraced.py::test_empty_environment",
            "! test_untraced.py::test_isolated",
        ],
    )
    .edit(
        "the shell script",
        [write("shell.sh", "cat value.txt value.txt\n")],
        between(
            ["! test_untraced.py::test_shell_script"],
            ["test_untraced.py::test_empty_environment", "test_untraced.py::test_isolated"],
        ),
    )
}

/// System programs that only read their input.
fn filters() -> Case {
    Case::new(
        r#"
-- value.txt --
1
-- other.txt --
other
-- test_filters.py --
import os
import pathlib
import subprocess

HERE = pathlib.Path(__file__).parent


def test_input():
    assert subprocess.check_output(["cat"], input=b"1") == b"1"


def test_file():
    assert subprocess.check_output(["cat", "-u", "value.txt"], cwd=str(HERE)) == b"1\n"


def test_open_file():
    with open(str(HERE / "value.txt")) as file:
        assert subprocess.check_output(["/bin/cat", "-"], stdin=file) == b"1\n"


def test_missing():
    assert subprocess.call(["cat", "missing.txt"], cwd=str(HERE), stderr=subprocess.DEVNULL) == 1


def test_linked():
    env = dict(PATH=os.environ["PATH"], LD_PRELOAD="")
    assert subprocess.check_output(["cat"], input=b"1", env=env) == b"1"


def test_shell():
    assert subprocess.check_output("cat value.txt", shell=True, cwd=str(HERE)) == b"1\n"
"#,
    )
    .edit(
        "nothing",
        [],
        [
            "test_filters.py::test_missing",
            "test_filters.py::test_linked",
            "test_filters.py::test_shell",
        ],
    )
    .because("test_filters.py::test_missing", "incomplete")
    .edit(
        "what they read",
        [write("value.txt", "2\n")],
        [
            "! test_filters.py::test_file",
            "! test_filters.py::test_open_file",
            "test_filters.py::test_missing",
            "test_filters.py::test_linked",
            "! test_filters.py::test_shell",
        ],
    )
    .edit(
        "another file",
        [write("other.txt", "more\n")],
        [
            "test_filters.py::test_missing",
            "test_filters.py::test_linked",
            "test_filters.py::test_shell",
        ],
    )
}

/// One process that runs a function of the project.
fn processes() -> Case {
    Case::new(
        r#"
-- work.py --
def by_fork(queue):
    queue.put(forked())


def forked():
    return 1


def by_spawn(queue):
    queue.put(spawned())


def spawned():
    return 1


def by_os_fork():
    return 0
-- test_processes.py --
import multiprocessing
import os
import time

import work


def test_fork():
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=work.by_fork, args=(queue,))
    process.start()
    assert queue.get(timeout=60) == 1
    process.join()


def test_spawn():
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=work.by_spawn, args=(queue,))
    process.start()
    assert queue.get(timeout=60) == 1
    process.join()


def test_os_fork():
    pid = os.fork()
    if pid == 0:
        os._exit(work.by_os_fork())
    assert os.waitpid(pid, 0)[1] == 0


def test_none():
    assert work.__name__ == "work"
"#,
    )
    .edit(
        "fork",
        [replace(
            "work.py",
            "def forked():\n    return 1",
            "def forked():\n    return 2",
        )],
        ["! test_processes.py::test_fork"],
    )
    .edit(
        "spawn",
        [replace(
            "work.py",
            "def spawned():\n    return 1",
            "def spawned():\n    return 2",
        )],
        // Everybody may meet the other one's handler for the end of the process.
        between(
            ["! test_processes.py::test_spawn"],
            ["test_processes.py::test_fork"],
        ),
    )
    .edit(
        "os.fork and os._exit",
        [replace("work.py", "return 0", "return 3")],
        ["! test_processes.py::test_os_fork"],
    )
    .edit(
        "constant",
        [append("work.py", "LIMIT = 1\n")],
        // Its child finds the function by a pickled name.
        ["test_processes.py::test_spawn"],
    )
}

//! Imports that start threads and processes or write files: what they do is no value.

use crate::harness::*;

cases!(imports, in_children);

const IMPORTS: &str = r#"
-- threaded.py --
import threading

RESULT = {}


def work():
    RESULT["a"] = 1


thread = threading.Thread(target=work)
thread.start()
thread.join()
-- forked.py --
import os
import pathlib

HERE = pathlib.Path(__file__).parent


def child():
    (HERE / "forked.tmp").write_text("1")


pid = os.fork()
if pid == 0:
    child()
    os._exit(0)
os.waitpid(pid, 0)
-- program.py --
def say():
    return 1


if __name__ == "__main__":
    print(say())
-- started.py --
import pathlib
import subprocess
import sys

PROGRAM = pathlib.Path(__file__).with_name("program.py")
OUTPUT = subprocess.run([sys.executable, str(PROGRAM)], stdout=subprocess.PIPE).stdout
-- written.py --
import pathlib

PATH = pathlib.Path(__file__).with_name("written.tmp")


def content():
    return "1"


PATH.write_text(content())
-- read.py --
import pathlib

DATA = int(pathlib.Path(__file__).with_name("data.txt").read_text())
SAME = 5
-- data.txt --
1
-- .gitignore --
*.tmp
__pycache__/
.pytest_cache/
.tamis/
-- test_threaded.py --
import threaded


def test_result():
    assert threaded.RESULT["a"] == 1
-- test_forked.py --
import pathlib

import forked


def test_file():
    assert pathlib.Path(__file__).with_name("forked.tmp").read_text() == "1"
-- test_started.py --
import started


def test_output():
    assert started.OUTPUT.strip() == b"1"
-- test_written.py --
import pathlib

import written


def test_file():
    assert pathlib.Path(__file__).with_name("written.tmp").read_text() == "1"
-- test_read.py --
import read


def test_data():
    assert read.DATA == 1


def test_same():
    assert read.SAME == 5
"#;

fn imports() -> Case {
    Case::new(IMPORTS)
        .by_value()
        .edit(
            "a thread",
            [replace("threaded.py", "= 1", "= 2")],
            at_least(["! test_threaded.py::test_result"]),
        )
        .edit(
            "a fork",
            [replace("forked.py", "\"1\"", "\"2\"")],
            at_least(["! test_forked.py::test_file"]),
        )
        .edit(
            "a program",
            [replace("program.py", "return 1", "return 2")],
            at_least(["! test_started.py::test_output"]),
        )
        .edit(
            "a written file",
            [replace("written.py", "return \"1\"", "return \"2\"")],
            at_least(["! test_written.py::test_file"]),
        )
        .edit(
            "a file that is read at import",
            [write("data.txt", "2\n")],
            ["! test_read.py::test_data"],
        )
        .edit(
            "the same in a file that is read at import",
            [write("data.txt", "01\n")],
            NONE,
        )
}

/// Import-time code that runs in child processes of tests.
fn in_children() -> Case {
    Case::new(
        r#"
-- lib.py --
def value():
    return 1


VALUE = value()
-- test_children.py --
import os
import subprocess
import sys

import lib


def test_program():
    program = "import lib; print(lib.VALUE)"
    env = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.abspath(__file__)))
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, env=env)
    assert done.stdout.strip() == b"1"


def test_name():
    assert lib.__name__ == "lib"
"#,
    )
    .by_value()
    .edit(
        "a value in the child",
        [replace("lib.py", "return 1", "return 2")],
        ["! test_children.py::test_program"],
    )
    .edit(
        "a value in the child only",
        [append(
            "lib.py",
            "\nimport sys\nif 'pytest' not in sys.modules:\n    VALUE = 3\n",
        )],
        ["! test_children.py::test_program"],
    )
}

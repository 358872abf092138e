//! Imports that start threads and processes or write files: what they do is no value.

use crate::harness::*;

cases!(imports, in_children, changed_in_children, servers);

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

/// A process that a test starts fills a memo of its own, not that of the tests.
fn changed_in_children() -> Case {
    Case::new(
        r#"
-- memo.py --
CACHE = {}


def value(key):
    if key not in CACHE:
        CACHE[key] = key + 1
    return CACHE[key]
-- option.py --
def limit():
    return 5
-- test_memo.py --
import os
import subprocess
import sys

import memo
import option


def test_first():
    assert memo.value(1) == 2
    assert option.limit() == 5


def test_program():
    program = "import memo; print(memo.value(1))"
    env = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.abspath(__file__)))
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, env=env)
    assert done.stdout.strip() == b"2"


def test_later():
    assert memo.value(1) == 2
"#,
    )
    .by_value()
    .edit(
        "what the first test calls",
        [replace("option.py", "return 5", "return 6")],
        // Code that runs in the process counts as if it ran here, where no test asks for a key.
        ["! test_memo.py::test_first", "test_memo.py::test_program"],
    )
    .edit(
        "what all three call",
        [replace("memo.py", "key + 1", "key + 2")],
        [
            "! test_memo.py::test_first",
            "! test_memo.py::test_program",
            "! test_memo.py::test_later",
        ],
    )
}

/// A process that a fixture starts keeps what one test tells it, and another one asks for that.
fn servers() -> Case {
    Case::new(
        r#"
-- server.py --
import sys

kept = 0


def answer(line):
    global kept
    word, _, number = line.partition(" ")
    if word == "keep":
        kept = int(number)
    return kept


if __name__ == "__main__":
    for line in sys.stdin:
        print(answer(line.strip()), flush=True)
-- number.py --
def girth():
    return 5
-- conftest.py --
import pathlib
import subprocess
import sys

import pytest

SERVER = str(pathlib.Path(__file__).with_name("server.py"))


@pytest.fixture(scope="session")
def ask():
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, SERVER], stdin=pipe, stdout=pipe, text=True)

    def ask(line):
        process.stdin.write(line + "\n")
        process.stdin.flush()
        return int(process.stdout.readline())

    yield ask
    process.communicate()


@pytest.fixture(scope="session")
def answered():
    command = [sys.executable, SERVER]
    return subprocess.run(command, input="keep 3\n", stdout=subprocess.PIPE, text=True).stdout
-- test_server.py --
import number


def test_keep(ask):
    assert ask("keep {}".format(number.girth())) > 0


def test_other():
    assert number.girth() < 10


def test_kept(ask):
    assert ask("what") == 5
-- test_over.py --
import number


def test_answer(answered):
    assert answered == "3\n" and number.girth() < 10


def test_again(answered):
    assert answered == "3\n"
"#,
    )
    .by_value()
    .edit(
        "what a test tells the server",
        [replace("number.py", "return 5", "return 6")],
        [
            "test_server.py::test_keep",
            "test_server.py::test_other",
            "! test_server.py::test_kept",
            "test_over.py::test_answer",
        ],
    )
    .edit(
        "what one asks, and it needs the other one",
        [replace("test_server.py", "== 5", "== 2 + 3")],
        ["test_server.py::test_keep", "test_server.py::test_kept"],
    )
    .edit(
        "a test of a process that is over",
        [replace("test_over.py", " and number", " and 0 < number")],
        ["test_over.py::test_answer"],
    )
}

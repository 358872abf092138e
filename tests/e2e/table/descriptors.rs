//! Files reached by other means than their path: descriptors, other names, modes.

use crate::harness::*;

cases!(
    beneath_descriptors,
    executable,
    other_names,
    told_elsewhere,
    dispatch
);

fn beneath_descriptors() -> Case {
    Case::new(
        r#"
-- data/x.txt --
1
-- test_fd.py --
import os

import pytest


@pytest.fixture
def data():
    descriptor = os.open("data", os.O_RDONLY)
    yield descriptor
    os.close(descriptor)


def test_open(data):
    file = os.open("x.txt", os.O_RDONLY, dir_fd=data)
    assert os.read(file, 1) == b"1"
    os.close(file)


def test_stat(data):
    assert os.stat("x.txt", dir_fd=data).st_size == 2


def test_missing(data):
    with pytest.raises(FileNotFoundError):
        os.stat("new.txt", dir_fd=data)


def test_listdir(data):
    assert os.listdir(data) == ["x.txt"]


def test_scandir(data):
    with os.scandir(data) as entries:
        assert [entry.name for entry in entries] == ["x.txt"]


def test_fwalk():
    assert [files for _, _, files, _ in os.fwalk("data")] == [["x.txt"]]


def test_none():
    pass
"#,
    )
    .edit(
        "content",
        [write("data/x.txt", "2\n")],
        between(
            ["! test_fd.py::test_open", "test_fd.py::test_stat"],
            ["test_fd.py::test_fwalk"],
        ),
    )
    .edit(
        "a file appears",
        [write("data/new.txt", "")],
        [
            "! test_fd.py::test_missing",
            "! test_fd.py::test_listdir",
            "! test_fd.py::test_scandir",
            "! test_fd.py::test_fwalk",
        ],
    )
}

fn executable() -> Case {
    Case::new(
        r#"
-- bin/tool --
#!/bin/sh
-- test_mode.py --
import os
import shutil


def test_access():
    assert not os.access("bin/tool", os.X_OK)


def test_which():
    assert shutil.which("tool", path="bin") is None


def test_exists():
    assert os.access("bin/tool", os.F_OK)
"#,
    )
    .edit(
        "chmod",
        [python("import os; os.chmod('bin/tool', 0o755)")],
        ["! test_mode.py::test_access", "! test_mode.py::test_which"],
    )
}

/// The content of a file gets elsewhere, or exists before it is written.
fn other_names() -> Case {
    Case::new(
        r#"
-- data/moved --
1
-- data/linked --
1
-- data/added --
1
-- lib.py --
# one
-- test_names.py --
import os

import lib


def test_moved(tmp_path):
    os.rename("data/moved", tmp_path / "z")
    try:
        assert (tmp_path / "z").read_text() == "1\n"
    finally:
        os.rename(tmp_path / "z", "data/moved")


def test_linked(tmp_path):
    os.link("data/linked", tmp_path / "z")
    assert (tmp_path / "z").read_text() == "1\n"


def test_written():
    with open("data/added") as file:
        text = file.read()
    with open("data/added", "w") as file:
        file.write(text)


def test_added():
    with open("data/added", "a+") as file:
        file.seek(0)
        assert file.read() == "1\n"


def test_source():
    assert lib.__loader__.get_source("lib").startswith('# one')
"#,
    )
    .edit(
        "rename",
        [write("data/moved", "2\n")],
        ["! test_names.py::test_moved"],
    )
    .edit(
        "link",
        [write("data/linked", "2\n")],
        ["! test_names.py::test_linked"],
    )
    .edit(
        "to append",
        [write("data/added", "2\n")],
        ["test_names.py::test_written", "! test_names.py::test_added"],
    )
    .edit(
        "a loader's text",
        [write("lib.py", "# two\n")],
        ["! test_names.py::test_source"],
    )
}

/// Programs that need no trace, unless something runs or opens files in between.
fn told_elsewhere() -> Case {
    Case::new(
        r#"
-- d/x --
1
-- x --
0
-- test_cat.py --
import os
import subprocess


def test_plain():
    assert subprocess.check_output(["cat", "d/x"]) == b"1\n"


def test_folder():
    assert subprocess.check_output(["cat", "x"], cwd="d") == b"1\n"


def test_function():
    assert subprocess.check_output(["cat", "x"], preexec_fn=lambda: os.chdir("d")) == b"1\n"


def test_actions():
    here, there = os.pipe()
    actions = [(os.POSIX_SPAWN_OPEN, 0, "d/x", os.O_RDONLY, 0), (os.POSIX_SPAWN_DUP2, there, 1)]
    pid = os.posix_spawn("/bin/cat", ["cat"], os.environ, file_actions=actions)
    os.waitpid(pid, 0)
    assert os.read(here, 9) == b"1\n"


def test_replaced():
    pid = os.fork()
    if not pid:
        os.execvp("grep", ["grep", "-q", "1", "d/x"])
    assert os.waitpid(pid, 0)[1] == 0
"#,
    )
    .always([
        "test_cat.py::test_function",
        "test_cat.py::test_actions",
        "test_cat.py::test_replaced",
    ])
    .edit("a file of none", [write("other.txt", "")], NONE)
    .edit("the file in the current folder", [write("x", "3\n")], NONE)
}

/// The registry of a `functools.singledispatch` function is state.
fn dispatch() -> Case {
    Case::new(
        r#"
-- app.py --
import functools


@functools.singledispatch
def kind(value):
    return 0


class Kinds:
    @functools.singledispatchmethod
    def kind(self, value):
        return 0


def one(value):
    return 1


def two(value):
    return 2


def add():
    kind.register(int, one)


def add_method():
    Kinds.__dict__["kind"].register(int, lambda self, value: one(value))
-- test_kinds.py --
import app


def test_add():
    app.add()
    app.add_method()


def test_function():
    assert app.kind(3) == 1


def test_method():
    assert app.Kinds().kind(3) == 1


def test_none():
    assert app.two(0) == 2
"#,
    )
    .edit(
        "function",
        [replace(
            "app.py",
            "kind.register(int, one)",
            "kind.register(int, two)",
        )],
        between(
            ["test_kinds.py::test_add", "! test_kinds.py::test_function"],
            ["test_kinds.py::test_method"],
        ),
    )
    .edit(
        "method",
        [replace("app.py", "value: one(value)", "value: two(value)")],
        between(
            ["test_kinds.py::test_add", "! test_kinds.py::test_method"],
            ["test_kinds.py::test_function"],
        ),
    )
}

//! Files that a test reads, lists, or searches for.

use crate::harness::*;

cases!(listing, existence, links, sqlite, content, resources);

const CONTENT: &str = r#"
-- data/text.txt --
1
-- data/path.txt --
1
-- data/bytes.bin --
1
-- data/low.txt --
1
-- data/conf.ini --
[a]
value = 1
-- data/copied.txt --
1
-- data/mapped.txt --
1
-- data/lines.txt --
1
-- data/unused.txt --
1
-- test_read.py --
import codecs
import configparser
import fileinput
import mmap
import os
import pathlib
import shutil

HERE = pathlib.Path(__file__).parent / "data"


def test_open():
    with open(os.path.join(os.path.dirname(__file__), "data", "text.txt")) as file:
        assert file.read() == "1\n"


def test_pathlib():
    assert (HERE / "path.txt").read_text() == "1\n"
    assert codecs.open(str(HERE / "path.txt"), encoding="utf-8").read() == "1\n"


def test_bytes():
    assert (HERE / "bytes.bin").read_bytes() == b"1\n"


def test_os_open():
    number = os.open(str(HERE / "low.txt"), os.O_RDONLY)
    try:
        assert os.read(number, 10) == b"1\n"
    finally:
        os.close(number)


def test_config_parser():
    parser = configparser.ConfigParser()
    parser.read([str(HERE / "conf.ini"), str(HERE / "local.ini")])
    assert parser["a"]["value"] == "1"


def test_copy(tmp_path):
    shutil.copy(str(HERE / "copied.txt"), str(tmp_path / "copy"))
    assert (tmp_path / "copy").read_text() == "1\n"


def test_mmap():
    with open(str(HERE / "mapped.txt"), "rb") as file:
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            assert mapped[:] == b"1\n"


def test_relative(monkeypatch):
    monkeypatch.chdir(HERE)
    assert list(fileinput.input("lines.txt")) == ["1\n"]


def test_none():
    assert HERE.name == "data"
"#;

/// The ways to open a file.
fn content() -> Case {
    Case::new(CONTENT)
        .edit(
            "open",
            [write("data/text.txt", "2\n")],
            ["! test_read.py::test_open"],
        )
        .edit(
            "pathlib",
            [write("data/path.txt", "2\n")],
            ["! test_read.py::test_pathlib"],
        )
        .edit(
            "bytes",
            [write("data/bytes.bin", "2\n")],
            ["! test_read.py::test_bytes"],
        )
        .edit(
            "os.open",
            [write("data/low.txt", "2\n")],
            ["! test_read.py::test_os_open"],
        )
        .edit(
            "configparser",
            [write("data/conf.ini", "[a]\nvalue = 2\n")],
            ["! test_read.py::test_config_parser"],
        )
        .edit(
            "file that was missing",
            [write("data/local.ini", "[a]\nvalue = 3\n")],
            ["! test_read.py::test_config_parser"],
        )
        .edit(
            "shutil",
            [write("data/copied.txt", "2\n")],
            ["! test_read.py::test_copy"],
        )
        .edit(
            "mmap",
            [write("data/mapped.txt", "2\n")],
            ["! test_read.py::test_mmap"],
        )
        .edit(
            "relative path after chdir",
            [write("data/lines.txt", "2\n")],
            ["! test_read.py::test_relative"],
        )
        .edit(
            "file deleted",
            [delete("data/text.txt")],
            ["! test_read.py::test_open"],
        )
        .edit(
            "two at once",
            [
                write("data/text.txt", "2\n"),
                append("data/bytes.bin", "2\n"),
            ],
            ["! test_read.py::test_open", "! test_read.py::test_bytes"],
        )
        .edit("unused file", [write("data/unused.txt", "2\n")], NONE)
        .edit(
            "new file that nobody looks for",
            [write("data/new.txt", "2\n")],
            NONE,
        )
}

/// Directories that are listed.
fn listing() -> Case {
    Case::new(
        r#"
-- listdir/a.txt --
a
-- scandir/a.txt --
a
-- iterdir/a.txt --
a
-- glob/a.txt --
a
-- walk/deep/er/a.txt --
a
-- rglob/deep/a.txt --
a
-- test_list.py --
import glob
import os
import pathlib

HERE = pathlib.Path(__file__).parent


def test_listdir():
    assert os.listdir(str(HERE / "listdir")) == ["a.txt"]


def test_scandir():
    with os.scandir(str(HERE / "scandir")) as entries:
        assert [entry.name for entry in entries] == ["a.txt"]


def test_iterdir():
    assert [path.name for path in (HERE / "iterdir").iterdir()] == ["a.txt"]


def test_glob():
    assert len(glob.glob(str(HERE / "glob" / "*.txt"))) == 1


def test_walk():
    assert [files for _, _, files in os.walk(str(HERE / "walk"))] == [[], [], ["a.txt"]]


def test_rglob():
    assert len(list((HERE / "rglob").rglob("*.txt"))) == 1


def test_none():
    assert (HERE / "listdir" / "a.txt").read_text() == "a\n"
"#,
    )
    .edit(
        "listdir gains a file",
        [write("listdir/b.txt", "")],
        ["! test_list.py::test_listdir"],
    )
    .edit(
        "scandir gains a file",
        [write("scandir/b.txt", "")],
        ["! test_list.py::test_scandir"],
    )
    .edit(
        "iterdir gains a file",
        [write("iterdir/b.txt", "")],
        ["! test_list.py::test_iterdir"],
    )
    .edit(
        "glob gains a match",
        [write("glob/b.txt", "")],
        ["! test_list.py::test_glob"],
    )
    .edit(
        "walk gains a deep file",
        [write("walk/deep/er/b.txt", "")],
        ["! test_list.py::test_walk"],
    )
    .edit(
        "rglob gains a deep file",
        [write("rglob/deep/b.txt", "")],
        ["! test_list.py::test_rglob"],
    )
    .edit(
        "listing loses its file",
        [delete("listdir/a.txt")],
        ["! test_list.py::test_listdir", "! test_list.py::test_none"],
    )
    .edit(
        "content of a listed file",
        [write("listdir/a.txt", "b\n")],
        ["! test_list.py::test_none"],
    )
    .edit(
        "file becomes a folder",
        [delete("glob/a.txt"), write("glob/a.txt/inside", "")],
        ["test_list.py::test_glob"],
    )
}

/// Files that a test searches for without reading them.
fn existence() -> Case {
    Case::new(
        r#"
-- data/here.txt --
1
-- test_exist.py --
import os
import pathlib

HERE = pathlib.Path(__file__).parent / "data"


def test_open_missing():
    try:
        text = open(str(HERE / "opened.txt")).read()
    except FileNotFoundError:
        text = "default"
    assert text == "default"


def test_exists():
    assert not os.path.exists(str(HERE / "exists.txt"))


def test_is_file():
    assert not (HERE / "isfile.txt").is_file()


def test_is_dir():
    assert not os.path.isdir(str(HERE / "isdir"))


def test_stat():
    try:
        size = os.stat(str(HERE / "stat.txt")).st_size
    except FileNotFoundError:
        size = -1
    assert size == -1


def test_access():
    assert not os.access(str(HERE / "access.txt"), os.R_OK)


def test_size():
    assert os.path.getsize(str(HERE / "here.txt")) == 2


def test_present():
    assert (HERE / "here.txt").exists()


def test_none():
    pass
"#,
    )
    .edit(
        "opened appears",
        [write("data/opened.txt", "x")],
        ["! test_exist.py::test_open_missing"],
    )
    .edit(
        "os.path.exists",
        [write("data/exists.txt", "x")],
        ["! test_exist.py::test_exists"],
    )
    .edit(
        "Path.is_file",
        [write("data/isfile.txt", "x")],
        ["! test_exist.py::test_is_file"],
    )
    .edit(
        "os.path.isdir",
        [write("data/isdir/x", "x")],
        ["! test_exist.py::test_is_dir"],
    )
    .edit(
        "os.stat",
        [write("data/stat.txt", "x")],
        ["! test_exist.py::test_stat"],
    )
    .edit(
        "os.access",
        [write("data/access.txt", "x")],
        ["! test_exist.py::test_access"],
    )
    .edit(
        "size changes",
        [write("data/here.txt", "22\n")],
        between(
            ["! test_exist.py::test_size"],
            ["test_exist.py::test_present"],
        ),
    )
    .edit(
        "present file goes",
        [delete("data/here.txt"), write("data/there.txt", "")],
        [
            "! test_exist.py::test_size",
            "! test_exist.py::test_present",
        ],
    )
    .edit(
        "folder appears where a file was sought",
        [write("data/isfile.txt/x", "x")],
        ["test_exist.py::test_is_file"],
    )
}

/// Symbolic links on the way to a file.
fn links() -> Case {
    Case::new(
        r#"
-- data/one.txt --
1
-- data/two.txt --
2
-- dirs/one/value.txt --
1
-- dirs/two/value.txt --
2
-- test_links.py --
import pathlib

HERE = pathlib.Path(__file__).parent


def test_link():
    assert (HERE / "current.txt").read_text() == "1\n"


def test_chain():
    assert (HERE / "chain.txt").read_text() == "1\n"


def test_through_folder():
    assert (HERE / "current" / "value.txt").read_text() == "1\n"


def test_direct():
    assert (HERE / "data" / "one.txt").read_text() == "1\n"


def test_readlink():
    assert str((HERE / "named").resolve()).endswith("one.txt")


def test_dangling():
    assert not (HERE / "dangling").exists()
"#,
    )
    .setup([
        symlink("current.txt", "data/one.txt"),
        symlink("second.txt", "data/one.txt"),
        symlink("chain.txt", "second.txt"),
        symlink("current", "dirs/one"),
        symlink("named", "data/one.txt"),
        symlink("dangling", "data/three.txt"),
    ])
    .edit(
        "link retargeted",
        [symlink("current.txt", "data/two.txt")],
        ["! test_links.py::test_link"],
    )
    .edit(
        "second link of a chain retargeted",
        [symlink("second.txt", "data/two.txt")],
        ["! test_links.py::test_chain"],
    )
    .edit(
        "link to a folder retargeted",
        [symlink("current", "dirs/two")],
        ["! test_links.py::test_through_folder"],
    )
    .edit(
        "target edited",
        [write("data/one.txt", "3\n")],
        between(
            [
                "! test_links.py::test_link",
                "! test_links.py::test_chain",
                "! test_links.py::test_direct",
            ],
            ["test_links.py::test_readlink"],
        ),
    )
    .edit(
        "file behind a linked folder edited",
        [write("dirs/one/value.txt", "3\n")],
        ["! test_links.py::test_through_folder"],
    )
    .edit(
        "resolved link retargeted",
        [symlink("named", "data/two.txt")],
        ["! test_links.py::test_readlink"],
    )
    .edit(
        "target of a dangling link appears",
        [write("data/three.txt", "3\n")],
        ["! test_links.py::test_dangling"],
    )
    .edit(
        "link becomes a file with the same content",
        [delete("current.txt"), write("current.txt", "1\n")],
        ["test_links.py::test_link"],
    )
}

/// A database file.
fn sqlite() -> Case {
    Case::new(
        r#"
-- make.py --
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1])
db.execute("drop table if exists t")
db.execute("create table t (x)")
db.execute("insert into t values (?)", (sys.argv[2],))
db.commit()
db.close()
-- test_sqlite.py --
import pathlib
import sqlite3

HERE = pathlib.Path(__file__).parent


def test_path():
    db = sqlite3.connect(str(HERE / "a.db"))
    assert db.execute("select x from t").fetchone() == ("1",)
    db.close()


def test_uri():
    db = sqlite3.connect("file:{}?mode=ro".format(HERE / "b.db"), uri=True)
    assert db.execute("select x from t").fetchone() == ("1",)
    db.close()


def test_memory():
    db = sqlite3.connect(":memory:")
    assert db.execute("select 1").fetchone() == (1,)
    db.close()
"#,
    )
    .setup([python("import subprocess, sys\nfor name in 'ab': subprocess.check_call([sys.executable, 'make.py', name + '.db', '1'])")])
    .edit("by path", [python("import runpy, sys; sys.argv = ['', 'a.db', '2']; runpy.run_path('make.py')")], ["! test_sqlite.py::test_path"])
    .edit("by URI", [python("import runpy, sys; sys.argv = ['', 'b.db', '2']; runpy.run_path('make.py')")], ["! test_sqlite.py::test_uri"])
    .edit("the script that made it", [append("make.py", "print('done')\n")], NONE)
}

/// Files that belong to a package.
fn resources() -> Case {
    Case::new(
        r#"
-- pkg/__init__.py --
-- pkg/read.txt --
1
-- pkg/pkgutil.txt --
1
-- pkg/loader.txt --
1
-- pkg/path.txt --
1
-- test_resources.py --
import importlib.resources
import pkgutil
import sys

import pkg


def test_resources():
    if sys.version_info >= (3, 9):
        text = importlib.resources.files("pkg").joinpath("read.txt").read_text()
    else:
        text = importlib.resources.read_text("pkg", "read.txt")
    assert text == "1\n"


def test_pkgutil():
    assert pkgutil.get_data("pkg", "pkgutil.txt") == b"1\n"


def test_loader():
    path = pkg.__file__.replace("__init__.py", "loader.txt")
    assert pkg.__loader__.get_data(path) == b"1\n"


def test_as_file():
    if sys.version_info < (3, 9):
        with importlib.resources.path("pkg", "path.txt") as path:
            assert path.read_text() == "1\n"
        return
    source = importlib.resources.files("pkg") / "path.txt"
    with importlib.resources.as_file(source) as path:
        assert path.read_text() == "1\n"


def test_package():
    assert pkg.__name__ == "pkg"
"#,
    )
    .edit(
        "importlib.resources",
        [write("pkg/read.txt", "2\n")],
        ["! test_resources.py::test_resources"],
    )
    .edit(
        "pkgutil",
        [write("pkg/pkgutil.txt", "2\n")],
        ["! test_resources.py::test_pkgutil"],
    )
    .edit(
        "loader",
        [write("pkg/loader.txt", "2\n")],
        ["! test_resources.py::test_loader"],
    )
    .edit(
        "as_file",
        [write("pkg/path.txt", "2\n")],
        ["! test_resources.py::test_as_file"],
    )
    .edit(
        "the package itself",
        [write("pkg/__init__.py", "VALUE = 1\n")],
        // The search for resources holds the package.
        all_but(["test_resources.py::test_package"], []),
    )
}

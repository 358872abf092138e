//! Edits of files that tests use.

use super::check;
use crate::harness::Edit::{Env, Replace, Write};
use crate::harness::Row;

const OF_FILES: &[Row] = &[
    (
        "a golden file",
        Write("files/testdata/golden.txt", "other\n"),
        "files.TestGolden files.TestAgain",
    ),
    (
        "a file that appears",
        Write("files/testdata/absent.txt", "x\n"),
        "files.TestAbsent",
    ),
    (
        "a name in a folder",
        Write("files/testdata/many/two", "x\n"),
        "files.TestNames",
    ),
    (
        "a file that no test reads",
        Write("files/testdata/unused.txt", "x\n"),
        "",
    ),
    (
        "a script",
        Write("files/testdata/script.sh", "echo other\n"),
        "files.TestScript",
    ),
    (
        "what a script reads",
        Write("files/testdata/by_script.txt", "x\n"),
        "files.TestScript",
    ),
    (
        "a file that is embedded",
        Write("files/banner.txt", "bye\n"),
        "files",
    ),
    (
        "a new file that is embedded",
        Write("files/pages/b.html", "x\n"),
        "files",
    ),
    ("a variable", Env("FLAVOUR", "sour"), "calc files app"),
    (
        "a source that git ignores",
        Write(
            "calc/made.gen.go",
            "package calc\n\nfunc init() { table[\"one\"] = 9 }\n",
        ),
        "calc app",
    ),
    (
        "a module around a package",
        Write("files/go.mod", "module example.com/demo/files\n\ngo 1.22\n"),
        "",
    ),
    (
        "what a function of files does",
        Replace(
            "files/files.go",
            "return len(entries)",
            "return len(entries) + 1",
        ),
        "files.TestNames",
    ),
    (
        "what a process of the same program does",
        Replace(
            "files/files.go",
            "return strings.TrimSpace(string(text))\n}\n\nfunc Names",
            "return string(text)\n}\n\nfunc Names",
        ),
        "files.TestGolden files.TestAbsent files.TestTemp files.TestAgain",
    ),
];

#[test]
fn files() {
    check(OF_FILES);
}

//! Edits, and the tests that run after each. The truth is what `ctest` finds.

use super::harness::{has_cmake, plain, project};
use super::project::{PROJECT, TESTS};
use crate::harness::Edit::{Env, Replace, Shell, Write};
use crate::harness::{Edited, Row, one_in};

/// Makes each edit on its own. `.ci/all` makes all of them, other runs every fourth one.
fn check(rows: &[Row]) {
    if !has_cmake() {
        return;
    }
    let edited = Edited {
        shop: project(PROJECT),
        kept: &["build"],
        groups: &[
            ("ALL", &TESTS),
            ("SCRIPT2", &["script2"]),
            ("STATE", &["starts", "queries", "stops"]),
        ],
        is_exact: true,
        plain,
    };
    edited.check(rows.iter().step_by(one_in(4)));
}

const LISTS: &str = "CMakeLists.txt";

const SOURCES: &[Row] = &[
    ("nothing", Shell("true"), ""),
    ("a file that nobody reads", Write("README.md", "x\n"), ""),
    (
        "a comment",
        Replace("src/add.c", "#include", "/* Adds. */\n#include"),
        "",
    ),
    (
        "a body",
        Replace("src/add.c", "a + b", "a + b + 1"),
        "adds greets runs_tool script",
    ),
    (
        "a body that another test runs",
        Replace("src/sub.c", "a - b", "b - a"),
        "subs",
    ),
    (
        "a body with the same result",
        Replace("src/sub.c", "a - b", "(a - b) * 1"),
        "",
    ),
    (
        "a function that nobody links",
        Replace("src/unused.c", "a * 7", "a * 8"),
        "",
    ),
    (
        "a shared library",
        Replace("src/words.c", "' '", "'-'"),
        "counts",
    ),
    (
        "a library that is loaded",
        Replace("src/plugin.c", "42", "41"),
        "loads",
    ),
    (
        "an inline function of a header",
        Replace("include/limits_of.h", "2 * a", "3 * a"),
        "header",
    ),
    (
        "a constant of a header",
        Replace("include/limits_of.h", "LIMIT 10", "LIMIT 4"),
        "limits",
    ),
    (
        "a comment in a header",
        Replace("include/calc.h", "/* What", "/* Whatever"),
        "",
    ),
    (
        "a new declaration",
        Replace(
            "include/calc.h",
            "int unused",
            "int more(int a);\nint unused",
        ),
        "",
    ),
    (
        "a new file of a library",
        Shell(
            "printf 'int more(int a) { return a; }\\n' > src/more.c && \
               sed -i 's,src/unused.c),src/unused.c src/more.c),' CMakeLists.txt",
        ),
        "",
    ),
    (
        "a program that tests start",
        Replace("src/tool.c", "sum is", "it is"),
        "runs_tool script",
    ),
    (
        "a generated source by its data",
        Replace("data/table.txt", "2\n3", "2\n9"),
        "runs_tool script",
    ),
    (
        "a generated source by its script, which writes the same",
        Replace("tools/table.sh", "while", "# Numbers.\nwhile"),
        "",
    ),
    (
        "a generated source by its script",
        Replace("tools/table.sh", "'int table[] = {'", "'int table[] = {1,'"),
        "runs_tool script",
    ),
    (
        "a configured header by its template",
        Replace("config.h.in", "@GREETING@", "@GREETING@!"),
        "greets",
    ),
    (
        "a configured header by a value",
        Replace(LISTS, "\"hello\" CACHE", "\"bye\" CACHE"),
        // It is in the cache already.
        "",
    ),
    (
        "a test's own source",
        Replace("tests/adds.c", "!= 5", "!= 6"),
        "adds",
    ),
    (
        "the source of several tests",
        Replace("tests/cases.c", "\"one\"", "\"two\""),
        "case#one case#two",
    ),
    (
        "a flag of the compiler",
        Replace(
            LISTS,
            "include(CTest)",
            "include(CTest)\nadd_definitions(-DLIMIT=3)\n",
        ),
        "",
    ),
    (
        "a value of the cache",
        Shell("cmake -DGREETING=bye build > ../configured"),
        "greets",
    ),
    (
        "optimisation",
        Shell("cmake -DCMAKE_C_FLAGS=-O2 build > ../configured"),
        "adds subs counts greets loads limits header case#one case#two runs_tool script",
    ),
];

const TESTS_THEMSELVES: &[Row] = &[
    (
        "words of a test",
        Replace(LISTS, "cases one)", "cases other)"),
        "case#one",
    ),
    (
        "a property that decides",
        Replace(LISTS, "sum is 9", "sum is 8"),
        "runs_tool",
    ),
    (
        "a test that has to fail",
        Replace(LISTS, "exit 3", "exit 0"),
        "fails",
    ),
    (
        "a variable of a test",
        Replace(LISTS, "\"PLUGIN=$<TARGET_FILE:plugin>\"", "\"PLUGIN=none\""),
        "loads",
    ),
    (
        "a label, which decides nothing but is part of a test",
        Replace(
            LISTS,
            "set_tests_properties(fails PROPERTIES",
            "set_tests_properties(fails PROPERTIES LABELS quick",
        ),
        "fails",
    ),
    (
        "a new test",
        Replace(
            LISTS,
            "add_subdirectory",
            "add_test(NAME new COMMAND sh -c \"exit 1\")\nadd_subdirectory",
        ),
        "new",
    ),
    (
        "a test that goes",
        Replace(
            "sub/CMakeLists.txt",
            "add_test(NAME script2 COMMAND sh -c \"exit 0\")\n",
            "",
        ),
        "",
    ),
    (
        "a test with another name",
        Replace(LISTS, "NAME reads", "NAME sees"),
        "sees",
    ),
    (
        "a test that is no longer disabled",
        Replace(LISTS, "DISABLED TRUE", "DISABLED FALSE"),
        "case#off",
    ),
    (
        "a test that is disabled",
        Replace(
            LISTS,
            "PASS_REGULAR_EXPRESSION \"sum is 9\"",
            "DISABLED TRUE",
        ),
        "",
    ),
    (
        "another folder",
        Replace(
            LISTS,
            "WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})\nadd_test(NAME variable",
            "WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/src)\nadd_test(NAME variable",
        ),
        "looks",
    ),
    (
        "a script",
        Replace("tests/script.sh", "sum is 5", "sum is 6"),
        "script",
    ),
    (
        "a script that is a program",
        Replace("tests/direct.sh", "exit 0", "exit 1"),
        "direct",
    ),
    (
        "a script that cannot be run",
        Shell("chmod -x tests/direct.sh"),
        "direct",
    ),
    (
        "what a script reads in",
        Replace("tests/common.sh", "=", "!="),
        "script",
    ),
    (
        "a fixture",
        Replace("tests/start.sh", "ready", "broken"),
        "STATE",
    ),
    (
        "a test that needs a fixture",
        Replace(LISTS, "grep -q ready", "grep -q steady"),
        "STATE",
    ),
    (
        "a fixture that another test needs, too",
        Replace(
            LISTS,
            "set_tests_properties(fails PROPERTIES",
            "set_tests_properties(fails PROPERTIES FIXTURES_REQUIRED state",
        ),
        "STATE fails",
    ),
];

const FILES: &[Row] = &[
    (
        "a data file",
        Replace("data/colours.txt", "red", "blue"),
        "reads",
    ),
    (
        "a data file that is an argument",
        Write("data/two.txt", "three\n"),
        "case#two",
    ),
    (
        "a data file that is only listed",
        Write("data/other.txt", "another\n"),
        "",
    ),
    (
        "a new file in a listed folder",
        Write("data/more.txt", "x\n"),
        "lists",
    ),
    ("a file that goes", Shell("rm data/other.txt"), "lists"),
    (
        "a file that was looked for",
        Write("override.cfg", "x\n"),
        "looks",
    ),
    (
        "a file that lets a test run which was skipped",
        // It is in a folder that another test lists.
        Shell("touch data/full.flag"),
        "lists skips",
    ),
    (
        "a file that CMake reads in a script",
        Write("sub/value.txt", "8\n"),
        "below",
    ),
    (
        "a script of CMake",
        Replace("sub/check.cmake", "7", "8"),
        "below",
    ),
    ("a variable", Env("MODE", "broken"), "ALL SCRIPT2"),
    (
        "a file by a link",
        Shell("mv data/two.txt x.txt && ln -s ../x.txt data/two.txt"),
        "case#two",
    ),
    ("a new build", Shell("rm -rf build"), ""),
];

#[test]
fn sources() {
    check(SOURCES);
}

#[test]
fn tests_themselves() {
    check(TESTS_THEMSELVES);
}

#[test]
fn files() {
    check(FILES);
}

//! Edits of sources that are no tests.

use super::check;
use crate::harness::Edit::{Replace, Shell, Write};
use crate::harness::Row;

const ADDS: &str = "test/add.test.ts test/sub.test.ts";

const SOURCES: &[Row] = &[
    ("nothing", Shell("true"), ""),
    ("a file that nobody reads", Write("README.md", "x\n"), ""),
    (
        "a module that nobody imports",
        Replace("src/unused.ts", "1", "2"),
        "",
    ),
    (
        "a module that is imported by an alias and by path",
        Replace("src/add.ts", "a + b", "a + b + 1"),
        ADDS,
    ),
    (
        "the same with the same result",
        Replace("src/add.ts", "a + b", "b + a"),
        ADDS,
    ),
    (
        "a module whose import is mocked",
        Replace("src/sub.ts", "add(a, -b)", "add(-b, a)"),
        "test/sub.test.ts test/mock.test.ts",
    ),
    (
        "a module that a folder stands for",
        Replace(
            "src/shapes/index.ts",
            "export *",
            "export const two = 2; export *",
        ),
        "test/shapes.test.ts",
    ),
    (
        "a module that another one exports",
        Replace("src/shapes/square.ts", "side * side", "side + side"),
        "test/shapes.test.ts",
    ),
    (
        "types, which do not run",
        Replace("src/shapes/types.ts", "number", "bigint"),
        "",
    ),
    (
        "a module that is imported late",
        Replace("src/lazy.ts", "'late'", "'later'"),
        "test/lazy.test.ts",
    ),
    (
        "a module that is required",
        Replace("src/old.cjs", "{ number }\n", "{ number: number + 1 }\n"),
        "test/old.test.ts",
    ),
    (
        "a module that a required one requires",
        Replace("src/older.cjs", "5", "6"),
        "test/old.test.ts",
    ),
    (
        "a module of a thread",
        Replace("src/work.mjs", "'done'", "'undone'"),
        "test/job.test.ts",
    ),
    (
        "a module that a pattern finds",
        Replace("src/pages/one.ts", "'one'", "'uno'"),
        "test/pages.test.ts",
    ),
    (
        "one more for the pattern",
        Write("src/pages/three.ts", "export const name = 'three'\n"),
        "all",
    ),
    ("one less", Shell("rm src/pages/two.ts"), "all"),
    (
        "what a set-up file imports",
        Replace("src/prepared.ts", "1", "2"),
        "all",
    ),
    (
        "a set-up file",
        Replace("setup.ts", "= prepared", "= prepared + 1"),
        "all",
    ),
    (
        "what runs before all tests",
        Replace("global.ts", "String(limit)", "String(limit + 1)"),
        "all",
    ),
    (
        "what that imports",
        Replace("src/limit.ts", "10", "11"),
        "all",
    ),
    (
        "a module that is gone",
        Shell("rm src/lazy.ts"),
        // Another path could lead there, and then to something else.
        "all",
    ),
    (
        "a module that is another kind of source",
        Shell("git mv src/lazy.ts src/lazy.js"),
        "all",
    ),
    (
        "a module that comes before another one",
        Write("src/add.js", "export const add = () => 0\n"),
        "all",
    ),
    (
        "a module that comes after another one",
        Write("src/lazy.tsx", "export const late = () => 'no'\n"),
        "",
    ),
    (
        "a file where a folder stood for a module",
        Write("src/shapes.ts", "export const area = () => 0\n"),
        "all",
    ),
    (
        "a module that does not parse",
        Write("src/lazy.ts", "export const late = (\n"),
        "test/lazy.test.ts",
    ),
    (
        "a new module that another one imports",
        Shell(
            "echo 'export const one = 1' > src/one.ts && \
             echo \"import { one } from './one'; export const late = () => one\" > src/lazy.ts",
        ),
        "test/lazy.test.ts",
    ),
    (
        "a package of the work tree",
        Replace("vendor/dep/index.js", "n * 2", "n * 3"),
        "test/dep.test.ts",
    ),
    (
        "its description",
        Replace("vendor/dep/package.json", "index.js", "index.js "),
        "all",
    ),
];

#[test]
fn sources() {
    check(SOURCES);
}

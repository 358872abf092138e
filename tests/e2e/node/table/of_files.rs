//! Edits of data, configuration and the environment.

use super::check;
use crate::harness::Edit::{Env, Replace, Shell, Write};
use crate::harness::Row;

const FILES: &[Row] = &[
    (
        "data that is imported",
        Replace("src/data.json", "42", "43"),
        "test/data.test.ts",
    ),
    (
        "data that is read, and imported as text",
        Write("src/text.txt", "test\n"),
        "test/text.test.ts test/raw.test.ts",
    ),
    (
        "a file that was looked for",
        Write("src/absent.txt", "here\n"),
        "test/text.test.ts",
    ),
    (
        "a style sheet",
        Replace("src/style.css", "red", "blue"),
        "all",
    ),
    (
        "a script that a test starts",
        Write("src/tool.sh", "echo other\n"),
        "test/tool.test.ts",
    ),
    (
        "what the script reads",
        Write("src/tool.txt", "other\n"),
        "test/tool.test.ts",
    ),
    (
        "a file in a folder that a test lists",
        Write("src/pages/notes.md", "x\n"),
        "all",
    ),
    (
        "a snapshot",
        Replace(
            "test/__snapshots__/snap.test.ts.snap",
            "\"a\": 1",
            "\"a\": 2",
        ),
        "test/snap.test.ts",
    ),
    (
        "no snapshot",
        Shell("rm -r test/__snapshots__"),
        "test/snap.test.ts",
    ),
    (
        "the configuration",
        Replace(
            "vitest.config.ts",
            "'./global.ts'",
            "'./global.ts', './global.ts'",
        ),
        "all",
    ),
    (
        "what the configuration imports",
        Replace("alias.ts", "'./src'", "'./src/../src'"),
        "all",
    ),
    (
        "another configuration that goes first",
        Write("vite.config.ts", "export default {}\n"),
        "",
    ),
    (
        "options of the compiler",
        Replace("tsconfig.json", "true", "false"),
        "all",
    ),
    (
        "options of the compiler for a folder",
        Write("src/tsconfig.json", "{}\n"),
        "all",
    ),
    (
        "the package",
        Replace("package.json", "\"demo\"", "\"other\""),
        "all",
    ),
    ("variables in a file", Write(".env", "DEMO=1\n"), "all"),
    ("a variable that a test reads", Env("DEMO", "1"), "all"),
    (
        "a variable that says where the job runs",
        Env("GITHUB_RUN_ID", "77"),
        "",
    ),
    (
        "a package that is installed",
        Shell(
            "mkdir -p node_modules/.keep && \
             chmod +x src/tool.sh",
        ),
        "test/tool.test.ts",
    ),
];

#[test]
fn files() {
    check(FILES);
}

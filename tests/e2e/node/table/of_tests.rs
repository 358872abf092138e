//! Edits of tests.

use super::check;
use crate::harness::Edit::{Replace, Shell, Write};
use crate::harness::Row;

const TESTS: &[Row] = &[
    (
        "a test",
        Replace("test/add.test.ts", "toBe(3)", "toBe(4)"),
        "test/add.test.ts",
    ),
    (
        "a comment in a test",
        Shell("echo '// x' >> test/add.test.ts"),
        "",
    ),
    (
        "a helper of tests",
        Replace("test/helper.ts", "toBe(2)", "toBe(3)"),
        "test/helped.test.ts",
    ),
    (
        "a new test",
        Write(
            "src/new.test.ts",
            "import { expect, test } from 'vitest'\ntest('new', () => expect(1).toBe(2))\n",
        ),
        "src/new.test.ts",
    ),
    ("a test that is gone", Shell("rm test/add.test.ts"), ""),
    (
        "a test with another name",
        Shell("git mv test/add.test.ts test/sum.test.ts"),
        "test/sum.test.ts",
    ),
    (
        "a test that skips",
        Replace("test/add.test.ts", "test('adds'", "test.skip('adds'"),
        "test/add.test.ts",
    ),
    (
        "a test that imports another one",
        Shell("echo \"import './sub.test'\" >> test/add.test.ts"),
        "test/add.test.ts",
    ),
    (
        "a test that does not parse",
        Write("test/add.test.ts", "import {\n"),
        "test/add.test.ts",
    ),
    (
        "a test without tests",
        Write("test/add.test.ts", "export {}\n"),
        "test/add.test.ts",
    ),
    (
        "an error that no test catches",
        Shell(
            "echo \"setTimeout(() => { throw new Error('late') }, 1); test('waits', () => new Promise(done => setTimeout(done, 50)))\" >> test/add.test.ts",
        ),
        "test/add.test.ts",
    ),
    (
        "a test that ends its process",
        Shell(
            "echo \"test('ends', () => process.kill(process.pid, 'SIGKILL'))\" >> test/add.test.ts",
        ),
        "test/add.test.ts",
    ),
];

#[test]
fn tests() {
    check(TESTS);
}

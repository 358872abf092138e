//! Edits of what functions do.

use super::{ADDED, check};
use crate::harness::Edit::{Replace, Shell, Write};
use crate::harness::Row;

const BODIES: &[Row] = &[
    ("nothing", Shell("true"), ""),
    ("a file that nobody reads", Write("README.md", "x\n"), ""),
    (
        "a comment",
        Replace("calc/calc.go", "// Add adds.", "// Add\n// it."),
        "",
    ),
    (
        "a comment in a body",
        Replace("calc/calc.go", "return a + b", "return a + b // here\n\n"),
        "",
    ),
    ("formatting", Shell("printf '\\n\\n' >> calc/calc.go"), ""),
    (
        "a body",
        Replace("calc/calc.go", "return a + b", "return a + b + 1"),
        ADDED,
    ),
    (
        "a body with the same result",
        Replace("calc/calc.go", "return a + b", "return b + a"),
        ADDED,
    ),
    (
        "a body of one test",
        Replace("calc/calc.go", "return a - b", "return b - a"),
        // What runs around a group is not counted: all that is linked counts there.
        "calc.TestSub calc.TestLate app",
    ),
    (
        "a function without a statement",
        Replace("calc/calc.go", "func hook() {}", "func hook() { panic(1) }"),
        "calc.TestHooked app",
    ),
    (
        "a function that nobody calls",
        Replace("calc/calc.go", "return 3", "return 4"),
        "app",
    ),
    (
        "a function that is only named",
        Replace("calc/calc.go", "return n * 100", "return n * 101"),
        "app",
    ),
    (
        "a method",
        Replace("calc/calc.go", "s.Side += by", "s.Side -= by"),
        "calc.TestGrow app",
    ),
    (
        "a method that is called through an interface",
        Replace("calc/calc.go", "return s.Side * s.Side", "return s.Side"),
        "calc.TestGrow app",
    ),
    (
        "a generic function",
        Replace("calc/calc.go", "if a > b", "if a < b"),
        "calc.TestMax app",
    ),
    (
        "a function that initialises a variable",
        Replace("calc/calc.go", "return n * 2", "return n * 3"),
        "calc app",
    ),
    (
        "what is deferred",
        Replace("calc/calc.go", "n = Sub(n, 1)", "n = Sub(n, 2)"),
        "calc.TestLate app",
    ),
    (
        "a goroutine",
        Replace("calc/calc.go", "done <- Add(1, 1)", "done <- Add(1, 2)"),
        "calc.TestLate app",
    ),
    (
        "a body of another package",
        Replace(
            "app/app.go",
            "calc.Add(calc.Unit, 1)",
            "calc.Add(calc.Unit, 2)",
        ),
        "app",
    ),
    (
        "what runs after the tests",
        Replace("app/app.go", "return nil", "panic(1)"),
        "app",
    ),
    (
        "a package without tests",
        Replace("plain/plain.go", "{}", "{ println() }"),
        "",
    ),
];

#[test]
fn bodies() {
    check(BODIES);
}

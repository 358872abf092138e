//! Edits, and the tests that run after each. The truth is what `cargo test` finds.

use super::harness::{has_cargo, plain, workspace};
use super::project::WORKSPACE;
use crate::harness::Edit::{Env, Replace, Shell, Write};
use crate::harness::{Edited, Row, one_in};

/// The tests of a binary, and groups of them.
const CALC: [&str; 14] = [
    "calc tests::adds",
    "calc tests::subs",
    "calc tests::compares",
    "calc tests::knows_a_limit",
    "calc tests::has_a_table",
    "calc tests::doubles",
    "calc tests::in_a_thread",
    "calc tests::waits",
    "calc tests::copies",
    "calc tests::is_quiet",
    "calc tests::counts",
    "calc tests::overflows",
    "calc shapes::tests::are_described",
    "calc shapes::tests::are_shown",
];
const UNIT: [&str; 10] = [
    "app tests::has_a_banner",
    "app tests::has_words",
    "app tests::greets",
    "app tests::has_a_mode",
    "app tests::has_settings",
    "app tests::has_no_override",
    "app tests::is_named",
    "app tests::lists_data",
    "app tests::writes",
    "app tests::sees_a_variable",
];
const BIN: [&str; 1] = ["app::bin/app text::lines"];
const IT: [&str; 4] = [
    "app::it program",
    "app::it script",
    "app::it totals",
    "app::it shapes",
];
const OTHERS: [&str; 2] = ["app::plain", "app (doc)"];

/// Else Cargo stops at the first binary that fails.
const COMMAND: &str = "-- tamis.yml --
version: 1
runner: cargo
command: [cargo, test, --workspace, --no-fail-fast]
";

/// Makes each edit on its own. `.ci/all` makes all of them, other runs every sixth one.
fn check(rows: &[Row]) {
    if !has_cargo() {
        return;
    }
    let edited = Edited {
        shop: workspace(&format!("{WORKSPACE}{COMMAND}")),
        kept: &["target"],
        groups: &[
            ("CALC", &CALC),
            ("UNIT", &UNIT),
            ("BIN", &BIN),
            ("IT", &IT),
            ("OTHERS", &OTHERS),
        ],
        is_exact: true,
        plain,
    };
    edited.check(rows.iter().step_by(one_in(6)));
}

const LIB: &str = "calc/src/lib.rs";
const SHAPES: &str = "calc/src/shapes.rs";
const APP: &str = "app/src/lib.rs";

/// Those that run `add` in other binaries than `calc`.
macro_rules! added {
    () => {
        "app::it#program app::it#script app::it#totals app#(doc)"
    };
}

const CODE: &[Row] = &[
    ("nothing", Shell("true"), ""),
    ("a file that nobody reads", Write("README.md", "x\n"), ""),
    (
        "a comment",
        Replace(LIB, "/// Adds.", "/// Sums.\n// Here."),
        "app#(doc)",
    ),
    (
        "a body",
        Replace(LIB, "a + b\n", "a + b + 1\n"),
        concat!(
            "calc#tests::adds calc#tests::has_a_table calc#tests::doubles calc#tests::overflows ",
            added!()
        ),
    ),
    (
        "a body with the same result",
        Replace(LIB, "a - b", "-b + a"),
        "calc#tests::subs calc#tests::in_a_thread calc#tests::waits app::plain app#(doc)",
    ),
    (
        "a function that nobody calls",
        Replace(LIB, "a * 7", "a * 8"),
        "app#(doc)",
    ),
    (
        "a generic function",
        Replace(LIB, "if a > b", "if a < b"),
        "calc#tests::compares app#(doc)",
    ),
    (
        "a function that the compiler evaluates",
        Replace(LIB, "    3\n", "    4\n"),
        "calc#tests::knows_a_limit app#(doc)",
    ),
    (
        "a function behind a static",
        Replace(LIB, "(0..count)", "(1..count + 1)"),
        "calc#tests::has_a_table app#(doc)",
    ),
    (
        "a closure in a static",
        Replace(LIB, "|| fill(4)", "|| fill(3)"),
        "calc#tests::has_a_table app#(doc)",
    ),
    (
        "a macro",
        Replace(LIB, "$crate::add($value, $value)", "$crate::add($value, 1)"),
        "CALC UNIT BIN IT OTHERS",
    ),
    (
        "an asynchronous function",
        Replace(LIB, "sub(a, 1)", "sub(a, 2)"),
        "calc#tests::waits app#(doc)",
    ),
    (
        "a function that is copied into others",
        Replace(LIB, "a + 40", "a + 41"),
        "calc#tests::copies app#(doc)",
    ),
    (
        "a method that shadows another",
        Replace(
            LIB,
            "pub fn count(",
            "impl Wrapped {\n    pub fn words(&self) -> usize {\n        0\n    }\n}\n\npub fn count(",
        ),
        // Types are not known: another function is called as one that has the type.
        "calc#tests::counts calc#tests::has_a_table app#(doc)",
    ),
    (
        "a default of a trait",
        Replace(SHAPES, "format!(\"a shape of", "format!(\"the shape of"),
        "calc#shapes::tests::are_described app#(doc)",
    ),
    (
        "a method behind a trait object",
        Replace(SHAPES, "self.0 * self.0", "self.0"),
        "calc#shapes::tests::are_described app::it#shapes app#(doc)",
    ),
    (
        "what is dropped",
        Replace(SHAPES, "_side: f64) {}", "_side: f64) { panic!() }"),
        "calc#shapes::tests::are_described calc#shapes::tests::are_shown app::it#shapes app#(doc)",
    ),
    (
        "a default that is overridden",
        Replace(
            SHAPES,
            "impl Shape for Square {",
            "impl Shape for Square {\n    fn describe(&self) -> String {\n        String::new()\n    }\n",
        ),
        "calc#shapes::tests::are_described calc#shapes::tests::are_shown app::it#shapes app#(doc)",
    ),
    (
        "a derivation",
        Replace(
            SHAPES,
            "#[derive(Clone, Debug)]",
            "#[derive(Clone, Debug, PartialEq)]",
        ),
        "calc#shapes::tests::are_described calc#shapes::tests::are_shown app::it#shapes app#(doc)",
    ),
    (
        "a constant",
        Replace(LIB, "base() + 1", "base() + 2"),
        "calc#tests::knows_a_limit app#(doc)",
    ),
    (
        "a new function",
        Shell("echo 'pub fn fresh() {}' >> calc/src/lib.rs"),
        "app#(doc)",
    ),
    (
        "a new function that another one calls",
        Shell(
            "echo 'fn fresh() -> i64 { 8 }' >> calc/src/lib.rs; sed -i 's/a \\* 7/a * fresh()/' calc/src/lib.rs",
        ),
        "app#(doc)",
    ),
    (
        "a new module",
        Shell("echo 'pub mod fresh;' >> calc/src/lib.rs; echo 'pub fn f() {}' > calc/src/fresh.rs"),
        "CALC UNIT BIN IT OTHERS",
    ),
    (
        "a body of another crate",
        Replace(APP, "fold(0,", "fold(1,"),
        added!(),
    ),
    (
        "a body of the program",
        Replace("app/src/text.rs", "\"total {number}\"", "\"sum {number}\""),
        "app::bin/app#text::lines app::it#program app::it#script",
    ),
    (
        "a body of a derivation",
        Replace("naming/src/words.rs", "nth(1)", "nth(2)"),
        "",
    ),
];

const FILES: &[Row] = &[
    (
        "a derivation's helper",
        Replace(
            "naming/src/words.rs",
            ".collect()",
            ".chain(\"x\".chars()).take(5).collect()",
        ),
        "UNIT BIN IT OTHERS",
    ),
    (
        "a text in a program",
        Write("app/src/banner.txt", "bye\n"),
        "UNIT BIN IT OTHERS",
    ),
    (
        "what a build script reads",
        Write("made/words.txt", "one\n"),
        "UNIT BIN IT OTHERS",
    ),
    (
        "a build script",
        Replace("made/build.rs", "count()", "count() + 1"),
        "UNIT BIN IT OTHERS",
    ),
    (
        "a variable that the compiler reads",
        Env("APP_MODE", "other"),
        "CALC UNIT BIN IT OTHERS",
    ),
    (
        "a variable that a build script reads",
        Env("APP_GREETING", "bye"),
        "CALC UNIT BIN IT OTHERS",
    ),
    (
        "a variable that a test reads",
        Env("APP_LEVEL", "1"),
        "CALC UNIT BIN IT OTHERS",
    ),
    (
        "data",
        Write("app/data/settings.txt", "a=2\n"),
        "app#tests::has_settings",
    ),
    (
        "data that was not there",
        Write("app/data/override.txt", ""),
        "app#tests::has_no_override app#tests::lists_data",
    ),
    (
        "data that goes",
        Shell("rm app/data/settings.txt"),
        "app#tests::has_settings app#tests::lists_data",
    ),
    (
        "a manifest",
        Replace(
            "calc/Cargo.toml",
            "[features]",
            "[features]\ndefault = [\"loud\"]",
        ),
        "CALC UNIT BIN IT OTHERS",
    ),
    (
        "a profile",
        Shell("printf '[profile.dev]\noverflow-checks = false\n' >> Cargo.toml"),
        "CALC UNIT BIN IT OTHERS",
    ),
    (
        "configuration of Cargo",
        Write(".cargo/config.toml", "[env]\nAPP_LEVEL = \"2\"\n"),
        "CALC UNIT BIN IT OTHERS",
    ),
    (
        "flags of the compiler",
        Env("RUSTFLAGS", "--cfg other"),
        "CALC UNIT BIN IT OTHERS",
    ),
    (
        "a test's body",
        Replace(LIB, "assert_eq!(sub(3, 2), 1)", "assert_eq!(sub(3, 2), 2)"),
        "calc#tests::subs app#(doc)",
    ),
    (
        "a helper of tests",
        Replace(
            LIB,
            "helper(a: i64) -> i64 {\n        a\n",
            "helper(a: i64) -> i64 {\n        a + 1\n",
        ),
        "calc#tests::adds app#(doc)",
    ),
    (
        "what tests import",
        Replace(
            LIB,
            "use std::pin::pin;",
            "use std::pin::pin;\n    use std::fmt::Write as _;",
        ),
        "CALC app#(doc)",
    ),
    (
        "a test that is no longer ignored",
        Replace(LIB, "    #[ignore]\n", ""),
        "calc#tests::slow app#(doc)",
    ),
    (
        "what a test expects",
        Replace(LIB, "expected = \"overflow\"", "expected = \"other\""),
        "calc#tests::overflows app#(doc)",
    ),
    (
        "a helper of integration tests",
        Replace("app/tests/common/mod.rs", "1, 2, 3", "1, 2, 4"),
        "app::it#totals",
    ),
    (
        "a test without a harness",
        Replace("app/tests/plain.rs", "calc::sub(2, 1)", "calc::sub(2, 2)"),
        "app::plain",
    ),
    (
        "documentation with a test",
        Replace(
            APP,
            "//! assert_eq!(app::total(&[1, 2]), 3);",
            "//! assert_eq!(app::total(&[1, 2]), 4);",
        ),
        "app#(doc)",
    ),
    (
        "a new test binary",
        Write(
            "app/tests/fresh.rs",
            "#[test]\nfn fresh() {\n    assert_eq!(app::total(&[]), 0);\n}\n",
        ),
        "app::fresh#fresh",
    ),
    (
        "a test binary that goes",
        Shell("rm app/tests/it.rs app/tests/common/mod.rs"),
        "",
    ),
];

#[test]
fn code() {
    check(CODE);
}

#[test]
fn files() {
    check(FILES);
}

//! Edits, and the tests that run after each. The truth is what `go test` finds.

mod bodies;
mod declarations;
mod of_files;
mod of_tests;

use crate::harness::{Edited, Row, one_in};

use super::harness::{has_go, module, plain};
use super::module::MODULE;

/// The tests of a package, and groups of them.
const CALC: [&str; 12] = [
    "calc.TestAdd",
    "calc.TestSub",
    "calc.TestLook",
    "calc.TestHooked",
    "calc.TestGrow",
    "calc.TestMax",
    "calc.TestDescribe",
    "calc.TestLate",
    "calc.FuzzAdd",
    "calc.ExampleAdd",
    "calc.TestChoose",
    "calc.TestDeferred",
];
const FILES: [&str; 9] = [
    "files.TestBanner",
    "files.TestPages",
    "files.TestGolden",
    "files.TestAbsent",
    "files.TestNames",
    "files.TestScript",
    "files.TestTemp",
    "files.TestVariable",
    "files.TestAgain",
];
const APP: [&str; 2] = ["app.TestReady", "app.TestTotal"];

/// Makes each edit on its own. `.ci/all` makes all of them, other runs every sixth one: Go
/// compiles twice for each.
fn check(rows: &[Row]) {
    if !has_go() {
        return;
    }
    let edited = Edited {
        shop: module(MODULE),
        kept: &[],
        groups: &[("calc", &CALC), ("files", &FILES), ("app", &APP)],
        is_exact: true,
        plain,
    };
    edited.check(rows.iter().step_by(one_in(6)));
}

const ADDED: &str = "calc.TestAdd calc.FuzzAdd calc.ExampleAdd calc.TestLate app";

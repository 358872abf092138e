//! Edits, and the tests that run after each. The truth is what `go test` finds.

mod bodies;
mod declarations;
mod of_files;
mod of_tests;

use std::collections::BTreeSet;

use crate::harness::everything;

use super::harness::{Module, Outcomes, has_go};
use super::module::MODULE;

/// An edit of the module.
enum Edit {
    /// Replaces the only occurrence of a text in a file.
    Replace(&'static str, &'static str, &'static str),
    Write(&'static str, &'static str),
    /// A command of a shell.
    Shell(&'static str),
    Env(&'static str, &'static str),
}

use Edit::{Env, Replace, Shell, Write};

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

/// What an edit is, and names of tests, where `calc`, `files` and `app` stand for all of theirs.
type Row = (&'static str, Edit, &'static str);

fn expand(names: &str) -> BTreeSet<String> {
    let mut tests = BTreeSet::new();
    for name in names.split_whitespace() {
        match name {
            "calc" => tests.extend(CALC.map(str::to_owned)),
            "files" => tests.extend(FILES.map(str::to_owned)),
            "app" => tests.extend(APP.map(str::to_owned)),
            one => {
                tests.insert(one.to_owned());
            }
        }
    }
    tests
}

/// Makes each edit on its own, and checks which tests run and how they end. `.ci/all` makes all
/// of them, other runs every second one: Go compiles twice for each.
fn check(rows: &[Row]) {
    if !has_go() {
        return;
    }
    let mut module = Module::new(MODULE);
    let first = module.run();
    assert_eq!(first.code, 0, "{}", first.told);
    let all = expand("calc files app");
    let ran: BTreeSet<String> = first.outcomes.keys().cloned().collect();
    assert_eq!(ran, all, "{}", first.told);
    // What a run of the first state finds is what is known of the others.
    let store = "rm -rf ../store && cp -r .tamis ../store";
    module.sh(store);
    let mut wrong = Vec::new();
    for (what, edit, tests) in rows.iter().step_by(if everything() { 1 } else { 3 }) {
        module.restore();
        module.sh("rm -rf .tamis && cp -r ../store .tamis");
        module.env.clear();
        match edit {
            Replace(path, from, to) => module.replace(path, from, to),
            Write(path, text) => module.write(path, text),
            Shell(script) => module.sh(script),
            Env(name, value) => {
                module.env.insert((*name).to_owned(), (*value).to_owned());
            }
        }
        let ran = module.run();
        let (truth, status) = module.plain();
        wrong.extend(differences(
            what,
            &ran.outcomes,
            tests,
            &truth,
            &first.outcomes,
        ));
        if (ran.code == 0) != (status == 0) {
            wrong.push(format!(
                "{what}: ended with {} and not {status}\n{}",
                ran.code, ran.told
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is wrong about the tests that ran.
fn differences(
    what: &str,
    ran: &Outcomes,
    tests: &str,
    truth: &Outcomes,
    before: &Outcomes,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let wanted = expand(tests);
    let names: BTreeSet<String> = ran.keys().cloned().collect();
    let more: Vec<&String> = names.difference(&wanted).collect();
    let fewer: Vec<&String> = wanted.difference(&names).collect();
    if !more.is_empty() || !fewer.is_empty() {
        wrong.push(format!(
            "{what}: ran besides {more:?}, did not run {fewer:?}"
        ));
    }
    for (test, outcome) in truth {
        let told = ran.get(test).or_else(|| before.get(test));
        if told != Some(outcome) {
            wrong.push(format!("{what}: MISSED: {test} is {outcome}, not {told:?}"));
        }
    }
    wrong
}

const ADDED: &str = "calc.TestAdd calc.FuzzAdd calc.ExampleAdd calc.TestLate app";

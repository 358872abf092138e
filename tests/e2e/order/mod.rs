//! `tamis order` on real pytest: each way in which tests depend on one another, planted in a
//! small project, is found and explained, and nothing else is.

mod data;
mod detect;
mod graph;
mod known;
mod part;
mod running;
mod workers;

use std::process::Command;

use serde_json::Value;

use crate::harness::*;

/// A project with these tests in `test_a.py`.
fn with_tests(text: &str, check: impl Fn(Project)) {
    on_all_interpreters(Wanted::Newest, |python| {
        check(Project::new(python, &format!("\n-- test_a.py --\n{text}")));
    });
}

/// The answer of `tamis order ARGUMENTS --json`, with its exit code.
fn order(project: &Project, arguments: &[&str]) -> (i32, Value) {
    let done = project.tamis(&[&["order"], arguments, &["--json"]].concat());
    let json = serde_json::from_str(&done.stdout);
    let json = json.unwrap_or_else(|e| panic!("{e}: {}{}", done.stdout, done.stderr));
    (done.code(), json)
}

/// `a b` as ids of `test_a.py`.
fn ids(names: &str) -> Vec<String> {
    let names = names.split(' ').filter(|name| !name.is_empty());
    names
        .map(|name| format!("test_a.py::test_{name}"))
        .collect()
}

/// What `detect` says of the test `name`.
fn dependent<'j>(json: &'j Value, name: &str) -> &'j Value {
    let id = format!("test_a.py::test_{name}");
    let all = json["dependent"].as_array().unwrap();
    let found = all.iter().find(|one| one["id"] == id.as_str());
    found.unwrap_or_else(|| panic!("{id} is not among {json:#}"))
}

fn names(json: &Value) -> Vec<&str> {
    let all = json["dependent"].as_array().unwrap().iter();
    let ids = all.map(|one| one["id"].as_str().unwrap());
    ids.map(|id| id.strip_prefix("test_a.py::test_").unwrap())
        .collect()
}

/// Runs a command that tamis printed, without tamis; whether all its tests passed.
fn runs_well(project: &Project, command: &Value) -> bool {
    let command = command.as_str().expect("a command that needs no tamis");
    let status = Command::new("sh")
        .args(["-c", command])
        .current_dir(project.root())
        .output();
    status.unwrap().status.success()
}

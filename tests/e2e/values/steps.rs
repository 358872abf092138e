//! A step that selects, and later ones that run what it selected: they confirm as well.

use serde_json::Value;

use crate::harness::*;

const FILES: &str = r#"
-- lib.py --
def build(n):
    return [n, 2 * n]


TABLE = build(1)


def apart():
    return 5
-- test_lib.py --
import os

import lib


def test_table():
    assert lib.TABLE[1] == 2


def test_apart():
    assert lib.apart() == 5


def test_flavour():
    assert os.environ.get("FLAVOUR") in (None, "sweet") and lib.apart()


def test_place():
    assert os.environ.get("PLACE") != "nowhere" and lib.apart()
"#;

const PYTEST: [&str; 4] = ["--", "python", "-m", "pytest"];

/// What `tamis record --selection FOLDER` runs.
fn record(project: &Project, folder: &str) -> Vec<String> {
    let step = ["record", "--json", "--selection", folder];
    let done = project.tamis(&[&step[..], &PYTEST].concat());
    let told: Value = serde_json::from_str(&done.stdout).unwrap_or_else(|error| {
        panic!("{error}\n{}\n{}", done.stdout, done.stderr);
    });
    let ran = told["outcomes"].as_object().unwrap().keys();
    let names = ran.map(|id| id.replace("test_lib.py::", ""));
    names.collect()
}

fn edited(project: &mut Project, old: &str, new: &str) {
    replace("lib.py", old, new).apply(project);
    project.commit("edit");
    let done = project.tamis(&[&["select", "--out", ".tamis/out"], &PYTEST[..]].concat());
    assert_eq!(done.code(), 0, "{}", done.stderr);
}

/// A test that reads what was recorded is left out, and its result is kept.
#[test]
fn selection_of_an_earlier_step() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.run();
        edited(&mut project, "[n, 2 * n]", "[n, n + n]");
        assert!(record(&project, ".tamis/out").is_empty());
        assert!(project.run().outcomes.is_empty());
        // Each variable is one of the test that reads it, and of no other.
        edited(&mut project, "[n, n + n]", "[n] + [2 * n]");
        project.set_env("FLAVOUR", Some("sweet"));
        assert_eq!(record(&project, ".tamis/out"), ["test_flavour"]);
        edited(&mut project, "[n] + [2 * n]", "[n, n * 2]");
        project.set_env("PLACE", Some("here"));
        assert_eq!(record(&project, ".tamis/out"), ["test_place"]);
        edited(&mut project, "[n, n * 2]", "[n, 3 * n]");
        assert_eq!(record(&project, ".tamis/out"), ["test_table"]);
        edited(&mut project, "return 5", "return 4 + 1");
        let all = ["test_apart", "test_flavour", "test_place", "test_table"];
        assert_eq!(record(&project, ".tamis/out"), all);
    });
}

/// If the earlier step said that everything is to run, everything does.
#[test]
fn selection_of_all() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.run();
        replace("lib.py", "[n, 2 * n]", "[n, n + n]").apply(&mut project);
        project.commit("edit");
        let all = ["select", "--out", ".tamis/out", "--strategy", "all"];
        let done = project.tamis(&[&all[..], &PYTEST].concat());
        assert_eq!(done.code(), 0, "{}", done.stderr);
        assert_eq!(record(&project, ".tamis/out").len(), 4);
    });
}

/// Each shard confirms its own tests.
#[test]
fn shards_of_a_selection() {
    on_all_interpreters(Wanted::Newest, |python| {
        let more = "-- test_more.py --\nimport lib\n\n\ndef test_more():\n    assert lib.apart()\n";
        let mut project = Project::new(python, &format!("{FILES}{more}"));
        project.run();
        replace("lib.py", "[n, 2 * n]", "[n, 3 * n]").apply(&mut project);
        project.commit("edit");
        let cut = ["select", "--out", ".tamis/out", "--shards", "2"];
        let done = project.tamis(&[&cut[..], &PYTEST].concat());
        assert_eq!(done.code(), 0, "{}", done.stderr);
        let mut ran = Vec::new();
        for shard in ["shard-1", "shard-2"] {
            ran.extend(record(&project, &format!(".tamis/out/{shard}")));
        }
        assert_eq!(ran, ["test_table"]);
        // The joined results are those of a whole run.
        assert_eq!(project.select().selected.len(), 1);
    });
}

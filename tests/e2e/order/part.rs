//! A suite that is green in full is green in part.

use std::collections::BTreeSet;

use super::*;

/// Each kind of dependent test, with what it depends on. All pass in their own order.
const TESTS: [(&str, &str); 3] = [
    (
        "test_a.py",
        r#"
import os
import pathlib

import pytest
import state

FILE = pathlib.Path(__file__).parent / "left.txt"


def test_first():
    assert state.plain() == 1


def test_sets_global():
    state.ITEMS.append("global")


def test_needs_global():
    extra = 0
    assert "global" in state.ITEMS


def test_writes_file():
    FILE.write_text("here")


def test_needs_file():
    extra = 0
    assert FILE.read_text() == "here"


def test_sets_variable():
    os.environ["PLANTED"] = "yes"


def test_needs_variable():
    extra = 0
    assert os.environ.get("PLANTED") == "yes"


@pytest.fixture
def logged_in():
    state.USERS.add("me")


def test_logs_in(logged_in):
    assert state.USERS


def test_needs_login():
    extra = 0
    assert "me" in state.USERS
"#,
    ),
    (
        "test_b.py",
        r#"
import state


def test_pollutes():
    state.DIRT.append(1)


def test_cleans():
    state.DIRT.clear()


def test_victim():
    extra = 0
    assert not state.DIRT


def test_needs_other_module():
    extra = 0
    assert "global" in state.ITEMS


def test_plain():
    assert state.plain() == 1
"#,
    ),
    (
        "state.py",
        "ITEMS = []\nUSERS = set()\nDIRT = []\n\n\ndef plain():\n    return 1\n",
    ),
];

/// The dependent ones.
const DEPENDENT: [&str; 6] = [
    "test_a.py::test_needs_global",
    "test_a.py::test_needs_file",
    "test_a.py::test_needs_variable",
    "test_a.py::test_needs_login",
    "test_b.py::test_victim",
    "test_b.py::test_needs_other_module",
];

/// Those to try.
fn dependent_tests() -> &'static [&'static str] {
    const FEW: [&str; 3] = [DEPENDENT[0], DEPENDENT[1], DEPENDENT[4]];
    if everything() { &DEPENDENT } else { &FEW }
}

/// In how many shards to divide the suite.
fn counts() -> std::ops::RangeInclusive<usize> {
    if everything() { 2..=4 } else { 3..=3 }
}

fn with_suite(check: impl Fn(Project)) {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, "\n-- .gitignore --\nleft.txt\n");
        for (path, text) in TESTS {
            project.write(path, text);
        }
        project.commit("tests");
        let first = project.run();
        assert_eq!(first.code, 0, "{}", first.stderr);
        check(project);
    });
}

/// Removes what tests leave on disk, as a new checkout does.
fn clean(project: &Project) {
    let _ = fs_err::remove_file(project.path("left.txt"));
}

/// Edits the body of one of [`DEPENDENT`], so that it says the same in other words.
fn edit(project: &mut Project, test: &str) {
    let (file, name) = test.split_once("::").unwrap();
    let text = project.read(file);
    let head = format!("def {name}():\n    extra = ");
    let at = text.find(&head).unwrap() + head.len();
    let text = format!("{}{}{}", &text[..at], "1 + ", &text[at..]);
    project.write(file, &text);
    project.commit("an edit");
    clean(project);
}

#[test]
fn known_setters_and_cleaners_run_with_the_tests_that_need_them() {
    with_suite(|mut project| {
        let (code, json) = order(&project, &["detect", "--no-fresh"]);
        assert_eq!(code, 1, "{json:#}");
        // Forks share their files, so a search does not see who needs one.
        for &test in dependent_tests()
            .iter()
            .filter(|test| !test.ends_with("_file"))
        {
            edit(&mut project, test);
            let run = project.run();
            assert_eq!(run.code, 0, "{test}: {}", run.stderr);
            assert_eq!(run.outcomes.get(test).map(String::as_str), Some("passed"));
            assert!(run.outcomes.len() < 5, "{test}: {:?}", run.outcomes);
            let again = project.run();
            assert_eq!(
                (again.code, again.outcomes.len()),
                (0, 0),
                "{test}: {}",
                again.stderr
            );
        }
    });
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn it_is_said_for_whom_a_test_runs() {
    with_suite(|mut project| {
        order(&project, &["detect", "--no-fresh"]);
        edit(&mut project, "test_a.py::test_needs_global");
        let select = project.tamis(&["select", "--json"]);
        let json: Value = serde_json::from_str(&select.stdout).unwrap();
        let selected = json["selected"].as_array().unwrap();
        let setter = "test_a.py::test_sets_global";
        let brought = selected.iter().find(|one| one["id"] == setter).unwrap();
        assert_eq!(brought["reason"]["kind"], "sets-up");
        assert_eq!(brought["reason"]["test"], "test_a.py::test_needs_global");
        let told = "it sets up test_a.py::test_needs_global";
        assert!(select.stderr.contains(told), "{}", select.stderr);
        let why = project.tamis(&["why", setter]);
        assert!(why.stdout.contains(told), "{}", why.stdout);
        // The proof of the setter is the one that it had.
        let before = project.git(&["rev-parse", "HEAD~1"]);
        project.run();
        let why = project.tamis(&["why", setter, "--json"]);
        let json: Value = serde_json::from_str(&why.stdout).unwrap();
        assert_eq!(json["evidence"]["ran_at"], before.trim(), "{json:#}");
    });
}

#[test]
fn shards_keep_together_what_depends_on_order() {
    with_suite(|mut project| {
        order(&project, &["detect", "--no-fresh"]);
        for of in counts() {
            project.write(
                "state.py",
                &format!(
                    "{}# {of}\nX = {of}\n",
                    TESTS[2]
                        .1
                        .replace("return 1", &format!("return 1 + {of} - {of}"))
                ),
            );
            project.commit("all run");
            for index in 1..=of {
                clean(&project);
                let shard = format!("{index}/{of}");
                let run = project.run_with(&["--shard", &shard]);
                assert_eq!(run.code, 0, "{shard}: {}", run.stderr);
            }
        }
    });
}

#[test]
fn without_a_search_a_part_is_green_too() {
    with_suite(|mut project| {
        for &test in dependent_tests() {
            edit(&mut project, test);
            let done = project.tamis(&["run"]);
            let told = format!("{}{}", done.stdout, done.stderr);
            assert_eq!(done.code(), 0, "{test}: {told}");
            // The victim alone needs nobody, and of values in memory it is known who leaves them.
            let is_brittle = test.ends_with("_file");
            let says = told.contains(&format!("{test} passes only after"));
            assert_eq!(says, is_brittle, "{test}: {told}");
            // What was found is known from now on.
            clean(&project);
            let again = project.run();
            assert_eq!(
                (again.code, again.outcomes.len()),
                (0, 0),
                "{test}: {}",
                again.stderr
            );
            edit(&mut project, test);
            let known = project.tamis(&["run"]);
            assert_eq!(known.code(), 0, "{test}: {}{}", known.stdout, known.stderr);
            assert!(
                !known.stderr.contains("again after"),
                "{test}: {}",
                known.stderr
            );
        }
    });
}

#[test]
fn a_victim_that_runs_with_its_polluter_brings_the_cleaner() {
    with_suite(|mut project| {
        let text = project.read("test_b.py");
        let text = text.replace("DIRT.append(1)", "DIRT.append(1 + 1)");
        let text = text.replace("extra = 0\n    assert not", "extra = 1\n    assert not");
        project.write("test_b.py", &text);
        project.commit("polluter and victim");
        clean(&project);
        let run = project.run();
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert_eq!(run.outcomes["test_b.py::test_victim"], "passed");
        assert!(
            run.outcomes.contains_key("test_b.py::test_cleans"),
            "{:?}",
            run.outcomes
        );
    });
}

#[test]
fn a_failure_of_the_whole_is_a_failure_of_the_part() {
    with_suite(|mut project| {
        // Broken, and it needs others besides.
        let text = project.read("test_a.py");
        let broken = text.replace(
            "extra = 0\n    assert \"me\" in state.USERS",
            "extra = 0\n    assert \"me\" in state.USERS\n    assert state.plain() == 2",
        );
        assert_ne!(text, broken);
        project.write("test_a.py", &broken);
        project.commit("broken");
        clean(&project);
        let run = project.run();
        assert_eq!(run.code, 1, "{}", run.stderr);
        assert_eq!(run.outcomes["test_a.py::test_needs_login"], "failed");
        // One of two that failed is no reason to call the run green.
        let both = broken.replace(
            "extra = 0\n    assert \"global\"",
            "extra = 1\n    assert \"global\"",
        );
        assert_ne!(both, broken);
        project.write("test_a.py", &both);
        project.commit("two");
        let run = project.run();
        assert_eq!(run.code, 1, "{}", run.stderr);
    });
}

#[test]
fn a_test_that_flips_is_not_called_brittle() {
    with_suite(|mut project| {
        let text = project.read("test_b.py");
        // It fails each time that it runs for the first time in a folder.
        let flips = text.replace(
            "def test_plain():\n",
            "def test_plain():\n    import pathlib\n    place = pathlib.Path(\"..\", \"flips\")\n    if not place.exists():\n        place.write_text(\"\")\n        assert 0\n",
        );
        assert_ne!(text, flips);
        project.write("test_b.py", &flips);
        project.commit("flips");
        clean(&project);
        let run = project.run();
        assert_eq!(run.code, 1, "{}", run.stderr);
        assert!(run.stderr.contains("it is not clear why"), "{}", run.stderr);
    });
}

#[test]
fn each_shard_of_a_whole_run_is_green() {
    with_suite(|mut project| {
        for of in counts() {
            for index in 1..=of {
                clean(&project);
                let shard = format!("{index}/{of}");
                let run = project.run_with(&["--all", "--shard", &shard]);
                assert_eq!(run.code, 0, "{shard}: {}", run.stderr);
            }
        }
    });
}

/// What is known of order counts where each machine divides a whole run for itself, and no
/// test has to fail first.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn shards_of_a_whole_run_bring_what_their_tests_need() {
    with_suite(|mut project| {
        // This one has a file, and so a shard, of its own.
        let text = project.read("test_b.py");
        let at = text.find("def test_needs_other_module").unwrap();
        let (rest, alone) = text.split_at(at);
        project.write("test_b.py", rest);
        project.write("test_c.py", &format!("import state\n\n\n{alone}"));
        project.commit("files");
        order(&project, &["detect", "--no-fresh"]);
        let mut brought = 0;
        for of in counts() {
            let mut seen = BTreeSet::new();
            for index in 1..=of {
                clean(&project);
                let shard = format!("{index}/{of}");
                let run = project.run_with(&["--all", "--shard", &shard]);
                assert_eq!(run.code, 0, "{shard}: {}", run.stderr);
                assert!(!run.stderr.contains("passes only after"), "{}", run.stderr);
                for test in run.outcomes.into_keys() {
                    brought += usize::from(!seen.insert(test));
                }
            }
            assert_eq!(seen.len(), 14, "{seen:?}");
        }
        assert!(brought > 0);
        // All parts together know all tests, those that ran twice too.
        let why = project.tamis(&["run", "--json"]);
        let json: Value = serde_json::from_str(&why.stdout).unwrap();
        assert_eq!(json["mode"], "none", "{json:#}");
    });
}

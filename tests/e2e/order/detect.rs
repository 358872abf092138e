//! `tamis order detect` and `minimise`.

use super::*;

const KINDS: &str = r#"
import pytest

STATE = set()

def test_polluter():
    STATE.add("dirt")

def test_cleaner():
    STATE.discard("dirt")

def test_victim():
    assert "dirt" not in STATE

def test_setter():
    STATE.add("set")

def test_brittle():
    assert "set" in STATE

def test_one():
    STATE.add(1)

def test_two():
    STATE.add(2)

def test_needs_both():
    assert {1, 2} <= STATE

def test_skips():
    if "dirt" in STATE:
        pytest.skip("dirty")

@pytest.fixture(scope="session")
def service():
    STATE.add("service")
    yield
    STATE.discard("service")

def test_service(service):
    assert "service" in STATE

def test_service_again(service):
    assert "service" in STATE
"#;

#[test]
fn each_kind_is_found_and_nothing_else() {
    with_tests(KINDS, |project| {
        let (code, json) = order(&project, &["detect"]);
        assert_eq!(code, 1, "{json:#}");
        assert_eq!(names(&json), ["victim", "brittle", "needs_both", "skips"]);
        let witness = |name: &str| dependent(&json, name)["witnesses"][0].clone();
        assert_eq!(witness("victim"), serde_json::json!(ids("polluter victim")));
        assert_eq!(dependent(&json, "victim")["kind"], "victim");
        assert_eq!(
            dependent(&json, "victim")["cleaners"],
            serde_json::json!(ids("cleaner"))
        );
        assert_eq!(witness("brittle"), serde_json::json!(ids("setter brittle")));
        assert_eq!(dependent(&json, "brittle")["kind"], "brittle");
        assert_eq!(dependent(&json, "brittle")["masked"], true);
        assert_eq!(
            witness("needs_both"),
            serde_json::json!(ids("one two needs_both"))
        );
        assert_eq!(dependent(&json, "skips")["shown"][0]["outcome"], "skipped");
        for one in json["dependent"].as_array().unwrap() {
            assert_eq!(one["confirmed"]["fresh"], true, "{one:#}");
        }
        assert!(!runs_well(
            &project,
            &dependent(&json, "victim")["reproducer"]
        ));
        assert!(runs_well(
            &project,
            &dependent(&json, "brittle")["reproducer"]
        ));
        let covered = &json["covered"];
        assert_eq!(covered["pairs"], covered["pairs_total"], "{covered}");
        assert_eq!(json["flaky"], serde_json::json!([]));
    });
}

#[test]
fn the_page_names_polluter_cleaner_and_command() {
    with_tests(KINDS, |project| {
        let done = project.tamis(&["order", "detect"]);
        assert_eq!(done.code(), 1, "{}", done.stderr);
        let lines: Vec<&str> = done.stdout.lines().map(str::trim).collect();
        let at = lines
            .iter()
            .position(|line| *line == "victim   test_a.py::test_victim");
        let entry = &lines[at.unwrap()..][..6];
        assert_eq!(entry[1], "passed alone");
        assert!(
            entry[2].starts_with("failed after test_a.py::test_polluter: "),
            "{entry:?}"
        );
        assert_eq!(entry[3], "not if in between runs test_a.py::test_cleaner");
        assert_eq!(entry[4], "by way of test_a.py#STATE");
        assert!(
            entry[5].ends_with("pytest test_a.py::test_polluter test_a.py::test_victim"),
            "{entry:?}"
        );
    });
}

#[test]
fn minimise_shrinks_the_order_that_is_given() {
    with_tests(KINDS, |mut project| {
        let shown = ids("brittle two setter polluter one skips victim");
        project.write("@outside/order.txt", &shown.join("\n"));
        let file = project.path("@outside/order.txt");
        let file = file.to_str().unwrap();
        let (code, json) = order(
            &project,
            &["minimise", "test_a.py::test_victim", "--order", file],
        );
        assert_eq!(code, 0, "{json:#}");
        let witnesses = &dependent(&json, "victim")["witnesses"];
        assert_eq!(*witnesses, serde_json::json!([ids("polluter victim")]));
        let (code, json) = order(
            &project,
            &["minimise", "test_a.py::test_setter", "--order", file],
        );
        assert_eq!((code, names(&json)), (1, Vec::new()));
        // Without an order.
        let (code, json) = order(&project, &["minimise", "test_a.py::test_brittle"]);
        assert_eq!((code, names(&json)), (0, vec!["brittle"]));
    });
}

#[test]
fn a_flaky_test_is_not_dependent() {
    let text = r#"
import os

def test_flips():
    assert os.urandom(1)[0] % 2

def test_steady():
    pass
"#;
    with_tests(text, |project| {
        let (code, json) = order(&project, &["detect"]);
        assert_eq!((code, names(&json)), (0, Vec::new()), "{json:#}");
    });
}

#[test]
fn seeds_of_the_project_count_and_chance_does_not() {
    let text = r#"
import random

random.seed(3)

def test_draws():
    assert random.random() < 0.5

def test_draws_too():
    assert random.random() > 0.5
"#;
    with_tests(text, |project| {
        // The first number is 0.24, the second 0.54.
        let (code, json) = order(&project, &["detect"]);
        assert_eq!(
            (code, names(&json)),
            (1, vec!["draws", "draws_too"]),
            "{json:#}"
        );
        assert_eq!(json["flaky"], serde_json::json!([]));
    });
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn crashes_and_hangs_are_outcomes() {
    let text = r#"
import os, time

STATE = set()

def test_crashes():
    if "crash" in STATE:
        os._exit(3)

def test_hangs():
    while "hang" in STATE:
        time.sleep(0.1)

def test_crasher():
    STATE.add("crash")

def test_hanger():
    STATE.add("hang")

def test_victim():
    assert not STATE
"#;
    with_tests(text, |project| {
        let (code, json) = order(&project, &["detect", "--test-timeout", "2"]);
        assert_eq!(code, 1, "{json:#}");
        assert_eq!(names(&json), ["crashes", "hangs", "victim"]);
        let witness = |name: &str| dependent(&json, name)["witnesses"][0].clone();
        assert_eq!(
            witness("crashes"),
            serde_json::json!(ids("crasher crashes"))
        );
        assert_eq!(witness("hangs"), serde_json::json!(ids("hanger hangs")));
    });
}

#[test]
fn a_budget_that_is_too_small_says_so() {
    with_tests(KINDS, |project| {
        let done = project.tamis(&["order", "detect", "--executions", "5"]);
        assert_eq!(done.code(), 2, "{}", done.stdout);
        assert!(
            done.stderr.contains("the budget ended before"),
            "{}",
            done.stderr
        );
        let (_, json) = order(&project, &["detect", "--executions", "60"]);
        assert_eq!(json["covered"]["cut_short"], true, "{json:#}");
    });
}

#[test]
fn a_suite_that_fails_in_its_own_order_is_searched_with_a_warning() {
    let text = r#"
STATE = []

def test_polluter():
    STATE.append(1)

def test_victim():
    assert not STATE

def test_other():
    pass
"#;
    with_tests(text, |project| {
        let done = project.tamis(&["order", "detect"]);
        assert_eq!(done.code(), 1, "{}", done.stdout);
        let told =
            "1 of 3 tests does not pass in the suite's own order, such as test_a.py::test_victim";
        assert!(done.stderr.contains(told), "{}", done.stderr);
        assert!(
            done.stdout.contains("victim   test_a.py::test_victim"),
            "{}",
            done.stdout
        );
    });
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn a_thread_that_runs_keeps_tests_from_forks() {
    let text = r#"
import threading

threading.Thread(target=threading.Event().wait, daemon=True).start()
STATE = []

def test_polluter():
    STATE.append(1)

def test_victim():
    assert not STATE
"#;
    with_tests(text, |project| {
        let done = project.tamis(&["order", "detect"]);
        assert_eq!(done.code(), 1, "{}{}", done.stdout, done.stderr);
        assert!(
            done.stderr.contains("a thread runs after collection"),
            "{}",
            done.stderr
        );
        assert!(
            done.stdout.contains("victim   test_a.py::test_victim"),
            "{}",
            done.stdout
        );
    });
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn why_names_the_line_that_wrote_and_the_line_that_read() {
    let text = r#"
import state

def test_quiet():
    state.helper(0)

def test_polluter():
    state.helper(1)

def test_other():
    state.COUNT[0] += 0

def test_victim():
    found = state.read()
    extra = 2
    if found:
        extra = 3
    assert extra == 2
"#;
    with_tests(text, |mut project| {
        let module = "ITEMS = []\nCOUNT = [0]\n\n\ndef helper(n):\n    if n:\n        ITEMS.append(n)\n\n\ndef read():\n    return len(ITEMS)\n";
        project.write("state.py", module);
        let (code, json) = order(&project, &["why", "test_a.py::test_victim"]);
        assert_eq!(code, 0, "{json:#}");
        let cause = &json["cause"];
        assert_eq!(cause["read"]["text"], "if found:", "{cause:#}");
        let writes = cause["writes"].as_array().unwrap();
        assert_eq!(writes.len(), 1, "{cause:#}");
        assert_eq!(writes[0]["cell"], "state.py#ITEMS");
        assert_eq!(writes[0]["test"], "test_a.py::test_polluter");
        assert_eq!(writes[0]["stack"][0]["text"], "ITEMS.append(n)");
        assert_eq!(writes[0]["stack"][1]["text"], "state.helper(1)");
        let done = project.tamis(&["order", "why", "test_a.py::test_victim"]);
        assert!(
            done.stdout
                .contains("wrote  state.py:7 in helper: ITEMS.append(n)"),
            "{}",
            done.stdout
        );
        // One that depends on nobody.
        let (code, json) = order(&project, &["why", "test_a.py::test_quiet"]);
        assert_eq!((code, &json["cause"]), (1, &Value::Null), "{json:#}");
    });
}

//! `tamis order run`, and what every order command refuses.

use super::*;

const TESTS: &str = r#"
import os, time
import pytest

STATE = []

def test_first():
    STATE.append(1)

def test_second():
    assert STATE == [1]

@pytest.mark.xfail
def test_third():
    assert 0

@pytest.fixture(scope="module")
def wide():
    yield
    raise RuntimeError("tear-down")

def test_wide(wide):
    pass

def test_exits():
    os._exit(3)

def test_hangs():
    time.sleep(60)

def test_stops():
    pytest.exit("enough")
"#;

fn run(project: &mut Project, names: &str, options: &[&str]) -> (i32, Value) {
    project.write("@outside/order.txt", &ids(names).join("\n"));
    let file = project.path("@outside/order.txt");
    order(
        project,
        &[&["run", file.to_str().unwrap()], options].concat(),
    )
}

#[test]
fn tests_run_in_the_order_of_the_file() {
    with_tests(TESTS, |mut project| {
        for options in [&[][..], &["--fork"]] {
            let (code, json) = run(&mut project, "first second third", options);
            let outcome = |name: &str| json["outcomes"][format!("test_a.py::test_{name}")].clone();
            assert_eq!(code, 0, "{json:#}");
            assert_eq!(
                (outcome("second"), outcome("third")),
                ("passed".into(), "xfailed".into())
            );
            let (code, json) = run(&mut project, "second first", options);
            assert_eq!(code, 1);
            assert_eq!(json["outcomes"]["test_a.py::test_second"], "failed");
            let why = json["messages"]["test_a.py::test_second"].as_str().unwrap();
            assert!(why.contains("assert [] == [1]"), "{why}");
        }
        assert_eq!(project.git(&["status", "--short"]), "");
    });
}

#[test]
fn a_tear_down_of_several_tests_is_nobodys_outcome() {
    with_tests(TESTS, |mut project| {
        let (code, json) = run(&mut project, "wide first", &[]);
        assert_eq!((code, &json["lost"]), (0, &Value::Null), "{json:#}");
    });
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn a_test_that_ends_its_process_is_named() {
    with_tests(TESTS, |mut project| {
        for options in [
            &["--test-timeout", "1"][..],
            &["--test-timeout", "1", "--fork"],
        ] {
            for (name, how, text) in [
                ("exits", "crashed", "status 3"),
                ("hangs", "timed-out", "took longer than 1 s"),
                ("stops", "crashed", "enough"),
            ] {
                let (code, json) = run(&mut project, &format!("first {name} second"), options);
                assert_eq!(code, 1, "{json:#}");
                let lost = &json["lost"];
                assert_eq!(lost["id"], format!("test_a.py::test_{name}"));
                assert_eq!(lost["how"], how);
                assert!(lost["text"].as_str().unwrap().contains(text), "{lost}");
                assert_eq!(json["outcomes"].as_object().unwrap().len(), 1);
            }
        }
    });
}

#[test]
fn what_is_wrong_is_said() {
    with_tests(TESTS, |mut project| {
        let refused = |project: &Project, arguments: &[&str], text: &str| {
            let done = project.tamis(&[&["order"], arguments].concat());
            assert_eq!(done.code(), 2, "{}", done.stderr);
            assert!(done.stderr.contains(text), "{}", done.stderr);
        };
        project.write("@outside/a", "test_a.py::test_frist\n");
        project.write(
            "@outside/b",
            "test_a.py::test_first\n# again\ntest_a.py::test_first\n",
        );
        project.write("@outside/c", "\n");
        let file = |name: &str| {
            project
                .path(&format!("@outside/{name}"))
                .display()
                .to_string()
        };
        refused(
            &project,
            &["run", &file("a")],
            "did you mean test_a.py::test_first?",
        );
        refused(&project, &["run", &file("b")], "twice, as number 1 and 2");
        refused(&project, &["run", &file("c")], "names no test");
        refused(&project, &["run", "-"], "standard input names no test");
        refused(&project, &["run", &file("no")], "cannot read the order");
        refused(
            &project,
            &["minimise", "test_a.py::test_frist"],
            "did you mean",
        );
        refused(
            &project,
            &["run", &file("a"), "--", "sh", "-c", "true"],
            "does not show what it starts",
        );
        refused(&project, &["detect", "--strategy", "k=0"], "k=");
        project.write("test_b.py", "import missing_module\n");
        refused(&project, &["detect"], "1 test file cannot be collected");
    });
}

#[test]
fn ids_are_those_of_the_project_in_any_folder() {
    with_tests(TESTS, |mut project| {
        project.write("sub/pytest.ini", "[pytest]\n");
        project.write(
            "sub/test_s.py",
            "S = []\ndef test_p(): S.append(1)\ndef test_v(): assert not S\n",
        );
        let done = project.tamis(&["order", "detect", "--json", "--", "pytest", "sub"]);
        let json: Value = serde_json::from_str(&done.stdout).unwrap();
        let found = &json["dependent"][0];
        assert_eq!(found["id"], "sub/test_s.py::test_v", "{json:#}");
        assert!(!runs_well(&project, &found["reproducer"]));
    });
}

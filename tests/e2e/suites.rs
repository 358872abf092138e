//! Several suites in one repository: each is selected, run and recorded separately, and all of
//! them with one command.

use serde_json::Value;

use crate::harness::*;

const FILES: &str = r#"
-- tamis.yml --
version: 1
suites:
  api:
    root: services/api
    paths: ["services/api/**", "libs/**"]
  web:
    root: services/web
    paths: ["services/web/**"]
-- libs/shared.py --
def shared():
    return 1
-- services/api/api.py --
def one():
    return 1
-- services/api/test_it.py --
import sys
sys.path.insert(0, "../../libs")
import api
import shared

def test_one():
    assert api.one()

def test_shared():
    assert shared.shared()
-- services/web/web.py --
def page():
    return "page"
-- services/web/test_it.py --
import web

def test_one():
    assert web.page()
"#;

const COMMAND: [&str; 4] = ["--", "python", "-m", "pytest"];

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The tests that ran, each with its suite.
fn ran(document: &Value) -> Vec<String> {
    let suites = document["suites"].as_object().unwrap();
    suites
        .iter()
        .flat_map(|(suite, document)| {
            let outcomes = document["outcomes"].as_object().unwrap().keys();
            outcomes.map(move |test| format!("{suite} {test}"))
        })
        .collect()
}

fn run(project: &Project) -> Vec<String> {
    let done = project.tamis(&[&["run", "--json"], &COMMAND[..]].concat());
    assert_eq!(done.code(), 0, "{}", done.stderr);
    ran(&json(&done.stdout))
}

fn recorded(python: &Python) -> Project {
    let project = Project::new(python, FILES);
    assert_eq!(run(&project).len(), 3);
    assert_eq!(run(&project).len(), 0);
    project
}

#[test]
fn each_suite_is_selected_for_itself() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python);
        project.write("services/web/web.py", "def page():\n    return 'p'\n");
        let select = project.tamis(&["select"]);
        assert_eq!(select.stdout, "web\ttest_it.py::test_one\n");
        // The same id in two suites is two tests.
        let why = project.tamis(&["why", "test_it.py::test_one"]);
        assert!(
            why.stdout
                .contains("suite api: test_it.py::test_one would be left out")
        );
        assert!(
            why.stdout
                .contains("suite web: test_it.py::test_one would run")
        );
        let why = json(
            &project
                .tamis(&["why", "test_it.py::test_one", "--json"])
                .stdout,
        );
        assert_eq!(
            (&why["suites"]["api"]["runs"], &why["suites"]["web"]["runs"]),
            (&false.into(), &true.into())
        );
        let one = project.tamis(&["why", "test_it.py::test_one", "--suite", "web"]);
        assert!(
            one.stdout.starts_with("test_it.py::test_one would run"),
            "{}",
            one.stdout
        );
        assert_eq!(run(&project), ["web test_it.py::test_one"]);

        project.write("libs/shared.py", "def shared():\n    return 2\n");
        project.set_env("TAMIS_SUITE", Some("web"));
        assert_eq!(project.tamis(&["select"]).stdout, "");
        project.set_env("TAMIS_SUITE", None);
        assert_eq!(run(&project), ["api test_it.py::test_shared"]);
    });
}

#[test]
fn a_failing_or_broken_suite_does_not_keep_the_others_from_running() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python);
        project.write("services/api/api.py", "def one():\n    return 0\n");
        project.write("services/web/web.py", "def page():\n    return 'p'\n");
        let done = project.tamis(&["run", "--json"]);
        assert_eq!(done.code(), 1, "{}", done.stderr);
        assert_eq!(
            ran(&json(&done.stdout)),
            ["api test_it.py::test_one", "web test_it.py::test_one"]
        );
        let broken = project.read("tamis.yml").replace(
            "    root: services/api\n",
            "    root: services/api\n    command: [no-such-program]\n",
        );
        project.write("tamis.yml", &broken);
        project.write("services/web/web.py", "def page():\n    return 'q'\n");
        assert_eq!(project.tamis(&["select"]).stdout.lines().count(), 2);
        let done = project.tamis(&["run", "--json"]);
        assert_eq!(done.code(), 2, "{}", done.stderr);
        assert!(done.stderr.contains("no-such-program"), "{}", done.stderr);
        assert_eq!(ran(&json(&done.stdout)), ["web test_it.py::test_one"]);
    });
}

#[test]
fn the_matrix_of_github_names_the_suites_and_their_parts_record_them() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python);
        project.commit("configuration");
        project.write("services/api/api.py", "def one():\n    return 2\n");
        let output = project.path("@outside/output");
        std::fs::write(&output, "").unwrap();
        project.set_env("GITHUB_ACTIONS", Some("true"));
        project.set_env("GITHUB_OUTPUT", Some(output.to_str().unwrap()));
        let select = ["select", "--here", "--out", ".tamis/out", "--shards", "2"];
        let done = project.tamis(&[&select[..], &COMMAND].concat());
        assert_eq!(done.code(), 0, "{}", done.stderr);
        let text = project.read("@outside/output");
        let value = |name: &str| {
            let (_, rest) = text.split_once(&format!("{name}<<")).unwrap();
            rest.lines().nth(1).unwrap().to_owned()
        };
        assert_eq!(
            (value("mode"), value("count"), value("total")),
            ("selected".into(), "1".into(), "3".into())
        );
        let matrix = json(&value("matrix"));
        let entries = matrix["include"].as_array().unwrap();
        assert_eq!(entries.len(), 1, "{matrix}");
        assert_eq!(
            (&entries[0]["suite"], &entries[0]["shard"]),
            (&"api".into(), &1.into())
        );
        let suites = json(&value("suites"));
        assert_eq!(
            suites["web"]["mode"], "none",
            "a change outside of its paths: {suites}"
        );
        assert_eq!(suites["api"]["list-path"], ".tamis/out/api/tests.txt");
        assert!(
            done.stdout
                .contains("title=tamis::api: 1 of 2 tests selected"),
            "{}",
            done.stdout
        );

        // One part of one suite; then, without a selection, everything in all suites.
        let record = [
            "record",
            "--suite",
            "api",
            "--selection",
            ".tamis/out/api/shard-1",
        ];
        let done = project.tamis(&[&record[..], &COMMAND].concat());
        assert_eq!(done.code(), 0, "{}", done.stderr);
        assert!(
            done.stdout.contains("1 passed, 1 deselected"),
            "{}",
            done.stdout
        );
        let record = ["record", "--json", "--selection", ".tamis/none/shard-1"];
        let done = project.tamis(&[&record[..], &COMMAND].concat());
        assert_eq!(ran(&json(&done.stdout)).len(), 3, "{}", done.stderr);
        let shards = json(&project.tamis(&["shards", "2", "--strategy", "all"]).stdout);
        let named = |entry: &Value| entry["suite"].as_str().unwrap().to_owned();
        let suites: Vec<String> = shards["include"]
            .as_array()
            .unwrap()
            .iter()
            .map(named)
            .collect();
        assert!(suites.contains(&"api".to_owned()) && suites.contains(&"web".to_owned()));
    });
}

#[test]
fn paths_only_say_where_tests_lie() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python);
        let mode = |project: &Project, suite: &str| {
            let select = ["select", "--json", "--here", "--suite", suite];
            let done = project.tamis(&[&select[..], &COMMAND].concat());
            json(&done.stdout)["mode"].as_str().unwrap().to_owned()
        };
        // Nothing below `paths` changed: proven. Then a new file below them: it may have
        // tests.
        project.write("docs/notes.md", "new\n");
        assert_eq!(mode(&project, "web"), "none");
        project.write("services/web/test_new.py", "def test_new():\n    pass\n");
        assert_eq!(
            (mode(&project, "web"), mode(&project, "api")),
            ("subset".into(), "none".into())
        );
        // Too narrow: files that tests use count all the same, and a message says so.
        let narrow = project.read("tamis.yml").replace(", \"libs/**\"", "");
        project.write("tamis.yml", &narrow);
        project.write("libs/shared.py", "def shared():\n    return 2\n");
        let done = project.tamis(&["select", "--suite", "api"]);
        assert_eq!(done.stdout, "test_it.py::test_shared\n");
        assert!(
            done.stderr
                .contains("libs/shared.py, which `paths` does not name"),
            "{}",
            done.stderr
        );
        let wide = narrow.replace("    paths: [\"services/web/**\"]\n", "");
        project.write("tamis.yml", &wide);
        project.delete("services/web/test_new.py");
        project.write("libs/test_new.py", "def test_new():\n    pass\n");
        assert_eq!(mode(&project, "web"), "none", "pytest begins in its folder");
        project.write("services/web/test_new.py", "def test_new():\n    pass\n");
        assert_eq!(mode(&project, "web"), "subset");
    });
}

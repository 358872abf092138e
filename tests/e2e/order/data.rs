//! What tests read and write, and which orders follow from that.

use super::*;

const STATE: &str = r#"
-- state.py --
CACHE = {}

class Config:
    debug = False

def put(key):
    CACHE[key] = 1

-- test_a.py --
import logging, os, time
import pytest
import state

@pytest.fixture(scope="module")
def basket():
    return []

def test_puts(): state.put("x")
def test_member(): state.Config.debug = True
def test_folder(tmp_path): os.chdir(tmp_path)
def test_variable(): os.environ["MODE"] = "prod"
def test_patch(): time.sleep = print
def test_logs(): logging.disable(logging.CRITICAL)
def test_fills(basket): basket.append(1)
def test_nothing(): pass

def test_reads(): assert "x" not in state.CACHE
def test_reads_member(): assert not state.Config.debug
def test_in_folder(): assert os.path.exists("state.py")
def test_reads_variable(): assert "MODE" not in os.environ
def test_sleeps(): assert time.sleep is not print
def test_heard(caplog):
    logging.getLogger("a").error("loud")
    assert caplog.records
def test_empty(basket): assert basket == []
"#;

#[test]
fn each_kind_of_state_is_named() {
    on_all_interpreters(Wanted::Newest, |python| {
        let project = Project::new(python, STATE);
        let (code, json) = order(&project, &["detect", "--strategy", "cover", "--no-fresh"]);
        assert_eq!(code, 1, "{json:#}");
        let cells = |name: &str| dependent(&json, name)["cells"][0].clone();
        assert_eq!(cells("reads"), "state.py#CACHE");
        assert_eq!(cells("reads_member"), "state.py#Config.debug");
        assert_eq!(cells("in_folder"), "process#cwd");
        assert_eq!(cells("reads_variable"), "environ[MODE]");
        assert_eq!(cells("sleeps"), "time#sleep");
        assert_eq!(cells("heard"), "process#logging");
        assert_eq!(cells("empty"), "fixture#test_a.py::basket");
        assert_eq!(names(&json).len(), 7);
        let candidates = &json["covered"]["candidates"];
        assert_eq!(candidates["pairs"], candidates["covered"]);
        assert!(candidates["pairs"].as_u64() < Some(30), "{candidates}");
    });
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn only_readers_run_behind_writers() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, STATE);
        let (_, json) = order(&project, &["detect", "--strategy", "data", "--no-fresh"]);
        assert!(names(&json).contains(&"reads_variable"), "{json:#}");
        assert!(
            json["covered"]["executions"].as_u64() < Some(400),
            "{json:#}"
        );
        project.write("tamis.yml", "version: 1\nbenign-state: ['**#CACHE']\n");
        let (_, ignoring) = order(&project, &["detect", "--strategy", "data", "--no-fresh"]);
        let pairs = |json: &Value| json["covered"]["candidates"]["pairs"].as_u64();
        assert!(pairs(&ignoring) < pairs(&json), "{ignoring:#}");
        assert_eq!(
            dependent(&ignoring, "reads")["cells"],
            serde_json::json!([])
        );
    });
}

#[test]
fn why_sees_each_kind_of_state() {
    on_all_interpreters(Wanted::Newest, |python| {
        let project = Project::new(python, STATE);
        let all = [
            ("reads", "state.py#CACHE['x']", "CACHE[key] = 1"),
            (
                "reads_member",
                "state.py#Config.debug",
                "def test_member(): state.Config.debug = True",
            ),
            (
                "in_folder",
                "process#cwd",
                "def test_folder(tmp_path): os.chdir(tmp_path)",
            ),
            (
                "reads_variable",
                "environ[MODE]",
                "def test_variable(): os.environ[\"MODE\"] = \"prod\"",
            ),
            (
                "sleeps",
                "time#sleep",
                "def test_patch(): time.sleep = print",
            ),
            (
                "empty",
                "fixture#test_a.py::basket",
                "def test_fills(basket): basket.append(1)",
            ),
        ];
        let few = if everything() { all.len() } else { 3 };
        for (test, cell, wrote) in all.into_iter().take(few) {
            let id = format!("test_a.py::test_{test}");
            let (code, json) = order(&project, &["why", &id]);
            assert_eq!(code, 0, "{json:#}");
            let writes = json["cause"]["writes"].as_array().unwrap();
            let one = writes.iter().find(|write| write["cell"] == cell);
            let one = one.unwrap_or_else(|| panic!("{cell}: {json:#}"));
            assert_eq!(one["stack"][0]["text"], wrote);
            assert!(json["cause"]["read"].is_object(), "{json:#}");
        }
    });
}

#[test]
fn refining_tells_manifest_dependences_from_benign_ones() {
    let text = "\
CACHE = {}

def test_sets(): CACHE['x'] = 1
def test_needs(): assert CACHE['x'] == 1
def test_looks(): CACHE.get('x')
def test_clears(): CACHE.clear()
";
    with_tests(text, |project| {
        let (code, json) = order(&project, &["refine"]);
        assert_eq!(code, 1, "{json:#}");
        let verdict = |later: &str, earlier: &str| {
            let edges = json["edges"].as_array().unwrap();
            let is_it = |edge: &&Value| {
                edge["later"] == ids(later)[0].as_str()
                    && edge["earlier"] == ids(earlier)[0].as_str()
            };
            let edge = edges
                .iter()
                .find(is_it)
                .unwrap_or_else(|| panic!("{json:#}"));
            assert_eq!(edge["cells"], serde_json::json!(["test_a.py#CACHE['x']"]));
            edge["verdict"].clone()
        };
        assert_eq!(verdict("needs", "sets"), "manifest");
        assert_eq!(verdict("looks", "sets"), "benign");
        assert_eq!(verdict("clears", "needs"), "manifest");
        assert_eq!(verdict("clears", "looks"), "benign");
        let page = project.tamis(&["order", "refine"]).stdout;
        assert!(
            page.contains("data dependences: 2 manifest, 2 benign, "),
            "{page}"
        );
    });
}

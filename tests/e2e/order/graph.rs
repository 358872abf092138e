//! `tamis order graph` and `schedule`: what the last search knows is shown and kept.

use super::*;

const SUITE: &str = "\
CACHE = {}

def test_sets(): CACHE['x'] = 1
def test_quiet(): pass
def test_needs(): assert CACHE['x'] == 1
def test_dirties(): CACHE['dirt'] = 1
def test_cleans(): CACHE.pop('dirt', None)
def test_victim(): assert 'dirt' not in CACHE
def test_other(): pass
";

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn the_graph_has_data_dependences_and_manifest_ones() {
    with_tests(SUITE, |project| {
        let done = project.tamis(&["order", "graph"]);
        assert_eq!(done.code(), 2);
        assert!(
            done.stderr.contains("tamis order detect"),
            "{}",
            done.stderr
        );
        order(&project, &["detect"]);
        let (code, json) = order(&project, &["graph"]);
        assert_eq!(code, 0, "{json:#}");
        let has = |list: &str, key: &str, name: &str| {
            let all = json[list].as_array().unwrap();
            all.iter().any(|one| one[key] == ids(name)[0].as_str())
        };
        assert!(has("manifest", "id", "needs") && has("manifest", "id", "victim"));
        assert!(has("data", "later", "cleans") && has("data", "earlier", "dirties"));
        assert!(!json["nodes"].to_string().contains("quiet"), "{json:#}");
        let dot = project.tamis(&["order", "graph", "--format", "dot"]).stdout;
        assert!(
            dot.contains("\"test_a.py::test_needs\" -> \"test_a.py::test_sets\" [penwidth=2"),
            "{dot}"
        );
        let done = project.tamis(&["order", "graph", "--out", "graph.html"]);
        assert_eq!(done.code(), 0, "{}", done.stderr);
        let page = std::fs::read_to_string(project.path("graph.html")).unwrap();
        assert!(page.contains("test_a.py#CACHE") && page.ends_with("</html>\n"));
    });
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn schedules_keep_what_tests_depend_on() {
    with_tests(SUITE, |project| {
        order(&project, &["detect"]);
        for policy in ["chains", "greedy", "speculative", "likely-failures"] {
            let arguments = ["schedule", "--workers", "3", "--policy", policy, "--run"];
            let (code, json) = order(&project, &arguments);
            assert_eq!(code, 0, "{json:#}");
            assert_eq!(json["ran"]["different"], serde_json::json!([]), "{json:#}");
            assert_eq!(json["ran"]["outcomes"].as_object().unwrap().len(), 7);
        }
        let (code, json) = order(&project, &["schedule", "--workers", "2", "--out", "lists"]);
        assert_eq!((code, &json["ran"]), (0, &Value::Null));
        let list = std::fs::read_to_string(project.path("lists/worker-2.txt")).unwrap();
        let order_of_second = json["workers"][1].as_array().unwrap();
        assert_eq!(list.lines().count(), order_of_second.len());
    });
}

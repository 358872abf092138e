//! `tamis replay` as users call it, and the text of selections at merges.

use serde_json::Value;

use crate::harness::*;

const FILES: &str = r#"
-- calc/__init__.py --
-- calc/m.py --
def m():
    return 1
-- calc/p.py --
def p():
    return 1
-- calc/q.py --
def q():
    return 1
-- tests/test_calc.py --
from calc.m import m
from calc.p import p
from calc.q import q


def test_m():
    assert m() > 0


def test_p():
    assert p() > 0


def test_q():
    assert q() > 0
-- pytest.ini --
[pytest]
pythonpath = .
"#;

/// The header of the head's stored matrix.
fn header_of_head(project: &Project) -> Value {
    let listed = project.tamis(&["store", "ls", "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let head = project.git(&["rev-parse", "HEAD"]);
    let matrices = listed["matrices"].as_array().unwrap();
    let own = matrices
        .iter()
        .find(|m| m["header"]["commit"] == head.trim());
    own.unwrap()["header"].clone()
}

/// Two branches that edit different functions, and their merge.
fn merged(python: &Python) -> Project {
    let mut project = Project::new(python, FILES);
    project.git(&["checkout", "--quiet", "-b", "side"]);
    project.write("calc/m.py", "def m():\n    return 2\n");
    project.commit("m");
    project.git(&["checkout", "--quiet", "main"]);
    project.write("calc/p.py", "def p():\n    return 2\n");
    project.commit("p");
    project.git(&["merge", "--quiet", "--no-edit", "side"]);
    project
}

fn replay(project: &Project, more: &[&str]) -> (i32, Value) {
    let done = project.tamis(&[&["replay", "--json"], more].concat());
    let json = serde_json::from_str(&done.stdout);
    let json = json.unwrap_or_else(|e| panic!("{e}: {}\n{}", done.stdout, done.stderr));
    (done.code(), json)
}

fn record(project: &Project, before: &[&str]) -> (i32, Value) {
    let python = project.python.executable();
    let python = python.to_str().unwrap();
    let command = ["--", python, "-m", "pytest", "-q"];
    replay(project, &[&["--record"], before, &command[..]].concat())
}

fn selected(revision: &Value, strategy: &str) -> u64 {
    revision["strategies"][strategy]["selected"]
        .as_u64()
        .unwrap()
}

fn causes(revision: &Value, strategy: &str) -> String {
    revision["strategies"][strategy]["causes"].to_string()
}

/// One commit for each kind of cause, and one whose tests all run for several.
#[test]
fn causes_and_outcomes_are_told() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        let mut edit = |path: &str, text: &str| {
            project.write(path, text);
            project.commit(path);
        };
        edit("calc/q.py", "Q = 1\n\n\ndef q():\n    return Q\n");
        edit("calc/q.py", "Q = 2\n\n\ndef q():\n    return Q\n");
        edit("calc/p.py", "print()\n\n\ndef p():\n    return 1\n");
        let tests = FILES.split("-- tests/test_calc.py --\n").nth(1).unwrap();
        let tests = tests.split("-- pytest.ini --").next().unwrap();
        let data = "\n\ndef test_data():\n    assert open('data.txt').read() == 'a'\n";
        project.write("data.txt", "a");
        project.write("tests/test_calc.py", &format!("{tests}{data}"));
        project.commit("a new test");
        project.write("data.txt", "b");
        project.commit("which fails");
        project.write("other.txt", "");
        project.commit("and fails again");
        let ends = project.world().join("ends.json");
        let (code, json) = record(&project, &["--outcomes", ends.to_str().unwrap()]);
        assert_eq!(code, 0, "{json:#}");
        let revisions = json["revisions"].as_array().unwrap();
        let of_memo: Vec<String> = revisions.iter().map(|r| causes(r, "memo")).collect();
        assert_eq!(
            of_memo,
            [
                r#"{"everything":3}"#,
                r#"{"body":1}"#,
                r#"{"binding":1}"#,
                r#"{"effects":3}"#,
                r#"{"new":1}"#,
                r#"{"file":1}"#,
                r#"{"failed":1}"#,
            ]
        );
        let total = &json["totals"]["strategies"]["memo"]["causes"];
        assert_eq!(total["effects"], 3);
        let ends: Value = serde_json::from_str(&std::fs::read_to_string(ends).unwrap()).unwrap();
        let failed = |at: usize| &ends[revisions[at]["commit"].as_str().unwrap()]["failed"];
        assert_eq!(failed(4), &Value::Null);
        assert_eq!(failed(5)[0], "tests/test_calc.py::test_data");
        assert_eq!(ends.as_object().unwrap().len(), 7);
        let table = project.tamis(&["replay"]).stdout;
        let table = table.split_once("why memo").unwrap().1;
        for cause in [
            "body",
            "binding",
            "effects",
            "file",
            "failed",
            "new",
            "everything",
        ] {
            assert!(table.lines().next().unwrap().contains(cause), "{table}");
        }
    });
}

#[test]
fn a_history_is_run_replayed_and_verified() {
    on_all_interpreters(Wanted::Newest, |python| {
        let project = merged(python);
        let before = project.git(&["count-objects"]);
        let (code, json) = record(&project, &["--published"]);
        assert_eq!(code, 0, "{json:#}");
        assert_eq!(project.git(&["count-objects"]), before);
        assert_eq!(project.git(&["status", "--porcelain"]), "");
        let revisions = json["revisions"].as_array().unwrap();
        let kinds: Vec<&str> = revisions
            .iter()
            .map(|r| r["kind"].as_str().unwrap())
            .collect();
        assert_eq!(kinds, ["root", "commit", "commit", "automerge"]);
        let merge = &revisions[3];
        assert_eq!(merge["tests"], 3);
        assert_eq!(selected(merge, "merge-dom"), 2);
        for strategy in ["merge-parents", "merge-history", "memo", "thesis"] {
            assert_eq!(selected(merge, strategy), 0, "{strategy} in {merge:#}");
        }
        assert_eq!(
            merge["strategies"]["merge-history"]["used"],
            "merge-history"
        );
        assert_eq!(
            merge["strategies"]["merge-history-published"]["used"],
            "merge-history"
        );
        for revision in &revisions[1..3] {
            assert_eq!(selected(revision, "commit"), 1);
        }
        assert_eq!(json["misses"], 0);
        // Every selected test has a cause.
        for revision in revisions {
            for (strategy, chosen) in revision["strategies"].as_object().unwrap() {
                let causes = chosen["causes"].as_object().unwrap().values();
                let sum: u64 = causes.map(|count| count.as_u64().unwrap()).sum();
                assert_eq!(sum, chosen["selected"], "{strategy} in {revision:#}");
            }
        }
        assert_eq!(causes(&revisions[0], "memo"), r#"{"everything":3}"#);
        assert_eq!(causes(&revisions[1], "memo"), r#"{"body":1}"#);
        assert_eq!(causes(merge, "merge-dom"), r#"{"body":2}"#);
        assert_eq!(causes(merge, "memo"), "{}");
        // Nothing is left to run, and a page contains everything it shows.
        let log = project.root().join(".tamis/replay");
        std::fs::remove_dir_all(&log).unwrap();
        let page = project.world().join("page.html");
        let (code, again) = record(&project, &["--html", page.to_str().unwrap()]);
        assert_eq!(code, 0);
        assert_eq!(again["misses"], 0);
        assert!(!log.exists(), "a recorded revision ran again");
        let page = std::fs::read_to_string(page).unwrap();
        assert!(page.contains("<svg") && page.contains("automerge"));
        for outside in ["http:", "https:", "src=", "<script", "@import", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
    });
}

#[test]
fn a_revision_that_cannot_be_built_is_a_row_of_its_own() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.write("broken", "");
        project.commit("broken");
        project.delete("broken");
        project.write("calc/q.py", "def q():\n    return 3\n");
        project.commit("mended");
        let build = ["--build", "test ! -e broken"];
        let (code, json) = record(&project, &build);
        assert_eq!(code, 0, "{json:#}");
        let broken = &json["revisions"][1];
        let why = broken["missing"].as_str().unwrap();
        assert!(why.contains("the build failed"), "{why}");
        assert_eq!(selected(&json["revisions"][2], "commit"), 1);
        assert_eq!(json["totals"]["revisions"], 2);
        // It is retried on request.
        let (_, json) = record(&project, &[&["--retry"], &["--build", "true"][..]].concat());
        assert_eq!(json["totals"]["revisions"], 3, "{json:#}");
    });
}

#[test]
fn a_miss_is_found_and_told() {
    on_all_interpreters(Wanted::Newest, |python| {
        // No row can contain the inherited umask.
        let conftest = "import os\n\n\n\
             def pytest_runtest_call(item):\n    \
                 mask = os.umask(0o22)\n    \
                 os.umask(mask)\n    \
                 assert item.name != 'test_m' or mask != 0o77\n";
        let mut project = Project::new(python, FILES);
        project.write("conftest.py", conftest);
        project.commit("a test that looks at its process");
        let (code, json) = record(&project, &[]);
        assert_eq!((code, &json["misses"]), (0, &Value::from(0)), "{json:#}");
        project.write("calc/q.py", "def q():\n    return 3\n");
        project.commit("q");
        let python = project.python.executable();
        let script = "umask 077 && exec \"$0\" replay --json --record -- \"$1\" -m pytest -q";
        let tamis = env!("CARGO_BIN_EXE_tamis");
        let words = ["-c", script, tamis, python.to_str().unwrap()];
        let done = project.command("sh", &words, &project.root());
        assert_eq!(done.code(), 1, "{}{}", done.stdout, done.stderr);
        let json: Value = serde_json::from_str(&done.stdout).unwrap();
        let strategies = json["revisions"][2]["strategies"].as_object().unwrap();
        for (strategy, chosen) in strategies {
            let told = &chosen["misses"][0];
            assert_eq!(told["test"], "tests/test_calc.py::test_m", "{strategy}");
            assert_eq!(
                (&told["then"], &told["now"]),
                (&"passed".into(), &"failed".into())
            );
        }
        assert_eq!(json["misses"], strategies.len());
    });
}

#[test]
fn a_skip_at_a_merge_names_the_parent() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        let run = |project: &mut Project, count| {
            let run = project.run_with(&["--strategy", "commit"]);
            assert_eq!(run.outcomes.len(), count, "{}", run.stderr);
        };
        run(&mut project, 3);
        project.git(&["checkout", "--quiet", "-b", "side"]);
        project.write("calc/m.py", "def m():\n    return 2\n");
        project.commit("m");
        run(&mut project, 1);
        project.git(&["checkout", "--quiet", "main"]);
        project.write("calc/p.py", "def p():\n    return 2\n");
        project.commit("p");
        run(&mut project, 1);
        project.git(&["merge", "--quiet", "--no-edit", "side"]);
        for (strategy, test, parent) in [
            ("merge-parents", "test_m", 2),
            ("merge-history", "test_m", 2),
            ("merge-history", "test_p", 1),
            ("memo", "test_m", 2),
        ] {
            let test = format!("tests/test_calc.py::{test}");
            let why = project.tamis(&["why", &test, "--strategy", strategy, "--json"]);
            let why: Value = serde_json::from_str(&why.stdout).unwrap();
            assert_eq!(why["runs"], false, "{why:#}");
            assert_eq!(why["evidence"]["parent"], parent, "{why:#}");
            assert_eq!(why["head"]["kind"], "automerge");
            assert_eq!(why["used"], strategy);
            let text = project
                .tamis(&["why", &test, "--strategy", strategy])
                .stdout;
            assert!(text.contains(&format!("parent {parent}")), "{text}");
        }
        let selection = project.tamis(&["select", "--json", "--strategy", "rebase-history"]);
        let selection: Value = serde_json::from_str(&selection.stdout).unwrap();
        assert_eq!(selection["strategy"], "rebase-history");
        assert_eq!(selection["used"], "commit");
        let why = selection["fallbacks"][0].as_str().unwrap();
        assert!(
            why.contains("the tip before the rebase is not known"),
            "{why}"
        );
        assert_eq!(
            selection["head"]["references"]["parents"]
                .as_array()
                .unwrap()
                .len(),
            2
        );
        // Both sides make a complete matrix without a run, and it names the runs that it rests
        // on.
        let run = project.run_with(&["--strategy", "merge-parents"]);
        assert_eq!(
            (run.outcomes.len(), run.selection.mode.as_str()),
            (0, "none")
        );
        let header = header_of_head(&project);
        assert_eq!(header["strategy"], "merge-parents");
        assert_eq!(header["baselines"].as_array().unwrap().len(), 2);
        assert_eq!((&header["tests"], &header["ran"]), (&3.into(), &0.into()));
        // Its own run, and the last runs of the three tests.
        let runs = header["runs"].as_array().unwrap();
        assert_eq!(runs.len(), 4, "{header:#}");
        // Edits on a recorded merge are compared with the merge itself.
        project.write("calc/q.py", "def q():\n    return 5\n");
        let done = project.tamis(&["select", "--json", "--strategy", "merge-parents"]);
        let selection: Value = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!(selection["used"], "commit");
        assert_eq!(selection["counts"]["selected"], 1, "{selection:#}");
    });
}

/// After a run with emitted arguments `record` stores what ran: chains of selections can be
/// followed through a pipeline with its own test step.
#[test]
fn a_test_step_with_emitted_arguments_keeps_what_was_selected() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        let out = project.world().join("out").to_str().unwrap().to_owned();
        let args = format!("@{out}/pytest.args");
        let step = |project: &Project, ran: usize| {
            let done = project.tamis(&["select", "--out", &out, "--strategy", "merge-history"]);
            assert_eq!(done.code(), 0, "{}", done.stderr);
            let python = project.python.executable();
            let python = python.to_str().unwrap();
            let command = [python, "-m", "pytest", "-q", &args];
            let record = ["record", "--json", "--selection", &out, "--"];
            let done = project.tamis(&[&record[..], &command[..]].concat());
            let said: Value = serde_json::from_str(&done.stdout)
                .unwrap_or_else(|e| panic!("{e}: {}\n{}", done.stdout, done.stderr));
            let outcomes = said["outcomes"].as_object().unwrap();
            assert_eq!(outcomes.len(), ran, "{said:#}\n{}", done.stderr);
            let header = header_of_head(project);
            assert_eq!((&header["tests"], &header["ran"]), (&3.into(), &ran.into()));
        };
        step(&project, 3);
        project.git(&["checkout", "--quiet", "-b", "side"]);
        project.write("calc/m.py", "def m():\n    return 2\n");
        project.commit("m");
        step(&project, 1);
        project.git(&["checkout", "--quiet", "main"]);
        project.write("calc/p.py", "def p():\n    return 2\n");
        project.commit("p");
        step(&project, 1);
        project.git(&["merge", "--quiet", "--no-edit", "side"]);
        let history = ["select", "--json", "--strategy", "merge-history"];
        let said = project.tamis(&history);
        let selection: Value = serde_json::from_str(&said.stdout).unwrap();
        assert_eq!(selection["used"], "merge-history", "{selection:#}");
        // If everything had counted as selected, all three would run.
        assert_eq!(selection["counts"]["selected"], 0, "{selection:#}");
        // The chain continues here: the merge's own step stores its results.
        step(&project, 0);
    });
}

#[test]
fn in_a_shallow_clone_strategies_give_way() {
    on_all_interpreters(Wanted::Newest, |python| {
        let project = merged(python);
        let from = format!("file://{}", project.root().display());
        let clone = project.world().join("clone");
        let to = clone.to_str().unwrap();
        project.git(&["clone", "--quiet", "--depth", "2", &from, to]);
        let tamis = |arguments: &[&str]| {
            let done = project.command(env!("CARGO_BIN_EXE_tamis"), arguments, &clone);
            assert_eq!(done.code(), 0, "{}", done.stderr);
            done.stdout
        };
        let run = |strategy| tamis(&["run", "-q", "--strategy", strategy]);
        run("merge-history");
        std::fs::write(clone.join("calc/q.py"), "def q():\n    return 7\n").unwrap();
        for (strategy, used) in [("merge-dom", "commit"), ("memo", "memo")] {
            let said = tamis(&["select", "--json", "--strategy", strategy]);
            let said: Value = serde_json::from_str(&said).unwrap();
            assert_eq!(said["used"], used);
            assert_eq!(said["counts"]["selected"], 1, "{said:#}");
        }
        // The merge's parents are here, but not the commit where they part.
        project.command("git", &["checkout", "--quiet", "."], &clone);
        project.command("git", &["checkout", "--quiet", "HEAD^2"], &clone);
        run("commit");
        for strategy in ["merge-history", "merge-dom"] {
            let said = tamis(&["select", "--json", "--strategy", strategy, "--head", "main"]);
            let said: Value = serde_json::from_str(&said).unwrap();
            assert_eq!(said["head"]["kind"], "unknown", "{said:#}");
            assert_eq!(said["used"], "merge-parents", "{said:#}");
        }
    });
}

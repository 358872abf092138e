//! With `lock-files`, which declares the test environment, even a plain test step can leave
//! out tests. Without it, it cannot.

use crate::harness::*;

const FILES: &str = r#"
-- tamis.yml --
version: 1
lock-files: [uv.lock]
-- .gitignore --
.tamis/
__pycache__/
hidden.lock
-- test_a.py --
def test_a():
    pass
-- test_home.py --
import os

def test_home():
    assert os.environ.get("FLAVOUR") is None
-- test_b.py --
def test_b():
    pass
"#;

/// A recorded project in which `test_b` was edited afterwards.
fn edited(python: &Python, lock: Option<&str>) -> Project {
    let mut project = Project::new(python, FILES);
    if let Some(lock) = lock {
        project.write(lock, "alpha==1.0\n");
    }
    project.commit("lock");
    run(&project);
    project.write("test_b.py", "def test_b():\n    assert True\n");
    project.commit("edit");
    project
}

const COMMAND: [&str; 4] = ["--", "python", "-m", "pytest"];

fn run(project: &Project) {
    let done = project.tamis(&[&["run"][..], &COMMAND].concat());
    assert_eq!(done.code(), 0, "{}", done.stderr);
}

/// The tests that a step without tamis leaves out, and the message of the selection.
fn left_out(project: &Project) -> (String, String) {
    let select = [
        "select",
        "--out",
        ".tamis/out",
        "--",
        "python",
        "-m",
        "pytest",
    ];
    let done = project.tamis(&select);
    assert_eq!(done.code(), 0, "{}", done.stderr);
    (project.read(".tamis/out/pytest.args"), done.stderr)
}

/// How much `tamis select` says must run.
fn mode(project: &Project) -> String {
    let done = project.tamis(&[&["select", "--json"][..], &COMMAND].concat());
    let selection: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    selection["mode"].as_str().unwrap().to_owned()
}

#[test]
fn unchanged_files_settle_what_is_installed() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = edited(python, Some("uv.lock"));
        let (excluded, told) = left_out(&project);
        assert_eq!(excluded, "--deselect=test_a.py::\n");
        assert!(!told.contains("lock-files"), "{told}");
        // A step with tamis still checks the environment itself.
        assert!(project.read(".tamis/out/late.json").contains("\"python\""));
        // Uncommitted changes count as well.
        project.write("uv.lock", "alpha==1.1\n");
        assert_eq!(left_out(&project).0, "");
        project.commit("another version");
        assert_eq!(left_out(&project).0, "");
        // Another environment may make all tests run, which needs more than one machine.
        run(&project);
        project.write("uv.lock", "alpha==1.2\n");
        let shards = |project: &Project| {
            let done = project.tamis(&[&["shards", "4"][..], &COMMAND].concat());
            let matrix: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
            matrix["include"].as_array().unwrap().len()
        };
        assert_eq!(shards(&project), 4);
        project.write("uv.lock", "alpha==1.1\n");
        project.write("README.md", "words\n");
        assert_eq!(shards(&project), 1);
    });
}

#[test]
fn a_variable_that_a_test_reads_stays_open() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = edited(python, Some("uv.lock"));
        run(&project);
        assert_eq!(mode(&project), "subset");
        project.delete("test_home.py");
        project.commit("no variables");
        run(&project);
        assert_eq!(mode(&project), "none");
        project.delete("uv.lock");
        assert_eq!(mode(&project), "subset");
    });
}

#[test]
fn without_a_file_nothing_is_settled() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = edited(python, None);
        let (excluded, told) = left_out(&project);
        assert_eq!(excluded, "");
        assert!(
            told.contains("`lock-files` names") && told.contains("uv.lock"),
            "{told}"
        );
        // A file that git does not know may have had any content.
        project.write("tamis.yml", "version: 1\nlock-files: [hidden.lock]\n");
        project.write("hidden.lock", "alpha==1.0\n");
        project.commit("hidden");
        run(&project);
        project.write("hidden.lock", "alpha==1.1\n");
        let (excluded, told) = left_out(&project);
        assert_eq!(excluded, "");
        assert!(told.contains("hidden.lock"), "{told}");
    });
}

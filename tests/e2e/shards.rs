//! Division of the tests: tests that depend on their order stay on one machine, and all
//! machines together run everything once. Every N-th run runs everything.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::ci::{run_parts, whole};
use crate::harness::{Project, Python, Wanted, on_all_interpreters, on_github};

/// `test_z.py` passes only in a process in which `test_a.py` ran before. Both take long, so a
/// division that only knows durations separates them.
const TIED: &str = "
-- tamis.yml --
version: 1
-- lib.py --
import time
READY = []
def note():
    time.sleep(0.2)
    READY.append(1)
def is_ready():
    time.sleep(0.2)
    return bool(READY)
-- other.py --
def one():
    return 1
-- test_a.py --
import lib
def test_writes():
    lib.note()
-- test_b.py --
import other
def test_b():
    assert other.one()
-- test_c.py --
import other
def test_c():
    assert other.one()
-- test_d.py --
import other
def test_d():
    assert other.one()
-- test_z.py --
import lib
def test_reads():
    assert lib.is_ready()
";

const PYTEST: [&str; 4] = ["python", "-m", "pytest", "-q"];

/// Divides once into three parts for all tests here; returns how many parts there are.
fn divide(project: &Project, options: &[&str]) -> usize {
    let first = ["select", "--json", "--out", ".tamis/out", "--shards", "3"];
    let arguments = [&first[..], options, &["--"], &PYTEST].concat();
    let done = project.tamis(&arguments);
    let told: Value =
        serde_json::from_str(&done.stdout).unwrap_or_else(|_| panic!("{}", done.stderr));
    told["shards"]["of"].as_u64().unwrap() as usize
}

/// The files of the tests in a part.
fn files(part: &BTreeSet<String>) -> BTreeSet<&str> {
    part.iter()
        .map(|test| test.split("::").next().unwrap())
        .collect()
}

fn all_in_one_place(parts: &[BTreeSet<String>], tied: &[&str]) {
    let places = parts.iter().filter(|part| {
        let files = files(part);
        tied.iter().any(|file| files.contains(file))
    });
    assert_eq!(places.count(), 1, "{parts:?}");
}

fn on_newest(check: impl Fn(&Python)) {
    on_all_interpreters(Wanted::Newest, |python| check(python));
}

#[test]
fn tests_tied_by_state_stay_together() {
    on_newest(|python| {
        let mut project = Project::new(python, TIED);
        project.run();
        // On most runs some tests, and each night all of them.
        project.write(
            "lib.py",
            &project.read("lib.py").replace("append(1)", "append(2)"),
        );
        project.write("other.py", "def one():\n    return 2\n");
        project.commit("edit");
        for options in [&["--here"][..], &["--here", "--strategy", "all"]] {
            let of = divide(&project, options);
            assert_eq!(of, 3);
            let parts = run_parts(&mut project, of);
            assert_eq!(whole(&parts).len(), 5, "{parts:?}");
            assert!(parts.iter().all(|part| !part.is_empty()), "{parts:?}");
            all_in_one_place(&parts, &["test_a.py", "test_z.py"]);
            // For the next round.
            project.write(
                "lib.py",
                &project.read("lib.py").replace("append(2)", "append(3)"),
            );
            project.write("other.py", "def one():\n    return 3\n");
        }
    });
}

#[test]
fn groups_that_are_named_stay_together_before_anything_is_known() {
    on_newest(|python| {
        let mut project = Project::new(python, TIED);
        let named =
            "version: 1\nkeep-together: [[test_z.py, 'test_a.py::test_writes', test_c.py]]\n";
        project.write("tamis.yml", named);
        project.commit("named");
        let of = divide(&project, &[]);
        assert_eq!(of, 3);
        let parts = run_parts(&mut project, of);
        assert_eq!(whole(&parts).len(), 5, "{parts:?}");
        all_in_one_place(&parts, &["test_a.py", "test_c.py", "test_z.py"]);
    });
}

/// If their selection was lost, the copies of a job divide for themselves, whatever is in
/// their stores.
#[test]
fn machines_that_divide_for_themselves_run_everything_once() {
    on_newest(|python| {
        let mut project = Project::new(python, TIED);
        project.write(
            "tamis.yml",
            "version: 1\nkeep-together: [[test_a.py, test_z.py]]\n",
        );
        project.commit("named");
        let mut parts = Vec::new();
        for index in 1..=3 {
            let part = format!("{index}/3");
            let run =
                project.run_with(&["--all", "--shard", &part, "--", "python", "-m", "pytest"]);
            let good = run.outcomes.values().all(|outcome| outcome == "passed");
            assert!(good, "{:?}", run.outcomes);
            parts.push(run.outcomes.into_keys().collect());
        }
        assert_eq!(whole(&parts).len(), 5, "{parts:?}");
        all_in_one_place(&parts, &["test_a.py", "test_z.py"]);
    });
}

#[test]
fn every_third_run_of_the_default_branch_runs_everything() {
    on_newest(|python| {
        let mut project = Project::new(python, TIED);
        project.write("tamis.yml", "version: 1\nrun-all-every: 3\n");
        project.commit("every third");
        project.run_with(&[&["--"], &PYTEST[..]].concat());
        let select = |project: &Project, options: &[&str]| {
            let arguments = [&["select", "--json", "--here"], options, &["--"], &PYTEST].concat();
            let done = project.tamis(&arguments);
            assert_eq!(done.code(), 0, "{}", done.stderr);
            let told: Value = serde_json::from_str(&done.stdout).unwrap();
            let reason = told["reason"].as_str().unwrap().to_owned();
            (told["mode"].as_str().unwrap().to_owned(), reason)
        };
        let main = r#"{"repository": {"default_branch": "main"}}"#;
        let mut full = Vec::new();
        for number in 1..=9 {
            on_github(&mut project, "push", "refs/heads/main", main);
            project.set_env("GITHUB_RUN_NUMBER", Some(&number.to_string()));
            let (mode, reason) = select(&project, &[]);
            assert_ne!(mode, "subset", "{reason}");
            if mode == "all" {
                assert!(reason.contains("run-all-every"), "{reason}");
                full.push(number);
            }
        }
        assert_eq!(full, [3, 6, 9]);
        // It is the turn, but a flag overrides it; or it is another branch.
        assert_eq!(select(&project, &["--strategy", "auto"]).0, "none");
        on_github(&mut project, "push", "refs/heads/topic", main);
        assert_eq!(select(&project, &[]).0, "none");
        let pull = r#"{"pull_request": {"number": 5}, "repository": {"default_branch": "main"}}"#;
        on_github(&mut project, "pull_request", "refs/pull/5/merge", pull);
        assert_eq!(select(&project, &[]).0, "none");
        // Outside GitHub: the number comes from GitLab, or from the user.
        for name in [
            "GITHUB_ACTIONS",
            "GITHUB_EVENT_NAME",
            "GITHUB_REF",
            "GITHUB_RUN_NUMBER",
        ] {
            project.set_env(name, None);
        }
        assert_eq!(select(&project, &[]).0, "none");
        for (name, value) in [
            ("TAMIS_CI_DEFAULT_BRANCH", "true"),
            ("TAMIS_CI_TRIGGER", "push"),
        ] {
            project.set_env(name, Some(value));
        }
        for (number, wanted) in [("5", "none"), ("6", "all")] {
            project.set_env("TAMIS_CI_RUN_NUMBER", Some(number));
            assert_eq!(select(&project, &[]).0, wanted, "{number}");
        }
        for name in [
            "TAMIS_CI_DEFAULT_BRANCH",
            "TAMIS_CI_TRIGGER",
            "TAMIS_CI_RUN_NUMBER",
        ] {
            project.set_env(name, None);
        }
        for (name, value) in [("GITLAB_CI", "true"), ("CI_PIPELINE_SOURCE", "push")] {
            project.set_env(name, Some(value));
        }
        for branch in ["CI_COMMIT_BRANCH", "CI_DEFAULT_BRANCH"] {
            project.set_env(branch, Some("main"));
        }
        for (number, wanted) in [("11", "none"), ("12", "all")] {
            project.set_env("CI_PIPELINE_IID", Some(number));
            assert_eq!(select(&project, &[]).0, wanted, "{number}");
        }
    });
}

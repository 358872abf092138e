//! Tests that depend on one another under pytest-xdist.

use super::*;

/// In pairs, a setter and a test that needs it.
const PAIRS: usize = 4;

fn pairs(file: &str) -> String {
    let pair = |at| {
        format!(
            "def test_{at}_sets():\n    ITEMS.add({at})\n\n\n\
             def test_{at}_other():\n    pass\n\n\n\
             def test_{at}_needs():\n    assert {at} in ITEMS\n\n\n"
        )
    };
    let tests: String = (0..PAIRS).map(pair).collect();
    format!("\n-- {file} --\nITEMS = set()\n\n\n{tests}")
}

/// A suite whose own configuration asks for workers.
fn with_workers(options: &str, check: impl Fn(Project)) {
    with_plugins(Wanted::Newest, |python| {
        let files = format!(
            "{}\n-- pytest.ini --\n[pytest]\naddopts = {options}\n",
            pairs("test_a.py")
        );
        check(Project::new(python, &files));
    });
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn each_set_stays_on_one_worker_in_every_mode() {
    with_workers("-n 4", |mut project| {
        let plain = project.tamis(&["run", "--all"]);
        assert_ne!(plain.code(), 0, "{}", plain.stdout);
        let (_, json) = order(&project, &["detect"]);
        assert_eq!(json["dependent"].as_array().unwrap().len(), PAIRS);
        for mode in ["load", "worksteal", "loadgroup"] {
            project.write(
                "pytest.ini",
                &format!("[pytest]\naddopts = -n 4 --dist {mode}\n"),
            );
            project.commit(mode);
            let run = project.tamis(&["run", "--all"]);
            assert_eq!(run.code(), 0, "{mode}: {}{}", run.stdout, run.stderr);
            // It still runs in several processes.
            assert!(run.stdout.contains("4 workers"), "{}", run.stdout);
        }
    });
}

/// Workers that the configuration asks for are switched off in the run that counts.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn a_part_that_fails_alone_is_run_again_in_one_process() {
    with_workers("-n 2", |mut project| {
        let one = project.tamis(&["run", "--all", "--", "python", "-m", "pytest", "-n0"]);
        assert_eq!(one.code(), 0, "{}{}", one.stdout, one.stderr);
        let text = project.read("test_a.py");
        let edited = text.replace("assert 3 in ITEMS", "assert 3 in set(ITEMS)");
        assert_ne!(text, edited);
        project.write("test_a.py", &edited);
        project.commit("an edit");
        let run = project.tamis(&["run"]);
        assert_eq!(run.code(), 0, "{}{}", run.stdout, run.stderr);
        let told = "test_3_needs passes only after test_a.py::test_3_sets";
        assert!(run.stderr.contains(told), "{}", run.stderr);
        let again = run.stdout.rsplit("test session starts").next().unwrap();
        assert!(!again.contains("workers"), "{}", run.stdout);
    });
}

//! Runs of everything check the tests that would have been left out. The unseen dependence is
//! a file that native code opens by itself (docs/python.md).

use serde_json::Value;

use crate::harness::*;

const FILES: &str = r#"
-- data.txt --
abc
-- test_size.py --
import ctypes

def test_size():
    libc = ctypes.CDLL(None)
    file = libc.open(b"data.txt", 0)
    size = libc.read(file, ctypes.create_string_buffer(99), 99)
    libc.close(file)
    assert size == 4

def test_other():
    assert len("data.txt") == 8
"#;

const SIZE: &str = "test_size.py::test_size";

/// The document that a command with `--json` prints.
fn document(done: &Finished) -> Value {
    serde_json::from_str(&done.stdout).unwrap_or_else(|e| panic!("{e}\n{}", done.stderr))
}

fn edit(project: &mut Project, path: &str, text: &str) {
    project.write(path, text);
    project.commit(path);
}

/// A project with a failing test whose row does not have the edited file.
fn missed(python: &Python) -> Project {
    let mut project = Project::new(python, FILES);
    assert_eq!(project.run().outcomes.len(), 2);
    edit(&mut project, "data.txt", "abcdef\n");
    assert_eq!(
        project.run().outcomes.len(),
        0,
        "native code is watched now"
    );
    project
}

fn check_found(project: &Project, done: &Finished) {
    assert_eq!(done.code(), 1, "{}", done.stderr);
    let audit = &document(done)["audit"];
    assert_eq!(audit["checked"], 2, "{}", done.stderr);
    let found = audit["missed"].as_array().unwrap();
    assert_eq!(found.len(), 1, "{audit}");
    assert_eq!(found[0]["id"], SIZE);
    assert_eq!(found[0]["was"], "passed");
    assert_eq!(found[0]["is"], "failed");
    assert_eq!(found[0]["changed"], serde_json::json!(["data.txt"]));
    let base = project.git(&["rev-parse", "HEAD~1"]);
    assert_eq!(found[0]["ran_at"], base.trim());
    assert!(
        done.stderr
            .contains("1 of 2 tests that would have been left out ended differently"),
        "{}",
        done.stderr
    );
}

#[test]
fn a_run_of_all_finds_what_is_not_seen_and_rows_are_widened() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = missed(python);
        check_found(&project, &project.tamis(&["run", "--all", "--json"]));
        // It failed last time. Its new row has the file.
        edit(&mut project, "data.txt", "xyz\n");
        let run = project.run();
        assert_eq!(run.outcomes.keys().collect::<Vec<_>>(), [SIZE]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        edit(&mut project, "notes.txt", "unrelated\n");
        assert_eq!(project.run().outcomes.len(), 0);
        // The row from before the audit would allow a skip.
        edit(&mut project, "data.txt", "abcdefgh\n");
        let why = project.tamis(&["why", SIZE]);
        let text = format!("{}{}", why.stdout, why.stderr);
        assert!(text.contains("which an audit found to matter"), "{text}");
        let run = project.run();
        assert_eq!(run.outcomes.keys().collect::<Vec<_>>(), [SIZE]);
        assert_eq!(run.code, 1, "{}", run.stderr);
        // This stays true after the test has run again.
        edit(&mut project, "data.txt", "uvw\n");
        assert_eq!(project.run().code, 0);
        edit(&mut project, "data.txt", "abcdefghi\n");
        assert_eq!(project.run().code, 1);
    });
}

#[test]
fn a_record_of_all_finds_it_too() {
    on_all_interpreters(Wanted::Newest, |python| {
        let project = missed(python);
        let executable = project.python.executable().display().to_string();
        let command = [executable.as_str(), "-m", "pytest"];
        let arguments = [&["record", "--json", "--"], &command[..]].concat();
        check_found(&project, &project.tamis(&arguments));
    });
}

#[test]
fn an_audit_without_findings_says_so() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.run();
        edit(&mut project, "notes.txt", "unrelated\n");
        let done = project.tamis(&["run", "--all", "--json"]);
        assert_eq!(done.code(), 0, "{}", done.stderr);
        let audit = &document(&done)["audit"];
        assert_eq!(
            (&audit["checked"], &audit["missed"]),
            (&2.into(), &serde_json::json!([]))
        );
    });
}

#[test]
fn a_branch_from_before_the_audit_does_not_undo_it() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = missed(python);
        project.git(&["branch", "side", "HEAD~1"]);
        check_found(&project, &project.tamis(&["run", "--all", "--json"]));
        edit(&mut project, "data.txt", "xyz\n");
        assert_eq!(project.run().code, 0);
        project.git(&["checkout", "--quiet", "side"]);
        edit(&mut project, "side.txt", "side\n");
        assert_eq!(project.run().outcomes.len(), 0);
        project.git(&["merge", "--quiet", "--no-commit", "main"]);
        edit(&mut project, "data.txt", "abcdefgh\n");
        let run = project.run();
        assert_eq!(run.outcomes.keys().collect::<Vec<_>>(), [SIZE]);
        assert_eq!(run.code, 1, "{}", run.stderr);
    });
}

/// The row of a test cannot have what no test did when it was made.
#[test]
fn an_audit_names_the_state_that_could_explain_it() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(
            python,
            r#"
-- lib.py --
MODE = "plain"
-- test_a.py --
import lib


def test_first():
    pass


def test_second():
    lib.OTHER = 1
-- test_b.py --
import lib


def test_mode():
    assert lib.MODE == "plain"


def test_fine():
    assert lib
"#,
        );
        assert_eq!(project.run().code, 0);
        let text = project.read("test_a.py");
        let text = text.replace("    pass", "    lib.MODE = \"other\"");
        edit(&mut project, "test_a.py", &text);
        let done = project.tamis(&["run", "--all", "--json"]);
        assert_eq!(done.code(), 1, "{}", done.stderr);
        let audit = &document(&done)["audit"];
        let missed = audit["missed"].as_array().unwrap();
        assert_eq!(missed.len(), 1, "{audit:#}");
        assert_eq!(missed[0]["id"], "test_b.py::test_mode");
        let by = "test_a.py::test_first";
        assert_eq!(
            missed[0]["cells"],
            serde_json::json!([{ "cell": "lib.py#MODE", "written_by": by }])
        );
        let told = format!("it may be lib.py#MODE, which {by} wrote last");
        assert!(done.stderr.contains(&told), "{}", done.stderr);
    });
}

//! The same edit in all states that git has for it, and results that count again when a tree
//! returns.

use std::collections::BTreeSet;

use crate::harness::*;

const FILES: &str = r#"
-- lib.py --
def one():
    return 1


def two():
    return 2
-- test_lib.py --
import lib


def test_one():
    assert lib.one() > 0


def test_two():
    assert lib.two() > 0


def test_none():
    pass
"#;

const ONE: &str = "test_lib.py::test_one";
const TWO: &str = "test_lib.py::test_two";

/// A recorded project.
fn recorded(python: &Python) -> Project {
    let mut project = Project::new(python, FILES);
    assert_eq!(project.run().outcomes.len(), 3);
    project
}

/// Runs, and compares the tests that ran.
#[track_caller]
fn runs(project: &mut Project, expected: &[&str]) {
    let run = project.run();
    let ran: BTreeSet<&str> = run.outcomes.keys().map(String::as_str).collect();
    let expected = expected.iter().copied().collect();
    assert_eq!(ran, expected, "{:?}\n{}", run.selection, run.stderr);
    assert_eq!(run.code, 0, "{}", run.stderr);
}

fn edit_one(project: &mut Project, value: &str) {
    replace("lib.py", "return 1", &format!("return {value}")).apply(project);
}

fn edit_two(project: &mut Project, value: &str) {
    replace("lib.py", "return 2", &format!("return {value}")).apply(project);
}

#[test]
fn uncommitted_then_staged_then_committed() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python);
        edit_one(&mut project, "5");
        runs(&mut project, &[ONE]);
        runs(&mut project, &[]);
        project.git(&["add", "--all"]);
        runs(&mut project, &[]);
        project.commit("edited");
        runs(&mut project, &[]);
        let select = project.select();
        assert!(select.selected.is_empty(), "{select:?}");
    });
}

#[test]
fn staged_without_a_run() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python);
        edit_one(&mut project, "5");
        project.git(&["add", "--all"]);
        runs(&mut project, &[ONE]);
    });
}

#[test]
fn committed_without_a_run() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python);
        edit_one(&mut project, "5");
        project.commit("one");
        write("unrelated.txt", "x").apply(&mut project);
        project.commit("two");
        runs(&mut project, &[ONE]);
    });
}

#[test]
fn staged_and_edited_again() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python);
        edit_one(&mut project, "5");
        project.git(&["add", "--all"]);
        edit_two(&mut project, "6");
        runs(&mut project, &[ONE, TWO]);
        // The index still has the older state; the work tree counts.
        replace("lib.py", "return 6", "return 2").apply(&mut project);
        runs(&mut project, &[]);
    });
}

#[test]
fn several_commits() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python);
        edit_one(&mut project, "5");
        project.commit("one");
        runs(&mut project, &[ONE]);
        edit_two(&mut project, "6");
        project.commit("two");
        runs(&mut project, &[TWO]);
        runs(&mut project, &[]);
    });
}

#[test]
fn stash_and_back() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python);
        edit_one(&mut project, "5");
        runs(&mut project, &[ONE]);
        project.git(&["stash", "--quiet"]);
        runs(&mut project, &[]);
        project.git(&["stash", "pop", "--quiet"]);
        runs(&mut project, &[]);
    });
}

#[test]
fn branch_switch_and_back() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python);
        project.git(&["switch", "--quiet", "--create", "feature"]);
        edit_one(&mut project, "5");
        project.commit("feature");
        runs(&mut project, &[ONE]);
        project.git(&["switch", "--quiet", "main"]);
        runs(&mut project, &[]);
        edit_two(&mut project, "6");
        project.commit("main");
        runs(&mut project, &[TWO]);
        project.git(&["switch", "--quiet", "feature"]);
        runs(&mut project, &[]);
        // The results of both sides hold in the merge: no test is affected by both edits.
        project.git(&["merge", "--quiet", "--message", "merge", "main"]);
        runs(&mut project, &[]);
    });
}

#[test]
fn revert() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python);
        edit_one(&mut project, "5");
        project.commit("edit");
        runs(&mut project, &[ONE]);
        project.git(&["revert", "--no-edit", "HEAD"]);
        runs(&mut project, &[]);
    });
}

#[test]
fn amend_rebase_and_cherry_pick() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python);
        project.git(&["switch", "--quiet", "--create", "feature"]);
        edit_one(&mut project, "5");
        project.commit("feature");
        runs(&mut project, &[ONE]);
        project.git(&["commit", "--quiet", "--amend", "--message", "better words"]);
        runs(&mut project, &[]);
        project.git(&["switch", "--quiet", "main"]);
        write("unrelated.txt", "x").apply(&mut project);
        project.commit("main");
        runs(&mut project, &[]);
        project.git(&["cherry-pick", "feature"]);
        runs(&mut project, &[]);
        project.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
        project.git(&["switch", "--quiet", "feature"]);
        project.git(&["rebase", "--quiet", "main"]);
        runs(&mut project, &[]);
    });
}

#[test]
fn detached_head() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python);
        edit_one(&mut project, "5");
        project.commit("edit");
        project.git(&["checkout", "--quiet", "--detach"]);
        runs(&mut project, &[ONE]);
        project.git(&["checkout", "--quiet", "HEAD~1"]);
        runs(&mut project, &[]);
    });
}

/// A rename is a removal and an addition.
#[test]
fn module_renamed() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python);
        project.git(&["mv", "lib.py", "library.py"]);
        replace("test_lib.py", "import lib\n", "import library as lib\n").apply(&mut project);
        project.commit("renamed");
        runs(&mut project, &[ONE, TWO, "test_lib.py::test_none"]);
        project.git(&["revert", "--no-edit", "HEAD"]);
        runs(&mut project, &[]);
    });
}

/// An untracked file counts like any other.
#[test]
fn untracked_file() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(
            python,
            r#"
-- test_read.py --
import pathlib


def test_read():
    path = pathlib.Path(__file__).with_name("local.txt")
    assert not path.exists() or path.read_text()


def test_none():
    pass
"#,
        );
        assert_eq!(project.run().outcomes.len(), 2);
        let read = "test_read.py::test_read";
        project.write("local.txt", "1");
        runs(&mut project, &[read]);
        project.write("local.txt", "2");
        runs(&mut project, &[read]);
        project.write(".git/info/exclude", "local.txt\n");
        project.write("local.txt", "3");
        runs(&mut project, &[read]);
        runs(&mut project, &[]);
        project.delete("local.txt");
        runs(&mut project, &[]);
    });
}

/// Same size, same second: the file's times tell git's index nothing.
#[test]
fn edit_within_the_same_second() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python);
        for value in ["3", "4", "5"] {
            let text = project.read("lib.py");
            let line = text.lines().nth(1).unwrap().to_owned();
            project.write(
                "lib.py",
                &text.replacen(&line, &format!("    return {value}"), 1),
            );
            project.git(&["add", "--all"]);
            runs(&mut project, &[ONE]);
        }
    });
}

/// A clone has other paths and other times, but the same results if the store is copied.
#[test]
fn another_checkout_with_the_same_store() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python);
        edit_one(&mut project, "5");
        project.commit("edit");
        let work = project.world().join("outside/clone");
        let work = work.to_str().unwrap().to_owned();
        project.git(&["clone", "--quiet", ".", &work]);
        let store = project.root().join(".tamis");
        let copy = ["-a", store.to_str().unwrap(), &work];
        assert!(
            project
                .command("cp", &copy, &project.root())
                .status
                .success()
        );
        let run = project.command(
            env!("CARGO_BIN_EXE_tamis"),
            &["run", "--json"],
            work.as_ref(),
        );
        let json: serde_json::Value = serde_json::from_str(&run.stdout)
            .unwrap_or_else(|e| panic!("{e}: {}{}", run.stdout, run.stderr));
        let ran: Vec<&String> = json["outcomes"].as_object().unwrap().keys().collect();
        assert_eq!(ran, [ONE], "{}", run.stderr);
    });
}

/// A linked worktree of the same repository.
#[test]
fn worktree() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python);
        let work = project.world().join("outside/linked");
        let work = work.to_str().unwrap().to_owned();
        project.git(&["worktree", "add", "--quiet", "-b", "linked", &work]);
        let run = project.command(
            env!("CARGO_BIN_EXE_tamis"),
            &["run", "--json"],
            work.as_ref(),
        );
        assert_eq!(run.code(), 0, "{}", run.stderr);
        runs(&mut project, &[]);
    });
}

/// Changes that git makes to a file on checkout do not count.
#[test]
fn line_endings_of_the_checkout() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(
            python,
            r#"
-- .gitattributes --
*.txt text eol=crlf
-- data.txt --
1
-- test_data.py --
import pathlib


def test_data():
    path = pathlib.Path(__file__).with_name("data.txt")
    assert path.read_bytes().strip() in (b"1", b"2")
"#,
        );
        project.delete("data.txt");
        project.git(&["checkout", "--quiet", "--", "data.txt"]);
        assert_eq!(project.read("data.txt"), "1\r\n");
        assert_eq!(project.run().outcomes.len(), 1);
        runs(&mut project, &[]);
        project.write("data.txt", "2\r\n");
        runs(&mut project, &["test_data.py::test_data"]);
        project.commit("two");
        runs(&mut project, &[]);
    });
}

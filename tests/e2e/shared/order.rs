//! What one machine finds out of the order of tests is known to others.

use super::git::{add_origin, held};
use super::*;

const TESTS: &str = r#"
-- state.py --
ITEMS = []
-- test_a.py --
import state


def test_sets():
    state.ITEMS.append("a")


def test_needs():
    assert "a" in state.ITEMS


def test_other():
    assert state
-- test_b.py --
import state


def test_needs():
    assert "a" in state.ITEMS
"#;

/// A project with this shared store.
pub fn project(python: &Python, store: &str) -> Project {
    let mut project = Project::new(python, TESTS);
    project.write("tamis.yml", &format!("version: 1\nshared-store: {store}\n"));
    project.commit("configuration");
    project
}

fn edit(project: &mut Project, file: &str) {
    let text = project.read(file);
    let edited = text.replace("in state.ITEMS", "in list(state.ITEMS)");
    assert_ne!(text, edited);
    project.write(file, &edited);
    project.commit("an edit");
}

/// A search in CI serves a machine that knows nothing.
pub fn is_shared(project: &mut Project) {
    on_main(project);
    let run = project.run();
    assert_eq!((run.code, run.outcomes.len()), (0, 4), "{}", run.stderr);
    let detect = project.tamis(&["order", "detect"]);
    assert_eq!(detect.code(), 1, "{}{}", detect.stdout, detect.stderr);
    forget(project);
    // Nothing is searched again for the same code.
    let again = project.tamis(&["order", "detect"]);
    assert_eq!(again.code(), 1, "{}{}", again.stdout, again.stderr);
    assert!(again.stdout.contains("took 0 orders"), "{}", again.stdout);
    forget(project);
    edit(project, "test_b.py");
    let run = project.run();
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(!run.stderr.contains("passes only after"), "{}", run.stderr);
    assert_eq!(
        run.outcomes.keys().collect::<Vec<_>>(),
        ["test_a.py::test_sets", "test_b.py::test_needs"]
    );
}

#[test]
fn what_a_search_found_is_shared() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = project(python, "git");
        let remote = add_origin(&project);
        is_shared(&mut project);
        assert_eq!(held(&remote).len(), 2);
    });
}

/// Two machines each see one test fail in a part; a third one knows of both.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn what_parts_found_comes_together() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = project(python, "git");
        let remote = add_origin(&project);
        on_main(&mut project);
        project.run();
        for file in ["test_a.py", "test_b.py"] {
            project.git(&["checkout", "--quiet", "-B", "work", "main"]);
            forget(&mut project);
            edit(&mut project, file);
            let run = project.run();
            assert_eq!(run.code, 0, "{}", run.stderr);
            assert!(run.stderr.contains("passes only after"), "{}", run.stderr);
        }
        held(&remote);
        // Both results are near: this merges the two.
        let second = project.git(&["rev-parse", "HEAD"]);
        project.git(&["checkout", "--quiet", "-B", "work", "main"]);
        edit(&mut project, "test_a.py");
        project.git(&["merge", "--quiet", "-m", "both", second.trim()]);
        forget(&mut project);
        assert_eq!(left_out(&project).len(), 4);
        for file in ["test_a.py", "test_b.py"] {
            let text = project.read(file).replace("list(", "tuple(");
            project.write(file, &text);
        }
        project.commit("another edit");
        let run = project.run();
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(!run.stderr.contains("passes only after"), "{}", run.stderr);
        assert_eq!(run.outcomes.len(), 3, "{:?}", run.outcomes);
    });
}

//! Rows of tests that were left out for the values that they read: what these depend on from
//! then on.

use crate::harness::*;

/// Commits some edits and runs what has to.
fn step(project: &mut Project, edits: &[(&str, &str)]) -> Run {
    for (file, text) in edits {
        project.write(file, text);
    }
    project.commit("next");
    project.run()
}

/// Another module sets the value than at the record, so an edit of that one counts.
#[test]
fn who_makes_a_value_now() {
    const FILES: &str = r#"
-- m.py --
VALUE = 0
-- x.py --
import m
m.VALUE = 1
-- z.py --
import m
-- test_m.py --
import m
def test_value():
    assert m.VALUE == 1
-- test_others.py --
import x
import z
def test_others():
    assert x and z
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.commit("one");
        assert_eq!(project.run().outcomes.len(), 2);
        let moved = [("x.py", "import m\n"), ("z.py", "import m\nm.VALUE = 1\n")];
        let run = step(&mut project, &moved);
        assert!(
            !run.outcomes.contains_key("test_m.py::test_value"),
            "{}",
            run.stderr
        );
        let run = step(&mut project, &[("z.py", "import m\nm.VALUE = 2\n")]);
        assert_eq!(run.outcomes["test_m.py::test_value"], "failed");
    });
}

/// What a test imports itself is its own; all other modules matter by their values.
#[test]
fn a_module_that_a_test_imports() {
    const FILES: &str = r#"
-- m.py --
def value():
    return 1
VALUE = value()
-- late.py --
import m
WORD = m.VALUE
NUMBER = 1
-- test_late.py --
import m
def test_late():
    import late
    assert late.WORD + late.NUMBER == 2
"#;
    const LATE: &str = "test_late.py::test_late";
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.commit("one");
        assert_eq!(project.run().outcomes.len(), 1);
        let same = "def value():\n    return 2 - 1\nVALUE = value()\n";
        for text in [same, &same.replace("2 - 1", "3 - 2")] {
            let run = step(&mut project, &[("m.py", text)]);
            assert_eq!(run.outcomes.len(), 0, "{}", run.stderr);
        }
        let own = ("late.py", "import m\nWORD = m.VALUE\nNUMBER = 2\n");
        assert_eq!(step(&mut project, &[own]).outcomes[LATE], "failed");
        let back = ("late.py", "import m\nWORD = m.VALUE\nNUMBER = 1\n");
        step(&mut project, &[back]);
        let other = same.replace("2 - 1", "3 - 1");
        assert_eq!(
            step(&mut project, &[("m.py", &other)]).outcomes[LATE],
            "failed"
        );
    });
}

/// A commit after which no process had to start does not make values unknown.
#[test]
fn nothing_had_to_run_in_between() {
    const FILES: &str = r#"
-- m.py --
def value():
    return 1
VALUE = value()
-- test_m.py --
import m
def test_value():
    assert m.VALUE == 1
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.commit("one");
        project.run();
        step(&mut project, &[("README", "text\n")]);
        for text in ["2 - 1", "3 - 2"] {
            let text = format!("def value():\n    return {text}\nVALUE = value()\n");
            let run = step(&mut project, &[("m.py", &text)]);
            assert_eq!(run.outcomes.len(), 0, "{}", run.stderr);
            assert_eq!(run.code, 0, "{}", run.stderr);
        }
        let other = "def value():\n    return 2\nVALUE = value()\n";
        let run = step(&mut project, &[("m.py", other)]);
        assert_eq!(run.outcomes["test_m.py::test_value"], "failed");
    });
}

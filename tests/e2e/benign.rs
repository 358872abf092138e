//! State that makes tests depend on each other, and how a project declares it benign.

use crate::harness::*;

/// Ten tests that all write to a registry and read it.
fn project(python: &Python) -> Project {
    let mut text = String::from(
        r#"
-- registry.py --
ENTRIES = {}

def enter(name, make):
    ENTRIES[name] = make()
    return ENTRIES[name]
-- makers.py --
def make0():
    return 1
"#,
    );
    for at in 1..10 {
        text += &format!("\ndef make{at}():\n    return 1\n");
    }
    for at in 0..10 {
        text += &format!(
            "-- test_{at}.py --\nimport makers, registry\n\n\
             def test():\n    assert registry.enter({at}, makers.make{at}) == 1\n"
        );
    }
    Project::new(python, &text)
}

fn break_one(project: &mut Project) -> Run {
    let makers = project.read("makers.py");
    let broken = makers.replace("def make3():\n    return 1", "def make3():\n    return 2");
    project.write("makers.py", &broken);
    project.run()
}

#[test]
fn state_ties_later_tests_to_earlier_ones() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = project(python);
        assert_eq!(project.run().told(), "");
        let run = break_one(&mut project);
        // The tests after it may have met its state, and those before it left what it reads.
        let all: Vec<String> = (0..10).map(|at| format!("test_{at}.py::test")).collect();
        assert_eq!(run.outcomes.keys().cloned().collect::<Vec<_>>(), all);
        assert_eq!(run.code, 1);
    });
}

#[test]
fn declared_state_ties_nothing() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = project(python);
        project.write(
            "tamis.yml",
            "version: 1\nbenign-state: [\"registry.py#ENTRIES\"]\n",
        );
        assert_eq!(project.run().told(), "");
        let run = break_one(&mut project);
        assert_eq!(run.outcomes.keys().collect::<Vec<_>>(), ["test_3.py::test"]);
        assert_eq!(run.code, 1);
    });
}

/// `env: ignore` names variables on which no test depends, even if it reads them. Without the
/// setting, rows that ignored them prove nothing.
#[test]
fn ignored_variables_select_nothing() {
    on_all_interpreters(Wanted::Newest, |python| {
        let test = "import os\n\n\ndef test():\n    os.environ.get('BUILD_NUMBER')\n";
        let mut project = Project::new(python, &format!("-- test_one.py --\n{test}"));
        let ignore = "version: 1\nenv:\n  ignore: [BUILD_NUMBER]\n";
        project.write("tamis.yml", ignore);
        project.commit("ignored");
        let ran = |project: &mut Project| project.run().outcomes.len();
        project.set_env("BUILD_NUMBER", Some("1"));
        assert_eq!(ran(&mut project), 1);
        project.set_env("BUILD_NUMBER", Some("2"));
        assert_eq!(ran(&mut project), 0);
        project.write("tamis.yml", "version: 1\n");
        assert_eq!(ran(&mut project), 1);
        project.set_env("BUILD_NUMBER", Some("3"));
        assert_eq!(ran(&mut project), 1);
        assert_eq!(ran(&mut project), 0);
    });
}

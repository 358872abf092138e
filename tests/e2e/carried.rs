//! Rows carried over from an earlier revision whose tests did not run since: new imports of
//! their code count for them, too.

use crate::harness::*;

const FILES: &str = r#"
-- app/__init__.py --
-- app/main.py --
def use():
    return 1
-- test_app.py --
def test_use():
    from app import main
    assert main.use() == 1
"#;

/// `import` is added to a module, which changes nothing; `then` breaks it.
fn check(import: &str, then: (&str, &str)) {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.commit("one");
        assert_eq!(project.run().outcomes.len(), 1);
        let main = project.read("app/main.py");
        project.write("app/main.py", &format!("{import}\n{main}"));
        project.commit("two");
        assert_eq!(project.run().outcomes.len(), 0, "{import}");
        project.write(then.0, then.1);
        project.commit("three");
        let run = project.run();
        assert_eq!(run.outcomes.len(), 1, "{import}: {}", run.stderr);
        assert_eq!(run.code, 1, "{import}: {}", run.stderr);
    });
}

#[test]
fn a_module_of_the_library_is_hidden() {
    check("import sched", ("sched.py", "raise ValueError\n"));
}

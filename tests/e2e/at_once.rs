//! How few passes a run needs: tests that run meet at once what they need, and what was found out
//! once is not looked for again.

use crate::chains::sizes;
use crate::harness::*;
use crate::ties::step;

/// The edited test reads most of what others leave, so all of that is there at once; and those that
/// read what it leaves still wait.
#[test]
fn where_most_is_needed_all_is_there_at_once() {
    const FILES: &str = r#"
-- lib.py --
A = B = C = D = E = F = X = 0
G = 0
def g():
    return 3
-- test_a.py --
import pytest
import lib
@pytest.mark.parametrize("name", "ABCDEFX")
def test_leave(name):
    setattr(lib, name, 1)
def test_g():
    assert lib.A + lib.B + lib.C + lib.D + lib.E + lib.F == 6
    lib.G = lib.g()
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(40))
def test_read(n):
    assert lib.G == 3
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.commit("one");
        project.run();
        let run = step(&mut project, &[("lib.py", "return 3", "return 1 + 2")]);
        assert_eq!(sizes(&run), [8], "{}", run.stderr);
        assert!(
            !run.stderr.contains("run again after these"),
            "{}",
            run.stderr
        );
        assert!(project.is_as_plain(), "{}", run.stderr);
        let run = step(&mut project, &[("lib.py", "return 1 + 2", "return 4")]);
        assert_eq!(sizes(&run), [48], "{}", run.stderr);
        assert!(project.is_as_plain(), "{}", run.stderr);
    });
}

/// Whoever failed is looked at once, in whatever pass.
#[test]
fn a_test_that_fails_in_each_pass_is_explained_once() {
    const FILES: &str = r#"
-- lib.py --
LIMIT = 3
-- test_a.py --
import lib
def test_early():
    assert True
def test_edited():
    assert 1
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(20))
def test_other(n):
    assert n >= 0
def test_read():
    assert lib.LIMIT > 0
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.commit("one");
        project.run();
        let edit = ("test_a.py", "assert 1", "lib.LIMIT = 4\n    assert 0");
        let run = step(&mut project, &[edit]);
        assert_eq!(run.code, 1, "{}", run.stderr);
        assert_eq!(sizes(&run), [1, 2], "{}", run.stderr);
        let told = "running 1 failed test again after tests that were left out";
        assert_eq!(run.stderr.matches(told).count(), 1, "{}", run.stderr);
    });
}

/// Whoever is the first to import a module of the standard library that keeps settings of the process
/// has changed none of them.
#[test]
fn who_imports_tracemalloc_first_leaves_nothing() {
    const FILES: &str = r#"
-- lib.py --
def f():
    return 1
-- test_a.py --
import lib
def test_first():
    import tracemalloc
def test_second():
    import tracemalloc
    assert lib.f() == 1
-- test_b.py --
import pytest
@pytest.mark.parametrize("n", range(8))
def test_read(n):
    pass
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.commit("one");
        project.run();
        let run = step(&mut project, &[("lib.py", "return 1", "return 2 - 1")]);
        assert_eq!(sizes(&run), [1], "{}", run.stderr);
    });
}

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

/// A function of a file that is no source was made in the turn of another test, and what it reads
/// was told only then. Whoever failed is looked at once, in whatever pass.
#[test]
fn code_of_no_source_reads_what_it_spells_in_any_turn() {
    const FILES: &str = r#"
-- page.txt --
import lib
def show():
    return lib.ZORK
-- lib.py --
ZORK = 0
WARP = 0
PAGE = {}
def load(path):
    with open(path) as file:
        exec(compile(file.read(), path, "exec"), PAGE)
-- test_a.py --
import lib
def test_z():
    lib.ZORK = 1
def test_w():
    lib.WARP = 1
def test_v():
    lib.WARP = 2
def test_load():
    lib.load("page.txt")
def test_use():
    assert True
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.commit("one");
        project.run();
        let edit = "assert not lib.PAGE or lib.PAGE['show']() == 0";
        let run = step(&mut project, &[("test_a.py", "assert True", edit)]);
        assert_eq!(run.code, 1, "{}", run.stderr);
        assert!(project.is_as_plain(), "{}", run.stderr);
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

//! Tests that options or hooks leave out of every run: the others are settled by what these leave.

use crate::harness::*;
use crate::ties::{readers, step};

const STATE: &str = r#"
-- lib.py --
LIMIT = 0
def make():
    return 3
-- test_a.py --
import lib
def test_set():
    lib.LIMIT = lib.make()
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(12))
def test_read(n):
    assert lib.LIMIT == 3
@pytest.mark.slow
def test_slow():
    lib.LIMIT = 5
"#;

const OPTION: &str = r#"
-- pytest.ini --
[pytest]
markers = slow
addopts = -m "not slow"
"#;

const HOOK: &str = r#"
-- pytest.ini --
[pytest]
markers = slow
-- conftest.py --
def pytest_collection_modifyitems(config, items):
    slow = [item for item in items if item.get_closest_marker("slow")]
    items[:] = [item for item in items if item not in slow]
    config.hook.pytest_deselected(items=slow)
"#;

/// Whoever reads what the edited code makes is left out where that is equal, and runs where it is not.
#[test]
fn the_others_are_settled_by_value() {
    for choosing in [OPTION, HOOK] {
        on_all_interpreters(Wanted::Newest, |python| {
            let mut project = Project::new(python, &format!("{STATE}{choosing}"));
            project.commit("one");
            assert_eq!(project.run().outcomes.len(), 13);
            let run = step(&mut project, &[("lib.py", "return 3", "return 1 + 2")]);
            let ran: Vec<&str> = run.outcomes.keys().map(String::as_str).collect();
            assert_eq!(ran, ["test_a.py::test_set"], "{}", run.stderr);
            let run = step(&mut project, &[("lib.py", "return 1 + 2", "return 4")]);
            assert_eq!(readers(&run).1, ["test_read"].into(), "{}", run.stderr);
            assert_eq!(run.outcomes.len(), 13);
        });
    }
}

/// Two jobs run different tests of one store by turns: each knows only its own state.
#[test]
fn jobs_that_choose_other_tests_do_not_mix_their_states() {
    const FILES: &str = r#"
-- lib.py --
LIMIT = 0
def make():
    return 3
-- pytest.ini --
[pytest]
markers = slow
-- test_a.py --
import pytest
import lib
@pytest.mark.slow
def test_slow():
    lib.LIMIT = 5
def test_set():
    lib.LIMIT = lib.make()
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(12))
def test_read(n):
    assert lib.LIMIT in (3, 5)
@pytest.mark.slow
@pytest.mark.parametrize("n", range(12))
def test_slowly(n):
    assert lib.LIMIT == 5
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.commit("one");
        let job = |project: &mut Project, of: &str, failed: &[&str]| {
            let run = project.run_with(&["--", "python", "-m", "pytest", "-m", of]);
            let found: Vec<&str> = readers(&run).1.into_iter().collect();
            assert_eq!(found, failed, "{of}\n{}", run.stderr);
        };
        for (from, to, fast, slow) in [
            ("", "", &[][..], &[][..]),
            ("return 3", "return 4", &["test_read"][..], &[][..]),
            (
                "lib.LIMIT = 5",
                "lib.LIMIT = 6",
                &["test_read"][..],
                &["test_slowly"][..],
            ),
            ("return 4", "return 5", &[][..], &["test_slowly"][..]),
            ("lib.LIMIT = 6", "pass", &[][..], &["test_slowly"][..]),
        ] {
            for file in ["lib.py", "test_a.py"] {
                let text = project.read(file);
                project.write(
                    file,
                    &match from {
                        "" => text,
                        _ => text.replace(from, to),
                    },
                );
            }
            project.commit("next");
            job(&mut project, "not slow", fast);
            job(&mut project, "slow", slow);
        }
        // All together those of one job meet what the other one's tests leave.
        let run = project.run();
        assert!(readers(&run).1.is_empty(), "{}", run.stderr);
        assert!(project.is_as_plain());
    });
}

/// A run of fewer tests keeps what is known of the others, and so what one of them starts to leave is
/// found when all run.
#[test]
fn what_is_left_is_looked_at_when_those_are_there_who_read_it() {
    const FILES: &str = r#"
-- lib.py --
LIMIT = None
OTHER = None
-- test_a.py --
def test_starts():
    pass
-- test_b.py --
import pytest
import lib
def test_read():
    assert lib.LIMIT is None
def test_sets():
    lib.OTHER = 1
@pytest.mark.parametrize("n", range(4))
def test_plain(n):
    assert True
"#;
    let starts = ("test_a.py", "    pass", "    import lib\n    lib.LIMIT = 1");
    let fewer = |of: &'static str| ["--", "python", "-m", "pytest", "-k", of];
    on_all_interpreters(Wanted::Newest, |python| {
        for (before, after) in [
            // Nothing of them runs.
            (Some("plain or sets"), None),
            // It runs among them.
            (None, Some("starts or plain")),
        ] {
            let mut project = Project::new(python, FILES);
            project.commit("one");
            assert_eq!(project.run().code, 0);
            if let Some(of) = before {
                project.run_with(&fewer(of));
            }
            project.write(
                "test_a.py",
                &project.read("test_a.py").replace(starts.1, starts.2),
            );
            project.commit("two");
            if let Some(of) = after {
                project.run_with(&fewer(of));
            }
            let run = project.run();
            assert_eq!(readers(&run).1, ["test_read"].into(), "{}", run.stderr);
            assert!(project.is_as_plain());
        }
    });
}

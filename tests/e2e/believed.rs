//! Tests that lack something are believed to leave what the record has, until they run once more.

use crate::harness::*;
use crate::ties::{readers, step};

const FILES: &str = r#"
-- lib.py --
LIMIT = None
MADE = None
NAMES = {}
-- test_a.py --
import pytest
import lib
def test_sets():
    lib.LIMIT = 1
def test_makes():
    lib.MADE = 1
def test_other():
    lib.NAMES["other"] = 1
@pytest.mark.parametrize("n", range(30))
def test_plain(n):
    assert n >= 0
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(12))
def test_read(n):
    assert lib.MADE == 1
def test_late():
    lib.NAMES["late"] = lib.MADE
"#;

/// Edited, it reads what the record does not have it read. It leaves the same without that, and among
/// all something else only in the last step.
#[test]
fn who_reads_what_it_leaves_runs_only_if_it_differs_in_the_end() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.commit("one");
        project.run();
        for (from, to, ran) in [
            ("lib.MADE = 1", "lib.MADE = 1 if lib.LIMIT else 1", false),
            ("if lib.LIMIT else 1", "if lib.LIMIT else 1 + 0", false),
        ] {
            let run = step(&mut project, &[("test_a.py", from, to)]);
            assert_eq!(readers(&run).0.contains("test_read"), ran, "{}", run.stderr);
            assert!(project.is_as_plain());
        }
        let mut project = Project::new(python, FILES);
        project.commit("one");
        project.run();
        let other = ("lib.MADE = 1", "lib.MADE = 2 if lib.LIMIT else 1");
        let run = step(&mut project, &[("test_a.py", other.0, other.1)]);
        assert_eq!(readers(&run).1, ["test_read"].into(), "{}", run.stderr);
        assert!(project.is_as_plain());
    });
}

/// So does who ran beside it and was edited, too.
#[test]
fn who_ran_beside_it_runs_once_more_as_well() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.commit("one");
        project.run();
        let makes = (
            "test_a.py",
            "lib.MADE = 1",
            "lib.MADE = 2 if lib.LIMIT else 1",
        );
        let late = (
            "test_b.py",
            "[\"late\"] = lib.MADE",
            "[\"late\"] = [1][lib.MADE - 1]",
        );
        let run = step(&mut project, &[makes, late]);
        assert_eq!(
            readers(&run).1,
            ["test_late", "test_read"].into(),
            "{}",
            run.stderr
        );
        assert!(project.is_as_plain());
    });
}

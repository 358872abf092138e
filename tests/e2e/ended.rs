//! A test leaves something anew, and a later one that has always left something there ends that:
//! who reads it after this one need not run.

use std::collections::BTreeSet;

use crate::harness::*;
use crate::ties::{readers, step};

const LIB: &str = r#"
-- lib.py --
LIMIT = 0
OTHER = 0
def limit():
    return LIMIT
-- test_a.py --
import lib
def test_early():
    assert True
def test_between():
    assert lib.LIMIT in (0, 5)
def test_sets():
    lib.LIMIT = 1
def test_follows():
    lib.OTHER = lib.LIMIT + 1
-- test_b.py --
import pytest
import lib
class TestShared:
    @classmethod
    def setup_class(cls):
        cls.part = [1]
    def test_one(self):
        assert self.part == [1]
    def test_two(self):
        assert self.part == [1]
class Own:
    part = 1
@pytest.mark.parametrize("n", range(8))
def test_limit(n):
    assert lib.limit() == 1
@pytest.mark.parametrize("n", range(8))
def test_other(n):
    assert lib.OTHER == 2
@pytest.mark.parametrize("n", range(8))
def test_part(n):
    assert Own.part == 1
"#;

const FIRST: &str = "def test_early():\n    assert True\n";
const SETS: &str = "def test_sets():\n    lib.LIMIT = 1\n";

/// Runs after the edits, and compares how each test ended with a run of all.
fn checked(project: &mut Project, edits: &[(&str, &str, &str)]) -> Run {
    let run = step(project, edits);
    for (test, end) in &project.plain() {
        assert_eq!(project.last.get(test), Some(end), "{test}: {}", run.stderr);
    }
    run
}

fn recorded(python: &Python, sets: &str) -> Project {
    let mut project = Project::new(python, &LIB.replace(SETS, sets));
    project.commit("one");
    let run = project.run();
    assert_eq!(run.outcomes.len(), 30, "{}", run.stderr);
    project
}

#[test]
fn who_sets_what_another_test_sets_before_it_now() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python, SETS);
        let edit = "def test_early():\n    lib.LIMIT = 5\n";
        let run = checked(&mut project, &[("test_a.py", FIRST, edit)]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let ran = |test: &str| run.outcomes.contains_key(&format!("test_a.py::{test}"));
        assert!(ran("test_between") && ran("test_sets"), "{}", run.stderr);
        assert_eq!(readers(&run).0, BTreeSet::new(), "{}", run.stderr);
        assert!(project.run().outcomes.is_empty());
    });
}

#[test]
fn who_sets_it_only_if_nobody_has() {
    on_all_interpreters(Wanted::Newest, |python| {
        for sets in [
            "def test_sets():\n    lib.LIMIT = lib.LIMIT or 1\n",
            "def test_sets():\n    if not lib.LIMIT:\n        lib.LIMIT = 1\n",
            "def test_sets():\n    lib.LIMIT += 1\n",
        ] {
            let mut project = recorded(python, sets);
            let edit = "def test_early():\n    lib.LIMIT = 5\n";
            let run = checked(&mut project, &[("test_a.py", FIRST, edit)]);
            assert_eq!(run.code, 1, "{}", run.stderr);
            let seen = readers(&run);
            assert_eq!(seen.1, BTreeSet::from(["test_limit", "test_other"]));
            assert!(!seen.0.contains("test_part"), "{}", run.stderr);
        }
    });
}

#[test]
fn a_new_first_test_of_a_class() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python, SETS);
        let new = "    def test_new(self):\n        assert self.part\n    def test_one(self):\n";
        let run = checked(
            &mut project,
            &[("test_b.py", "    def test_one(self):\n", new)],
        );
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(run.outcomes.contains_key("test_b.py::TestShared::test_one"));
        assert!(!readers(&run).0.contains("test_part"), "{}", run.stderr);
        assert!(project.run().outcomes.is_empty());
    });
}

/// An edited test has met what another edited one leaves, but not what a third one makes of that.
#[test]
fn who_ran_beside_has_met_it_and_not_what_others_make_of_it() {
    on_all_interpreters(Wanted::Newest, |python| {
        let sets = "def test_sets():\n    pass\n";
        let mut project = recorded(python, sets);
        let reads = "class Own:\n    part = 1\n";
        let both =
            "class Own:\n    part = 1\ndef test_both():\n    assert lib.LIMIT + lib.OTHER == 1\n";
        step(&mut project, &[("test_b.py", reads, both)]);
        let early = "def test_early():\n    lib.LIMIT = 5\n";
        let edits = [
            ("test_a.py", FIRST, early),
            (
                "test_b.py",
                "lib.LIMIT + lib.OTHER == 1",
                "lib.OTHER + lib.LIMIT == 6",
            ),
        ];
        let run = checked(&mut project, &edits);
        assert_eq!(run.code, 1, "{}", run.stderr);
        assert!(readers(&run).1.contains("test_both"), "{}", run.stderr);
    });
}

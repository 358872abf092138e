//! Generators that have not begun have a value: their code, and what they were made with.

use crate::harness::*;
use crate::ties::{readers, step};

const FILES: &str = r#"
-- lib.py --
def numbers(first):
    yield first + 1
MADE = numbers(1)
WITHIN = (number for number in [1, 2])
BEGUN = (one for one in [1, 2])
next(BEGUN)
def other():
    return 1
-- test_b.py --
import pytest
import lib
def test_made():
    assert list(lib.MADE) == [2]
def test_within():
    assert list(lib.WITHIN) == [1, 2]
def test_begun():
    assert list(lib.BEGUN) == [2]
def test_other():
    assert lib.other() == 1
@pytest.mark.parametrize("n", range(20))
def test_plain(n):
    assert True
@pytest.mark.parametrize("numbers", [(number for number in [1])])
def test_parameter(numbers):
    assert sum(numbers) == 1
"#;

#[test]
fn who_gets_one_that_is_the_same_is_left_out() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.run();
        // Of one that has begun nobody knows what it holds.
        let run = step(
            &mut project,
            &[("lib.py", "next(BEGUN)", "str(next(BEGUN))")],
        );
        // What the module does at import has the code of the other one, which ran in its test.
        // And it is not known at which name of the module a generator looks.
        let wanted = ["test_begun", "test_made", "test_within"].into();
        assert_eq!(readers(&run).0, wanted, "{}", run.stderr);
        let steps = [
            (("lib.py", "first + 1", "1 + first"), "test_made", false),
            (
                ("lib.py", "(number for", "(1 * number for"),
                "test_within",
                false,
            ),
            (("lib.py", "numbers(1)", "numbers(2)"), "test_made", true),
            (
                ("lib.py", "in [1, 2])\nB", "in [1, 3])\nB"),
                "test_within",
                true,
            ),
            (("test_b.py", "in [1])", "in [2])"), "test_parameter", true),
        ];
        for (edit, wanted, fails) in steps {
            let run = step(&mut project, &[edit]);
            let (ran, failed) = readers(&run);
            assert!(ran.contains(wanted), "{edit:?} {}", run.stderr);
            assert_eq!(failed.contains(wanted), fails, "{edit:?} {}", run.stderr);
            assert!(!ran.contains("test_other"), "{edit:?} {}", run.stderr);
            assert!(project.is_as_plain());
        }
    });
}

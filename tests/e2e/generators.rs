//! Generators that have not begun have a value: their code, and what they were made with.

use crate::harness::*;
use crate::ties::{readers, step};

const FILES: &str = r#"
-- lib.py --
def numbers(first):
    yield first + 1
MADE = numbers(1)
WITHIN = (number for number in [1, 2])
BEGUN = (number for number in [1, 2])
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
        let steps: [(_, &[&str], &[&str]); 6] = [
            (("lib.py", "return 1", "return 2 - 1"), &["test_other"], &[]),
            (("lib.py", "first + 1", "1 + first"), &["test_made"], &[]),
            (
                (
                    "lib.py",
                    "number for number in [1, 2])\nBEGUN",
                    "2 * number // 2 for number in [1, 2])\nBEGUN",
                ),
                &["test_within"],
                &[],
            ),
            (
                ("lib.py", "numbers(1)", "numbers(2)"),
                &["test_made"],
                &["test_made"],
            ),
            (
                ("lib.py", "in [1, 2])\nBEGUN", "in [1, 3])\nBEGUN"),
                &["test_within"],
                &["test_within"],
            ),
            (
                ("test_b.py", "in [1])", "in [2])"),
                &["test_parameter"],
                &["test_parameter"],
            ),
        ];
        for (edit, wanted, failing) in steps {
            let run = step(&mut project, &[edit]);
            let (mut ran, failed) = readers(&run);
            assert!(
                ran.remove("test_begun") || !edit.0.starts_with("lib"),
                "{}",
                run.stderr
            );
            let failing = failing.iter().copied().collect();
            assert_eq!(failed, failing, "{edit:?} {}", run.stderr);
            for test in wanted {
                assert!(ran.contains(test), "{edit:?} {}", run.stderr);
            }
            assert!(
                !ran.contains("test_other") || edit.1 == "return 1",
                "{}",
                run.stderr
            );
        }
    });
}

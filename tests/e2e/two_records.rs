//! Runs of a part in a row, and several records that prove different tests.

use crate::harness::*;
use crate::setters::{functions, set};
use crate::ties::{readers, step};

/// What is edited (file, from, to), who runs, and who fails in it.
type Step = (
    &'static [(&'static str, &'static str, &'static str)],
    &'static [&'static str],
    &'static [&'static str],
);

/// One step after the other, behind a first run that ends with `code`. `are_all`: nobody else runs.
fn in_a_row(files: &str, code: i32, are_all: bool, steps: &[Step]) {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, files);
        project.commit("one");
        assert_eq!(project.run().code, code);
        for (edits, runs, failed) in steps {
            let run = step(&mut project, edits);
            let about = format!("{edits:?}\n{}", run.stderr);
            let (ran, runs) = (functions(&run), set(runs));
            assert_eq!(readers(&run).1, set(failed), "{about}");
            match are_all {
                true => assert_eq!(ran, runs, "{about}"),
                false => assert!(ran.is_superset(&runs), "{ran:?}\n{about}"),
            }
        }
    });
}

/// A record proves a test, and a later one another test, which has met nothing of what the first one
/// leaves by its own record.
#[test]
fn who_leaves_something_else_by_another_record_runs() {
    const FILES: &str = r#"
-- lib.py --
X = 0
-- test_a.py --
import lib
def test_t():
    lib.X = 2
-- test_b.py --
import lib
def test_r():
    assert lib.X == 0
"#;
    in_a_row(
        FILES,
        1,
        false,
        &[
            (
                &[("test_a.py", "lib.X = 2", "pass")],
                &["test_t", "test_r"],
                &[],
            ),
            (
                &[("test_a.py", "pass", "lib.X = 2 # again")],
                &["test_t", "test_r"],
                &["test_r"],
            ),
        ],
    );
}

/// The same where what it leaves is the source of what others read.
#[test]
fn what_others_make_of_it_is_another_value() {
    const FILES: &str = r#"
-- lib.py --
X = 0
W = 0
C = 0
P = []
Q = []
def f():
    return 3
-- test_a.py --
import lib
def test_p():
    lib.P.append(1)
def test_q():
    lib.Q.append(1)
def test_t():
    lib.X = 2
def test_v():
    lib.W = lib.X + 1
def test_c():
    lib.C = lib.f()
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(24))
def test_read(n):
    assert lib.W in (1, 3) and lib.C in (3, 4)
"#;
    in_a_row(
        FILES,
        0,
        false,
        &[
            (
                &[
                    ("test_a.py", "lib.X = 2", "pass"),
                    ("lib.py", "return 3", "return 4"),
                ],
                &["test_t", "test_c", "test_read"],
                &[],
            ),
            (
                &[("test_a.py", "pass", "lib.X = 2 # again")],
                &["test_t", "test_v"],
                &[],
            ),
        ],
    );
}

/// What tests leave whose rows are from another record than the rest nobody knows, but what the rest
/// leaves.
#[test]
fn rows_of_two_records() {
    const FILES: &str = r#"
-- lib.py --
A = []
C = 0
D = 0
def f():
    return 3
def g():
    return 1
-- test_a.py --
import lib
def test_a():
    lib.A.append(1)
def test_c():
    lib.C = lib.f()
def test_d():
    lib.D = lib.g()
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(8))
def test_first(n):
    assert lib.A == [1] and lib.D == 1
@pytest.mark.parametrize("n", range(8))
def test_both(n):
    assert lib.C in (3, 4) and lib.D == 1
"#;
    in_a_row(
        FILES,
        0,
        true,
        &[
            (
                &[("lib.py", "return 3", "return 4")],
                &["test_both", "test_c", "test_d"],
                &[],
            ),
            // The first record proves `test_both`, and the second one others.
            (
                &[("lib.py", "return 4", "return 3 # again")],
                &["test_c"],
                &[],
            ),
            (
                &[("lib.py", "return 1", "return 2 - 1")],
                &["test_c", "test_d"],
                &[],
            ),
            (
                &[("lib.py", "return 3 #", "return 2 + 1 #")],
                &["test_c", "test_d"],
                &[],
            ),
            (
                &[("lib.py", "return 2 - 1", "return 2")],
                &["test_a", "test_both", "test_c", "test_d", "test_first"],
                &["test_both", "test_first"],
            ),
        ],
    );
}

/// What a run of a part records serves the next one: the same edit back and forth, and another.
#[test]
fn runs_of_a_part_in_a_row() {
    const FILES: &str = r#"
-- lib.py --
A = []
REG = {}
C = 0
def put(key, value):
    REG[key] = value
def get(key):
    return REG[key]
def f():
    return 1
def g():
    return 5
-- test_a.py --
import lib
def test_a():
    lib.A.append(1)
def test_g():
    lib.put("g", lib.g())
def test_c():
    lib.put("c", lib.f())
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(8))
def test_read(n):
    assert lib.get("c") == 1
@pytest.mark.parametrize("n", range(8))
def test_all(n):
    assert lib.REG == {"g": 5, "c": 1} and lib.A == [1]
"#;
    in_a_row(
        FILES,
        0,
        true,
        &[
            (&[("lib.py", "return 1", "return 2 - 1")], &["test_c"], &[]),
            (
                &[("lib.py", "return 2 - 1", "return 3 - 2")],
                &["test_c"],
                &[],
            ),
            (&[("lib.py", "return 5", "return 4 + 1")], &["test_g"], &[]),
            (
                &[("lib.py", "return 3 - 2", "return 3")],
                &["test_a", "test_all", "test_c", "test_g", "test_read"],
                &["test_all", "test_read"],
            ),
            (
                &[("lib.py", "return 3", "return 1")],
                &["test_a", "test_all", "test_c", "test_g", "test_read"],
                &[],
            ),
        ],
    );
}

//! Numbers that left-out tests leave are put into their cells, so that nobody runs for them.

use crate::harness::*;
use crate::setters::{functions, set};
use crate::ties::{readers, step};

/// One edit after the other, each with the functions that run, and those that fail.
struct Case {
    name: &'static str,
    files: &'static str,
    steps: &'static [Step],
}

struct Step {
    edits: &'static [(&'static str, &'static str, &'static str)],
    ran: &'static [&'static str],
    failed: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        name: "a number that every test reads and raises",
        files: r#"
-- lib.py --
class Field:
    count = 0
    def __init__(self):
        self.at = Field.count
        Field.count += 1
def one():
    return 1
-- test_a.py --
import lib
def test_a():
    assert lib.Field().at == 0
def test_b():
    assert lib.Field().at == lib.one()
def test_c():
    assert lib.Field().at == 2
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(8))
def test_read(n):
    assert lib.Field().at == n + 3
"#,
        steps: &[
            Step {
                edits: &[("lib.py", "return 1", "return 2 - 1")],
                ran: &["test_b"],
                failed: &[],
            },
            // Who ran without the others has not become their property.
            Step {
                edits: &[("test_a.py", "Field().at == 0", "Field().at < 1")],
                ran: &["test_a"],
                failed: &[],
            },
            Step {
                edits: &[(
                    "test_a.py",
                    "Field().at == 2",
                    "Field().at == 2 and lib.Field()",
                )],
                ran: &["test_c", "test_read"],
                failed: &["test_read"],
            },
        ],
    },
    Case {
        name: "who met what was put in its place depends on who left that",
        files: r#"
-- lib.py --
A = None
C = 0
def f():
    return 1
-- test_a.py --
import lib
def test_a():
    lib.A = 1
def test_c():
    lib.C = lib.f()
-- test_b.py --
import pytest
import lib
def test_read():
    assert lib.A == 1
@pytest.mark.parametrize("n", range(8))
def test_wait(n):
    assert lib.C == 1
"#,
        steps: &[
            Step {
                edits: &[
                    ("test_b.py", "assert lib.A == 1", "assert lib.A == 2 - 1"),
                    ("lib.py", "return 1", "return 2 - 1"),
                ],
                ran: &["test_c", "test_read"],
                failed: &[],
            },
            Step {
                edits: &[
                    ("test_a.py", "lib.A = 1", "lib.A = 3 - 2"),
                    ("lib.py", "return 2 - 1", "return 3 - 2"),
                ],
                ran: &["test_a", "test_c"],
                failed: &[],
            },
            Step {
                edits: &[("test_a.py", "lib.A = 3 - 2", "lib.A = 5")],
                ran: &["test_a", "test_read"],
                failed: &["test_read"],
            },
        ],
    },
    Case {
        name: "two differences do not cancel out",
        files: r#"
-- lib.py --
A = 0
TOTAL = 0
def f():
    return 3
-- test_a.py --
import lib
def test_a():
    lib.A = 1
def test_total():
    lib.TOTAL = lib.A + lib.f()
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(8))
def test_read(n):
    assert lib.TOTAL == 4
"#,
        steps: &[Step {
            edits: &[("lib.py", "return 3", "return 4")],
            ran: &["test_read", "test_total"],
            failed: &["test_read"],
        }],
    },
    Case {
        name: "whoever edits a test to put back what was there at first is seen",
        files: r#"
-- lib.py --
A = 0
B = 0
def f():
    return 1
-- test_a.py --
import lib
def test_a():
    lib.A = 1
def test_b():
    lib.A = 1 + 0
def test_f():
    lib.B = lib.f()
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(8))
def test_read(n):
    assert lib.A == 1 and lib.B == 1
"#,
        steps: &[Step {
            edits: &[
                ("test_a.py", "lib.A = 1 + 0", "lib.A = 0"),
                ("lib.py", "return 1", "return 2 - 1"),
            ],
            ran: &["test_b", "test_f", "test_read"],
            failed: &["test_read"],
        }],
    },
    Case {
        name: "a number that becomes something else",
        files: r#"
-- lib.py --
A = None
C = 0
def f():
    return 3
-- test_a.py --
import lib
def test_a():
    lib.A = 1
def test_b():
    lib.A = [1]
def test_c():
    lib.C = lib.f() + len(lib.A)
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(8))
def test_read(n):
    assert lib.A == [1] and lib.C == 4
"#,
        steps: &[Step {
            edits: &[("lib.py", "return 3", "return 2 + 1")],
            ran: &["test_a", "test_b", "test_c"],
            failed: &[],
        }],
    },
];

#[test]
fn nobody_runs_for_numbers() {
    on_all_interpreters(Wanted::Newest, |python| {
        for case in CASES {
            let mut project = Project::new(python, case.files);
            project.commit("one");
            assert_eq!(project.run().code, 0, "{}", case.name);
            for (at, one) in case.steps.iter().enumerate() {
                let run = step(&mut project, one.edits);
                let about = format!("{}, step {at}\n{}", case.name, run.stderr);
                assert_eq!(readers(&run).1, set(one.failed), "{about}");
                assert_eq!(functions(&run), set(one.ran), "{about}");
            }
        }
    });
}

/// What is made in the order of a set of texts is the same in the next run. Nobody sees that tamis
/// has Python hash them in the same way, and who says how is obeyed.
#[test]
fn texts_have_the_same_hashes() {
    const FILES: &str = r#"
-- lib.py --
def names():
    return list(set("alpha beta gamma delta epsilon zeta eta theta".split()))
NAMES = names()
-- test_a.py --
import os
import subprocess
import sys
import lib
def test_names():
    assert len(lib.NAMES) == 8
def test_seen():
    assert "PYTHONHASHSEED" not in os.environ
    code = "import os; print(os.environ.get('PYTHONHASHSEED'))"
    for env in (None, dict(os.environ)):
        done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, env=env)
        assert done.stdout == b"None\n"
def test_own():
    assert True
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.commit("one");
        assert_eq!(project.run().code, 0);
        let run = step(
            &mut project,
            &[("lib.py", "def names():", "def names():\n    pass")],
        );
        assert_eq!(functions(&run), set(&[]), "{}", run.stderr);
    });
}

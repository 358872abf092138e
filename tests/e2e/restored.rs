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
            // The first one may have made more than the number.
            Step {
                edits: &[("lib.py", "return 1", "return 2 - 1")],
                ran: &["test_a", "test_b"],
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
                ran: &["test_a", "test_c", "test_read"],
                failed: &["test_read"],
            },
        ],
    },
    Case {
        name: "who met what was put in its place depends on who left that",
        files: r#"
-- lib.py --
N = 0
C = 0
def f():
    return 1
-- test_a.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(9))
def test_count(n):
    lib.N += 1
def test_set():
    lib.N = 20
def test_c():
    lib.C = lib.f()
-- test_b.py --
import pytest
import lib
def test_read():
    assert lib.N == 20
@pytest.mark.parametrize("n", range(8))
def test_wait(n):
    assert lib.C == 1
"#,
        steps: &[
            Step {
                edits: &[
                    ("test_b.py", "assert lib.N == 20", "assert lib.N == 10 + 10"),
                    ("lib.py", "return 1", "return 2 - 1"),
                ],
                ran: &["test_c", "test_count", "test_read"],
                failed: &[],
            },
            Step {
                edits: &[
                    ("test_a.py", "lib.N = 20", "lib.N = 21 - 1"),
                    ("lib.py", "return 2 - 1", "return 3 - 2"),
                ],
                ran: &["test_c", "test_count", "test_set"],
                failed: &[],
            },
            Step {
                edits: &[("test_a.py", "lib.N = 21 - 1", "lib.N = 5")],
                ran: &["test_count", "test_read", "test_set"],
                failed: &["test_read"],
            },
        ],
    },
    Case {
        name: "who runs for others begins with what was there, not with what it leaves",
        files: r#"
-- lib.py --
N = 0
L = []
C = 0
def f():
    return 1
-- test_a.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(9))
def test_count(n):
    lib.N += 1
def test_list():
    lib.L.append(1)
    lib.N = 1
def test_c():
    lib.C = lib.f()
-- test_b.py --
import pytest
import lib
def test_list():
    assert lib.L == [1]
def test_read():
    assert lib.N == 1
@pytest.mark.parametrize("n", range(8))
def test_wait(n):
    assert lib.C == 1
"#,
        steps: &[
            Step {
                edits: &[
                    ("test_b.py", "lib.L == [1]", "lib.L == list([1])"),
                    ("test_b.py", "lib.N == 1", "lib.N == 2 - 1"),
                    ("lib.py", "return 1", "return 2 - 1"),
                ],
                ran: &["test_c", "test_count", "test_list", "test_read"],
                failed: &[],
            },
            Step {
                edits: &[("test_a.py", "lib.N = 1", "lib.N = 4")],
                ran: &["test_count", "test_list", "test_read"],
                failed: &["test_read"],
            },
        ],
    },
    Case {
        name: "a number that says that something was done which no cell shows",
        files: r#"
-- lib.py --
import sqlite3
DB = sqlite3.connect(":memory:")
READY = 0
C = 0
def f():
    return 1
def use():
    global READY
    if not READY:
        DB.execute("create table t (a)")
        READY = 1
    return DB.execute("select count(*) from sqlite_master").fetchone()[0]
-- test_a.py --
import lib
def test_use():
    lib.use()
def test_c():
    lib.C = lib.f()
-- test_b.py --
import pytest
import lib
def test_read():
    assert lib.use() == 1
@pytest.mark.parametrize("n", range(8))
def test_wait(n):
    assert lib.C == 1
"#,
        steps: &[Step {
            edits: &[
                ("test_b.py", "lib.use() == 1", "lib.use() == 0"),
                ("lib.py", "return 1", "return 2 - 1"),
            ],
            ran: &["test_c", "test_read", "test_use"],
            failed: &["test_read"],
        }],
    },
    Case {
        name: "two differences do not cancel out",
        files: r#"
-- lib.py --
N = 0
TOTAL = 0
def f():
    return 3
-- test_a.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(9))
def test_count(n):
    lib.N += 1
def test_total():
    lib.TOTAL = lib.N + lib.f()
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(8))
def test_read(n):
    assert lib.TOTAL == 12
"#,
        steps: &[Step {
            edits: &[("lib.py", "return 3", "return 12")],
            ran: &["test_count", "test_read", "test_total"],
            failed: &["test_read"],
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

//! Tests that run alone, as no other can be affected: what they pass for must be there in a run of
//! all tests, too.

use crate::harness::*;
use crate::setters::{functions, set};
use crate::ties::step;

/// An edit behind a whole run, who runs for it, and who fails.
struct Case {
    name: &'static str,
    edits: &'static [(&'static str, &'static str, &'static str)],
    ran: &'static [&'static str],
    failed: &'static [&'static str],
}

const FILES: &str = r#"
-- lib.py --
L = []
X = 0
def double(n):
    return 2 * n
def all_of():
    return sum(L)
def unseen():
    return "unseen"
-- test_a.py --
import lib
def test_append():
    lib.L.append(5)
def test_set():
    lib.X = 1
-- test_b.py --
import pytest
import lib
@pytest.fixture(scope="module")
def shared():
    return [1]
def test_list():
    assert len(lib.L) != 6
def test_double():
    assert lib.double(2) == 4
def test_all():
    assert lib.all_of() == 5
def test_first(shared):
    assert shared[0] == 1
def test_shared(shared):
    assert len(shared) == 1
-- test_new.py --
# none
"#;

const CASES: &[Case] = &[
    Case {
        name: "an edited test reads what a test leaves that is left out",
        edits: &[("test_b.py", "len(lib.L) != 6", "sum(lib.L) != 5")],
        ran: &["test_append", "test_list"],
        failed: &["test_list"],
    },
    Case {
        name: "the same through code of the project",
        edits: &[("lib.py", "return sum(L)", "return len(L) and sum(L)")],
        ran: &["test_append", "test_all"],
        failed: &[],
    },
    Case {
        name: "and a new test",
        edits: &[(
            "test_new.py",
            "# none",
            "import lib\ndef test_new():\n    assert lib.X == 0\n",
        )],
        ran: &["test_set", "test_new"],
        failed: &["test_new"],
    },
    Case {
        name: "a new test passes only after what is left out",
        edits: &[(
            "test_new.py",
            "# none",
            "import lib\ndef test_new():\n    assert lib.X == 1\n",
        )],
        ran: &["test_set", "test_new"],
        failed: &[],
    },
    Case {
        name: "who reads nothing of it runs alone",
        edits: &[("lib.py", "return 2 * n", "return n + n")],
        ran: &["test_double"],
        failed: &[],
    },
    Case {
        name: "nor does a new test have others run",
        edits: &[(
            "test_new.py",
            "# none",
            "import lib\ndef test_new():\n    assert lib.unseen() == 'unseen'\n",
        )],
        ran: &["test_new"],
        failed: &[],
    },
];

#[test]
fn who_runs_alone_meets_what_all_leave() {
    on_all_interpreters(Wanted::Newest, |python| {
        for case in CASES {
            let mut project = Project::new(python, FILES);
            project.commit("one");
            assert_eq!(project.run().code, 0, "{}", case.name);
            let run = step(&mut project, case.edits);
            let about = format!("{}\n{}", case.name, run.stderr);
            let failed = { run.outcomes.iter() }
                .filter(|(_, outcome)| *outcome != "passed")
                .filter_map(|(test, _)| test.split("::").nth(1));
            assert_eq!(failed.collect::<Vec<_>>(), case.failed, "{about}");
            assert_eq!(functions(&run), set(case.ran), "{about}");
            assert_eq!(run.code, i32::from(!case.failed.is_empty()), "{about}");
            if case.failed.is_empty() {
                assert!(functions(&project.run()).is_empty(), "again: {about}");
            }
        }
    });
}

/// Whatever goes wrong when values are compared, the tests run, and prove nothing.
#[test]
fn who_cannot_be_settled_runs() {
    const CONFTEST: &str = r#"
def pytest_configure():
    try:
        from _tamis.settle import Settling
    except ImportError:
        return
    def settle(self, item):
        raise RuntimeError("broken")
    Settling.settle = Settling.begins = settle
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.write("conftest.py", CONFTEST);
        project.commit("one");
        assert_eq!(project.run().code, 0);
        let edit = ("test_b.py", "len(lib.L) != 6", "len(lib.L) != 7");
        let first = step(&mut project, &[edit]);
        for run in [first, project.run()] {
            assert_eq!(run.code, 0, "{}", run.stderr);
            assert!(functions(&run).contains("test_list"), "{}", run.stderr);
            let told = "the collector failed in settling";
            assert!(run.stderr.contains(told), "{}", run.stderr);
        }
    });
}

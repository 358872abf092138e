//! Tests that leave something are left out themselves if those that run read nothing of it; and who
//! ran without what others leave is not believed.

use std::collections::BTreeSet;

use crate::harness::*;
use crate::ties::{readers, step};

/// An edit, whether the readers in `test_b.py` run, and those that fail.
struct Case {
    name: &'static str,
    files: &'static str,
    edits: &'static [(&'static str, &'static str, &'static str)],
    /// All that run, by the names of their functions.
    ran: &'static [&'static str],
    failed: &'static [&'static str],
}

/// Tests that leave one thing each, of which others read the last.
const LISTS: &str = r#"
-- lib.py --
A = []
B = []
C = 0
D = []
def f():
    return 3
-- test_a.py --
import lib
def test_a():
    lib.A.append("B")
def test_b():
    lib.B.append(1)
def test_c():
    lib.C = lib.f()
def test_d():
    lib.D.append(1)
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(16))
def test_read(n):
    assert lib.C == 3
"#;

const CASES: &[Case] = &[
    Case {
        name: "nobody that runs reads what the first one leaves",
        files: r#"
-- lib.py --
A = []
B = 0
def b():
    return 2
-- test_a.py --
import lib
def test_a():
    lib.A.append(1)
def test_b():
    lib.B = lib.b()
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(8))
def test_first(n):
    assert lib.A == [1]
@pytest.mark.parametrize("n", range(8))
def test_both(n):
    assert lib.A == [1] and lib.B == 2
"#,
        edits: &[("lib.py", "return 2", "return 1 + 1")],
        ran: &["test_b"],
        failed: &[],
    },
    Case {
        name: "a reader of something else must not pass for want of what was left out",
        files: r#"
-- lib.py --
A = 0
B = 0
-- test_a.py --
import lib
def test_a():
    lib.A = 1
def test_b():
    lib.B = 5
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(8))
def test_either(n):
    assert lib.A == 1 or lib.B == 0
"#,
        edits: &[("test_a.py", "lib.A = 1", "lib.A = 2")],
        ran: &["test_a", "test_b", "test_either"],
        failed: &["test_either"],
    },
    Case {
        name: "edited code reads what was left out, and two differences cancel out",
        files: r#"
-- lib.py --
A = []
C = 0
def f():
    return 3
-- test_a.py --
import lib
def test_a():
    lib.A = [1]
def test_c():
    lib.C = lib.f()
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(8))
def test_read(n):
    assert lib.C == 3
"#,
        edits: &[(
            "lib.py",
            "return 3",
            "return 3 + len(getattr(__import__(\"lib\"), \"\".join([\"A\"])))",
        )],
        ran: &["test_a", "test_c", "test_read"],
        failed: &["test_read"],
    },
    Case {
        name: "a new test reads what was left out",
        files: r#"
-- lib.py --
A = []
C = 0
def f():
    return 3
-- test_a.py --
import lib
def test_a():
    lib.A.append(1)
def test_c():
    lib.C = lib.f()
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(8))
def test_read(n):
    assert lib.C == 3
"#,
        edits: &[
            ("lib.py", "return 3", "return 2 + 1"),
            (
                "test_b.py",
                "import lib\n",
                "import lib\ndef test_new():\n    assert not lib.A\n",
            ),
        ],
        ran: &["test_a", "test_c", "test_new"],
        failed: &["test_new"],
    },
    Case {
        name: "only those run again that leave what a new test read",
        files: LISTS,
        edits: &[
            ("lib.py", "return 3", "return 2 + 1"),
            (
                "test_b.py",
                "import lib\n",
                "import lib\ndef test_new():\n    assert not lib.A\n",
            ),
        ],
        ran: &["test_a", "test_c", "test_new"],
        failed: &["test_new"],
    },
    Case {
        name: "what a new test read leads it to more that was left out",
        files: LISTS,
        edits: &[
            ("lib.py", "return 3", "return 2 + 1"),
            (
                "test_b.py",
                "import lib\n",
                "import lib\ndef test_new():\n    assert not any(getattr(lib, a) for a in lib.A)\n",
            ),
        ],
        ran: &["test_a", "test_b", "test_c", "test_d", "test_new"],
        failed: &["test_new"],
    },
    Case {
        name: "entries by key, and all of them",
        files: r#"
-- lib.py --
REG = {}
def put(key, value):
    REG[key] = value
def get(key):
    return REG[key]
def made():
    return 2
-- test_a.py --
import lib
def test_a():
    lib.put("a", 1)
def test_b():
    lib.put("b", lib.made())
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(8))
def test_one(n):
    assert lib.get("a") == 1
@pytest.mark.parametrize("n", range(8))
def test_all(n):
    assert list(lib.REG.items()) == [("a", 1), ("b", 2)]
"#,
        edits: &[("lib.py", "return 2", "return 1 + 1")],
        ran: &["test_b"],
        failed: &[],
    },
    Case {
        name: "another entry differs for who reads all of them",
        files: r#"
-- lib.py --
REG = {}
def put(key, value):
    REG[key] = value
def get(key):
    return REG[key]
def name():
    return "b"
-- test_a.py --
import lib
def test_a():
    lib.put("a", 1)
def test_b():
    lib.put(lib.name(), 2)
    lib.put("b", 2)
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(8))
def test_one(n):
    assert lib.get("a") == 1
@pytest.mark.parametrize("n", range(8))
def test_all(n):
    assert len(lib.REG) == 2
"#,
        edits: &[("lib.py", "return \"b\"", "return \"c\"")],
        ran: &["test_a", "test_all", "test_b"],
        failed: &["test_all"],
    },
    Case {
        name: "what a cache has for an object of the test's own is nobody else's",
        files: r#"
-- lib.py --
import functools
C = 0
class Thing:
    @functools.lru_cache(maxsize=None)
    def size(self):
        return 3
def f():
    return 1
SHARED = Thing()
-- test_a.py --
import lib
def test_a():
    assert lib.Thing().size() == 3
def test_c():
    lib.C = lib.f() if lib.Thing().size() else 0
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(8))
def test_read(n):
    assert lib.C == 1 and lib.Thing().size() == 3
"#,
        edits: &[("lib.py", "return 1", "return 2 - 1")],
        ran: &["test_c"],
        failed: &[],
    },
];

pub fn functions(run: &Run) -> BTreeSet<&str> {
    let names = run
        .outcomes
        .keys()
        .filter_map(|test| test.split("::").nth(1));
    names
        .map(|name| name.split('[').next().unwrap_or_default())
        .collect()
}

#[test]
fn only_those_run_that_leave_what_others_read() {
    on_all_interpreters(Wanted::Newest, |python| {
        for case in CASES {
            let mut project = Project::new(python, case.files);
            project.commit("one");
            assert_eq!(project.run().code, 0, "{}", case.name);
            let run = step(&mut project, case.edits);
            let about = format!("{}\n{}", case.name, run.stderr);
            assert_eq!(readers(&run).1, set(case.failed), "{about}");
            assert_eq!(functions(&run), set(case.ran), "{about}");
            if case.failed.is_empty() {
                // The rows of this run are of use.
                assert!(functions(&project.run()).is_empty(), "again: {about}");
            }
        }
    });
}

pub fn set(names: &[&'static str]) -> BTreeSet<&'static str> {
    names.iter().copied().collect()
}

/// Tests of which it shows at once that they met nothing that was left out: they run once.
const ONCE: &[Case] = &[
    Case {
        name: "code that was made while the test ran spells what it reads",
        files: r#"
-- lib.py --
A = []
COUNT = 0
def g(x):
    return x + 1
def compiled(name):
    global COUNT
    COUNT += 1
    spaces = {"g": g}
    exec(f"def made_{name}_{COUNT}(x):\n    return g(x)\n", spaces)
    return spaces[f"made_{name}_{COUNT}"]
-- test_a.py --
import lib
def test_a():
    lib.A.append(1)
def test_b():
    assert lib.compiled("b")(1) == 2
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(8))
def test_first(n):
    assert lib.A == [1]
@pytest.mark.parametrize("n", range(8))
def test_both(n):
    assert lib.A == [1] and lib.COUNT == 1
"#,
        edits: &[("test_a.py", "== 2", "== 1 + 1")],
        ran: &["test_b"],
        failed: &[],
    },
    Case {
        name: "who asks for annotations reads these, and what they mean",
        files: r#"
-- lib.py --
A = []
B = 0
def f(x: int) -> int:
    return x
def names(of):
    return sorted(of.__annotations__)
-- test_a.py --
import lib
def test_a():
    lib.A.append(1)
def test_b():
    lib.B = len(lib.names(lib.f))
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(8))
def test_first(n):
    assert lib.A == [1]
@pytest.mark.parametrize("n", range(8))
def test_both(n):
    assert lib.A == [1] and lib.B == 2
"#,
        edits: &[(
            "test_a.py",
            "len(lib.names(lib.f))",
            "0 + len(lib.names(lib.f))",
        )],
        ran: &["test_b"],
        failed: &[],
    },
    Case {
        name: "whoever reads what nobody can tell runs with those that leave it",
        files: r#"
-- lib.py --
A = []
F = None
def f():
    return 1
-- test_a.py --
import lib
def test_a():
    lib.A.append(1)
def test_b():
    lib.F = iter([1, 2] * 8)
def test_c():
    lib.C = lib.f()
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(8))
def test_first(n):
    assert next(lib.F) in (1, 2) and lib.A == [1] and lib.C == 1
@pytest.mark.parametrize("n", range(8))
def test_both(n):
    assert lib.A == [1] and lib.C == 1
"#,
        edits: &[("lib.py", "return 1", "return 2 - 1")],
        ran: &["test_a", "test_b", "test_c", "test_first"],
        failed: &[],
    },
    Case {
        name: "a module that only the test imports ran in its turn",
        files: r#"
-- lib.py --
A = []
F = None
C = 0
def f():
    return 1
-- late.py --
VALUE = 1
class Late:
    value = VALUE
-- test_a.py --
import lib
def test_a():
    lib.A.append(1)
def test_b():
    from late import Late
    lib.F = iter([Late.value] * 8)
def test_c():
    lib.C = lib.f()
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(8))
def test_first(n):
    assert next(lib.F) == 1 and lib.C == 1
@pytest.mark.parametrize("n", range(8))
def test_other(n):
    assert lib.C == 1
"#,
        edits: &[("lib.py", "return 1", "return 2 - 1")],
        ran: &["test_b", "test_c"],
        failed: &[],
    },
    Case {
        name: "parameters of an earlier test that are others in each run are nobody else's",
        files: r#"
-- lib.py --
A = []
def f():
    return 1
-- conftest.py --
import pytest
@pytest.fixture(scope="session")
def box():
    return [1]
-- test_a.py --
import time
import pytest
import lib
def test_begin(box):
    pass
@pytest.mark.parametrize("n", [0, time.time_ns()])
def test_time(n):
    pass
def test_c():
    lib.A.append(lib.f())
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(8))
def test_read(n, box):
    assert lib.A == box
"#,
        edits: &[("lib.py", "return 1", "return 2 - 1")],
        ran: &["test_c", "test_time"],
        failed: &[],
    },
];

#[test]
fn who_met_nothing_that_was_left_out_runs_once() {
    on_all_interpreters(Wanted::Newest, |python| {
        for case in ONCE {
            let mut project = Project::new(python, case.files);
            project.commit("one");
            assert_eq!(project.run().code, 0, "{}", case.name);
            let run = step(&mut project, case.edits);
            let about = format!("{}\n{}", case.name, run.stderr);
            assert!(!run.stderr.contains("run again after these"), "{about}");
            assert_eq!(functions(&run), set(case.ran), "{about}");
        }
    });
}

/// A fixture that was made in another turn holds what reads a cell that was left out.
#[test]
fn what_was_made_before_reads_as_well() {
    const FILES: &str = r#"
-- lib.py --
Z = 0
Q = None
class K:
    zork = 0
def one():
    return 1
-- test_a.py --
import operator
import pytest
import lib
@pytest.fixture(scope="session")
def get():
    return operator.attrgetter("zork")
def test_0(get):
    pass
def test_z():
    lib.Z = 1
def test_k():
    lib.K.zork = lib.Z
def test_q(get):
    lib.Q = bool(lib.one() + 5)
    assert get(lib.K) == lib.one()
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(12))
def test_read(n):
    assert lib.Q
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.commit("one");
        assert_eq!(project.run().code, 0);
        let run = step(&mut project, &[("lib.py", "return 1", "return 0")]);
        let failed = run
            .outcomes
            .iter()
            .filter(|(_, outcome)| *outcome != "passed");
        let failed: Vec<_> = failed.map(|(test, _)| test.as_str()).collect();
        assert_eq!(failed, ["test_a.py::test_q"], "{}", run.stderr);
    });
}

/// Of code that asks a cache how often it was hit no value tells anything, so the plan does not name
/// the test. It runs for what it leaves all the same, and for nothing else.
#[test]
fn who_runs_for_others_is_told_of_whatever_it_reads() {
    const FILES: &str = r#"
-- lib.py --
import functools
A = []
D = 0
@functools.lru_cache(None)
def memo(n):
    return n
def d():
    return 3
-- test_a.py --
import lib
def test_a():
    lib.A.append(lib.memo.cache_info().hits)
def test_d():
    lib.D = len(lib.A) + lib.d()
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(8))
def test_read(n):
    assert lib.D == 4
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.commit("one");
        assert_eq!(project.run().code, 0);
        let run = step(&mut project, &[("lib.py", "return 3", "return 1 + 2")]);
        assert_eq!(
            functions(&run),
            set(&["test_a", "test_d"]),
            "{}",
            run.stderr
        );
        let told = "1 test ran for what it leaves to others";
        assert!(run.stderr.contains(told), "{}", run.stderr);
    });
}

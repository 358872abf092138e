//! What tests put into a global dictionary reaches those that ask for that key, and those that
//! look at all of it.

use std::collections::BTreeSet;

use crate::harness::*;
use crate::ties::{readers, step};

const FILES: &str = r#"
-- lib.py --
REG = {}
MEMO = {}
def make_a():
    return 1
def make_b():
    return 2
def put(key, value):
    REG[key] = value
def has(key):
    return key in REG
def get(key):
    return REG[key]
def size():
    return len(REG)
def fill(key):
    return key + key
def remember(key):
    if key not in MEMO:
        MEMO[key] = fill(key)
    return MEMO[key]
-- test_a.py --
import lib
def test_put_a():
    lib.put("a", lib.make_a())
def test_put_b():
    lib.put("b", lib.make_b())
def test_fill_x():
    lib.remember("x")
def test_fill_y():
    lib.remember("y")
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(8))
def test_a(n):
    assert lib.get("a") == 1
@pytest.mark.parametrize("n", range(8))
def test_b(n):
    assert lib.get("b") == 2
@pytest.mark.parametrize("n", range(8))
def test_has(n):
    assert lib.has("a")
@pytest.mark.parametrize("n", range(8))
def test_none(n):
    assert not lib.has("none.at")
@pytest.mark.parametrize("n", range(8))
def test_size(n):
    assert lib.size() == 2
@pytest.mark.parametrize("n", range(8))
def test_x(n):
    assert lib.remember("x") == "xx"
"#;

/// What is edited, who runs besides those that fail, and who fails.
type Row = (
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

const EDITS: &[Row] = &[
    ("lib.py", "return 1", "return 3 - 2", &[], &[]),
    // Who looks at all of it runs.
    (
        "lib.py",
        "return 1",
        "return 5",
        &["test_size"],
        &["test_a"],
    ),
    ("lib.py", "key + key", "2 * key", &[], &[]),
    ("lib.py", "key + key", "3 * key", &[], &["test_x"]),
    // Another key, and none.
    (
        "test_a.py",
        "put(\"a\", lib.make_a())",
        "put(\"none.at\", 1)",
        &["test_size"],
        &["test_a", "test_has", "test_none"],
    ),
    (
        "test_a.py",
        "lib.put(\"b\", lib.make_b())",
        "pass",
        &[],
        &["test_b", "test_size"],
    ),
    // The same by other ways than a key.
    (
        "test_a.py",
        "lib.put(\"a\", lib.make_a())",
        "lib.REG.update(a=2)",
        &["test_size"],
        &["test_a"],
    ),
    (
        "test_a.py",
        "lib.put(\"b\", lib.make_b())",
        "lib.REG = {\"b\": 3, \"c\": 1}",
        &["test_size"],
        &["test_a", "test_b", "test_has"],
    ),
    (
        "test_a.py",
        "lib.put(\"b\", lib.make_b())",
        "lib.REG = type(\"Other\", (dict,), {\"__contains__\": lambda *_: True})(a=1, b=2)",
        &["test_a", "test_b", "test_has", "test_size"],
        &["test_none"],
    ),
    // A reader, and one that looks at all of it now.
    (
        "test_b.py",
        "lib.get(\"a\") == 1",
        "lib.get(\"a\") == 2",
        &[],
        &["test_a"],
    ),
    (
        "lib.py",
        "return key in REG",
        "return key in list(REG)[1:]",
        &["test_none"],
        &["test_has"],
    ),
];

#[test]
fn who_reads_an_entry_that_differs_runs() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.commit("one");
        let run = project.run();
        assert_eq!((run.code, run.outcomes.len()), (0, 52), "{}", run.stderr);
        let snapshot = project.snapshot();
        for (file, from, to, beside, failed) in EDITS {
            let run = step(&mut project, &[(file, from, to)]);
            let seen = readers(&run);
            let failed: BTreeSet<&str> = failed.iter().copied().collect();
            assert_eq!(seen.1, failed, "{to}\n{}", run.stderr);
            let ran: BTreeSet<&str> = failed
                .union(&beside.iter().copied().collect())
                .copied()
                .collect();
            assert!(seen.0.is_subset(&ran), "{to}: {seen:?}\n{}", run.stderr);
            project.restore(&snapshot);
        }
    });
}

/// Who leaves something for others runs only for those that can read it.
#[test]
fn nobody_runs_for_what_nobody_reads() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.commit("one");
        project.run();
        let snapshot = project.snapshot();
        let run = step(&mut project, &[("lib.py", "return 1", "return 3 - 2")]);
        let ran: BTreeSet<&str> = run.outcomes.keys().map(String::as_str).collect();
        // Who looks at the size needs the other entry.
        let wanted = ["test_a.py::test_put_a", "test_a.py::test_put_b"];
        assert_eq!(ran, wanted.into(), "{}", run.stderr);
        project.restore(&snapshot);
        // A test whose code is another one may read anything: it is found out.
        let edits = [
            ("lib.py", "return 1", "return 3 - 2"),
            ("test_a.py", "lib.make_a()", "lib.make_a() + len(lib.MEMO)"),
        ];
        let run = step(&mut project, &edits);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let edits = [
            ("lib.py", "return 3 - 2", "return 1"),
            (
                "test_b.py",
                "lib.get(\"b\") == 2",
                "lib.get(\"b\") == 2 and len(lib.MEMO) == 2",
            ),
        ];
        let run = step(&mut project, &edits);
        assert_eq!(run.code, 0, "{}", run.stderr);
    });
}

/// Functions that cannot be watched read all of it: two of one name, and generators.
#[test]
fn what_cannot_be_watched_reads_everything() {
    const OTHERS: &str = r#"
-- lib.py --
REG = {}
def make():
    return 1
def put(key, value):
    REG[key] = value
class Both:
    @property
    def held(self):
        return REG["b"]
    @held.setter
    def held(self, value):
        self.size = len(REG)
def each(key):
    yield REG[key]
def nested(key):
    def inner():
        return sum(REG.values())
    return key in REG and inner()
-- test_a.py --
import lib
def test_put_a():
    lib.put("a", lib.make())
def test_put_b():
    lib.put("b", 2)
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(8))
def test_both(n):
    both = lib.Both()
    both.held = 1
    assert both.size == 2
@pytest.mark.parametrize("n", range(8))
def test_each(n):
    assert list(lib.each("a")) == [1]
@pytest.mark.parametrize("n", range(8))
def test_nested(n):
    assert lib.nested("b") == 3
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, OTHERS);
        project.commit("one");
        assert_eq!(project.run().code, 0);
        let snapshot = project.snapshot();
        for (from, to, failed) in [
            ("return 1", "return 5", &["test_each", "test_nested"][..]),
            (
                "    REG[key] = value",
                "    REG[key] = value\n    REG[value] = 0",
                &["test_both"],
            ),
        ] {
            let run = step(&mut project, &[("lib.py", from, to)]);
            let failed: BTreeSet<&str> = failed.iter().copied().collect();
            assert_eq!(readers(&run).1, failed, "{to}\n{}", run.stderr);
            project.restore(&snapshot);
        }
    });
}

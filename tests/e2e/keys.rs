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
@pytest.mark.parametrize("n", range(60))
def test_plain(n):
    assert True
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
        &["test_size", "test_none"],
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
        assert_eq!((run.code, run.outcomes.len()), (0, 112), "{}", run.stderr);
        let snapshot = project.snapshot();
        for (file, from, to, beside, failed) in EDITS.iter().step_by(one_in(2)) {
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
def many():
    for n in range(600):
        key = "k%d" % n
        if key in REG:
            return key
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
def test_many(n):
    assert lib.many() is None
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
            // More than anybody is asked for in a test.
            (
                "    REG[key] = value",
                "    REG[key] = value\n    REG[\"k599\"] = 0",
                &["test_both", "test_many"],
            ),
        ] {
            let run = step(&mut project, &[("lib.py", from, to)]);
            let failed: BTreeSet<&str> = failed.iter().copied().collect();
            assert_eq!(readers(&run).1, failed, "{to}\n{}", run.stderr);
            project.restore(&snapshot);
        }
    });
}

const LIB: &str = r#"
-- lib.py --
REG = {}
def made():
    return 5
def put(key, value):
    REG[key] = value
def get(key):
    return REG.get(key)
def has(key):
    return key in REG
"#;

const READ: &str = r#"
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(8))
def test_read(n):
    assert lib.get("a") == 5
"#;

/// What else there is, an edit, and whether readers fail then. They read what is at a key, and must
/// not miss that it is another dictionary, that a key is equal to theirs, who writes what is there
/// already, code that nobody watches, and tests that are gone.
const PROGRAMS: &[(&str, (&str, &str, &str))] = &[
    (
        "-- other.py --\nimport lib\nSAME = lib.REG\ndef put(key, value):\n    SAME[key] = value\n\
         -- test_a.py --\nimport other\ndef test_w():\n    other.put(\"a\", 5)\n",
        ("other.py", "SAME = lib.REG", "SAME = dict(lib.REG)"),
    ),
    (
        "-- other.py --\nimport lib\nSAME = lib.REG\ndef put(key, value):\n    SAME[key] = value\n\
         -- test_a.py --\nimport lib\nimport other\ndef test_q():\n    lib.REG = {}\n\
         def test_w():\n    lib.put(\"a\", 5)\n",
        ("test_a.py", "lib.put(\"a\", 5)", "other.put(\"a\", 5)"),
    ),
    (
        "-- test_a.py --\nimport lib\ndef test_w():\n    lib.put(\"a\", 5)\n\
         def test_x():\n    lib.put(\"b\", lib.made())\n\
         def test_y():\n    lib.put(\"a\", lib.get(\"b\"))\n",
        ("lib.py", "return 5", "return 6"),
    ),
    (
        "-- test_a.py --\nimport lib\nclass Text(str):\n    pass\n\
         def test_w():\n    lib.put(Text(\"a\"), lib.made())\n",
        ("lib.py", "return 5", "return 6"),
    ),
    (
        "-- conftest.py --\nimport types\nimport lib\n\
         lib.has = types.FunctionType(lib.get.__code__.replace(), vars(lib))\n\
         lib.get, lib.has = lib.has, lib.get\n\
         -- test_a.py --\nimport lib\ndef test_w():\n    lib.put(\"a\", lib.made())\n\
         def test_x():\n    assert lib.has(\"c\") is None\n",
        ("lib.py", "return 5", "return 6"),
    ),
    (
        "-- test_a.py --\nimport lib\ndef test_w():\n    lib.put(\"a\", lib.made())\n\
         def test_x():\n    for n in range(210000):\n        lib.get(\"q\")\n",
        ("lib.py", "return 5", "return 6"),
    ),
    (
        "-- test_a.py --\nimport lib\ndef test_0():\n    pass\n\
         def test_w():\n    lib.put(\"a\", 5)\n",
        ("test_a.py", "def test_w():\n    lib.put(\"a\", 5)\n", ""),
    ),
];

#[test]
fn by_other_ways_than_the_key() {
    on_all_interpreters(Wanted::Newest, |python| {
        for (files, edit) in PROGRAMS {
            let mut project = Project::new(python, &format!("{LIB}{files}{READ}"));
            project.commit("one");
            let run = project.run();
            assert_eq!(run.code, 0, "{files}\n{}", run.stderr);
            let run = step(&mut project, &[*edit]);
            assert_eq!(
                readers(&run).1,
                ["test_read"].into(),
                "{files}\n{}",
                run.stderr
            );
        }
        // A global with the name of what tells of variables.
        let text = format!(
            "{LIB}\n-- test_a.py --\nimport lib\ndef test_w():\n    lib.put(\"a\", lib.made())\n{READ}"
        );
        let mut project = Project::new(python, &text.replace("REG", "environ"));
        project.commit("one");
        project.run();
        let run = step(&mut project, &[("lib.py", "return 5", "return 6")]);
        assert_eq!(readers(&run).1, ["test_read"].into(), "{}", run.stderr);
    });
}

//! Tests that depend on what earlier ones leave, where none of those that run can leave them anything
//! else: they are left out, and so are those that left it.

use std::collections::BTreeSet;

use crate::harness::*;
use crate::ties::step;

/// Many leave something, so that it would not pay to run them all for a few.
const FILES: &str = r#"
-- lib.py --
LOG = []
MARK = 0
BOX = {"v": 0}
LIMIT = 3
OTHER = 1
def limit():
    return LIMIT
def other():
    return OTHER
-- test_a.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(12))
def test_log(n):
    lib.LOG.append(n)
def test_fills():
    lib.BOX = {"v": lib.limit()}
def test_other():
    lib.MARK = lib.other()
-- test_b.py --
import lib
def test_box():
    assert lib.BOX["v"] == 3
def test_both():
    assert len(lib.LOG) == 12 and lib.BOX["v"] == 3
def test_neither():
    assert lib.limit() == 3
"#;

type Edit = (&'static str, &'static str, &'static str);

/// Edits, and who runs; where `None`, it does not matter.
const STEPS: [(&[Edit], Option<&[&str]>); 10] = [
    // Who left it reads something else, and leaves it all the same.
    (
        &[("lib.py", "return OTHER", "return OTHER + 0")],
        Some(&["test_other"]),
    ),
    (&[("lib.py", "LIMIT = 3", "LIMIT = 1 + 2")], Some(&[])),
    (
        &[("test_a.py", "lib.MARK = lib.other()", "lib.MARK = 1")],
        Some(&["test_other"]),
    ),
    (&[("lib.py", "def limit", "NEW = 1\ndef limit")], Some(&[])),
    // What they do is known, though they did not run: now they leave something else.
    (&[("lib.py", "LIMIT = 1 + 2", "LIMIT = 4")], None),
    (&[("lib.py", "LIMIT = 4", "LIMIT = 3")], None),
    (
        &[("test_a.py", "{\"v\": lib.limit()}", "dict(v=lib.limit())")],
        None,
    ),
    (&[("test_a.py", "lib.MARK = 1", "lib.MARK = 2")], None),
    (&[("test_a.py", "dict(v=lib.limit())", "dict(v=4)")], None),
    (&[("test_a.py", "dict(v=4)", "dict(v=3)")], None),
];

#[test]
fn who_runs_for_what_is_left() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.run();
        for (at, (edits, ran)) in STEPS.iter().enumerate() {
            let run = step(&mut project, edits);
            if let Some(ran) = ran {
                let those = run
                    .outcomes
                    .keys()
                    .filter_map(|test| test.split("::").last());
                let those: BTreeSet<&str> = those.collect();
                let ran: BTreeSet<&str> = ran.iter().copied().collect();
                assert_eq!(those, ran, "{at}: {}", run.stderr);
            }
            let plain = project.plain();
            for (test, end) in &plain {
                let last = project.last.get(test);
                assert_eq!(last, Some(end), "{at}: {test} {}", run.stderr);
            }
            let is_red = plain.values().any(|end| end != "passed");
            assert_eq!(run.code != 0, is_red, "{at}: {}", run.stderr);
        }
    });
}

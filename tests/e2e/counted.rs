//! A number by which a class counts its objects turns out to be more than that while tests run: those
//! that were left out may meet it.

use crate::harness::*;
use crate::ties::{readers, step};

const FILES: &str = r#"
-- core.py --
class Field:
    turn = 0
    def __init__(self, name):
        self.name = name
        self.turn = Field.turn
        Field.turn += 1
def in_order(fields):
    return [one.name for one in sorted(fields, key=lambda one: one.turn)]
-- base.py --
from core import Field
EARLY = Field("early")
LATE = Field("late")
-- test_a.py --
import base
import core
def test_early():
    assert base.EARLY
def test_own():
    core.Field("own")
-- test_b.py --
import base
import core
def test_order():
    assert core.in_order([core.Field("mine"), base.LATE]) == ["late", "mine"]
def test_other():
    assert len("a") == 1
"#;

fn failing_after(edit: &str) {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.commit("one");
        let run = project.run();
        assert_eq!((run.code, run.outcomes.len()), (0, 4), "{}", run.stderr);
        let run = step(&mut project, &[("test_a.py", "assert base.EARLY", edit)]);
        let (ran, failed) = readers(&run);
        assert!(ran.contains("test_order"), "{ran:?} {}", run.stderr);
        assert_eq!(failed, ["test_order"].into(), "{}", run.stderr);
        assert_ne!(run.code, 0);
        let run = project.run();
        assert_ne!(run.code, 0, "{}", run.stderr);
        // And no more.
        let run = step(&mut project, &[("test_a.py", edit, "assert base.LATE")]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(readers(&run).0.contains("test_order"), "{}", run.stderr);
    });
}

#[test]
fn a_test_starts_to_set_the_number_back() {
    failing_after("setattr(core.Field, \"tu\" + \"rn\", -1)");
}

#[test]
fn a_test_starts_to_do_so_by_a_library() {
    failing_after(
        "p = __import__(\"argparse\").ArgumentParser()\n    \
         p.add_argument(\"--tu\" + \"rn\", type=int)\n    \
         p.parse_args([\"--tu\" + \"rn\", \"-1\"], core.Field)",
    );
}

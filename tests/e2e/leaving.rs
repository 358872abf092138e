//! What counts as left by a test for those after it.

use crate::harness::*;
use crate::ties::{readers, step};

/// What a property keeps in an object of the test's own is nothing that the test leaves.
#[test]
fn cached_properties_leave_what_can_be_reached() {
    const FILES: &str = r#"
-- lib.py --
import functools
STATE = {}
def made():
    return 5
def size():
    return 3
class Shape:
    @functools.cached_property
    def girth(self):
        return size()
SHARED = Shape()
-- test_a.py --
import lib
def test_w():
    lib.STATE["v"] = lib.made()
def test_fill():
    assert lib.SHARED.girth
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(8))
def test_own(n):
    assert lib.Shape().girth and lib.STATE["v"] == 5
@pytest.mark.parametrize("n", range(8))
def test_shared(n):
    assert lib.SHARED.girth == 3 and lib.STATE["v"] == 5
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.commit("one");
        project.run();
        let run = step(&mut project, &[("lib.py", "return 5", "return 4 + 1")]);
        assert!(readers(&run).0.is_empty(), "{}", run.stderr);
        let run = step(&mut project, &[("lib.py", "return 4 + 1", "return 6")]);
        assert_eq!(readers(&run).1, ["test_own", "test_shared"].into());
        let run = step(&mut project, &[("lib.py", "return 6", "return 5")]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let run = step(&mut project, &[("lib.py", "return 3", "return 4")]);
        assert_eq!(readers(&run).1, ["test_shared"].into(), "{}", run.stderr);
    });
}

/// It is known which test gave a class its new names.
#[test]
fn new_names_in_a_class() {
    const FILES: &str = r#"
-- lib.py --
STATE = {}
def made():
    return 5
-- test_a.py --
import lib
class TestA:
    def setup_class(cls):
        cls.altitude = 1
    def test_w(self):
        lib.STATE["v"] = lib.made()
-- test_b.py --
import pytest
import lib
import test_a
@pytest.mark.parametrize("n", range(8))
def test_look(n):
    assert "altitude" in vars(test_a.TestA) and lib.STATE["v"] == 5
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.commit("one");
        project.run();
        let run = step(&mut project, &[("lib.py", "return 5", "return 4 + 1")]);
        assert!(readers(&run).0.is_empty(), "{}", run.stderr);
        let run = step(&mut project, &[("lib.py", "return 4 + 1", "return 6")]);
        assert_eq!(readers(&run).1, ["test_look"].into(), "{}", run.stderr);
    });
}

/// What a fixture read when it was set up, or another test when it changed what a fixture
/// holds, is compared as it was then.
#[test]
fn what_was_read_before_the_turn() {
    const FILES: &str = r#"
-- lib.py --
import functools
BESIDE = {}
STATE = {}
OTHER = {"v": 1}
def made():
    return 5
def moved():
    return 5
@functools.lru_cache(None)
def remembered():
    return STATE["v"]
-- conftest.py --
import pytest
import lib
@pytest.fixture(scope="session")
def box():
    return {}
@pytest.fixture(scope="session")
def late():
    return lib.OTHER["v"]
-- test_a.py --
import lib
def test_beside():
    lib.BESIDE["v"] = lib.made()
def test_w():
    lib.STATE["v"] = lib.BESIDE["v"]
def test_moves(request):
    lib.OTHER["v"] = lib.moved()
    request.getfixturevalue("late")
    lib.OTHER["v"] = 1
-- test_b.py --
import pytest
import lib
@pytest.fixture(scope="module")
def kept():
    return lib.STATE["v"]
def test_first(kept, box):
    box["v"] = lib.STATE["v"]
    lib.remembered()
def test_resets():
    lib.STATE["v"] = 5
@pytest.mark.parametrize("n", range(8))
def test_kept(n, kept):
    assert kept == 5
@pytest.mark.parametrize("n", range(8))
def test_box(n, box):
    assert box["v"] == 5
@pytest.mark.parametrize("n", range(8))
def test_remembered(n):
    assert lib.remembered() == 5
@pytest.mark.parametrize("n", range(8))
def test_late(n, late):
    assert late == 5
@pytest.mark.parametrize("n", range(8))
def test_now(n):
    assert lib.STATE["v"] == 5
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.commit("one");
        project.run();
        let snapshot = project.snapshot();
        let made = "made():\n    return 5";
        let run = step(
            &mut project,
            &[("lib.py", made, "made():\n    return 4 + 1")],
        );
        // The last test tears down fixtures.
        let leave = ["test_first", "test_resets", "test_now"];
        assert!(
            readers(&run).0.iter().all(|one| leave.contains(one)),
            "{:?} {}",
            readers(&run),
            run.stderr
        );
        project.restore(&snapshot);
        let run = step(&mut project, &[("lib.py", made, "made():\n    return 6")]);
        assert_eq!(
            readers(&run).1,
            ["test_kept", "test_box", "test_remembered"].into(),
            "{}",
            run.stderr
        );
        project.restore(&snapshot);
        let moved = "moved():\n    return 5";
        let run = step(&mut project, &[("lib.py", moved, "moved():\n    return 7")]);
        assert_eq!(readers(&run).1, ["test_late"].into(), "{}", run.stderr);
    });
}

/// What differs since a later turn was no other when a fixture was set up, or when another test
/// changed what it holds; nor what was compared before another fixture was set up.
#[test]
fn what_differs_only_since() {
    const FILES: &str = r#"
-- lib.py --
import functools
STATE = {"v": 1}
def made():
    return 5
@functools.lru_cache(None)
def remembered(key):
    return key
-- conftest.py --
import pytest
import lib
@pytest.fixture(scope="session")
def early():
    return {}
@pytest.fixture(scope="session")
def late():
    return lib.STATE["v"]
-- test_a.py --
import lib
def test_first(early):
    early["v"] = lib.STATE["v"]
def test_fill():
    lib.STATE["v"] = lib.made()
    lib.remembered(1)
def test_then(late):
    pass
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(8))
def test_early(n, early):
    assert early["v"] == 1 and lib.STATE["v"] == 5
@pytest.mark.parametrize("n", range(8))
def test_late(n, late):
    assert late == 5 and lib.STATE["v"] == 5
def test_last():
    pass
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.commit("one");
        project.run();
        let snapshot = project.snapshot();
        let run = step(&mut project, &[("lib.py", "return 5", "return 4 + 1")]);
        assert!(readers(&run).0.is_empty(), "{}", run.stderr);
        project.restore(&snapshot);
        let run = step(&mut project, &[("lib.py", "return 5", "return 6")]);
        assert_eq!(readers(&run).1, ["test_early", "test_late"].into());
    });
}

/// With the last test of a class here a fixture ends that another one set up, so it runs, and so
/// do those that leave what it reads.
#[test]
fn who_ends_a_fixture_meets_what_it_reads() {
    const FILES: &str = r#"
-- lib.py --
FIRST = MADE = SECOND = 0
def made():
    return 5
-- test_a.py --
import lib
def test_first():
    lib.FIRST = 1
def test_made():
    lib.MADE = lib.made()
-- test_b.py --
import pytest
import lib
class TestB:
    def setup_class(cls):
        cls.altitude = 1
    def test_second(self):
        lib.SECOND = self.altitude
    @pytest.mark.parametrize("n", range(8))
    def test_waits(self, n):
        assert lib.MADE == 5
    def test_last(self):
        assert lib.MADE == 5 and lib.FIRST == 1
-- test_c.py --
import lib
def test_edited():
    assert lib.SECOND == 1
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.run();
        let edits = [
            ("lib.py", "return 5", "return 4 + 1"),
            ("test_c.py", "== 1", "== 2 - 1"),
        ];
        let run = step(&mut project, &edits);
        assert_eq!(
            readers(&run),
            (["TestB::test_last", "TestB::test_second"].into(), [].into())
        );
        assert!(
            run.outcomes.contains_key("test_a.py::test_first"),
            "{}",
            run.stderr
        );
        assert!(!run.stderr.contains("also runs"), "{}", run.stderr);
    });
}

/// What a test starts to leave counts where an earlier one leaves it, too, with another value: but for
/// numbers in which tests count.
#[test]
fn who_starts_to_overwrite_what_an_earlier_test_leaves() {
    const FILES: &str = r#"
-- lib.py --
LIMIT = None
MADE = 0
def make():
    global MADE
    MADE += 1
    return MADE
-- test_a.py --
import pytest
import lib
def test_sets():
    lib.LIMIT = 2
@pytest.mark.parametrize("n", range(9))
def test_counts(n):
    assert lib.make() > n
def test_later():
    pass
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(8))
def test_read(n):
    assert lib.LIMIT in (None, 2)
@pytest.mark.parametrize("n", range(8))
def test_count(n):
    assert lib.make() > 1
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.commit("one");
        project.run();
        let later = |then: &str| format!("def test_later():\n    {then}");
        for (then, ran, failed) in [
            ("lib.make()", None, None),
            ("lib.LIMIT = 3", Some("test_read"), Some("test_read")),
            // As before all tests.
            ("lib.LIMIT = None", Some("test_read"), None),
            // As the one before it leaves it.
            ("lib.LIMIT = 2", None, None),
        ] {
            let run = step(&mut project, &[("test_a.py", &later("pass"), &later(then))]);
            assert_eq!(
                readers(&run).0,
                ran.into_iter().collect(),
                "{then}\n{}",
                run.stderr
            );
            assert_eq!(
                readers(&run).1,
                failed.into_iter().collect(),
                "{then}\n{}",
                run.stderr
            );
            assert!(project.is_as_plain());
            step(&mut project, &[("test_a.py", &later(then), &later("pass"))]);
        }
    });
}

/// A fixture that a test starts to use ends with it where those of its module are left out, and puts
/// back what it changed: among all, these meet it.
#[test]
fn what_a_fixture_holds_until_the_last_test_of_its_module() {
    const FILES: &str = r#"
-- lib.py --
LIMIT = None
-- test_b.py --
import pytest
import lib
@pytest.fixture(scope="module")
def limited():
    lib.LIMIT = 7
    yield
    lib.LIMIT = None
def test_first():
    pass
def test_read():
    assert lib.LIMIT is None
@pytest.mark.parametrize("n", range(8))
def test_plain(n):
    assert n >= 0
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.commit("one");
        project.run();
        let uses = ("test_b.py", "def test_first():", "def test_first(limited):");
        let run = step(&mut project, &[uses]);
        assert_eq!(readers(&run).1, ["test_read"].into(), "{}", run.stderr);
        assert!(!readers(&run).0.contains("test_plain"), "{}", run.stderr);
    });
}

/// Whoever is the first to ask pytest for a temporary folder makes it remove that at exit.
#[test]
fn a_test_begins_to_ask_for_a_temporary_folder() {
    const FILES: &str = r#"
-- test_a.py --
def test_first():
    assert 1
def test_other():
    assert 1
def test_folder(tmp_path):
    assert tmp_path.exists()
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.commit("one");
        project.run();
        let edit = ("test_a.py", "def test_first()", "def test_first(tmp_path)");
        let run = step(&mut project, &[edit]);
        let ran: Vec<&String> = run.outcomes.keys().collect();
        assert_eq!(ran, ["test_a.py::test_first"], "{}", run.stderr);
        assert!(!run.stderr.contains("atexit"), "{}", run.stderr);
    });
}

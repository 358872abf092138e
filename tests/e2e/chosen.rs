//! Runs for which options or names of files choose tests, between runs of all.

use crate::harness::*;
use crate::ties::readers;

const FILES: &str = r#"
-- lib.py --
LIMIT = None
OTHER = None
-- test_a.py --
import lib
def test_sets():
    lib.LIMIT = 1
-- test_b.py --
import pytest
import lib
def test_read():
    pass
def test_other():
    assert lib.OTHER is None
@pytest.mark.parametrize("n", range(8))
def test_plain(n):
    assert True
"#;

/// An edit of one of the two files.
type Edit<'a> = (&'a str, &'a str, &'a str);

const READS: Edit<'_> = (
    "test_b.py",
    "def test_read():\n    pass",
    "def test_read():\n    assert lib.LIMIT is None",
);

/// It reads what the other file's test leaves.
const MEETS: Edit<'_> = (
    "test_b.py",
    "def test_read():\n    pass",
    "def test_read():\n    assert lib.LIMIT == 1",
);

struct Suite(Project);

impl Suite {
    fn new(python: &Python) -> Suite {
        let mut project = Project::new(python, FILES);
        project.commit("one");
        let run = project.run();
        assert_eq!((run.code, run.outcomes.len()), (0, 11), "{}", run.stderr);
        Suite(project)
    }

    fn edit(&mut self, (file, from, to): Edit<'_>) {
        let text = self.0.read(file);
        assert!(text.contains(from), "{file} lacks {from}");
        self.0.write(file, &text.replace(from, to));
        self.0.commit("next");
    }

    /// How many tests run with these `words` in the command, and whether all of them pass.
    fn run(&mut self, words: &[&str]) -> (usize, bool) {
        let command = ["--", "python", "-m", "pytest"];
        let run = self.0.run_with(&[&command, words].concat());
        (run.outcomes.len(), run.code == 0)
    }

    /// Of a run of all tests, the functions in `test_b.py` that fail.
    fn fails(&mut self) -> Vec<String> {
        let run = self.0.run();
        let failed = readers(&run).1;
        let failed = failed.into_iter().map(str::to_owned).collect();
        assert!(self.0.is_as_plain(), "{}", run.stderr);
        failed
    }
}

/// It passes alone, and fails after a test that is only there in a run of all.
#[test]
fn who_passed_without_the_others_is_looked_at_among_them() {
    on_all_interpreters(Wanted::Newest, |python| {
        for words in [
            ["-k", "test_read"],
            ["test_b.py", "-q"],
            ["test_b.py::test_read", "-q"],
        ] {
            let mut suite = Suite::new(python);
            suite.edit(READS);
            assert_eq!(suite.run(&words), (1, true), "{words:?}");
            // Among the same tests there is nothing to find out.
            assert_eq!(suite.run(&words), (0, true), "{words:?}");
            assert_eq!(suite.fails(), ["test_read"], "{words:?}");
        }
    });
}

/// The same of a test that no run of all knows.
#[test]
fn a_new_test_that_passed_alone_is_looked_at_among_the_others() {
    let new = (
        "test_b.py",
        "def test_read():\n    pass",
        "def test_new():\n    assert lib.LIMIT is None\ndef test_read():\n    pass",
    );
    on_all_interpreters(Wanted::Newest, |python| {
        let mut suite = Suite::new(python);
        suite.edit(new);
        assert_eq!(suite.run(&["-k", "test_new"]), (1, true));
        assert_eq!(suite.fails(), ["test_new"]);
    });
}

/// Who reads nothing that others leave need not run once more among them.
#[test]
fn who_reads_nothing_of_the_others_is_left_out_among_them() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut suite = Suite::new(python);
        suite.edit(("test_b.py", "assert True", "assert n >= 0"));
        assert_eq!(suite.run(&["-k", "test_plain"]), (8, true));
        assert_eq!(suite.run(&[]), (0, true));
        // And that is not asked again.
        suite.edit(READS);
        assert_eq!(suite.fails(), ["test_read"]);
    });
}

/// What tests start to leave after such a run is looked at all the same.
#[test]
fn what_is_left_is_known_after_a_run_of_chosen_tests() {
    on_all_interpreters(Wanted::Newest, |python| {
        for (edit, failed) in [
            // It leaves something more, and something else.
            (
                ("test_a.py", "lib.LIMIT = 1", "lib.OTHER = 1"),
                "test_other",
            ),
            (("test_a.py", "lib.LIMIT = 1", "lib.LIMIT = 2"), "test_read"),
        ] {
            let mut suite = Suite::new(python);
            suite.edit(MEETS);
            assert!(suite.run(&[]).1);
            suite.edit(("test_b.py", "assert True", "assert n >= 0"));
            assert_eq!(suite.run(&["-k", "plain"]), (8, true));
            suite.edit(edit);
            assert!(suite.fails().contains(&failed.to_owned()));
        }
    });
}

/// Nor is what it left before forgotten when it was to run and was not chosen.
#[test]
fn who_was_not_chosen_still_leaves_what_others_met() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut suite = Suite::new(python);
        suite.edit(MEETS);
        assert!(suite.run(&[]).1);
        suite.edit(("test_a.py", "    lib.LIMIT = 1", "    pass"));
        assert_eq!(suite.run(&["-k", "plain"]), (0, true));
        suite.edit(("test_b.py", "assert True", "assert n >= 0"));
        assert_eq!(suite.run(&["-k", "plain"]), (8, true));
        assert_eq!(suite.fails(), ["test_read"]);
    });
}

/// Where they run in another order, nothing is proven for a run of all.
#[test]
fn chosen_tests_in_another_order_prove_nothing_for_all() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut suite = Suite::new(python);
        suite.edit(READS);
        let (_, is_good) = suite.run(&["test_b.py::test_read", "test_a.py"]);
        assert!(is_good);
        assert_eq!(suite.fails(), ["test_read"]);
    });
}

/// Tests that meet what another one leaves anew, and do not come to their turn as the run stops at the
/// first failure, run when that is mended. So do those that meet what these leave.
#[test]
fn a_run_that_stops_early_leaves_open_who_was_to_run() {
    const FILES: &str = r#"
-- lib.py --
LIMIT = None
MORE = None
-- test_a.py --
import lib
def test_starts():
    pass
def test_middle():
    if lib.LIMIT:
        lib.MORE = 1
-- test_b.py --
import pytest
import lib
def test_first():
    assert lib.LIMIT is None
def test_second():
    assert lib.LIMIT is None
def test_third():
    assert lib.MORE is None
@pytest.mark.parametrize("n", range(8))
def test_plain(n):
    assert True
"#;
    let stops = ["--", "python", "-m", "pytest", "-x"];
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.commit("one");
        assert_eq!(project.run_with(&stops).code, 0);
        let mut edits = vec![("test_a.py", "    pass", "    lib.LIMIT = 1")];
        for name in ["first", "second", "third"] {
            for (file, from, to) in edits.drain(..) {
                project.write(file, &project.read(file).replace(from, to));
            }
            project.commit("next");
            let run = project.run_with(&stops);
            let failed = format!("test_{name}");
            assert_eq!(readers(&run).1, [&*failed].into(), "{}", run.stderr);
            edits.push(match name {
                "first" => (
                    "test_b.py",
                    "first():\n    assert lib.LIMIT is None",
                    "first():\n    pass",
                ),
                _ => (
                    "test_b.py",
                    "second():\n    assert lib.LIMIT is None",
                    "second():\n    pass",
                ),
            });
        }
    });
}

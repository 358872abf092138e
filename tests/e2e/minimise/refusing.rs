//! What `tamis minimise` refuses, with nothing half written.

use super::*;

const TWO: &str = "
from box import Box

def test_one():
    b = Box(1)
    assert b.size() == 1

def test_two():
    b = Box(1)
    assert b.first() == 1
";

/// How `tamis minimise ARGUMENTS` fails.
fn fails(project: &Project, arguments: &[&str]) -> (i32, String) {
    let before = project.read("test_a.py");
    let done = project.tamis(&[&["minimise"], arguments].concat());
    assert_eq!(project.read("test_a.py"), before);
    (done.code(), done.stderr)
}

#[test]
fn edits_are_not_written_over() {
    with_tests(TWO, |mut project| {
        project.write("test_a.py", &format!("{TWO}# edited\n"));
        let (code, said) = fails(&project, &["--write"]);
        assert_eq!(code, 2, "{said}");
        assert!(
            said.contains("test_a.py has edits that are not committed"),
            "{said}"
        );
        let json = minimise(&project, &[]);
        assert_eq!(joined(&json).len(), 1);
    });
}

#[test]
fn a_suite_that_fails_is_refused() {
    with_tests(
        &format!("{TWO}\ndef test_bad():\n    assert 0\n"),
        |mut project| {
            let (code, said) = fails(&project, &[]);
            assert_eq!(code, 2, "{said}");
            assert!(
                said.contains("a test fails in a copy of the project, test_a.py::test_bad"),
                "{said}"
            );
            project.write("test_a.py", "def test_bad(:\n");
            let (code, said) = fails(&project, &[]);
            assert_eq!(code, 2, "{said}");
            assert!(said.contains("cannot be collected"), "{said}");
        },
    );
}

#[test]
fn other_runners_and_options_are_refused() {
    with_tests(TWO, |project| {
        let (code, said) = fails(&project, &["--", "make", "test"]);
        assert_eq!(code, 2, "{said}");
        assert!(
            said.contains("statements can be watched for pytest"),
            "{said}"
        );
        for wrong in [
            &["--at-most", "1"][..],
            &["--dry-run", "--write"],
            &["--skip", ""],
        ] {
            assert_eq!(fails(&project, wrong).0, 2, "{wrong:?}");
        }
    });
}

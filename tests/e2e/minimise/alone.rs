//! Tests that share statements, and yet must not become one.

use super::*;

/// None of these tests is joined with another; the reason of the test `name`.
fn stays(text: &str, name: &str, reason: &str) {
    with_tests(text, |project| {
        let json = minimise(&project, &[]);
        assert_eq!(joined(&json), Vec::<Vec<String>>::new(), "{json:#}");
        let found = reasons(&json);
        let why = found.iter().find(|(test, _)| test == name);
        let why = why.map(|(_, why)| why.as_str()).unwrap_or_default();
        assert!(why.contains(reason), "{name}: {why}\n{json:#}");
    });
}

#[test]
fn state_of_modules_counts() {
    stays(
        r#"
import box
from box import Box

LEFT = []

def test_one():
    b = Box(1)
    LEFT.append(b.size())
    assert b.first() == 1
    LEFT.pop()

def test_two():
    b = Box(1)
    assert b.first() == 1 and not LEFT
"#,
        "test_one",
        "it changes state that outlives it: test_a.LEFT",
    );
    stays(
        r#"
import box
from box import Box

def test_one():
    b = Box(1)
    box.Box.limit = 3
    assert b.limit == 3
    del box.Box.limit

def test_two():
    b = Box(1)
    assert b.first() == 1
"#,
        "test_one",
        "it changes state that outlives it: box",
    );
}

#[test]
fn what_lies_outside_counts() {
    stays(
        r#"
import os, time
from box import Box

def test_one():
    b = Box(1)
    with open("left", "w") as file:
        file.write("x")
    assert b.first() == 1

def test_two():
    b = Box(1)
    os.environ["SET"] = "1"
    assert b.first() == 1

def test_three():
    b = Box(1)
    now = time.time()
    assert now > 1

def test_four():
    b = Box(1)
    c = Box(time.perf_counter())
    assert b.size()
"#,
        "test_one",
        "it writes a file",
    );
}

#[test]
fn fixtures_of_one_test_count() {
    stays(
        r#"
import pytest
from box import Box

def test_one(monkeypatch):
    b = Box(1)
    monkeypatch.setattr(Box, "size", lambda self: 9)
    assert b.size() == 9

def test_two(monkeypatch):
    b = Box(1)
    assert b.size() == 1

@pytest.mark.parametrize("n", [1])
def test_three(n):
    assert Box(1).size() == n

@pytest.fixture
def full():
    return Box(1)

def test_four(full):
    b = Box(1)
    full.put(2)
    assert full.size() == 2 and b.size() == 1

def test_five(full):
    b = Box(1)
    assert full.size() == b.size()
"#,
        "test_one",
        "it uses the fixture monkeypatch",
    );
}

#[test]
fn objects_that_are_shared_count() {
    // In the first, two names are of one object; in the second, of two equal ones.
    stays(
        r#"
from box import Box

def test_one():
    a = Box(1)
    b = a
    b.put(2)
    assert a.size() == 2

def test_two():
    a = Box(1)
    b = Box(1)
    b.put(2)
    assert a.size() == 1
"#,
        "",
        "",
    );
}

#[test]
fn names_of_tests_count() {
    stays(
        r#"
from box import Box

def test_one():
    b = Box(1)
    assert b.size() == 1

def test_two():
    b = Box(1)
    assert b.first() == 1

def helper():
    return test_two
"#,
        "test_two",
        "test_a.py names it",
    );
}

#[test]
fn a_helper_that_checks_is_an_assertion() {
    let text = r#"
from box import Box

def filled():
    b = Box(1)
    assert b.size() == 1
    return b

def made():
    return Box(1)

def test_one():
    b = filled()
    c = made()
    assert c.first() == 1

def test_two():
    b = filled()
    c = made()
    assert b.size() == 1
"#;
    with_tests(text, |project| {
        let json = minimise(&project, &["--write"]);
        assert_eq!(joined(&json).len(), 1, "{json:#}");
        let now = project.read("test_a.py");
        assert_eq!(now.matches("= filled()").count(), 2, "{now}");
        assert_eq!(now.matches("= made()").count(), 1, "{now}");
        assert_eq!(plain_pytest(&project), (1, true));
    });
}

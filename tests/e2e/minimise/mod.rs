//! `tamis minimise` on real pytest: tests that share statements are joined, what is joined is as
//! before, and what only looks as if it could be joined stays as it is.

mod alone;
mod refusing;

use std::process::Command;

use serde_json::Value;

use crate::harness::*;

/// Production code, in a module of its own.
pub const BOX: &str = r#"
-- box.py --
class Box:
    def __init__(self, *items):
        self.items = list(items)

    def put(self, item):
        self.items.append(item)
        return self

    def first(self):
        return self.items[0]

    def size(self):
        return len(self.items)

    def take(self):
        return self.items.pop()
"#;

/// A project with these tests in `test_a.py`.
pub fn with_tests(text: &str, check: impl Fn(Project)) {
    on_all_interpreters(Wanted::Newest, |python| {
        check(Project::new(
            python,
            &format!("{BOX}-- test_a.py --\n{text}"),
        ));
    });
}

/// The answer of `tamis minimise ARGUMENTS --json`.
pub fn minimise(project: &Project, arguments: &[&str]) -> Value {
    let done = project.tamis(&[&["minimise"], arguments, &["--json"]].concat());
    assert_eq!(done.code(), 0, "{}{}", done.stdout, done.stderr);
    serde_json::from_str(&done.stdout).unwrap_or_else(|e| panic!("{e}: {}", done.stdout))
}

/// The outcomes of plain pytest: how many tests, and whether all passed.
fn plain_pytest(project: &Project) -> (usize, bool) {
    let done = Command::new(project.python.executable())
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider"])
        .current_dir(project.root())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    let passed = text.lines().last().unwrap_or_default();
    let count = passed.split(' ').next().and_then(|one| one.parse().ok());
    (count.unwrap_or(0), done.status.success())
}

/// Why tests were left alone, or not joined: the name of each with its reason.
pub fn reasons(json: &Value) -> Vec<(String, String)> {
    let text = |one: &Value| one.as_str().unwrap().to_owned();
    let name = |id: &Value| text(id).rsplit("::").next().unwrap().to_owned();
    let alone = json["left_alone"].as_array().unwrap().iter();
    let alone = alone.map(|one| (name(&one["test"]), text(&one["reason"])));
    let dropped = json["dropped"].as_array().unwrap().iter();
    let dropped = dropped.flat_map(|one| {
        let tests = one["tests"].as_array().unwrap().iter();
        tests.map(|test| (name(test), text(&one["reason"])))
    });
    alone.chain(dropped).collect()
}

/// Names of the tests that were joined, those of each new test together.
pub fn joined(json: &Value) -> Vec<Vec<String>> {
    let all = json["map"].as_array().unwrap().iter();
    all.map(|one| {
        let ids = one["originals"].as_array().unwrap().iter();
        let names = ids.map(|id| id.as_str().unwrap().rsplit("::").next().unwrap().to_owned());
        names.collect()
    })
    .collect()
}

const SHARING: &str = "import pytest

from box import Box


@pytest.fixture
def number():
    return 7


class TestBox:
    def test_first(self, number):
        \"\"\"The first one.\"\"\"
        box = Box(1, 2)
        box.put(number)  # at the end
        assert box.first() == 1

    # About sizes.
    def test_size(self, number):
        \"\"\"How many.\"\"\"
        b = Box(1, 2)
        b.put(number)

        # with it
        n = b.size()
        assert n == 3, f\"{b.items}\"

    def test_other(self, number):
        box = Box(3)
        assert box.first() == 3

    def test_raises(self, number):
        box = Box(1, 2)
        box.put(number)
        n = box.take()
        assert n == 7
        with pytest.raises(TypeError, match=\"argument\"):
            box.put()
";

#[test]
fn tests_that_share_statements_become_one() {
    with_tests(SHARING, |project| {
        let json = minimise(&project, &[]);
        assert_eq!(
            joined(&json),
            [["test_first", "test_size", "test_raises"]],
            "{json:#}"
        );
        assert_eq!(project.git(&["status", "--short"]), "");
        assert_eq!(json["tests"]["before"], 4);
        assert_eq!(json["tests"]["after"], 2);
        assert_eq!(json["statements"]["removed"], 4);
        assert_eq!(json["verified"]["assertions"], "equal");
        assert_eq!(json["verified"]["pmc"], "equal");
        assert_eq!(json["verified"]["orders"], "equal");

        let file = project.path("@outside/a.patch");
        minimise(&project, &["--patch", file.to_str().unwrap()]);
        project.git(&["apply", file.to_str().unwrap()]);
        let expected = SHARING.replace("def test_first(", "def test_first_size_raises(");
        let (start, rest) = expected.split_once("\n    # About sizes.").unwrap();
        let (_, rest) = rest.split_once("    def test_other").unwrap();
        let (other, _) = rest.split_once("\n    def test_raises").unwrap();
        let expected = format!(
            "{start}
        # test_size
        # About sizes.
        \"\"\"How many.\"\"\"

        # with it
        n = box.size()
        assert n == 3, f\"{{box.items}}\"

        # test_raises
        n_raises = box.take()
        assert n_raises == 7
        with pytest.raises(TypeError, match=\"argument\"):
            box.put()

    def test_other{other}"
        );
        assert_eq!(project.read("test_a.py"), expected);
        assert_eq!(plain_pytest(&project), (2, true));
        let map: Value = serde_json::from_str(&project.read(".tamis/minimised.json")).unwrap();
        assert_eq!(map["tests"], json["map"]);
        let lines = map["tests"][0]["lines"].as_array().unwrap();
        let first = lines.iter().find(|line| line["line"] == 14).unwrap();
        let from = first["from"].as_array().unwrap();
        let from: Vec<i64> = from
            .iter()
            .map(|one| one["line"].as_i64().unwrap())
            .collect();
        assert_eq!(from, [14, 21, 33]);
    });
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn bytes_that_stay_are_the_same() {
    let text = "from box import Box\r\n\
                \r\n\
                def test_gr\u{f6}\u{df}e():\r\n\
                \tk = Box(1)\t# \u{e4}\r\n\
                \tassert k.size() == 1\r\n\
                \r\n\
                \r\n\
                def test_erster():\r\n\
                \tk = Box(1)\r\n\
                \tassert k.first() == 1  # \u{e4}\n\
                \r\n\
                def test_letzter():\r\n\
                \tassert Box(2).first() == 2";
    with_tests(text, |project| {
        let json = minimise(&project, &["--write"]);
        assert_eq!(joined(&json).len(), 1, "{json:#}");
        let expected = text
            .replace("test_gr\u{f6}\u{df}e", "test_gr\u{f6}\u{df}e_erster")
            .replace(
                "\r\n\r\n\r\ndef test_erster():\r\n\tk = Box(1)\r\n\tassert",
                "\r\n\r\n\t# test_erster\r\n\tassert",
            );
        assert_eq!(project.read("test_a.py"), expected);
        assert_eq!(plain_pytest(&project), (2, true));
    });
}

#[test]
fn a_class_of_unittest_keeps_its_set_up() {
    let text = r#"
import unittest

from box import Box

class TestBox(unittest.TestCase):
    def setUp(self):
        self.box = Box(1, 2)

    def two(self):
        return self.box.put(5)

    def test_size(self):
        more = Box(*self.box.items)
        self.assertEqual(more.size(), 2)

    def test_first(self):
        more = Box(*self.box.items)
        self.assertEqual(more.first(), 1)

    def test_changed(self):
        self.box.put(3)
        more = Box(*self.box.items)
        self.assertEqual(more.size(), 3)

    def test_changes(self):
        more = Box(*self.box.items)
        self.two()
        self.assertEqual(self.box.size(), 3)
        self.assertEqual(more.size(), 2)
"#;
    with_tests(text, |project| {
        let json = minimise(&project, &["--write"]);
        assert_eq!(
            joined(&json),
            [["test_size", "test_first", "test_changes"]],
            "{json:#}"
        );
        assert_eq!(plain_pytest(&project), (2, true));
    });
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn options_say_how_much_is_joined() {
    with_tests(SHARING, |project| {
        let json = minimise(&project, &["--at-most", "2"]);
        assert_eq!(joined(&json), [["test_first", "test_size"]]);
        let json = minimise(
            &project,
            &["--skip", "**::test_size", "--only-common-prefix"],
        );
        assert_eq!(joined(&json), [["test_first", "test_raises"]]);
        assert!(reasons(&json).contains(&("test_size".into(), "--skip names it".into())));
        let page = project.tamis(&["minimise", "--dry-run"]);
        assert!(
            page.stdout
                .contains("test_a.py::TestBox: 3 tests become 1, 4 statements fewer"),
            "{}",
            page.stdout
        );
    });
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn coverage_is_compared_where_it_can_be_measured() {
    on_all_interpreters(Wanted::Newest, |python| {
        let Some(python) = python.with_plugins() else {
            return;
        };
        let project = Project::new(&python, &format!("{BOX}-- test_a.py --\n{SHARING}"));
        let json = minimise(&project, &[]);
        assert_eq!(joined(&json).len(), 1, "{json:#}");
        assert_eq!(json["verified"]["line"], "equal");
        assert_eq!(json["verified"]["branch"], "equal");
    });
}

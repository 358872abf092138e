//! `tamis why` on a real project: what changed, and by which names the test reaches it.

use serde_json::Value;

use crate::harness::*;

const SHOP: &str = r#"
-- shop/__init__.py --
from .core import Order as Order
from .decorators import order as order
-- shop/core.py --
class Base:
    currency = "EUR"


class Other:
    pass


class Order(Base):
    """An order."""

    def __init__(self, amount=1):
        self.amount = amount

    def total(self, rate=1):
        return self.amount * rate
-- shop/decorators.py --
def order(amount):
    from .core import Order

    return Order(amount)
-- shop/prices.py --
RATE = 2
LIMIT = 5


def price(x, by=RATE):
    return x * by
-- shop/report.py --
from . import prices


def names():
    return sorted(n for n in vars(prices) if n[0] != "_")


def one(name):
    return eval("prices." + name)
-- shop/registry.py --
ENTRIES = {}


def register(thing):
    ENTRIES[thing.__name__] = thing
    return thing
-- shop/plugins.py --
from .registry import register


@register
def first():
    return 1
-- tests/conftest.py --
import pytest

from shop.prices import price


@pytest.fixture
def priced():
    return price(3)
-- tests/test_shop.py --
import pytest

import shop
import shop.plugins
from shop import report
from shop.registry import ENTRIES


def test_order():
    assert shop.order(3).amount == 3


def test_names():
    assert "RATE" in report.names()


def test_eval():
    assert report.one("LIM" + "IT") == 5


def test_fixture(priced):
    assert priced == 6


def test_plugin():
    assert ENTRIES["first"]() == 1
"#;

/// The output of `why` for `test` after `changes`, with the rows from before, without the
/// parts that change from run to run.
fn why(project: &Project, test: &str) -> String {
    let done = project.tamis(&["why", test]);
    assert_eq!(done.code(), 0, "{}", done.stderr);
    let mut said = String::new();
    for line in done.stdout.lines() {
        if line.starts_with("  it passed at") {
            break;
        }
        let is_digest = line.ends_with(" now") && line.contains(" then, ");
        if !is_digest && !line.starts_with("  compared with") {
            said.push_str(line);
            said.push('\n');
        }
    }
    said
}

/// A project whose tests have run.
fn with_shop(check: impl Fn(Project)) {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, SHOP);
        project.write("pytest.ini", "[pytest]\npythonpath = .\n");
        project.commit("pytest");
        let run = project.run();
        assert_eq!(run.code, 0, "{}", run.stderr);
        check(project);
    });
}

#[test]
fn what_changed_and_the_way_to_it() {
    with_shop(|mut project| {
        let base = project.snapshot();
        let mut said = String::new();
        let edits: [(&str, &str, &str, &str, &[&str]); 10] = [
            (
                "bases",
                "shop/core.py",
                "Order(Base)",
                "Order(Other)",
                &["test_order"],
            ),
            (
                "default of a method that nobody asks for",
                "shop/core.py",
                "rate=1",
                "rate=2",
                &["test_order"],
            ),
            (
                "member of a base",
                "shop/core.py",
                "    currency = \"EUR\"",
                "    currency = \"EUR\"\n    symbol = \"E\"",
                &["test_order"],
            ),
            (
                "import",
                "shop/__init__.py",
                "from .decorators import order",
                "from .core import Order",
                &["test_order"],
            ),
            (
                "body",
                "shop/decorators.py",
                "    return Order(amount)",
                "    return Order(amount + 0)",
                &["test_order"],
            ),
            (
                "value",
                "shop/prices.py",
                "RATE = 2",
                "RATE = 3",
                &["test_names", "test_eval", "test_fixture"],
            ),
            (
                "new name",
                "shop/prices.py",
                "LIMIT = 5\n",
                "LIMIT = 5\nMORE = 6\n",
                &["test_names", "test_eval", "test_fixture"],
            ),
            (
                "effect",
                "shop/plugins.py",
                "@register\ndef first()",
                "@register\ndef first(x=1)",
                &["test_plugin", "test_order"],
            ),
            (
                "name is gone",
                "shop/core.py",
                "class Other:\n    pass\n\n\nclass Order(Base)",
                "class Sale(Base)",
                &["test_order"],
            ),
            (
                "the test",
                "tests/test_shop.py",
                "shop.order(3).amount == 3",
                "shop.order(4).amount == 4",
                &["test_order"],
            ),
        ];
        for (what, path, old, new, tests) in edits {
            project.restore(&base);
            let text = project.read(path);
            assert!(text.contains(old), "{path}: {old}");
            project.write(path, &text.replacen(old, new, 1));
            said.push_str(&format!("# {what}\n"));
            for test in tests {
                said.push_str(&why(&project, &format!("tests/test_shop.py::{test}")));
            }
        }
        insta::assert_snapshot!("why_shop", said);
    });
}

#[test]
fn the_same_as_json() {
    with_shop(|mut project| {
        let text = project.read("shop/core.py");
        project.write("shop/core.py", &text.replace("Order(Base)", "Order(Other)"));
        let done = project.tamis(&["why", "--json", "tests/test_shop.py::test_order"]);
        assert_eq!(done.code(), 0, "{}", done.stderr);
        let mut json: Value = serde_json::from_str(&done.stdout).unwrap();
        // Digests depend on the rules, which have versions.
        let baseline = json["reason"]["baseline"].as_str().unwrap().to_owned();
        json["revisions"] = json["revisions"][&baseline].clone();
        json["reason"]["baseline"] = "[BASELINE]".into();
        for told in ["from", "to"] {
            assert_eq!(json["causes"][0][told], json["reason"][told]);
            json["causes"][0][told] = "[DIGEST]".into();
            json["reason"][told] = "[DIGEST]".into();
        }
        let text = serde_json::to_string_pretty(&json).unwrap();
        insta::assert_snapshot!("why_shop_json", text);
    });
}

/// Rows of uncommitted files: their sources are found if they are unchanged; otherwise no path
/// is shown.
#[test]
fn rows_of_uncommitted_files() {
    with_shop(|mut project| {
        let test = "tests/test_shop.py::test_order";
        let edit = |project: &mut Project, old: &str, new: &str| {
            let text = project.read("shop/core.py");
            project.write("shop/core.py", &text.replace(old, new));
        };
        edit(&mut project, "An order.", "One order.");
        project.run();
        project.commit("what was recorded");
        edit(&mut project, "amount=1", "amount=2");
        let said = why(&project, test);
        assert!(said.contains("(member `__init__`: default of `amount` changed), reached through"));

        project.run();
        edit(&mut project, "amount=2", "amount=3");
        let said = why(&project, test);
        let told = "its recorded source is missing";
        assert!(said.contains("(changed)") && said.contains(told), "{said}");
    });
}

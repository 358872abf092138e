//! Functions whose signature, defaults or closure differ: who calls them runs their code, and whoever
//! else notices is told.

use std::collections::BTreeSet;

use crate::harness::*;
use crate::ties::{readers, step};

const FILES: &str = r#"
-- lib.py --
from limits import LIMIT
class Base:
    def __init__(self):
        self.made = True
class Thing(Base):
    def __init__(self, x=1):
        self.x = x
    def scale(self, by=LIMIT):
        return self.x * by
    def __len__(self):
        return 3
class Other(Base):
    def __init__(self):
        super().__init__()
    def scale(self, by=5):
        return by
def helper(a, b=LIMIT):
    return a + b
def numbers(upto=LIMIT):
    yield from range(upto)
-- limits.py --
LIMIT = 2
-- test_b.py --
import functools
import inspect
import pytest
import lib
@pytest.fixture
def thing():
    return lib.Thing()
@pytest.mark.parametrize("n", range(20))
def test_plain(n):
    assert lib.Other().made and lib.Other().scale() == 5
def test_made(thing):
    assert thing.x == 1
def test_scaled():
    assert lib.Thing.scale(lib.Other) == 4 if hasattr(lib.Other, "x") else True
def test_scales(thing):
    assert thing.scale() == 2
def test_unfit():
    with pytest.raises(TypeError):
        lib.Thing(y=2)
def test_unfit_far():
    try:
        functools.partial(map, lib.helper)([1], [2], [3]).__next__()
    except Exception as error:
        assert "positional" in str(error)
    else:
        assert False
def test_signature():
    assert list(inspect.signature(lib.Thing).parameters) == ["x"]
def test_code():
    assert getattr(lib.Thing.__init__, "__code__").co_argcount == 2
def test_defaults():
    assert lib.helper.__defaults__ == (2,)
def test_waits():
    assert next(iter([lib.numbers()])).gi_frame is not None
def test_has():
    assert callable(lib.helper) and lib.Thing.__init__ is not lib.Base.__init__
"#;

fn steps(python: &Python, file: &str, from: &str, to: &str) -> (BTreeSet<String>, bool) {
    let mut project = Project::new(python, FILES);
    project.commit("one");
    project.run();
    let run = step(&mut project, &[(file, from, to)]);
    let ran = readers(&run).0.into_iter().map(str::to_owned).collect();
    (ran, project.is_as_plain())
}

fn ran(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn who_neither_calls_a_function_nor_asks_for_its_signature_does_not_run() {
    on_all_interpreters(Wanted::Newest, |python| {
        let found = steps(python, "lib.py", "x=1)", "x=1, y=0)");
        let wanted = [
            "test_code",
            "test_made",
            "test_scales",
            "test_signature",
            "test_unfit",
        ];
        assert_eq!(found, (ran(&wanted), true));
        let found = steps(python, "lib.py", "helper(a, b", "helper(a, b=0, c");
        assert_eq!(found, (ran(&["test_defaults", "test_unfit_far"]), true));
    });
}

#[test]
fn a_default_with_another_value_counts_for_who_runs_the_code() {
    on_all_interpreters(Wanted::Newest, |python| {
        let found = steps(python, "limits.py", "LIMIT = 2", "LIMIT = 3");
        let wanted = [
            "test_defaults",
            "test_scales",
            "test_unfit_far",
            "test_waits",
        ];
        assert_eq!(found, (ran(&wanted), true));
    });
}

/// It is called by other ways than by its signature: all who can get at it run.
#[test]
fn a_function_that_becomes_something_else_counts_for_who_gets_at_it() {
    on_all_interpreters(Wanted::Newest, |python| {
        let (found, is_plain) = steps(
            python,
            "lib.py",
            "    def __init__(self, x=1):\n        self.x = x\n",
            "    @classmethod\n    def __init__(cls, x=1):\n        cls.x = x\n",
        );
        assert!(is_plain);
        assert!(found.contains("test_has"), "{found:?}");
    });
}

const ASKERS: &str = r#"
-- core.py --
import compat
OUT = []
class C:
    def m(self, x):
        return x
class Outer:
    class Holder:
        k = 1
def f(a, b):
    OUT.append(a)
def g(a=1):
    return a
if compat.HAVE:
    def parse(text):
        "Parse fast."
        return text
else:
    def parse(text):
        "Parse slowly."
        return text
-- compat.py --
HAVE = False
-- test_b.py --
import _thread
import subprocess
import sys
import time
from unittest.mock import patch
import core
@patch.object(core.C, "m", autospec=True)
def test_mocked(m):
    core.C.m(None, 1)
@patch.object(core.Outer, "Holder", autospec=True)
def test_listed(kind):
    assert [name for name in dir(kind) if name.startswith("k")] == ["k"]
def test_thread():
    _thread.start_new_thread(core.f, (1,))
    time.sleep(0.3)
    assert core.OUT == []
def test_doc():
    assert core.parse.__doc__ == "Parse slowly."
def test_child():
    text = "import core, sys; sys.exit(core.g.__defaults__[0])"
    assert subprocess.run([sys.executable, "-c", text]).returncode == 1
def test_other():
    assert core.C
"#;

/// Each of these reads a function without a call of it that fits.
#[test]
fn who_asks_in_other_ways_runs() {
    on_all_interpreters(Wanted::Newest, |python| {
        for (file, from, to, wanted) in [
            ("core.py", "k = 1", "k = k_of_it = 1", "test_listed"),
            ("core.py", "m(self, x)", "m(self, x, y)", "test_mocked"),
            ("core.py", "f(a, b)", "f(a, b=1)", "test_thread"),
            ("core.py", "a=1", "a=2", "test_child"),
            ("compat.py", "False", "True", "test_doc"),
        ] {
            let mut project = Project::new(python, ASKERS);
            project.commit("one");
            project.run();
            let run = step(&mut project, &[(file, from, to)]);
            let (ran, failed) = readers(&run);
            assert_eq!(failed, [wanted].into(), "{from}: {ran:?}");
            assert!(!ran.contains("test_other"), "{from}: {ran:?}");
            assert!(project.is_as_plain());
        }
    });
}

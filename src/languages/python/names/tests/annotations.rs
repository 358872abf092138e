//! Annotations: which of them stand apart, and what reads them.

use std::collections::{BTreeMap, BTreeSet};

use super::{Names, bound, names, uses};
use crate::languages::python::{analyse_python, names_readers_in};
use crate::languages::{Analysis, ModuleUnits, name_hash};
use crate::matrix::Fingerprint;

const LAZY: &str = "from __future__ import annotations\n";

fn values(names: &Names) -> BTreeMap<&str, Fingerprint> {
    let bindings = names.bindings.iter();
    bindings
        .map(|(name, part)| (name.as_str(), part.value))
        .chain([("effects", names.effects.value)])
        .collect()
}

/// The names of bindings whose values differ; `effects` among them.
pub(super) fn differ(was: &str, is: &str) -> Vec<String> {
    let (was, is) = (names(was), names(is));
    let (old, new) = (values(&was), values(&is));
    let all: BTreeSet<&str> = old.keys().chain(new.keys()).copied().collect();
    all.into_iter()
        .filter(|name| old.get(name) != new.get(name))
        .map(str::to_owned)
        .collect()
}

pub(super) fn analysed(text: &str) -> Box<ModuleUnits> {
    match analyse_python(text.as_bytes()) {
        Analysis::Parsed(module) => module,
        Analysis::Unparsed(why) => panic!("{why}"),
    }
}

fn code(text: &str, name: &str) -> Fingerprint {
    analysed(text).code[name]
}

fn reads(text: &str) -> bool {
    analysed(text).names.code["f"].reads
}

#[test]
fn text_stands_apart_from_what_it_is_of() {
    let text = format!(
        "{LAZY}def f(a: int, *b: int) -> int: pass\n\
         class C:\n  x: int\n  y: int = 1\n  def __init__(self, a: int): pass\n  def m(self, a: int): pass\n\
         @d\ndef g(a: int): pass\n\
         class M(metaclass=d):\n  x: int\n  def m(self, a: int): pass\n"
    );
    for (from, to, expected) in [
        ("f(a: int", "f(a: str", ["f.->"]),
        ("f(a: int", "f(a", ["f.->"]),
        ("*b: int", "*b: list[A | None]", ["f.->"]),
        ("-> int", "-> 'A'", ["f.->"]),
        ("  x: int\n  y", "  x: str\n  y", ["C.:"]),
        ("  x: int\n  y", "  y", ["C.:"]),
        ("  y: int", "  y: str", ["C"]),
        ("__init__(self, a: int", "__init__(self, a: str", ["C.->"]),
    ] {
        assert_eq!(differ(&text, &text.replacen(from, to, 1)), expected, "{to}");
    }
    let last = |from: &str, to: &str| {
        let at = text.rfind(from).unwrap();
        format!("{}{to}{}", &text[..at], &text[at + from.len()..])
    };
    let method = text.replace("pass\n  def m(self, a: int)", "pass\n  def m(self, a: str)");
    assert_eq!(differ(&text, &method), ["C.m.->"]);
    assert_eq!(differ(&text, &text.replace("g(a: int", "g(a: str")), ["->"]);
    assert_eq!(differ(&text, &last("a: int", "a: str")), ["->"]);
    // Its metaclass may ask for them.
    assert_eq!(differ(&text, &last("x: int", "x: str")), ["effects"]);
}

#[test]
fn what_is_more_than_text_stays() {
    for (before, text, to, expected) in [
        ("", "a: int", "a: str", "f"),
        (LAZY, "a: (yield)", "a: (yield 1)", "f"),
        (LAZY, "a: lambda: 1", "a: lambda: 2", "f"),
        (LAZY, "a: 'x\\\\d'", "a: 'x\\\\w'", "f"),
    ] {
        let text = format!("{before}def f(a: int = 1): pass\n").replace("a: int", text);
        let from = &text[text.find("a: ").unwrap()..text.rfind(" = 1").unwrap()];
        let after = text.replace(from, to);
        assert!(differ(&text, &after).contains(&expected.to_owned()), "{to}");
    }
    // A protocol's members are told by annotations.
    let protocol = format!("{LAZY}from typing import Protocol\nclass P(Protocol):\n  x: int\n");
    assert_eq!(
        differ(&protocol, &protocol.replace("x: int", "x: str")),
        ["P"]
    );
}

#[test]
fn annotations_of_a_functions_variables_do_not_count() {
    let text =
        "class C:\n  def f(self):\n    x: A = 1\n    y: A\n    self.z: A = 2\n    return x\n";
    let before = code(text, "C.f");
    assert_eq!(before, code(&text.replace(": A", ": B['c'] | None"), "C.f"));
    for (from, to) in [
        ("y: A", "pass"),
        ("x: A = 1", "x: A = 2"),
        ("x: A = 1", "x: a() = 1"),
        ("x: A = 1", "x: __class__ = 1"),
    ] {
        assert_ne!(before, code(&text.replacen(from, to, 1), "C.f"), "{to}");
    }
    for inner in [
        "def f():\n  def g():\n    x: A = 1\n",
        "def f():\n  class D:\n    x: A = 1\n",
    ] {
        assert_ne!(
            code(inner, "f"),
            code(&inner.replace("A", "B"), "f"),
            "{inner}"
        );
    }
    assert!(uses("def f():\n  x: Later = 1").unbound.is_empty());
}

#[test]
fn names_in_text_are_spelled_by_who_reads_it() {
    let found = names(&format!("{LAZY}def f(a: Later) -> x.Other: pass\n"));
    assert!(found.bindings["f"].uses.unbound.is_empty());
    assert_eq!(found.bindings["f.->"].uses.unbound, ["Later", "x"]);
    let asks = &found.bindings["f.->"].uses.asks;
    assert!(asks.binary_search(&name_hash("Other")).is_ok());
    assert_eq!(bound("def f(a: int): pass"), ["f"]);
}

#[test]
fn readers_are_known_by_name() {
    for text in [
        "def f(x): return x.__annotations__",
        "def f(x): return getattr(x, '__annotations__')",
        "def f(x): return '{0.__annotations__}'.format(x)",
        "import typing\ndef f(x): return typing.get_type_hints(x)",
        "from typing import get_type_hints as hints\ndef f(x): return hints(x)",
        "from inspect import signature as s\ndef f(x): return s(x)",
        "import inspect as i\ndef f(x): return i.signature(x)",
        "def f(x): return dir(x)",
        "def f(x): return help(x)",
        "def f(x): return mock(x, autospec=True)",
        "def f(x): return map(eval, x)",
        "import functools\ndef f(x): return functools.singledispatch(x)",
        "def f(x):\n  from inspect import getfullargspec as g\n  return g(x)",
    ] {
        assert!(reads(text), "{text}");
    }
    for text in [
        "def f(x): return getattr(x, x.name)",
        "def f(x): return vars(x)",
        "def f(x): return x.__dict__",
        "def f(dir, help): return dir(help)",
        "def f(x): return x.help",
        "import inspect\ndef f(x): return inspect.isclass(x)",
    ] {
        assert!(!reads(text), "{text}");
    }
}

#[test]
fn installed_packages_that_read_are_told_by_their_words() {
    for code in [
        &b"def f(x): return x.__annotations__"[..],
        b"import inspect\ndef f(x): return inspect.signature(x)",
        b"\0\x07get_type_hints\0",
        b"def f(x): return dataclass(x)",
    ] {
        assert!(names_readers_in(code), "{}", String::from_utf8_lossy(code));
    }
    for code in [
        &b"def f(x): return x.signature"[..],
        b"from dataclasses import dataclass\n@dataclass\nclass C: pass",
        b"annotations = []",
    ] {
        assert!(!names_readers_in(code), "{}", String::from_utf8_lossy(code));
    }
}

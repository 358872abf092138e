mod annotations;
mod docstrings;

use ruff_python_parser::parse_module;

use super::*;
use crate::languages::python::asked;
use crate::languages::{PartAt, Uses, is_docstring, name_hash};

fn names(text: &str) -> Names {
    let source = Source::decode(text.as_bytes()).unwrap();
    split(
        &source,
        &parse_module(text).unwrap().syntax().body,
        &Known::default(),
    )
}

/// What is bound, without docstrings.
fn bound(text: &str) -> Vec<String> {
    let names = names(text).bindings.into_keys();
    names.filter(|name| !is_docstring(name)).collect()
}

/// The names of `text` that are bindings after `before`.
fn bound_after(before: &str, text: &str) -> Vec<String> {
    let already = bound(before);
    let all = bound(&format!("{before}\n{text}"));
    all.into_iter()
        .filter(|name| !already.contains(name))
        .collect()
}

#[test]
fn what_cannot_raise_is_a_binding() {
    let before = "import abc, os, functools, logging, typing as t\nfrom typing import Any, List\n\
                  class C(ValueError): pass\nA = 1\n";
    for text in [
        "x = {1: [A, (os, -1)]}",
        "x = lambda y=A: y + z",
        "x: t.Optional[t.List[int]] = None",
        "x = logging.getLogger(__name__)",
        "x = t.TypeVar('x', bound='C')",
        "x = 60 * 60 * 24",
        "x = 'a' + 'b'",
        "x = frozenset(['a'])",
        "x = object()",
        "x = os",
        "def x(y: Any = A, *, z: 'List[C]' = 1) -> t.Dict[str, C]: return missing",
        "@functools.lru_cache(maxsize=None)\ndef x(): pass",
        "@t.overload\ndef x(): pass\n@t.overload\ndef x(): pass\ndef x(): pass",
        "class x(C):\n  'doc'\n  a = 1\n  b: int\n  c: int = 2\n  @property\n  def p(self): pass\n  \
         @p.setter\n  def p(self, v): pass\n  @abc.abstractmethod\n  def q(self): pass",
        "class x(abc.ABC): __hash__ = None",
        "__all__ = ['a', 'b']\nx = 1",
        "import collections.abc as x",
        "import requests as x",
        "from .other import x",
    ] {
        let names = bound_after(before, text);
        assert!(names.contains(&"x".to_owned()), "{text}: {names:?}");
    }
}

#[test]
fn what_can_raise_or_act_is_an_effect() {
    for text in [
        "x = y",
        "x = f()",
        "x = {[]: 1}",
        "x = 2 ** 10 ** 10",
        "x = 1 / 0",
        "x = 'a' * 10",
        "def x(y=z): pass",
        "@d\ndef x(): pass",
        "def x(a: b): pass",
        "import typing\ndef x(a: typing.List[1]): pass",
        "import typing\ndef x(a: typing.List['1 +']): pass",
        "import typing\nx = typing.TypeVar('x', 1)",
        "class x(B): pass",
        "class x(metaclass=type): pass",
        "class x:\n  a = b",
        "class x:\n  __slots__ = ('a',)",
        "class x:\n  def __subclasshook__(cls): pass",
        "class x:\n  int = 1\n  def f(self, a: int): pass\n  property = 1\n  @property\n  def g(self): pass",
        "class x:\n  @missing.setter\n  def f(self): pass",
        "class x:\n  print()",
        "from enum import Enum\nclass x(Enum): A = 1",
        "from os import *\nx = 1",
        "x = 1\ndel x",
        "x = 1\nfor x in []: pass",
        "x = 1\nif y: x = 2",
        "def f():\n  global x\n  del x\nx = 1",
        "x = 1\ntry: pass\nexcept E as x: pass",
        "def int(): pass\nint = f()\ndef x(a: int): pass\ndel int",
        "Exception = f()\nclass x(Exception): pass",
        "def x(): pass\nx.attribute = 1\nx = y",
        "class B:\n  def __init_subclass__(cls): pass\nclass x(B): pass",
        "import random\nrandom = f()\nx = random.nothing",
    ] {
        let names = bound(text);
        assert!(!names.contains(&"x".to_owned()), "{text}: {names:?}");
    }
}

#[test]
fn an_import_that_can_fail_is_an_effect_and_a_binding() {
    let plain = names("x = 1\n");
    for text in [
        "from os import nothing_of_it",
        "from . import os",
        "import requests",
    ] {
        let with = names(&format!("{text}\nx = 1\n"));
        assert_ne!(plain.effects, with.effects, "{text}");
        assert_eq!(bound(&format!("{text}\nx = 1\n")).len(), 2, "{text}");
        assert!(with.effects.uses.asks.is_empty(), "{text}");
    }
}

#[test]
fn a_binding_that_loses_what_it_uses_changes_the_effects() {
    let before = names("a = 1\ndef f(x=a): pass\n");
    let after = names("b = 1\ndef f(x=a): pass\n");
    assert_ne!(before.effects, after.effects);
}

#[test]
fn moving_a_binding_across_an_effect_changes_it() {
    let before = names("a = 1\nprint(0)\n");
    let after = names("print(0)\na = 1\n");
    assert_ne!(before.binding("a"), after.binding("a"));
    assert_ne!(before.presence("a"), after.presence("a"));
    let body = names("def f(): return 1\nprint(0)\n");
    assert_eq!(body, names("def f(): return 2\nprint(0)\n"));
}

#[test]
fn which_of_two_bindings_is_used_counts() {
    let first = names("a = 1\nb = a\na = 2\n");
    let second = names("a = 1\na = 2\nb = a\n");
    assert_eq!(first.binding("a"), second.binding("a"));
    assert_ne!(first.binding("b"), second.binding("b"));
}

#[test]
fn hiding_a_builtin_changes_the_effects() {
    let before = names("def f(): return len([])\n");
    assert_ne!(
        before.effects,
        names("def f(): return len([])\nlen = 1\n").effects
    );
    assert_eq!(
        before.effects,
        names("def f(): return len([])\nother = 1\n").effects
    );
}

#[test]
fn what_type_checkers_alone_see_is_nothing() {
    let plain = names("from typing import TYPE_CHECKING\nx = 1\n");
    let seen =
        names("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n  from a import b\nx = 1\n");
    assert_eq!(plain.effects, seen.effects);
    assert_eq!(plain.binding("x"), seen.binding("x"));
    assert!(!seen.binds("b"));
    let own = names("TYPE_CHECKING = f()\nif TYPE_CHECKING:\n  from a import b\n");
    assert!(own.binds("b"));
}

fn uses(text: &str) -> Uses {
    names(text).code["f"].clone()
}

#[test]
fn local_names_are_not_looked_up_in_the_module() {
    let text = "def f(a, *b, c=1, **d):\n  import e\n  from x import g as h\n  for i in a: pass\n  \
                with b as j: pass\n  try: pass\n  except E as k: pass\n  (l := 1)\n  \
                return [m for m in d] + [(n := o) for o in c] + [n, q] + (lambda r: r + s)(0)\n";
    assert_eq!(uses(text).unbound, ["E", "q", "s"]);
    assert_eq!(
        uses("def f():\n  global a\n  a = 1\n  return a").unbound,
        Vec::<String>::new()
    );
    assert_eq!(
        uses("def f():\n  def g():\n    a = 1\n  return a").unbound,
        ["a"]
    );
    assert_eq!(
        uses("def f():\n  class C:\n    a = 1\n    b = a\n").unbound,
        ["a"]
    );
    assert_eq!(
        uses("def f(a):\n  def g():\n    return a + b\n").unbound,
        ["b"]
    );
    assert_eq!(uses("x = 1\ndef f(): return x + len(y)").unbound, ["y"]);
    assert_eq!(uses("x = 1\ndef f(): return x + len(y)").loads, ["x"]);
    assert_eq!(uses("def f(a): return f'{b!r:{c}}'").unbound, ["b", "c"]);
    let private = names("class C:\n  def f(self): return __x\n");
    assert_eq!(private.code["C.f"].unbound, ["_C__x", "__x"]);
    assert_eq!(
        uses("def f(x: 'Later'): return [x for x in x]").unbound,
        Vec::<String>::new()
    );
    assert_eq!(
        names("def f(x: 'Later'): pass").bindings["f"].uses.unbound,
        ["Later"]
    );
}

#[test]
fn modules_as_values_and_their_members_are_noted() {
    let found = uses(
        "import a\nimport b.c\nfrom d import e\ndef f(x):\n  g(a)\n  x(b.c.h)\n  x.i\n  return e.j",
    );
    assert_eq!(found.values, [name_hash("a")]);
    // What is asked of a module may be a module, too.
    let path = |names: &[&str]| names.iter().map(|name| name_hash(name)).collect::<Vec<_>>();
    let mut parts = vec![path(&["b", "c", "h"]), path(&["e", "j"])];
    parts.sort_unstable();
    assert_eq!(found.parts, parts);
    // Any name may come by a star import.
    let starred = uses("from m import *\ndef f(x): return x + a");
    assert_eq!(starred.values, [name_hash("a")]);
    let mut members = vec![
        (name_hash("b"), "c".to_owned()),
        (name_hash("c"), "h".to_owned()),
        (name_hash("e"), "j".to_owned()),
    ];
    members.sort();
    assert_eq!(found.members, members);
    let held = uses("import a.b\ndef f(): return a.b");
    assert_eq!(held.parts, [path(&["a", "b"])]);
    // No module is called.
    let called = uses("from a import b\nimport c.d\ndef f(): return b(), c.d.e()");
    assert!(called.values.is_empty() && called.parts.is_empty());
    assert!(called.members.contains(&(name_hash("d"), "e".to_owned())));
    let local = uses("import a as t\ndef f(t, b): t.b = b; return t.b.c");
    assert!(local.values.is_empty() && local.parts.is_empty());
    let dict = uses("import a\ndef f(): return a.__dict__");
    assert!(dict.values.contains(&name_hash("a")));
}

#[test]
fn a_variable_is_no_module_of_its_name() {
    let holds = |text: &str| {
        let found = names(&format!("import base\n{text}"));
        found.code["f"].values.contains(&name_hash("base"))
    };
    for text in [
        "def f():\n  import base\n  return locals()",
        "def f():\n  import base\n  return vars()",
        "def f(n):\n  base = None\n  def g():\n    nonlocal base\n    import base\n  g()\n  return getattr(base, n)",
    ] {
        assert!(holds(text), "{text}");
    }
    for text in [
        "def f(base): return base",
        "def f(x):\n  for base in x: g(base)",
        "def f(x): return [base for base in x]",
        "def f(base):\n  def g(): return base\n  return g",
    ] {
        assert!(!holds(text), "{text}");
    }
    for text in [
        "def f(x): return base",
        "def f(x):\n  import base\n  return base",
        "def f(x):\n  global base\n  base = base\n  return base",
        "def f():\n  import base\n  def g():\n    nonlocal base\n    base = base\n    return base",
        "def f(x):\n  class C:\n    base = base\n  return C",
        "def f(x):\n  [base for base in x]\n  return base",
    ] {
        assert!(holds(text), "{text}");
    }
}

#[test]
fn overloads_in_one_place_do_not_show_to_importers() {
    let one = names("import typing\ndef f(a): pass\nx()\n");
    let more = names("import typing\n@typing.overload\ndef f(a): ...\ndef f(a): pass\nx()\n");
    assert_eq!(one.presence("f"), more.presence("f"));
    let apart = names("def f(a): pass\nx()\ndef f(a): pass\n");
    assert_ne!(
        apart.presence("f"),
        names("x()\ndef f(a): pass\n").presence("f")
    );
}

#[test]
fn what_reaches_all_names_is_wide() {
    for text in [
        "def f(x): return x.__subclasses__()",
        "import sys\ndef f(): return sys.modules['a']",
        "import inspect as i\ndef f(): return i.stack()",
        "def f(x): return map(exec, x)",
        "def f():\n  def g(eval): pass\n  return g(eval)",
        "try: eval = g\nexcept NameError: pass\ndef f(): return g(eval)",
    ] {
        assert!(uses(text).is_wide, "{text}");
    }
    assert!(uses("def f(): return globals()").holds_own);
    assert!(uses("def f(x): return globals()[x]").holds_own);
    assert!(!uses("def f(globals): return globals").holds_own);
    assert!(!uses("def f(): return globals()['a']").holds_own);
    assert_eq!(
        uses("def globals(): pass\ndef f(): return globals()['a']").loads,
        ["globals"]
    );
    for text in [
        "def f(): return globals()",
        "def f(x): return getattr(x, y)",
        "import inspect\ndef f(x): return inspect.signature(x)",
        "def f(): return locals()",
        "import sys\ndef f(): return sys.argv",
        "import gc\ndef f(): gc.collect()",
        // Whoever hands it on has said its name.
        "def f(eval): return eval('x')",
    ] {
        assert!(!uses(text).is_wide, "{text}");
    }
}

#[test]
fn a_class_with_a_header_that_may_fail_is_both() {
    let text = "import typing\nT = typing.TypeVar('T')\nclass C(typing.Generic[T]):\n  x = 1\n";
    let before = names(text);
    let member = names(&text.replace("x = 1", "x = 2"));
    assert_ne!(before.binding("C"), member.binding("C"));
    assert_eq!(before.effects, member.effects);
    assert_eq!(before.effects.uses.loads, ["T", "typing"]);
    let base = names(&text.replace("[T]", "[int]"));
    assert_ne!(before.effects, base.effects);
}

#[test]
fn presence_tells_what_can_be_derived_from() {
    // As other modules' classes may rely on it.
    for text in [
        "class C: pass\n",
        "from .m import C\n",
        "class C(B): pass\n",
    ] {
        let text = format!("class B: pass\n{text}");
        let before = names(&text);
        for then in [
            "C = 5\n",
            "from os.path import join as C\n",
            "class C: x = 1\n",
        ] {
            let after = names(&format!("{text}{then}"));
            assert_ne!(before.presence("C"), after.presence("C"), "{text}{then}");
        }
        assert_eq!(
            before.presence("C"),
            names(&format!("{text}D = 5\n")).presence("C")
        );
    }
}

#[test]
fn lines_lead_to_parts() {
    let names = names(
        "import x\nK = lambda: (\n  1)\n@d\ndef f(a=lambda: 1): pass\nA = lambda: 1; B = lambda: 2\n",
    );
    assert_eq!(names.part_of(1, "<module>"), PartAt::Effects);
    assert_eq!(names.part_of(2, "<lambda>"), PartAt::Binding("K"));
    assert_eq!(names.part_of(5, "<lambda>"), PartAt::Effects);
    assert_eq!(names.part_of(6, "<lambda>"), PartAt::Unknown);
}

#[test]
fn a_method_is_apart_from_its_class_but_for_what_all_can_notice() {
    let text = "class C:\n  def f(self, a=1):\n    'doc'\n    return a\n  def g(self): pass\n";
    let before = names(text);
    assert_eq!(bound(text), ["C", "C.f", "C.g"]);
    for (from, to) in [("a=1", "a=2"), ("a=1", "a: int=1")] {
        let after = names(&text.replace(from, to));
        assert_eq!(before.binding("C"), after.binding("C"), "{to}");
        assert_ne!(before.binding("C.f"), after.binding("C.f"), "{to}");
        assert_eq!(before.binding("C.g"), after.binding("C.g"), "{to}");
    }
    for (from, to) in [
        ("a=1", "a"),
        ("a=1", "b=1"),
        ("a=1", "*, a=1"),
        ("a=1", "a=1, **k"),
        ("def f", "async def f"),
        ("return a", "yield a"),
        ("def f", "@staticmethod\n  def f"),
        ("def f", "def h"),
        ("def g", "def f"),
    ] {
        let after = names(&text.replace(from, to));
        assert_ne!(before.binding("C"), after.binding("C"), "{to}");
    }
    // What the interpreter asks for by itself, and code in a header, are not.
    for text in [
        "class C:\n  def __call__(self, a=1): pass\n",
        "class C:\n  def __f(self, a=1): pass\n",
        "class C:\n  def f(self, a=1, b=lambda: 0): pass\n",
    ] {
        assert_eq!(bound(text), ["C"]);
        let after = names(&text.replace("a=1", "a=2"));
        assert_ne!(names(text).binding("C"), after.binding("C"), "{text}");
    }
}

#[test]
fn a_method_spells_its_own_names() {
    let names = names("A = 1\nB = 2\nclass C:\n  def f(self, a=A): return B\n");
    assert_eq!(names.bindings["C.f"].uses.loads, ["A"]);
    assert_eq!(names.bindings["C"].uses.loads, Vec::<String>::new());
    assert_eq!(names.code["C.f"].loads, ["B"]);
}

#[test]
fn finding_and_reading_unspelled_methods_is_noted() {
    for text in [
        "def f(x): return vars(x)",
        "def f(x): return map(dir, x)",
        "def f(x): return x.y.__dict__['z']",
    ] {
        let uses = uses(text);
        assert!(uses.lists_members && !uses.looks_up, "{text}");
    }
    for text in [
        "def f(x): return map(getattr, x)",
        "def f(x): return map(builtins.getattr, x)",
        "import a\ndef f(x, y): return a.getattr(x, y)",
        "def f(x, y): return A.b.getattr(x, y)",
        "def f(x, y): return A().getattr(x, y)",
        "def f(x, y):\n  def attrgetter(z): pass\n  attrgetter = y\n  return map(attrgetter, x)",
        "def f(x):\n  class C:\n    def attrgetter(self): pass\n  return map(attrgetter, x)",
        "def f(x):\n  global attrgetter\n  def attrgetter(z): pass\n  return attrgetter(x)",
        "from operator import attrgetter as g\ndef f(x, y): return g(y)(x)",
        "def getattr(x, y): pass\ndef f(x, y): return getattr(x, y)",
        "if a:\n  from b import getattr\ndef f(x, y): return getattr(x, y)",
        "try:\n  pass\nfinally:\n  def getattr(x, y): pass\ndef f(x, y): return getattr(x, y)",
        "@a\ndef g():\n  global getattr\n  getattr = 1\ndef f(x, y): return getattr(x, y)",
        "for a in b:\n  class C: pass\n  getattr = a\ndef f(x, y): return getattr(x, y)",
    ] {
        assert!(uses(text).looks_up, "{text}");
    }
    for text in [
        "def f(x, y): return getattr(x, y)",
        "def f(x, y): return hasattr(x, y)",
        "def f(x, y): setattr(x, y, 1)",
        "def f(x): return getattr(*x)",
        "def f(x, y): return x.getattr(x, y)",
        "def f(x, y): return x.z.getattr(x, y)",
        "@some\nclass C:\n  def getattr(self): pass\ndef f(x, y): return getattr(x, y)",
        "def f(x):\n  def __getattr__(self, n): return getattr(x, n)\n",
    ] {
        let uses = uses(text);
        assert!(uses.asks_by_name && !uses.looks_up, "{text}");
    }
    let outermost = names("def __getattr__(self, n):\n  n = 1\n  return getattr(self, n)\n");
    assert!(outermost.code["__getattr__"].asks_by_name);
    let spelled = names("def __getattr__(self, n): return getattr(self.x, n)\n");
    assert!(!spelled.code["__getattr__"].asks_by_name);
    assert!(!uses("def f(x): return getattr(x, 'y', None) and hasattr(x, 'z')").asks_by_name);
    for text in [
        "def f(x): return getattr(x, 'y', None)",
        "def f(x): return x.__dict__['y'] + x.__dict__.get('z')",
        "def f(): return vars()",
        "def f(x):\n  def attrgetter(y): pass\n  return lambda: map(attrgetter, x)",
        "import operator\ndef f(x): return operator.attrgetter('a', 'b')(x)",
        "def f(x): return x.__doc__",
        "import inspect\ndef f(x): return inspect.signature(x)",
    ] {
        let uses = uses(text);
        assert!(!uses.looks_up && !uses.lists_members, "{text}");
    }
    // These find what was inherited.
    for text in [
        "import inspect\ndef f(x): return inspect.getdoc(x)",
        "from inspect import getmembers as s\ndef f(x): return s(x)",
        "def f(x): help(x)",
    ] {
        assert!(uses(text).looks_up, "{text}");
    }
    assert!(!uses("def f(help): return help.help").looks_up);
}

#[test]
fn names_that_a_module_looks_up_in_itself() {
    let text = "_a = _b = c = 1\n_a = 1\n_b = 2\ndef __getattr__(name):\n  return ";
    let found = |lookup: &str| {
        let names = names(&format!("{text}{lookup}\n"));
        let uses = &names.code["__getattr__"];
        (uses.loads.clone(), uses.holds_own)
    };
    assert_eq!(found("globals()['c']"), (vec!["c".to_owned()], false));
    assert!(!found("globals()[name]").1);
    for wide in [
        "globals()[name + 'x']",
        "globals()",
        // A name that begins so may appear.
        "globals()[f'_{name}']",
    ] {
        assert!(found(wide).1, "{wide}");
    }
}

#[test]
fn a_module_for_doctests_is_lent() {
    let names = |text: &str| names(&format!("import a\n{text}"));
    let fixture = "def add(doctest_namespace): doctest_namespace['a'] = a\n";
    let alone = names(fixture);
    let add = &alone.code["add"];
    assert_eq!(
        (&add.values[..], &add.lent[..]),
        (&[][..], &[name_hash("a")][..])
    );
    assert_eq!(add.loads, ["a"]);
    assert!(!asked::meets_lent(&alone));
    for other in [
        "def test(doctest_namespace): doctest_namespace['a'].f",
        "def add2(doctest_namespace): keep(doctest_namespace)",
        "def add2(doctest_namespace): return locals()",
        "def add2(doctest_namespace): doctest_namespace = OWN; doctest_namespace['a'] = a",
        "def add2(doctest_namespace):\n  def inner(): return doctest_namespace",
        "def doctest_namespace(): return {}",
        "doctest_namespace = {}",
    ] {
        assert!(
            asked::meets_lent(&names(&format!("{fixture}{other}\n"))),
            "{other}"
        );
    }
    for held in [
        "def add(doctest_namespace): doctest_namespace[a] = a",
        "def add(namespace): namespace['a'] = a",
        "doctest_namespace = {}\ndef add(): doctest_namespace['a'] = a",
        "def add(doctest_namespace): doctest_namespace['a'] = OTHER[0] = a",
    ] {
        let values = &names(held).code["add"].values;
        assert!(values.contains(&name_hash("a")), "{held}");
    }
}

#[test]
fn a_module_that_is_asked_for_one_name_is_not_passed_on() {
    let before = "import a\nimport a.b\nimport sys\n";
    let found = |call: &str| uses(&format!("{before}def f(monkeypatch, x): {call}\n"));
    let is_held = |uses: &Uses| uses.values.contains(&name_hash("a"));
    for call in ["getattr(a, 'x')", "setattr(a, 'x', 1)", "hasattr(a, 'x')"] {
        let found = found(call);
        assert!(!is_held(&found) && found.lent.is_empty(), "{call}");
        assert_eq!(found.members, [(name_hash("a"), "x".to_owned())], "{call}");
    }
    let patched = found("monkeypatch.setattr(a, 'x', x)");
    assert!(!is_held(&patched));
    assert_eq!(patched.lent, [name_hash("a")]);
    let inner = found("monkeypatch.delattr(a.b, 'x')");
    assert_eq!(inner.lent, [name_hash("b")]);
    for call in [
        "getattr(a, x)",
        "getattr(a, '__dict__')",
        "other.setattr(a, 'x', 1)",
        "monkeypatch.setattr(a, x, 1)",
        "monkeypatch.setattr(x, 'y', a)",
    ] {
        assert!(is_held(&found(call)), "{call}");
    }
    assert!(found("getattr(sys, 'modules')").is_wide);
}

#[test]
fn calls_that_run_generated_code_are_watched() {
    for text in [
        "def f(x): exec(x)",
        "from pickle import loads\ndef f(x): return loads(x)",
        "import sys\ndef f(): return sys._getframe(1).f_globals",
        "def f():\n  def g(eval): pass\n  return eval('x')",
    ] {
        let uses = uses(text);
        assert!(uses.is_watched && !uses.is_wide, "{text}: {uses:?}");
    }
    let method = "class E:\n  def f(self, s): return compile(s, 'f', 'exec')\n  def compile(self): pass\n\
                  compile = 1\n";
    let uses = &names(method).code["E.f"];
    assert!(uses.is_watched && !uses.is_wide, "{uses:?}");
}

#[test]
fn methods_and_inner_functions_are_no_look_ups() {
    let text = "class Box:\n  def getattr(self, thing, name): return getattr(thing, name)\n\
                def around(box, name):\n  def attrgetter(thing): return box.getattr(thing, name)\n  \
                return attrgetter\nBOX = Box()\n";
    let names = names(text);
    for code in ["Box.getattr", "around"] {
        let uses = &names.code[code];
        assert!(uses.asks_by_name && !uses.looks_up, "{code}: {uses:?}");
    }
}

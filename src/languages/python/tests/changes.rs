//! What two sources differ in, in words.

use crate::languages::python::{analyse_python, binding_changes, effect_changes};
use crate::languages::{Analysis, Change, Known};

fn words(changes: &[Change]) -> String {
    let words: Vec<String> = changes.iter().map(Change::to_string).collect();
    words.join("; ")
}

/// Checks, too, that something is told if and only if the digests differ.
fn binding(was: &str, is: &str, name: &str) -> String {
    let told = words(&binding_changes(was.as_bytes(), is.as_bytes(), name));
    if let (Analysis::Parsed(was), Analysis::Parsed(is)) = (
        analyse_python(was.as_bytes()),
        analyse_python(is.as_bytes()),
    ) && let (Some(was), Some(is)) = (was.names.bindings.get(name), is.names.bindings.get(name))
        && was.effects_before == is.effects_before
    {
        assert_eq!(was.value == is.value, told.is_empty(), "{told}");
    }
    told
}

fn effects(was: &str, is: &str) -> String {
    let known = Known {
        classes: ["A".to_owned(), "B".to_owned()].into(),
    };
    words(&effect_changes(
        (was.as_bytes(), &known),
        (is.as_bytes(), &known),
    ))
}

#[test]
fn functions() {
    let was = "@d\ndef f(a, b=1, *c, k: int = 2) -> int:\n    'Doc.'\n    return a\n";
    for (old, new, told) in [
        ("b=1", "b=2", "default of `b` changed"),
        ("b=1", "b", "default of `b` changed"),
        ("k: int", "k: str", "annotation of `k` changed"),
        ("-> int", "-> str", "return annotation changed"),
        ("-> int", "", "return annotation changed"),
        ("@d", "@e", "decorators changed"),
        ("@d\n", "", "decorators changed"),
        ("'Doc.'", "'Text.'", "docstring changed"),
        ("'Doc.'\n    ", "", "docstring changed"),
        ("f(a, ", "f(a, x, ", "parameter `x` added"),
        ("f(a, ", "f(", "parameter `a` removed"),
        (
            "f(a, ",
            "f(z, ",
            "parameter `a` removed; parameter `z` added",
        ),
        ("f(a, ", "f(a, /, ", "order or kind of parameters changed"),
        ("f(", "f[T](", "type parameters changed"),
        (
            "return",
            "yield",
            "became or ceased to be a generator or coroutine",
        ),
        (
            "def",
            "async def",
            "became or ceased to be a generator or coroutine",
        ),
        (
            "b=1, *c, k: int = 2",
            "b=2, *c, k: int = 3",
            "default of `b` changed; default of `k` changed",
        ),
        // What does not count.
        ("return a", "return a + 1", ""),
        ("'Doc.'", "\"Doc.\"  # text", ""),
        ("f(a, b=1", "f(a,\n  b = 1", ""),
    ] {
        let is = was.replacen(old, new, 1);
        assert_ne!(was, is);
        assert_eq!(binding(was, &is, "f"), told, "{old} → {new}");
    }
}

#[test]
fn classes() {
    let was = "class C(A, B, k=1):\n    'Doc.'\n    x = 1\n    y: int = 2\n\n    def m(self, a=1):\n        'Doc of m.'\n        return a\n\n    def __len__(self):\n        return 0\n";
    for (old, new, told) in [
        ("(A, B", "(B, A", "bases changed"),
        ("(A, B", "(A", "bases changed"),
        ("k=1", "k=2", "class keywords changed"),
        ("k=1", "j=1", "class keywords changed"),
        ("class C", "@d\nclass C", "decorators changed"),
        ("'Doc.'", "'Text.'", "docstring changed"),
        ("x = 1", "x = 2", "member `x` changed"),
        ("y: int", "y: str", "member `y` changed"),
        ("x = 1\n", "x = 1\n    z = 1\n", "member `z` added"),
        ("x = 1\n    ", "", "member `x` removed"),
        (
            "x = 1\n    y: int = 2\n",
            "y: int = 2\n    x = 1\n",
            "order of members changed",
        ),
        (
            "(self, a=1)",
            "(self, b=1)",
            "member `m`: parameter `a` removed; member `m`: parameter `b` added",
        ),
        ("def m", "@d\n    def m", "member `m`: decorators changed"),
        (
            "__len__(self)",
            "__len__(self, x=1)",
            "member `__len__`: parameter `x` added",
        ),
        // These are of the binding of the method.
        ("a=1", "a=2", ""),
        ("'Doc of m.'", "'Text.'", ""),
        ("return 0", "return 1", ""),
    ] {
        let is = was.replacen(old, new, 1);
        assert_ne!(was, is);
        assert_eq!(binding(was, &is, "C"), told, "{old} → {new}");
    }
    let method = |old: &str, new: &str| binding(was, &was.replacen(old, new, 1), "C.m");
    assert_eq!(method("a=1", "a=2"), "default of `a` changed");
    assert_eq!(method("'Doc of m.'", "'T'"), "docstring changed");
    assert_eq!(method("x = 1", "x = 2"), "");
}

#[test]
fn values_and_imports() {
    for (was, is, told) in [
        ("n = 1\n", "n = 2\n", "value changed"),
        ("n: int = 1\n", "n: str = 1\n", "annotation changed"),
        ("n = 1\n", "n: int = 1\n", "annotation changed"),
        ("n = 1\n", "n = (1)  # one\n", ""),
        ("n = m = 1\n", "n = m = 2\n", "value changed"),
        ("n = 1\n", "n = 1\nn = 2\n", "changed"),
        (
            "n = 1\n",
            "def n(): pass\n",
            "was a value, is a function now",
        ),
        (
            "from a import n\n",
            "class n: pass\n",
            "was an import, is a class now",
        ),
        (
            "from a import n\n",
            "from b import n\n",
            "import source changed",
        ),
        (
            "from a import n\n",
            "from a import m as n\n",
            "import source changed",
        ),
        ("import n\n", "import a as n\n", "import source changed"),
        ("import n.a\n", "import n.b\n", "import source changed"),
        ("from a import n\n", "from a import m, n\n", ""),
        ("type n = int\n", "type n = str\n", "value changed"),
        ("n = (\n", "n = 1\n", ""),
    ] {
        assert_eq!(binding(was, is, "n"), told, "{was} → {is}");
    }
    let doc = binding("'Old.'\nn = 1\n", "'New.'\nn = 1\n", "__doc__");
    assert_eq!(doc, "docstring changed");
}

#[test]
fn statements_that_do_more_than_bind() {
    let was = "n = 1\nf()\ng(1)\n@r\ndef h(): return 1\n";
    for (old, new, told) in [
        ("g(1)", "g(2)", "effect statement at line 3 changed"),
        ("g(1)\n", "", "effect statement removed, was at line 3"),
        ("f()\n", "e()\nf()\n", "effect statement at line 2 added"),
        (
            "f()\ng(1)\n",
            "g(1)\nf()\n",
            "order of effect statements changed",
        ),
        (
            "h()",
            "h(x=1)",
            "`h`, an effect statement at line 4: parameter `x` added",
        ),
        ("def h", "def i", "effect statement at line 4 changed"),
        (
            "f()\ng(1)\n",
            "f()\nx()\ny()\ng(1)\nz()\n",
            "effect statement at line 3 added; effect statement at line 4 added; \
             effect statement at line 6 added",
        ),
        ("n = 1", "n = 2", ""),
        ("n = 1\n", "n = 1\nm = 1\n", ""),
        ("return 1", "return 2", ""),
        ("f()\n", "f()  # why\n\n", ""),
    ] {
        let is = was.replacen(old, new, 1);
        assert_ne!(was, is);
        assert_eq!(effects(was, &is), told, "{old} → {new}");
    }
}

#[test]
fn classes_that_do_more_than_bind() {
    let whole = "@register\nclass C(A):\n    def m(self, a=1):\n        return a\n";
    let header = "from x import A, B\nclass C(A, B):\n    y = 1\n";
    for (was, old, new, told) in [
        (
            whole,
            "(A)",
            "(B)",
            "`C`, an effect statement at line 1: bases changed",
        ),
        (
            whole,
            "a=1",
            "a=2",
            "`C`, an effect statement at line 1: member `m`: default of `a` changed",
        ),
        (whole, "return a", "return 1", ""),
        (
            header,
            "(A, B)",
            "(B, A)",
            "`C`, an effect statement at line 2: bases changed",
        ),
        // That is its binding.
        (header, "y = 1", "y = 2", ""),
    ] {
        let is = was.replacen(old, new, 1);
        assert_ne!(was, is);
        assert_eq!(effects(was, &is), told, "{old} → {new}");
    }
}

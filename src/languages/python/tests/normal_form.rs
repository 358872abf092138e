//! Which spellings are the same, and which are not.

use super::{changed, parse};

/// Differences in a body: the `code` unit `f` alone must show them.
fn body_differs(one: &str, other: &str) -> bool {
    let (before, after) = (
        parse(&format!("def f():\n    {one}\n")),
        parse(&format!("def f():\n    {other}\n")),
    );
    let changed = changed(&before, &after);
    assert!(changed.is_empty() || changed == ["f"], "{one} | {other}");
    !changed.is_empty()
}

#[test]
fn spelling_does_not_count() {
    for (one, other) in [
        ("x = 'a'", "x = \"a\""),
        ("x: int = 1", "x = 1"),
        ("x: int = 1", "(x): int = 1"),
        ("self.x: int | None = 1", "self.x = 1"),
        ("x[0]: 'y' = 1", "x[0] = 1"),
        ("x = 'a' 'b'", "x = ('a'\n   'b')"),
        ("x = r'\\n'", "x = '\\\\n'"),
        ("x = u'a'", "x = 'a'"),
        (
            "x = '\\x41\\u0041\\N{LATIN CAPITAL LETTER A}\\101'",
            "x = 'AAAA'",
        ),
        ("x = b'a' b'b'", "x = b'\\x61b'"),
        ("x = '''a\nb'''", "x = 'a\\nb'"),
        ("x = '''a\\\nb'''", "x = 'ab'"),
        ("x = 255", "x = 0xFF"),
        ("x = 1_000", "x = 1000"),
        ("x = 0b11", "x = 0o3"),
        ("x = 18446744073709551616", "x = 0x1_0000_0000_0000_0000"),
        ("x = 1e0", "x = 1.0"),
        ("x = .5", "x = 0.50"),
        ("x = 1J", "x = 1.0j"),
        ("x = (1)", "x = 1"),
        ("x = (a, b)", "x = a, b"),
        ("x = [a, b,]", "x = [a, b]"),
        ("x = f(a, b,)", "x = f(a,b)"),
        ("x = a \\\n  + b", "x = a+b"),
        ("x = a # comment", "x = a"),
        ("x = []  # type: ignore", "x = []"),
        ("x = 1; y = 2", "x = 1\n    y = 2"),
        ("if a: b", "if a:\n            b"),
        (
            "if a: b\n    elif c: d",
            "if a: b\n    else:\n        if c: d",
        ),
        ("x = f'{a}' 'b'", "x = f'{a}b'"),
        ("x = f'{ a }'", "x = f'{a}'"),
        ("x = f'{a!r:}'", "x = f\"{a!r:}\""),
        ("x = f'{a=}'", "x = f'a={a!r}'"),
        ("class A: pass", "class A(): pass"),
        ("with (a as b, c): pass", "with a as b, c: pass"),
    ] {
        assert!(!body_differs(one, other), "{one} | {other}");
    }
}

#[test]
fn what_runs_differently_counts() {
    for (one, other) in [
        ("x = 'a'", "x = b'a'"),
        ("x = 'a'", "x = 'a '"),
        ("x = 'a', 'b'", "x = 'a' 'b'"),
        ("x = r'\\n'", "x = '\\n'"),
        ("x = '\\ud800'", "x = '\\ud801'"),
        ("x = '\\ud800'", "x = '\\ufffd'"),
        ("x = f'\\ud800{a}'", "x = f'\\udfff{a}'"),
        ("x = 1", "x = 1.0"),
        ("x = 1", "x = True"),
        ("x = 1.0", "x = 1j"),
        ("x = 0.0", "x = -0.0"),
        ("x = 18446744073709551616", "x = 18446744073709551617"),
        ("x = (a)", "x = (a,)"),
        ("x = a + b + c", "x = a + (b + c)"),
        ("x = a < b < c", "x = (a < b) < c"),
        ("x = a and b and c", "x = a and (b and c)"),
        ("x = not a == b", "x = (not a) == b"),
        ("x = f'{a}'", "x = f'{a!r}'"),
        ("x = f'{a}'", "x = f'{a=}'"),
        ("x = f'{a=}'", "x = f'{a = }'"),
        ("x = f'{a:>3}'", "x = f'{a:>4}'"),
        ("x = f'{a:{b}}'", "x = f'{a:{c}}'"),
        ("x = f'{{a}}'", "x = f'{a}'"),
        ("x = t'{a}'", "x = t'{a }'"),
        ("x = t'{a}'", "x = f'{a}'"),
        ("assert a", "a"),
        ("assert a", "assert a, b"),
        ("x: int", "pass"),
        ("x: int = 1", "x: int"),
        ("x: f(2) = 1", "x = 1"),
        ("x = y = 1", "y = x = 1"),
        (
            "x = 1\n    def g():\n        global x",
            "x = 1\n    def g():\n        nonlocal x",
        ),
        ("del a, b", "del a; del b"),
        ("return", "return None"),
        ("raise a", "raise a from None"),
        ("import a.b", "import a.b as b"),
        ("from . import a", "from .. import a"),
        ("from . import a", "from a import a"),
        ("for x in a: pass", "for x in a: pass\n    else: pass"),
        ("while a: break", "while a: continue"),
        ("with a, b: pass", "with a as b: pass"),
        ("try: a\n    except b: c", "try: a\n    except b as d: c"),
        ("try: a\n    except b: c", "try: a\n    except* b: c"),
        (
            "try: a\n    except b: c",
            "try: a\n    except b: pass\n    finally: c",
        ),
        ("if a: b\n    elif c: d", "if a: b\n    if c: d"),
        ("if a:\n        b\n        c", "if a:\n        b\n    c"),
        ("f(*a)", "f(**a)"),
        ("f(a=1, b=2)", "f(b=2, a=1)"),
        ("x = {**a}", "x = {a: a}"),
        ("x = {a}", "x = {a: a}"),
        ("x = [a for a in b]", "x = {a for a in b}"),
        ("x = [a for a in b]", "x = (a for a in b)"),
        ("x = [a for a in b if c]", "x = [a for a in b for d in c]"),
        ("x = a[1:2]", "x = a[1:2:None]"),
        ("x = a[b]", "x = a[b,]"),
        ("x = a.b", "x = a.c"),
        ("x = lambda: a", "x = lambda a: a"),
        ("x = lambda a=1: a", "x = lambda *, a=1: a"),
        ("def g(a): pass", "def g(a, /): pass"),
        ("def g(a): pass", "def g(a: b): pass"),
        ("def g() -> a: pass", "def g(): pass"),
        ("def g(): 'doc'", "def g(): 'other'"),
        ("class A(b): pass", "class A(metaclass=b): pass"),
        ("def g[T](): pass", "def g[*T](): pass"),
        ("def g[T](): pass", "def g[T: int](): pass"),
        ("type A = b", "A = b"),
        (
            "match a:\n        case b: pass",
            "match a:\n        case b.c: pass",
        ),
        (
            "match a:\n        case [b]: pass",
            "match a:\n        case [*b]: pass",
        ),
        (
            "match a:\n        case b(c): pass",
            "match a:\n        case b(c=c): pass",
        ),
        (
            "match a:\n        case 1 | 2: pass",
            "match a:\n        case 1, 2: pass",
        ),
        (
            "match a:\n        case _: pass",
            "match a:\n        case _ if b: pass",
        ),
        ("(a := b)", "a == b"),
        ("x += 1", "x -= 1"),
        ("a is b", "a is not b"),
        ("print(1)", "print(1) or 0"),
    ] {
        assert!(body_differs(one, other), "{one} | {other}");
    }
}

#[test]
fn identifiers_are_normalised_as_the_interpreter_does() {
    assert!(!body_differs("ﬁ = 1", "fi = 1"));
    assert!(body_differs("e\u{301} = 1", "e = 1"));
}

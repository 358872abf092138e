//! What belongs to which unit.

use super::{changed, parse};
use crate::languages::UnitAt;
use crate::matrix::Fingerprint;

const SOURCE: &str = r#"
'''Module docstring.'''
from __future__ import annotations
import os
LIMIT = 10
table = [n for n in range(LIMIT)]
key = lambda item: item[0]

@register(lambda: 1)
def plain(a, b=LIMIT, *args, c: int = 3, **kw) -> str:
    '''Doc of plain.'''
    def inner():
        return a
    return inner()

async def coro():
    await plain(1)

if LIMIT:
    def chosen():
        return 1
else:
    def chosen():
        return 2

class C(Base, metaclass=Meta):
    '''Doc of C.'''
    attr = 1

    @property
    def x(self):
        return self._x

    @x.setter
    def x(self, value):
        self._x = value

    class D:
        def m(self):
            yield 1
"#;

/// What an edit of [`SOURCE`] changes.
fn edit(from: &str, to: &str) -> Vec<String> {
    assert_eq!(SOURCE.matches(from).count(), 1, "{from}");
    let after = SOURCE.replace(from, to);
    let units = (parse(SOURCE), parse(&after));
    changed(&units.0, &units.1)
        .into_iter()
        .map(String::from)
        .collect()
}

#[test]
fn outermost_functions_are_the_code_units() {
    let names: Vec<String> = parse(SOURCE).code.into_keys().collect();
    assert_eq!(names, ["C.D.m", "C.x", "chosen", "coro", "plain"]);
    let module = parse("class C:\n    global g\n    def g(): pass\n    def h(): pass\n");
    assert_eq!(module.code.into_keys().collect::<Vec<_>>(), ["C.h", "g"]);
    for block in [
        "try:\n {}\nexcept E:\n pass",
        "try:\n pass\nexcept E:\n {}",
        "try:\n pass\nfinally:\n {}",
        "for a in b:\n {}",
        "while a:\n pass\nelse:\n {}",
        "with a:\n {}",
        "match a:\n case b:\n  {}",
        "if a:\n pass\nelif b:\n {}",
    ] {
        let module = parse(&block.replace("{}", "def f(): pass"));
        assert_eq!(module.code.len(), 1, "{block}");
    }
}

#[test]
fn an_edit_of_a_body_changes_that_unit() {
    assert_eq!(edit("return inner()", "return inner"), ["plain"]);
    assert_eq!(edit("        return a", "        return b"), ["plain"]);
    assert_eq!(edit("plain(1)", "plain(2)"), ["coro"]);
    assert_eq!(edit("        return 1", "        return 3"), ["chosen"]);
    assert_eq!(edit("        return 2", "        return 3"), ["chosen"]);
    assert_eq!(edit("return self._x", "return self._y"), ["C.x"]);
    assert_eq!(edit("self._x = value", "self._y = value"), ["C.x"]);
    assert_eq!(edit("yield 1", "yield 2"), ["C.D.m"]);
}

#[test]
fn what_shows_without_running_is_in_the_skeleton() {
    for (from, to) in [
        ("Module docstring", "Another"),
        ("Doc of plain", "Another"),
        ("Doc of C", "Another"),
        ("import annotations", "import generators"),
        ("import os", "import sys"),
        ("LIMIT = 10", "LIMIT = 11"),
        ("[n for", "[-n for"),
        ("item[0]", "item[1]"),
        ("register(lambda: 1)", "register(lambda: 2)"),
        ("@register(lambda: 1)\n", ""),
        ("(a, b=LIMIT", "(b, a=LIMIT"),
        ("b=LIMIT", "b=None"),
        ("*args", "*rest"),
        ("c: int", "c: str"),
        ("-> str", "-> int"),
        ("if LIMIT", "if not LIMIT"),
        ("attr = 1", "attr = 2"),
        ("(Base, metaclass=Meta)", "(Base)"),
    ] {
        assert_eq!(edit(from, to), ["skeleton"], "{from}");
    }
    // The kind of the function shows, and the body differs.
    assert_eq!(edit("yield 1", "return 1"), ["skeleton", "C.D.m"]);
    let inner = "        lambda: (yield)\n        def g(): yield\n        return 1";
    assert_eq!(edit("        return 2", inner), ["chosen"]);
    let own = "        def g(x=(yield)): pass\n        return 1";
    assert_eq!(edit("        return 2", own), ["skeleton", "chosen"]);
    assert_eq!(edit("'''Doc of plain.'''", "1"), ["skeleton", "plain"]);
}

#[test]
fn members_and_their_order_are_in_the_skeleton() {
    let two = parse("def f(): pass\ndef g(): pass\n");
    assert_eq!(
        changed(&two, &parse("def g(): pass\ndef f(): pass\n")),
        ["skeleton"]
    );
    assert_eq!(changed(&two, &parse("def f(): pass\n")), ["skeleton", "g"]);
    assert_eq!(
        changed(&two, &parse("async def f(): pass\ndef g(): pass\n")),
        ["skeleton"]
    );
}

#[test]
fn digests_are_of_this_version() {
    // When these change, `DIGEST_VERSION` must change with them.
    let module = parse(SOURCE);
    let hex = |print: Fingerprint| print.hex();
    assert_eq!(hex(module.skeleton), "fd23844503a446ebff39dfaa877df50e");
    assert_eq!(hex(module.code["C.x"]), "0342a362b5d41ac963e973d39c9948fe");
}

#[test]
fn kinds_of_units_never_share_a_digest() {
    let module = parse("def f(): pass\n");
    assert_ne!(module.skeleton, module.code["f"]);
    // An empty module and an empty body have the same statements.
    let empty = parse("pass\n");
    assert_ne!(empty.skeleton, module.code["f"]);
}

#[test]
fn code_objects_are_found_by_line_and_name() {
    let source = "\
class A: f = lambda self: 0
def f(): return lambda: 0
@deco(
    lambda: 1)
@deco
def g(a=lambda: 2,
      b=[x for x in y]):
    class K:
        def f(self): pass
    return (x for x in K)
x = 1; h = lambda: 3
class B[T: int]:
    def m[U](self, a=lambda: 1): return 1
    n = 2
type Z = int
";
    let module = parse(source);
    let found = |line, name| module.unit_at(line, name);
    let code = |name| Some(UnitAt::Code(name));
    let skeleton = Some(UnitAt::Skeleton);
    assert_eq!(found(1, "<module>"), skeleton);
    assert_eq!(found(1, "A"), skeleton);
    assert_eq!(found(1, "<lambda>"), skeleton);
    assert_eq!(found(2, "f"), code("f"));
    assert_eq!(found(2, "<lambda>"), code("f"));
    assert_eq!(found(3, "g"), code("g"));
    assert_eq!(found(4, "<lambda>"), skeleton);
    assert_eq!(found(6, "<lambda>"), skeleton);
    assert_eq!(found(7, "<listcomp>"), skeleton);
    assert_eq!(found(8, "K"), code("g"));
    assert_eq!(found(9, "f"), code("g"));
    assert_eq!(found(10, "<genexpr>"), code("g"));
    assert_eq!(found(11, "<lambda>"), skeleton);
    assert_eq!(found(12, "B"), skeleton);
    assert_eq!(found(12, "<generic parameters of B>"), skeleton);
    assert_eq!(found(12, "T"), skeleton);
    assert_eq!(found(13, "m"), code("B.m"));
    assert_eq!(found(15, "Z"), skeleton);
    // Not in this source.
    for (line, name) in [
        (1, "B"),
        (2, "g"),
        (9, "g"),
        (10, "K"),
        (14, "n"),
        (99, "<lambda>"),
    ] {
        assert_eq!(found(line, name), None, "{line} {name}");
    }
}

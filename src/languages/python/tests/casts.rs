//! Casts for type checkers are what they cast, where nothing can fail.

use super::{changed, parse};

/// Whether the body of `f` is the same with one expression as with another one.
fn same(head: &str, one: &str, other: &str) -> bool {
    let of = |expr: &str| parse(&format!("{head}\ndef f(x, y):\n    return {expr}\n"));
    changed(&of(one), &of(other)).is_empty()
}

#[test]
fn a_cast_is_what_it_casts() {
    for of_type in [
        "'no [ type'",
        "None",
        "int",
        "typing.Any",
        "typing.List",
        "typing.List[int]",
        "typing.List['Schema']",
        "typing.Dict[str, typing.Optional[a]]",
        "typing.Dict[str, typing.Optional['a.B']]",
        "typing.Union[int, None, typing.IO[str]]",
        "typing.Callable[..., int]",
        "typing.Callable[[typing.Any, int], typing.Iterable[dict]]",
    ] {
        let cast = format!("g(typing.cast({of_type}, x + y))");
        // `a` may be anything, and so may fail.
        let is_same = !of_type.contains("[a]");
        assert_eq!(same("import typing", &cast, "g(x + y)"), is_same, "{cast}");
    }
    assert!(same("import typing as t", "t.cast(str, x)", "x"));
    assert!(same("from typing import Any, cast", "cast('A', x)", "x"));
    assert!(same("from typing import cast as c", "c('A', x)", "x"));
    let twice = "typing.cast('A', [typing.cast('B', z) for z in typing.cast(set, y)])";
    assert!(same("import typing", twice, "[z for z in y]"));
}

#[test]
fn what_may_be_no_cast_counts() {
    for (head, expr) in [
        ("import typing as t", "typing.cast(str, x)"),
        ("import typing.re as typing", "typing.cast(str, x)"),
        ("import typing, re as typing", "typing.cast(str, x)"),
        ("from typing import cast, overload as cast", "cast(str, x)"),
        ("from .typing import cast", "cast(str, x)"),
        ("from sqlalchemy import cast", "cast(str, x)"),
        ("if a:\n    import typing", "typing.cast(str, x)"),
        ("import typing\nfrom b import *", "typing.cast(str, x)"),
        ("import typing\ntyping = a", "typing.cast(str, x)"),
        ("import typing\ndef g(typing): pass", "typing.cast(str, x)"),
        (
            "import typing\ndef g[typing](): pass",
            "typing.cast(str, x)",
        ),
        (
            "import typing\ndef g():\n    global typing",
            "typing.cast(str, x)",
        ),
        (
            "import typing\ndef g():\n    del typing",
            "typing.cast(str, x)",
        ),
        ("import typing\ndef str(): pass", "typing.cast(str, x)"),
        ("import typing\ng = lambda str: str", "typing.cast(str, x)"),
        ("import typing", "typing.cast(str)"),
        ("import typing", "typing.cast(str, *x)"),
        ("import typing", "typing.cast(typ=str, val=x)"),
        ("import typing", "typing.cast(str, x, y)"),
        ("import typing", "typing.cast(str, val=x)"),
        ("import typing", "typing.assert_type(str, x)"),
        // These may fail, or do so with some interpreters.
        ("import typing", "typing.cast(A, x)"),
        ("import typing", "typing.cast(y(), x)"),
        ("import typing", "typing.cast(typing.Lost, x)"),
        ("import typing", "typing.cast(re.List, x)"),
        ("import typing", "typing.cast(dict[str, str], x)"),
        ("import typing", "typing.cast(str | None, x)"),
        ("import typing", "typing.cast(typing.Dict[str], x)"),
        ("import typing", "typing.cast(typing.List[str, str], x)"),
        ("import typing", "typing.cast(typing.List[()], x)"),
        ("import typing", "typing.cast(typing.Union[()], x)"),
        ("import typing", "typing.cast(typing.List[1], x)"),
        ("import typing", "typing.cast(typing.List['a b'], x)"),
        ("import typing", "typing.cast(typing.List['class'], x)"),
        (
            "import typing",
            "typing.cast(typing.List[typing.Optional], x)",
        ),
        ("import typing", "typing.cast(typing.Optional[str, str], x)"),
        ("import typing", "typing.cast(typing.Callable[int, str], x)"),
        ("import typing", "typing.cast(typing.Any[str], x)"),
        ("import typing", "typing.cast(f'{y()}', x)"),
    ] {
        assert!(!same(head, expr, "x"), "{head}: {expr}");
    }
    let late = parse("x = typing.cast(str, y)\nimport typing\n");
    assert!(!changed(&late, &parse("x = y\nimport typing\n")).is_empty());
    let before = parse("import typing\nx = typing.cast(str, y)\n");
    assert!(changed(&before, &parse("import typing\nx = y\n")).is_empty());
}

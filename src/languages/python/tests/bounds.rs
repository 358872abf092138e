//! No input may panic or overflow the stack.

use super::{analyse_python, parse, reason};
use crate::languages::Analysis;
use proptest::prelude::*;

/// Runs on a stack as small as threads have anywhere.
fn on_small_stack(check: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(512 << 10);
    thread.spawn(check).unwrap().join().unwrap();
}

#[test]
fn deep_sources_are_refused_or_read() {
    on_small_stack(|| {
        for (head, deeper, tail, closer) in [
            ("x = ", "(", "1", ")"),
            ("x = ", "[", "", "]"),
            ("x = ", "{1: ", "1", "}"),
            ("x = ", "-", "1", ""),
            ("x = ", "not ", "1", ""),
            ("x = ", "a + ", "b", ""),
            ("x = ", "a ** ", "b", ""),
            ("x = ", "lambda: ", "b", ""),
            ("x = ", "b if c else ", "b", ""),
            ("x = ", "f(", "b", ")"),
            ("x", ".a", "", ""),
            ("x", "()", "", ""),
            ("x", "[0]", "", ""),
            ("match x:\n case ", "[", "_", "]"),
            ("x = ", "[", "", ""),
            ("x = ", "f'{", "", ""),
            ("if a: ", "if b: ", "c", ""),
            ("", "async ", "def f(): pass", ""),
        ] {
            for repeat in [100, 3_000, 30_000, 150_000] {
                let source = format!(
                    "{head}{}{tail}{}\n",
                    deeper.repeat(repeat),
                    closer.repeat(repeat)
                );
                let refused = reason(source.as_bytes());
                if repeat == 150_000 {
                    assert!(refused.is_some(), "{deeper}");
                }
            }
        }
        let blocks: String = (0..1_000)
            .map(|depth| format!("{}if x:\n", " ".repeat(depth)))
            .collect();
        analyse_python(format!("{blocks}{}pass\n", " ".repeat(1_000)).as_bytes());
        let elifs = "elif b:\n pass\n".repeat(20_000);
        assert_eq!(parse(&format!("if a:\n pass\n{elifs}")).code.len(), 0);
    });
}

#[test]
fn what_python_refuses_is_not_parsed() {
    for source in [
        &b"def f(:"[..],
        b"x = 'abc",
        b"\xff\xfe",
        b"if x:\npass",
        b"x = 1 +",
        b"f'{'",
        b"'\\N{no such name}'",
        b"print 'python 2'",
    ] {
        assert!(reason(source).is_some(), "{source:?}");
    }
    assert_eq!(
        reason(b"x = 1\ndef f(:\n").unwrap().split(':').next(),
        Some("line 2")
    );
}

/// Fragments that, put together at random, are often nearly Python.
fn fragments() -> impl Strategy<Value = String> {
    let fragment = prop::sample::select(vec![
        "def f",
        "class C",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ":",
        ",",
        "\n",
        "\n    ",
        "\n\t",
        "x",
        "=",
        "f'",
        "'",
        "\"\"\"",
        "{x!r:>{w}}",
        "{x = }",
        "lambda",
        "yield ",
        "await ",
        "async ",
        "if ",
        "else",
        "for x in y",
        "import ",
        "from . import *",
        "@d",
        "\\",
        "\\\n",
        "0x1f",
        "1e5j",
        "# c",
        "match x",
        "case _",
        "type X = ",
        "*",
        "**",
        "->",
        "é",
        "\u{c}",
        "\r",
        "'\\ud800'",
        "global x",
        "t'{x}'",
        "pass",
        ";",
        "...",
        "\u{feff}",
        "return ",
        "b'\\xff'",
        "%",
    ]);
    prop::collection::vec(fragment, 0..60).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        analyse_python(&bytes);
    }

    #[test]
    fn any_fragments_are_answered(source in fragments()) {
        analyse_python(source.as_bytes());
    }

    /// Cut and doubled text of a module with most kinds of syntax.
    #[test]
    fn any_damage_is_answered(from in 0usize..2_000, to in 0usize..2_000, byte in any::<u8>()) {
        let mut bytes = include_bytes!("oracle.py").to_vec();
        let (from, to) = (from.min(to), from.max(to));
        let removed: Vec<u8> = bytes.drain(from..to).collect();
        analyse_python(&bytes);
        bytes.extend(removed);
        bytes[from] = byte;
        analyse_python(&bytes);
    }
}

#[test]
fn what_does_not_compile_is_refused_though_it_parses() {
    for text in [
        "def f():\n    break\n",
        "for x in y:\n    def f():\n        continue\n",
        "def f():\n    nonlocal x\n",
        "x = 1\ndef f():\n    def g():\n        nonlocal x\n",
        "def f():\n    x = 1\n    global x\n",
        "def f(x):\n    global x\n",
        "def f(a, a): pass\n",
        "def f(): await g()\n",
        "def f():\n    from x import *\n",
        "class C:\n    return 1\n",
        "def f(): return [(yield x) for x in y]\n",
        "async def f():\n    yield 1\n    return 2\n",
        "f(a=1, a=2)\n",
        "def f(x):\n    match x:\n        case y: pass\n        case 1: pass\n",
        "def f():\n    __debug__ = 1\n",
        "x = 1\nfrom __future__ import annotations\n",
    ] {
        let analysis = analyse_python(text.as_bytes());
        assert!(matches!(analysis, Analysis::Unparsed(_)), "{text}");
    }
    for text in [
        "def f():\n    x = 1\n    def g():\n        nonlocal x\n        x = 2\n",
        "def f(x):\n    def g():\n        def h():\n            nonlocal x\n",
        "def f():\n    global x\n    x = 1\n",
        "for x in y:\n    if x: break\n    else: continue\nelse:\n    pass\n",
        "while x:\n    try:\n        continue\n    finally:\n        break\n",
        "async def f():\n    return [await x async for x in y]\n",
        "async def f():\n    yield 1\n    return\n",
        "f = lambda: (yield)\n",
        "class C:\n    x = [y for y in z]\n    def f(self): yield self\n",
        "def f():\n    return (lambda x: x)(1), [x for x in y if (z := x)]\n",
    ] {
        let analysis = analyse_python(text.as_bytes());
        assert!(matches!(analysis, Analysis::Parsed(_)), "{text}");
    }
}

#[test]
fn syntax_of_newer_interpreters_is_an_effect() {
    let effects = |text: &str| match analyse_python(text.as_bytes()) {
        Analysis::Parsed(module) => module.names.effects.value,
        Analysis::Unparsed(why) => panic!("{text}: {why}"),
    };
    let old = effects("def f(x): return x\n");
    assert_eq!(old, effects("def f(x): return (y := x)\n"));
    let matching = effects("def f(x):\n    match x:\n        case 1: pass\n");
    assert_ne!(old, matching);
    let other = effects("def f(x):\n    match x:\n        case 2: return 3\n");
    assert_eq!(matching, other);
    assert_ne!(old, effects("def f(x): return f\"{\"a\"}\"\n"));
}

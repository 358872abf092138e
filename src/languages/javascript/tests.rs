use super::*;

fn parse(text: &str) -> JsSource {
    parsed(text.as_bytes(), b"a.tsx").expect("a source")
}

fn names(source: &JsSource) -> Vec<&str> {
    source
        .functions
        .iter()
        .map(|one| one.name.as_str())
        .collect()
}

/// What is different between two sources, by name; of what is outside: `*`.
fn differs(one: &str, other: &str) -> Vec<String> {
    let (one, other) = (parse(one), parse(other));
    assert_eq!((one.whole, other.whole), (None, None));
    let mut found: Vec<String> = Vec::new();
    if one.outside != other.outside {
        found.push("*".to_owned());
    }
    for function in &one.functions {
        let same = other
            .functions
            .iter()
            .find(|same| same.name == function.name);
        if same.is_none_or(|same| same.digest != function.digest) {
            found.push(function.name.clone());
        }
    }
    found
}

#[test]
fn functions_have_names() {
    let source = parse(
        "function f() { return () => 1 }\n\
         const g = async (a) => a\n\
         class C { #p = () => 1; m() {} static s() {} get x() { return 1 } constructor() {} ['k' + 1]() {} }\n\
         const o = { m() {}, f: function () {}, 'a-b': () => 1 }\n\
         export default function () {}\n\
         it('does', () => {}); it('too', () => {})\n",
    );
    assert_eq!(source.whole, None);
    let expected = [
        "f",
        "f.()",
        "g",
        "C.#p",
        "C.m",
        "C.s",
        "C.x",
        "C.constructor",
        "C.[]",
        "m",
        "f#2",
        "a-b",
        "()",
        "()#2",
        "()#3",
    ];
    assert_eq!(names(&source), expected);
}

#[test]
fn a_body_and_parameters_are_of_the_function() {
    let one = "export function f(a: number, b = 1) { return a }\nfunction g() { return 2 }\n";
    assert_eq!(differs(one, &one.replace("return a", "return b")), ["f"]);
    assert_eq!(differs(one, &one.replace("b = 1", "b = 2")), ["f"]);
    assert_eq!(
        differs(one, &one.replace("a: number, b", "a: number, c, b")),
        ["*", "f"]
    );
    assert_eq!(
        differs(one, &one.replace("function g", "async function g")),
        ["*"]
    );
    assert_eq!(differs(one, &one.replace("export ", "")), ["*"]);
}

#[test]
fn a_function_inside_is_not_of_the_one_around() {
    let one = "function f() { const g = () => 1; return g }\n";
    assert_eq!(differs(one, &one.replace("=> 1", "=> 2")), ["f.g"]);
    assert_eq!(differs(one, &one.replace("return g", "return g()")), ["f"]);
    let two = one.replace("return g", "const h = () => 2; return g");
    assert_eq!(differs(one, &two), ["f"]);
}

#[test]
fn comments_types_and_formatting_do_not_count() {
    let one = "import { a } from './a'\n\
        export interface I { x: number }\n\
        type T = I | undefined\n\
        export const f = (x: I): T => a(x as T)!\n";
    for (from, to) in [
        ("x: number", "x: string"),
        ("| undefined", "| null"),
        ("(x: I): T", "(x: string): number"),
        ("as T", "as unknown"),
        ("export const", "/** Says it. */\nexport const"),
        ("=> a(", "=>   a( // it\n"),
    ] {
        assert!(one.contains(from), "{from}");
        assert_eq!(differs(one, &one.replace(from, to)), [""; 0], "{from}");
    }
}

#[test]
fn a_line_can_end_a_statement() {
    let one = "function f(x) { return x }\n";
    assert_eq!(differs(one, "function f(x) { return\n x }\n"), ["f"]);
    let steps = "function f(a, b) { a\n++\nb }\n";
    assert_eq!(differs(steps, "function f(a, b) { a++\nb }\n"), ["f"]);
}

#[test]
fn space_in_literals_counts() {
    let one = "const f = () => `a  b` + 'c  d' + /e  f/.source\nconst g = () => <p>a  b</p>\n";
    for (from, to, function) in [
        ("a  b`", "a b`", "f"),
        ("c  d", "c d", "f"),
        ("e  f", "e f", "f"),
        (">a  b<", ">a b<", "g"),
    ] {
        assert_eq!(differs(one, &one.replace(from, to)), [function], "{from}");
    }
}

#[test]
fn a_new_use_of_an_import_can_load_a_module() {
    let one = "import { a, b } from './a'\nexport const f = () => a()\n";
    assert_eq!(differs(one, &one.replace("=> a()", "=> b()")), ["*", "f"]);
    assert_eq!(differs(one, &one.replace("=> a()", "=> a(1)")), ["f"]);
    assert_eq!(differs(one, &one.replace("=> a()", "=> a() as b")), [""; 0]);
}

#[test]
fn the_first_element_of_jsx_loads_a_module() {
    let one = "export const f = () => 1\nexport const g = () => 2\n";
    assert_eq!(differs(one, &one.replace("=> 1", "=> <p/>")), ["*", "f"]);
}

#[test]
fn what_tools_read_in_comments_counts() {
    let one = "export const f = () => 1\n";
    let two = format!("// @vitest-environment jsdom\n{one}");
    assert_eq!(differs(one, &two), ["*"]);
}

#[test]
fn some_sources_are_one_piece() {
    for text in [
        "class C { @d() m() {} }",
        "@d class C {}",
        "class C { constructor(@d a) {} }",
        "function f() { return import.meta.glob('./*.ts', { eager: true }) }",
        "function f() { vi.mock('./a') }",
        "function f() { return import.meta }",
        "import a = require('a')",
        "function f( {",
        "function f() { (vi as any).mock('./a') }",
        "function f() { const a = 1; const a = 2 }",
        "function f() { break }",
        "function f() { x: { break y } }",
        "class C { m() { return this.#y } }",
        "function f() { return super.x() }",
        "function f() { return /(a/ }",
    ] {
        assert!(parse(text).whole.is_some(), "{text}");
    }
    for text in [
        "vi.mock('./a', () => ({ a: 1 }))",
        "const a = import.meta.url",
    ] {
        assert_eq!(parse(text).whole, None, "{text}");
    }
}

#[test]
fn a_name_of_a_parameter_is_no_use_of_an_import() {
    let one = "import { a } from './a'\nexport function f(a: number) { return a }\n";
    assert_eq!(differs(one, &one.replace("f(a:", "f(b:")), ["*", "f"]);
}

#[test]
fn what_a_function_imports_late_is_found_before() {
    let one = "export const f = () => 1\n";
    assert_eq!(
        differs(one, &one.replace("=> 1", "=> import('./b')")),
        ["*", "f"]
    );
}

#[test]
fn each_kind_of_jsx_has_an_import() {
    let one = "export const f = () => <p>1</p>\n";
    for other in ["<>1</>", "<p {...x}>1</p>"] {
        assert_eq!(
            differs(one, &one.replace("<p>1</p>", other)),
            ["*", "f"],
            "{other}"
        );
    }
}

#[test]
fn tools_look_for_words_in_all_of_the_text() {
    let one = "test.skip('later', () => { const s = 'x' })\n";
    for other in ["@vitest-environment happy-dom", "vi.mock(a)"] {
        let name = ["*", "()"];
        assert_eq!(
            differs(one, &one.replace("'x'", &format!("'{other}'"))),
            name,
            "{other}"
        );
    }
    assert_eq!(
        differs(one, &format!("/** @module-tag slow */{one}")),
        ["*"]
    );
}

#[test]
fn types_can_keep_statements_apart() {
    for (one, other) in [
        ("export const v = f as any\n(5)", "export const v = f\n(5)"),
        (
            "export const v = f\ninterface A {}\n(5)",
            "export const v = f\n(5)",
        ),
        (
            "class K { get: any\n foo() {} }",
            "class K { get\n foo() {} }",
        ),
    ] {
        assert_eq!(differs(one, other), ["*"], "{one}");
    }
}

#[test]
fn keys_that_look_like_other_names_have_none() {
    let source = parse(
        "const x = { f: () => 1 }, y = { f: () => 2 }, z = { 'f#2': () => 3, 'a.b': () => 4 }",
    );
    assert_eq!(names(&source), ["f", "f#2", "[]", "[]#2"]);
}

#[test]
fn other_files_are_none() {
    for path in ["a.json", "a.d.ts", "a.css", "a.vue", "ts"] {
        assert!(parsed(b"", path.as_bytes()).is_none(), "{path}");
    }
}

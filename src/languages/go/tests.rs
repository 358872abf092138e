use super::{GoFunction, GoSource};

fn parse(text: &str) -> GoSource {
    let source = GoSource::parse(text.as_bytes(), true);
    assert_eq!(source.whole, None, "{text}");
    source
}

fn named<'s>(source: &'s GoSource, name: &str) -> &'s GoFunction {
    let mut functions = source.functions.iter();
    functions.find(|function| function.name == name).unwrap()
}

const SOURCE: &str = "// Package p is one.
package p

import \"fmt\"

type T[K any] struct{ a, b int }

var v = map[string]int{\"a\": 1}

func F(n int) (m int) {
	for i := 0; i < n; i++ {
		m += v[\"a\"]
	}
	return
}

func (t *T[K]) M() string { return fmt.Sprint(t.a) }

func init() { v[\"b\"] = 2 }
";

/// What is equal after an edit: what is outside of functions and was there, `F`, `F`'s signature,
/// `T.M`.
fn same(from: &str, to: &str) -> [bool; 4] {
    assert_eq!(SOURCE.matches(from).count(), 1, "{from}");
    let (old, new) = (parse(SOURCE), parse(&SOURCE.replace(from, to)));
    let declared = old
        .declarations
        .iter()
        .all(|one| new.declarations.contains(one));
    let part = |name: &str| named(&old, name).digest == named(&new, name).digest;
    [
        old.skeleton == new.skeleton && declared,
        part("F"),
        named(&old, "F").signature == named(&new, "F").signature,
        part("T.M"),
    ]
}

#[test]
fn each_edit_changes_what_it_is_in() {
    let all = [true; 4];
    let outside = [false, true, true, true];
    let body = [true, false, true, true];
    let cases = [
        ("// Package p is one.", "// Package p.\n// More.", all),
        ("m += v", "m   += /* x */ v", all),
        ("\n\nfunc init", "\n\n// It begins.\n\n\nfunc init", all),
        ("m += v[\"a\"]", "m -= v[\"a\"]", body),
        ("i := 0; i < n; i++", "i := 0; i < n; ", body),
        (
            "v[\"a\"]\n\t}\n\treturn",
            "v[\"a\"]\n\t\treturn\n\t}\n\treturn",
            body,
        ),
        (
            "F(n int) (m int)",
            "F(n int) (m int64)",
            [true, false, false, true],
        ),
        ("M() string {", "M() any {", [true, true, true, false]),
        ("t.a)", "t.b)", [true, true, true, false]),
        ("a, b int", "b, a int", outside),
        ("[K any]", "[K comparable]", outside),
        ("\"a\": 1", "\"a\": 2", outside),
        ("\"fmt\"", "\"fmt\"\n\nimport _ \"os\"", outside),
        ("v[\"b\"] = 2", "v[\"b\"] = 3", outside),
        ("package p\n", "package p\n\nfunc G() {}\n", all),
        ("package p\n", "package p\n\nfunc len() {}\n", outside),
        // Packages tell of new methods.
        ("package p\n", "package p\n\nfunc (T[K]) G() {}\n", all),
        (
            "package p\n",
            "package p\n\nconst c = 1\n\ntype U struct{}\n\nvar w = U{}\n",
            all,
        ),
        ("package p\n", "package p\n\nvar w = F(1)\n", outside),
        ("package p\n", "package p\n\nvar w, x = 1, 2\n", outside),
        ("package p\n", "package p\n\ntype string int\n", outside),
        ("// Package p is one.", "//go:build linux\n", outside),
        (
            "func F",
            "//go:noinline\nfunc F",
            [true, false, false, true],
        ),
        ("func init", "func init() {}\n\nfunc init", outside),
    ];
    for (from, to, expected) in cases {
        assert_eq!(same(from, to), expected, "{from} -> {to}");
    }
}

#[test]
fn where_a_function_stands_is_of_no_importance() {
    let one = parse("package p\nfunc A() {}\nfunc B() {}\nfunc (T) C() {}\nfunc (T) D() {}\n");
    let other = parse("package p\nfunc (T) D() {}\nfunc B() {}\nfunc (T) C() {}\n\nfunc A() {}\n");
    assert_eq!(one.skeleton, other.skeleton);
    assert_eq!(named(&one, "A").lines, (2, 2));
    assert_eq!(named(&other, "A").lines, (6, 6));
    assert_eq!(named(&one, "T.C").name, "T.C");
}

#[test]
fn declarations_stand_by_themselves() {
    let of = |text: &str| {
        let source = parse(&format!("package p\n\n{text}\n"));
        let names = source.declarations.iter();
        let names: Vec<String> = names
            .map(|one| format!("{}{}", one.name, if one.is_type { "!" } else { "" }))
            .collect();
        (names.join(" "), source.declarations)
    };
    let told = |text: &str| of(text).0;
    assert_eq!(
        told("type (\n\tA struct{}\n\tB = A\n\tC[T any] []T\n)"),
        "A! B C!"
    );
    assert_eq!(
        told("var (\n\ta int\n\tb = \"x\" // text\n\tf = func() { g() }\n)"),
        "a b f"
    );
    assert_eq!(told("const (\n\ta = len(\"x\") + 1\n\tb = -a\n)"), "a b");
    for doing in [
        "var a = f()",
        "var a = <-c",
        "var a = b[1]",
        "var a = &T{}",
        "var _ I = T{}",
        "//go:embed x\nvar a string",
    ] {
        assert_eq!(told(doing), "", "{doing}");
    }
    // What stands before a constant can decide what it is.
    let first = |text: &str| of(text).1[0].digest;
    assert_ne!(
        first("const (\n\ta = iota\n\tb\n)"),
        first("const (\n\ta = iota\n\tc\n\tb\n)")
    );
    assert_eq!(
        first("const (\n\ta = 1\n\tb = 2\n)"),
        first("const (\n\ta = 1\n\tc = 3\n\tb = 2\n)")
    );
}

#[test]
fn what_comes_after_the_tests_is_told() {
    let of = |body: &str| {
        named(
            &parse(&format!(
                "package p\n\nfunc TestMain(m *testing.M) {{\n{body}\n}}\n"
            )),
            "TestMain",
        )
        .ends_with_tests
    };
    assert!(of("\tsetUp()\n\tos.Exit(m.Run())") && of("\tm.Run()"));
    for more in [
        "\tcode := m.Run()\n\tclose()\n\tos.Exit(code)",
        "\tdefer close()\n\tm.Run()",
        "\tgoleak.VerifyTestMain(m)",
        "\tif x {\n\t\tos.Exit(m.Run())\n\t}",
    ] {
        assert!(!of(more), "{more}");
    }
}

#[test]
fn names_are_told() {
    let source = parse(SOURCE);
    assert!(named(&source, "F").mentions.contains("v"));
    assert!(named(&source, "T.M").mentions.contains("Sprint"));
    assert!(source.mentions.contains("T") && !source.mentions.contains("F"));
}

#[test]
fn an_expected_output_counts() {
    let of = |body: &str| {
        let source = parse(&format!("package p\n\nfunc ExampleF() {{\n{body}\n}}\n"));
        let function = named(&source, "ExampleF").clone();
        (function.has_output, function.digest)
    };
    assert!(of("\tF()\n\t// Output: 4").0);
    assert!(of("\tF()\n\n\t// Unordered output:\n\t// 4\n\t// 5").0);
    assert!(of("\tF()\n\t/* output:\n4 */").0);
    assert!(!of("\t// Output: 4\n\tF()\n\t// that was it").0);
    assert!(!of("\tF()").0);
    assert_ne!(of("\tF()\n\t// Output: 4").1, of("\tF()\n\t// Output: 5").1);
}

#[test]
fn what_cgo_compiles_counts() {
    let of = |c: &str, comment: &str| {
        parse(&format!(
            "package p\n\n/*\n{c}\n*/\nimport \"C\"\n\nfunc F() {{\n\t// {comment}\n\tC.f()\n}}\n"
        ))
    };
    assert_ne!(of("int f();", "x").skeleton, of("long f();", "x").skeleton);
    assert_eq!(of("int f();", "x"), of("int f();", "y"));
}

#[test]
fn what_is_not_understood_is_one_piece() {
    let whole = |text: &str| GoSource::parse(text.as_bytes(), false);
    for text in [
        "package",
        "package p\nfunc {",
        "\0\0",
        "package p\n//line a.y:1\nfunc F() {}\n",
    ] {
        let source = whole(text);
        assert!(source.whole.is_some(), "{text}");
        assert!(source.functions.is_empty());
        assert_ne!(source.skeleton, whole(&format!("{text}\n")).skeleton);
    }
}

#[test]
fn deep_sources_are_no_trouble() {
    let deep = format!(
        "package p\n\nvar v = {}1{}\n",
        "(".repeat(50_000),
        ")".repeat(50_000)
    );
    let source = GoSource::parse(deep.as_bytes(), false);
    assert!(source.functions.is_empty());
}

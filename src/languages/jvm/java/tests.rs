//! What is part of a head, and what an edit can reach. Whether that is all, the
//! compiler tells: `tests/e2e/java_sources`.

use super::*;

fn read(source: &str) -> Outline {
    outline(source.as_bytes()).unwrap_or_else(|why| panic!("{why}: {source}"))
}

const CLASS: &str = "package p.q;
import a.B;
import java.util.*;
/** @author x */
@Deprecated(since = \"{;}\") public abstract class A<T extends B<? super T>> extends C implements D {
    static int count = 1, more[] = { 2, 3 };
    public final int size = 3;
    private java.util.Map<String, Integer> map = new HashMap<String, Integer>();
    static { count = 2; }
    public A(int x) throws E { this.x = x; }
    <X> X[] f(@Ann({1, 2}) int a, String... b) { return new X() { class In {} }; }
    abstract void g();
    private void h() { }
    enum Way { UP(1) { int x() { return 1; } }, DOWN(2); Way(int i) { } }
    record Pair(int a, int b) { Pair { check(a); } }
    @interface Ann { int[] value() default { 1 }; String NAME = \"n\"; }
    sealed interface S permits Pair { default int z() { return 1; } }
    /** no more */
}
class Second { }
";

#[test]
fn types_are_found_and_named() {
    let outline = read(CLASS);
    assert_eq!(outline.package, "p.q");
    assert_eq!(outline.tops, ["A", "Second"]);
    let types = ["A", "Ann", "Pair", "S", "Second", "Way"];
    let mut wanted: Vec<Word> = types.iter().map(|name| Word::of(name.as_bytes())).collect();
    wanted.sort();
    assert_eq!(outline.types, wanted);
    for class in ["p/q/A", "p/q/A$Way$1", "p/q/Second", "p/q/A$1In"] {
        assert!(outline.makes(class), "{class}");
    }
    for class in ["p/q/Way", "p/A", "A", "p/q/AB"] {
        assert!(!outline.makes(class), "{class}");
    }
}

#[test]
fn a_head_has_what_others_see() {
    let head = |from: &str, to: &str| {
        assert!(CLASS.contains(from), "{from}");
        let (was, is) = (read(CLASS), read(&CLASS.replace(from, to)));
        (was.whole == is.whole, was.head == is.head)
    };
    for (from, to) in [("@author x", "x"), ("public abstract", "public\n abstract")] {
        assert_eq!(head(from, to), (true, true), "{from}");
    }
    for (from, to) in [
        ("count = 1", "count = 4"),
        ("{ 2, 3 }", "{ 2, 3, 4 }"),
        ("{ count = 2; }", "{ count = 3; }"),
        ("this.x = x", "this.x = 2 * x"),
        ("new X() {", "new X(1) {"),
        ("private void h() {", "private int h(int a) { return 1;"),
        ("UP(1)", "UP(3)"),
        ("int x() { return 1; }", "int y() { return 1; }"),
        ("check(a)", "check(b)"),
        ("z() { return 1; }", "z() { return 2; }"),
        ("import a.B;", "import a.B; import a.Unused;"),
        (
            "private java.util.Map<String, Integer> map",
            "private Object map",
        ),
    ] {
        assert_eq!(head(from, to), (false, true), "{from}");
    }
    for (from, to) in [
        ("package p.q", "package p"),
        ("import a.B", "import b.B"),
        ("import java.util.*", "import java.net.*"),
        ("/** @author x */", "/** @deprecated */"),
        ("\"{;}\"", "\"{}\""),
        ("abstract class", "class"),
        ("<? super T>", "<? extends T>"),
        ("count = 1, more", "count = 1, others"),
        ("static int count", "static long count"),
        ("size = 3", "size = 4"),
        ("private void h()", "void h()"),
        ("private java.util.Map", "java.util.Map"),
        ("(int x) throws E", "(int x)"),
        ("@Ann({1, 2})", "@Ann({1, 3})"),
        ("UP(1) {", "UP(1), LEFT(1) {"),
        ("UP(1) { int x() { return 1; } }", "UP(1)"),
        ("record Pair(int a, int b)", "record Pair(int a, long b)"),
        ("default { 1 }", "default { 2 }"),
        ("NAME = \"n\"", "NAME = \"m\""),
        ("abstract void g();", "void g() { }"),
        ("class Second { }", "class Third { }"),
        ("sealed interface S permits Pair", "interface S"),
    ] {
        assert_eq!(head(from, to), (false, false), "{from}");
    }
}

#[test]
fn private_constants_count_where_others_are_made_of_them() {
    let head = |middle: &str| {
        let text =
            "class A { private static final int P = 1, Q = P; MIDDLE static final int S = R; }";
        let text = text.replace("MIDDLE", middle);
        (read(&text).head, read(&text.replace("P = 1", "P = 2")).head)
    };
    let (was, is) = head("private final int R = Q;");
    assert_ne!(was, is);
    let (was, is) = head("private final int R = 3;");
    assert_eq!(was, is);
}

#[test]
fn what_a_private_field_hides_is_found() {
    let same = |text: &'static str| (text, text);
    let field = (
        "class B extends A { }",
        "class B extends A { private int x; }",
    );
    let below = same("class C extends B { }");
    let uses = same("class U { int x; class D extends C { int f() { return x; } } }");
    let other = same("class V { int x; B b; }");
    let holds = same("class W { int y; class E extends C { int f() { return y; } } }");
    assert_eq!(
        affected_of(&[field, below, uses, holds, same("class X { int x; }")]),
        [0, 2]
    );
    // It has both names, and may mean it.
    assert_eq!(affected_of(&[field, other]), [0, 1]);
}

#[test]
fn what_is_not_understood_is_refused() {
    for source in [
        "module a.b { }",
        "class A {",
        "class A { void f() { }",
        "void main() { }",
        "class A { } }",
        "class",
        "enum E { 1 }",
    ] {
        assert!(outline(source.as_bytes()).is_err(), "{source}");
    }
    let name = "$".repeat(500_000);
    assert!(outline(format!("class {name} {{ }}").as_bytes()).is_err());
    assert!(read("@A(B.C) package p;").makes("p/package-info"));
    assert!(read("").tops.is_empty() && read("/** @deprecated */").tops.is_empty());
}

/// Sources, each as it was and as it is; the numbers of those that are affected.
fn affected_of(sources: &[(&str, &str)]) -> Vec<usize> {
    let sources: Vec<Source> = sources
        .iter()
        .map(|(was, is)| {
            let side = |text: &str| (!text.is_empty()).then(|| Rc::new(read(text)));
            let was_side = side(was);
            Source {
                is: if was == is {
                    was_side.clone()
                } else {
                    side(is)
                },
                was: was_side,
            }
        })
        .collect();
    let found = affected(&sources).into_iter().enumerate();
    found.filter_map(|(at, why)| why.map(|_| at)).collect()
}

#[test]
fn bodies_stay_where_they_are_and_heads_do_not() {
    let (user, of_user) = (
        "class U { int f() { return new A().g(); } }",
        "class V { void f() { new U(); } }",
    );
    let same = |text: &'static str| (text, text);
    let body = (
        "class A { int g() { return 1; } }",
        "class A { int g() { return 2; } }",
    );
    assert_eq!(affected_of(&[body, same(user), same(of_user)]), [0]);
    let head = (
        "class A { int g() { return 1; } }",
        "class A { long g() { return 2; } }",
    );
    assert_eq!(affected_of(&[head, same(user), same(of_user)]), [0, 1]);
    // The head of the user names it, so its users can see it.
    let holds = same("class U { A a; }");
    assert_eq!(affected_of(&[head, holds, same(of_user)]), [0, 1, 2]);
    // A class that comes, and one that goes.
    let new = ("", "class String { }");
    let uses = same("class W { String s; }");
    assert_eq!(
        affected_of(&[new, uses, same("class X { W w; }"), same("class Y { }")]),
        [0, 1, 2]
    );
    assert_eq!(
        affected_of(&[("class A { }", ""), same(user), same(of_user)]),
        [0, 1]
    );
}

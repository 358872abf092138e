//! The other parts of a class.

use super::harness::{Edit, check, edit};

const BODIES: &str = "\
-- Lambdas.java --
import java.util.function.*;
class Lambdas {
    int one() { IntSupplier s = () -> 1; return s.getAsInt(); }
    int two() { IntSupplier s = () -> { IntSupplier t = () -> 20; return t.getAsInt() + 2; }; return s.getAsInt(); }
    int three() { IntSupplier s = this::helper; return s.getAsInt(); }
    int helper() { return 3; }
    String text(int n) { return \"n is \" + n; }
    static final Supplier<String> KEPT = () -> \"kept\";
    // end of Lambdas
}
-- Anonymous.java --
class Anonymous {
    private int secret = 4;
    int run() { return new Object() { int f() { return secret; } }.f(); }
    int plain() { return 5; }
    // end of Anonymous
    static class Nested { int g() { return new Anonymous().secret; } }
}
-- Kind.java --
enum Kind {
    A, B;
    int weight() { return switch (this) { case A -> 1; case B -> 2; }; }
    // end of Kind
}
-- Point.java --
record Point(int x, int y) {
    int sum() { return x + y; }
    // end of Point
}
-- Shape.java --
sealed interface Shape permits Circle { }
-- Circle.java --
final class Circle implements Shape { }
-- Limits.java --
class Limits {
    static final int MOST = 7;
    static final Integer BOXED = 8;
    int own;
    { own = 1; }
    Limits() { own++; }
    synchronized int get() { return own; }
    // end of Limits
}
-- TOne.java --
class TOne { Object test() { return new Lambdas().one(); } }
-- TTwo.java --
class TTwo { Object test() { return new Lambdas().two(); } }
-- TThree.java --
class TThree { Object test() { return new Lambdas().three(); } }
-- TText.java --
class TText { Object test() { return new Lambdas().text(1); } }
-- TKept.java --
class TKept { Object test() { return Lambdas.KEPT.get(); } }
-- TAnonymous.java --
class TAnonymous { Object test() { return new Anonymous().run(); } }
-- TNested.java --
class TNested { Object test() { return new Anonymous.Nested().g(); } }
-- TPlain.java --
class TPlain { Object test() { return new Anonymous().plain(); } }
-- TKind.java --
class TKind { Object test() { return Kind.B.weight(); } }
-- TPoint.java --
class TPoint { Object test() { return new Point(1, 2).sum(); } }
-- TText2.java --
class TText2 { Object test() { return new Point(1, 2).toString(); } }
-- TShape.java --
class TShape { Object test() { Shape s = new Circle(); return s.getClass().getName(); } }
-- TConstant.java --
class TConstant { Object test() { return Limits.MOST; } }
-- TBoxed.java --
class TBoxed { Object test() { return Limits.BOXED; } }
-- TInit.java --
class TInit { Object test() { return new Limits().get(); } }
-- TName.java --
class TName { Object test() { return Anonymous.Nested.class.getSimpleName() + Limits.class.getModifiers(); } }
";

const TESTS: [&str; 16] = [
    "TOne",
    "TTwo",
    "TThree",
    "TText",
    "TKept",
    "TAnonymous",
    "TNested",
    "TPlain",
    "TKind",
    "TPoint",
    "TText2",
    "TShape",
    "TConstant",
    "TBoxed",
    "TInit",
    "TName",
];

/// All tests that initialise the class with lambda expressions.
const LAMBDAS: &[&str] = &["TKept", "TOne", "TText", "TThree", "TTwo"];

fn edits_of_bodies() -> Vec<Edit> {
    vec![
        edit("a lambda's body", &[("() -> 1;", "() -> 11;")], &["TOne"]),
        edit(
            "a lambda within one",
            &[("() -> 20", "() -> 21")],
            &["TTwo"],
        ),
        edit(
            "a lambda in front of others",
            &[(
                "class Lambdas {",
                "class Lambdas {\n    Object zero() { Runnable r = () -> { }; return r; }",
            )],
            &[],
        ),
        edit(
            "a method that is handed on",
            &[("return 3;", "return 33;")],
            &["TThree"],
        ),
        edit("text that is joined", &[("n is ", "n = ")], &["TText"]),
        edit(
            "a lambda that a static field holds",
            &[("\"kept\"", "\"held\"")],
            LAMBDAS,
        ),
        edit(
            "an anonymous class",
            &[("return secret;", "return secret + 1;")],
            &["TAnonymous"],
        ),
        edit(
            "one more anonymous class behind it",
            &[(
                "// end of Anonymous",
                "Object more() { return new Object() { }; }",
            )],
            &[],
        ),
        edit(
            "a private field's value",
            &[("secret = 4", "secret = 44")],
            &["TAnonymous", "TNested", "TPlain"],
        ),
        edit(
            "a method beside",
            &[("return 5;", "return 55;")],
            &["TPlain"],
        ),
        edit(
            "a method of an enum",
            &[("case B -> 2", "case B -> 22")],
            &["TKind"],
        ),
        edit(
            "one more of an enum",
            &[
                ("A, B;", "A, C, B;"),
                ("case B -> 2;", "case B -> 2; case C -> 3;"),
            ],
            &["TKind"],
        ),
        edit(
            "a method of a record",
            &[("return x + y", "return x - y")],
            // The generated text makes the JDK inspect the record.
            &["TPoint", "TText2"],
        ),
        edit(
            "one more of a record",
            &[(
                "record Point(int x, int y) {",
                "record Point(int x, int y, int z) {\n    Point(int x, int y) { this(x, y, 0); }",
            )],
            &["TPoint", "TText2"],
        ),
        edit(
            "a record's text",
            &[(
                "// end of Point",
                "public String toString() { return \"point\"; }",
            )],
            &["TPoint", "TText2"],
        ),
        edit(
            "one more that is permitted",
            &[
                ("permits Circle { }", "permits Circle, Circle2 { }"),
                (
                    "final class Circle implements Shape { }",
                    "final class Circle implements Shape { }\nfinal class Circle2 implements Shape { }",
                ),
            ],
            &["TShape"],
        ),
    ]
}

fn edits_of_fields_and_flags() -> Vec<Edit> {
    vec![
        edit("a constant", &[("MOST = 7", "MOST = 77")], &["TConstant"]),
        edit(
            "a static field",
            &[("BOXED = 8", "BOXED = 88")],
            &["TBoxed", "TInit", "TName"],
        ),
        edit(
            "an initialiser of objects",
            &[("{ own = 1; }", "{ own = 5; }")],
            &["TInit"],
        ),
        edit("a constructor", &[("own++", "own--")], &["TInit"]),
        edit(
            "not synchronised any more",
            &[("synchronized int", "int")],
            &["TInit"],
        ),
        edit(
            "an initialiser of the class",
            &[(
                "// end of Limits",
                "static { System.setProperty(\"limits\", \"1\"); }",
            )],
            &["TBoxed", "TInit", "TName"],
        ),
        edit(
            "the flags of a class",
            &[("class Limits {", "final class Limits {")],
            &["TBoxed", "TInit", "TName"],
        ),
        edit(
            "the flags of a nested class",
            &[
                ("static class Nested", "private static class Nested"),
                (
                    "class TNested { Object test() { return new Anonymous.Nested().g(); } }",
                    "class TNested { Object test() { return 4; } }",
                ),
                ("Anonymous.Nested.class.getSimpleName()", "\"Nested\""),
            ],
            &["TName", "TNested"],
        ),
        edit(
            "a static nested method",
            &[("new Anonymous().secret", "-new Anonymous().secret")],
            // Asking a class for its name inspects its members.
            &["TName", "TNested"],
        ),
    ]
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn bodies_and_shapes() {
    let mut edits = edits_of_bodies();
    edits.extend(edits_of_fields_and_flags());
    check(BODIES, &TESTS, &edits);
}

//! Objects that earlier tests made.

use super::harness::{check, edit};

const PROGRAM: &str = "\
-- Thing.java --
class Thing {
    int n;
    Thing() { n = 1; }
    int get() { return n; }
    void unused() { n = 9; }
}
-- Factory.java --
class Factory {
    static Thing make() { return new Thing(); }
    static int other() { return 3; }
}
-- Holder.java --
class Holder {
    static Thing thing;
    static Thing get() { if (thing == null) { thing = Factory.make(); } return thing; }
}
-- Kept.java --
class Kept {
    String text;
    Kept() { text = \"kept\"; }
    public String toString() { return text; }
    void setAside() { System.getProperties().put(\"kept\", this); }
    static void looked() { System.getProperties().put(\"methods\", Seen.class.getDeclaredMethods()); }
}
-- Seen.java --
class Seen {
    static int f() { return 1; }
    // end of Seen
}
-- A.java --
class A { Object test() { return Holder.get().get(); } }
-- AKept.java --
class AKept { Object test() { Kept.looked(); new Kept().setAside(); return 1; } }
-- B.java --
class B { Object test() { return Holder.get().get(); } }
-- BKept.java --
class BKept { Object test() { return System.getProperties().get(\"kept\").toString(); } }
-- BSeen.java --
class BSeen { Object test() { return Seen.f() + ((Object[]) System.getProperties().get(\"methods\")).length; } }
-- BOther.java --
class BOther { Object test() { return Factory.other(); } }
";

#[test]
fn what_another_test_made_counts() {
    let edits = [
        edit(
            "the factory",
            &[(
                "return new Thing();",
                "Thing t = new Thing(); t.n = 2; return t;",
            )],
            &["A", "B"],
        ),
        edit("the constructor", &[("n = 1;", "n = 7;")], &["A", "B"]),
        edit("what nobody runs", &[("n = 9;", "n = 8;")], &[]),
        edit(
            "the factory's other method",
            &[("return 3;", "return 33;")],
            &["BOther"],
        ),
        edit(
            "who made what is kept among the properties",
            &[("text = \"kept\"", "text = \"KEPT\"")],
            // A test that reads all properties depends on the class whose code set some.
            &["AKept", "BKept", "BSeen"],
        ),
        edit(
            "who was looked at in another test",
            &[("// end of Seen", "static int g() { return 1; }")],
            &["AKept", "BKept", "BSeen"],
        ),
    ];
    check(
        PROGRAM,
        &["A", "AKept", "B", "BKept", "BSeen", "BOther"],
        &edits,
    );
}

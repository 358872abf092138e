//! The object on which a method is called decides which method runs.

use super::harness::{check, edit};

/// Figure 3.1 of Gligoric's thesis; each test method is a test.
const FIGURE: &str = "\
-- C.java --
class C {
    int m() { return 1; }
    int p() { return 0; }
    // end of C
}
-- D.java --
class D extends C {
    @Override int p() { return 4; }
    // end of D
}
-- T1.java --
class T1 { Object test() { return new C().m(); } }
-- T2.java --
class T2 { Object test() { return new D().m(); } }
-- T3.java --
class T3 { Object test() { return new C().p(); } }
-- T4.java --
class T4 { Object test() { return new D().p(); } }
";

#[test]
fn figure_3_1() {
    let edits = [
        edit("the body of D.p", &[("return 4", "return 5")], &["T4"]),
        edit(
            "D.m is added",
            &[("// end of D", "@Override int m() { return 2; }")],
            &["T2"],
        ),
        edit(
            "the body of C.m",
            &[("return 1", "return 3")],
            &["T1", "T2"],
        ),
        edit("the body of C.p", &[("return 0", "return 7")], &["T3"]),
        edit(
            "D.p is removed",
            &[("@Override int p() { return 4; }", "")],
            &["T4"],
        ),
        edit(
            "D.q is added, which nothing names",
            &[("// end of D", "int q() { return 2; }")],
            &[],
        ),
        edit(
            "D.m(int) is added",
            &[("// end of D", "int m(int n) { return n; }")],
            &[],
        ),
        edit(
            "a private method",
            &[("// end of C", "private int r() { return 2; }")],
            &[],
        ),
        edit(
            "a static method",
            &[("// end of C", "static int s() { return 2; }")],
            &[],
        ),
        edit("a field without a value", &[("// end of D", "int x;")], &[]),
        edit(
            "a field with a value",
            &[("// end of D", "int x = p();")],
            &["T2", "T4"],
        ),
        edit(
            "a static field with a value",
            &[("// end of D", "static int x = new C().p();")],
            &["T2", "T4"],
        ),
        edit(
            "a constant",
            &[("// end of C", "static final int X = 3;")],
            &[],
        ),
        edit(
            "an interface",
            &[(
                "class D extends C",
                "class D extends C implements Cloneable",
            )],
            &["T2", "T4"],
        ),
        edit(
            "a comment, and another order",
            &[(
                "int m() { return 1; }\n    int p() { return 0; }",
                "int p() { return 0; }\n\n    /** m */\n    int m() { return 1; }",
            )],
            &[],
        ),
    ];
    check(FIGURE, &["T1", "T2", "T3", "T4"], &edits);
}

const INTERFACES: &str = "\
-- I.java --
interface I {
    default int d() { return 1; }
    int a();
    // end of I
}
-- J.java --
interface J extends I {
    // end of J
}
-- Base.java --
class Base {
    static int s() { return 1; }
    int x = 5;
    static int y = 6;
    // end of Base
}
-- Impl.java --
class Impl extends Base implements J {
    public int a() { return 2; }
    // end of Impl
}
-- Other.java --
class Other implements I {
    public int a() { return 3; }
    // end of Other
}
-- TDefault.java --
class TDefault { Object test() { I i = new Impl(); return i.d(); } }
-- TAbstract.java --
class TAbstract { Object test() { I i = new Impl(); return i.a(); } }
-- TOther.java --
class TOther { Object test() { return new Other().d(); } }
-- TLambda.java --
class TLambda { Object test() { J j = () -> 4; return j.d() + j.a(); } }
-- TStatic.java --
class TStatic { Object test() { return Impl.s(); } }
-- TField.java --
class TField { Object test() { return new Impl().x + Impl.y; } }
-- TSwitch.java --
class TSwitch {
    Object test() { Object o = new Impl(); return o instanceof Comparable; }
}
";

#[test]
fn interfaces_and_what_is_inherited() {
    let all = [
        "TAbstract",
        "TDefault",
        "TField",
        "TLambda",
        "TOther",
        "TStatic",
        "TSwitch",
    ];
    let edits = [
        edit(
            "a default body",
            &[("int d() { return 1; }", "int d() { return 9; }")],
            &["TDefault", "TLambda", "TOther"],
        ),
        edit(
            "the class overrides a default",
            &[("// end of Impl", "public int d() { return 7; }")],
            &["TDefault"],
        ),
        edit(
            "a class above overrides it",
            &[("// end of Base", "public int d() { return 7; }")],
            &["TDefault"],
        ),
        edit(
            "an interface between overrides it",
            &[("// end of J", "default int d() { return 8; }")],
            &["TDefault", "TLambda"],
        ),
        edit(
            "a default that nothing calls",
            &[("// end of J", "default int e() { return 8; }")],
            &[],
        ),
        edit(
            "another default",
            &[("// end of I\n", "default int e() { return 8; }\n")],
            &[],
        ),
        edit(
            "an implementation",
            &[("return 2;", "return 22;")],
            &["TAbstract"],
        ),
        edit(
            "a static method is hidden",
            &[("// end of Impl", "static int s() { return 2; }")],
            &["TStatic"],
        ),
        edit(
            "a static method's body",
            &[("int s() { return 1; }", "int s() { return 3; }")],
            &["TStatic"],
        ),
        edit(
            "a field is hidden",
            &[("// end of Impl", "int x = 50;")],
            &["TAbstract", "TDefault", "TField", "TSwitch"],
        ),
        edit(
            "a static field is hidden",
            &[("// end of Impl", "static int y;")],
            &["TField"],
        ),
        edit(
            "the value of a field",
            &[("int x = 5", "int x = 55")],
            &["TAbstract", "TDefault", "TField", "TSwitch"],
        ),
        edit(
            "the value of a static field",
            &[("int y = 6", "int y = 66")],
            &["TAbstract", "TDefault", "TField", "TStatic", "TSwitch"],
        ),
        edit(
            "the class becomes comparable",
            &[(
                "class Impl extends Base implements J {",
                "class Impl extends Base implements J, Comparable<Impl> {\n public int compareTo(Impl o) { return 0; }",
            )],
            &["TAbstract", "TDefault", "TField", "TStatic", "TSwitch"],
        ),
        edit(
            "another class above",
            &[(
                "class Other implements I",
                "class Other extends Base implements I",
            )],
            &["TOther"],
        ),
    ];
    check(INTERFACES, &all, &edits);
}

const FOREIGN: &str = "\
-- Key.java --
class Key {
    final int n;
    Key(int n) { this.n = n; }
    // end of Key
}
-- Names.java --
class Names extends java.util.ArrayList<String> {
    // end of Names
}
-- Task.java --
class Task extends Thread {
    public void run() { }
    // end of Task
}
-- Trouble.java --
class Trouble extends RuntimeException {
    Trouble(String what) { super(what); }
    // end of Trouble
}
-- TMap.java --
class TMap {
    Object test() {
        var set = new java.util.HashSet<Key>();
        set.add(new Key(1)); set.add(new Key(1));
        return set.size();
    }
}
-- TList.java --
class TList {
    Object test() { var all = new Names(); all.addAll(java.util.List.of(\"a\")); all.add(\"b\"); return all.size(); }
}
-- TTask.java --
class TTask {
    Object test() throws Exception { Task t = new Task(); t.start(); t.join(); return t.getPriority(); }
}
-- TTrouble.java --
class TTrouble { Object test() { throw new Trouble(\"x\"); } }
";

#[test]
fn what_the_jdk_calls_by_itself() {
    let all = ["TList", "TMap", "TTask", "TTrouble"];
    let edits = [
        edit(
            "equals and hashCode",
            &[(
                "// end of Key",
                "public boolean equals(Object o) { return true; } public int hashCode() { return 1; }",
            )],
            &["TMap"],
        ),
        edit(
            "toString of who is printed",
            &[(
                "// end of Trouble",
                "public String toString() { return \"t\"; }",
            )],
            &["TTrouble"],
        ),
        edit(
            "getMessage",
            &[(
                "// end of Trouble",
                "public String getMessage() { return \"t\"; }",
            )],
            &["TTrouble"],
        ),
        edit(
            "a method that the library does not know",
            &[("// end of Trouble", "String detail() { return \"t\"; }")],
            &[],
        ),
        edit(
            "size of a list",
            &[("// end of Names", "public int size() { return 7; }")],
            &["TList"],
        ),
        edit(
            "another method of a list",
            &[("// end of Names", "public int length() { return 7; }")],
            &[],
        ),
        edit(
            "an overload, and no override",
            &[(
                "// end of Names",
                "public boolean add(Object o, Object p) { return true; }",
            )],
            &[],
        ),
        edit(
            "a method that a thread calls",
            &[(
                "public void run() { }",
                "public void run() { setPriority(3); }",
            )],
            &["TTask"],
        ),
        edit(
            "a final method of the library is no matter",
            &[("// end of Task", "void joined() { }")],
            &[],
        ),
        edit(
            "finalize",
            &[("// end of Key", "protected void finalize() { }")],
            &["TMap"],
        ),
    ];
    check(FOREIGN, &all, &edits);
}

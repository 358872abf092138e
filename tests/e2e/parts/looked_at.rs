//! An inspection of a class's members, annotations or file depends on all of it.

use super::harness::{check, edit};

const PROGRAM: &str = "\
-- Mark.java --
import java.lang.annotation.*;
@Retention(RetentionPolicy.RUNTIME) @interface Mark { String value() default \"none\"; }
-- Bean.java --
@Mark class Bean extends BeanBase {
    int a() { return 1; }
    // end of Bean
}
-- BeanBase.java --
class BeanBase {
    public int inherited() { return 1; }
    // end of BeanBase
}
-- Saved.java --
class Saved implements java.io.Serializable {
    int n = 3;
    int get() { return n; }
    // end of Saved
}
-- Plugin.java --
public class Plugin implements java.util.function.IntSupplier {
    public int getAsInt() { return 6; }
    // end of Plugin
}
-- Other.java --
public class Other implements java.util.function.IntSupplier {
    public int getAsInt() { return 7; }
}
-- META-INF/services/java.util.function.IntSupplier --
Plugin
-- Api.java --
interface Api {
    int call();
    // end of Api
}
-- Handle.java --
class Handle {
    static int f() { return 8; }
    static int g() { return 80; }
    // end of Handle
}
-- ByName.java --
public class ByName {
    public String toString() { return \"by name\"; }
    // end of ByName
}
-- Bare.java --
class Bare { }
-- Colour.java --
enum Colour {
    RED;
    int code() { return 1; }
    // end of Colour
}
-- Read.java --
class Read {
    int unused() { return 1; }
    // end of Read
}
-- TDeclared.java --
class TDeclared { Object test() { return Bean.class.getDeclaredMethods().length; } }
-- TGet.java --
class TGet {
    Object test() {
        long count = java.util.Arrays.stream(Bean.class.getMethods()).filter(m -> m.getDeclaringClass() != Object.class).count();
        return count;
    }
}
-- TAnnotation.java --
class TAnnotation { Object test() { return Bean.class.getAnnotation(Mark.class).value(); } }
-- TSave.java --
class TSave {
    Object test() throws Exception { return java.io.ObjectStreamClass.lookup(Saved.class).getSerialVersionUID(); }
}
-- TRestore.java --
import java.io.*;
class TRestore {
    Object test() throws Exception {
        var bytes = new ByteArrayOutputStream();
        new ObjectOutputStream(bytes).writeObject(new Saved());
        var in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()));
        return ((Saved) in.readObject()).get();
    }
}
-- TService.java --
class TService {
    Object test() {
        int sum = 0;
        for (var one : java.util.ServiceLoader.load(java.util.function.IntSupplier.class)) { sum += one.getAsInt(); }
        return sum;
    }
}
-- TProxy.java --
import java.lang.reflect.*;
class TProxy {
    Object test() {
        Api api = (Api) Proxy.newProxyInstance(TProxy.class.getClassLoader(), new Class<?>[] {Api.class}, (p, m, a) -> 5);
        return api.call();
    }
}
-- THandle.java --
import java.lang.invoke.*;
class THandle {
    Object test() throws Throwable {
        var handle = MethodHandles.lookup().findStatic(Handle.class, \"f\", MethodType.methodType(int.class));
        return (int) handle.invoke();
    }
}
-- TByName.java --
class TByName { Object test() throws Exception { return Class.forName(\"By\" + \"Name\").getConstructor().newInstance().toString(); } }
-- TForName.java --
class TForName { Object test() throws Exception { return Runnable.class.isAssignableFrom(Class.forName(\"Ba\" + \"re\")); } }
-- TColour.java --
class TColour { Object test() { return new java.util.EnumMap<Colour, String>(Colour.class).size() + Colour.valueOf(\"RED\").code(); } }
-- TRead.java --
class TRead {
    Object test() throws Exception {
        try (var in = TRead.class.getResourceAsStream(\"Read.class\")) { return in.readAllBytes().length; }
    }
}
-- TUses.java --
class TUses { Object test() { return new Handle().g() + new Read().unused(); } }
";

const TESTS: [&str; 13] = [
    "TDeclared",
    "TGet",
    "TAnnotation",
    "TSave",
    "TRestore",
    "TService",
    "TProxy",
    "THandle",
    "TByName",
    "TForName",
    "TColour",
    "TRead",
    "TUses",
];

const OF_BEAN: &[&str] = &["TAnnotation", "TDeclared", "TGet"];

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn reflection_and_the_like() {
    let edits = [
        edit(
            "a method among those declared",
            &[("// end of Bean\n", "void more() { }\n")],
            OF_BEAN,
        ),
        edit(
            "a field among those declared",
            &[("// end of Bean\n", "int more;\n")],
            OF_BEAN,
        ),
        edit(
            "a public method of the class above",
            &[("// end of BeanBase", "public void more() { }")],
            // One test inspects it, and all count it whole.
            OF_BEAN,
        ),
        edit(
            "an annotation's value",
            &[("@Mark class", "@Mark(\"some\") class")],
            OF_BEAN,
        ),
        edit(
            "an annotation's default",
            &[("default \"none\"", "default \"all\"")],
            &["TAnnotation"],
        ),
        edit(
            "a method of who is saved",
            &[("// end of Saved", "public void more() { }")],
            &["TRestore", "TSave"],
        ),
        edit(
            "a field of who is saved",
            &[("// end of Saved", "int more;")],
            &["TRestore", "TSave"],
        ),
        edit(
            "a service's body",
            &[("return 6;", "return 66;")],
            &["TService"],
        ),
        edit(
            "a method of a service",
            &[("// end of Plugin", "public void more() { }")],
            &["TService"],
        ),
        edit(
            "a method of an interface behind a proxy",
            &[("// end of Api", "default void more() { }")],
            &["TProxy"],
        ),
        edit(
            "what a handle names",
            &[("return 8;", "return 88;")],
            &["THandle", "TUses"],
        ),
        edit(
            "who is got at by name",
            &[("\"by name\"", "\"BY NAME\"")],
            &["TByName"],
        ),
        edit(
            "a method of who is got at by name",
            &[("// end of ByName", "public void more() { }")],
            &["TByName"],
        ),
        edit(
            "what a class is of which nothing runs",
            &[("class Bare", "abstract class Bare implements Runnable")],
            &["TForName"],
        ),
        edit(
            "an enum whose values are looked up",
            &[("// end of Colour", "void more() { }")],
            &["TColour"],
        ),
        edit(
            "a class file that is read",
            &[(
                "int unused() { return 1; }",
                "int unused() { return 1000; }",
            )],
            &["TRead", "TUses"],
        ),
    ];
    check(PROGRAM, &TESTS, &edits);
}

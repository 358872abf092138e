//! Classes that matter though none of their code runs: element classes of arrays, and classes
//! in the types of other classes' members.

use super::harness::{check, edit};

const PROGRAM: &str = "\
-- Marker.java --
interface Marker { }
-- Super.java --
interface Super { }
-- Thing.java --
class Thing implements Super {
    // end of Thing
}
-- Has.java --
class Has {
    Thing thing() { return null; }
    Thing[][] things;
    Has(Thing thing) { }
    class Inner { }
    // end of Has
}
-- Of.java --
class Of {
    @SafeVarargs static <T> T[] all(T... all) { return all; }
}
-- TInstance.java --
class TInstance { Object test() { Object all = new Thing[0]; return all instanceof Marker[]; } }
-- TCast.java --
class TCast {
    Object test() {
        Object all = new Thing[0];
        try { return ((Marker[]) all).length; } catch (ClassCastException no) { return \"no\"; }
    }
}
-- TIsInstance.java --
class TIsInstance { Object test() { return Marker[].class.isInstance(new Thing[0]); } }
-- TClassCast.java --
class TClassCast {
    Object test() {
        try { return Marker[][].class.cast(new Thing[0][]).length; } catch (ClassCastException no) { return \"no\"; }
    }
}
-- TMulti.java --
class TMulti { Object test() { Object all = new Thing[1][2]; return all instanceof Marker[][]; } }
-- TStore.java --
class TStore {
    Object test() {
        Object[] all = new Marker[1][];
        try { all[0] = new Thing[0]; return \"stored\"; } catch (ArrayStoreException no) { return \"no\"; }
    }
}
-- TVarargs.java --
class TVarargs { Object test() { Object all = Of.all((Thing) null); return all instanceof Marker[]; } }
-- TNewInstance.java --
class TNewInstance { Object test() { return java.lang.reflect.Array.newInstance(Thing.class, 0) instanceof Marker[]; } }
-- TComponent.java --
class TComponent { Object test() { return Marker.class.isAssignableFrom(new Thing[0].getClass().getComponentType()); } }
-- TToArray.java --
class TToArray { Object test() { Object all = new java.util.ArrayList<Thing>().toArray(new Thing[0]); return all instanceof Marker[]; } }
-- TConstructor.java --
class TConstructor {
    Object test() { java.util.function.IntFunction<Thing[]> make = Thing[]::new; return (Object) make.apply(1) instanceof Marker[]; }
}
-- TCopy.java --
class TCopy {
    Object test() {
        Object[] from = { new Thing[0] };
        try { return java.util.Arrays.copyOf(from, 1, Marker[][].class).length; } catch (ArrayStoreException no) { return \"no\"; }
    }
}
-- THandle.java --
import java.lang.invoke.*;
class THandle {
    Object test() throws Throwable {
        Object all = MethodHandles.arrayConstructor(Thing[].class).invoke(1);
        return all instanceof Marker[];
    }
}
-- TReturns.java --
class TReturns {
    Object test() throws Exception { return Marker.class.isAssignableFrom(Has.class.getDeclaredMethod(\"thing\").getReturnType()); }
}
-- TField.java --
class TField {
    Object test() throws Exception { return Marker[][].class.isAssignableFrom(Has.class.getDeclaredField(\"things\").getType()); }
}
-- TNested.java --
class TNested { Object test() { return Marker.class.isAssignableFrom(Has.class.getDeclaredClasses()[0]); } }
-- TOther.java --
class TOther { Object test() { return new Marker[0].length; } }
";

const TESTS: [&str; 17] = [
    "TInstance",
    "TCast",
    "TIsInstance",
    "TClassCast",
    "TMulti",
    "TStore",
    "TVarargs",
    "TNewInstance",
    "TComponent",
    "TToArray",
    "TConstructor",
    "TCopy",
    "THandle",
    "TReturns",
    "TField",
    "TNested",
    "TOther",
];

const WITH_THING: &[&str] = &[
    "TCast",
    "TClassCast",
    "TComponent",
    "TConstructor",
    "TCopy",
    "TField",
    "THandle",
    "TInstance",
    "TIsInstance",
    "TMulti",
    "TNested",
    "TNewInstance",
    "TReturns",
    "TStore",
    "TToArray",
    "TVarargs",
];

#[test]
fn what_a_class_is_of_which_nothing_runs() {
    let edits = [
        edit(
            "what it implements",
            &[(
                "class Thing implements Super",
                "class Thing implements Super, Marker",
            )],
            WITH_THING,
        ),
        edit(
            "what its interface extends",
            &[("interface Super { }", "interface Super extends Marker { }")],
            WITH_THING,
        ),
        edit(
            "what a nested class implements",
            &[("class Inner { }", "class Inner implements Marker { }")],
            &["TNested"],
        ),
        edit(
            "a method that nobody calls",
            &[("// end of Thing", "void more() { }")],
            &[],
        ),
    ];
    check(PROGRAM, &TESTS, &edits);
}

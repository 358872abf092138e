//! The cases of Ekstazi's own integration tests as one project: the subject of each, and which
//! tests run after its edit. `docs/jvm.md` compares the answers.

use super::harness::*;

const TESTS: &str = "\
-- src/main/java/simple/C.java --
package simple;
public class C { public int m(int a, int b) { return a + b; } }
-- src/test/java/simple/SimpleTest.java --
package simple;
public class SimpleTest {
    private C c;
    @org.junit.Before public void setUp() { c = new C(); }
    @org.junit.Test public void test() { org.junit.Assert.assertTrue(c.m(5, 4) > 0); }
}
-- src/main/java/above/Above.java --
package above;
public class Above {
}
-- src/main/java/above/C.java --
package above;
public class C extends Above { public int sum(int a, int b) { return a + b; } }
-- src/test/java/above/AboveTest.java --
package above;
public class AboveTest {
    private final C c = new C();
    @org.junit.Test public void test() { org.junit.Assert.assertEquals(9, c.sum(5, 4)); }
}
-- src/main/java/parameters/Above.java --
package parameters;
public class Above {
}
-- src/main/java/parameters/C.java --
package parameters;
public class C extends Above { public int sum(int a, int b) { return a + b; } }
-- src/test/java/parameters/ParametersTest.java --
package parameters;
import java.util.*;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;
@RunWith(Parameterized.class)
public class ParametersTest {
    @Parameterized.Parameters public static Collection<Object[]> data() {
        return Arrays.asList(new Object[][] {{\"A\"}, {\"B\"}});
    }
    public ParametersTest(String one) { }
    @org.junit.Test public void test() { org.junit.Assert.assertEquals(9, new C().sum(5, 4)); }
}
-- src/main/java/enclosed/C.java --
package enclosed;
public class C { public static int m() { return 42; } }
-- src/test/java/enclosed/EnclosedTest.java --
package enclosed;
import org.junit.experimental.runners.Enclosed;
import org.junit.runner.RunWith;
@RunWith(Enclosed.class)
public class EnclosedTest {
    public static class A { @org.junit.Test public void test() { org.junit.Assert.assertEquals(42, C.m()); } }
    public static class B { @org.junit.Test public void test() { org.junit.Assert.assertEquals(42, C.m()); } }
}
-- src/main/java/own/C.java --
package own;
public class C { public int m(int a, int b) { return a + b; } }
-- src/test/java/own/OwnRunner.java --
package own;
import org.junit.runners.BlockJUnit4ClassRunner;
public class OwnRunner extends BlockJUnit4ClassRunner {
    public OwnRunner(Class<?> test) throws Exception { super(test); }
}
-- src/test/java/own/OwnRunnerTest.java --
package own;
import org.junit.runner.RunWith;
@RunWith(OwnRunner.class)
public class OwnRunnerTest {
    @org.junit.Test public void test() { new C().m(3, 3); }
}
-- src/main/java/suite/C.java --
package suite;
public class C { public int m(int a, int b) { return a + b; } }
-- src/test/java/suite/One.java --
package suite;
public class One { @org.junit.Test public void test() { new C().m(3, 3); } }
-- src/test/java/suite/Two.java --
package suite;
public class Two { @org.junit.Test public void test() { } }
-- src/test/java/suite/SuiteTest.java --
package suite;
import org.junit.runner.RunWith;
import org.junit.runners.Suite;
@RunWith(Suite.class)
@Suite.SuiteClasses({One.class, Two.class})
public class SuiteTest {
}
-- notes.txt --
some notes
-- src/test/java/files/FileTest.java --
package files;
import java.io.*;
public class FileTest {
    @org.junit.Test public void test() throws Exception {
        try (BufferedReader in = new BufferedReader(new FileReader(new File(\"notes.txt\")))) { in.readLine(); }
    }
}
-- src/main/java/unloaded/C.java --
package unloaded;
public class C { public int m(int a, int b) { return a + b; } }
-- src/test/java/unloaded/UnloadedTest.java --
package unloaded;
import java.lang.ref.WeakReference;
import java.net.*;
public class UnloadedTest {
    @org.junit.Test public void test() throws Exception {
        URL url = new URL(C.class.getResource(\"C.class\"), \"..\");
        ClassLoader loader = new URLClassLoader(new URL[] {url}, null);
        Class<?> found = loader.loadClass(\"unloaded.C\");
        org.junit.Assert.assertEquals(1, found.getDeclaredMethods().length);
        WeakReference<Class<?>> kept = new WeakReference<>(found);
        loader = null;
        found = null;
        for (int i = 0; i < 50 && kept.get() != null; i++) { System.gc(); Thread.sleep(20); }
        org.junit.Assert.assertNull(kept.get());
    }
}
";

const ALL: [&str; 8] = [
    "above.AboveTest",
    "enclosed.EnclosedTest",
    "files.FileTest",
    "own.OwnRunnerTest",
    "parameters.ParametersTest",
    "simple.SimpleTest",
    "suite.SuiteTest",
    "unloaded.UnloadedTest",
];

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn the_cases_of_ekstazi() {
    if !has_maven() {
        return;
    }
    let project = Maven::new(&[&pom("junit:junit:4.13.2", "3.2.5", ""), TESTS].concat());
    let first = project.run();
    first.are(&ALL);
    assert_eq!(first.code, 0, "{}", first.told);
    assert!(first.told.contains("\"incomplete\":0"), "{}", first.told);
    project.run().are(&[]);
    let minus = |package: &str| {
        let file = format!("src/main/java/{package}/C.java");
        project.edit(&file, "return a + b", "return a - -b");
    };
    for package in ["simple", "own", "suite", "unloaded"] {
        minus(package);
    }
    for package in ["above", "parameters"] {
        let file = format!("src/main/java/{package}/Above.java");
        project.edit(&file, "Above {", "Above {\n    public int f = 5;");
    }
    project.edit("notes.txt", "some", "other");
    let edited = project.run();
    edited.are(&[
        "above.AboveTest",
        "files.FileTest",
        "own.OwnRunnerTest",
        "parameters.ParametersTest",
        "simple.SimpleTest",
        "suite.SuiteTest",
        "unloaded.UnloadedTest",
    ]);
    assert_eq!(edited.code, 0, "{}", edited.told);
    let c = "src/main/java/enclosed/C.java";
    project.edit(c, "return 42", "return Integer.valueOf(42)");
    project.run().are(&["enclosed.EnclosedTest"]);
}

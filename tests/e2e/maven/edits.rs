//! One project, edited step by step.

use super::harness::*;

fn project() -> String {
    [
        pom(JUPITER, "3.2.5", ""),
        main("Calc", "public class Calc extends Base {\n    public int add(int a, int b) { return a + b; }\n}"),
        main("Base", "public class Base {\n    public int zero() { return 0; }\n}"),
        main("Factory", "public class Factory {\n    public static Thing make() { return new Thing(\"made\"); }\n}"),
        main("Thing", "public class Thing {\n    public final String name;\n    public Thing(String name) { this.name = name; }\n}"),
        // Made on first use, which only the first test does.
        main(
            "Holder",
            "public class Holder {\n    private static Thing thing;\n    public static Thing get() {\n        if (thing == null) { thing = Factory.make(); }\n        return thing;\n    }\n}",
        ),
        // Made when the class is initialised, which happens once.
        main("Config", "public class Config {\n    public static final Object VALUE = Defaults.value();\n}"),
        main("Defaults", "public class Defaults {\n    static Object value() { return \"default\"; }\n}"),
        // Filled by the first test, and not by the second.
        main(
            "Cache",
            "public class Cache {\n    private static final java.util.Map<String, Thing> ALL = new java.util.HashMap<>();\n    public static Thing get(String key) { return ALL.computeIfAbsent(key, k -> Maker.make(k)); }\n}",
        ),
        main("Maker", "class Maker {\n    static Thing make(String name) { return new Thing(name); }\n}"),
        main("Limits", "public class Limits {\n    public static final int MOST = 7;\n}"),
        main("Plugin", "public class Plugin {\n    public String toString() { return \"plugin\"; }\n}"),
        main("Loaded", "public class Loaded {\n}"),
        main("Read", "public class Read {\n    static String unused() { return \"old\"; }\n}"),
        main("Unused", "public class Unused {\n    public int x() { return 1; }\n}"),
        "-- src/test/resources/data.txt --\nsome data\n".to_owned(),
        test("CalcTest", "assertEquals(3, new Calc().add(1, 2) + new Calc().zero());"),
        test("AHolderTest", "assertEquals(4, Holder.get().name.length());"),
        test("BHolderTest", "assertTrue(Holder.get().name.length() == 4);"),
        test("AConfigTest", "assertEquals(7, Config.VALUE.toString().length());"),
        test("BConfigTest", "assertTrue(Config.VALUE.toString().length() == 7);"),
        test("ACacheTest", "assertEquals(1, Cache.get(\"k\").name.length());"),
        test("BCacheTest", "assertTrue(Cache.get(\"k\").name.length() == 1);"),
        test("ALoadTest", LOADS),
        test("BLoadTest", LOADS),
        main("ByHandle", "public class ByHandle {\n}"),
        test("HandleTest", LOADS_BY_HANDLE),
        main("OfModule", "public class OfModule {\n}"),
        test("ModuleTest", "assertFalse(java.io.Serializable.class.isAssignableFrom(Class.forName(Calc.class.getModule(), \"demo.\" + \"OfModule\")));"),
        test("LimitsTest", "assertTrue(Limits.MOST > 3);"),
        test("PluginTest", "assertEquals(6, Class.forName(\"demo.\" + \"Plugin\").getConstructor().newInstance().toString().length());"),
        test("DataTest", "try (java.io.InputStream in = DataTest.class.getResourceAsStream(\"/data.txt\")) { assertTrue(in.read() > 0); }"),
        test("ReadTest", READS),
        test("MissingTest", "assertNull(MissingTest.class.getResource(\"/absent.txt\"));"),
        test("EnvTest", "assertNotEquals(\"bad\", System.getenv(\"DEMO_MODE\"));"),
    ]
    .concat()
}

/// None of that class runs, and nobody inspects its members.
const LOADS: &str = "assertFalse(java.io.Serializable.class.isAssignableFrom(\
                     Calc.class.getClassLoader().loadClass(\"demo.\" + \"Loaded\")));";

/// A class file as data, before its class is loaded.
const READS: &str = "byte[] data = Calc.class.getResourceAsStream(\"Read.class\").readAllBytes();
        assertFalse(new String(data, \"ISO-8859-1\").contains(\"new\"));
        assertNotNull(new Read());";

/// The same with the means of reflection (JDK 18 on) and of Groovy's calls.
const LOADS_BY_HANDLE: &str = "java.lang.invoke.MethodHandle load = java.lang.invoke.MethodHandles.publicLookup()
            .findVirtual(ClassLoader.class, \"loadClass\", java.lang.invoke.MethodType.methodType(Class.class, String.class));
        Class<?> found;
        try { found = (Class<?>) load.invokeExact(Calc.class.getClassLoader(), \"demo.\" + \"ByHandle\"); }
        catch (Throwable thrown) { throw new AssertionError(thrown); }
        assertFalse(java.io.Serializable.class.isAssignableFrom(found));";

const ALL: [&str; 17] = [
    "demo.ACacheTest",
    "demo.AConfigTest",
    "demo.AHolderTest",
    "demo.ALoadTest",
    "demo.BCacheTest",
    "demo.BConfigTest",
    "demo.BHolderTest",
    "demo.BLoadTest",
    "demo.CalcTest",
    "demo.DataTest",
    "demo.EnvTest",
    "demo.HandleTest",
    "demo.LimitsTest",
    "demo.MissingTest",
    "demo.ModuleTest",
    "demo.PluginTest",
    "demo.ReadTest",
];

#[test]
fn the_right_test_classes_run_after_each_edit() {
    if !has_maven() {
        return;
    }
    let mut project = Maven::new(&project());
    let java = |name: &str| format!("src/main/java/demo/{name}.java");
    let first = project.run();
    first.are(&ALL);
    assert_eq!(first.code, 0, "{}", first.told);
    assert!(first.told.contains("\"incomplete\":0"), "{}", first.told);
    // A comment, and an unused class.
    project.edit(
        &java("Calc"),
        "public class",
        "// a comment\n\npublic class",
    );
    project.edit(&java("Unused"), "return 1", "return 2");
    project.run().are(&[]);
    // An inherited method, and a class that is used by name. A constant: after the edit its
    // value and the class file are the same.
    project.edit(&java("Base"), "return 0", "return Integer.valueOf(0)");
    project.edit(&java("Plugin"), "\"plugin\"", "\"PLUGIN\"");
    project.edit(&java("Limits"), "= 7", "= 8");
    project.run().are(&["demo.CalcTest", "demo.PluginTest"]);
    // Classes that are only loaded, and one whose file is read before.
    let edits = ["Loaded", "ByHandle", "OfModule"].map(|class| {
        let plain = format!("class {class} {{");
        let kind = format!("class {class} implements java.io.Serializable {{");
        (java(class), plain, kind)
    });
    for (path, plain, kind) in &edits {
        project.edit(path, plain, kind);
    }
    project.edit(&java("Read"), "\"old\"", "\"new\"");
    let loaded = project.run();
    loaded.are(&[
        "demo.ALoadTest",
        "demo.BLoadTest",
        "demo.HandleTest",
        "demo.ModuleTest",
        "demo.ReadTest",
    ]);
    assert!(loaded.told.contains("\"failed\":5"), "{}", loaded.told);
    for (path, plain, kind) in &edits {
        project.edit(path, kind, plain);
    }
    project.edit(&java("Read"), "\"new\"", "\"old\"");
    project.run().are(&[]);
    // One test makes it, and the other only sees it.
    project.edit(&java("Factory"), "\"made\"", "\"MADE\"");
    project.edit(&java("Defaults"), "\"default\"", "\"DEFAULT\"");
    project.edit(&java("Maker"), "Thing(name)", "Thing(\"\" + name)");
    project.run().are(&[
        "demo.ACacheTest",
        "demo.AConfigTest",
        "demo.AHolderTest",
        "demo.BCacheTest",
        "demo.BConfigTest",
        "demo.BHolderTest",
    ]);
    // Files (one was missing), a variable, and a new test.
    project.edit("src/test/resources/data.txt", "some", "other");
    project.write("src/test/resources/absent.txt", "");
    let new = test("NewTest", "assertEquals(0, new Base().zero());");
    let (_, source) = new.split_once('\n').unwrap();
    project.write("src/test/java/demo/NewTest.java", source);
    project.commit("more");
    project.set_env("DEMO_MODE", "good");
    let broken = project.run();
    broken.are(&[
        "demo.DataTest",
        "demo.EnvTest",
        "demo.MissingTest",
        "demo.NewTest",
    ]);
    assert_eq!(broken.code, 1, "{}", broken.told);
    // Failed tests run again.
    project.run().are(&["demo.MissingTest"]);
    // The state in which it passed: a failed test still runs once more.
    for folder in ["src/test/resources", "target/test-classes"] {
        fs_err::remove_file(project.root().join(folder).join("absent.txt")).unwrap();
    }
    project.commit("gone again");
    project.run().are(&["demo.MissingTest"]);
    project.run().are(&[]);
    // Surefire must run, as there is a new class among the tests; later it need not.
    project.write(
        "src/test/java/demo/Helper.java",
        "package demo;\n\nclass Helper {\n}\n",
    );
    project.commit("no test");
    let looked = project.run();
    looked.are(&[]);
    let is_none = |ran: &Ran| ran.told.contains("\"mode\": \"none\"");
    assert!(!is_none(&looked), "{}", looked.told);
    let quiet = project.run();
    quiet.are(&[]);
    assert!(is_none(&quiet), "{}", quiet.told);
    project.edit("pom.xml", "<version>1</version>", "<version>2</version>");
    let mut all = ALL.to_vec();
    all.push("demo.NewTest");
    project.run().are(&all);
    assert!(project.exists("target/surefire-reports"));
}

/// Surefire confuses two class files if the path of one ends with the path of the other.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn a_class_of_the_same_name_deeper_down_runs() {
    if !has_maven() {
        return;
    }
    for surefire in ["2.22.2", "3.2.5"] {
        let text = [
            pom("junit:junit:4.13.2", surefire, ""),
            main(
                "One",
                "public class One {\n    public static int x() { return 1; }\n}",
            ),
            super::frameworks::junit4("OneTest", "assertTrue(true);"),
            super::frameworks::junit4("OneTest", "assertEquals(1, demo.One.x());")
                .replace("java/demo", "java/old/demo")
                .replace("package demo", "package old.demo"),
        ];
        let project = Maven::new(&text.concat());
        project.run().are(&["demo.OneTest", "old.demo.OneTest"]);
        project.edit("src/main/java/demo/One.java", "return 1", "return 3");
        let broken = project.run();
        broken.are(&["old.demo.OneTest"]);
        assert_eq!(broken.code, 1, "{}", broken.told);
    }
}

//! Tests that are methods of JUnit 4.

use super::harness::*;

const BY_METHOD: &str = "-- tamis.yml --\nversion: 1\ngranularity: method\n";
const JUNIT4: &str = "junit:junit:4.13.2";
const VINTAGE: &str = "org.junit.vintage:junit-vintage-engine:5.10.2";

/// A test class of JUnit 4 with this body.
fn class(name: &str, body: &str) -> String {
    annotated("", name, body)
}

fn annotated(annotation: &str, name: &str, body: &str) -> String {
    format!(
        "-- src/test/java/demo/{name}.java --
package demo;

import static org.junit.Assert.*;
import org.junit.*;
import org.junit.runner.RunWith;

{annotation}
public class {name} {{
{body}
}}
"
    )
}

/// A main class with static methods that each return their number.
fn numbers(name: &str, methods: &[&str]) -> String {
    let methods = methods.iter().enumerate();
    let body: String = methods
        .map(|(at, name)| format!("    public static int {name}() {{ return {at}; }}\n"))
        .collect();
    main(name, &format!("public class {name} {{\n{body}}}"))
}

/// Edits one of those methods so that its class file changes and its result does not.
fn touch(project: &Maven, class: &str, method: &str) {
    let path = format!("src/main/java/demo/{class}.java");
    let from = format!("int {method}() {{ ");
    let to = format!("{from}String.valueOf(1); ");
    project.edit(&path, &from, &to);
}

fn is_complete(ran: &Ran) {
    assert_eq!(ran.code, 0, "{}", ran.told);
    assert!(ran.told.contains("\"incomplete\":0"), "{}", ran.told);
}

/// The units of single methods, and those of all methods.
fn methods(project: &Maven) {
    let (t1, t2, t3) = ("demo.MTest#one", "demo.MTest#two", "demo.MTest#old");
    let (p1, p2) = ("demo.PTest#low", "demo.PTest#high");
    let all = [t1, t2, t3, "demo.MTest#never", p1, p2, "demo.TTest#slow"];
    let first = project.run();
    first.are(&all);
    is_complete(&first);
    project.run().are(&[]);
    touch(project, "Use", "one");
    project.run().are(&[t1]);
    touch(project, "Use", "high");
    project.run().are(&[p2]);
    touch(project, "Use", "slow");
    project.run().are(&["demo.TTest#slow"]);
    touch(project, "Use", "inherited");
    project.run().are(&[t3]);
    let of_class = [t1, t2, t3, "demo.MTest#never"];
    for (method, tests) in [
        ("start", &of_class[..]),
        ("end", &of_class),
        // An object is made for each method that runs.
        ("made", &of_class[..3]),
        ("rule", &of_class[..3]),
    ] {
        touch(project, "Setup", method);
        project.run().are(tests);
    }
}

const USE: &str = "src/main/java/demo/Use.java";

/// A failing method next to a passing one.
fn a_failing_method(project: &Maven) {
    let t2 = "demo.MTest#two";
    project.edit(USE, "int two() { return 1", "int two() { return 9");
    let broken = project.run();
    broken.are(&[t2]);
    assert_eq!(broken.code, 1, "{}", broken.told);
    project.run().are(&[t2]);
    // The state in which it passed.
    project.edit(USE, "int two() { return 9", "int two() { return 1");
    project.run().are(&[]);
}

/// Failing sets of parameters, new and renamed methods.
fn changes_of_methods(project: &Maven) {
    let (t2, t3, never) = ("demo.MTest#two", "demo.MTest#old", "demo.MTest#never");
    let p2 = "demo.PTest#high";
    // A failing set of parameters among passing ones.
    project.edit(
        USE,
        "high() { String.valueOf(1); return 3",
        "high() { return 4",
    );
    let broken = project.run();
    broken.are(&[p2]);
    assert_eq!(broken.code, 1, "{}", broken.told);
    assert!(
        broken.told.contains(r#""demo.PTest#high": "failed""#),
        "{}",
        broken.told
    );
    project.edit(
        USE,
        "high() { return 4",
        "high() { return Integer.valueOf(3)",
    );
    project.run().are(&[p2]);
    // A new name, and a new method.
    let test = "src/test/java/demo/MTest.java";
    project.edit(test, "void one()", "void first()");
    let renamed = ["demo.MTest#first", t2, t3, never];
    project.run().are(&renamed);
    touch(project, "Use", "one");
    project.run().are(&["demo.MTest#first"]);
    project.run().are(&[]);
    project.edit(test, "// end", "@Test public void added() { fail(); }");
    let broken = project.run();
    broken.are(&[&renamed[..], &["demo.MTest#added"]].concat());
    assert_eq!(broken.code, 1, "{}", broken.told);
    project.run().are(&["demo.MTest#added"]);
}

fn methods_project(dependency: &str) -> String {
    [
        pom(dependency, "3.2.5", ""),
        BY_METHOD.to_owned(),
        numbers("Use", &["one", "two", "low", "high", "inherited", "slow"]),
        numbers("Setup", &["start", "end", "made", "rule"]),
        class("Base", "    @Test public void old() { assertEquals(4, Use.inherited()); }"),
        class(
            "MTest extends Base",
            "    int made = Setup.made();
    @Rule public org.junit.rules.TestRule rule = (statement, description) -> { Setup.rule(); return statement; };
    @BeforeClass public static void start() { Setup.start(); }
    @AfterClass public static void end() { Setup.end(); }
    @Test public void one() { assertEquals(0, Use.one()); }
    @Test public void two() { assertEquals(1, Use.two()); }
    @Ignore @Test public void never() { fail(); }
    // end",
        )
        .replace("MTest extends Base.java", "MTest.java"),
        annotated(
            "@RunWith(org.junit.runners.Parameterized.class)",
            "PTest",
            "    @org.junit.runners.Parameterized.Parameters(name = \"{index}: (a/{0}, [x])\")
    public static Object[] all() { return new Object[] { 3, 4 }; }
    @org.junit.runners.Parameterized.Parameter public int most;
    @Test public void low() { assertTrue(Use.low() < most); }
    @Test public void high() { assertTrue(Use.high() <= most); }",
        ),
        class(
            "TTest",
            "    @Test(timeout = 60000) public void slow() { assertEquals(5, Use.slow()); }",
        ),
    ]
    .concat()
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn of_junit_4_with_its_own_provider() {
    if !has_maven() {
        return;
    }
    methods(&Maven::new(&methods_project(JUNIT4)));
}

/// A project whose run is recorded, and one after an edit.
fn recorded_methods() -> Maven {
    let project = Maven::new(&methods_project(JUNIT4));
    is_complete(&project.run());
    touch(&project, "Use", "high");
    project.run().are(&["demo.PTest#high"]);
    project
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn of_junit_4_that_fail() {
    if has_maven() {
        a_failing_method(&recorded_methods());
    }
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn of_junit_4_that_are_new_or_renamed() {
    if has_maven() {
        changes_of_methods(&recorded_methods());
    }
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn of_junit_4_on_the_platform() {
    if !has_maven() {
        return;
    }
    methods(&Maven::new(&methods_project(VINTAGE)));
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn of_junit_4_with_groups() {
    if !has_maven() {
        return;
    }
    let groups = "<version>3.2.5</version>
        <configuration><excludedGroups>demo.Base</excludedGroups></configuration>";
    let text = methods_project(JUNIT4).replace("<version>3.2.5</version>", groups);
    methods(&Maven::new(&text));
}

/// Classes whose methods may affect each other, or that define other test names.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn of_classes_that_stay_whole() {
    if !has_maven() {
        return;
    }
    let two = "    @Test public void a() { assertEquals(0, Use.a()); }
    @Test public void b() { assertEquals(1, Use.b()); }";
    let text = [
        pom(JUNIT4, "3.2.5", ""),
        BY_METHOD.to_owned(),
        numbers("Use", &["a", "b", "f", "k", "w", "s", "e", "c"]),
        main(
            "Holder",
            "public class Holder {\n    static Object made;\n    public static Object get() { if (made == null) { made = Use.s(); } return made; }\n}",
        ),
        class("NTest", two),
        annotated(
            "@FixMethodOrder(org.junit.runners.MethodSorters.NAME_ASCENDING)",
            "FTest",
            "    @Test public void a() { assertEquals(2, Use.f()); }
    @Test public void b() { }",
        ),
        "-- src/test/java/demo/KTest.java --\npackage demo;\n\npublic class KTest extends junit.framework.TestCase {
    public void testA() { assertEquals(3, Use.k()); }
    public void testB() { }
}\n"
        .to_owned(),
        // Objects through which methods can pass on state.
        annotated(
            "@RunWith(org.junit.runners.Parameterized.class)",
            "WTest",
            "    @org.junit.runners.Parameterized.Parameters
    public static Object[] all() { return new Object[] { new int[] { 4 } }; }
    @org.junit.runners.Parameterized.Parameter public int[] box;
    @Test public void a() { assertEquals(box[0], Use.w()); }
    @Test public void b() { }",
        ),
        // The first method makes what both use.
        class(
            "STest",
            "    @Test public void a() { assertNotNull(Holder.get()); }
    @Test public void b() { assertNotNull(Holder.get()); }",
        ),
    ];
    let project = Maven::new(&text.concat());
    let whole = ["demo.FTest", "demo.KTest", "demo.WTest"];
    let methods = [
        "demo.NTest#a",
        "demo.NTest#b",
        "demo.STest#a",
        "demo.STest#b",
    ];
    let first = project.run();
    first.are(&[&whole[..], &methods].concat());
    is_complete(&first);
    project.run().are(&[]);
    for (method, tests) in [
        ("a", &["demo.NTest#a"][..]),
        ("f", &["demo.FTest"]),
        ("k", &["demo.KTest"]),
        ("w", &["demo.WTest"]),
        ("s", &["demo.STest#a", "demo.STest#b"]),
    ] {
        touch(&project, "Use", method);
        project.run().are(tests);
    }
    // Runners whose tests a list of methods could leave out. The first ones are new here.
    let enclosed = annotated(
        "@RunWith(org.junit.experimental.runners.Enclosed.class)",
        "ETest",
        "    public static class In { @Test public void a() { assertEquals(6, Use.e()); } }",
    );
    let (_, enclosed) = enclosed.split_once('\n').unwrap();
    project.write("src/test/java/demo/ETest.java", enclosed);
    let own = annotated(
        "@RunWith(CTest.Own.class)",
        "CTest",
        "    public static class Own extends org.junit.runners.BlockJUnit4ClassRunner {
        static CTest one;
        public Own(Class<?> type) throws Exception { super(type); }
        @Override protected Object createTest() { return one == null ? one = new CTest() : one; }
        @Override protected String testName(org.junit.runners.model.FrameworkMethod method) { return \"it does\"; }
    }
    @Test public void a() { assertEquals(7, Use.c()); }
    @Test public void b() { }",
    );
    let (_, own) = own.split_once('\n').unwrap();
    project.write("src/test/java/demo/CTest.java", own);
    touch(&project, "Use", "b");
    let both = ["demo.NTest#a", "demo.NTest#b"];
    let ran = project.run_with(&["-v"]);
    ran.are(&[&both[..], &["demo.CTest", "demo.ETest"]].concat());
    is_complete(&ran);
    let why = "single test methods are not left out: demo.";
    assert!(ran.told.contains(why), "{}", ran.told);
    touch(&project, "Use", "e");
    project.run().are(&["demo.ETest"]);
    touch(&project, "Use", "c");
    project.run().are(&["demo.CTest"]);
}

/// Code before the first method belongs to the class. Either it ends there, or it does not.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn of_classes_that_do_not_come_to_them() {
    if !has_maven() {
        return;
    }
    for dependency in [JUNIT4, VINTAGE] {
        let text = [
            pom(dependency, "3.2.5", ""),
            BY_METHOD.to_owned(),
            numbers("Setup", &["breaks", "holds", "late"]),
            class(
                "BTest",
                "    @BeforeClass public static void start() { assertEquals(0, Setup.breaks()); }
    @AfterClass public static void end() { assertEquals(2, Setup.late()); }
    @Test public void a() { }
    @Test public void b() { }",
            ),
            class(
                "HTest",
                "    @BeforeClass public static void start() { Assume.assumeTrue(Setup.holds() == 0); }
    @Test public void a() { assertEquals(0, Setup.holds()); }",
            ),
            class(
                "ITest",
                "    @Test public void a() { Assume.assumeTrue(Setup.holds() == 0); fail(); }",
            ),
            annotated("@Ignore", "JTest", "    @Test public void a() { fail(); }"),
        ];
        let project = Maven::new(&text.concat());
        let parts = ["demo.BTest#a", "demo.BTest#b"];
        let first = project.run();
        let rest = ["demo.HTest", "demo.ITest#a", "demo.JTest"];
        first.are(&[&parts[..], &rest].concat());
        is_complete(&first);
        project.run().are(&[]);
        let main = "src/main/java/demo/Setup.java";
        project.edit(main, "int breaks() { return 0", "int breaks() { return 5");
        let broken = project.run();
        broken.are(&["demo.BTest"]);
        assert_eq!(broken.code, 1, "{}", broken.told);
        let again = project.run();
        again.are(&["demo.BTest"]);
        assert_eq!(again.code, 1, "{}", again.told);
        project.edit(
            main,
            "int breaks() { return 5",
            "int breaks() { return 1 - 1",
        );
        let mended = project.run();
        mended.are(&parts);
        is_complete(&mended);
        project.run().are(&[]);
        project.edit(main, "int late() { return 2", "int late() { return 5");
        let broken = project.run();
        broken.are(&[&parts[..], &["demo.BTest"]].concat());
        assert_eq!(broken.code, 1, "{}", broken.told);
        project.edit(main, "int late() { return 5", "int late() { return 1 + 1");
        project.run().are(&parts);
        project.run().are(&[]);
        project.edit(main, "int holds() { return 1", "int holds() { return 0");
        let broken = project.run();
        broken.are(&["demo.HTest#a", "demo.ITest#a"]);
        assert_eq!(broken.code, 1, "{}", broken.told);
        // A run that fails does not announce that the class's own result is gone.
        project.run().are(&["demo.HTest#a", "demo.ITest#a"]);
    }
}

/// Several at once on separate threads: all share the events.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn of_junit_4_in_parallel() {
    if !has_maven() {
        return;
    }
    let parallel = "<version>3.2.5</version>
        <configuration><parallel>classesAndMethods</parallel><threadCount>3</threadCount></configuration>";
    let body = |number: usize, wait: &str| {
        format!(
            "    int made = Use.made{number}();
    @BeforeClass public static void start() {{ Use.start{number}(); }}
    @Test public void a() throws Exception {{ Thread.sleep({wait}); assertEquals({number}, Use.a{number}()); }}
    @Test public void b() {{ }}"
        )
    };
    let text = [
        pom(JUNIT4, "3.2.5", "").replace("<version>3.2.5</version>", parallel),
        BY_METHOD.to_owned(),
        numbers("Use", &["a0", "a1", "made0", "made1", "start0", "start1"]),
        class("OneTest", &body(0, "300")),
        class("TwoTest", &body(1, "0")),
    ];
    let project = Maven::new(&text.concat());
    let one = ["demo.OneTest#a", "demo.OneTest#b"];
    let two = ["demo.TwoTest#a", "demo.TwoTest#b"];
    let first = project.run();
    first.are(&[one, two].concat());
    is_complete(&first);
    project.run().are(&[]);
    for (method, tests) in [
        ("a0", &one[..1]),
        ("a1", &two[..1]),
        ("made0", &one),
        ("made1", &two),
        ("start0", &one),
        ("start1", &two),
    ] {
        touch(&project, "Use", method);
        let ran = project.run();
        is_complete(&ran);
        let misses: Vec<_> = tests
            .iter()
            .filter(|test| !ran.tests.contains(**test))
            .collect();
        assert!(misses.is_empty(), "{method}: {misses:?} {}", ran.told);
    }
}

/// Surefire before 3.0.0-M6 takes no methods in its list, so tests are classes.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn of_no_class_with_an_older_surefire() {
    if !has_maven() {
        return;
    }
    for dependency in [JUNIT4, JUPITER] {
        let two = "    @Test public void a() { assertEquals(0, Use.a()); }
    @Test public void b() { assertEquals(1, Use.b()); }";
        let mut tests = class("OneTest", two) + &class("TwoTest", "    @Test public void a() { }");
        if dependency == JUPITER {
            tests = tests
                .replace("org.junit.Assert", "org.junit.jupiter.api.Assertions")
                .replace("org.junit.*", "org.junit.jupiter.api.*")
                .replace("import org.junit.runner.RunWith;\n", "");
        }
        let text = [
            pom(dependency, "2.22.2", ""),
            BY_METHOD.to_owned(),
            numbers("Use", &["a", "b"]),
            tests,
        ];
        let project = Maven::new(&text.concat());
        let first = project.run();
        first.are(&["demo.OneTest", "demo.TwoTest"]);
        is_complete(&first);
        touch(&project, "Use", "a");
        let ran = project.run();
        ran.are(&["demo.OneTest"]);
        is_complete(&ran);
    }
}

/// Nested classes of JUnit 5, next to methods that are left out.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn of_nested_classes() {
    if !has_maven() {
        return;
    }
    let nested = "    @Nested class In {
        @Test void c() { assertEquals(2, Use.c()); }
        @Test void d() { assertEquals(3, Use.d()); }
    }";
    let text = [
        pom(JUPITER, "3.2.5", ""),
        BY_METHOD.to_owned(),
        numbers("Use", &["a", "b", "c", "d"]),
        "-- src/test/java/demo/XTest.java --
package demo;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.*;

class XTest {
    @Test void a() { assertEquals(0, Use.a()); }
    // nested
}
-- src/test/java/demo/YTest.java --
package demo;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.*;

class YTest {
    @Test void a() { assertEquals(0, Use.a()); }
    @Test void b() { assertEquals(1, Use.b()); }
}
"
        .to_owned(),
    ];
    let project = Maven::new(&text.concat());
    let (a, c, d) = ("demo.XTest#a", "demo.XTest$In#c", "demo.XTest$In#d");
    project.run().are(&[a, "demo.YTest#a", "demo.YTest#b"]);
    // They are new, and a method is left out elsewhere.
    project.edit("src/test/java/demo/XTest.java", "// nested", nested);
    touch(&project, "Use", "b");
    project.run().are(&[a, c, d, "demo.YTest#b"]);
    project.run().are(&[]);
    touch(&project, "Use", "c");
    project.run().are(&[c]);
    touch(&project, "Use", "a");
    project.run().are(&[a, "demo.YTest#a"]);
}

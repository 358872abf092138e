//! Tests of TestNG: classes, whose methods run in any order.

use super::harness::*;

const NEW: &str = "org.testng:testng:7.10.2";
const OLD: &str = "org.testng:testng:6.11";

/// A test class of TestNG.
fn class(name: &str, body: &str) -> String {
    format!(
        "-- src/test/java/demo/{name}.java --
package demo;

import static org.testng.Assert.*;
import org.testng.SkipException;
import org.testng.annotations.*;

public class {name} {{
    {body}
}}
"
    )
}

/// A test class with one test.
fn test(name: &str, statement: &str) -> String {
    class(
        name,
        &format!("@Test public void works() {{ {statement} }}"),
    )
}

/// `public class NAME { public static int x() { return VALUE; } }`
fn returns(name: &str, value: usize) -> String {
    let body =
        format!("public class {name} {{\n    public static int x() {{ return {value}; }}\n}}");
    main(name, &body)
}

fn java(name: &str) -> String {
    format!("src/main/java/demo/{name}.java")
}

const HOLDER: &str = "public class Holder {
    private static Object held;
    public static Object get() {
        if (held == null) { held = Factory.make(); }
        return held;
    }
}";

const FACTORY: &str = "public class Factory {
    public static Object make() { return new int[] {1}; }
}";

/// Alternating methods of two classes, objects that are made before all tests, parameters from
/// another class, and state that one class leaves to another.
fn classes_are_told_apart(testng: &str) {
    if !has_maven() {
        return;
    }
    let text = [
        pom(testng, "3.2.5", ""),
        returns("One", 1),
        returns("Two", 2),
        returns("Three", 3),
        returns("Four", 4),
        main("Holder", HOLDER),
        main("Factory", FACTORY),
        class(
            "ATest",
            "int made = One.x();
    @BeforeMethod public void prepare() { made += 0; }
    @Test(priority = 1) public void first() { assertEquals(made, 1); }
    @Test(priority = 4) public void second() { assertEquals(made, 1); }",
        ),
        class(
            "HolderTest",
            "@Test(priority = 3) public void holds() { assertNotNull(Holder.get()); }",
        ),
        class(
            "BTest",
            "@Test(priority = 2, dataProvider = \"numbers\", dataProviderClass = Numbers.class)
    public void same(int number) { assertEquals(number, 2); }
    @Test(priority = 5) public void reads() {
        assertEquals(((int[]) Holder.get())[0], 1);
    }",
        ),
        class(
            "Numbers",
            "@DataProvider public static Object[][] numbers() {
        return new Object[][] {{2}, {Two.x()}};
    }",
        ),
        class(
            "CTest",
            "@BeforeClass public void prepare() { assertEquals(Three.x(), 3); }
    @Test public void works() { }
    @Test(dependsOnMethods = \"works\") public void later() { }",
        ),
        class(
            "SuiteTest",
            "@BeforeSuite public void prepare() { assertEquals(Four.x(), 4); }
    @Test public void works() { }",
        ),
    ];
    let all = [
        "demo.ATest",
        "demo.BTest",
        "demo.CTest",
        "demo.HolderTest",
        "demo.SuiteTest",
    ];
    let project = Maven::new(&text.concat());
    let first = project.run();
    first.are(&all);
    assert!(first.told.contains("\"incomplete\":0"), "{}", first.told);
    assert_eq!(first.code, 0, "{}", first.told);
    project.run().are(&[]);
    // SuiteTest prepares the suite, so it always runs together with others.
    project.edit(&java("One"), "return 1", "return 1 + Math.abs(0)");
    project.run().are(&["demo.ATest", "demo.SuiteTest"]);
    // HolderTest finds what BTest made, if BTest came first.
    let with_b = |ran: &Ran| {
        assert!(ran.tests.contains("demo.BTest"), "{}", ran.told);
        let others = ["demo.ATest", "demo.CTest"];
        assert!(
            others.iter().all(|other| !ran.tests.contains(*other)),
            "{}",
            ran.told
        );
    };
    project.edit(&java("Two"), "return 2", "return 2 + Math.abs(0)");
    with_b(&project.run());
    let numbers = "src/test/java/demo/Numbers.java";
    project.edit(numbers, "{Two.x()}}", "{Two.x()}, {2}}");
    with_b(&project.run());
    project.edit(&java("Factory"), "{1}", "{1, 2}");
    project
        .run()
        .are(&["demo.BTest", "demo.HolderTest", "demo.SuiteTest"]);
    project.edit(&java("Three"), "return 3", "return 4");
    let broken = project.run();
    broken.are(&["demo.CTest", "demo.SuiteTest"]);
    assert_eq!(broken.code, 1, "{}", broken.told);
    project.edit(&java("Three"), "return 4", "return 3 + Math.abs(0)");
    project.run().are(&["demo.CTest", "demo.SuiteTest"]);
    project.edit(&java("Four"), "return 4", "return 4 + Math.abs(0)");
    project.run().are(&all);
    let a_test = "src/test/java/demo/ATest.java";
    project.edit(a_test, "assertEquals(made, 1);", "assertEquals(1, made);");
    project.run().are(&["demo.ATest", "demo.SuiteTest"]);
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn classes_of_testng_7_are_told_apart() {
    classes_are_told_apart(NEW);
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn classes_of_testng_6_are_told_apart() {
    classes_are_told_apart(OLD);
}

/// Tests that did not run because of something else run again, even without a change.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn what_fails_before_the_tests_is_a_failure_of_theirs() {
    if !has_maven() {
        return;
    }
    let flag = "if (System.getenv(\"DOWN\") != null) { throw new RuntimeException(\"down\"); }";
    let prepare = |what: &str| {
        format!("@{what} public void prepare() {{ {flag} }}\n    @Test public void works() {{ }}")
    };
    let text = [
        pom(NEW, "3.2.5", ""),
        class("AllTest", &prepare("BeforeSuite")),
        test("OtherTest", "assertTrue(true);"),
        test("SkippedTest", "throw new SkipException(\"not here\");"),
    ];
    let mut project = Maven::new(&text.concat());
    project.set_env("DOWN", "1");
    assert_eq!(project.run().code, 1);
    // All tests were skipped, and none is proven.
    let again = project.run();
    again.are(&["demo.AllTest", "demo.OtherTest", "demo.SkippedTest"]);
    assert_eq!(again.code, 1, "{}", again.told);
    project.set_env("DOWN", "");
    project.edit("src/test/java/demo/AllTest.java", "!= null", "== \"x\"");
    let well = project.run();
    well.are(&["demo.AllTest", "demo.OtherTest", "demo.SkippedTest"]);
    assert_eq!(well.code, 0, "{}", well.told);
    // A test that asks to be skipped does so the next time as well.
    project.run().are(&[]);
}

/// Tests that need tests of other classes.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn tests_that_depend_on_other_classes_run_with_them() {
    if !has_maven() {
        return;
    }
    let text = [
        pom(NEW, "3.2.5", ""),
        returns("One", 1),
        class(
            "FirstTest",
            "@Test(groups = \"first\") public void works() { }",
        ),
        class(
            "SecondTest",
            "@Test(dependsOnGroups = \"first\") public void works() { assertEquals(One.x(), 1); }",
        ),
    ];
    let both = ["demo.FirstTest", "demo.SecondTest"];
    let project = Maven::new(&text.concat());
    project.run().are(&both);
    project.run().are(&[]);
    project.edit(&java("One"), "return 1", "return 1 + Math.abs(0)");
    let ran = project.run_with(&["-v"]);
    ran.are(&both);
    assert_eq!(ran.code, 0, "{}", ran.told);
    assert!(
        ran.told
            .contains("dependsOnGroups = \\\"first\\\" in demo.SecondTest"),
        "{}",
        ran.told
    );
}

/// If it is unknown what runs for which class, all run every time and say why.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn factories_and_methods_around_groups_are_not_told_apart() {
    if !has_maven() {
        return;
    }
    // A class is left out by name in all modules, so each module has its own names.
    let module = |name: &str, more: &str| {
        super::frameworks::in_module(
            &name.to_lowercase(),
            &[
                pom(NEW, "3.2.5", ""),
                class(&format!("{name}Test"), more),
                test(&format!("{name}OtherTest"), "assertTrue(true);"),
            ]
            .concat(),
        )
    };
    let top = "-- pom.xml --
<project xmlns=\"http://maven.apache.org/POM/4.0.0\">
  <modelVersion>4.0.0</modelVersion>
  <groupId>demo</groupId>
  <artifactId>top</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <modules><module>factory</module><module>groups</module><module>plain</module></modules>
</project>
";
    let factory = "public FactoryTest() { }
    @Factory public static Object[] make() { return new Object[] {new FactoryTest()}; }
    @Test public void works() { }";
    let groups = "@BeforeGroups(\"g\") public void prepare() { }
    @Test(groups = \"g\") public void works() { }";
    let text = [
        top.to_owned(),
        module("Factory", factory),
        module("Groups", groups),
        module("Plain", "@Test public void works() { }"),
    ];
    let project = Maven::new(&text.concat());
    project.run();
    let again = project.run();
    again.are(&[
        "factory/demo.FactoryOtherTest",
        "factory/demo.FactoryTest",
        "groups/demo.GroupsOtherTest",
        "groups/demo.GroupsTest",
    ]);
    let why = project.tamis(&["why", "groups/demo.GroupsOtherTest"]);
    let why = String::from_utf8_lossy(&why.stdout).into_owned();
    assert!(
        why.contains("@BeforeGroups or @AfterGroups of TestNG"),
        "{why}"
    );
}

/// Parallel test classes share all events, and no test is left out wrongly.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn parallel_classes_of_testng_are_not_missed() {
    if !has_maven() {
        return;
    }
    let parallel = "<version>3.2.5</version>
        <configuration><parallel>classes</parallel><threadCount>2</threadCount></configuration>";
    let text = [
        pom(NEW, "3.2.5", "").replace("<version>3.2.5</version>", parallel),
        returns("One", 1),
        returns("Two", 2),
        test("OneTest", "assertEquals(One.x(), 1);"),
        test("TwoTest", "assertEquals(Two.x(), 2);"),
        test("OtherTest", "assertTrue(true);"),
    ];
    let project = Maven::new(&text.concat());
    project
        .run()
        .are(&["demo.OneTest", "demo.OtherTest", "demo.TwoTest"]);
    project.run().are(&[]);
    for (class, test) in [("One", "demo.OneTest"), ("Two", "demo.TwoTest")] {
        project.edit(&java(class), "x() { return ", "x() { return 5 + ");
        let broken = project.run();
        assert!(broken.tests.contains(test), "{}", broken.told);
        assert_eq!(broken.code, 1, "{}", broken.told);
    }
}

/// Before the build it is unknown which test classes need each other.
#[test]
fn testng_is_selected_after_the_build() {
    if !has_maven() {
        return;
    }
    let text = [
        pom(NEW, "3.2.5", ""),
        test("OneTest", "assertTrue(true);"),
        test("OtherTest", "assertTrue(true);"),
    ];
    let project = Maven::new(&text.concat());
    project.run();
    project.forget_build();
    let selected = project.select(&["--out", "out", "--", "mvn", "test"]);
    selected.are(&["demo.OneTest", "demo.OtherTest"]);
    assert!(selected.told.contains("TestNG"), "{}", selected.told);
}

/// The settings of a suite apply to its tests, whatever is proven.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn suites_are_run_whole() {
    if !has_maven() {
        return;
    }
    let suite = "<version>3.2.5</version>
        <configuration><suiteXmlFiles><suiteXmlFile>all.xml</suiteXmlFile></suiteXmlFiles></configuration>";
    let text = [
        pom(NEW, "3.2.5", "").replace("<version>3.2.5</version>", suite),
        "-- all.xml --
<!DOCTYPE suite SYSTEM \"https://testng.org/testng-1.0.dtd\">
<suite name=\"all\">
  <parameter name=\"level\" value=\"7\"/>
  <test name=\"one\"><classes><class name=\"demo.OneTest\"/><class name=\"demo.TwoTest\"/></classes></test>
</suite>
"
        .to_owned(),
        returns("One", 1),
        class(
            "OneTest",
            "@Parameters(\"level\") @Test public void works(int level) { assertEquals(One.x() + level, 8); }",
        ),
        test("TwoTest", "assertTrue(true);"),
        test("NotInTheSuiteTest", "fail();"),
    ];
    let project = Maven::new(&text.concat());
    let both = ["demo.OneTest", "demo.TwoTest"];
    project.run().are(&both);
    project.run().are(&[]);
    project.edit(&java("One"), "return 1", "return 1 + Math.abs(0)");
    let ran = project.run();
    ran.are(&both);
    assert_eq!(ran.code, 0, "{}", ran.told);
}

const LISTENER: &str = "-- src/test/java/demo/Fails.java --
package demo;

import org.testng.*;

/// Makes tests of one class fail.
public class Fails implements IInvokedMethodListener {
    public void beforeInvocation(IInvokedMethod method, ITestResult result) { }
    public void afterInvocation(IInvokedMethod method, ITestResult result) {
        if (result.getTestClass().getName().endsWith(\"OtherTest\")) {
            result.setStatus(ITestResult.FAILURE);
            result.setThrowable(new RuntimeException(\"told to\"));
        }
    }
}
";

/// If a test class starts or stops doing something for other classes, it affects their tests,
/// even though they use nothing that changed.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn what_classes_do_for_others_counts_for_all() {
    if !has_maven() {
        return;
    }
    let text = [
        pom(NEW, "3.2.5", ""),
        returns("One", 1),
        LISTENER.to_owned(),
        class(
            "OneTest",
            "@Test public void works() { assertEquals(One.x(), 1); }",
        ),
        test("OtherTest", "assertNull(System.getProperty(\"prepared\"));"),
    ];
    let both = ["demo.OneTest", "demo.OtherTest"];
    let one_test = "src/test/java/demo/OneTest.java";
    let project = Maven::new(&text.concat());
    project.run().are(&both);
    project.edit(
        one_test,
        "public class",
        "@Listeners(Fails.class) public class",
    );
    let listening = project.run();
    listening.are(&both);
    assert_eq!(listening.code, 1, "{}", listening.told);
    project.edit(one_test, "@Listeners(Fails.class) ", "");
    project.run();
    project.run().are(&[]);
    // It has no test of its own.
    let prepares = "@BeforeSuite public void prepare() { System.setProperty(\"prepared\", \"\"); }";
    let new_test = class("NewTest", prepares);
    let (_, new_test) = new_test.split_once(" --\n").unwrap();
    project.write("src/test/java/demo/NewTest.java", new_test);
    project.commit("prepares");
    let prepared = project.run();
    assert!(
        prepared.tests.contains("demo.OtherTest"),
        "{}",
        prepared.told
    );
    assert_eq!(prepared.code, 1, "{}", prepared.told);
    // It does so for each test that runs, and selects only those that use its effects.
    let other_test = "src/test/java/demo/OtherTest.java";
    project.edit(other_test, "assertNull", "assertNotNull");
    assert_eq!(project.run().code, 0);
    project.edit(&java("One"), "return 1", "return 1 + Math.abs(0)");
    project.run().are(&["demo.NewTest", "demo.OneTest"]);
    project.remove("src/test/java/demo/NewTest.java");
    project.remove("target/test-classes/demo/NewTest.class");
    project.commit("does not");
    let alone = project.run();
    assert!(alone.tests.contains("demo.OtherTest"), "{}", alone.told);
    assert_eq!(alone.code, 1, "{}", alone.told);
}

/// Fields set by `@BeforeSuite` are not the state of any class, even if one class reads them
/// first.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn what_is_prepared_for_all_is_of_no_test_class() {
    if !has_maven() {
        return;
    }
    let text = [
        pom(NEW, "3.2.5", ""),
        returns("One", 1),
        returns("Two", 2),
        main(
            "State",
            "public class State {\n    public static int level;\n}",
        ),
        class(
            "PreparesTest",
            "@BeforeSuite public void prepare() { State.level = Two.x(); }
    @Test public void works() { }",
        ),
        test("ATest", "assertEquals(One.x() + State.level, 3);"),
        test("BTest", "assertEquals(State.level, 2);"),
    ];
    let project = Maven::new(&text.concat());
    let all = ["demo.ATest", "demo.BTest", "demo.PreparesTest"];
    project.run().are(&all);
    project.edit(&java("One"), "return 1", "return 1 + Math.abs(0)");
    project.run().are(&["demo.ATest", "demo.PreparesTest"]);
    project.edit(&java("Two"), "return 2", "return 3");
    let broken = project.run();
    broken.are(&all);
    assert_eq!(broken.code, 1, "{}", broken.told);
}

/// Values that a class keeps in the suite also belong to those who read them.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn what_is_kept_in_a_suite_is_state() {
    if !has_maven() {
        return;
    }
    let text = [
        pom(NEW, "3.2.5", ""),
        returns("One", 1),
        class(
            "ATest",
            "@Test(priority = 1) public void works(org.testng.ITestContext context) {
        context.getSuite().setAttribute(\"one\", One.x());
    }",
        ),
        class(
            "BTest",
            "@Test(priority = 2) public void works(org.testng.ITestContext context) {
        assertEquals(context.getSuite().getAttribute(\"one\"), (Object) 1);
    }",
        ),
        class(
            "CTest",
            "@Test(priority = 3) public void works(org.testng.ITestContext context) {
        context.getSuite().setAttribute(\"one\", 3);
        assertEquals(context.getSuite().getAttribute(\"one\"), (Object) 3);
    }",
        ),
    ];
    let project = Maven::new(&text.concat());
    project
        .run()
        .are(&["demo.ATest", "demo.BTest", "demo.CTest"]);
    project.edit(&java("One"), "return 1", "return 2");
    let broken = project.run();
    broken.are(&["demo.ATest", "demo.BTest"]);
    assert_eq!(broken.code, 1, "{}", broken.told);
}

/// A test that ends its JVM, or of which TestNG cannot make an object, has not passed.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn what_is_cut_off_has_not_passed() {
    if !has_maven() {
        return;
    }
    let exits = "if (System.getenv(\"DOWN\") != null) { System.exit(0); }";
    let text = [
        pom(NEW, "3.2.5", ""),
        test("ATest", "assertTrue(true);"),
        test("BTest", exits),
    ];
    let mut project = Maven::new(&text.concat());
    project.set_env("DOWN", "1");
    assert_eq!(project.run().code, 1);
    let again = project.run();
    assert!(again.tests.contains("demo.BTest"), "{}", again.told);
    assert_eq!(again.code, 1, "{}", again.told);
    project.edit("src/test/java/demo/BTest.java", exits, "");
    project.run();
    project.edit(
        "src/test/java/demo/BTest.java",
        "@Test",
        "public BTest() { assertNull(System.getenv(\"DOWN\")); }\n    @Test",
    );
    for _ in 0..2 {
        let ran = project.run();
        assert!(ran.tests.contains("demo.BTest"), "{}", ran.told);
        assert_eq!(ran.code, 1, "{}", ran.told);
        assert!(
            !ran.told.contains("\"demo.BTest\": \"skipped\""),
            "{}",
            ran.told
        );
    }
}

/// Until 7.5 TestNG also runs tests of JUnit, which it announces differently.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn tests_of_junit_that_testng_runs_are_not_left_out() {
    if !has_maven() {
        return;
    }
    let junit = "<dependencies>
    <dependency>
      <groupId>junit</groupId>
      <artifactId>junit</artifactId>
      <version>4.13.2</version>
      <scope>test</scope>
    </dependency>";
    let text = [
        pom(OLD, "3.2.5", "").replace("<dependencies>", junit),
        returns("One", 1),
        test("OneTest", "assertTrue(true);"),
        test("JunitTest", "org.junit.Assert.assertEquals(One.x(), 1);")
            .replace("@Test", "@org.junit.Test"),
    ];
    let project = Maven::new(&text.concat());
    assert_eq!(project.run().code, 0);
    project.edit(&java("One"), "return 1", "return 2");
    for _ in 0..2 {
        let broken = project.run();
        assert_eq!(broken.code, 1, "{}", broken.told);
    }
}

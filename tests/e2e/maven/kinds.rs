//! Providers of Surefire, and other agents in the tests' JVM.

use super::frameworks::{in_module, junit4};
use super::harness::*;

const TOP: &str = "-- pom.xml --
<project xmlns=\"http://maven.apache.org/POM/4.0.0\">
  <modelVersion>4.0.0</modelVersion>
  <groupId>demo</groupId>
  <artifactId>top</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <modules>
    <module>known</module>
    <module>unknown</module>
  </modules>
</project>
";

/// For `<plugins>`: adds JaCoCo.
const JACOCO: &str = "<plugins>
      <plugin>
        <groupId>org.jacoco</groupId>
        <artifactId>jacoco-maven-plugin</artifactId>
        <version>0.8.12</version>
        <executions><execution><goals><goal>prepare-agent</goal></goals></execution></executions>
      </plugin>";

const ONE: &str = "public class One {\n    public static int x() { return 1; }\n}";

/// Parallel classes, given to JUnit all at once.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn parallel_classes_of_junit_4_are_told_apart() {
    if !has_maven() {
        return;
    }
    let parallel = "<version>3.2.5</version>
        <configuration><parallel>classes</parallel><threadCount>2</threadCount></configuration>";
    let text = [
        pom("junit:junit:4.13.2", "3.2.5", "").replace("<version>3.2.5</version>", parallel),
        main("One", ONE),
        junit4("OneTest", "assertEquals(1, One.x());"),
        junit4("OtherTest", "assertTrue(true);"),
        junit4("ThirdTest", "assertTrue(true);"),
    ];
    let project = Maven::new(&text.concat());
    let first = project.run();
    first.are(&["demo.OneTest", "demo.OtherTest", "demo.ThirdTest"]);
    assert!(first.told.contains("\"incomplete\":0"), "{}", first.told);
    project.run().are(&[]);
    project.edit("src/main/java/demo/One.java", "return 1", "return 3 - 1");
    let broken = project.run();
    // Classes that ran at the same time share all events.
    assert!(broken.tests.contains("demo.OneTest"), "{}", broken.told);
    assert_eq!(broken.code, 1, "{}", broken.told);
}

/// A module whose tests are never announced: they run every time, whatever is proven for the
/// others.
fn runs_every_time(unknown: &[String]) {
    let known = [
        pom(JUPITER, "3.2.5", ""),
        test("KnownTest", "assertTrue(true);"),
    ];
    let text = [
        TOP.to_owned(),
        in_module("known", &known.concat()),
        in_module("unknown", &unknown.concat()),
    ];
    let project = Maven::new(&text.concat());
    project.run().are(&["known/demo.KnownTest"]);
    for _ in 0..2 {
        let reports = project.root().join("unknown/target/surefire-reports");
        fs_err::remove_dir_all(&reports).unwrap();
        let again = project.run();
        again.are(&[]);
        assert!(reports.is_dir(), "{}", again.told);
    }
    let main = "unknown/src/main/java/demo/One.java";
    project.edit(main, "return 1", "return 3 - 1");
    // Everything in such a JVM counts for all tests, as it may belong to any.
    let broken = project.run();
    assert_eq!(broken.code, 1, "{}", broken.told);
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn tests_in_mavens_own_jvm_run_every_time() {
    if !has_maven() {
        return;
    }
    let inside = "<version>3.2.5</version>
        <configuration><forkCount>0</forkCount></configuration>";
    runs_every_time(&[
        pom(JUPITER, "3.2.5", "").replace("<version>3.2.5</version>", inside),
        main("One", ONE),
        test("OneTest", "assertEquals(1, One.x());"),
    ]);
}

/// Tests of JUnit 3, an older Surefire with an `argLine`, JaCoCo and Mockito's inline mocks,
/// all in one JVM.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn other_agents_and_older_tests_stand_beside() {
    if !has_maven() {
        return;
    }
    let mockito = "<dependencies>
    <dependency>
      <groupId>org.mockito</groupId>
      <artifactId>mockito-core</artifactId>
      <version>5.11.0</version>
      <scope>test</scope>
    </dependency>";
    let older = "<version>2.22.2</version>
        <configuration><argLine>@{argLine} -Xmx300m</argLine></configuration>";
    let final_class = "public final class Last {\n    public int x() { return 1; }\n}";
    let text = [
        pom("junit:junit:4.13.2", "2.22.2", "")
            .replace("<plugins>", JACOCO)
            .replace("<dependencies>", mockito)
            .replace("<version>2.22.2</version>", older),
        main("One", ONE),
        main("Last", final_class),
        junit4("MockTest", "Last last = org.mockito.Mockito.mock(Last.class);\n        org.mockito.Mockito.when(last.x()).thenReturn(5);\n        assertEquals(5, last.x());"),
        "-- src/test/java/demo/OldTest.java --\npackage demo;\n\npublic class OldTest extends junit.framework.TestCase {\n    public void testOne() { assertEquals(1, One.x()); }\n}\n".to_owned(),
        junit4("OtherTest", "assertTrue(true);"),
    ];
    let project = Maven::new(&text.concat());
    let first = project.run();
    first.are(&["demo.MockTest", "demo.OldTest", "demo.OtherTest"]);
    assert_eq!(first.code, 0, "{}", first.told);
    assert!(first.told.contains("\"incomplete\":0"), "{}", first.told);
    assert!(project.exists("target/jacoco.exec"));
    project.run().are(&[]);
    project.edit(
        "src/main/java/demo/One.java",
        "return 1",
        "return Integer.valueOf(1)",
    );
    project.run().are(&["demo.OldTest"]);
    project.edit(
        "src/main/java/demo/Last.java",
        "return 1",
        "return Integer.valueOf(1)",
    );
    project.run().are(&["demo.MockTest"]);
}

/// Properties that one test sets for the next, and properties of the system.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn properties_of_the_system_are_seen() {
    if !has_maven() {
        return;
    }
    let text = [
        pom(JUPITER, "3.2.5", ""),
        main(
            "Setter",
            "public class Setter {\n    public static void set() { System.setProperty(\"demo.on\", \"true\"); }\n}",
        ),
        test("ASetTest", "Setter.set();"),
        test("BGetTest", "assertTrue(Boolean.getBoolean(\"demo.on\"));"),
        test(
            "LanguageTest",
            "assertNotNull(System.getProperty(\"user.language\"));",
        ),
        test("OtherTest", "assertNull(System.getProperty(\"demo.off\"));"),
    ];
    let order = "<version>3.2.5</version>
        <configuration><runOrder>alphabetical</runOrder></configuration>";
    let text = text.concat().replace("<version>3.2.5</version>", order);
    let mut project = Maven::new(&text);
    project.set_env("LANG", "C.UTF-8");
    let first = project.run();
    assert_eq!(first.code, 0, "{}", first.told);
    assert!(first.told.contains("\"incomplete\":0"), "{}", first.told);
    project.run().are(&[]);
    project.edit(
        "src/main/java/demo/Setter.java",
        "\"true\"",
        "String.valueOf(true)",
    );
    project.run().are(&["demo.ASetTest", "demo.BGetTest"]);
    project.set_env("LANG", "C");
    project.run().are(&["demo.LanguageTest"]);
}

/// When JUnit must stop after a failure, it goes through the other classes without running
/// them.
fn stops_after_a_failure(parallel: &str) {
    if !has_maven() {
        return;
    }
    let stops = format!(
        "<version>3.2.5</version>
        <configuration><runOrder>alphabetical</runOrder><skipAfterFailureCount>1</skipAfterFailureCount>{parallel}</configuration>"
    );
    let text = [
        pom("junit:junit:4.13.2", "3.2.5", "").replace("<version>3.2.5</version>", &stops),
        main("One", ONE),
        junit4("AFirstTest", "assertEquals(1, One.x());"),
        junit4("BNextTest", "assertTrue(true);"),
        junit4("CLastTest", "assertTrue(true);"),
    ];
    let project = Maven::new(&text.concat().replace("return 1", "return 3"));
    let broken = project.run();
    assert_eq!(broken.code, 1, "{}", broken.told);
    project.edit("src/main/java/demo/One.java", "return 3", "return 1");
    let mended = project.run();
    assert!(mended.tests.contains("demo.AFirstTest"), "{}", mended.told);
    assert!(mended.tests.contains("demo.CLastTest"), "{}", mended.told);
    assert_eq!(mended.code, 0, "{}", mended.told);
    project.run().are(&[]);
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn what_does_not_run_after_a_failure_proves_nothing() {
    stops_after_a_failure("");
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn what_does_not_run_after_a_failure_in_parallel_proves_nothing() {
    stops_after_a_failure(
        "<parallel>classes</parallel><threadCount>1</threadCount><perCoreThreadCount>false</perCoreThreadCount>",
    );
}

/// In classes for older versions of Java, JaCoCo counts in a static field, which changes with
/// each test.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn what_jacoco_counts_is_no_state() {
    if !has_maven() {
        return;
    }
    let text = [
        pom("junit:junit:4.13.2", "3.2.5", "")
            .replace("<plugins>", JACOCO)
            .replace(">17<", ">8<"),
        main("One", ONE),
        main("Shared", &ONE.replace("One", "Shared")),
        junit4("ATest", "assertEquals(Shared.x(), One.x());"),
        junit4("BTest", "assertEquals(1, Shared.x());"),
        junit4("CTest", "assertEquals(Shared.x(), One.x());"),
    ];
    let project = Maven::new(&text.concat());
    project
        .run()
        .are(&["demo.ATest", "demo.BTest", "demo.CTest"]);
    let one = "src/main/java/demo/One.java";
    project.edit(one, "return 1", "return Integer.valueOf(1)");
    project.run().are(&["demo.ATest", "demo.CTest"]);
}

/// A test that ends the JVM has not passed, and neither have the tests that were cut off.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn what_ends_the_jvm_has_not_passed() {
    ends_the_jvm(&["five", "four"]);
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn what_ends_the_jvm_of_older_tests_has_not_passed() {
    ends_the_jvm(&["old", "three"]);
}

/// In modules of these names, one for each provider of Surefire.
fn ends_the_jvm(names: &[&str]) {
    if !has_maven() {
        return;
    }
    let exit = "if (!new java.io.File(\"calm\").exists()) { System.exit(0); }";
    let clears =
        format!("@org.junit.AfterClass public static void clear() {{ {exit} }}\n    @Test");
    let junit = "junit:junit:4.13.2";
    let all = [
        (
            "five",
            "five/demo.FiveTest",
            pom(JUPITER, "3.2.5", "") + &test("FiveTest", exit),
        ),
        (
            "four",
            "four/demo.FourTest",
            pom(junit, "3.2.5", "") + &junit4("FourTest", "").replace("@Test", &clears),
        ),
        (
            "old",
            "old/demo.OldTest",
            pom(junit, "2.22.2", "") + &junit4("OldTest", exit),
        ),
        (
            "three",
            "three/demo.ThreeTest",
            pom("junit:junit:3.8.2", "3.2.5", "")
                + &format!(
                    "-- src/test/java/demo/ThreeTest.java --\npackage demo;\n\npublic class ThreeTest extends junit.framework.TestCase {{\n    public void testExit() {{ {exit} }}\n}}\n"
                ),
        ),
    ];
    let asked = || all.iter().filter(|(name, ..)| names.contains(name));
    let modules: String = asked()
        .map(|(name, _, text)| in_module(name, text))
        .collect();
    let top = TOP.replace(
        "known</module>\n    <module>unknown",
        &names.join("</module>\n    <module>"),
    );
    let project = Maven::new(&format!("{top}{modules}"));
    let both: Vec<&str> = asked().map(|(_, test, _)| *test).collect();
    let command = ["--", "mvn", "--fail-at-end", "test"];
    for _ in 0..2 {
        let ran = project.run_with(&command);
        ran.are(&both);
        assert!(!ran.told.contains("passed\""), "{}", ran.told);
    }
    for module in names {
        project.write(&format!("{module}/calm"), "");
    }
    let calm = project.run_with(&command);
    calm.are(&both);
    assert_eq!(calm.code, 0, "{}", calm.told);
    project.run_with(&command).are(&[]);
}

/// From now on the project's own code may read nothing, as with a policy file.
const GUARD: &str = "@org.junit.BeforeClass public static void guard() {
        java.security.Policy.setPolicy(new java.security.Policy() {
            public boolean implies(java.security.ProtectionDomain by, java.security.Permission what) {
                var source = by.getCodeSource();
                return source == null || !source.getLocation().getPath().endsWith(\"classes/\");
            }
        });
        System.setSecurityManager(new SecurityManager());
    }
    static void denied(Runnable what) {
        try { what.run(); } catch (SecurityException denied) { return; }
        fail();
    }
    @Test";

/// Calls of the agent during a test do not use the permissions of the test.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn a_security_manager_sees_no_collector() {
    if !has_maven() {
        return;
    }
    let allowed = "<version>3.2.5</version><configuration>\
                   <argLine>-Djava.security.manager=allow</argLine></configuration>";
    let asks = "assertEquals(1, One.x());
        denied(() -> new java.io.File(\"data\").exists());
        denied(() -> System.getProperty(\"user.home\"));
        denied(() -> System.getenv(\"HOME\"));
        denied(() -> One.class.getProtectionDomain());";
    let text = [
        pom("junit:junit:4.13.2", "3.2.5", "").replace("<version>3.2.5</version>", allowed),
        main("One", ONE),
        main("Two", &ONE.replace("One", "Two")),
        junit4("GuardedTest", asks).replace("@Test", GUARD),
        junit4("OtherTest", "assertEquals(1, Two.x());"),
    ];
    let project = Maven::new(&text.concat());
    let all = project.run();
    all.are(&["demo.GuardedTest", "demo.OtherTest"]);
    assert_eq!(all.code, 0, "{}", all.told);
    project.run().are(&[]);
    // The manager stays for the later class, which therefore has the units of the first one.
    let both: &[&str] = &["demo.GuardedTest", "demo.OtherTest"];
    for (class, tests) in [("One", both), ("Two", &["demo.OtherTest"])] {
        let path = format!("src/main/java/demo/{class}.java");
        project.edit(&path, "return 1", "return Integer.valueOf(1)");
        project.run().are(tests);
    }
    project.run().are(&[]);
}

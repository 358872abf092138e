//! JUnit 3 without JUnit 4: Surefire runs it itself, together with classes that are not a
//! `TestCase`.

use super::harness::*;

const JUNIT: &str = "junit:junit:3.8.2";

fn case(name: &str, of: &str, statement: &str) -> String {
    format!(
        "-- src/test/java/demo/{name}.java --
package demo;

import junit.framework.*;

public class {name} extends {of} {{
    public void testWorks() throws Exception {{ {statement} }}
}}
"
    )
}

/// Surefire's two ways to call them, up to 3.0.0-M5 and since then.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn its_classes_are_told_apart() {
    if !has_maven() {
        return;
    }
    let one = "public class One {\n    public static int x() { return 1; }\n}";
    let base = "-- src/test/java/demo/Base.java --
package demo;

public abstract class Base extends junit.framework.TestCase {
}
";
    let plain = "-- src/test/java/demo/PlainTest.java --
package demo;

public class PlainTest {
    private final int x = One.x();
    public void testWorks() { if (x != 1) { throw new AssertionError(); } }
}
";
    let suite = "-- src/test/java/demo/SuiteTest.java --
package demo;

import junit.framework.*;

public class SuiteTest {
    public static Test suite() { return new TestSuite(CaseTest.class); }
}
";
    for version in ["3.2.5", "2.22.2"] {
        let text = [
            pom(JUNIT, version, ""),
            main("One", one),
            main("Two", &one.replace("One", "Two")),
            base.to_owned(),
            case("CaseTest", "TestCase", "assertEquals(1, One.x());"),
            case("BasedTest", "Base", "assertEquals(1, Two.x());"),
            plain.to_owned(),
            suite.to_owned(),
        ];
        let project = Maven::new(&text.concat());
        let first = project.run();
        first.are(&[
            "demo.BasedTest",
            "demo.CaseTest",
            "demo.PlainTest",
            "demo.SuiteTest",
        ]);
        assert_eq!(first.code, 0, "{}", first.told);
        assert!(first.told.contains("\"incomplete\":0"), "{}", first.told);
        project.edit("src/main/java/demo/One.java", "return 1", "return 3");
        let broken = project.run();
        broken.are(&["demo.CaseTest", "demo.PlainTest", "demo.SuiteTest"]);
        assert_eq!(broken.code, 1, "{}", broken.told);
        assert!(broken.told.contains("\"failed\":3"), "{}", broken.told);
        // Failed tests run again. A test added to a base class is one of its subclasses.
        project.edit(
            "src/test/java/demo/Base.java",
            "TestCase {",
            "TestCase {\n    public void testMore() { fail(); }",
        );
        let more = project.run();
        more.are(&[
            "demo.BasedTest",
            "demo.CaseTest",
            "demo.PlainTest",
            "demo.SuiteTest",
        ]);
        project.edit("src/main/java/demo/One.java", "return 3", "return 1");
        project.edit("src/test/java/demo/Base.java", "fail();", "");
        assert_eq!(project.run().code, 0);
        let again = project.run();
        again.are(&[]);
        assert!(
            again.told.contains("no change can affect a test"),
            "{}",
            again.told
        );
    }
}

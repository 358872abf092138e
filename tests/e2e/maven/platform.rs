//! What the JUnit Platform does before tests, and keeps for later tests.

use super::harness::*;

/// A test class of JUnit 5.
fn class(name: &str, head: &str, body: &str) -> String {
    let (package, short) = match name.rsplit_once('/') {
        Some((package, short)) => (format!("demo.{package}"), short),
        None => ("demo".to_owned(), name),
    };
    format!(
        "-- src/test/java/demo/{name}.java --
package {package};

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.*;
import org.junit.jupiter.api.extension.*;

{head} {short} {{
    {body}
}}
"
    )
}

fn returns(name: &str, value: usize) -> String {
    let body =
        format!("public class {name} {{\n    public static int x() {{ return {value}; }}\n}}");
    main(name, &body)
}

fn java(name: &str) -> String {
    format!("src/main/java/demo/{name}.java")
}

fn test_java(name: &str) -> String {
    format!("src/test/java/demo/{name}.java")
}

fn with(dependency: &str, version: &str) -> impl Fn(&str) -> String {
    let (group, artifact) = dependency.split_once(':').unwrap();
    let more = format!(
        "<dependencies>
    <dependency>
      <groupId>{group}</groupId>
      <artifactId>{artifact}</artifactId>
      <version>{version}</version>
      <scope>test</scope>
    </dependency>"
    );
    move |pom| pom.replace("<dependencies>", &more)
}

/// JUnit inspects nested classes, also those of a test class's superclass.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn nested_classes_without_tests_come_to_have_some() {
    if !has_maven() {
        return;
    }
    let inner = "@Nested class Inner { void later() { fail(); } }";
    let text = [
        pom(JUPITER, "3.2.5", ""),
        class(
            "ATest",
            "class",
            &format!("@Test void works() {{ }} {inner}"),
        ),
        class("Base", "abstract class", inner),
        class("BTest", "class", "@Test void works() { }")
            .replace("BTest {", "BTest extends Base {"),
        test("CTest", "assertTrue(true);"),
    ];
    let project = Maven::new(&text.concat());
    project
        .run()
        .are(&["demo.ATest", "demo.BTest", "demo.CTest"]);
    project.edit(&test_java("ATest"), "void later", "@Test void later");
    let broken = project.run();
    broken.are(&["demo.ATest"]);
    assert_eq!(broken.code, 1, "{}", broken.told);
    project.edit(&test_java("ATest"), "@Test void later", "void later");
    project.edit(&test_java("Base"), "void later", "@Test void later");
    let broken = project.run();
    assert!(broken.tests.contains("demo.BTest"), "{}", broken.told);
    assert!(!broken.tests.contains("demo.CTest"), "{}", broken.told);
    assert_eq!(broken.code, 1, "{}", broken.told);
}

/// A suite of a package contains the tests that are found there.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn suites_find_new_tests() {
    if !has_maven() {
        return;
    }
    let suite = "import org.junit.platform.suite.api.*;

@Suite @SelectPackages(\"demo.cases\") @IncludeClassNamePatterns(\".*\")";
    let text = [
        with("org.junit.platform:junit-platform-suite", "1.10.2")(&pom(JUPITER, "3.2.5", "")),
        returns("One", 1),
        returns("Two", 2),
        class("AllTest", "public class", "")
            .replace("public class", &format!("{suite}\npublic class")),
        class(
            "cases/First",
            "class",
            "@Test void works() { assertEquals(1, demo.One.x()); }",
        ),
        class("cases/Plain", "class", "void later() { fail(); }"),
        test("OwnTest", "assertEquals(2, Two.x());"),
    ];
    let project = Maven::new(&text.concat());
    project.run().are(&["demo.AllTest", "demo.OwnTest"]);
    project.run().are(&[]);
    project.edit(&java("Two"), "return 2", "return 2 + Math.abs(0)");
    project.run().are(&["demo.OwnTest"]);
    let broken = |project: &Maven| {
        let broken = project.run();
        broken.are(&["demo.AllTest"]);
        assert_eq!(broken.code, 1, "{}", broken.told);
    };
    let first = project.read(&test_java("cases/First"));
    let new = first.replace("First", "Second").replace("(1,", "(2,");
    project.write(&test_java("cases/Second"), &new);
    project.commit("new");
    broken(&project);
    project.edit(&test_java("cases/Second"), "(2,", "(1,");
    project.run().are(&["demo.AllTest"]);
    project.edit(&test_java("cases/Plain"), "void later", "@Test void later");
    broken(&project);
}

/// With parallel classes, work before a class belongs to it, and not to those that run at the
/// time.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn what_comes_before_a_class_is_of_that_class() {
    if !has_maven() {
        return;
    }
    let parallel = "-- src/test/resources/junit-platform.properties --
junit.jupiter.execution.parallel.enabled=true
junit.jupiter.execution.parallel.mode.default=same_thread
junit.jupiter.execution.parallel.mode.classes.default=concurrent
junit.jupiter.execution.parallel.config.strategy=fixed
junit.jupiter.execution.parallel.config.fixed.parallelism=2
junit.jupiter.testclass.order.default=org.junit.jupiter.api.ClassOrderer$OrderAnnotation
";
    let waits = |name: &str, order: usize, until: &str| {
        let body = format!(
            "@Test void works() throws Exception {{
        for (int i = 0; i < 600 && !({until}); i++) {{ Thread.sleep(10); }}
    }}"
        );
        class(name, &format!("@Order({order}) class"), &body)
    };
    let extension = "public Extends() {
        if (One.x() != 1) { throw new IllegalStateException(); }
        made = true;
    }
    static volatile boolean made;
    public void beforeAll(ExtensionContext context) { }";
    let extended = "@Order(3) @ExtendWith(Extends.class) class";
    let text = [
        pom(JUPITER, "3.2.5", ""),
        parallel.to_owned(),
        returns("One", 1),
        // It runs until the last class's extension is made.
        waits("LongTest", 1, "System.getProperty(\"made\") != null"),
        waits("ShortTest", 2, "i > 50"),
        class("Extends", "public class", extension)
            .replace("Extends {", "Extends implements BeforeAllCallback {")
            .replace("made = true", "System.setProperty(\"made\", \"\")"),
        class("ExtendedTest", extended, "@Test void works() { }"),
    ];
    let project = Maven::new(&text.concat());
    project
        .run()
        .are(&["demo.ExtendedTest", "demo.LongTest", "demo.ShortTest"]);
    project.edit(&java("One"), "return 1", "return 2");
    let broken = project.run();
    assert!(
        broken.tests.contains("demo.ExtendedTest"),
        "{}",
        broken.told
    );
    assert_eq!(broken.code, 1, "{}", broken.told);
}

/// A value that one test class puts into JUnit's common store is visible to another.
fn stores_are_state(jupiter: &str, surefire: &str) {
    if !has_maven() {
        return;
    }
    let extension = "static int found;
    public void beforeAll(ExtensionContext context) {
        var store = context.getRoot().getStore(ExtensionContext.Namespace.GLOBAL);
        found = store.getOrComputeIfAbsent(\"it\", key -> One.x(), Integer.class);
    }";
    let extended = |name: &str, statement: &str| {
        let body = format!("@Test void works() {{ {statement} }}");
        class(name, "@ExtendWith(Extends.class) class", &body)
    };
    let timed = |name: &str| class(name, "class", "@Test @Timeout(60) void works() { }");
    let text = [
        pom(jupiter, surefire, ""),
        returns("One", 1),
        class("Extends", "public class", extension)
            .replace("Extends {", "Extends implements BeforeAllCallback {"),
        extended("ATest", "assertTrue(Extends.found > 0);"),
        extended("BTest", "assertEquals(1, Extends.found);"),
        timed("CTest"),
        timed("DTest"),
    ];
    let text = text.concat().replace(
        "</version>\n      </plugin>",
        "</version>\n        <configuration><runOrder>alphabetical</runOrder></configuration>\n      </plugin>",
    );
    let project = Maven::new(&text);
    let first = project.run();
    first.are(&["demo.ATest", "demo.BTest", "demo.CTest", "demo.DTest"]);
    assert!(first.told.contains("\"incomplete\":0"), "{}", first.told);
    project.edit(&java("One"), "return 1", "return 2");
    let broken = project.run();
    broken.are(&["demo.ATest", "demo.BTest"]);
    assert_eq!(broken.code, 1, "{}", broken.told);
    // JUnit's own entries pass on nothing.
    project.edit(&java("One"), "return 2", "return 1");
    project.edit(&test_java("CTest"), "works", "worksToo");
    let mended = project.run();
    assert!(mended.tests.contains("demo.CTest"), "{}", mended.told);
    assert!(!mended.tests.contains("demo.DTest"), "{}", mended.told);
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn stores_of_junit_5_are_state() {
    stores_are_state(JUPITER, "3.2.5");
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn stores_of_older_and_newer_junits_are_state() {
    stores_are_state("org.junit.jupiter:junit-jupiter:5.8.2", "3.2.5");
    stores_are_state("org.junit.jupiter:junit-jupiter:6.0.1", "3.5.4");
}

/// A Spring context that was made for one test class serves others.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn what_makes_a_context_of_spring_counts_for_all_that_use_it() {
    if !has_maven() {
        return;
    }
    let config = "-- src/test/java/demo/Config.java --
package demo;

import org.springframework.context.annotation.*;

@Configuration(proxyBeanMethods = false)
public class Config {
    @Bean
    public Integer number() { return One.x(); }
}
";
    let in_spring = |name: &str, statement: &str| {
        let head = "@org.springframework.test.context.junit.jupiter.SpringJUnitConfig(Config.class)
class";
        let body = format!(
            "@org.springframework.beans.factory.annotation.Autowired Integer number;
    @Test void works() {{ {statement} }}"
        );
        class(name, head, &body)
    };
    let pom = pom(JUPITER, "3.2.5", "").replace(
        "</version>\n      </plugin>",
        "</version>\n        <configuration><runOrder>alphabetical</runOrder></configuration>\n      </plugin>",
    );
    let pom = with("org.springframework:spring-test", "6.1.14")(&pom);
    let text = [
        with("org.springframework:spring-context", "6.1.14")(&pom),
        returns("One", 1),
        returns("Two", 2),
        config.to_owned(),
        in_spring("ATest", "assertTrue(number > 0); assertEquals(2, Two.x());"),
        in_spring("BTest", "assertEquals(1, number);"),
        test("CTest", "assertTrue(true);"),
    ];
    let project = Maven::new(&text.concat());
    let first = project.run();
    first.are(&["demo.ATest", "demo.BTest", "demo.CTest"]);
    assert!(first.told.contains("\"incomplete\":0"), "{}", first.told);
    project.edit(&java("Two"), "return 2", "return 2 + Math.abs(0)");
    project.run().are(&["demo.ATest"]);
    project.edit(&java("One"), "return 1", "return 2");
    let broken = project.run();
    broken.are(&["demo.ATest", "demo.BTest"]);
    assert_eq!(broken.code, 1, "{}", broken.told);
}

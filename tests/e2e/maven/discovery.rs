//! What frameworks inspect while they look for tests, before any test begins.

use super::frameworks::in_module;
use super::harness::*;

const VINTAGE: &str = "org.junit.vintage:junit-vintage-engine:5.10.2";
const JUNIT4: &str = "junit:junit:4.13.2";
const TESTNG: &str = "org.testng:testng:7.5.1";

fn top(modules: &[&str]) -> String {
    let modules: String = modules
        .iter()
        .map(|module| format!("    <module>{module}</module>\n"))
        .collect();
    format!(
        "-- pom.xml --
<project xmlns=\"http://maven.apache.org/POM/4.0.0\">
  <modelVersion>4.0.0</modelVersion>
  <groupId>demo</groupId>
  <artifactId>top</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <modules>
{modules}  </modules>
</project>
"
    )
}

/// Adds JUnit 5 to the pom.
fn with_jupiter(pom: &str) -> String {
    let (group, rest) = JUPITER.split_once(':').unwrap();
    let (artifact, version) = rest.split_once(':').unwrap();
    let more = format!(
        "<dependencies>
    <dependency>
      <groupId>{group}</groupId>
      <artifactId>{artifact}</artifactId>
      <version>{version}</version>
      <scope>test</scope>
    </dependency>"
    );
    pom.replace("<dependencies>", &more)
}

fn with_settings(pom: &str, settings: &str) -> String {
    let settings = format!("<version>3.2.5</version><configuration>{settings}</configuration>");
    pom.replace("<version>3.2.5</version>", &settings)
}

/// A public test source in the package `demo`.
fn java(name: &str, text: &str) -> String {
    format!(
        "-- src/test/java/demo/{name}.java --
package demo;

import static org.junit.Assert.*;
import java.util.*;
import org.junit.*;
import org.junit.runner.RunWith;
import org.junit.runners.*;

{text}
"
    )
}

/// A test class of JUnit 4 that extends a class without any part of JUnit.
fn extends(name: &str) -> String {
    let base = java(
        &format!("{name}Base"),
        &format!("public abstract class {name}Base {{\n    // more\n}}"),
    );
    let text = format!(
        "public class {name}Test extends {name}Base {{\n    @Test public void works() {{ }}\n}}"
    );
    base + &java(&format!("{name}Test"), &text)
}

const FAILS: &str = "{ throw new IllegalStateException(); }";

fn test_java(name: &str) -> String {
    format!("src/test/java/demo/{name}.java")
}

/// In each of these classes, replaces a mark by code that makes tests fail, and commits.
fn add_all(project: &Maven, module: &str, members: &[(&str, &str)]) {
    for (class, member) in members {
        let path = format!("{module}{}", test_java(class));
        let text = project.read(&path);
        let mark = "// more";
        assert!(text.contains(mark), "{path}");
        let member = format!("{member} {FAILS}\n    {mark}");
        project.write(&path, &text.replace(mark, &member));
    }
    project.commit("edit");
}

/// A class of parameters that are made from the declarations of `Looked`.
fn parameters(name: &str, looked: &str) -> String {
    let looked_at = java(
        looked,
        &format!("public class {looked} {{\n    public void one() {{ }}\n    // more\n}}"),
    );
    let text = format!(
        "@RunWith(Parameterized.class)
public class {name} {{
    @Parameterized.Parameters
    public static List<Object[]> data() {{
        return List.of(new Object[][] {{ {{ {looked}.class.getDeclaredMethods().length }} }});
    }}
    @Parameterized.Parameter public int count;
    @Test public void works() {{ assertEquals(1, count); }}
}}"
    );
    looked_at + &java(name, &text)
}

/// During discovery the engines inspect the supertypes of test classes.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn what_engines_look_at_before_tests_counts() {
    if !has_maven() {
        return;
    }
    let text = [
        with_jupiter(&pom(VINTAGE, "3.2.5", "")),
        extends("Before"),
        java("RootBase", "public abstract class RootBase {\n    // more\n}"),
        extends("After").replace("class AfterBase {", "class AfterBase extends RootBase {"),
        java("RunBase", "// runner\npublic abstract class RunBase { }"),
        extends("Run").split("-- src").last().map(|text| format!("-- src{text}")).unwrap(),
        extends("More"),
        java("CaseBase", "public abstract class CaseBase extends junit.framework.TestCase {\n    // more\n}"),
        java("CaseTest", "public class CaseTest extends CaseBase {\n    public void testOne() { }\n}"),
        extends("Inner"),
        java("EnclosedTest", "@RunWith(org.junit.experimental.runners.Enclosed.class)
public class EnclosedTest {
    public static class Inner extends InnerBase { @Test public void works() { } }
}"),
        java("ParameterBase", "public abstract class ParameterBase {\n    // more\n}"),
        java("ParameterTest", "@RunWith(Parameterized.class)
public class ParameterTest extends ParameterBase {
    @Parameterized.Parameters public static List<Object[]> data() { return List.of(new Object[][] { { 1 } }); }
    @Parameterized.Parameter public int value;
    @Test public void works() { }
}"),
        java("MemberBase", "public abstract class MemberBase {\n    // more\n}"),
        java("Member", "public class Member extends MemberBase {\n    @Test public void works() { }\n}"),
        java("SuiteTest", "@RunWith(Suite.class) @Suite.SuiteClasses(Member.class)\npublic class SuiteTest { }"),
        parameters("LookTest", "Looked"),
        java("Face", "public interface Face {\n    // more\n}"),
        java("FaceTest", "class FaceTest implements Face {\n    @org.junit.jupiter.api.Test void works() { }\n}"),
        java("FiveBase", "public abstract class FiveBase {\n    // more\n}"),
        java("FiveTest", "class FiveTest extends FiveBase {\n    @org.junit.jupiter.api.Test void works() { }\n}"),
        extends("Other"),
        java("OtherFiveTest", "class OtherFiveTest {\n    @org.junit.jupiter.api.Test void works() { }\n}"),
    ];
    // `InnerTest` only exists for its base class.
    let project = Maven::new(&text.concat());
    project.remove(&test_java("InnerTest"));
    project.commit("first");
    let first = project.run();
    assert_eq!(first.code, 0, "{}", first.told);
    assert!(first.told.contains("\"incomplete\":0"), "{}", first.told);
    assert_eq!(first.tests.len(), 13, "{}", first.told);
    project.run().are(&[]);
    let path = test_java("RunBase");
    let runner = "@RunWith(RunBase.Refuses.class)";
    let body = "{
    public static class Refuses extends BlockJUnit4ClassRunner {
        public Refuses(Class<?> test) throws Exception { super(test); throw new Exception(); }
    }
}";
    let edited = project.read(&path).replace("// runner", runner);
    project.write(&path, &edited.replace("{ }", body));
    let members = [
        ("BeforeBase", "@Before public void before()"),
        ("RootBase", "@After public void after()"),
        ("MoreBase", "@Test public void more()"),
        ("CaseBase", "public void testMore()"),
        ("InnerBase", "@Test public void more()"),
        ("ParameterBase", "@Before public void before()"),
        ("MemberBase", "@Test public void more()"),
        ("Looked", "public void more()"),
        ("Face", "@org.junit.jupiter.api.Test default void more()"),
        (
            "FiveBase",
            "@org.junit.jupiter.api.BeforeEach void before()",
        ),
    ];
    add_all(&project, "", &members);
    let broken = project.run();
    let all = [
        "AfterTest",
        "BeforeTest",
        "CaseTest",
        "EnclosedTest",
        "FaceTest",
        "FiveTest",
        "LookTest",
        "MoreTest",
        "ParameterTest",
        "RunTest",
        "SuiteTest",
    ];
    let all = all.map(|name| format!("demo.{name}"));
    broken.are(&all.each_ref().map(String::as_str));
    let failed = broken.told.matches("Test\": \"failed\"").count();
    assert_eq!(failed, all.len(), "{}", broken.told);
}

/// Other providers of Surefire, and names that begin like descriptors.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn what_providers_look_at_before_tests_counts() {
    if !has_maven() {
        return;
    }
    let four = [
        with_settings(
            &pom(JUNIT4, "3.2.5", ""),
            "<parallel>classes</parallel><threadCount>1</threadCount><perCoreThreadCount>false</perCoreThreadCount>",
        ),
        extends("Four"),
        java(
            "FourMemberBase",
            "public abstract class FourMemberBase {\n    // more\n}",
        ),
        java(
            "FourMember",
            "public class FourMember extends FourMemberBase {\n    @Test public void works() { }\n}",
        ),
        java(
            "FourSuiteTest",
            "@RunWith(Suite.class) @Suite.SuiteClasses(FourMember.class)\npublic class FourSuiteTest { }",
        ),
        parameters("FourLookTest", "FourLooked"),
        extends("FourOther"),
    ];
    let ng = [
        pom(TESTNG, "3.2.5", ""),
        "-- src/test/java/demo/NgBase.java --\npackage demo;\npublic abstract class NgBase {\n    // more\n}\n".to_owned(),
        "-- src/test/java/demo/NgTest.java --\npackage demo;\npublic class NgTest extends NgBase {\n    @org.testng.annotations.Test public void works() { }\n}\n".to_owned(),
        "-- src/test/java/demo/NgOtherTest.java --\npackage demo;\npublic class NgOtherTest {\n    @org.testng.annotations.Test public void works() { }\n}\n".to_owned(),
    ];
    let plain = [
        with_settings(&pom(JUNIT4, "3.2.5", ""), "<runOrder>alphabetical</runOrder>"),
        "-- src/main/java/LLid.java --\npublic class LLid {\n    public static Object held;\n}\n".to_owned(),
        "-- src/main/java/Lone.java --\npublic class Lone {\n    public static int x() { return 1; }\n}\n".to_owned(),
        "-- src/main/java/Gen.java --\npublic class Gen {\n    public static Integer v() { return 1; }\n}\n".to_owned(),
        "-- src/test/java/LATest.java --\npublic class LATest {\n    @org.junit.Test public void fills() { LLid.held = Gen.v(); }\n}\n".to_owned(),
        "-- src/test/java/LBTest.java --\npublic class LBTest {\n    @org.junit.Test public void reads() { org.junit.Assert.assertEquals(1, LLid.held); }\n}\n".to_owned(),
        "-- src/test/java/LCTest.java --\npublic class LCTest {\n    @org.junit.Test public void calls() { org.junit.Assert.assertEquals(1, Lone.x()); }\n}\n".to_owned(),
    ];
    let text = [
        top(&["four", "ng", "plain"]),
        in_module("four", &four.concat()),
        in_module("ng", &ng.concat()),
        in_module("plain", &plain.concat()),
    ];
    let project = Maven::new(&text.concat());
    let command = ["--", "mvn", "--fail-at-end", "test"];
    let first = project.run_with(&command);
    first.are(&[
        "four/demo.FourLookTest",
        "four/demo.FourMember",
        "four/demo.FourOtherTest",
        "four/demo.FourSuiteTest",
        "four/demo.FourTest",
        "ng/demo.NgOtherTest",
        "ng/demo.NgTest",
        "plain/LATest",
        "plain/LBTest",
        "plain/LCTest",
    ]);
    assert!(first.told.contains("\"incomplete\":0"), "{}", first.told);
    project.run_with(&command).are(&[]);
    let path = "plain/src/main/java/Gen.java";
    project.write(path, &project.read(path).replace("return 1", "return 2"));
    let path = format!("ng/{}", test_java("NgBase"));
    let member = format!("@org.testng.annotations.BeforeMethod public void before() {FAILS}");
    project.write(&path, &project.read(&path).replace("// more", &member));
    let members = [
        ("FourBase", "@Before public void before()"),
        ("FourMemberBase", "@Test public void more()"),
    ];
    add_all(&project, "four/", &members);
    let broken = project.run_with(&command);
    broken.are(&[
        "four/demo.FourMember",
        "four/demo.FourSuiteTest",
        "four/demo.FourTest",
        "ng/demo.NgTest",
        "plain/LATest",
        "plain/LBTest",
    ]);
    let failed = broken.told.matches("\": \"failed\"").count();
    assert_eq!(failed, 5, "{}", broken.told);
    // It is unknown whose parameters these are, so they count for all.
    add_all(&project, "four/", &[("FourLooked", "public void more()")]);
    let broken = project.run_with(&command);
    let failed = broken.told.contains("FourLookTest\": \"failed\"");
    assert!(failed, "{}", broken.told);
}

/// Code that runs while a test class is discovered belongs to that class.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn what_makes_one_classs_tests_counts_for_this_class() {
    if !has_maven() {
        return;
    }
    let returns = |name: &str| {
        main(
            name,
            &format!("public class {name} {{\n    public static int x() {{ return 1; }}\n}}"),
        )
    };
    let asks = |name: &str| {
        let ask = "boolean found = true;
        try { Class.forName(\"demo.Missing\"); } catch (ClassNotFoundException e) { found = false; }
        assertFalse(found);";
        java(
            name,
            &format!("public class {name} {{\n    @Test public void works() {{ {ask} }}\n}}"),
        )
    };
    let ordered = "class OrderedTest {
    @org.junit.jupiter.api.Test void one() { }
    @org.junit.jupiter.api.Test void two() { }
}";
    let text = [
        with_settings(
            &with_jupiter(&pom(VINTAGE, "3.2.5", "")),
            "<runOrder>alphabetical</runOrder>",
        ),
        returns("Data"),
        returns("Order"),
        returns("Name"),
        main("Shared", "public class Shared {\n    public static int kept;\n    public static int seen() { return kept; }\n}"),
        java("DataTest", "@RunWith(Parameterized.class)
public class DataTest {
    @Parameterized.Parameters
    public static List<Object[]> data() { Shared.kept = Data.x(); return List.of(new Object[][] { { Data.x() } }); }
    @Parameterized.Parameter public int value;
    @Test public void works() { assertTrue(value > 0); }
}"),
        java("KeptTest", "public class KeptTest {\n    @Test public void works() { assertEquals(1, Shared.seen()); }\n}"),
        java("Orders", "public class Orders implements org.junit.jupiter.api.MethodOrderer {
    public void orderMethods(org.junit.jupiter.api.MethodOrdererContext context) { if (Order.x() == 2) { throw new Error(); } }
}"),
        java("Names", "public class Names extends org.junit.jupiter.api.DisplayNameGenerator.Standard {
    public String generateDisplayNameForMethod(Class<?> type, java.lang.reflect.Method method) { return \"n\" + Name.x(); }
}"),
        java("OrderedTest", &format!("@org.junit.jupiter.api.TestMethodOrder(Orders.class)\n{ordered}")),
        java("NamedTest", &format!("@org.junit.jupiter.api.DisplayNameGeneration(Names.class)\n{}", ordered.replace("OrderedTest", "NamedTest"))),
        asks("AskTest"),
        asks("AgainTest"),
        java("PlainTest", "public class PlainTest {\n    @Test public void works() { }\n}"),
        java("FiveTest", "class FiveTest {\n    @org.junit.jupiter.api.Test void works() { }\n}"),
    ];
    let project = Maven::new(&text.concat());
    let first = project.run();
    first.are(&[
        "demo.AgainTest",
        "demo.AskTest",
        "demo.DataTest",
        "demo.FiveTest",
        "demo.KeptTest",
        "demo.NamedTest",
        "demo.OrderedTest",
        "demo.PlainTest",
    ]);
    assert_eq!(first.code, 0, "{}", first.told);
    assert!(first.told.contains("\"incomplete\":0"), "{}", first.told);
    project.run().are(&[]);
    let path = |name: &str| format!("src/main/java/demo/{name}.java");
    let (from, to) = ("return 1", "return Integer.valueOf(1)");
    project.edit(&path("Name"), from, to);
    project.run().are(&["demo.NamedTest"]);
    project.edit(&path("Order"), from, to);
    project.run().are(&["demo.OrderedTest"]);
    // State in a static field belongs to all who read it.
    project.edit(&path("Data"), from, "return 2");
    let broken = project.run();
    broken.are(&["demo.DataTest", "demo.KeptTest"]);
    assert_eq!(broken.code, 1, "{}", broken.told);
    // Only these tests searched for the class in vain.
    project.write(
        &path("Missing"),
        "package demo;\n\npublic class Missing { }\n",
    );
    project.commit("new");
    let broken = project.run();
    broken.are(&["demo.AgainTest", "demo.AskTest", "demo.KeptTest"]);
    assert_eq!(broken.code, 1, "{}", broken.told);
}

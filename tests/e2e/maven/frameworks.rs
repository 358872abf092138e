//! Other frameworks, older versions of Surefire, and several modules.

use super::harness::*;

pub fn junit4(name: &str, statement: &str) -> String {
    format!(
        "-- src/test/java/demo/{name}.java --
package demo;

import static org.junit.Assert.*;
import org.junit.Test;

public class {name} {{
    @Test
    public void works() {{
        {statement}
    }}
}}
"
    )
}

/// JUnit 4 with its own provider.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn junit_4_is_known_too() {
    if !has_maven() {
        return;
    }
    let text = [
        pom("junit:junit:4.13.2", "3.2.5", ""),
        main(
            "One",
            "public class One {\n    public int x() { return 1; }\n}",
        ),
        main(
            "Two",
            "public class Two {\n    public static int x() { return 2; }\n}",
        ),
        junit4("OneTest", "assertEquals(1, new One().x());"),
        junit4("TwoTest", "assertEquals(2, Two.x());"),
    ];
    let project = Maven::new(&text.concat());
    let first = project.run();
    first.are(&["demo.OneTest", "demo.TwoTest"]);
    assert!(first.told.contains("\"incomplete\":0"), "{}", first.told);
    project.run().are(&[]);
    project.edit("src/main/java/demo/Two.java", "return 2", "return 3");
    let broken = project.run();
    broken.are(&["demo.TwoTest"]);
    assert_eq!(broken.code, 1);
    project.edit(
        "src/main/java/demo/Two.java",
        "return 3",
        "return Integer.valueOf(2)",
    );
    let mended = project.run();
    mended.are(&["demo.TwoTest"]);
    assert_eq!(mended.code, 0);
}

pub fn in_module(module: &str, text: &str) -> String {
    text.replace("-- pom.xml --", &format!("-- {module}/pom.xml --"))
        .replace("-- src/", &format!("-- {module}/src/"))
        .replace(
            "<artifactId>demo</artifactId>",
            &format!("<artifactId>{module}</artifactId>"),
        )
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn modules_use_one_another() {
    if !has_maven() {
        return;
    }
    let top = "-- pom.xml --
<project xmlns=\"http://maven.apache.org/POM/4.0.0\">
  <modelVersion>4.0.0</modelVersion>
  <groupId>demo</groupId>
  <artifactId>top</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <modules>
    <module>core</module>
    <module>app</module>
  </modules>
</project>
";
    let core = [
        pom(JUPITER, "3.2.5", ""),
        main(
            "Core",
            "public class Core {\n    public static int x() { return 1; }\n}",
        ),
        test("CoreTest", "assertEquals(1, Core.x());"),
    ];
    let app = [
        pom(JUPITER, "3.2.5", "").replace(
            "<dependencies>",
            "<dependencies>\n    <dependency>\n      <groupId>demo</groupId>\n      <artifactId>core</artifactId>\n      <version>1</version>\n    </dependency>",
        ),
        "-- src/main/java/demo/app/App.java --\npackage demo.app;\n\npublic class App {\n    public static int y() { return demo.Core.x() + 1; }\n}\n".to_owned(),
        test("AppTest", "assertEquals(2, demo.app.App.y());"),
        test("AloneTest", "assertTrue(true);"),
    ];
    let text = [
        top.to_owned(),
        in_module("core", &core.concat()),
        in_module("app", &app.concat()),
    ];
    let project = Maven::new(&text.concat());
    project.run().are(&[
        "app/demo.AloneTest",
        "app/demo.AppTest",
        "core/demo.CoreTest",
    ]);
    project.run().are(&[]);
    project.edit(
        "core/src/main/java/demo/Core.java",
        "return 1",
        "return Integer.valueOf(1)",
    );
    project
        .run()
        .are(&["app/demo.AppTest", "core/demo.CoreTest"]);
    project.edit(
        "app/src/main/java/demo/app/App.java",
        "x() + 1",
        "x() + Integer.valueOf(1)",
    );
    project.run().are(&["app/demo.AppTest"]);
}

/// `tamis record -- mvn test` compiles and tests in one go.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn a_record_serves_the_next_run() {
    if !has_maven() {
        return;
    }
    let text = [
        pom(JUPITER, "3.2.5", ""),
        main(
            "One",
            "public class One {\n    public int x() { return 1; }\n}",
        ),
        test("OneTest", "assertEquals(1, new One().x());"),
        test("OtherTest", "assertTrue(true);"),
    ];
    let project = Maven::new(&text.concat());
    let recorded = project.tamis(&["record", "--", "mvn", "test"]);
    assert!(recorded.status.success(), "{recorded:?}");
    project.run().are(&[]);
    project.edit(
        "src/main/java/demo/One.java",
        "return 1",
        "return Integer.valueOf(1)",
    );
    project.run().are(&["demo.OneTest"]);
}

/// Tests are the methods of JUnit 5.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn single_methods_are_left_out() {
    if !has_maven() {
        return;
    }
    let text = [
        pom(JUPITER, "3.2.5", ""),
        "-- tamis.yml --\nversion: 1\ngranularity: method\n".to_owned(),
        main("C", "public class C {\n    public int m() { return 1; }\n    public int p() { return 0; }\n}"),
        main("D", "public class D extends C {\n    @Override public int p() { return 4; }\n    // end\n}"),
        main("Setup", "public class Setup {\n    public static int once() { return 5; }\n}"),
        "-- src/test/java/demo/MTest.java --
package demo;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.*;

class MTest {
    static int once;
    @BeforeAll static void start() { once = Setup.once(); }
    @Test void t1() { assertEquals(1, new C().m()); }
    @Test void t2() { assertEquals(1, new D().m()); }
}
-- src/test/java/demo/PTest.java --
package demo;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.*;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PTest {
    @Test void t3() { assertEquals(0, new C().p()); }
    @ParameterizedTest @ValueSource(ints = {4, 5}) void t4(int most) { assertTrue(new D().p() <= most); }
}
"
        .to_owned(),
    ];
    let mut project = Maven::new(&text.concat());
    let (t1, t2) = ("demo.MTest#t1", "demo.MTest#t2");
    let (t3, t4) = ("demo.PTest#t3", "demo.PTest#t4");
    let first = project.run();
    first.are(&[t1, t2, t3, t4]);
    assert!(first.told.contains("\"incomplete\":0"), "{}", first.told);
    project.run().are(&[]);
    let d = "src/main/java/demo/D.java";
    project.edit(d, "return 4", "return Integer.valueOf(4)");
    project.run().are(&[t4]);
    project.edit(d, "// end", "@Override public int m() { return 1; }");
    project.run().are(&[t2]);
    project.edit(
        "src/main/java/demo/Setup.java",
        "return 5",
        "return Integer.valueOf(5)",
    );
    project.run().are(&[t1, t2]);
    // An unchanged test and a failing one in one class.
    project.edit(d, "return Integer.valueOf(4)", "return 6");
    let broken = project.run();
    broken.are(&[t4]);
    assert_eq!(broken.code, 1);
    project.run().are(&[t4]);
    // Rows of the other granularity prove nothing.
    project.set_env("TAMIS_GRANULARITY", "class");
    project.run().are(&["demo.MTest", "demo.PTest"]);
}

const SPOCK: &str = "org.spockframework:spock-core:2.3-groovy-4.0";

/// For `<plugins>`: adds the compiler of Groovy's tests.
const GROOVY: &str = "<plugins>
      <plugin>
        <groupId>org.codehaus.gmavenplus</groupId>
        <artifactId>gmavenplus-plugin</artifactId>
        <version>3.0.2</version>
        <executions><execution><goals><goal>compileTests</goal></goals></execution></executions>
      </plugin>";

fn spec(name: &str, features: &str) -> String {
    format!(
        "-- src/test/groovy/demo/{name}.groovy --
package demo

import spock.lang.*

class {name} extends Specification {{
    @Shared int shared = 1
    {features}
}}
"
    )
}

/// Spock makes the object of a specification before it announces its start, and Groovy keeps
/// its data of a class in one of its static fields.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn specifications_of_spock_are_told_apart() {
    if !has_maven() {
        return;
    }
    let named = "<version>3.2.5</version>\
                 <configuration><includes><include>**/*Spec</include></includes></configuration>";
    let one = "public class One {\n    public static int x() { return 1; }\n}";
    let text = [
        pom(SPOCK, "3.2.5", "")
            .replace("<plugins>", GROOVY)
            .replace("<version>3.2.5</version>", named),
        main("One", one),
        main("Two", &one.replace("One", "Two")),
        spec("ASpec", "def 'is one'() { expect: One.x() == shared }"),
        spec(
            "BSpec",
            "def 'table'() { expect: Two.x() + n == m\n where: n | m\n 1 | 2\n 2 | 3 }",
        ),
    ];
    let project = Maven::new(&text.concat());
    project.run().are(&["demo.ASpec", "demo.BSpec"]);
    for (class, test) in [("One", "demo.ASpec"), ("Two", "demo.BSpec")] {
        let path = format!("src/main/java/demo/{class}.java");
        project.edit(&path, "return 1", "return 3");
        let ran = project.run();
        ran.are(&[test]);
        assert_eq!(ran.code, 1, "{}", ran.told);
        project.edit(&path, "return 3", "return 1");
        project.run().are(&[]);
    }
}

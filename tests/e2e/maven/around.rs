//! Files and settings outside the project's code that decide how its tests run.

use super::frameworks::in_module;
use super::harness::*;

/// Poms in all places, settings, variables, and files that profiles check for.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn what_configures_the_build_counts_for_every_test() {
    if !has_maven() {
        return;
    }
    let more = "<parent><groupId>demo</groupId><artifactId>above</artifactId><version>1</version>\
                <relativePath>etc/above.xml</relativePath></parent>
  <profiles><profile>
    <id>flagged</id>
    <activation><file><exists>flag</exists></file></activation>
    <properties><flagged>yes</flagged></properties>
  </profile></profiles>";
    let set = "<version>3.2.5</version><configuration><systemPropertyVariables>\
               <mode>${env.TAMIS_TEST_MODE}</mode><level>${level}</level>\
               </systemPropertyVariables></configuration>";
    let above = "-- etc/above.xml --
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>demo</groupId>
  <artifactId>above</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <properties><flagged>no</flagged></properties>
</project>
";
    let settings = "-- java/ours.xml --
<settings><profiles><profile>
  <id>ours</id>
  <activation><activeByDefault>true</activeByDefault></activation>
  <properties><level>1</level></properties>
</profile></profiles></settings>
";
    let own = [
        pom(JUPITER, "3.2.5", more).replace("<version>3.2.5</version>", set),
        above.replace("-- etc", "-- java/etc"),
        test("ATest", ""),
    ]
    .concat();
    // The top of the repository has no pom.
    let mut project = Maven::new(&format!("{}{settings}", in_module("java", &own)));
    let command = [
        "--",
        "mvn",
        "-f",
        "java/pom.xml",
        "-s",
        "java/ours.xml",
        "test",
    ];
    // Maven's own settings are beside the folder of its program.
    project.count_starts();
    let all = ["java/demo.ATest"];
    let run = |project: &Maven, tests: &[&str]| project.run_with(&command).are(tests);
    run(&project, &all);
    run(&project, &[]);
    for (path, from, to) in [
        (
            "java/pom.xml",
            "17</maven.compiler.target>",
            "17</maven.compiler.target><more>x</more>",
        ),
        ("java/etc/above.xml", "<flagged>no", "<flagged>not"),
        ("java/ours.xml", "<level>1", "<level>2"),
    ] {
        project.edit(path, from, to);
        run(&project, &all);
    }
    run(&project, &[]);
    project.set_env("TAMIS_TEST_MODE", "x");
    run(&project, &all);
    project.write("java/flag", "");
    run(&project, &all);
    run(&project, &[]);
    project.write("../conf/settings.xml", "<settings/>");
    run(&project, &all);
    run(&project, &[]);
}

/// A class has no test until its superclass has one.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn a_class_becomes_a_test_by_what_it_inherits() {
    if !has_maven() {
        return;
    }
    let kit = "public abstract class Kit {\n}";
    let text = [
        pom(JUPITER, "3.2.5", "").replace("<scope>test</scope>", ""),
        main("Kit", kit),
        main("Other", "public class Other {\n}"),
        "-- src/test/java/demo/XTest.java --\npackage demo;\n\nclass XTest extends Kit {\n}\n"
            .to_owned(),
        test("ATest", "assertNotNull(new Other());"),
    ]
    .concat();
    let project = Maven::new(&text);
    project.run().are(&["demo.ATest"]);
    project.run().are(&[]);
    let method = "@org.junit.jupiter.api.Test void fails() { throw new Error(); }\n}";
    project.edit("src/main/java/demo/Kit.java", "}", method);
    let ran = project.run();
    ran.are(&["demo.XTest"]);
    assert_eq!(ran.code, 1, "{}", ran.told);
}

/// They are read in Maven's JVM, or before a JVM runs, where no test sees them.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn files_that_surefire_is_given_count() {
    if !has_maven() {
        return;
    }
    let set = "<version>3.2.5</version><configuration><argLine>@jvm.txt</argLine>\
               <systemPropertiesFile>sys.properties</systemPropertiesFile></configuration>";
    let text = [
        pom(JUPITER, "3.2.5", "").replace("<version>3.2.5</version>", set),
        "-- in.txt --\n**/ATest.java\n-- jvm.txt --\n-ea\n-- sys.properties --\na=b\n".to_owned(),
        test("ATest", ""),
        test("BTest", "fail();"),
    ]
    .concat();
    let project = Maven::new(&text);
    let command = ["--", "mvn", "test", "-Dsurefire.includesFile=in.txt"];
    let run = |tests: &[&str]| project.run_with(&command).are(tests);
    run(&["demo.ATest"]);
    run(&[]);
    for (path, from, to) in [("jvm.txt", "-ea", "-esa"), ("sys.properties", "a=b", "a=c")] {
        project.edit(path, from, to);
        run(&["demo.ATest"]);
    }
    project.edit("in.txt", "**/ATest.java", "**/ATest.java\n**/BTest.java");
    run(&["demo.ATest", "demo.BTest"]);
}

/// The content of a resource during the test is not its content at the end.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn a_resource_that_the_build_writes_behind_the_tests_is_seen_next_time() {
    if !has_maven() {
        return;
    }
    let late = "<plugin>
        <artifactId>maven-antrun-plugin</artifactId>
        <version>3.1.0</version>
        <executions><execution>
          <phase>package</phase>
          <goals><goal>run</goal></goals>
          <configuration><target><echo file=\"target/classes/late.txt\">x</echo></target></configuration>
        </execution></executions>
      </plugin>
    </plugins>";
    let text = [
        pom(JUPITER, "3.2.5", "").replace("</plugins>", late),
        main("A", "public class A {\n}"),
        test(
            "ATest",
            "assertNull(new A().getClass().getResource(\"/late.txt\"));",
        ),
        test("BTest", ""),
    ]
    .concat();
    let project = Maven::new(&text);
    let command = ["--", "mvn", "package"];
    let first = project.run_with(&command);
    first.are(&["demo.ATest", "demo.BTest"]);
    let next = project.run_with(&command);
    next.are(&["demo.ATest"]);
    assert_eq!((first.code, next.code), (0, 1), "{}", next.told);
}

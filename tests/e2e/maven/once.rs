//! One run of Maven compiles, asks which tests to leave out, and tests.

use super::frameworks::{in_module, junit4};
use super::harness::*;

/// Two classes, each with a test.
fn two(pom: String) -> String {
    let class = |name: &str| {
        let body = "public static int x() { return 1; }";
        main(name, &format!("public class {name} {{\n    {body}\n}}"))
    };
    [
        pom,
        class("One"),
        class("Two"),
        junit4("OneTest", "assertEquals(1, One.x());"),
        junit4("TwoTest", "assertEquals(1, Two.x());"),
        // Surefire takes it for a test until a JVM has loaded it.
        junit4("AbstractTest", "").replace("public class", "public abstract class"),
    ]
    .concat()
}

const JUNIT: &str = "junit:junit:4.13.2";
const ONE: &str = "src/main/java/demo/One.java";
/// Without colours.
const BATCH: [&str; 4] = ["--", "mvn", "-B", "test"];
const BOTH: [&str; 2] = ["demo.OneTest", "demo.TwoTest"];

fn counted(text: &str) -> Maven {
    let mut project = Maven::new(text);
    project.count_starts();
    project
}

#[track_caller]
fn one_run(project: &Maven, tests: &[&str]) -> Ran {
    let ran = project.run();
    ran.are(tests);
    assert_eq!(project.starts(), 1, "{}", ran.told);
    ran
}

/// A project in three runs: all tests, none, and those of an edit.
fn after_an_edit(surefire: &str) -> Maven {
    let project = counted(&two(pom(JUNIT, surefire, "")));
    let first = one_run(&project, &BOTH);
    assert!(first.told.contains("\"incomplete\":0"), "{}", first.told);
    let nothing = one_run(&project, &[]);
    assert_eq!(nothing.code, 0);
    assert!(!nothing.told.contains("T E S T S"), "{}", nothing.told);
    project.edit(ONE, "return 1", "return 2");
    assert_eq!(one_run(&project, &["demo.OneTest"]).code, 1);
    project
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn one_run_is_enough_with_surefire_2() {
    if has_maven() {
        after_an_edit("2.22.2");
    }
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn one_run_is_enough_with_surefire_3() {
    if !has_maven() {
        return;
    }
    let project = after_an_edit("3.2.5");
    let run = |tests: &[&str]| one_run(&project, tests);
    // Nobody asks for the list, and the stored results stay.
    project.edit(ONE, "return 2", "return");
    let broken = run(&[]);
    assert_eq!(broken.code, 1);
    assert!(broken.told.contains("COMPILATION ERROR"), "{}", broken.told);
    assert!(
        broken.told.contains("no test is recorded"),
        "{}",
        broken.told
    );
    project.edit(ONE, "return;", "return Integer.parseInt(\"1\");");
    assert_eq!(run(&["demo.OneTest"]).code, 0);
    // A shard leaves out the class of the other shard.
    project.edit(ONE, "parseInt(\"1\")", "valueOf(\"1\")");
    let two = "src/main/java/demo/Two.java";
    project.edit(two, "return 1", "return Integer.valueOf(1)");
    let shard = project.run_with(&["--shard", "1/2"]);
    assert_eq!(
        (shard.tests.len(), project.starts()),
        (1, 1),
        "{}",
        shard.told
    );
    let rest = BOTH.into_iter().filter(|test| !shard.tests.contains(*test));
    run(&rest.collect::<Vec<_>>());
    run(&[]);
}

/// All executions of Surefire ask; later ones find the same list.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn several_executions_leave_out_the_same() {
    if !has_maven() {
        return;
    }
    let again = "<version>3.2.5</version>
        <executions>
          <execution>
            <id>again</id>
            <phase>test</phase>
            <goals><goal>test</goal></goals>
            <configuration><systemPropertyVariables><turn>2</turn></systemPropertyVariables></configuration>
          </execution>
        </executions>";
    let pom = pom(JUNIT, "3.2.5", "").replace("<version>3.2.5</version>", again);
    let project = counted(&two(pom));
    project.run_with(&BATCH).are(&BOTH);
    project.edit(ONE, "return 1", "return Integer.valueOf(1)");
    let ran = project.run_with(&BATCH);
    ran.are(&["demo.OneTest"]);
    assert_eq!(ran.told.matches("Running demo.OneTest").count(), 2);
    assert!(!ran.told.contains("Running demo.TwoTest"), "{}", ran.told);
    assert_eq!(project.starts(), 2);
}

#[test]
fn a_command_that_skips_tests_is_not_waited_for() {
    if !has_maven() {
        return;
    }
    let project = counted(&two(pom(JUNIT, "3.2.5", "")));
    let ran = project.run_with(&["--", "mvn", "-q", "test", "-DskipTests"]);
    ran.are(&[]);
    assert_eq!((ran.code, project.starts()), (0, 1), "{}", ran.told);
    project.run().are(&BOTH);
}

/// Cases in which an empty selection is a failure, several modules, and a dry run.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn two_runs_where_one_does_not_do() {
    if !has_maven() {
        return;
    }
    let strict = pom(JUNIT, "3.2.5", "").replace(
        "<version>3.2.5</version>",
        "<version>3.2.5</version>\n<configuration><failIfNoTests>true</failIfNoTests></configuration>",
    );
    let project = counted(&two(strict));
    project.run().are(&BOTH);
    assert_eq!(project.starts(), 2);
    let nothing = project.run();
    nothing.are(&[]);
    assert_eq!((nothing.code, project.starts()), (0, 1), "{}", nothing.told);

    let top = "-- pom.xml --
<project xmlns=\"http://maven.apache.org/POM/4.0.0\">
  <modelVersion>4.0.0</modelVersion>
  <groupId>demo</groupId>
  <artifactId>top</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <modules>
    <module>core</module>
  </modules>
</project>
";
    let core = in_module("core", &two(pom(JUNIT, "3.2.5", "")));
    let project = counted(&format!("{top}{core}"));
    project
        .run()
        .are(&["core/demo.OneTest", "core/demo.TwoTest"]);
    assert_eq!(project.starts(), 2);
    let dry = project.tamis(&["run", "--dry-run"]);
    assert!(dry.status.success());
    assert_eq!(project.starts(), 1);
}

/// If no selection is possible all tests run, and Maven does not hang.
#[test]
fn trouble_in_the_middle_lets_all_tests_run() {
    if !has_maven() {
        return;
    }
    let breaks = "<build><plugins>
      <plugin>
        <artifactId>maven-antrun-plugin</artifactId>
        <version>3.1.0</version>
        <executions>
          <execution>
            <phase>process-test-classes</phase>
            <goals><goal>run</goal></goals>
            <configuration><target><echo file=\".git/HEAD\">broken</echo></target></configuration>
          </execution>
        </executions>
      </plugin>";
    let sound = two(pom(JUNIT, "3.2.5", ""));
    let project = counted(&sound);
    project.run().are(&BOTH);
    project.edit("pom.xml", "<build>\n    <plugins>", breaks);
    project.starts();
    let done = project.tamis(&["run", "--", "mvn", "-B", "test"]);
    let told = format!("{done:?}");
    assert!(told.contains("all tests run"), "{told}");
    assert!(told.contains("Running demo.OneTest"), "{told}");
    assert!(told.contains("Running demo.TwoTest"), "{told}");
    assert!(!done.status.success());
    assert_eq!(project.starts(), 1);
}

/// Maven's script puts a space in front of the user's options, and passes them on.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn options_of_maven_are_the_same_before_and_in_the_tests() {
    if !has_maven() {
        return;
    }
    let mut project = counted(&two(pom(JUNIT, "3.2.5", "")));
    project.set_env("MAVEN_OPTS", "-Xmx512m");
    project.run().are(&BOTH);
    project.run().are(&[]);
    project.set_env("MAVEN_OPTS", "-Xmx600m");
    project.run().are(&BOTH);
}

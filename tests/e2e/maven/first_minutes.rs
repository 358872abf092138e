//! The first use of tamis in a Maven project.

use super::harness::*;

const ONE: &str = "public class One {\n    public static int x() { return 1; }\n}";

fn two_classes() -> String {
    [
        main("One", ONE),
        main("Two", &ONE.replace("One", "Two")),
        test("OneTest", "assertEquals(1, One.x());"),
        test("TwoTest", "assertEquals(1, Two.x());"),
    ]
    .concat()
}

fn text_of(output: &std::process::Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}", text(&output.stdout), text(&output.stderr))
}

/// `init` and `doctor` talk about Maven, and `run` about the things that hide it from the
/// agent.
#[test]
fn maven_is_what_is_spoken_of() {
    if !has_maven() {
        return;
    }
    let inside = "<configuration><forkCount>0</forkCount></configuration>";
    let text = [pom(JUPITER, "2.12.4", ""), two_classes()].concat();
    let version = "<version>2.12.4</version>";
    let project = Maven::new(&text);
    project.write(".gitignore", "");
    project.commit("nothing is ignored");
    let init = project.tamis(&["init"]);
    let told = text_of(&init);
    assert!(init.status.success(), "{told}");
    for line in [
        "found maven: pom.xml, src/test\n",
        "tamis: jdk: ",
        "tamis: maven: ",
        "Surefire 2.12.4 finds no tests of JUnit 5 (from pom.xml)",
        "hint: name maven-surefire-plugin 2.22.2 or later in pom.xml",
        "git does not ignore what the build writes: `target/`",
        "hint: add `target/` to .gitignore",
    ] {
        assert!(told.contains(line), "{line}\n{told}");
    }
    assert!(project.read("tamis.yml").contains("\nrunner: maven\n"));
    project.edit(
        "pom.xml",
        version,
        &format!("<version>3.2.5</version>{inside}"),
    );
    project.write(".gitignore", "target/\n.tamis/\n");
    let told = text_of(&project.tamis(&["doctor"]));
    for line in [
        "ok   jdk ",
        "ok   maven ",
        "ok   surefire       3.2.5 (from pom.xml)",
        "warn forks          `forkCount` 0 in ",
        "ok   collector      for the JVM: it can be loaded",
    ] {
        assert!(told.contains(line), "{line}\n{told}");
    }
    assert!(
        !told.contains("python") || told.contains("python         found"),
        "{told}"
    );
    assert!(
        !told.contains("pytest ") && !told.contains("gitignore"),
        "{told}"
    );
    let told = text_of(&project.tamis(&["run"]));
    let why = "pom.xml has Surefire run the tests in Maven's own JVM, where nothing is watched";
    assert!(told.contains(why) && !told.contains("pytest"), "{told}");
}

/// If git does not ignore the files of the build, nothing changes. If git tracks them, the
/// message says what to do.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn a_target_that_is_not_ignored_changes_nothing() {
    if !has_maven() {
        return;
    }
    let text = [
        pom(JUPITER, "3.2.5", ""),
        two_classes(),
        "-- src/main/resources/app.txt --\none\n".to_owned(),
        test(
            "ReadTest",
            "assertNotNull(ReadTest.class.getResource(\"/app.txt\").openStream());",
        ),
    ];
    let project = Maven::new(&text.concat());
    project.write(".gitignore", "");
    project.commit("nothing is ignored");
    let recorded = project.ran(&["record", "--json", "--", "mvn", "--quiet", "test"]);
    recorded.are(&["demo.OneTest", "demo.ReadTest", "demo.TwoTest"]);
    project.run_with(&["--", "mvn", "--quiet", "test"]).are(&[]);
    let edit = |from: &str, to: &str| {
        let one = "src/main/java/demo/One.java";
        let text = project.read(one).replace(from, to);
        project.write(one, &text);
        project.git(&["commit", "--quiet", "--all", "-m", "edit"]);
    };
    edit("return 1", "return Integer.valueOf(1)");
    project.select(&[]).are(&["demo.OneTest"]);
    let ran = project.run_with(&["--", "mvn", "--quiet", "test"]);
    ran.are(&["demo.OneTest"]);
    project.commit("with target/");
    edit("Integer.valueOf(1)", "Integer.parseInt(\"1\")");
    project
        .run_with(&["--", "mvn", "--quiet", "clean", "test"])
        .are(&["demo.OneTest", "demo.ReadTest", "demo.TwoTest"]);
    edit("Integer.parseInt(\"1\")", "1");
    let selected = project.select(&[]);
    let remedy = "git tracks it: `git rm -r --cached target/`, and a line `target/` in .gitignore";
    assert!(selected.told.contains(remedy), "{}", selected.told);
}

/// Words without effect on outcomes, a variable that the pom gives tests, Surefire's goal
/// alone, and a list of groups, which is not a list of classes.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn what_no_outcome_depends_on_runs_nothing() {
    if !has_maven() {
        return;
    }
    let configured = "<version>3.2.5</version><configuration>
          <excludedGroups>slow</excludedGroups>
          <environmentVariables><MODE>fast</MODE></environmentVariables>
        </configuration>";
    let nested = "-- src/test/java/demo/OuterTest.java --
package demo;

import org.junit.jupiter.api.*;

class OuterTest {
    @Test void works() { }
    static class InnerTest {
        @Test void mavenAloneDoesNotRunThis() { Assertions.fail(); }
    }
}
";
    let reads = "assertEquals(\"fast\", System.getenv(\"MODE\")); System.getenv(\"OTHER\");";
    let text = [
        pom(JUPITER, "3.2.5", "").replace("<version>3.2.5</version>", configured),
        two_classes(),
        test("EnvTest", reads),
        nested.to_owned(),
    ];
    let mut project = Maven::new(&text.concat());
    let all = [
        "demo.EnvTest",
        "demo.OneTest",
        "demo.OuterTest",
        "demo.TwoTest",
    ];
    let first = project.run();
    first.are(&all);
    assert_eq!(first.code, 0, "{}", first.told);
    let noisy = "mvn -o -B -ntp -e -fae -T 1 -Dmaven.test.failure.ignore=true test";
    let noisy: Vec<&str> = ["--"].into_iter().chain(noisy.split(' ')).collect();
    let again = project.run_with(&noisy);
    again.are(&[]);
    assert!(
        again.told.contains("no change can affect a test"),
        "{}",
        again.told
    );
    let one = "src/main/java/demo/One.java";
    project.edit(one, "return 1", "return Integer.valueOf(1)");
    let edited = project.run();
    edited.are(&["demo.OneTest"]);
    assert_eq!(edited.code, 0, "{}", edited.told);
    // A variable from outside still counts, and so does a value of the pom.
    project.set_env("OTHER", "x");
    project.run().are(&["demo.EnvTest"]);
    project.edit("pom.xml", "<MODE>fast", "<MODE>slow");
    let slow = project.run();
    slow.are(&all);
    assert_eq!(slow.code, 1, "{}", slow.told);
    project.edit("pom.xml", "<MODE>slow", "<MODE>fast");
    project.count_starts();
    let goal = [
        "--",
        "mvn",
        "clean",
        "process-test-classes",
        "surefire:test",
    ];
    project.run_with(&goal).are(&all);
    let again = project.run_with(&goal);
    again.are(&[]);
    assert!(
        again.told.contains("no change can affect a test"),
        "{}",
        again.told
    );
    project.edit(one, "Integer.valueOf(1)", "Integer.parseInt(\"1\")");
    project.run_with(&goal).are(&["demo.OneTest"]);
    assert_eq!(project.starts(), 3);
}

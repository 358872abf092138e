//! Gradle projects. Debian's Gradle is 4.4.1, which does not know the JUnit Platform, so the
//! tests use JUnit 4.

use std::process::Command;

use crate::harness::has_programs;
use crate::maven::harness::{Maven as Project, main};

/// Whether there are a JDK and Gradle; CI must have them.
fn has_gradle() -> bool {
    has_programs(&["gradle", "javac"])
}

fn build(more: &str) -> String {
    format!(
        "-- build.gradle --
apply plugin: 'java'
repositories {{ mavenCentral() }}
dependencies {{ testCompile 'junit:junit:4.13.2' }}
{more}
"
    )
}

fn test(name: &str, statement: &str) -> String {
    format!(
        "-- src/test/java/demo/{name}.java --
package demo;

import static org.junit.Assert.*;
import org.junit.Test;

public class {name} {{
    @Test
    public void works() throws Exception {{
        {statement}
    }}
}}
"
    )
}

fn one_module() -> String {
    [
        main(
            "Calc",
            "public class Calc {\n    public int add(int a, int b) { return a + b; }\n}",
        ),
        main(
            "Holder",
            "public class Holder {\n    private static Calc calc;\n    public static Calc get() {\n        if (calc == null) { calc = Factory.make(); }\n        return calc;\n    }\n}",
        ),
        main(
            "Factory",
            "class Factory {\n    static Calc make() { return new Calc(); }\n}",
        ),
        test("AHolderTest", "assertNotNull(Holder.get());"),
        test("BHolderTest", "assertEquals(3, Holder.get().add(1, 2));"),
        test("CalcTest", "assertEquals(3, new Calc().add(1, 2));"),
        test("OtherTest", "assertTrue(true);"),
    ]
    .concat()
}

const ALL: [&str; 4] = [
    "demo.AHolderTest",
    "demo.BHolderTest",
    "demo.CalcTest",
    "demo.OtherTest",
];

#[test]
fn the_right_test_classes_run_after_each_edit() {
    if !has_gradle() {
        return;
    }
    // An assignment in a build script does not lose the agent.
    let script = build("test { jvmArgs = ['-Xmx256m'] }");
    let project = Project::new(&[script, one_module()].concat());
    let first = project.run();
    first.are(&ALL);
    assert_eq!(first.code, 0, "{}", first.told);
    assert!(first.told.contains("\"incomplete\":0"), "{}", first.told);
    project.run().are(&[]);
    let why = |test: &str| {
        let done = project.tamis(&["why", test]);
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    // Class files on disk tell it.
    let told = why("demo.CalcTest");
    let same = "demo.CalcTest would be left out: nothing that it used has changed\n";
    assert!(told.starts_with(same), "{told}");
    assert!(
        told.contains("class files count as they lie on disk"),
        "{told}"
    );
    let java = |name: &str| format!("src/main/java/demo/{name}.java");
    // One test makes it, and the other only sees it.
    project.edit(&java("Factory"), "new Calc()", "new Calc() {}");
    project.run().are(&["demo.AHolderTest", "demo.BHolderTest"]);
    project.edit(&java("Calc"), "a + b", "a + b + 1");
    let broken = project.run();
    // AHolderTest makes a Calc, but adds nothing.
    broken.are(&["demo.BHolderTest", "demo.CalcTest"]);
    assert_eq!(broken.code, 1, "{}", broken.told);
    let told = why("demo.OtherTest");
    assert!(
        told.starts_with("demo.OtherTest would be left out"),
        "{told}"
    );
    assert!(why("demo.CalcTest").contains("would run: it failed"));
    // Before the build, only sources of Maven projects tell anything.
    let told = project.select(&[]).told;
    assert!(told.contains("`tamis run` compiles first"), "{told}");
    assert!(!told.contains("pom.xml"), "{told}");
    // Gradle left out OtherTest, and this must not make any task up to date.
    let plain = Command::new("gradle")
        .args(["test", "--offline", "--quiet", "--continue"])
        .current_dir(project.root())
        .output()
        .unwrap();
    assert!(!plain.status.success());
    let report = "build/test-results/test/TEST-demo.OtherTest.xml";
    assert!(project.exists(report));
    project.edit(&java("Calc"), "a + b + 1", "b + a");
    let mended = project.run();
    mended.are(&["demo.BHolderTest", "demo.CalcTest"]);
    assert_eq!(mended.code, 0, "{}", mended.told);
    let new = test("NewTest", "assertNotNull(new Calc());");
    let (_, source) = new.split_once('\n').unwrap();
    project.write("src/test/java/demo/NewTest.java", source);
    project.commit("a new test");
    project.run().are(&["demo.NewTest"]);
    project.edit("build.gradle", "-Xmx256m", "-Xmx300m");
    let mut all = ALL.to_vec();
    all.push("demo.NewTest");
    project.run().are(&all);
    let listed = project.tamis(&["store", "ls"]);
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(listed.contains("  gradle  "), "{listed}");
}

/// `init` and `doctor` talk about Gradle. The files that it writes are ignored.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn gradle_is_what_is_spoken_of() {
    if !has_gradle() {
        return;
    }
    let project = Project::new(&[build(""), one_module()].concat());
    project.write(".gitignore", "");
    project.commit("nothing is ignored");
    let text = |arguments: &[&str]| {
        let done = project.tamis(arguments);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        format!("{}\n{}", text(&done.stdout), text(&done.stderr))
    };
    let told = text(&["init"]);
    for line in [
        "found gradle: build.gradle, src/test\n",
        "tamis: gradle: ",
        "hint: add `.gradle/` and `build/` to .gitignore",
    ] {
        assert!(told.contains(line), "{line}\n{told}");
    }
    let told = text(&["doctor"]);
    for line in [
        "ok   jdk ",
        "ok   gradle ",
        "ok   collector ",
        "warn gitignore ",
    ] {
        assert!(told.contains(line), "{line}\n{told}");
    }
    assert!(
        !told.contains("surefire") && !told.contains("pytest "),
        "{told}"
    );
    project.commit("with tamis.yml");
    project.run().are(&ALL);
    let again = project.run_with(&["--", "gradle", "--offline", "--continue", "test"]);
    again.are(&[]);
    assert!(
        again.told.contains("no change can affect a test"),
        "{}",
        again.told
    );
    let listed = project.tamis(&["store", "ls"]);
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(!listed.contains("dirty"), "{listed}");
}

fn in_module(module: &str, text: &str) -> String {
    text.replace(
        "-- build.gradle --",
        &format!("-- {module}/build.gradle --"),
    )
    .replace("-- src/", &format!("-- {module}/src/"))
}

const ALL_OF_BOTH: [&str; 4] = [
    "app/demo.AloneTest",
    "app/demo.SameTest",
    "core/demo.ExtraTest",
    "core/demo.SameTest",
];

/// With parallel forks, and one class name in two projects.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn projects_use_one_another() {
    if !has_gradle() {
        return;
    }
    let forks = "test { maxParallelForks = 2; forkEvery = 1 }";
    let core = [
        build(forks),
        main(
            "Core",
            "public class Core {\n    public static int x() { return 1; }\n}",
        ),
        test("SameTest", "assertEquals(1, Core.x());"),
        test("ExtraTest", "assertTrue(true);"),
    ];
    let app = [
        build(&format!("{forks}\ndependencies {{ compile project(':core') }}")),
        "-- src/main/java/demo/app/App.java --\npackage demo.app;\n\npublic class App {\n    public static int y() { return demo.Core.x() + 1; }\n}\n".to_owned(),
        test("SameTest", "assertEquals(2, demo.app.App.y());"),
        test("AloneTest", "assertTrue(true);"),
    ];
    let text = [
        "-- settings.gradle --\ninclude 'core', 'app'\n".to_owned(),
        in_module("core", &core.concat()),
        in_module("app", &app.concat()),
    ];
    let project = Project::new(&text.concat());
    let first = project.run();
    first.are(&ALL_OF_BOTH);
    assert!(first.told.contains("\"incomplete\":0"), "{}", first.told);
    project.run().are(&[]);
    project.edit(
        "app/src/main/java/demo/app/App.java",
        "x() + 1",
        "x() + Integer.valueOf(1)",
    );
    project.run().are(&["app/demo.SameTest"]);
    project.edit(
        "core/src/main/java/demo/Core.java",
        "return 1",
        "return Integer.valueOf(1)",
    );
    // Gradle passes on projects as jars, which count as a whole.
    project.run().are(&ALL_OF_BOTH);
}

/// With `java-library` a project's tests are compiled without the jars with which they run.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn jars_are_made_before_tests_are_selected() {
    if !has_gradle() {
        return;
    }
    let library = |more: &str| build(more).replace("plugin: 'java'", "plugin: 'java-library'");
    let core = "public class Core {\n    public static int x() { return 1; }\n}";
    let text = [
        "-- settings.gradle --\ninclude 'core', 'app'\n".to_owned(),
        in_module("core", &[library(""), main("Core", core)].concat()),
        in_module(
            "app",
            &[
                library("dependencies { implementation project(':core') }"),
                test("CoreTest", "assertEquals(1, demo.Core.x());"),
            ]
            .concat(),
        ),
    ];
    let project = Project::new(&text.concat());
    project.run().are(&["app/demo.CoreTest"]);
    project.run().are(&[]);
    project.edit("core/src/main/java/demo/Core.java", "return 1", "return 2");
    let edited = project.run();
    edited.are(&["app/demo.CoreTest"]);
    assert_ne!(edited.code, 0, "{}", edited.told);
}

/// `tamis record -- gradle test` compiles and tests in one go, and tasks that are up to date
/// run all the same.
#[test]
fn a_record_serves_the_next_run() {
    if !has_gradle() {
        return;
    }
    let project = Project::new(&[build(""), one_module()].concat());
    for _ in 0..2 {
        let recorded = project.tamis(&["record", "--json", "--", "gradle", "test"]);
        assert!(recorded.status.success(), "{recorded:?}");
        let told = String::from_utf8_lossy(&recorded.stdout).into_owned();
        assert!(told.contains("demo.OtherTest"), "{told}");
    }
    project.run().are(&[]);
    project.edit("src/main/java/demo/Calc.java", "a + b", "b + a");
    let after = project.run();
    assert!(after.tests.contains("demo.CalcTest"), "{}", after.told);
    assert!(!after.tests.contains("demo.OtherTest"), "{}", after.told);
}

/// Classes of TestNG, including those that prepare the suite for others.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn testng_is_told_what_to_leave_out() {
    if !has_gradle() {
        return;
    }
    let script =
        build("test { useTestNG() }").replace("junit:junit:4.13.2", "org.testng:testng:6.11");
    let of_testng = |name: &str, statement: &str| {
        test(name, statement)
            .replace("org.junit.Assert", "org.testng.Assert")
            .replace("org.junit.Test", "org.testng.annotations.*")
    };
    let prepares = of_testng("PreparesTest", "assertTrue(true);").replace(
        "    @Test",
        "    @BeforeSuite public void prepare() { }\n    @Test",
    );
    let text = [
        script,
        main(
            "One",
            "public class One {\n    public static int x() { return 1; }\n}",
        ),
        main(
            "Two",
            "public class Two {\n    public static int x() { return 2; }\n}",
        ),
        of_testng("OneTest", "assertEquals(One.x(), 1);"),
        of_testng("TwoTest", "assertEquals(Two.x(), 2);"),
        prepares,
    ];
    let project = Project::new(&text.concat());
    let first = project.run();
    first.are(&["demo.OneTest", "demo.PreparesTest", "demo.TwoTest"]);
    assert!(first.told.contains("\"incomplete\":0"), "{}", first.told);
    project.run().are(&[]);
    project.edit("src/main/java/demo/One.java", "return 1", "return 3");
    let broken = project.run();
    broken.are(&["demo.OneTest", "demo.PreparesTest"]);
    assert_eq!(broken.code, 1, "{}", broken.told);
}

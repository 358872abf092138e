//! JUnit's console launcher, started with `java` and without a build tool.

use std::process::Command;

use crate::maven::harness::*;

/// Compiles and tests. `out/more` is on the class path, and empty at first.
const LAUNCH: [&str; 7] = [
    "java",
    "-cp",
    "lib/*:out/main:out/test:out/more",
    "org.junit.platform.console.ConsoleLauncher",
    "--scan-classpath",
    "--details=none",
    "--disable-banner",
];

const JAR: &str = "org.junit.platform:junit-platform-console-standalone:1.10.2";

fn project() -> Maven {
    let text = [
        main(
            "Calc",
            "public class Calc {\n    public static int two() { return 2; }\n}",
        ),
        main(
            "Other",
            "public class Other {\n    public static int three() { return 3; }\n}",
        ),
        test("CalcTest", "assertEquals(2, Calc.two());"),
        test("OtherTest", "assertEquals(3, Other.three());"),
        "-- src/test/java/demo/OuterTest.java --
package demo;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.*;

class OuterTest {
    @Test void outside() { assertTrue(true); }
    @Nested class Inner {
        @Test void inside() { assertEquals(2, Calc.two()); }
    }
    static class ApartTest {
        @Test void apart() { assertEquals(3, Other.three()); }
    }
}
"
        .to_owned(),
    ];
    let project = Maven::new(&text.concat());
    project.write(".gitignore", "out/\nlib/\n");
    project.commit("what is built is not kept");
    let artifact = format!("-Dartifact={JAR}");
    project.mvn(&["dependency:copy", &artifact, "-DoutputDirectory=lib"]);
    compile(&project);
    project
}

fn compile(project: &Maven) {
    for (sources, output) in [("main", "main"), ("test", "test")] {
        let mut javac = Command::new("javac");
        javac
            .args(["-cp", "lib/*:out/main", "-d"])
            .arg(format!("out/{output}"));
        let folder = project.root().join(format!("src/{sources}/java/demo"));
        for file in fs_err::read_dir(folder).unwrap() {
            javac.arg(file.unwrap().path());
        }
        let done = javac.current_dir(project.root()).output().unwrap();
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
    }
}

fn run(project: &Maven) -> Ran {
    project.run_with(&[&["--"], &LAUNCH[..]].concat())
}

const ALL: [&str; 4] = [
    "demo.CalcTest",
    "demo.OtherTest",
    "demo.OuterTest",
    "demo.OuterTest$ApartTest",
];

fn java(name: &str) -> String {
    format!("src/main/java/demo/{name}.java")
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn the_launcher_is_told_what_to_leave_out() {
    if !has_maven() {
        return;
    }
    let project = project();
    let first = run(&project);
    first.are(&ALL);
    assert_eq!(first.code, 0, "{}", first.told);
    run(&project).are(&[]);
    let stored = project.tamis(&["store", "ls"]).stdout;
    assert!(String::from_utf8_lossy(&stored).contains("  junit  java-"));
    // Sources do not count, only compiled classes.
    project.edit(
        &java("Calc"),
        "return 2",
        "return 1 + 1 + 0 * Calc.class.getName().length()",
    );
    run(&project).are(&[]);
    compile(&project);
    let why = |test: &str| {
        let done = project.tamis(&["why", test]);
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    let told = why("demo.CalcTest");
    assert!(told.contains("would run: method"), "{told}");
    assert!(
        told.contains("class files count as they lie on disk"),
        "{told}"
    );
    let told = why("demo.OtherTest");
    assert!(
        told.starts_with("demo.OtherTest would be left out"),
        "{told}"
    );
    run(&project).are(&["demo.CalcTest", "demo.OuterTest"]);
    // A nested class of a proven class: both run, because one pattern would leave out both.
    project.edit(&java("Other"), "return 3", "return Calc.two() + 1");
    compile(&project);
    let edited = run(&project);
    edited.are(&[
        "demo.OtherTest",
        "demo.OuterTest",
        "demo.OuterTest$ApartTest",
    ]);
    assert_eq!(edited.code, 0, "{}", edited.told);
    project.edit(&java("Other"), "return", "return 5 +");
    compile(&project);
    assert_eq!(run(&project).code, 1);
    // Failed tests run again.
    run(&project).are(&[
        "demo.OtherTest",
        "demo.OuterTest",
        "demo.OuterTest$ApartTest",
    ]);
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn what_the_class_path_leads_to_is_watched() {
    if !has_maven() {
        return;
    }
    let project = project();
    run(&project).are(&ALL);
    let compile_more = |class: &str| {
        let file = "src/more/java/demo/MoreTest.java";
        let text = "package demo;\nclass NAME { @org.junit.jupiter.api.Test void m() {} }\n";
        project.write(file, &text.replace("NAME", class));
        let mut javac = Command::new("javac");
        javac.args(["-cp", "lib/*", "-d", "out/more", file]);
        let done = javac.current_dir(project.root()).status();
        assert!(done.unwrap().success());
    };
    // A new folder adds an entry to the class path, and so changes the options.
    compile_more("MoreTest");
    assert!(run(&project).tests.contains("demo.MoreTest"));
    run(&project).are(&[]);
    compile_more("NewTest");
    run(&project).are(&["demo.NewTest"]);
    // A jar that the wildcard matches.
    fs_err::copy(
        project.root().join("lib").join(format!(
            "{}.jar",
            JAR.split(':').skip(1).collect::<Vec<_>>().join("-")
        )),
        project.root().join("lib/another.jar"),
    )
    .unwrap();
    assert_eq!(run(&project).tests.len(), ALL.len() + 2);
}

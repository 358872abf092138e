//! Tests that check line numbers in stack traces: `debug-info: true`.

use super::harness::*;

/// `LinesTest` only passes while `Calc.line` is on its line.
fn project(more: &str) -> String {
    [
        pom(JUPITER, "3.2.5", ""),
        more.to_owned(),
        main(
            "Calc",
            "public class Calc {\n    public static int line() { return new Throwable().getStackTrace()[0].getLineNumber(); }\n}",
        ),
        main("Other", "public class Other {\n    public static int two() { return 2; }\n}"),
        test("LinesTest", "assertEquals(4, Calc.line());"),
        test("OtherTest", "assertEquals(2, Other.two());"),
    ]
    .concat()
}

const SETTING: &str = "-- tamis.yml --\nversion: 1\ndebug-info: true\n";
const CALC: &str = "src/main/java/demo/Calc.java";

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn lines_count_where_the_project_says_so() {
    if !has_maven() {
        return;
    }
    let project = Maven::new(&project(SETTING));
    project.run().are(&["demo.LinesTest", "demo.OtherTest"]);
    project.run().are(&[]);
    project.edit(CALC, "public class", "/** Said. */ public class");
    project.run().are(&[]);
    project.edit(CALC, "public class", "\npublic class");
    let moved = project.run();
    moved.are(&["demo.LinesTest"]);
    assert_ne!(moved.code, 0, "{}", moved.told);
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn without_the_setting_they_do_not() {
    if !has_maven() {
        return;
    }
    let project = Maven::new(&project(""));
    project.run().are(&["demo.LinesTest", "demo.OtherTest"]);
    project.edit(CALC, "public class", "// Said.\npublic class");
    project.run().are(&[]);
    // The recorded rows have no line numbers.
    project.write("tamis.yml", "version: 1\ndebug-info: true\n");
    project.run().are(&["demo.LinesTest", "demo.OtherTest"]);
}

#[test]
fn before_the_build_they_are_those_of_the_text() {
    if !has_maven() {
        return;
    }
    let project = Maven::new(&project(SETTING));
    project.run().are(&["demo.LinesTest", "demo.OtherTest"]);
    project.forget_build();
    let select = || project.select(&["--here", "--", "mvn", "test"]);
    select().are(&[]);
    project.edit(CALC, "public class", "// Said.\npublic class");
    select().are(&["demo.LinesTest"]);
}

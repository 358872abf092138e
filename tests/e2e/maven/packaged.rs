//! `mvn package` with several modules: tests use jars of other modules, which Maven makes
//! after the selection.

use super::harness::*;

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn a_jar_of_an_earlier_build_proves_nothing() {
    if !has_maven() {
        return;
    }
    let top = pom(
        JUPITER,
        "3.2.5",
        "<packaging>pom</packaging><modules><module>core</module><module>app</module></modules>",
    );
    let core = [
        pom(JUPITER, "3.2.5", "").replacen("<artifactId>demo<", "<artifactId>core<", 1),
        main(
            "Core",
            "public class Core {\n    public static int x() { return 1; }\n}",
        ),
        test("CoreTest", "assertTrue(true);"),
    ];
    let needed = "<dependencies><dependency><groupId>demo</groupId><artifactId>core</artifactId>\
                  <version>1</version></dependency>";
    let app = [
        pom(JUPITER, "3.2.5", "")
            .replacen("<artifactId>demo<", "<artifactId>app<", 1)
            .replace("<dependencies>", needed),
        test("AppTest", "assertEquals(1, Core.x());"),
    ];
    let beneath = |module: &str, text: String| {
        text.replace("-- pom.xml", &format!("-- {module}/pom.xml"))
            .replace("-- src", &format!("-- {module}/src"))
    };
    let text = [
        top,
        beneath("core", core.concat()),
        beneath("app", app.concat()),
    ];
    let project = Maven::new(&text.concat());
    let package = || project.run_with(&["--", "mvn", "package"]);
    let all = ["app/demo.AppTest", "core/demo.CoreTest"];
    package().are(&all);
    // It is newer than its content.
    package().are(&[]);
    project.edit("core/src/main/java/demo/Core.java", "return 1", "return 2");
    let edited = package();
    edited.are(&all);
    assert_ne!(edited.code, 0, "{}", edited.told);
}

//! Edits of `pom.xml` that no test can notice, and edits that one can.

use super::harness::*;

const POM: &str = "pom.xml";
const TESTS: [&str; 2] = ["demo.NameTest", "demo.PlainTest"];

fn project() -> Maven {
    let surefire = "<artifactId>maven-surefire-plugin</artifactId>";
    let told = "<configuration><systemPropertyVariables><demo.name>${project.name}</demo.name>\
                </systemPropertyVariables></configuration>";
    let more = "<name>a demo</name><url>https://example.org/a</url>\
                <scm><url>https://example.org/scm</url></scm>";
    let pom = pom(JUPITER, "3.2.5", more).replace(surefire, &format!("{surefire}{told}"));
    let pom = pom.replace(
        "<properties>",
        "<properties><checkstyle.version>1</checkstyle.version>",
    );
    let text = [
        pom,
        test(
            "NameTest",
            "assertEquals(\"a demo\", System.getProperty(\"demo.name\"));",
        ),
        test("PlainTest", "assertTrue(true);"),
    ];
    Maven::new(&text.concat())
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn what_a_pom_tells_people_selects_nothing() {
    if !has_maven() {
        return;
    }
    let project = project();
    project.run().are(&TESTS);
    for (from, to) in [
        ("example.org/a", "example.org/b"),
        ("org/scm", "org/source"),
        (
            "<properties>",
            "<!-- said -->\n  <inceptionYear>2000</inceptionYear><properties>",
        ),
        ("<checkstyle.version>1", "<checkstyle.version>2"),
        ("</project>", "<reporting><plugins/></reporting></project>"),
    ] {
        project.edit(POM, from, to);
        project.run().are(&[]);
    }
    // Surefire gets this value.
    project.edit(POM, "a demo", "another one");
    let edited = project.run();
    edited.are(&TESTS);
    assert!(
        edited.told.contains("config pom.xml changed"),
        "{}",
        edited.told
    );
    assert_ne!(edited.code, 0, "{}", edited.told);
    project.edit(POM, "another one", "a demo");
    project.run().are(&[]);
    // Now it also gets this one.
    project.edit(POM, "${project.name}", "${project.url}");
    project.run().are(&TESTS);
    project.edit(POM, "example.org/b", "example.org/c");
    project.run().are(&TESTS);
}

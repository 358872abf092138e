//! `tamis order` on tests of JUnit.

use serde_json::Value;

use super::harness::*;
use crate::harness::everything;

const STATE: &str = "public class State { public static int count; }";

/// The answer of `tamis order ARGUMENTS --json`.
fn order(project: &Maven, arguments: &[&str]) -> Value {
    let done = project.tamis(&[&["order"], arguments, &["--json"]].concat());
    serde_json::from_slice(&done.stdout).unwrap_or_else(|error| {
        let said = String::from_utf8_lossy(&done.stderr);
        panic!("{error}\n{said}")
    })
}

/// Each dependent test with its kind and first witness.
fn found(answer: &Value) -> Vec<(String, String, Vec<String>)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let all = answer["dependent"].as_array().unwrap().iter();
    let one = |one: &Value| {
        let witness = one["witnesses"][0].as_array().unwrap().iter();
        (
            text(&one["id"]),
            text(&one["kind"]),
            witness.map(text).collect(),
        )
    };
    all.map(one).collect()
}

fn shown(id: &str, kind: &str, before: &str) -> (String, String, Vec<String>) {
    (
        id.to_owned(),
        kind.to_owned(),
        vec![before.to_owned(), id.to_owned()],
    )
}

/// A test class with this body.
fn class(name: &str, import: &str, body: &str) -> String {
    format!(
        "-- src/test/java/demo/{name}.java --\npackage demo;\n{import}\npublic class {name} {{\n{body}\n}}\n"
    )
}

/// A victim, a brittle test, one that is both in its own class, parameters, nested classes;
/// and what the build tells its JVM reaches tests.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn dependent_tests_of_junit_5_are_found() {
    if !has_maven() {
        return;
    }
    let import = "import static org.junit.jupiter.api.Assertions.*;\n\
                  import org.junit.jupiter.api.*;\n\
                  import org.junit.jupiter.params.ParameterizedTest;\n\
                  import org.junit.jupiter.params.provider.ValueSource;";
    let text = [
        pom(JUPITER, "3.2.5", "").replace(
            "<version>3.2.5</version>",
            "<version>3.2.5</version><configuration><argLine>-Dflavour=sweet</argLine>\
             <runOrder>alphabetical</runOrder></configuration>",
        ),
        main("State", STATE),
        class(
            "AlphaTest",
            import,
            "@Test void pollutes() { State.count++; }\n\
             @ParameterizedTest @ValueSource(ints = {1, 2}) void many(int n) { assertTrue(n > 0); }\n\
             @Nested class Inner { @Test void deep() {} }\n\
             @Test void isTold() { assertEquals(\"sweet\", System.getProperty(\"flavour\")); }",
        ),
        class(
            "BetaTest",
            import,
            "@Test void victim() { assertEquals(0, State.count); }\n\
             @Test void needs() { assertEquals(1, State.count); }\n\
             @Disabled @Test void never() {}\n\
             @Test void asserts() { boolean on = false; assert on = true; assertTrue(on); }\n\
             @Test void sets() { System.setProperty(\"demo\", \"1\"); }",
        ),
        class("GammaTest", import, "@Test void other() {}"),
    ];
    let project = Maven::new(&text.concat());
    let answer = order(&project, &["detect"]);
    let polluter = "demo.AlphaTest#pollutes";
    let mut all = found(&answer);
    all.sort();
    assert_eq!(
        all,
        [
            shown("demo.BetaTest#needs", "brittle", polluter),
            shown("demo.BetaTest#victim", "victim", polluter),
        ],
        "{answer:#}"
    );
    assert_eq!(answer["tests"], 10, "{answer:#}");
    // It was seen to show it.
    let command = answer["dependent"][0]["reproducer"].as_str().unwrap();
    assert!(
        command.contains("-Dtest=demo.AlphaTest#pollutes,demo.BetaTest#"),
        "{command}"
    );
    // The lines that read and wrote.
    let why = order(&project, &["why", "demo.BetaTest#victim"]);
    let read = &why["cause"]["read"];
    assert_eq!(read["file"], "src/test/java/demo/BetaTest.java", "{why:#}");
    assert_eq!(read["function"], "victim");
    let write = &why["cause"]["writes"][0];
    assert_eq!(write["cell"], "demo.State.count");
    assert_eq!(
        (&write["before"], &write["after"]),
        (&"0".into(), &"1".into())
    );
    let text = write["stack"][0]["text"].as_str().unwrap();
    assert!(text.contains("State.count++"), "{why:#}");
    if everything() {
        later_runs(&project, &answer);
    }
}

/// What the next runs know of a search.
fn later_runs(project: &Maven, answer: &Value) {
    // The victim failed, so its class runs again, and what sets up the brittle test with it.
    let all = ["demo.AlphaTest", "demo.BetaTest", "demo.GammaTest"];
    let nested = "demo.AlphaTest$Inner";
    let ran = project.run();
    assert!(
        all.iter().all(|test| ran.tests.contains(*test)),
        "{}",
        ran.told
    );
    let again = project.run();
    let mut tests = again.tests.clone();
    tests.remove(nested);
    assert_eq!(
        tests.into_iter().collect::<Vec<_>>(),
        all[..2],
        "{}",
        again.told
    );
    let select = project.tamis(&["select", "--json"]);
    let told = String::from_utf8_lossy(&select.stdout).into_owned();
    assert!(told.contains("sets-up"), "{told}");
    // An unchanged suite costs no order.
    let again = order(project, &["detect"]);
    assert_eq!(again["covered"]["orders"], 0, "{again:#}");
    assert_eq!(found(&again), found(answer));
}

/// JUnit 4 runs methods in the order that is asked for; a test that ends its JVM is no
/// mystery; JUnit 3.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn dependent_tests_of_junit_4_are_found() {
    if !has_maven() {
        return;
    }
    let import = "import static org.junit.Assert.*;\nimport org.junit.*;";
    let text = [
        pom("junit:junit:4.13.2", "2.22.2", ""),
        main("State", STATE),
        class(
            "AlphaTest",
            import,
            "@BeforeClass public static void before() { State.count = 0; }\n\
             @Test public void a() { State.count = 1; }\n\
             @Test public void b() { assertEquals(0, State.count); }\n\
             @Test public void c() { State.count = 0; }",
        ),
        class(
            "BetaTest",
            import,
            "@Test public void ends() { if (System.getProperty(\"end\") != null) System.exit(3); }",
        ),
        class(
            "GammaTest",
            "import junit.framework.TestCase;",
            "public void testEnd() { System.setProperty(\"end\", \"1\"); }",
        )
        .replace("class GammaTest", "class GammaTest extends TestCase"),
    ];
    let project = Maven::new(&text.concat());
    let answer = order(&project, &["detect", "--strategy", "reverse", "--no-fresh"]);
    let mut all = found(&answer);
    all.sort();
    assert_eq!(
        all,
        [
            shown("demo.AlphaTest#b", "victim", "demo.AlphaTest#a"),
            shown("demo.BetaTest#ends", "victim", "demo.GammaTest#testEnd"),
        ],
        "{answer:#}"
    );
    assert_eq!(answer["dependent"][1]["shown"][0]["outcome"], "crashed");
    // An order of one's own, and what cannot be had.
    project.write(
        "order.txt",
        "demo.AlphaTest#c\ndemo.AlphaTest#b\ndemo.AlphaTest#a\n",
    );
    let ran = order(&project, &["run", "order.txt"]);
    let passed: Vec<_> = ran["outcomes"].as_object().unwrap().values().collect();
    assert_eq!(passed, ["passed"; 3], "{ran:#}");
    let refused = project.tamis(&["order", "detect", "--strategy", "data"]);
    assert_eq!(refused.status.code(), Some(2));
}

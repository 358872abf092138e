//! `tamis select` compiles nothing: sources tell which tests an edit can affect.

use super::harness::*;

/// A project with recorded results and without class files.
fn recorded(text: &str) -> Maven {
    let project = Maven::new(text);
    let first = project.run();
    assert_eq!(first.code, 0, "{}", first.told);
    project.forget_build();
    project
}

fn small() -> String {
    [
        pom(JUPITER, "3.2.5", ""),
        main("Calc", "public class Calc extends Base {\n    public int add(int a, int b) { return a + b; }\n}"),
        main("Base", "public class Base {\n    public int zero() { return 0; }\n}"),
        main("Limits", "public class Limits {\n    public static final int MOST = 7;\n}"),
        main("Over", "public class Over {\n    public static String of(Object x) { return \"object\"; }\n}"),
        main("Lists", "import java.util.*;\n\npublic class Lists {\n    public static List<String> make() { return new ArrayList<>(); }\n}"),
        "-- src/test/resources/data.txt --\nsome data\n".to_owned(),
        test("CalcTest", "assertEquals(3, new Calc().add(1, 2) + new Calc().zero());"),
        test("LimitsTest", "assertTrue(Limits.MOST > 3);"),
        test("OverTest", "assertEquals(\"object\", Over.of(\"x\"));"),
        test("ListsTest", "assertTrue(Lists.make().isEmpty());"),
        test("DataTest", "try (java.io.InputStream in = DataTest.class.getResourceAsStream(\"/data.txt\")) { assertTrue(in.read() > 0); }"),
        test("MissingTest", "MissingTest.class.getResource(\"/absent.txt\");"),
    ]
    .concat()
}

fn java(name: &str) -> String {
    format!("src/main/java/demo/{name}.java")
}

/// The test step with the selection in `.tamis/out`.
fn test_step(project: &Maven) -> Ran {
    let told = ["--selection", ".tamis/out"];
    project.ran(&[&["record", "--json"], &told[..], &["--", "mvn", "test"]].concat())
}

/// The messages of tamis.
fn told(project: &Maven, arguments: &[&str]) -> Vec<String> {
    let done = project.tamis(arguments);
    // Maven resets colours even if it used none.
    let text = String::from_utf8_lossy(&done.stderr).replace("\u{1b}[0m", "");
    let ours = text.lines().filter(|line| line.starts_with("tamis: "));
    ours.map(str::to_owned).collect()
}

#[test]
fn sources_tell_what_an_edit_affects() {
    if !has_maven() {
        return;
    }
    let project = recorded(&small());
    let unchanged = select(&project);
    unchanged.are(&[]);
    assert_eq!(unchanged.mode, "none", "{}", unchanged.told);
    let edits: [(&str, &str, &str, &[&str]); 11] = [
        (
            &java("Calc"),
            "public class",
            "/** Said. */\npublic  class",
            &[],
        ),
        (&java("Calc"), "a + b", "b + a", &["demo.CalcTest"]),
        (
            &java("Base"),
            "public int zero",
            "private int help() { return 1; }\n    public int zero",
            &["demo.CalcTest"],
        ),
        // Its users have a copy of the constant, and do not load the class.
        (&java("Limits"), "= 7", "= 8", &["demo.LimitsTest"]),
        (
            &java("Over"),
            "public static",
            "public static String of(String x) { return \"string\"; }\n    public static",
            &["demo.OverTest"],
        ),
        (
            &java("Lists"),
            "import java.util.*;",
            "import java.util.*;\nimport java.io.File;",
            &["demo.ListsTest"],
        ),
        (
            "src/test/resources/data.txt",
            "some",
            "other",
            &["demo.DataTest"],
        ),
        (
            "src/test/java/demo/OverTest.java",
            "object",
            "string",
            &["demo.OverTest"],
        ),
        (
            &java("Calc"),
            "return a + b;",
            "return a + ;",
            &["demo.CalcTest"],
        ),
        (
            "pom.xml",
            "<version>1</version>",
            "<version>1</version>\n  <description>What nobody asks for.</description>",
            &[],
        ),
        (
            "pom.xml",
            "<version>1</version>",
            "<version>2</version>",
            &[
                "demo.CalcTest",
                "demo.DataTest",
                "demo.LimitsTest",
                "demo.ListsTest",
                "demo.MissingTest",
                "demo.OverTest",
            ],
        ),
    ];
    for (path, from, to, wanted) in edits {
        project.edit(path, from, to);
        select(&project).are(wanted);
        project.reset("HEAD~1");
    }
    new_and_removed(&project);
    // A commit, and uncommitted changes.
    project.edit(&java("Calc"), "a + b", "b + a");
    project
        .select(&["--head", "HEAD", "--here", "--", "mvn", "test"])
        .are(&["demo.CalcTest"]);
    project.write(
        &java("Limits"),
        "package demo;\n\npublic class Limits {\n    public static final int MOST = 9;\n}\n",
    );
    select(&project).are(&["demo.CalcTest", "demo.LimitsTest"]);
}

fn select(project: &Maven) -> Selected {
    project.select(&["--here", "--", "mvn", "test"])
}

fn new_and_removed(project: &Maven) {
    // A class in front of one of the JDK; a resource that was searched for.
    project.write(
        &java("ArrayList"),
        "package demo;\n\npublic class ArrayList<T> extends java.util.LinkedList<T> {\n}\n",
    );
    project.write("src/test/resources/absent.txt", "");
    project.commit("new");
    select(project).are(&["demo.ListsTest", "demo.MissingTest"]);
    project.reset("HEAD~1");
    // Added and removed tests. Only Maven knows about a new one.
    let new = test("NewTest", "assertEquals(0, new Base().zero());");
    let (_, source) = new.split_once('\n').unwrap();
    project.write("src/test/java/demo/NewTest.java", source);
    project.remove("src/test/java/demo/OverTest.java");
    project.commit("other tests");
    let other = select(project);
    other.are(&[]);
    assert_eq!(other.mode, "subset", "{}", other.told);
    assert!(!other.excluded.contains("demo.OverTest"), "{}", other.told);
    project.reset("HEAD~1");
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn a_later_step_runs_what_was_selected_and_records_it() {
    if !has_maven() {
        return;
    }
    let project = recorded(&small());
    project.edit(&java("Calc"), "a + b", "b + a");
    // Without `--here`: units that only the test step can check are left to it.
    let open = project.select(&["--out", ".tamis/out", "--", "mvn", "test"]);
    open.are(&["demo.CalcTest"]);
    assert!(
        !project
            .read(".tamis/out/surefire.excludes")
            .contains("demo"),
        "{}",
        open.told
    );
    let ran = test_step(&project);
    ran.are(&["demo.CalcTest"]);
    assert_eq!(ran.code, 0, "{}", ran.told);
    // The carried over rows are exact again.
    let after = project.select(&["--here", "--", "mvn", "test"]);
    after.are(&[]);
    assert_eq!(after.mode, "none", "{}", after.told);
    project.run().are(&[]);
    // Nothing to do, as far as known before the build: one line each.
    let nothing = project.select(&["--out", ".tamis/out", "--", "mvn", "test"]);
    nothing.are(&[]);
    let why = "no known test has to run, but whether ";
    assert!(nothing.told.contains(why), "{}", nothing.told);
    let step = ["record", "--selection", ".tamis/out", "--", "mvn", "test"];
    let lines = told(&project, &step);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("tamis: 0 tests ran in "), "{lines:?}");
    project.edit(&java("Over"), "\"object\"", "\"\" + \"object\"");
    let lines = told(&project, &["select", "--here", "--", "mvn", "test"]);
    let last = lines.last().unwrap();
    assert!(last.ends_with(", compiling not counted"), "{lines:?}");
    project
        .select(&["--here", "--", "mvn", "test"])
        .are(&["demo.OverTest"]);
    // Maven alone, after a selection for this machine.
    project.select(&["--out", ".tamis/out", "--here", "--", "mvn", "test"]);
    let reports = "target/surefire-reports";
    fs_err::remove_dir_all(project.root().join(reports)).unwrap();
    project.mvn(&[
        "test",
        "-Dsurefire.excludesFile=.tamis/out/surefire.excludes",
    ]);
    assert!(project.exists(&format!("{reports}/demo.OverTest.txt")));
    assert!(!project.exists(&format!("{reports}/demo.CalcTest.txt")));
    // A source that does not compile carries no row over.
    project.edit(&java("Over"), "return", "return return");
    project
        .select(&["--out", ".tamis/out", "--", "mvn", "test"])
        .are(&["demo.OverTest"]);
    let broken = test_step(&project);
    assert!(
        broken.code != 0 && broken.tests.is_empty(),
        "{}",
        broken.told
    );
    project.edit(&java("Over"), "return return", "return");
    project
        .select(&["--here", "--", "mvn", "test"])
        .are(&["demo.OverTest"]);
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn what_sources_do_not_tell_runs_everything() {
    if !has_maven() {
        return;
    }
    // An annotation processor on the class path.
    let processor = "    <dependency>
      <groupId>org.kohsuke.metainf-services</groupId>
      <artifactId>metainf-services</artifactId>
      <version>1.8</version>
      <scope>provided</scope>
    </dependency>
  </dependencies>";
    let tests = [main("A", "public class A {\n}"), test("ATest", "new A();")].concat();
    let text = [
        pom(JUPITER, "3.2.5", "").replace("  </dependencies>", processor),
        tests.clone(),
    ]
    .concat();
    let select = |project: &Maven| project.select(&["--here", "--", "mvn", "test"]);
    let told = select(&recorded(&text));
    told.are(&["demo.ATest"]);
    assert!(
        told.told
            .contains("metainf-services-1.8.jar has an annotation processor"),
        "{}",
        told.told
    );
    // An unknown plug-in.
    let plugin = "    <plugins>
      <plugin>
        <groupId>org.codehaus.mojo</groupId>
        <artifactId>build-helper-maven-plugin</artifactId>
        <version>3.5.0</version>
      </plugin>";
    let text = [
        pom(JUPITER, "3.2.5", "").replace("    <plugins>", plugin),
        tests.clone(),
    ]
    .concat();
    let told = select(&recorded(&text));
    told.are(&["demo.ATest"]);
    assert!(
        told.told
            .contains("the plugin build-helper-maven-plugin may make"),
        "{}",
        told.told
    );
    // A left-over class.
    let project = Maven::new(&[pom(JUPITER, "3.2.5", ""), tests].concat());
    project.run().are(&["demo.ATest"]);
    let left = project.root().join("target/classes/demo");
    fs_err::copy(left.join("A.class"), left.join("Left.class")).unwrap();
    project.run_with(&["--all"]).are(&["demo.ATest"]);
    let told = project.select(&["--baseline", "HEAD", "--here", "--", "mvn", "test"]);
    assert!(
        told.told
            .contains("no source of the project has the class demo/Left"),
        "{}",
        told.told
    );
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn modules_see_one_another() {
    if !has_maven() {
        return;
    }
    let child = |name: &str, more: &str| {
        format!(
            "-- {name}/pom.xml --
<project xmlns=\"http://maven.apache.org/POM/4.0.0\">
  <modelVersion>4.0.0</modelVersion>
  <parent><groupId>demo</groupId><artifactId>demo</artifactId><version>1</version></parent>
  <artifactId>{name}</artifactId>
  {more}
</project>
"
        )
    };
    let needs_core = "<dependencies><dependency><groupId>demo</groupId><artifactId>core</artifactId><version>1</version></dependency></dependencies>";
    let text = [
        pom(JUPITER, "3.2.5", "<packaging>pom</packaging>\n  <modules><module>core</module><module>app</module></modules>"),
        child("core", ""),
        child("app", needs_core),
        "-- core/src/main/java/demo/Core.java --\npackage demo;\n\npublic class Core {\n    public static final int LEVEL = 1;\n    public static int core() { return 1; }\n}\n".to_owned(),
        "-- core/src/main/java/demo/Other.java --\npackage demo;\n\npublic class Other {\n    public static int other() { return 1; }\n}\n".to_owned(),
        "-- app/src/main/java/demo/App.java --\npackage demo;\n\npublic class App {\n    public static int app() { return Core.core(); }\n    public static int level() { return Core.LEVEL; }\n}\n".to_owned(),
        test("CoreTest", "assertEquals(1, Core.core());").replace("-- src", "-- core/src"),
        test("OtherTest", "assertEquals(1, Other.other());").replace("-- src", "-- core/src"),
        test("AppTest", "assertEquals(1, App.app());").replace("-- src", "-- app/src"),
        test("LevelTest", "assertTrue(App.level() > 0);").replace("-- src", "-- app/src"),
    ]
    .concat();
    let project = recorded(&text);
    let core = "core/src/main/java/demo/Core.java";
    let select = || project.select(&["--here", "--", "mvn", "test"]);
    select().are(&[]);
    project.edit(core, "return 1", "return 2 - 1");
    select().are(&["app/demo.AppTest", "core/demo.CoreTest"]);
    project.reset("HEAD~1");
    // In a class of the other module, which then changes.
    project.edit(core, "LEVEL = 1", "LEVEL = 2");
    select().are(&[
        "app/demo.AppTest",
        "app/demo.LevelTest",
        "core/demo.CoreTest",
    ]);
    project.select(&["--out", ".tamis/out", "--", "mvn", "test"]);
    let ran = test_step(&project);
    ran.are(&[
        "app/demo.AppTest",
        "app/demo.LevelTest",
        "core/demo.CoreTest",
    ]);
    select().are(&[]);
}

/// Dependencies that no test class names, or that are somewhere else than they seem.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn packages_parents_and_links_count() {
    if !has_maven() {
        return;
    }
    let child = "-- core/pom.xml --
<project>
  <modelVersion>4.0.0</modelVersion>
  <parent><groupId>demo</groupId><artifactId>demo</artifactId><version>1</version></parent>
  <artifactId>core</artifactId>
</project>
";
    let core = [
        main("Text", "public class Text {\n    private static final String T = \"t\";\n    public static final String TEXT = T + 1;\n}"),
        main("An", "import java.lang.annotation.*;\n\n@Retention(RetentionPolicy.RUNTIME)\npublic @interface An {\n    String value();\n}"),
        "-- src/main/java/demo/package-info.java --\n@An(Text.TEXT)\npackage demo;\n".to_owned(),
        main("Bare", "public class Bare {\n}"),
        test("PackageTest", "assertEquals(\"t1\", An.class.getPackage().getAnnotation(An.class).value());"),
        test("AbsentTest", "assertNull(AbsentTest.class.getResource(\"/absent.txt\"));"),
        test("BareTest", "Class.forName(\"demo.\" + \"Bare\");"),
        test("LinkTest", "assertNotNull(LinkTest.class.getResource(\"/link.txt\").openStream().readAllBytes());"),
        "-- conf/data.txt --\ndata\n-- shared.txt --\nshared\n".to_owned(),
    ]
    .concat();
    let resources = "<build>
    <resources><resource><directory>conf</directory></resource></resources>";
    let more = "<packaging>pom</packaging>\n  <modules><module>core</module></modules>";
    let text = [
        pom(JUPITER, "3.2.5", more).replace("<build>", resources),
        child.to_owned(),
        core.replace("-- ", "-- core/"),
    ]
    .concat();
    let project = Maven::new(&text);
    let top = project.root();
    fs_err::create_dir_all(top.join("core/src/test/resources")).unwrap();
    let link = top.join("core/src/test/resources/link.txt");
    std::os::unix::fs::symlink("../../../shared.txt", link).unwrap();
    project.commit("a link");
    assert_eq!(project.run().code, 0);
    project.forget_build();
    let selects = |test: &str| {
        let found = project.select(&["--here", "--", "mvn", "test"]);
        assert!(found.tests.contains(test), "{test}: {}", found.told);
        project.reset("HEAD~1");
    };
    project.edit("core/src/main/java/demo/Text.java", "\"t\"", "\"u\"");
    selects("core/demo.PackageTest");
    project.write("core/conf/absent.txt", "");
    project.commit("new");
    selects("core/demo.AbsentTest");
    project.remove("core/src/main/java/demo/Bare.java");
    project.commit("gone");
    selects("core/demo.BareTest");
    project.edit("core/shared.txt", "shared", "other");
    selects("core/demo.LinkTest");
    // Then the files that Maven copies have other line ends.
    project.write(".gitattributes", "*.txt text eol=crlf\n");
    project.commit("ends of lines");
    selects("core/demo.AbsentTest");
}

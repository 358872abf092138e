//! Files that one test writes and another one reads.

use std::collections::BTreeSet;

use super::frameworks::in_module;
use super::harness::*;

/// By letter: what one class does with `v` (the result of `GenX.v()`), and what the next class
/// does.
const PAIRS: [(&str, &str, &str); 12] = [
    (
        "A",
        "Files.writeString(Path.of(\"target/a\"), v);",
        "Files.readString(Path.of(\"target/a\"));",
    ),
    (
        "B",
        "try (var w = new FileWriter(\"target/b\", true)) { w.write(v); }",
        "new Scanner(new File(\"target/b\")).hasNext();",
    ),
    (
        "C",
        "Files.writeString(Path.of(\"target/c0\"), v); Files.move(Path.of(\"target/c0\"), Path.of(\"target/c\"), StandardCopyOption.REPLACE_EXISTING);",
        "Files.size(Path.of(\"target/c\"));",
    ),
    (
        "D",
        "new File(\"target/d0/in\").mkdirs(); Files.writeString(Path.of(\"target/d0/in/x\"), v); new File(\"target/d0\").renameTo(new File(\"target/d\" + v));",
        "new FileReader(\"target/d1/in/x\").close();",
    ),
    (
        "E",
        "Files.writeString(Path.of(\"target/e0\"), v); Files.copy(Path.of(\"target/e0\"), Path.of(\"target/e\"), StandardCopyOption.REPLACE_EXISTING);",
        "Files.mismatch(Path.of(\"target/e\"), Path.of(\"pom.xml\"));",
    ),
    (
        "F",
        "Files.writeString(Path.of(\"target/f\"), v); Files.delete(Path.of(\"target/f\"));",
        "assertFalse(new File(\"target/f\").exists());",
    ),
    (
        "G",
        "new File(\"target/g/\" + v).mkdirs();",
        "new File(\"target/g\").list();",
    ),
    (
        "H",
        "try (var r = new RandomAccessFile(\"target/h\", \"rw\")) { r.setLength(v.length()); }",
        "assertEquals(1, new File(\"target/h\").length());",
    ),
    (
        "I",
        "var link = Path.of(\"target/i\"); Files.deleteIfExists(link); Files.createSymbolicLink(link, Path.of(\"../src\"));",
        "assertTrue(new File(\"target/i/main\").isDirectory());",
    ),
    (
        "J",
        "held = new FileOutputStream(\"target/j\"); held.write(1);",
        "try (var in = new FileInputStream(\"target/j\")) { in.read(); }",
    ),
    (
        "K",
        "new File(\"data/k\").setLastModified(1000 * v.length());",
        "assertEquals(1000, new File(\"data/k\").lastModified());",
    ),
    (
        "L",
        "try (var c = FileChannel.open(Path.of(\"target/l\"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) { c.write(ByteBuffer.wrap(v.getBytes())); }",
        "try (var c = AsynchronousFileChannel.open(Path.of(\"target/l\"))) { c.size(); }",
    ),
];

fn class(name: &str, statement: &str) -> String {
    format!(
        "-- src/test/java/demo/{name}Test.java --
package demo;

import static org.junit.jupiter.api.Assertions.*;
import java.io.*;
import java.nio.*;
import java.nio.channels.*;
import java.nio.file.*;
import java.util.*;
import org.junit.jupiter.api.Test;

class {name}Test {{
    static FileOutputStream held;

    @Test
    void works() throws Exception {{
        {statement}
    }}
}}
"
    )
}

fn generator(name: &str) -> String {
    let body =
        format!("public class {name} {{\n    public static String v() {{ return \"1\"; }}\n}}");
    main(name, &body)
}

/// Edits the code of a generator, but not its result.
fn edit(project: &Maven, module: &str, name: &str) {
    let path = format!("{module}src/main/java/demo/{name}.java");
    let text = project.read(&path);
    project.write(&path, &text.replace("return", "String.valueOf(1); return"));
    project.commit("edit");
}

fn is_complete(ran: &Ran) {
    assert_eq!(ran.code, 0, "{}", ran.told);
    assert!(ran.told.contains("\"incomplete\":0"), "{}", ran.told);
}

fn in_order(pom: &str) -> String {
    pom.replace(
        "<version>3.2.5</version>",
        "<version>3.2.5</version><configuration><runOrder>alphabetical</runOrder></configuration>",
    )
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn who_reads_a_file_depends_on_the_test_that_wrote_it() {
    if !has_maven() {
        return;
    }
    let mut text = in_order(&pom(JUPITER, "3.2.5", ""));
    for (letter, writes, reads) in PAIRS {
        let name = format!("Gen{letter}");
        text += &generator(&name);
        text += &class(
            &format!("{letter}1"),
            &format!("String v = {name}.v(); {writes}"),
        );
        text += &class(&format!("{letter}2"), reads);
    }
    text += &class(
        "Still1",
        "Files.writeString(Path.of(\"target/still\"), \"1\");",
    );
    text += &class("Still2", "Files.readString(Path.of(\"target/still\"));");
    text += "-- data/k --\nk\n";
    let project = Maven::new(&text);
    let of = |letters: &str| -> BTreeSet<String> {
        let both = |letter| [format!("demo.{letter}1Test"), format!("demo.{letter}2Test")];
        letters.chars().flat_map(both).collect()
    };
    let first = project.run();
    is_complete(&first);
    project.run().are(&[]);
    edit(&project, "", "GenA");
    let one = project.run();
    assert_eq!(one.tests, of("A"), "{}", one.told);
    // The files of that run do not tell who wrote them.
    project.edit(
        "src/test/java/demo/A2Test.java",
        "Files.read",
        "Files.size(Path.of(\"pom.xml\")); Files.read",
    );
    project.run().are(&["demo.A2Test"]);
    edit(&project, "", "GenA");
    let again = project.run();
    assert_eq!(again.tests, of("A"), "{}", again.told);
    for (letter, _, _) in PAIRS {
        edit(&project, "", &format!("Gen{letter}"));
    }
    let all = project.run();
    let wanted = of(&PAIRS.map(|(letter, _, _)| letter).concat());
    assert_eq!(all.tests, wanted, "{}", all.told);
}

/// In the first run the file of a later test class does not exist yet; in the next run it
/// does.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn who_looks_before_a_file_is_written_finds_it_in_the_next_run() {
    if !has_maven() {
        return;
    }
    let text = [
        in_order(&pom(JUPITER, "3.2.5", "")),
        generator("Gen"),
        class(
            "A",
            "Path p = Path.of(\"target/left\"); if (Files.exists(p)) assertEquals(\"1\", Files.readString(p));",
        ),
        class("B", "Files.writeString(Path.of(\"target/left\"), Gen.v());"),
        class(
            "C",
            "File own = new File(\"target/own\"); if (!own.exists()) own.createNewFile();",
        ),
    ];
    let project = Maven::new(&text.concat());
    is_complete(&project.run());
    project.run().are(&["demo.ATest"]);
    project.run().are(&[]);
    edit(&project, "", "Gen");
    let edited = project.run();
    let wanted: BTreeSet<String> = ["demo.ATest", "demo.BTest"].map(str::to_owned).into();
    assert_eq!(edited.tests, wanted, "{}", edited.told);
}

const TOP: &str = "-- pom.xml --
<project xmlns=\"http://maven.apache.org/POM/4.0.0\">
  <modelVersion>4.0.0</modelVersion>
  <groupId>demo</groupId>
  <artifactId>top</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <modules>MODULES</modules>
</project>
";

/// A module with two classes: one writes the result of `Gen.v()` in one of its two tests, the
/// other reads it in one of its two tests.
fn module(name: &str, pom: &str, test: &str) -> String {
    let class = |class: &str, method: &str, does: &str| {
        format!(
            "-- src/test/java/demo/{class}.java --
package demo;

import java.nio.file.*;

public class {class} {{
    @{test} public void {method}() throws Exception {{ {does} }}
    @{test} public void other() {{ }}
}}
"
        )
    };
    let text = [
        in_order(pom),
        generator("Gen"),
        class(
            "AWritesTest",
            "writes",
            "Files.writeString(Path.of(\"target/hand\"), Gen.v());",
        ),
        class(
            "BReadsTest",
            "reads",
            "Files.readString(Path.of(\"target/hand\"));",
        ),
        class(
            "COtherTest",
            "works",
            "Files.exists(Path.of(\"target/nothing\"));",
        ),
    ];
    in_module(name, &text.concat())
}

fn top(modules: &[&str]) -> String {
    let all: String = modules
        .iter()
        .map(|name| format!("<module>{name}</module>"))
        .collect();
    TOP.replace("MODULES", &all)
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn files_are_handed_on_in_every_framework_and_between_processes() {
    if !has_maven() {
        return;
    }
    let forks = pom(JUPITER, "3.2.5", "")
        .replace("<properties>", "<properties><reuseForks>false</reuseForks>");
    let text = [
        top(&["four", "ng", "forks"]),
        module(
            "four",
            &pom("junit:junit:4.13.2", "3.2.5", ""),
            "org.junit.Test",
        ),
        module(
            "ng",
            &pom("org.testng:testng:7.10.2", "3.2.5", ""),
            "org.testng.annotations.Test",
        ),
        module("forks", &forks, "org.junit.jupiter.api.Test"),
    ];
    let project = Maven::new(&text.concat());
    is_complete(&project.run());
    project.run().are(&[]);
    for module in ["four", "ng", "forks"] {
        edit(&project, &format!("{module}/"), "Gen");
    }
    project.run().are(&[
        "four/demo.AWritesTest",
        "four/demo.BReadsTest",
        "ng/demo.AWritesTest",
        "ng/demo.BReadsTest",
        "forks/demo.AWritesTest",
        "forks/demo.BReadsTest",
    ]);
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn methods_hand_on_files_as_well() {
    if !has_maven() {
        return;
    }
    let text = [
        top(&["four", "five"]),
        "-- tamis.yml --\nversion: 1\ngranularity: method\n".to_owned(),
        module(
            "four",
            &pom("junit:junit:4.13.2", "3.2.5", ""),
            "org.junit.Test",
        ),
        module(
            "five",
            &pom(JUPITER, "3.2.5", ""),
            "org.junit.jupiter.api.Test",
        ),
    ];
    let project = Maven::new(&text.concat());
    is_complete(&project.run());
    project.run().are(&[]);
    for module in ["four", "five"] {
        edit(&project, &format!("{module}/"), "Gen");
    }
    project.run().are(&[
        "four/demo.AWritesTest#writes",
        "four/demo.BReadsTest#reads",
        "five/demo.AWritesTest#writes",
        "five/demo.BReadsTest#reads",
    ]);
}

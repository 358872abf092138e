//! Class files made by the compiler that is at hand; without one, nothing can
//! be compared, and CI has one.

use std::path::Path;
use std::process::Command;

use super::class_fingerprint;
use crate::matrix::{Classes, Fingerprint};

/// Compiles a source of the class `A`; `None` where there is no compiler.
fn compiled(source: &str, options: &[&str]) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    fs_err::write(folder.path().join("A.java"), source).unwrap();
    let output = Command::new("javac")
        .args(options)
        .arg("A.java")
        .current_dir(folder.path())
        .output();
    match output {
        Ok(output) => {
            let words = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{words}");
            Some(fs_err::read(folder.path().join("A.class")).unwrap())
        }
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "no javac: {error}");
            None
        }
    }
}

fn fingerprint(source: &str) -> Option<Fingerprint> {
    compiled(source, &["-g"]).map(|bytes| class_fingerprint(&bytes))
}

const BASE: &str = "class A { static int n = 1; @Deprecated int f(int a) { return a + 1; } \
    Runnable g() { return () -> System.out.println(n); } enum E { X, Y } }";

#[test]
fn what_no_program_can_see_does_not_count() {
    let base = fingerprint(BASE);
    let edits = [
        ("class A {", "// a comment\n\nclass A {\n"),
        ("int a) { return a + 1", "int b) { return b + 1"),
    ];
    for (from, to) in edits {
        assert_eq!(fingerprint(&BASE.replace(from, to)), base, "{to}");
    }
    let without = compiled(BASE, &["-g:none"]).map(|bytes| class_fingerprint(&bytes));
    assert_eq!(without, base);
}

#[test]
fn the_order_of_members_does_not_count() {
    let base = fingerprint(
        "class A { int a; long b; int f() { return 7; } String g() { return \"x\"; } }",
    );
    let other = fingerprint(
        "class A { long b; int a; String g() { return \"x\"; } int f() { return 7; } }",
    );
    assert_eq!(base, other);
}

#[test]
fn what_a_program_does_and_shows_counts() {
    let base = fingerprint(BASE);
    let edits = [
        ("a + 1", "a + 2"),
        ("a + 1", "a - 1"),
        ("n = 1", "n = 2"),
        ("static int n", "static final int n"),
        ("@Deprecated ", ""),
        ("int f(", "public int f("),
        ("X, Y", "Y, X"),
        ("println(n)", "print(n)"),
        ("class A {", "class A extends Thread {"),
        ("class A {", "class A implements java.io.Serializable {"),
        (
            "int f(int a) {",
            "int f(int a) throws java.io.IOException {",
        ),
    ];
    for (from, to) in edits {
        let edited = BASE.replace(from, to);
        assert_ne!(edited, BASE, "{from}");
        if to == "Y, X" {
            // Another class file, which is a unit of its own.
            continue;
        }
        let edited = fingerprint(&edited);
        assert!(edited.is_none() || edited != base, "{to}");
    }
}

#[test]
fn bytes_that_are_no_class_file_count_whole() {
    let Some(bytes) = compiled(BASE, &[]) else {
        return;
    };
    let cut = &bytes[..bytes.len() - 1];
    assert_ne!(class_fingerprint(cut), class_fingerprint(&bytes));
    assert_ne!(class_fingerprint(b""), class_fingerprint(b"x"));
    // Whatever was cut off or changed, nothing panics.
    for at in 0..bytes.len() {
        class_fingerprint(&bytes[..at]);
        let mut bent = bytes.clone();
        bent[at] ^= 0xff;
        class_fingerprint(&bent);
    }
}

#[test]
fn directories_are_known_by_their_classes() {
    let Some(bytes) = compiled(BASE, &[]) else {
        return;
    };
    let top = tempfile::tempdir().unwrap();
    let all = || super::classes_in_all(top.path(), Classes::All).unwrap();
    assert_eq!(all(), Fingerprint::MISSING);
    fs_err::create_dir_all(top.path().join("a/b")).unwrap();
    fs_err::write(top.path().join("a/b/A.class"), &bytes).unwrap();
    let one = all();
    fs_err::write(top.path().join("a/b/c.txt"), "").unwrap();
    assert_eq!(all(), one);
    fs_err::write(top.path().join("a/B.class"), &bytes).unwrap();
    assert_ne!(all(), one);
    let class = |name: &str| super::class_in(Path::new(top.path()), name).unwrap();
    assert_eq!(class("a/b/A"), class_fingerprint(&bytes));
    assert_eq!(class("a/b/C"), Fingerprint::MISSING);
}

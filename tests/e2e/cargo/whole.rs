//! What people see: output, status, other commands; and what a build can be like.

use super::harness::{has_cargo, plain, workspace};
use super::project::WORKSPACE;
use crate::harness::{one_in, told};

/// One package with few tests.
const SMALL: &str = r#"
-- Cargo.toml --
[package]
name = "small"
version = "0.1.0"
edition = "2021"
-- src/lib.rs --
//! Few tests.

pub fn one() -> u32 {
    1
}

pub fn two() -> u32 {
    2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_one() {
        assert_eq!(one(), 1);
    }

    #[test]
    fn is_two() {
        println!("said");
        assert_eq!(two(), 2);
    }
}
"#;

#[test]
fn a_workspace_needs_no_configuration() {
    if !has_cargo() {
        return;
    }
    let shop = workspace(WORKSPACE);
    let first = shop.tamis(&["run"]);
    let text = told(&first);
    assert!(first.status.success(), "{text}");
    for line in [
        "test shapes::tests::are_described ... ok",
        "test tests::slow ... ignored",
        "Doc-tests app",
        "31 tests ran",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let second = told(&shop.tamis(&["run"]));
    assert!(second.contains("nothing selected of 31 tests"), "{second}");

    shop.replace("calc/src/lib.rs", "if a > b", "if a < b");
    let why = told(&shop.tamis(&["why", "calc tests::compares"]));
    assert!(why.contains("code calc/src/lib.rs#max"), "{why}");
    let third = shop.tamis(&["run"]);
    let text = told(&third);
    assert_eq!(third.status.code(), Some(101), "{text}");
    for line in [
        "test tests::compares ... FAILED",
        "---- tests::compares stdout ----",
        "test result: FAILED. 0 passed; 1 failed; 1 ignored; 0 measured; 13 filtered out",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }

    let doctor = told(&shop.tamis(&["doctor"]));
    assert!(doctor.contains("cargo 1."), "{doctor}");
    let select = shop.tamis(&["select", "--out", "sel"]);
    let text = told(&select);
    assert!(text.contains("calc tests::compares"), "{text}");
    let read = |name: &str| fs_err::read_to_string(shop.root().join("sel").join(name)).unwrap();
    let run = read("cargo-test.txt");
    assert!(run.contains("calc\ttests::compares\n"), "{run}");
    let nextest = read("nextest.txt");
    assert!(nextest.contains("test(=tests::adds)"), "{nextest}");
    assert!(!nextest.contains("compares"), "{nextest}");
}

#[test]
fn init_knows_cargo() {
    if !has_cargo() {
        return;
    }
    let shop = workspace(SMALL);
    let done = shop.tamis(&["init"]);
    assert!(done.status.success(), "{}", told(&done));
    let file = fs_err::read_to_string(shop.root().join("tamis.yml")).unwrap();
    assert!(file.contains("runner: cargo"), "{file}");
}

#[test]
fn what_chooses_tests_itself_is_left_alone() {
    if !has_cargo() {
        return;
    }
    let shop = workspace(SMALL);
    let done = shop.tamis(&["run", "--", "cargo", "test", "is_one"]);
    let text = told(&done);
    assert!(
        text.contains("with `is_one`, `cargo test` itself chooses what runs"),
        "{text}"
    );
    assert!(text.contains("1 passed; 0 failed"), "{text}");
    shop.write(
        ".cargo/config.toml",
        "[target.'cfg(all())']\nrunner = 'env'\n",
    );
    let text = told(&shop.tamis(&["run"]));
    assert!(text.contains("says what runs the tests"), "{text}");
    assert!(text.contains("2 passed; 0 failed"), "{text}");
}

#[test]
fn what_does_not_compile_is_told_as_ever() {
    if !has_cargo() {
        return;
    }
    let shop = workspace(SMALL);
    shop.run()
        .are(&["small (doc)", "small tests::is_one", "small tests::is_two"]);
    shop.replace("src/lib.rs", "    1\n", "    one\n");
    let ran = shop.run();
    assert_eq!(ran.code, 101, "{}", ran.told);
    assert!(ran.told.contains("mismatched types"), "{}", ran.told);
    shop.replace("src/lib.rs", "    one\n", "    3\n");
    let ran = shop.run();
    // Cargo goes no further then.
    ran.are(&["small tests::is_one"]);
    assert_eq!(ran.outcomes["small tests::is_one"], "failed");
    // What failed runs again.
    shop.run().are(&["small tests::is_one"]);
    shop.replace("src/lib.rs", "    3\n", "    1\n");
    shop.run().are(&[]);
}

#[test]
fn where_functions_cannot_be_seen_files_count() {
    if !has_cargo() {
        return;
    }
    let shop = workspace(SMALL);
    let profiles = [
        "[profile.dev]\nstrip = true\n",
        "[profile.dev]\nopt-level = 1\n",
        "[profile.dev]\ndebug = false\n",
    ];
    for profile in profiles.iter().step_by(one_in(3)) {
        shop.restore(&["target"]);
        let manifest = fs_err::read_to_string(shop.root().join("Cargo.toml")).unwrap();
        shop.write("Cargo.toml", &format!("{manifest}{profile}"));
        shop.run();
        shop.run().are(&[]);
        shop.replace("src/lib.rs", "    1\n", "    1 + 0\n");
        let ran = shop.run();
        ran.are(&["small (doc)", "small tests::is_one", "small tests::is_two"]);
        let (truth, _) = plain(&shop);
        assert_eq!(ran.outcomes, truth, "{profile}");
    }
    // The names of its sources are others then. (The path has a space.)
    shop.restore(&["target"]);
    let flags = format!("--remap-path-prefix={}=/x", shop.root().display());
    let shop = shop.with(&[("CARGO_ENCODED_RUSTFLAGS", &flags)]);
    shop.run();
    shop.replace("src/lib.rs", "    1\n", "    1 + 0\n");
    shop.run()
        .are(&["small (doc)", "small tests::is_one", "small tests::is_two"]);
}

#[test]
fn processes_are_what_they_are_without_tamis() {
    if !has_cargo() {
        return;
    }
    let text = SMALL.replace(
        "    #[test]\n    fn is_one",
        r#"    #[test]
    fn crashes_a_child() {
        let this = std::env::current_exe().unwrap();
        let mut child = std::process::Command::new(this);
        child.args(["--ignored", "--exact", "tests::aborts"]);
        assert!(!child.status().unwrap().success());
    }

    #[test]
    #[ignore]
    fn aborts() {
        std::process::abort();
    }

    #[test]
    fn stops_a_child() {
        let script = "sleep 20 & kill -STOP $!; kill -CONT $!; kill $!; wait $!; test $? = 143";
        let status = std::process::Command::new("sh").args(["-c", script]).status();
        assert!(status.unwrap().success());
    }

    #[test]
    fn has_many_threads() {
        let all: Vec<_> = (0..50).map(|_| std::thread::spawn(|| one() + two())).collect();
        assert!(all.into_iter().all(|one| one.join().unwrap() == 3));
    }

    #[test]
    fn is_one"#,
    );
    let shop = workspace(&text);
    let ran = shop.run();
    let (truth, status) = plain(&shop);
    assert_eq!((ran.code, &ran.outcomes), (status, &truth), "{}", ran.told);
    assert_eq!(status, 0, "{}", ran.told);
    shop.replace("src/lib.rs", "    2\n", "    1 + 1\n");
    shop.run().are(&[
        "small (doc)",
        "small tests::has_many_threads",
        "small tests::is_two",
    ]);
}

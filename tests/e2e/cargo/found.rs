//! Ways in which an edit comes to a test that runs nothing of it.

use super::harness::{has_cargo, plain, workspace};
use crate::harness::one_in;

/// What it is, the files, a script before the first commit, a variable, and a script that edits.
/// Some test fails after that.
type Found = (
    &'static str,
    &'static str,
    &'static str,
    (&'static str, &'static str),
    &'static str,
);

const NONE: (&str, &str) = ("TAMIS_E2E_NOTHING", "");

const MANIFEST: &str =
    "-- Cargo.toml --\n[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";

const FOUND: &[Found] = &[
    (
        "features that another member asks for",
        r#"
-- Cargo.toml --
[workspace]
members = ["a", "b", "c"]
resolver = "2"
-- a/Cargo.toml --
[package]
name = "a"
version = "0.1.0"
[dependencies]
c = { path = "../c" }
-- a/src/lib.rs --
#[test]
fn is_quiet() {
    assert_eq!(c::word(), "quiet");
}
-- b/Cargo.toml --
[package]
name = "b"
version = "0.1.0"
[dependencies]
c = { path = "../c" }
-- b/src/lib.rs --
-- c/Cargo.toml --
[package]
name = "c"
version = "0.1.0"
[features]
loud = []
-- c/src/lib.rs --
pub fn word() -> &'static str {
    if cfg!(feature = "loud") { "LOUD" } else { "quiet" }
}
"#,
        "true",
        NONE,
        "sed -i 's/\"..\\/c\"/\"..\\/c\", features = [\"loud\"]/' b/Cargo.toml",
    ),
    (
        "a source that is put into a program as a text",
        "-- src/lib.rs --
pub mod other;
#[test]
fn knows_the_text() {
    assert!(include_str!(\"other.rs\").contains(\"12\"));
}
-- src/other.rs --
pub fn number() -> u32 {
    12
}
",
        "true",
        NONE,
        "sed -i s/12/13/ src/other.rs",
    ),
    (
        "a source behind a link",
        "-- src/lib.rs --
pub mod shared;
#[test]
fn is_one() {
    assert_eq!(shared::one(), 1);
}
-- real/shared.rs --
pub fn one() -> u32 {
    1
}
",
        "ln -s ../real/shared.rs src/shared.rs",
        NONE,
        "sed -i 's/    1/    2/' real/shared.rs",
    ),
    (
        "a new build script",
        "-- src/lib.rs --
#[test]
fn is_not_made() {
    assert!(option_env!(\"MADE\").is_none());
}
",
        "true",
        NONE,
        "printf 'fn main() {\\n println!(\"cargo:rustc-env=MADE=1\");\\n}\\n' > build.rs",
    ),
    (
        "a library that is loaded",
        r#"-- src/lib.rs --
#[no_mangle]
pub extern "C" fn number() -> u32 {
    helper()
}
fn helper() -> u32 {
    7
}
-- tests/loads.rs --
use std::ffi::{c_char, c_int, c_void, CString};
extern "C" {
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}
#[test]
fn is_seven() {
    let mut file = std::env::current_exe().unwrap();
    file.pop();
    if !file.join("libapp.so").exists() {
        file.pop();
    }
    let file = CString::new(file.join("libapp.so").to_str().unwrap()).unwrap();
    let number: extern "C" fn() -> u32 = unsafe {
        let library = dlopen(file.as_ptr(), 2);
        std::mem::transmute(dlsym(library, c"number".as_ptr()))
    };
    assert_eq!(number(), 7);
}
"#,
        "printf '[lib]\\ncrate-type = [\"cdylib\", \"rlib\"]\\n' >> Cargo.toml",
        NONE,
        "sed -i 's/    7/    8/' src/lib.rs",
    ),
    (
        "a copy of a program",
        r#"-- src/main.rs --
fn main() {
    println!("{}", number());
}
fn number() -> u32 {
    4
}
-- tests/copies.rs --
#[test]
fn prints_four() {
    let copy = std::env::temp_dir().join(format!("copy-{}", std::process::id()));
    std::fs::copy(env!("CARGO_BIN_EXE_app"), &copy).unwrap();
    let done = std::process::Command::new(&copy).output().unwrap();
    std::fs::remove_file(copy).unwrap();
    assert_eq!(done.stdout, b"4\n");
}
"#,
        "true",
        NONE,
        "sed -i 's/    4/    5/' src/main.rs",
    ),
    (
        "flags that optimise",
        "-- src/lib.rs --
//! App.
pub fn one() -> u32 {
    1
}
#[test]
fn is_one() {
    assert_eq!(one(), 1);
}
",
        "true",
        ("RUSTFLAGS", "-Copt-level=3"),
        "sed -i 's/    1$/    2/' src/lib.rs",
    ),
    (
        "a hidden file that a build script reads",
        "-- build.rs --
fn main() {
    println!(\"cargo:rerun-if-changed=data\");
    let text = std::fs::read_to_string(\"data/.hidden\").unwrap();
    println!(\"cargo:rustc-env=HIDDEN={}\", text.trim());
}
-- data/.hidden --
x
-- src/lib.rs --
#[test]
fn is_hidden() {
    assert_eq!(env!(\"HIDDEN\"), \"x\");
}
",
        "true",
        NONE,
        "echo y > data/.hidden",
    ),
    (
        "a crate whose name is not ASCII",
        "-- tests/été.rs --
//! Test.
fn one() -> u32 {
    1
}
#[test]
fn is_one() {
    assert_eq!(one(), 1);
}
-- src/lib.rs --
",
        "true",
        NONE,
        "sed -i 's/    1$/    2/' tests/été.rs",
    ),
    (
        "the size of what has not run",
        "-- src/lib.rs --
pub async fn outer() -> u8 {
    inner().await
}
pub async fn inner() -> u8 {
    let kept = [1u8; 8];
    std::future::ready(()).await;
    kept[0]
}
#[test]
fn is_small() {
    assert!(std::mem::size_of_val(&outer()) < 100);
}
",
        "true",
        NONE,
        "sed -i 's/1u8; 8/1u8; 400/' src/lib.rs",
    ),
];

#[test]
fn nothing_is_missed() {
    if !has_cargo() {
        return;
    }
    for (what, files, before, (name, value), edit) in FOUND.iter().step_by(one_in(3)) {
        let files = files.trim_start();
        let text = match files.contains("-- Cargo.toml --") {
            true => files.to_owned(),
            false => format!("{MANIFEST}{files}"),
        };
        let shop = workspace(&text).with(&[(name, value)]);
        shop.sh(&format!(
            "{before} && git add --all && git commit -qm more --allow-empty"
        ));
        let first = shop.run_with(&["--", "cargo", "test", "--workspace", "--no-fail-fast"]);
        assert_eq!(first.code, 0, "{what}: {}", first.told);
        shop.sh(edit);
        let ran = shop.run_with(&["--", "cargo", "test", "--workspace", "--no-fail-fast"]);
        let (truth, status) = plain(&shop);
        assert_eq!((ran.code, status), (101, 101), "{what}: {}", ran.told);
        for (test, outcome) in truth.iter().filter(|(_, outcome)| *outcome == "failed") {
            assert_eq!(
                ran.outcomes.get(test),
                Some(outcome),
                "{what}: {}",
                ran.told
            );
        }
    }
}

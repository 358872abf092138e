//! Gathers the Python agent for `tamis` to embed: its modules
//! (`agents/python/boot`), and its native helper (`agents/python/native`),
//! compiled with the `rustc` that compiles tamis.
//!
//! The helper is loaded into an interpreter that is linked to glibc, so it is a
//! plain shared object for it whatever tamis itself is compiled for: a static
//! musl binary embeds it too. Flags meant for the binary (`RUSTFLAGS`, such as
//! `+crt-static`) reach only what cargo compiles, hence not the helper.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCES: &str = "agents/python/native/src";
const MODULES: &str = "agents/python/boot";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={SOURCES}");
    println!("cargo:rerun-if-changed={MODULES}");
    let out = PathBuf::from(variable("OUT_DIR"));
    write(&out.join("agent.rs"), &list_modules());
    let constant = match compile_helper(&out) {
        Some(helper) => format!("Some(include_bytes!({helper:?}))"),
        None => "None".to_owned(),
    };
    let text = format!(
        "/// The shared object of the Python agent's native helper; `None` on\n\
         /// platforms that it was not made for.\n\
         pub const NATIVE: Option<&[u8]> = {constant};\n"
    );
    write(&out.join("native.rs"), &text);
}

fn write(file: &Path, text: &str) {
    fs::write(file, text).unwrap_or_else(|error| panic!("cannot write {file:?}: {error}"));
}

/// A constant with every module of the agent: its path and its content.
fn list_modules() -> String {
    let top = PathBuf::from(variable("CARGO_MANIFEST_DIR")).join("agents/python");
    let mut files = Vec::new();
    find_modules(&top.join("boot"), &mut files);
    files.sort();
    let mut text = "/// The modules of the Python agent, by path.\n\
                    pub const AGENT_FILES: &[(&str, &[u8])] = &[\n"
        .to_owned();
    for file in files {
        let name = file.strip_prefix(&top).expect("found beneath it");
        text.push_str(&format!("    ({name:?}, include_bytes!({file:?})),\n"));
    }
    text.push_str("];\n");
    text
}

fn find_modules(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    for entry in entries {
        let path = entry.expect("a directory entry can be read").path();
        if path.is_dir() {
            find_modules(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "py") {
            files.push(path);
        }
    }
}

/// The helper's file, or `None` where tamis goes without it.
fn compile_helper(out: &Path) -> Option<PathBuf> {
    let arch = variable("CARGO_CFG_TARGET_ARCH").into_string().ok()?;
    let is_linux = variable("CARGO_CFG_TARGET_OS") == "linux";
    if !is_linux || !["x86_64", "aarch64"].contains(&arch.as_str()) {
        return None;
    }
    let target = format!("{arch}-unknown-linux-gnu");
    let helper = out.join("_tamis_native.so");
    let mut rustc = Command::new(variable("RUSTC"));
    rustc
        .args(["--crate-name", "_tamis_native", "--crate-type", "cdylib"])
        .args(["--edition", "2024"])
        .args(["-C", "opt-level=3", "-C", "panic=abort"])
        .args(["-C", "codegen-units=1", "-C", "strip=symbols"])
        .arg("-o")
        .arg(&helper)
        .arg(Path::new(SOURCES).join("lib.rs"));
    let is_host = variable("HOST") == target.as_str();
    if !is_host {
        rustc.args(["--target", &target]);
    }
    // The linker that cargo was configured with links for its own target.
    if let Some(linker) = env::var_os("RUSTC_LINKER")
        && variable("TARGET") == target.as_str()
    {
        let mut option = OsString::from("linker=");
        option.push(linker);
        rustc.arg("-C").arg(option);
    }
    let output = rustc
        .output()
        .unwrap_or_else(|error| panic!("cannot run {rustc:?}: {error}"));
    if output.status.success() {
        return Some(helper);
    }
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(
        !is_host,
        "the Python agent's native helper does not compile:\n{messages}"
    );
    let reason = messages.lines().find(|line| line.starts_with("error"));
    println!(
        "cargo:warning=tamis goes without the native helper of its Python agent, because \
         `rustc --target {target}` failed: {}",
        reason.unwrap_or("no message")
    );
    None
}

/// A variable that cargo sets for build scripts.
fn variable(name: &str) -> OsString {
    env::var_os(name).unwrap_or_else(|| panic!("{name} is not set: run this through cargo"))
}

//! Collects the agents that `tamis` embeds: the modules of the Python agent
//! (`agents/python/boot`), its native helper (`agents/python/native`), and the JVM agent
//! (`agents/jvm`), compiled with the `rustc` that compiles tamis.
//!
//! The native parts are loaded into programs that use glibc. So they are plain shared objects
//! for glibc, whatever tamis itself is compiled for, and a static musl binary embeds them,
//! too. Flags for the binary (`RUSTFLAGS`, such as `+crt-static`) only apply to what cargo
//! compiles, and hence not to them.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use walkdir::WalkDir;

const MODULES: &str = "agents/python/boot";

/// A shared object that tamis embeds.
struct Native {
    /// The name of the crate and of the constant.
    name: &'static str,
    constant: &'static str,
    sources: &'static str,
    /// What a panic does: to catch one, the stack must be unwound.
    panic: &'static str,
    is: &'static str,
}

const NATIVES: [Native; 2] = [
    Native {
        name: "_tamis_native",
        constant: "NATIVE",
        sources: "agents/python/native/src",
        panic: "abort",
        is: "the native helper of its Python agent",
    },
    Native {
        name: "tamis_jvm",
        constant: "JVM_AGENT",
        sources: "agents/jvm/src",
        panic: "unwind",
        is: "its JVM agent",
    },
];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={MODULES}");
    for native in &NATIVES {
        println!("cargo:rerun-if-changed={}", native.sources);
    }
    let out = PathBuf::from(variable("OUT_DIR"));
    let mut digest = DefaultHasher::new();
    write(&out.join("agent.rs"), &list_modules(&mut digest));
    let mut text = String::new();
    for native in &NATIVES {
        let file = format!("{}.so", native.name);
        let value = match compile(native, &out.join(&file)) {
            Some(()) => {
                read(&out.join(&file)).hash(&mut digest);
                format!("Some(include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{file}\")))")
            }
            None => "None".to_owned(),
        };
        text.push_str(&format!(
            "/// The shared object of {}; `None` on platforms that it was not made for.\n\
             pub(crate) const {}: Option<&[u8]> = {value};\n",
            native.is, native.constant
        ));
    }
    // Here and not whenever tamis starts: they have more than a megabyte.
    text.push_str(&format!(
        "/// The digest of all files of the agents.\n\
         const AGENT_DIGEST: &str = \"{:016x}\";\n",
        digest.finish()
    ));
    write(&out.join("native.rs"), &text);
}

fn read(file: &Path) -> Vec<u8> {
    fs::read(file).unwrap_or_else(|error| panic!("cannot read {file:?}: {error}"))
}

fn write(file: &Path, text: &str) {
    fs::write(file, text).unwrap_or_else(|error| panic!("cannot write {file:?}: {error}"));
}

/// A constant with every module of the agent: its path and its content.
fn list_modules(digest: &mut DefaultHasher) -> String {
    let top = PathBuf::from(variable("CARGO_MANIFEST_DIR")).join("agents/python");
    let entries = WalkDir::new(top.join("boot")).sort_by_file_name();
    let files = entries
        .into_iter()
        .map(|entry| entry.expect("a directory entry can be read").into_path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "py"));
    let mut text = "/// The modules of the Python agent, by path.\n\
                    pub(crate) const AGENT_FILES: &[(&str, &[u8])] = &[\n"
        .to_owned();
    for file in files {
        let name = file.strip_prefix(&top).expect("found beneath it");
        (name, read(&file)).hash(digest);
        text.push_str(&format!("    ({name:?}, include_bytes!({file:?})),\n"));
    }
    text.push_str("];\n");
    text
}

/// Compiles the shared object to `file`; `None` if tamis goes without it.
fn compile(native: &Native, file: &Path) -> Option<()> {
    let arch = variable("CARGO_CFG_TARGET_ARCH").into_string().ok()?;
    let is_linux = variable("CARGO_CFG_TARGET_OS") == "linux";
    if !is_linux || !["x86_64", "aarch64"].contains(&arch.as_str()) {
        return None;
    }
    let target = format!("{arch}-unknown-linux-gnu");
    let mut rustc = Command::new(variable("RUSTC"));
    rustc
        .args(["--crate-name", native.name, "--crate-type", "cdylib"])
        .args(["--edition", "2024", "-C", "opt-level=3"])
        .arg("-C")
        .arg(format!("panic={}", native.panic))
        .args(["-C", "codegen-units=1", "-C", "strip=symbols"])
        .arg("-o")
        .arg(file)
        .arg(Path::new(native.sources).join("lib.rs"));
    let is_host = variable("HOST") == target.as_str();
    if !is_host {
        rustc.args(["--target", &target]);
    }
    // The configured linker of cargo links for its own target.
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
        return Some(());
    }
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(!is_host, "{} does not compile:\n{messages}", native.is);
    let reason = messages.lines().find(|line| line.starts_with("error"));
    println!(
        "cargo:warning=tamis goes without {}, because `rustc --target {target}` failed: {}",
        native.is,
        reason.unwrap_or("no message")
    );
    None
}

/// A variable that cargo sets for build scripts.
fn variable(name: &str) -> OsString {
    env::var_os(name).unwrap_or_else(|| panic!("{name} is not set: run this through cargo"))
}

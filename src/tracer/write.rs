//! The trace of one test, in the format of all collectors (`docs/formats/trace.md`).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use anyhow::Result;
use bstr::{BStr, ByteSlice};
use serde_json::{Value, json};

use super::environment::{ALL, of_all, spelled};
use super::paths::Found;
use super::seen::Seen;
use crate::disk::write_atomically;
use crate::matrix::{Fingerprint, Outcome};

/// The name of this collector.
const COLLECTOR: &str = "process";

/// A test that has ended.
pub(super) struct Written<'a> {
    pub test: &'a str,
    pub outcome: Outcome,
    pub seconds: f64,
    pub seen: &'a Seen,
    pub cwd: &'a Path,
    /// Program and arguments.
    pub words: &'a [Vec<u8>],
    /// The name and the value of what the command is.
    pub definition: (String, Fingerprint),
    /// The folder of results, which no test is about.
    pub store: &'a Path,
}

/// The scope of the test; that of its process is 0.
const TEST: u64 = 1;

/// Writes the trace of a test to a file of this name in `dir`.
///
/// # Errors
/// If it cannot be written.
pub(super) fn write(dir: &Path, name: &str, told: &Written<'_>) -> Result<()> {
    let mut lines = beginning(name, told.cwd);
    lines.push(json!(["s", TEST, "test", told.test, null]));
    lines.push(json!(["b", TEST, told.test, ""]));
    let units = units(told);
    let numbers: Vec<usize> = (0..units.len()).collect();
    let definitions = units.into_iter().zip(&numbers);
    lines.extend(
        definitions.map(|((kind, path, value), number)| json!(["u", number, kind, path, value])),
    );
    lines.push(json!(["+", TEST, numbers, []]));
    let written = told.seen.written.iter();
    lines.extend(written.map(|one| json!(["w", TEST, bytes(one.as_bstr())])));
    let incomplete = &told.seen.incomplete;
    let outcome = told.outcome.word();
    lines.push(json!([
        "t",
        TEST,
        told.test,
        outcome,
        told.seconds,
        incomplete
    ]));
    save(dir, name, lines)
}

/// Writes which tests there are: those that ran, and those that were left out.
///
/// # Errors
/// If it cannot be written.
pub(super) fn write_list(dir: &Path, name: &str, ran: &[&str], left_out: &[&str]) -> Result<()> {
    let mut lines = beginning(name, Path::new("/"));
    lines.push(json!(["items", ran, left_out]));
    save(dir, name, lines)
}

fn beginning(name: &str, cwd: &Path) -> Vec<Value> {
    let open = json!({
        "version": 1,
        "trace": name,
        "pid": std::process::id(),
        "role": "main",
        "collector": COLLECTOR,
        "runtime": runtime(),
        "cwd": bytes(cwd.as_os_str().as_bytes().as_bstr()),
    });
    vec![json!(["open", open]), json!(["s", 0, "session", "", null])]
}

fn save(dir: &Path, name: &str, mut lines: Vec<Value>) -> Result<()> {
    lines.push(json!(["close", 0]));
    let mut text = String::new();
    for line in lines {
        text.push_str(&line.to_string());
        text.push('\n');
    }
    Ok(write_atomically(dir.join(format!("{name}.trace")), text)?)
}

/// What the environment of the tests is called.
pub(crate) fn runtime() -> String {
    format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH)
}

/// What was used: kind, path, value.
fn units(told: &Written<'_>) -> Vec<(&'static str, Value, Value)> {
    let seen = told.seen;
    let counts = |path: &BStr| !Path::new(OsStr::from_bytes(path)).starts_with(told.store);
    let mut units = Vec::new();
    for (file, print) in seen.files.iter().filter(|(file, _)| counts(file.as_bstr())) {
        units.push(("file", bytes(file.as_bstr()), value(*print)));
    }
    for (file, found) in seen.exist.iter().filter(|(file, _)| counts(file.as_bstr())) {
        let found = match found {
            Found::Missing => "missing",
            Found::Dir => "dir",
            Found::File | Found::Special => "file",
        };
        units.push(("exists", bytes(file.as_bstr()), found.into()));
    }
    for (folder, print) in seen.listed.iter().filter(|(one, _)| counts(one.as_bstr())) {
        units.push(("dir", bytes(folder.as_bstr()), value(*print)));
    }
    let (name, print) = &told.definition;
    units.push(("runtime", name.as_str().into(), value(Some(*print))));
    units.push(("env", ALL.into(), value(Some(of_all(std::env::vars_os())))));
    for name in spelled(seen, told.words) {
        let print = std::env::var_os(name);
        let print = print.map(|print| Fingerprint::of_value(print.as_bytes()));
        units.push(("env", name.into(), value(print)));
    }
    units
}

fn value(print: Option<Fingerprint>) -> Value {
    print.map_or(Value::Null, |print| print.hex().into())
}

/// A path as traces have it.
fn bytes(path: &BStr) -> Value {
    match path.to_str() {
        Ok(text) => text.into(),
        Err(_) => json!({ "hex": faster_hex::hex_string(path) }),
    }
}

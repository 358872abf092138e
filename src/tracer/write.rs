//! The trace of one test, in the format of all collectors (`docs/formats/trace.md`).

use std::collections::BTreeMap;
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
    let mut lines = Lines::begin(name, COLLECTOR, told.cwd);
    lines.add(json!(["s", TEST, "test", told.test, null]));
    lines.add(json!(["b", TEST, told.test, ""]));
    let counts = |path: &BStr| !is_below(path, told.store);
    lines.files(told.seen, counts);
    let (name_of, print) = &told.definition;
    lines.unit("runtime", name_of.as_str().into(), value(Some(*print)));
    lines.all_variables();
    lines.variables(spelled(told.seen, told.words));
    lines.gives(TEST);
    lines.writes(TEST, told.seen);
    lines.ends(
        TEST,
        told.test,
        told.outcome,
        told.seconds,
        &told.seen.incomplete,
    );
    lines.save(dir, name)
}

/// Writes which tests there are: those that ran, and those that were left out.
///
/// # Errors
/// If it cannot be written.
pub(super) fn write_list(dir: &Path, name: &str, ran: &[&str], left_out: &[&str]) -> Result<()> {
    let mut lines = Lines::begin(name, COLLECTOR, Path::new("/"));
    lines.add(json!(["items", ran, left_out]));
    lines.save(dir, name)
}

/// The lines of a trace.
#[derive(Debug)]
pub(crate) struct Lines {
    lines: Vec<Value>,
    /// How many units are defined, and how many of these some scope has.
    defined: usize,
    given: usize,
}

impl Lines {
    /// Those of a process that ran tests. Scope 0 is what all tests of all processes need.
    pub(crate) fn begin(name: &str, collector: &str, cwd: &Path) -> Lines {
        let open = json!({
            "version": 1,
            "trace": name,
            "pid": std::process::id(),
            "role": "main",
            "collector": collector,
            "runtime": runtime(),
            "cwd": bytes(cwd.as_os_str().as_bytes().as_bstr()),
        });
        Lines {
            lines: vec![json!(["open", open]), json!(["s", 0, "session", "", null])],
            defined: 0,
            given: 0,
        }
    }

    pub(crate) fn add(&mut self, line: Value) {
        self.lines.push(line);
    }

    /// Defines a unit.
    pub(crate) fn unit(&mut self, kind: &str, path: Value, value: Value) {
        let line = json!(["u", self.defined, kind, path, value]);
        self.lines.push(line);
        self.defined += 1;
    }

    /// The same of a function, by its name.
    pub(crate) fn code(&mut self, file: &Path, line: u32, name: &str) {
        self.function(bytes(file.as_os_str().as_bytes().as_bstr()), line, name);
    }

    fn function(&mut self, file: Value, line: u32, name: &str) {
        let line = json!(["c", self.defined, file, line, name]);
        self.lines.push(line);
        self.defined += 1;
    }

    /// Defines what was used of files.
    pub(crate) fn files(&mut self, seen: &Seen, counts: impl Fn(&BStr) -> bool) {
        for (kind, path, value) in units(seen, counts) {
            self.unit(kind, path, value);
        }
    }

    /// Defines the environment as it is here, as a whole.
    pub(crate) fn all_variables(&mut self) {
        let all = of_all(std::env::vars_os());
        self.unit("env", ALL.into(), value(Some(all)));
    }

    /// Defines variables as they are here.
    pub(crate) fn variables<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) {
        for name in names {
            let print = std::env::var_os(name);
            let print = print.map(|print| Fingerprint::of_value(print.as_bytes()));
            self.unit("env", name.into(), value(print));
        }
    }

    /// Gives a scope all units that were defined since the last time.
    pub(crate) fn gives(&mut self, scope: u64) {
        let numbers: Vec<usize> = (self.given..self.defined).collect();
        self.given = self.defined;
        self.lines.push(json!(["+", scope, numbers, []]));
    }

    /// Gives a scope all units that were defined.
    pub(crate) fn gives_all(&mut self, scope: u64) {
        self.given = 0;
        self.gives(scope);
    }

    pub(crate) fn writes(&mut self, scope: u64, seen: &Seen) {
        let written = seen.written.iter();
        let written = written.map(|one| json!(["w", scope, bytes(one.as_bstr())]));
        self.lines.extend(written);
    }

    pub(crate) fn ends(
        &mut self,
        scope: u64,
        test: &str,
        outcome: Outcome,
        seconds: f64,
        incomplete: &Option<String>,
    ) {
        let outcome = outcome.word();
        self.lines
            .push(json!(["t", scope, test, outcome, seconds, incomplete]));
    }

    /// Writes them to a file of this name in `dir`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn save(mut self, dir: &Path, name: &str) -> Result<()> {
        self.lines.push(json!(["close", 0]));
        let mut text = String::new();
        for line in self.lines {
            text.push_str(&line.to_string());
            text.push('\n');
        }
        Ok(write_atomically(dir.join(format!("{name}.trace")), text)?)
    }
}

/// The lines of a trace of several tests, with each unit defined once.
#[derive(Debug)]
pub(crate) struct Units {
    pub lines: Lines,
    known: BTreeMap<String, usize>,
}

impl Units {
    /// See [`Lines::begin`].
    pub(crate) fn begin(name: &str, collector: &str, cwd: &Path) -> Units {
        Units {
            lines: Lines::begin(name, collector, cwd),
            known: BTreeMap::new(),
        }
    }

    /// The number of a unit.
    pub(crate) fn of(&mut self, kind: &str, path: Value, value: Value) -> usize {
        let key = json!([kind, path, value]).to_string();
        let next = self.known.len();
        *self.known.entry(key).or_insert_with(|| {
            self.lines.unit(kind, path, value);
            next
        })
    }

    /// The number of a function, by its name, as no line is known.
    pub(crate) fn code(&mut self, file: Value, name: &str) -> usize {
        let key = json!(["code", file, name]).to_string();
        let next = self.known.len();
        *self.known.entry(key).or_insert_with(|| {
            self.lines.function(file, 1, name);
            next
        })
    }

    /// The numbers of what was used of files.
    pub(crate) fn seen(&mut self, seen: &Seen) -> Vec<usize> {
        let all = units(seen, |_| true);
        all.into_iter()
            .map(|(kind, path, value)| self.of(kind, path, value))
            .collect()
    }
}

/// What was used of files, each as its kind, path and value; only those whose path counts.
fn units(seen: &Seen, counts: impl Fn(&BStr) -> bool) -> Vec<(&'static str, Value, Value)> {
    let files = seen
        .files
        .iter()
        .map(|(file, print)| ("file", file, value(*print)));
    let exist = seen.exist.iter().map(|(file, found)| {
        let found = match found {
            Found::Missing => "missing",
            Found::Dir => "dir",
            Found::File | Found::Special => "file",
        };
        ("exists", file, found.into())
    });
    let listed = seen
        .listed
        .iter()
        .map(|(folder, print)| ("dir", folder, value(*print)));
    let all = files.chain(exist).chain(listed);
    all.filter(|(_, path, _)| counts(path.as_bstr()))
        .map(|(kind, path, value)| (kind, bytes(path.as_bstr()), value))
        .collect()
}

pub(crate) fn is_below(path: &BStr, folder: &Path) -> bool {
    Path::new(OsStr::from_bytes(path)).starts_with(folder)
}

/// What the environment of the tests is called.
pub(crate) fn runtime() -> String {
    format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH)
}

/// A fingerprint as traces have it.
pub(crate) fn value(print: Option<Fingerprint>) -> Value {
    print.map_or(Value::Null, |print| print.hex().into())
}

/// A path as traces have it.
pub(crate) fn bytes(path: &BStr) -> Value {
    match path.to_str() {
        Ok(text) => text.into(),
        Err(_) => json!({ "hex": faster_hex::hex_string(path) }),
    }
}

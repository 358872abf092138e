//! The trace format, version 1: what one process of the test run wrote.
//! Specified in `docs/formats/trace.md`.

mod parse;
mod taking;

use std::path::{Path, PathBuf};

use anyhow::Result;
use bstr::BString;
use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::Value;

use crate::matrix::{Fingerprint, Outcome, UnitKind};

pub(super) use taking::{LeftCell, Taking};

/// The version that this reader understands.
pub(super) const TRACE_VERSION: u64 = 1;

/// The first record of a trace: which process wrote it.
#[derive(Clone, Debug, Deserialize)]
pub struct Open {
    pub version: u64,
    pub trace: String,
    pub pid: u32,
    pub role: Role,
    #[serde(default)]
    pub spawn: Option<String>,
    #[serde(default)]
    pub fork_of: Option<String>,
    /// The scope, in another trace, that started this process.
    #[serde(default)]
    pub scope: Option<(String, u64)>,
    /// `cpython-3.11.7-linux-x86_64`.
    #[serde(default)]
    pub runtime: String,
    #[serde(default)]
    pub executable: Value,
    /// What relative file names of code are relative to.
    #[serde(default)]
    pub cwd: Value,
    #[serde(default)]
    pub collector: String,
    #[serde(default)]
    pub argv: Vec<Value>,
    /// When the process started, in milliseconds since the epoch; 0 if unknown.
    #[serde(default)]
    pub started: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Runs tests.
    Main,
    /// Was started by something that is traced.
    Child,
    /// Neither.
    Other,
}

/// What a unit number stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Definition {
    /// A code object that ran.
    Code {
        file: BString,
        first_line: u32,
        name: String,
    },
    File {
        path: BString,
        fingerprint: Option<Fingerprint>,
    },
    Exists {
        path: BString,
        found: Found,
    },
    /// `directory/stem` that the import system looked for.
    Lookup {
        path: BString,
    },
    Dir {
        path: BString,
        /// What was in it, also of what git ignores.
        fingerprint: Option<Fingerprint>,
    },
    /// A module was handed to code that is not followed by its names.
    Module {
        path: BString,
    },
    /// Code ran that may reach any name.
    Names,
    /// Code that is not followed may know annotations of the project, or no agent can tell who
    /// reads them.
    Annotations {
        is_blind: bool,
    },
    /// A name that generated code spells, of the module at the path if there is one, or all
    /// names of that.
    Reached {
        path: BString,
        name: String,
    },
    /// A line of a source file was shown, by its number.
    Line {
        path: BString,
        number: String,
    },
    /// The docstring of a function was read; without a path, one that was set to something.
    Docstring {
        path: BString,
        first_line: u32,
        name: String,
    },
    Env {
        name: String,
        fingerprint: Option<Fingerprint>,
    },
    Dist {
        name: String,
        fingerprint: Option<Fingerprint>,
    },
    Runtime {
        name: String,
        fingerprint: Option<Fingerprint>,
    },
    /// A JVM class (its name with slashes), its shape, or one of its methods
    /// (after a `#`), and the directory that it was loaded from.
    Compiled {
        kind: UnitKind,
        origin: BString,
        name: String,
    },
}

/// What a check for existence found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Found {
    Missing,
    File,
    Dir,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScopeKind {
    Session,
    Import,
    Collect,
    Fixture,
    Cache,
    /// What a property ran that its object then keeps.
    Property,
    Test,
    Child,
}

/// One scope of one process.
#[derive(Clone, Debug)]
pub struct Scope {
    pub kind: ScopeKind,
    pub name: BString,
    pub extra: Option<String>,
    pub units: Vec<u64>,
    pub edges: Vec<u64>,
    pub incomplete: Option<String>,
    /// Whether this trace holds the scope's `s` record; if not, the scope is
    /// one of the process that this one was forked from.
    pub defined: bool,
}

/// The end of one test.
#[derive(Clone, Debug)]
pub struct TestEnd {
    pub scope: u64,
    pub test: String,
    pub outcome: Outcome,
    pub seconds: f64,
    pub incomplete: Option<String>,
}

/// The beginning of one test.
#[derive(Clone, Debug)]
pub struct TestBegin {
    pub scope: u64,
    pub test: String,
    pub file: BString,
}

/// A process that a scope started.
#[derive(Clone, Debug)]
pub struct Spawned {
    pub scope: u64,
    pub token: String,
    pub pid: Option<u32>,
    pub program: String,
    pub excuse: Option<String>,
}

/// A change of module-level state while a scope ran.
#[derive(Clone, Debug)]
pub struct StateChange {
    pub file: BString,
    pub name: String,
    pub by: u64,
}

/// What the runner was told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunnerConfig {
    pub rootdir: Option<BString>,
    pub args: Vec<String>,
    pub plugins: Vec<String>,
}

/// In which files the runner looks for tests.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundIn {
    /// What the runner was given.
    pub args: Vec<String>,
    /// Patterns for names of files.
    pub names: Vec<String>,
    /// Where it begins, as real paths; `None`: anywhere.
    pub places: Option<Vec<BString>>,
    /// Plug-ins that may take any file for one with tests.
    pub others: Vec<String>,
}

/// All that one process wrote.
#[derive(Clone, Debug)]
pub struct Trace {
    pub path: PathBuf,
    pub open: Open,
    pub definitions: FxHashMap<u64, Definition>,
    pub scopes: FxHashMap<u64, Scope>,
    pub begins: Vec<TestBegin>,
    pub ends: Vec<TestEnd>,
    pub state: Vec<StateChange>,
    /// A fixture instance's scope, and the scope that changed its value.
    pub fixture_changes: Vec<(u64, u64)>,
    pub spawned: Vec<Spawned>,
    /// A scope, and a path that it wrote, made or removed something at.
    pub writes: Vec<(u64, BString)>,
    /// A scope, and a path at which it met what another scope of the process wrote. Only
    /// told where tamis asks who reads and writes what.
    pub meets: Vec<(u64, BString)>,
    pub items: Option<(Vec<String>, Vec<String>)>,
    pub config: Option<RunnerConfig>,
    pub finds: Option<FoundIn>,
    /// By class that is not the project's, with slashes: the methods that one
    /// which extends or implements it can override (JVM only).
    pub overridable: FxHashMap<String, Vec<String>>,
    /// What it told of the values of cells.
    pub taking: Taking,
    /// The exit status, if the process came to an orderly end.
    pub closed: Option<i64>,
    /// When it ended, in seconds of a clock that all processes share; `None` if it was killed.
    pub ended: Option<f64>,
    /// Tests that began after processes had been started, and when they did.
    pub clocks: Vec<(u64, f64)>,
}

/// Why a trace cannot be used; the run that it belongs to is then recorded
/// without the tests that it might speak of.
#[derive(Clone, Debug)]
pub struct TraceError {
    pub path: PathBuf,
    pub why: String,
}

/// Reads every trace in `dir`. A trace that cannot be read is named in the
/// second list: whoever builds rows must then call all of them incomplete.
///
/// # Errors
/// If the directory itself cannot be listed.
pub fn read_traces(dir: &Path) -> Result<(Vec<Trace>, Vec<TraceError>)> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in fs_err::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ext| ext == "trace") {
            paths.push(path);
        }
    }
    paths.sort();
    let (mut traces, mut errors) = (Vec::new(), Vec::new());
    for path in paths {
        match crate::disk::read(&path)
            .map_err(anyhow::Error::from)
            .and_then(|bytes| parse::trace(&path, &bytes))
        {
            Ok(Some(trace)) => traces.push(trace),
            // Killed before the first record was whole: nothing ran in it.
            Ok(None) => {}
            Err(error) => errors.push(TraceError {
                path,
                why: format!("{error:#}"),
            }),
        }
    }
    Ok((traces, errors))
}

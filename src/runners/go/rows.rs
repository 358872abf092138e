//! What the tests of a binary used, as traces.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use anyhow::Result;
use bstr::{BStr, ByteSlice};
use serde_json::{Value, json};

use super::binary::{Binary, Ran};
use super::coverage::Meta;
use super::plan::{Function, GoTest, Need};
use crate::languages::go_trace::{ALL, COLLECTOR, METHODS, OUTSIDE, TESTS};
use crate::matrix::{Fingerprint, Outcome};
use crate::tracer::{self, Lines, Seen, Traced, bytes, is_below, value};

/// A test, or tests of one process.
pub(super) struct Row {
    tests: Vec<(String, Outcome)>,
    functions: BTreeSet<Function>,
    traced: Traced,
    ran: Option<BTreeSet<(u32, u32)>>,
}

impl Row {
    pub(super) fn of(id: String, test: &GoTest, ran: Ran, outcome: Outcome) -> Row {
        Row {
            tests: vec![(id, outcome)],
            functions: test.functions.iter().cloned().collect(),
            traced: ran.traced,
            ran: ran.functions,
        }
    }

    /// That of tests which run together.
    pub(super) fn group(
        ids: Vec<String>,
        tests: &[GoTest],
        shared: &[Function],
        ran: Ran,
        outcome: impl Fn(&str) -> Outcome,
    ) -> Row {
        let functions = tests.iter().flat_map(|test| &test.functions).chain(shared);
        let names = tests.iter().map(|test| outcome(&test.name));
        Row {
            tests: ids.into_iter().zip(names).collect(),
            functions: functions.cloned().collect(),
            traced: ran.traced,
            ran: ran.functions,
        }
    }
}

/// Tests that use what others of their binary left run every time, and so do these: one without
/// the other would find something else.
pub(super) fn mark_shared(rows: &mut [Row]) {
    let seen: Vec<&Seen> = rows.iter().map(|row| &row.traced.seen).collect();
    for (writer, reader, path) in tracer::shared(&seen) {
        let (written_by, read_by) = (
            rows[writer].tests[0].0.clone(),
            rows[reader].tests[0].0.clone(),
        );
        let (wrote, read) = (
            format!("{read_by} uses {path}, which it left"),
            format!("it uses {path}, which {written_by} left"),
        );
        for (at, why) in [(writer, wrote), (reader, read)] {
            rows[at].traced.seen.incomplete.get_or_insert(why);
        }
    }
}

/// The scopes of a trace.
const COLLECT: u64 = 1;
const FIRST_TEST: u64 = 2;

/// Writes the traces of a binary's tests, and which tests there are.
///
/// # Errors
/// If one cannot be written.
pub(super) fn write(
    binary: &Binary<'_>,
    name: &str,
    rows: &[Row],
    left_out: &[String],
    meta: Option<&Meta>,
) -> Result<()> {
    let traces = &binary.plan.traces;
    let ran = rows.iter().flat_map(|row| &row.tests);
    let ran: Vec<&str> = ran.map(|(id, _)| id.as_str()).collect();
    let mut lines = Lines::begin(&format!("{name}-all"), COLLECTOR, &binary.cwd);
    if !rows.is_empty() {
        lines.add(json!(["s", COLLECT, "collect", file(binary), null]));
        common(binary, meta, &mut lines)?;
        lines.gives(COLLECT);
    }
    lines.add(json!(["items", ran, left_out]));
    lines.save(traces, &format!("{name}-all"))?;
    for (number, row) in rows.iter().enumerate() {
        let name = format!("{name}-{number}");
        of_row(binary, &name, row, meta)?.save(traces, &name)?;
    }
    Ok(())
}

/// What the tests of a binary are found in.
fn file(binary: &Binary<'_>) -> Value {
    path(&binary.cwd.join(TESTS))
}

fn path(path: &Path) -> Value {
    bytes(path.as_os_str().as_bytes().as_bstr())
}

/// What all tests of a binary need.
fn common(binary: &Binary<'_>, meta: Option<&Meta>, lines: &mut Lines) -> Result<()> {
    for need in &binary.package.needs {
        match need {
            Need::File(at) => lines.unit("file", path(at), Value::Null),
            Need::Missing(at) => lines.unit("exists", path(at), "missing".into()),
            Need::Names(at) => lines.unit("dir", path(at), value(names(at)?)),
            Need::TestParts(at) => lines.unit("dir", path(&at.join(TESTS)), Value::Null),
            Need::Parts(at) => lines.unit("dir", path(&at.join(OUTSIDE)), Value::Null),
            Need::Outside(at) => lines.unit("reached", path(at), OUTSIDE.into()),
            Need::OutsideOfTests(at) => lines.unit("reached", path(at), TESTS.into()),
            Need::Name(at, name) => lines.unit("reached", path(at), name.as_str().into()),
            Need::Methods(at, name) => {
                lines.unit("reached", path(at), format!("{name}{METHODS}").into());
            }
        }
    }
    for (kind, name, print) in &binary.packages.environment {
        lines.unit(kind, name.as_str().into(), print.as_str().into());
    }
    lines.variables(binary.spelled());
    for function in &binary.package.shared {
        lines.code(&function.file, function.line, &function.name);
    }
    // What has no counters may have run.
    let Some(meta) = meta else {
        whole_packages(binary, lines);
        return Ok(());
    };
    let mut counted: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for function in meta.functions().filter(|function| function.line > 0) {
        counted
            .entry(&function.file)
            .or_default()
            .push(function.line);
    }
    for key in &binary.package.sources {
        let Some(source) = binary.packages.sources.get(key) else {
            continue;
        };
        let lines_of = counted.get(key.as_str()).map_or(&[][..], Vec::as_slice);
        for (name, first, last) in &source.functions {
            if !lines_of.iter().any(|line| (first..=last).contains(&line)) {
                lines.code(&source.path, *first, name);
            }
        }
    }
    Ok(())
}

fn names(folder: &Path) -> Result<Option<Fingerprint>> {
    let names = crate::disk::names(folder)?;
    Ok(names.map(|mut names| {
        names.retain(|(name, _)| !crate::disk::is_of_tools(name));
        Fingerprint::of_listing(&names)
    }))
}

fn whole_packages(binary: &Binary<'_>, lines: &mut Lines) {
    for folder in &binary.package.linked {
        lines.unit("reached", path(folder), ALL.into());
    }
}

fn of_row(binary: &Binary<'_>, name: &str, row: &Row, meta: Option<&Meta>) -> Result<Lines> {
    let mut lines = Lines::begin(name, COLLECTOR, &binary.cwd);
    for function in &row.functions {
        lines.code(&function.file, function.line, &function.name);
    }
    match (&row.ran, meta) {
        (Some(ran), Some(meta)) => counted(binary, ran, meta, &mut lines),
        _ => whole_packages(binary, &mut lines),
    }
    let seen = &row.traced.seen;
    let store = binary.plan.root.join(".tamis");
    lines.files(seen, |path: &BStr| !is_below(path, &store));
    // All have the same.
    let scopes = (FIRST_TEST..).zip(&row.tests);
    for (scope, (id, _)) in scopes.clone() {
        lines.add(json!(["s", scope, "test", id, null]));
        lines.add(json!(["b", scope, id, file(binary)]));
        lines.gives_all(scope);
    }
    let seconds = row.traced.duration.as_secs_f64() / row.tests.len() as f64;
    let doubt = binary
        .package
        .doubt
        .clone()
        .or_else(|| seen.incomplete.clone());
    for (scope, (id, outcome)) in scopes {
        lines.writes(scope, seen);
        lines.ends(scope, id, *outcome, seconds, &doubt);
    }
    Ok(lines)
}

/// The functions with counters that ran.
fn counted(binary: &Binary<'_>, ran: &BTreeSet<(u32, u32)>, meta: &Meta, lines: &mut Lines) {
    let mut told = BTreeSet::new();
    for at in ran {
        let Some(function) = meta.function(*at) else {
            whole_packages(binary, lines);
            continue;
        };
        let Some(source) = binary.packages.sources.get(&function.file) else {
            // Of a module that is not of the work tree.
            continue;
        };
        // What is in none is outside of functions; several can stand in one line.
        for (name, first, last) in &source.functions {
            let is_here = (first..=last).contains(&&function.line);
            if is_here && told.insert((&source.path, name)) {
                lines.code(&source.path, *first, name);
            }
        }
    }
}

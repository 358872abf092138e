//! What the tests of a binary used, as traces.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use bstr::{BStr, BString, ByteSlice};
use serde_json::{Value, json};

use super::binary::Binary;
use super::plan::{Built, CargoPlan, Need, Program};
use crate::languages::rust_trace::{COLLECTOR, OUTSIDE, TESTS};
use crate::matrix::{Fingerprint, Outcome};
use crate::tracer::{self, Lines, Seen, Traced, bytes, is_below, value};

/// A test that has run.
pub(super) struct Row {
    id: String,
    pub traced: Traced,
    /// Programs of which all functions count, by their places: it read them, or ran copies.
    whole: BTreeSet<usize>,
    /// Libraries that it read or loaded.
    libraries: BTreeSet<usize>,
}

impl Row {
    pub(super) fn of(id: String, traced: Traced) -> Row {
        Row {
            id,
            traced,
            whole: BTreeSet::new(),
            libraries: BTreeSet::new(),
        }
    }

    /// Looks at what it used of what Cargo makes: that is another one after an edit, and nobody
    /// knows before it is built.
    pub(super) fn meets_programs(&mut self, built: &Built) {
        let seen = &self.traced.seen;
        let has_own = seen.executed.keys().any(|path| seen.written.contains(path));
        let mut doubt = None;
        for path in seen.files.keys() {
            let is_made = |folder: &PathBuf| {
                is_below(path.as_bstr(), folder) && !is_below(path.as_bstr(), &folder.join("tmp"))
            };
            if !built.target.iter().any(is_made) {
                continue;
            }
            let native = Path::new(OsStr::from_bytes(path));
            let file = native
                .metadata()
                .ok()
                .map(|about| (about.dev(), about.ino()));
            let program = built.programs.iter().position(|one| Some(one.file) == file);
            let library = built
                .libraries
                .iter()
                .position(|(one, _)| Some(*one) == file);
            match (program, library) {
                (Some(program), _) => {
                    let entered = &self.traced.entered.of;
                    if has_own || !entered.contains_key(&built.programs[program].file) {
                        self.whole.insert(program);
                    }
                }
                (None, Some(library)) => {
                    self.libraries.insert(library);
                }
                (None, None) => doubt = Some(format!("it uses {path}, which a build makes")),
            }
        }
        if let Some(why) = doubt {
            self.traced.seen.doubt(why);
        }
    }

    pub(super) fn status(&self) -> i32 {
        self.traced.ended.status()
    }

    pub(super) fn has_failed(&self) -> bool {
        self.status() != 0
    }

    /// Whether it ended without saying how the test went.
    pub(super) fn is_crash(&self) -> bool {
        self.status() >= 128
    }

    fn outcome(&self) -> Outcome {
        match self.status() {
            0 => Outcome::Passed,
            128.. => Outcome::Crashed,
            _ => Outcome::Failed,
        }
    }
}

/// Files that several tests write and use mean something only in the order in which they ran: such
/// tests run every time. What others wrote counts as it is now.
pub(super) fn settle(rows: &mut [Row]) {
    let written: BTreeSet<BString> = rows
        .iter()
        .flat_map(|row| row.traced.seen.written.iter().cloned())
        .collect();
    for row in rows.iter_mut() {
        row.traced.seen.keep_prints_of(&written);
    }
    // They ran at the same time.
    let seen: Vec<&Seen> = rows.iter().map(|row| &row.traced.seen).collect();
    for (writer, reader, path) in tracer::shared_in_any_order(&seen) {
        let wrote = format!("{} uses {path}, which it left", rows[reader].id);
        let read = format!("it uses {path}, which {} left", rows[writer].id);
        for (at, why) in [(writer, wrote), (reader, read)] {
            rows[at].traced.seen.incomplete.get_or_insert(why);
        }
    }
}

/// The scopes of a trace.
const COLLECT: u64 = 1;
const TEST: u64 = 2;

/// Writes the traces of a binary's tests, and which tests there are.
///
/// # Errors
/// If one cannot be written.
pub(super) fn write(binary: &Binary<'_>, rows: &[Row], left_out: &[String]) -> Result<()> {
    let (traces, name) = (&binary.plan.traces, &binary.name);
    let ran: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    let mut lines = Lines::begin(&format!("{name}-all"), COLLECTOR, &binary.cwd);
    if !rows.is_empty() {
        lines.add(json!([
            "s",
            COLLECT,
            "collect",
            path(&binary.program.main),
            null
        ]));
        of_program(binary, binary.program, &mut lines)?;
        environment(binary.built, &mut lines);
        let mut seen = Seen::default();
        let own = binary.program.path.as_os_str().as_bytes();
        seen.files.insert(own.into(), None);
        lines.variables(tracer::spelled(&seen, &[]));
        lines.gives(COLLECT);
    }
    lines.add(json!(["items", ran, left_out]));
    lines.save(traces, &format!("{name}-all"))?;
    for (number, row) in rows.iter().enumerate() {
        let name = format!("{name}-{number}");
        of_row(binary, &name, row)?.save(traces, &name)?;
    }
    Ok(())
}

/// Writes the trace of the tests in a package's documentation.
///
/// # Errors
/// If it cannot be written.
pub(super) fn write_of_documentation(
    plan: &CargoPlan,
    built: &Built,
    name: &str,
    cwd: &Path,
    package: &str,
    row: &Row,
) -> Result<()> {
    let mut lines = Lines::begin(name, COLLECTOR, cwd);
    lines.add(json!(["s", COLLECT, "collect", path(cwd), null]));
    environment(built, &mut lines);
    lines.gives(COLLECT);
    lines.add(json!(["items", [&row.id], []]));
    let needs = built.documented.get(package);
    needs_of(needs.into_iter().flatten(), &mut lines)?;
    let seen = &row.traced.seen;
    let store = plan.root.join(".tamis");
    lines.files(seen, |path: &BStr| !is_below(path, &store));
    lines.add(json!(["s", TEST, "test", row.id, null]));
    lines.add(json!(["b", TEST, row.id, path(cwd)]));
    lines.gives(TEST);
    lines.writes(TEST, seen);
    let unknown = || format!("nobody knows what {package} is made of");
    let doubt = needs
        .is_none()
        .then(unknown)
        .or_else(|| seen.incomplete.clone());
    let seconds = row.traced.duration.as_secs_f64();
    lines.ends(TEST, &row.id, row.outcome(), seconds, &doubt);
    lines.save(&plan.traces, name)
}

fn environment(built: &Built, lines: &mut Lines) {
    for (kind, name, print) in &built.environment {
        lines.unit(kind, name.as_str().into(), print.as_str().into());
    }
}

fn path(path: &Path) -> Value {
    bytes(path.as_os_str().as_bytes().as_bstr())
}

/// What who runs a program needs, whatever it does.
fn of_program(binary: &Binary<'_>, program: &Program, lines: &mut Lines) -> Result<()> {
    needs_of(&program.needs, lines)?;
    let is_apart = binary.images.get(program.file).is_some();
    for number in &program.sources {
        let source = &binary.built.sources[*number];
        if !is_apart {
            lines.unit("file", path(&source.path), Value::Null);
            continue;
        }
        lines.unit("reached", path(&source.path), OUTSIDE.into());
        if program.with_tests.contains(number) {
            lines.unit("reached", path(&source.path), TESTS.into());
        }
    }
    Ok(())
}

fn needs_of<'n>(needs: impl IntoIterator<Item = &'n Need>, lines: &mut Lines) -> Result<()> {
    for need in needs {
        match need {
            Need::File(at) => lines.unit("file", path(at), Value::Null),
            Need::Missing(at) => lines.unit("exists", path(at), "missing".into()),
            Need::Names(at) => lines.unit("dir", path(at), value(names(at)?)),
            Need::Variable(name) => lines.variables([name.as_str()]),
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

fn of_row(binary: &Binary<'_>, name: &str, row: &Row) -> Result<Lines> {
    let mut lines = Lines::begin(name, COLLECTOR, &binary.cwd);
    let seen = &row.traced.seen;
    let entered = &row.traced.entered;
    // What else it started, or was to.
    let is_executed = |path: &PathBuf| {
        seen.executed
            .contains_key(path.as_os_str().as_bytes().as_bstr())
    };
    for program in &binary.built.programs {
        let is_other = program.file != binary.program.file;
        let is_started = entered.of.contains_key(&program.file) || program.paths().any(is_executed);
        if is_other && is_started {
            of_program(binary, program, &mut lines)?;
        }
    }
    for library in &row.libraries {
        needs_of(&binary.built.libraries[*library].1, &mut lines)?;
    }
    for program in row.whole.iter().map(|at| &binary.built.programs[*at]) {
        needs_of(&program.needs, &mut lines)?;
        for number in &program.sources {
            let source = &binary.built.sources[*number];
            lines.unit("file", path(&source.path), Value::Null);
        }
    }
    let mut told = BTreeSet::new();
    for (file, places) in &entered.of {
        let Some(image) = binary.images.get(*file) else {
            continue;
        };
        for place in places {
            let functions = image.functions.get(place).into_iter().flatten();
            told.extend(functions.copied());
        }
    }
    for (source, function) in told {
        let source = &binary.built.sources[source];
        let (name, line, _) = &source.functions[function];
        lines.code(&source.path, *line, name);
    }
    let store = binary.plan.root.join(".tamis");
    lines.files(seen, |path: &BStr| !is_below(path, &store));
    lines.add(json!(["s", TEST, "test", row.id, null]));
    lines.add(json!(["b", TEST, row.id, path(&binary.program.main)]));
    lines.gives_all(TEST);
    lines.writes(TEST, seen);
    let is_followed = entered.of.contains_key(&binary.program.file);
    let is_apart = binary.images.get(binary.program.file).is_some();
    let unseen = (is_apart && !is_followed).then(|| "its functions could not be seen".to_owned());
    let doubt = unseen.or_else(|| entered.doubt.clone());
    let doubt = doubt.or_else(|| seen.incomplete.clone());
    let seconds = row.traced.duration.as_secs_f64();
    lines.ends(TEST, &row.id, row.outcome(), seconds, &doubt);
    Ok(lines)
}

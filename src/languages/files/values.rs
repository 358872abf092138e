//! The value of files, folders, variables and packages.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use anyhow::Result;
use bstr::{BStr, BString, ByteSlice};

use crate::history::Entry;
use crate::languages::facts::is_outside;
use crate::languages::{Environment, Facts, Value};
use crate::matrix::{Fingerprint, Unit, What};

/// The value of a path that is a directory.
pub(crate) const DIR: Fingerprint = Fingerprint(*b"tamis: directory");
/// The value of a path that exists and is no directory.
pub(crate) const FILE: Fingerprint = Fingerprint(*b"tamis: some file");
/// The value of a unit that is of no language.
pub(super) fn value(facts: &Facts<'_>, unit: &Unit) -> Result<Option<Value>> {
    Ok(Some(match &unit.what {
        What::Written | What::Reached(_) => Value::Known(FILE),
        What::File | What::UntrackedFile | What::AuditedFile => match () {
            () if is_late(facts, unit) => Value::Late,
            () if facts.is_left_over(unit.path()) => {
                Value::Unknown(format!("{} is of an earlier build", unit.path))
            }
            () => file(facts, unit.path())?,
        },
        What::Exists | What::UntrackedExists | What::Dir | What::Listing
            if is_late(facts, unit) =>
        {
            Value::Late
        }
        What::Exists | What::UntrackedExists => exists(facts, unit.path())?,
        What::Dir => listing(facts.names(unit.path())?.as_deref()),
        What::Listing => listing(facts.names_on_disk(unit.path())?.as_ref()),
        What::Line(number) => line(facts, unit.path(), number)?,
        What::Dist(_)
        | What::Plugins
        | What::Runtime(_)
        | What::StartUp
        | What::Env(_)
        | What::AllEnv
        | What::Options => probed(facts, unit),
        What::Finds(_) => Value::Known(Fingerprint::MISSING),
        _ => return Ok(facts.configured(unit)?.map(Value::Known)),
    }))
}

/// Generated files, and files outside the work tree, exist where the
/// tests run, and perhaps not here.
fn is_late(facts: &Facts<'_>, unit: &Unit) -> bool {
    let elsewhere = matches!(facts.environment(), Environment::Elsewhere);
    let is_untracked = matches!(
        unit.what,
        What::UntrackedFile | What::UntrackedExists | What::Listing
    );
    elsewhere && (is_untracked || unit.is_outside())
}

fn probed(facts: &Facts<'_>, unit: &Unit) -> Value {
    match facts.environment() {
        Environment::Elsewhere => Value::Late,
        Environment::Here(probe) => {
            match probe.values.get(unit) {
                Some(fingerprint) => Value::Known(*fingerprint),
                // Only the runner knows what its options come to, and those
                // of its interpreter.
                None if matches!(unit.what, What::Options | What::StartUp) => Value::Late,
                None => Value::Unknown(format!("the interpreter did not say what {unit} is")),
            }
        }
    }
}

fn file(facts: &Facts<'_>, path: &BStr) -> Result<Value> {
    if is_outside(path) {
        return outside_fingerprint(path).map(Value::Known);
    }
    Ok(match facts.view().entry(path)? {
        Entry::Missing => Value::Known(Fingerprint::MISSING),
        Entry::Dir => Value::Known(DIR),
        Entry::File { fingerprint, .. } => Value::Known(fingerprint),
        Entry::TooLarge { bytes, .. } => {
            Value::Unknown(format!("{path} {}", crate::history::too_large(bytes)))
        }
        Entry::Unknown => unknown(path),
    })
}

/// The text of one line, with the function or class that it is in from its beginning, and the
/// headers of those around: at this number, another function must not have the same text.
fn line(facts: &Facts<'_>, path: &BStr, number: &str) -> Result<Value> {
    let Ok(number) = number.parse::<i64>() else {
        return Ok(Value::Unknown(format!("{path} has no line {number}")));
    };
    let content = match file(facts, path)? {
        Value::Known(Fingerprint::MISSING) => return Ok(Value::Known(Fingerprint::MISSING)),
        Value::Known(_) => facts.view().read(path)?,
        other => return Ok(other),
    };
    let Some(content) = content else {
        return Ok(unknown(path));
    };
    let lines = lines_of(&content);
    // Where another encoding is declared, or this one is wrong, any byte may count.
    let head = lines.iter().take(2);
    let is_declared = head.into_iter().any(|line| line.find(b"coding").is_some());
    if is_declared || !content.is_utf8() {
        return Ok(Value::Known(Fingerprint::of_value(&content)));
    }
    let at = usize::try_from(number - 1).ok();
    let Some(at) = at.filter(|at| *at < lines.len()) else {
        return Ok(Value::Known(Fingerprint::MISSING));
    };
    Ok(Value::Known(Fingerprint::of_value(&in_place(&lines, at))))
}

/// As Python reads sources: any kind of line end.
fn lines_of(content: &[u8]) -> Vec<&[u8]> {
    let lines = content.split_inclusive(|byte| *byte == b'\n');
    lines
        .flat_map(|line| {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            line.split(|byte| *byte == b'\r')
        })
        .collect()
}

/// The lines from the beginning of the innermost function or class around a line to that line,
/// and the headers of those around; for a line of none, all before it.
fn in_place(lines: &[&[u8]], at: usize) -> Vec<u8> {
    let depth = |line: &[u8]| {
        line.iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count()
    };
    let is_header = |line: &[u8]| {
        let line = line.trim_ascii_start();
        let starts: [&[u8]; 3] = [b"def ", b"async def ", b"class "];
        starts.iter().any(|start| line.starts_with(start))
    };
    let mut around = Vec::new();
    let mut limit = depth(lines[at]);
    for (above, line) in lines[..at].iter().enumerate().rev() {
        if !line.trim_ascii().is_empty() && depth(line) < limit {
            limit = depth(line);
            if is_header(line) {
                around.push(above);
            }
        }
    }
    let first = around.first().copied().unwrap_or(0);
    let headers = around.iter().skip(1).map(|above| lines[*above]);
    let all: Vec<&[u8]> = headers.chain(lines[first..=at].iter().copied()).collect();
    all.join(&b'\n')
}

fn exists(facts: &Facts<'_>, path: &BStr) -> Result<Value> {
    if is_outside(path) {
        let path = Path::new(OsStr::from_bytes(path));
        return Ok(Value::Known(match std::fs::metadata(path) {
            Ok(found) if found.is_dir() => DIR,
            Ok(_) => FILE,
            Err(_) => Fingerprint::MISSING,
        }));
    }
    Ok(match facts.view().entry(path)? {
        Entry::Missing => Value::Known(Fingerprint::MISSING),
        Entry::Dir => Value::Known(DIR),
        Entry::File { .. } | Entry::TooLarge { .. } => Value::Known(FILE),
        Entry::Unknown => unknown(path),
    })
}

/// The sorted lines `f name` and `d name`, as agents compute it too.
fn listing(names: Option<&Vec<(BString, bool)>>) -> Value {
    Value::Known(match names {
        None => Fingerprint::MISSING,
        Some(names) => Fingerprint::of_listing(names),
    })
}

fn unknown(path: &BStr) -> Value {
    Value::Unknown(format!("git cannot tell what {path} holds"))
}

/// The fingerprint of a file outside the work tree: as if git stored it.
fn outside_fingerprint(path: &BStr) -> Result<Fingerprint> {
    let file = Path::new(OsStr::from_bytes(path));
    match fs_err::symlink_metadata(file) {
        Ok(found) if found.is_dir() => Ok(DIR),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Fingerprint::MISSING),
        _ => crate::history::fingerprint_on_disk(file),
    }
}

//! What cargo-nextest and test binaries can be told in a later step.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;

use crate::disk::write_atomically;
use crate::select::{Part, Selection, Verdict};

/// Writes `nextest.txt`, an expression for `cargo nextest run -E` that leaves tests out (those
/// that nobody knows run), and `cargo-test.txt`: a binary a line, and behind a tab each of its
/// tests that is to run, as words for the shell.
///
/// # Errors
/// If one cannot be written.
pub(super) fn write(selection: &Selection, part: Option<Part<'_>>, out: &Path) -> Result<()> {
    let mut run: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut skip: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (test, verdict) in &selection.verdicts {
        let (binary, name) = test.split_once(' ').unwrap_or((test, ""));
        let is_here = part.is_none_or(|part| part.has(test));
        let tests = match verdict {
            Verdict::Run(_) if is_here => &mut run,
            _ => &mut skip,
        };
        tests.entry(binary).or_default().push(name);
    }
    let left_out = skip.iter().map(|(binary, tests)| {
        let tests = tests.iter().filter(|name| !name.is_empty());
        let tests: Vec<String> = tests.map(|name| format!("test(={name})")).collect();
        format!("(binary_id(={binary}) & ({}))", tests.join(" | "))
    });
    let left_out: Vec<String> = left_out.filter(|one| !one.ends_with("()")).collect();
    let expression = match left_out.as_slice() {
        [] => "all()\n".to_owned(),
        some => format!("not ({})\n", some.join(" | ")),
    };
    let lines: String = run
        .iter()
        .map(|(binary, tests)| {
            let tests = tests.iter().map(|name| shell_words::quote(name));
            let tests: Vec<_> = tests.collect();
            format!("{binary}\t{}\n", tests.join(" "))
        })
        .collect();
    write_atomically(out.join("nextest.txt"), expression)?;
    Ok(write_atomically(out.join("cargo-test.txt"), lines)?)
}

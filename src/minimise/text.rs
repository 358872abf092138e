//! Composed tests as text: what stays is kept byte for byte.

use std::collections::BTreeSet;
use std::ops::Range;

use super::model::Role;
use super::walk::Composed;

/// A source file with tests: where things stand, as a language tells it. All places are bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceText {
    /// What begins a comment to the end of the line.
    pub comment: &'static str,
    pub tests: Vec<TestText>,
}

/// Where a test stands.
#[derive(Clone, Debug, PartialEq)]
pub struct TestText {
    /// With the names of its classes.
    pub qualified: String,
    /// Its lines, with the comments directly above it.
    pub whole: Range<usize>,
    /// The comments directly above it.
    pub above: Range<usize>,
    pub name: Range<usize>,
    /// Where another parameter can be added, and what is there.
    pub parameters_end: usize,
    pub parameters: Vec<String>,
    /// The variable that has the instance.
    pub instance: Option<String>,
    /// What tests of its class name of the instance.
    pub members: Vec<String>,
    /// White space before each of its statements.
    pub indent: String,
    pub statements: Vec<StatementText>,
    /// Why it cannot be reorganised.
    pub alone: Option<String>,
}

/// Where a statement stands.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementText {
    /// From the line behind the statement before: comments, empty lines, itself.
    pub lines: Range<usize>,
    /// From 1.
    pub first_line: u32,
    pub last_line: u32,
    /// Each place where it names a variable.
    pub names: Vec<(Range<usize>, String)>,
    pub part: Part,
}

/// What the text of a statement tells of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub role: Role,
    pub shape: String,
    pub used: Vec<String>,
    pub defined: BTreeSet<String>,
    pub fixed: BTreeSet<String>,
    pub free: BTreeSet<String>,
}

/// Composed tests of one file that are to be written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edit<'c> {
    pub composed: &'c Composed,
    pub name: &'c str,
}

/// The text with the composed tests in place of theirs. `place` tells which test of the file
/// each test of the model is. The first test of each stays where it is, and the statements of
/// the others follow, below a comment with the name of their test. \[V, algorithm 2\]
pub(crate) fn rewrite(
    text: &[u8],
    source: &SourceText,
    edits: &[Edit<'_>],
    place: &dyn Fn(usize) -> usize,
) -> Vec<u8> {
    let mut changes: Vec<(Range<usize>, Vec<u8>)> = Vec::new();
    for edit in edits {
        let Some((&first, others)) = edit.composed.tests.split_first() else {
            continue;
        };
        let home = &source.tests[place(first)];
        changes.push((home.name.clone(), edit.name.into()));
        let parameters = edit.composed.parameters.iter().map(String::as_str);
        let more: Vec<&str> = parameters
            .filter(|name| !home.parameters.iter().any(|one| one == name))
            .collect();
        if !more.is_empty() {
            let is_first = home.parameters.is_empty() && home.instance.is_none();
            let comma = if is_first { "" } else { ", " };
            let more = format!("{comma}{}", more.join(", "));
            changes.push((home.parameters_end..home.parameters_end, more.into()));
        }
        let mut body = Vec::new();
        if !text[..home.whole.end].ends_with(b"\n") {
            body.extend_from_slice(line_end(text));
        }
        for other in others {
            let own = &source.tests[place(*other)];
            body.extend(block(text, source, edit.composed, (*other, own)));
            let start = without_empty_lines(text, own.whole.start);
            changes.push((start..own.whole.end, Vec::new()));
        }
        changes.push((home.whole.end..home.whole.end, body));
    }
    // What is put in comes before what goes away behind it.
    changes.sort_by_key(|(range, _)| (range.start, range.end));
    let mut out = Vec::new();
    let mut at = 0;
    for (range, new) in changes {
        out.extend_from_slice(&text[at..range.start.max(at)]);
        out.extend_from_slice(&new);
        at = range.end.max(at);
    }
    out.extend_from_slice(&text[at..]);
    out
}

/// What a test adds to the one that it is joined to.
fn block(
    text: &[u8],
    source: &SourceText,
    composed: &Composed,
    (test, own): (usize, &TestText),
) -> Vec<u8> {
    let end = line_end(text);
    let mut out = Vec::new();
    out.extend_from_slice(end);
    let name = &text[own.name.clone()];
    out.extend_from_slice(own.indent.as_bytes());
    out.extend_from_slice(source.comment.as_bytes());
    out.push(b' ');
    out.extend_from_slice(name);
    out.extend_from_slice(end);
    for line in text[own.above.clone()].split_inclusive(|byte| *byte == b'\n') {
        out.extend_from_slice(own.indent.as_bytes());
        out.extend_from_slice(line.trim_ascii_start());
    }
    let mut is_first = true;
    for step in composed.steps.iter().filter(|step| step.test == test) {
        let statement = &own.statements[step.statement];
        let mut lines = statement.lines.clone();
        if is_first {
            // The comment above is its own.
            lines.start = behind_empty_lines(text, lines.clone());
            is_first = false;
        }
        let mut at = lines.start;
        for (range, name) in &statement.names {
            if let Some(new) = step.names.get(name) {
                out.extend_from_slice(&text[at..range.start]);
                out.extend_from_slice(new.as_bytes());
                at = range.end;
            }
        }
        out.extend_from_slice(&text[at..lines.end]);
        if !text[..lines.end].ends_with(b"\n") {
            out.extend_from_slice(end);
        }
    }
    out
}

/// How the lines of a file end: as its first does.
fn line_end(text: &[u8]) -> &'static [u8] {
    let first = text.iter().position(|byte| *byte == b'\n');
    match first {
        Some(at) if at > 0 && text[at - 1] == b'\r' => b"\r\n",
        _ => b"\n",
    }
}

/// Where the empty lines before `start` begin.
fn without_empty_lines(text: &[u8], start: usize) -> usize {
    let mut at = start;
    while at > 0 {
        let before = &text[..at - 1];
        let line = before.iter().rposition(|byte| *byte == b'\n');
        let line = line.map_or(0, |end| end + 1);
        if !text[line..at].trim_ascii().is_empty() {
            break;
        }
        at = line;
    }
    at
}

/// Where the first line with something in it begins.
fn behind_empty_lines(text: &[u8], lines: Range<usize>) -> usize {
    let mut at = lines.start;
    for line in text[lines].split_inclusive(|byte| *byte == b'\n') {
        if !line.trim_ascii().is_empty() {
            break;
        }
        at += line.len();
    }
    at
}

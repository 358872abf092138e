//! What the tokens of a source come to, for each of its functions and for the rest.

use oxc_parser::{Kind, Token};

use super::reading::Reading;
use super::syntax::DIGEST;
use crate::matrix::Fingerprint;

/// What tools look for in the text of a source, be it a comment or not.
const PRAGMAS: [&str; 8] = [
    "@module-tag",
    "@vitest-",
    "@jest-",
    "@jsx",
    "@vite-",
    "@babel",
    "@swc",
    "sourceMappingURL",
];

/// Calls of vitest that it looks for in the text: if there is one, it moves what is imported.
const CALLS: [&str; 5] = ["mock", "unmock", "hoisted", "doMock", "doUnmock"];

/// Words that mean something else if what comes next stands on the same line.
const OPEN: [&str; 8] = [
    "get", "set", "static", "async", "accessor", "declare", "abstract", "readonly",
];

/// A digest for each function, and one for all outside of them.
pub(super) struct Digests {
    pub functions: Vec<Fingerprint>,
    pub outside: Fingerprint,
}

/// The text of a function, or of what is outside.
#[derive(Default)]
struct Sink {
    text: Vec<u8>,
    /// Whether a new line before the next token can matter.
    line_matters: bool,
    /// Whether the last token is one of [`OPEN`].
    is_open: bool,
}

impl Sink {
    fn token(&mut self, token: &Token, text: &str) {
        let is_step = matches!(token.kind(), Kind::Plus2 | Kind::Minus2);
        if token.is_on_new_line() && (self.line_matters || is_step) {
            self.text.push(b'\n');
        }
        self.text.extend(text.bytes());
        self.text.push(0);
        self.is_open = OPEN.contains(&text);
        // Statements that end with a line do so after a word.
        self.line_matters =
            text.ends_with(|last: char| last.is_alphanumeric() || "_$".contains(last));
    }

    /// Types were left away before a token, which without them might belong to what is before.
    fn skipped(&mut self, token: &Token, text: &str) {
        let joins =
            !text.starts_with(|first: char| first.is_alphanumeric() || "_$};)#@".contains(first));
        if token.is_on_new_line() && (joins || self.is_open) {
            self.text.push(2);
        }
    }

    fn mark(&mut self, text: &str) {
        self.text.push(1);
        self.text.extend(text.bytes());
        self.text.push(0);
        self.line_matters = true;
    }
}

/// Sorts the tokens of a source into the functions that they are in. `reading` is of the same source.
pub(super) fn digests(source: &str, tokens: &[Token], reading: &Reading) -> Digests {
    let functions = &reading.functions;
    let mut outside = Sink::default();
    let mut inside: Vec<Sink> = functions.iter().map(|_| Sink::default()).collect();
    let mut open: Vec<usize> = Vec::new();
    let mut next = 0;
    let mut types = reading.types.iter().peekable();
    let mut has_skipped = false;
    for token in tokens {
        let at = token.start();
        while open.last().is_some_and(|last| functions[*last].end <= at) {
            open.pop();
        }
        while let Some(function) = functions.get(next).filter(|one| one.parameters <= at) {
            let around = match open.last() {
                Some(last) => &mut inside[*last],
                None => &mut outside,
            };
            around.mark(&format!("{}", function.length));
            open.push(next);
            next += 1;
        }
        while types.peek().is_some_and(|span| span.end <= at) {
            types.next();
        }
        if token.kind() == Kind::Eof {
            continue;
        }
        if types.peek().is_some_and(|span| span.start <= at) {
            has_skipped = true;
            continue;
        }
        let sink = match open.last() {
            Some(last) => &mut inside[*last],
            None => &mut outside,
        };
        let text = &source[at as usize..token.end() as usize];
        if std::mem::take(&mut has_skipped) {
            sink.skipped(token, text);
        }
        sink.token(token, text);
    }
    for pragma in PRAGMAS {
        for (at, _) in source.match_indices(pragma) {
            outside.mark(source[at..].lines().next().unwrap_or_default());
        }
    }
    if has_call(source) {
        outside.mark("calls of vitest");
    }
    for mark in &reading.marks {
        outside.mark(mark);
    }
    let digest = |sink: &Sink| Fingerprint::of_digest(DIGEST, &sink.text);
    Digests {
        functions: inside.iter().map(digest).collect(),
        outside: digest(&outside),
    }
}

/// Whether there is the text of one of [`CALLS`].
fn has_call(source: &str) -> bool {
    CALLS.iter().any(|call| {
        source.match_indices(call).any(|(at, _)| {
            let before = source[..at].trim_end();
            let after = source[at + call.len()..].trim_start();
            let object = before.strip_suffix('.').map(str::trim_end);
            let is_call = after.starts_with('(');
            is_call
                && object.is_some_and(|object| object.ends_with("vi") || object.ends_with("vitest"))
        })
    })
}

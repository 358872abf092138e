//! What the tokens of a source come to, for each of its functions and for the rest.

use oxc_ast::ast::Comment;
use oxc_parser::{Kind, Token};

use super::reading::Reading;
use super::syntax::DIGEST;
use crate::matrix::Fingerprint;

/// What in comments tools read that make modules or run tests.
const PRAGMAS: [&str; 7] = [
    "@vitest-",
    "@jest-",
    "@jsx",
    "@vite-",
    "@babel",
    "@swc",
    "sourceMappingURL",
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
}

impl Sink {
    fn token(&mut self, token: &Token, text: &str) {
        let is_step = matches!(token.kind(), Kind::Plus2 | Kind::Minus2);
        if token.is_on_new_line() && (self.line_matters || is_step) {
            self.text.push(b'\n');
        }
        self.text.extend(text.bytes());
        self.text.push(0);
        // Statements that end with a line do so after a word.
        self.line_matters =
            text.ends_with(|last: char| last.is_alphanumeric() || "_$".contains(last));
    }

    fn mark(&mut self, text: &str) {
        self.text.push(1);
        self.text.extend(text.bytes());
        self.text.push(0);
        self.line_matters = true;
    }
}

/// Sorts the tokens of a source into the functions that they are in. `reading` is of the same source.
pub(super) fn digests(
    source: &str,
    tokens: &[Token],
    comments: &[Comment],
    reading: &Reading,
) -> Digests {
    let functions = &reading.functions;
    let mut outside = Sink::default();
    let mut inside: Vec<Sink> = functions.iter().map(|_| Sink::default()).collect();
    let mut open: Vec<usize> = Vec::new();
    let mut next = 0;
    let mut types = reading.types.iter().peekable();
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
        if types.peek().is_some_and(|span| span.start <= at) || token.kind() == Kind::Eof {
            continue;
        }
        let sink = match open.last() {
            Some(last) => &mut inside[*last],
            None => &mut outside,
        };
        sink.token(token, &source[at as usize..token.end() as usize]);
    }
    for comment in comments {
        let text = &source[comment.span.start as usize..comment.span.end as usize];
        if PRAGMAS.iter().any(|pragma| text.contains(pragma)) {
            outside.mark(text);
        }
    }
    for name in &reading.used {
        outside.mark(name);
    }
    if reading.has_jsx {
        outside.mark("jsx");
    }
    let digest = |sink: &Sink| Fingerprint::of_digest(DIGEST, &sink.text);
    Digests {
        functions: inside.iter().map(digest).collect(),
        outside: digest(&outside),
    }
}

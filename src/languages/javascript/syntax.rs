//! A source of JavaScript or TypeScript: its functions, and all that is outside of them.
//!
//! Comments, types and formatting do not count.

use bstr::ByteSlice;
use oxc_allocator::Allocator;
use oxc_parser::config::TokensParserConfig;
use oxc_parser::{ParseOptions, Parser};
use oxc_semantic::SemanticBuilder;
use oxc_span::SourceType;

use super::reading::{Function, Reading};
use super::text;
use crate::matrix::Fingerprint;

/// Grows when a digest comes to hold something else.
pub(super) const DIGEST: &str = "tamis 2026 javascript source 1";

/// What a file of JavaScript or TypeScript comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JsSource {
    /// Those with a body, each before those inside of it.
    pub functions: Vec<JsFunction>,
    /// Where classes are, in bytes.
    pub classes: Vec<(u32, u32)>,
    /// Everything else, or all of it.
    pub(super) outside: Fingerprint,
    /// Why it is not taken apart, if so.
    pub whole: Option<&'static str>,
}

/// A function of any kind whose parameters and body count only for who runs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JsFunction {
    /// With the names of classes and functions that it is in; no two of a file have the same.
    pub name: String,
    /// The name that its declaration or property gives it; empty if there is none.
    pub own_name: String,
    /// Where it begins, its parameters begin, and it ends, in bytes. A method begins with its name, or
    /// with what is before that.
    pub start: u32,
    pub parameters: u32,
    pub end: u32,
    /// Parameters and body without the functions inside of it, of which only names and the number of
    /// parameters show.
    pub(super) digest: Fingerprint,
}

/// The syntax that a file's ending says.
pub(crate) fn source_type(path: &[u8]) -> Option<SourceType> {
    let (_, ending) = path.rsplit_once_str(".")?;
    Some(match ending {
        b"js" | b"jsx" | b"mjs" => SourceType::mjs().with_jsx(true),
        b"cjs" => SourceType::cjs().with_jsx(true),
        b"ts" | b"mts" | b"cts" if !path.ends_with(b".d.ts") => SourceType::ts(),
        b"tsx" => SourceType::tsx(),
        _ => return None,
    })
}

impl JsSource {
    /// What a source is made of. What cannot be parsed, or may show what functions hold without running
    /// them, is one piece.
    pub(crate) fn parse(bytes: &[u8], kind: SourceType) -> JsSource {
        let whole = |why| JsSource {
            functions: Vec::new(),
            classes: Vec::new(),
            outside: Fingerprint::of_digest(DIGEST, bytes),
            whole: Some(why),
        };
        let Ok(text) = std::str::from_utf8(bytes) else {
            return whole("it is no text");
        };
        // Deeply nested expressions need more than threads have.
        stacker::maybe_grow(1 << 20, 64 << 20, || {
            let allocator = Allocator::default();
            let parser = Parser::new(&allocator, text, kind)
                .with_options(ParseOptions {
                    parse_regular_expression: true,
                    ..ParseOptions::default()
                })
                .with_config(TokensParserConfig);
            let parsed = parser.parse();
            if parsed.panicked || !parsed.diagnostics.is_empty() {
                return whole("its syntax is not understood");
            }
            // Errors of these kinds are found before anything runs, too.
            let named = SemanticBuilder::new().with_check_syntax_error(true);
            let named = named.build(&parsed.program);
            if !named.diagnostics.is_empty() {
                return whole("its syntax is not understood");
            }
            let reading = Reading::of(&parsed.program, &named.semantic);
            if let Some(why) = reading.whole {
                return whole(why);
            }
            let digests = text::digests(text, &parsed.tokens, &reading);
            let functions = reading.functions.into_iter().zip(digests.functions);
            JsSource {
                functions: functions.map(|(one, digest)| one.with(digest)).collect(),
                classes: reading.classes,
                outside: digests.outside,
                whole: None,
            }
        })
    }
}

impl Function {
    fn with(self, digest: Fingerprint) -> JsFunction {
        JsFunction {
            name: self.name,
            own_name: self.own_name,
            start: self.start,
            parameters: self.parameters,
            end: self.end,
            digest,
        }
    }
}

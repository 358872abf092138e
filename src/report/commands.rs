//! Keeps names from acting as commands of GitHub's runner, and makes tamis's own commands. The
//! runner takes some printed lines for commands: `::name …` at the beginning of a line,
//! `##[name]…` anywhere in it. Names of tests and branches may look like that.

use std::io::{self, Write};

/// GitHub cuts annotations at 4,096 characters.
const LONGEST_ANNOTATION: usize = 4000;

/// A writer of whole lines. None of them is a command.
pub(super) struct Tame {
    inner: Box<dyn Write + Send>,
    json: bool,
}

impl Tame {
    pub(super) fn new(inner: Box<dyn Write + Send>, json: bool) -> Tame {
        Tame { inner, json }
    }
}

impl Write for Tame {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.inner.write_all(&tame(bytes, self.json))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// In JSON both only occur in strings, so the document keeps its meaning.
fn tame(bytes: &[u8], json: bool) -> Vec<u8> {
    let hash = if json { r"#\u0023[" } else { r"#\u{23}[" };
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let mut out = Vec::with_capacity(bytes.len());
    for line in lines {
        let start = line.len() - line.trim_ascii_start().len();
        let (blank, mut rest) = line.split_at(start);
        out.extend_from_slice(blank);
        if rest.starts_with(b"::") {
            out.extend_from_slice(br"\u{3a}");
            rest = &rest[1..];
        }
        while let Some(at) = rest.windows(3).position(|three| three == b"##[") {
            out.extend_from_slice(&rest[..at]);
            out.extend_from_slice(hash.as_bytes());
            rest = &rest[at + 3..];
        }
        out.extend_from_slice(rest);
    }
    out
}

/// How much an annotation matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Notice,
    Warning,
    Error,
}

/// The command that shows `text` beside the run.
pub(super) fn annotation(level: Level, text: &str) -> String {
    let word = match level {
        Level::Notice => "notice",
        Level::Warning => "warning",
        Level::Error => "error",
    };
    let text: String = super::escape::line(text)
        .chars()
        .take(LONGEST_ANNOTATION)
        .collect();
    format!("::{word} title=tamis::{}\n", escape_data(&text))
}

/// Escapes the text after the second `::` as the runner expects it.
fn escape_data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tamed(text: &str, json: bool) -> String {
        String::from_utf8(tame(text.as_bytes(), json)).unwrap()
    }

    #[test]
    fn lines_that_look_like_commands_are_shown_and_do_nothing() {
        insta::assert_snapshot!(
            tamed("::set-output name=x::1\n  ::add-mask::a\na::b ##[error]c ###[x\n", false), @r"
        \u{3a}:set-output name=x::1
          \u{3a}:add-mask::a
        a::b #\u{23}[error]c ##\u{23}[x
        ");
    }

    #[test]
    fn an_annotation_is_one_line_and_ends_where_it_should() {
        let text = "50% of t.py::x[\r\n::error::y] ran";
        assert_eq!(
            annotation(Level::Notice, text),
            "::notice title=tamis::50%25 of t.py::x[\\r\\n::error::y] ran\n"
        );
        assert!(annotation(Level::Warning, &"%".repeat(9000)).len() < 13_000);
    }

    proptest! {
        #[test]
        fn no_line_is_a_command(text in r"([ :#\[\]a\n]|::|##\[)*") {
            let shown = tamed(&text, false);
            for line in shown.lines() {
                prop_assert!(!line.trim_start().starts_with("::"), "{line}");
                prop_assert!(!line.contains("##["), "{line}");
            }
        }

        #[test]
        fn a_document_stays_the_same(text in r"([ :#\[\]a\n]|::|##\[)*") {
            let document = serde_json::json!({ &text: [text] });
            let shown = tamed(&format!("{document:#}\n"), true);
            prop_assert!(!shown.contains("##["));
            let back: serde_json::Value = serde_json::from_str(&shown).unwrap();
            prop_assert_eq!(back, document);
        }
    }
}

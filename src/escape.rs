//! Makes names safe in text for people. Names of tests, branches and files may contain
//! anything: line ends, terminal commands, marks that reverse the writing direction. An
//! escaped name stays on its line and has no effect.

use std::borrow::Cow;
use std::fmt::Write;

/// Escapes special characters in `text`: controls, line and paragraph separators, invisible
/// and direction marks become `\n`, `\u{1b}`, ….
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    if !text.chars().any(acts) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        push(&mut shown, c);
    }
    Cow::Owned(shown)
}

/// Like [`line()`] for a path or other bytes. Bytes that are not UTF-8 become `\xff`.
pub(crate) fn bytes(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        shown.push_str(&line(chunk.valid()));
        for byte in chunk.invalid() {
            // Writing to a String cannot fail.
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
    shown
}

/// A path as text for people; the report escapes what acts.
pub(crate) fn shown_path(path: &std::path::Path) -> String {
    bytes(path.as_os_str().as_encoded_bytes())
}

fn push(shown: &mut String, c: char) {
    match c {
        '\n' | '\r' | '\t' => shown.extend(c.escape_default()),
        c if acts(c) => shown.extend(c.escape_unicode()),
        c => shown.push(c),
    }
}

fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c,
            // soft hyphen, zero-width characters, direction marks
            '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}'
            // interlinear annotation, tags
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_acts_is_shown_and_what_reads_is_kept() {
        insta::assert_snapshot!(
            line("t.py::test[\u{1b}[2J\n::set-output name=x::1\u{202e}é 🙂 \\n]"),
            @r"t.py::test[\u{1b}[2J\n::set-output name=x::1\u{202e}é 🙂 \n]"
        );
        assert!(matches!(line("plain é"), Cow::Borrowed("plain é")));
    }

    #[test]
    fn bytes_that_are_not_text_are_shown_as_numbers() {
        assert_eq!(bytes(b"caf\xe9/\x07.py"), r"caf\xe9/\u{7}.py");
    }

    proptest! {
        #[test]
        fn no_output_holds_a_control_character(input: Vec<u8>, text in "\\PC*|.*") {
            prop_assert!(!bytes(&input).chars().any(char::is_control));
            prop_assert!(!line(&text).chars().any(char::is_control));
        }
    }
}

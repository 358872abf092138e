//! From bytes to text as the Python interpreter does it (PEP 263), and the
//! places of lines in that text.

use std::borrow::Cow;
use std::cell::RefCell;

use super::casts::Casts;

/// Sources above this are not analysed; the parser counts in 32 bits, and no
/// program is that long.
const MAX_BYTES: usize = 64 << 20;

/// The text of a source file: without byte order mark, every line end `\n`.
pub(super) struct Source<'s> {
    pub text: Cow<'s, str>,
    /// What it needs a newer interpreter for than the oldest supported one, in
    /// words; sorted. Known once it was parsed.
    pub newer: RefCell<Vec<String>>,
    /// Which calls are casts. Known once it was parsed.
    pub casts: RefCell<Casts>,
    /// Offset of each line end.
    line_ends: Vec<u32>,
}

enum Encoding {
    Utf8,
    Ascii,
    Latin1,
}

impl<'s> Source<'s> {
    /// Decodes `bytes`; the error says why that is impossible.
    pub(super) fn decode(bytes: &'s [u8]) -> Result<Source<'s>, String> {
        if bytes.len() > MAX_BYTES {
            return Err(format!("larger than {} MiB", MAX_BYTES >> 20));
        }
        let (bytes, has_mark) = match bytes.strip_prefix(b"\xef\xbb\xbf") {
            Some(rest) => (rest, true),
            None => (bytes, false),
        };
        if bytes.contains(&0) {
            return Err("it contains null bytes".into());
        }
        let text = match declared_encoding(bytes)? {
            Encoding::Latin1 | Encoding::Ascii if has_mark => {
                return Err("a UTF-8 byte order mark and another encoding".into());
            }
            Encoding::Latin1 => Cow::Owned(bytes.iter().map(|byte| char::from(*byte)).collect()),
            Encoding::Ascii if !bytes.is_ascii() => {
                return Err("declared as ASCII, which it is not".into());
            }
            Encoding::Ascii | Encoding::Utf8 => Cow::Borrowed(
                std::str::from_utf8(bytes)
                    .map_err(|error| format!("not UTF-8 at byte {}", error.valid_up_to()))?,
            ),
        };
        let text = normalise_line_ends(text);
        let line_ends = text
            .bytes()
            .zip(0u32..)
            .filter_map(|(byte, at)| (byte == b'\n').then_some(at))
            .collect();
        Ok(Source {
            text,
            newer: RefCell::default(),
            casts: RefCell::default(),
            line_ends,
        })
    }

    /// The line, counted from 1, that holds the byte at `offset`.
    pub(super) fn line_at(&self, offset: u32) -> u32 {
        self.line_ends.partition_point(|end| *end < offset) as u32 + 1
    }

    pub(super) fn line_count(&self) -> u32 {
        self.line_ends.len() as u32 + 1
    }
}

/// The interpreter reads `\r\n` and `\r` as `\n`, inside strings too.
fn normalise_line_ends(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        text
    }
}

/// The encoding that a comment in the first two lines declares; the second
/// line counts only when the first is blank or a comment.
fn declared_encoding(bytes: &[u8]) -> Result<Encoding, String> {
    let mut lines = bytes.split(|byte| matches!(byte, b'\n' | b'\r'));
    let mut first = lines.next().unwrap_or_default();
    let mut second = lines.next().unwrap_or_default();
    if second.is_empty() && bytes.get(first.len()..first.len() + 2) == Some(b"\r\n") {
        second = lines.next().unwrap_or_default();
    }
    for line in [&mut first, &mut second] {
        let line = line.trim_ascii_start();
        if !line.is_empty() && line[0] != b'#' {
            break;
        }
        if let Some(name) = declaration(line) {
            return encoding_named(&name);
        }
    }
    Ok(Encoding::Utf8)
}

/// The name after `coding:` or `coding=` in a comment.
fn declaration(comment: &[u8]) -> Option<String> {
    let word = b"coding";
    (0..comment.len()).find_map(|at| {
        let rest = comment[at..].strip_prefix(word)?;
        let rest = match rest.first()? {
            b':' | b'=' => &rest[1..],
            _ => return None,
        };
        let start = rest.iter().position(|byte| !matches!(byte, b' ' | b'\t'))?;
        let name: String = rest[start..]
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
            .map(|byte| char::from(*byte))
            .collect();
        (!name.is_empty()).then_some(name)
    })
}

fn encoding_named(name: &str) -> Result<Encoding, String> {
    let plain = name.to_ascii_lowercase().replace('_', "-");
    match plain.as_str() {
        "utf-8" | "utf8" | "u8" | "utf-8-sig" => Ok(Encoding::Utf8),
        "ascii" | "us-ascii" | "646" => Ok(Encoding::Ascii),
        "latin-1" | "latin1" | "latin" | "l1" | "iso-8859-1" | "iso8859-1" | "iso-latin-1"
        | "8859" | "cp819" => Ok(Encoding::Latin1),
        _ if plain.starts_with("utf-8-") => Ok(Encoding::Utf8),
        _ if plain.starts_with("latin-1-")
            || plain.starts_with("iso-8859-1-")
            || plain.starts_with("iso-latin-1-") =>
        {
            Ok(Encoding::Latin1)
        }
        _ => Err(format!("its encoding {name} is not one that tamis reads")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> Result<String, String> {
        Source::decode(bytes).map(|source| source.text.into_owned())
    }

    #[test]
    fn declarations_decide_how_bytes_are_read() {
        assert_eq!(text(b"x = 1\n").as_deref(), Ok("x = 1\n"));
        assert_eq!(text(b"\xef\xbb\xbfx\n").as_deref(), Ok("x\n"));
        assert_eq!(
            text(b"# -*- coding: latin-1 -*-\n'\xe9'").as_deref(),
            Ok("# -*- coding: latin-1 -*-\n'\u{e9}'")
        );
        assert!(text(b"#!x\r\n# vim: set fileencoding=iso-8859-1 :\r\n'\xe9'").is_ok());
        assert!(text(b"x\n# coding: latin-1\n'\xe9'").is_err());
        assert!(text(b"# coding: koi8-r\n").is_err());
        assert!(text(b"# coding: ascii\n'\xc3\xa9'").is_err());
        assert!(text(b"\xef\xbb\xbf# coding: latin-1\n").is_err());
        assert!(text(b"'\xe9'").is_err());
        assert!(text(b"a\0b").is_err());
    }

    #[test]
    fn lines_are_counted_as_the_interpreter_does() {
        let source = Source::decode(b"a\r\nb\rc\n\x0cd").unwrap();
        assert_eq!(source.text, "a\nb\nc\n\x0cd");
        assert_eq!(source.line_count(), 4);
        let lines: Vec<u32> = [0, 2, 4, 7].map(|at| source.line_at(at)).into();
        assert_eq!(lines, [1, 2, 3, 4]);
    }
}

//! Turns a file as checked out into the content that git stores: line ends and the `$Id$`
//! keyword, by the rules of gitattributes(5). Pure.

use std::borrow::Cow;

use bstr::{BString, ByteSlice};

/// How line ends change on the way into git.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineEnds {
    Keep,
    /// CRLF becomes LF.
    Convert,
    /// CRLF becomes LF in content that looks like text, unless the stored content already has
    /// CRLF.
    Guess,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Attribute {
    Set,
    Unset,
    Unspecified,
    Value(BString),
}

/// The rule for line ends. It comes from the attributes `text`, `crlf` (the old name) and
/// `eol`, and from whether `core.autocrlf` is `true` or `input`.
pub(super) fn line_ends(
    text: &Attribute,
    crlf: &Attribute,
    eol: &Attribute,
    auto_crlf: bool,
) -> LineEnds {
    match spoken_line_ends(text).or_else(|| spoken_line_ends(crlf)) {
        Some(rule) => rule,
        None if matches!(eol, Attribute::Value(value) if value == "lf" || value == "crlf") => {
            LineEnds::Convert
        }
        None if auto_crlf => LineEnds::Guess,
        None => LineEnds::Keep,
    }
}

fn spoken_line_ends(attribute: &Attribute) -> Option<LineEnds> {
    match attribute {
        Attribute::Set => Some(LineEnds::Convert),
        Attribute::Unset => Some(LineEnds::Keep),
        Attribute::Value(value) if value == "auto" => Some(LineEnds::Guess),
        Attribute::Value(value) if value == "input" => Some(LineEnds::Convert),
        Attribute::Value(_) | Attribute::Unspecified => None,
    }
}

/// `content` with the line ends that git stores. `stored` gives the content that the index
/// holds for the path; it is called only if that matters.
pub(super) fn clean_line_ends<'a>(
    content: Cow<'a, [u8]>,
    rule: LineEnds,
    stored: impl FnOnce() -> Option<Vec<u8>>,
) -> Cow<'a, [u8]> {
    if rule == LineEnds::Keep {
        return content;
    }
    let census = Census::of(&content);
    if census.crlf == 0 {
        return content;
    }
    if rule == LineEnds::Guess {
        let is_stored_with_crlf = || {
            stored().is_some_and(|stored| {
                let census = Census::of(&stored);
                census.crlf > 0 && !census.is_binary()
            })
        };
        if census.is_binary() || is_stored_with_crlf() {
            return content;
        }
    }
    Cow::Owned(content.replace("\r\n", "\n"))
}

/// `content` with every `$Id: …$` on one line shortened to `$Id$`.
pub(super) fn clean_ident(content: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    if content.find("$Id:").is_none() {
        return content;
    }
    let mut out = Vec::with_capacity(content.len());
    let mut rest: &[u8] = &content;
    while let Some(dollar) = rest.find_byte(b'$') {
        out.extend_from_slice(&rest[..=dollar]);
        rest = &rest[dollar + 1..];
        let Some(value) = rest.strip_prefix(b"Id:") else {
            continue;
        };
        let Some(end) = value.find_byte(b'$') else {
            break;
        };
        if !value[..end].contains(&b'\n') {
            out.extend_from_slice(b"Id$");
            rest = &value[end + 1..];
        }
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

/// What git counts to tell text from binary content.
#[derive(Default)]
struct Census {
    crlf: usize,
    lone_cr: usize,
    nul: usize,
    printable: usize,
    unprintable: usize,
}

impl Census {
    fn of(content: &[u8]) -> Census {
        let mut census = Census::default();
        let mut bytes = content.iter().copied().peekable();
        while let Some(byte) = bytes.next() {
            match byte {
                b'\r' if bytes.next_if_eq(&b'\n').is_some() => census.crlf += 1,
                b'\r' => census.lone_cr += 1,
                b'\n' => {}
                0 => census.nul += 1,
                // backspace, tab, form feed, escape
                8 | 9 | 12 | 27 => census.printable += 1,
                // the DOS end-of-file mark
                26 if bytes.peek().is_none() => {}
                1..32 | 127 => census.unprintable += 1,
                _ => census.printable += 1,
            }
        }
        census
    }

    fn is_binary(&self) -> bool {
        self.lone_cr > 0 || self.nul > 0 || self.printable / 128 < self.unprintable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ident_is_shortened_on_one_line_only() {
        let clean = |text: &str| {
            let cleaned = clean_ident(Cow::Borrowed(text.as_bytes())).into_owned();
            String::from_utf8(cleaned).unwrap()
        };
        assert_eq!(clean("a $Id: 123 $ b"), "a $Id$ b");
        assert_eq!(clean("$Id: x\n$ $Id: y$"), "$Id: x\n$ $Id$");
        assert_eq!(clean("$$Id: x$$Id: z"), "$$Id$$Id: z");
        assert_eq!(clean("$Id$ $Name: x$"), "$Id$ $Name: x$");
    }

    #[test]
    fn attributes_decide_before_configuration() {
        use Attribute::{Set, Unset, Unspecified};
        let value = |text: &str| Attribute::Value(text.into());
        let none = Unspecified;
        let cases = [
            (&Set, &none, &none, false, LineEnds::Convert),
            (&Unset, &none, &value("crlf"), true, LineEnds::Keep),
            (
                &value("auto"),
                &none,
                &value("crlf"),
                false,
                LineEnds::Guess,
            ),
            (&none, &Unset, &none, true, LineEnds::Keep),
            (&none, &value("input"), &none, false, LineEnds::Convert),
            (&none, &none, &value("lf"), false, LineEnds::Convert),
            (&none, &none, &value("odd"), false, LineEnds::Keep),
            (&none, &none, &none, true, LineEnds::Guess),
            (&none, &none, &none, false, LineEnds::Keep),
        ];
        for (text, crlf, eol, auto, rule) in cases {
            assert_eq!(
                line_ends(text, crlf, eol, auto),
                rule,
                "{text:?} {crlf:?} {eol:?} {auto}"
            );
        }
    }
}
